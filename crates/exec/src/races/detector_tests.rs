//! Tests of which bytes an access touches for the race detector.

use super::*;
use crate::rows::Row;

/// Where buffers begin.
const BUFFERS: u64 = 0x1_0000;

/// A race detector for 4 KiB of each kind of memory.
fn detector(order: BlockOrder) -> RaceDetector {
    let extents = [0, 0x8000, BUFFERS].map(|base| Extent { base, bytes: 4096 });
    RaceDetector::new(&KernelCode::default(), order, 1 << 20, extents, Vec::new(), &VaryingWords::new())
}

/// Lets the first lanes of a warp access one word each, at these addresses.
fn access(
    detector: &mut RaceDetector,
    (warp, pc): (usize, u32),
    space: Space,
    addresses: &[u64],
    effect: AccessEffect,
) {
    let lanes = LaneMask::first(addresses.len());
    let row = Row(std::array::from_fn(|lane| addresses.get(lane).copied().unwrap_or(0)));
    let span = Span::of(&row, lanes, 4).expect("words are aligned");
    detector.span(Accessor { warp, pc: Pc::new(pc) }, (space, span.low), &span, lanes, 4, effect);
}

/// Returns the addresses of the races that were found.
fn raced(detector: &RaceDetector) -> Vec<u64> {
    assert!(!detector.incomplete);
    detector.found.iter().map(|found| found.address).collect()
}

#[test]
fn scattered_words_are_checked_at_their_own_addresses() {
    // if blocks may run at the same time, every access to a buffer is analysed cell by cell
    let mut detector = detector(BlockOrder::SideBySide);
    detector.start_block(0);
    access(&mut detector, (0, 1), Space::Global, &[BUFFERS, BUFFERS + 0x200], AccessEffect::Writes);
    detector.start_block(1);
    access(&mut detector, (0, 2), Space::Global, &[BUFFERS + 0x200], AccessEffect::Reads);
    assert_eq!(raced(&detector), [BUFFERS + 0x200]);
}

#[test]
fn a_race_with_a_copy_is_named_by_the_lowest_word() {
    let mut detector = detector(BlockOrder::OneByOne);
    let mut copies = Copies::new(WARPS, 32);
    copies.start((Region::Shared, 0, 0b111), (0, Pc::new(1)), 0);
    detector.copies = Some(Box::new(copies));
    // the first lane reads a higher word than the second
    access(&mut detector, (1, 2), Space::Shared, &[8, 0], AccessEffect::Reads);
    assert_eq!(raced(&detector), [0]);
}
