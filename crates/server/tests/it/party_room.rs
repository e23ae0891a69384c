//! A room as a state machine: its promises hold whatever the inputs are.

use necrodome_judge::{book::Book, script, simulate::Simulator};
use necrodome_rules::{
    chance::{Chance, Seeded},
    game::Seat,
    infection::{Commitment, Ending, Identity, InfectionRules, Role},
    options::Bounded,
};
use necrodome_server::party::{
    Refused,
    room::{Input, Latecomers, Number, Room},
    view::{AwardKind, Infected, Phase, SeatView},
};
use proptest::prelude::*;

fn rules(zombies: u32, antibodies: u32, viruses: u32, turns: u32) -> InfectionRules {
    InfectionRules {
        zombies: Bounded::try_from(zombies).unwrap(),
        start_antibodies: Bounded::try_from(antibodies).unwrap(),
        start_viruses: Bounded::try_from(viruses).unwrap(),
        max_turns: Bounded::try_from(turns).unwrap(),
        ..InfectionRules::default()
    }
}

fn opening(rules: InfectionRules, seed: u64) -> Input {
    Input::Open { rules, limit: 30, turn_limit: 0, suited: false, seed: seed.into() }
}

fn open(rules: InfectionRules, seed: u64) -> Room {
    Room::open(opening(rules, seed)).unwrap()
}

fn started(rules: InfectionRules, seed: u64, players: Number) -> Room {
    let mut room = open(rules, seed);
    for player in 0..players {
        let name = format!("Guest {player}");
        room.apply(Input::Join { name, key: format!("key {player}") }).unwrap();
    }
    room.apply(Input::Start).unwrap();
    room
}

/// Lets two guests meet, from the proposal to the commitments, and returns the contact.
fn meet(room: &mut Room, [a, b]: [Number; 2], commits: [Commitment; 2]) -> u32 {
    let contact = room.next();
    room.apply(Input::Propose { from: a, to: b }).unwrap();
    room.apply(Input::Accept { contact }).unwrap();
    room.apply(Input::Commit { contact, player: b, commit: commits[1] }).unwrap();
    room.apply(Input::Commit { contact, player: a, commit: commits[0] }).unwrap();
    contact
}

const NONE: [Commitment; 2] = [Commitment::None; 2];

fn view(room: &Room, player: Number) -> String {
    // Codes are drawn from the seed, as roles are, but tell nothing about them.
    let seat = room.seat_view(player, |_| 0).map(|seat| SeatView { code: String::new(), ..seat });
    let seen = (room.board("link"), room.ended(), seat);
    serde_json::to_string(&seen).unwrap()
}

/// Checks that the script tells the same game.
fn check_script(room: &Room) {
    let Some(party) = room.party() else { return assert_eq!(room.script(), "") };
    let parsed = script::parse(&room.script());
    assert_eq!(parsed.mistakes, [], "{}", room.script());
    let book = Book::of(&parsed);
    assert_eq!(book.mistakes(), [], "{}", room.script());
    assert_eq!(book.party(), Some(party), "{}", room.script());
    party.invariants().unwrap();
}

