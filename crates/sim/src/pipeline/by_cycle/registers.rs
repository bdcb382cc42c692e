//! The register banks of a sub-core: the reads of every port in every cycle, and the register cache
//! as a list of what it has.

use std::collections::BTreeMap;

use crate::key::Key;
use warpbound_core::machine::pipeline::RegisterFile as Settings;
use warpbound_core::program::{PortRead, PortReads};

#[derive(Clone)]
pub(super) struct Registers {
    settings: Settings,
    /// The number of reads of a bank in a cycle, from the present cycle on.
    reads: BTreeMap<(u64, u32), u32>,
    /// The warp and the register in the entry of a bank and an operand slot.
    cache: BTreeMap<(u32, u8), (usize, u8)>,
    /// The warp whose next instruction was selected and waits for ports.
    pub held: Option<usize>,
}

impl Registers {
    pub fn new(settings: Settings) -> Self {
        Self { settings, reads: BTreeMap::new(), cache: BTreeMap::new(), held: None }
    }

    fn bank(&self, register: u8) -> u32 {
        u32::from(register) % self.settings.banks
    }

    /// Returns the registers of a bank that an instruction of a warp reads through ports.
    fn needed(&self, bank: u32, slot: usize, reads: &PortReads) -> Vec<u8> {
        let has = |operand: u8, register: u8| self.cache.get(&(bank, operand)) == Some(&(slot, register));
        let mut needed: Vec<u8> = reads
            .list
            .as_slice()
            .iter()
            .filter(|read| self.bank(read.register) == bank)
            .filter(|read| !read.slot.is_some_and(|operand| has(operand, read.register)))
            .map(|read| read.register)
            .collect();
        needed.sort_unstable();
        needed.dedup();
        needed
    }

    /// Returns, for each bank, the cycles in which an instruction that issues now would read it, one
    /// for each register; `None` if there are not enough in its window.
    fn cycles(&self, slot: usize, reads: &PortReads, now: u64) -> Option<Vec<(u64, u32)>> {
        let Settings { banks, ports, window, wide_window, .. } = self.settings;
        let mut taken = Vec::new();
        for bank in 0..banks {
            let count = self.needed(bank, slot, reads).len();
            let mut length = if reads.wide { wide_window } else { window };
            while (length * ports) < count as u32 {
                length += 1;
            }
            let mut free = Vec::new();
            for at in now..now + u64::from(length) {
                let busy = self.reads.get(&(at, bank)).copied().unwrap_or(0);
                free.extend((busy..ports).map(|_| (at, bank)));
            }
            if free.len() < count {
                return None;
            }
            taken.extend_from_slice(&free[..count]);
        }
        Some(taken)
    }

    /// Returns whether an instruction of a warp that issues now can read its registers in time.
    pub fn lets(&self, slot: usize, reads: &PortReads, now: u64) -> bool {
        self.cycles(slot, reads, now).is_some()
    }

    /// Lets an instruction of a warp read its registers.
    pub fn read(&mut self, slot: usize, reads: &PortReads, now: u64) {
        for at in self.cycles(slot, reads, now).expect("ports are free") {
            *self.reads.entry(at).or_default() += 1;
        }
        self.reads.retain(|&(at, _), _| at >= now);
        if !self.settings.cache {
            return;
        }
        for &PortRead { register, slot: operand, reuse } in reads.list.as_slice() {
            if let Some(operand) = operand {
                let entry = (self.bank(register), operand);
                self.cache.remove(&entry);
                if reuse {
                    self.cache.insert(entry, (slot, register));
                }
            }
        }
    }

    /// Removes the registers of a warp that begins.
    pub fn forget(&mut self, slot: usize) {
        self.cache.retain(|_, (other, _)| *other != slot);
    }

    /// Adds the registers to the key of a state.
    pub fn key(&self, now: u64, key: &mut Key) {
        key.put(self.held.map_or(0, |slot| slot as u64 + 1));
        let later: Vec<_> = self.reads.iter().filter(|((at, _), _)| *at >= now).collect();
        key.list(later, |key, (&(at, bank), &count)| {
            key.until(at, now);
            key.put(bank.into());
            key.put(count.into());
        });
        key.list(&self.cache, |key, (&(bank, operand), &(slot, register))| {
            key.put(bank.into());
            key.put(operand.into());
            key.put(slot as u64);
            key.put(register.into());
        });
    }
}
