//! The memory traffic of an access: transactions.

use super::memory::words_of;
use super::{Instr, Sm};
use warpbound_core::isa::Space;
use warpbound_core::machine::memory::{LINE_BYTES, SECTOR_BYTES};
use warpbound_core::path::LineUse;
use warpbound_core::program::Access;

/// A transaction: the sectors, and the words that a store writes in them.
pub(super) type Transaction = (Vec<u64>, Vec<u64>);

impl Sm<'_> {
    /// Determines the memory traffic of an access that is about to issue.
    pub(super) fn claim(&mut self, instr: &mut Instr, access: Access) {
        let table = self.given.table;
        let Some(unit) = &self.load_store else { return };
        let space = table.space(instr.step);
        let bytes = unit.transaction_bytes(space);
        if table.moves_lines(instr.step) {
            let group = self.warps[instr.slot].group();
            for (number, line) in group.iter().enumerate() {
                let behind = group.get(number + 1).and_then(|next| next.written_before());
                instr.traffic.extend(transactions(*line, behind.unwrap_or(line.written()), bytes));
            }
        }
        instr.transactions = instr.traffic.len() as u32;
        if access == Access::Atomic && unit.atomics_block() {
            self.warps[instr.slot].atomics += if space == Space::Shared { 1 } else { instr.transactions };
        }
    }
}

/// Divides the sectors of a line into transactions of this many bytes, in ascending order. `words`
/// are the words of the line that are written, one bit each.
fn transactions(line: LineUse, words: u32, bytes: u64) -> Vec<Transaction> {
    let mut all: Vec<Transaction> = Vec::new();
    let first = line.line() * LINE_BYTES / SECTOR_BYTES;
    for sector in (first..first + 4).filter(|sector| line.sectors() >> (sector - first) & 1 == 1) {
        let part = |sector: u64| sector * SECTOR_BYTES / bytes.max(SECTOR_BYTES);
        match all.last_mut() {
            Some((sectors, _)) if part(sectors[0]) == part(sector) => sectors.push(sector),
            _ => all.push((vec![sector], Vec::new())),
        }
    }
    for (sectors, written) in &mut all {
        let is_written = |word: &u64| words >> (word - first * 8) & 1 == 1;
        written.extend(words_of(sectors).into_iter().filter(is_written));
    }
    all
}
