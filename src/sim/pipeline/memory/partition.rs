//! A memory partition's way to its DRAM, and which addresses are whose.

use std::collections::VecDeque;

use super::dram::Dram;
use super::jitter::Draws;
use super::slice::Slice;
use super::{Request, index};
use crate::machine::memory::{Index, LINE_BYTES, Partitions};

/// Where addresses lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mapping {
    channels: u64,
    slices: u64,
    channel_bit: u32,
    slice_bit: u32,
    spread: Index,
    /// The bits of what lies above a slice's number that decide what is done to it.
    spread_by: u64,
    bits: u32,
}

impl Mapping {
    pub fn new(settings: &Partitions) -> Self {
        let slices = settings.channels * settings.slices;
        Self {
            channels: settings.channels.into(),
            slices: settings.slices.into(),
            channel_bit: settings.channel_bit,
            slice_bit: settings.slice_bit,
            spread: settings.spread,
            spread_by: 1u64.checked_shl(settings.spread_bits).unwrap_or(0).wrapping_sub(1),
            bits: slices.trailing_zeros(),
        }
    }

    /// The number of an address's slice, channel by channel.
    pub fn slice(&self, address: u64) -> usize {
        let channel = (address >> self.channel_bit) % self.channels;
        let slice = (self.inner(address) >> self.slice_bit) % self.slices;
        let number = channel * self.slices + slice;
        if self.spread == Index::Linear {
            return number as usize;
        }
        // the bits above those that chose the slice decide what is done to its number
        let above = (address >> (self.channel_bit + self.bits)) & self.spread_by;
        index::of(above << self.bits | number, self.bits, self.spread)
    }

    /// The address within its channel.
    pub fn inner(&self, address: u64) -> u64 {
        let low = address & ((1 << self.channel_bit) - 1);
        (((address >> self.channel_bit) / self.channels) << self.channel_bit) | low
    }

    /// The number of a line among those of a slice, for the sets of the L2.
    pub fn line(&self, address: u64) -> u64 {
        let inner = self.inner(address);
        let low = inner & ((1 << self.slice_bit) - 1);
        ((((inner >> self.slice_bit) / self.slices) << self.slice_bit) | low) / LINE_BYTES
    }
}

/// A channel: what its slices send to DRAM waits out a latency, one request per DRAM tick.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    slices: usize,
    latency: u64,
    draws: Draws,
    /// With the L2 tick at which they go on.
    delay: VecDeque<(u64, u8, Request)>,
    pub dram: Dram,
    /// Requests between the slices and the return from DRAM: one for each slice of its own, and
    /// some for all.
    own: Vec<bool>,
    common: usize,
    common_limit: usize,
    served: usize,
}

impl Channel {
    pub fn new(settings: &Partitions, draws: Draws) -> Self {
        let slices = settings.slices as usize;
        let room = (settings.dram.queue + settings.dram.returns) as usize;
        Self {
            slices,
            latency: settings.dram.latency,
            draws,
            delay: VecDeque::new(),
            dram: Dram::new(&settings.dram),
            own: vec![false; slices],
            common: 0,
            common_limit: room.saturating_sub(slices - 1),
            served: slices - 1,
        }
    }

    /// Whether something can happen in the next tick without a push.
    pub fn is_active(&self, tick: u64, slices: &[Slice]) -> bool {
        !self.dram.is_idle()
            || self.delay.front().is_some_and(|&(at, ..)| at <= tick)
            || slices.iter().any(|slice| !slice.to_dram.is_empty())
    }

