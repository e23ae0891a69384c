//! Calls to well-behaved and misbehaving endpoints.

use super::{Set, desk, question};
use necrodome_models::{
    AskError, Finish, Patience, Tokens,
    testing::{Act, Answer, Server},
};
use serde_json::json;
use std::{
    net::TcpListener,
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

fn endpoint_error(outcome: Result<necrodome_models::Reply, AskError>) -> String {
    match outcome {
        Err(AskError::Endpoint(why) | AskError::Stuck { why, .. }) => why,
        other => panic!("expected trouble with the endpoint, got {other:?}"),
    }
}

#[test]
fn passing_trouble_is_tried_again() {
    let cut = |chunked| Act::Cut(Answer { text: "Hello".into(), chunked, ..Answer::default() });
    let words = Act::Status(200, Vec::new(), "busy".into());
    let nothing = Act::Status(200, Vec::new(), "{\"choices\": []}".into());
    let inside = Act::Status(200, Vec::new(), json!({"error": {"message": "upstream"}}).to_string());
    let good = |body: serde_json::Value| Act::Status(200, Vec::new(), body.to_string());
    let said = json!({"role": "assistant", "content": "Hel"});
    let beside = good(json!({"error": {"message": "upstream"}, "choices": [{"message": said}]}));
    let in_choice =
        good(json!({"choices": [{"message": said, "error": {"code": 502, "message": "upstream"}}]}));
    let finished = good(json!({"choices": [{"message": said, "finish_reason": "error"}]}));
    let filter = json!({"error": {"code": "content_filter", "message": "the filter is down"}});
    let past = "Sun, 06 Nov 1994 08:49:37 GMT";
    for (trouble, may_have_cost) in [
        (Act::too_many("0"), 0),
        (Act::too_many(past), 0),
        (Act::error(500, "oh no"), 1),
        (Act::error(503, "busy"), 0),
        (cut(false), 1),
        (cut(true), 1),
        (words, 1),
        (nothing, 1),
        (inside, 1),
        (beside, 1),
        (in_choice, 1),
        (finished, 1),
        (good(json!({"choices": [null]})), 1),
        (good(json!({"choices": [{"message": null, "finish_reason": "stop"}]})), 1),
        (good(json!({"choices": [{"message": "Hello", "finish_reason": "stop"}]})), 1),
        (Act::Status(503, Vec::new(), filter.to_string()), 0),
    ] {
        let server = Server::scripted([trouble.clone(), trouble.clone(), Act::say("Hello")]);
        let (desk, model) = desk(&server, "", Set::default());
        let reply = desk.ask(&model, &question("?")).unwrap_or_else(|error| panic!("{trouble:?}: {error}"));
        assert_eq!((reply.text.as_str(), reply.attempt), ("Hello", 3), "{trouble:?}");
        let spent = desk.spent()["m"];
        assert_eq!((spent.made.calls, spent.lost.calls), (1, 2 * may_have_cost), "{trouble:?}");
    }
}

#[test]
fn lasting_trouble_is_told_at_once() {
    let redirect = Act::Status(307, vec![("location", "http://elsewhere.test/v1".into())], String::new());
    for (trouble, says, mends) in [
        (
            Act::error(400, "bad\u{1b}[31m \u{202e}parameter"),
            "failed: status 400: \"bad\\u{1b}[31m \\u{202e}parameter\"",
            "check the parameters in [models.m] in models.toml",
        ),
        (
            Act::error(401, "who?"),
            "failed: status 401: the endpoint wants a key (key_env): \"who?\"",
            "name the variable that holds the key: key_env in [models.m] in models.toml",
        ),
        (
            Act::error(402, "no credits"),
            "failed: status 402: the endpoint wants money: \"no credits\"",
            "top up the account of the key (key_env of [models.m] in models.toml names its variable)",
        ),
        (
            Act::Status(404, Vec::new(), "x".repeat(5000)),
            "x...\"",
            "check model and base_url in [models.m] in models.toml",
        ),
        (
            Act::Status(200, Vec::new(), "\n<!doctype html><title>Welcome</title>".into()),
            "failed: the answer is a web page",
            "correct base_url in [models.m] in models.toml: a web page is there",
        ),
        (
            redirect,
            "failed: status 307: the endpoint sends us to \"http://elsewhere.test/v1\", where we do not go (base_url)",
            "set base_url in [models.m] in models.toml to the address that answers",
        ),
    ] {
        let server = Server::scripted([trouble]);
        let (desk, model) = desk(&server, "", Set::default());
        let why = endpoint_error(desk.ask(&model, &question("?")));
        assert!(
            why.starts_with(&format!("m at {} failed", server.base_url())) && why.ends_with(says),
            "{why}"
        );
        assert!(why.len() < 500);
        assert_eq!(server.asked().len(), 1);
        // It would come again, so the desk says what to change.
        assert_eq!(desk.obstacles(), [AskError::Stuck { why, hint: Some(mends.into()) }]);
    }
}

#[test]
fn a_redirect_is_not_followed() {
    let thief = Server::scripted([Act::say("give me the key")]);
    let to = vec![("location", format!("{}/chat/completions", thief.base_url()))];
    let server = Server::scripted([Act::Status(308, to, String::new())]);
    let (desk, model) = desk(&server, "", Set::default());
    assert!(endpoint_error(desk.ask(&model, &question("?"))).contains("where we do not go"));
    assert!(thief.asked().is_empty());
}

#[test]
fn a_proxy_is_not_for_this_machine() {
    // Nobody listens at the port of the proxy.
    let variables = ["ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY"].map(|name| (name, "http://127.0.0.1:9"));
    super::in_process("calls::a_proxy_is_not_for_this_machine", &variables, || {
        let server = Server::scripted([Act::say("Hello")]);
        let (desk, model) = desk(&server, "", Set::default());
        assert_eq!(desk.ask(&model, &question("?")).unwrap().text, "Hello");
        let far = "[models.far]\nbase_url = \"http://models.test/v1\"\nmodel = \"x\"";
        let patience = Patience { tries: 1, ..Patience::default() };
        let desk = Set { patience, ..Set::default() }.desk(far);
        let why = endpoint_error(desk.ask(&desk.model("far").unwrap(), &question("?")));
        assert!(why.ends_with("failed: nobody listens there"), "the proxy is asked for others: {why}");
    });
}

#[test]
fn tries_end() {
    let server = Server::scripted([Act::error(500, "oh no")]);
    let (desk, model) = desk(&server, "", Set::default());
    let why = endpoint_error(desk.ask(&model, &question("?")));
    assert!(why.ends_with("failed, 6 times: status 500: \"oh no\""), "{why}");
    assert!(desk.obstacles().is_empty(), "it may pass");
    assert_eq!(server.asked().len(), 6);
    let patient = Server::scripted([Act::too_many("86400"), Act::too_many("18446744073709549568")]);
    let (desk, model) = super::desk(&patient, "", Set::default());
    let why = endpoint_error(desk.ask(&model, &question("?")));
    assert!(why.ends_with("failed: status 429: \"slow down\" (it asks to wait 86400 s)"), "{why}");
    assert_eq!(patient.asked().len(), 1);
    assert!(endpoint_error(desk.ask(&model, &question("?"))).contains("it asks to wait 18446744"));
}

#[test]
fn an_endpoint_where_nobody_listens_is_told_at_the_first_try() {
    static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());
    // A port that was free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let desk = Set::default()
        .desk(&format!("[models.down]\nbase_url = \"http://127.0.0.1:{port}/v1\"\nmodel = \"x\""));
    desk.tell_at_once(|note| TOLD.lock().unwrap().push(note.to_owned()));
    for text in ["a", "b"] {
        let why = endpoint_error(desk.ask(&desk.model("down").unwrap(), &question(text)));
        assert!(why.ends_with("failed, 6 times: nobody listens there"), "{why}");
    }
    let told =
        format!("down at http://127.0.0.1:{port}/v1 failed: nobody listens there; trying again (try 2 of 6)");
    assert_eq!(*TOLD.lock().unwrap(), [told], "once");
    let AskError::Stuck { hint, .. } = &desk.obstacles()[0] else { panic!("{:?}", desk.obstacles()) };
    assert_eq!(
        hint.as_deref(),
        Some("start the server, or correct base_url in [models.down] in models.toml")
    );
}

