//! The properties of each instruction that the pipeline needs, computed once for all SMs.

use super::latch_entry::{KINDS, LATCH_ENTRIES, LatchEntry};
use super::per::Per;
use super::regs::{RegSet, Regs};
use crate::SLOTS;
use crate::ops::{Op, Ops};
use warpbound_core::base::{Few, RegId, UnitId};
use warpbound_core::machine::Pipeline;
use warpbound_core::machine::{Machine, SubCores};
use warpbound_core::path::Step;
use warpbound_core::program::{Access, BarrierId, Barriers, Codes, Flow, RegList, TimedInstr, TimingTable};

/// An instruction of the program.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Instr {
    /// The registers that must be available, if it waits simply.
    pub waits: [Regs; 2],
    /// Whether it waits simply: it waits for nothing but registers, which lie in two words.
    pub waits_simply: bool,
    /// Whether it writes simply: its completion has no other effect, the scoreboard tracks its
    /// results, and the registers lie in one word.
    pub writes_simply: bool,
    /// The registers that it writes, if it writes simply.
    pub writes: Regs,
    /// The cycles for which it occupies its unit, if they are constant.
    pub init: u64,
    /// The cycles until its result, if they are constant.
    pub total: u64,
    /// The banks that the collector reads for slot 0, counted from the first bank of the sub-core.
    reads: Reads,
    /// The banks that are written for slot 0, counted in the same way.
    written: u64,
    /// The kind of unit that it goes to, if that is constant.
    kind: u8,
    has_kind: bool,
    /// Whether its unit and times are constant, it does not go to the load/store unit, and it is
    /// not a barrier or a similar instruction.
    pub ordinary: bool,
    /// Whether no bank is read by more operands than [`Reads`] can represent.
    pub counted: bool,
    /// Whether the scoreboard tracks its results.
    pub scored: bool,
    /// Whether nothing can wait for its completion, apart from the end of its warp: control codes
    /// apply and name no barrier that it signals, and it needs nothing but a unit.
    pub quiet: bool,
    pub codes: Codes,
    /// A mask with one bit for every register written.
    pub all_writes: u8,
    /// The kind of memory access, if it goes to the load/store unit.
    pub access: Option<Access>,
    pub flow: Flow,
    pub rare: Box<Rare>,
}

/// The properties of an instruction that are rarely needed.
#[derive(Clone, Debug)]
pub(super) struct Rare {
    pub waits: RegSet,
    pub writes: RegSet,
    /// The banks of its operands and of its results, one by one, relative like the masks above.
    operands: Few<u8, 14>,
    results: Few<u8, 14>,
    /// The barriers that its control codes wait for, each with the number of signals that may still be
    /// missing.
    pub barriers: Box<[(BarrierId, usize)]>,
    /// Whether a warp that waits for its result may be waiting for global memory.
    pub loads_global: bool,
    pub op: Op,
}

/// The banks that an instruction reads, and the number of operands in each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reads {
    /// The banks with at least one, at least two and at least three operands.
    pub once: u64,
    pub twice: u64,
    pub thrice: u64,
}

impl Instr {
    /// Prepares an instruction, given the kind of its unit, its access to the load/store unit, if
    /// any, and the bank of each register.
    fn new(
        timed: &TimedInstr,
        op: &Op,
        kind: u8,
        access: Option<Access>,
        bank_of: &impl Fn(RegId) -> u8,
    ) -> Self {
        let regs = |regs: &[u16]| -> RegSet { regs.iter().map(|&reg| RegId::new(reg)).collect() };
        let (waits, writes) = (regs(op.waits()), regs(op.writes()));
        let banks_of =
            |regs: &RegList| -> Few<u8, 14> { regs.as_slice().iter().copied().map(bank_of).collect() };
        let (operands, results) = (banks_of(&timed.operands), banks_of(&timed.results));
        let reads = Reads::of(operands.as_slice().iter().copied());
        let waits_simply = !op.waits_ring && waits.in_two_words().is_some();
        let writes_simply = !timed.unscored && op.flow != Flow::AsyncCopy && writes.in_one_word().is_some();
        Self {
            waits: waits.in_two_words().unwrap_or_default(),
            waits_simply,
            writes: writes.in_one_word().unwrap_or_default(),
            writes_simply,
            init: op.init,
            total: op.total,
            reads: reads.unwrap_or_default(),
            written: results.as_slice().iter().fold(0, |banks, &bank| banks | 1 << bank),
            kind,
            has_kind: !op.special || access.is_some(),
            ordinary: !op.special && access.is_none() && op.flow == Flow::Plain,
            counted: reads.is_some(),
            scored: !timed.unscored,
            quiet: false,
            codes: timed.codes,
            all_writes: (1u16 << results.as_slice().len().min(8)).wrapping_sub(1) as u8,
            access,
            flow: op.flow,
            rare: Box::new(Rare {
                waits,
                writes,
                operands,
                results,
                barriers: Box::default(),
                loads_global: timed.loads_global,
                op: op.clone(),
            }),
        }
    }

