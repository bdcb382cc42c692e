//! The comparison of bounds with every block of a small grammar.
//!
//! A block of the grammar has two to four warps without barriers; each instruction runs on one of
//! two units and reads the results of any subset of the instructions before it in its warp.
//! Machines give each unit an initiation interval and a latency from short lists. Two warps of up
//! to 3 instructions form 399,600 blocks, and three of up to 2 form 31,680; two of up to 4 form
//! 86.9 million. The order of warps does not affect the set of all schedules, so blocks are
//! multisets of warps. Swapping the two units does not affect it either. Only machines whose first
//! unit does not come after the second in the lists are examined, and each block is counted with
//! the number of blocks that it represents.
//!
//! Blocks are numbered, so that a campaign can be run in parts. The exact worst case is found by
//! following every work-conserving schedule, one by one. This code is independent of
//! [`search`](super::schedules::search), with which `tests/bound/evidence.rs` compares it. The
//! bounds are those of [`warpbound_bound`], with warps analysed once per machine.

use std::ops::Range;
use std::sync::Mutex;

use warpbound_bound::{self as bound, Analyser, Bound, BoundValue, SectionAnalysis};
use warpbound_core::base::{BlockId, LaneMask, Pc, ProgressMonitor, RegId, WarpId};
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText};
use warpbound_core::machine::{Features, Machine, MachineSpec};
use warpbound_core::path::{BlockPaths, Step, WarpPath};
use warpbound_core::program::{Flow, Instr, KernelCode, RegKind, Register, Sem, TimingTable};

/// The number of units of a machine of the grammar.
pub const UNITS: usize = 2;
/// The largest number of warps of a block.
pub const MAX_WARPS: usize = 4;
/// The largest number of instructions of a warp.
pub const MAX_INSTRUCTIONS: usize = 5;
/// The number of violations kept per bound.
const KEPT: usize = 4;
/// The number of blocks that a thread takes at a time.
const PART: u64 = 1 << 14;
/// The number of blocks between two notifications of a `ProgressMonitor`.
const BLOCKS_PER_NOTIFICATION: u64 = 256;
/// A stop request is tested where at least this number of instructions remain, because many
/// thousand schedules may follow from there.
const LONG: usize = 10;

/// A grammar of blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grammar {
    warps: usize,
    /// Every warp, as `(unit, mask of earlier instructions that it reads)` per instruction.
    codes: Vec<Vec<(u8, u8)>>,
    /// Every machine, as `(init, lat)` of its units, and the number of machines that it represents.
    machines: Vec<([(u16, u16); UNITS], u64)>,
}

/// The results for one bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The bound's name.
    pub name: &'static str,
    /// The number of blocks whose worst makespan exceeds the bound.
    pub violated: u64,
    /// The number of blocks in which some warp's worst finish exceeds the bound's value for that
    /// warp.
    pub warp_violated: u64,
    /// The number of blocks whose worst makespan equals the bound.
    pub tight: u64,
    /// The sum of the bound over all blocks, in cycles.
    pub sum: u64,
    /// The largest ratio of worst makespan to bound: (makespan, bound, block).
    pub closest: (u64, u64, u64),
    /// The numbers of the first blocks with a violation by the block or by a warp.
    pub first: Vec<u64>,
}

/// The result of an enumeration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The number of blocks examined.
    pub blocks: u64,
    /// The number of blocks that these represent, including those with swapped units. All counts
    /// below refer to this number.
    pub stands_for: u64,
    /// The number of schedules followed to their end, for the blocks examined.
    pub schedules: u64,
    /// The sum of the worst makespans, in cycles.
    pub worst_sum: u64,
    /// The results for each bound, in the given order.
    pub bounds: Vec<Tally>,
}

/// The error for a grammar whose parameters are out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "grammars have 1 to {MAX_WARPS} warps of 1 to {MAX_INSTRUCTIONS} instructions, \
             inits from 1 to 1000, and latencies up to 1000"
        )
    }
}

impl std::error::Error for TooLarge {}

impl Grammar {
    /// Creates the default grammar: init in {1, 2, 3, 5}, lat in {0, 1, 4}.
    ///
    /// # Errors
    /// Returns an error if there are too many warps or instructions.
    pub fn new(warps: usize, longest: usize) -> Result<Self, TooLarge> {
        Self::with_timing(warps, longest, &[1, 2, 3, 5], &[0, 1, 4])
    }

