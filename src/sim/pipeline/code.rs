//! What the pipeline needs of each instruction of the program, worked out once for all SMs.

use super::per::Per;
use super::place::{KINDS, PLACES, Place};
use super::scoreboard::RegSet;
use super::units::Times;
use crate::base::{Few, RegId, UnitId};
use crate::machine::Pipeline;
use crate::machine::{Machine, SubCores};
use crate::path::Step;
use crate::program::{Access, Flow, TimingTable};
use crate::sim::SLOTS;
use crate::sim::ops::{Op, Ops};

/// An instruction.
#[derive(Clone, Debug)]
pub(super) struct Instr {
    /// Registers that must be there, and those that it writes.
    pub waits: RegSet,
    pub writes: RegSet,
    /// The kind of unit it goes to, if that is the same each time.
    kind: u8,
    /// Whether unit and times are the same each time, it does not go to the load/store unit, it takes no part in barriers
    /// and the like, and somebody may wait for its results.
    pub ordinary: bool,
    reads: u8,
    /// Every register written, as a mask.
    pub all_writes: u8,
    /// Where registers of slot 0 are, the ones that the collector reads and then the ones written:
    /// their banks, counted from a sub-core's first one.
    homes: Few<u8, 14>,
    /// What it is to the load/store unit, if it goes there.
    pub access: Option<Access>,
    /// Whether somebody waits for its results.
    pub scored: bool,
    /// Whether a warp that waits for its result may be waiting for global memory.
    pub loads_global: bool,
    pub op: Op,
}

impl Instr {
    /// Where the registers are that the collector reads.
    #[inline]
    pub fn reads(&self) -> &[u8] {
        &self.homes.as_slice()[..usize::from(self.reads)]
    }

    /// Where the registers written are.
    #[inline]
    pub fn written_homes(&self) -> &[u8] {
        &self.homes.as_slice()[usize::from(self.reads)..]
    }
}

/// The program, as one machine runs it.
#[derive(Clone, Debug)]
pub(super) struct Code<'a> {
    pub table: &'a TimingTable,
    instrs: Vec<Instr>,
    /// Register banks of a sub-core, and the first of each.
    banks: u8,
    first_banks: [u8; SubCores::MAX],
    /// By slot: by how many banks its registers are moved on.
    moved: [u8; SLOTS],
    /// Whether nothing but an event lets a sub-core issue that could not before.
    pub sleeps: bool,
    /// By unit, the load/store unit last: its kind, which is its place in the order of entry to the collector; and by
    /// kind the unit.
    kinds: Per<u8, KINDS>,
    units: Per<u8, KINDS>,
    /// The unit number of the load/store unit.
    pub load_store: usize,
    /// By unit: how long its operations take.
    pub times: Vec<Times>,
    /// By place, but for the load/store unit's: the number of the unit's instance.
    instances: [u16; PLACES],
}

/// When and for how long one execution occupies which unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    pub unit: u8,
    pub init: u64,
    pub total: u64,
}

impl<'a> Code<'a> {
    pub fn new(table: &'a TimingTable, machine: &Machine, settings: &Pipeline) -> Self {
        let banks = settings.collector.map_or(1, |c| c.banks as usize / machine.sub_cores().count());
        let home = |reg: RegId| (table.reg_number(reg) % banks) as u8;
        let ops = Ops::new(table);
        let order = order(machine, settings);
        let mut units: Vec<u8> = (0..order.len() as u8).collect();
        units.sort_by_key(|&unit| order[usize::from(unit)]);
        let units = Per::new(|kind| units.get(kind).copied().unwrap_or(0));
        let mut kinds = Per::new(|_| 0);
        for kind in (0..order.len()).rev() {
            kinds[usize::from(units[kind])] = kind as u8;
        }
        let instr = |(instr, op): (&crate::program::TimedInstr, &Op)| {
            let access = instr.access.filter(|_| settings.load_store.is_some());
            let (operands, results) = (instr.operands.as_slice(), instr.results.as_slice());
            Instr {
                waits: op.waits().iter().map(|&reg| RegId::new(reg)).collect(),
                writes: op.writes().iter().map(|&reg| RegId::new(reg)).collect(),
                kind: kinds[if access.is_some() { table.units() } else { usize::from(op.unit) }],
                ordinary: !op.special && access.is_none() && op.flow == Flow::Plain && !instr.unscored,
                reads: operands.len() as u8,
                all_writes: (1u16 << results.len().min(8)).wrapping_sub(1) as u8,
                homes: operands.iter().chain(results).copied().map(home).collect(),
                access,
                scored: !instr.unscored,
                loads_global: instr.loads_global,
                op: op.clone(),
            }
        };
        Self {
            table,
            instrs: table.instrs().iter().zip(ops.all()).map(instr).collect(),
            banks: banks as u8,
            first_banks: std::array::from_fn(|sub_core| (sub_core * banks) as u8),
            moved: std::array::from_fn(|slot| (slot % banks) as u8),
            // a queue without a collector has room again when time comes
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

    /// The kind of unit that one execution goes to, the load/store unit included.
    #[inline(always)]
    pub fn kind(&self, step: Step) -> u8 {
        let instr = self.of(step);
        if !instr.op.special || instr.access.is_some() {
            instr.kind
        } else {
            self.kinds[usize::from(self.timing(step).unit)]
        }
    }

    /// The unit of a kind in a sub-core.
    #[inline]
    pub fn place(&self, kind: u8, sub_core: usize) -> Place {
        Place::new(usize::from(self.units[usize::from(kind)]), sub_core)
    }

    /// Unit and times of one execution.
    #[inline]
    pub fn timing(&self, step: Step) -> Timing {
        let op = &self.of(step).op;
        if !op.special {
            return Timing { unit: op.unit, init: op.init, total: op.total };
        }
        let op = self.table.op(step);
        Timing { unit: op.unit.get(), init: op.init.get(), total: (op.init + op.lat).get() }
    }

    /// The number of a unit's instance.
    #[inline]
    pub fn instance(&self, place: Place) -> usize {
        usize::from(self.instances[place.index()])
    }

    /// The banks of a warp's registers among all banks of the SM.
    #[inline]
    pub fn banks<'h>(
        &self,
        homes: &'h [u8],
        slot: u8,
        sub_core: usize,
    ) -> impl Iterator<Item = usize> + use<'h, 'a> {
        let (banks, first, moved) =
            (self.banks, self.first_banks[sub_core], self.moved[usize::from(slot) % SLOTS]);
        homes.iter().map(move |&home| {
            let place = home.wrapping_add(moved);
            let place = if place >= banks { place.wrapping_sub(banks) } else { place };
            usize::from(first.wrapping_add(place))
        })
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

/// By unit, the load/store unit last: a number that says when it is its turn to enter the collector.
fn order(machine: &Machine, settings: &Pipeline) -> Vec<usize> {
    let named = |name: &str| settings.collect.iter().position(|other| other == name);
    let units = machine.units();
    let after = |number: usize| settings.collect.len() + 1 + number;
    let rank = |(number, unit): (usize, &crate::machine::Unit)| {
        named(&unit.name).map_or(after(number), |place| place + 1)
    };
    let mut order: Vec<usize> = units.iter().enumerate().map(rank).collect();
    order.push(named("memory").map_or(0, |place| place + 1));
    order
}
