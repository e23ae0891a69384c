//! Observations as positions of the solutions.

use necrodome_batch::observe::Observe;
use necrodome_rules::{
    game::Seat,
    tokyo::{self, Face, Monster, Phase, Tokyo, TokyoRules, TokyoView},
    zombie_dice::{
        Colour, Counts, DICE, GOAL, OutOfDice, Race, RaceRules, Solo, SoloRules, Table, TableRules, TableView,
    },
};
use necrodome_solve::{
    Graph, Position, RaceSolution, SoloSolution, Solution as _, Solvable, Spot, Standing, TableSolution,
    TokyoSolution, TurnPrices,
};

/// A game whose observations have exact values. `Err` says why a row is no position of the game.
pub trait Seen: Solvable + Observe {
    /// Whether a view fits the solution.
    fn check(_: &Self::View) -> Result<(), String> {
        Ok(())
    }

    /// Writes the value of every action; leaves what is there where nothing can be decided.
    fn values(
        rules: &Self::Rules,
        solution: &Self::Solution,
        row: &[i16],
        out: &mut [f64],
    ) -> Result<(), String>;

    /// The number of the best action; 0 where nothing can be decided.
    fn best(rules: &Self::Rules, solution: &Self::Solution, row: &[i16]) -> Result<u8, String>;
}

/// Three counts of dice by colour.
fn counts(numbers: &[i16]) -> Result<Counts, String> {
    let mut counts = Counts::default();
    for (colour, &number) in Colour::ALL.into_iter().zip(numbers) {
        counts[colour] = u8::try_from(number)
            .ok()
            .filter(|&count| count <= DICE[colour])
            .ok_or_else(|| format!("{number} dice of a colour that has {}", DICE[colour]))?;
    }
    Ok(counts)
}

/// How many numbers of a row tell the turn; those behind them tell the scores.
pub fn turn_width(out_of_dice: OutOfDice) -> usize {
    match out_of_dice {
        OutOfDice::EndTurn => 8,
        OutOfDice::RecycleBrains => 11,
    }
}

/// Where a turn stands; none if it is over.
fn spot(graph: &Graph, row: &[i16]) -> Result<Option<Spot>, String> {
    let [brains, shotguns] = [row[0], row[1]];
    let brains = u32::try_from(brains).map_err(|_| format!("{brains} brains"))?;
    let shotguns = u8::try_from(shotguns).map_err(|_| format!("{shotguns} shotguns"))?;
    let (cup, feet) = (counts(&row[2..5])?, counts(&row[5..8])?);
    let mut room = Counts::default();
    for colour in Colour::ALL {
        let used = cup[colour] + feet[colour];
        room[colour] = DICE[colour].checked_sub(used).ok_or("more dice of a colour than there are")?;
    }
    let mut shots = Counts::default();
    match graph.out_of_dice() {
        // Their colours are not told and do not matter: any that there are dice for.
        OutOfDice::EndTurn => {
            let mut left = shotguns;
            for colour in Colour::ALL {
                shots[colour] = left.min(room[colour]);
                left -= shots[colour];
            }
            let dice = brains + u32::from(shotguns) + u32::from(cup.total() + feet.total());
            if left > 0 || dice != u32::from(DICE.total()) {
                return Err(format!("{dice} dice, not {}", DICE.total()));
            }
        }
        OutOfDice::RecycleBrains => {
            let aside = counts(&row[8..11])?;
            for colour in Colour::ALL {
                shots[colour] =
                    room[colour].checked_sub(aside[colour]).ok_or("more dice of a colour than there are")?;
            }
            if shots.total() != shotguns {
                return Err(format!("the other dice leave {} shotguns, not {shotguns}", shots.total()));
            }
        }
    }
    if shotguns >= 3 || cup.total() + feet.total() < 3 {
        return Ok(None);
    }
    let position = Position { cup, feet, shots, brains };
    graph.spot(&position).map(Some).ok_or_else(|| "no turn comes to these dice".to_owned())
}

/// Stop is 0, go is 1.
fn price(prices: TurnPrices<'_>, spot: Spot, brains: i16, out: &mut [f64]) {
    out.copy_from_slice(&[prices.banked(brains.unsigned_abs().into()), prices.go(spot)]);
}