#[test]
fn nobody_waits_for_ever() {
    let once = || Set { patience: Patience { tries: 1, ..Patience::default() }, ..Set::default() };
    let server = Server::scripted([Act::Silence]);
    let (desk, model) = desk(&server, "timeout_s = 1", once());
    let why = endpoint_error(desk.ask(&model, &question("?")));
    assert!(why.ends_with("failed: no answer within 1 s (timeout_s)"), "{why}");
    assert_eq!(desk.spent()["m"].lost.calls, 1, "the endpoint may have answered, and wants to be paid");

    let endless = Server::scripted([Act::Endless]);
    let (desk, model) = super::desk(&endless, "timeout_s = 60", once());
    let why = endpoint_error(desk.ask(&model, &question("?")));
    assert!(why.ends_with("failed: the answer is longer than 2 MB"), "{why}");

    let gone = Server::scripted([Act::Silence]);
    let table = gone.table("m", "");
    drop(gone);
    let desk = once().desk(&table);
    let why = endpoint_error(desk.ask(&desk.model("m").unwrap(), &question("?")));
    assert!(why.ends_with("failed: nobody listens there"), "{why}");
    assert_eq!(desk.spent()["m"].lost.calls, 0);
}

#[test]
fn a_late_answer_is_an_answer_as_long_as_there_is_time() {
    let late = |pause| Act::Late(pause, Answer { text: "Hello".into(), ..Answer::default() });
    const PAUSE: Duration = Duration::from_millis(1200);
    let server = Server::scripted([late(PAUSE)]);
    let (desk, model) = desk(&server, "timeout_s = 600", Set::default());
    let reply = desk.ask(&model, &question("?")).unwrap();
    assert_eq!((reply.text.as_str(), reply.attempt, server.asked().len()), ("Hello", 1, 1));
    assert!(reply.latency >= PAUSE, "{:?}", reply.latency);
    // Later than the table allows, it is lost, and the next try finds it in time.
    let slow = Server::scripted([late(Duration::from_secs(600)), Act::say("Hello")]);
    let (desk, model) = super::desk(&slow, "timeout_s = 1", Set::default());
    let reply = desk.ask(&model, &question("?")).unwrap();
    assert_eq!((reply.text.as_str(), reply.attempt), ("Hello", 2));
    assert_eq!(desk.spent()["m"].lost.calls, 1, "the endpoint may want to be paid for it");
}

