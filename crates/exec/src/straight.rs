//! Straight runs: consecutive instructions that are executed by the same lanes.
//!
//! Within a straight run nothing can change the position of a warp, so the stack, the fuel and the
//! path are updated once for the whole run.

use super::access;
use super::arith::{double, single};
use super::code::{Code, Double, Kind, Narrow, Op, Order, Relation, Single, Wide, Widen};
use super::context::Context;
use super::fault::Fault;
use super::per_lane;
use super::registers::Registers;
use super::rows::{Row, Vectorised, holds, map1, map2, map3, put, put_wide, spread, wide1, wide2, wide3};
use super::span::KeptPositions;
use super::step;
use super::warp::Warp;
use warpbound_core::base::{LaneMask, Pc, WARP_SIZE};
use warpbound_core::path::{Step, WarpPath};
use warpbound_core::program::Sem;
use warpbound_core::program::sem::{Addend, Xmad, XmadFlags};

/// The instructions from `first` up to, but not including, `end`, all of which can be part of a
/// straight run.
pub(super) struct Straight<'r, 'a> {
    pub(super) warp: &'r mut Warp,
    pub(super) context: &'r mut Context<'a>,
    pub(super) code: &'r Code,
    pub(super) path: &'r mut WarpPath,
    pub(super) first: usize,
    pub(super) end: usize,
    pub(super) active: LaneMask,
}

impl Vectorised for Straight<'_, '_> {
    /// The number of active lanes whose guard held, summed over all instructions.
    type Output = Result<u64, Fault>;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> Result<u64, Fault> {
        let Self { warp, context, code, path, first, end, active } = self;
        let before = path.steps().len();
        let taken = |at: usize| code.taken[at] as usize;
        path.extend(&code.steps[taken(first)..taken(end)], active);
        let all = spread(active);
        let mut kept = KeptPositions::default();
        let mut threads = u64::from(active.count()) * (taken(end) - taken(first)) as u64;
        for (at, op) in (first..end).zip(&code.ops[first..end]) {
            let pc = Pc::new(at as u32);
            let (mut enabled, mut guarded) = (active, all);
            if let Some(guard) = op.guard {
                enabled = active & warp.guard(guard);
                threads -= u64::from((active - enabled).count()) * (taken(at + 1) - taken(at)) as u64;
                guarded = spread(enabled);
            }
            let step = match op.kind {
                Kind::Load => {
                    let access = (&code.accesses[op.a as usize], &mut kept);
                    let used = access::load(warp, context, pc, access, enabled)?;
                    Step::with(pc, used)
                }
                Kind::Store => {
                    let access = (&code.accesses[op.a as usize], &mut kept);
                    let used = access::store(warp, context, pc, access, enabled)?;
                    Step::with(pc, used)
                }
                Kind::General | Kind::Apart | Kind::Branch => step::data(warp, context, code, pc, enabled)?,
                Kind::Predicates => {
                    if let Sem::PredLogic { op, dst, a, b } = &context.program.instr(pc).sem {
                        let value = per_lane::logic(*op, warp.pred(*a), warp.pred(*b));
                        warp.set_pred(*dst, value, enabled);
                    }
                    continue;
                }
                Kind::Lop3Predicate(table) => {
                    let rows = &mut warp.registers.narrow;
                    let value = combined(rows, table, op);
                    if let Sem::Lop3Pred(logic) = &context.program.instr(pc).sem {
                        if logic.dst.is_some() {
                            put(&mut rows[op.d as usize], &guarded, |lane| value.0[lane]);
                        }
                        if let Some(pred) = logic.pred {
                            let not_zero = holds(&value, &Row([0; WARP_SIZE]), |a, b| a != b);
                            let holds = per_lane::logic(logic.op, not_zero, warp.pred(logic.with));
                            warp.set_pred(pred, holds, enabled);
                        }
                    }
                    continue;
                }
                Kind::Compare { relation, negate } => {
                    let related = related(&warp.registers, relation, op);
                    if let Sem::Compare(compare) = &context.program.instr(pc).sem {
                        let related = if negate { !related } else { related };
                        per_lane::finish_compare(warp, compare, related, enabled);
                    }
                    continue;
                }
                Kind::SelectNarrow | Kind::SelectWide => {
                    select(warp, code, op, &guarded);
                    continue;
                }
                _ => {
                    on_rows::<FUSED>(&mut warp.registers, op, &guarded);
                    continue;
                }
            };
            if taken(at + 1) == taken(at) {
                continue;
            }
            if step != code.steps[taken(at)] {
                path.replace(before + taken(at) - taken(first), step);
            }
            context.record.deliver(path);
        }
        Ok(threads)
    }
}

