//! The packed form of a trace, `.tracez`, which the post-processing of Accel-Sim 2.0 writes.
//!
//! The layout is that of `tracez_format.h` in Accel-Sim. Numbers have little-endian order.
//!
//! | part | contents |
//! |---|---|
//! | header | the header of the trace as text, and a zero |
//! | compression | u32 bytes of the dictionary, u32 instructions of a piece (not used), the dictionary |
//! | each warp | u32 instructions, u32 pieces; each piece: u32 bytes, and a frame of Zstandard with lines |
//! | index | u32 blocks; each block: ten u32 for its place, u32 warps, and its warps |
//! | each warp in the index | u32 instructions, u32 pieces, u64 position in the file, u32 lines of each piece |
//! | end | u64 position of the index |
//!
//! [`Unpacked`] reads such a file as the text of a trace, with the header left out. It reads the warps
//! and the index side by side, both from beginning to end, so that its use of memory does not depend
//! on the size of the file.

use std::io::{self, Read, Write};

use ruzstd::decoding::{BlockDecodingStrategy, Dictionary, FrameDecoder};

use super::TraceFile;
use super::lines::Failed;
use warpbound_core::base::ProgressMonitor;
use warpbound_core::diag::Diagnostic;

/// The maximum number of bytes of a dictionary. Accel-Sim makes dictionaries of at most 2^16 bytes.
const MAX_DICTIONARY: u32 = 1 << 22;
/// The maximum number of bytes that a frame may refer back to.
const MAX_WINDOW: u64 = 1 << 26;
/// The number of bytes of the end of the file.
const END: u64 = 8;

/// A reader of a packed trace as text.
pub(super) struct Unpacked {
    /// A reader of the warps.
    data: Counted,
    /// A reader of the index.
    index: Counted,
    /// The position of the index.
    index_at: u64,
    /// The position of the end of the index.
    index_end: u64,
    decoder: FrameDecoder,
    dictionary: Option<u32>,
    next: Next,
    blocks: u32,
    /// The warps of the block, the number of the next one, and the one that is being read.
    warps: u32,
    next_warp: u32,
    warp: Warp,
    /// The text that has not been returned yet, and the number of its bytes that have been.
    text: Vec<u8>,
    at: usize,
}

/// The part of the file that comes next.
#[derive(Clone, Copy, Debug)]
enum Next {
    Block,
    Warp,
    Piece,
    /// More of a piece.
    Lines(Piece),
}

/// A warp that is being read.
#[derive(Clone, Copy, Debug, Default)]
struct Warp {
    /// The number of pieces that are left.
    pieces: u32,
    /// The number of instructions that are left.
    instructions: u32,
}

/// A piece that is being read.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// The position of its end.
    end: u64,
    /// The number of lines that are left, the last of which may have no line end.
    lines: u64,
    /// Whether the last byte was not a line end.
    open: bool,
}

/// An input with its position.
struct Counted {
    input: Box<dyn Read + Send>,
    at: u64,
}

impl Read for Counted {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(to)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// Creates an error at a position of the file.
fn wrong(at: u64, message: impl std::fmt::Display) -> io::Error {
    io::Error::other(format!("byte {at}: {message}"))
}

impl Counted {
    /// Opens a file at a position. `monitor` may stop it.
    fn open(
        file: &TraceFile,
        from: u64,
        monitor: Option<&ProgressMonitor>,
    ) -> Result<Result<Self, Failed>, Diagnostic> {
        let mut counted = Self { input: file.open.open()?, at: 0 };
        Ok(counted.skip_to(from, monitor).map(|()| counted))
    }

    fn skip_to(&mut self, to: u64, monitor: Option<&ProgressMonitor>) -> Result<(), Failed> {
        let mut buffer = [0; 1 << 14];
        while self.at < to {
            if monitor.is_some_and(ProgressMonitor::is_stopped) {
                return Err(Failed::Stopped);
            }
            let most = (to - self.at).min(buffer.len() as u64) as usize;
            match self.read(&mut buffer[..most]) {
                Ok(0) => {
                    return Err(Failed::Input(wrong(self.at, format!("the file ends before byte {to}"))));
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Failed::Input(error)),
            }
        }
        Ok(())
    }

    fn bytes<const N: usize>(&mut self, expected: &str) -> io::Result<[u8; N]> {
        let (at, mut bytes) = (self.at, [0; N]);
        self.read_exact(&mut bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => wrong(at, format!("the file ends where {expected} is expected")),
            _ => error,
        })?;
        Ok(bytes)
    }

    fn u32(&mut self, expected: &str) -> io::Result<u32> {
        self.bytes(expected).map(u32::from_le_bytes)
    }

