//! Where the named fields lie in a machine's record.

use std::collections::HashMap;

use pyo3::prelude::*;

use crate::arrays::wrong;

/// A field's place in the record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Part {
    pub offset: usize,
    /// Number of elements.
    pub count: usize,
    pub kind: Kind,
}

/// What an element is, little-endian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    U8,
    U16,
    I16,
    U64,
}

impl Kind {
    /// The kind that NumPy calls so.
    fn named(dtype: &str) -> Option<Self> {
        match dtype {
            "uint8" => Some(Self::U8),
            "uint16" => Some(Self::U16),
            "int16" => Some(Self::I16),
            "uint64" => Some(Self::U64),
            _ => None,
        }
    }

    fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 | Self::I16 => 2,
            Self::U64 => 8,
        }
    }
}

impl Part {
    /// The field's bytes.
    pub(super) fn of(self, record: &[u8]) -> &[u8] {
        &record[self.offset..self.offset + self.count * self.kind.bytes()]
    }
}

/// The fields of a record by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    parts: HashMap<String, Part>,
    size: usize,
}

impl Layout {
    /// Fields (name, elements, dtype of an element) one after the other.
    pub(super) fn new(fields: Vec<(String, usize, String)>) -> PyResult<Self> {
        let mut made = Self::default();
        for (name, count, dtype) in fields {
            let kind = Kind::named(&dtype);
            let kind = kind.ok_or_else(|| wrong(format!("field {name} has the dtype {dtype}")))?;
            let bytes = count.checked_mul(kind.bytes());
            let bytes = bytes.filter(|bytes| *bytes < 1 << 30);
            let bytes = bytes.ok_or_else(|| wrong(format!("field {name} is too large")))?;
            let offset = made.size;
            made.size += bytes;
            let part = Part {
                offset,
                count,
                kind,
            };
            if made.parts.insert(name.clone(), part).is_some() {
                return Err(wrong(format!("field {name} is there twice")));
            }
        }
        Ok(made)
    }

    /// Bytes of a record.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// The place of a field.
    pub(super) fn part(&self, name: &str) -> Option<Part> {
        self.parts.get(name).copied()
    }
}
