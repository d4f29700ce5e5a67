//! The idle predictor: where it is worth looking for a loop that waits.

/// Addresses share their entries.
const ENTRIES: usize = 64;
/// The number of slices to let pass doubles at most so often after loops that did not wait.
const MOST_DOUBLINGS: u8 = 7;

/// Experience with the places at which slices began. It only saves time.
#[derive(Clone)]
pub(crate) struct IdlePredictor {
    /// Slices to let pass.
    skip: [u8; ENTRIES],
    /// Failures since the last success.
    failures: [u8; ENTRIES],
}

impl IdlePredictor {
    pub fn new() -> Self {
        Self {
            skip: [0; ENTRIES],
            failures: [0; ENTRIES],
        }
    }

    /// Whether to look for a loop that waits here.
    #[inline]
    pub fn try_at(&mut self, pc: u16) -> bool {
        let skip = &mut self.skip[usize::from(pc) % ENTRIES];
        let now = *skip == 0;
        *skip = skip.saturating_sub(1);
        now
    }

    /// Learns whether there was one.
    pub fn learn(&mut self, pc: u16, waits: bool) {
        let entry = usize::from(pc) % ENTRIES;
        let failures = &mut self.failures[entry];
        if waits {
            *failures = 0;
        } else {
            self.skip[entry] = (1 << *failures) - 1;
            *failures = MOST_DOUBLINGS.min(*failures + 1);
        }
    }
}