    fn u64(&mut self, expected: &str) -> io::Result<u64> {
        self.bytes(expected).map(u64::from_le_bytes)
    }
}

/// Returns the position of the index, and that of its end. `monitor` may stop it.
fn find_index(mut file: Counted, monitor: Option<&ProgressMonitor>) -> Result<(u64, u64), Failed> {
    let from = file.at;
    let (mut buffer, mut kept) = (vec![0; 1 << 16], 0);
    loop {
        if monitor.is_some_and(ProgressMonitor::is_stopped) {
            return Err(Failed::Stopped);
        }
        match file.read(&mut buffer[kept..]) {
            Ok(0) => break,
            Ok(count) => {
                let end = kept + count;
                let last = end.saturating_sub(END as usize);
                buffer.copy_within(last..end, 0);
                kept = end - last;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Failed::Input(error)),
        }
    }
    let end = file.at.saturating_sub(END);
    let at = match buffer.get(..kept).and_then(|last| last.try_into().ok()) {
        Some(last) => u64::from_le_bytes(last),
        None => return Err(Failed::Input(wrong(file.at, "the file ends before the position of its index"))),
    };
    if !(from..=end.saturating_sub(4)).contains(&at) {
        let message = format!("the index cannot begin at byte {at}, as the end of the file states");
        return Err(Failed::Input(wrong(end, message)));
    }
    Ok((at, end))
}

impl Unpacked {
    /// Opens a packed trace whose header ends before byte `from`. `monitor` may stop it.
    pub(super) fn open(
        file: &TraceFile,
        from: u64,
        monitor: Option<&ProgressMonitor>,
    ) -> Result<Result<Self, Failed>, Diagnostic> {
        let mut data = match Counted::open(file, from, monitor)? {
            Ok(data) => data,
            Err(failed) => return Ok(Err(failed)),
        };
        let found = Counted::open(file, from, monitor)?.and_then(|search| find_index(search, monitor));
        let (index_at, index_end) = match found {
            Ok(found) => found,
            Err(failed) => return Ok(Err(failed)),
        };
        let mut index = match Counted::open(file, index_at, monitor)? {
            Ok(index) => index,
            Err(failed) => return Ok(Err(failed)),
        };
        let begin = || {
            let (decoder, dictionary) = decoder(&mut data)?;
            let blocks = index.u32("the number of blocks")?;
            Ok(Self {
                data,
                index,
                index_at,
                index_end,
                decoder,
                dictionary,
                next: Next::Block,
                blocks,
                warps: 0,
                next_warp: 0,
                warp: Warp::default(),
                text: Vec::new(),
                at: 0,
            })
        };
        Ok(begin().map_err(Failed::Input))
    }

    /// Reads the next part of the file into the text. Returns false at the end of the file.
    fn advance(&mut self) -> io::Result<bool> {
        match self.next {
            Next::Block if self.blocks == 0 => {
                if self.index.at != self.index_end {
                    return Err(wrong(self.index.at, "the index is longer than its blocks"));
                }
                return Ok(false);
            }
            Next::Block => self.block()?,
            Next::Warp if self.next_warp == self.warps => {
                self.text.extend_from_slice(b"\n#END_TB\n");
                self.next = Next::Block;
            }
            Next::Warp => self.warp()?,
            Next::Piece if self.warp.pieces == 0 => {
                if self.warp.instructions > 0 {
                    let message =
                        format!("{} instructions are in no piece of the warp", self.warp.instructions);
                    return Err(wrong(self.index.at, message));
                }
                self.next = Next::Warp;
            }
            Next::Piece => self.piece()?,
            Next::Lines(piece) => self.lines(piece)?,
        }
        Ok(true)
    }

    fn block(&mut self) -> io::Result<()> {
        let mut place = [0; 10];
        for number in &mut place {
            *number = self.index.u32("the place of a block")?;
        }
        self.warps = self.index.u32("the number of warps of a block")?;
        self.next_warp = 0;
        self.blocks -= 1;
        let [x, y, z, cluster_x, cluster_y, cluster_z, within_x, within_y, within_z, rank] = place;
        write!(
            self.text,
            "\n#BEGIN_TB\n\nthread block = {x},{y},{z}\ncluster id = {cluster_x},{cluster_y},{cluster_z}\n\
             cluster cta = {within_x},{within_y},{within_z}\ncluster rank = {rank}\n"
        )?;
        self.next = Next::Warp;
        Ok(())
    }

