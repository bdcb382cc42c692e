//! Tests of paths that take turns.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::SimtStack;
use warpbound_core::base::{LaneMask, Pc};
use warpbound_core::machine::Reconvergence;
use warpbound_core::program::sem::Region;

const B0: Region = Region::Barrier(0);
const B1: Region = Region::Barrier(1);

fn lanes(bits: u32) -> LaneMask {
    LaneMask::from_bits_retain(bits)
}

fn started() -> SimtStack {
    let mut stack = SimtStack::new(Reconvergence::PostDominator);
    stack.start(lanes(0xf));
    stack
}

fn branch(stack: &mut SimtStack, taken: u32, target: u32) {
    stack.branch(lanes(taken), Pc::new(target), None);
}

fn top(stack: &SimtStack) -> Option<(u32, u32)> {
    stack.top().map(|(pc, mask)| (pc.get(), mask.bits()))
}

#[test]
fn paths_take_turns_in_order() {
    let mut stack = started();
    branch(&mut stack, 0b0001, 10);
    stack.let_others_run();
    assert_eq!(top(&stack), Some((1, 0b1110)));
    branch(&mut stack, 0b0010, 20);
    assert_eq!(top(&stack), Some((20, 0b0010)));
    for expected in [(2, 0b1100), (11, 0b0001), (21, 0b0010), (3, 0b1100), (12, 0b0001)] {
        stack.let_others_run();
        assert_eq!(top(&stack), Some(expected));
    }
    // a path without others goes on
    stack.end(lanes(0b1111));
    assert_eq!(top(&stack), None);
}

#[test]
fn lanes_that_wait_at_a_barrier_go_on_when_all_others_have_yielded() {
    // 0: BSSY B0, 5; 1: YIELD; 2: try the lock; 3: bra 1; 4: BSYNC B0; 5: unlock
    let mut stack = started();
    stack.open(B0, Pc::new(5));
    stack.let_others_run();
    assert_eq!(top(&stack), Some((2, 0b1111)), "there is no other path");
    stack.advance();
    branch(&mut stack, 0b1110, 1);
    assert_eq!(top(&stack), Some((1, 0b1110)));
    // the lane with the lock has not arrived at the barrier: it is the only other path
    stack.let_others_run();
    assert_eq!(top(&stack), Some((4, 0b0001)));
    assert!(stack.close(B0, lanes(0b0001)));
    assert_eq!(top(&stack), Some((2, 0b1110)), "it waits");
    stack.advance();
    branch(&mut stack, 0b1110, 1);
    stack.let_others_run();
    assert_eq!(top(&stack), Some((5, 0b0001)), "the barrier was cleared");
    stack.end(lanes(0b0001));
    // the others still leave the loop one by one, and do not wait for each other
    assert_eq!(top(&stack), Some((2, 0b1110)));
    stack.advance();
    branch(&mut stack, 0b1100, 1);
    stack.let_others_run();
    assert_eq!(top(&stack), Some((4, 0b0010)));
    assert!(stack.close(B0, lanes(0b0010)));
    assert_eq!(top(&stack), Some((5, 0b0010)));
}

#[test]
fn a_barrier_is_not_cleared_while_one_of_its_lanes_can_run() {
    let mut stack = started();
    stack.open(B0, Pc::new(9));
    branch(&mut stack, 0b0001, 8);
    assert!(stack.close(B0, lanes(0b0001)));
    assert_eq!(top(&stack), Some((2, 0b1110)));
    branch(&mut stack, 0b0010, 5);
    stack.let_others_run();
    assert_eq!(top(&stack), Some((3, 0b1100)), "this path has not yielded yet");
    stack.let_others_run();
    assert_eq!(top(&stack), Some((9, 0b0001)));
}

#[test]
fn the_innermost_barrier_is_cleared_first() {
    let mut stack = started();
    stack.open(B0, Pc::new(20));
    branch(&mut stack, 0b0001, 19);
    assert!(stack.close(B0, lanes(0b0001)));
    stack.open(B1, Pc::new(10));
    branch(&mut stack, 0b0010, 9);
    assert!(stack.close(B1, lanes(0b0010)));
    stack.let_others_run();
    assert_eq!(top(&stack), Some((10, 0b0010)));
    stack.let_others_run();
    assert_eq!(top(&stack), Some((20, 0b0001)));
}

