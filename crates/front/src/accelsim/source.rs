//! The second reading of a trace, which yields its blocks.

use super::code::Guess;
use super::format::Format;
use super::kernel::TracedKernel;
use super::lower::Action;
use super::stream::{Item, Stream};
use super::words::{Words, Wrong};
use warpbound_core::base::{BlockId, LaneMask, Pc, ProgressMonitor, WARP_SIZE};
use warpbound_core::diag::Diagnostics;
use warpbound_core::isa::Space;
use warpbound_core::machine::Banks;
use warpbound_core::path::{
    AsyncGroups, AsyncRing, BarrierUse, BlockPaths, BlockSource, Footprint, LineUse, Lines, MemoryUse, Step,
    extra_transactions,
};
use warpbound_core::program::layout::{CONSTANT_LINES_BASE, LOCAL_LINES_BASE, PARAM_LINES_BASE};

/// The maximum number of copied bytes that caches take into account.
const MAX_COPIED: u64 = 1 << 30;

/// The data that paths must contain for a machine.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The banks of shared memory, if bank conflicts are modelled.
    pub banks: Option<Banks>,
    /// Whether to record lines of device memory.
    pub traffic: bool,
    /// Whether the lines include constants and kernel parameters.
    pub constants: bool,
    /// The maximum number of instructions of a block.
    pub most: u64,
}

/// A reader that yields a trace block by block.
pub struct TraceSource<'k> {
    kernel: &'k TracedKernel,
    wanted: Wanted,
    stream: Stream<'k>,
    format: Format,
    guess: Guess,
    next: u32,
    monitor: Option<&'k ProgressMonitor>,
    lines: Lines,
    group: Vec<LineUse>,
    /// The commit groups of the current warp.
    groups: AsyncGroups,
    addresses: [u64; WARP_SIZE],
    ended: bool,
}

impl TracedKernel {
    /// Opens the trace to read its blocks.
    ///
    /// # Errors
    /// The file can no longer be opened.
    pub fn source(&self, wanted: Wanted) -> Result<TraceSource<'_>, Diagnostics> {
        let stream = Stream::open(&self.file, None)?;
        let format = Format::of(&stream.header);
        Ok(TraceSource {
            kernel: self,
            wanted,
            stream,
            format,
            guess: Guess::default(),
            next: 0,
            monitor: None,
            lines: Lines::default(),
            group: Vec::new(),
            groups: AsyncGroups::default(),
            addresses: [0; WARP_SIZE],
            ended: false,
        })
    }
}

impl<'k> TraceSource<'k> {
    /// Sets the monitor that may stop the reader.
    #[must_use]
    pub fn watched(mut self, monitor: &'k ProgressMonitor) -> Self {
        self.monitor = Some(monitor);
        self.stream.watched(monitor);
        self
    }

    fn block(&mut self, paths: &mut BlockPaths) -> Result<bool, Diagnostics> {
        let warps = self.stream.warps();
        let added = Step::plain(Pc::from_index(self.kernel.actions.len() - 1)).ending_warp();
        let (mut warp, mut count) = (0, 0u64);
        loop {
            match self.stream.advance()? {
                None => return Ok(false),
                Some(Item::Block(_)) => {
                    paths.reset(BlockId::new(self.next), warps);
                    self.next += 1;
                }
                Some(Item::Warp(number, _)) => {
                    warp = number;
                    self.groups.reset();
                }
                Some(Item::Instruction(last)) => {
                    count += 1;
                    if count > self.wanted.most {
                        let message = format!("a block of more than {} instructions", self.wanted.most);
                        return Err(self
                            .stream
                            .problem(0..0, message, "allow more with --max-instructions")
                            .into());
                    }
                    let read = self.instruction(last, warp, added, paths);
                    read.map_err(|wrong| self.stream.problem(wrong.at, wrong.message, wrong.hint))?;
                }
                Some(Item::EndBlock) => {
                    for path in paths.warps.iter_mut().filter(|path| path.steps().is_empty()) {
                        path.push(added, LaneMask::empty());
                    }
                    return Ok(true);
                }
            }
        }
    }