/// Executes an operation whose sources and result are rows.
#[inline(always)]
fn on_rows<const FUSED: bool>(registers: &mut Registers, op: &Op, mask: &Row<u32>) {
    let Registers { narrow, wide, .. } = registers;
    match op.kind {
        Kind::Narrow(kind) => on_narrow(narrow, kind, op, mask),
        Kind::Wide(kind) => on_wide(wide, narrow, kind, op, mask),
        Kind::Widen(kind) => widen(wide, narrow, kind, op, mask),
        Kind::Truncate => {
            let source = &wide[op.a as usize];
            put(&mut narrow[op.d as usize], mask, |lane| source.0[lane] as u32);
        }
        Kind::Upper => {
            let source = &wide[op.a as usize];
            put(&mut narrow[op.d as usize], mask, |lane| (source.0[lane] >> 32) as u32);
        }
        Kind::Halves => {
            let source = &wide[op.a as usize];
            put(&mut narrow[op.d as usize], mask, |lane| source.0[lane] as u32);
            put(&mut narrow[op.b as usize], mask, |lane| (source.0[lane] >> 32) as u32);
        }
        Kind::Single { op: kind, ftz: false } => on_single::<FUSED, false>(narrow, kind, op, mask),
        Kind::Single { op: kind, ftz: true } => on_single::<FUSED, true>(narrow, kind, op, mask),
        Kind::Saturated { op: kind, ftz } => {
            if ftz {
                on_single::<FUSED, true>(narrow, kind, op, mask);
            } else {
                on_single::<FUSED, false>(narrow, kind, op, mask);
            }
            map1(narrow, op.d, op.d, mask, single::saturated);
        }
        Kind::Double(kind) => on_double(wide, kind, op, mask),
        Kind::SingleToDouble => {
            let source = &narrow[op.a as usize];
            put_wide(&mut wide[op.d as usize], mask, |lane| {
                double::bits_of(f64::from(f32::from_bits(source.0[lane])))
            });
        }
        Kind::DoubleToSingle => {
            let source = &wide[op.a as usize];
            put(&mut narrow[op.d as usize], mask, |lane| {
                single::bits_of::<false>(f64::from_bits(source.0[lane]) as f32)
            });
        }
        // these are handled by the caller
        Kind::Nothing
        | Kind::Apart
        | Kind::Branch
        | Kind::General
        | Kind::Compare { .. }
        | Kind::SelectNarrow
        | Kind::SelectWide
        | Kind::Predicates
        | Kind::Lop3Predicate(_)
        | Kind::Load
        | Kind::Store => {}
    }
}

