//! Arrays that a batch writes and Python sees.

use crate::setup::refuse;
use numpy::{Element, PyArray1, PyArrayMethods, PyReadwriteArray1};
use pyo3::{prelude::*, types::PySlice};

/// Vectors are written to memory that is aligned like them: elsewhere each touches two cache lines, and a step takes
/// twice as long.
const ALIGNMENT: usize = 64;

/// Numbers in memory that Python owns and sees as an array.
pub struct Buffer<T: Element> {
    all: Py<PyArray1<T>>,
    start: usize,
    length: usize,
    shown: Py<PyAny>,
}

impl<T: Element> Buffer<T> {
    /// A number for each row.
    pub fn row(py: Python<'_>, rows: usize) -> PyResult<Self> {
        Self::new(py, rows, Ok)
    }

    /// A table that lies row by row.
    pub fn rows(py: Python<'_>, rows: usize, fields: usize) -> PyResult<Self> {
        Self::new(py, rows * fields, |flat| flat.call_method1("reshape", (rows, fields)))
    }

    /// A table that lies field by field.
    pub fn columns(py: Python<'_>, rows: usize, fields: usize) -> PyResult<Self> {
        Self::new(py, rows * fields, |flat| flat.call_method1("reshape", (fields, rows))?.getattr("T"))
    }

    fn new<'py>(
        py: Python<'py>,
        length: usize,
        show: impl FnOnce(Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let room = ALIGNMENT / size_of::<T>();
        let all = PyArray1::<T>::zeros(py, length + room, false);
        let start = (ALIGNMENT - all.data() as usize % ALIGNMENT) % ALIGNMENT / size_of::<T>();
        let slice = PySlice::new(py, start as isize, (start + length) as isize, 1);
        let shown = show(all.get_item(slice)?)?.unbind();
        Ok(Buffer { all: all.unbind(), start, length, shown })
    }

    /// What Python sees.
    pub fn shown<'a, 'py>(&'a self, py: Python<'py>) -> &'a Bound<'py, PyAny> {
        self.shown.bind(py)
    }

    /// Access for writing.
    pub fn write<'py>(&self, py: Python<'py>) -> PyResult<Written<'py, T>> {
        let array = self.all.bind(py).try_readwrite().map_err(refuse)?;
        Ok(Written { array, start: self.start, length: self.length })
    }
}

/// A buffer while it is written.
pub struct Written<'py, T: Element> {
    array: PyReadwriteArray1<'py, T>,
    start: usize,
    length: usize,
}

impl<T: Element> Written<'_, T> {
    /// The numbers.
    pub fn cells(&mut self) -> &mut [T] {
        match self.array.as_slice_mut() {
            Ok(cells) => &mut cells[self.start..][..self.length],
            Err(_) => &mut [],
        }
    }
}
