//! Lowers branches, and the exits of functions and kernels.

use super::opcode::Opcode;
use super::operand::Cx;
use super::{Lowered, Refusal, Res, did_you_mean, exactly};
use crate::ptx::ast::{Operand, OperandKind, Stmt};
use crate::ptx::resolve::Symbol;
use crate::ptx::span::Span;
use crate::ptx::types::Type;
use warpbound_core::base::Pc;
use warpbound_core::isa::TypeKind;
use warpbound_core::program::Flow;
use warpbound_core::program::sem::Sem;

/// The maximum number of entries of all branch tables of a program.
const MAX_TABLES: usize = 1 << 20;
/// The maximum number of entries of one branch table.
const MAX_TABLE: usize = 1 << 12;

pub(super) fn lower<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    let control = |sem| Lowered::new(sem, op.root, TypeKind::None);
    match op.root {
        "bra" => {
            let lowered = control(Sem::Branch { target: Pc::new(0), reconverge: None });
            op.take("uni");
            let [label] = exactly(op, args)?;
            let OperandKind::Name(name) = label.kind else {
                return Err(Refusal::new("a label is needed here", "").at(label.span));
            };
            Ok(Lowered { sem: Sem::Branch { target: target(cx, name)?, reconverge: None }, ..lowered })
        }
        "brx" => {
            op.ignore(&["uni"]);
            if !op.take("idx") {
                return Err(Refusal::new(
                    format!("`{}` is not supported", op.text),
                    "only brx.idx is supported",
                ));
            }
            let [index, table] = exactly(op, args)?;
            let index = cx.src(index, Type::Bits(32))?;
            let targets = table_of(cx, table)?;
            Ok(Lowered::new(Sem::BranchTable { targets, index, reconverge: None }, op.root, TypeKind::None))
        }
        "ret" | "exit" => {
            let ends = cx.entry || op.root == "exit";
            let lowered = control(if ends { Sem::Exit } else { Sem::Return { address: None } });
            op.take("uni");
            let [] = exactly(op, args)?;
            Ok(if ends { lowered.flow(Flow::Exit) } else { lowered })
        }
        "nanosleep" => {
            let lowered = control(Sem::Nop);
            op.take("u32");
            let [time] = exactly(op, args)?;
            Ok(Lowered { sem: Sem::Sleep { time: cx.src(time, Type::Bits(32))? }, ..lowered })
        }
        "setmaxnreg" => {
            let lowered = control(Sem::Nop);
            if !op.take("inc") && !op.take("dec") {
                return Err(Refusal::new(format!("`{}` names no operation", op.text), "one of .inc .dec"));
            }
            op.ignore(&["sync", "aligned", "u32"]);
            op.finish()?;
            let [count] = exactly(op, args)?;
            let registers = cx.constant(count)?;
            if !(24..=256).contains(&registers) || !registers.is_multiple_of(8) {
                let hint = "a multiple of 8 from 24 to 256";
                return Err(
                    Refusal::new(format!("a thread cannot have {registers} registers"), hint).at(count.span)
                );
            }
            Ok(lowered)
        }
        "trap" => Ok(control(Sem::Trap { message: "the kernel executed `trap`".into() })),
        _ => {
            let lowered = control(Sem::Nop);
            op.ignore_if(|_| true);
            Ok(lowered)
        }
    }
}

/// Returns the instruction that a label names.
fn target(cx: &Cx<'_, '_>, name: Span) -> Res<Pc> {
    let text = cx.text(name);
    match cx.symbol(text) {
        Some(Symbol::Label(index)) => Ok(Pc::from_index(cx.first + index as usize)),
        Some(_) => Err(Refusal::new(format!("`{text}` is no label"), "").at(name)),
        None => {
            let labels = cx.names(|s| matches!(s, Symbol::Label(_)));
            let hint = did_you_mean(text, labels);
            Err(Refusal::new(format!("label `{text}` is not in this function"), hint).at(name))
        }
    }
}

fn table_of(cx: &mut Cx<'_, '_>, table: &Operand) -> Res<Vec<Pc>> {
    let OperandKind::Name(name) = table.kind else {
        return Err(Refusal::new("the label of a branch table is needed here", "").at(table.span));
    };
    let Some(Symbol::Targets(stmt)) = cx.symbol(cx.text(name)) else {
        let message = format!("`{}` is no .branchtargets", cx.text(name));
        return Err(Refusal::new(message, "write `table: .branchtargets a, b;` in this function").at(name));
    };
    let body = cx.function.body.as_ref().map_or(&[][..], |body| &body.stmts);
    let Some(Stmt::Targets(_, names)) = body.get(stmt as usize) else {
        return Err(Refusal::new("this branch table is empty", "").at(name));
    };
    cx.table_entries += names.len();
    if names.len() > MAX_TABLE || cx.table_entries > MAX_TABLES {
        return Err(Refusal::new(
            format!("branch tables have at most {MAX_TABLE} entries, {MAX_TABLES} in all"),
            "split the switch",
        )
        .at(name));
    }
    names.iter().map(|label| target(cx, *label)).collect()
}