#[test]
fn opening_a_barrier_again_clears_it() {
    // 0: BSSY B0, 5; ..; 3: bra 0; 4: BSYNC B0
    let mut stack = started();
    stack.open(B0, Pc::new(5));
    branch(&mut stack, 0b0001, 4);
    assert!(stack.close(B0, lanes(0b0001)));
    branch(&mut stack, 0b1110, 0);
    stack.open(B0, Pc::new(5));
    assert_eq!(top(&stack), Some((1, 0b1110)));
    stack.let_others_run();
    assert_eq!(top(&stack), Some((5, 0b0001)));
    stack.end(lanes(0b0001));
    // the new region is one of three lanes
    branch(&mut stack, 0b0010, 4);
    assert!(stack.close(B0, lanes(0b0010)));
    branch(&mut stack, 0b1100, 4);
    assert!(stack.close(B0, lanes(0b1100)));
    assert_eq!(top(&stack), Some((5, 0b1110)));
}

#[test]
fn lanes_that_have_left_a_region_are_not_waited_for() {
    for left in [true, false] {
        let mut stack = started();
        stack.open(B0, Pc::new(9));
        branch(&mut stack, 0b0011, 5);
        if left {
            stack.quit(B0, lanes(0b0011));
        }
        stack.let_others_run();
        assert!(stack.close(B0, lanes(0b1100)));
        assert_eq!(top(&stack).map(|(_, mask)| mask), Some(0b0011));
        assert_eq!(stack.gather(), left, "the other lanes can run if these have left");
    }
}

#[test]
fn loops_that_leave_their_region_do_not_grow_the_stack() {
    // 0: BSSY B0, 9; 1: BREAK B0 or BSSY B0 again; 2: bra 0
    for broken in [true, false] {
        let mut stack = started();
        let mut sizes = Vec::new();
        for _ in 0..5 {
            stack.open(B0, Pc::new(9));
            if broken {
                stack.quit(B0, lanes(0b1111));
            }
            branch(&mut stack, 0b1111, 0);
            sizes.push(stack.entries().len());
        }
        assert_eq!(sizes[0], sizes[4], "{sizes:?}");
    }
}

#[test]
fn lanes_meet_and_go_on_together() {
    // 1: WARPSYNC on one side, 5: WARPSYNC on the other, or the same one
    for (at, together) in [(5, false), (1, true)] {
        let mut stack = started();
        branch(&mut stack, 0b0011, at);
        stack.meet(lanes(0b0011), LaneMask::ALL);
        assert_eq!(top(&stack), Some((1, 0b1100)), "the first side waits");
        stack.meet(lanes(0b1100), LaneMask::ALL);
        let (_, mask) = top(&stack).unwrap();
        assert_eq!(mask == 0b1111, together);
    }
}

#[test]
fn lanes_that_cannot_come_are_not_waited_for() {
    let mut stack = started();
    stack.open(B0, Pc::new(9));
    branch(&mut stack, 0b0011, 5);
    assert!(stack.close(B0, lanes(0b0011)));
    // lanes 0 and 1 wait for lanes 2 and 3 at the end of the region
    stack.meet(lanes(0b1100), LaneMask::ALL);
    assert_eq!(top(&stack), Some((3, 0b1100)));
    // lanes that have ended are not waited for either
    let mut stack = started();
    branch(&mut stack, 0b0011, 5);
    stack.meet(lanes(0b0011), LaneMask::ALL);
    stack.end(lanes(0b1000));
    assert_eq!(top(&stack), Some((2, 0b0100)));
    stack.end(lanes(0b0100));
    assert_eq!(top(&stack), Some((6, 0b0011)));
}