    /// Adds what control codes make of an instruction whose waits are registers of `barriers`.
    fn with_codes(mut self, barriers: Barriers) -> Self {
        let Rare { op, barriers: awaited, .. } = &mut *self.rare;
        *awaited = op.waits().iter().map(|&reg| barriers.barrier(RegId::new(reg))).collect();
        let signals = self.codes.done.is_some() || self.codes.copies;
        let needs_unit_only = match self.flow {
            Flow::Plain | Flow::AsyncWait => self.access.is_none(),
            Flow::Exit | Flow::Barrier | Flow::Arrive | Flow::AsyncCopy => false,
        };
        self.quiet = needs_unit_only && !signals;
        self
    }
}

impl Reads {
    /// Returns the banks of these operands, or `None` if a bank has more than three of them.
    pub fn of(operands: impl IntoIterator<Item = u8>) -> Option<Self> {
        let mut reads = Self::default();
        for bank in operands {
            let bank = 1 << bank;
            if reads.thrice & bank != 0 {
                return None;
            }
            reads.thrice |= reads.twice & bank;
            reads.twice |= reads.once & bank;
            reads.once |= bank;
        }
        Some(reads)
    }
}

/// The program, prepared for one machine.
#[derive(Clone, Debug)]
pub(super) struct Code<'a> {
    pub table: &'a TimingTable,
    instrs: Vec<Instr>,
    /// The number of register banks of a sub-core, a mask of all of them, and the first bank of
    /// each sub-core.
    banks: u8,
    all_banks: u64,
    first_banks: [u8; SubCores::MAX],
    /// For each slot, the number of banks by which its registers are shifted.
    moved: [u8; SLOTS],
    /// Whether a sub-core whose instructions find no room in the queues of units can issue only after
    /// an event.
    pub sleeps: bool,
    /// For each unit, with the load/store unit last, its kind, which is its rank in the order of
    /// entry to the collector.
    kinds: Per<u8, KINDS>,
    /// For each kind, its unit.
    units: Per<u8, KINDS>,
    /// The unit number of the load/store unit.
    pub load_store: usize,
    /// For each unit, the latencies of its operations.
    pub times: Vec<Times>,
    /// For each latch entry, except those of the load/store unit, the number of the unit's
    /// instance.
    instances: [u16; LATCH_ENTRIES],
}

/// The shortest and the longest time from a start in a unit to the result, in cycles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub shortest: u64,
    pub longest: u64,
}

/// The unit of one execution, the cycles for which it occupies the unit, and the cycles from its
/// start to the result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    pub unit: u8,
    pub init: u64,
    pub total: u64,
}

impl<'a> Code<'a> {
    /// Prepares the program of a table for a pipeline with these settings.
    pub fn new(table: &'a TimingTable, machine: &Machine, settings: &Pipeline) -> Self {
        let banks = settings.collector.map_or(1, |c| c.banks as usize / machine.sub_cores().count());
        let bank_of = |reg: RegId| (table.reg_number(reg) % banks) as u8;
        let ops = Ops::new(table);
        let order = order(machine, settings);
        let mut units: Vec<u8> = (0..order.len() as u8).collect();
        units.sort_by_key(|&unit| order[usize::from(unit)]);
        let units = Per::new(|kind| units.get(kind).copied().unwrap_or(0));
        let mut kinds = Per::new(|_| 0);
        for kind in (0..order.len()).rev() {
            kinds[usize::from(units[kind])] = kind as u8;
        }
        let instr = |(timed, op): (&TimedInstr, &Op)| {
            let access = timed.access.filter(|_| settings.load_store.is_some());
            let kind = kinds[if access.is_some() { table.units() } else { usize::from(op.unit) }];
            let instr = Instr::new(timed, op, kind, access, &bank_of);
            match table.barriers() {
                Some(barriers) => instr.with_codes(barriers),
                None => instr,
            }
        };
        Self {
            table,
            instrs: table.instrs().iter().zip(ops.all()).map(instr).collect(),
            banks: banks as u8,
            all_banks: u64::MAX >> (u64::BITS as usize - banks),
            first_banks: std::array::from_fn(|sub_core| (sub_core * banks) as u8),
            moved: std::array::from_fn(|slot| (slot % banks) as u8),
            // a queue without a collector gets room again as time passes
            sleeps: settings.collector.is_some() || settings.queue.is_none(),
            load_store: table.units(),
            times: times(table),
            instances: std::array::from_fn(|place| {
                let (unit, sub_core) = (place / SubCores::MAX, place % SubCores::MAX);
                if unit >= table.units() {
                    return 0;
                }
                table.sub_cores().instance(UnitId::from_index(unit), sub_core, table.units()) as u16
            }),
            kinds,
            units,
        }
    }

