//! Players that live in the program that runs the arena, such as objects of Python. They speak the bot protocol, but no pipe
//! lies between, and nobody measures their time.

use crate::{
    fault::{Fault, FaultKind},
    player::{Answer, MatchStart, Player},
    process::{Message, expect_id, parse_act, parse_ready, to_line},
    protocol::{MAX_LISTED, PROTOCOL, ToBot},
};
use necrodome_rules::{
    catalog::Listed,
    game::{Logged, Outcome, Seat},
};
use serde::Serialize;
use std::{fmt, sync::Arc};

/// Whoever answers messages of the bot protocol.
pub trait Guest: Send {
    /// A message that wants no answer.
    fn tell(&mut self, message: &str);

    /// A message that wants an answer: `hello` or `decide`.
    fn ask(&mut self, message: &str) -> Result<String, Silence>;

    /// The last answer was no action of the game, or against its rules.
    fn refused(&mut self, why: &str);
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Silence {
    /// The guest has failed: the game's rule for a bad action applies.
    Fault(Fault),
    /// The match is not to go on.
    Quit,
}

/// Brings a guest to each thread that plays.
#[derive(Clone)]
pub struct Invitation(Arc<dyn Fn() -> Box<dyn Guest> + Send + Sync>);

impl Invitation {
    /// An invitation that is answered by this function.
    pub fn new(come: impl Fn() -> Box<dyn Guest> + Send + Sync + 'static) -> Self {
        Invitation(Arc::new(come))
    }
}

impl fmt::Debug for Invitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Invitation")
    }
}

impl PartialEq for Invitation {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Invitation {}

/// A guest as a player.
pub struct GuestPlayer<G: Listed> {
    guest: Box<dyn Guest>,
    name: String,
    rules: G::Rules,
    seats: usize,
    greeted: bool,
    wants_events: bool,
    deterministic: bool,
    /// Why it cannot be asked in this match.
    away: Option<Silence>,
    next_id: u64,
}

impl<G: Listed> GuestPlayer<G> {
    /// A guest that is greeted when its first match begins.
    pub fn new(invitation: &Invitation, name: &str, rules: &G::Rules, seats: usize) -> Self {
        GuestPlayer {
            guest: (invitation.0)(),
            name: name.to_owned(),
            rules: rules.clone(),
            seats,
            greeted: false,
            wants_events: false,
            deterministic: false,
            away: None,
            next_id: 0,
        }
    }

    fn tell(&mut self, message: &Message<G>) {
        self.guest.tell(&text(message));
    }

    fn greet(&mut self) -> Result<(), Silence> {
        let hello: Message<G> = ToBot::Hello {
            protocol: PROTOCOL,
            game: G::ID,
            options: &self.rules,
            seats: self.seats,
            name: &self.name,
        };
        let answer = self.guest.ask(&text(&hello))?;
        let no_start = |why| Silence::Fault(Fault::new(FaultKind::NoStart, why));
        let ready = parse_ready(answer.as_bytes()).map_err(no_start)?;
        (self.wants_events, self.deterministic, self.greeted) = (ready.events, ready.deterministic, true);
        Ok(())
    }

    fn decide(&mut self, view: &G::View) -> Result<Answer<G::Action>, Silence> {
        if let Some(away) = &self.away {
            return Err(away.clone());
        }
        self.next_id += 1;
        let id = self.next_id;
        let legal = G::few_legal_actions(view, MAX_LISTED);
        let question: Message<G> = ToBot::Decide { id, view, legal };
        let answer = self.guest.ask(&text(&question))?;
        let parsed = parse_act::<G>(answer.as_bytes(), id, |came| expect_id(came, id));
        if let Err(fault) | Ok(Answer::Partly { fault, .. }) = &parsed {
            self.guest.refused(&fault.detail);
        }
        parsed.map_err(Silence::Fault)
    }
}

/// Messages are JSON, which is text.
fn text(message: &impl Serialize) -> String {
    String::from_utf8(to_line(message)).unwrap_or_default()
}

impl<G: Listed> Player<G> for GuestPlayer<G> {
    fn start(&mut self, start: &MatchStart) {
        self.away = if self.greeted { None } else { self.greet().err() };
        let names: Vec<String> = start.names.iter().map(str::to_owned).collect();
        self.tell(&ToBot::Start { seat: start.seat, names: &names, seed: start.seed });
    }

    fn hear(&mut self, seat: Seat, log: &[Logged<G::Event>]) {
        if !self.wants_events {
            return;
        }
        let heard = log.iter().filter(|logged| logged.audience.includes(seat));
        let events: Vec<&G::Event> = heard.map(|logged| &logged.event).collect();
        if !events.is_empty() {
            self.tell(&ToBot::Events { events });
        }
    }

    fn ask(&mut self, _: &G::View) {}

    fn answer(&mut self, view: &G::View) -> Answer<G::Action> {
        match self.decide(view) {
            Ok(answer) => answer,
            Err(Silence::Fault(fault)) => Answer::Fault(fault),
            Err(Silence::Quit) => Answer::Quit,
        }
    }

    fn refused(&mut self, why: &str) {
        self.guest.refused(why);
    }

    fn end(&mut self, outcome: &Outcome) -> Vec<Fault> {
        self.tell(&ToBot::End { outcome });
        Vec::new()
    }

