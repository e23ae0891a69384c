//! `necrodome advise`, end to end, against the solutions themselves.

use crate::program::{self, necrodome, quiet_output};
use assert_cmd::Command;
use necrodome_rules::{
    chance::enumerate,
    game::Seat,
    tokyo::{Dice, Face, Tokyo, TokyoRules},
    zombie_dice::{
        self, Colour, Counts, DICE, FirstRoll, OutOfDice, RaceRules, Rolled, SoloRules, TableRules, Tiebreak,
        Turn,
    },
};
use necrodome_solve::{Place, Position, Solvable, Standing, Start, TurnSolution};
use serde_json::{Value, json};

fn advise(line: &str) -> Command {
    let mut command = necrodome(&["advise"]);
    command.args(line.split(' '));
    command
}

fn output(line: &str) -> String {
    quiet_output(&mut advise(line))
}

fn document(line: &str) -> Value {
    serde_json::from_str(&output(&format!("{line} --json"))).unwrap()
}

fn refusal(line: &str) -> String {
    program::refusal(&mut advise(line), 2)
}

fn value(document: &Value, action: &str) -> f64 {
    let values = document["values"].as_array().unwrap();
    let found = values.iter().find(|value| value["action"]["type"] == action);
    found.unwrap_or_else(|| panic!("no {action} in {document}"))["value"].as_f64().unwrap()
}

#[track_caller]
fn assert_near(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-12, "{a} is not {b}");
}

fn dice(green: u8, yellow: u8, red: u8) -> Counts {
    Counts { green, yellow, red }
}

/// The document tells the values of a turn: best first, with what the second costs.
#[track_caller]
fn assert_values(document: &Value, go: f64, stop: f64) {
    assert_near(value(document, "go"), go);
    assert_near(value(document, "stop"), stop);
    assert_near(document["cost_of_second"].as_f64().unwrap(), (go - stop).abs());
    let best = if go > stop { "go" } else { "stop" };
    assert_eq!(document["best"]["type"], best);
    assert_eq!(document["values"][0]["action"]["type"], best);
}

// ---- Zombie Dice ----

#[test]
fn a_race_is_priced_as_it_is_solved() {
    let line = "zombie-dice-race score 7 9 brains 3 shotguns 2 feet green green cup 3 2 1";
    let answer = document(line);
    let solution = zombie_dice::Race::solve(&RaceRules::default(), 2).unwrap();
    let prices = solution.prices(7, 9);
    let position = Position { cup: dice(3, 2, 1), feet: dice(2, 0, 0), shots: dice(0, 1, 1), brains: 3 };
    let spot = solution.graph().spot(&position).unwrap();
    assert_values(&answer, prices.go(spot), prices.banked(3));
    // Stopping hands the dice to the other at 9 to 10.
    assert_near(value(&answer, "stop"), 1.0 - solution.value(9, 10));
    assert_eq!((&answer["exact"], &answer["unit"]), (&json!(true), &json!("chance")));
    assert_eq!(answer["game"], "zombie-dice-race");
    assert_eq!(answer["options"]["out_of_dice"], "end_turn");
    assert_eq!(answer["state"]["cup"], json!({ "green": 3, "yellow": 2, "red": 1 }));
    assert_eq!(answer["state"]["score"], json!([7, 9]));
    insta::assert_snapshot!(output(line));
}

#[test]
fn a_table_is_priced_as_it_is_solved() {
    let solution = zombie_dice::Table::solve(&TableRules::default(), 2).unwrap();
    let line = "zombie-dice score 11 14 seat second brains green green red shotguns yellow";
    let answer = document(line);
    let position = Position { cup: dice(4, 3, 2), feet: dice(0, 0, 0), shots: dice(0, 1, 0), brains: 3 };
    let spot = solution.graph().spot(&position).unwrap();
    let prices = solution.prices(Standing::Chase { behind: 3 });
    assert_values(&answer, prices.go(spot), prices.banked(3));
    assert_eq!((&answer["exact"], &answer["state"]["seat"]), (&json!(true), &json!("second")));
    insta::assert_snapshot!(output(line));

    // The seat matters, and goes without saying where only the second can move.
    assert_eq!(answer, document("zombie-dice score 11 14 brains green green red shotguns yellow"));
    let turn = "brains green green red shotguns yellow";
    for (words, standing) in [
        ("score 5 8 seat first", Standing::First { own: 5, other: 8 }),
        ("score 5 8 seat second", Standing::Second { own: 5, other: 8 }),
        ("score 14 14 seat first tiebreak", Standing::TiebreakFirst),
        ("score 14 17 seat second tiebreak", Standing::TiebreakSecond { behind: 3 }),
        ("score 14 14 seat second tiebreak", Standing::TiebreakSecond { behind: 0 }),
        ("score 0 99 seat second", Standing::Chase { behind: 99 }),
    ] {
        let prices = solution.prices(standing);
        let answer = document(&format!("zombie-dice {words} {turn}"));
        assert_values(&answer, prices.go(spot), prices.banked(3));
    }
}

