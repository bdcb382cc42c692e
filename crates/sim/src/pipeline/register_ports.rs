//! The read ports of the register banks of each sub-core, and the register cache behind them.
//!
//! Code with control codes relies on the number of cycles between two instructions, and hardware
//! checks nothing there. An instruction that waits for ports therefore delays all that follow it by
//! as much as itself: the sub-core holds it and issues nothing else. Only the order of reads
//! matters for that, so that the cycles between issue and the first read are left out, and an
//! instruction that issues in cycle t reads in the cycles from t to t + window - 1.
//!
//! An instruction reads as early as the ports of a bank allow. From the first of its cycles on,
//! those in which a bank is busy therefore come before all those in which it is free, and one
//! number per bank describes them.

use super::per::PerSubCore;
use warpbound_core::base::WarpMask;
use warpbound_core::machine::pipeline::RegisterFile as Settings;
use warpbound_core::program::{PortRead, PortReads};

const BANKS: usize = Settings::MOST_BANKS as usize;
/// The number of operand slots that a word can mark.
const OPERAND_SLOTS: usize = 8;

/// A register of a warp in the cache.
type Cached = Option<(u8, u8)>;

/// An instruction that the policy has selected and that waits for ports.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub slot: usize,
    /// The cycle in which it issues.
    pub until: u64,
}

/// The register file of a sub-core.
#[derive(Clone, Debug)]
struct OfSubCore {
    /// For each bank, the number of reads that its ports could have done before the first one that
    /// they are free for: with two ports, 7 stands for the second read of cycle 3.
    next: [u64; BANKS],
    cache: [[Cached; OPERAND_SLOTS]; BANKS],
    held: Option<Held>,
}

/// The register files of an SM.
#[derive(Clone, Debug)]
pub(super) struct RegisterPorts {
    settings: Settings,
    sub_cores: PerSubCore<OfSubCore>,
}

impl RegisterPorts {
    pub fn new(settings: Settings) -> Self {
        let empty = |_| OfSubCore { next: [0; BANKS], cache: [[None; OPERAND_SLOTS]; BANKS], held: None };
        Self { settings, sub_cores: PerSubCore::new(empty) }
    }

    /// Returns the instruction that a sub-core holds.
    pub fn held(&self, sub_core: usize) -> Option<Held> {
        self.sub_cores[sub_core].held
    }

    /// Sets the instruction that a sub-core holds.
    pub fn hold(&mut self, sub_core: usize, held: Option<Held>) {
        self.sub_cores[sub_core].held = held;
    }

    /// Returns the first cycle from now on in which an instruction of a warp could issue.
    pub fn first_cycle(&self, sub_core: usize, slot: usize, reads: &PortReads, now: u64) -> u64 {
        let ports = u64::from(self.settings.ports);
        let counts = self.counts(sub_core, slot, reads);
        let of_bank = |(&count, &next): (&u64, &u64)| {
            // if the bank is free in cycle t already, this is at most t
            (next + count).div_ceil(ports).saturating_sub(self.window(reads, count))
        };
        let busy = counts.iter().zip(&self.sub_cores[sub_core].next).filter(|(count, _)| **count > 0);
        busy.map(of_bank).fold(now, u64::max)
    }

    /// Lets an instruction of a warp, which issues in this cycle, read its registers.
    pub fn read(&mut self, sub_core: usize, slot: usize, reads: &PortReads, now: u64) {
        let (counts, first) = (self.counts(sub_core, slot, reads), now * u64::from(self.settings.ports));
        let (banks, caches) = (self.settings.banks, self.settings.cache);
        let of_sub_core = &mut self.sub_cores[sub_core];
        for (next, count) in of_sub_core.next.iter_mut().zip(counts).filter(|(_, count)| *count > 0) {
            *next = (*next).max(first) + count;
        }
        for &PortRead { register, slot: operand, reuse } in reads.list.as_slice().iter().filter(|_| caches) {
            let Some(operand) = operand else { continue };
            let entry = &mut of_sub_core.cache[usize::from(register) % banks as usize];
            entry[usize::from(operand) % OPERAND_SLOTS] = reuse.then_some((slot as u8, register));
        }
    }

    /// Removes the registers of these warps, which begin, from the cache.
    pub fn forget(&mut self, slots: WarpMask) {
        let entries = self.sub_cores.iter_mut().flat_map(|sub_core| sub_core.cache.iter_mut().flatten());
        for entry in entries {
            *entry = entry.filter(|(slot, _)| !slots.has(usize::from(*slot)));
        }
    }

    /// Returns the number of cycles in which an instruction reads this many registers of a bank.
    fn window(&self, reads: &PortReads, count: u64) -> u64 {
        let Settings { window, wide_window, ports, .. } = self.settings;
        u64::from(if reads.wide { wide_window } else { window }).max(count.div_ceil(ports.into()))
    }

