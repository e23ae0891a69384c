/* What good environments in C look like: one struct for each match, a plain loop over them, and everything written straight
 * into the caller's arrays. `speed.py` compiles this with -O3 for the instruction set that it compares with.
 *
 * An action is that of the seat to act; the observation is that of the seat that acts next, the reward that of the one that
 * has acted. A match that ends begins anew in the same step. */

#include <stdint.h>
#include <string.h>

/* Where a step writes: `width` numbers of an observation for each match, and the rewards of all seats of its last match. */
typedef struct {
    int16_t *obs;
    float *rewards;
    uint8_t *terminated, *truncated;
    float *final_rewards;
} Out;

/* splitmix64, so that neighbouring seeds have nothing in common */
static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* PCG32: the usual choice for a small fast stream of its own. */
static inline uint32_t next(uint64_t *state) {
    uint64_t old = *state;
    *state = old * 6364136223846793005u + 1442695040888963407u;
    uint32_t shifted = (uint32_t)(((old >> 18) ^ old) >> 27);
    uint32_t turn = (uint32_t)(old >> 59);
    return (shifted >> turn) | (shifted << (-turn & 31));
}

/* One of 0..n, all equally likely (Lemire). */
static inline uint32_t below(uint64_t *state, uint32_t n) {
    uint64_t wide = (uint64_t)next(state) * n;
    if ((uint32_t)wide < n) {
        uint32_t threshold = -n % n;
        while ((uint32_t)wide < threshold) wide = (uint64_t)next(state) * n;
    }
    return (uint32_t)(wide >> 32);
}

/* ---- Zombie Dice ---- */

enum { GREEN, YELLOW, RED, COLOURS };
enum { GOAL = 13, WIN = 10, MAX_ROUNDS = 1000 };
enum { GOES_ON, STOPPED, BUSTED };

typedef struct {
    uint64_t state;
    int32_t brains, shotguns;
    int32_t cup[COLOURS], feet[COLOURS];
} Turn;

static inline void begin_turn(Turn *turn) {
    turn->brains = turn->shotguns = 0;
    turn->cup[GREEN] = 6;
    turn->cup[YELLOW] = 4;
    turn->cup[RED] = 3;
    memset(turn->feet, 0, sizeof turn->feet);
}

/* Rolls: BUSTED with three shotguns, STOPPED when dice run out. */
static inline int roll(Turn *turn) {
    int hand[COLOURS] = {turn->feet[GREEN], turn->feet[YELLOW], turn->feet[RED]};
    for (int held = hand[0] + hand[1] + hand[2]; held < 3; held++) {
        int32_t left = turn->cup[GREEN] + turn->cup[YELLOW] + turn->cup[RED];
        int32_t place = (int32_t)below(&turn->state, (uint32_t)left);
        int colour = place < turn->cup[GREEN] ? GREEN : place < turn->cup[GREEN] + turn->cup[YELLOW] ? YELLOW : RED;
        turn->cup[colour]--;
        hand[colour]++;
    }
    memset(turn->feet, 0, sizeof turn->feet);
    for (int colour = GREEN; colour < COLOURS; colour++) {
        for (int die = 0; die < hand[colour]; die++) {
            int side = (int)below(&turn->state, 6), brains = 3 - colour;
            if (side < brains) turn->brains++;
            else if (side < brains + 2) turn->feet[colour]++;
            else turn->shotguns++;
        }
    }
    int left = turn->cup[0] + turn->cup[1] + turn->cup[2] + turn->feet[0] + turn->feet[1] + turn->feet[2];
    return turn->shotguns >= 3 ? BUSTED : left < 3 ? STOPPED : GOES_ON;
}

static inline void observe_turn(const Turn *turn, int16_t *obs) {
    obs[0] = (int16_t)turn->brains;
    obs[1] = (int16_t)turn->shotguns;
    for (int colour = GREEN; colour < COLOURS; colour++) {
        obs[2 + colour] = (int16_t)turn->cup[colour];
        obs[5 + colour] = (int16_t)turn->feet[colour];
    }
}

/* Solo: the reward is the change of what the turn is worth. */
typedef struct {
    Turn turn;
} Solo;

size_t solo_size(void) { return sizeof(Solo); }