    #[inline]
    pub fn of(&self, step: Step) -> &Instr {
        &self.instrs[step.pc().index()]
    }

    /// Returns the kind of unit that one execution goes to, the load/store unit included.
    #[inline(always)]
    pub fn kind(&self, step: Step, instr: &Instr) -> u8 {
        if instr.has_kind { instr.kind } else { self.kinds[usize::from(self.timing(step).unit)] }
    }

    /// Returns the latch entry of a kind of unit and a sub-core.
    #[inline]
    pub fn place(&self, kind: u8, sub_core: usize) -> LatchEntry {
        LatchEntry::new(usize::from(self.units[usize::from(kind)]), sub_core)
    }

    /// Returns the unit and the times of one execution.
    #[inline]
    pub fn timing(&self, step: Step) -> Timing {
        let op = &self.of(step).rare.op;
        if !op.special {
            return Timing { unit: op.unit, init: op.init, total: op.total };
        }
        let op = self.table.op(step);
        Timing { unit: op.unit.get(), init: op.init.get(), total: (op.init + op.lat).get() }
    }

    /// Returns the number of a unit's instance.
    #[inline]
    pub fn instance(&self, place: LatchEntry) -> usize {
        usize::from(self.instances[place.index()])
    }

    /// Maps banks of a sub-core, given for slot 0, to the banks of another slot among all banks of
    /// the SM.
    #[inline(always)]
    fn of_slot(&self, banks: u64, slot: u8, sub_core: usize) -> u64 {
        let moved = u32::from(self.moved[usize::from(slot) % SLOTS]);
        // with 64 banks and no shift, this yields the same bits again
        let around = banks.wrapping_shr(u32::from(self.banks).wrapping_sub(moved));
        let moved = (banks.wrapping_shl(moved) | around) & self.all_banks;
        moved.wrapping_shl(self.first_banks[sub_core % SubCores::MAX].into())
    }

    /// Returns the banks that an instruction of a warp reads, if they are
    /// [counted](Instr::counted).
    #[inline(always)]
    pub fn reads(&self, instr: &Instr, slot: u8, sub_core: usize) -> Reads {
        let Reads { once, twice, thrice } = instr.reads;
        let once = self.of_slot(once, slot, sub_core);
        if twice == 0 {
            return Reads { once, ..Reads::default() };
        }
        let [twice, thrice] = [twice, thrice].map(|banks| self.of_slot(banks, slot, sub_core));
        Reads { once, twice, thrice }
    }

    /// Returns the banks that an instruction of a warp writes.
    #[inline(always)]
    pub fn written(&self, instr: &Instr, slot: u8, sub_core: usize) -> u64 {
        self.of_slot(instr.written, slot, sub_core)
    }

    /// Returns the bank of each operand of an instruction of a warp.
    pub fn operand_banks<'s>(
        &'s self,
        instr: &'s Instr,
        slot: u8,
        sub_core: usize,
    ) -> impl Iterator<Item = usize> {
        instr.rare.operands.as_slice().iter().map(move |&home| self.bank(home, slot, sub_core))
    }

    /// Returns the bank of one of the registers that an instruction of a warp writes.
    #[inline]
    pub fn result_bank(&self, instr: &Instr, number: usize, slot: u8, sub_core: usize) -> usize {
        self.bank(instr.rare.results.as_slice()[number], slot, sub_core)
    }

    fn bank(&self, home: u8, slot: u8, sub_core: usize) -> usize {
        self.of_slot(1 << home, slot, sub_core).trailing_zeros() as usize
    }
}

fn times(table: &TimingTable) -> Vec<Times> {
    let mut times = vec![Times { shortest: u64::MAX, longest: 0 }; table.units()];
    for timing in table.instrs().iter().flat_map(|instr| instr.timings()) {
        let (of_unit, total) = (&mut times[timing.unit.index()], (timing.init + timing.lat).get());
        of_unit.shortest = of_unit.shortest.min(total);
        of_unit.longest = of_unit.longest.max(total);
    }
    times
}

/// Returns, by unit with the load/store unit last, its rank in the order of entry to the collector.
fn order(machine: &Machine, settings: &Pipeline) -> Vec<usize> {
    let named = |name: &str| settings.collect.iter().position(|other| other == name);
    let units = machine.units();
    let after = |number: usize| settings.collect.len() + 1 + number;
    let rank = |(number, unit): (usize, &warpbound_core::machine::Unit)| {
        named(&unit.name).map_or(after(number), |place| place + 1)
    };
    let mut order: Vec<usize> = units.iter().enumerate().map(rank).collect();
    order.push(named("memory").map_or(0, |place| place + 1));
    order
}
