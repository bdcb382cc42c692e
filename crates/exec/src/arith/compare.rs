//! Comparisons.

use super::super::lanes::{Lanes, mask_where, sign_extend, width_mask};
use super::exact::{F64, Format};
use super::format_of;
use warpbound_core::base::LaneMask;
use warpbound_core::program::sem::{Cmp, FloatTy, Round, ValueTy};

/// Returns the lanes in which the relation holds.
pub(crate) fn lanes(cmp: Cmp, ty: ValueTy, ftz: bool, a: &Lanes, b: &Lanes) -> LaneMask {
    match ty {
        ValueTy::Int(ty) if ty.signed => {
            let bits = u32::from(ty.bits);
            relation(cmp, |lane| (sign_extend(a[lane], bits), sign_extend(b[lane], bits)))
        }
        ValueTy::Int(ty) => {
            let mask = width_mask(u32::from(ty.bits));
            relation(cmp, |lane| (a[lane] & mask, b[lane] & mask))
        }
        ValueTy::Float(FloatTy::F32) if ftz => {
            let value = |bits: u64| f32::from_bits(super::exact::F32.flush(bits & 0xffff_ffff) as u32);
            relation(cmp, |lane| (value(a[lane]), value(b[lane])))
        }
        ValueTy::Float(FloatTy::F32) => {
            relation(cmp, |lane| (f32::from_bits(a[lane] as u32), f32::from_bits(b[lane] as u32)))
        }
        ValueTy::Float(FloatTy::F64) => {
            relation(cmp, |lane| (f64::from_bits(a[lane]), f64::from_bits(b[lane])))
        }
        ValueTy::Float(half) => {
            let format = format_of(half);
            relation(cmp, |lane| (widened(format, ftz, a[lane]), widened(format, ftz, b[lane])))
        }
    }
}

/// Converts a half to a double, exactly.
fn widened(format: Format, ftz: bool, bits: u64) -> f64 {
    let bits = bits & 0xffff;
    let bits = if ftz { format.flush(bits) } else { bits };
    f64::from_bits(F64.pack(format.unpack(bits), Round::Nearest))
}

#[inline(always)]
fn relation<T: PartialOrd + Copy>(cmp: Cmp, pair: impl Fn(usize) -> (T, T)) -> LaneMask {
    // a number is equal to itself, but NaN is not
    #[allow(clippy::eq_op, reason = "the test for NaN that works for every type")]
    let unordered = |x: T, y: T| x != x || y != y;
    let holds = |f: &dyn Fn(T, T) -> bool| {
        mask_where(|lane| {
            let (x, y) = pair(lane);
            f(x, y)
        })
    };
    match cmp {
        Cmp::Eq => mask_where(|l| {
            let (x, y) = pair(l);
            x == y
        }),
        Cmp::Ne => mask_where(|l| {
            let (x, y) = pair(l);
            x != y && !unordered(x, y)
        }),
        Cmp::Lt => mask_where(|l| {
            let (x, y) = pair(l);
            x < y
        }),
        Cmp::Le => mask_where(|l| {
            let (x, y) = pair(l);
            x <= y
        }),
        Cmp::Gt => mask_where(|l| {
            let (x, y) = pair(l);
            x > y
        }),
        Cmp::Ge => mask_where(|l| {
            let (x, y) = pair(l);
            x >= y
        }),
        Cmp::Equ => holds(&|x, y| x == y || unordered(x, y)),
        Cmp::Neu => holds(&|x, y| x != y),
        Cmp::Ltu => holds(&|x, y| x < y || unordered(x, y)),
        Cmp::Leu => holds(&|x, y| x <= y || unordered(x, y)),
        Cmp::Gtu => holds(&|x, y| x > y || unordered(x, y)),
        Cmp::Geu => holds(&|x, y| x >= y || unordered(x, y)),
        Cmp::Num => holds(&|x, y| !unordered(x, y)),
        Cmp::Nan => holds(&|x, y| unordered(x, y)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpbound_core::base::WARP_SIZE;
    use warpbound_core::program::sem::IntTy;

    const ORDERED: [Cmp; 6] = [Cmp::Eq, Cmp::Ne, Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge];
    const UNORDERED: [Cmp; 6] = [Cmp::Equ, Cmp::Neu, Cmp::Ltu, Cmp::Leu, Cmp::Gtu, Cmp::Geu];

    fn holds(cmp: Cmp, ty: ValueTy, ftz: bool, a: u64, b: u64) -> bool {
        let mask = lanes(cmp, ty, ftz, &[a; WARP_SIZE], &[b; WARP_SIZE]);
        assert!(mask.is_empty() || mask == LaneMask::ALL);
        !mask.is_empty()
    }

    #[test]
    fn every_relation_of_floats() {
        let formats: [(FloatTy, &dyn Fn(f64) -> u64); 3] = [
            (FloatTy::F16, &|x| u64::from(warpbound_core::program::launch::f16_bits(x))),
            (FloatTy::F32, &|x| u64::from((x as f32).to_bits())),
            (FloatTy::F64, &|x| x.to_bits()),
        ];
        for (ty, bits) in formats {
            let ty = ValueTy::Float(ty);
            for (x, y) in [(1.0, 2.0), (2.0, 1.0), (1.0, 1.0), (0.0, -0.0), (-1.0, f64::INFINITY)] {
                let expected = [x == y, x != y, x < y, x <= y, x > y, x >= y];
                for i in 0..6 {
                    assert_eq!(holds(ORDERED[i], ty, false, bits(x), bits(y)), expected[i]);
                    assert_eq!(holds(UNORDERED[i], ty, false, bits(x), bits(y)), expected[i]);
                }
                assert!(holds(Cmp::Num, ty, false, bits(x), bits(y)));
                assert!(!holds(Cmp::Nan, ty, false, bits(x), bits(y)));
            }
            for (x, y) in [(f64::NAN, 1.0), (1.0, f64::NAN), (f64::NAN, f64::NAN)] {
                for i in 0..6 {
                    assert!(!holds(ORDERED[i], ty, false, bits(x), bits(y)), "{:?}", ORDERED[i]);
                    assert!(holds(UNORDERED[i], ty, false, bits(x), bits(y)), "{:?}", UNORDERED[i]);
                }
                assert!(holds(Cmp::Nan, ty, false, bits(x), bits(y)));
                assert!(!holds(Cmp::Num, ty, false, bits(x), bits(y)));
            }
        }
        assert!(holds(Cmp::Ne, ValueTy::Float(FloatTy::F32), false, 1, 2));
        assert!(holds(Cmp::Eq, ValueTy::Float(FloatTy::F32), true, 1, 0x8000_0002));
    }

    #[test]
    fn integers_compare_by_their_type() {
        let ty = |bits, signed| ValueTy::Int(IntTy { bits, signed });
        assert!(holds(Cmp::Lt, ty(32, true), false, 0xffff_ffff, 0));
        assert!(holds(Cmp::Gt, ty(32, false), false, 0xffff_ffff, 0));
        assert!(holds(Cmp::Lt, ty(16, true), false, 0x8000, 0));
        assert!(holds(Cmp::Ge, ty(64, false), false, u64::MAX, 1));
        assert!(holds(Cmp::Eq, ty(32, false), false, 0x1_0000_0005, 5));
    }
}
