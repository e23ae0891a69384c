//! Budgets in money and tokens, of one model and of all.

use super::{Set, desk, question};
use necrodome_models::{
    AskError, Budget, Money,
    testing::{Act, Answer, Server},
};
use serde_json::json;
use std::{sync::Barrier, thread};

/// A call takes 100 tokens of input and 10 of output: 0.0002 and 0.0001. It may take 1000 of output, and 1024
/// of input and one for each byte: 0.0124 or so.
const TABLE: &str = "input_price = 2\noutput_price = 10\nparameters = { max_tokens = 1000 }";

fn money(text: &str) -> Budget {
    Budget { money: Some(text.parse().unwrap()), tokens: None }
}

fn tokens(tokens: u64) -> Budget {
    Budget { money: None, tokens: Some(tokens) }
}

/// How many questions are answered before the budget is spent, and the error after them.
fn spend(lines: &str, budget: Budget) -> (u64, String) {
    let server = Server::scripted([Act::say("Hello")]);
    let (desk, model) = desk(&server, &format!("{TABLE}\n{lines}"), Set { budget, ..Set::default() });
    for number in 0.. {
        match desk.ask(&model, &question(&number.to_string())) {
            Ok(_) => {}
            Err(AskError::Budget { why, .. }) => {
                // What is in the book costs nothing.
                assert_eq!(desk.ask(&model, &question("0")).is_ok(), number > 0);
                assert_eq!(server.asked().len() as u64, number);
                return (number, why);
            }
            Err(other) => panic!("{other}"),
        }
    }
    unreachable!("numbers do not end")
}

#[test]
fn a_budget_covers_the_worst_case_of_the_next_call() {
    // 0.0003 each, and at least 0.012 must be left: from the 27th on there is less.
    let (calls, why) = spend("", money("0.02"));
    assert!((23..=26).contains(&calls), "{calls} calls");
    assert!(why.starts_with("the budget of all models (0.02) does not cover the next call: 0.00"), "{why}");
    assert_eq!(spend("budget = 0.02", Budget::default()).0, calls);
    assert!(spend("budget = 0.02", money("1")).1.starts_with("the budget of m (0.02) does not cover"));
    let (calls, why) = spend("", tokens(3000));
    assert!((5..=8).contains(&calls), "{calls} calls");
    assert!(why.contains("(3000 tokens)") && why.contains(&format!("{} is spent", calls * 110)), "{why}");
    assert_eq!(spend("budget_tokens = 3000", Budget::default()).0, calls);
    assert_eq!(spend("", money("0.01")).0, 0, "nothing is called if even one call may be too dear");
    for (budget, least) in [(money("0.01"), "0.01"), (tokens(100), " tokens")] {
        let server = Server::scripted([Act::say("Hello")]);
        let (desk, model) = desk(&server, TABLE, Set { budget, ..Set::default() });
        // The dearest question counts, whichever was asked first.
        let hints = ["?", "a longer question", "??"].map(|text| {
            let Err(AskError::Budget { raise: Some(raise), .. }) = desk.ask(&model, &question(text)) else {
                panic!("a hint")
            };
            raise.to_string()
        });
        assert!(
            hints[1].starts_with("raise the budget of all models to at least ")
                && hints[1].contains(least)
                && hints[1].ends_with(" for one call"),
            "{hints:?}"
        );
        let [AskError::Budget { raise: Some(raise), .. }] = &desk.obstacles()[..] else { panic!("one hint") };
        assert_eq!(raise.to_string(), hints[1], "{hints:?}");
    }
}

#[test]
fn the_worst_case_must_be_known() {
    let server = Server::scripted([Act::say("Hello")]);
    let refusal = |lines: &str, budget| {
        let set = Set { budget, ..Set::default() };
        set.desk(&server.table("m", lines)).model("m").unwrap_err()
    };
    let limited = "parameters = { max_completion_tokens = 9 }";
    let why = "a budget in money needs input_price and output_price in [models.m]";
    assert_eq!(refusal(limited, money("1")).why, why);
    assert_eq!(refusal(&format!("{limited}\nbudget = 1\ninput_price = 1"), Budget::default()).why, why);
    let why = "a budget needs the most tokens of an answer in [models.m.parameters]";
    assert_eq!(refusal("input_price = 0\noutput_price = 0", money("1")).why, why);
    assert_eq!(refusal("", tokens(1)).why, why);
    let unknown = Set::default().desk(&server.table("mini", "")).model("mimi").unwrap_err();
    assert_eq!(unknown.why, "there is no table [models.mimi]");
    assert_eq!(unknown.hint.as_deref(), Some("did you mean mini?"));
}