macro_rules! dice {
    ($rules:ty, $solution:ty) => {
        fn values(_: &$rules, solution: &$solution, row: &[i16], out: &mut [f64]) -> Result<(), String> {
            if let Some((prices, spot)) = Self::at(solution, row)? {
                price(prices, spot, row[0], out);
            }
            Ok(())
        }

        fn best(_: &$rules, solution: &$solution, row: &[i16]) -> Result<u8, String> {
            let at = Self::at(solution, row)?;
            Ok(at.is_some_and(|(prices, spot)| prices.rolls(spot)).into())
        }
    };
}

/// A format of Zombie Dice.
trait Dice {
    type Solved;

    /// The prices of the turn, and where it stands; none if nothing can be decided.
    fn at<'a>(solution: &'a Self::Solved, row: &[i16]) -> Result<Option<(TurnPrices<'a>, Spot)>, String>;
}

/// A score.
fn score(number: i16) -> Result<u32, String> {
    u32::try_from(number).map_err(|_| format!("a score of {number}"))
}

impl Dice for Solo {
    type Solved = SoloSolution;

    fn at<'a>(solution: &'a SoloSolution, row: &[i16]) -> Result<Option<(TurnPrices<'a>, Spot)>, String> {
        Ok(spot(solution.graph(), row)?.map(|spot| (solution.prices(), spot)))
    }
}

impl Dice for Race {
    type Solved = RaceSolution;

    fn at<'a>(solution: &'a RaceSolution, row: &[i16]) -> Result<Option<(TurnPrices<'a>, Spot)>, String> {
        let scores = &row[turn_width(solution.graph().out_of_dice())..];
        let (own, other) = (score(scores[0])?, score(scores[1])?);
        let spot = spot(solution.graph(), row)?;
        Ok(spot.filter(|_| own < GOAL && other < GOAL).map(|spot| (solution.prices(own, other), spot)))
    }
}

impl Dice for Table {
    type Solved = TableSolution;

    fn at<'a>(solution: &'a TableSolution, row: &[i16]) -> Result<Option<(TurnPrices<'a>, Spot)>, String> {
        let [_, tiebreak, own, turn, other, others_turn] = row[turn_width(solution.graph().out_of_dice())..]
        else {
            return Err("a table for two has two scores".to_owned());
        };
        let spot = spot(solution.graph(), row)?;
        let standing = standing(tiebreak == 1, score(own)?, score(other)?, turn, others_turn)?;
        Ok(spot.zip(standing).map(|(spot, standing)| (solution.prices(standing), spot)))
    }
}

/// How things stand for the one whose turn it is; none if it is not its turn or the match is over.
fn standing(
    tiebreak: bool,
    own: u32,
    other: u32,
    turn: i16,
    others_turn: i16,
) -> Result<Option<Standing>, String> {
    let second = match (turn, others_turn) {
        (2, 1) => false,
        (2, 3) => true,
        (1, 2) | (3, 2) => return Ok(None),
        _ => return Err(format!("turn_0={turn} with turn_1={others_turn}")),
    };
    Ok(match (second, tiebreak) {
        (false, true) => Some(Standing::TiebreakFirst),
        (true, true) => other.checked_sub(own).map(|behind| Standing::TiebreakSecond { behind }),
        _ if own >= GOAL => None,
        (false, false) => (other < GOAL).then_some(Standing::First { own, other }),
        (true, false) if other >= GOAL => Some(Standing::Chase { behind: other - own }),
        (true, false) => Some(Standing::Second { own, other }),
    })
}

impl Seen for Solo {
    dice!(SoloRules, SoloSolution);
}

impl Seen for Race {
    dice!(RaceRules, RaceSolution);
}

impl Seen for Table {
    fn check(view: &TableView) -> Result<(), String> {
        for_two("zombie-dice", view.scores.len(), view.seat)
    }

    dice!(TableRules, TableSolution);
}

fn for_two(game: &str, seats: usize, seat: Seat) -> Result<(), String> {
    match seats {
        2 if seat.index() < 2 => Ok(()),
        2 => Err(format!("seat {seat} at a match of two")),
        _ => Err(format!("{game} is solved for two seats, and this view is of {seats}")),
    }
}

