//! What is remembered of every word of memory: who read it and who wrote it last.
//!
//! Cells tell of the running section only, so that they need not say when something happened: a
//! chunk of them is brought up to date when a later section comes to it for the first time.

use super::Deed;
use super::pages::{Budget, Pages};

/// Bytes of memory that a page stands for.
const PAGE_BYTES: u64 = 4096;
/// Bytes of memory whose cells are brought up to date together.
const CHUNK_BYTES: u64 = 1024;
const CHUNKS: usize = (PAGE_BYTES / CHUNK_BYTES) as usize;
/// Bytes of a word.
const WORD: u64 = 4;

/// Who accessed a place and where in the program, or nobody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cell(u32);

impl Cell {
    const WARP_SHIFT: u32 = 20;
    const PC: u32 = (1 << Self::WARP_SHIFT) - 1;
    const WARP: u32 = 0x3f << Self::WARP_SHIFT;
    /// Others did the same without an order between them; the cell names the first of all.
    const MANY: u32 = 1 << 26;
    /// Of a writer: it was atomic. Of a reader: it was a store that changed nothing.
    const SPECIAL: u32 = 1 << 27;
    /// Nothing orders it before what happens now, except that a warp does one thing after the other.
    const OPEN: u32 = 1 << 28;
    /// It was in an earlier section of this block or, if it is open, in another block.
    const PAST: u32 = 1 << 29;

    /// An access in the running section.
    pub(super) fn new(warp: usize, pc: u32) -> Self {
        Self(Self::OPEN | (warp as u32) << Self::WARP_SHIFT & Self::WARP | pc & Self::PC)
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

    /// The same when another block runs.
    #[inline(always)]
    fn of_another_block(self) -> Self {
        Self(if self.0 == 0 { 0 } else { self.0 | Self::OPEN | Self::PAST })
    }

    /// The same in a later section of the block.
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

    /// The reader after a read by the warp of `own`.
    #[inline(always)]
    pub(super) fn read_by(self, own: Self) -> Self {
        let many = if self.is_foreign(own) { Self::MANY } else { 0 };
        Self(if self.is_open() { self.0 & !Self::SPECIAL | many } else { own.0 })
    }

    /// The reader after a store by the warp of `own` that changed nothing.
    #[inline(always)]
    pub(super) fn rewritten_by(self, own: Self) -> Self {
        let many = if self.is_foreign(own) { Self::MANY } else { 0 };
        Self(if self.is_open() { self.0 | many } else { own.0 | Self::SPECIAL })
    }

    /// Whether nothing orders it before what happens now.
    #[inline(always)]
    pub(super) fn is_open(self) -> bool {
        self.0 & Self::OPEN != 0
    }

    /// Whether it is open and somebody else than the warp of `own` took part.
    #[inline(always)]
    pub(super) fn is_foreign(self, own: Self) -> bool {
        self.is_open() & ((self.0 ^ own.0) & (Self::WARP | Self::MANY | Self::PAST) != 0)
    }
}

/// When and by whom something happens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    /// The cell that the access leaves.
    pub(super) own: Cell,
    /// The running section; it grows with every section of every block.
    pub(super) section: u64,
    /// The section in which the running block began.
    pub(super) block: u64,
    /// Whether blocks before this one may run at the same time.
    pub(super) overlap: bool,
}

/// Words of a page.
const WORDS: usize = (PAGE_BYTES / WORD) as usize;

/// A stretch of memory, watched.
#[derive(Clone, Debug)]
struct Page {
    words: CellTable<WORDS>,
    /// Instead of those of the words, where an access was narrower.
    bytes: Option<Box<CellTable<{ PAGE_BYTES as usize }>>>,
    /// By chunk: the section that its cells are up to date for.
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

    /// Brings the cells of a chunk up to date.
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