#[inline(always)]
fn on_narrow(rows: &mut [Row<u32>], kind: Narrow, op: &Op, mask: &Row<u32>) {
    let &Op { d, a, b, c, .. } = op;
    let shift = |a: u32, b: u32| if b < 32 { a << (b & 31) } else { 0 };
    match kind {
        Narrow::Move => map1(rows, d, a, mask, |a| a),
        Narrow::Not => map1(rows, d, a, mask, |a| !a),
        Narrow::Neg => map1(rows, d, a, mask, u32::wrapping_neg),
        Narrow::Add => map2(rows, d, [a, b], mask, u32::wrapping_add),
        Narrow::Sub => map2(rows, d, [a, b], mask, u32::wrapping_sub),
        Narrow::Mul => map2(rows, d, [a, b], mask, u32::wrapping_mul),
        Narrow::Mad => map3(rows, d, [a, b, c], mask, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        Narrow::MulHiUnsigned => {
            map2(rows, d, [a, b], mask, |a, b| (u64::from(a).wrapping_mul(u64::from(b)) >> 32) as u32);
        }
        Narrow::MulHiSigned => map2(rows, d, [a, b], mask, |a, b| {
            (i64::from(a as i32).wrapping_mul(i64::from(b as i32)) >> 32) as u32
        }),
        Narrow::And => map2(rows, d, [a, b], mask, |a, b| a & b),
        Narrow::Or => map2(rows, d, [a, b], mask, |a, b| a | b),
        Narrow::Xor => map2(rows, d, [a, b], mask, |a, b| a ^ b),
        Narrow::Shl => map2(rows, d, [a, b], mask, shift),
        Narrow::ShrUnsigned => map2(rows, d, [a, b], mask, |a, b| if b < 32 { a >> (b & 31) } else { 0 }),
        Narrow::ShrSigned => map2(rows, d, [a, b], mask, |a, b| ((a as i32) >> b.min(31)) as u32),
        Narrow::MinUnsigned => map2(rows, d, [a, b], mask, u32::min),
        Narrow::MinSigned => map2(rows, d, [a, b], mask, |a, b| (a as i32).min(b as i32) as u32),
        Narrow::MaxUnsigned => map2(rows, d, [a, b], mask, u32::max),
        Narrow::MaxSigned => map2(rows, d, [a, b], mask, |a, b| (a as i32).max(b as i32) as u32),
        Narrow::Lop3(table) => {
            let value = combined(rows, table, op);
            put(&mut rows[d as usize], mask, |lane| value.0[lane]);
        }
        Narrow::Extract { signed } => map3(rows, d, [a, b, c], mask, |a, b, c| {
            let (position, length) = (b & 0xff, c & 0xff);
            // bits beyond the top bit are the sign, or zero
            let value = if signed { i64::from(a as i32) } else { i64::from(a) };
            let field = (value >> position.min(63)) as u64;
            // move the top bit of the field to the top, and back
            let unused = 64 - length.min(32);
            let field = if length == 0 { 0 } else { field << (unused & 63) };
            if signed { ((field as i64) >> (unused & 63)) as u32 } else { (field >> (unused & 63)) as u32 }
        }),
        Narrow::CountOnes => map1(rows, d, a, mask, u32::count_ones),
        Narrow::Magnitude => map1(rows, d, a, mask, |a| (a as i32).unsigned_abs()),
        Narrow::FunnelLeft { wrap } => map3(rows, d, [a, b, c], mask, |a, b, c| {
            let amount = if wrap { c & 31 } else { c.min(32) };
            let both = u64::from(b) << 32 | u64::from(a);
            ((both << amount) >> 32) as u32
        }),
        Narrow::Xmad(xmad) => products_of_halves(rows, xmad, op, mask),
        Narrow::FunnelRight { wrap } => map3(rows, d, [a, b, c], mask, |a, b, c| {
            let amount = if wrap { c & 31 } else { c.min(32) };
            let both = u64::from(b) << 32 | u64::from(a);
            (both >> amount) as u32
        }),
    }
}

/// Returns the combination of the bits of three rows by a truth table.
#[inline(always)]
fn combined(rows: &[Row<u32>], table: u8, op: &Op) -> Row<u32> {
    // row i of the table is the result where the bits of a, b, c are those of i
    let row = |i: usize| 0u32.wrapping_sub(u32::from(table) >> i & 1);
    let [t0, t1, t2, t3, t4, t5, t6, t7]: [u32; 8] = std::array::from_fn(row);
    let [a, b, c] = [op.a, op.b, op.c].map(|row| &rows[row as usize]);
    let mut value = Row([0; WARP_SIZE]);
    for lane in 0..WARP_SIZE {
        let (a, b, c) = (a.0[lane], b.0[lane], c.0[lane]);
        let without_a = !b & (!c & t0 | c & t1) | b & (!c & t2 | c & t3);
        let with_a = !b & (!c & t4 | c & t5) | b & (!c & t6 | c & t7);
        value.0[lane] = !a & without_a | a & with_a;
    }
    value
}

/// Computes [`Xmad::of`] on rows, without branches in the lanes. It is not inlined, so that machine
/// code does not slow down the operations of PTX.
#[inline(never)]
fn products_of_halves(rows: &mut [Row<u32>], xmad: Xmad, op: &Op, mask: &Row<u32>) {
    let &Op { d, a, b, c, .. } = op;
    let by = |holds: bool, yes: u32, no: u32| if holds { yes } else { no };
    let has = |flag| xmad.flags.contains(flag);
    let shifts = [by(has(XmadFlags::UPPER_A), 16, 0), by(has(XmadFlags::UPPER_B), 16, 0)];
    let signs = [by(has(XmadFlags::SIGNED_A), 0x8000, 0), by(has(XmadFlags::SIGNED_B), 0x8000, 0)];
    let (product_shift, kept) = (by(has(XmadFlags::SHIFT), 16, 0), by(has(XmadFlags::MERGE), 0xffff, !0));
    let (c_shift, c_mask) =
        (by(xmad.addend == Addend::Upper, 16, 0), by(xmad.addend == Addend::Lower, 0xffff, !0));
    let (with_b, corrected) =
        (by(xmad.addend == Addend::WithB, !0, 0), by(xmad.addend == Addend::Corrected, !0, 0));
    map3(rows, d, [a, b, c], mask, |a, b, c| {
        let half = |value: u32, operand: usize| {
            ((value >> shifts[operand] & 0xffff) ^ signs[operand]).wrapping_sub(signs[operand])
        };
        let product = half(a, 0).wrapping_mul(half(b, 1)) << product_shift;
        let correction = |sign: u32, other: u32| (sign >> 31 & u32::from(other & 0xffff != 0)) << 16;
        let corrections = correction(a, b).wrapping_add(correction(b, a)) & corrected;
        let addend = (c >> c_shift & c_mask).wrapping_add(b << 16 & with_b).wrapping_sub(corrections);
        product.wrapping_add(addend) & kept | b << 16 & !kept
    });
}

#[inline(always)]
fn on_wide(rows: &mut [Row<u64>], narrow: &[Row<u32>], kind: Wide, op: &Op, mask: &Row<u32>) {
    let &Op { d, a, b, c, .. } = op;
    match kind {
        Wide::Move => wide1(rows, d, a, mask, |a| a),
        Wide::Not => wide1(rows, d, a, mask, |a| !a),
        Wide::Neg => wide1(rows, d, a, mask, u64::wrapping_neg),
        Wide::Add => wide2(rows, d, [a, b], mask, u64::wrapping_add),
        Wide::Sub => wide2(rows, d, [a, b], mask, u64::wrapping_sub),
        Wide::Mul => wide2(rows, d, [a, b], mask, u64::wrapping_mul),
        Wide::Mad => wide3(rows, d, [a, b, c], mask, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        Wide::And => wide2(rows, d, [a, b], mask, |a, b| a & b),
        Wide::Or => wide2(rows, d, [a, b], mask, |a, b| a | b),
        Wide::Xor => wide2(rows, d, [a, b], mask, |a, b| a ^ b),
        Wide::Shl => {
            shifted(rows, narrow, op, mask, |a, b| if b < 64 { a << (b & 63) } else { 0 });
        }
        Wide::ShrUnsigned => {
            shifted(rows, narrow, op, mask, |a, b| if b < 64 { a >> (b & 63) } else { 0 });
        }
        Wide::ShrSigned => shifted(rows, narrow, op, mask, |a, b| ((a as i64) >> b.min(63)) as u64),
        Wide::MinUnsigned => wide2(rows, d, [a, b], mask, u64::min),
        Wide::MinSigned => wide2(rows, d, [a, b], mask, |a, b| (a as i64).min(b as i64) as u64),
        Wide::MaxUnsigned => wide2(rows, d, [a, b], mask, u64::max),
        Wide::MaxSigned => wide2(rows, d, [a, b], mask, |a, b| (a as i64).max(b as i64) as u64),
    }
}

/// Shifts wide values by narrow amounts.
#[inline(always)]
fn shifted(
    rows: &mut [Row<u64>],
    narrow: &[Row<u32>],
    op: &Op,
    mask: &Row<u32>,
    f: impl Fn(u64, u32) -> u64,
) {
    let (a, b) = (rows[op.a as usize], &narrow[op.b as usize]);
    put_wide(&mut rows[op.d as usize], mask, |lane| f(a.0[lane], b.0[lane]));
}

#[inline(always)]
fn widen(wide: &mut [Row<u64>], narrow: &[Row<u32>], kind: Widen, op: &Op, mask: &Row<u32>) {
    let (a, b) = (&narrow[op.a as usize], &narrow[op.b as usize]);
    let unsigned = |value: u32| u64::from(value);
    let signed = |value: u32| i64::from(value as i32);
    let products = |lane: usize| unsigned(a.0[lane]).wrapping_mul(unsigned(b.0[lane]));
    let signed_products = |lane: usize| signed(a.0[lane]).wrapping_mul(signed(b.0[lane])) as u64;
    let c = wide[if matches!(kind, Widen::MadUnsigned | Widen::MadSigned) { op.c } else { op.d } as usize];
    let row = &mut wide[op.d as usize];
    match kind {
        Widen::Zero => put_wide(row, mask, |lane| unsigned(a.0[lane])),
        Widen::Sign => put_wide(row, mask, |lane| signed(a.0[lane]) as u64),
        Widen::MulUnsigned => put_wide(row, mask, products),
        Widen::MulSigned => put_wide(row, mask, signed_products),
        Widen::MadUnsigned => put_wide(row, mask, |lane| products(lane).wrapping_add(c.0[lane])),
        Widen::MadSigned => put_wide(row, mask, |lane| signed_products(lane).wrapping_add(c.0[lane])),
        Widen::Pack => put_wide(row, mask, |lane| unsigned(b.0[lane]) << 32 | unsigned(a.0[lane])),
    }
}

#[inline(always)]
fn on_single<const FUSED: bool, const FTZ: bool>(
    rows: &mut [Row<u32>],
    kind: Single,
    op: &Op,
    mask: &Row<u32>,
) {
    let &Op { d, a, b, c, .. } = op;
    let value_of = single::value_of::<FTZ>;
    let bits_of = single::bits_of::<FTZ>;
    let bits = single::flushed::<FTZ>;
    match kind {
        Single::Add => map2(rows, d, [a, b], mask, |a, b| bits_of(value_of(a) + value_of(b))),
        Single::Sub => map2(rows, d, [a, b], mask, |a, b| bits_of(value_of(a) - value_of(b))),
        Single::Mul => map2(rows, d, [a, b], mask, |a, b| bits_of(value_of(a) * value_of(b))),
        Single::MulToZero => {
            map2(rows, d, [a, b], mask, |a, b| bits_of(single::product_to_zero(value_of(a), value_of(b))));
        }
        Single::Fma => map3(rows, d, [a, b, c], mask, |a, b, c| {
            bits_of(single::fma::<FUSED>(value_of(a), value_of(b), value_of(c)))
        }),
        Single::Div => map2(rows, d, [a, b], mask, |a, b| bits_of(value_of(a) / value_of(b))),
        Single::DivApprox => {
            map2(rows, d, [a, b], mask, |a, b| {
                bits_of(value_of(a) / value_of(single::approximate_divisor(b)))
            });
        }
        Single::Rcp => map1(rows, d, a, mask, |a| bits_of(1.0 / value_of(a))),
        Single::Sqrt => map1(rows, d, a, mask, |a| bits_of(value_of(a).sqrt())),
        Single::Rsqrt => map1(rows, d, a, mask, |a| bits_of((1.0 / f64::from(value_of(a)).sqrt()) as f32)),
        Single::Abs => map1(rows, d, a, mask, |a| bits(a) & 0x7fff_ffff),
        Single::Neg => map1(rows, d, a, mask, |a| bits(a) ^ 0x8000_0000),
        Single::Min => map2(rows, d, [a, b], mask, |a, b| single::extremum::<false>(bits(a), bits(b))),
        Single::Max => map2(rows, d, [a, b], mask, |a, b| single::extremum::<true>(bits(a), bits(b))),
        Single::FromSigned => map1(rows, d, a, mask, |a| (a as i32 as f32).to_bits()),
        Single::FromUnsigned => map1(rows, d, a, mask, |a| (a as f32).to_bits()),
        Single::FromSignedUp => map1(rows, d, a, mask, |a| {
            let (exact, nearest) = (f64::from(a as i32), a as i32 as f32);
            let is_lower = u32::from(f64::from(nearest) < exact);
            let bits = nearest.to_bits();
            if nearest < 0.0 { bits.wrapping_sub(is_lower) } else { bits.wrapping_add(is_lower) }
        }),
        Single::FromUnsignedUp => map1(rows, d, a, mask, |a| {
            let nearest = a as f32;
            nearest.to_bits().wrapping_add(u32::from(f64::from(nearest) < f64::from(a)))
        }),
        Single::ToSigned => map1(rows, d, a, mask, |a| f32::from_bits(a) as i32 as u32),
        Single::ToUnsigned => map1(rows, d, a, mask, |a| f32::from_bits(a) as u32),
    }
}

#[inline(always)]
fn on_double(rows: &mut [Row<u64>], kind: Double, op: &Op, mask: &Row<u32>) {
    let &Op { d, a, b, c, .. } = op;
    let value_of = f64::from_bits;
    let bits_of = double::bits_of;
    const SIGN: u64 = 1 << 63;
    match kind {
        Double::Add => wide2(rows, d, [a, b], mask, |a, b| bits_of(value_of(a) + value_of(b))),
        Double::Sub => wide2(rows, d, [a, b], mask, |a, b| bits_of(value_of(a) - value_of(b))),
        Double::Mul => wide2(rows, d, [a, b], mask, |a, b| bits_of(value_of(a) * value_of(b))),
        Double::Fma => {
            wide3(rows, d, [a, b, c], mask, |a, b, c| bits_of(value_of(a).mul_add(value_of(b), value_of(c))));
        }
        Double::Div => wide2(rows, d, [a, b], mask, |a, b| bits_of(value_of(a) / value_of(b))),
        Double::Sqrt => wide1(rows, d, a, mask, |a| bits_of(value_of(a).sqrt())),
        Double::Abs => wide1(rows, d, a, mask, |a| a & !SIGN),
        Double::Neg => wide1(rows, d, a, mask, |a| a ^ SIGN),
    }
}

/// Returns the lanes in which a relation holds.
#[inline(always)]
fn related(registers: &Registers, relation: Relation, op: &Op) -> LaneMask {
    let narrow = |row: u32| &registers.narrow[row as usize];
    let wide = |row: u32| &registers.wide[row as usize];
    let &Op { a, b, .. } = op;
    match relation {
        Relation::Equal => holds(narrow(a), narrow(b), |a, b| a == b),
        Relation::LessUnsigned => holds(narrow(a), narrow(b), |a, b| a < b),
        Relation::LessSigned => holds(narrow(a), narrow(b), |a, b| (a as i32) < b as i32),
        Relation::WideEqual => holds(wide(a), wide(b), |a, b| a == b),
        Relation::WideLessUnsigned => holds(wide(a), wide(b), |a, b| a < b),
        Relation::WideLessSigned => holds(wide(a), wide(b), |a, b| (a as i64) < b as i64),
        Relation::Single(order) => {
            let float = f32::from_bits;
            match order {
                Order::Equal => holds(narrow(a), narrow(b), |a, b| float(a) == float(b)),
                Order::Less => holds(narrow(a), narrow(b), |a, b| float(a) < float(b)),
                Order::AtMost => holds(narrow(a), narrow(b), |a, b| float(a) <= float(b)),
                Order::Apart => {
                    holds(narrow(a), narrow(b), |a, b| float(a) < float(b) || float(a) > float(b))
                }
                Order::Ordered => {
                    holds(narrow(a), narrow(b), |a, b| !float(a).is_nan() && !float(b).is_nan())
                }
            }
        }
        Relation::Double(order) => {
            let float = f64::from_bits;
            match order {
                Order::Equal => holds(wide(a), wide(b), |a, b| float(a) == float(b)),
                Order::Less => holds(wide(a), wide(b), |a, b| float(a) < float(b)),
                Order::AtMost => holds(wide(a), wide(b), |a, b| float(a) <= float(b)),
                Order::Apart => holds(wide(a), wide(b), |a, b| float(a) < float(b) || float(a) > float(b)),
                Order::Ordered => holds(wide(a), wide(b), |a, b| !float(a).is_nan() && !float(b).is_nan()),
            }
        }
    }
}

#[inline(always)]
fn select(warp: &mut Warp, code: &Code, op: &Op, mask: &Row<u32>) {
    let chosen = spread(warp.pred(code.conditions[op.c as usize]));
    let &Op { d, a, b, .. } = op;
    if op.kind == Kind::SelectNarrow {
        let rows = &mut warp.registers.narrow;
        let (a, b) = (rows[a as usize], rows[b as usize]);
        put(&mut rows[d as usize], mask, |lane| a.0[lane] & chosen.0[lane] | b.0[lane] & !chosen.0[lane]);
    } else {
        let rows = &mut warp.registers.wide;
        let (a, b) = (rows[a as usize], rows[b as usize]);
        put_wide(&mut rows[d as usize], mask, |lane| {
            let chosen = super::rows::widened(chosen.0[lane]);
            a.0[lane] & chosen | b.0[lane] & !chosen
        });
    }
}
