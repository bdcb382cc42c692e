//! Registers as rows: one value for each lane of a warp, contiguous in memory, so that one
//! operation on all lanes is a handful of vector instructions.
//!
//! The functions here are plain loops over the lanes. They become vector code where they are
//! inlined into a [`Vectorised`] run, which is compiled once for processors with AVX2 and FMA and
//! once for any processor. The choice between the two is made when a launch starts. Both give the
//! same bits: every function is exact, and a multiply-add gives the same result by one instruction
//! or by the steps of [`super::arith::float`].

// a processor without such instructions does not need it
#[cfg_attr(target_arch = "wasm32", allow(unused_imports))]
use fearless_simd::{Level, Simd};

use super::Vectors;
use warpbound_core::base::{LaneMask, WARP_SIZE};

/// One value for each lane, aligned to cache lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub(super) struct Row<T>(pub(super) [T; WARP_SIZE]);

/// A computation that is worth compiling for the vector instructions of the processor.
///
/// Implementations and all hot functions that they call are `#[inline(always)]`, because only
/// inlined code is compiled for those instructions.
pub(super) trait Vectorised {
    /// The result of the computation.
    type Output;

    /// Runs the computation; `FUSED` says whether the processor multiplies and adds in one
    /// instruction.
    fn run<const FUSED: bool>(self) -> Self::Output;
}

/// The vector instructions to use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Processor(Level);

impl Processor {
    /// Selects the vector instructions of this machine, or a smaller set.
    pub(super) fn new(vectors: Vectors) -> Self {
        match vectors {
            Vectors::Detected => Self(Level::new()),
            Vectors::Portable | Vectors::Off => Self(Level::baseline()),
        }
    }

    /// Runs a computation with these instructions.
    #[inline]
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    pub(super) fn run<V: Vectorised>(self, run: V) -> V::Output {
        match self.0.as_avx2() {
            Some(avx2) => avx2.vectorize(
                #[inline(always)]
                || run.run::<true>(),
            ),
            None => run.run::<false>(),
        }
    }

    /// Runs a computation with these instructions.
    #[inline]
    #[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
    pub(super) fn run<V: Vectorised>(self, run: V) -> V::Output {
        // 64-bit Arm has both vectors and fused operations in its base set
        if cfg!(target_arch = "aarch64") { run.run::<true>() } else { run.run::<false>() }
    }
}

/// Returns a row with all ones in the lanes of a mask, and zero in the others.
#[inline(always)]
pub(super) fn spread(mask: LaneMask) -> Row<u32> {
    let mut row = Row([0; WARP_SIZE]);
    for lane in 0..WARP_SIZE {
        row.0[lane] = 0u32.wrapping_sub(mask.bits() >> lane & 1);
    }
    row
}

/// Widens an element of a mask row to 64 bits.
#[inline(always)]
pub(super) fn widened(mask: u32) -> u64 {
    mask as i32 as i64 as u64
}

/// Computes `d = f(a)` in the lanes of a mask.
#[inline(always)]
pub(super) fn map1(rows: &mut [Row<u32>], d: u32, a: u32, mask: &Row<u32>, f: impl Fn(u32) -> u32) {
    let a = rows[a as usize];
    put(&mut rows[d as usize], mask, |lane| f(a.0[lane]));
}

/// Computes `d = f(a, b)` in the lanes of a mask.
#[inline(always)]
pub(super) fn map2(
    rows: &mut [Row<u32>],
    d: u32,
    [a, b]: [u32; 2],
    mask: &Row<u32>,
    f: impl Fn(u32, u32) -> u32,
) {
    let (a, b) = (rows[a as usize], rows[b as usize]);
    put(&mut rows[d as usize], mask, |lane| f(a.0[lane], b.0[lane]));
}

/// Computes `d = f(a, b, c)` in the lanes of a mask.
#[inline(always)]
pub(super) fn map3(
    rows: &mut [Row<u32>],
    d: u32,
    [a, b, c]: [u32; 3],
    mask: &Row<u32>,
    f: impl Fn(u32, u32, u32) -> u32,
) {
    let (a, b, c) = (rows[a as usize], rows[b as usize], rows[c as usize]);
    put(&mut rows[d as usize], mask, |lane| f(a.0[lane], b.0[lane], c.0[lane]));
}

/// Computes `d = f(a)` like [`map1`], for 64-bit values.
#[inline(always)]
pub(super) fn wide1(rows: &mut [Row<u64>], d: u32, a: u32, mask: &Row<u32>, f: impl Fn(u64) -> u64) {
    let a = rows[a as usize];
    put_wide(&mut rows[d as usize], mask, |lane| f(a.0[lane]));
}

/// Computes `d = f(a, b)` like [`map2`], for 64-bit values.
#[inline(always)]
pub(super) fn wide2(
    rows: &mut [Row<u64>],
    d: u32,
    [a, b]: [u32; 2],
    mask: &Row<u32>,
    f: impl Fn(u64, u64) -> u64,
) {
    let (a, b) = (rows[a as usize], rows[b as usize]);
    put_wide(&mut rows[d as usize], mask, |lane| f(a.0[lane], b.0[lane]));
}

/// Computes `d = f(a, b, c)` like [`map3`], for 64-bit values.
#[inline(always)]
pub(super) fn wide3(
    rows: &mut [Row<u64>],
    d: u32,
    [a, b, c]: [u32; 3],
    mask: &Row<u32>,
    f: impl Fn(u64, u64, u64) -> u64,
) {
    let (a, b, c) = (rows[a as usize], rows[b as usize], rows[c as usize]);
    put_wide(&mut rows[d as usize], mask, |lane| f(a.0[lane], b.0[lane], c.0[lane]));
}

/// Writes the lanes of a mask.
#[inline(always)]
pub(super) fn put(row: &mut Row<u32>, mask: &Row<u32>, value: impl Fn(usize) -> u32) {
    for lane in 0..WARP_SIZE {
        row.0[lane] = value(lane) & mask.0[lane] | row.0[lane] & !mask.0[lane];
    }
}

/// Writes the lanes of a mask like [`put`], for 64-bit values.
#[inline(always)]
pub(super) fn put_wide(row: &mut Row<u64>, mask: &Row<u32>, value: impl Fn(usize) -> u64) {
    for lane in 0..WARP_SIZE {
        let mask = widened(mask.0[lane]);
        row.0[lane] = value(lane) & mask | row.0[lane] & !mask;
    }
}

/// Returns the lanes in which a relation between two rows holds.
#[inline(always)]
pub(super) fn holds<T: Copy>(a: &Row<T>, b: &Row<T>, f: impl Fn(T, T) -> bool) -> LaneMask {
    let mut lanes = 0;
    for lane in 0..WARP_SIZE {
        lanes |= u32::from(f(a.0[lane], b.0[lane])) << lane;
    }
    LaneMask::from_bits_retain(lanes)
}
