//! The rulings of Infection (rulebook, section 3): the judge's commands, and the game of bots on top of them.
//!
//! Written from the rulebook. Players are described in text: `H3` is a human with three antibodies, `I2` an
//! infected with two, `Z1` a zombie with one virus, and `H0+2` a human who carries two viruses without
//! knowing.

use necrodome_rules::{
    chance::{Chance, Probability, Scripted, Seeded, enumerate},
    game::{Audience, Game, Logged, Move, Rejected, Seat, Silent, restore},
    infection::{
        Action, Commitment, Ending, Event, Identity, Illegal, Infection, InfectionRules, Party, Player,
        Question, Refused, Role,
    },
    names::{Names, SetupError},
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

// ---- Helpers ----------------------------------------------------------------------------------------------

fn rules(json: Value) -> InfectionRules {
    serde_json::from_value(json).unwrap()
}

/// Makes the party of these players, with the default rules.
fn party(text: &str) -> Party {
    party_with(text, json!({}))
}

fn party_with(text: &str, options: Value) -> Party {
    let words: Vec<&str> = text.split_whitespace().collect();
    let zombies: Vec<bool> = words.iter().map(|word| word.starts_with('Z')).collect();
    let mut state = serde_json::to_value(Party::new(&zombies, &rules(options))).unwrap();
    for (word, player) in words.iter().zip(state["players"].as_array_mut().unwrap()) {
        let (role, stock) = word.split_at(1);
        let (stock, carried) = stock.split_once('+').unwrap_or((stock, "0"));
        let [stock, carried]: [u32; 2] = [stock, carried].map(|n| n.parse().unwrap());
        let (role, antibodies, viruses) = match role {
            "H" => ("human", stock, carried),
            "I" => ("infected", stock, carried),
            _ => ("zombie", 0, stock),
        };
        player["role"] = json!(role);
        player["antibodies"] = json!(antibodies);
        player["viruses"] = json!(viruses);
    }
    let party: Party = serde_json::from_value(state).unwrap();
    party.invariants().unwrap();
    party
}

/// One player as it is described.
fn shown_as(player: &Player) -> String {
    let carried = if player.viruses > 0 { format!("+{}", player.viruses) } else { String::new() };
    match player.role {
        Role::Human => format!("H{}{carried}", player.antibodies),
        Role::Infected => format!("I{}{carried}", player.antibodies),
        Role::Zombie => {
            assert_eq!(player.antibodies, 0, "zombies have no antibodies");
            format!("Z{}", player.viruses)
        }
    }
}

/// All players as they are described.
fn shown(party: &Party) -> String {
    party.players().iter().map(shown_as).collect::<Vec<_>>().join(" ")
}

/// `-` nothing, `!` a precaution, `*2` two viruses.
fn commit(text: &str) -> Commitment {
    match text.split_at(1) {
        ("-", _) => Commitment::None,
        ("!", _) => Commitment::Precaution,
        (_, count) => Commitment::Virus { count: count.parse().unwrap() },
    }
}

/// Plays rows of `before | what each commits | after`, from both sides and in both orders of seats.
fn check_table(options: Value, rows: &[(&str, &str, &str)]) {
    for (before, commits, after) in rows {
        let words: Vec<&str> = commits.split_whitespace().collect();
        let [a, b] = [words[0], words[1]].map(commit);
        let turned = |text: &str| text.split_whitespace().rev().collect::<Vec<_>>().join(" ");
        for (before, after, [a, b]) in
            [(before.to_string(), after.to_string(), [a, b]), (turned(before), turned(after), [b, a])]
        {
            let start = party_with(&before, options.clone());
            let (mut one, mut other) = (start.clone(), start.clone());
            let effects = one.contact((Seat(0), a), (Seat(1), b)).unwrap();
            let swapped = other.contact((Seat(1), b), (Seat(0), a)).unwrap();
            let name = format!("{before}, {commits}");
            assert_eq!(shown(&one), after, "{name}");
            assert_eq!(one, other, "{name}: a contact is symmetric");
            assert_eq!(effects, [swapped[1], swapped[0]], "{name}");
            for (seat, effect) in effects.iter().enumerate() {
                let (was, is) = (start.players()[seat], one.players()[seat]);
                assert_eq!((effect.was, effect.is), (was.role, is.role), "{name}");
                assert_eq!((effect.antibodies, effect.viruses), (is.antibodies, is.viruses), "{name}");
            }
            one.invariants().unwrap();
        }
    }
}

/// A contact without commitments.
fn touch(party: &mut Party, a: u16, b: u16) {
    party.contact((Seat(a), Commitment::None), (Seat(b), Commitment::None)).unwrap();
}

/// A game of bots at the start of a turn, in which players are asked in this order.
fn game(text: &str, order: &[u16]) -> Infection {
    game_with(text, order, json!({}))
}

fn game_with(text: &str, order: &[u16], options: Value) -> Infection {
    let party = party_with(text, options);
    let players = party.players();
    let told: Vec<Value> =
        players.iter().map(|p| json!({"identity": p.identity(), "stock": p.stock()})).collect();
    let state = json!({
        "party": party,
        "order": order,
        "asked": 0,
        "pending": null,
        "told": told,
        "applied": vec![0; players.len()],
        "announced": party.public_report(),
    });
    restore(&state.to_string()).unwrap()
}

/// Gives an answer that needs no chance, which is any answer but the one that closes the turn.
fn act(game: &mut Infection, action: Action) -> Vec<Logged<Event>> {
    let mut log = Vec::new();
    Scripted::new([]).run(|chance| game.apply(&[Move::Act(action)], chance, &mut log)).unwrap().unwrap();
    game.invariants().unwrap();
    log
}

/// Gives an answer that closes the turn.
fn close(game: &mut Infection, action: Action) -> Vec<Logged<Event>> {
    let mut log = Vec::new();
    game.apply(&[Move::Act(action)], &mut Seeded::new(1, "close", 0), &mut log).unwrap();
    game.invariants().unwrap();
    log
}

/// Gives an answer that must be refused and change nothing. Returns the reason.
fn refused(game: &mut Infection, action: Action) -> Illegal {
    let before = json_of(game);
    let mut log: Vec<Logged<Event>> = Vec::new();
    let result = Scripted::new([]).run(|chance| game.apply(&[Move::Act(action)], chance, &mut log)).unwrap();
    assert_eq!((json_of(game), log.len()), (before, 0), "{action:?}");
    match result {
        Err(Rejected::Illegal { seat, why }) => {
            assert_eq!(seat, game.to_act()[0]);
            why
        }
        other => panic!("{action:?}: {other:?}"),
    }
}

fn meet(with: u16, text: &str) -> Action {
    Action::Contact { with: Seat(with), commit: commit(text), antidote: false }
}

fn answer(text: &str) -> Action {
    Action::Answer { commit: commit(text), antidote: false }
}

const END: Action = Action::End { antidote: false };

/// Plays a whole contact of the player who is asked.
fn contact(game: &mut Infection, with: u16, mine: &str, theirs: &str) -> Vec<Logged<Event>> {
    let mut log = act(game, meet(with, mine));
    log.extend(act(game, answer(theirs)));
    log
}

fn legal(game: &Infection, seat: Seat) -> Vec<Action> {
    Infection::legal_actions(&game.view(seat)).unwrap().collect()
}

fn question(game: &Infection, seat: u16) -> Question {
    game.view(Seat(seat)).question
}

fn json_of<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap()
}

fn names(count: usize) -> Names {
    Names::new((0..count).map(|i| format!("player{i}"))).unwrap()
}

fn start(players: usize, options: Value, chance: &mut impl Chance) -> Infection {
    Infection::new(&names(players), &rules(options), chance, &mut Silent).unwrap()
}

/// Any action that a player could send, legal or not.
fn imaginable(players: usize) -> Vec<Action> {
    let mut all = Vec::new();
    let viruses = (0..=4).chain([u32::MAX]).map(|count| Commitment::Virus { count });
    let commitments: Vec<Commitment> =
        [Commitment::None, Commitment::Precaution].into_iter().chain(viruses).collect();
    for antidote in [false, true] {
        all.push(Action::End { antidote });
        for &commit in &commitments {
            all.push(Action::Answer { commit, antidote });
            let seats = (0..=players as u16).chain([u16::MAX]).map(Seat);
            all.extend(seats.map(|with| Action::Contact { with, commit, antidote }));
        }
    }
    all
}

// ---- The table of contacts --------------------------------------------------------------------------------

#[test]
fn two_humans_gain_an_antibody_each_unless_somebody_takes_a_precaution() {
    check_table(
        json!({}),
        &[
            ("H0 H0", "- -", "H1 H1"),
            ("H3 H1", "- -", "H4 H2"),
            ("H3 H1", "! -", "H2 H1"),
            ("H3 H1", "- !", "H3 H0"),
            ("H3 H1", "! !", "H2 H0"),
        ],
    );
}

