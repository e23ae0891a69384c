//! Arbitrary bytes as a shard, with a size and a hash that fit: nothing panics, and what is accepted can be written and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use necrodome_arena::tournament::Shard;
use serde_json::Value;
use std::path::Path;

fuzz_target!(|bytes: &[u8]| {
    let _ = Shard::parse(bytes, Path::new("x"));
    // Without help no input would come past the hash, and few past the compression.
    let Some(at) = bytes.iter().position(|&byte| byte == b'\n') else { return };
    let (header, body) = (&bytes[..at], &bytes[at + 1..]);
    let Ok(mut header) = serde_json::from_slice::<Value>(header) else { return };
    let Some(fields) = header.as_object_mut() else { return };
    fields.insert("size".to_owned(), body.len().into());
    let mut shard = format!("necrodome-shard 1\n{header}\n").into_bytes();
    shard.extend(body);
    shard.extend(blake3::hash(&shard).as_bytes());
    let Ok(shard) = Shard::parse(&shard, Path::new("x")) else { return };
    let written = shard.bytes().unwrap();
    assert_eq!(Shard::parse(&written, Path::new("x")).unwrap().bytes().unwrap(), written);
});
