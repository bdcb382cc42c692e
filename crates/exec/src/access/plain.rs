//! Plain loads and stores.
//!
//! Most accesses touch one contiguous range of memory, which is located and checked once for all
//! lanes. All other accesses (to local memory, by lanes in different buffers, or not allowed) are
//! executed lane by lane.

use super::super::context::Context;
use super::super::fault::Fault;
use super::super::lanes::{Lanes, sign_extend, width_mask};
use super::super::races::{AccessEffect, Accessor};
use super::super::registers::{RegisterMap, RegisterRow, Registers};
use super::super::rows::{Row, holds, put, put_wide, spread};
use super::super::warp::{Shape, Warp};
use super::{Targets, decode};
use crate::span::{Addresses, KeptPositions, Pattern, Span};
use warpbound_core::base::{LaneMask, Pc, RegId, WARP_SIZE};
use warpbound_core::isa::Space;
use warpbound_core::path::MemoryUse;
use warpbound_core::program::layout::resolve_generic;
use warpbound_core::program::sem::{Address, IntTy, Operand};

/// A load or store in decoded form.
#[derive(Clone, Debug)]
pub(in super::super) struct Access {
    space: Space,
    base: Base,
    /// The offset that is added to the base.
    offset: u64,
    /// The number of bytes of each part.
    element: usize,
    /// Whether parts are sign-extended.
    signed: bool,
    /// The destinations or sources of the parts; there is more than one for vectors.
    parts: Vec<Part>,
    /// The accesses at constant offsets from the same row of addresses, which is not changed between
    /// them. They have parts of the same size.
    group: u32,
    /// Whether all parts are whole narrow rows.
    words: bool,
    /// Whether to execute the access lane by lane even if this is not necessary.
    by_lane: bool,
}

/// The source of the addresses.
#[derive(Clone, Copy, Debug)]
enum Base {
    /// A narrow row: addresses wrap at 32 bits.
    Narrow(u32),
    Wide(u32),
    Fixed(u64),
    /// Any other operand, with a mask of its bits.
    Other(Operand, u64),
}

/// One part of a vector.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// A part that is loaded and discarded.
    Nothing,
    /// A narrow row, and a mask of the bits of its register.
    Narrow(u32, u32),
    Wide(u32),
    /// A source that has no row.
    Source(Operand),
}

/// Converts 32-bit numbers to 64-bit ones.
#[inline(always)]
fn widened(narrow: &[u32; WARP_SIZE]) -> Lanes {
    let mut wide = [0; WARP_SIZE];
    for (wide, &narrow) in wide.iter_mut().zip(narrow) {
        *wide = u64::from(narrow);
    }
    wide
}

impl Access {
    /// Decodes a load.
    pub(in super::super) fn load(
        map: &RegisterMap,
        space: Space,
        ty: IntTy,
        dsts: &[Option<RegId>],
        addr: &Address,
        by_lane: bool,
    ) -> Self {
        let part = |dst: &Option<RegId>| match dst.map(|reg| (map.place(reg), map.width(reg))) {
            Some((RegisterRow::Narrow(row), width)) => Part::Narrow(row, width as u32),
            Some((RegisterRow::Wide(row), _)) => Part::Wide(row),
            // no front end loads predicates
            None | Some((RegisterRow::Pred, _)) => Part::Nothing,
        };
        Self::new(map, space, ty, dsts.iter().map(part).collect(), addr, by_lane)
    }

    /// Decodes a store; the rows of immediates are added to the map.
    pub(in super::super) fn store(
        map: &mut RegisterMap,
        space: Space,
        bits: u8,
        srcs: &[Operand],
        addr: &Address,
        by_lane: bool,
    ) -> Self {
        let mut part = |src: &Operand| {
            let row = match *src {
                Operand::Reg(reg) => match map.place(reg) {
                    RegisterRow::Narrow(row) => Some(Part::Narrow(row, u32::MAX)),
                    RegisterRow::Wide(row) => Some(Part::Wide(row)),
                    RegisterRow::Pred => None,
                },
                other if bits == 64 => map.wide(other).map(Part::Wide),
                other => map.narrow(other).map(|row| Part::Narrow(row, u32::MAX)),
            };
            row.unwrap_or(Part::Source(*src))
        };
        let parts = srcs.iter().map(&mut part).collect();
        Self::new(map, space, IntTy { bits, signed: false }, parts, addr, by_lane)
    }