#[test]
fn an_infected_gains_from_a_human_and_infects_it_unless_the_human_takes_a_precaution() {
    check_table(
        json!({}),
        &[
            ("H3 I2", "- -", "I3 I3"),
            ("H0 I0", "- -", "I0 I1"),
            ("H3 I2", "! -", "H2 I2"),
            ("H1 I0", "! -", "H0 I0"),
            ("H3 I2", "- !", "I3 I2"), // the infected pays one and gains one
            ("H3 I1", "- !", "I3 I1"),
            ("H3 I2", "! !", "H2 I1"),
        ],
    );
}

#[test]
fn a_zombie_infects_a_human_unless_a_precaution_leaves_it_an_antibody_against_viruses() {
    check_table(
        json!({}),
        &[
            ("H3 Z2", "- -", "I3 Z2"),
            ("H0 Z0", "- -", "I0 Z0"),
            ("H3 Z2", "! -", "H2 Z2"),
            ("H1 Z2", "! -", "H0 Z2"), // none left, but no virus came
            ("H3 Z2", "- *1", "I2 Z1"),
            ("H3 Z3", "- *3", "I0 Z0"),
            ("H4 Z3", "! *2", "H1 Z1"),
            ("H3 Z3", "! *2", "I0 Z1"), // the precaution and two viruses leave none
            ("H1 Z3", "! *1", "I0+1 Z2"),
            ("H2 Z5", "! *4", "I0+3 Z1"),
            ("H2 Z5", "- *5", "I0+3 Z0"),
            ("H0 Z1", "- *1", "I0+1 Z0"),
        ],
    );
}

#[test]
fn nothing_happens_between_two_infected_and_precautions_are_just_spent() {
    check_table(
        json!({}),
        &[
            ("I3 I1", "- -", "I3 I1"),
            ("I0 I0", "- -", "I0 I0"),
            ("I3 I1", "! -", "I2 I1"),
            ("I3 I1", "- !", "I3 I0"),
            ("I3 I1", "! !", "I2 I0"),
        ],
    );
}

#[test]
fn a_zombie_takes_an_antibody_from_an_infected_and_its_viruses_take_more() {
    check_table(
        json!({}),
        &[
            ("I3 Z2", "- -", "I2 Z2"),
            ("I0 Z2", "- -", "I0 Z2"),
            ("I3 Z2", "! -", "I1 Z2"),
            ("I1 Z2", "! -", "I0 Z2"),
            ("I4 Z2", "- *2", "I1 Z0"),
            ("I3 Z2", "- *2", "I0 Z0"),
            ("I5 Z2", "! *2", "I1 Z0"),
            ("I2 Z3", "- *3", "I0+2 Z0"),
            ("I1 Z3", "- *3", "I0+3 Z0"),
            ("I1 Z3", "! *3", "I0+3 Z0"), // paid before it could be taken
            ("I0 Z3", "- *1", "I0+1 Z2"),
        ],
    );
}

#[test]
fn two_zombies_gain_a_virus_each_unless_one_gives_viruses_to_the_other() {
    check_table(
        json!({}),
        &[
            ("Z0 Z0", "- -", "Z1 Z1"),
            ("Z3 Z1", "- -", "Z4 Z2"),
            ("Z3 Z1", "*2 -", "Z1 Z3"),
            ("Z3 Z1", "- *1", "Z4 Z0"),
            ("Z3 Z1", "*2 *1", "Z2 Z2"),
            ("Z2 Z2", "*2 *2", "Z2 Z2"),
        ],
    );
}

#[test]
fn carried_viruses_cancel_antibodies_as_they_are_gained() {
    check_table(
        json!({}),
        &[
            ("H0+2 H1", "- -", "H0+1 H2"),
            ("H0+1 H0", "- -", "H0 H1"),
            ("H0+1 H0+3", "- -", "H0 H0+2"),
            ("H1 I0+2", "- -", "I1 I0+1"),
            ("H1 I0+1", "- -", "I1 I0"),
            ("H0+1 I1", "- -", "I0+1 I2"), // infected with what it carries
            ("H0+2 H1", "- !", "H0+2 H0"),
        ],
    );
    let mut party = party("H0+1 H0 H0");
    touch(&mut party, 0, 1);
    touch(&mut party, 0, 2);
    assert_eq!(shown(&party), "H1 H1 H1", "the first is cancelled, the second is not");
}

#[test]
fn carried_viruses_add_up() {
    check_table(
        json!({}),
        &[("H0+2 Z3", "- *3", "I0+5 Z0"), ("I0+1 Z2", "- *1", "I0+2 Z1"), ("I0+1 Z2", "- -", "I0+1 Z2")],
    );
}

#[test]
fn surplus_viruses_can_be_lost_instead() {
    check_table(
        json!({"surplus_virus": "lost"}),
        &[
            ("H2 Z5", "- *5", "I0 Z0"),
            ("H2 Z5", "! *4", "I0 Z1"),
            ("H4 Z5", "! *2", "H1 Z3"),
            ("I1 Z3", "- *3", "I0 Z0"),
            ("Z3 Z1", "*2 -", "Z1 Z3"), // a zombie keeps what it is given
        ],
    );
    assert_eq!(serde_json::to_value(InfectionRules::default()).unwrap()["surplus_virus"], "carry");
}

/// What becomes of one side, as the rulebook's table tells it, or `None` if it cannot pay.
fn by_the_book(me: Player, mine: Commitment, other: Role, theirs: Commitment, carry: bool) -> Option<Player> {
    let count = |commitment| if let Commitment::Virus { count } = commitment { count } else { 0 };
    let (mut after, came) = (me, count(theirs));
    let shielded = mine == Commitment::Precaution;
    if shielded {
        after.antibodies = me.antibodies.checked_sub(1)?;
    }
    after.viruses = me.viruses.checked_sub(count(mine))?;
    let (mut gained, mut infected) = (0, false);
    match (me.role, other) {
        (Role::Human, Role::Human) => gained = u32::from(!shielded && theirs == Commitment::None),
        (Role::Human, Role::Infected) => infected = !shielded,
        (Role::Infected, Role::Human) => gained = u32::from(theirs != Commitment::Precaution),
        (Role::Infected, Role::Infected) | (Role::Zombie, Role::Human | Role::Infected) => {}
        (Role::Infected, Role::Zombie) => after.antibodies = after.antibodies.saturating_sub(1),
        (Role::Human, Role::Zombie) => infected = !shielded || (came > 0 && after.antibodies <= came),
        (Role::Zombie, Role::Zombie) => after.viruses += if count(mine) + came == 0 { 1 } else { came },
    }
    if me.role != Role::Zombie {
        let cancelled = came.min(after.antibodies);
        after.antibodies -= cancelled;
        after.viruses += if carry { came - cancelled } else { 0 };
        let cancels = gained.min(after.viruses);
        after.viruses -= cancels;
        after.antibodies += gained - cancels;
    }
    if infected {
        after.role = Role::Infected;
    }
    after.contacts += 1;
    Some(after)
}

#[test]
fn every_contact_of_small_stocks_follows_the_table() {
    let mut sorts: Vec<String> = Vec::new();
    for stock in 0..=4 {
        sorts.extend([format!("H{stock}"), format!("I{stock}"), format!("Z{stock}")]);
    }
    for carried in 1..=2 {
        sorts.extend([format!("H0+{carried}"), format!("I0+{carried}")]);
    }
    let human = ["-", "!"].as_slice();
    let zombie = ["-", "*1", "*2", "*3", "*4"].as_slice();
    let offers = |sort: &str| if sort.starts_with('Z') { zombie } else { human };
    let mut contacts = 0;
    for option in ["carry", "lost"] {
        let keeps = |sort: &&String| option == "carry" || !sort.contains('+');
        for a in sorts.iter().filter(keeps) {
            for b in sorts.iter().filter(keeps) {
                let start = party_with(&format!("{a} {b}"), json!({"surplus_virus": option}));
                let [one, other] = [start.players()[0], start.players()[1]];
                for (mine, theirs) in offers(a).iter().flat_map(|x| offers(b).iter().map(move |y| (x, y))) {
                    let (x, y) = (commit(mine), commit(theirs));
                    let after = (
                        by_the_book(one, x, other.role, y, option == "carry"),
                        by_the_book(other, y, one.role, x, option == "carry"),
                    );
                    let mut party = start.clone();
                    let result = party.contact((Seat(0), x), (Seat(1), y));
                    let name = format!("{a} {b} {mine} {theirs} {option}");
                    match after {
                        (Some(one), Some(other)) => {
                            assert!(result.is_ok(), "{name}: {result:?}");
                            assert_eq!(party.players(), [one, other], "{name}");
                            contacts += 1;
                        }
                        _ => {
                            assert!(result.is_err(), "{name}");
                            assert_eq!(party, start, "{name}");
                        }
                    }
                }
            }
        }
    }
    assert!(contacts > 1000, "{contacts}");
}

#[test]
fn a_zombie_cannot_apply_what_it_gets_in_the_same_contact() {
    let mut party = party("Z1 Z5");
    let result = party.contact((Seat(0), commit("*2")), (Seat(1), commit("*5")));
    assert_eq!(result, Err(Refused::TooManyViruses { seat: Seat(0), count: 2, has: 1 }));
    assert_eq!(shown(&party), "Z1 Z5");
}

// ---- The antidote -----------------------------------------------------------------------------------------