/// The view of a row; none if nothing can be decided.
fn tokyo_view(row: &[i16]) -> Result<Option<TokyoView>, String> {
    let &[phase, rerolls_left, damage, ref rest @ ..] = row else { return Err("an empty row".to_owned()) };
    let (dice, monsters) = rest.split_at(6);
    let mut faces = [Face::One; 6];
    for (face, &number) in faces.iter_mut().zip(dice) {
        let known = usize::try_from(number).ok().and_then(|number| Face::ALL.get(number));
        *face = *known.ok_or_else(|| format!("a die that shows {number}"))?;
    }
    let mut view = TokyoView {
        seat: Seat(0),
        current: Seat(0),
        monsters: Vec::with_capacity(2),
        in_tokyo: None,
        dice: faces,
        phase: Phase::Over,
        turn: 1,
    };
    let mut current = 0;
    for (seat, monster) in (0..).zip(monsters.chunks_exact(4)) {
        let &[health, points, in_tokyo, moves] = monster else { continue };
        let health = u8::try_from(health).ok().filter(|&health| health <= tokyo::MAX_HEALTH);
        let health = health.ok_or_else(|| format!("health_{seat}={}", monster[0]))?;
        view.monsters.push(Monster { health, points: score(points)? });
        if in_tokyo == 1 && view.in_tokyo.replace(Seat(seat)).is_some() {
            return Err("two monsters in Tokyo".to_owned());
        }
        if moves == 1 {
            view.current = Seat(seat);
            current += 1;
        }
    }
    if current != 1 {
        return Err(format!("it is the turn of {current} monsters"));
    }
    let over = view.monsters.iter().any(|monster| !monster.is_alive() || monster.points >= tokyo::GOAL);
    let own_turn = view.current == Seat(0);
    view.phase = match (phase, rerolls_left, damage) {
        (0, 1..=2, _) if !over && own_turn => {
            Phase::Rolling { rerolls_left: rerolls_left.unsigned_abs() as u8 }
        }
        (1, _, 1..=6) if !over && !own_turn => {
            if view.in_tokyo != Some(Seat(0)) {
                return Err("a monster that is not in Tokyo cannot leave it".to_owned());
            }
            Phase::Yielding { damage: damage.unsigned_abs() as u8 }
        }
        (0..=2, 0..=2, 0..=6) => return Ok(None),
        _ => return Err(format!("phase={phase} with rerolls_left={rerolls_left} and damage={damage}")),
    };
    Ok(Some(view))
}

/// How many dice of each face are kept: what keeping them is worth depends on nothing else.
fn kept(dice: &[Face; 6], mask: usize) -> u32 {
    let marked = dice.iter().enumerate().filter(|(die, _)| mask >> die & 1 == 1);
    marked.map(|(_, &face)| 1 << (4 * face as u32)).sum()
}

impl Seen for Tokyo {
    fn check(view: &TokyoView) -> Result<(), String> {
        for_two("tokyo", view.monsters.len(), view.seat)?;
        if view.current.index() >= 2 {
            Err(format!("it is the turn of seat {}", view.current))
        } else {
            Ok(())
        }
    }

    fn values(_: &TokyoRules, solution: &TokyoSolution, row: &[i16], out: &mut [f64]) -> Result<(), String> {
        let Some(view) = tokyo_view(row)? else { return Ok(()) };
        for option in solution.prices(&view) {
            match option.action {
                tokyo::Action::Yield => out[64] = option.value,
                tokyo::Action::Stay => out[65] = option.value,
                tokyo::Action::Keep { dice } => {
                    let mask = number(&dice);
                    let alike = kept(&view.dice, mask);
                    let same = (0..64).filter(|&other| kept(&view.dice, other) == alike);
                    same.for_each(|other| out[other] = option.value);
                }
            }
        }
        Ok(())
    }

    fn best(_: &TokyoRules, solution: &TokyoSolution, row: &[i16]) -> Result<u8, String> {
        let Some(view) = tokyo_view(row)? else { return Ok(0) };
        Ok(match solution.best(&view) {
            tokyo::Action::Keep { dice } => number(&dice) as u8,
            tokyo::Action::Yield => 64,
            tokyo::Action::Stay => 65,
        })
    }
}

/// A mask of dice as a number: bit i is die i.
fn number(dice: &[bool; 6]) -> usize {
    (0..).zip(dice).map(|(die, &kept)| usize::from(kept) << die).sum()
}