#[test]
fn options_of_the_rules_change_the_values() {
    let rules = TableRules {
        tiebreak: Tiebreak::UntilBroken,
        out_of_dice: OutOfDice::RecycleBrains,
        ..TableRules::default()
    };
    let solution = zombie_dice::Table::solve(&rules, 2).unwrap();
    let position = Position { cup: dice(4, 3, 2), feet: dice(0, 0, 0), shots: dice(0, 1, 0), brains: 3 };
    let spot = solution.graph().spot(&position).unwrap();
    let prices = solution.prices(Standing::Chase { behind: 3 });
    let line = "zombie-dice score 11 14 brains g g r shotguns y --set tiebreak=until_broken --set out_of_dice=recycle_brains";
    let answer = document(line);
    assert_values(&answer, prices.go(spot), prices.banked(3));
    assert_eq!(answer["options"]["tiebreak"], "until_broken");
    assert_ne!(answer["values"], document("zombie-dice score 11 14 brains g g r shotguns y")["values"]);
}

#[test]
fn without_dice_it_is_the_position_before_the_first_roll() {
    let solution = zombie_dice::Solo::solve(&SoloRules::default(), 1).unwrap();
    let answer = document("zombie-dice-solo");
    assert_values(&answer, solution.value(), 0.0);
    assert_eq!((&answer["advice"], &answer["unit"]), (&json!("Roll."), &json!("points")));
    assert_eq!(answer["values"], document("zombie-dice-solo brains 0 shotguns none cup 6 4 3")["values"]);

    let race = zombie_dice::Race::solve(&RaceRules::default(), 2).unwrap();
    let answer = document("zombie-dice-race scores 12-3");
    assert_values(&answer, race.value(12, 3), 1.0 - race.value(3, 12));

    // Where the first roll is no choice there is nothing to be compared.
    let table = zombie_dice::Table::solve(&TableRules::default(), 2).unwrap();
    let answer = document("zombie-dice seat first score 2 4");
    assert_eq!(answer["values"].as_array().unwrap().len(), 1);
    assert_near(value(&answer, "go"), table.prices(Standing::First { own: 2, other: 4 }).start());
    assert_eq!(answer["cost_of_second"], Value::Null);
    assert!(output("zombie-dice seat first").starts_with("Roll: the first roll is no choice.\n"));
    let free = document("zombie-dice seat first score 2 4 --set first_roll=free");
    assert_eq!(free["values"].as_array().unwrap().len(), 2);
    let rules = TableRules { first_roll: FirstRoll::Free, ..TableRules::default() };
    let table = zombie_dice::Table::solve(&rules, 2).unwrap();
    assert_near(value(&free, "stop"), table.prices(Standing::First { own: 2, other: 4 }).banked(0));
}

/// Deals thirteen dice that can be told apart to the places of brains, shotguns and feet, one after the other.
fn deals(faces: &[usize], feet: &[Colour], deal: &mut dyn FnMut(&[Colour], f64)) {
    fn next(
        faces: &[usize],
        left: &mut Vec<Colour>,
        dealt: &mut Vec<Colour>,
        weight: f64,
        deal: &mut dyn FnMut(&[Colour], f64),
    ) {
        let Some(&face) = faces.get(dealt.len()) else { return deal(dealt, weight) };
        for die in 0..left.len() {
            let colour = left.remove(die);
            dealt.push(colour);
            next(faces, left, dealt, weight * f64::from(colour.sides()[face]), deal);
            dealt.pop();
            left.insert(die, colour);
        }
    }
    let mut left: Vec<Colour> =
        Colour::ALL.into_iter().flat_map(|c| std::iter::repeat_n(c, DICE[c].into())).collect();
    for foot in feet {
        left.remove(left.iter().position(|colour| colour == foot).unwrap());
    }
    next(faces, &mut left, &mut Vec::new(), 1.0, deal);
}

