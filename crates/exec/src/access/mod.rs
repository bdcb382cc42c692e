//! Loads, stores, atomics and asynchronous copies of one warp.
//!
//! Lanes are processed in ascending order: if several write to one location, the value of the last
//! one remains; atomics see the results of the lanes before them.

mod atomic;
mod copy;
mod matrix;
mod plain;

pub(super) use atomic::{atomic, combined};
pub(super) use copy::{async_commit, async_copy, async_slot, async_wait};
pub(super) use matrix::{load_matrix, load_rows, store_matrix, store_rows};
pub(super) use plain::{Access, load, store};

use super::context::Context;
use super::fault::{self, Fault};
use super::lanes::Lanes;
use super::memory::{Denied, Memory};
use super::races::{AccessEffect, Accessor};
use super::record::Collecting;
use super::rows::Row;
use super::span::Span;
use super::warp::{Shape, Warp};
use warpbound_core::base::{LaneMask, Pc, WARP_SIZE};
use warpbound_core::isa::Space;
use warpbound_core::machine::Banks;
use warpbound_core::path::{Elsewhere, LineUse, MemoryUse, extra_transactions, most_extra_transactions};
use warpbound_core::program::layout::{CONSTANT_LINES_BASE, PARAM_LINES_BASE, resolve_generic};
use warpbound_core::program::sem::{Address, Operand};

/// The target addresses of the lanes of one access.
pub(super) struct Targets {
    space: Space,
    addresses: Lanes,
    size: usize,
    verb: &'static str,
    pc: Pc,
    /// The start and the number of the bytes that the enabled lanes touch, if they are adjacent and in
    /// one region of global memory, as far as that is known.
    range: Option<(u64, u64)>,
}

impl Targets {
    pub(super) fn new(
        warp: &Warp,
        context: &Context,
        pc: Pc,
        place: (Space, &Address),
        size: usize,
        verb: &'static str,
    ) -> Self {
        let (space, address) = place;
        let base = warp.operand(address.base, &context.shape);
        // 32-bit addresses wrap at 32 bits
        let width = match address.base {
            Operand::Reg(reg) => warp.map.width(reg),
            Operand::Imm(_) | Operand::Special(_) => u64::MAX,
        };
        let offset = address.offset as u64;
        let addresses = std::array::from_fn(|lane| base[lane].wrapping_add(offset) & width);
        Self { space, addresses, size, verb, pc, range: None }
    }

    /// Returns the corresponding targets in the shared memory of another block of the cluster.
    pub(super) fn in_block(&self, context: &Context, rank: u64) -> Self {
        let addresses = self.addresses.map(|address| context.memory.in_block(address, rank));
        Self { addresses, ..*self }
    }

    /// Returns the program counter of the instruction.
    pub(super) fn pc(&self) -> Pc {
        self.pc
    }

    /// Returns the space of a lane's access and the address within it.
    #[inline]
    pub(super) fn of(&self, lane: usize) -> (Space, u64) {
        let address = self.addresses[lane];
        if self.space == Space::Generic { resolve_generic(address) } else { (self.space, address) }
    }

    /// Reports the access of these lanes to the race detector.
    fn detector(&self, lanes: LaneMask, warp: &Warp, context: &mut Context, effect: AccessEffect) {
        let Some(detector) = &mut context.detector else { return };
        let (by, size) = (Accessor { warp: warp.id, pc: self.pc }, self.size as u64);
        let span = match self.space {
            Space::Generic => None,
            _ => Span::of(&Row(self.addresses), lanes, self.size as u32),
        };
        match span {
            Some(span) => detector.span(by, (self.space, span.low), &span, lanes, size, effect),
            None => lanes.lanes().for_each(|lane| {
                let (space, address) = self.of(lane);
                detector.access(by, space, address, size, effect);
            }),
        }
    }

    /// Returns the space that determines the timing of the access: that of the first enabled lane.
    fn resolved(&self, enabled: LaneMask) -> Space {
        match (self.space, enabled.lanes().next()) {
            (Space::Generic, Some(lane)) => self.of(lane).0,
            (Space::Generic, None) => Space::Global,
            (space, _) => space,
        }
    }

