//! Packs arrays into an archive that `numpy.load` opens: a zip file with one `.npy` file for each array.

use necrodome_solve::{Array, Data};
use std::io::{self, Cursor, Write};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

/// Returns the whole archive.
pub fn pack(arrays: &[Array]) -> io::Result<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for Array { name, shape, data } in arrays {
        archive.start_file(format!("{name}.npy"), options)?;
        let (kind, bytes) = match data {
            Data::U8(values) => ("|u1", values.clone()),
            Data::U16(values) => ("<u2", values.iter().flat_map(|value| value.to_le_bytes()).collect()),
            Data::F64(values) => ("<f8", values.iter().flat_map(|value| value.to_le_bytes()).collect()),
        };
        archive.write_all(&header(kind, shape))?;
        archive.write_all(&bytes)?;
    }
    Ok(archive.finish()?.into_inner())
}

/// Returns the header in version 1.0 of the format: a Python literal, padded so that the data begins at a multiple of 64 bytes.
fn header(kind: &str, shape: &[u64]) -> Vec<u8> {
    const BEFORE: usize = 10;
    let shape: String = shape.iter().map(|size| format!("{size},")).collect();
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}");
    let padded = (BEFORE + text.len() + 1).next_multiple_of(64) - BEFORE;
    text = format!("{text:<width$}\n", width = padded - 1);
    [b"\x93NUMPY\x01\x00", &(padded as u16).to_le_bytes()[..], text.as_bytes()].concat()
}