    fn is_deterministic(&self) -> bool {
        self.deterministic
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{RunError, run_match};
    use necrodome_rules::{
        last_bullet::LastBullet,
        names::Names,
        zombie_dice::{Solo, SoloRules},
    };
    use serde_json::Value;
    use std::sync::Mutex;

    /// Answers from a list, and keeps what it hears.
    struct Scripted {
        answers: Vec<Result<&'static str, Silence>>,
        heard: Arc<Mutex<Vec<String>>>,
    }

    impl Guest for Scripted {
        fn tell(&mut self, message: &str) {
            let message: Value = serde_json::from_str(message).unwrap();
            self.heard.lock().unwrap().push(message["type"].as_str().unwrap().to_owned());
        }

        fn ask(&mut self, message: &str) -> Result<String, Silence> {
            self.tell(message);
            let id = serde_json::from_str::<Value>(message).unwrap()["id"].to_string();
            self.answers.remove(0).map(|answer| answer.replace("ID", &id))
        }

        fn refused(&mut self, why: &str) {
            self.heard.lock().unwrap().push(format!("refused: {why}"));
        }
    }

    /// The score and the faults of a match.
    type Played = Result<(i64, Vec<FaultKind>), RunError>;

    /// Plays a turn of Zombie Dice; gives what came of it, and what the guest has heard.
    fn play(answers: &[Result<&'static str, Silence>]) -> (Played, Vec<String>) {
        play_of::<Solo>(&SoloRules::default(), answers)
    }

    fn play_of<G: Listed>(
        rules: &G::Rules,
        answers: &[Result<&'static str, Silence>],
    ) -> (Played, Vec<String>) {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (answers, ears) = (answers.to_vec(), heard.clone());
        let come =
            move || Box::new(Scripted { answers: answers.clone(), heard: ears.clone() }) as Box<dyn Guest>;
        let names = Names::new(["guest"]).unwrap();
        let player = GuestPlayer::<G>::new(&Invitation::new(come), "guest", rules, 1);
        let played = run_match(&names, rules, 7, &mut [Box::new(player)], |_: &G, _| {});
        let result = played.map(|played| {
            (played.outcome.scores[0], played.faults.iter().map(|fault| fault.fault.kind).collect())
        });
        let heard = heard.lock().unwrap().clone();
        (result, heard)
    }

    const READY: Result<&str, Silence> = Ok(r#"{"type": "ready", "protocol": 1}"#);
    const GO: Result<&str, Silence> = Ok(r#"{"id": ID, "action": {"type": "go"}}"#);
    const STOP: Result<&str, Silence> = Ok(r#"{"id": ID, "action": {"type": "stop"}}"#);

    #[test]
    fn a_guest_speaks_the_protocol() {
        let (result, heard) = play(&[READY, GO, STOP]);
        assert!(result.is_ok_and(|(_, faults)| faults.is_empty()));
        assert_eq!(heard, ["hello", "start", "decide", "decide", "end"]);
        let wants = Ok(r#"{"type": "ready", "protocol": 1, "events": true}"#);
        let (_, heard) = play(&[wants, GO, STOP]);
        assert_eq!(heard, ["hello", "start", "decide", "events", "decide", "events", "end"]);
    }

    #[test]
    fn what_is_no_action_is_refused_and_the_match_goes_on() {
        for (answer, kind, says) in [
            (Ok("what?"), FaultKind::Garbage, "expected"),
            (Ok(r#"{"id": ID, "action": {"type": "dance"}}"#), FaultKind::Illegal, "no action of this game"),
            (Ok(r#"{"id": 9, "action": {"type": "go"}}"#), FaultKind::WrongId, "expected id 1"),
        ] {
            let (result, heard) = play(&[READY, answer]);
            assert_eq!(result.unwrap(), (0, vec![kind]));
            let [.., refused, end] = heard.as_slice() else { panic!("{heard:?}") };
            assert!(refused.starts_with("refused: ") && refused.contains(says), "{refused}");
            assert_eq!(end, "end");
        }
    }

    #[test]
    fn a_guest_is_told_of_a_bad_order_and_the_others_stand() {
        let settings = [("copies".to_owned(), "2".to_owned()), ("max_turns".to_owned(), "1".to_owned())];
        let rules = necrodome_rules::options::parse(&settings).unwrap();
        let orders = r#"{"id": ID, "action": {"orders": [{"type": "fly", "copy": 0}]}}"#;
        let (result, heard) = play_of::<LastBullet>(&rules, &[READY, Ok(orders)]);
        assert_eq!(result.unwrap().1, [FaultKind::Illegal]);
        let [.., refused, _] = heard.as_slice() else { panic!("{heard:?}") };
        assert!(refused.starts_with("refused: order 1 is malformed, so copy 0 stays"), "{refused}");
    }

    #[test]
    fn a_guest_can_fail_or_leave() {
        let broken = Silence::Fault(Fault::new(FaultKind::Crash, "broken"));
        assert_eq!(play(&[READY, Err(broken.clone())]).0.unwrap(), (0, vec![FaultKind::Crash]));
        assert_eq!(play(&[Err(broken)]).0.unwrap(), (0, vec![FaultKind::Crash]));
        assert_eq!(play(&[Ok("no")]).0.unwrap(), (0, vec![FaultKind::NoStart]));
        assert!(matches!(play(&[READY, Err(Silence::Quit)]).0, Err(RunError::Quit)));
        assert!(matches!(play(&[Err(Silence::Quit)]).0, Err(RunError::Quit)));
    }
}
