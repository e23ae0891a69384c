//! Cuts a step of a match into its happenings. When a turn ends, the referee plays on to the next decision, so the log of one step
//! may include the next player's dice. A film shows one player's events at a time.

use necrodome_arena::replay::{Moment, Replay, ReplayError};
use necrodome_rules::{
    catalog::Listed,
    game::{Game, Logged, Seat},
    infection::{self, Infection},
    own_part,
    tokyo::{self, Tokyo},
    zombie_dice as zd,
};

/// What happened to one player in a step.
pub(super) struct Part<'a, E> {
    /// The player it belongs to, or `None` if it concerns everybody.
    pub player: Option<Seat>,
    pub log: &'a [Logged<E>],
}

/// Which happening an event belongs to.
pub(super) enum Whose {
    /// The current one.
    Same,
    /// One of this player, or of everybody.
    Of(Option<Seat>),
    /// A new one of this player, whoever the current one belongs to.
    Begins(Seat),
}

type Sort<E> = fn(&E) -> Whose;

fn sort<G: Listed>() -> Sort<G::Event> {
    let own: Option<Sort<G::Event>> = own_part![
        dice as Sort<<zd::Table as Game>::Event>,
        tokyo as Sort<<Tokyo as Game>::Event>,
        infection as Sort<<Infection as Game>::Event>,
    ];
    own.unwrap_or(|_| Whose::Same)
}

fn dice(event: &zd::Event) -> Whose {
    match event {
        zd::Event::Rolled { seat, .. } | zd::Event::TurnEnded { seat, .. } => Whose::Of(Some(*seat)),
        zd::Event::TiebreakStarted { .. } => Whose::Same,
    }
}

fn tokyo(event: &tokyo::Event) -> Whose {
    use tokyo::Event::*;
    match event {
        TurnStarted { seat, .. } => Whose::Begins(*seat),
        Hit { by: seat, .. }
        | Rolled { seat, .. }
        | Scored { seat, .. }
        | Decided { seat, .. }
        | Healed { seat, .. }
        | Entered { seat, .. } => Whose::Of(Some(*seat)),
    }
}

/// Sorts an event of Infection: the end of a turn concerns everybody.
fn infection(event: &infection::Event) -> Whose {
    use infection::Event::*;
    match event {
        MetNobody { .. } | Turned { .. } | Announced { .. } => Whose::Of(None),
        _ => Whose::Same,
    }
}

/// Returns the happenings of a step, at least one. The first belongs to the player who decided, and in the set-up to the player of
/// its first event.
fn cut<E>(log: &[Logged<E>], mover: Option<Seat>, sort: Sort<E>) -> Vec<Part<'_, E>> {
    let mut parts = vec![Part { player: mover, log: &log[..0] }];
    let mut start = 0;
    for (at, Logged { event, .. }) in log.iter().enumerate() {
        let Some(last) = parts.last_mut() else { break };
        let next = match sort(event) {
            Whose::Same => None,
            Whose::Of(player) => Some(player).filter(|player| *player != last.player),
            Whose::Begins(player) => Some(Some(player)),
        };
        match next {
            Some(player) if at == 0 && mover.is_none() => *last = Part { player, log: &log[..=at] },
            Some(player) => {
                start = at;
                parts.push(Part { player, log: &log[at..=at] });
            }
            None => last.log = &log[start..=at],
        }
    }
    parts
}

/// Plays a match and passes the happenings of each step to `watch`.
pub(super) fn follow<G: Listed>(
    replay: &Replay<G>,
    mut watch: impl FnMut(&Moment<G>, &[Part<G::Event>]) -> Result<(), ReplayError>,
) -> Result<(), ReplayError> {
    let sort = sort::<G>();
    let mut mover = None;
    replay.follow(|moment| {
        let parts = cut(moment.log, mover, sort);
        mover = moment.game.to_act().first().copied();
        watch(&moment, &parts)
    })
}