    /// Creates the grammar of blocks of `warps` warps with 1 to `longest` instructions each, on
    /// units with these initiation intervals and latencies.
    ///
    /// # Errors
    /// Returns an error if there is nothing to enumerate or too much.
    pub fn with_timing(warps: usize, longest: usize, inits: &[u16], lats: &[u16]) -> Result<Self, TooLarge> {
        let in_range = (1..=MAX_WARPS).contains(&warps) && (1..=MAX_INSTRUCTIONS).contains(&longest);
        let times_fit = !inits.is_empty()
            && !lats.is_empty()
            && inits.iter().all(|init| (1..=1000).contains(init))
            && lats.iter().all(|&lat| lat <= 1000);
        if !in_range || !times_fit {
            return Err(TooLarge);
        }
        let mut codes: Vec<Vec<(u8, u8)>> = Vec::new();
        let mut shorter: Vec<Vec<(u8, u8)>> = vec![Vec::new()];
        for length in 0..longest {
            let mut longer = Vec::new();
            for code in &shorter {
                for unit in 0..UNITS as u8 {
                    for reads in 0..1u8 << length {
                        let mut code = code.clone();
                        code.push((unit, reads));
                        longer.push(code);
                    }
                }
            }
            codes.extend(longer.iter().cloned());
            shorter = longer;
        }
        let timings: Vec<(u16, u16)> =
            inits.iter().flat_map(|&init| lats.iter().map(move |&lat| (init, lat))).collect();
        let mut machines = Vec::new();
        for (index, &first) in timings.iter().enumerate() {
            machines.push(([first, first], 1));
            machines.extend(timings[index + 1..].iter().map(|&second| ([first, second], 2)));
        }
        Ok(Self { warps, codes, machines })
    }

    /// Returns the number of blocks on one machine.
    fn blocks_per_machine(&self) -> u64 {
        multisets(self.codes.len() as u64, self.warps as u64)
    }

    /// Returns the number of blocks to examine, on all machines.
    pub fn blocks(&self) -> u64 {
        self.blocks_per_machine() * self.machines.len() as u64
    }

    /// Returns the number of blocks that these represent.
    pub fn stands_for(&self) -> u64 {
        self.blocks_per_machine() * self.machines.iter().map(|(_, weight)| weight).sum::<u64>()
    }

    /// Returns the machine of a block, and its warps in ascending order.
    fn block(&self, number: u64) -> (usize, Vec<usize>) {
        let per_machine = self.blocks_per_machine();
        let machine = (number / per_machine) as usize;
        let mut left = number % per_machine;
        let mut warps = Vec::with_capacity(self.warps);
        let mut code = 0;
        while warps.len() < self.warps {
            let rest = (self.warps - warps.len() - 1) as u64;
            let with_this = multisets((self.codes.len() - code) as u64, rest);
            if left < with_this {
                warps.push(code);
            } else {
                left -= with_this;
                code += 1;
            }
        }
        (machine, warps)
    }

    /// Returns a block as text: its machine's units and each warp's instructions.
    pub fn describe(&self, number: u64) -> String {
        let (machine, warps) = self.block(number % self.blocks().max(1));
        let mut text = String::new();
        for (unit, (init, lat)) in self.machines[machine].0.iter().enumerate() {
            text += &format!("f{unit}: init {init} lat {lat}; ");
        }
        for (warp, code) in warps.into_iter().enumerate() {
            text += &format!("{}w{warp}:", if warp > 0 { " | " } else { "" });
            for (index, (unit, reads)) in self.codes[code].iter().enumerate() {
                text += &format!(" r{index}=f{unit}(");
                let read: Vec<String> =
                    (0..index).filter(|i| reads >> i & 1 == 1).map(|i| format!("r{i}")).collect();
                text += &format!("{})", read.join(","));
            }
        }
        text
    }

    /// Returns a block in the form that the rest of the program uses.
    ///
    /// # Errors
    /// A valid grammar does not cause an error; a fault of this program would be reported here.
    pub fn kernel(&self, number: u64) -> Result<(TimingTable, BlockPaths), Diagnostics> {
        let (machine, warps) = self.block(number % self.blocks().max(1));
        let (table, paths) = self.on_machine(machine)?;
        let warps = warps.into_iter().map(|code| paths[code].clone()).collect();
        Ok((table, BlockPaths { warps, ..BlockPaths::default() }))
    }

