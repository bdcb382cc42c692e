//! What is remembered of every word of memory: who read it and who wrote it last.
//!
//! Cells tell of the running section only, so that they need not say when something happened: a
//! chunk of them is brought up to date when a later section comes to it for the first time.

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

    pub(super) fn plain(self) -> Self {
        Self(self.0 & !Self::SPECIAL)
    }

    pub(super) fn special(self) -> Self {
        Self(self.0 | Self::SPECIAL)
    }

    pub(super) fn many(self) -> Self {
        Self(self.0 | Self::MANY)
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

/// A stretch of memory, watched.
#[derive(Clone, Debug, Default)]
struct Page {
    /// Whether each byte has cells of its own, or each word.
    by_byte: bool,
    readers: Vec<Cell>,
    writers: Vec<Cell>,
    /// By chunk: the section that its cells are up to date for.
    sections: [u64; CHUNKS],
}

impl Page {
    fn new() -> Self {
        let cells = vec![Cell::default(); (PAGE_BYTES / WORD) as usize];
        Self { by_byte: false, readers: cells.clone(), writers: cells, sections: [0; CHUNKS] }
    }

    /// Gives every byte the cells of its word.
    fn refine(&mut self) {
        if !self.by_byte {
            self.by_byte = true;
            let refined = |cells: &[Cell]| cells.iter().flat_map(|&cell| [cell; WORD as usize]).collect();
            (self.readers, self.writers) = (refined(&self.readers), refined(&self.writers));
        }
    }

    fn bytes(&self) -> usize {
        (self.readers.len() + self.writers.len()) * size_of::<Cell>()
    }

    /// Brings a chunk up to date.
    #[cold]
    fn age(&mut self, chunk: usize, moment: &Moment) {
        let cells = self.readers.len() / CHUNKS;
        let range = chunk * cells..(chunk + 1) * cells;
        let another_block = self.sections[chunk] < moment.block;
        for cell in self.readers[range.clone()].iter_mut().chain(&mut self.writers[range]) {
            *cell = match *cell {
                _ if !moment.overlap => Cell::default(),
                Cell(0) => Cell(0),
                old if another_block => Cell(old.0 | Cell::OPEN | Cell::PAST),
                old if old.is_of_another_block() => old,
                old => Cell(old.0 & !Cell::OPEN | Cell::PAST),
            };
        }
        self.sections[chunk] = moment.section;
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
    /// A page where something was accessed.
    pages: Vec<Option<Box<Page>>>,
    /// Bytes that all pages take, and how many they may.
    bytes: usize,
    limit: usize,
}

impl Shadow {
    /// Of `size` bytes from `base` on, no cells yet.
    pub(super) fn new(base: u64, size: u64, limit: usize) -> Self {
        Self { base, pages: vec![None; size.div_ceil(PAGE_BYTES) as usize], bytes: 0, limit }
    }

    /// Forgets everything if that gives much memory back.
    pub(super) fn make_room(&mut self) {
        if self.bytes > self.limit / 4 {
            self.pages.fill(None);
            self.bytes = 0;
        }
    }

    /// Whether the address lies in the range.
    #[inline(always)]
    pub(super) fn covers(&self, address: u64) -> bool {
        address >= self.base && (address - self.base) / PAGE_BYTES < self.pages.len() as u64
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
        let slot = self.pages.get_mut((offset / PAGE_BYTES) as usize)?;
        if !slot.as_ref().is_some_and(|page| page.by_byte || size >= WORD) {
            prepare(slot, size, &mut self.bytes, self.limit)?;
        }
        let page = slot.as_mut()?;
        let within = offset % PAGE_BYTES;
        let chunk = (within / CHUNK_BYTES) as usize;
        if page.sections[chunk] != moment.section {
            page.age(chunk, moment);
        }
        let length = length.min(CHUNK_BYTES - offset % CHUNK_BYTES);
        let (place, shift) = if page.by_byte { (1, 0) } else { (WORD, 2) };
        let start = (within >> shift) as usize;
        let end = start + (length >> shift).max(1) as usize;
        let (readers, writers) = (page.readers.get_mut(start..end)?, page.writers.get_mut(start..end)?);
        Some((Cells { readers, writers, place }, length))
    }
}

/// Makes a page, or gives its bytes cells of their own, if there is room for that.
#[cold]
fn prepare(slot: &mut Option<Box<Page>>, size: u64, bytes: &mut usize, limit: usize) -> Option<()> {
    let by_word = 2 * (PAGE_BYTES / WORD) as usize * size_of::<Cell>();
    let wanted = if size < WORD { by_word * WORD as usize } else { by_word };
    let held = slot.as_ref().map_or(0, |page| page.bytes());
    *bytes = bytes.checked_add(wanted - held).filter(|bytes| *bytes <= limit)?;
    let page = slot.get_or_insert_with(|| Box::new(Page::new()));
    if size < WORD {
        page.refine();
    }
    Some(())
}

impl Cells<'_> {
    /// Whether a read of all places races.
    #[inline(always)]
    pub(super) fn read_races(&self, own: Cell) -> bool {
        let mut foreign = 0;
        for &writer in &*self.writers {
            foreign |= u32::from(writer.is_foreign(own));
        }
        foreign != 0
    }

    /// Remembers a read of all places.
    #[inline(always)]
    pub(super) fn read(&mut self, own: Cell) {
        for reader in &mut *self.readers {
            let many = if reader.is_foreign(own) { Cell::MANY } else { 0 };
            let kept = reader.0 & !Cell::SPECIAL | many;
            *reader = Cell(if reader.is_open() { kept } else { own.0 });
        }
    }

    /// Whether a write of all places races.
    #[inline(always)]
    pub(super) fn write_races(&self, own: Cell) -> bool {
        let mut foreign = 0;
        for (&reader, &writer) in self.readers.iter().zip(&*self.writers) {
            foreign |= u32::from(reader.is_foreign(own) | writer.is_foreign(own));
        }
        foreign != 0
    }

    /// Remembers a write of all places.
    #[inline(always)]
    pub(super) fn write(&mut self, own: Cell) {
        self.writers.fill(own);
    }
}