#[test]
fn calls_at_once_cannot_overdraw_together() {
    let server = Server::scripted([Act::say("Hello")]);
    // Enough for the worst case of one call at a time only, and for some calls that take less.
    let set = Set { budget: money("0.0145"), ..Set::default() };
    let (desk, model) = desk(&server, TABLE, set);
    let together = Barrier::new(16);
    let answered = thread::scope(|scope| {
        let ask = |number: usize| {
            together.wait();
            desk.ask(&model, &question(&number.to_string())).is_ok()
        };
        let threads: Vec<_> = (0..16).map(|number| scope.spawn(move || ask(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).filter(|&ok| ok).count()
    });
    let spent = desk.spent()["m"].made;
    assert!((5..=8).contains(&answered), "{answered} answers, one after the other");
    assert_eq!((spent.calls, spent.cost), (answered as u64, Money { nanos: 300_000 * answered as u64 }));
}

#[test]
fn what_the_endpoint_says_to_have_taken_counts_up_to_the_most() {
    let counted = |output: u64| {
        let usage = json!({"prompt_tokens": 100, "completion_tokens": output});
        Act::Answer(Answer { usage, ..Answer::default() })
    };
    let server = Server::scripted([counted(1000), counted(9_999_999)]);
    let (desk, model) = desk(&server, TABLE, Set { budget: money("0.025"), ..Set::default() });
    assert_eq!(desk.ask(&model, &question("a")).unwrap().cost, "0.0102".parse().ok());
    assert!(desk.take_notes().is_empty());
    // No answer can have more than 1000: a wrong count cannot overdraw the budget.
    assert_eq!(desk.ask(&model, &question("b")).unwrap().cost, "0.0102".parse().ok());
    assert!(desk.take_notes()[0].contains("does not count tokens, or not well"));
    assert!(matches!(desk.ask(&model, &question("c")), Err(AskError::Budget { .. })));
    assert_eq!(desk.spent()["m"].made.cost, "0.0204".parse().unwrap());
}

#[test]
fn a_false_count_of_input_cannot_overdraw_a_budget() {
    // The largest count that is believed, all of it cached, and cached input is the dearest.
    let server = Server::minded(|asked| {
        let input = asked.text.len() + 1024;
        let usage =
            json!({"prompt_tokens": input, "prompt_cache_hit_tokens": input, "completion_tokens": 1000});
        Act::Answer(Answer { usage, ..Answer::default() })
    });
    let lines = format!("cached_price = 7\n{TABLE}");
    let budget = money("0.1");
    let (desk, model) = desk(&server, &lines, Set { budget, ..Set::default() });
    let asked = (0..).find(|number: &u32| desk.ask(&model, &question(&number.to_string())).is_err()).unwrap();
    let spent = desk.spent()["m"].made;
    assert!(asked > 3 && Some(spent.cost) <= budget.money, "{spent:?}");
    assert!(desk.take_notes().is_empty(), "all of it was believed");
    let more = Server::minded(|asked| {
        let usage = json!({"prompt_tokens": asked.text.len() + 1025, "completion_tokens": 10});
        Act::Answer(Answer { usage, ..Answer::default() })
    });
    let (desk, model) = super::desk(&more, TABLE, Set::default());
    let reply = desk.ask(&model, &question("?")).unwrap();
    assert!(reply.tokens.estimated && reply.tokens.input < 1024, "{reply:?}");
}

#[test]
fn of_two_limits_the_larger_may_be_the_one_that_holds() {
    let both =
        "input_price = 2\noutput_price = 10\nparameters = { max_tokens = 1000, max_completion_tokens = 9 }";
    let server = Server::scripted([Act::say("Hello")]);
    let (desk, model) = desk(&server, both, Set { budget: money("0.01"), ..Set::default() });
    assert_eq!(model.most_output(), Some(1000));
    assert!(matches!(desk.ask(&model, &question("a")), Err(AskError::Budget { .. })));
}

#[test]
fn a_refusal_that_may_be_charged_counts_at_its_most() {
    let used = r#"{"error": {"message": "no"}, "usage": {"prompt_tokens": 900000, "completion_tokens": 9}}"#;
    let status = |status, body: &str| Act::Status(status, Vec::new(), body.into());
    for (act, lost) in [
        (status(408, ""), true),
        (status(500, ""), true),
        (status(502, ""), true),
        (status(504, "late"), true),
        (status(524, ""), true),
        (status(503, used), true),
        (status(400, used), true),
        (status(429, ""), false),
        (status(503, "{}"), false),
        (status(400, "no"), false),
    ] {
        let server = Server::scripted([act.clone(), Act::say("Hello")]);
        let (desk, model) = desk(&server, TABLE, Set { budget: money("1"), ..Set::default() });
        let _ = desk.ask(&model, &question("a"));
        assert_eq!(desk.spent()["m"].lost.calls, u64::from(lost), "{act:?}");
    }
}

#[test]
fn a_lost_answer_counts_at_its_most() {
    let server = Server::scripted([Act::Cut(Answer::default())]);
    let (desk, model) = desk(&server, TABLE, Set { budget: money("0.03"), ..Set::default() });
    assert!(matches!(desk.ask(&model, &question("a")), Err(AskError::Budget { .. })));
    let spent = desk.spent()["m"];
    assert_eq!((spent.made.calls, spent.lost.calls), (0, 2), "a third try may be one too many");
    assert!(spent.lost.cost > "0.02".parse().unwrap());
}
