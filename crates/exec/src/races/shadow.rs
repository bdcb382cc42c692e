//! Shadow memory: for every word of memory, the last reader and the last writer.
//!
//! Cells describe the current section only, so they contain no time: a chunk of them is updated
//! when a later section accesses it for the first time.

use super::AccessEffect;
use super::pages::{Budget, Pages};

/// The bytes of memory that a page describes.
const PAGE_BYTES: u64 = 4096;
/// The bytes of memory whose cells are updated together.
const CHUNK_BYTES: u64 = 1024;
const CHUNKS: usize = (PAGE_BYTES / CHUNK_BYTES) as usize;
/// The bytes of a word.
const WORD: u64 = 4;

/// The warp that accessed a location and the instruction, or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cell(u32);

/// The largest number of warps of a block.
pub(super) const WARPS: usize = 64;

/// Returns the actor for the bulk copies of a warp that signal their completion. The actor for what
/// the warp does itself is its number.
pub(super) const fn copier(warp: usize) -> usize {
    WARPS + warp
}

impl Cell {
    const WARP_SHIFT: u32 = 20;
    const PC: u32 = (1 << Self::WARP_SHIFT) - 1;
    const WARP: u32 = 0x3f << Self::WARP_SHIFT;
    /// Other warps did the same without an order between them; the cell contains the first of all.
    const MANY: u32 = 1 << 26;
    /// For a writer: the access was atomic. For a reader: it was a store that changed nothing.
    const SPECIAL: u32 = 1 << 27;
    /// No order exists between the access and the present one, unless the same warp makes both.
    const OPEN: u32 = 1 << 28;
    /// The access was in an earlier section of this block or, if it is open, in another block.
    const PAST: u32 = 1 << 29;
    /// A bulk copy of the warp makes the access, at any time until it signals its completion.
    const COPIED: u32 = 1 << 30;

    /// Creates the cell of an access in the current section.
    pub(super) fn new(warp: usize, pc: u32) -> Self {
        Self(Self::OPEN | (warp as u32) << Self::WARP_SHIFT & Self::WARP | pc & Self::PC)
    }

    /// Returns the cell of the same access by a bulk copy that signals its completion.
    pub(super) fn copied(self) -> Self {
        Self(self.0 | Self::COPIED)
    }

    /// Returns the actor that makes the access.
    pub(super) fn actor(self) -> usize {
        if self.0 & Self::COPIED == 0 { self.warp() } else { copier(self.warp()) }
    }

    pub(super) fn warp(self) -> usize {
        ((self.0 & Self::WARP) >> Self::WARP_SHIFT) as usize
    }

    pub(super) fn pc(self) -> u32 {
        self.0 & Self::PC
    }

    pub(super) fn is_many(self) -> bool {
        self.0 & Self::MANY != 0
    }

    pub(super) fn is_special(self) -> bool {
        self.0 & Self::SPECIAL != 0
    }

    pub(super) fn is_of_another_block(self) -> bool {
        self.0 & (Self::OPEN | Self::PAST) == Self::OPEN | Self::PAST
    }

    /// Returns the cell updated for the start of another block.
    #[inline(always)]
    fn of_another_block(self) -> Self {
        Self(if self.0 == 0 { 0 } else { self.0 | Self::OPEN | Self::PAST })
    }

    /// Returns the cell updated for a later section of the block.
    #[inline(always)]
    fn of_a_section_before(self) -> Self {
        let stays = self.0 == 0 || self.is_of_another_block();
        Self(if stays { self.0 } else { self.0 & !Self::OPEN | Self::PAST })
    }

    pub(super) fn plain(self) -> Self {
        Self(self.0 & !Self::SPECIAL)
    }

    pub(super) fn special(self) -> Self {
        Self(self.0 | Self::SPECIAL)
    }

    pub(super) fn many(self) -> Self {
        Self(self.0 | Self::MANY)
    }

