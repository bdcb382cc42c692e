//! The memory behind the load/store units: caches, and the lower level that all SMs share.
//!
//! The unit of transport is a [`Request`]: some sectors of 32 bytes of one line of 128 bytes. An SM
//! looks a request up in its [`Cache`], which sends misses and stores through the SM's [`Port`] to
//! [`Lower`]; without a cache the request is sent there directly.
//!
//! The order of one core cycle is: [`Lower::deliver`] to each SM, [`Lower::cycle`] once, then the
//! SMs, which send, and [`Lower::collect`]. In another order each round trip would take a cycle
//! less or more. Where the latency of memory is long enough, all of this can also happen for a
//! window of cycles at a time: [`Lower::run_ahead`], then each SM independently, then
//! [`Lower::follow`].
//!
//! This module models timing only and holds no data. Addresses come with the paths, so nothing here
//! changes what is computed. The same settings, seed and requests give the same cycles. Storage
//! grows only to the largest number of requests that are in flight at once, and by the lines of
//! caches.

mod cache;
mod carried;
mod channel;
mod clock;
mod crossbar;
mod dram;
mod far_half;
mod fixed;
mod halves;
mod jitter;
mod lines;
mod lower;
mod mshr;
mod partition;
mod partitioned;
mod port;
mod set;
mod share;
mod slice;

pub(super) use cache::{Access, Cache};
pub(crate) use carried::CarriedMemory;
pub(super) use lower::Lower;
pub(super) use port::Port;
pub(super) use share::Share;

use warpbound_core::machine::memory::SECTOR_BYTES;

/// A transaction: some sectors of a line.
///
/// Code that takes the first request of a queue copies it from its place in the queue and then
/// removes it. The result of `pop_front`, an `Option<Request>`, would be copied field by field,
/// which takes longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The address divided by 128.
    pub line: u64,
    /// The sectors, as a mask: bit n stands for the bytes 32n to 32n+31.
    pub sectors: u8,
    /// The purpose of the request.
    pub kind: RequestKind,
    /// The SM that sent it; set by its [`Port`].
    pub sm: u16,
    /// The slice of memory that it goes to; set by the [`Port`].
    pub slice: u8,
    /// The 4-byte words of the line that a store writes, one bit each.
    pub words: u32,
    /// The identification for the sender.
    pub token: Token,
}

/// The identification of a request for its sender; the reply contains it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// The instruction that waits for the request, by its number among those in flight.
    Flight(Number),
    /// The slot of the warp that stores.
    Warp(u8),
    /// A fetch of a cache, by the cache's own number.
    Fetch(Number),
    /// Nothing waits for the request.
    None,
}

/// A number without alignment, so that a request takes 24 bytes: a launch spends a good part of its
/// time on copying requests from queue to queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number([u8; 4]);

const _: () = assert!(size_of::<Request>() == 24);

impl From<u32> for Number {
    #[inline]
    fn from(number: u32) -> Self {
        Self(number.to_ne_bytes())
    }
}

impl From<Number> for u32 {
    #[inline]
    fn from(Number(bytes): Number) -> Self {
        Self::from_ne_bytes(bytes)
    }
}

/// The purpose of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// A load.
    Read,
    /// A load of constants or parameters.
    Constant,
    /// A store; it is answered when the data has been written.
    Write,
    /// A read-modify-write at the L2, or at DRAM if there is none.
    Atomic,
    /// The write-back of a victim of a write-back cache. It is never answered.
    WriteBack,
}

impl RequestKind {
    /// Returns whether the request carries data to memory and reads none.
    pub fn is_write(self) -> bool {
        matches!(self, Self::Write | Self::WriteBack)
    }
}

impl Request {
    /// Creates a request that writes all words of its line if it is a store.
    pub fn new(line: u64, sectors: u8, kind: RequestKind, token: Token) -> Self {
        Self { line, sectors, kind, sm: 0, slice: 0, words: u32::MAX, token }
    }

    /// Returns the request restricted to these words of the line.
    pub fn writing(self, words: u32) -> Self {
        Self { words, ..self }
    }

    /// Returns the address of its first byte.
    fn address(&self) -> u64 {
        self.line * 128 + u64::from(self.sectors.trailing_zeros().min(3)) * SECTOR_BYTES
    }

    /// Returns the number of bytes that it covers.
    fn bytes(&self) -> u64 {
        u64::from(self.sectors.count_ones()) * SECTOR_BYTES
    }
}

/// Returns the sectors of a line as masks: all together, or one by one.
fn sectors(together: bool) -> &'static [u8] {
    if together { &[0b1111] } else { &[1, 2, 4, 8] }
}
