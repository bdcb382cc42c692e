//! The memory behind the load/store units: caches, and the lower level that all SMs share.
//!
//! The unit of transport is a [`Request`]: some sectors of 32 bytes of one line of 128 bytes. An
//! SM looks a request up in its [`Cache`], which sends what it lacks, and stores, through the SM's [`Port`] to
//! [`Lower`]; without a cache it goes there as it is.
//!
//! The order of one core cycle is: [`Lower::deliver`] to each SM, [`Lower::cycle`] once, then the SMs, which send, and
//! [`Lower::collect`]. In another order each round trip takes a cycle less or more. Where the way to memory is
//! long enough, all that can happen as well for a window of cycles at a time: [`Lower::run_ahead`], then the
//! SMs, each for itself, then [`Lower::follow`].
//!
//! What stands here is timing only: no data. Addresses come with the paths, so nothing here
//! changes what is computed. Same settings, seed and requests: same cycles. Storage only
//! grows to the largest number of requests that are under way at once, and by the lines that caches hold.

mod cache;
mod channel;
mod clock;
mod crossbar;
mod dram;
mod fixed;
mod halves;
mod index;
mod jitter;
mod left;
mod lines;
mod lower;
mod mapping;
mod mshr;
mod partition;
mod partitioned;
mod port;
mod set;
mod share;
mod slice;

pub(super) use cache::{Access, Cache};
pub(in crate::sim) use left::MemoryLeft;
pub(super) use lower::Lower;
pub(super) use port::Port;
pub(super) use share::Share;

use super::flight::FlightId;
use crate::machine::memory::SECTOR_BYTES;

/// A transaction: some sectors of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Address / 128.
    pub line: u64,
    /// Bit n: the sector of bytes 32n to 32n+31.
    pub sectors: u8,
    /// What it is for.
    pub kind: RequestKind,
    /// The SM that sent it; set by its [`Port`].
    pub sm: u16,
    /// The slice of memory that it goes to; set there.
    pub slice: u8,
    /// The words of 4 bytes of the line that a store writes, one bit each.
    pub words: u32,
    /// Whose it is.
    pub token: Token,
}

/// What the sender of a request knows it by; given back in the reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// The instruction that waits for it.
    Flight(FlightId),
    /// The slot of the warp that stores.
    Warp(u8),
    /// A cache's fetch, by the cache's own number.
    Fetch(u32),
    /// Nobody waits.
    None,
}

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// A load.
    Read,
    /// A load of constants or parameters.
    Constant,
    /// A store; answered when it has reached its place.
    Write,
    /// A read-modify-write at the L2, or at DRAM if there is none.
    Atomic,
    /// A line that made room in a write-back cache. Never answered.
    WriteBack,
}

impl RequestKind {
    /// Whether it carries data to memory without asking for any.
    pub fn is_write(self) -> bool {
        matches!(self, Self::Write | Self::WriteBack)
    }
}

impl Request {
    /// A new one.
    pub fn new(line: u64, sectors: u8, kind: RequestKind, token: Token) -> Self {
        Self { line, sectors, kind, sm: 0, slice: 0, words: u32::MAX, token }
    }

    /// A store that writes these words of the line only.
    pub fn writing(self, words: u32) -> Self {
        Self { words, ..self }
    }

    /// The address of its first byte.
    fn address(&self) -> u64 {
        self.line * 128 + u64::from(self.sectors.trailing_zeros().min(3)) * SECTOR_BYTES
    }

    /// How many bytes it covers.
    fn bytes(&self) -> u64 {
        u64::from(self.sectors.count_ones()) * SECTOR_BYTES
    }
}

/// The sectors of a line as masks: all together, or one by one.
fn sectors(together: bool) -> &'static [u8] {
    if together { &[0b1111] } else { &[1, 2, 4, 8] }
}