    /// Returns the timing of all warps on a machine, and the path of each.
    fn on_machine(&self, machine: usize) -> Result<(TimingTable, Vec<WarpPath>), Diagnostics> {
        let [(init0, lat0), (init1, lat1)] = self.machines[machine].0;
        let text = format!(
            "Machine(name: \"grammar\", units: {{ \"f0\": Unit(init: {init0}, lat: {lat0}), \
             \"f1\": Unit(init: {init1}, lat: {lat1}) }}, ops: {{ \"f0\": \"f0\", \"f1\": \"f1\", \"ret\": \"f0\" }})"
        );
        let source = SourceText::new("grammar.ron", text);
        let machine = Machine::new(&MachineSpec::parse(&source)?, &source)?;
        let mut program = KernelCode { file: "grammar".to_owned(), ..KernelCode::default() };
        program.regs = (0..MAX_INSTRUCTIONS)
            .map(|reg| Register { name: format!("r{reg}"), kind: RegKind::Bits(32) })
            .collect();
        let classes = ["f0", "f1", "ret"].map(|class| program.classes.intern(class));
        let mut paths = Vec::with_capacity(self.codes.len());
        for code in &self.codes {
            let mut path = WarpPath::new();
            for (index, &(unit, reads)) in code.iter().enumerate() {
                let srcs = (0..index).filter(|i| reads >> i & 1 == 1).map(RegId::from_index).collect();
                program.instrs.push(Instr {
                    folded: false,
                    class: classes[usize::from(unit)],
                    class_by_space: None,
                    dsts: std::iter::once(RegId::from_index(index)).collect(),
                    srcs,
                    guard: None,
                    flow: Flow::Plain,
                    memory: None,
                    sem: Sem::None,
                    line: 1,
                });
                path.push(Step::plain(Pc::from_index(program.instrs.len() - 1)), LaneMask::ALL);
            }
            program.instrs.push(Instr {
                folded: false,
                class: classes[UNITS],
                class_by_space: None,
                dsts: std::iter::empty().collect(),
                srcs: std::iter::empty().collect(),
                guard: None,
                flow: Flow::Exit,
                memory: None,
                sem: Sem::None,
                line: 1,
            });
            path.push(Step::plain(Pc::from_index(program.instrs.len() - 1)).ending_warp(), LaneMask::ALL);
            paths.push(path);
        }
        Ok((TimingTable::new(&program, &machine)?, paths))
    }

    /// Returns the analysis of every warp of the grammar on a machine.
    fn analyses(&self, machine: usize) -> Result<Vec<SectionAnalysis>, Diagnostics> {
        let (table, paths) = self.on_machine(machine)?;
        let mut analyser = Analyser::new(&table);
        let mut sections = Vec::with_capacity(paths.len());
        for path in paths {
            let block = BlockPaths { block: BlockId::new(0), warps: vec![path], ..BlockPaths::default() };
            analyser.for_each_section(&block, |section| sections.push(section.clone()));
        }
        Ok(sections)
    }

    /// Returns the largest makespan of a block over all work-conserving schedules, and each warp's
    /// latest finish, in cycles.
    pub fn worst(&self, number: u64) -> (u64, Vec<u64>) {
        let (machine, warps) = self.block(number % self.blocks().max(1));
        let monitor = ProgressMonitor::new();
        let schedules = self.follow(machine, &warps, &monitor);
        let latest: Vec<u64> = schedules.latest[..warps.len()].iter().map(|&at| u64::from(at)).collect();
        (latest.iter().copied().max().unwrap_or(0), latest)
    }

    fn follow<'a>(&'a self, machine: usize, warps: &[usize], monitor: &'a ProgressMonitor) -> Schedules<'a> {
        let mut codes: [&[(u8, u8)]; MAX_WARPS] = [&[]; MAX_WARPS];
        for (code, &warp) in codes.iter_mut().zip(warps) {
            *code = &self.codes[warp];
        }
        let instructions = codes.iter().map(|code| code.len()).sum();
        let timing = self.machines[machine].0;
        let mut schedules = Schedules { codes, timing, monitor, latest: [0; MAX_WARPS], count: 0 };
        schedules.follow(&Moment::default(), instructions);
        schedules
    }

