//! Arrays that a batch writes and Python reads.

use crate::setup::refuse;
use numpy::{
    Element, PyArray1, PyArrayDyn, PyArrayMethods, PyReadwriteArrayDyn, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::{prelude::*, types::PySlice};

/// The alignment of memory for vectors: without it each vector touches two cache lines, and a step takes
/// twice as long.
const ALIGNMENT: usize = 64;

/// Numbers in memory that Python owns and sees as an array.
pub struct Buffer<T: Element> {
    /// The memory. All arrays that show a part of it refer to it: in numpy, views of views have no other base.
    all: Py<PyArray1<T>>,
    shown: Py<PyUntypedArray>,
    /// The shape and the strides that `shown` was made with.
    layout: (Vec<usize>, Vec<isize>),
}

impl<T: Element> Buffer<T> {
    /// Makes an array with a number for each row.
    pub fn row(py: Python<'_>, rows: usize) -> PyResult<Self> {
        Self::new(py, rows, Ok)
    }

    /// Makes a table that lies row by row.
    pub fn rows(py: Python<'_>, rows: usize, fields: usize) -> PyResult<Self> {
        Self::new(py, rows * fields, |flat| flat.call_method1("reshape", (rows, fields)))
    }

    /// Makes a table that lies field by field.
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
        let shown = show(all.get_item(slice)?)?.cast_into::<PyUntypedArray>()?;
        let layout = (shown.shape().to_vec(), shown.strides().to_vec());
        Ok(Buffer { all: all.unbind(), shown: shown.unbind(), layout })
    }

    /// The array that Python sees.
    pub fn shown<'a, 'py>(&'a self, py: Python<'py>) -> &'a Bound<'py, PyAny> {
        self.shown.bind(py).as_any()
    }

    /// Whether nothing in Python refers to the array or a part of it, and it is still as it was made: then it can be
    /// overwritten unnoticed.
    // The count is deprecated because it is of little use elsewhere.
    #[allow(deprecated)]
    pub fn is_free(&self, py: Python<'_>) -> bool {
        let shown = self.shown.bind(py);
        self.shown.get_refcnt(py) == 1
            // This buffer and its view.
            && self.all.get_refcnt(py) == 2
            && shown.shape() == self.layout.0
            && shown.strides() == self.layout.1
    }

    /// Opens the array for writing. Refuses one that was made read-only.
    pub fn write<'py>(&self, py: Python<'py>) -> PyResult<Written<'py, T>> {
        let array = self.shown.bind(py).cast::<PyArrayDyn<T>>()?.try_readwrite().map_err(refuse)?;
        Ok(Written(array))
    }
}

/// A buffer that is being written.
pub struct Written<'py, T: Element>(PyReadwriteArrayDyn<'py, T>);

impl<T: Element> Written<'_, T> {
    /// The numbers.
    pub fn cells(&mut self) -> &mut [T] {
        self.0.as_slice_mut().unwrap_or_default()
    }
}