    fn warp(&mut self) -> io::Result<()> {
        let indexed = self.index.at;
        let instructions = self.index.u32("the number of instructions of a warp")?;
        let pieces = self.index.u32("the number of pieces of a warp")?;
        let at = self.index.u64("the position of a warp")?;
        // warps are written one after another, in the order of the index
        if at != self.data.at {
            let message =
                format!("the index states that a warp begins at byte {at}, and not at {}", self.data.at);
            return Err(wrong(indexed, message));
        }
        let here = (self.data.u32("the number of instructions")?, self.data.u32("the number of pieces")?);
        if here != (instructions, pieces) {
            let message = format!(
                "a warp of {} instructions in {} pieces; the index states {instructions} in {pieces}",
                here.0, here.1
            );
            return Err(wrong(at, message));
        }
        write!(self.text, "\nwarp = {}\ninsts = {instructions}\n", self.next_warp)?;
        self.warp = Warp { pieces, instructions };
        self.next_warp += 1;
        self.next = Next::Piece;
        Ok(())
    }

    fn piece(&mut self) -> io::Result<()> {
        let indexed = self.index.at;
        let lines = self.index.u32("the number of lines of a piece")?;
        let left = self.warp.instructions.checked_sub(lines).filter(|_| lines > 0);
        self.warp.instructions =
            left.ok_or_else(|| wrong(indexed, format!("a piece of {lines} of the instructions of a warp")))?;
        self.warp.pieces -= 1;
        let at = self.data.at;
        let bytes = self.data.u32("the number of bytes of a piece")?;
        let end = self.data.at + u64::from(bytes);
        if end > self.index_at {
            return Err(wrong(at, format!("a piece of {bytes} bytes extends into the index")));
        }
        let from = self.data.at;
        let frame = (&mut self.data).take(u64::from(bytes));
        self.decoder.init(frame).map_err(|error| wrong(from, format!("no frame of Zstandard: {error}")))?;
        if let Some(dictionary) = self.dictionary {
            self.decoder.force_dict(dictionary).map_err(|error| wrong(from, error))?;
        }
        self.next = Next::Lines(Piece { end, lines: lines.into(), open: false });
        Ok(())
    }

    /// Decompresses more of a piece.
    fn lines(&mut self, mut piece: Piece) -> io::Result<()> {
        let at = self.data.at;
        if !self.decoder.is_finished() {
            let frame = (&mut self.data).take(piece.end.saturating_sub(at));
            self.decoder
                .decode_blocks(frame, BlockDecodingStrategy::UptoBlocks(1))
                .map_err(|error| wrong(at, format!("damaged Zstandard data: {error}")))?;
        }
        let from = self.text.len();
        self.decoder.collect_to_writer(&mut self.text)?;
        let text = &self.text[from..];
        let ends = memchr::memchr_iter(b'\n', text).count() as u64;
        if let Some(last) = text.last() {
            piece.open = *last != b'\n';
        }
        let finished = self.decoder.is_finished();
        let lines = ends + u64::from(finished && piece.open);
        piece.lines = piece
            .lines
            .checked_sub(lines)
            .filter(|&left| !finished || left == 0)
            .ok_or_else(|| wrong(at, "a piece has another number of lines than the index states"))?;
        self.next = Next::Lines(piece);
        if finished {
            if self.data.at != piece.end {
                return Err(wrong(self.data.at, format!("a piece ends here, and not at byte {}", piece.end)));
            }
            if piece.open {
                self.text.push(b'\n');
            }
            self.next = Next::Piece;
        }
        Ok(())
    }
}

impl Read for Unpacked {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.at == self.text.len() {
            self.text.clear();
            self.at = 0;
            if !self.advance()? {
                return Ok(0);
            }
        }
        let count = to.len().min(self.text.len() - self.at);
        to[..count].copy_from_slice(&self.text[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// Reads the description of the compression, and returns a decoder, and the number of its dictionary
/// if there is one.
fn decoder(data: &mut Counted) -> io::Result<(FrameDecoder, Option<u32>)> {
    let at = data.at;
    let bytes = data.u32("the number of bytes of the dictionary")?;
    data.u32("the number of instructions of a piece")?;
    if bytes > MAX_DICTIONARY {
        return Err(wrong(
            at,
            format!("a dictionary of {bytes} bytes; at most {MAX_DICTIONARY} are supported"),
        ));
    }
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(MAX_WINDOW);
    if bytes == 0 {
        return Ok((decoder, None));
    }
    let at = data.at;
    let mut raw = Vec::new();
    data.take(bytes.into()).read_to_end(&mut raw)?;
    if raw.len() < bytes as usize {
        return Err(wrong(data.at, format!("the file ends in its dictionary of {bytes} bytes")));
    }
    let dictionary =
        Dictionary::decode_dict(&raw).map_err(|error| wrong(at, format!("damaged dictionary: {error}")))?;
    let number = dictionary.id;
    decoder.add_dict(dictionary).map_err(|error| wrong(at, error))?;
    Ok((decoder, Some(number)))
}