    fn new(
        map: &RegisterMap,
        space: Space,
        ty: IntTy,
        parts: Vec<Part>,
        addr: &Address,
        by_lane: bool,
    ) -> Self {
        let base = match addr.base {
            Operand::Imm(value) => Base::Fixed(value),
            Operand::Special(_) => Base::Other(addr.base, u64::MAX),
            Operand::Reg(reg) => match map.place(reg) {
                RegisterRow::Narrow(row) if map.width(reg) == width_mask(32) => Base::Narrow(row),
                RegisterRow::Wide(row) => Base::Wide(row),
                _ => Base::Other(addr.base, map.width(reg)),
            },
        };
        let element = usize::from(ty.bits / 8);
        let offset = addr.offset as u64;
        let words = element == 4 && parts.iter().all(|part| matches!(part, Part::Narrow(_, u32::MAX)));
        Self { space, base, offset, element, signed: ty.signed, parts, group: 0, words, by_lane }
    }

    /// Makes the access one of a group.
    pub(in super::super) fn join(&mut self, group: u32) {
        self.group = group;
    }

    /// Returns the number of bytes that each lane accesses.
    pub(in super::super) fn size(&self) -> usize {
        self.element * self.parts.len()
    }

    /// Returns the address of every lane.
    fn addresses(&self, warp: &Warp, shape: &Shape) -> Lanes {
        let registers = &warp.registers;
        let (base, width) = match self.base {
            Base::Fixed(base) => ([base; WARP_SIZE], u64::MAX),
            Base::Wide(row) => (registers.wide[row as usize].0, u64::MAX),
            Base::Narrow(row) => (widened(&registers.narrow[row as usize].0), width_mask(32)),
            Base::Other(operand, width) => (warp.operand(operand, shape), width),
        };
        // `map` of an array would compile to a call per lane here
        let mut addresses = base;
        for address in &mut addresses {
            *address = address.wrapping_add(self.offset) & width;
        }
        addresses
    }

    /// Returns the memory range that covers all lanes: its space, its start in the space, and the
    /// offsets of the lanes in it. `None` if the access has to be executed lane by lane.
    #[inline(always)]
    fn stretch<'k>(
        &self,
        warp: &Warp,
        enabled: LaneMask,
        kept: &'k mut KeptPositions,
    ) -> Option<(Space, u64, &'k Span)> {
        if self.by_lane {
            return None;
        }
        let registers = &warp.registers;
        let fixed;
        let addresses = match self.base {
            Base::Wide(row) => Addresses::Wide(&registers.wide[row as usize]),
            Base::Narrow(row) => Addresses::Narrow(&registers.narrow[row as usize]),
            Base::Fixed(base) => {
                fixed = Row([base; WARP_SIZE]);
                Addresses::Wide(&fixed)
            }
            Base::Other(..) => return None,
        };
        let span = kept.span(self.group, (addresses, self.offset), enabled, self.size() as u32)?;
        let (space, low) = if self.space == Space::Generic {
            let (space, low) = resolve_generic(span.low);
            let last = resolve_generic(span.low.checked_add(span.bytes - 1)?);
            (last == (space, low.checked_add(span.bytes - 1)?)).then_some((space, low))?
        } else {
            (self.space, span.low)
        };
        // each lane of a warp has its own local memory
        (space != Space::Local).then_some((space, low, span))
    }
}

/// Executes a load. Returns the space of the access with its bank conflicts, and records its lines.
///
/// # Errors
/// Returns an error if the access is not allowed.
#[inline(always)]
pub(in super::super) fn load(
    warp: &mut Warp,
    context: &mut Context,
    pc: Pc,
    (access, kept): (&Access, &mut KeptPositions),
    enabled: LaneMask,
) -> Result<MemoryUse, Fault> {
    if enabled.is_empty() {
        return Ok(access.unused(pc, context));
    }
    if let Some((space, low, span)) = access.stretch(warp, enabled, kept)
        && let Some(bytes) = context.memory.stretch(space, low, span.bytes)
    {
        gather(access, bytes, span, enabled, &mut warp.registers);
        if let Some(detector) = &mut context.detector {
            let by = Accessor { warp: warp.id, pc };
            detector.span(by, (space, low), span, enabled, access.size() as u64, AccessEffect::Reads);
        }
        return Ok(access.used(span, pc, space, enabled, warp, context));
    }
    load_by_lane(warp, context, access, pc, enabled)
}