#[test]
fn the_antidote_heals_an_infected_and_is_wasted_on_a_human() {
    for (before, after) in [("I2", "H1"), ("I1", "H0"), ("H2", "H1"), ("H1", "H0")] {
        let mut party = party(&format!("{before} Z0"));
        let was = party.players()[0].role;
        let effect = party.antidote(Seat(0)).unwrap();
        assert_eq!(shown(&party), format!("{after} Z0"));
        assert_eq!((effect.was, effect.is), (was, Role::Human));
        party.invariants().unwrap();
    }
}

#[test]
fn without_an_antibody_and_for_zombies_there_is_no_antidote() {
    for (before, why) in [
        ("H0", Refused::NoAntibody { seat: Seat(0) }),
        ("I0", Refused::NoAntibody { seat: Seat(0) }),
        ("I0+2", Refused::NoAntibody { seat: Seat(0) }),
        ("Z0", Refused::Zombie { seat: Seat(0) }),
        ("Z3", Refused::Zombie { seat: Seat(0) }),
    ] {
        let mut party = party(&format!("{before} H1"));
        let start = party.clone();
        assert_eq!(party.antidote(Seat(0)), Err(why));
        assert_eq!(party, start);
    }
}

#[test]
fn the_antidote_can_be_taken_at_any_time_several_times_and_after_the_end_of_ones_turn() {
    let mut party = party("I3 H0 H0");
    party.antidote(Seat(0)).unwrap();
    party.antidote(Seat(0)).unwrap();
    party.end(Seat(0)).unwrap();
    party.antidote(Seat(0)).unwrap();
    assert_eq!(shown(&party), "H0 H0 H0");
    assert_eq!(party.without_contact().count(), 3, "it is no contact");
}

#[test]
fn whoever_is_healed_without_antibodies_left_does_not_become_a_zombie() {
    let mut party = party("I1 H1 H1");
    party.antidote(Seat(0)).unwrap();
    assert_eq!(party.next_turn(), Ok(vec![]));
    assert_eq!(shown(&party), "H0 H1 H1");
}

// ---- Who may meet whom ------------------------------------------------------------------------------------

#[test]
fn nobody_meets_the_same_player_twice_in_a_turn_from_either_side() {
    let mut party = party("H0 H0 H0");
    touch(&mut party, 0, 1);
    assert!(party.have_met(Seat(0), Seat(1)) && party.have_met(Seat(1), Seat(0)));
    let nothing = Commitment::None;
    for (a, b) in [(0, 1), (1, 0)] {
        let again = party.contact((Seat(a), nothing), (Seat(b), nothing));
        assert_eq!(again, Err(Refused::Again { a: Seat(a), b: Seat(b) }));
    }
    touch(&mut party, 0, 2);
    touch(&mut party, 2, 1);
    assert_eq!(shown(&party), "H2 H2 H2");
    party.next_turn().unwrap();
    touch(&mut party, 1, 0);
    assert_eq!(shown(&party), "H3 H3 H2", "a new turn, a new contact");
}

#[test]
fn whoever_has_ended_its_turn_meets_nobody_until_the_next() {
    let mut party = party("H0 H0 H0");
    touch(&mut party, 0, 1);
    party.end(Seat(1)).unwrap();
    let nothing = Commitment::None;
    for (a, b) in [(1, 2), (2, 1)] {
        let result = party.contact((Seat(a), nothing), (Seat(b), nothing));
        assert_eq!(result, Err(Refused::Ended { seat: Seat(1) }));
    }
    assert!(!party.all_ended());
    party.end(Seat(0)).unwrap();
    party.end(Seat(2)).unwrap();
    assert!(party.all_ended());
    party.next_turn().unwrap();
    assert!(!party.all_ended());
    touch(&mut party, 1, 2);
}

#[test]
fn a_refused_command_changes_nothing() {
    let mut party = party("H2 I1 Z2 H0 H5 I0");
    touch(&mut party, 0, 1);
    party.end(Seat(4)).unwrap();
    let start = party.clone();
    let json = json_of(&start);
    let seat = Seat;
    for (a, x, b, y, why) in [
        (0, "-", 0, "-", Refused::Itself { seat: seat(0) }),
        (0, "-", 9, "-", Refused::NoSuchPlayer { seat: seat(9) }),
        (9, "-", 0, "-", Refused::NoSuchPlayer { seat: seat(9) }),
        (0, "-", 1, "-", Refused::Again { a: seat(0), b: seat(1) }),
        (1, "!", 0, "!", Refused::Again { a: seat(1), b: seat(0) }),
        (0, "!", 4, "-", Refused::Ended { seat: seat(4) }),
        (4, "!", 0, "-", Refused::Ended { seat: seat(4) }),
        (0, "!", 3, "!", Refused::NoAntibody { seat: seat(3) }),
        (5, "!", 0, "!", Refused::NoAntibody { seat: seat(5) }),
        (2, "!", 0, "-", Refused::Zombie { seat: seat(2) }),
        (0, "*1", 2, "*1", Refused::NotZombie { seat: seat(0) }),
        (1, "*1", 2, "-", Refused::NotZombie { seat: seat(1) }),
        (0, "!", 2, "*0", Refused::ZeroViruses { seat: seat(2) }),
        (0, "!", 2, "*3", Refused::TooManyViruses { seat: seat(2), count: 3, has: 2 }),
    ] {
        let result = party.contact((seat(a), commit(x)), (seat(b), commit(y)));
        assert_eq!(result, Err(why), "{a}{x} {b}{y}");
        assert_eq!(json_of(&party), json, "{a}{x} {b}{y}");
    }
    assert_eq!(party.antidote(seat(3)), Err(Refused::NoAntibody { seat: seat(3) }));
    assert_eq!(party.antidote(seat(2)), Err(Refused::Zombie { seat: seat(2) }));
    assert_eq!(party.antidote(seat(9)), Err(Refused::NoSuchPlayer { seat: seat(9) }));
    assert_eq!(party.end(seat(4)), Err(Refused::Ended { seat: seat(4) }));
    assert_eq!(party.end(seat(9)), Err(Refused::NoSuchPlayer { seat: seat(9) }));
    assert_eq!(party, start);
}

#[test]
fn nothing_is_done_in_a_game_that_is_over() {
    let mut party = party_with("H2 H2 Z1", json!({"max_turns": 1}));
    party.next_turn().unwrap();
    let json = json_of(&party);
    let nothing = Commitment::None;
    assert_eq!(party.contact((Seat(0), nothing), (Seat(1), nothing)), Err(Refused::Over));
    assert_eq!(party.antidote(Seat(0)), Err(Refused::Over));
    assert_eq!(party.end(Seat(0)), Err(Refused::Over));
    assert_eq!(party.next_turn(), Err(Refused::Over));
    assert_eq!(json_of(&party), json);
}

// ---- The end of a turn ------------------------------------------------------------------------------------

#[test]
fn at_the_end_of_a_turn_the_infected_lose_an_antibody_and_those_without_become_zombies() {
    let mut party = party("H0 H3 I3 I2 I1 I0 I0+4 H0+2 Z2");
    let turned = party.next_turn().unwrap();
    assert_eq!(turned, [Seat(4), Seat(5), Seat(6)]);
    // What was carried is the stock of the zombie.
    assert_eq!(shown(&party), "H0 H3 I2 I1 Z0 Z0 Z4 H0+2 Z2");
    assert_eq!(party.turns(), 1);
    party.invariants().unwrap();
}

#[test]
fn the_turn_of_those_who_have_not_ended_it_is_ended_too() {
    let mut party = party("H0 H0 H0 Z0");
    touch(&mut party, 0, 1);
    party.end(Seat(0)).unwrap();
    assert_eq!(party.next_turn(), Ok(vec![]));
    assert!(party.players().iter().all(|player| !player.ended && player.contacts == 0));
    assert!(!party.have_met(Seat(0), Seat(1)));
}

#[test]
fn nobody_becomes_a_zombie_before_the_end_of_the_turn() {
    let mut party = party("H0 Z3 H0 H0");
    party.contact((Seat(0), Commitment::None), (Seat(1), commit("*2"))).unwrap();
    assert_eq!(shown(&party), "I0+2 Z1 H0 H0");
    assert_eq!(party.players()[0].identity(), Identity::Human);
    // It spreads as an infected, and gains what its viruses cancel.
    touch(&mut party, 0, 2);
    assert_eq!(shown(&party), "I0+1 Z1 I0 H0");
    assert_eq!(party.next_turn(), Ok(vec![Seat(0), Seat(2)]));
    assert_eq!(shown(&party), "Z1 Z1 Z0 H0");
}

#[test]
fn those_who_met_nobody_in_the_turn_are_named() {
    let mut party = party("H0 H0 H1 Z0 H0");
    assert_eq!(party.without_contact().count(), 5);
    touch(&mut party, 0, 3);
    party.antidote(Seat(2)).unwrap();
    party.end(Seat(4)).unwrap();
    assert_eq!(party.without_contact().collect::<Vec<_>>(), [Seat(1), Seat(2), Seat(4)]);
    party.next_turn().unwrap();
    assert_eq!(party.without_contact().count(), 5, "each turn anew");
    assert_eq!(party.ending(), None, "the game goes on");
}