    /// Reads an instruction of a warp and adds it to the path.
    fn instruction(
        &mut self,
        last: bool,
        warp: usize,
        added: Step,
        paths: &mut BlockPaths,
    ) -> Result<(), Wrong> {
        let kernel = self.kernel;
        let (pc, lanes, mut words) = self.format.begin(self.stream.line())?;
        let instr = match kernel.code.known(&mut self.guess, pc, &mut words) {
            Some(instr) => instr,
            None => kernel.code.parsed(pc, &mut words)?.ok_or_else(|| Wrong {
                at: 0..0,
                message: "an instruction that the file did not contain at the first reading".to_owned(),
                hint: "the file has changed since: run again",
            })?,
        };
        let (action, pc) = (kernel.actions[instr as usize], Pc::new(instr));
        let mut reader = Reader {
            wanted: &self.wanted,
            kernel,
            lines: &mut self.lines,
            group: &mut self.group,
            groups: &mut self.groups,
            addresses: &mut self.addresses,
            block: u64::from(self.next - 1),
        };
        let step = reader.step((pc, action), lanes, warp, words, paths)?;
        paths.thread_instructions += u64::from(lanes.count());
        let path = &mut paths.warps[warp];
        path.push(if last && action == Action::Exit { step.ending_warp() } else { step }, lanes);
        if !self.group.is_empty() {
            path.push_traffic(&self.group);
            self.group.clear();
        }
        if last && action != Action::Exit {
            path.push(added, LaneMask::empty());
        }
        Ok(())
    }
}

/// Decodes the barrier that traces written by warpbound record as an immediate.
fn barrier(immediate: Option<i64>) -> BarrierUse {
    let bits = immediate.unwrap_or(0);
    BarrierUse { id: (bits & 15) as u8, warps: (bits >> 4 & 127) as u8 }
}

/// A memory access, and the block and warp that perform it.
#[derive(Clone, Copy)]
struct Access {
    space: Space,
    bytes: usize,
    atomic: bool,
    store: bool,
    warp: (u64, usize),
}

/// The state that is needed to read the end of an instruction's line, with its addresses.
struct Reader<'r> {
    wanted: &'r Wanted,
    kernel: &'r TracedKernel,
    lines: &'r mut Lines,
    group: &'r mut Vec<LineUse>,
    groups: &'r mut AsyncGroups,
    addresses: &'r mut [u64; WARP_SIZE],
    /// The number of the block.
    block: u64,
}