#[test]
fn lanes_of_several_paths_execute_a_part_together() {
    // 1: WARPSYNC.COLLECTIVE 4; 2: SHFL; 3: ENDCOLLECTIVE; 4: ..
    let mut stack = started();
    branch(&mut stack, 0b0011, 7);
    assert!(!stack.end_collective());
    branch(&mut stack, 0b0011, 1);
    stack.collect(LaneMask::ALL, Pc::new(4));
    assert_eq!(top(&stack), Some((1, 0b1100)));
    stack.collect(LaneMask::ALL, Pc::new(4));
    assert_eq!(top(&stack), Some((2, 0b1111)));
    stack.advance();
    assert!(stack.end_collective());
    assert_eq!(top(&stack).map(|(pc, _)| pc), Some(4));
}

#[test]
fn lanes_at_different_parts_wait_for_each_other() {
    // 1: WARPSYNC.COLLECTIVE 4, and 11: WARPSYNC.COLLECTIVE 14
    let mut stack = started();
    branch(&mut stack, 0b0011, 11);
    stack.collect(LaneMask::ALL, Pc::new(14));
    stack.collect(LaneMask::ALL, Pc::new(4));
    let mut ran = Vec::new();
    for _ in 0..2 {
        ran.push(top(&stack).unwrap());
        stack.advance();
        assert!(stack.end_collective());
    }
    ran.sort_unstable();
    assert_eq!(ran, [(2, 0b1100), (12, 0b0011)]);
    assert!(!stack.end_collective());
}

#[test]
fn paths_wait_at_a_barrier_of_the_block_until_all_are_there() {
    let mut stack = started();
    assert!(!stack.gather(), "there is only one path");
    branch(&mut stack, 0b0011, 6);
    assert!(stack.gather());
    assert_eq!(top(&stack), Some((1, 0b1100)));
    branch(&mut stack, 0b1100, 6);
    assert!(stack.gather());
    assert_eq!(top(&stack), Some((6, 0b1111)));
    assert!(!stack.gather());
    // at two barriers they do not become one path, and do not wait again
    let mut stack = started();
    branch(&mut stack, 0b0011, 6);
    assert!(stack.gather());
    assert!(stack.gather());
    assert!(!stack.gather());
}

/// An instruction of a random program.
#[derive(Clone, Copy, Debug)]
enum Op {
    Plain,
    /// A branch that each lane takes or not by its own choice, and not after several visits.
    Branch(u32),
    Jump(u32),
    Open(Region, u32),
    Close(Region),
    /// BREAK for the lanes that choose so.
    Break(Region),
    /// A branch of the lanes that executed BREAK just before.
    Leave(u32),
    Yield,
    Sync,
    Collect(u32),
    EndCollective,
    End,
}

/// A program of nested regions, loops and sides, in which lanes may leave inner regions.
struct Program {
    ops: Vec<Op>,
    random: ChaCha8Rng,
}

impl Program {
    fn at(&self) -> u32 {
        self.ops.len() as u32
    }

    /// Adds code within this many regions. `leaves` gets the places of branches that leave the
    /// innermost region.
    fn code(&mut self, depth: u8, leaves: &mut Vec<usize>) {
        for _ in 0..self.random.random_range(1..4) {
            match self.random.random_range(0..if depth < 4 { 9 } else { 5 }) {
                0 => self.ops.push(Op::Yield),
                1 => self.ops.push(Op::Sync),
                2 if depth > 0 => {
                    self.ops.push(Op::Break(Region::Barrier(depth - 1)));
                    leaves.push(self.ops.len());
                    self.ops.push(Op::Leave(0));
                }
                3 => {
                    self.ops.push(Op::Collect(self.at() + 3));
                    self.ops.extend([Op::Plain, Op::EndCollective]);
                }
                5 | 6 => self.sides(depth, leaves),
                7 | 8 => self.looped(depth),
                _ => self.ops.push(Op::Plain),
            }
        }
    }

    /// Adds two sides, with or without a region around them.
    fn sides(&mut self, depth: u8, leaves: &mut Vec<usize>) {
        if self.random.random() {
            let (open, mut inner) = (self.open(), Vec::new());
            self.both(depth + 1, &mut inner);
            self.close(open, depth, inner);
        } else {
            self.both(depth, leaves);
        }
    }

