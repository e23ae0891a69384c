//! Facts about each game that the checks need: set-ups worth trying, and actions worth refusing.

use necrodome_rules::{
    chance::{Chance, Seeded},
    game::{Game, Seat},
    infection::{self, Commitment, Infection, InfectionRules},
    last_bullet::{self, Direction, LastBullet, LastBulletRules, LastBulletView, Order},
    options::{parse, split_pair},
    own_part,
    tokyo::{self, Tokyo, TokyoRules},
    zombie_dice::{self, Race, Solo, Table},
};

/// [`Probe`], as values.
pub struct Probes<G: Game> {
    pub playouts: u64,
    pub check_every: u32,
    pub max_steps: usize,
    pub setups: Vec<(usize, G::Rules)>,
    pub universe: fn(&G::View, &mut Seeded) -> Vec<G::Action>,
    pub is_legal: fn(&G::View, &G::Action) -> bool,
    pub scores_fit_places: fn(&G, &[u16], &[i64]) -> bool,
    pub random_legal: fn(&G::View, &mut Seeded) -> G::Action,
}

impl<G: Probe> Probes<G> {
    pub fn new() -> Self {
        Probes {
            playouts: G::PLAYOUTS,
            check_every: G::CHECK_EVERY,
            max_steps: G::MAX_STEPS,
            setups: G::setups(),
            universe: G::universe,
            is_legal: G::is_legal,
            scores_fit_places: G::scores_fit_places,
            random_legal: G::random_legal,
        }
    }
}

/// The probes made for a game, or the usual ones.
pub fn probes<G: Game>() -> Probes<G> {
    let own = own_part![
        Probes::<Solo>::new(),
        Probes::<Race>::new(),
        Probes::<Table>::new(),
        Probes::<Tokyo>::new(),
        Probes::<Infection>::new(),
        Probes::<LastBullet>::new(),
    ];
    own.unwrap_or_else(usual)
}

/// The probes for any game: the fewest seats and the most, the usual rules, and no action that is not listed.
fn usual<G: Game>() -> Probes<G> {
    let seats = [*G::SEATS.start(), *G::SEATS.end()];
    Probes {
        playouts: 300,
        check_every: 10,
        max_steps: 100_000,
        setups: seats.map(|seats| (seats, G::Rules::default())).into(),
        universe: |_, _| Vec::new(),
        is_legal: is_legal::<G>,
        scores_fit_places: |_, places, scores| in_order(places, scores),
        random_legal: random_legal::<G>,
    }
}

fn is_legal<G: Game>(view: &G::View, action: &G::Action) -> bool {
    G::legal_actions(view).unwrap().any(|legal| legal == *action)
}

fn random_legal<G: Game>(view: &G::View, chance: &mut Seeded) -> G::Action {
    let mut actions: Vec<_> = G::legal_actions(view).unwrap().collect();
    actions.swap_remove(chance.uniform(actions.len() as u32) as usize)
}

fn in_order(places: &[u16], scores: &[i64]) -> bool {
    let mut ranked: Vec<_> = scores.iter().copied().zip(places.iter().copied()).collect();
    ranked.sort_by_key(|&(score, _)| std::cmp::Reverse(score));
    ranked.windows(2).all(|pair| pair[0].1 <= pair[1].1)
}

pub trait Probe: Game {
    /// The number of random matches for each set-up.
    const PLAYOUTS: u64;
    /// The number of decisions from one expensive check to the next.
    const CHECK_EVERY: u32;
    /// The limit of decisions: a match that takes more does not end.
    const MAX_STEPS: usize = 100_000;

    /// Numbers of seats and rules to try.
    fn setups() -> Vec<(usize, Self::Rules)>;

    /// A list of actions, many of them illegal.
    fn universe(view: &Self::View, chance: &mut Seeded) -> Vec<Self::Action>;

    fn is_legal(view: &Self::View, action: &Self::Action) -> bool {
        is_legal::<Self>(view, action)
    }