// ---- Reports ----------------------------------------------------------------------------------------------

#[test]
fn a_private_report_tells_the_identity_and_its_stock_and_never_that_one_is_infected() {
    let party = party("H3 I3 Z2 H0+5 I0+5 H0");
    let json: Vec<Value> =
        Seat::all(6).iter().map(|&seat| serde_json::to_value(party.private_report(seat)).unwrap()).collect();
    let human = |stock| json!({"identity": "human", "stock": stock});
    let zombie = json!({"identity": "zombie", "stock": 2});
    assert_eq!(json, [human(3), human(3), zombie, human(0), human(0), human(0)]);
}

#[test]
fn the_public_report_counts_infected_as_human_and_viruses_of_zombies_only() {
    for (players, humans, zombies, most_antibodies, most_viruses) in [
        ("H3 I5 Z2 H0+9 I0+7 Z4", 4, 2, 5, 4),
        ("H6 I5 Z0", 2, 1, 6, 0),
        ("H0 I0+3", 2, 0, 0, 0),
        ("H4 H2 H4", 3, 0, 4, 0),
    ] {
        let report = serde_json::to_value(party(players).public_report()).unwrap();
        let expected = json!({
            "turns": 0, "humans": humans, "zombies": zombies,
            "most_antibodies": most_antibodies, "most_viruses": most_viruses,
        });
        assert_eq!(report, expected, "{players}");
    }
}

#[test]
fn reports_come_after_the_losses_of_the_end_of_the_turn() {
    let mut party = party("I4 I0+6 H2 H2");
    party.next_turn().unwrap();
    let public = party.public_report();
    assert_eq!((public.turns, public.humans, public.zombies), (1, 3, 1));
    assert_eq!((public.most_antibodies, public.most_viruses), (3, 6));
    assert_eq!(party.private_report(Seat(0)).stock, 3);
    let turned = party.private_report(Seat(1));
    assert_eq!((turned.identity, turned.stock), (Identity::Zombie, 6));
}

// ---- Endings ----------------------------------------------------------------------------------------------

/// Plays the end of a turn: the ending, and the places.
fn ending(text: &str, max_turns: u32) -> (Option<Ending>, Option<Vec<u16>>) {
    let mut party = party_with(text, json!({"max_turns": max_turns}));
    assert_eq!((party.ending(), party.outcome()), (None, None), "never before the end of a turn");
    party.next_turn().unwrap();
    party.invariants().unwrap();
    (party.ending(), party.outcome().map(|outcome| outcome.places))
}

#[test]
fn zombies_win_when_no_human_is_left() {
    assert_eq!(ending("Z0 I1 I0+2 Z3", 8), (Some(Ending::ZombiesWin), Some(vec![1, 1, 1, 1])));
    assert_eq!(ending("Z0 I0", 1), (Some(Ending::ZombiesWin), Some(vec![1, 1])), "also in the last turn");
}

#[test]
fn the_only_human_left_survives_and_wins_even_if_infected() {
    let survivor = |seat| Some(Ending::SurvivorWins { seat: Seat(seat) });
    assert_eq!(ending("Z0 H0 I1", 8), (survivor(1), Some(vec![2, 1, 2])));
    assert_eq!(ending("Z0 Z4 I2", 8), (survivor(2), Some(vec![2, 2, 1])));
    assert_eq!(ending("H0 Z0", 8), (survivor(0), Some(vec![1, 2])), "also if it was the only one all along");
    assert_eq!(ending("Z0 H0 I1", 1), (survivor(1), Some(vec![2, 1, 2])), "also in the last turn");
}

#[test]
fn at_max_turns_the_humans_win_ranked_by_antibodies_and_ties_share_a_rank() {
    // The infected count with what they have after the losses of the turn.
    let (ended, places) = ending("H3 H1 I4 Z9 H3 I1 H0+5 H0", 1);
    assert_eq!(ended, Some(Ending::HumansWin));
    assert_eq!(places, Some(vec![1, 4, 1, 7, 1, 7, 5, 5]));
    assert_eq!(ending("H2 H5 H2", 1), (Some(Ending::HumansWin), Some(vec![2, 1, 2])), "without zombies");
}

#[test]
fn the_game_goes_on_with_two_humans_until_max_turns() {
    let mut party = party_with("H9 I9 Z0", json!({"max_turns": 3}));
    for turn in 1..=3 {
        assert_eq!(party.ending(), None);
        party.next_turn().unwrap();
        assert_eq!(party.turns(), turn);
    }
    assert_eq!(party.ending(), Some(Ending::HumansWin));
    assert_eq!(party.outcome().unwrap().turns, 3);
}

// ---- Bots: the start --------------------------------------------------------------------------------------

#[test]
fn zombies_are_dealt_and_the_order_is_drawn_at_random() {
    let deals = enumerate(24 * 24, |chance| {
        let game = start(4, json!({"zombies": 2}), chance);
        let zombies: Vec<bool> = game.party().players().iter().map(|p| p.role == Role::Zombie).collect();
        (zombies, serde_json::to_value(&game).unwrap()["order"].to_string())
    })
    .unwrap();
    assert_eq!(deals.len(), 6 * 24);
    assert!(deals.values().all(|&probability| probability == Probability::new(1, 6 * 24)));
}

#[test]
fn everybody_is_told_its_identity_and_the_numbers_at_the_start() {
    let mut log = Vec::new();
    let rules = rules(json!({"zombies": 2, "start_antibodies": 3, "start_viruses": 5, "max_turns": 4}));
    let game = Infection::new(&names(6), &rules, &mut Seeded::new(3, "start", 0), &mut log).unwrap();
    game.invariants().unwrap();
    for &seat in Seat::all(6) {
        let zombie = game.party().players()[seat.index()].role == Role::Zombie;
        let told = if zombie {
            json!({"identity": "zombie", "stock": 5})
        } else {
            json!({"identity": "human", "stock": 3})
        };
        let public = json!({"turns": 0, "humans": 4, "zombies": 2, "most_antibodies": 3, "most_viruses": 5});
        let others: Vec<Seat> = Seat::all(6).iter().copied().filter(|&other| other != seat).collect();
        let view = serde_json::to_value(game.view(seat)).unwrap();
        let asked = game.to_act() == [seat];
        assert_eq!(
            view,
            json!({
                "seat": seat, "question": {"type": if asked { "choose" } else { "wait" }}, "told": told,
                "applied": 0, "public": public, "max_turns": 4, "has_met": false, "partners": others,
            })
        );
        let heard: BTreeSet<String> = heard(&log, seat).into_iter().collect();
        let expected = [
            json!({"type": "announced", "report": public}),
            json!({"type": "told", "seat": seat, "report": told}),
        ];
        let sorted = |text: &str| serde_json::from_str::<Value>(text).unwrap().to_string();
        let heard: BTreeSet<String> = heard.iter().map(|text| sorted(text)).collect();
        assert_eq!(heard, expected.iter().map(Value::to_string).collect(), "nothing else is heard");
    }
}

/// The events that a seat may hear of, as JSON.
fn heard(log: &[Logged<Event>], seat: Seat) -> Vec<String> {
    log.iter().filter(|logged| logged.audience.includes(seat)).map(|logged| json_of(&logged.event)).collect()
}

#[test]
fn there_must_be_a_human_and_enough_players() {
    let new = |players, zombies: u32| {
        let rules = rules(json!({"zombies": zombies}));
        Infection::new(&names(players), &rules, &mut Seeded::new(1, "t", 0), &mut Silent)
    };
    assert!(new(2, 1).is_ok() && new(3, 0).is_ok());
    for zombies in [3, 4] {
        let error = new(3, zombies).unwrap_err();
        assert!(matches!(error, SetupError::Option { option: "zombies", .. }), "{error}");
    }
    assert!(matches!(new(1, 0), Err(SetupError::Seats { came: 1, .. })));
}

// ---- Bots: who is asked when ------------------------------------------------------------------------------

#[test]
fn all_are_asked_one_after_the_other_again_and_again_until_they_end() {
    let mut game = game("H0 H0 H0 H0", &[2, 0, 3, 1]);
    let mut asked = Vec::new();
    let mut go = |game: &mut Infection, action| {
        asked.push(game.to_act()[0].0);
        act(game, action);
    };
    go(&mut game, meet(0, "-"));
    go(&mut game, answer("-"));
    go(&mut game, meet(1, "-")); // being picked does not cost one's own go
    go(&mut game, answer("-"));
    go(&mut game, meet(2, "-"));
    go(&mut game, answer("-"));
    go(&mut game, END); // player 1
    go(&mut game, END); // player 2
    go(&mut game, meet(3, "-")); // player 0 again
    go(&mut game, answer("-"));
    go(&mut game, END); // player 3, again; 1 and 2 are left out
    asked.push(game.to_act()[0].0);
    assert_eq!(asked, [2, 0, 0, 1, 3, 2, 1, 2, 0, 3, 3, 0]);
    close(&mut game, END);
    assert_eq!(game.party().turns(), 1);
}

