//! One layer of the state graph: all distinct states after the same number of issues.
//!
//! States are distinguished by their full keys, never by a hash alone, because a collision could
//! give a wrong "worst". The layer is split into shards by hash, so that several threads can fill
//! it. The numbering of states does not depend on the number of threads.
//!
//! Layers can exhaust the memory. A failed allocation is therefore an error that the search
//! reports; it does not end the process.

use std::collections::TryReserveError;

/// The number of shards of a layer; it is fixed because state numbers depend on it.
pub const SHARDS: usize = 32;

/// The states of one shard, as keys in a hash table with open addressing.
#[derive(Debug, Default)]
pub struct Shard {
    keys: Vec<u16>,
    /// The start of each key in `keys`, and the end of the last.
    starts: Vec<u32>,
    /// The index of the state plus one, by hash; 0 marks a free slot. The length is a power of two.
    slots: Vec<u32>,
}

impl Shard {
    /// Returns the number of states.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Returns the number of words of all keys.
    pub fn words(&self) -> usize {
        self.keys.len()
    }

    /// Returns the size in bytes.
    pub fn bytes(&self) -> usize {
        self.keys.capacity() * size_of::<u16>()
            + (self.starts.capacity() + self.slots.capacity()) * size_of::<u32>()
    }

    /// Returns the key of a state.
    pub fn key(&self, index: usize) -> &[u16] {
        &self.keys[self.starts[index] as usize..self.starts[index + 1] as usize]
    }

    /// Returns the index of the state with this key, after inserting it if it is new.
    ///
    /// # Errors
    /// Returns an error if the memory cannot be allocated.
    pub fn insert(&mut self, hash: u64, key: &[u16]) -> Result<u32, TryReserveError> {
        if self.starts.is_empty() {
            self.starts.try_reserve(1)?;
            self.starts.push(0);
        }
        if (self.len() + 1) * 2 > self.slots.len() {
            self.grow()?;
        }
        let mask = self.slots.len() - 1;
        let mut slot = spread(hash) as usize & mask;
        while self.slots[slot] != 0 {
            let index = self.slots[slot] - 1;
            if self.key(index as usize) == key {
                return Ok(index);
            }
            slot = (slot + 1) & mask;
        }
        self.keys.try_reserve(key.len())?;
        self.starts.try_reserve(1)?;
        let index = self.len() as u32;
        self.slots[slot] = index + 1;
        self.keys.extend_from_slice(key);
        self.starts
            .push(u32::try_from(self.keys.len()).expect("the search ends before a shard has 2^32 words"));
        Ok(index)
    }

    fn grow(&mut self) -> Result<(), TryReserveError> {
        let size = (self.slots.len() * 2).max(64);
        let mut slots = Vec::new();
        slots.try_reserve_exact(size)?;
        slots.resize(size, 0u32);
        for index in 0..self.len() {
            let mut slot = spread(hash(self.key(index))) as usize & (size - 1);
            while slots[slot] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            slots[slot] = index as u32 + 1;
        }
        self.slots = slots;
        Ok(())
    }
}

/// Returns the bits of a hash that select the slot. The shard is selected by the low bits, so the
/// slot must use others.
fn spread(hash: u64) -> u64 {
    hash >> 32
}

/// Returns a hash of a key; its quality affects only speed.
pub fn hash(key: &[u16]) -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for chunk in key.chunks(4) {
        let word = chunk.iter().fold(0u64, |word, &half| word << 16 | u64::from(half));
        state = (state ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
        state ^= state >> 32;
    }
    state = state.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    state ^ state >> 29
}

/// Returns the shard of a hash.
pub fn shard_of(hash: u64) -> usize {
    hash as usize % SHARDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_distinguished_by_their_keys() {
        let mut shard = Shard::default();
        let keys: Vec<Vec<u16>> = (0..5000u16).map(|i| vec![i, i / 3, 7]).collect();
        let first: Vec<u32> = keys.iter().map(|key| shard.insert(hash(key), key).unwrap()).collect();
        let again: Vec<u32> = keys.iter().map(|key| shard.insert(hash(key), key).unwrap()).collect();
        assert_eq!((shard.len(), &first), (5000, &again));
        assert!(keys.iter().zip(&first).all(|(key, &index)| shard.key(index as usize) == key.as_slice()));
    }

    #[test]
    fn equal_hashes_do_not_merge_states() {
        let mut shard = Shard::default();
        assert_ne!(shard.insert(1, &[1]).unwrap(), shard.insert(1, &[2]).unwrap());
    }
}
