//! States as bytes, for `save` and `restore`: the output of serde, then a checksum.

use serde::{Serialize, de::DeserializeOwned};

const CHECKSUM: usize = 4;

/// Writes a state as bytes.
pub(crate) fn write(state: &impl Serialize) -> Vec<u8> {
    let mut bytes = postcard::to_allocvec(state)
        .expect("memory grows as needed and sequences know their length: nothing else can fail");
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

/// Reads a state from its bytes.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let refuse = |why: &str| {
        let length = bytes.len();
        Err(format!(
            "expected a saved state, got {length} bytes {why}: pass what `save` gave, whole and unchanged"
        ))
    };
    let Some((state, checksum)) = bytes.split_last_chunk::<CHECKSUM>() else {
        return refuse("which are too few");
    };
    if crc32fast::hash(state) != u32::from_le_bytes(*checksum) {
        return refuse("with a wrong checksum");
    }
    match postcard::take_from_bytes(state) {
        Ok((state, [])) => Ok(state),
        _ => refuse("of another game or version"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_damaged_is_refused() {
        let bytes = write(&(7u32, "seven".to_owned()));
        assert_eq!(read(&bytes), Ok((7u32, "seven".to_owned())));
        for place in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[place] ^= 1;
            let why = read::<(u32, String)>(&damaged).expect_err("damaged");
            assert!(why.contains("with a wrong checksum"), "{why}");
        }
        assert!(
            read::<(u32, String)>(&bytes[..3]).expect_err("cut").contains("got 3 bytes which are too few")
        );
        assert!(read::<u32>(&bytes).expect_err("something else").contains("of another game or version"));
    }
}
