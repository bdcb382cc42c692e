//! The values of one register in all lanes of a warp, and loops over them.

use warpbound_core::base::{LaneMask, WARP_SIZE};

/// One value per lane, zero-extended from the width of its register.
pub(super) type Lanes = [u64; WARP_SIZE];

/// Returns a mask of the low `bits` bits.
pub(super) const fn width_mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// Returns the low `bits` bits of a value, as a two's complement number.
pub(super) const fn sign_extend(value: u64, bits: u32) -> i64 {
    let unused = 64u32.saturating_sub(bits);
    ((value << unused) as i64) >> unused
}

/// Returns `f` of every lane. It is computed for all lanes, active or not, so `f` must be total.
#[inline(always)]
pub(super) fn map1(a: &Lanes, f: impl Fn(u64) -> u64) -> Lanes {
    let mut result = [0; WARP_SIZE];
    for lane in 0..WARP_SIZE {
        result[lane] = f(a[lane]);
    }
    result
}

/// Returns `f` of every lane like [`map1`], for two operands.
#[inline(always)]
pub(super) fn map2(a: &Lanes, b: &Lanes, f: impl Fn(u64, u64) -> u64) -> Lanes {
    let mut result = [0; WARP_SIZE];
    for lane in 0..WARP_SIZE {
        result[lane] = f(a[lane], b[lane]);
    }
    result
}

/// Returns `f` of every lane like [`map1`], for three operands.
#[inline(always)]
pub(super) fn map3(a: &Lanes, b: &Lanes, c: &Lanes, f: impl Fn(u64, u64, u64) -> u64) -> Lanes {
    let mut result = [0; WARP_SIZE];
    for lane in 0..WARP_SIZE {
        result[lane] = f(a[lane], b[lane], c[lane]);
    }
    result
}

/// Returns the lanes for which `f` holds; it is called for all lanes.
#[inline(always)]
pub(super) fn mask_where(f: impl Fn(usize) -> bool) -> LaneMask {
    let bits = (0..WARP_SIZE).fold(0u32, |mask, lane| mask | u32::from(f(lane)) << lane);
    LaneMask::from_bits_retain(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_and_signs() {
        assert_eq!(width_mask(8), 0xff);
        assert_eq!(width_mask(64), u64::MAX);
        assert_eq!(sign_extend(0x80, 8), -128);
        assert_eq!(sign_extend(0x7f, 8), 127);
        assert_eq!(sign_extend(u64::MAX, 64), -1);
        assert_eq!(mask_where(|lane| lane == 3 || lane == 31).bits(), 0x8000_0008);
    }
}