    /// Returns the reader after a read by the warp of `own`.
    #[inline(always)]
    pub(super) fn read_by(self, own: Self) -> Self {
        let many = if self.is_foreign(own) { Self::MANY } else { 0 };
        Self(if self.is_open() { self.0 & !Self::SPECIAL | many } else { own.0 })
    }

    /// Returns the reader after a store by the warp of `own` that changed nothing.
    #[inline(always)]
    pub(super) fn rewritten_by(self, own: Self) -> Self {
        let many = if self.is_foreign(own) { Self::MANY } else { 0 };
        Self(if self.is_open() { self.0 | many } else { own.0 | Self::SPECIAL })
    }

    /// Returns whether the access is unordered with the present one.
    #[inline(always)]
    pub(super) fn is_open(self) -> bool {
        self.0 & Self::OPEN != 0
    }

    /// Returns whether it is open and a warp other than that of `own` took part.
    #[inline(always)]
    pub(super) fn is_foreign(self, own: Self) -> bool {
        self.is_open() & ((self.0 ^ own.0) & (Self::WARP | Self::MANY | Self::PAST) != 0)
    }
}

/// The time and the warp of an access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    /// The cell that the access leaves.
    pub(super) own: Cell,
    /// The current section; the number grows with every section of every block.
    pub(super) section: u64,
    /// The section in which the running block began.
    pub(super) block: u64,
    /// Whether earlier blocks may run at the same time.
    pub(super) overlap: bool,
}

/// The number of words of a page.
const WORDS: usize = (PAGE_BYTES / WORD) as usize;

/// The cells of a range of memory.
#[derive(Clone, Debug)]
struct Page {
    words: CellTable<WORDS>,
    /// The cells of bytes, which replace those of the words if an access was narrower.
    bytes: Option<Box<CellTable<{ PAGE_BYTES as usize }>>>,
    /// For each chunk, the section for which its cells are up to date.
    sections: [u64; CHUNKS],
}

/// The cells of a page.
#[derive(Clone, Debug)]
struct CellTable<const N: usize> {
    readers: [Cell; N],
    writers: [Cell; N],
}

impl<const N: usize> CellTable<N> {
    const EMPTY: Self = Self { readers: [Cell(0); N], writers: [Cell(0); N] };

    /// Updates the cells of a chunk.
    fn age(&mut self, chunk: usize, moment: &Moment, another_block: bool) {
        let range = chunk * (N / CHUNKS)..(chunk + 1) * (N / CHUNKS);
        for cells in [&mut self.readers[range.clone()], &mut self.writers[range]] {
            if !moment.overlap {
                cells.fill(Cell(0));
            } else if another_block {
                cells.iter_mut().for_each(|cell| *cell = cell.of_another_block());
            } else {
                cells.iter_mut().for_each(|cell| *cell = cell.of_a_section_before());
            }
        }
    }

    /// Returns the cells of consecutive locations.
    #[inline(always)]
    fn run(&mut self, start: usize, count: usize, place: u64) -> Option<Cells<'_>> {
        let range = start..start + count;
        let (readers, writers) = (self.readers.get_mut(range.clone())?, self.writers.get_mut(range)?);
        Some(Cells { readers, writers, place })
    }
}

impl Page {
    /// Updates a chunk.
    #[cold]
    fn age(&mut self, chunk: usize, moment: &Moment) {
        let another_block = self.sections[chunk] < moment.block;
        match &mut self.bytes {
            Some(bytes) => bytes.age(chunk, moment, another_block),
            None => self.words.age(chunk, moment, another_block),
        }
        self.sections[chunk] = moment.section;
    }

    /// Gives every byte the cells of its word.
    fn refine(&mut self) {
        let words = &self.words;
        self.bytes.get_or_insert_with(|| {
            let mut bytes = Box::new(CellTable::EMPTY);
            for (index, (reader, writer)) in bytes.readers.iter_mut().zip(&mut bytes.writers).enumerate() {
                *reader = words.readers[index / WORD as usize];
                *writer = words.writers[index / WORD as usize];
            }
            bytes
        });
    }
}