#[test]
fn the_order_is_drawn_anew_in_each_turn() {
    let mut game = game("H0 H0 H0", &[0, 1, 2]);
    contact(&mut game, 1, "-", "-");
    contact(&mut game, 2, "-", "-");
    act(&mut game, END);
    act(&mut game, END);
    let orders = enumerate(6, |chance| {
        let mut game = game.clone();
        game.apply(&[Move::Act(END)], chance, &mut Silent).unwrap();
        assert_eq!(game.party().turns(), 1);
        serde_json::to_value(&game).unwrap()["order"].to_string()
    })
    .unwrap();
    assert_eq!(orders.len(), 6);
    assert!(orders.values().all(|&probability| probability == Probability::new(1, 6)));
}

#[test]
fn the_turn_cannot_be_ended_before_the_first_contact() {
    let mut game = game("H0 Z0 H0", &[0, 1, 2]);
    assert_eq!(refused(&mut game, END), Illegal::NoContactYet);
    assert_eq!(refused(&mut game, Action::End { antidote: true }), Illegal::NoContactYet);
    contact(&mut game, 1, "-", "-");
    // To be picked is a contact too.
    assert_eq!(game.to_act(), [Seat(1)]);
    act(&mut game, END);
    assert_eq!(game.to_act(), [Seat(2)]);
    assert_eq!(refused(&mut game, END), Illegal::NoContactYet);
    contact(&mut game, 0, "-", "-");
    assert_eq!(game.to_act(), [Seat(0)]);
}

#[test]
fn whoever_has_nobody_left_to_meet_may_end_without_a_contact_and_is_named() {
    // By answers alone it does not come to this, since the first who is asked cannot have ended by then.
    let mut state = game("H0 H0 H1", &[0, 1, 2]);
    contact(&mut state, 1, "-", "-");
    let mut state = serde_json::to_value(&state).unwrap();
    state["party"]["players"][0]["ended"] = json!(true);
    state["party"]["players"][1]["ended"] = json!(true);
    state["asked"] = json!(2);
    let mut game: Infection = restore(&state.to_string()).unwrap();
    assert_eq!(game.view(Seat(2)).partners, []);
    assert_eq!(legal(&game, Seat(2)), [END, Action::End { antidote: true }]);
    let log = close(&mut game, END);
    let named: Vec<&Logged<Event>> =
        log.iter().filter(|logged| matches!(logged.event, Event::MetNobody { .. })).collect();
    assert_eq!(named.len(), 1);
    assert_eq!(
        (named[0].audience.clone(), &named[0].event),
        (Audience::Everyone, &Event::MetNobody { seat: Seat(2) })
    );
    assert_eq!(game.party().turns(), 1, "and the game goes on");
}

#[test]
fn one_meets_neither_oneself_nor_the_same_player_twice_nor_somebody_who_has_ended() {
    let mut game = game("H0 H0 H0 H0", &[0, 1, 2, 3]);
    assert_eq!(refused(&mut game, meet(0, "-")), Illegal::NoPartner { with: Seat(0) });
    assert_eq!(refused(&mut game, meet(4, "-")), Illegal::NoPartner { with: Seat(4) });
    assert_eq!(refused(&mut game, meet(u16::MAX, "-")), Illegal::NoPartner { with: Seat(u16::MAX) });
    contact(&mut game, 1, "-", "-");
    assert_eq!(refused(&mut game, meet(0, "-")), Illegal::NoPartner { with: Seat(0) }, "from the other side");
    act(&mut game, END);
    assert_eq!(refused(&mut game, meet(1, "-")), Illegal::NoPartner { with: Seat(1) }, "ended");
    contact(&mut game, 0, "-", "-");
    contact(&mut game, 2, "-", "-");
    assert_eq!(game.view(Seat(0)).partners, [Seat(3)]);
    assert_eq!(refused(&mut game, meet(2, "-")), Illegal::NoPartner { with: Seat(2) }, "met before");
}

#[test]
fn the_picked_player_is_asked_at_once_and_learns_only_who_picked_it() {
    let views = |commit: &str| {
        let mut game = game("H2 Z0 Z4 I1", &[2, 0, 1, 3]);
        let log = act(&mut game, meet(3, commit));
        assert_eq!(log.len(), 1);
        let met = Event::Met { seat: Seat(2), with: Seat(3) };
        assert_eq!((log[0].audience.clone(), &log[0].event), (Audience::Pair(Seat(2), Seat(3)), &met));
        assert_eq!(game.to_act(), [Seat(3)]);
        assert_eq!(question(&game, 3), Question::Answer { to: Seat(2) });
        assert_eq!([0, 1, 2].map(|seat| question(&game, seat)), [Question::Wait; 3]);
        [0, 1, 3].map(|seat| json_of(&game.view(Seat(seat))))
    };
    assert_eq!(views("-"), views("*1"));
    assert_eq!(views("-"), views("*4"));
}

#[test]
fn the_question_decides_what_can_be_answered() {
    let mut game = game("H0 H0 H0", &[0, 1, 2]);
    assert_eq!(refused(&mut game, answer("-")), Illegal::Choosing);
    act(&mut game, meet(1, "-"));
    assert_eq!(refused(&mut game, meet(2, "-")), Illegal::Answering);
    assert_eq!(refused(&mut game, END), Illegal::Answering);
    act(&mut game, answer("-"));
    assert_eq!(question(&game, 1), Question::Choose);
}

#[test]
fn both_commitments_count_as_in_the_table() {
    let mut game = game("H3 Z3 H1", &[0, 1, 2]);
    let log = contact(&mut game, 1, "!", "*1");
    assert_eq!(shown(game.party()), "H1 Z2 H1");
    let resolved = log.last().unwrap();
    assert_eq!(resolved.audience, Audience::Judge, "no player hears what came of it");
    let commitments = [commit("!"), commit("*1")];
    assert!(matches!(resolved.event, Event::Resolved { commitments: c, failed: [false, false], .. }
        if c == commitments));
}

// ---- Bots: what cannot be known ---------------------------------------------------------------------------

#[test]
fn a_precaution_without_an_antibody_silently_fails() {
    // One who can pay and one who cannot: no player hears a difference.
    let play = |first: &str| {
        let mut game = game(&format!("{first} Z0 H1"), &[0, 1, 2]);
        let log = contact(&mut game, 1, "!", "-");
        (shown(game.party()), [0, 1, 2].map(|seat| heard(&log, Seat(seat))), log)
    };
    let (paid, heard_paid, _) = play("H1");
    let (failed, heard_failed, log) = play("H0");
    assert_eq!((paid.as_str(), failed.as_str()), ("H0 Z0 H1", "I0 Z0 H1"));
    assert_eq!(heard_paid, heard_failed);
    let judged = log.iter().any(|l| matches!(l.event, Event::Resolved { failed: [true, false], .. }));
    assert!(judged, "the judge knows: {log:?}");
    // The same for the picked one, and for an infected.
    let mut game = game("Z0 I0 H1", &[0, 1, 2]);
    contact(&mut game, 1, "-", "!");
    assert_eq!(shown(game.party()), "Z0 I0 H1");
}

#[test]
fn a_precaution_fails_when_the_antibodies_one_was_told_of_are_gone() {
    let mut game = game("H2 Z2 Z0 H0", &[0, 1, 2, 3]);
    contact(&mut game, 1, "-", "*2");
    assert_eq!(shown(game.party()), "I0 Z0 Z0 H0");
    assert_eq!(game.view(Seat(0)).told.stock, 2, "what it was told last");
    act(&mut game, END);
    act(&mut game, meet(0, "-"));
    assert!(legal(&game, Seat(0)).contains(&answer("!")));
    act(&mut game, answer("!"));
    assert_eq!(shown(game.party()), "I0 Z0 Z0 H0");
}

#[test]
fn an_antidote_without_an_antibody_silently_fails() {
    for (first, after) in [("I1", "H0 H1 H1"), ("H1", "H0 H1 H1"), ("I0", "I0 H1 H1"), ("H0", "H0 H1 H1")] {
        let mut game = game(&format!("{first} H1 H1"), &[0, 1, 2]);
        let cure = Action::Contact { with: Seat(1), commit: Commitment::None, antidote: true };
        let log = act(&mut game, cure);
        assert_eq!(shown(game.party()), after, "{first}");
        assert!(heard(&log, Seat(2)).is_empty());
        let met = json_of(&Event::Met { seat: Seat(0), with: Seat(1) });
        assert_eq!([heard(&log, Seat(0)), heard(&log, Seat(1))], [vec![met.clone()], vec![met]], "{first}");
        assert!(
            log.iter().any(|l| matches!(l.event, Event::Antidote { .. }) && l.audience == Audience::Judge)
        );
    }
}

#[test]
fn the_antidote_comes_before_the_contact() {
    let cure = |commit_text| Action::Contact { with: Seat(1), commit: commit(commit_text), antidote: true };
    for (before, mine, after) in [
        ("I2 Z0 H1", "!", "H0 Z0 H1"), // healed, then shielded
        ("I1 Z0 H1", "!", "I0 Z0 H1"), // healed, then no antibody for the precaution
        ("I2 H0 H1", "-", "H2 H1 H1"), // healed, then two humans meet
    ] {
        let mut game = game(before, &[0, 1, 2]);
        act(&mut game, cure(mine));
        act(&mut game, answer("-"));
        assert_eq!(shown(game.party()), after, "{before}");
    }
    // The picked one too.
    let mut game = game("H0 I2 H1", &[0, 1, 2]);
    act(&mut game, meet(1, "-"));
    act(&mut game, Action::Answer { commit: Commitment::None, antidote: true });
    assert_eq!(shown(game.party()), "H1 H2 H1");
}

