//! Arbitrary bytes as a module that plays: nothing panics, and whatever it does, it ends by its fuel.

#![no_main]

use libfuzzer_sys::fuzz_target;
use necrodome_arena::{process::Limits, wasm::converse};

const HELLO: &[u8] =
    br#"{"type":"hello","protocol":1,"game":"zombie-dice-solo","options":{},"seats":1,"name":"bot"}"#;

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits { decision_fuel_m: 1, start_fuel_m: 1, wasm_memory_mb: 1, ..Limits::default() };
    if let Err(error) = converse(bytes, &[HELLO], &limits) {
        assert!(!error.to_string().is_empty());
    }
});
