//! Infection for a person: they see only what the judge tells them, and choose a partner with one key.

use crate::{
    human::{Controls, Gone, Meant, OwnSeat, expected, keys::Keys},
    paint::{bold, count, dim, line},
    tell::Story,
};
use necrodome_rules::{
    catalog::Listed,
    game::Seat,
    infection::{Action, Commitment, Event, Identity, Infection, InfectionView, Question, words},
};
use ratatui::crossterm::event::KeyCode;
use std::io::{self, Write};

/// The keys for partners: digits and capital letters, since small letters have other uses.
const LABELS: &str = "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// The controls: choose a partner, and what to do in the contact.
#[derive(Default)]
struct Partners(Story);

pub fn controls() -> Box<dyn Controls<Infection>> {
    Box::new(Partners::default())
}

impl Controls<Infection> for Partners {
    fn hear(&mut self, out: &mut dyn Write, place: &OwnSeat, heard: &[&Event]) -> io::Result<()> {
        self.0.tell::<Infection>(out, &place.names, heard.iter().copied())
    }

    fn show(&mut self, out: &mut dyn Write, place: &OwnSeat, view: &InfectionView) -> io::Result<()> {
        let told = match view.told.identity {
            _ if view.told.antidotes.is_some() => format!("you are {}", words::told(&view.told)),
            // They may have become infected since, and must not learn it from a number.
            Identity::Human => {
                let number = count(view.told.stock, "antibody");
                format!("the judge told you: you are human and have {number}")
            }
            Identity::Zombie => {
                let left = count(view.known_viruses(), "virus");
                format!("you are a zombie with {left} left of {}", view.told.stock)
            }
        };
        let turn = format!("Turn {} of {}", view.public.turns + 1, view.max_turns);
        line(out, 0, &format!("{}, {}: {told}", bold(turn), &place.names[place.seat]))?;
        if view.question != Question::Choose {
            // Who meets this player has just been told.
            return Ok(());
        }
        let label = |(number, seat): (usize, Seat)| format!("{} {}", number + 1, &place.names[seat]);
        let partners: Vec<String> = view.partners.iter().enumerate().map(label).collect();
        match partners.as_slice() {
            [] => line(out, 2, "nobody is left to meet"),
            partners => line(out, 2, &format!("you can meet: {}", partners.join(", "))),
        }
    }

    fn words(&self, _: &OwnSeat, view: &InfectionView) -> String {
        answers(view).to_owned()
    }

    fn read(&mut self, place: &OwnSeat, view: &InfectionView, line: &str) -> Result<Meant<Action>, String> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let answering = matches!(view.question, Question::Answer { .. });
        let action = match word.to_lowercase().as_str() {
            "contact" if !answering => {
                // A name may end like an addition, so names are looked for after each one that is taken off.
                let (name, extras) = extras(rest, |name| partner(place, view, name).is_some())?;
                let with = partner(place, view, name);
                let Some(with) = with else {
                    return Err(expected("the name of somebody you can meet", rest));
                };
                Action::Contact { with, commit: extras.commit, antidote: extras.antidote }
            }
            "answer" if answering => {
                let ("", Extras { commit, antidote }) = extras(rest, str::is_empty)? else {
                    return Err(expected(answers(view), line));
                };
                Action::Answer { commit, antidote }
            }
            "end" if !answering => match extras(rest, str::is_empty)? {
                ("", Extras { commit: Commitment::None, antidote }) => Action::End { antidote },
                _ => return Err(expected("end or end antidote", line)),
            },
            _ => return Err(expected(answers(view), line)),
        };
        check(view, action)?;
        Ok(Meant::Act(action))
    }

    fn by_keys(&mut self, keys: &mut Keys, place: &OwnSeat, view: &InfectionView) -> Result<Action, Gone> {
        let mut out = anstream::stdout();
        self.show(&mut out, place, view)?;
        let mut extras = Extras::default();
        let mut page = 0;
        let partners: Vec<Seat> = view.partners.iter().collect();
        let pages = partners.len().div_ceil(LABELS.len());
        loop {
            let shown = partners.chunks(LABELS.len()).nth(page).unwrap_or_default();
            if pages > 1 {
                let label = |(key, &seat): (char, &Seat)| format!("{key} {}", &place.names[seat]);
                let shown: Vec<String> = LABELS.chars().zip(shown).map(label).collect();
                line(&mut out, 2, &dim(shown.join(", ")).to_string())?;
            }
            let prompt = prompt(view, extras, pages > 1);
            let key = keys.ask(Infection::CARD.rules, &prompt, |key| chosen(view, shown, key))?;
            match key {
                Chosen::Partner(with) => {
                    return Ok(Action::Contact { with, commit: extras.commit, antidote: extras.antidote });
                }
                Chosen::Answer => {
                    return Ok(Action::Answer { commit: extras.commit, antidote: extras.antidote });
                }
                Chosen::End => return Ok(Action::End { antidote: extras.antidote }),
                Chosen::Precaution => {
                    extras.commit = match extras.commit {
                        Commitment::None => Commitment::Precaution,
                        _ => Commitment::None,
                    }
                }
                Chosen::Virus => {
                    extras.commit = match extras.commit {
                        Commitment::Virus { count } if count >= view.known_viruses() => Commitment::None,
                        Commitment::Virus { count } => Commitment::Virus { count: count + 1 },
                        _ => Commitment::Virus { count: 1 },
                    }
                }
                Chosen::Antidote => extras.antidote = !extras.antidote,
                Chosen::More => page = (page + 1) % pages,
            }
        }
    }
}

