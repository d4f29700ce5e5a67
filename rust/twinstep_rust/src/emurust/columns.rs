//! Outputs: the caller's arrays `[T, N, ...]`, cut into the rows of each lane.

use super::layout::Part;

/// Memory of one field of one frame.
pub(super) enum Row<'a> {
    U8(&'a mut [u8]),
    U16(&'a mut [u16]),
    I32(&'a mut [i32]),
    I16(&'a mut [i16]),
    U64(&'a mut [u64]),
    F32(&'a mut [f32]),
    Bool(&'a mut [bool]),
}

/// Puts one value into the row of a scalar field.
macro_rules! put {
    ($name:ident, $kind:ident, $type:ty) => {
        pub(super) fn $name(&mut self, value: $type) {
            if let Row::$kind([to]) = self {
                *to = value;
            }
        }
    };
}

impl Row<'_> {
    put!(put_f32, F32, f32);
    put!(put_bool, Bool, bool);
    put!(put_i32, I32, i32);

    /// Copies bytes, of little-endian numbers.
    pub(super) fn put_packed(&mut self, bytes: &[u8]) {
        match self {
            Row::U8(to) => to.copy_from_slice(bytes),
            Row::U16(to) => turn(to, bytes, u16::from_le_bytes),
            Row::I16(to) => turn(to, bytes, i16::from_le_bytes),
            Row::U64(to) => turn(to, bytes, u64::from_le_bytes),
            _ => {}
        }
    }
}

fn turn<T, const N: usize>(to: &mut [T], bytes: &[u8], number: impl Fn([u8; N]) -> T) {
    for (to, from) in to.iter_mut().zip(bytes.as_chunks().0) {
        *to = number(*from);
    }
}

/// Which field a column holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Field {
    /// After a reset in the same step.
    Obs,
    /// Before a reset in the same step.
    FinalObs,
    Reward,
    Terminated,
    Truncated,
    Elapsed,
    /// What the episode remembers.
    Seen,
    /// A piece of the machine's record.
    Part(Part),
}

/// One field of a lane: a row for each step.
pub(super) struct Column<'a> {
    pub field: Field,
    pub rows: Vec<Row<'a>>,
}

/// Deals the rows of an array `[T, N, ...]` out to the lanes it belongs to.
pub(super) fn deal<'a, T>(
    memory: &'a mut [T],
    field: Field,
    wrap: impl Fn(&'a mut [T]) -> Row<'a>,
    steps: usize,
    lanes: &mut [Vec<Column<'a>>],
) {
    let count = lanes.len();
    let width = memory.len() / (steps * count).max(1);
    for lane in lanes.iter_mut() {
        let rows = Vec::with_capacity(steps);
        lane.push(Column { field, rows });
    }
    if width == 0 {
        for column in lanes.iter_mut().filter_map(|lane| lane.last_mut()) {
            column.rows.extend((0..steps).map(|_| wrap(&mut [])));
        }
        return;
    }
    for (place, row) in memory.chunks_exact_mut(width).enumerate() {
        if let Some(column) = lanes[place % count].last_mut() {
            column.rows.push(wrap(row));
        }
    }
}