void solo_seed(Solo *envs, size_t count, int seats, uint64_t seed) {
    (void)seats;
    for (size_t i = 0; i < count; i++) {
        envs[i].turn.state = mix(seed + i);
        begin_turn(&envs[i].turn);
    }
}

void solo_step(Solo *restrict envs, size_t count, int seats, const uint8_t *restrict actions, const Out *restrict to) {
    (void)seats;
    const Out out = *to;
    for (size_t i = 0; i < count; i++) {
        Turn *turn = &envs[i].turn;
        int32_t before = turn->brains;
        int end = actions[i] ? roll(turn) : STOPPED;
        out.rewards[i] = (float)(end == BUSTED ? -before : turn->brains - before);
        out.terminated[i] = end != GOES_ON;
        out.truncated[i] = 0;
        if (end != GOES_ON) begin_turn(turn);
        observe_turn(turn, out.obs + 8 * i);
    }
}

/* Race: the first to have banked 13 wins. */
typedef struct {
    Turn turn;
    int32_t scores[2], mover, turns;
} Race;

static void begin_race(Race *env) {
    begin_turn(&env->turn);
    env->scores[0] = env->scores[1] = env->mover = env->turns = 0;
}

size_t race_size(void) { return sizeof(Race); }

void race_seed(Race *envs, size_t count, int seats, uint64_t seed) {
    (void)seats;
    for (size_t i = 0; i < count; i++) {
        envs[i].turn.state = mix(seed + i);
        begin_race(&envs[i]);
    }
}

void race_step(Race *restrict envs, size_t count, int seats, const uint8_t *restrict actions, const Out *restrict to) {
    (void)seats;
    const Out out = *to;
    for (size_t i = 0; i < count; i++) {
        Race *env = &envs[i];
        int end = actions[i] ? roll(&env->turn) : STOPPED;
        float reward = 0;
        int over = 0;
        if (end != GOES_ON) {
            int mover = env->mover;
            if (end == STOPPED) env->scores[mover] += env->turn.brains;
            env->turns++;
            over = env->scores[mover] >= GOAL || env->turns == 2 * MAX_ROUNDS;
            if (over) {
                int lead = env->scores[mover] - env->scores[1 - mover];
                reward = (float)(lead > 0 ? WIN : lead < 0 ? -WIN : 0);
                out.final_rewards[2 * i + (size_t)mover] = reward;
                out.final_rewards[2 * i + (size_t)(1 - mover)] = -reward;
                begin_race(env);
            } else {
                env->mover = 1 - mover;
                begin_turn(&env->turn);
            }
        }
        out.rewards[i] = reward;
        out.terminated[i] = (uint8_t)over;
        out.truncated[i] = 0;
        int16_t *obs = out.obs + 10 * i;
        observe_turn(&env->turn, obs);
        obs[8] = (int16_t)env->scores[env->mover];
        obs[9] = (int16_t)env->scores[1 - env->mover];
    }
}

/* Table: whole rounds, and one more for those who are tied for the lead. The first roll of a turn is no choice. */
enum { MOST_SEATS = 16 };

typedef struct {
    Turn turn;
    int32_t scores[MOST_SEATS];
    uint8_t plays[MOST_SEATS];
    int32_t mover, rounds, tiebreak;
} Table;

static void begin_table(Table *env, int seats) {
    begin_turn(&env->turn);
    memset(env->scores, 0, sizeof env->scores);
    memset(env->plays, 1, (size_t)seats);
    env->mover = env->rounds = env->tiebreak = 0;
}

/* The round is over. Whether the match is. */
static int end_round(Table *env, int seats) {
    int best = 0, tied = 0;
    env->rounds++;
    for (int seat = 0; seat < seats; seat++) {
        if (env->scores[seat] > best) best = env->scores[seat], tied = 0;
        tied += env->scores[seat] == best;
    }
    if (env->rounds == MAX_ROUNDS) return 1;
    if (best < GOAL) return 0;
    if (tied == 1 || env->tiebreak) return 1;
    env->tiebreak = 1;
    for (int seat = 0; seat < seats; seat++) env->plays[seat] &= env->scores[seat] == best;
    return 0;
}

/* Rewards by place: from +1 to -1, and those who tie share. */
static void by_place(const Table *env, int seats, float *rewards) {
    for (int seat = 0; seat < seats; seat++) {
        int worth = 0;
        for (int other = 0; other < seats; other++)
            worth += (env->scores[other] < env->scores[seat]) - (env->scores[other] > env->scores[seat]);
        rewards[seat] = (float)worth / (float)(seats - 1);
    }
}