#[test]
fn what_the_model_does_is_a_reply() {
    let usual = Answer::default;
    let refused = Answer { refusal: Some("I can't help with zombies".into()), ..usual() };
    let truncated = Answer { text: "{\"reason\": \"Once".into(), finish: "length".into(), ..usual() };
    let filtered = Answer { finish: "content_filter".into(), ..usual() };
    let thinking = Answer { text: "7".into(), reasoning: Some("3 + 4".into()), chunked: true, ..usual() };
    let azure = json!({"error": {"code": "content_filter", "message": "The prompt was filtered"}});
    let server = Server::scripted([
        Act::Answer(usual()),
        Act::Answer(refused),
        Act::Answer(truncated),
        Act::Answer(filtered),
        Act::Answer(thinking),
        Act::Status(400, Vec::new(), azure.to_string()),
    ]);
    let (desk, model) = desk(&server, "", Set::default());
    let replies: Vec<_> = (0..6).map(|n| desk.ask(&model, &question(&n.to_string())).unwrap()).collect();
    let said: Vec<_> =
        replies.iter().map(|reply| (reply.text.as_str(), reply.finish, reply.refusal.as_deref())).collect();
    assert_eq!(
        said,
        [
            ("", Finish::Stop, None),
            ("", Finish::Stop, Some("I can't help with zombies")),
            ("{\"reason\": \"Once", Finish::Length, None),
            ("", Finish::Filter, None),
            ("7", Finish::Stop, None),
            ("", Finish::Filter, Some("The prompt was filtered")),
        ]
    );
    assert_eq!(replies[4].reasoning.as_deref(), Some("3 + 4"));
    let again: Vec<_> = (0..6).map(|n| desk.ask(&model, &question(&n.to_string())).unwrap()).collect();
    let reused = |reply: &necrodome_models::Reply| necrodome_models::Reply { reused: true, ..reply.clone() };
    assert_eq!(again, replies.iter().map(reused).collect::<Vec<_>>(), "the book gives back all of it");
    assert_eq!(server.asked().len(), 6);
}

