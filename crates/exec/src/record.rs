//! The recorder of the data of memory accesses that the timing simulation needs besides their
//! space: bank conflicts and lines.

use super::Options;
use super::memory::Memory;
use super::span::Span;
use super::warp::Shape;
use warpbound_core::base::{LaneMask, Pc, WARP_SIZE};
use warpbound_core::isa::Space;
use warpbound_core::machine::Banks;
use warpbound_core::path::{LineUse, Lines, WarpPath};
use warpbound_core::program::KernelCode;
use warpbound_core::program::layout::LOCAL_LINES_BASE;

/// The recorder of a launch.
pub(super) struct Record {
    /// The banks, if bank conflicts are recorded.
    pub(super) banks: Option<Banks>,
    /// Whether the different addresses of loads of constants are counted.
    constant_addresses: bool,
    traffic: Option<Traffic>,
    /// The addresses of the instruction just executed, if they are recorded.
    addresses: Option<Vec<u64>>,
    /// For each pc, the last accesses of different patterns, of the kinds that are kept.
    seen: Vec<Seen>,
}

/// The accesses of an instruction that are kept. Warps and blocks repeat few patterns.
#[derive(Default)]
struct Seen {
    accesses: Vec<RecordedAccess>,
    /// The access that the next new one replaces, if no more may be added.
    oldest: usize,
}

/// The largest number of accesses of an instruction that are kept.
const KEPT: usize = 8;

/// An access, and its data for the timing simulation. An access that begins a number of whole lines
/// further on has the same timing. In shared memory, the same holds for a number of whole words.
struct RecordedAccess {
    space: Space,
    /// The result of [`begin`].
    begin: u64,
    enabled: LaneMask,
    span: Span,
    extra_transactions: u8,
    /// Its lines, relative to [`first_line`].
    lines: Vec<LineUse>,
}

struct Traffic {
    /// For each pc, whether the instruction may move lines.
    moves_lines: Vec<bool>,
    /// For each pc, whether it is a store.
    stores: Vec<bool>,
    /// Whether constants and parameters have lines.
    constants: bool,
    lines: Lines,
    /// The lines of the instruction just executed, which form one group of the traffic in the path
    /// of its warp; empty if it has none.
    group: Vec<LineUse>,
}

/// The lines of one instruction that are still being collected.
pub(super) struct Collecting<'a> {
    traffic: &'a mut Traffic,
    store: bool,
}

/// The bytes of a word.
const WORD: u64 = 4;

impl Record {
    pub(super) fn new(program: &KernelCode, options: &Options) -> Self {
        let traffic = || Traffic {
            moves_lines: program.instrs.iter().map(|instr| instr.moves_lines(options.constants)).collect(),
            stores: program.instrs.iter().map(|instr| instr.stores()).collect(),
            constants: options.constants,
            lines: Lines::default(),
            group: Vec::new(),
        };
        Self {
            banks: options.banks,
            constant_addresses: options.constant_addresses,
            traffic: options.traffic.then(traffic),
            addresses: options.lanes.then(Vec::new),
            seen: Vec::new(),
        }
    }

    /// Reuses the data of an earlier access of an instruction, if the lanes have the same positions
    /// relative to each other and to lines. Records its lines, and returns its transactions beyond
    /// those of an access without bank conflicts.
    #[inline]
    pub(super) fn reuse(
        &mut self,
        (pc, space): (Pc, Space),
        span: &Span,
        enabled: LaneMask,
        memory: &mut Memory,
    ) -> Option<u8> {
        let accesses = &self.seen.get(pc.index())?.accesses;
        if self.addresses.is_some() {
            return None;
        }
        let begin = begin(space, span)?;
        let seen = accesses.iter().find(|seen| {
            (seen.enabled, seen.space, seen.begin) == (enabled, space, begin)
                && seen.span.offsets == span.offsets
        })?;
        if let Some(traffic) = &mut self.traffic
            && !seen.lines.is_empty()
        {
            let first = first_line(space, span, memory);
            traffic.group.extend(seen.lines.iter().map(|line| line.moved(first)));
        }
        Some(seen.extra_transactions)
    }

    /// Keeps an access whose lines were just recorded.
    pub(super) fn remember(
        &mut self,
        (pc, space): (Pc, Space),
        span: &Span,
        enabled: LaneMask,
        extra_transactions: u8,
        memory: &mut Memory,
    ) {
        let Some(begin) = begin(space, span) else { return };
        let first = first_line(space, span, memory);
        let place = pc.index();
        if self.seen.len() <= place {
            self.seen.resize_with(place + 1, Seen::default);
        }
        let Seen { accesses, oldest } = &mut self.seen[place];
        let is_full = accesses.len() == KEPT;
        let mut lines = if is_full { std::mem::take(&mut accesses[*oldest].lines) } else { Vec::new() };
        lines.clear();
        let group = self.traffic.as_ref().map_or(&[][..], |traffic| &traffic.group);
        lines.extend(group.iter().map(|line| line.moved(first.wrapping_neg())));
        let seen = RecordedAccess { space, begin, enabled, span: *span, extra_transactions, lines };
        if is_full {
            accesses[*oldest] = seen;
            *oldest = (*oldest + 1) % KEPT;
        } else {
            accesses.push(seen);
        }
    }

