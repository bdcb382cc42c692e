//! Video instructions.

use super::super::lanes::{Lanes, sign_extend, width_mask};
use warpbound_core::base::WARP_SIZE;
use warpbound_core::program::sem::{Cmp, Part, Then, Video, VideoMad, VideoOp, VideoShape};

/// Returns the result of a video instruction in every lane.
pub(crate) fn lanes(video: &Video, [a, b, c]: [&Lanes; 3]) -> Lanes {
    let mut result = [0; WARP_SIZE];
    for lane in 0..WARP_SIZE {
        result[lane] = scalar(video, a[lane], b[lane], c[lane]);
    }
    result
}

/// Returns the result in one lane.
fn scalar(video: &Video, a: u64, b: u64, c: u64) -> u64 {
    let (a, b, c) = (a & width_mask(32), b & width_mask(32), c & width_mask(32));
    let result = match (video.op, video.shape) {
        (VideoOp::Mad(mad), VideoShape::Scalar { a: of_a, b: of_b, .. }) => {
            let product = part(a, of_a, video.a_signed) * part(b, of_b, video.b_signed);
            multiply_add(mad, product, c, video.signed, video.saturate)
        }
        (op, VideoShape::Scalar { a: of_a, b: of_b, then }) => {
            let computed = compute(op, part(a, of_a, video.a_signed), part(b, of_b, video.b_signed));
            let to = if let Then::Merge(to) = then { to } else { Part::Word };
            finish(then, optionally_clamped(video, computed, bits(to)), c, video.signed)
        }
        (op, VideoShape::Packed { lanes, a: of_a, b: of_b, mask, sum }) => {
            let both = b << 32 | a;
            let width = 32 / u32::from(lanes);
            let pick = |index: u8, signed: bool| number(both >> (u32::from(index) * width), width, signed);
            let mut result = if sum { i128::from(c) } else { 0 };
            for index in 0..usize::from(lanes) {
                let (x, y) = (pick(of_a[index], video.a_signed), pick(of_b[index], video.b_signed));
                let computed = optionally_clamped(video, compute(op, x, y), width);
                let counts = mask >> index & 1 == 1;
                let place = index as u32 * width;
                result += match (sum, counts) {
                    (true, true) => computed,
                    (true, false) => 0,
                    (false, true) => i128::from(computed as u64 & width_mask(width)) << place,
                    (false, false) => i128::from(c >> place & width_mask(width)) << place,
                };
            }
            result
        }
    };
    result as u64 & width_mask(32)
}

fn bits(part: Part) -> u32 {
    match part {
        Part::Word => 32,
        Part::Half(_) => 16,
        Part::Byte(_) => 8,
    }
}

/// Returns the position of the lowest bit of a part in its word.
fn place(part: Part) -> u32 {
    match part {
        Part::Word => 0,
        Part::Half(index) => 16 * u32::from(index & 1),
        Part::Byte(index) => 8 * u32::from(index & 3),
    }
}

fn number(value: u64, width: u32, signed: bool) -> i128 {
    if signed { i128::from(sign_extend(value, width)) } else { i128::from(value & width_mask(width)) }
}

fn part(value: u64, part: Part, signed: bool) -> i128 {
    number(value >> place(part), bits(part), signed)
}

/// Returns the exact result.
fn compute(op: VideoOp, x: i128, y: i128) -> i128 {
    let amount = |wrap: bool| if wrap { y & 31 } else { y.clamp(0, 32) };
    match op {
        VideoOp::Add => x + y,
        VideoOp::Sub => x - y,
        VideoOp::Average => (x + y + i128::from(x + y >= 0)) >> 1,
        VideoOp::AbsDiff => (x - y).abs(),
        VideoOp::Min => x.min(y),
        VideoOp::Max => x.max(y),
        VideoOp::Shl { wrap } => x << amount(wrap),
        VideoOp::Shr { wrap } => x >> amount(wrap),
        VideoOp::Set(cmp) => i128::from(match cmp {
            Cmp::Eq => x == y,
            Cmp::Lt => x < y,
            Cmp::Le => x <= y,
            Cmp::Gt => x > y,
            Cmp::Ge => x >= y,
            _ => x != y,
        }),
        VideoOp::Mad(_) => x * y,
    }
}

fn optionally_clamped(video: &Video, value: i128, width: u32) -> i128 {
    if video.saturate { clamped(value, width, video.signed) } else { value }
}

fn clamped(value: i128, width: u32, signed: bool) -> i128 {
    let span = 1i128 << width;
    if signed { value.clamp(-span / 2, span / 2 - 1) } else { value.clamp(0, span - 1) }
}

