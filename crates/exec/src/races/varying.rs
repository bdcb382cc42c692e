//! Values that differ from run to run, and whether they determine a path or an address.
//!
//! The following values are not determined by the launch: that of a clock, the multiprocessor of a
//! block, the contents of a register before an instruction has written it, and a sum of
//! floating-point numbers to which several warps add in any order. The paths are determined
//! nevertheless if such values are only stored. Therefore every register that one of them may reach
//! is marked, instruction by instruction without regard to the order of instructions, and every
//! word of memory to which one is stored. A value loaded from a marked word is marked too. If a
//! marked register determines where a warp continues, whether it waits, or which addresses it
//! accesses, the paths depend on it.
//!
//! Marks are conservative. A register that was marked once stays marked, and a stored narrow value
//! marks its word. Additions count as unordered if different warps execute them without a barrier
//! of the whole block in between, or if different blocks that may run concurrently execute them.
//! Programs without such values have no marks, and no time is spent on them.

use std::collections::HashMap;

use super::decide::{path_depends, sources};
use super::pages::Pages;
use super::rows::ROW_BYTES;
use super::{AccessEffect, AccessKind, BlockOrder, Extent, Region, Source, kind_of};
use warpbound_core::base::{Pc, RegId};
use warpbound_core::isa::Space;
use warpbound_core::program::sem::{AtomOp, Operand, Special, ValueTy, jump, straight};
use warpbound_core::program::{Instr, KernelCode, Sem};

/// The number of rows of a page.
const ROWS: usize = 32;
/// The number of words of a row.
const WORDS: usize = 32;

/// The words in global memory whose values vary: the address of a row of 32 words, and one bit for
/// each.
pub(crate) type VaryingWords = Vec<(u64, u32)>;

/// The origin of a varying value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pub(super) source: Source,
    /// The instruction; `None` for an earlier launch.
    pub(super) pc: Option<Pc>,
}

/// The properties of an instruction that are relevant for marks.
#[derive(Clone, Debug, Default)]
struct Uses {
    dsts: Vec<RegId>,
    /// The sources that determine a path or an address.
    deciding: Vec<RegId>,
    /// Whether it stores the values of its sources.
    stores: bool,
    /// Whether it copies memory to memory.
    copies: bool,
    /// Whether it adds floating-point numbers to a memory cell.
    sums: bool,
    /// Whether it loads from local memory, and whether it may store to it.
    loads_local: bool,
    stores_local: bool,
}

/// A range of memory with its marked words.
#[derive(Clone, Debug)]
struct Marked {
    words: [u32; ROWS],
    origin: Origin,
}

/// The warps that added to the words of a range, as numbers above 0.
#[derive(Clone, Debug)]
struct Sums {
    /// The time of the additions; those at another time are ordered before.
    time: u64,
    adders: [[u32; WORDS]; ROWS],
}

/// The state of a region.
#[derive(Clone, Debug)]
struct Memory {
    base: u64,
    /// Whether any word has ever been marked.
    any: bool,
    marks: Pages<Marked>,
    sums: Pages<Sums>,
}

/// An access to words of a row of a region.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub(super) pc: Pc,
    pub(super) region: Region,
    pub(super) row: u32,
    pub(super) words: u32,
    /// Whether it accesses whole words.
    pub(super) whole: bool,
    pub(super) effect: AccessEffect,
    /// The warp as a number, for sums, and the time: see [`Sums`].
    pub(super) adder: u32,
    pub(super) time: u64,
}

/// The marks of a launch.
#[derive(Clone, Debug)]
pub(super) struct Varying {
    uses: Vec<Uses>,
    /// For each register, the instructions that read it.
    readers: Vec<Vec<Pc>>,
    marked: Vec<Option<Origin>>,
    /// For each pc, the origin of the varying value that it stores.
    stores: Vec<Option<Origin>>,
    /// For each pc, whether it has loaded a varying value.
    loaded: Vec<bool>,
    /// The registers in which callers receive results, each with the register in which the function
    /// leaves the result, if that is known.
    handed_back: Vec<(Option<RegId>, RegId)>,
    calls: bool,
    calls_by_pointer: bool,
    /// The state by [`Region`].
    memory: [Memory; 3],
    /// The marked words of local memory, of any thread.
    local: HashMap<u64, Origin>,
    limit: usize,
    pub(super) incomplete: bool,
    /// The value that determines a path or an address, and the instruction.
    pub(super) found: Option<(Origin, Pc)>,
}

