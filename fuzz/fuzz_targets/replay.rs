//! Arbitrary bytes as a replay, packed or as the lines within: nothing panics, and what proves itself can be shown.

#![no_main]

use libfuzzer_sys::fuzz_target;
use necrodome_arena::replay::{Bounds, ReplayError, unpack_within};
use necrodome_rules::{
    catalog::Listed,
    game::{Game as _, Seat},
    with_game,
};

/// The first bytes of what zstd has packed.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Text as zstd packs it when it does not compress: costs nothing, and lets the fuzzer see the lines.
fn packed(text: &[u8]) -> Vec<u8> {
    const MAX_BLOCK: usize = 128 << 10;
    // One segment, whose length follows in four bytes.
    let mut packed = [&MAGIC[..], &[0b1010_0000], &(text.len() as u32).to_le_bytes()].concat();
    let mut blocks = text.chunks(MAX_BLOCK).peekable();
    while let Some(block) = blocks.next() {
        let is_last = u32::from(blocks.peek().is_none());
        packed.extend(&((block.len() as u32) << 3 | is_last).to_le_bytes()[..3]);
        packed.extend(block);
    }
    packed
}

fn read(packed: &[u8]) -> Result<(), ReplayError> {
    let unpacked = unpack_within(packed, &Bounds { unpacked: 1 << 20, ..Bounds::UPLOAD })?;
    with_game!(unpacked.game()?, G => {
        let replay = unpacked.parse::<G>()?;
        replay.play(|_, game, log| {
            for logged in log {
                let _ = G::tell(&logged.event, &replay.names);
            }
            for &seat in Seat::all(replay.names.len()) {
                let _ = G::situation(&game.view(seat), &replay.names);
            }
            Ok(())
        })
    })
}

fuzz_target!(|bytes: &[u8]| {
    let error = if bytes.starts_with(&MAGIC) { read(bytes) } else { read(&packed(bytes)) };
    if let Err(error) = error {
        assert!(!error.to_string().is_empty());
    }
});