    /// Whether a better score has no worse place, unless the game's rules say so.
    fn scores_fit_places(_: &Self, places: &[u16], scores: &[i64]) -> bool {
        in_order(places, scores)
    }

    fn random_legal(view: &Self::View, chance: &mut Seeded) -> Self::Action {
        random_legal::<Self>(view, chance)
    }
}

/// Rules from `name=value` pairs, as users write them.
fn rules<G: Game>(pairs: &[&str]) -> G::Rules {
    parse(&pairs.iter().map(|pair| split_pair(pair).unwrap()).collect::<Vec<_>>()).unwrap()
}

const GO_OR_STOP: [zombie_dice::Action; 2] = [zombie_dice::Action::Go, zombie_dice::Action::Stop];

impl Probe for Solo {
    const PLAYOUTS: u64 = 2000;
    const CHECK_EVERY: u32 = 2;

    fn setups() -> Vec<(usize, Self::Rules)> {
        vec![
            (1, rules::<Self>(&[])),
            (1, rules::<Self>(&["out_of_dice=recycle_brains", "first_roll=mandatory"])),
        ]
    }

    fn universe(_: &Self::View, _: &mut Seeded) -> Vec<Self::Action> {
        GO_OR_STOP.to_vec()
    }
}

impl Probe for Race {
    const PLAYOUTS: u64 = 1000;
    const CHECK_EVERY: u32 = 8;

    fn setups() -> Vec<(usize, Self::Rules)> {
        vec![
            (2, rules::<Self>(&[])),
            (2, rules::<Self>(&["out_of_dice=recycle_brains", "first_roll=mandatory", "max_rounds=5"])),
            (2, rules::<Self>(&["max_rounds=none"])),
        ]
    }

    fn universe(_: &Self::View, _: &mut Seeded) -> Vec<Self::Action> {
        GO_OR_STOP.to_vec()
    }
}

impl Probe for Table {
    const PLAYOUTS: u64 = 300;
    const CHECK_EVERY: u32 = 16;

    fn setups() -> Vec<(usize, Self::Rules)> {
        vec![
            (2, rules::<Self>(&[])),
            (5, rules::<Self>(&["tiebreak=until_broken", "first_roll=free"])),
            (99, rules::<Self>(&["out_of_dice=recycle_brains", "max_rounds=4"])),
        ]
    }

    fn universe(_: &Self::View, _: &mut Seeded) -> Vec<Self::Action> {
        GO_OR_STOP.to_vec()
    }
}

impl Probe for Tokyo {
    const PLAYOUTS: u64 = 500;
    const CHECK_EVERY: u32 = 20;

    fn setups() -> Vec<(usize, TokyoRules)> {
        vec![(2, rules::<Self>(&[])), (4, rules::<Self>(&["max_turns=9"])), (6, rules::<Self>(&[]))]
    }

    /// A player who is out ranks behind all who live, whatever their points.
    fn scores_fit_places(game: &Self, places: &[u16], scores: &[i64]) -> bool {
        let monsters = game.view(Seat(0)).monsters;
        let alive = |seat: &usize| monsters[*seat].is_alive();
        let (living, dead): (Vec<usize>, Vec<usize>) = (0..monsters.len()).partition(alive);
        let worst = living.iter().map(|&seat| places[seat]).max().unwrap();
        let in_order = |&a: &usize, &b: &usize| (scores[a] > scores[b]) <= (places[a] < places[b]);
        dead.iter().all(|&seat| places[seat] > worst)
            && living.iter().all(|a| living.iter().all(|b| in_order(a, b)))
    }

    fn universe(_: &Self::View, _: &mut Seeded) -> Vec<Self::Action> {
        let keep = |mask: u32| tokyo::Action::Keep { dice: std::array::from_fn(|die| mask >> die & 1 == 1) };
        (0..64).map(keep).chain([tokyo::Action::Yield, tokyo::Action::Stay]).collect()
    }
}