/// Executes a store. Returns the space of the access with its bank conflicts, and records its
/// lines.
///
/// # Errors
/// Returns an error if the access is not allowed.
#[inline(always)]
pub(in super::super) fn store(
    warp: &Warp,
    context: &mut Context,
    pc: Pc,
    (access, kept): (&Access, &mut KeptPositions),
    enabled: LaneMask,
) -> Result<MemoryUse, Fault> {
    if enabled.is_empty() {
        return Ok(access.unused(pc, context));
    }
    if let Some((space, low, span)) = access.stretch(warp, enabled, kept)
        && let Some(bytes) = context.memory.stretch_mut(space, low, span.bytes)
    {
        if let Some(detector) = &mut context.detector {
            let by = Accessor { warp: warp.id, pc };
            let unchanged = unchanged(access, bytes, span, enabled, warp, &context.shape);
            for (lanes, effect) in
                [(enabled - unchanged, AccessEffect::Writes), (unchanged, AccessEffect::Rewrites)]
            {
                if !lanes.is_empty() {
                    detector.span(by, (space, low), span, lanes, access.size() as u64, effect);
                }
            }
        }
        scatter(access, bytes, span, enabled, warp, &context.shape);
        return Ok(access.used(span, pc, space, enabled, warp, context));
    }
    store_by_lane(warp, context, access, pc, enabled)
}

/// Returns the start of a lane's bytes in a range.
#[inline(always)]
fn place(span: &Span, lane: usize) -> usize {
    span.offsets.0[lane] as usize
}

/// Moves the loaded values of the lanes to their registers.
#[inline(always)]
fn gather(access: &Access, bytes: &[u8], span: &Span, enabled: LaneMask, registers: &mut Registers) {
    match (span.pattern, access.element, access.parts.as_slice()) {
        (Pattern::Same, element, parts) => {
            let mask = spread(enabled);
            for (bytes, part) in bytes.chunks_exact(element).zip(parts) {
                let value = extended(access, decode(bytes));
                match *part {
                    Part::Nothing | Part::Source(_) => {}
                    Part::Narrow(row, width) => {
                        put(&mut registers.narrow[row as usize], &mask, |_| value as u32 & width);
                    }
                    Part::Wide(row) => put_wide(&mut registers.wide[row as usize], &mask, |_| value),
                }
            }
        }
        (pattern, _, &[Part::Narrow(row, _)]) if access.words => {
            let row = &mut registers.narrow[row as usize];
            let (words, _) = bytes.as_chunks::<4>();
            match (pattern, enabled, words.first_chunk::<WARP_SIZE>()) {
                (Pattern::Consecutive, LaneMask::ALL, Some(words)) => {
                    for (value, word) in row.0.iter_mut().zip(words) {
                        *value = u32::from_le_bytes(*word);
                    }
                }
                _ => gather_words(row, words, span, enabled),
            }
        }
        (_, _, parts) if access.words => {
            let (words, _) = bytes.as_chunks::<4>();
            for (index, part) in parts.iter().enumerate() {
                if let (&Part::Narrow(row, _), Some(words)) = (part, words.get(index..)) {
                    gather_words(&mut registers.narrow[row as usize], words, span, enabled);
                }
            }
        }
        (_, element, parts) => {
            for lane in enabled.lanes() {
                let at = place(span, lane);
                let bytes = &bytes[at..at + element * parts.len()];
                put_parts(access, bytes, lane, registers);
            }
        }
    }
}

/// Moves the word at the place of each lane to its register.
#[inline(always)]
fn gather_words(row: &mut Row<u32>, words: &[[u8; 4]], span: &Span, enabled: LaneMask) {
    let word = |lane: usize| u32::from_le_bytes(words[place(span, lane) / 4]);
    if enabled == LaneMask::ALL {
        for lane in 0..WARP_SIZE {
            row.0[lane] = word(lane);
        }
    } else {
        for lane in enabled.lanes() {
            row.0[lane] = word(lane);
        }
    }
}

/// Moves the loaded values of one lane to its registers.
#[inline(always)]
fn put_parts(access: &Access, bytes: &[u8], lane: usize, registers: &mut Registers) {
    for (bytes, part) in bytes.chunks_exact(access.element).zip(&access.parts) {
        let value = extended(access, decode(bytes));
        match *part {
            Part::Nothing | Part::Source(_) => {}
            Part::Narrow(row, width) => registers.narrow[row as usize].0[lane] = value as u32 & width,
            Part::Wide(row) => registers.wide[row as usize].0[lane] = value,
        }
    }
}

#[inline(always)]
fn extended(access: &Access, value: u64) -> u64 {
    if access.signed { sign_extend(value, 8 * access.element as u32) as u64 } else { value }
}

