//! Arbitrary JSON as the plan of a stored tournament: nothing panics, and what is written can be read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use necrodome_arena::tournament::Plan;

fuzz_target!(|bytes: &[u8]| {
    let Ok(plan) = serde_json::from_slice::<Plan>(bytes) else { return };
    let written = serde_json::to_vec(&plan).unwrap();
    // Fractions may differ in the last bit of many.
    assert_eq!(serde_json::from_slice::<Plan>(&written).unwrap().entries, plan.entries);
});