fn counted(dice: &[Colour]) -> Counts {
    let mut counts = Counts::default();
    for &colour in dice {
        counts[colour] += 1;
    }
    counts
}

/// The mean value of rolling over all deals, and how often it is right.
fn mean(rules: &SoloRules, brains: usize, shotguns: usize, feet: &[Colour]) -> (f64, f64) {
    let solution = zombie_dice::Solo::solve(rules, 1).unwrap();
    let prices = solution.prices();
    let faces: Vec<usize> = [vec![0; brains], vec![2; shotguns]].concat();
    let (mut all, mut go, mut right) = (0.0, 0.0, 0.0);
    deals(&faces, feet, &mut |dealt, weight| {
        let (used, mut cup) = (counted(&[dealt, feet].concat()), DICE);
        for colour in Colour::ALL {
            cup[colour] -= used[colour];
        }
        let shots = counted(&dealt[brains..]);
        let position = Position { cup, feet: counted(feet), shots, brains: brains as u32 };
        let spot = solution.graph().spot(&position).unwrap();
        all += weight;
        go += weight * prices.go(spot);
        right += if prices.rolls(spot) { weight } else { 0.0 };
    });
    (go / all, right / all)
}

#[test]
fn what_is_not_known_is_averaged() {
    use Colour::{Green, Red, Yellow};
    for (line, rules, brains, shotguns, feet) in [
        ("brains 4 shotguns 1 feet green yellow", SoloRules::default(), 4, 1, &[Green, Yellow][..]),
        ("brains 3 shotguns 2 feet red", SoloRules::default(), 3, 2, &[Red]),
        ("brains 1 shotguns 2 feet none", SoloRules::default(), 1, 2, &[]),
        ("brains 4 shotguns 1 feet yellow", SoloRules::default(), 4, 1, &[Yellow]),
        (
            "brains 3 shotguns 2 feet g y r --set out_of_dice=recycle_brains",
            SoloRules { out_of_dice: OutOfDice::RecycleBrains, ..SoloRules::default() },
            3,
            2,
            &[Green, Yellow, Red],
        ),
    ] {
        let (go, right) = mean(&rules, brains, shotguns, feet);
        let answer = document(&format!("zombie-dice-solo {line}"));
        assert!((value(&answer, "go") - go).abs() < 1e-10, "{line}: {go}, {answer}");
        assert_eq!(answer["exact"], false);
        let share = answer["average"]["best_is_right"].as_f64().unwrap();
        let right = if go > brains as f64 { right } else { 1.0 - right };
        assert!((share - right).abs() < 1e-10, "{line}: {share}, {right}");
    }
    insta::assert_snapshot!(output("zombie-dice-solo brains 4 shotguns 1 feet green yellow"));
    insta::assert_snapshot!(output("zombie-dice-solo brains 4 shotguns 1 feet yellow"));
}

/// What the referee deals with the first roll is weighed as the referee deals it.
#[test]
fn averages_are_those_of_the_referee() {
    let rolls = enumerate(1000, |chance| {
        let mut turn = Turn::START;
        let rolled = turn.roll(OutOfDice::EndTurn, chance);
        (rolled == Rolled::GoOn).then_some(turn)
    });
    let solution = zombie_dice::Race::solve(&RaceRules::default(), 2).unwrap();
    let prices = solution.prices(3, 10);
    let (mut all, mut go) = (0.0, 0.0);
    for (turn, probability) in rolls.unwrap() {
        let Some(turn) = turn else { continue };
        if (turn.brains(), turn.shotguns(), turn.footsteps()) == (1, 1, dice(0, 1, 0)) {
            let weight = *probability.numer() as f64 / *probability.denom() as f64;
            all += weight;
            go += weight * prices.go(solution.graph().spot(&Position::from(&turn)).unwrap());
        }
    }
    let answer = document("zombie-dice-race score 3 10 brains 1 shotguns 1 feet yellow");
    assert_near(value(&answer, "go"), go / all);
    assert_eq!(answer["average"]["positions"], 6);
}

