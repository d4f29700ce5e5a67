//! The fast path: plain instructions in a row, without a look at the clock between them.
//!
//! A ROM bank is decoded once into ops ([`decode`]), of which some stand for several instructions
//! ([`superops`]). A block run ([`block`]) plays them with the registers at hand, each op calling the
//! next one ([`threaded`], [`handlers`], [`live`]). [`entry`] decides how far a run may go, and brings the other
//! units up to it.

pub(crate) mod block;
pub(crate) mod decode;
mod entry;
mod handlers;
mod live;
pub(crate) mod superops;
mod threaded;