    /// One DRAM tick, `now`, within the L2 tick `tick`. `slices` are this channel's. Returns the
    /// slice that something came back to, and the tick at which a request goes on to DRAM.
    pub fn cycle(
        &mut self,
        now: u64,
        tick: u64,
        slices: &mut [Slice],
        inner: impl Fn(u64) -> u64,
    ) -> (Option<usize>, Option<u64>) {
        let mut woken = None;
        if let Some(done) = self.dram.done() {
            let (slice, request) = (usize::from(done.slice), done.request);
            if slices[slice].accepts_done() {
                slices[slice].push_done(request);
                self.dram.take_done();
                self.release(slice);
                woken = Some(slice);
            }
        }
        if let Some(written_back) = self.dram.tick(now) {
            self.release(usize::from(written_back.slice));
        }
        let mut alarm = None;
        for n in 1..=self.slices {
            // while DRAM's queue is full nothing sets out for it
            if !self.dram.accepts() {
                break;
            }
            let slice = (self.served + n) % self.slices;
            if slices[slice].to_dram.is_empty() || !slices[slice].accepts_done() || !self.reserve(slice) {
                continue;
            }
            if let Some(request) = slices[slice].to_dram.pop_front() {
                self.served = slice;
                // a jitter delays what is behind it too
                let behind = self.delay.back().map_or(0, |&(at, ..)| at);
                let at = (tick + self.latency + self.draws.next()).max(behind);
                self.delay.push_back((at, slice as u8, request));
                alarm = Some(at);
            }
            break;
        }
        if let Some(&(at, slice, request)) = self.delay.front()
            && at <= tick
            && self.dram.accepts()
        {
            self.delay.pop_front();
            self.dram.push(request, slice, inner(request.address()));
        }
        (woken, alarm)
    }

    fn reserve(&mut self, slice: usize) -> bool {
        if !self.own[slice] {
            self.own[slice] = true;
        } else if self.common < self.common_limit {
            self.common += 1;
        } else {
            return false;
        }
        true
    }

    fn release(&mut self, slice: usize) {
        if self.own[slice] {
            self.own[slice] = false;
        } else {
            self.common -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(channels: u32, slices: u32, spread: Index) -> Mapping {
        Mapping::new(&Partitions { channels, slices, spread, ..Partitions::default() })
    }

    #[test]
    fn lines_are_dealt_out_to_channels_and_slices() {
        let m = mapping(16, 2, Index::Linear);
        assert_eq!([0, 32, 128, 256, 384, 512].map(|a| m.slice(a)), [0, 0, 1, 2, 3, 4]);
        assert_eq!(m.slice(16 * 256), 0);
        assert_eq!(m.inner(16 * 256 + 128 + 5), 256 + 128 + 5);
        // lines of one slice are numbered without gaps
        let of_slice_three = (0..512).map(|n| n * 128).filter(|&a| m.slice(a) == 3);
        assert!(of_slice_three.map(|a| m.line(a)).eq(0..16));
        // numbers of channels that are no power of two
        let m = mapping(3, 1, Index::Linear);
        assert_eq!([0, 256, 512, 768].map(|a| m.slice(a)), [0, 1, 2, 0]);
        let of_channel_one = (0..60).map(|n| n * 128).filter(|&a| m.slice(a) == 1);
        assert!(of_channel_one.map(|a| m.line(a)).eq(0..20));
    }

    #[test]
    fn spreading_permutes_the_slices_of_each_row() {
        let m = mapping(16, 2, Index::Polynomial);
        for row in [0, 1, 77, 0x60000] {
            let mut seen = [0; 32];
            for line in 0..32 {
                seen[m.slice(row << 13 | line << 7)] += 1;
            }
            assert_eq!(seen, [1; 32], "row {row}");
        }
        let strided: std::collections::BTreeSet<_> = (0..32).map(|n| m.slice(n << 13)).collect();
        assert!(strided.len() > 16, "a stride of 8192 bytes meets {} slices", strided.len());
        // bits beyond those that take part
        let narrow = Partitions {
            channels: 16,
            slices: 2,
            spread: Index::Polynomial,
            spread_bits: 15,
            ..Partitions::default()
        };
        let narrow = Mapping::new(&narrow);
        for address in (0..4096).map(|n| n * 128 * 37) {
            assert_eq!(narrow.slice(0xc000_0000 + address), m.slice(address));
        }
        assert_ne!(m.slice(0xc000_0000), m.slice(0));
    }
}
