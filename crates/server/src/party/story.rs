//! The story of a finished game, read from the judge's book: who infected whom, what would have saved each player, and who gets an award.

use necrodome_judge::book::{Book, ContactSide, What};
use necrodome_rules::{
    game::Seat,
    infection::{Commitment, Identity, InfectionRules, Role, after_contact},
};

/// One player's game, as it is told at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Life {
    /// Whether they were a zombie when they came.
    pub zombie: bool,
    /// How often they met somebody.
    pub contacts: u32,
    /// The antibodies that they gained by meeting people.
    pub gained: u32,
    /// The longest run of turns for which they were infected before they were healed or became a zombie.
    pub hidden: u32,
    /// The length of the current run of turns in which they are infected.
    hiding: u32,
    /// Their first infection: the turn, and by whom.
    pub first: Option<(u32, Seat)>,
    /// Their last infection, if it was not healed.
    pub last: Option<Infection>,
    /// The turn at the end of which they became a zombie.
    pub turned: Option<u32>,
    /// How many they infected.
    pub infected: u32,
}

/// An infection that was not healed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Infection {
    pub turn: u32,
    pub by: Seat,
    /// Whether a precaution would have kept them human.
    pub precaution: bool,
    /// The last turn in which they had an antibody for the antidote.
    pub antidote: Option<u32>,
}

/// Returns the lives of all players, by seat.
pub(super) fn lives(book: &Book) -> Vec<Life> {
    let mut lives = vec![Life::default(); book.names().len()];
    let mut turn = 1;
    for record in book.records() {
        match &record.what {
            What::Started { private, .. } => {
                for (life, told) in lives.iter_mut().zip(private) {
                    life.zombie = told.identity == Identity::Zombie;
                }
            }
            What::Contact { sides: [one, other] } => {
                meet(&mut lives, turn, book.rules(), (one, other));
                meet(&mut lives, turn, book.rules(), (other, one));
            }
            What::Antidote { seat, before, after, .. } => {
                if before.role == Role::Infected && after.role == Role::Human {
                    let life = &mut lives[seat.index()];
                    (life.last, life.hiding) = (None, 0);
                }
            }
            What::Joined { seat, private } => {
                lives[seat.index()].zombie = private.identity == Identity::Zombie;
            }
            What::Ended { .. } => {}
            What::TurnClosed { turned, private, ending, .. } => {
                for (life, told) in lives.iter_mut().zip(private) {
                    if life.last.is_none() || life.turned.is_some() {
                        continue;
                    }
                    life.hiding += 1;
                    life.hidden = life.hidden.max(life.hiding);
                    let can_be_healed =
                        told.identity == Identity::Human && told.stock > 0 && ending.is_none();
                    if let Some(infection) = life.last.as_mut().filter(|_| can_be_healed) {
                        infection.antidote = Some(turn + 1);
                    }
                }
                turned.iter().for_each(|seat| lives[seat.index()].turned = Some(turn));
                turn += 1;
            }
        }
    }
    lives
}

/// Records what a contact did to one side.
fn meet(lives: &mut [Life], turn: u32, rules: &InfectionRules, (me, other): (&ContactSide, &ContactSide)) {
    let life = &mut lives[me.seat.index()];
    life.contacts += 1;
    life.gained += me.after.antibodies.saturating_sub(me.before.antibodies);
    let caught = me.before.role == Role::Human && me.after.role == Role::Infected;
    if caught {
        life.first.get_or_insert((turn, other.seat));
        let precaution = would_save(rules, me, other);
        life.last = Some(Infection { turn, by: other.seat, precaution, antidote: None });
    }
    if let Some(infection) =
        life.last.as_mut().filter(|_| me.after.role == Role::Infected && me.after.antibodies > 0)
    {
        infection.antidote = Some(turn);
    }
    if caught {
        lives[other.seat.index()].infected += 1;
    }
}

/// Whether a human who was infected could have paid for a precaution, and would have stayed human with it.
fn would_save(rules: &InfectionRules, me: &ContactSide, other: &ContactSide) -> bool {
    let with = (me.before, Commitment::Precaution);
    me.before.antibodies > 0
        && after_contact(with, (other.before, other.commit), rules.surplus_virus)[0].role == Role::Human
}