/// Returns what can be typed.
fn answers(view: &InfectionView) -> &'static str {
    match (view.question, view.told.identity) {
        (Question::Answer { .. }, Identity::Human) => "answer [precaution] [antidote]",
        (Question::Answer { .. }, Identity::Zombie) => "answer [virus N]",
        (_, Identity::Human) => "contact NAME [precaution] [antidote], or end [antidote]",
        (_, Identity::Zombie) => "contact NAME [virus N], or end",
    }
}

/// Additions to a contact, an answer or an end.
#[derive(Clone, Copy, Default)]
struct Extras {
    commit: Commitment,
    antidote: bool,
}

/// The meaning of a key.
enum Chosen {
    Partner(Seat),
    Answer,
    End,
    Precaution,
    Virus,
    Antidote,
    More,
}

fn chosen(view: &InfectionView, shown: &[Seat], key: KeyCode) -> Option<Chosen> {
    let answering = matches!(view.question, Question::Answer { .. });
    let human = view.told.identity == Identity::Human;
    match key {
        KeyCode::Enter if answering => Some(Chosen::Answer),
        KeyCode::Char('e') if !answering && view.may_end() => Some(Chosen::End),
        KeyCode::Char('p') if human => Some(Chosen::Precaution),
        KeyCode::Char('t') if human => Some(Chosen::Antidote),
        KeyCode::Char('v') if view.known_viruses() > 0 => Some(Chosen::Virus),
        KeyCode::Char('m') if !answering && view.partners.len() > LABELS.len() => Some(Chosen::More),
        KeyCode::Char(label) if !answering => {
            LABELS.find(label).and_then(|place| shown.get(place)).map(|&seat| Chosen::Partner(seat))
        }
        _ => None,
    }
}

fn prompt(view: &InfectionView, extras: Extras, more: bool) -> String {
    let mut parts = Vec::new();
    if matches!(view.question, Question::Answer { .. }) {
        parts.push("[Enter] meet".to_owned());
    } else {
        if !view.partners.is_empty() {
            parts.push("meet whom? [number]".to_owned());
        }
        if view.may_end() {
            parts.push("[e]nd your turn".to_owned());
        }
    }
    if more {
        parts.push("[m]ore names".to_owned());
    }
    let mark = |is: bool| if is { "yes" } else { "no" };
    match view.told.identity {
        Identity::Human => {
            parts.push(format!("[p]recaution: {}", mark(extras.commit == Commitment::Precaution)));
            parts.push(format!("an[t]idote first: {}", mark(extras.antidote)));
        }
        Identity::Zombie if view.known_viruses() > 0 => {
            let number = match extras.commit {
                Commitment::Virus { count } => count,
                _ => 0,
            };
            parts.push(format!("[v]iruses: {number}"));
        }
        Identity::Zombie => {}
    }
    parts.join(", ")
}

/// Finds a partner by name, or by the number in the list.
fn partner(place: &OwnSeat, view: &InfectionView, text: &str) -> Option<Seat> {
    let named =
        view.partners.iter().find(|&seat| place.names[seat].to_lowercase() == text.trim().to_lowercase());
    let numbered =
        || text.trim().parse::<usize>().ok().and_then(|number| view.partners.nth(number.checked_sub(1)?));
    named.or_else(numbered)
}