/// The cells of a run of locations.
pub(super) struct Cells<'p> {
    pub(super) readers: &'p mut [Cell],
    pub(super) writers: &'p mut [Cell],
    /// The number of bytes of a location.
    pub(super) place: u64,
}

/// The cells of one range of addresses.
#[derive(Clone, Debug)]
pub(super) struct Shadow {
    /// The first address.
    base: u64,
    pages: Pages<Page>,
}

impl Shadow {
    /// Creates the shadow of `size` bytes from `base` on, without any cells.
    pub(super) fn new(base: u64, size: u64, limit: usize) -> Self {
        Self { base, pages: Pages::new(size.div_ceil(PAGE_BYTES), limit) }
    }

    /// Drops the cells if they take much memory; see [`Pages::make_room`].
    pub(super) fn make_room(&mut self) {
        self.pages.make_room();
    }

    /// Returns the cells of the bytes from `address` on, at most `length` and within one chunk, and
    /// the number of these bytes. `size` is that of one access. `None` if there is no room for the
    /// cells.
    #[inline(always)]
    pub(super) fn cells(
        &mut self,
        address: u64,
        length: u64,
        size: u64,
        moment: &Moment,
    ) -> Option<(Cells<'_>, u64)> {
        let offset = address.checked_sub(self.base)?;
        let slot = self.pages.slots.get_mut((offset / PAGE_BYTES) as usize)?;
        if !slot.as_ref().is_some_and(|page| size >= WORD || page.bytes.is_some()) {
            prepare(slot, size, &mut self.pages.budget)?;
        }
        let page = slot.as_mut()?;
        let within = (offset % PAGE_BYTES) as usize;
        let chunk = within / CHUNK_BYTES as usize;
        if page.sections[chunk] != moment.section {
            page.age(chunk, moment);
        }
        let length = length.min(CHUNK_BYTES - offset % CHUNK_BYTES);
        let cells = match &mut page.bytes {
            Some(bytes) => bytes.run(within, length as usize, 1)?,
            None => page.words.run(within / WORD as usize, (length / WORD).max(1) as usize, WORD)?,
        };
        Some((cells, length))
    }

    /// Returns the reader and the writer of one word, if its page exists, is up to date and has
    /// cells for words.
    #[inline(always)]
    pub(super) fn word(&mut self, address: u64, section: u64) -> Option<(&mut Cell, &mut Cell)> {
        let offset = address.wrapping_sub(self.base);
        let page = self.pages.slots.get_mut((offset / PAGE_BYTES) as usize)?.as_deref_mut()?;
        let index = (offset % PAGE_BYTES / WORD) as usize;
        if page.sections[index / (WORDS / CHUNKS)] != section || page.bytes.is_some() {
            return None;
        }
        Some((&mut page.words.readers[index], &mut page.words.writers[index]))
    }
}

/// Creates a page, or gives its bytes their own cells; `None` if there is no room for that.
#[cold]
fn prepare(slot: &mut Option<Box<Page>>, size: u64, budget: &mut Budget) -> Option<()> {
    let whole = if slot.is_none() { size_of::<Page>() } else { 0 };
    let refined = if size < WORD { size_of::<CellTable<{ PAGE_BYTES as usize }>>() } else { 0 };
    budget.take(whole + refined)?;
    let page = slot.get_or_insert_with(|| {
        Box::new(Page { words: CellTable::EMPTY, bytes: None, sections: [0; CHUNKS] })
    });
    if size < WORD {
        page.refine();
    }
    Some(())
}