#[test]
fn any_words_that_leave_nothing_open_make_it_exact() {
    let exact = document("zombie-dice-solo brains green red shotguns yellow feet green cup 4 3 2");
    assert_eq!(exact["exact"], true);
    assert_eq!(exact, document("zombie-dice-solo brains green red shotguns yellow feet green"));
    assert_eq!(exact, document("zombie-dice-solo brains 2 shotguns yellow feet green cup 4 3 2"));
    assert_eq!(exact, document("zombie-dice-solo brains 2 brain-dice r g shotguns yellow feet green"));
    // Which of the dice set aside are brains does not matter as long as none go back.
    let cup = document("zombie-dice-solo brains 2 shotguns 1 feet green cup 4 3 2");
    assert_eq!((&cup["exact"], &cup["values"]), (&json!(true), &exact["values"]));
    let back = "--set out_of_dice=recycle_brains";
    let cup = document(&format!("zombie-dice-solo brains 2 shotguns 1 feet green cup 4 3 2 {back}"));
    assert_eq!(cup["exact"], false);
    assert_eq!(cup["average"]["missing"], "the colours of the shotguns (shotguns green ...)");
    let known = document(&format!("zombie-dice-solo brains 2 shotguns r feet green cup 4 3 2 {back}"));
    assert_eq!(known["exact"], true);
}

#[test]
fn brain_dice_that_went_back_are_counted() {
    let rules = SoloRules { out_of_dice: OutOfDice::RecycleBrains, ..SoloRules::default() };
    let solution = zombie_dice::Solo::solve(&rules, 1).unwrap();
    let line = "zombie-dice-solo --set out_of_dice=recycle_brains brains";
    for (words, cup, feet, shots, brains) in [
        ("11 shotguns yellow feet red cup 6 3 2", dice(6, 3, 2), dice(0, 0, 1), dice(0, 1, 0), 11),
        ("14 shotguns none cup 5 3 2", dice(5, 3, 2), dice(0, 0, 0), dice(0, 0, 0), 14),
        ("14 brain-dice green yellow red", dice(5, 3, 2), dice(0, 0, 0), dice(0, 0, 0), 14),
        ("12 shotguns red green cup 4 4 2 brain-dice green", dice(4, 4, 2), dice(0, 0, 0), dice(1, 0, 1), 12),
        ("22 shotguns 1 cup 6 4 2", dice(6, 4, 2), dice(0, 0, 0), dice(0, 0, 1), 22),
    ] {
        let answer = document(&format!("{line} {words}"));
        let spot = solution.graph().spot(&Position { cup, feet, shots, brains }).unwrap();
        let prices = solution.prices();
        assert_near(value(&answer, "go"), prices.go(spot));
        assert_near(value(&answer, "stop"), brains.into());
        assert_eq!(answer["exact"], true);
    }
    assert!(
        output(&format!("{line} 14 brain-dice green yellow red"))
            .contains("14 brains (11 went back, still set aside: green yellow red)")
    );
}

#[test]
fn words_come_in_any_order_and_short() {
    let first = document("zombie-dice-race score 7 9 brains 3 shotguns 2 feet green yellow cup 3 2 1");
    for line in [
        "cup 3 2 1 feet yellow green shotguns 2 brains 3 score 7 9",
        "scores=7,9 brains=3 shotguns=2 footsteps=green,yellow cup=3,2,1",
        "score 7-9 BRAINS 3 Shotguns 2 Feet EASY Medium cup 3,2,1",
        "sc 7-9 b 3 sh 2 f g y c 3 2 1",
        "score: 7, 9; brains: 3; shotguns: 2; feet: gre yel; cup: 3 2 1",
    ] {
        assert_eq!(document(&format!("zombie-dice-race {line}")), first, "{line}");
    }
    let solo = document("zombie-dice-solo brains 2 green red shotguns 1 hard feet 1 easy");
    assert_eq!(solo, document("zombie-dice-solo f=g b=r,g sh=r"));
    let tokyo = document("tokyo health 6 4 points 12 15 in dice 1 1 2 3 heal attack rerolls 2");
    for line in [
        "dice 1123ha in points 12 15 health 6 4",
        "r=2 i p=12-15 health=6-4 d=1,1,2,3,h,a",
        "inside dice one 1 two 3 heal att points 12 15 health 6 4 rerolls 2",
    ] {
        assert_eq!(document(&format!("tokyo {line}")), tokyo, "{line}");
    }
}

// ---- Tokyo ----