impl Probe for Infection {
    const PLAYOUTS: u64 = 300;
    const CHECK_EVERY: u32 = 20;

    fn setups() -> Vec<(usize, InfectionRules)> {
        vec![
            (2, rules::<Self>(&[])),
            (7, rules::<Self>(&["zombies=2", "start_antibodies=2", "start_viruses=3", "max_turns=4"])),
            (12, rules::<Self>(&["zombies=3", "start_viruses=2", "surplus_virus=lost"])),
            (5, rules::<Self>(&["zombies=0", "max_turns=2"])),
            (7, rules::<Self>(&["rules=classic", "zombies=2", "antidote_limit=1", "max_turns=6"])),
            (5, rules::<Self>(&["rules=classic", "zombies=0", "interaction_limit=1", "max_turns=3"])),
        ]
    }

    fn universe(view: &Self::View, _: &mut Seeded) -> Vec<Self::Action> {
        use infection::Action::{Answer, Contact, End};
        let viruses = (0..=view.known_viruses() + 1).map(|count| Commitment::Virus { count });
        let commits: Vec<_> = [Commitment::None, Commitment::Precaution].into_iter().chain(viruses).collect();
        let mut actions = Vec::new();
        for antidote in [false, true] {
            actions.push(End { antidote });
            for &commit in &commits {
                actions.push(Answer { commit, antidote });
                actions.extend((0..14).map(|with| Contact { with: Seat(with), commit, antidote }));
            }
        }
        actions
    }
}

impl Probe for LastBullet {
    const PLAYOUTS: u64 = 25;
    const CHECK_EVERY: u32 = 100;

    fn setups() -> Vec<(usize, LastBulletRules)> {
        vec![
            (1, rules::<Self>(&["copies=1"])),
            (3, rules::<Self>(&["copies=5"])),
            (4, rules::<Self>(&["copies=20", "density=0.25", "max_turns=60"])),
        ]
    }

    /// Orders that may name others, the dead, or a copy twice.
    fn universe(view: &LastBulletView, chance: &mut Seeded) -> Vec<last_bullet::Action> {
        let mut actions = vec![last_bullet::Action::default()];
        for _ in 0..6 {
            let orders = (0..chance.uniform(4)).map(|_| random_order(chance.uniform(40), view, chance));
            actions.push(last_bullet::Action { orders: orders.collect() });
        }
        actions
    }

    fn is_legal(view: &LastBulletView, action: &last_bullet::Action) -> bool {
        let copy_of = |order: &Order| match *order {
            Order::Move { copy, .. } | Order::Shoot { copy, .. } => copy,
        };
        let mut ordered: Vec<u32> = action.orders.iter().map(copy_of).collect();
        ordered.sort_unstable();
        let yours = |number: &u32| view.copies.iter().any(|copy| copy.number == *number);
        ordered.iter().all(yours) && ordered.windows(2).all(|pair| pair[0] != pair[1])
    }

    fn random_legal(view: &LastBulletView, chance: &mut Seeded) -> last_bullet::Action {
        let orders = view.copies.iter().map(|copy| random_order(copy.number, view, chance)).collect();
        last_bullet::Action { orders }
    }
}

/// A move, or a shot at somebody in sight, at oneself, or at a number that may not exist.
fn random_order(copy: u32, view: &LastBulletView, chance: &mut Seeded) -> Order {
    let seen: Vec<u32> =
        view.copies.iter().flat_map(|copy| &copy.seen).map(|seen| seen.number).take(50).collect();
    match chance.uniform(20) {
        0 => Order::Shoot { copy, target: copy },
        1 => Order::Shoot { copy, target: chance.uniform(500) },
        2 if !seen.is_empty() => {
            Order::Shoot { copy, target: seen[chance.uniform(seen.len() as u32) as usize] }
        }
        _ => Order::Move { copy, direction: Direction::ALL[chance.uniform(9) as usize] },
    }
}
