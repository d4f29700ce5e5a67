//! The processor, one instruction at a time: the authority on what each does and how long it takes.

mod alu;
mod control;
mod execute;
mod interrupts;
pub(crate) mod lazy_flags;
mod moves;
mod prefixed;
pub(crate) mod registers;