    fn both(&mut self, depth: u8, leaves: &mut Vec<usize>) {
        let branch = self.open();
        self.code(depth, leaves);
        let jump = self.open();
        self.ops[branch] = Op::Branch(self.at());
        self.code(depth, leaves);
        self.ops[jump] = Op::Jump(self.at());
    }

    /// Adds a loop in a region. It may begin before the region, which is opened again then.
    fn looped(&mut self, depth: u8) {
        let (open, mut inner) = (self.open(), Vec::new());
        let start = if self.random.random_range(0..4) == 0 { open as u32 } else { self.at() };
        self.code(depth + 1, &mut inner);
        self.ops.push(Op::Branch(start));
        self.close(open, depth, inner);
    }

    /// Adds a place for an instruction that is known later.
    fn open(&mut self) -> usize {
        self.ops.push(Op::Plain);
        self.ops.len() - 1
    }

    /// Ends a region; the branches that leave it go behind its end.
    fn close(&mut self, open: usize, depth: u8, leaves: Vec<usize>) {
        let region = Region::Barrier(depth);
        self.ops.push(Op::Close(region));
        self.ops[open] = Op::Open(region, self.at());
        leaves.into_iter().for_each(|place| self.ops[place] = Op::Leave(self.at()));
    }
}

/// Returns whether a lane takes a branch when it is there for the nth time.
fn takes(lane: usize, pc: u32, visits: u32) -> bool {
    let mixed = (lane as u32 ^ pc.wrapping_mul(0x9e37_79b9) ^ visits << 7).wrapping_mul(0x85eb_ca6b);
    visits < 4 && mixed >> 29 < 3
}

/// Each lane executes what it would execute alone, whatever turns the paths take.
#[test]
fn every_lane_executes_its_own_path() {
    let (mut apart, mut steps) = (0, 0);
    for seed in 0..3000 {
        let mut program = Program { ops: Vec::new(), random: ChaCha8Rng::seed_from_u64(seed) };
        program.code(0, &mut Vec::new());
        program.ops.push(Op::End);
        let ops = program.ops;
        let mut next = [0_u32; 32];
        let mut visits = vec![[0_u32; 32]; ops.len()];
        let mut stack = SimtStack::new(Reconvergence::PostDominator);
        stack.start(LaneMask::ALL);
        for step in 0.. {
            let Some((pc, mask)) = stack.top() else { break };
            assert!(step < 1 << 16, "seed {seed} does not end: {ops:?}");
            apart += usize::from(mask != stack.live());
            steps += 1;
            let op = ops[pc.index()];
            let mut taken = LaneMask::empty();
            for lane in mask.lanes() {
                assert_eq!(next[lane], pc.get(), "seed {seed}, lane {lane}: {ops:?}");
                // the branch behind a BREAK follows its choice
                let at = pc.index() - usize::from(matches!(op, Op::Leave(_)));
                let nth = &mut visits[at][lane];
                *nth += u32::from(at == pc.index());
                let takes = takes(lane, at as u32, *nth);
                next[lane] = match op {
                    Op::Branch(to) | Op::Leave(to) if takes => to,
                    Op::Jump(to) => to,
                    _ => pc.get() + 1,
                };
                if takes {
                    taken |= LaneMask::lane(lane);
                }
            }
            match op {
                Op::Plain => stack.advance(),
                Op::Branch(to) | Op::Leave(to) => stack.branch(taken, Pc::new(to), None),
                Op::Break(region) => stack.quit(region, taken),
                Op::Jump(to) => stack.branch(mask, Pc::new(to), None),
                Op::Open(region, join) => stack.open(region, Pc::new(join)),
                Op::Close(region) => assert!(stack.close(region, mask), "seed {seed}: {ops:?}"),
                Op::Yield => stack.let_others_run(),
                Op::Sync => stack.meet(mask, LaneMask::ALL),
                Op::Collect(onward) => stack.collect(LaneMask::ALL, Pc::new(onward)),
                Op::EndCollective => assert!(stack.end_collective()),
                Op::End => stack.end(mask),
            }
        }
        assert!(next.iter().all(|&pc| pc == ops.len() as u32), "seed {seed}: {next:?}");
    }
    assert!(steps > 100_000 && apart > steps / 10, "{apart} of {steps}");
}