    /// Returns the number of registers that an instruction of a warp reads in each bank. A register
    /// is read once, even if it is several operands.
    fn counts(&self, sub_core: usize, slot: usize, reads: &PortReads) -> [u64; BANKS] {
        let (banks, list) = (self.settings.banks as usize, reads.list.as_slice());
        let cache = &self.sub_cores[sub_core].cache;
        let is_cached = |read: &PortRead| {
            let bank = &cache[usize::from(read.register) % banks];
            read.slot.is_some_and(|operand| {
                bank[usize::from(operand) % OPERAND_SLOTS] == Some((slot as u8, read.register))
            })
        };
        let mut counts = [0; BANKS];
        for (number, read) in list.iter().enumerate().filter(|(_, read)| !is_cached(read)) {
            let again = |other: &PortRead| other.register == read.register && !is_cached(other);
            if !list[..number].iter().any(again) {
                counts[usize::from(read.register) % banks] += 1;
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(registers: &[(u8, u8, bool)]) -> PortReads {
        let read = |&(register, slot, reuse): &_| PortRead { register, slot: Some(slot), reuse };
        PortReads { list: registers.iter().map(read).collect(), wide: false }
    }

    /// Issues instructions of a warp as early as possible, and returns the cycles.
    fn cycles(settings: Settings, instructions: &[PortReads]) -> Vec<u64> {
        let (mut ports, mut now) = (RegisterPorts::new(settings), 0);
        let issue = |reads: &PortReads| {
            let at = ports.first_cycle(0, 3, reads, now);
            ports.read(0, 3, reads, at);
            now = at + 1;
            at
        };
        instructions.iter().map(issue).collect()
    }

    /// Listing 1 of Huerta et al., 2025: the second of two FFMA waits for no cycle, one or two,
    /// depending on how many of its operands are in the bank of the first one's.
    #[test]
    fn an_instruction_waits_for_what_its_window_does_not_hold() {
        let first = reads(&[(10, 0, false), (12, 1, false), (14, 2, false)]);
        for (x, y, waits) in [(5, 7, 0), (4, 7, 1), (4, 6, 2)] {
            let second = reads(&[(16, 0, false), (x, 1, false), (y, 2, false)]);
            assert_eq!(cycles(Settings::default(), &[first.clone(), second]), [0, 1 + waits]);
        }
    }

    #[test]
    fn a_long_sequence_takes_the_cycles_of_its_fuller_bank() {
        let of = |registers: [u8; 3]| reads(&[0, 1, 2].map(|n| (registers[n], n as u8, false)));
        let last = |instructions: [PortReads; 2]| {
            let all: Vec<PortReads> = instructions.iter().cycle().take(101).cloned().collect();
            *cycles(Settings::default(), &all).last().unwrap()
        };
        // three of a bank: 3 cycles each, of which the window absorbs none
        assert_eq!(last([of([2, 4, 6]), of([8, 10, 12])]), 300);
        // two of a bank and one of the other: 2 each, except for one cycle in the first window
        assert_eq!(last([of([2, 4, 7]), of([8, 10, 13])]), 199);
        // three of each bank in two instructions: the last one, with one less, is not full
        assert_eq!(last([of([2, 4, 7]), of([8, 11, 13])]), 149);
        // a register that is two operands is read once
        assert_eq!(last([of([2, 2, 3]), of([2, 2, 3])]), 100);
    }

    /// The examples of Huerta et al., 2025, for the register cache: which reads of register 2, or
    /// of others, need a port.
    #[test]
    fn a_register_with_the_reuse_bit_stays_until_the_next_read() {
        let mut ports = RegisterPorts::new(Settings::default());
        let mut count = |slot, reads: &PortReads| {
            let count = ports.counts(0, slot, reads)[0];
            ports.read(0, slot, reads, 0);
            count
        };
        let (marked, plain) = (reads(&[(2, 0, true)]), reads(&[(2, 0, false)]));
        let mut numbers = |steps: &[(usize, &PortReads)]| -> Vec<u64> {
            steps.iter().map(|&(slot, reads)| count(slot, reads)).collect()
        };
        assert_eq!(numbers(&[(3, &marked), (3, &plain), (3, &plain)]), [1, 0, 1]);
        assert_eq!(numbers(&[(3, &marked), (3, &marked), (3, &plain)]), [1, 0, 0]);
        // another operand slot, and the other bank, leave it in place
        let (elsewhere, other_bank) = (reads(&[(2, 1, false)]), reads(&[(7, 0, false)]));
        assert_eq!(numbers(&[(3, &marked), (3, &elsewhere), (3, &other_bank), (3, &plain)]), [1, 1, 0, 0]);
        // another register of the bank in this slot, and another warp, do not
        let other = reads(&[(4, 0, false)]);
        assert_eq!(numbers(&[(3, &marked), (3, &other), (3, &plain)]), [1, 1, 1]);
        assert_eq!(numbers(&[(3, &marked), (7, &plain), (3, &plain)]), [1, 1, 1]);
    }

    #[test]
    fn without_the_cache_every_operand_is_read() {
        let settings = Settings { cache: false, ..Settings::default() };
        let one = reads(&[(2, 0, true), (4, 1, true), (6, 2, true)]);
        let all = vec![one; 5];
        assert_eq!(cycles(settings, &all), [0, 3, 6, 9, 12]);
        assert_eq!(cycles(Settings::default(), &all), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn more_ports_and_longer_windows_hold_more() {
        let six = reads(&[2, 4, 6, 8, 10, 12].map(|register| (register, 0, false)));
        let wide = PortReads { wide: true, ..six.clone() };
        // it takes six cycles of a bank with one port in either case
        assert_eq!(cycles(Settings::default(), &[six.clone(), six.clone()]), [0, 6]);
        assert_eq!(cycles(Settings::default(), &[wide.clone(), wide]), [0, 6]);
        let two = Settings { ports: 2, ..Settings::default() };
        assert_eq!(cycles(two, &[six.clone(), six.clone()]), [0, 3]);
        assert_eq!(cycles(Settings { window: 8, ..two }, &[six.clone(), six]), [0, 1]);
    }
}