#[test]
fn every_keep_of_tokyo_is_priced_as_it_is_solved() {
    let solution = Tokyo::solve(&TokyoRules::default(), 2).unwrap();
    let dice: Dice = [Face::One, Face::One, Face::Two, Face::Three, Face::Heal, Face::Attack];
    let start = |place, points| Start { place, health: 6, other_health: 4, points, other_points: 15 };
    for (words, start, rerolls) in [
        // In Tokyo two of the points came with this turn.
        ("health 6 4 points 12 15 in rerolls 2", start(Place::Inside, 10), 2),
        ("health 6 4 points 12 15 out rerolls 1", start(Place::Outside, 12), 1),
        ("", Start::MATCH, 2),
    ] {
        let rolls = solution.rolls(&start);
        let answer = document(format!("tokyo dice 1 1 2 3 heal attack {words}").trim_end());
        let values = answer["values"].as_array().unwrap();
        assert_eq!(values.len(), 3 * 16, "of two equal dice one, both or none, of the others each or not");
        for pair in values.windows(2) {
            assert!(pair[0]["value"].as_f64().unwrap() >= pair[1]["value"].as_f64().unwrap() - 1e-12);
        }
        for value in values {
            let kept: [bool; 6] = serde_json::from_value(value["action"]["dice"].clone()).unwrap();
            assert_near(value["value"].as_f64().unwrap(), rolls.keep(&dice, kept, rerolls));
        }
        assert_near(values[0]["value"].as_f64().unwrap(), rolls.rolled(&dice, rerolls));
        assert_eq!(answer["best"], values[0]["action"]);
        assert_eq!(answer["exact"], true);
    }
    insta::assert_snapshot!(output("tokyo health 6 4 points 12 15 in dice 1 1 2 3 heal attack rerolls 2"));
}

#[test]
fn a_monster_that_was_hit_is_told_whether_to_stay() {
    let solution = Tokyo::solve(&TokyoRules::default(), 2).unwrap();
    // My own turn comes next, in Tokyo or not; who took it from me has a point more.
    let chance = |place, other_health, other_points| {
        solution.value(&Start { place, health: 3, other_health, points: 10, other_points })
    };
    let line = "tokyo health 3 8 points 10 12 hit";
    for (words, health) in [("", 8), (" heals 1", 9), (" heals 5", 10)] {
        let answer = document(&format!("{line}{words}"));
        let (stay, leave) = (chance(Place::Inside, health, 12), chance(Place::Outside, health, 13));
        assert_near(value(&answer, "stay"), stay);
        assert_near(value(&answer, "yield"), leave);
        assert_eq!(answer["best"]["type"], if leave > stay { "yield" } else { "stay" });
        assert_near(answer["cost_of_second"].as_f64().unwrap(), (stay - leave).abs());
    }
    // Who takes Tokyo at 19 points has won.
    assert_near(value(&document("tokyo health 3 8 points 10 19 hit"), "yield"), 0.0);
    insta::assert_snapshot!(output(line));
}

#[test]
fn the_advice_on_dice_is_a_sentence() {
    let advice = |line: &str| output(&format!("tokyo {line}")).lines().next().unwrap().to_owned();
    assert_eq!(advice("health 9 1 points 5 5 out dice a a a a a a"), "Keep all six dice.");
    assert_eq!(advice("health 9 1 points 5 5 in dice 1 1 2 2 h h rerolls 1"), "Reroll all six dice.");
    assert!(advice("dice 3 3 3 3 3 1").starts_with("Keep 3 3 3 3 3, reroll one."));
}

// ---- mistakes ----

