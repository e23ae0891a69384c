//! Bots that are WebAssembly modules: what they pay, what they see, and how hostile ones end.

use necrodome_arena::{
    fault::FaultKind,
    process::Limits,
    wasm::{Module, Said, converse},
};

/// The parts that most modules here have: `$read` reads to 4096 and gives how many bytes came, `$say` writes.
const PARTS: &str = r#"
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (data (i32.const 64) "ok\n")
  (func $read (result i32)
    (i32.store (i32.const 0) (i32.const 4096))
    (i32.store (i32.const 4) (i32.const 65536))
    (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
    (i32.load (i32.const 8)))
  (func $write (param $file i32) (param $at i32) (param $len i32)
    (i32.store (i32.const 0) (local.get $at))
    (i32.store (i32.const 4) (local.get $len))
    (drop (call $fd_write (local.get $file) (i32.const 0) (i32.const 1) (i32.const 8))))
  (func $say (param $at i32) (param $len i32) (call $write (i32.const 1) (local.get $at) (local.get $len)))
  (func $ok (call $say (i32.const 64) (i32.const 3)))
"#;

/// A module of these functions; other imports come before them.
fn module(imports: &str, code: &str) -> Vec<u8> {
    wat::parse_str(format!("(module {imports} {PARTS} {code})")).unwrap()
}

/// Says `ok` to every line, after `work`.
fn answers(imports: &str, work: &str) -> Vec<u8> {
    module(
        imports,
        &format!(
            "(func (export \"_start\") (loop $next (if (call $read) (then {work} (call $ok) (br $next)))))"
        ),
    )
}

/// Little fuel, so that whoever wants all of it is soon done.
fn limits() -> Limits {
    Limits { decision_fuel_m: 1, start_fuel_m: 2, wasm_memory_mb: 16, ..Limits::default() }
}

fn ask(module: &[u8], questions: usize) -> Said {
    converse(module, &vec![&b"{}"[..]; questions], &limits()).unwrap()
}

/// How the last of so many answers came out.
fn last(module: &[u8], questions: usize) -> Result<String, (FaultKind, String)> {
    let answer = ask(module, questions).answers.pop().unwrap();
    answer.map(|line| String::from_utf8(line).unwrap()).map_err(|fault| (fault.kind, fault.detail))
}

fn refusal(text: &str) -> String {
    let made = Module::new(&wat::parse_str(text).unwrap(), &["bot.wasm"]);
    made.err().unwrap_or_else(|| panic!("accepted: {text:.200}")).to_string()
}

#[test]
fn instructions_are_counted_alike_everywhere() {
    let bot = answers("", "");
    let said = ask(&bot, 3);
    assert_eq!(said.answers, vec![Ok(b"ok".to_vec()); 3]);
    assert_eq!(said, ask(&bot, 3));
    // Three reads and three writes of three bytes (100 each, and a unit for each byte), the end of input, and 141 instructions.
    // Another number would mean that results of tournaments change.
    assert_eq!(said.fuel, 3 * 103 + 3 * 103 + 100 + 141);
}

#[test]
fn whoever_computes_too_long_is_stopped_at_the_same_decision() {
    // Decision number n takes 1,000 n rounds of 6 instructions.
    let slower = r#"
        (global.set $n (i32.add (global.get $n) (i32.const 1000)))
        (local.set $left (global.get $n))
        (loop $more (br_if $more (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))"#;
    let bot = module(
        "",
        &format!(
            "(global $n (mut i32) (i32.const 0)) (func (export \"_start\") (local $left i32)
              (loop $next (if (call $read) (then {slower} (call $ok) (br $next)))))"
        ),
    );
    let said = ask(&bot, 300);
    let answered = said.answers.iter().take_while(|answer| answer.is_ok()).count();
    assert_eq!(answered, 166);
    let fault = said.answers[answered].clone().unwrap_err();
    assert_eq!(
        (fault.kind, fault.detail.as_str()),
        (FaultKind::Timeout, "all 1 million instructions are used up")
    );
    assert_eq!(said, ask(&bot, 300));
}

#[test]
fn hostile_modules_end_in_a_fault_of_their_own() {
    let run = |code: &str| module("", &format!("(func (export \"_start\") {code})"));
    let with = |import: &str, code: &str| {
        module(
            &format!("(import \"wasi_snapshot_preview1\" {import})"),
            &format!("(func (export \"_start\") {code})"),
        )
    };
    let exit = "\"proc_exit\" (func $exit (param i32))";
    let used_up = "all 2 million instructions are used up";
    for (name, module, kind, detail) in [
        ("ends", run(""), FaultKind::Exit, "the module ended with exit code 0"),
        ("exits", with(exit, "(call $exit (i32.const 0))"), FaultKind::Exit, "ended with exit code 0"),
        ("fails", with(exit, "(call $exit (i32.const 7))"), FaultKind::Crash, "ended with exit code 7"),
        (
            "raises",
            with("\"proc_raise\" (func $raise (param i32) (result i32))", "(drop (call $raise (i32.const 9)))"),
            FaultKind::Crash,
            "it has raised signal 9",
        ),
        ("traps", run("unreachable"), FaultKind::Crash, "unreachable"),
        ("divides", run("(drop (i32.div_u (i32.const 1) (i32.const 0)))"), FaultKind::Crash, "divide by zero"),
        ("strays", run("(drop (i32.load (i32.const -4)))"), FaultKind::Crash, "out of bounds memory access"),
        ("spins", run("(loop $on (br $on))"), FaultKind::Timeout, used_up),
        ("recurses", module("", "(func $f (export \"_start\") (call $f))"), FaultKind::Crash, "call stack exhausted"),
        (
            "recurses by the tail",
            module("", "(func $f (export \"_start\") (return_call $f))"),
            FaultKind::Timeout,
            used_up,
        ),
        (
            "spins before it starts",
            module("", "(func $s (loop $on (br $on))) (start $s) (func (export \"_start\"))"),
            FaultKind::Timeout,
            used_up,
        ),
        (
            "reads before it starts",
            module("", "(func $s (drop (call $read)) (drop (call $read))) (start $s) (func (export \"_start\"))"),
            FaultKind::Crash,
            "it reads its input before its function _start",
        ),
        (
            "floods with lines",
            run("(loop $on (call $ok) (br $on))"),
            // The first line is taken for the answer; the next question finds the rest.
            FaultKind::Flood,
            "nothing was asked, but \"ok\\nok",
        ),
        (
            "floods with one line",
            run("(loop $on (call $say (i32.const 4096) (i32.const 60000)) (br $on))"),
            FaultKind::Oversized,
            "a line of more than 65536 bytes",
        ),
        (
            "fills its log",
            run("(loop $on (call $write (i32.const 2) (i32.const 4096) (i32.const 60000)) (br $on))"),
            FaultKind::Timeout,
            used_up,
        ),
        (
            "fills its memory",
            run("(loop $on (drop (memory.grow (i32.const 1))) (br $on))"),
            FaultKind::Timeout,
            used_up,
        ),
        (
            "fills its memory again and again",
            run("(loop $on (memory.fill (i32.const 0) (i32.const 1) (i32.const 131072)) (br $on))"),
            FaultKind::Timeout,
            used_up,
        ),
        (
            "writes from nowhere",
            run("(call $say (i32.const -16) (i32.const 100))"),
            FaultKind::Exit,
            "ended with exit code 0",
        ),
        (
            "writes more than there is",
            run("(loop $on (call $say (i32.const 0) (i32.const -1)) (br $on))"),
            FaultKind::Timeout,
            used_up,
        ),
        ("waits", run("(drop (call $read)) (drop (call $read))"), FaultKind::Timeout, "it waits for more input"),
        (
            "asks for all random numbers",
            with(
                "\"random_get\" (func $random (param i32 i32) (result i32))",
                "(loop $on (drop (call $random (i32.const 0) (i32.const 131072))) (br $on))",
            ),
            FaultKind::Timeout,
            used_up,
        ),
        (
            "closes its output",
            with(
                "\"fd_close\" (func $close (param i32) (result i32))",
                "(drop (call $close (i32.const 1))) (drop (call $read)) (call $ok) (drop (call $read))",
            ),
            FaultKind::Closed,
            "standard output was closed",
        ),
        (
            "sleeps for years",
            with(
                "\"poll_oneoff\" (func $poll (param i32 i32 i32 i32) (result i32))",
                "(i64.store (i32.const 1024) (i64.const -1)) (i64.store (i32.const 1048) (i64.const -1))
                 (loop $on (drop (call $poll (i32.const 1024) (i32.const 2048) (i32.const 1) (i32.const 8))) (br $on))",
            ),
            FaultKind::Timeout,
            used_up,
        ),
        (
            "polls too much",
            with(
                "\"poll_oneoff\" (func $poll (param i32 i32 i32 i32) (result i32))",
                "(loop $on (drop (call $poll (i32.const 0) (i32.const 0) (i32.const -1) (i32.const 0))) (br $on))",
            ),
            FaultKind::Timeout,
            used_up,
        ),
    ] {
        let questions = if name == "floods with lines" { 2 } else { 1 };
        let (came, why) = last(&module, questions).expect_err(name);
        assert!(came == kind && why.contains(detail), "{name}: {came}: {why}");
        assert_eq!(ask(&module, 3), ask(&module, 3), "{name}");
    }
}

#[test]
fn what_is_too_large_is_refused_before_it_takes_any_room() {
    let start = "(func (export \"_start\"))";
    let table = format!("(module (memory (export \"memory\") 1) (table 2000000 funcref) {start})");
    for text in [format!("(module (memory (export \"memory\") 65536) {start})"), table] {
        let (kind, detail) = last(&wat::parse_str(&text).unwrap(), 1).unwrap_err();
        assert_eq!(kind, FaultKind::Crash, "{detail}");
    }
    // A growing memory ends at its limit: 16 MB are 256 pages.
    let grow = "(loop $on (br_if $on (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
                (if (i32.eq (memory.size) (i32.const 256)) (then (call $ok)))";
    assert_eq!(last(&module("", &format!("(func (export \"_start\") {grow})")), 1), Ok("ok".to_owned()));
}

#[test]
fn what_cannot_play_is_refused_before_the_first_match() {
    let memory = "(memory (export \"memory\") 1)";
    let start = "(func (export \"_start\"))";
    let locals = "(local i32)".repeat(1001);
    let results = "i32 ".repeat(65);
    let (five, fives) = ("i32 ".repeat(5), "i32.const 0 ".repeat(5));
    for (text, why) in [
        ("(module)".to_owned(), "it exports no function _start"),
        (
            format!("(module {memory} (func (export \"_start\") (param i32)))"),
            "it exports no function _start",
        ),
        (format!("(module {start})"), "it exports no memory"),
        (
            format!("(module (import \"env\" \"fork\" (func)) {memory} {start})"),
            "it imports \"fork\" of \"env\": expected nothing but functions of wasi_snapshot_preview1",
        ),
        (
            format!("(module (import \"wasi_snapshot_preview1\" \"memory\" (memory 1)) {start})"),
            "it imports \"memory\" of \"wasi_snapshot_preview1\"",
        ),
        (
            format!("(module (import \"wasi_snapshot_preview1\" \"fd_close\" (func)) {memory} {start})"),
            "with another signature",
        ),
        (
            format!("(module {memory} (func {locals}) {start})"),
            "1001 local variables, where 1000 are allowed",
        ),
        (
            format!("(module {memory} (func (param {results})) {start})"),
            "65 parameters, where 64 are allowed",
        ),
        (
            format!("(module {memory} (type (func (result {five}))) {start})"),
            "a function or block with 5 results, where 4 are allowed",
        ),
        (
            format!("(module {memory} (func {} {}) {start})", "block ".repeat(10_001), "end ".repeat(10_001)),
            "blocks are nested more than 10000 deep",
        ),
        // Each branch to such a block would become as many instructions.
        (
            format!(
                "(module {memory} (type $wide (func (param {five}))) (func {fives} (loop (type $wide) unreachable)) {start})"
            ),
            "a block that takes 5 values, where 4 are allowed",
        ),
        (format!("(module {memory} (memory 1) {start})"), "multi"),
        (format!("(module {memory} (func (drop (v128.const i64x2 0 0))) {start})"), "SIMD"),
        ("(component)".to_owned(), "a component, where a core module"),
    ] {
        let came = refusal(&text);
        assert!(came.contains(why), "{came}");
    }
    let bytes = answers("", "");
    for (bytes, why) in [
        (&b""[..], "it does not begin with \\0asm"),
        (b"#!/bin/sh", "it does not begin with \\0asm"),
        (b"\0asm\x01\0\0\0\x01", "malformed"),
        // Found by random input: the translator panicked.
        (
            b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x02\x01\0\x0a\x09\x01\x07\0\x0b\x41\x01\0\x0f\x0f",
            "malformed: code behind the end of a function",
        ),
        (&bytes[..bytes.len() - 1], "malformed"),
        (&vec![0; (32 << 20) + 1], "it is larger than 32 MB"),
    ] {
        let came = Module::new(bytes, &["bot.wasm"]).unwrap_err().to_string();
        assert!(came.contains(why), "{came}");
    }
}

/// Broken bytes give an error or a fault, never more.
#[test]
fn whatever_the_bytes_are_it_comes_to_an_end() {
    let sound = answers(
        "(import \"wasi_snapshot_preview1\" \"random_get\" (func $random (param i32 i32) (result i32)))",
        "",
    );
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut accepted = 0;
    for _ in 0..3_000 {
        let mut bytes = sound.clone();
        for _ in 0..=random(3) {
            let place = random(bytes.len());
            bytes[place] = random(256) as u8;
        }
        let limits = Limits { decision_fuel_m: 1, start_fuel_m: 1, wasm_memory_mb: 16, ..Limits::default() };
        accepted += usize::from(converse(&bytes, &[b"{}", b"{}"], &limits).is_ok());
    }
    assert!(accepted > 100, "only {accepted} could be run at all");
}

#[test]
fn there_are_no_files_and_no_environment() {
    let refused = |import: &str, call: &str| {
        let import = format!("(import \"wasi_snapshot_preview1\" {import})");
        let bot = answers(&import, &format!("(if (i32.ne {call} (i32.const 8)) (then unreachable))"));
        assert_eq!(last(&bot, 1), Ok("ok".to_owned()), "{import}");
    };
    let zeros = |count: usize| "(i32.const 0) ".repeat(count);
    refused(
        "\"fd_prestat_get\" (func $f (param i32 i32) (result i32))",
        "(call $f (i32.const 3) (i32.const 0))",
    );
    refused(
        "\"path_open\" (func $f (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32))",
        &format!("(call $f (i32.const 3) {} (i64.const 0) (i64.const 0) {})", zeros(4), zeros(2)),
    );
    refused("\"sock_accept\" (func $f (param i32 i32 i32) (result i32))", &format!("(call $f {})", zeros(3)));
    let import =
        "(import \"wasi_snapshot_preview1\" \"environ_sizes_get\" (func $f (param i32 i32) (result i32)))";
    let count = "(i32.store (i32.const 512) (i32.const 7))
                 (drop (call $f (i32.const 512) (i32.const 516)))
                 (if (i32.load (i32.const 512)) (then unreachable))";
    assert_eq!(last(&answers(import, count), 1), Ok("ok".to_owned()));
}

/// Writes eight bytes of memory as 16 letters, and an end of line.
const SAY_WORD: &str = r#"
  (func $say_word (param $at i32) (local $n i32)
    (loop $next
      (i32.store8 (i32.add (i32.const 256) (local.get $n))
        (i32.add (i32.const 97) (i32.and (i32.const 15) (i32.shr_u
          (i32.load8_u (i32.add (local.get $at) (i32.shr_u (local.get $n) (i32.const 1))))
          (i32.mul (i32.const 4) (i32.and (local.get $n) (i32.const 1)))))))
      (br_if $next (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 16))))
    (i32.store8 (i32.const 272) (i32.const 10))
    (call $say (i32.const 256) (i32.const 17)))"#;