    /// The cells of places in a row.
    #[inline(always)]
    fn run(&mut self, start: usize, count: usize, place: u64) -> Option<Cells<'_>> {
        let range = start..start + count;
        let (readers, writers) = (self.readers.get_mut(range.clone())?, self.writers.get_mut(range)?);
        Some(Cells { readers, writers, place })
    }
}

impl Page {
    /// Brings a chunk up to date.
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

/// The cells of a run of places.
pub(super) struct Cells<'p> {
    pub(super) readers: &'p mut [Cell],
    pub(super) writers: &'p mut [Cell],
    /// Bytes of a place.
    pub(super) place: u64,
}

/// The cells of one range of addresses.
#[derive(Clone, Debug)]
pub(super) struct Shadow {
    /// First address.
    base: u64,
    pages: Pages<Page>,
}

impl Shadow {
    /// Of `size` bytes from `base` on, no cells yet.
    pub(super) fn new(base: u64, size: u64, limit: usize) -> Self {
        Self { base, pages: Pages::new(size.div_ceil(PAGE_BYTES), limit) }
    }

    /// See [`Pages::make_room`].
    pub(super) fn make_room(&mut self) {
        self.pages.make_room();
    }

    /// The cells of the bytes from `address` on, at most `length`, as far as they lie in one chunk:
    /// how many bytes that are. `size` is that of one access. `None` if there is no room for them.
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

    /// The reader and the writer of one word, if its page is there and up to date and has cells for
    /// words.
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

/// Makes a page, or gives its bytes cells of their own, if there is room for that.
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

/// What may be remembered of one place without a closer look: `None` if a race is possible.
/// `harmless`: an atomic operation that commutes with itself and whose result is not used.
#[inline(always)]
pub(super) fn remember(
    reader: &mut Cell,
    writer: &mut Cell,
    own: Cell,
    deed: Deed,
    harmless: bool,
) -> Option<()> {
    match deed {
        Deed::Reads if !writer.is_foreign(own) => *reader = reader.read_by(own),
        Deed::Writes if !writer.is_foreign(own) && !reader.is_foreign(own) => *writer = own,
        Deed::Updates if !reader.is_foreign(own) && harmless => {
            *writer = match *writer {
                writer if !writer.is_open() => own.special(),
                writer if !writer.is_foreign(own) => writer,
                writer if writer.is_special() && writer.pc() == own.pc() => writer.many(),
                _ => return None,
            };
        }
        Deed::Rewrites => {
            let reader_disturbs = reader.is_foreign(own) && !reader.is_special();
            if reader_disturbs || writer.is_foreign(own) && writer.is_special() {
                return None;
            }
            *reader = reader.rewritten_by(own);
        }
        _ => return None,
    }
    Some(())
}

impl Cells<'_> {
    /// Remembers what is done to all places, `None` if a race is possible: see [`remember`].
    #[inline(always)]
    pub(super) fn remember(&mut self, own: Cell, deed: Deed, harmless: bool) -> Option<()> {
        if let ([reader], [writer]) = (&mut *self.readers, &mut *self.writers) {
            return remember(reader, writer, own, deed, harmless);
        }
        match deed {
            Deed::Reads => {
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
            Deed::Writes => {
                let mut foreign = 0;
                for (&reader, &writer) in self.readers.iter().zip(&*self.writers) {
                    foreign |= u32::from(reader.is_foreign(own) | writer.is_foreign(own));
                }
                if foreign != 0 {
                    return None;
                }
                self.writers.fill(own);
            }
            Deed::Rewrites => {
                let mut foreign = 0;
                for (&reader, &writer) in self.readers.iter().zip(&*self.writers) {
                    let reader_disturbs = reader.is_foreign(own) & !reader.is_special();
                    foreign |= u32::from(reader_disturbs | (writer.is_foreign(own) & writer.is_special()));
                }
                if foreign != 0 {
                    return None;
                }
                for reader in &mut *self.readers {
                    *reader = reader.rewritten_by(own);
                }
            }
            Deed::Updates => return None,
        }
        Some(())
    }
}