size_t table_size(void) { return sizeof(Table); }

void table_seed(Table *envs, size_t count, int seats, uint64_t seed) {
    for (size_t i = 0; i < count; i++) {
        envs[i].turn.state = mix(seed + i);
        begin_table(&envs[i], seats);
    }
}

void table_step(Table *restrict envs, size_t count, int seats, const uint8_t *restrict actions, const Out *restrict to) {
    const Out out = *to;
    for (size_t i = 0; i < count; i++) {
        Table *env = &envs[i];
        int fresh = env->turn.cup[0] + env->turn.cup[1] + env->turn.cup[2] == 13;
        int end = actions[i] || fresh ? roll(&env->turn) : STOPPED;
        float reward = 0;
        int over = 0;
        if (end != GOES_ON) {
            int mover = env->mover, later = mover + 1;
            if (end == STOPPED) env->scores[mover] += env->turn.brains;
            while (later < seats && !env->plays[later]) later++;
            if (later == seats) {
                over = end_round(env, seats);
                later = 0;
                while (!env->plays[later]) later++;
            }
            if (over) {
                float *rewards = out.final_rewards + (size_t)seats * i;
                by_place(env, seats, rewards);
                reward = rewards[mover];
                begin_table(env, seats);
            } else {
                env->mover = later;
                begin_turn(&env->turn);
            }
        }
        out.rewards[i] = reward;
        out.terminated[i] = (uint8_t)over;
        out.truncated[i] = 0;
        int16_t *obs = out.obs + (size_t)(10 + 2 * seats) * i;
        observe_turn(&env->turn, obs);
        obs[8] = (int16_t)env->rounds;
        obs[9] = (int16_t)env->tiebreak;
        obs += 10;
        for (int seat = env->mover, steps = 0; steps < seats; steps++) {
            obs[2 * steps] = (int16_t)env->scores[seat];
            obs[2 * steps + 1] = !env->plays[seat] ? 0 : seat > env->mover ? 1 : seat == env->mover ? 2 : 3;
            seat = seat + 1 == seats ? 0 : seat + 1;
        }
    }
}

/* ---- Tokyo ---- */

enum { ONE, TWO, THREE, HEAL, ATTACK, FACES };
enum { ROLLING, YIELDING };
enum { MONSTERS = 6, MAX_HEALTH = 10, POINTS_GOAL = 20, YIELD = 64, NOBODY = -1, ROLLS = 15625 };

typedef struct {
    uint64_t state;
    int8_t health[MONSTERS], points[MONSTERS], dice[6];
    int8_t in_tokyo, current, phase, rerolls_left, damage, seat;
} Tokyo;

/* All six dice from one number. */
static inline void throw_dice(uint64_t *state, int8_t *dice) {
    uint32_t number = below(state, ROLLS);
    for (int die = 0; die < 6; die++) {
        dice[die] = (int8_t)(number % FACES);
        number /= FACES;
    }
}

static inline void first_roll(Tokyo *env) {
    throw_dice(&env->state, env->dice);
    env->phase = ROLLING;
    env->rerolls_left = 2;
    env->damage = 0;
    env->seat = env->current;
}

static void begin_tokyo(Tokyo *env, int seats) {
    for (int seat = 0; seat < seats; seat++) {
        env->health[seat] = MAX_HEALTH;
        env->points[seat] = 0;
    }
    env->in_tokyo = NOBODY;
    env->current = 0;
    first_roll(env);
}

static inline int count_face(const Tokyo *env, int face) {
    int count = 0;
    for (int die = 0; die < 6; die++) count += env->dice[die] == face;
    return count;
}

/* The end of a turn and the beginning of the next. Whether the match is over. */
static inline int end_turn(Tokyo *env, int seats) {
    int current = env->current;
    if (env->in_tokyo != current) {
        int health = env->health[current] + count_face(env, HEAL);
        env->health[current] = (int8_t)(health > MAX_HEALTH ? MAX_HEALTH : health);
    }
    if (env->in_tokyo == NOBODY) {
        env->in_tokyo = (int8_t)current;
        if (++env->points[current] >= POINTS_GOAL) return 1;
    }
    do current = current + 1 == seats ? 0 : current + 1;
    while (env->health[current] == 0);
    env->current = (int8_t)current;
    if (env->in_tokyo == current && (env->points[current] += 2) >= POINTS_GOAL) return 1;
    first_roll(env);
    return 0;
}

