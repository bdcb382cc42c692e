//! The condition code, modelled as separate predicates for carry and zero.

use super::{Cx, Decoded, Meaning};
use crate::sass::table::meaning;
use warpbound_core::base::RegId;
use warpbound_core::program::RegKind;
use warpbound_core::program::sem::{
    Cmp, Compare, CompareInto, Operand as Src, PredOp, PredSrc, Sem, ValueTy,
};

/// The predicates that model the condition code, and other implicit registers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    /// The carry out of a sum.
    pub(super) carry: RegId,
    /// Whether the result was zero; for a chain, whether all its results were.
    pub(super) zero: RegId,
    /// Whether `IMNMX.XHI` selected its first source.
    pub(super) first: RegId,
    /// The predicate result of `BAR.RED`, which `B2R` reads.
    pub(super) barrier: RegId,
    /// The thread count of `BAR.RED`.
    pub(super) count: RegId,
    /// The constant false.
    pub(super) never: RegId,
    /// The constant true, for operations that need a predicate.
    pub(super) always: RegId,
    uses: Uses,
}

/// The parts of the condition code that the kernel reads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Uses {
    /// Whether any instruction tests if a result was zero.
    pub(super) zero: bool,
}

impl Uses {
    /// Records whether an instruction reads the condition code.
    pub(super) fn see(&mut self, d: &Decoded) {
        let by_flow = d.operand("cc").is_some_and(|operand| !operand.hidden);
        let compares =
            matches!(d.op.meaning, Some(Meaning::Compare(meaning::Compare::Isetp | meaning::Compare::Iset)));
        let by_comparison = compares && d.has("x");
        self.zero |= by_flow || by_comparison;
    }
}

impl Flags {
    pub(super) fn new(cx: &mut Cx, uses: Uses) -> Self {
        let mut pred = |name: &str| cx.declare(name.to_owned(), RegKind::Pred);
        let (carry, zero, first) = (pred("CC.C"), pred("CC.Z"), pred("CC.X"));
        let (barrier, never, always) = (pred("B2R.P"), pred("%never"), pred("%always"));
        let count = cx.declare("B2R.R".to_owned(), RegKind::Bits(32));
        Self { carry, zero, first, barrier, count, never, always, uses }
    }
}

impl Cx<'_> {
    /// Sets the zero flag from a result, if it is ever read. In a chain, all results must be zero.
    pub(super) fn note_zero(&mut self, result: RegId, chained: bool) {
        if !self.flags.uses.zero {
            return;
        }
        let zero = self.flags.zero;
        let combine = chained.then_some((
            PredOp::And,
            PredSrc::Reg(warpbound_core::program::Guard { reg: zero, negate: false }),
        ));
        self.push(Sem::Compare(Box::new(Compare {
            cmp: Cmp::Eq,
            ty: ValueTy::Int(super::U32),
            ftz: false,
            a: Src::Reg(result),
            b: Src::Imm(0),
            combine,
            into: CompareInto::Preds(Some(zero), None),
        })));
    }
}
