//! What of a machine's memory makes a reward and an end. Addresses and weights come from outside;
//! `contracts/emurust/roms/memory.py` says what they mean.

use pyo3::prelude::*;
use twinstep_emurust::Machine;

use crate::arrays::wrong;

/// Bytes in a row; as a number, low byte first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub address: u16,
    pub size: u16,
}

impl Value {
    /// Its bytes, as PyBoy's `memory` reads them.
    pub(super) fn bytes(self, machine: &mut Machine) -> impl Iterator<Item = u8> {
        (0..self.size).map(move |place| machine.peek(self.address.wrapping_add(place)))
    }

    /// Its number, of up to 8 bytes.
    fn number(self, machine: &mut Machine) -> u64 {
        let places = self.bytes(machine).enumerate();
        places.fold(0, |sum, (place, byte)| sum | u64::from(byte) << (8 * place))
    }

    /// How many of its bits are set.
    fn bits(self, machine: &mut Machine) -> u64 {
        self.bytes(machine)
            .map(|byte| u64::from(byte.count_ones()))
            .sum()
    }
}

/// A part of the reward.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    /// How much a number grew in the step; modulo its size and to the nearer side, for it may wrap.
    Change { value: Value, weight: f64 },
    /// How many more bits are set than before the step.
    Bits { value: Value, weight: f64 },
    /// 1 if the episode never had these values together after a step.
    New { values: Vec<Value>, weight: f64 },
}

/// Bytes in which an episode remembers what it had, a bit for each hash; for each [`Part::New`].
pub(super) const MEMORY: usize = 1 << 12;

/// Where reward and end are found.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub reward: Vec<Part>,
    /// The episode ends when this is not 0.
    pub done: Option<Value>,
}

impl Rules {
    /// Bytes that an episode remembers.
    pub(super) fn memory(&self) -> usize {
        let new = self
            .reward
            .iter()
            .filter(|part| matches!(part, Part::New { .. }));
        new.count() * MEMORY
    }

    /// Checks that numbers fit.
    pub(super) fn check(&self) -> PyResult<()> {
        for part in &self.reward {
            match part {
                Part::Change { value, .. } if !(1..=8).contains(&value.size) => {
                    let (address, size) = (value.address, value.size);
                    let found = format!("the number at ${address:04X} has {size} bytes");
                    return Err(wrong(format!("{found}; at most 8 can be a reward's")));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Numbers as of before a step, for [`Rules::reward`].
    pub(super) fn before(&self, machine: &mut Machine, numbers: &mut Vec<u64>) {
        numbers.clear();
        numbers.extend(self.reward.iter().map(|part| match part {
            Part::Change { value, .. } => value.number(machine),
            Part::Bits { value, .. } => value.bits(machine),
            Part::New { .. } => 0,
        }));
    }

    /// The reward of the step since [`Rules::before`], summed in order and in double precision.
    pub(super) fn reward(&self, machine: &mut Machine, before: &[u64], seen: &mut [u8]) -> f32 {
        let mut total = 0.0;
        let mut memories = seen.chunks_exact_mut(MEMORY);
        for (part, before) in self.reward.iter().zip(before) {
            total += match part {
                Part::Change { value, weight } => {
                    weight * change(*before, value.number(machine), value.size)
                }
                Part::Bits { value, weight } => {
                    weight * (value.bits(machine) as f64 - *before as f64)
                }
                Part::New { values, weight } => {
                    let new = memories
                        .next()
                        .is_some_and(|seen| look(machine, values, seen));
                    if new { *weight } else { 0.0 }
                }
            };
        }
        total as f32
    }

    /// Takes note of where an episode begins: that is not new afterwards.
    pub(super) fn begin(&self, machine: &mut Machine, seen: &mut [u8]) {
        seen.fill(0);
        let mut memories = seen.chunks_exact_mut(MEMORY);
        for part in &self.reward {
            if let Part::New { values, .. } = part
                && let Some(seen) = memories.next()
            {
                look(machine, values, seen);
            }
        }
    }

    /// Whether the episode is over.
    pub(super) fn is_over(&self, machine: &mut Machine) -> bool {
        self.done
            .is_some_and(|value| value.bytes(machine).any(|byte| byte != 0))
    }
}

/// `after - before` modulo the size, to the nearer side; half of it counts down.
fn change(before: u64, after: u64, size: u16) -> f64 {
    let span = 1i128 << (8 * u32::from(size));
    let difference = i128::from(after) - i128::from(before);
    ((difference + span / 2).rem_euclid(span) - span / 2) as f64
}

/// Whether an episode has not had these values, which it has then.
fn look(machine: &mut Machine, values: &[Value], seen: &mut [u8]) -> bool {
    // FNV-1a of 32 bits, folded.
    let mut hash: u32 = 0x811C_9DC5;
    for value in values {
        for byte in value.bytes(machine) {
            hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        }
    }
    let place = (hash ^ hash >> 16) as usize % (8 * MEMORY);
    let bit = 1 << (place % 8);
    let new = seen[place / 8] & bit == 0;
    seen[place / 8] |= bit;
    new
}