/// Moves the stored values of the lanes to memory.
#[inline(always)]
fn scatter(access: &Access, bytes: &mut [u8], span: &Span, enabled: LaneMask, warp: &Warp, shape: &Shape) {
    let registers = &warp.registers;
    match (access.element, access.parts.as_slice()) {
        (4, &[Part::Narrow(row, _)]) => {
            let row = &registers.narrow[row as usize];
            let (words, _) = bytes.as_chunks_mut::<4>();
            if let (Pattern::Consecutive, LaneMask::ALL, Some(words)) =
                (span.pattern, enabled, words.first_chunk_mut::<WARP_SIZE>())
            {
                for (word, value) in words.iter_mut().zip(&row.0) {
                    *word = value.to_le_bytes();
                }
            } else {
                for lane in enabled.lanes() {
                    words[place(span, lane) / 4] = row.0[lane].to_le_bytes();
                }
            }
        }
        (_, parts) if access.words => {
            // two lanes that write to the same word do so with the same part
            let (words, _) = bytes.as_chunks_mut::<4>();
            for (index, part) in parts.iter().enumerate() {
                let &Part::Narrow(row, _) = part else { continue };
                let row = &registers.narrow[row as usize];
                for lane in enabled.lanes() {
                    words[place(span, lane) / 4 + index] = row.0[lane].to_le_bytes();
                }
            }
        }
        (element, parts) => {
            for lane in enabled.lanes() {
                let at = place(span, lane);
                take_parts(access, &mut bytes[at..at + element * parts.len()], lane, warp, shape);
            }
        }
    }
}

/// Returns the lanes whose stored values are equal to those already in memory.
#[inline(always)]
fn unchanged(
    access: &Access,
    bytes: &[u8],
    span: &Span,
    enabled: LaneMask,
    warp: &Warp,
    shape: &Shape,
) -> LaneMask {
    if let (4, &[Part::Narrow(row, _)], Pattern::Consecutive, LaneMask::ALL) =
        (access.element, access.parts.as_slice(), span.pattern, enabled)
        && let Some(words) = bytes.as_chunks::<4>().0.first_chunk::<WARP_SIZE>()
    {
        let old = Row(words.map(u32::from_le_bytes));
        return holds(&old, &warp.registers.narrow[row as usize], |old, new| old == new);
    }
    // find the lanes whose first word is unchanged; their other words are compared below
    let mut enabled = enabled;
    if let (4, &[Part::Narrow(row, _), ..]) = (access.element, access.parts.as_slice()) {
        let (words, _) = bytes.as_chunks::<4>();
        let row = &warp.registers.narrow[row as usize];
        let mut same = 0;
        for lane in enabled.lanes() {
            same |= u32::from(u32::from_le_bytes(words[place(span, lane) / 4]) == row.0[lane]) << lane;
        }
        enabled &= LaneMask::from_bits_retain(same);
        if access.parts.len() == 1 {
            return enabled;
        }
    }
    let mut unchanged = LaneMask::empty();
    for lane in enabled.lanes() {
        let at = place(span, lane);
        if stores_equal_bytes(access, &bytes[at..at + access.size()], lane, warp, shape) {
            unchanged |= LaneMask::lane(lane);
        }
    }
    unchanged
}

#[inline(always)]
fn stores_equal_bytes(access: &Access, old: &[u8], lane: usize, warp: &Warp, shape: &Shape) -> bool {
    let mut new = [0; MAX_ACCESS];
    let new = &mut new[..access.size()];
    take_parts(access, new, lane, warp, shape);
    old == new
}

/// Returns whether no lane between two enabled ones is disabled.
fn is_run(enabled: LaneMask) -> bool {
    let bits = enabled.bits().checked_shr(enabled.bits().trailing_zeros()).unwrap_or(0);
    bits & bits.wrapping_add(1) == 0
}

/// The largest number of bytes that a lane accesses.
const MAX_ACCESS: usize = 32;

/// Moves the stored values of one lane to memory.
#[inline(always)]
fn take_parts(access: &Access, bytes: &mut [u8], lane: usize, warp: &Warp, shape: &Shape) {
    let registers = &warp.registers;
    for (bytes, part) in bytes.chunks_exact_mut(access.element).zip(&access.parts) {
        let value = match *part {
            Part::Nothing => 0,
            Part::Source(operand) => warp.operand_in(operand, shape, lane),
            Part::Narrow(row, _) => u64::from(registers.narrow[row as usize].0[lane]),
            Part::Wide(row) => registers.wide[row as usize].0[lane],
        };
        // most parts have 4 bytes; for these a store of fixed size is faster than a call that
        // copies
        match bytes {
            [_, _, _, _] => bytes.copy_from_slice(&(value as u32).to_le_bytes()),
            _ => bytes.copy_from_slice(&value.to_le_bytes()[..access.element]),
        }
    }
}

