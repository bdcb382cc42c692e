//! The conversion between two types without modifiers, of which other operations are composed.

use warpbound_core::base::RegId;
use warpbound_core::program::sem::{Convert, Operand as Src, Round, Sem, ValueTy};

/// Returns a conversion without modifiers.
pub(super) fn plain(dst: RegId, src: Src, from: ValueTy, to: ValueTy) -> Sem {
    let convert = Convert {
        dst,
        src,
        src2: None,
        from,
        to,
        round: Round::Nearest,
        integral: false,
        sat: false,
        ftz: false,
        relu: false,
        finite: false,
    };
    Sem::Convert(Box::new(convert))
}
