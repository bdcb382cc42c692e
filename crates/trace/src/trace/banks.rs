//! A profile of the bank conflicts of accesses to shared memory.

use std::collections::BTreeMap;

use super::{Event, Issue, Needs, Observer};
use warpbound_core::base::Pc;
use warpbound_core::program::TimingTable;

/// The accesses of one instruction to shared memory, summed over its executions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BankUse {
    /// The number of warp executions.
    pub accesses: u64,
    /// The number of transactions that they took in total.
    pub transactions: u64,
    /// The number of transactions that they would have taken without conflicts.
    pub without_conflicts: u64,
    /// The largest number of transactions of one execution.
    pub worst: u32,
}

impl BankUse {
    /// Adds the accesses of another instruction.
    #[inline]
    pub fn add(&mut self, other: &Self) {
        self.accesses += other.accesses;
        self.transactions += other.transactions;
        self.without_conflicts += other.without_conflicts;
        self.worst = self.worst.max(other.worst);
    }

    /// Returns the transactions per access, or 0 if there was no access.
    #[inline]
    pub fn average(&self) -> f64 {
        if self.accesses == 0 { 0.0 } else { self.transactions as f64 / self.accesses as f64 }
    }
}

/// Collects [`BankUse`] by instruction. The profile is empty on a machine without bank conflicts.
pub struct BankProfile<'a> {
    table: &'a TimingTable,
    /// The accesses by address; all zero for an instruction without accesses.
    by_pc: Vec<BankUse>,
}

impl<'a> BankProfile<'a> {
    /// Creates an empty profile of a program on a machine.
    #[inline]
    pub fn new(table: &'a TimingTable) -> Self {
        Self { table, by_pc: vec![BankUse::default(); table.instrs().len()] }
    }

    /// Returns every instruction that accessed shared memory, in program order.
    #[inline]
    pub fn by_pc(&self) -> impl Iterator<Item = (Pc, &BankUse)> {
        let accessed = |(_, used): &(usize, &BankUse)| used.accesses > 0;
        self.by_pc.iter().enumerate().filter(accessed).map(|(index, used)| (Pc::from_index(index), used))
    }

    /// Returns the accesses like [`BankProfile::by_pc`], summed over the instructions of each
    /// source line.
    #[inline]
    pub fn by_line(&self, line: impl Fn(Pc) -> u32) -> BTreeMap<u32, BankUse> {
        let mut lines: BTreeMap<u32, BankUse> = BTreeMap::new();
        for (pc, used) in self.by_pc() {
            lines.entry(line(pc)).or_default().add(used);
        }
        lines
    }
}

impl Observer for BankProfile<'_> {
    fn needs(&self) -> Needs {
        Needs::EVENTS
    }

    fn on(&mut self, event: &Event) {
        match event {
            Event::Issued(issue) => self.issued(issue),
            Event::Sm(_)
            | Event::BlockStarted(_)
            | Event::Idled(_)
            | Event::BarrierReleased(_)
            | Event::WarpFinished(_)
            | Event::BlockEnded { .. }
            | Event::Sampled(_) => {}
        }
    }
}

impl BankProfile<'_> {
    fn issued(&mut self, issue: &Issue) {
        if let Some((transactions, without)) = self.table.bank_transactions(issue.step) {
            self.by_pc[issue.step.pc().index()].add(&BankUse {
                accesses: 1,
                transactions: u64::from(transactions),
                without_conflicts: u64::from(without),
                worst: transactions,
            });
        }
    }
}
