//! Tests of the rounded operations against independent big-integer arithmetic: a result is correct
//! if it lies on the side of the exact value that the rounding direction requires, compared
//! exactly.

use std::cmp::Ordering;

use proptest::prelude::*;

use super::exact::{BF16, F16, F32, F64, Format};
use super::float::scalar;
use super::{double, single};
use warpbound_core::program::sem::{FloatMode, FloatOp, Round};

/// `magnitude * 2^exponent` with the magnitude in 32-bit digits, lowest first.
#[derive(Clone)]
struct Dyadic {
    negative: bool,
    digits: Vec<u32>,
    exponent: i32,
}

impl Dyadic {
    fn new(negative: bool, magnitude: u64, exponent: i32) -> Self {
        Self { negative, digits: vec![magnitude as u32, (magnitude >> 32) as u32], exponent }
    }

    /// Returns the value of a float's bits. Infinity counts as the power of two with its exponent.
    fn of(bits: u64, (fraction_bits, bias): (u32, i32)) -> Self {
        let negative = bits >> (fraction_bits + 1 + (bias + 1).ilog2()) & 1 == 1;
        let biased = (bits >> fraction_bits) & (2 * bias as u64 + 1);
        let fraction = bits & ((1 << fraction_bits) - 1);
        let lowest = 1 - bias - fraction_bits as i32;
        if biased == 0 {
            Self::new(negative, fraction, lowest)
        } else {
            Self::new(negative, fraction | 1 << fraction_bits, lowest + biased as i32 - 1)
        }
    }

    fn shifted(&self, exponent: i32) -> Vec<u32> {
        let by = (self.exponent - exponent) as usize;
        let mut digits = vec![0; by / 32];
        let mut carry = 0u64;
        for &digit in &self.digits {
            let wide = u64::from(digit) << (by % 32) | carry;
            digits.push(wide as u32);
            carry = wide >> 32;
        }
        digits.push(carry as u32);
        digits
    }

    fn times(&self, other: &Self) -> Self {
        let mut digits = vec![0u32; self.digits.len() + other.digits.len()];
        for (i, &x) in self.digits.iter().enumerate() {
            let mut carry = 0u64;
            for (j, &y) in other.digits.iter().enumerate() {
                let wide = u64::from(x) * u64::from(y) + u64::from(digits[i + j]) + carry;
                digits[i + j] = wide as u32;
                carry = wide >> 32;
            }
            digits[i + other.digits.len()] = carry as u32;
        }
        Self { negative: self.negative != other.negative, digits, exponent: self.exponent + other.exponent }
    }

    fn plus(&self, other: &Self) -> Self {
        let exponent = self.exponent.min(other.exponent);
        let (x, y) = (self.shifted(exponent), other.shifted(exponent));
        let (negative, digits) = if self.negative == other.negative {
            (self.negative, combine(&x, &y, |a, b| a + b))
        } else if compare_digits(&x, &y) == Ordering::Less {
            (other.negative, combine(&y, &x, |a, b| a - b))
        } else {
            (self.negative, combine(&x, &y, |a, b| a - b))
        };
        Self { negative, digits, exponent }
    }

    fn negated(&self) -> Self {
        Self { negative: !self.negative, ..self.clone() }
    }

    fn sign(&self) -> Ordering {
        match (self.digits.iter().all(|&d| d == 0), self.negative) {
            (true, _) => Ordering::Equal,
            (false, true) => Ordering::Less,
            (false, false) => Ordering::Greater,
        }
    }

    fn compare(&self, other: &Self) -> Ordering {
        self.plus(&other.negated()).sign()
    }
}

fn combine(x: &[u32], y: &[u32], f: impl Fn(i64, i64) -> i64) -> Vec<u32> {
    let mut carry = 0i64;
    let mut digits = Vec::new();
    for i in 0..=x.len().max(y.len()) {
        let digit = |d: &[u32]| i64::from(d.get(i).copied().unwrap_or(0));
        let sum = f(digit(x), digit(y)) + carry;
        digits.push(sum as u32);
        carry = sum >> 32;
    }
    digits
}

