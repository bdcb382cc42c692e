//! Lowers branches, divergent regions, calls and exits.

use std::collections::BTreeSet;

use super::{Cx, Decoded, Res, Role, Value, refuse};
pub(super) use crate::sass::table::meaning::Control as Name;
use warpbound_core::base::Pc;
use warpbound_core::program::Flow;
use warpbound_core::program::Guard;
use warpbound_core::program::sem::{
    Cmp, Compare, CompareInto, Operand as Src, PredSrc, Region, Sem, ValueTy,
};

/// The maximum number of targets of an indirect branch.
const MAX_PLACES: usize = 256;

pub(super) fn lower(cx: &mut Cx, d: &Decoded, name: Name, next: i64) -> Res<Role> {
    if name == Name::Nop {
        return Ok(Role::PLAIN);
    }
    if let Some((_, text, _)) = d
        .modifiers
        .iter()
        .find(|(name, text, _)| matches!(*name, "lmt" | "noinc" | "keep") && !text.is_empty())
    {
        return refuse(format!("{}{text}", d.op.name), "");
    }
    if let Some(condition) = d.operand("cc").filter(|operand| !operand.hidden) {
        return conditional(cx, d, name, condition.value, next);
    }
    match name {
        Name::Nop => {}
        Name::Bra => {
            let target = cx.target(d, next)?;
            cx.push(Sem::Branch { target, reconverge: None });
        }
        Name::Brx => table(cx, d, next)?,
        Name::Ssy => open(cx, d, Region::Sync, next)?,
        Name::Pbk => open(cx, d, Region::Break, next)?,
        Name::Pcnt => open(cx, d, Region::Continue, next)?,
        Name::Sync => cx.push(Sem::CloseRegion { region: Region::Sync }),
        Name::Brk => cx.push(Sem::CloseRegion { region: Region::Break }),
        Name::Cont => cx.push(Sem::CloseRegion { region: Region::Continue }),
        Name::Cal => super::calls::call(cx, d, next)?,
        Name::Ret => cx.push(Sem::Return { address: None }),
        Name::BranchIf
        | Name::BranchAny
        | Name::BranchDivergent
        | Name::BranchConverged
        | Name::Bssy
        | Name::Bsync
        | Name::Break
        | Name::Yield
        | Name::Bmov
        | Name::BmovRestore
        | Name::BmovBarrier
        | Name::CallRelative
        | Name::CallRegister
        | Name::CallPlace
        | Name::ReturnRelative
        | Name::ReturnAbsolute
        | Name::Lepc
        | Name::CallAbsolute
        | Name::Collective
        | Name::EndCollective
        | Name::Divergent => return super::converge::lower(cx, d, name, next),
        Name::Bpt if d.modifier("mode") == ".TRAP" => {
            cx.push(Sem::Trap { message: "the kernel executed `BPT.TRAP`".into() });
        }
        Name::Bpt => return refuse(format!("BPT{}", d.modifier("mode")), "a debugger would stop here"),
        Name::Nanosleep => {
            if d.operand("p").is_some_and(|p| !p.hidden) {
                return refuse("NANOSLEEP with a predicate", "");
            }
            let time = cx.source(d, "b")?;
            cx.push(Sem::Sleep { time });
        }
        Name::Exit => {
            let condition = cx.pred_src(d, "c");
            cx.push_where(d, condition, Sem::Exit);
            return Ok(Role::flow(Flow::Exit));
        }
    }
    Ok(Role::PLAIN)
}

/// Opens a divergent region, which ends at the target.
fn open(cx: &mut Cx, d: &Decoded, region: Region, next: i64) -> Res<()> {
    let join = cx.target(d, next)?;
    cx.push(Sem::OpenRegion { region, join });
    Ok(())
}

/// Lowers an indirect branch. The compiler loads the address from its constants, so every constant
/// that is the offset of an instruction of the kernel is a possible target, unless the file lists
/// the targets of the branch. Other values of the register select an index after the last target.
fn table(cx: &mut Cx, d: &Decoded, next: i64) -> Res<()> {
    let address = cx.source(d, "a")?;
    let Some(Value::Number(offset)) = d.operand("t").map(|operand| operand.value) else {
        return refuse("BRX without an offset", "");
    };
    let mut places: Vec<(u32, Pc)> = Vec::new();
    for word in cx.kernel.constants.as_chunks().0 {
        let word = u32::from_le_bytes(*word);
        if let Ok(target) = (cx.targets)(i64::from(word) + offset + next)
            && !places.iter().any(|(known, _)| *known == word)
        {
            places.push((word, target));
        }
    }
    listed(cx, next, &mut places);
    if places.is_empty() || places.len() > MAX_PLACES {
        let message =
            format!("the constants of the kernel contain {} targets of this indirect branch", places.len());
        return refuse(message, format!("1 to {MAX_PLACES} targets are supported"));
    }
    let (index, here) = (cx.narrow(), cx.pred());
    cx.push(Sem::Mov { dst: index, src: Src::Imm(places.len() as u64) });
    for (number, (word, _)) in places.iter().enumerate() {
        cx.push(Sem::Compare(Box::new(Compare {
            cmp: Cmp::Eq,
            ty: ValueTy::Int(super::U32),
            ftz: false,
            a: address,
            b: Src::Imm(u64::from(*word)),
            combine: None,
            into: CompareInto::Preds(Some(here), None),
        })));
        cx.push_if(here, false, Sem::Mov { dst: index, src: Src::Imm(number as u64) });
    }
    let targets = places.into_iter().map(|(_, target)| target).collect();
    cx.push(Sem::BranchTable { targets, index: Src::Reg(index), reconverge: None });
    Ok(())
}

/// Keeps those places that the file lists as targets of the indirect branch before `next`. All are
/// kept if the list has other targets: ptxas 11.8 fills it with zeros for sm_90.
fn listed(cx: &Cx, next: i64, places: &mut Vec<(u32, Pc)>) {
    let here = u32::try_from(next - cx.encoding.word_bytes as i64).ok();
    let Some(list) = here.and_then(|here| cx.kernel.branch_targets.get(&here)) else { return };
    let targets: Option<BTreeSet<Pc>> = list.iter().map(|&at| (cx.targets)(at.into()).ok()).collect();
    let Some(targets) = targets.filter(|targets| !targets.is_empty()) else { return };
    let found: BTreeSet<Pc> = places.iter().map(|(_, target)| *target).collect();
    if targets.is_subset(&found) {
        places.retain(|(_, target)| targets.contains(target));
    }
}

/// Lowers a branch that depends on the condition code and on the guard.
fn conditional(cx: &mut Cx, d: &Decoded, name: Name, condition: Value, next: i64) -> Res<Role> {
    let Value::Choice(text, _) = condition else {
        return refuse(format!("{} by this condition", d.op.name), "");
    };
    let zero = match text {
        "CC.EQ" | "CC.EQU" => true,
        "CC.NE" | "CC.NEU" => false,
        other => {
            return refuse(format!("{} by {other}", d.op.name), "only conditions on zero are supported");
        }
    };
    if name != Name::Bra {
        return refuse(format!("{} by {text}", d.op.name), "");
    }
    let target = cx.target(d, next)?;
    let taken = cx.guarded(d, PredSrc::Reg(Guard { reg: cx.flags.zero, negate: !zero }));
    cx.push_if(taken, false, Sem::Branch { target, reconverge: None });
    Ok(Role::PLAIN)
}