#[test]
fn an_antidote_with_the_end_of_the_turn_saves_an_infected() {
    for (antidote, after) in [(true, "H0 H1 H2"), (false, "Z0 H1 H2")] {
        let mut game = game("I1 H1 H1", &[0, 1, 2]);
        contact(&mut game, 1, "-", "!");
        contact(&mut game, 2, "-", "-");
        for _ in 0..2 {
            let seat = game.to_act()[0];
            act(&mut game, Action::End { antidote: antidote && seat == Seat(0) });
        }
        close(&mut game, END);
        assert_eq!(shown(game.party()), after);
    }
}

#[test]
fn a_zombie_applies_only_viruses_it_knows_of() {
    let mut game = game("Z2 Z5 H0 Z0", &[0, 1, 2, 3]);
    assert_eq!(refused(&mut game, meet(2, "*3")), Illegal::Viruses { count: 3, known: 2 });
    assert_eq!(refused(&mut game, meet(2, "*0")), Illegal::Viruses { count: 0, known: 2 });
    // It is given four, and gives one: it knows of one more of its own.
    contact(&mut game, 1, "*1", "*4");
    assert_eq!(shown(game.party()), "Z5 Z2 H0 Z0");
    assert_eq!((game.view(Seat(0)).known_viruses(), game.view(Seat(1)).known_viruses()), (1, 1));
    assert_eq!(refused(&mut game, meet(2, "*2")), Illegal::Viruses { count: 2, known: 1 });
    act(&mut game, END);
    contact(&mut game, 0, "-", "*1");
    assert_eq!(game.view(Seat(0)).known_viruses(), 0);
    // Player 3 meets player 0: both gain one, and neither knows.
    act(&mut game, meet(0, "-"));
    assert_eq!(refused(&mut game, answer("*1")), Illegal::Viruses { count: 1, known: 0 });
    act(&mut game, answer("-"));
    assert_eq!(shown(game.party()), "Z5 Z2 I0+1 Z1");
    assert_eq!(game.to_act(), [Seat(0)]);
    assert_eq!(legal(&game, Seat(0)), [END], "nobody is left but player 1, who has ended, and those it met");
    act(&mut game, END);
    act(&mut game, END);
    close(&mut game, END);
    // The report tells them.
    assert_eq!((game.view(Seat(0)).known_viruses(), game.view(Seat(3)).known_viruses()), (5, 1));
}

#[test]
fn zombies_spend_no_antibodies_and_humans_no_viruses() {
    let mut game = game("Z2 H2 I2", &[0, 1, 2]);
    assert_eq!(refused(&mut game, meet(1, "!")), Illegal::Zombie);
    let cure = Action::Contact { with: Seat(1), commit: Commitment::None, antidote: true };
    assert_eq!(refused(&mut game, cure), Illegal::Zombie);
    act(&mut game, meet(1, "-"));
    assert_eq!(refused(&mut game, answer("*1")), Illegal::NotZombie);
    act(&mut game, answer("!"));
    assert_eq!(refused(&mut game, meet(2, "*1")), Illegal::NotZombie);
    act(&mut game, END);
    assert_eq!(refused(&mut game, meet(0, "*1")), Illegal::NotZombie);
}

// ---- Bots: forfeits, reports, the end ---------------------------------------------------------------------

#[test]
fn whoever_forfeits_meets_the_first_it_can_or_ends_its_turn_and_commits_nothing() {
    let forfeit = |game: &mut Infection| {
        let mut log: Vec<Logged<Event>> = Vec::new();
        Scripted::new([]).run(|chance| game.apply(&[Move::Forfeit], chance, &mut log)).unwrap().unwrap();
        game.invariants().unwrap();
        log.iter().map(|logged| logged.event.clone()).collect::<Vec<_>>()
    };
    let mut game = game("H3 H3 Z3", &[1, 0, 2]);
    assert_eq!(forfeit(&mut game), [Event::Met { seat: Seat(1), with: Seat(0) }]);
    let events = forfeit(&mut game);
    assert!(matches!(
        events[..],
        [Event::Resolved { commitments: [Commitment::None, Commitment::None], .. }]
    ));
    assert_eq!(shown(game.party()), "H4 H4 Z3");
    // Player 0 has met somebody: it ends.
    assert_eq!(forfeit(&mut game), [Event::Ended { seat: Seat(0) }]);
    assert_eq!(forfeit(&mut game), [Event::Met { seat: Seat(2), with: Seat(1) }], "player 0 has ended");
    forfeit(&mut game);
    assert_eq!(shown(game.party()), "H4 I4 Z3");
}

#[test]
fn a_game_of_nothing_but_forfeits_comes_to_its_end() {
    let mut chance = Seeded::new(1, "forfeits", 0);
    let mut game = start(7, json!({"zombies": 2, "max_turns": 5}), &mut chance);
    let mut asked = 0;
    while game.outcome().is_none() {
        game.apply(&[Move::Forfeit], &mut chance, &mut Silent).unwrap();
        asked += 1;
        assert!(asked < 1000);
    }
    assert_eq!(game.to_act(), []);
}

#[test]
fn at_the_end_of_a_turn_everybody_hears_its_report_and_the_judge_who_turned() {
    let mut game = game("Z1 I0 H3 H3", &[0, 2, 1, 3]);
    contact(&mut game, 1, "*1", "-");
    contact(&mut game, 3, "-", "-");
    act(&mut game, END); // 1
    act(&mut game, END); // 3
    act(&mut game, END); // 0
    let log = close(&mut game, END); // 2
    let turned: Vec<_> = log.iter().filter(|l| matches!(l.event, Event::Turned { .. })).collect();
    assert_eq!(turned.len(), 1);
    assert_eq!(
        (turned[0].audience.clone(), &turned[0].event),
        (Audience::Judge, &Event::Turned { seat: Seat(1) })
    );
    let public = json!({"turns": 1, "humans": 2, "zombies": 2, "most_antibodies": 4, "most_viruses": 1});
    let told = |identity, stock| json!({"identity": identity, "stock": stock});
    for (seat, private) in
        [told("zombie", 0), told("zombie", 1), told("human", 4), told("human", 4)].into_iter().enumerate()
    {
        let seat = Seat(seat as u16);
        let view = serde_json::to_value(game.view(seat)).unwrap();
        assert_eq!((&view["public"], &view["told"]), (&public, &private));
        let heard: Vec<Value> =
            heard(&log, seat).iter().map(|text| serde_json::from_str(text).unwrap()).collect();
        assert_eq!(
            heard,
            [
                json!({"type": "ended", "seat": 2}),
                json!({"type": "announced", "report": public}),
                json!({"type": "told", "seat": seat, "report": private}),
            ]
        );
    }
}

#[test]
fn the_end_of_the_game_is_announced_to_all_and_nobody_is_asked_any_more() {
    let mut game = game("Z0 I0 H3", &[0, 1, 2]);
    contact(&mut game, 1, "-", "-");
    contact(&mut game, 2, "-", "!");
    act(&mut game, END);
    act(&mut game, END);
    let mut log: Vec<Logged<Event>> = Vec::new();
    // No chance is asked: there is no next turn.
    Scripted::new([]).run(|chance| game.apply(&[Move::Act(END)], chance, &mut log)).unwrap().unwrap();
    let over = log.last().unwrap();
    let ending = Ending::SurvivorWins { seat: Seat(2) };
    assert_eq!((over.audience.clone(), &over.event), (Audience::Everyone, &Event::Over { ending }));
    assert_eq!(game.to_act(), []);
    assert_eq!(game.outcome().unwrap().places, [2, 2, 1]);
    assert!(Seat::all(3).iter().all(|&seat| legal(&game, seat).is_empty()));
    let before = json_of(&game);
    for moves in [vec![], vec![Move::Forfeit], vec![Move::Act(END)]] {
        let result = game.apply(&moves, &mut Seeded::new(1, "over", 0), &mut Silent);
        assert_eq!(result, Err(Rejected::Over));
        assert_eq!(json_of(&game), before);
    }
    assert_eq!(restore::<Infection>(&before).unwrap(), game);
}

#[test]
fn exactly_one_move_is_expected() {
    let mut game = game("Z0 I0 H3", &[0, 1, 2]);
    let before = json_of(&game);
    for came in [0, 2, 3] {
        let result = game.apply(&vec![Move::Forfeit; came], &mut Seeded::new(1, "count", 0), &mut Silent);
        assert_eq!(result, Err(Rejected::Count { expected: 1, came }));
        assert_eq!(json_of(&game), before);
    }
}

// ---- Random games -----------------------------------------------------------------------------------------

/// One of the legal actions of the player who is asked.
fn random_action(game: &Infection, chance: &mut Seeded) -> Action {
    let all = legal(game, game.to_act()[0]);
    // Ends are few among many contacts: give them more weight, so that turns have ends.
    let ends: Vec<Action> =
        all.iter().copied().filter(|action| matches!(action, Action::End { .. })).collect();
    let among = if !ends.is_empty() && chance.uniform(3) == 0 { ends } else { all };
    among[chance.uniform(among.len() as u32) as usize]
}