#[test]
fn impossible_zombie_dice_are_refused_with_a_hint() {
    let solo = |words: &str| refusal(&format!("zombie-dice-solo {words}"));
    let back = |words: &str| refusal(&format!("zombie-dice-solo --set out_of_dice=recycle_brains {words}"));
    let race = |words: &str| refusal(&format!("zombie-dice-race {words}"));
    let table = |words: &str| refusal(&format!("zombie-dice {words}"));
    insta::assert_snapshot!(
        [
            solo("brans 3"),
            solo("brains 3 foets green"),
            solo("xyzzy"),
            solo("5"),
            solo("s 1"),
            race("s 1"),
            solo("brains 3 brains 4"),
            solo("brains"),
            solo("brains many"),
            solo("brains -3"),
            solo("brains 99999999999999999999"),
            solo("brains 3 green"),
            solo("brains 1 shotguns 3 feet green"),
            solo("brains 1 feet 2"),
            solo("brains 1 feet green green green green"),
            solo("brains red red red red"),
            solo("brains red red shotguns red feet red"),
            solo("brains 12 shotguns 2"),
            solo("brains 10 shotguns 1 feet g g g"),
            solo("brains 10 shotguns 1 feet g g"),
            solo("brains 11 shotguns 1"),
            solo("brains 11 feet green"),
            solo("brains 2"),
            solo("brains 3 cup 1 2"),
            solo("brains 3 cup 1 2 3 4"),
            solo("brains 3 cup"),
            solo("brains 3 cup 7 2 1"),
            solo("brains 3 cup 3 2 1"),
            solo("brains 5 brain-dice green"),
            solo("brains 3 brain-dice green green green green"),
            solo("brains green red yellow brain-dice green green green"),
            solo("brains 3 score 1 2"),
            back("brains 11 shotguns 1"),
            back("brains 10 shotguns 1 cup 0 1 1"),
            back("brains 15 cup 6 4 3"),
            back("brains 11 shotguns 2 cup 4 2 2"),
            back("brains 12 brain-dice green green shotguns 1"),
            back("brains 11 brain-dice green shotguns 1"),
            back("brains g g g g g g y y y y r r cup 6 4 3"),
            race("score 7 9 brains 3 shotguns 2 feet green green cup 3 2 2"),
            race("score 13 2"),
            race("score 2 99"),
            race("score 7"),
            race("score"),
            race("score 1 2 3"),
            race("score 1 1000"),
            race("score 1 2 seat first"),
            race("--set max_rounds=20"),
            table("score 3 4 5"),
            table("score 3 4"),
            table("score 3 4 seat third"),
            table("score 13 4 seat second"),
            table("score 4 13 seat first"),
            table("score 4 4 seat first tiebreak"),
            table("score 14 15 seat first tiebreak"),
            table("score 15 14 seat second tiebreak"),
            table("score 12 112 --set out_of_dice=recycle_brains"),
            refusal("infection health 3"),
            refusal("last-bullet"),
            refusal("zombi-dice brains 3"),
            solo("--set out_of_dic=end_turn"),
        ]
        .join("\n")
    );
}

#[test]
fn impossible_monsters_are_refused_with_a_hint() {
    let tokyo = |words: &str| refusal(&format!("tokyo {words}"));
    let dice = "dice 1 1 2 3 heal attack";
    insta::assert_snapshot!(
        [
            tokyo("helth 3 4"),
            tokyo("h 3 4"),
            tokyo("dice 1 1 2 3 heal"),
            tokyo("dice 1 1 2 3 heal attack 1"),
            tokyo("dice 1 1 2 4 heal attack"),
            tokyo("in points 5 5"),
            tokyo(&format!("health 0 4 points 5 5 in {dice}")),
            tokyo(&format!("health 4 0 points 5 5 in {dice}")),
            tokyo(&format!("health 4 11 points 5 5 in {dice}")),
            tokyo(&format!("health -4 1 points 5 5 in {dice}")),
            tokyo(&format!("health 4 points 5 5 in {dice}")),
            tokyo(&format!("health 4 5 6 points 5 5 in {dice}")),
            tokyo(&format!("health points 5 5 in {dice}")),
            tokyo(&format!("points 20 5 in {dice}")),
            tokyo(&format!("points 5 21 in {dice}")),
            tokyo(&format!("points 1 5 in {dice}")),
            tokyo(&format!("points 1 0 out {dice}")),
            tokyo(&format!("points 5 5 {dice}")),
            tokyo(&format!("points 5 5 empty {dice}")),
            tokyo(&format!("points 5 5 in out {dice}")),
            tokyo(&format!("points 5 5 in in {dice}")),
            tokyo(&format!("points 5 5 in {dice} rerolls 0")),
            tokyo(&format!("points 5 5 in {dice} rerolls 3")),
            tokyo(&format!("points 5 5 in {dice} rerolls")),
            tokyo(&format!("points 5 5 in {dice} heals 1")),
            tokyo("points 5 5 hit"),
            tokyo("health 3 5 points 0 5 hit"),
            tokyo("health 3 5 points 5 5 hit out"),
            tokyo("health 3 5 points 5 5 hit heals 6"),
            tokyo(&format!("health 3 5 points 5 5 hit {dice}")),
            tokyo(&format!("{dice} --set max_turns=50")),
        ]
        .join("\n")
    );
}

