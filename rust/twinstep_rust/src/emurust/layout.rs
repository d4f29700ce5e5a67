//! Where the named fields lie in a machine's record.

use std::collections::HashMap;

/// A field's place in the record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Part {
    pub offset: usize,
    /// Elements, and bytes of each.
    pub count: usize,
    pub width: usize,
}

impl Part {
    /// The field's bytes.
    pub(super) fn of(self, record: &[u8]) -> &[u8] {
        &record[self.offset..self.offset + self.count * self.width]
    }
}

/// The fields of a record by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    parts: HashMap<String, Part>,
    size: usize,
}

impl Layout {
    /// Fields (name, elements, bytes of an element) one after the other.
    pub(super) fn new(fields: Vec<(String, usize, usize)>) -> Result<Self, String> {
        let mut made = Self::default();
        for (name, count, width) in fields {
            let bytes = count.checked_mul(width).filter(|bytes| *bytes < 1 << 30);
            let bytes = bytes.ok_or_else(|| format!("field {name} is too large"))?;
            if ![1, 2, 8].contains(&width) {
                return Err(format!("field {name} has elements of {width} bytes"));
            }
            let offset = made.size;
            made.size += bytes;
            let part = Part {
                offset,
                count,
                width,
            };
            if made.parts.insert(name.clone(), part).is_some() {
                return Err(format!("field {name} is there twice"));
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