/// Tables of random games: few and many players, rich and poor, with and without carried viruses.
fn random_tables() -> Vec<(usize, Value)> {
    vec![
        (2, json!({"zombies": 1, "start_antibodies": 2, "start_viruses": 2})),
        (4, json!({"zombies": 1, "start_antibodies": 1, "start_viruses": 3})),
        (5, json!({"zombies": 2, "start_antibodies": 2, "start_viruses": 2, "surplus_virus": "lost"})),
        (6, json!({"zombies": 2, "start_antibodies": 0, "start_viruses": 4})),
        (7, json!({"zombies": 3, "start_antibodies": 4, "start_viruses": 1})),
    ]
}

#[test]
fn the_legal_actions_are_exactly_those_that_are_accepted() {
    let mut checked = 0;
    for (table, (players, options)) in random_tables().into_iter().enumerate() {
        let mut chance = Seeded::new(1, "legal", table as u64);
        let mut game = start(players, options, &mut chance);
        for _ in 0..60 {
            let Some(&seat) = game.to_act().first() else { break };
            let legal = legal(&game, seat);
            for action in imaginable(players).into_iter().chain(legal.iter().copied()) {
                let mut copy = game.clone();
                let result = copy.apply(&[Move::Act(action)], &mut chance.clone(), &mut Silent);
                assert_eq!(result.is_ok(), legal.contains(&action), "{action:?} {:?}", game.view(seat));
                match result {
                    Ok(()) => copy.invariants().unwrap(),
                    Err(_) => assert_eq!(copy, game, "{action:?}"),
                }
                checked += 1;
            }
            for &other in Seat::all(players).iter().filter(|&&other| other != seat) {
                assert_eq!(self::legal(&game, other), [], "who is not asked has nothing to say");
            }
            let action = random_action(&game, &mut chance);
            game.apply(&[Move::Act(action)], &mut chance, &mut Silent).unwrap();
        }
    }
    assert!(checked > 10_000, "{checked}");
}

#[test]
fn random_games_keep_their_invariants_come_to_an_end_and_can_be_saved_at_any_time() {
    for (table, (players, options)) in random_tables().into_iter().enumerate() {
        for index in 0..20 {
            let mut chance = Seeded::new(index, "random", table as u64);
            let mut game = start(players, options.clone(), &mut chance);
            let mut kept = game.view(Seat(0));
            while game.outcome().is_none() {
                game.invariants().unwrap();
                assert_eq!(restore::<Infection>(&json_of(&game)).unwrap(), game);
                for &seat in Seat::all(players) {
                    game.refresh_view(seat, &mut kept);
                    assert_eq!(json_of(&kept), json_of(&game.view(seat)));
                }
                let action = random_action(&game, &mut chance);
                game.apply(&[Move::Act(action)], &mut chance, &mut Silent).unwrap();
            }
            assert!(game.party().turns() <= 8);
            assert_eq!(game.party().ending().is_some(), game.to_act().is_empty());
        }
    }
}

// ---- Nothing hidden is shown ------------------------------------------------------------------------------

/// Copies the game and changes only hidden things: who is human and who infected, what players carry, how
/// many antibodies are left of those a player was told of, and the viruses that a zombie was given without knowing.
fn with_other_secrets(game: &Infection, chance: &mut Seeded) -> Infection {
    let carry = serde_json::to_value(game.party().rules()).unwrap()["surplus_virus"] == "carry";
    let mut state = serde_json::to_value(game).unwrap();
    for (player, is) in
        state["party"]["players"].as_array_mut().unwrap().iter_mut().zip(game.party().players())
    {
        if is.role == Role::Zombie {
            player["viruses"] = json!(is.viruses + chance.uniform(3));
            continue;
        }
        player["role"] = json!(["human", "infected"][chance.uniform(2) as usize]);
        let antibodies = if chance.uniform(2) == 0 { is.antibodies } else { chance.uniform(4) };
        player["antibodies"] = json!(antibodies);
        player["viruses"] = json!(if antibodies == 0 && carry { chance.uniform(4) } else { 0 });
    }
    restore(&state.to_string()).unwrap()
}

/// Views and legal actions of all seats, as JSON.
fn known(game: &Infection, players: usize) -> Vec<String> {
    let seats = Seat::all(players).iter();
    seats.map(|&seat| format!("{} {}", json_of(&game.view(seat)), json_of(&legal(game, seat)))).collect()
}

/// What a seat hears up to the end of the turn.
fn heard_in_turn(log: &[Logged<Event>], seat: Seat) -> Vec<String> {
    let end = log.iter().position(|logged| matches!(logged.event, Event::Announced { .. }));
    heard(&log[..end.unwrap_or(log.len())], seat)
}

/// Plays both games with the same actions and the same chance to the end of the turn; no seat may see a
/// difference.
fn compare_to_the_end_of_the_turn(mut one: Infection, mut other: Infection, chance: &Seeded) -> u32 {
    let players = one.party().players().len();
    let (mut chance, turns) = (chance.clone(), one.party().turns());
    let mut compared = 0;
    loop {
        assert_eq!(one.to_act(), other.to_act());
        assert_eq!(known(&one, players), known(&other, players), "\n{one:?}\n{other:?}");
        let action = random_action(&one, &mut chance);
        let mut same = chance.clone();
        let (mut log, mut other_log) = (Vec::new(), Vec::new());
        one.apply(&[Move::Act(action)], &mut chance, &mut log).unwrap();
        other.apply(&[Move::Act(action)], &mut same, &mut other_log).unwrap();
        for &seat in Seat::all(players) {
            assert_eq!(heard_in_turn(&log, seat), heard_in_turn(&other_log, seat), "\n{one:?}\n{other:?}");
        }
        compared += 1;
        if one.party().turns() > turns {
            assert_eq!(other.party().turns(), one.party().turns());
            return compared;
        }
    }
}

#[test]
fn up_to_the_end_of_the_turn_nobody_can_tell_human_from_infected() {
    let (mut compared, mut different) = (0, 0);
    for (table, (players, options)) in random_tables().into_iter().enumerate() {
        for index in 0..12 {
            let mut chance = Seeded::new(index, "secrets", table as u64);
            let mut game = start(players, options.clone(), &mut chance);
            while game.outcome().is_none() {
                let other = with_other_secrets(&game, &mut chance);
                different += u32::from(other != game);
                compared += compare_to_the_end_of_the_turn(game.clone(), other, &chance);
                let action = random_action(&game, &mut chance);
                game.apply(&[Move::Act(action)], &mut chance, &mut Silent).unwrap();
            }
        }
    }
    assert!(compared > 5000 && different > 1000, "{compared} {different}");
}

#[test]
fn one_flip_of_human_and_infected_is_seen_by_nobody() {
    let mut flips = 0;
    for (table, (players, options)) in random_tables().into_iter().enumerate() {
        for index in 0..6 {
            let mut chance = Seeded::new(index, "flips", table as u64);
            let mut game = start(players, options.clone(), &mut chance);
            while game.outcome().is_none() {
                for place in 0..players {
                    let role = match game.party().players()[place].role {
                        Role::Human => "infected",
                        Role::Infected => "human",
                        Role::Zombie => continue,
                    };
                    let mut state = serde_json::to_value(&game).unwrap();
                    state["party"]["players"][place]["role"] = json!(role);
                    let other: Infection = restore(&state.to_string()).unwrap();
                    compare_to_the_end_of_the_turn(game.clone(), other, &chance);
                    flips += 1;
                }
                let action = random_action(&game, &mut chance);
                game.apply(&[Move::Act(action)], &mut chance, &mut Silent).unwrap();
            }
        }
    }
    assert!(flips > 500, "{flips}");
}

#[test]
fn what_is_refused_does_not_depend_on_anything_hidden() {
    let mut checked = 0;
    for (table, (players, options)) in random_tables().into_iter().enumerate() {
        let mut chance = Seeded::new(3, "refused", table as u64);
        let mut game = start(players, options, &mut chance);
        for _ in 0..60 {
            if game.outcome().is_some() {
                break;
            }
            let other = with_other_secrets(&game, &mut chance);
            for action in imaginable(players) {
                let result = |game: &Infection| {
                    game.clone().apply(&[Move::Act(action)], &mut chance.clone(), &mut Silent)
                };
                assert_eq!(result(&game), result(&other), "{action:?}");
                checked += 1;
            }
            let action = random_action(&game, &mut chance);
            game.apply(&[Move::Act(action)], &mut chance, &mut Silent).unwrap();
        }
    }
    assert!(checked > 5000, "{checked}");
}