#[test]
fn any_words_are_understood_or_refused() {
    let dice = "brains shotguns feet cup brain-dice score seat tiebreak first second green y red none 0 1 2 3 4 5 7-9 \
                13 -1 99 4294967296 = , x --json brain b 2 3 1 green yellow g";
    let tokyo = "health points in out empty dice rerolls hit heals 1 1 2 3 h a heal attack 112hha 6 4 10 0 -2 20 \
                 99999999999999999999999 heals é --json 5-7";
    let likely = ["brains 3 shotguns 1", "feet green", "score 5 7", "seat second", "brains 9", "cup 3 3 2"];
    let monsters = ["health 5 6", "points 7 8", "in", "dice 1 2 3 h a a", "hit", "rerolls 1"];
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let mut codes = [0; 3];
    for round in 0..240 {
        let game = ["zombie-dice-solo", "zombie-dice-race", "zombie-dice", "tokyo"][round % 4];
        let (words, phrases) = if game == "tokyo" { (tokyo, monsters) } else { (dice, likely) };
        let words: Vec<&str> = words.split_whitespace().collect();
        let mut line = game.to_owned();
        for _ in 0..random(5) {
            let word = match random(3) {
                0 => words[random(words.len())],
                _ => phrases[random(phrases.len())],
            };
            line += &format!(" {word}");
        }
        if game != "tokyo" && random(3) == 0 {
            line += " --set out_of_dice=recycle_brains";
        }
        let result = advise(&line).output().unwrap();
        let code = result.status.code().unwrap_or(-1);
        assert!(code == 0 || code == 2, "{line}: {code} {}", String::from_utf8_lossy(&result.stderr));
        assert_ne!(code == 0, result.stdout.is_empty(), "{line}");
        codes[code as usize] += 1;
    }
    assert!(codes[0] > 10 && codes[2] > 10, "{codes:?}");
}

// ---- around it ----

#[test]
fn the_help_has_examples_that_work() {
    let help = output("--help");
    let examples: Vec<&str> =
        help.lines().filter_map(|line| line.strip_prefix("  necrodome advise ")).collect();
    assert_eq!(examples.len(), 5, "{help}");
    for example in examples {
        output(example);
    }
}

#[test]
fn colours_come_only_where_they_are_wanted() {
    assert!(!output("zombie-dice-solo").contains('\u{1b}'));
    let forced = advise("zombie-dice-solo").env("CLICOLOR_FORCE", "1").assert().success();
    assert!(forced.get_output().stdout.contains(&0x1b));
}

/// The advice is what the perfect player does, wherever a turn comes.
#[test]
fn the_perfect_player_agrees() {
    let solution = zombie_dice::Race::solve(&RaceRules::default(), 2).unwrap();
    for seed in 0..6 {
        let mut turn = Turn::START;
        let mut chance = necrodome_rules::chance::Seeded::new(seed, "advise", 0);
        while turn.roll(OutOfDice::EndTurn, &mut chance) == Rolled::GoOn {
            let (feet, shots, cup) = (turn.footsteps(), turn.shotgun_dice(), turn.cup());
            let names = |counts: Counts| {
                let letters = ["g", "y", "r"].into_iter().zip(counts.weights());
                let letters = letters.flat_map(|(letter, n)| std::iter::repeat_n(letter, n as usize));
                letters.collect::<Vec<_>>().join(" ")
            };
            let pile = |key: &str, counts: Counts| match counts.total() {
                0 => String::new(),
                _ => format!(" {key} {}", names(counts)),
            };
            let cup = format!("cup {} {} {}", cup.green, cup.yellow, cup.red);
            let piles = pile("feet", feet) + &pile("shotguns", shots);
            let answer =
                document(&format!("zombie-dice-race score 4 6 {cup} brains {}{piles}", turn.brains()));
            let prices = TurnSolution::turn(&*solution, Seat(0), [4, 6], false);
            let rolls = prices.rolls(solution.graph().spot(&Position::from(&turn)).unwrap());
            assert_eq!(answer["best"]["type"], if rolls { "go" } else { "stop" });
            assert_eq!(answer["exact"], true);
        }
    }
}