/// Answers each line with a word that `call` puts at 512.
fn words(import: &str, call: &str, lines: &[&[u8]]) -> Vec<Vec<u8>> {
    let import = format!("(import \"wasi_snapshot_preview1\" {import})");
    let code = format!(
        "{SAY_WORD} (func (export \"_start\")
          (loop $next (if (call $read) (then (drop {call}) (call $say_word (i32.const 512)) (br $next)))))"
    );
    let said = converse(&module(&import, &code), lines, &limits()).unwrap();
    said.answers.into_iter().map(Result::unwrap).collect()
}

#[test]
fn random_numbers_follow_from_what_the_bot_was_told() {
    let random = |lines: &[&[u8]]| {
        words(
            "\"random_get\" (func $random (param i32 i32) (result i32))",
            "(call $random (i32.const 512) (i32.const 8))",
            lines,
        )
    };
    let one = random(&[b"seed 1", b"", b""]);
    assert_eq!(one, random(&[b"seed 1", b"", b""]));
    assert_ne!(one[0], one[1]);
    assert_ne!(one[1], one[2]);
    assert!(random(&[b"seed 2", b"", b""]).iter().all(|word| !one.contains(word)));
}

#[test]
fn the_clock_is_moved_by_instructions() {
    let clock = |lines: &[&[u8]]| {
        words(
            "\"clock_time_get\" (func $clock (param i32 i64 i32) (result i32))",
            "(call $clock (i32.const 1) (i64.const 1) (i32.const 512))",
            lines,
        )
    };
    let times = clock(&[b"", b"", b""]);
    assert_eq!(times, clock(&[b"", b"", b""]));
    assert_ne!(times[0], times[1]);
}
