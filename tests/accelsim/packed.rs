//! Packed traces, `.tracez`: the same kernel as its text, and damage.

use proptest::prelude::*;

use super::hostile::{exercise_bytes, machines};
use super::versions::{TILE6, outcome};
use super::{read, read_bytes};

/// The text of `tile6.traceg`, packed with a dictionary, eight instructions a piece. The layout is
/// that of Accel-Sim's `tracez_format.h`; `zstd` compressed the pieces.
pub const TILE6_PACKED: &[u8] = include_bytes!("files/tile6.tracez");

/// Returns a frame of Zstandard that contains bytes as they are, in blocks of at most `most` bytes.
fn frame(content: &[u8], most: usize) -> Vec<u8> {
    // a content size of four bytes, and one segment
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0xa0];
    frame.extend((content.len() as u32).to_le_bytes());
    let blocks: Vec<&[u8]> = content.chunks(most).collect();
    for (index, block) in blocks.iter().enumerate() {
        let last = u32::from(index + 1 == blocks.len());
        frame.extend(&((block.len() as u32) << 3 | last).to_le_bytes()[..3]);
        frame.extend(*block);
    }
    frame
}

/// The way in which [`packed`] packs a trace.
#[derive(Clone, Copy)]
struct Way {
    /// The instructions of a piece.
    piece: usize,
    /// The bytes of a block of a frame.
    block: usize,
    /// Whether pieces end with a line end.
    ended: bool,
}

const USUAL: Way = Way { piece: 2048, block: 1 << 16, ended: false };

/// Packs the text of a trace without a dictionary.
fn packed(text: &str, way: Way) -> Vec<u8> {
    let mut blocks = text.split("#BEGIN_TB\n");
    let mut out = blocks.next().unwrap().as_bytes().to_vec();
    out.push(0);
    out.extend(0u32.to_le_bytes());
    out.extend(2048u32.to_le_bytes());
    let mut index: Vec<u8> = Vec::new();
    let mut count = 0u32;
    for block in blocks {
        count += 1;
        let numbers = |key: &str| -> Vec<u32> {
            let line = block.lines().find_map(|line| line.strip_prefix(key)).unwrap_or("0,0,0");
            line.split(',').map(|number| number.parse().unwrap()).collect()
        };
        let place = ["thread block = ", "cluster id = ", "cluster cta = "].map(numbers).concat();
        for number in place.iter().chain(&[0]) {
            index.extend(number.to_le_bytes());
        }
        let warps: Vec<&str> = block.split("warp = ").skip(1).collect();
        index.extend((warps.len() as u32).to_le_bytes());
        for warp in warps {
            let lines: Vec<&str> = warp.lines().filter(|line| line.starts_with("00")).collect();
            let pieces: Vec<&[&str]> = lines.chunks(way.piece).collect();
            let numbers = [lines.len() as u32, pieces.len() as u32].map(u32::to_le_bytes).concat();
            index.extend(&numbers);
            index.extend((out.len() as u64).to_le_bytes());
            out.extend(&numbers);
            for piece in pieces {
                index.extend((piece.len() as u32).to_le_bytes());
                let end = if way.ended { "\n" } else { "" };
                let frame = frame((piece.join("\n") + end).as_bytes(), way.block);
                out.extend((frame.len() as u32).to_le_bytes());
                out.extend(frame);
            }
        }
    }
    let at = out.len() as u64;
    out.extend(count.to_le_bytes());
    out.extend(index);
    out.extend(at.to_le_bytes());
    out
}

#[test]
fn a_packed_trace_is_that_of_its_text() {
    let text = outcome(&read(TILE6).unwrap());
    assert_eq!(outcome(&read_bytes(TILE6_PACKED).unwrap()), text, "with a dictionary");
    for piece in [1, 3, 13, 2048] {
        for block in [7, 1 << 16] {
            for ended in [false, true] {
                let packed = packed(TILE6, Way { piece, block, ended });
                assert_eq!(outcome(&read_bytes(&packed).unwrap()), text, "{piece} {block} {ended}");
            }
        }
    }
}