    /// Returns and records the memory use of a completed access. `apart` says that lanes that
    /// access the same bytes need separate transactions.
    pub(super) fn used(
        &self,
        enabled: LaneMask,
        apart: bool,
        warp: &Warp,
        context: &mut Context,
    ) -> MemoryUse {
        let used = self.memory_use(enabled, apart, context);
        if context.record.lanes() {
            self.log(enabled, context);
        }
        if let Some(mut group) = context.record.collect(self.pc, used.space) {
            self.touch(enabled, apart, warp, (&mut context.memory, &context.shape), &mut group);
            group.finish();
        }
        used
    }

    /// Returns the memory use of an access; `apart` as in [`Self::used`].
    pub(super) fn memory_use(&self, enabled: LaneMask, apart: bool, context: &Context) -> MemoryUse {
        let space = self.resolved(enabled);
        let extra_transactions = match context.record.banks {
            Some(banks) if space == Space::Shared => self.extra_transactions(banks, enabled, apart),
            _ if context.record.counts_addresses(space) => self.further_addresses(enabled, LaneMask::empty()),
            _ => 0,
        };
        MemoryUse { space, extra_transactions }
    }

    /// Returns the largest number of different addresses beyond the first if some or all of these lanes
    /// access theirs; those of the `unknown` lanes are arbitrary.
    pub(super) fn further_addresses(&self, enabled: LaneMask, unknown: LaneMask) -> u8 {
        let mut addresses: Vec<u64> = (enabled - unknown).lanes().map(|lane| self.addresses[lane]).collect();
        addresses.sort_unstable();
        addresses.dedup();
        (addresses.len() + (enabled & unknown).lanes().count()).saturating_sub(1) as u8
    }

    /// Records the addresses of the lanes. Addresses in global memory are converted to those of the
    /// recorded traffic, see [`Memory::packed_address`](super::memory::Memory::packed_address).
    #[cold]
    fn log(&self, enabled: LaneMask, context: &mut Context) {
        let Context { record, memory, .. } = context;
        for lane in enabled.lanes() {
            record.address(|| match self.of(lane) {
                (Space::Global, address) => memory.packed_address(address),
                _ => self.addresses[lane],
            });
        }
    }

    /// Returns the number of transactions beyond those of an access without conflicts.
    fn extra_transactions(&self, banks: Banks, enabled: LaneMask, apart: bool) -> u8 {
        let (addresses, lanes) = self.in_shared(enabled);
        extra_transactions(banks, &addresses, self.size, lanes, apart)
    }

    /// Returns the lanes, among these, that access a buffer that no kernel writes.
    pub(super) fn in_constant_buffers(&self, lanes: LaneMask, context: &mut Context) -> LaneMask {
        let constant = |lane: &usize| {
            let (space, address) = self.of(*lane);
            space == Space::Global && context.memory.is_constant(address, self.size)
        };
        lanes.lanes().filter(constant).map(LaneMask::lane).collect()
    }

    /// Returns the spaces that [`Self::resolved`] may return if some or all of the enabled lanes
    /// access memory. The addresses of the `unknown` lanes are arbitrary, and the `sure` lanes
    /// certainly access memory.
    pub(super) fn may_resolve(&self, enabled: LaneMask, unknown: LaneMask, sure: LaneMask) -> Vec<Space> {
        if self.space != Space::Generic {
            return vec![self.space];
        }
        if !(enabled & unknown).is_empty() {
            return vec![Space::Global, Space::Shared, Space::Local, Space::Const, Space::Param];
        }
        let mut spaces = if sure.is_empty() { vec![Space::Global] } else { Vec::new() };
        // the first lane that accesses memory does not come after the first lane that certainly
        // does
        let first_sure = sure.lanes().next().unwrap_or(WARP_SIZE);
        for lane in enabled.lanes().take_while(|&lane| lane <= first_sure) {
            let (space, _) = self.of(lane);
            if !spaces.contains(&space) {
                spaces.push(space);
            }
        }
        spaces
    }

    /// Returns the largest number of transactions beyond those of an access without conflicts. The
    /// lanes have the same meaning as in [`Self::may_resolve`].
    pub(super) fn most_extra_transactions(
        &self,
        banks: Option<Banks>,
        (enabled, unknown): (LaneMask, LaneMask),
        apart: bool,
    ) -> u8 {
        let Some(banks) = banks else { return 0 };
        let (addresses, lanes) = self.in_shared(enabled - unknown);
        most_extra_transactions(banks, &addresses, self.size, (lanes, unknown & enabled), apart)
    }

