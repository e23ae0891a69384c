//! Infection as numbers: what the player and everybody were told, what the player did, and whom the player can meet.

use crate::{
    field::Field,
    observe::{Observe, Writer, number, steps_to},
};
use necrodome_rules::{
    game::Seat,
    infection::{Action, Commitment, Identity, Infection, InfectionRules, InfectionView, Question},
};

/// The most viruses with an action of their own; beyond that there is only "all".
const COUNTED: usize = 4;
/// The number of commitments: nothing, a precaution, 1 to 4 viruses, all viruses.
const COMMITMENTS: usize = 2 + COUNTED + 1;
const ALL_VIRUSES: usize = COMMITMENTS - 1;

/// The commitment with this number. "All" exists only for more viruses than are counted out, so that each action has one number.
fn commitment(view: &InfectionView, index: usize) -> Option<Commitment> {
    match index {
        0 => Some(Commitment::None),
        1 => Some(Commitment::Precaution),
        ALL_VIRUSES => {
            let count = view.known_viruses();
            (count as usize > COUNTED).then_some(Commitment::Virus { count })
        }
        _ => Some(Commitment::Virus { count: index as u32 - 1 }),
    }
}

fn may_commit(view: &InfectionView, index: usize) -> bool {
    match commitment(view, index) {
        None => false,
        Some(Commitment::None) => true,
        Some(Commitment::Precaution) => view.told.identity == Identity::Human,
        Some(Commitment::Virus { count }) => count <= view.known_viruses(),
    }
}

/// The number of actions without the antidote; as many again follow that take it first.
fn half(seats: usize) -> usize {
    1 + COMMITMENTS * seats
}

/// The number of seats, from a view: everybody is human or zombie.
fn seats(view: &InfectionView) -> usize {
    usize::from(view.public.humans) + usize::from(view.public.zombies)
}

/// The status of another player, as the viewer sees it.
#[derive(Clone, Copy)]
enum Other {
    /// They can't be met in this turn any more.
    Closed,
    /// They can be met.
    Open,
    /// They have picked this player and wait for the answer.
    Asks,
}

/// The numbers of actions: 0 ends the turn; then, for each commitment, the answer to a player who asks; then, for each other
/// player in seat order after the own seat, a contact with each commitment. The second half is the same with the antidote first.
impl Observe for Infection {
    fn fields(rules: &InfectionRules, seats: usize) -> Vec<Field> {
        let count = number(seats);
        let turns = number(rules.max_turns.get());
        let mut fields = vec![
            Field::new(
                "question",
                "What is asked: 0 nothing, 1 whom to meet, 2 an answer to who has come.",
                0,
                2,
            ),
            Field::new("identity", "What this player was told to be: 0 human, 1 zombie.", 0, 1),
            Field::new("stock", "Antibodies of a human, viruses of a zombie, as told last.", 0, i16::MAX),
            Field::new("applied", "Viruses applied since then, which `stock` still counts.", 0, i16::MAX),
            Field::new("has_met", "1 if this player has met somebody in this turn.", 0, 1),
            Field::new("turns", "Turns finished.", 0, turns),
            Field::new("turns_left", "Turns that are left, this one included.", 0, turns),
            Field::new("humans", "Players who count as human.", 0, count),
            Field::new("zombies", "Zombies.", 0, count),
            Field::new("most_antibodies", "The most antibodies that any one human has.", 0, i16::MAX),
            Field::new("most_viruses", "The most viruses that any one zombie has.", 0, i16::MAX),
        ];
        for steps in 1..seats {
            let about = format!(
                "The player {steps} seats on: 0 cannot be met now, 1 can be met, 2 has come and waits for an answer."
            );
            fields.push(Field::new(format!("other_{steps}"), about, 0, Other::Asks as i16));
        }
        fields
    }

    fn observe(_: &InfectionRules, view: &InfectionView, out: &mut [i16]) {
        let mut writer = Writer::new(out);
        writer.put([
            match view.question {
                Question::Wait => 0,
                Question::Choose => 1,
                Question::Answer { .. } => 2,
            },
            i16::from(view.told.identity == Identity::Zombie),
            number(view.told.stock),
            number(view.applied),
            view.has_met.into(),
            number(view.public.turns),
            number(view.max_turns.saturating_sub(view.public.turns)),
            number(view.public.humans),
            number(view.public.zombies),
            number(view.public.most_antibodies),
            number(view.public.most_viruses),
        ]);
        let seats = seats(view);
        writer.put((1..seats).map(|steps| {
            let other = Seat(((view.seat.index() + steps) % seats) as u16);
            let what = match view.question {
                Question::Answer { to } if to == other => Other::Asks,
                _ if view.partners.contains(other) => Other::Open,
                _ => Other::Closed,
            };
            what as i16
        }));
        writer.finish();
    }

    fn actions(seats: usize) -> usize {
        2 * half(seats)
    }

    fn action(view: &InfectionView, index: usize) -> Option<Action> {
        let seats = seats(view);
        let (antidote, index) = (index / half(seats), index % half(seats));
        let antidote = match antidote {
            0 => false,
            1 => true,
            _ => return None,
        };
        let Some(place) = index.checked_sub(1) else { return Some(Action::End { antidote }) };
        let commit = commitment(view, place % COMMITMENTS)?;
        Some(match place / COMMITMENTS {
            0 => Action::Answer { commit, antidote },
            steps => {
                let with = Seat(((view.seat.index() + steps) % seats) as u16);
                Action::Contact { with, commit, antidote }
            }
        })
    }

    /// More viruses than are counted out become "all viruses".
    fn number(view: &InfectionView, action: &Action) -> u8 {
        let seats = seats(view);
        let committed = |commit: &Commitment| match *commit {
            Commitment::None | Commitment::Virus { count: 0 } => 0,
            Commitment::Precaution => 1,
            Commitment::Virus { count } => (count as usize + 1).min(ALL_VIRUSES),
        };
        let (place, antidote) = match action {
            Action::End { antidote } => (0, *antidote),
            Action::Answer { commit, antidote } => (1 + committed(commit), *antidote),
            Action::Contact { with, commit, antidote } => {
                let steps = steps_to(view.seat, *with, seats);
                (1 + COMMITMENTS * steps + committed(commit), *antidote)
            }
        };
        (place + if antidote { half(seats) } else { 0 }) as u8
    }

    fn mask(view: &InfectionView, out: &mut [bool]) {
        out.fill(false);
        let seats = seats(view);
        let (plain, with_antidote) = out.split_at_mut(half(seats));
        let mut allow = |group: usize| {
            for index in 0..COMMITMENTS {
                plain[1 + group * COMMITMENTS + index] = may_commit(view, index);
            }
        };
        match view.question {
            Question::Wait => {}
            Question::Answer { .. } => allow(0),
            Question::Choose => {
                view.partners.iter().for_each(|with| allow(steps_to(view.seat, with, seats)));
                plain[0] = view.may_end();
            }
        }
        if view.told.identity == Identity::Human {
            with_antidote.copy_from_slice(plain);
        }
    }
}
