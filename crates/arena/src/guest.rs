//! Players that live in the program that runs the arena, such as objects of Python. They speak the bot protocol, but no pipe
//! lies between, and nobody measures their time.

use crate::{
    fault::{Fault, FaultKind},
    protocol::{Silence, Transport},
};
use std::{fmt, sync::Arc};

/// Answers messages of the bot protocol.
pub trait Guest: Send {
    /// A message that wants no answer.
    fn tell(&mut self, message: &str);

    /// A message that wants an answer: `hello` or `decide`.
    fn ask(&mut self, message: &str) -> Result<String, Silence>;

    /// The last answer was no action of the game, or against its rules.
    fn refused(&mut self, why: &str);
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

/// The way to a guest.
pub struct GuestTransport {
    guest: Box<dyn Guest>,
    greeted: bool,
    /// Why it cannot be asked in this match.
    away: Option<Silence>,
    question: String,
}

impl GuestTransport {
    /// A transport to the guest that this invitation brings.
    pub fn new(invitation: &Invitation) -> Self {
        GuestTransport { guest: (invitation.0)(), greeted: false, away: None, question: String::new() }
    }
}

/// Messages are JSON, which is text.
fn text(line: &[u8]) -> String {
    String::from_utf8_lossy(line).into_owned()
}

impl Transport for GuestTransport {
    fn is_open(&self) -> bool {
        self.greeted
    }

    fn open(&mut self, hello: &[u8]) -> Result<Vec<u8>, Silence> {
        if let Some(away) = &self.away {
            return Err(away.clone());
        }
        let answer = self.guest.ask(&text(hello)).inspect_err(|why| self.away = Some(why.clone()))?;
        self.greeted = true;
        Ok(answer.into_bytes())
    }

    fn turn_away(&mut self) {
        self.greeted = false;
        self.away = Some(Fault::new(FaultKind::NoStart, "is not ready to play").into());
    }

    fn begin_match(&mut self) {
        self.away = None;
    }

    fn tell(&mut self, line: &[u8]) {
        self.guest.tell(&text(line));
    }

    fn ask(&mut self, line: &[u8], _: bool) -> Result<(), Silence> {
        self.question = text(line);
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<u8>, Silence> {
        self.guest.ask(&self.question).map(String::into_bytes)
    }

    fn at_fault(&mut self, fault: &Fault) {
        self.guest.refused(&fault.detail);
    }

    fn refused(&mut self, why: &str) {
        self.guest.refused(why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        protocol::ProtocolPlayer,
        run::{RunError, run_match},
    };
    use necrodome_rules::{
        catalog::Listed,
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
        let player =
            ProtocolPlayer::<G, _>::new(GuestTransport::new(&Invitation::new(come)), "guest", rules, 1);
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