/// Turns some numbers into an input for a room, usually one that makes sense.
fn input(room: &Room, [kind, a, b, c]: [u8; 4]) -> Input {
    let numbers: Vec<Number> = room.members().iter().map(|member| member.number).collect();
    let player = |pick: u8| numbers.get(usize::from(pick) % (numbers.len() + 1)).copied().unwrap_or(999);
    let contacts: Vec<(u32, bool)> = room.open_contacts().collect();
    let contact =
        contacts.get(usize::from(a) % (contacts.len() + 1)).map_or(u32::from(b), |contact| contact.0);
    let commit = match c % 4 {
        0 | 1 => Commitment::None,
        2 => Commitment::Precaution,
        _ => Commitment::Virus { count: u32::from(c / 64) },
    };
    match kind % 42 {
        0..=1 => Input::Join {
            name: format!("{} {c}", ["Tim", "tim!", "*", "#1 *2", "É\"", ""][usize::from(a % 6)]),
            key: format!("{b}"),
        },
        2 => Input::AddBot {
            name: format!("bot {a}"),
            bot: ["careful", "spreader:dose=2", "nobody"][usize::from(b % 3)].into(),
        },
        3 if c < 60 => Input::Leave { player: player(a) },
        3 => Input::Start,
        4..=12 => Input::Propose { from: player(a), to: player(b) },
        13..=19 => Input::Accept { contact },
        20 => Input::Decline { contact },
        21 => Input::Withdraw { contact },
        22..=28 => Input::Commit { contact, player: player(b), commit },
        29..=30 => Input::Expire { contact },
        31..=32 => Input::Antidote { player: player(a) },
        33..=34 => Input::End { player: player(a) },
        35 if c < 120 => Input::EndFor { player: player(a) },
        35 => Input::EndTurn { turn: room.board("").turn + u32::from(c > 250) },
        36 if c < 90 => Input::Remove { player: player(a) },
        36 => Input::Replace { player: player(a), bot: "random".into() },
        37 if c < 128 => Input::Offer { player: player(a), ticket: format!("ticket {b}") },
        37 => Input::Take { ticket: format!("ticket {b}"), key: format!("new {c}") },
        38 | 39 => match room.last_contact() {
            Some((contact, players)) if c < 250 => Input::Undo { contact, players },
            _ if a == 255 && c == 255 => Input::Close,
            _ => Input::Undo { contact, players: [player(a), player(b)] },
        },
        40 => Input::Latecomers {
            are: [Latecomers::Humans, Latecomers::Zombies, Latecomers::Wait][usize::from(a % 3)],
        },
        _ => Input::Rematch,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn whatever_comes_in(picks in prop::collection::vec(any::<[u8; 4]>(), 1..400), seed: u64, start in 0_u32..4, lobby in 0_u8..5) {
        let mut room = open(rules(1, start, start, 5), seed);
        let mut taken = vec![opening(rules(1, start, start, 5), seed)];
        for player in 0..6 {
            let join = Input::Join { name: format!("P{player}"), key: format!("k{player}") };
            room.apply(join.clone()).unwrap();
            taken.push(join);
        }
        if lobby > 0 {
            room.apply(Input::Start).unwrap();
            taken.push(Input::Start);
        }
        for pick in picks {
            let input = input(&room, pick);
            let before = room.clone();
            match room.apply(input.clone()) {
                Ok(_) => {
                    // What is kept is what comes back.
                    let text = serde_json::to_string(&input).unwrap();
                    taken.push(serde_json::from_str(&text).unwrap());
                }
                Err(_) => prop_assert_eq!(&room, &before, "refused, and still changed: {:?}", input),
            }
        }
        check_script(&room);
        let again = Room::rebuild(taken).unwrap();
        prop_assert_eq!(&again, &room);
        for member in room.members() {
            prop_assert_eq!(view(&again, member.number), view(&room, member.number));
        }
    }
}

/// Two rooms have the same guests and differ in everything that the last guest cannot know: who is a zombie, what others commit,
/// who takes the antidote. Until something is reported, that guest's page is the same to the byte, and so are the refusals they
/// get.
#[test]
fn a_seat_sees_nothing_that_it_may_not_know() {
    let me: Number = 7;
    let told_human = |room: &Room| room.party().unwrap().players()[7].identity() == Identity::Human;
    let mut infected_in_one = 0;
    for seed in 0..60_u64 {
        let mut rooms: Vec<Room> = (seed * 1000..)
            .map(|seed| started(rules(2, 2, 2, 4), seed, 8))
            .filter(told_human)
            .take(2)
            .collect();
        let mut plan = Seeded::new(seed, "plan", 0);
        let mut secret = Seeded::new(seed, "secret", 0);
        for step in 0..40 {
            let [a, b] = [plan.uniform(8), plan.uniform(8)];
            let own = [Commitment::None, Commitment::Precaution][plan.uniform(2) as usize];
            let what = plan.uniform(12);
            let answers: Vec<Result<(), Refused>> = rooms
                .iter_mut()
                .map(|room| shared_step(room, &mut secret, (what, a, b), (me, own)))
                .collect();
            if a == me {
                assert_eq!(answers[0], answers[1], "step {step} of seed {seed}");
            }
            assert_eq!(view(&rooms[0], me), view(&rooms[1], me), "step {step} of seed {seed}");
        }
        let role = |room: &Room| room.party().unwrap().players()[7].role;
        infected_in_one +=
            u32::from((role(&rooms[0]) == Role::Infected) != (role(&rooms[1]) == Role::Infected));
    }
    assert!(infected_in_one > 5, "the rooms must differ in what is hidden: {infected_in_one}");
}

/// Takes the same step in rooms that differ in secret: others' commitments are drawn from those that they may make.
fn shared_step(
    room: &mut Room,
    secret: &mut Seeded,
    (what, a, b): (u32, Number, Number),
    (me, own): (Number, Commitment),
) -> Result<(), Refused> {
    match what {
        0 => {
            // What the others do with the antidote is their secret; what I do is the plan's.
            if a == me {
                return room.apply(Input::Antidote { player: me }).map(drop);
            }
            if secret.uniform(2) == 0 {
                let _ = room.apply(Input::Antidote { player: a });
            }
            Ok(())
        }
        1 if a != me => {
            let _ = room.apply(Input::EndFor { player: a });
            Ok(())
        }
        _ => {
            let contact = room.next();
            room.apply(Input::Propose { from: a, to: b })?;
            room.apply(Input::Accept { contact })?;
            for player in [a, b] {
                let commit = if player == me { own } else { any_commitment(room, player, secret) };
                room.apply(Input::Commit { contact, player, commit })?;
            }
            Ok(())
        }
    }
}

fn any_commitment(room: &Room, player: Number, secret: &mut Seeded) -> Commitment {
    let play = room.seat_view(player, |_| 0).unwrap().play.unwrap();
    match (play.told.identity, secret.uniform(2)) {
        (Identity::Human, 0) => Commitment::Precaution,
        (Identity::Zombie, 0) if play.told.stock > play.applied => Commitment::Virus { count: 1 },
        _ => Commitment::None,
    }
}

#[test]
fn a_contact_needs_both_and_tells_only_that_it_was() {
    let mut room = started(rules(1, 0, 0, 4), 3, 4);
    let contact = room.next();
    room.apply(Input::Propose { from: 0, to: 1 }).unwrap();
    assert_eq!(
        room.apply(Input::Commit { contact, player: 0, commit: Commitment::None }),
        Err(Refused::NotAccepted)
    );
    assert!(matches!(room.apply(Input::Propose { from: 0, to: 2 }), Err(Refused::HasProposed { .. })));
    assert!(matches!(room.apply(Input::Propose { from: 1, to: 0 }), Err(Refused::AcceptInstead { .. })));
    room.apply(Input::Accept { contact }).unwrap();
    assert!(matches!(room.apply(Input::Propose { from: 1, to: 2 }), Err(Refused::Busy { .. })));
    assert_eq!(room.apply(Input::Withdraw { contact }), Err(Refused::Accepted));
    assert!(matches!(room.apply(Input::End { player: 0 }), Err(Refused::Busy { .. })));
    room.apply(Input::Commit { contact, player: 0, commit: Commitment::None }).unwrap();
    assert_eq!(
        room.apply(Input::Commit { contact, player: 0, commit: Commitment::None }),
        Err(Refused::Committed)
    );
    room.apply(Input::Commit { contact, player: 1, commit: Commitment::None }).unwrap();
    assert!(matches!(room.apply(Input::Propose { from: 1, to: 0 }), Err(Refused::Again { .. })));
    let play = room.seat_view(0, |_| 0).unwrap().play.unwrap();
    assert_eq!((play.met.len(), play.met[0].with, play.contact), (1, 1, None));
}

#[test]
fn what_is_not_answered_in_time_lapses_and_what_is_not_committed_is_none() {
    let mut room = started(rules(1, 1, 0, 4), 3, 4);
    let first = room.next();
    room.apply(Input::Propose { from: 0, to: 1 }).unwrap();
    room.apply(Input::Expire { contact: first }).unwrap();
    assert!(room.script().ends_with("GAME_START\n"));
    let second = room.next();
    room.apply(Input::Propose { from: 0, to: 1 }).unwrap();
    room.apply(Input::Accept { contact: second }).unwrap();
    room.apply(Input::Expire { contact: second }).unwrap();
    assert!(room.script().ends_with("INTERACT \"Guest 0\" \"Guest 1\"\n"), "{}", room.script());
    assert_eq!(room.apply(Input::Expire { contact: second }), Err(Refused::NoSuchContact));
}

#[test]
fn who_has_asked_everybody_may_end_the_turn() {
    let mut room = started(rules(1, 0, 0, 4), 3, 3);
    assert_eq!(room.apply(Input::End { player: 0 }), Err(Refused::NoContactYet));
    for to in [1, 2] {
        let contact = room.next();
        room.apply(Input::Propose { from: 0, to }).unwrap();
        room.apply(Input::Decline { contact }).unwrap();
    }
    room.apply(Input::End { player: 0 }).unwrap();
    meet(&mut room, [1, 2], NONE);
    room.apply(Input::End { player: 1 }).unwrap();
    room.apply(Input::End { player: 2 }).unwrap();
    let board = room.board("");
    assert_eq!((board.turn, board.announcements.len()), (2, 2));
    assert_eq!(board.announcements[1].met_nobody, [0]);
    check_script(&room);
}

#[test]
fn a_forced_end_lets_accepted_contacts_take_place_and_drops_proposals() {
    let mut room = started(rules(1, 2, 0, 4), 3, 4);
    let contact = room.next();
    room.apply(Input::Propose { from: 0, to: 1 }).unwrap();
    room.apply(Input::Accept { contact }).unwrap();
    room.apply(Input::Propose { from: 2, to: 3 }).unwrap();
    assert!(matches!(room.apply(Input::EndTurn { turn: 2 }), Err(Refused::OtherTurn { .. })));
    room.apply(Input::EndTurn { turn: 1 }).unwrap();
    assert!(room.script().ends_with("INTERACT \"Guest 0\" \"Guest 1\"\nNEXT_TURN\n"), "{}", room.script());
    assert_eq!(room.open_contacts().count(), 0);
    assert_eq!(room.board("").announcements[1].met_nobody, [2, 3]);
    // Two turns in a row that nobody did anything in are two turns.
    room.apply(Input::EndTurn { turn: 2 }).unwrap();
    check_script(&room);
    assert!(matches!(
        room.apply(Input::Undo { contact, players: [0, 1] }),
        Err(Refused::NothingToUndo | Refused::Over)
    ));
}

#[test]
fn the_last_contact_can_be_undone_unless_something_depends_on_it() {
    let mut room = started(rules(1, 0, 0, 4), 3, 4);
    let first = meet(&mut room, [0, 1], NONE);
    let before = room.party().unwrap().clone();
    let last = meet(&mut room, [0, 2], NONE);
    assert_eq!(room.apply(Input::Undo { contact: first, players: [0, 1] }), Err(Refused::OtherContact));
    room.apply(Input::Undo { contact: last, players: [0, 2] }).unwrap();
    assert_eq!(room.party(), Some(&before));
    check_script(&room);
    let again = meet(&mut room, [2, 0], NONE);
    room.apply(Input::End { player: 2 }).unwrap();
    // Without the contact player 2 could not have ended its turn.
    assert_eq!(room.apply(Input::Undo { contact: again, players: [2, 0] }), Err(Refused::Depends));
    let other = meet(&mut room, [1, 3], NONE);
    room.apply(Input::End { player: 0 }).unwrap();
    room.apply(Input::Undo { contact: other, players: [1, 3] }).unwrap();
    assert_eq!(room.ended(), [0, 2], "what does not depend on it stays");
    check_script(&room);
}

#[test]
fn a_removed_player_ends_every_turn_at_once_and_can_be_given_back() {
    let mut room = started(rules(1, 0, 0, 6), 3, 4);
    let contact = room.next();
    room.apply(Input::Propose { from: 0, to: 1 }).unwrap();
    room.apply(Input::Accept { contact }).unwrap();
    room.apply(Input::Remove { player: 0 }).unwrap();
    assert_eq!(room.ended(), [0]);
    assert!(room.holder_of("key 0").is_none());
    room.apply(Input::EndTurn { turn: 1 }).unwrap();
    assert_eq!(room.ended(), [0]);
    check_script(&room);
    room.apply(Input::Offer { player: 0, ticket: "t".into() }).unwrap();
    room.apply(Input::Take { ticket: "t".into(), key: "new".into() }).unwrap();
    assert_eq!(room.apply(Input::Take { ticket: "t".into(), key: "thief".into() }), Err(Refused::Ticket));
    assert_eq!(room.holder_of("new").unwrap().number, 0);
    room.apply(Input::EndTurn { turn: 2 }).unwrap();
    assert_eq!(room.ended(), [] as [Number; 0]);
    room.apply(Input::Remove { player: 1 }).unwrap();
    room.apply(Input::Remove { player: 2 }).unwrap();
    assert_eq!(room.apply(Input::Remove { player: 3 }), Err(Refused::TooFewLeft));
}

#[test]
fn without_an_antibody_precautions_do_nothing_and_nobody_is_told() {
    let mut room = started(rules(1, 0, 0, 4), 3, 6);
    let humans: Vec<Number> = (0..6)
        .filter(|&player| room.party().unwrap().players()[Seat(player as u16).index()].role == Role::Human)
        .collect();
    meet(&mut room, [humans[0], humans[1]], [Commitment::Precaution, Commitment::None]);
    assert_eq!(room.party().unwrap().players()[humans[0] as usize].antibodies, 1, "it was no precaution");
    let play = room.seat_view(humans[0], |_| 0).unwrap().play.unwrap();
    assert_eq!((play.told.stock, play.met[0].committed), (0, Commitment::Precaution));
    room.apply(Input::Antidote { player: humans[0] }).unwrap();
    room.apply(Input::Antidote { player: humans[0] }).unwrap();
    let play = room.seat_view(humans[0], |_| 0).unwrap().play.unwrap();
    assert_eq!((play.antidotes, play.told.stock), (2, 0));
    check_script(&room);
}

/// Makes a room of four in which guest 0 has this identity.
fn with_first(identity: Identity) -> Room {
    let is = |room: &Room| room.party().unwrap().players()[0].identity() == identity;
    (0..).map(|seed| started(rules(1, 1, 2, 3), seed, 4)).find(is).unwrap()
}

/// Returns what a phone shows without a peek: everything except its owner's reports and commitments.
fn without_secrets(room: &Room, player: Number) -> serde_json::Value {
    let mut seat = serde_json::to_value(room.seat_view(player, |_| 0)).unwrap();
    let play = &mut seat["play"];
    play["told"] =
        serde_json::to_value(play["told"].as_object().unwrap().keys().collect::<Vec<_>>()).unwrap();
    play["applied"].take();
    let lists = ["past", "met"];
    for list in lists {
        for one in play[list].as_array_mut().unwrap() {
            for secret in ["told", "committed"] {
                if let Some(secret) = one.get_mut(secret) {
                    secret.take();
                }
            }
        }
    }
    seat["code"].take();
    seat
}

#[test]
fn humans_and_zombies_may_try_the_same_and_are_answered_the_same() {
    let mut rooms = [with_first(Identity::Human), with_first(Identity::Zombie)];
    let commits = [
        Commitment::None,
        Commitment::Precaution,
        Commitment::Virus { count: 1 },
        Commitment::Virus { count: 0 },
        Commitment::Virus { count: u32::MAX },
    ];
    let commit = |room: &Room, commit| Input::Commit { contact: room.next() - 2, player: 0, commit };
    for (turn, first) in commits.into_iter().enumerate().take(3) {
        let steps: [&dyn Fn(&Room) -> Input; 9] = [
            &|_| Input::Antidote { player: 0 },
            &|_| Input::Propose { from: 0, to: 1 },
            &|room| Input::Accept { contact: room.next() - 1 },
            &|room| commit(room, commits[3]),
            &|room| commit(room, first),
            &|room| Input::Commit { contact: room.next() - 3, player: 1, commit: Commitment::None },
            &|_| Input::Antidote { player: 0 },
            &|_| Input::End { player: 0 },
            &|_| Input::EndTurn { turn: turn as u32 + 1 },
        ];
        for (number, step) in steps.iter().enumerate() {
            let answers = rooms.each_mut().map(|room| room.apply(step(room)));
            assert_eq!(answers[0], answers[1], "step {number} of turn {turn}");
            let seen = rooms.each_ref().map(|room| without_secrets(room, 0));
            assert_eq!(seen[0], seen[1], "step {number} of turn {turn}");
            rooms.iter().for_each(check_script);
        }
    }
}

#[test]
fn a_zombie_applies_no_more_viruses_than_they_know_of_and_a_human_none() {
    for (identity, applied) in [(Identity::Zombie, 2), (Identity::Human, 0)] {
        let mut room = with_first(identity);
        meet(&mut room, [0, 1], [Commitment::Virus { count: 99 }, Commitment::None]);
        let play = room.seat_view(0, |_| 0).unwrap().play.unwrap();
        assert_eq!(play.applied, applied, "{identity:?}");
        check_script(&room);
    }
}

fn end_turn(room: &mut Room) {
    let turn = room.board("").turn;
    room.apply(Input::EndTurn { turn }).unwrap();
    check_script(room);
}

#[test]
fn who_comes_during_the_game_plays_from_the_next_turn_as_the_host_says() {
    let mut room = started(rules(1, 2, 1, 6), 3, 4);
    let join = |room: &mut Room, name: &str| {
        room.apply(Input::Join { name: name.into(), key: name.into() }).unwrap();
    };
    join(&mut room, "Late");
    assert!(room.apply(Input::Join { name: "late".into(), key: "x".into() }).is_err(), "the name is taken");
    let waits = |room: &Room| room.board("").late.iter().map(|late| late.number).collect::<Vec<_>>();
    assert_eq!((waits(&room), room.members().len()), (vec![4], 4));
    assert_eq!(room.seat_view(4, |_| 0).unwrap().play, None);
    assert_eq!(room.apply(Input::Propose { from: 4, to: 0 }), Err(Refused::NoSuchPlayer));
    end_turn(&mut room);
    assert_eq!((waits(&room), room.members().len()), (vec![], 5));
    let play = room.seat_view(4, |_| 0).unwrap().play.unwrap();
    assert_eq!((play.told.identity, play.told.stock, play.past.len()), (Identity::Human, 2, 0));
    meet(&mut room, [4, 0], NONE);
    room.apply(Input::Latecomers { are: Latecomers::Zombies }).unwrap();
    join(&mut room, "Later");
    join(&mut room, "Gone again");
    room.apply(Input::Leave { player: 6 }).unwrap();
    end_turn(&mut room);
    assert_eq!(room.party().unwrap().players()[5].role, Role::Zombie);
    assert_eq!(room.seat_view(4, |_| 0).unwrap().play.unwrap().past[0].turn, 2);
    room.apply(Input::Latecomers { are: Latecomers::Wait }).unwrap();
    join(&mut room, "Last");
    end_turn(&mut room);
    assert_eq!(waits(&room), [7], "for the next game");
}

#[test]
fn whoever_joins_and_leaves_again_and_again_uses_nothing_up() {
    let mut room = open(rules(1, 1, 0, 1), 3);
    for player in 0..5000 {
        room.apply(Input::Join { name: "Mallory".into(), key: format!("key {player}") }).unwrap();
        room.apply(Input::Leave { player }).unwrap();
    }
    room.apply(Input::Join { name: "Ada".into(), key: "key".into() }).unwrap();
    assert_eq!(room.members().len(), 1);
}

#[test]
fn the_same_guests_play_again_with_zombies_drawn_anew() {
    let mut room = started(rules(1, 1, 0, 1), 3, 8);
    assert_eq!(room.apply(Input::Rematch), Err(Refused::NotOver));
    room.apply(Input::Remove { player: 2 }).unwrap();
    room.apply(Input::Join { name: "Next".into(), key: "next".into() }).unwrap();
    end_turn(&mut room);
    assert_eq!(room.phase(), Phase::Over);
    let zombies = |room: &Room| {
        let players = room.party().unwrap().players().iter().zip(room.members());
        players.filter(|(player, _)| player.role == Role::Zombie).map(|(_, who)| who.number).next().unwrap()
    };
    let mut drawn = std::collections::BTreeSet::new();
    for _ in 0..8 {
        room.apply(Input::Rematch).unwrap();
        let board = room.board("");
        assert_eq!((board.phase, board.turn, board.players.len()), (Phase::Playing, 1, 8));
        assert_eq!((&board.late[..], board.story), (&[][..], None));
        drawn.insert(zombies(&room));
        end_turn(&mut room);
    }
    assert!(drawn.len() > 2, "{drawn:?}");
    assert!(!drawn.contains(&2), "who was removed is not there any more");
}

#[test]
fn the_story_tells_who_was_infected_by_whom_and_what_would_have_saved_them() {
    let first_is_zombie = |room: &Room| room.party().unwrap().players()[0].role == Role::Zombie;
    let mut room = (0..).map(|seed| started(rules(1, 1, 0, 3), seed, 6)).find(first_is_zombie).unwrap();
    // One could have taken a precaution; two others trade, one of them is infected by the first in the same turn.
    meet(&mut room, [0, 1], NONE);
    meet(&mut room, [3, 4], NONE);
    meet(&mut room, [1, 3], NONE);
    assert_eq!(room.board("").story, None, "nothing is told before the end");
    end_turn(&mut room);
    meet(&mut room, [0, 2], [Commitment::None, Commitment::Precaution]);
    meet(&mut room, [3, 5], NONE);
    room.apply(Input::Antidote { player: 5 }).unwrap();
    end_turn(&mut room);
    meet(&mut room, [0, 2], NONE);
    end_turn(&mut room);
    let board = room.board("");
    let story = board.story.unwrap();
    let last = |player: usize| story.lives[player].last;
    let by = |by, turn, precaution, antidote| Some(Infected { turn, by, precaution, antidote });
    assert!(story.lives[0].zombie && story.lives[0].first.is_none());
    // The touch of an infected gives them an antibody; so 1 could have taken the antidote in the next turn, too.
    assert_eq!((last(1), story.lives[1].turned), (by(0, 1, true, Some(2)), Some(2)));
    assert_eq!((last(3), last(5)), (by(1, 1, true, Some(3)), None));
    assert_eq!(
        story.lives[5].first.map(|first| (first.by, first.turn)),
        Some((3, 2)),
        "healed, and yet in the tree"
    );
    assert_eq!(last(2), by(0, 3, false, None), "the precaution had cost the only antibody");
    let award = |kind| {
        let award = story.awards.iter().find(|award| award.kind == kind).unwrap();
        (award.players.clone(), award.number)
    };
    assert_eq!(award(AwardKind::MostContacts), (vec![0, 3], 3));
    assert_eq!(award(AwardKind::MostInfected), (vec![0], 2));
    assert_eq!(award(AwardKind::LongestHidden), (vec![3], 3));
    assert_eq!(award(AwardKind::BestTrader), (vec![3], 2));
}

/// Rules that suit a first party: neither side nearly always wins, and the game is not over in three turns.
#[test]
fn rules_that_suit_the_guests_make_a_fair_game() {
    for players in [4, 8, 9, 12, 16, 20, 27, 40, 60] {
        let mut room = Room::open(Input::Open {
            rules: InfectionRules::default(),
            limit: 30,
            turn_limit: 0,
            suited: true,
            seed: 1.into(),
        })
        .unwrap();
        for player in 0..players {
            room.apply(Input::Join { name: format!("P{player}"), key: format!("{player}") }).unwrap();
        }
        room.apply(Input::Start).unwrap();
        let rules = room.rules();
        let careful = "careful".parse().unwrap();
        let game = Simulator::new(players, rules, &careful, &"spreader".parse().unwrap()).unwrap();
        let games: Vec<Ending> = (0..200).map(|number| game.play(1, number).unwrap().1).collect();
        let won = games.iter().filter(|ending| **ending == Ending::ZombiesWin).count();
        assert!((60..=140).contains(&won), "zombies win {won} of 200 games of {players} by {rules:?}");
    }
}