    /// Compares the bounds with the exact worst case of every block in a range of numbers below
    /// [`Grammar::blocks`]. The result does not depend on `threads`. `monitor` is notified of
    /// completed blocks, and can stop the enumeration; the result then covers the blocks examined
    /// so far.
    ///
    /// # Errors
    /// Returns an error for a bound that does not apply to all work-conserving schedules of such
    /// blocks.
    pub fn enumerate(
        &self,
        range: Range<u64>,
        threads: usize,
        bounds: &[&(dyn Bound + Sync)],
        monitor: &ProgressMonitor,
    ) -> Result<Summary, Diagnostics> {
        // every schedule of the blocks is followed, and they have neither memory accesses nor
        // barriers
        let context = bound::Context {
            schedules: bound::Schedules::WorkConserving,
            resident_blocks: 1,
            partial_barriers: false,
            beyond: Features::default(),
            order: bound::Order::Irrelevant,
        };
        let mut problems = Diagnostics::new();
        for bound in bounds {
            if let Err(why) = bound.applicable(&context) {
                problems.push(Diagnostic::general(bound.name(), why.to_string()));
            }
        }
        problems.into_result(())?;
        let range = range.start.min(self.blocks())..range.end.min(self.blocks());
        let parts = Mutex::new(self.parts(range).enumerate());
        let work = || -> Result<Vec<(usize, Summary)>, Diagnostics> {
            let mut found = Vec::new();
            let mut prepared: Option<(usize, Vec<SectionAnalysis>)> = None;
            loop {
                let next = parts.lock().expect("an enumerating thread panicked").next();
                let Some((index, (machine, part))) = next.filter(|_| !monitor.is_stopped()) else {
                    return Ok(found);
                };
                let analyses = match prepared.take() {
                    Some((known, analyses)) if known == machine => analyses,
                    _ => self.analyses(machine)?,
                };
                found.push((index, self.part(machine, part, &analyses, bounds, monitor)));
                prepared = Some((machine, analyses));
            }
        };
        let work = &work;
        let results: Vec<Result<Vec<(usize, Summary)>, Diagnostics>> = crossbeam::thread::scope(|scope| {
            let handles: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(move |_| work())).collect();
            handles.into_iter().map(|handle| handle.join().expect("an enumerating thread panicked")).collect()
        })
        .expect("an enumerating thread panicked");
        let mut found = Vec::new();
        for result in results {
            found.extend(result?);
        }
        found.sort_by_key(|&(index, _)| index);
        let mut summary = Summary::new(bounds);
        for (_, part) in &found {
            summary.add(part);
        }
        Ok(summary)
    }

    /// Splits a range into parts, each on one machine.
    fn parts(&self, range: Range<u64>) -> impl Iterator<Item = (usize, Range<u64>)> + Send {
        let per_machine = self.blocks_per_machine();
        let mut from = range.start;
        std::iter::from_fn(move || {
            let machine = from / per_machine;
            let to = range.end.min((machine + 1) * per_machine).min(from + PART);
            let part = from..to;
            from = to;
            (!part.is_empty()).then_some((machine as usize, part))
        })
    }

    fn part(
        &self,
        machine: usize,
        range: Range<u64>,
        analyses: &[SectionAnalysis],
        bounds: &[&(dyn Bound + Sync)],
        monitor: &ProgressMonitor,
    ) -> Summary {
        let weight = self.machines[machine].1;
        let mut summary = Summary::new(bounds);
        let mut section = SectionAnalysis::default();
        let mut values: Vec<BoundValue> = Vec::new();
        let (_, mut warps) = self.block(range.start);
        for number in range {
            let schedules = self.follow(machine, &warps, monitor);
            if monitor.is_stopped() {
                // some of its schedules may not have been followed
                break;
            }
            section.assemble(warps.iter().map(|&code| (&analyses[code], WarpId::new(0))));
            summary.blocks += 1;
            // threads that reported each block separately would contend for the counter
            if summary.blocks.is_multiple_of(BLOCKS_PER_NOTIFICATION) {
                monitor.advance(BLOCKS_PER_NOTIFICATION);
            }
            summary.stands_for += weight;
            summary.schedules += schedules.count;
            let latest = &schedules.latest[..warps.len()];
            let worst = u64::from(latest.iter().copied().max().unwrap_or(0));
            summary.worst_sum += worst * weight;
            for (bound, tally) in bounds.iter().zip(&mut summary.bounds) {
                bound.warp_values(&section, &mut values);
                let value = values.iter().map(|value| value.cycles().get()).max().unwrap_or(0);
                let by_warp =
                    latest.iter().zip(&values).any(|(&at, value)| u64::from(at) > value.cycles().get());
                tally.block(number, weight, (worst, value), by_warp);
            }
            self.advance(&mut warps);
        }
        monitor.advance(summary.blocks % BLOCKS_PER_NOTIFICATION);
        summary
    }

    /// Advances to the next multiset of warps.
    fn advance(&self, warps: &mut [usize]) {
        let Some(last) = warps.iter().rposition(|&code| code + 1 < self.codes.len()) else {
            warps.fill(0);
            return;
        };
        let code = warps[last] + 1;
        warps[last..].fill(code);
    }
}