/* Points and attacks of a roll that stands. Whether the match is over. */
static inline int resolve(Tokyo *env, int seats) {
    int current = env->current, inside = env->in_tokyo == current;
    for (int face = ONE; face <= THREE; face++) {
        int alike = count_face(env, face);
        if (alike >= 3) env->points[current] += (int8_t)(alike + face - 2);
    }
    if (env->points[current] >= POINTS_GOAL) return 1;
    int hit = count_face(env, ATTACK);
    if (hit) {
        int alive = 0;
        for (int seat = 0; seat < seats; seat++) {
            if (inside ? seat != current : seat == env->in_tokyo)
                env->health[seat] = (int8_t)(env->health[seat] > hit ? env->health[seat] - hit : 0);
            alive += env->health[seat] > 0;
        }
        if (env->in_tokyo != NOBODY && env->health[env->in_tokyo] == 0) env->in_tokyo = NOBODY;
        if (alive == 1) return 1;
        if (!inside && env->in_tokyo != NOBODY) {
            env->phase = YIELDING;
            env->damage = (int8_t)hit;
            env->rerolls_left = 0;
            env->seat = env->in_tokyo;
            return 0;
        }
    }
    return end_turn(env, seats);
}

static void tokyo_places(const Tokyo *env, int seats, float *rewards) {
    int rank[MONSTERS];
    for (int seat = 0; seat < seats; seat++) rank[seat] = env->health[seat] ? env->points[seat] + 1 : 0;
    for (int seat = 0; seat < seats; seat++) {
        int worth = 0;
        for (int other = 0; other < seats; other++) worth += (rank[other] < rank[seat]) - (rank[other] > rank[seat]);
        rewards[seat] = (float)worth / (float)(seats - 1);
    }
}

size_t tokyo_size(void) { return sizeof(Tokyo); }

void tokyo_seed(Tokyo *envs, size_t count, int seats, uint64_t seed) {
    for (size_t i = 0; i < count; i++) {
        envs[i].state = mix(seed + i);
        begin_tokyo(&envs[i], seats);
    }
}

void tokyo_step(Tokyo *restrict envs, size_t count, int seats, const uint8_t *restrict actions, const Out *restrict to) {
    const Out out = *to;
    for (size_t i = 0; i < count; i++) {
        Tokyo *env = &envs[i];
        int over = 0, actor = env->seat;
        if (env->phase == ROLLING) {
            /* Leaving Tokyo is no answer here: all dice are kept. */
            int kept = actions[i] < YIELD ? actions[i] : 63;
            if (kept != 63) {
                int8_t fresh[6];
                throw_dice(&env->state, fresh);
                for (int die = 0; die < 6; die++)
                    if (!(kept >> die & 1)) env->dice[die] = fresh[die];
                env->rerolls_left--;
            }
            if (kept == 63 || env->rerolls_left == 0) over = resolve(env, seats);
        } else {
            if (actions[i] == YIELD) env->in_tokyo = NOBODY;
            over = end_turn(env, seats);
        }
        float reward = 0;
        if (over) {
            float *rewards = out.final_rewards + (size_t)seats * i;
            tokyo_places(env, seats, rewards);
            reward = rewards[actor];
            begin_tokyo(env, seats);
        }
        out.rewards[i] = reward;
        out.terminated[i] = (uint8_t)over;
        out.truncated[i] = 0;
        int16_t *obs = out.obs + (size_t)(9 + 4 * seats) * i;
        obs[0] = env->phase;
        obs[1] = env->rerolls_left;
        obs[2] = env->damage;
        for (int die = 0; die < 6; die++) obs[3 + die] = env->dice[die];
        obs += 9;
        for (int seat = env->seat, steps = 0; steps < seats; steps++) {
            obs[4 * steps] = env->health[seat];
            obs[4 * steps + 1] = env->points[seat];
            obs[4 * steps + 2] = seat == env->in_tokyo;
            obs[4 * steps + 3] = seat == env->current;
            seat = seat + 1 == seats ? 0 : seat + 1;
        }
    }
}
