//! Last Bullet: one mind for all copies.
//!
//! The idea: what the copies see is put together on one map, so that a copy also knows of zombies beyond its
//! own window. Zombies that come too close are shot once, by whoever can, and copies do not step on each
//! other's squares. Bullets are shared out by need: a copy shoots for a neighbour who has none.

use example_bots::{list, number, play};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

const STEPS: [(&str, i64, i64); 9] = [
    ("stay", 0, 0),
    ("north", 0, -1),
    ("northeast", 1, -1),
    ("east", 1, 0),
    ("southeast", 1, 1),
    ("south", 0, 1),
    ("southwest", -1, 1),
    ("west", -1, 0),
    ("northwest", -1, -1),
];
const RANGE: i64 = 5;
const ZOMBIE: i64 = 0; // the place in `names`

type Square = (i64, i64);

struct Field {
    side: i64,
    /// Everybody seen, by square: who, and the identity number.
    seen: HashMap<Square, (i64, i64)>,
    /// Zombies that nobody has shot yet: square and identity number.
    zombies: Vec<(Square, i64)>,
    claimed: HashSet<Square>,
}

impl Field {
    fn read(view: &Value) -> Field {
        let side = number(&view["side"]);
        let mut seen = HashMap::new();
        for copy in list(&view["copies"]) {
            for other in list(&copy["seen"]) {
                let square = (number(&copy["x"]) + number(&other[0]), number(&copy["y"]) + number(&other[1]));
                let square = (square.0.rem_euclid(side), square.1.rem_euclid(side));
                seen.insert(square, (number(&other[2]), number(&other[3])));
            }
        }
        let is_zombie = |&(_, &(who, _)): &(&Square, &(i64, i64))| who == ZOMBIE;
        let mut zombies: Vec<_> =
            seen.iter().filter(is_zombie).map(|(&at, &(_, number))| (at, number)).collect();
        zombies.sort_unstable_by_key(|&(_, number)| number); // the same view, the same answer
        Field { side, seen, zombies, claimed: HashSet::new() }
    }

    fn distance(&self, a: Square, b: Square) -> i64 {
        let around = |d: i64| d.rem_euclid(self.side).min((-d).rem_euclid(self.side));
        around(a.0 - b.0).max(around(a.1 - b.1))
    }

    /// A zombie in range of this copy that would bite a copy next turn: the one nearest to any of us.
    fn target(&self, from: Square, friends: &[Square]) -> Option<i64> {
        let in_range = self.zombies.iter().filter(|&&(at, _)| self.distance(from, at) <= RANGE);
        let to_us =
            |at: Square| friends.iter().map(|&friend| self.distance(friend, at)).min().unwrap_or(RANGE);
        let near = in_range.map(|&(at, number)| (to_us(at), number));
        near.min().filter(|&(distance, _)| distance <= 2).map(|(_, number)| number)
    }

    /// The free square that is farthest from the nearest zombie, then from all that are near.
    fn flee(&self, from: Square) -> (&'static str, Square) {
        let mut best = (STEPS[0].0, from);
        let mut safest = (i64::MIN, 0);
        for (name, dx, dy) in STEPS {
            let to = ((from.0 + dx).rem_euclid(self.side), (from.1 + dy).rem_euclid(self.side));
            if (to != from && self.seen.contains_key(&to)) || self.claimed.contains(&to) {
                continue;
            }
            let distances = self.zombies.iter().map(|&(at, _)| self.distance(to, at).min(12));
            let safety = (distances.clone().min().unwrap_or(12), distances.sum());
            if safety > safest {
                (best, safest) = ((name, to), safety);
            }
        }
        best
    }
}

fn choose(view: &Value) -> (Value, String) {
    let mut field = Field::read(view);
    let copies = list(&view["copies"]);
    let squares: Vec<Square> = copies.iter().map(|copy| (number(&copy["x"]), number(&copy["y"]))).collect();
    let mut orders: Vec<Option<Value>> = vec![None; copies.len()];

    // First the shots: who has the most bullets shoots first.
    let mut shooters: Vec<usize> = (0..copies.len()).filter(|&i| number(&copies[i]["bullets"]) > 0).collect();
    shooters.sort_by_key(|&i| -number(&copies[i]["bullets"]));
    for i in shooters {
        let near = |&square: &Square| field.distance(squares[i], square) <= 3;
        let friends: Vec<Square> = squares.iter().copied().filter(near).collect();
        if let Some(target) = field.target(squares[i], &friends) {
            field.zombies.retain(|&(_, number)| number != target);
            field.claimed.insert(squares[i]);
            orders[i] = Some(json!({"type": "shoot", "copy": copies[i]["number"], "target": target}));
        }
    }
    let shots = orders.iter().flatten().count();

    // Then the moves of all others.
    for (i, order) in orders.iter_mut().enumerate().filter(|(_, order)| order.is_none()) {
        let (direction, to) = field.flee(squares[i]);
        field.claimed.insert(to);
        *order = Some(json!({"type": "move", "copy": copies[i]["number"], "direction": direction}));
    }
    (json!({"orders": orders}), format!("{} copies, {shots} shots", copies.len()))
}

fn main() -> std::io::Result<()> {
    play(choose)
}