fn finish(then: Then, value: i128, c: u64, signed: bool) -> i128 {
    let third = number(c, 32, signed);
    match then {
        Then::Keep => value,
        Then::Add => value + third,
        Then::Min => value.min(third),
        Then::Max => value.max(third),
        Then::Merge(to) => {
            let mask = width_mask(bits(to)) << place(to);
            i128::from(c & !mask | (value as u64) << place(to) & mask)
        }
    }
}

/// Computes `vmad`. Negation is that of two's complement, in the steps that PTX specifies; `signed`
/// is the signedness of the final result.
fn multiply_add(mad: VideoMad, product: i128, c: u64, signed: bool, saturate: bool) -> i128 {
    let negated_c = mad.negate_c && !mad.plus_one && !mad.negate_product;
    let c = number(if negated_c { !c } else { c }, 32, signed);
    let product = if mad.negate_product && !mad.plus_one { !product } else { product };
    let one = mad.plus_one || mad.negate_product || mad.negate_c;
    let sum = (product + c + i128::from(one)) >> mad.shift;
    if saturate { clamped(sum, 32, signed) } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpbound_core::base::RegId;
    use warpbound_core::program::sem::Operand;

    fn video(op: VideoOp, signs: [bool; 3], saturate: bool, shape: VideoShape) -> Video {
        let [signed, a_signed, b_signed] = signs;
        let none = Operand::Imm(0);
        let dst = RegId::new(0);
        Video { op, dst, a: none, b: none, c: none, a_signed, b_signed, signed, saturate, shape }
    }

    fn of(op: VideoOp, signs: [bool; 3], saturate: bool, then: Then, [a, b, c]: [u32; 3]) -> u32 {
        let shape = VideoShape::Scalar { a: Part::Word, b: Part::Word, then };
        scalar(&video(op, signs, saturate, shape), a.into(), b.into(), c.into()) as u32
    }

    const U: [bool; 3] = [false; 3];
    const S: [bool; 3] = [true; 3];

    #[test]
    fn words_saturate_by_the_type_of_the_result() {
        let (max, min) = (i32::MAX as u32, i32::MIN as u32);
        assert_eq!(of(VideoOp::Add, S, false, Then::Keep, [max, 1, 0]), min);
        assert_eq!(of(VideoOp::Add, S, true, Then::Keep, [max, 1, 0]), max);
        assert_eq!(of(VideoOp::Sub, U, true, Then::Keep, [1, 2, 0]), 0);
        assert_eq!(of(VideoOp::Sub, [true, false, false], true, Then::Keep, [1, 2, 0]), u32::MAX);
        assert_eq!(of(VideoOp::Add, [true, false, false], true, Then::Keep, [u32::MAX, 0, 0]), max);
        assert_eq!(of(VideoOp::AbsDiff, S, false, Then::Keep, [min, max, 0]), u32::MAX);
        assert_eq!(of(VideoOp::AbsDiff, S, true, Then::Keep, [min, max, 0]), max);
        assert_eq!(of(VideoOp::Max, [true, false, true], false, Then::Keep, [3, u32::MAX, 0]), 3);
        assert_eq!(of(VideoOp::Min, [true, false, true], false, Then::Keep, [3, u32::MAX, 0]), u32::MAX);
    }

    #[test]
    fn second_operations_see_the_result_before_it_is_cut() {
        // 2^32 - 1 + 1 is larger than any third source
        assert_eq!(of(VideoOp::Add, U, false, Then::Min, [u32::MAX, 1, 7]), 7);
        assert_eq!(of(VideoOp::Add, U, false, Then::Max, [u32::MAX, 1, 7]), 0);
        assert_eq!(of(VideoOp::Sub, S, false, Then::Max, [1, 5, u32::MAX]), u32::MAX);
        assert_eq!(of(VideoOp::Sub, U, true, Then::Add, [1, 5, 9]), 9);
        let merge = |to| of(VideoOp::Sub, S, true, Then::Merge(to), [0, 1000, 0x1122_3344]);
        assert_eq!(merge(Part::Byte(0)), 0x1122_3380);
        assert_eq!(merge(Part::Byte(3)), 0x8022_3344);
        assert_eq!(merge(Part::Half(1)), 0xfc18_3344);
    }

    #[test]
    fn shifts_and_comparisons() {
        for (amount, wrapped, clamped) in [(31, 0x8000_0000, 0x8000_0000), (32, 3, 0), (40, 0x300, 0)] {
            assert_eq!(of(VideoOp::Shl { wrap: true }, U, false, Then::Keep, [3, amount, 0]), wrapped);
            assert_eq!(of(VideoOp::Shl { wrap: false }, U, false, Then::Keep, [3, amount, 0]), clamped);
        }
        let signs = [true, true, false];
        assert_eq!(
            of(VideoOp::Shr { wrap: false }, signs, false, Then::Keep, [0x8000_0000, 99, 0]),
            u32::MAX
        );
        assert_eq!(
            of(VideoOp::Shr { wrap: true }, signs, false, Then::Keep, [0x8000_0000, 33, 0]),
            0xc000_0000
        );
        let holds = |cmp, signs| of(VideoOp::Set(cmp), signs, false, Then::Keep, [u32::MAX, 1, 0]);
        let all = [Cmp::Eq, Cmp::Ne, Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge];
        assert_eq!(all.map(|cmp| holds(cmp, U)), [0, 1, 0, 0, 1, 1]);
        assert_eq!(all.map(|cmp| holds(cmp, [false, true, true])), [0, 1, 1, 1, 0, 0]);
        assert_eq!(of(VideoOp::Set(Cmp::Gt), U, false, Then::Add, [2, 1, 41]), 42);
    }

    #[test]
    fn products_are_exact_until_the_end() {
        let mad = |signs, saturate, (product, c, plus_one, shift), sources| {
            let mad = VideoMad { negate_product: product, negate_c: c, plus_one, shift };
            of(VideoOp::Mad(mad), signs, saturate, Then::Keep, sources)
        };
        let plain = (false, false, false, 0);
        assert_eq!(mad(U, false, plain, [u32::MAX, u32::MAX, 5]), 6);
        assert_eq!(mad(U, true, plain, [u32::MAX, u32::MAX, 5]), u32::MAX);
        let exact = u64::from(u32::MAX) * u64::from(u32::MAX) + 5;
        assert_eq!(mad(U, false, (false, false, false, 15), [u32::MAX, u32::MAX, 5]), (exact >> 15) as u32);
        assert_eq!(mad(U, false, (false, false, true, 7), [100, 3, 83]), (300 + 83 + 1) >> 7);
        assert_eq!(mad(S, false, (true, false, false, 0), [7, 6, 2]), (-40i32) as u32);
        assert_eq!(mad(S, false, (false, true, false, 0), [7, 6, 50]), (-8i32) as u32);
        assert_eq!(mad(S, false, (true, false, false, 7), [100, 3, 0]), (-300i32 >> 7) as u32);
        assert_eq!(mad(S, true, plain, [i32::MIN as u32, 2, 0]), i32::MIN as u32);
    }

    #[test]
    fn packed_parts_are_picked_from_both_sources() {
        let (a, b, c) = (0x8001_7fff_u64, 0x0002_ffff_u64, 0xaaaa_bbbb_u64);
        let halves = |op, signed: bool, saturate, picks: ([u8; 4], [u8; 4]), mask, sum| {
            let shape = VideoShape::Packed { lanes: 2, a: picks.0, b: picks.1, mask, sum };
            scalar(&video(op, [signed; 3], saturate, shape), a, b, c) as u32
        };
        let straight = ([0, 1, 0, 0], [2, 3, 0, 0]);
        assert_eq!(halves(VideoOp::Add, true, false, straight, 3, false), 0x8003_7ffe);
        assert_eq!(halves(VideoOp::Add, false, true, straight, 3, false), 0x8003_ffff);
        assert_eq!(halves(VideoOp::Sub, true, true, straight, 3, false), 0x8000_7fff);
        assert_eq!(halves(VideoOp::Add, true, false, straight, 1, false), 0xaaaa_7ffe);
        assert_eq!(halves(VideoOp::Add, true, false, straight, 2, false), 0x8003_bbbb);
        // |-32767 - 2| + |32767 + 1| + c
        let sum = 32769u32 + 32768 + 0xaaaa_bbbb;
        assert_eq!(halves(VideoOp::AbsDiff, true, false, straight, 3, true), sum);
        let crossed = ([3, 2, 0, 0], [0, 0, 0, 0]);
        assert_eq!(halves(VideoOp::Max, true, false, crossed, 3, false), 0x7fff_7fff);
        assert_eq!(halves(VideoOp::Average, true, false, straight, 3, false), 0xc001_3fff);
    }

    #[test]
    fn bytes_average_away_from_a_half() {
        let bytes = |signed: bool, a: u64, b: u64| {
            let shape =
                VideoShape::Packed { lanes: 4, a: [0, 1, 2, 3], b: [4, 5, 6, 7], mask: 15, sum: false };
            scalar(&video(VideoOp::Average, [signed; 3], false, shape), a, b, 0) as u32
        };
        assert_eq!(bytes(false, 0xff01_0003, 0xff02_0100), 0xff02_0102);
        // (-1 + -2) >> 1 is -2, (3 + 0 + 1) >> 1 is 2, (-128 + 127) >> 1 is -1, and
        // (1 - 1 + 1) >> 1 is 0
        assert_eq!(bytes(true, 0xff03_8001, 0xfe00_7fff), 0xfe02_ff00);
    }
}