/// Returns whether a kernel itself produces varying values, whatever the order of its blocks in
/// time.
pub fn makes_varying_values(program: &KernelCode) -> bool {
    !program.unset_reads.is_empty()
        || program.instrs.iter().any(|instr| {
            adds_floats(instr)
                || instr
                    .sem
                    .registers()
                    .specials
                    .iter()
                    .any(|special| special.tells_time() || special.tells_place())
        })
}

fn adds_floats(instr: &Instr) -> bool {
    matches!(&instr.sem, Sem::Atomic(atomic) if atomic.op == AtomOp::Add && matches!(atomic.ty, ValueTy::Float(_)))
}

/// Returns the reason for which a special register varies.
fn source_of(special: Special, order: BlockOrder) -> Option<Source> {
    let known = match special {
        // a block that is alone runs on the first SM, in its first slots
        Special::SmId | Special::WarpId => order == BlockOrder::OneByOne,
        _ => false,
    };
    let place = special.tells_place() && !known;
    if special.tells_time() { Some(Source::Clock) } else { place.then_some(Source::Placement) }
}

impl Varying {
    /// Creates the marks at the beginning of a launch that starts with the marked words `found` in
    /// global memory; `None` if there is nothing to track.
    pub(super) fn new(
        program: &KernelCode,
        order: BlockOrder,
        regions: [Extent; 3],
        limit: usize,
        found: &VaryingWords,
    ) -> Option<Box<Self>> {
        if found.is_empty() && !makes_varying_values(program) {
            return None;
        }
        let mut readers = vec![Vec::new(); program.regs.len()];
        for (index, instr) in program.instrs.iter().enumerate() {
            sources(instr).for_each(|reg| readers[reg.index()].push(Pc::from_index(index)));
        }
        let count = program.instrs.len();
        let mut varying = Box::new(Self {
            uses: program.instrs.iter().map(Uses::new).collect(),
            readers,
            marked: vec![None; program.regs.len()],
            stores: vec![None; count],
            loaded: vec![false; count],
            handed_back: program.instrs.iter().flat_map(handed_back).collect(),
            calls: program.instrs.iter().any(|instr| matches!(instr.sem, Sem::Call(_) | Sem::CallPointer(_))),
            calls_by_pointer: program.instrs.iter().any(|instr| matches!(instr.sem, Sem::CallPointer(_))),
            memory: regions.map(|extent| Memory::new(extent, limit)),
            local: HashMap::new(),
            limit,
            incomplete: false,
            found: None,
        });
        let origin = Origin { source: Source::Launch, pc: None };
        for &(address, words) in found {
            let buffers = regions[Region::Buffers as usize];
            let region = if buffers.covers(address) { Region::Buffers } else { Region::Globals };
            let at = address.wrapping_sub(regions[region as usize].base);
            // a range that the host copied need not begin at a row
            let rows = if at.is_multiple_of(ROW_BYTES) {
                [(0, words), (0, words)]
            } else {
                [(0, u32::MAX), (1, u32::MAX)]
            };
            let memory = &mut varying.memory[region as usize];
            let marked = rows
                .map(|(next, words)| memory.mark((at / ROW_BYTES) as u32 + next, words, origin).is_some());
            varying.incomplete |= !marked[0];
        }
        for &(pc, reg) in &program.unset_reads {
            varying.mark(vec![reg], Origin { source: Source::Unset, pc: Some(pc) });
        }
        for (index, instr) in program.instrs.iter().enumerate() {
            for special in instr.sem.registers().specials {
                let Some(source) = source_of(special, order) else { continue };
                let pc = Pc::from_index(index);
                let origin = Origin { source, pc: Some(pc) };
                if path_depends(instr, Operand::Special(special)) {
                    varying.found = varying.found.or(Some((origin, pc)));
                }
                let reached = varying.reaches(pc, origin);
                varying.mark(reached, origin);
            }
        }
        Some(varying)
    }

