//! States as bytes, for `save` and `restore`.

use serde::{Serialize, de::DeserializeOwned};

/// A state as bytes.
pub(crate) fn write(state: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec(state).expect("sequences know their length and memory grows: nothing else can fail")
}

/// The state of all these bytes.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    match postcard::take_from_bytes(bytes) {
        Ok((state, [])) => Ok(state),
        Ok((_, rest)) => Err(format!(
            "expected a saved state of {} bytes, got {}: is it of another game or version?",
            bytes.len() - rest.len(),
            bytes.len()
        )),
        Err(why) => Err(format!(
            "expected a saved state, got {} bytes that are none: {why}; is it of another game or version?",
            bytes.len()
        )),
    }
}