fn compare_digits(x: &[u32], y: &[u32]) -> Ordering {
    let digit = |d: &[u32], i: usize| d.get(i).copied().unwrap_or(0);
    (0..x.len().max(y.len()))
        .rev()
        .map(|i| digit(x, i).cmp(&digit(y, i)))
        .find(|o| o.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// Compares the exact result of the operation with `y`.
fn exact_against(op: FloatOp, [a, b, c]: &[Dyadic; 3], y: &Dyadic) -> Ordering {
    match op {
        FloatOp::Add => a.plus(b).compare(y),
        FloatOp::Sub => a.plus(&b.negated()).compare(y),
        FloatOp::Mul => a.times(b).compare(y),
        FloatOp::Fma => a.times(b).plus(c).compare(y),
        FloatOp::Div => {
            // a/b ? y  <=>  a ? y*b, the other way round for negative b
            let order = a.compare(&y.times(b));
            if b.negative { order.reverse() } else { order }
        }
        FloatOp::Rcp => exact_against(FloatOp::Div, &[Dyadic::new(false, 1, 0), a.clone(), c.clone()], y),
        FloatOp::Sqrt if y.sign() == Ordering::Less => Ordering::Greater,
        FloatOp::Sqrt => a.compare(&y.times(y)),
        other => panic!("no oracle for {other:?}"),
    }
}

/// Checks that `result` is the exact result rounded.
fn check(op: FloatOp, format: Format, shape: (u32, i32), round: Round, src: [u64; 3]) {
    let mode = FloatMode { round, ..FloatMode::default() };
    let result = scalar(op, format, mode, src);
    let magnitude = |bits: u64| bits & (format.sign() - 1);
    let finite = |bits: u64| magnitude(bits) < format.infinity();
    if !src.iter().all(|&bits| finite(bits)) || format.is_nan(result) {
        return;
    }
    if matches!(op, FloatOp::Div) && magnitude(src[1]) == 0
        || matches!(op, FloatOp::Rcp) && magnitude(src[0]) == 0
    {
        return;
    }
    let exact = src.map(|bits| Dyadic::of(bits, shape));
    // neighbours on the line of all values, on which both zeros are one point
    let step = |bits: u64, up: bool| {
        let negative = bits & format.sign() != 0;
        match (magnitude(bits), negative == up) {
            (0, _) => 1 | if up { 0 } else { format.sign() },
            (_, true) => bits - 1,
            (_, false) => bits + 1,
        }
    };
    let against = |y: &Dyadic| exact_against(op, &exact, y);
    let value = Dyadic::of(result, shape);
    let towards_zero = if value.negative { Round::Up } else { Round::Down };
    let tag = format!("{op:?} {round:?} {src:x?} gave {result:#x}");
    match if round == Round::Zero { towards_zero } else { round } {
        Round::Nearest => {
            for up in [true, false] {
                if !finite(result) && up != value.negative {
                    continue;
                }
                let mut middle = value.plus(&Dyadic::of(step(result, up), shape));
                middle.exponent -= 1;
                let order = against(&middle);
                let beyond = if up { Ordering::Greater } else { Ordering::Less };
                assert!(order != beyond, "{tag}: beyond the middle, up {up}");
                assert!(order != Ordering::Equal || result & 1 == 0, "{tag}: a tie went to odd");
            }
        }
        direction => {
            let down = direction == Round::Down;
            let (inside, outside) =
                if down { (Ordering::Less, Ordering::Greater) } else { (Ordering::Greater, Ordering::Less) };
            if finite(result) || value.negative != down {
                assert!(against(&value) != inside, "{tag}: rounded the wrong way");
            }
            let next = step(result, down);
            if finite(next) && finite(result) {
                let order = against(&Dyadic::of(next, shape));
                assert!(order == inside, "{tag}: not the closest ({order:?}, {outside:?})");
            }
        }
    }
}

const OPS: [FloatOp; 7] =
    [FloatOp::Add, FloatOp::Sub, FloatOp::Mul, FloatOp::Fma, FloatOp::Div, FloatOp::Rcp, FloatOp::Sqrt];
const ROUNDS: [Round; 4] = [Round::Nearest, Round::Zero, Round::Down, Round::Up];
const FORMATS: [(Format, (u32, i32)); 4] =
    [(F16, (10, 15)), (BF16, (7, 127)), (F32, (23, 127)), (F64, (52, 1023))];

/// Generates bits of any kind, with exponents that are often close together and fractions that
/// often have few bits.
fn operand() -> impl Strategy<Value = (u64, u64, bool)> {
    (any::<u64>(), prop_oneof![any::<u64>(), 0u64..16, (0u32..64).prop_map(|n| u64::MAX << n)], any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_operation_rounds_as_exact_arithmetic_says(x in operand(), y in operand(), z in operand()) {
        for (format, shape) in FORMATS {
            let fraction = (1u64 << shape.0) - 1;
            // `near`: the exponent is within 64 of the first operand's
            let first = x.0 % (format.infinity() >> shape.0);
            let bits = |(e, f, near): (u64, u64, bool)| {
                let exponents = format.infinity() >> shape.0;
                let exponent = if near { (first + e % 64) % exponents } else { e % exponents };
                ((e >> 32 & 1) * format.sign()) | (exponent << shape.0) | (f & fraction)
            };
            let src = [bits(x), bits(y), bits(z)];
            for op in OPS {
                for round in ROUNDS {
                    check(op, format, shape, round, src);
                }
            }
        }
    }

    /// The implementations that use the host's arithmetic give the same bits as the exact one.
    #[test]
    fn fast_implementations_agree_with_the_exact_one(x in operand(), y in operand(), z in operand()) {
        for format in [F32, F64] {
            let near = |(e, f, near): (u64, u64, bool)| if near { e } else { e & !format.infinity() | x.0 & format.infinity() } ^ f & 0xff;
            let src = [x.0, near(y), near(z)].map(|bits| bits & (format.sign() | (format.sign() - 1)));
            for op in OPS {
                let exact = |ftz| scalar(op, format, FloatMode { ftz, ..FloatMode::default() }, src);
                if format == F64 {
                    prop_assert_eq!(fast_double(op, src), exact(false), "{:?} {:x?}", op, src);
                } else {
                    let src32 = src.map(|bits| bits as u32);
                    prop_assert_eq!(fast_single::<false, false>(op, src32), exact(false), "{:?} {:x?}", op, src);
                    prop_assert_eq!(fast_single::<true, false>(op, src32), exact(false), "{:?} {:x?}", op, src);
                    prop_assert_eq!(fast_single::<false, true>(op, src32), exact(true), "{:?} {:x?} ftz", op, src);
                    prop_assert_eq!(fast_single::<true, true>(op, src32), exact(true), "{:?} {:x?} ftz", op, src);
                }
            }
        }
    }
}

fn fast_single<const FUSED: bool, const FTZ: bool>(op: FloatOp, src: [u32; 3]) -> u64 {
    let [a, b, c] = src.map(single::value_of::<FTZ>);
    u64::from(single::bits_of::<FTZ>(match op {
        FloatOp::Add => a + b,
        FloatOp::Sub => a - b,
        FloatOp::Mul => a * b,
        FloatOp::Fma => single::fma::<FUSED>(a, b, c),
        FloatOp::Div => a / b,
        FloatOp::Sqrt => a.sqrt(),
        _ => 1.0 / a,
    }))
}

fn fast_double(op: FloatOp, src: [u64; 3]) -> u64 {
    let [a, b, c] = src.map(f64::from_bits);
    double::bits_of(match op {
        FloatOp::Add => a + b,
        FloatOp::Sub => a - b,
        FloatOp::Mul => a * b,
        FloatOp::Fma => a.mul_add(b, c),
        FloatOp::Div => a / b,
        FloatOp::Sqrt => a.sqrt(),
        _ => 1.0 / a,
    })
}

/// Products that lie halfway between two singles, with a third operand too small to affect a double
/// next to them: rounding to double and then to single would give a wrong result.
#[test]
fn single_precision_fma_rounds_once() {
    let single = |x: f32| u64::from(x.to_bits());
    let a = 1.0 + 2f32.powi(-12);
    for scale in [0, 40, -60, -120] {
        for (b, exponent) in [(a, -60), (a, -90), (-a, -60), (1.0 + 3.0 * 2f32.powi(-12), -70)] {
            for sign in [1.0, -1.0] {
                let c = sign * 2f32.powi((exponent + scale).max(-149));
                let src = [a * 2f32.powi(scale), b, c].map(single);
                check(FloatOp::Fma, F32, (23, 127), Round::Nearest, src);
                let exact = scalar(FloatOp::Fma, F32, FloatMode::default(), src);
                let src32 = src.map(|bits| bits as u32);
                assert_eq!(fast_single::<false, false>(FloatOp::Fma, src32), exact, "{src:x?}");
                assert_eq!(fast_single::<true, false>(FloatOp::Fma, src32), exact, "{src:x?}");
            }
        }
    }
}

#[test]
fn special_values_and_signs_of_zero() {
    let single = |x: f32| u64::from(x.to_bits());
    let of = |op, round, a: f32, b: f32, c: f32| {
        f32::from_bits(scalar(
            op,
            F32,
            FloatMode { round, ..FloatMode::default() },
            [single(a), single(b), single(c)],
        ) as u32)
    };
    let inf = f32::INFINITY;
    for round in ROUNDS {
        let zero: f32 = if round == Round::Down { -0.0 } else { 0.0 };
        for (got, expected) in [
            (of(FloatOp::Add, round, 1.0, -1.0, 0.0), zero),
            (of(FloatOp::Sub, round, 0.0, 0.0, 0.0), zero),
            (of(FloatOp::Add, round, -0.0, -0.0, 0.0), -0.0),
            (of(FloatOp::Fma, round, 2.0, 3.0, -6.0), zero),
            (of(FloatOp::Fma, round, -2.0, 0.0, -0.0), -0.0),
            (of(FloatOp::Mul, round, -0.0, 3.0, 0.0), -0.0),
            (of(FloatOp::Div, round, 1.0, -inf, 0.0), -0.0),
            (of(FloatOp::Div, round, -1.0, 0.0, 0.0), -inf),
            (of(FloatOp::Sqrt, round, -0.0, 0.0, 0.0), -0.0),
            (of(FloatOp::Add, round, inf, 1.0, 0.0), inf),
        ] {
            assert_eq!(got.to_bits(), expected.to_bits(), "{round:?}: {got} {expected}");
        }
        for got in [
            of(FloatOp::Add, round, inf, -inf, 0.0),
            of(FloatOp::Mul, round, inf, 0.0, 0.0),
            of(FloatOp::Fma, round, inf, 0.0, 1.0),
            of(FloatOp::Div, round, 0.0, 0.0, 0.0),
            of(FloatOp::Div, round, inf, inf, 0.0),
            of(FloatOp::Sqrt, round, -1.0, 0.0, 0.0),
            of(FloatOp::Add, round, f32::NAN, 1.0, 0.0),
        ] {
            assert_eq!(got.to_bits(), 0x7fff_ffff);
        }
    }
}

#[test]
fn flushing_saturation_and_extrema() {
    let run = |op, mode, a: u64, b: u64| scalar(op, F32, mode, [a, b, 0]);
    let plain = FloatMode::default();
    let ftz = FloatMode { ftz: true, ..plain };
    let sat = FloatMode { sat: true, ..plain };
    let (one, two, tiny) = (0x3f80_0000, 0x4000_0000, 0x0000_0001);
    let (minus_zero, nan) = (0x8000_0000, 0x7fc0_1234);
    assert_eq!(run(FloatOp::Add, plain, tiny, tiny), 2);
    assert_eq!(run(FloatOp::Add, ftz, tiny, tiny), 0);
    assert_eq!(run(FloatOp::Mul, ftz, tiny | minus_zero, one), minus_zero);
    // 2^-126 * 0.5 is subnormal: the result is flushed too
    assert_eq!(run(FloatOp::Mul, ftz, 0x0080_0000, 0x3f00_0000), 0);
    assert_eq!(run(FloatOp::Add, sat, one, one), one);
    assert_eq!(run(FloatOp::Sub, sat, one, two), 0);
    assert_eq!(run(FloatOp::Add, sat, nan, one), 0);
    assert_eq!(run(FloatOp::Min, plain, minus_zero, 0), minus_zero);
    assert_eq!(run(FloatOp::Min, plain, 0, minus_zero), minus_zero);
    assert_eq!(run(FloatOp::Max, plain, minus_zero, 0), 0);
    assert_eq!(run(FloatOp::Max, plain, nan, one), one);
    assert_eq!(run(FloatOp::Max, plain, nan, nan), 0x7fff_ffff);
    assert_eq!(run(FloatOp::Max, FloatMode { nan: true, ..plain }, nan, one), 0x7fff_ffff);
    assert_eq!(run(FloatOp::Min, plain, one | minus_zero, two | minus_zero), two | minus_zero);
    assert_eq!(run(FloatOp::Abs, plain, one | minus_zero, 0), one);
    assert_eq!(run(FloatOp::Neg, ftz, tiny, 0), minus_zero);
    assert_eq!(run(FloatOp::Copysign, plain, minus_zero, two), two | minus_zero);
    let relu = FloatMode { relu: true, ..plain };
    assert_eq!(scalar(FloatOp::Fma, F16, relu, [0xbc00, 0x3c00, 0]), 0);
    assert_eq!(scalar(FloatOp::Fma, F16, relu, [0x3c00, 0x3c00, 0x3c00]), 0x4000);
    assert_eq!(scalar(FloatOp::Fma, F16, relu, [0x7e01, 0x3c00, 0]), 0x7fff);
    let packed = super::float::lanes(
        FloatOp::Add,
        warpbound_core::program::sem::FloatTy::F16x2,
        plain,
        [&[0x3c00_4000; 32], &[0x4000_3c00; 32], &[0; 32]],
    );
    assert_eq!(packed[0], 0x4200_4200);
}