    /// Returns the marked words of global memory.
    pub(super) fn words(&self) -> VaryingWords {
        let mut words = Vec::new();
        for region in [Region::Globals, Region::Buffers] {
            let memory = &self.memory[region as usize];
            for (page, marked) in memory.marks.slots.iter().enumerate() {
                let marked = marked.iter().flat_map(|marked| marked.words.iter().enumerate());
                let address = |row: usize| memory.base + (page * ROWS + row) as u64 * ROW_BYTES;
                words.extend(
                    marked.filter(|(_, words)| **words != 0).map(|(row, words)| (address(row), *words)),
                );
            }
        }
        words
    }

    /// Clears the marks of shared memory for the next block.
    pub(super) fn start_block(&mut self) {
        let shared = &mut self.memory[Region::Shared as usize];
        if std::mem::take(&mut shared.any) {
            shared.marks.slots.iter_mut().flatten().for_each(|marked| marked.words = [0; ROWS]);
        }
    }

    /// Returns whether the value that this instruction stores varies.
    pub(super) fn stores(&self, pc: Pc) -> bool {
        self.stores[pc.index()].is_some()
    }

    /// Records an access to shared or global memory.
    pub(super) fn touch(&mut self, touch: &Touch) {
        let Touch { pc, region, row, words, whole, effect, .. } = *touch;
        let memory = &mut self.memory[region as usize];
        let stored = self.stores[pc.index()];
        let enough = match effect {
            AccessEffect::Reads => {
                if let Some(origin) = memory.origin(row, words) {
                    self.load(pc, origin);
                }
                true
            }
            AccessEffect::Writes | AccessEffect::Rewrites => match stored {
                Some(origin) => memory.mark(row, words, origin).is_some(),
                None => {
                    if whole {
                        memory.clear(row, words);
                    }
                    true
                }
            },
            AccessEffect::Updates => {
                let several = if self.uses[pc.index()].sums { memory.add(touch) } else { Some(0) };
                let origin = Origin { source: Source::Sum, pc: Some(pc) };
                let summed = several.and_then(|several| memory.mark(row, several, origin));
                let found = memory.origin(row, words);
                let stored = stored.map_or(Some(()), |origin| memory.mark(row, words, origin));
                if let Some(origin) = found {
                    self.load(pc, origin);
                }
                summed.and(stored).is_some()
            }
        };
        self.incomplete |= !enough;
    }

    /// Records an access to local memory.
    pub(super) fn touch_local(&mut self, pc: Pc, address: u64, size: u64, effect: AccessEffect) {
        let words = address / 4..(address + size).div_ceil(4);
        match (effect, self.stores[pc.index()]) {
            (AccessEffect::Reads, _) if self.local.is_empty() => {}
            (AccessEffect::Reads, _) => {
                if let Some(origin) = words.clone().find_map(|word| self.local.get(&word).copied()) {
                    self.load(pc, origin);
                }
            }
            (_, Some(origin)) => {
                self.local.extend(words.map(|word| (word, origin)));
                self.incomplete |= self.local.len() > self.limit / 64;
            }
            // another thread may have a varying value there
            (_, None) => {}
        }
    }

    /// Records that an instruction has loaded a varying value.
    fn load(&mut self, pc: Pc, origin: Origin) {
        if !std::mem::replace(&mut self.loaded[pc.index()], true) {
            if self.uses[pc.index()].copies {
                self.stores[pc.index()] = Some(origin);
            }
            let dsts = self.uses[pc.index()].dsts.clone();
            self.mark(dsts, origin);
        }
    }

    /// Returns the registers that a varying value reaches from a source of an instruction.
    fn reaches(&mut self, pc: Pc, origin: Origin) -> Vec<RegId> {
        let uses = &self.uses[pc.index()];
        let mut reached = uses.dsts.clone();
        if uses.stores {
            let new = self.stores[pc.index()].is_none();
            self.stores[pc.index()].get_or_insert(origin);
            if new && uses.stores_local && self.calls {
                reached.extend(self.passed());
            }
        }
        reached
    }

    /// Returns the registers that receive values from local memory, through which functions pass
    /// arguments and results.
    fn passed(&self) -> Vec<RegId> {
        let loaded = self.uses.iter().filter(|uses| uses.loads_local).flat_map(|uses| &uses.dsts);
        loaded.chain(self.handed_back.iter().map(|(_, to)| to)).copied().collect()
    }