#[test]
fn wrong_counts_are_estimated_and_told_once() {
    let lying = Answer {
        text: "Hello".into(),
        usage: json!({"prompt_tokens": 0, "completion_tokens": -5}),
        ..Answer::default()
    };
    let server = Server::scripted([Act::Answer(lying)]);
    let (desk, model) = desk(&server, "", Set::default());
    for text in ["a", "b"] {
        let tokens = desk.ask(&model, &question(text)).unwrap().tokens;
        let sent = server.asked()[0].text.len() as u64;
        assert_eq!(
            tokens,
            Tokens { input: sent.div_ceil(2), output: 3, estimated: true, ..Tokens::default() }
        );
    }
    assert_eq!(desk.take_notes(), ["m: the endpoint does not count tokens, or not well; they are estimated"]);
    assert!(desk.take_notes().is_empty());
}

#[test]
fn another_model_string_is_told_once() {
    let answer = |model: &str| Act::Answer(Answer { model: model.into(), ..Answer::default() });
    let server = Server::scripted([answer("tiny-1"), answer("tiny-2"), answer("tiny-2")]);
    let (desk, model) = desk(&server, "", Set::default());
    let models: Vec<_> =
        ["a", "b", "c"].iter().map(|text| desk.ask(&model, &question(text)).unwrap().model).collect();
    assert_eq!(models, ["tiny-1", "tiny-2", "tiny-2"]);
    let notes = desk.take_notes();
    let told = "m: the endpoint now answers as \"tiny-2\", and has answered as \"tiny-1\" before; answers in the book stay as they are";
    assert_eq!(notes, [told]);
}

#[test]
fn an_endpoint_cannot_flood_the_notes() {
    let number = AtomicUsize::new(0);
    let server = Server::minded(move |_| {
        let model = format!("{}{}", number.fetch_add(1, Ordering::SeqCst), "x".repeat(200_000));
        Act::Answer(Answer { model, ..Answer::default() })
    });
    let tables = server.table("m", "") + "\n" + &server.table("n", "");
    let desk = Set::default().desk(&tables);
    for name in ["m", "n"] {
        let model = desk.model(name).unwrap();
        for text in ["a", "b", "c", "d"] {
            let question = necrodome_models::Question { salt: u64::from(name == "n"), ..question(text) };
            let reply = desk.ask(&model, &question).unwrap();
            assert_eq!(reply.model.len(), 103, "{}", reply.model);
        }
    }
    let notes = desk.take_notes();
    assert_eq!(notes.len(), 2, "one for each table: {notes:?}");
    assert!(notes.iter().all(|note| note.len() < 400), "{notes:?}");
}

#[test]
fn concurrency_is_the_models_limit() {
    // Three calls must be there at the same time before any is answered, and never more.
    let (now, most, together) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)), Barrier::new(3));
    let seen = most.clone();
    let server = Server::minded(move |_| {
        seen.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        together.wait();
        now.fetch_sub(1, Ordering::SeqCst);
        // Nobody else is let in before all three have left.
        together.wait();
        Act::say("Hello")
    });
    let (desk, model) = desk(&server, "concurrency = 3", Set::default());
    thread::scope(|scope| {
        for number in 0..12 {
            let (desk, model) = (&desk, &model);
            scope.spawn(move || desk.ask(model, &question(&number.to_string())).unwrap());
        }
    });
    assert_eq!((most.load(Ordering::SeqCst), server.asked().len()), (3, 12));
}

