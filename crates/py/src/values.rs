//! Values of the bot protocol as Python objects, without text in between. A JSON object becomes a `necrodome.bot.View`.

use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    sync::PyOnceLock,
    types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple, PyType},
};
use serde::ser::{self, Error, Serialize, Serializer};
use serde_json::{Map, Number, Value};
use std::{cell::RefCell, fmt};

/// Makes the Python object that `json.loads` would make of the value's JSON.
pub fn to_python<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    static VIEW: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let view = VIEW.import(py, "necrodome.bot", "View")?;
    value.serialize(Pen { py, view }).map_err(|failed| failed.0)
}

/// The deepest value. A deeper one, perhaps because it contains itself, is left to Python to complain about.
const DEEPEST: usize = 64;

/// Makes JSON of a plain Python value: texts, numbers, bools, None, lists, tuples, and dicts of them. `None` for anything else.
pub fn from_python(value: &Bound<'_, PyAny>) -> Option<Value> {
    plain(value, DEEPEST)
}

fn plain(value: &Bound<'_, PyAny>, depth: usize) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    if let Ok(text) = value.cast::<PyString>() {
        return Some(Value::String(text.to_str().ok()?.to_owned()));
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Some(Value::Bool(flag.is_true()));
    }
    if let Ok(number) = value.cast::<PyInt>() {
        let signed = number.extract::<i64>().ok().map(Number::from);
        return signed.or_else(|| number.extract::<u64>().ok().map(Number::from)).map(Value::Number);
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        let mut map = Map::new();
        for (key, value) in dict {
            map.insert(key.cast::<PyString>().ok()?.to_str().ok()?.to_owned(), plain(&value, depth)?);
        }
        return Some(Value::Object(map));
    }
    if let Ok(list) = value.cast::<PyList>() {
        return list.iter().map(|item| plain(&item, depth)).collect::<Option<_>>().map(Value::Array);
    }
    if let Ok(tuple) = value.cast::<PyTuple>() {
        return tuple.iter().map(|item| plain(&item, depth)).collect::<Option<_>>().map(Value::Array);
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        return Number::from_f64(number.value()).map(Value::Number);
    }
    value.is_none().then_some(Value::Null)
}

/// The texts of the program: names of fields and of variants. Each is made once per thread.
struct Words(RefCell<[Option<Word>; Words::PLACES]>);