#[test]
fn every_fault_is_reported_with_its_byte() {
    let whole = packed(TILE6, USUAL);
    let number = |at: usize| u64::from_le_bytes(whole[at..at + 8].try_into().unwrap()) as usize;
    let header = whole.iter().position(|&byte| byte == 0).unwrap();
    let (end, index) = (whole.len() - 8, number(whole.len() - 8));
    let first = header + 9;
    assert_eq!(number(index + 4 + 44 + 8), first, "the first warp is where the index states it");
    let with = |at: usize, bytes: &[u8]| {
        let mut changed = whole.clone();
        changed[at..at + bytes.len()].copy_from_slice(bytes);
        changed
    };
    let long = |bytes: &[u8]| [&whole[..end], bytes, &whole[end..]].concat();
    for (bytes, byte, says) in [
        (whole[..header + 1].to_vec(), header + 1, "position of its index"),
        (whole[..header + 12].to_vec(), header + 4, "index cannot begin"),
        (whole[..end].to_vec(), end - 8, "index cannot begin"),
        (with(end, &[255; 8]), end, "index cannot begin"),
        (with(end, &[0; 8]), end, "index cannot begin"),
        (with(header + 1, &[255; 4]), header + 1, "dictionary of 4294967295 bytes"),
        (with(header + 1, &[200, 0, 0, 0]), first, "damaged dictionary"),
        (with(first, &[9]), first, "9 instructions in 1 pieces; the index states 13 in 1"),
        (with(first + 8, &[255, 255, 255, 0]), first + 8, "extends into the index"),
        (with(first + 12, &[0]), first + 12, "no frame of Zstandard"),
        (with(first + 12 + 9, &[7]), first + 12 + 9, "Zstandard"),
        (with(index, &[3]), end, "the file ends where the place of a block"),
        (with(index, &[1]), index + 4 + 44 + 2 * 20, "longer than its blocks"),
        (with(index + 4 + 44 + 8, &[1]), index + 48, "states that a warp begins at byte"),
        (with(index + 4 + 44 + 16, &[12]), first + 12 + 9, "another number of lines"),
        (with(index + 4 + 44 + 16, &[14]), index + 4 + 44 + 16, "a piece of 14 of the instructions"),
        (with(index + 4 + 44 + 16, &[0]), index + 4 + 44 + 16, "a piece of 0 of the instructions"),
        (long(&[0; 4]), end, "longer than its blocks"),
    ] {
        let error = read_bytes(&bytes).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(says), "{says}: {error}");
        let stated = error.split_once("byte ").and_then(|(_, rest)| rest.split(':').next()?.parse().ok());
        let stated: usize = stated.unwrap_or_else(|| panic!("{error}"));
        assert!(stated.abs_diff(byte) <= 12, "{says}: byte {stated} and not {byte}: {error}");
        assert!(error.contains("damaged"), "{error}");
    }
    // what the unpacked text has wrong is reported like in a text
    let fewer = packed(&TILE6.replacen("thread block = 1,0,0", "thread block = 7,0,0", 1), USUAL);
    assert!(read_bytes(&fewer).unwrap_err().to_string().contains("not a block of a grid"));
    let wrong = packed(&TILE6.replacen("R2 S2R", "Q2 S2R", 1), USUAL);
    let error = read_bytes(&wrong).unwrap_err();
    assert!(error.to_string().contains("`Q2` is not a register"), "{error}");
    assert_eq!(error.list()[0].excerpt.split_whitespace().next(), Some("0000"));
    // a header without an end is one of a text
    assert!(read_bytes(&whole[..header]).unwrap_err().to_string().contains("ends in the header"));
}

#[test]
fn truncated_anywhere() {
    let machines = machines();
    for trace in [TILE6_PACKED, &packed(TILE6, USUAL)] {
        assert!(exercise_bytes(trace, &machines));
        for end in 0..trace.len() {
            assert!(!exercise_bytes(&trace[..end], &machines), "{end}");
        }
    }
}

#[test]
fn one_bit_changes() {
    let machines = &machines()[..1];
    for at in 0..TILE6_PACKED.len() * 8 {
        let mut changed = TILE6_PACKED.to_vec();
        changed[at / 8] ^= 1 << (at % 8);
        exercise_bytes(&changed, machines);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn bytes_change(edits in prop::collection::vec((0usize..1 << 20, any::<u8>()), 1..8), plain: bool) {
        let mut bytes = if plain { packed(TILE6, USUAL) } else { TILE6_PACKED.to_vec() };
        for (at, byte) in edits {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        exercise_bytes(&bytes, &machines()[..1]);
    }
}