/// Records an access to one location if no analysis is needed; `None` if a race is possible.
/// `harmless` says that the access is an atomic operation that commutes with itself and whose
/// result is not used.
#[inline(always)]
pub(super) fn remember(
    reader: &mut Cell,
    writer: &mut Cell,
    own: Cell,
    effect: AccessEffect,
    harmless: bool,
) -> Option<()> {
    match effect {
        AccessEffect::Reads if !writer.is_foreign(own) => *reader = reader.read_by(own),
        AccessEffect::Writes if !writer.is_foreign(own) && !reader.is_foreign(own) => *writer = own,
        AccessEffect::Updates if !reader.is_foreign(own) && harmless => {
            *writer = match *writer {
                writer if !writer.is_open() => own.special(),
                writer if !writer.is_foreign(own) => writer,
                writer if writer.is_special() && writer.pc() == own.pc() => writer.many(),
                _ => return None,
            };
        }
        AccessEffect::Rewrites => {
            let reader_conflicts = reader.is_foreign(own) && !reader.is_special();
            if reader_conflicts || writer.is_foreign(own) && writer.is_special() {
                return None;
            }
            *reader = reader.rewritten_by(own);
        }
        _ => return None,
    }
    Some(())
}

impl Cells<'_> {
    /// Records an access to all locations; `None` if a race is possible: see [`remember`].
    #[inline(always)]
    pub(super) fn remember(&mut self, own: Cell, effect: AccessEffect, harmless: bool) -> Option<()> {
        if let ([reader], [writer]) = (&mut *self.readers, &mut *self.writers) {
            return remember(reader, writer, own, effect, harmless);
        }
        match effect {
            AccessEffect::Reads => {
                let mut foreign = 0;
                for &writer in &*self.writers {
                    foreign |= u32::from(writer.is_foreign(own));
                }
                if foreign != 0 {
                    return None;
                }
                for reader in &mut *self.readers {
                    *reader = reader.read_by(own);
                }
            }
            AccessEffect::Writes => {
                let mut foreign = 0;
                for (&reader, &writer) in self.readers.iter().zip(&*self.writers) {
                    foreign |= u32::from(reader.is_foreign(own) | writer.is_foreign(own));
                }
                if foreign != 0 {
                    return None;
                }
                self.writers.fill(own);
            }
            AccessEffect::Rewrites => {
                let mut foreign = 0;
                for (&reader, &writer) in self.readers.iter().zip(&*self.writers) {
                    let reader_conflicts = reader.is_foreign(own) & !reader.is_special();
                    foreign |= u32::from(reader_conflicts | (writer.is_foreign(own) & writer.is_special()));
                }
                if foreign != 0 {
                    return None;
                }
                for reader in &mut *self.readers {
                    *reader = reader.rewritten_by(own);
                }
            }
            AccessEffect::Updates => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares two words that are accessed together with a single word, for every sequence of four
    /// accesses by two warps: the cells are the same, and so is whether a race is possible.
    #[test]
    fn words_in_a_row_are_remembered_as_each_by_itself() {
        let effects = [AccessEffect::Reads, AccessEffect::Writes, AccessEffect::Rewrites];
        let by = |warp: usize| effects.map(|effect| (Cell::new(warp, 7), effect));
        let accesses = [by(0), by(1)].concat();
        for number in 0..accesses.len().pow(4) {
            let (mut reader, mut writer) = (Cell::default(), Cell::default());
            let (mut readers, mut writers) = ([Cell::default(); 2], [Cell::default(); 2]);
            for digit in 0..4 {
                let (own, effect) = accesses[number / accesses.len().pow(digit) % accesses.len()];
                let alone = remember(&mut reader, &mut writer, own, effect, false);
                let mut cells = Cells { readers: &mut readers, writers: &mut writers, place: WORD };
                assert_eq!(cells.remember(own, effect, false), alone, "{number}: {effect:?}");
                assert_eq!((readers, writers), ([reader; 2], [writer; 2]), "{number}: {effect:?}");
            }
        }
    }
}