#[test]
fn all_calls_wait_when_the_endpoint_asks_for_it() {
    let (told, asked) = mpsc::channel();
    let is_first = AtomicBool::new(true);
    let server = Server::minded(move |_| {
        told.send(Instant::now()).unwrap();
        if is_first.swap(false, Ordering::SeqCst) { Act::too_many("1") } else { Act::say("Hello") }
    });
    let (desk, model) = desk(&server, "concurrency = 1", Set::default());
    thread::scope(|scope| {
        for number in 0..3 {
            let (desk, model) = (&desk, &model);
            scope.spawn(move || desk.ask(model, &question(&number.to_string())).unwrap());
        }
    });
    let times: Vec<Instant> = asked.try_iter().collect();
    assert_eq!(times.len(), 4);
    // The server's clock started a moment before the pause did.
    assert!(times[1..].iter().all(|time| *time >= times[0] + Duration::from_secs(1)), "{times:?}");
}

#[test]
fn all_calls_wait_as_long_as_the_one_that_is_tried_again() {
    let (told, asked) = mpsc::channel();
    let is_first = AtomicBool::new(true);
    let server = Server::minded(move |_| {
        told.send(Instant::now()).unwrap();
        if is_first.swap(false, Ordering::SeqCst) { Act::too_many("1") } else { Act::say("Hello") }
    });
    // The time for tries is over, but the model's own limit is not.
    let patience = Patience { in_all: Duration::ZERO, pause: Duration::ZERO, ..Patience::default() };
    let (desk, model) = desk(&server, "concurrency = 1", Set { patience, ..Set::default() });
    thread::scope(|scope| {
        for number in 0..3 {
            let (desk, model) = (&desk, &model);
            scope.spawn(move || desk.ask(model, &question(&number.to_string())).unwrap());
        }
    });
    let times: Vec<Instant> = asked.try_iter().collect();
    assert_eq!(times.len(), 4);
    assert!(times[1..].iter().all(|time| *time >= times[0] + Duration::from_secs(1)), "{times:?}");
}

#[test]
fn calls_wait_until_the_minute_has_tokens_for_them() {
    let (told, asked) = mpsc::channel();
    let usage = json!({"prompt_tokens": 1100, "completion_tokens": 1});
    let server = Server::minded(move |_| {
        told.send(Instant::now()).unwrap();
        Act::Answer(Answer { text: "Hello".into(), usage: usage.clone(), ..Answer::default() })
    });
    // A hundred a second, and a thousand at once; the first call takes a hundred more than that.
    let (desk, model) = desk(&server, "tokens_per_minute = 6000", Set::default());
    let began = Instant::now();
    for text in ["a", "b"] {
        assert!(!desk.ask(&model, &question(text)).unwrap().tokens.estimated);
    }
    let times: Vec<Instant> = asked.try_iter().collect();
    assert!(times[1] >= began + Duration::from_secs(1), "{times:?}");
}

#[test]
fn an_interrupt_ends_a_pause_at_once() {
    let (told, asked) = mpsc::channel();
    let server = Server::minded(move |_| {
        told.send(()).unwrap();
        Act::too_many("60")
    });
    let set = Set::default();
    let interrupt = set.interrupt.clone();
    let (desk, model) = desk(&server, "", set);
    let started = Instant::now();
    thread::scope(|scope| {
        let outcome = scope.spawn(|| desk.ask(&model, &question("?")));
        asked.recv().unwrap();
        interrupt.store(true, Ordering::Relaxed);
        assert_eq!(outcome.join().unwrap(), Err(AskError::Interrupted));
    });
    assert!(started.elapsed() < Duration::from_secs(30), "not the whole pause");
    assert_eq!(desk.ask(&model, &question("another")), Err(AskError::Interrupted));
}

#[test]
fn an_interrupt_ends_a_call_after_a_grace() {
    let (told, asked) = mpsc::channel();
    let server = Server::minded(move |_| {
        told.send(()).unwrap();
        Act::Silence
    });
    let set = Set { patience: Patience { grace: Duration::ZERO, ..Patience::default() }, ..Set::default() };
    let interrupt = set.interrupt.clone();
    let (desk, model) = desk(&server, "timeout_s = 600", set);
    thread::scope(|scope| {
        let outcome = scope.spawn(|| desk.ask(&model, &question("?")));
        asked.recv().unwrap();
        interrupt.store(true, Ordering::Relaxed);
        assert_eq!(outcome.join().unwrap(), Err(AskError::Interrupted));
    });
}