    fn mark(&mut self, mut left: Vec<RegId>, origin: Origin) {
        while let Some(reg) = left.pop() {
            if self.marked[reg.index()].replace(origin).is_some() {
                continue;
            }
            let handed_back = self.handed_back.iter();
            let handed_back = handed_back.filter(|(from, _)| self.calls_by_pointer || *from == Some(reg));
            left.extend(handed_back.map(|(_, to)| *to));
            for pc in std::mem::take(&mut self.readers[reg.index()]) {
                if self.uses[pc.index()].deciding.contains(&reg) {
                    self.found = self.found.or(Some((origin, pc)));
                }
                left.extend(self.reaches(pc, origin));
            }
        }
    }
}

impl Uses {
    fn new(instr: &Instr) -> Self {
        let in_thread = |space: Space| matches!(space, Space::Local | Space::Generic);
        Self {
            dsts: instr.dsts.as_slice().to_vec(),
            deciding: sources(instr).filter(|&reg| path_depends(instr, Operand::Reg(reg))).collect(),
            stores: instr.sem.atomic().is_some() || kind_of(&instr.sem) == AccessKind::Store,
            copies: matches!(instr.sem, Sem::AsyncCopy { .. }),
            sums: adds_floats(instr),
            loads_local: matches!(&instr.sem, Sem::Load { space, .. } if in_thread(*space)),
            stores_local: matches!(&instr.sem, Sem::Store { space, .. } if in_thread(*space)),
        }
    }
}

/// Returns the registers that receive the results of a call, each with the register in which the
/// function leaves the result, if that is known.
fn handed_back(instr: &Instr) -> Vec<(Option<RegId>, RegId)> {
    match &instr.sem {
        Sem::Call(call) => {
            let to = |transfer: &warpbound_core::program::sem::Transfer| {
                Some((transfer.from.reg(), transfer.to.reg()?))
            };
            call.give_back.iter().filter_map(to).collect()
        }
        Sem::CallPointer(call) => {
            call.results.iter().filter_map(|(place, _)| Some((None, (*place)?.reg()?))).collect()
        }
        straight!() | jump!() => Vec::new(),
    }
}

impl Memory {
    fn new(extent: Extent, limit: usize) -> Self {
        let count = extent.bytes.div_ceil(ROW_BYTES * ROWS as u64);
        Self {
            base: extent.base,
            any: false,
            marks: Pages::new(count, limit),
            sums: Pages::new(count, limit),
        }
    }

    /// Returns the origin of the varying value in one of these words.
    fn origin(&self, row: u32, words: u32) -> Option<Origin> {
        let page =
            if self.any { self.marks.slots.get(row as usize / ROWS)?.as_deref()? } else { return None };
        (page.words[row as usize % ROWS] & words != 0).then_some(page.origin)
    }

    /// Marks words; `None` if there is no room for that.
    fn mark(&mut self, row: u32, words: u32, origin: Origin) -> Option<()> {
        if words == 0 {
            return Some(());
        }
        self.any = true;
        let page = self.marks.page(row as usize / ROWS, || Marked { words: [0; ROWS], origin })?;
        page.words[row as usize % ROWS] |= words;
        Some(())
    }

    fn clear(&mut self, row: u32, words: u32) {
        if self.any
            && let Some(Some(page)) = self.marks.slots.get_mut(row as usize / ROWS)
        {
            page.words[row as usize % ROWS] &= !words;
        }
    }

    /// Records an addition to words, and returns those to which other warps add without an order.
    /// `None` if there is no room to record it.
    fn add(&mut self, touch: &Touch) -> Option<u32> {
        let Touch { row, words, adder, time, .. } = *touch;
        let fresh = || Sums { time, adders: [[0; WORDS]; ROWS] };
        let page = self.sums.page(row as usize / ROWS, fresh)?;
        if page.time != time {
            *page = fresh();
        }
        let adders = &mut page.adders[row as usize % ROWS];
        let (mut several, mut left) = (0, words);
        while left != 0 {
            let word = left.trailing_zeros();
            left &= left - 1;
            let before = std::mem::replace(&mut adders[word as usize], adder);
            several |= u32::from(before != 0 && before != adder) << word;
        }
        Some(several)
    }
}
