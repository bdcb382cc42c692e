//! Rows of 32 words: a fast check that clears most accesses of races.
//!
//! Most accesses of a section touch words that no other warp touches in it, or read words that no
//! warp writes. For these it is sufficient to record for every row which of its words were read,
//! written and updated in the current section, and by which warp if it was only one. An access that
//! a row cannot clear is analysed cell by cell; a log of the section then supplies the earlier
//! accesses to the cells.

use super::super::rows::spread;
use super::super::span::{Pattern, Span};
use super::AccessEffect;
use super::pages::Pages;
use super::shadow::Cell;
use warpbound_core::base::{LaneMask, WARP_SIZE};

/// The number of words of a row, and the number of its bytes.
const WORDS: u32 = 32;
pub(super) const ROW_BYTES: u64 = 128;
/// The number of rows of a page.
const PAGE: usize = 32;
/// The number of rows up to which the words of a scattered access are computed row by row.
const NEAR: usize = 9;

/// The accesses to a row in a section.
#[derive(Clone, Copy, Debug)]
struct Row {
    section: u64,
    /// The words that were read, written and updated, as masks.
    read: u32,
    written: u32,
    updated: u32,
    /// The instruction of all updates, if several warps may execute it in any order.
    update: u32,
    /// The only warp that read, wrote or updated, or [`MANY`]; meaningless while no word is marked.
    reader: u8,
    writer: u8,
    updater: u8,
}

/// More than one warp.
const MANY: u8 = u8::MAX;
/// No instruction.
const NONE: u32 = u32::MAX;

impl Row {
    const NEW: Self =
        Self { section: 0, read: 0, written: 0, updated: 0, update: NONE, reader: 0, writer: 0, updater: 0 };

    /// Records an access to these words, and returns whether none of them can be part of a race
    /// with it. `harmless` says that the access is an update that several warps may execute in any
    /// order.
    #[inline(always)]
    fn clears(&mut self, section: u64, words: u32, own: Cell, effect: AccessEffect, harmless: bool) -> bool {
        if self.section != section {
            *self = Self { section, ..Self::NEW };
        }
        let warp = own.warp() as u8;
        let commutes = effect == AccessEffect::Updates && harmless && self.update == own.pc();
        let read = if effect == AccessEffect::Reads { 0 } else { self.read & words };
        let updated = if commutes { 0 } else { self.updated & words };
        let written = self.written & words;
        if read | written | updated != 0 {
            // it is rare that other warps made these accesses
            let by_others = |marks: u32, warps: u8| marks != 0 && warps != warp;
            if by_others(read, self.reader)
                || by_others(written, self.writer)
                || by_others(updated, self.updater)
            {
                return false;
            }
        }
        let (marks, warps) = match effect {
            AccessEffect::Reads => (&mut self.read, &mut self.reader),
            AccessEffect::Writes | AccessEffect::Rewrites => (&mut self.written, &mut self.writer),
            AccessEffect::Updates => {
                let first = self.updated == 0;
                self.update = if harmless && (first || self.update == own.pc()) { own.pc() } else { NONE };
                (&mut self.updated, &mut self.updater)
            }
        };
        *warps = if *marks == 0 || *warps == warp { warp } else { MANY };
        *marks |= words;
        true
    }
}

/// The rows of one range of addresses.
#[derive(Clone, Debug)]
pub(super) struct Rows(Pages<[Row; PAGE]>);

impl Rows {
    /// Creates the rows of `size` bytes, which may take `limit` bytes.
    pub(super) fn new(size: u64, limit: usize) -> Self {
        Self(Pages::new(size.div_ceil(ROW_BYTES * PAGE as u64), limit))
    }

    /// Drops the rows if they take much memory; see [`Pages::make_room`].
    pub(super) fn make_room(&mut self) {
        self.0.make_room();
    }

    /// Returns whether an access to these words of a row is not part of a race, see
    /// [`Row::clears`]; `None` if there is no room for the row.
    #[inline(always)]
    pub(super) fn clear(
        &mut self,
        row: u32,
        words: u32,
        (section, own): (u64, Cell),
        effect: AccessEffect,
        harmless: bool,
    ) -> Option<bool> {
        let page = match self.0.slots.get_mut(row as usize / PAGE)? {
            Some(page) => page,
            slot => {
                self.0.budget.take(size_of::<[Row; PAGE]>())?;
                slot.insert(Box::new([Row::NEW; PAGE]))
            }
        };
        Some(page[row as usize % PAGE].clears(section, words, own, effect, harmless))
    }
}

