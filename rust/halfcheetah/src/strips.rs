//! Columns of a table in one piece of memory, for threads that write side by side.

use std::marker::PhantomData;

/// Neighbouring columns of a table: a piece of each row.
///
/// Two strips never overlap, so each can be sent to another thread.
pub(crate) struct Strip<'a, T> {
    /// The piece of the first row.
    start: *mut T,
    /// Elements of a piece.
    width: usize,
    /// Elements of a row of the table.
    stride: usize,
    rows: usize,
    _memory: PhantomData<&'a mut [T]>,
}

// SAFETY: a strip is the only way to its elements, like the `&mut [T]` it was cut from.
unsafe impl<T: Send> Send for Strip<'_, T> {}

impl<'a, T> Strip<'a, T> {
    /// All columns of a table with rows of `stride` elements.
    pub(crate) fn new(table: &'a mut [T], stride: usize) -> Self {
        Self {
            start: table.as_mut_ptr(),
            width: stride,
            stride,
            rows: table.len() / stride,
            _memory: PhantomData,
        }
    }

    /// Cuts off the first `width` columns. Panics if there are fewer.
    pub(crate) fn split_off(&mut self, width: usize) -> Self {
        assert!(width <= self.width);
        let first = Self { width, ..*self };
        self.start = self.start.wrapping_add(width);
        self.width -= width;
        first
    }

    /// The piece of one row. Panics if the table has no such row.
    #[inline(always)]
    pub(crate) fn row(&mut self, row: usize) -> &mut [T] {
        assert!(row < self.rows);
        // SAFETY: the table has this row, and the piece lies in it. No other strip has these columns,
        // and the borrow of `self` lasts as long as the piece.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(row * self.stride), self.width) }
    }
}

#[cfg(test)]
mod tests {
    use super::Strip;

    #[test]
    fn strips_share_out_a_table() {
        let mut table: Vec<_> = (0..15).collect();
        let mut rest = Strip::new(&mut table, 5);
        let (mut first, mut second) = (rest.split_off(2), rest.split_off(2));
        assert_eq!(first.row(0), [0, 1]);
        assert_eq!(second.row(2), [12, 13]);
        assert_eq!(rest.row(1), [9]);
        rest.row(2)[0] = 0;
        assert_eq!(table[14], 0);
    }

    #[test]
    #[should_panic]
    fn there_is_no_row_behind_the_last() {
        Strip::new(&mut [0; 6], 3).row(2);
    }

    #[test]
    #[should_panic]
    fn there_is_no_column_behind_the_last() {
        Strip::new(&mut [0; 6], 3).split_off(4);
    }
}
