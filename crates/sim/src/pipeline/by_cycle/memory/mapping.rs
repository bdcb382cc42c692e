//! The mapping of addresses to slices, and to the addresses within channels and slices.

use super::index::place;
use warpbound_core::machine::memory::{Index, Partitions};

#[derive(Clone, Debug)]
pub(super) struct Mapping {
    settings: Partitions,
}

impl Mapping {
    pub fn new(settings: &Partitions) -> Self {
        Self { settings: settings.clone() }
    }

    /// Returns the slice of an address, counted from the first slice of the first channel on.
    pub fn slice(&self, address: u64) -> usize {
        let Partitions { channels, slices, channel_bit, slice_bit, spread, spread_bits, .. } = self.settings;
        let (channels, slices) = (u64::from(channels), u64::from(slices));
        let channel = address / 2_u64.pow(channel_bit) % channels;
        let slice = self.in_channel(address) / 2_u64.pow(slice_bit) % slices;
        let number = channel * slices + slice;
        if spread == Index::Linear {
            return number as usize;
        }
        let hashed = channels.next_power_of_two() * slices;
        let above =
            address / 2_u64.pow(channel_bit) / if hashed == channels * slices { hashed } else { channels };
        let above = if spread_bits < 64 { above % 2_u64.pow(spread_bits) } else { above };
        (place(above * hashed + number, hashed.ilog2(), spread) % (channels * slices)) as usize
    }

    /// Returns the address without the bits of the channel.
    pub fn in_channel(&self, address: u64) -> u64 {
        let Partitions { channels, channel_bit, .. } = self.settings;
        without(address, u64::from(channels), 2_u64.pow(channel_bit))
    }

    /// Returns the address without the bits of the channel and of the slice.
    pub fn in_slice(&self, address: u64) -> u64 {
        let Partitions { slices, slice_bit, .. } = self.settings;
        without(self.in_channel(address), u64::from(slices), 2_u64.pow(slice_bit))
    }
}

/// Returns an address within its memory, if `count` memories take turns in holding `size` bytes.
fn without(address: u64, count: u64, size: u64) -> u64 {
    address / size / count * size + address % size
}