    /// Adds the lines of the access.
    #[inline]
    fn touch(
        &self,
        enabled: LaneMask,
        apart: bool,
        warp: &Warp,
        (memory, shape): (&mut Memory, &Shape),
        group: &mut Collecting<'_>,
    ) {
        if let (Some((low, bytes)), false) = (self.range, apart) {
            return group.range(memory, low, bytes);
        }
        for lane in enabled.lanes() {
            match self.of(lane) {
                (Space::Global, address) => group.global(memory, address, self.size, apart),
                (Space::Local, address) => {
                    group.local(memory, shape, warp.thread(lane), address, self.size);
                }
                (Space::Const, offset) => group.constant(CONSTANT_LINES_BASE, offset, self.size),
                (Space::Param, offset) => group.constant(PARAM_LINES_BASE, offset, self.size),
                (Space::Shared | Space::Generic, _) => {}
            }
        }
    }

    /// Records the lines of these lanes, and returns the largest number of lines that the `unknown`
    /// lanes may access. A lane whose address is not aligned is left out, since a run that comes
    /// here reports it.
    pub(super) fn may_touch(
        &self,
        (known, unknown): (LaneMask, LaneMask),
        apart: bool,
        warp: &Warp,
        context: &mut Context,
    ) -> Elsewhere {
        let space = if self.space == Space::Generic { Space::Global } else { self.space };
        let Some(mut group) = context.record.collect(self.pc, space) else { return Elsewhere::default() };
        let is_in_a_line =
            |lane: &usize| self.of(*lane).1 % LineUse::LINE_BYTES + self.size as u64 <= LineUse::LINE_BYTES;
        let known = known.lanes().filter(is_in_a_line).map(LaneMask::lane).collect();
        self.touch(known, apart, warp, (&mut context.memory, &context.shape), &mut group);
        group.finish();
        // the words of a thread's local memory lie in different lines
        let of_lane =
            if matches!(self.space, Space::Local | Space::Generic) { self.size.div_ceil(4) } else { 1 };
        Elsewhere::apart(unknown.count() * of_lane as u32)
    }

    /// Returns the lanes that access shared memory, and their addresses in it.
    fn in_shared(&self, enabled: LaneMask) -> (Lanes, LaneMask) {
        if self.space == Space::Shared {
            return (self.addresses, enabled);
        }
        let (mut addresses, mut lanes) = ([0; WARP_SIZE], LaneMask::empty());
        for lane in enabled.lanes() {
            if let (Space::Shared, address) = self.of(lane) {
                addresses[lane] = address;
                lanes |= LaneMask::lane(lane);
            }
        }
        (addresses, lanes)
    }

    #[cold]
    pub(super) fn fault(&self, denied: Denied, lane: usize, warp: &Warp, context: &Context) -> Fault {
        self.fault_behind(denied, lane, 0, warp, context)
    }

    /// Returns the error of an access this many bytes behind a lane's address.
    pub(super) fn fault_behind(
        &self,
        denied: Denied,
        lane: usize,
        offset: u64,
        warp: &Warp,
        context: &Context,
    ) -> Fault {
        let (space, address) = self.of(lane);
        let address = address.wrapping_add(offset);
        let generic = self.space == Space::Generic;
        let access = fault::Access { verb: self.verb, space, address, size: self.size, generic, lane };
        access.fault(denied, context.program, self.pc, &context.memory, warp, &context.shape)
    }
}

/// Returns the address in shared memory at which data are that would be at an address without swizzling.
/// In each 128 bytes, parts of 16 bytes are exchanged within groups of `bytes` (32, 64 or 128): the
/// number of the 128 bytes is combined with that of the part. Fewer bytes are not swizzled.
pub(super) fn swizzled(address: u64, bytes: u64) -> u64 {
    let parts = (bytes / 16).max(1);
    address ^ ((address >> 7 & (parts - 1)) * 16)
}

/// Decodes a little-endian number of at most 8 bytes.
#[inline]
pub(super) fn decode(bytes: &[u8]) -> u64 {
    match *bytes {
        [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)),
    }
}
