//! Tests of the life of blocks, with reports like those of the two engines.

use super::*;
use warpbound_core::path::WarpPath;

fn paths(block: u32, warps: usize) -> BlockPaths {
    BlockPaths { block: BlockId::new(block), warps: vec![WarpPath::new(); warps], ..BlockPaths::default() }
}

/// Returns an SM with two CTA slots for blocks of two warps.
fn two() -> Blocks {
    Blocks::new(Layout::of(&paths(0, 2), 2))
}

fn slots(slots: &[usize]) -> WarpMask {
    slots.iter().fold(WarpMask::empty(), |set, &slot| set | WarpMask::slot(slot))
}

const ALL: BarrierUse = BarrierUse { id: 0, warps: 0 };

#[test]
fn cta_slots_follow_from_the_first_block() {
    let layout = |warps, resident| Layout::of(&paths(0, warps), resident);
    assert_eq!(layout(2, 1), Layout::ONE);
    assert_eq!(layout(0, 0), Layout::ONE);
    assert_eq!(layout(33, 8), Layout::ONE, "there are no slots for another");
    assert_eq!((layout(2, 3).cta_slots(), layout(2, 3).first_slot(2)), (3, 4));
    assert_eq!(layout(0, 3).cta_slots(), 3);
    assert_eq!(layout(2, 200).cta_slots(), 32);
    assert!(layout(2, 3).fits(&paths(1, 3)).is_err());
    assert!(layout(2, 1).fits(&paths(1, 64)).is_ok());
}

/// The end of a warp is reported beforehand, as under the paper model.
#[test]
fn a_block_ends_when_its_last_warp_is_over() {
    let mut blocks = two();
    let mut result = BlockResult::default();
    let start = blocks.place(1, &paths(7, 2), 10, 10);
    assert_eq!((start.first_slot, start.warps, start.at), (2, 2, Cycle::new(10)));
    assert_eq!(blocks.begin(1).slots, slots(&[2, 3]));
    assert_eq!((blocks.live(), blocks.due()), (slots(&[2, 3]), u64::MAX));
    blocks.left(3, 4, 20, 20);
    let finish = blocks.over(3, 90, 20);
    assert_eq!((finish.warp.index(), finish.done, finish.issues), (1, Cycle::new(90), 4));
    blocks.left(2, 1, 30, 30);
    blocks.over(2, 35, 30);
    assert_eq!((blocks.live(), blocks.due()), (slots(&[]), 90));
    assert!(!blocks.has_ended(89) && blocks.take_ended(89, &mut result).is_none());
    assert!(blocks.has_ended(90));
    assert_eq!(blocks.take_ended(90, &mut result).map(|ended| (ended.cta_slot, ended.older)), Some((1, 0)));
    assert_eq!((result.block, result.makespan, result.issues), (BlockId::new(7), Cycles::new(80), 5));
    let finishes: Vec<u64> = result.warps.iter().map(|warp| warp.finish.get()).collect();
    assert_eq!(finishes, [25, 80]);
    assert!(blocks.is_empty() && blocks.due() == u64::MAX);
}

/// The end of a warp is reported when it happens, as by a pipeline; the warp does not end before.
#[test]
fn a_warp_ends_when_the_engine_reports_it() {
    let mut blocks = two();
    blocks.place(0, &paths(0, 1), 0, 0);
    blocks.begin(0);
    blocks.left(0, 1, 5, 5);
    assert!(!blocks.is_over(0) && !blocks.has_ended(1000));
    blocks.over(0, 12, 15);
    assert!(blocks.is_over(0) && !blocks.has_ended(14) && blocks.has_ended(15));
}

#[test]
fn warps_begin_after_the_launch_latency_when_the_engine_starts_them() {
    let mut blocks = two();
    blocks.place(0, &paths(0, 2), 100, 105);
    assert_eq!((blocks.due(), blocks.to_begin(104), blocks.live()), (105, None, slots(&[])));
    assert_eq!(blocks.to_begin(105), Some(0));
    assert!(!blocks.has_ended(105), "no warp of it is over, though none is live");
    assert_eq!(blocks.begin(0).at, Cycle::new(100));
    assert_eq!((blocks.to_begin(105), blocks.live(), blocks.due()), (None, slots(&[0, 1]), u64::MAX));
}

#[test]
fn a_block_without_warps_ends_when_it_begins() {
    let mut blocks = two();
    blocks.place(0, &paths(0, 0), 3, 5);
    assert!(!blocks.has_ended(5));
    blocks.begin(0);
    assert!(blocks.has_ended(5));
}

/// The second warp finishes at the barrier, so its release at once completes the other barrier,
/// which is one for all warps.
#[test]
fn releases_come_in_the_order_in_which_their_barriers_were_complete() {
    let mut blocks = Blocks::new(Layout::of(&paths(0, 3), 2));
    blocks.place(0, &paths(0, 3), 0, 0);
    blocks.begin(0);
    let pair = BarrierUse { id: 1, warps: 2 };
    blocks.arrived(2, ALL, true, 4, 3);
    blocks.arrived(0, pair, true, 8, 5);
    assert_eq!((blocks.at_barrier(), blocks.due()), (slots(&[0, 2]), u64::MAX));
    blocks.arrived(1, pair, true, 9, 6);
    assert_eq!(blocks.due(), 9);
    assert!(blocks.release(8).is_none());
    let release = blocks.release(9).unwrap();
    assert_eq!((release.barrier, release.slots, release.at), (1, slots(&[0, 1]), Cycle::new(9)));
    assert_eq!((blocks.at_barrier(), blocks.due()), (slots(&[2]), u64::MAX));
    blocks.left(0, 1, 5, 9);
    assert!(blocks.release(9).is_none(), "warp 1 may still come");
    blocks.left(1, 1, 6, 9);
    let release = blocks.release(9).unwrap();
    assert_eq!((release.barrier, release.slots, release.at), (0, slots(&[2]), Cycle::new(9)));
    assert!(blocks.at_barrier().is_empty() && blocks.release(9).is_none());
}

#[test]
fn the_oldest_of_several_ended_blocks_is_taken_first() {
    let mut blocks = two();
    let mut result = BlockResult::default();
    // the older block is in the second CTA slot
    for (cta_slot, block) in [(1, 0), (0, 1)] {
        blocks.place(cta_slot, &paths(block, 1), 0, 0);
        blocks.begin(cta_slot);
    }
    assert_eq!(blocks.free_cta_slot(), None);
    for slot in [0, 2] {
        blocks.left(slot, 1, 0, 0);
        blocks.over(slot, 6, 0);
    }
    assert_eq!(blocks.take_ended(6, &mut result).map(|ended| (ended.cta_slot, ended.older)), Some((1, 0)));
    assert_eq!((result.block, blocks.free_cta_slot()), (BlockId::new(0), Some(1)));
    assert_eq!(blocks.take_ended(6, &mut result).map(|ended| (ended.cta_slot, ended.older)), Some((0, 0)));
    assert_eq!(blocks.take_ended(6, &mut result), None);
}