impl Access {
    fn targets(&self, warp: &Warp, context: &Context, pc: Pc, verb: &'static str) -> Targets {
        let addresses = self.addresses(warp, &context.shape);
        Targets { space: self.space, addresses, size: self.size(), verb, pc, range: None }
    }

    /// Returns and records the memory use of an access to one space.
    #[inline(always)]
    fn used(
        &self,
        span: &Span,
        pc: Pc,
        space: Space,
        enabled: LaneMask,
        warp: &Warp,
        context: &mut Context,
    ) -> MemoryUse {
        let Context { record, memory, .. } = context;
        if !record.wants_addresses() {
            return MemoryUse { space, extra_transactions: 0 };
        }
        match record.reuse((pc, space), span, enabled, memory) {
            Some(extra_transactions) => MemoryUse { space, extra_transactions },
            None => self.compute_use(span, (pc, space), enabled, warp, context),
        }
    }

    /// Returns and records the memory use of an access that no lane executes.
    fn unused(&self, pc: Pc, context: &mut Context) -> MemoryUse {
        let space = if self.space == Space::Generic { Space::Global } else { self.space };
        if let Some(group) = context.record.collect(pc, space) {
            group.finish();
        }
        MemoryUse { space, extra_transactions: 0 }
    }

    #[cold]
    fn compute_use(
        &self,
        span: &Span,
        at: (Pc, Space),
        enabled: LaneMask,
        warp: &Warp,
        context: &mut Context,
    ) -> MemoryUse {
        // the address registers may have been overwritten by now
        let mut addresses = widened(&span.offsets.0);
        for address in &mut addresses {
            *address = address.wrapping_add(span.low);
        }
        let (pc, space) = at;
        let adjacent =
            span.pattern == Pattern::Same || span.pattern == Pattern::Consecutive && is_run(enabled);
        let range = (adjacent && space == Space::Global).then_some((span.low, span.bytes));
        let targets = Targets { space: self.space, addresses, size: self.size(), verb: "access", pc, range };
        let used = targets.used(enabled, false, warp, context);
        let Context { record, memory, .. } = context;
        record.remember(at, span, enabled, used.extra_transactions, memory);
        used
    }
}

#[cold]
fn load_by_lane(
    warp: &mut Warp,
    context: &mut Context,
    access: &Access,
    pc: Pc,
    enabled: LaneMask,
) -> Result<MemoryUse, Fault> {
    let targets = access.targets(warp, context, pc, "load");
    for lane in enabled.lanes() {
        let (space, address) = targets.of(lane);
        match context.memory.read(space, warp.thread(lane), address, targets.size) {
            Ok(bytes) => {
                put_parts(access, bytes, lane, &mut warp.registers);
            }
            Err(denied) => return Err(targets.fault(denied, lane, warp, context)),
        }
    }
    targets.detector(enabled, warp, context, AccessEffect::Reads);
    Ok(targets.used(enabled, false, warp, context))
}

#[cold]
fn store_by_lane(
    warp: &Warp,
    context: &mut Context,
    access: &Access,
    pc: Pc,
    enabled: LaneMask,
) -> Result<MemoryUse, Fault> {
    let targets = access.targets(warp, context, pc, "store");
    let mut unchanged = LaneMask::empty();
    for lane in enabled.lanes() {
        let (space, address) = targets.of(lane);
        match context.memory.write(space, warp.thread(lane), address, targets.size) {
            Ok(bytes) if stores_equal_bytes(access, bytes, lane, warp, &context.shape) => {
                unchanged |= LaneMask::lane(lane);
            }
            Ok(_) => {}
            Err(denied) => return Err(targets.fault(denied, lane, warp, context)),
        }
    }
    for (lanes, effect) in [(enabled - unchanged, AccessEffect::Writes), (unchanged, AccessEffect::Rewrites)]
    {
        targets.detector(lanes, warp, context, effect);
    }
    for lane in enabled.lanes() {
        let (space, address) = targets.of(lane);
        if let Ok(bytes) = context.memory.write(space, warp.thread(lane), address, targets.size) {
            take_parts(access, bytes, lane, warp, &context.shape);
        }
    }
    Ok(targets.used(enabled, false, warp, context))
}