impl Reader<'_> {
    /// Reads the end of an instruction's line, and returns the step of its warp.
    fn step(
        &mut self,
        (pc, action): (Pc, Action),
        lanes: LaneMask,
        warp: usize,
        mut words: Words,
        paths: &mut BlockPaths,
    ) -> Result<Step, Wrong> {
        Ok(match action {
            Action::Plain | Action::Exit => Step::plain(pc),
            Action::Barrier | Action::Arrive => {
                let used = match self.kernel.header.own.whole {
                    true => barrier(words.immediate(false)?),
                    false => BarrierUse { id: 0, warps: 0 },
                };
                paths.partial_barriers |= used.warps != 0 || action == Action::Arrive;
                Step::with(pc, used)
            }
            Action::Access { space, bytes, atomic } => {
                let (bytes, warp) = (usize::from(bytes), (self.block, warp));
                let store = self.kernel.program.instr(pc).stores();
                let access = Access { space, bytes, atomic, store, warp };
                Step::with(pc, self.access(words, access, lanes, paths.warps.len() as u64)?)
            }
            Action::Copy { bytes } => Step::with(pc, self.copy(words, usize::from(bytes), lanes)?),
            Action::Commit => {
                self.groups.commit();
                Step::plain(pc)
            }
            Action::Wait => {
                let immediate = words.immediate(false)?.unwrap_or(0);
                if immediate < 0 {
                    self.groups.commit();
                }
                let pending = u64::try_from(immediate).unwrap_or(0);
                Step::with(pc, self.groups.wait(pending))
            }
        })
    }

    /// Reads an asynchronous copy and returns the slot of its group.
    fn copy(&mut self, mut words: Words, bytes: usize, lanes: LaneMask) -> Result<AsyncRing, Wrong> {
        let ring = self.groups.copy().ok_or_else(|| Wrong {
            at: 0..0,
            message: "more than 31 groups of asynchronous copies are in flight".to_owned(),
            hint: "",
        })?;
        if self.wanted.traffic {
            words.addresses(lanes, self.addresses)?;
            for lane in lanes.lanes() {
                touch(self.lines, self.addresses[lane], bytes, false);
            }
            self.lines.finish(self.group, false);
        }
        Ok(ring)
    }

    /// Reads an access and returns its data for the path.
    fn access(
        &mut self,
        mut words: Words,
        access: Access,
        lanes: LaneMask,
        warps: u64,
    ) -> Result<MemoryUse, Wrong> {
        let Access { space, bytes, atomic, store, warp: (block, warp) } = access;
        let is_ignored = match space {
            Space::Generic => false,
            Space::Shared => self.wanted.banks.is_none(),
            space => !self.wanted.traffic || !space.has_lines(self.wanted.constants),
        };
        if is_ignored {
            return Ok(MemoryUse { space, extra_transactions: 0 });
        }
        words.addresses(lanes, self.addresses)?;
        let windows = self.kernel.windows;
        let first = lanes.lanes().next().map(|lane| windows.resolve(space, self.addresses[lane]).0);
        let resolved = match space {
            Space::Generic => first.unwrap_or(Space::Global),
            space => space,
        };
        let mut extra = 0;
        if let (Some(banks), Space::Shared) = (self.wanted.banks, resolved) {
            let (mut to, mut in_shared) = ([0; WARP_SIZE], LaneMask::empty());
            for lane in lanes.lanes() {
                if let (Space::Shared, address) = windows.resolve(space, self.addresses[lane]) {
                    to[lane] = address;
                    in_shared |= LaneMask::lane(lane);
                }
            }
            extra = extra_transactions(banks, &to, bytes, in_shared, atomic);
        }
        if self.wanted.traffic && resolved.has_lines(self.wanted.constants) {
            let thread = (self.kernel.local_words, block.wrapping_mul(warps).wrapping_add(warp as u64));
            for lane in lanes.lanes() {
                match windows.resolve(space, self.addresses[lane]) {
                    (Space::Global, address) => touch(self.lines, address, bytes, atomic),
                    (Space::Local, address) => {
                        self.lines.touch_local(LOCAL_LINES_BASE, thread, lane, address, bytes);
                    }
                    (Space::Const, address) => touch(self.lines, CONSTANT_LINES_BASE | address, bytes, false),
                    (Space::Param, address) => touch(self.lines, PARAM_LINES_BASE | address, bytes, false),
                    (Space::Shared | Space::Generic, _) => {}
                }
            }
            self.lines.finish(self.group, store);
        }
        Ok(MemoryUse { space: resolved, extra_transactions: extra })
    }
}

/// Adds an access of a lane; in a trace it may extend over two lines.
#[inline]
fn touch(lines: &mut Lines, address: u64, bytes: usize, apart: bool) {
    let room = (LineUse::LINE_BYTES - address % LineUse::LINE_BYTES) as usize;
    for (address, bytes) in
        [(address, bytes.min(room)), (address.wrapping_add(room as u64), bytes.saturating_sub(room))]
    {
        match (bytes, apart) {
            (0, _) => {}
            (_, true) => lines.touch_apart(address, bytes),
            (_, false) => lines.touch(address, bytes),
        }
    }
}

impl BlockSource for TraceSource<'_> {
    type Error = Diagnostics;

    fn next_block(&mut self, paths: &mut BlockPaths) -> Result<bool, Diagnostics> {
        if self.ended || self.monitor.is_some_and(ProgressMonitor::is_stopped) {
            self.ended = true;
            return Ok(false);
        }
        let read = match self.block(paths) {
            // the current block is dropped
            Err(_) if self.monitor.is_some_and(ProgressMonitor::is_stopped) => Ok(false),
            read => read,
        };
        self.ended = !matches!(read, Ok(true));
        read
    }

    fn footprint(&self) -> Footprint {
        let shared_bytes = self.kernel.header.shared_bytes.into();
        let [buffers, copied] = [&self.kernel.copies, &self.kernel.copied_since].map(|copies| latest(copies));
        Footprint { buffers, copied, shared_bytes }
    }
}

/// Returns the most recent copies, at most [`MAX_COPIED`] bytes of them. No cache holds as much, so
/// earlier data has been evicted.
fn latest(copies: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut room = MAX_COPIED;
    let mut kept = Vec::new();
    for &(address, bytes) in copies.iter().rev() {
        let last = bytes.min(room);
        if last > 0 {
            kept.push((address + (bytes - last), last));
        }
        room -= last;
    }
    kept.reverse();
    kept
}