/// A part of a row: whole words, or a run of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Words(u32),
    Bytes { start: u8, count: u8 },
}

impl Part {
    /// Returns the words that it touches.
    #[inline(always)]
    pub(super) fn words(self) -> u32 {
        match self {
            Self::Words(words) => words,
            Self::Bytes { start, count } => {
                let (first, last) = (u32::from(start) / 4, (u32::from(start) + u32::from(count) - 1) / 4);
                bits(first, last - first + 1)
            }
        }
    }

    /// Returns its runs, each as the first byte and the number of bytes.
    pub(super) fn runs(self) -> impl Iterator<Item = (u64, u64)> {
        let (mut words, bytes) = match self {
            Self::Words(words) => (words, None),
            Self::Bytes { start, count } => (0, Some((u64::from(start), u64::from(count)))),
        };
        let words = std::iter::from_fn(move || {
            (words != 0).then(|| {
                let start = words.trailing_zeros();
                let count = (words >> start).trailing_ones();
                words &= !bits(start, count);
                (u64::from(start) * 4, u64::from(count) * 4)
            })
        });
        bytes.into_iter().chain(words)
    }
}

/// Returns a mask of `count` bits from `first` on.
#[inline(always)]
fn bits(first: u32, count: u32) -> u32 {
    (((1u64 << count) - 1) << first) as u32
}

/// Calls `each` for the rows of a run of bytes, with the part of each row.
#[inline(always)]
pub(super) fn of_run(at: u64, bytes: u64, narrow: bool, mut each: impl FnMut(u32, Part)) {
    let (mut at, end) = (at, at + bytes);
    while at < end {
        let (row, start) = (at / ROW_BYTES, at % ROW_BYTES);
        let count = (end - at).min(ROW_BYTES - start);
        let part = match narrow {
            true => Part::Bytes { start: start as u8, count: count as u8 },
            false => Part::Words(bits(start as u32 / 4, count as u32 / 4)),
        };
        each(row as u32, part);
        at += count;
    }
}

/// Calls `each` for the rows that lanes touch with whole words, with the words of each row. The
/// span begins at `at`.
#[inline(always)]
pub(super) fn of_lanes(at: u64, span: &Span, lanes: LaneMask, size: u64, mut each: impl FnMut(u32, u32)) {
    let (row, start) = ((at / ROW_BYTES) as u32, (at % ROW_BYTES) as u32);
    let per_lane = size as u32 / 4;
    if span.pattern == Pattern::Same {
        return each(row, bits(start / 4, per_lane));
    }
    if span.pattern == Pattern::Consecutive && lanes == LaneMask::ALL {
        return of_run(at, span.bytes, false, |row, part| each(row, part.words()));
    }
    let rows = (u64::from(start) + span.bytes).div_ceil(ROW_BYTES) as usize;
    if rows <= NEAR {
        let mask = spread(lanes);
        for near in 0..rows {
            let mut words = 0;
            for lane in 0..WARP_SIZE {
                let word = (span.offsets.0[lane].wrapping_add(start) / 4).wrapping_sub(near as u32 * WORDS);
                let bit = if word < WORDS { 1u32 << (word % WORDS) } else { 0 };
                words |= bit & mask.0[lane];
            }
            // the other words of a lane lie in the same row, because accesses are aligned
            let mut spread = 1;
            while spread < per_lane {
                words |= words << spread;
                spread *= 2;
            }
            if words != 0 {
                each(row + near as u32, words);
            }
        }
        return;
    }
    let mut pending = None;
    for lane in lanes.lanes() {
        let place = u64::from(start) + u64::from(span.offsets.0[lane]);
        let (near, words) = ((place / ROW_BYTES) as u32, bits((place % ROW_BYTES) as u32 / 4, per_lane));
        pending = match pending {
            Some((same, before)) if same == near => Some((near, before | words)),
            other => {
                if let Some((near, words)) = other {
                    each(row + near, words);
                }
                Some((near, words))
            }
        };
    }
    if let Some((near, words)) = pending {
        each(row + near, words);
    }
}