/// A text of the program, and its Python string.
type Word = (&'static str, Py<PyString>);

impl Words {
    const PLACES: usize = 256;

    fn get<'py>(&self, py: Python<'py>, word: &'static str) -> Bound<'py, PyString> {
        let place = (word.as_ptr() as usize).wrapping_mul(31).wrapping_add(word.len()) % Self::PLACES;
        let mut known = self.0.borrow_mut();
        match &known[place] {
            Some((same, text)) if std::ptr::eq(*same, word) => text.bind(py).clone(),
            _ => {
                let text = PyString::intern(py, word);
                known[place] = Some((word, text.clone().unbind()));
                text
            }
        }
    }
}

thread_local! {
    static WORDS: Words = const { Words(RefCell::new([const { None }; Words::PLACES])) };
}

fn word<'py>(py: Python<'py>, word: &'static str) -> Bound<'py, PyString> {
    WORDS.with(|words| words.get(py, word))
}

/// Writes values as objects.
#[derive(Clone, Copy)]
struct Pen<'a, 'py> {
    py: Python<'py>,
    view: &'a Bound<'py, PyType>,
}

/// Why a value cannot be written.
#[derive(Debug)]
struct Failed(PyErr);

impl From<PyErr> for Failed {
    fn from(error: PyErr) -> Self {
        Failed(error)
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Failed {}

impl ser::Error for Failed {
    fn custom<T: fmt::Display>(why: T) -> Self {
        Failed(PyValueError::new_err(why.to_string()))
    }
}

type Written<'py> = Result<Bound<'py, PyAny>, Failed>;

impl<'a, 'py> Pen<'a, 'py> {
    fn fields(self) -> Result<Fields<'a, 'py>, Failed> {
        let dict = self.view.call0()?.cast_into::<PyDict>().map_err(PyErr::from)?;
        Ok(Fields { pen: self, dict, key: None, variant: None })
    }

    fn items(self) -> Items<'a, 'py> {
        Items { pen: self, list: PyList::empty(self.py), variant: None }
    }

    /// Returns `{variant: inside}`, or `inside` if there is no variant.
    fn inside(self, variant: Option<&'static str>, inside: Bound<'py, PyAny>) -> Written<'py> {
        let Some(variant) = variant else { return Ok(inside) };
        let around = self.fields()?;
        around.dict.set_item(word(self.py, variant), inside)?;
        Ok(around.dict.into_any())
    }
}

/// Writes a number as Python's.
macro_rules! number {
    ($($method:ident: $type:ty,)*) => {
        $(fn $method(self, value: $type) -> Written<'py> {
            let Ok(number) = value.into_pyobject(self.py);
            Ok(number.into_any())
        })*
    };
}

impl<'a, 'py> Serializer for Pen<'a, 'py> {
    type Ok = Bound<'py, PyAny>;
    type Error = Failed;
    type SerializeSeq = Items<'a, 'py>;
    type SerializeTuple = Items<'a, 'py>;
    type SerializeTupleStruct = Items<'a, 'py>;
    type SerializeTupleVariant = Items<'a, 'py>;
    type SerializeMap = Fields<'a, 'py>;
    type SerializeStruct = Fields<'a, 'py>;
    type SerializeStructVariant = Fields<'a, 'py>;

    number! {
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i64: i64,
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u32: u32,
        serialize_u64: u64,
        serialize_f64: f64,
    }

    /// Writes the number with the shortest text, as in JSON.
    fn serialize_f32(self, value: f32) -> Written<'py> {
        self.serialize_f64(value.to_string().parse().map_err(Failed::custom)?)
    }

    fn serialize_bool(self, value: bool) -> Written<'py> {
        Ok(PyBool::new(self.py, value).to_owned().into_any())
    }

    fn serialize_char(self, value: char) -> Written<'py> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Written<'py> {
        Ok(PyString::new(self.py, value).into_any())
    }

    fn serialize_bytes(self, value: &[u8]) -> Written<'py> {
        Ok(PyList::new(self.py, value)?.into_any())
    }

    fn serialize_none(self) -> Written<'py> {
        Ok(self.py.None().into_bound(self.py))
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Written<'py> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Written<'py> {
        self.serialize_none()
    }

    fn serialize_unit_struct(self, _: &'static str) -> Written<'py> {
        self.serialize_none()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Written<'py> {
        Ok(word(self.py, variant).into_any())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Written<'py> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Written<'py> {
        self.inside(Some(variant), value.serialize(self)?)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'a, 'py>, Failed> {
        Ok(self.items())
    }

    fn serialize_tuple(self, _: usize) -> Result<Items<'a, 'py>, Failed> {
        Ok(self.items())
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items<'a, 'py>, Failed> {
        Ok(self.items())
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Items<'a, 'py>, Failed> {
        Ok(Items { variant: Some(variant), ..self.items() })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Fields<'a, 'py>, Failed> {
        self.fields()
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Fields<'a, 'py>, Failed> {
        self.fields()
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Fields<'a, 'py>, Failed> {
        Ok(Fields { variant: Some(variant), ..self.fields()? })
    }
}

/// A list that is being written.
struct Items<'a, 'py> {
    pen: Pen<'a, 'py>,
    list: Bound<'py, PyList>,
    variant: Option<&'static str>,
}

impl<'py> Items<'_, 'py> {
    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
        Ok(self.list.append(value.serialize(self.pen)?)?)
    }

    fn done(self) -> Written<'py> {
        self.pen.inside(self.variant, self.list.into_any())
    }
}

/// An object that is being written.
struct Fields<'a, 'py> {
    pen: Pen<'a, 'py>,
    dict: Bound<'py, PyDict>,
    key: Option<Bound<'py, PyString>>,
    variant: Option<&'static str>,
}

impl<'py> Fields<'_, 'py> {
    fn put<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Failed> {
        let value = value.serialize(self.pen)?;
        Ok(self.dict.set_item(word(self.pen.py, name), value)?)
    }

    fn done(self) -> Written<'py> {
        self.pen.inside(self.variant, self.dict.into_any())
    }
}

macro_rules! items {
    ($($kind:ident: $push:ident,)*) => {
        $(impl<'py> ser::$kind for Items<'_, 'py> {
            type Ok = Bound<'py, PyAny>;
            type Error = Failed;

            fn $push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
                self.push(value)
            }

            fn end(self) -> Written<'py> {
                self.done()
            }
        })*
    };
}

items! {
    SerializeSeq: serialize_element,
    SerializeTuple: serialize_element,
    SerializeTupleStruct: serialize_field,
    SerializeTupleVariant: serialize_field,
}

macro_rules! fields {
    ($($kind:ident,)*) => {
        $(impl<'py> ser::$kind for Fields<'_, 'py> {
            type Ok = Bound<'py, PyAny>;
            type Error = Failed;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Failed> {
                self.put(name, value)
            }

            fn end(self) -> Written<'py> {
                self.done()
            }
        })*
    };
}

fields! {
    SerializeStruct,
    SerializeStructVariant,
}

impl<'py> ser::SerializeMap for Fields<'_, 'py> {
    type Ok = Bound<'py, PyAny>;
    type Error = Failed;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Failed> {
        // Keys of JSON are texts, whatever they were before.
        self.key = Some(key.serialize(self.pen)?.str()?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
        let key = self.key.take().ok_or_else(|| Failed::custom("a value without a key"))?;
        Ok(self.dict.set_item(key, value.serialize(self.pen)?)?)
    }

    fn end(self) -> Written<'py> {
        self.done()
    }
}
