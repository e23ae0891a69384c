//! Arbitrary lines from a bot, the first byte names the game: nothing panics, and a refused action changes nothing.

#![no_main]

use libfuzzer_sys::fuzz_target;
use necrodome_arena::{
    fault::{Fault, FaultKind},
    player::{Answer, MatchStart, Player},
    protocol::{ProtocolPlayer, Silence, Transport},
};
use necrodome_rules::{
    catalog::{GameId, Listed},
    chance::Scripted,
    game::{Logged, Move, Seat},
    last_bullet::LastBullet,
    names::Names,
    with_game,
};
use std::{
    any::{Any, TypeId},
    cell::RefCell,
    collections::HashMap,
    slice::Split,
};

/// A bot that says these lines, one for each question.
struct Lines<'a> {
    left: Split<'a, u8, fn(&u8) -> bool>,
    open: bool,
}

impl Lines<'_> {
    fn next(&mut self) -> Result<Vec<u8>, Silence> {
        let line = self.left.next().ok_or_else(|| Silence::Arena("no input is left".to_owned()))?;
        Ok(line.to_vec())
    }
}

impl Transport for Lines<'_> {
    fn is_open(&self) -> bool {
        self.open
    }

    fn open(&mut self, _: &[u8]) -> Result<Vec<u8>, Silence> {
        self.open = true;
        Ok(br#"{"type":"ready","protocol":1,"events":true}"#.to_vec())
    }

    fn turn_away(&mut self) {
        self.open = false;
    }

    fn tell(&mut self, _: &[u8]) {}

    fn ask(&mut self, _: &[u8], _: bool) -> Result<(), Silence> {
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<u8>, Silence> {
        self.next()
    }

    fn another(&mut self, first: Fault) -> Result<Vec<u8>, Silence> {
        self.next().map_err(|_| first.into())
    }

    fn at_fault(&mut self, _: &Fault) {}
}

/// Enough for any step of the small matches below; that some are left is fine.
const PICKS: [u32; 64] = [0; 64];

/// A match of as few seats as the game takes, before its first decision.
fn begin<G: Listed>() -> (G, Names) {
    let seats = (*G::SEATS.start()).max(2).min(*G::SEATS.end());
    let names = Names::new((0..seats).map(|seat| format!("bot {seat}")).collect::<Vec<_>>()).unwrap();
    let mut log: Vec<Logged<G::Event>> = Vec::new();
    // The views of a large field only take time.
    let rules = if G::ID == LastBullet::ID { r#"{"copies":2}"# } else { "{}" };
    let rules: G::Rules = serde_json::from_str(rules).unwrap();
    let game = Scripted::new([0; 4096]).run(|chance| G::new(&names, &rules, chance, &mut log));
    (game.unwrap().unwrap(), names)
}

thread_local! {
    /// Matches that have just begun, since it takes time to begin one.
    static BEGUN: RefCell<HashMap<TypeId, Box<dyn Any>>> = RefCell::default();
}

fn begun<G: Listed>() -> (G, Names) {
    BEGUN.with_borrow_mut(|begun| {
        let kept = begun.entry(TypeId::of::<G>()).or_insert_with(|| Box::new(begin::<G>()));
        kept.downcast_ref::<(G, Names)>().unwrap().clone()
    })
}

fn talk<G: Listed>(lines: &[u8]) {
    let (mut game, names) = begun::<G>();
    let is_end: fn(&u8) -> bool = |&byte| byte == b'\n';
    let bot = Lines { left: lines.split(is_end), open: false };
    let mut player: ProtocolPlayer<G, _> = ProtocolPlayer::new(bot, "bot 0", game.rules(), names.len());
    player.start(&MatchStart { seat: Seat(0), names: &names, seed: 0 });
    let mut log: Vec<Logged<G::Event>> = Vec::new();
    for _ in 0..8 {
        let Some(&seat) = game.to_act().first() else { break };
        let view = game.view(seat);
        player.ask(&view);
        let first = match player.answer(&view) {
            Answer::Act(action, _) | Answer::Partly { action, .. } => Move::Act(action),
            Answer::Fault(fault) => {
                assert!(fault.kind != FaultKind::Chatter && !fault.detail.contains(char::is_control));
                Move::Forfeit
            }
            Answer::Quit | Answer::Arena(_) => break,
        };
        let forfeits = game.to_act().len() - 1;
        let moves: Vec<_> = [first].into_iter().chain((0..forfeits).map(|_| Move::Forfeit)).collect();
        let before = game.clone();
        log.clear();
        let applied = Scripted::new(PICKS).run(|chance| game.apply(&moves, chance, &mut log));
        match applied {
            Ok(Ok(())) => assert_eq!(game.invariants(), Ok(())),
            Ok(Err(_)) => {
                assert_eq!(game, before, "a refused action changes nothing");
                break;
            }
            // The dice do not go on like this, so neither does the match.
            Err(_) => break,
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&game, lines)) = bytes.split_first() else { return };
    let id = GameId::ALL[usize::from(game) % GameId::ALL.len()];
    with_game!(id, G => talk::<G>(lines));
});