/// Removes additions from the end of a line until the rest is `enough`, or has none left.
fn extras(mut text: &str, enough: impl Fn(&str) -> bool) -> Result<(&str, Extras), String> {
    let mut extras = Extras::default();
    loop {
        text = text.trim();
        if enough(text) {
            return Ok((text, extras));
        }
        let (before, last) = text.rsplit_once(' ').unwrap_or(("", text));
        let (earlier, word) = before.trim_end().rsplit_once(' ').unwrap_or(("", before.trim_end()));
        if last.eq_ignore_ascii_case("antidote") {
            extras.antidote = true;
            text = before;
        } else if last.eq_ignore_ascii_case("precaution") {
            extras.commit = Commitment::Precaution;
            text = before;
        } else if word.eq_ignore_ascii_case("virus") {
            let number = last.parse();
            extras.commit =
                Commitment::Virus { count: number.map_err(|_| expected("a number of viruses", last))? };
            text = earlier;
        } else {
            return Ok((text, extras));
        }
    }
}

/// Says which rule forbids an action, if one does.
fn check(view: &InfectionView, action: Action) -> Result<(), String> {
    let (commit, antidote) = match action {
        Action::Contact { commit, antidote, .. } | Action::Answer { commit, antidote } => (commit, antidote),
        Action::End { .. } if !view.may_end() => {
            return Err("You must meet somebody before you end your turn.".to_owned());
        }
        Action::End { antidote } => (Commitment::None, antidote),
    };
    let known = view.known_viruses();
    match (view.told.identity, commit) {
        (Identity::Zombie, _) if antidote => Err("A zombie takes no antidote.".to_owned()),
        (Identity::Zombie, Commitment::Precaution) => Err("A zombie takes no precaution.".to_owned()),
        (Identity::Human, Commitment::Virus { .. }) => Err("Only zombies apply viruses.".to_owned()),
        (_, Commitment::Virus { count: number }) if number == 0 || number > known => {
            Err(format!("You have {}, so you can't apply {number}.", count(known, "virus")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use necrodome_rules::{
        infection::{PrivateReport, PublicReport, Ruleset},
        names::Names,
    };

    fn place() -> OwnSeat {
        let names = Names::new(["me", "Ada", "the antidote"]).unwrap();
        OwnSeat { seat: Seat(0), names, drawn: false }
    }

    fn view(identity: Identity, question: Question) -> InfectionView {
        InfectionView {
            seat: Seat(0),
            question,
            told: PrivateReport { identity, stock: 2, antidotes: None },
            applied: 0,
            public: PublicReport {
                turns: 0,
                humans: 2,
                zombies: 1,
                most_antibodies: 2,
                most_viruses: 2,
                rules: Ruleset::Standard,
            },
            max_turns: 8,
            has_met: false,
            partners: [Seat(1), Seat(2)].into_iter().collect(),
        }
    }

    fn read(view: &InfectionView, line: &str) -> Result<Action, String> {
        match Partners::default().read(&place(), view, line)? {
            Meant::Act(action) => Ok(action),
            Meant::Again => Err("again".to_owned()),
        }
    }

    #[test]
    fn contacts_are_read_with_their_additions() {
        let human = view(Identity::Human, Question::Choose);
        let contact = |with, commit, antidote| Action::Contact { with: Seat(with), commit, antidote };
        assert_eq!(read(&human, "contact ada"), Ok(contact(1, Commitment::None, false)));
        assert_eq!(read(&human, "contact 2"), Ok(contact(2, Commitment::None, false)));
        let both = contact(1, Commitment::Precaution, true);
        assert_eq!(read(&human, "contact Ada precaution antidote"), Ok(both));
        assert_eq!(read(&human, "contact the antidote"), Ok(contact(2, Commitment::None, false)));
        let twice = contact(2, Commitment::None, true);
        assert_eq!(read(&human, "contact the antidote antidote"), Ok(twice));
        let zombie = view(Identity::Zombie, Question::Choose);
        assert_eq!(
            read(&zombie, "contact Ada virus 2"),
            Ok(contact(1, Commitment::Virus { count: 2 }, false))
        );
    }

    #[test]
    fn mistakes_are_named() {
        let human = view(Identity::Human, Question::Choose);
        let zombie = view(Identity::Zombie, Question::Answer { to: Seat(1) });
        for (view, line, why) in [
            (&human, "contact Bob", "somebody you can meet"),
            (&human, "contact me", "somebody you can meet"),
            (&human, "contact", "somebody you can meet"),
            (&human, "contact Ada virus 1", "Only zombies"),
            (&human, "end", "must meet somebody"),
            (&human, "answer", "Expected contact NAME"),
            (&zombie, "answer virus 3", "You have 2 viruses"),
            (&zombie, "answer virus many", "a number of viruses"),
            (&zombie, "answer precaution", "takes no precaution"),
            (&zombie, "answer antidote", "takes no antidote"),
            (&zombie, "end", "Expected answer"),
        ] {
            let error = read(view, line).unwrap_err();
            assert!(error.contains(why), "{line}: {error}");
        }
    }
}