#[test]
fn the_commitment_of_a_contact_that_waits_is_seen_by_nobody() {
    let mut checked = 0;
    for (table, (players, options)) in random_tables().into_iter().enumerate() {
        for index in 0..12 {
            let mut chance = Seeded::new(index, "pending", table as u64);
            let mut game = start(players, options.clone(), &mut chance);
            while game.outcome().is_none() {
                let seat = game.to_act()[0];
                let action = random_action(&game, &mut chance);
                if let Action::Contact { with, antidote: false, .. } = action {
                    let same_contacts = legal(&game, seat).into_iter().filter(|other| {
                        matches!(other, Action::Contact { with: w, antidote: false, .. } if *w == with)
                    });
                    let after: BTreeSet<Vec<String>> = same_contacts
                        .map(|other| {
                            let mut copy = game.clone();
                            let mut log = Vec::new();
                            copy.apply(&[Move::Act(other)], &mut chance, &mut log).unwrap();
                            let heard = Seat::all(players).iter().flat_map(|&seat| heard(&log, seat));
                            known(&copy, players).into_iter().chain(heard).collect()
                        })
                        .collect();
                    assert_eq!(after.len(), 1, "{after:?}");
                    checked += 1;
                }
                game.apply(&[Move::Act(action)], &mut chance, &mut Silent).unwrap();
            }
        }
    }
    assert!(checked > 300, "{checked}");
}

#[test]
fn reports_of_equal_stocks_are_equal_for_human_and_infected() {
    // Two games that end a turn with the same stocks, one with a human, one with an infected.
    let report = |text: &str| {
        let mut party = party(text);
        party.next_turn().unwrap();
        let private = Seat::all(3).iter().map(|&seat| json_of(&party.private_report(seat)));
        private.chain([json_of(&party.public_report())]).collect::<Vec<_>>()
    };
    assert_eq!(report("H2 H1 Z1"), report("I3 H1 Z1"));
    assert_eq!(report("H2 H0 Z1"), report("I3 H0+4 Z1"));
}

// ---- The classic rules ------------------------------------------------------------------------------------

/// A party by the classic rules: points are written like antibodies and viruses.
fn classic(text: &str, options: Value) -> Party {
    let mut all = json!({"rules": "classic"});
    all.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    party_with(text, all)
}

#[test]
fn classic_contacts_give_points_to_humans_and_to_zombies_who_infect() {
    let rows = [
        ("H0 H3", "- -", "H1 H4"),
        ("H2 I1", "- -", "I2 I1"),
        ("H2 Z1", "- -", "I2 Z2"),
        ("I2 I1", "- -", "I2 I1"),
        ("I2 Z1", "- -", "I2 Z1"),
        ("Z2 Z1", "- -", "Z2 Z1"),
    ];
    for (before, _, after) in rows {
        for [a, b] in [[0, 1], [1, 0]] {
            let mut party = classic(before, json!({}));
            touch(&mut party, a, b);
            assert_eq!(shown(&party), after, "{before}");
            party.invariants().unwrap();
        }
    }
    for text in ["!", "*1"] {
        let mut party = classic("H2 Z2", json!({}));
        let seat = if text == "!" { Seat(0) } else { Seat(1) };
        let refused = party.contact((seat, commit(text)), (Seat(1 - seat.0), Commitment::None));
        assert_eq!(refused, Err(Refused::NoCommitments { seat }));
    }
}

#[test]
fn everybody_has_one_antidote() {
    let mut party = classic("H2 I2 Z2", json!({}));
    for seat in [0, 1, 2].map(Seat) {
        assert_eq!(party.private_report(seat).antidotes, Some(1));
        party.antidote(seat).unwrap();
        assert_eq!(party.private_report(seat).antidotes, Some(0));
        assert_eq!(party.antidote(seat), Err(Refused::NoAntidote { seat }));
    }
    assert_eq!(shown(&party), "H2 H2 Z2");
    // Cured, and infected again: there is no second cure.
    touch(&mut party, 2, 1);
    assert_eq!(party.antidote(Seat(1)), Err(Refused::NoAntidote { seat: Seat(1) }));
    assert_eq!(shown(&party), "H2 I2 Z3");
}

#[test]
fn an_infection_is_for_good_when_its_turns_are_over() {
    for (limit, last) in [(0, 1), (1, 2), (3, 4)] {
        let mut party = classic("H5 H0 H0 Z0", json!({"antidote_limit": limit, "max_turns": 20}));
        touch(&mut party, 3, 0);
        for turn in 1..=last {
            assert_eq!(shown(&party), "I5 H0 H0 Z1", "limit {limit}, turn {turn}");
            let turned = party.next_turn().unwrap();
            assert_eq!(turned.contains(&Seat(0)), turn == last);
        }
        assert_eq!(shown(&party), "Z0 H0 H0 Z1", "limit {limit}");
        // It infects and scores as a zombie, is still told to be human, and no antidote helps.
        touch(&mut party, 0, 1);
        party.antidote(Seat(0)).unwrap();
        assert_eq!(shown(&party), "Z1 I0 H0 Z1");
        assert_eq!(party.private_report(Seat(0)).identity, Identity::Human);
    }
    // A cure stops the count.
    let mut party = classic("H5 H0 H0 Z0", json!({"antidote_limit": 1}));
    touch(&mut party, 3, 0);
    party.next_turn().unwrap();
    party.antidote(Seat(0)).unwrap();
    touch(&mut party, 3, 0);
    party.next_turn().unwrap();
    assert_eq!(shown(&party), "I5 H0 H0 Z2");
}

#[test]
fn who_begins_no_contact_becomes_a_zombie() {
    let mut party = classic("H0 H0 H0 H0 Z3", json!({"interaction_limit": 2, "max_turns": 20}));
    party.next_turn().unwrap();
    touch(&mut party, 0, 1);
    let turned = party.next_turn().unwrap();
    // The zombie has lost its points; only the one who began the contact has not idled.
    assert_eq!((shown(&party).as_str(), turned), ("H1 Z0 Z0 Z0 Z0", [1, 2, 3].map(Seat).to_vec()));
    assert_eq!(party.ending(), Some(Ending::SurvivorWins { seat: Seat(0) }));
    assert_eq!(party.outcome().unwrap().places, [1, 2, 2, 2, 2]);
}

#[test]
fn the_infected_count_as_zombies_and_points_rank_the_winners() {
    let mut party = classic("H2 I3 H4 Z5 Z7", json!({"max_turns": 1}));
    let report = party.public_report();
    assert_eq!((report.humans, report.zombies), (2, 3));
    assert_eq!((report.most_antibodies, report.most_viruses), (4, 7));
    party.next_turn().unwrap();
    assert_eq!(party.ending(), Some(Ending::HumansWin));
    let outcome = party.outcome().unwrap();
    assert_eq!((outcome.places, outcome.scores), (vec![2, 3, 1, 3, 3], vec![3, 0, 5, 0, 0]));
    let mut party = classic("I9 Z5 Z7", json!({"max_turns": 5}));
    party.next_turn().unwrap();
    assert_eq!(party.ending(), Some(Ending::ZombiesWin));
    let outcome = party.outcome().unwrap();
    assert_eq!((outcome.places, outcome.scores), (vec![3, 2, 1], vec![0, 6, 8]));
}

#[test]
fn a_judge_may_go_on_after_a_classic_end() {
    // Without a limit turns go on, too.
    for (turns, goes_on) in [(10_000, true), (5, false)] {
        let mut party = classic("H0 I0 Z0", json!({"max_turns": turns}));
        party.next_turn().unwrap();
        assert_eq!(party.ending(), Some(Ending::SurvivorWins { seat: Seat(0) }));
        assert_eq!(party.next_turn().is_ok(), goes_on);
        touch(&mut party, 2, 0);
        assert_eq!(party.ending(), Some(Ending::ZombiesWin));
        party.antidote(Seat(0)).unwrap();
        party.antidote(Seat(1)).unwrap();
        assert_eq!(party.ending(), None, "two humans again");
        party.next_turn().unwrap();
        party.invariants().unwrap();
    }
}

// ---- States from outside ----------------------------------------------------------------------------------

#[test]
fn states_that_no_game_can_reach_are_refused() {
    let mut game = game("H2 I1 Z2 H0", &[2, 0, 1, 3]);
    contact(&mut game, 0, "-", "-");
    let good = serde_json::to_value(&game).unwrap();
    assert!(restore::<Infection>(&good.to_string()).is_ok());
    type Edit = fn(&mut Value);
    let edits: [(&str, Edit); 9] = [
        ("a zombie with antibodies", |s| s["party"]["players"][2]["antibodies"] = json!(1)),
        ("antibodies and viruses", |s| s["party"]["players"][0]["viruses"] = json!(1)),
        ("a contact of one side", |s| s["party"]["met"]["bits"][0] = json!(0)),
        ("contacts that were not", |s| s["party"]["players"][1]["contacts"] = json!(1)),
        ("told to be something else", |s| s["told"][0]["identity"] = json!("zombie")),
        ("more known than had", |s| s["party"]["players"][2]["viruses"] = json!(1)),
        ("somebody twice in the order", |s| s["order"] = json!([2, 2, 1, 3])),
        ("the go of one who has ended", |s| s["party"]["players"][0]["ended"] = json!(true)),
        ("a contact with oneself", |s| s["pending"] = json!({"commit": {"type": "none"}, "with": 0})),
    ];
    for (name, edit) in edits {
        let mut state = good.clone();
        edit(&mut state);
        assert!(restore::<Infection>(&state.to_string()).is_err(), "{name}");
    }
}