    /// Returns whether anything besides the space of an access is recorded.
    #[inline(always)]
    pub(super) fn wants_addresses(&self) -> bool {
        self.banks.is_some() || self.constant_addresses || self.traffic.is_some() || self.addresses.is_some()
    }

    /// Returns whether different addresses of an access to this space are counted.
    pub(super) fn counts_addresses(&self, space: Space) -> bool {
        self.constant_addresses && matches!(space, Space::Const | Space::Param)
    }

    /// Returns whether the lanes of each step and their addresses are recorded.
    pub(super) fn lanes(&self) -> bool {
        self.addresses.is_some()
    }

    /// Records the address of a lane of the instruction.
    #[inline]
    pub(super) fn address(&mut self, address: impl FnOnce() -> u64) {
        if let Some(addresses) = &mut self.addresses {
            addresses.push(address());
        }
    }

    /// Starts the group of an instruction that accesses this space, if it has one.
    #[inline]
    pub(super) fn collect(&mut self, pc: Pc, space: Space) -> Option<Collecting<'_>> {
        let traffic = self.traffic.as_mut()?;
        let moves = traffic.moves_lines[pc.index()] && space.has_lines(traffic.constants);
        let store = traffic.stores[pc.index()];
        moves.then_some(Collecting { traffic, store })
    }

    /// Removes and returns the group of the instruction just executed; it is empty if there is none.
    pub(super) fn take_group(&mut self) -> Vec<LineUse> {
        self.traffic.as_mut().map(|traffic| std::mem::take(&mut traffic.group)).unwrap_or_default()
    }

    /// Moves the group of the instruction just executed to the path of its warp, if it has one.
    #[inline]
    pub(super) fn deliver(&mut self, path: &mut WarpPath) {
        if let Some(traffic) = &mut self.traffic
            && !traffic.group.is_empty()
        {
            path.push_traffic(&traffic.group);
            traffic.group.clear();
        }
        if let Some(addresses) = &mut self.addresses {
            path.push_addresses(addresses);
            addresses.clear();
        }
    }
}

/// Returns what the starts of two accesses with the same lines, relative to the first one, have in
/// common; `None` if that is not known for the space.
fn begin(space: Space, span: &Span) -> Option<u64> {
    match space {
        Space::Global => Some(span.low % LineUse::LINE_BYTES),
        Space::Shared => Some(span.low % WORD),
        // few addresses are accessed, and each most often
        Space::Const | Space::Param => Some(span.low),
        // addresses further on need not have the same lines further on
        Space::Local | Space::Generic => None,
    }
}

/// Returns the line from which the lines of an access are counted.
fn first_line(space: Space, span: &Span, memory: &mut Memory) -> u64 {
    if space == Space::Global { memory.packed_address(span.low) / LineUse::LINE_BYTES } else { 0 }
}

impl Collecting<'_> {
    /// Adds a lane's access to global memory.
    pub(super) fn global(&mut self, memory: &mut Memory, address: u64, bytes: usize, apart: bool) {
        let address = memory.packed_address(address);
        if apart {
            self.traffic.lines.touch_apart(address, bytes);
        } else {
            self.traffic.lines.touch(address, bytes);
        }
    }

    /// Adds accesses to global memory that together touch all bytes of a range, which lies in one
    /// region.
    pub(super) fn range(&mut self, memory: &mut Memory, address: u64, bytes: u64) {
        self.traffic.lines.touch_range(memory.packed_address(address), bytes);
    }

    /// Adds a lane's access to a constant or a parameter.
    pub(super) fn constant(&mut self, base: u64, offset: u64, bytes: usize) {
        self.traffic.lines.touch(base | offset, bytes);
    }

    /// Adds a thread's access to its local memory.
    pub(super) fn local(
        &mut self,
        memory: &Memory,
        shape: &Shape,
        thread: usize,
        address: u64,
        bytes: usize,
    ) {
        let words = memory.local_per_thread() / WORD;
        let warp =
            shape.linear_block().wrapping_mul(shape.warps as u64).wrapping_add((thread / WARP_SIZE) as u64);
        self.traffic.lines.touch_local(LOCAL_LINES_BASE, (words, warp), thread % WARP_SIZE, address, bytes);
    }

    /// Completes the group, after all lanes have been added.
    pub(super) fn finish(self) {
        self.traffic.lines.finish(&mut self.traffic.group, self.store);
    }
}
