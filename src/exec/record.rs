//! What timing wants to know of memory accesses besides their space: bank conflicts, lines.

use super::Options;
use super::memory::Memory;
use super::span::Span;
use super::warp::Shape;
use crate::base::{LaneMask, Pc, WARP_SIZE};
use crate::isa::Space;
use crate::machine::Banks;
use crate::path::{LineUse, Lines, WarpPath};
use crate::program::Program;
use crate::program::layout::LOCAL_LINES_BASE;

/// The recorder of a launch.
pub(super) struct Record {
    /// The banks whose conflicts count, if any do.
    pub(super) banks: Option<Banks>,
    traffic: Option<Traffic>,
    /// Addresses of the instruction just executed, if they are recorded.
    addresses: Option<Vec<u64>>,
    /// By pc: what its last access was like, if that was one of those that are remembered.
    seen: Vec<Option<Box<Seen>>>,
}

/// An access, and what timing wants to know of it. To timing one that begins a number of whole lines further on is the same,
/// in shared memory a number of whole words.
struct Seen {
    space: Space,
    /// Where in its line or word it begins.
    begin: u64,
    enabled: LaneMask,
    span: Span,
    extra_transactions: u8,
    /// Its lines, counted from the one in which it begins.
    lines: Vec<LineUse>,
}

struct Traffic {
    /// By pc: whether the instruction may move lines.
    moves_lines: Vec<bool>,
    /// By pc: whether it is a store.
    stores: Vec<bool>,
    /// Whether constants and parameters have lines.
    constants: bool,
    lines: Lines,
    /// The group of the instruction just executed; empty if it has none.
    group: Vec<LineUse>,
}

/// Lines of one instruction that are still being collected.
pub(super) struct Collecting<'a> {
    traffic: &'a mut Traffic,
    store: bool,
}

/// Bytes of a word.
const WORD: u64 = 4;

impl Record {
    pub(super) fn new(program: &Program, options: &Options) -> Self {
        let traffic = || Traffic {
            moves_lines: program.instrs.iter().map(|instr| instr.moves_lines(options.constants)).collect(),
            stores: program.instrs.iter().map(|instr| instr.stores()).collect(),
            constants: options.constants,
            lines: Lines::default(),
            group: Vec::new(),
        };
        Self {
            banks: options.banks,
            traffic: options.traffic.then(traffic),
            addresses: options.lanes.then(Vec::new),
            seen: Vec::new(),
        }
    }

    /// If the lanes of an instruction lie to each other and to lines as they did the last time: its transactions beyond
    /// those of an access without bank conflicts. Its lines are recorded.
    #[inline]
    pub(super) fn again(
        &mut self,
        (pc, space): (Pc, Space),
        span: &Span,
        enabled: LaneMask,
        memory: &mut Memory,
    ) -> Option<u8> {
        let seen = self.seen.get(pc.index())?.as_deref()?;
        let alike = seen.enabled == enabled
            && seen.space == space
            && seen.begin == begin(space, span)
            && seen.span.offsets == span.offsets;
        if !alike || self.addresses.is_some() {
            return None;
        }
        if let Some(traffic) = &mut self.traffic
            && !seen.lines.is_empty()
        {
            let first = memory.packed_address(span.low) / LineUse::LINE_BYTES;
            traffic.group.extend(seen.lines.iter().map(|line| line.moved(first)));
        }
        Some(seen.extra_transactions)
    }

    /// Remembers an access, of which the lines were recorded just now.
    pub(super) fn remember(
        &mut self,
        (pc, space): (Pc, Space),
        span: &Span,
        enabled: LaneMask,
        extra_transactions: u8,
        memory: &mut Memory,
    ) {
        let place = pc.index();
        if self.seen.len() <= place {
            self.seen.resize_with(place + 1, || None);
        }
        let group = self.traffic.as_ref().map_or(&[][..], |traffic| &traffic.group);
        let first = match space {
            Space::Global => memory.packed_address(span.low) / LineUse::LINE_BYTES,
            Space::Shared => 0,
            // where other spaces have lines these do not move on with addresses
            _ => return self.seen[place] = None,
        };
        let lines = group.iter().map(|line| line.moved(first.wrapping_neg())).collect();
        let seen = Seen { space, begin: begin(space, span), enabled, span: *span, extra_transactions, lines };
        self.seen[place] = Some(Box::new(seen));
    }

    /// Whether anything besides the space of an access is recorded.
    #[inline(always)]
    pub(super) fn wants_addresses(&self) -> bool {
        self.banks.is_some() || self.traffic.is_some() || self.addresses.is_some()
    }

    /// Whether it is recorded which lanes do what, and where.
    pub(super) fn lanes(&self) -> bool {
        self.addresses.is_some()
    }

    /// Where a lane of the instruction accesses memory.
    #[inline]
    pub(super) fn address(&mut self, address: impl FnOnce() -> u64) {
        if let Some(addresses) = &mut self.addresses {
            addresses.push(address());
        }
    }

    /// Starts the group of an instruction that accesses this space, if it is to have one.
    #[inline]
    pub(super) fn collect(&mut self, pc: Pc, space: Space) -> Option<Collecting<'_>> {
        let traffic = self.traffic.as_mut()?;
        let moves = traffic.moves_lines[pc.index()] && space.has_lines(traffic.constants);
        let store = traffic.stores[pc.index()];
        moves.then_some(Collecting { traffic, store })
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

/// Where an access begins in its line or word.
fn begin(space: Space, span: &Span) -> u64 {
    span.low % if space == Space::Shared { WORD } else { LineUse::LINE_BYTES }
}

impl Collecting<'_> {
    /// A lane's access to global memory.
    pub(super) fn global(&mut self, memory: &mut Memory, address: u64, bytes: usize, apart: bool) {
        let address = memory.packed_address(address);
        if apart {
            self.traffic.lines.touch_apart(address, bytes);
        } else {
            self.traffic.lines.touch(address, bytes);
        }
    }

    /// A lane's access to a constant or a parameter.
    pub(super) fn constant(&mut self, base: u64, offset: u64, bytes: usize) {
        self.traffic.lines.touch(base | offset, bytes);
    }

    /// A thread's access to its local memory.
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

    /// All lanes have been seen.
    pub(super) fn finish(self) {
        self.traffic.lines.finish(&mut self.traffic.group, self.store);
    }
}
