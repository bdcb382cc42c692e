//! The condition code: carry and zero, as predicates of their own.

use super::{Cx, Decoded};
use crate::base::RegId;
use crate::program::RegKind;
use crate::program::sem::{Cmp, Compare, CompareInto, Operand as Src, PredOp, PredSrc, Sem, ValueTy};

/// The predicates that the condition code is made of, and others that instructions hand on to each other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    /// The carry out of a sum.
    pub(super) carry: RegId,
    /// The result was zero; of a chain, that of all its links.
    pub(super) zero: RegId,
    /// Which source `IMNMX.XHI` took.
    pub(super) first: RegId,
    /// What `BAR.RED` found, for `B2R`.
    pub(super) barrier: RegId,
    /// How many threads it counted.
    pub(super) count: RegId,
    /// False.
    pub(super) never: RegId,
    /// True, where an operation needs a predicate for it.
    pub(super) always: RegId,
    uses: Uses,
}

/// What the kernel reads of the condition code.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Uses {
    /// Something asks whether a result was zero.
    pub(super) zero: bool,
}

impl Uses {
    /// Whether an instruction reads it.
    pub(super) fn see(&mut self, d: &Decoded) {
        let by_flow = d.operand("cc").is_some_and(|operand| !operand.hidden);
        let by_comparison = d.op.sem.starts_with("iset") && d.has("x");
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
    /// Says in the condition code whether a result is zero, if anything asks; in a chain all of them are.
    pub(super) fn note_zero(&mut self, result: RegId, chained: bool) {
        if !self.flags.uses.zero {
            return;
        }
        let zero = self.flags.zero;
        let combine = chained
            .then_some((PredOp::And, PredSrc::Reg(crate::program::Guard { reg: zero, negate: false })));
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