/// Returns the number of multisets of `size` elements out of `kinds`.
fn multisets(kinds: u64, size: u64) -> u64 {
    (0..size).fold(1, |count, i| count * (kinds + i) / (i + 1))
}

/// Follows every work-conserving schedule of a block.
struct Schedules<'a> {
    codes: [&'a [(u8, u8)]; MAX_WARPS],
    timing: [(u16, u16); UNITS],
    /// The monitor, which can stop the search before all schedules are followed.
    monitor: &'a ProgressMonitor,
    /// The latest finish of each warp over all schedules.
    latest: [u16; MAX_WARPS],
    count: u64,
}

/// The state between two issues. Times are absolute.
#[derive(Clone, Copy, Default)]
struct Moment {
    now: u16,
    next: [u8; MAX_WARPS],
    done: [[u16; MAX_INSTRUCTIONS]; MAX_WARPS],
    finish: [u16; MAX_WARPS],
    /// The cycle after each warp's last issue.
    after: [u16; MAX_WARPS],
    free: [u16; UNITS],
}

impl Schedules<'_> {
    /// Follows all schedules from a state with `left` instructions to issue.
    fn follow(&mut self, moment: &Moment, left: usize) {
        if left >= LONG && self.monitor.is_stopped() {
            return;
        }
        let mut ready = [u16::MAX; MAX_WARPS];
        for (warp, code) in self.codes.iter().enumerate() {
            if let Some(&(_, reads)) = code.get(usize::from(moment.next[warp])) {
                let sources = moment.done[warp].iter().enumerate().filter(|(i, _)| reads >> i & 1 == 1);
                ready[warp] = sources.map(|(_, &done)| done).fold(moment.after[warp], u16::max);
            }
        }
        let first = ready.into_iter().min().unwrap_or(u16::MAX);
        if first == u16::MAX {
            self.count += 1;
            for (latest, &finish) in self.latest.iter_mut().zip(&moment.finish) {
                *latest = (*latest).max(finish);
            }
            return;
        }
        let now = moment.now.max(first);
        for warp in (0..MAX_WARPS).filter(|&warp| ready[warp] <= now) {
            let index = usize::from(moment.next[warp]);
            let unit = usize::from(self.codes[warp][index].0);
            let (init, lat) = self.timing[unit];
            let mut later = *moment;
            later.free[unit] = now.max(moment.free[unit]) + init;
            later.done[warp][index] = later.free[unit] + lat;
            later.finish[warp] = later.finish[warp].max(later.done[warp][index]);
            later.next[warp] += 1;
            later.after[warp] = now + 1;
            later.now = now + 1;
            self.follow(&later, left - 1);
        }
    }
}

impl Summary {
    fn new(bounds: &[&(dyn Bound + Sync)]) -> Self {
        let bounds = bounds.iter().map(|bound| Tally { name: bound.name(), ..Tally::default() }).collect();
        Self { bounds, ..Self::default() }
    }

    /// Adds the results for a later range.
    pub fn add(&mut self, later: &Self) {
        self.blocks += later.blocks;
        self.stands_for += later.stands_for;
        self.schedules += later.schedules;
        self.worst_sum += later.worst_sum;
        for (tally, later) in self.bounds.iter_mut().zip(&later.bounds) {
            tally.violated += later.violated;
            tally.warp_violated += later.warp_violated;
            tally.tight += later.tight;
            tally.sum += later.sum;
            if exceeds(later.closest, tally.closest) {
                tally.closest = later.closest;
            }
            tally.first.extend(&later.first);
            tally.first.truncate(KEPT);
        }
    }
}

/// Returns whether the new ratio is larger than the old one; an old bound of zero means that there
/// is none yet.
fn exceeds(new: (u64, u64, u64), old: (u64, u64, u64)) -> bool {
    old.1 == 0 && new.1 > 0 || new.0 * old.1 > old.0 * new.1
}

impl Tally {
    fn block(&mut self, number: u64, weight: u64, (worst, value): (u64, u64), by_warp: bool) {
        self.sum += value * weight;
        self.violated += if worst > value { weight } else { 0 };
        self.warp_violated += if by_warp { weight } else { 0 };
        self.tight += if worst == value { weight } else { 0 };
        if exceeds((worst, value, number), self.closest) {
            self.closest = (worst, value, number);
        }
        if by_warp && self.first.len() < KEPT {
            self.first.push(number);
        }
    }
}
