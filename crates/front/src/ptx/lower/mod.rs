//! Lowers instructions to [`Sem`] and op class; each file handles one family of instructions.
//!
//! Every PTX instruction becomes exactly one instruction of the program, so that instruction counts
//! agree. An instruction that cannot be lowered is reported and replaced by a [`Sem::Nop`], so that
//! all problems of a kernel are found in one run.

mod atomic;
mod barrier;
mod bits;
mod bulk;
mod call;
mod cluster;
mod compare;
mod control;
mod convert;
mod copy;
mod float;
mod flow;
mod image;
mod int;
mod matrix;
mod mbarrier;
mod memory;
mod mov;
mod opcode;
mod operand;
mod parts;
mod program;
mod refused;
mod special;
mod video;
mod warp;
mod warpgroup;

pub(super) use program::{Built, FunctionCode, build};

use std::collections::HashMap;

use crate::ptx::ast;
use crate::ptx::span::Span;
use opcode::Opcode;
use operand::Cx;
use warpbound_core::base::OpClass;
use warpbound_core::diag::closest;
use warpbound_core::isa::{IsaTable, Space, TypeKind};
use warpbound_core::program::sem::{ArgLocation, Sem};
use warpbound_core::program::{Area, ClassTable, Flow, Guard, Instr, MemoryOp, RegList};

/// The reason why a construct cannot be lowered.
#[derive(Debug)]
struct Refusal {
    message: String,
    hint: String,
    /// The location, if it is not the opcode.
    span: Option<Span>,
}

type Res<T> = Result<T, Refusal>;

impl Refusal {
    fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into(), span: None }
    }

    fn at(self, span: Span) -> Self {
        Self { span: Some(self.span.unwrap_or(span)), ..self }
    }
}

/// The first instruction of a function and the locations of its parameters and results.
#[derive(Debug, Default)]
struct Formals {
    /// The index in [`warpbound_core::program::KernelCode::functions`].
    number: u32,
    first: usize,
    params: Vec<(ArgLocation, u32)>,
    /// Whether the last parameter is an array without a length, which takes any argument and may be
    /// omitted.
    open: bool,
    returns: Vec<(ArgLocation, u32)>,
}

/// The result of lowering an instruction.
struct Lowered<'a> {
    sem: Sem,
    /// The opcode root in the ISA table.
    root: &'a str,
    kind: TypeKind,
    /// The memory access, whose space is one of the criteria for the op class.
    memory: Option<MemoryOp>,
    flow: Flow,
}

impl<'a> Lowered<'a> {
    fn new(sem: Sem, root: &'a str, kind: TypeKind) -> Self {
        Self { sem, root, kind, memory: None, flow: Flow::Plain }
    }

    fn access(sem: Sem, root: &'a str, kind: TypeKind, memory: MemoryOp) -> Self {
        Self { memory: Some(memory), ..Self::new(sem, root, kind) }
    }

    fn flow(self, flow: Flow) -> Self {
        Self { flow, ..self }
    }
}

/// Lowers one instruction.
fn instruction<'a>(
    cx: &mut Cx<'a, '_>,
    instr: &'a ast::Instr,
    isa: &IsaTable,
    classes: &mut ClassTable,
) -> Res<Instr> {
    let mut op = Opcode::new(cx.text(instr.opcode));
    let guard = match instr.guard {
        Some((name, negate)) => Some(Guard { reg: cx.pred(name)?, negate }),
        None => None,
    };
    let expanded = cx.expanded(&instr.operands)?;
    let lowered = dispatch(cx, &mut op, expanded.as_deref().unwrap_or(&instr.operands), isa)?;
    op.finish()?;
    let Classed { class, class_by_space, memory } = classify(&lowered, &op, isa, classes)?;
    check_register_count(&lowered.sem)?;
    let mut used = lowered.sem.registers();
    if let Some(guard) = guard {
        if used.srcs.as_slice().len() == RegList::MAX && !used.srcs.as_slice().contains(&guard.reg) {
            return Err(too_many_registers());
        }
        used.srcs.insert(guard.reg);
    }
    Ok(Instr {
        class,
        class_by_space,
        dsts: used.dsts,
        srcs: used.srcs,
        guard,
        flow: lowered.flow,
        memory,
        sem: lowered.sem,
        line: instr.line,
        folded: false,
    })
}

/// Checks the number of registers of a call, which is the only instruction with a variable number
/// of operands.
fn check_register_count(sem: &Sem) -> Res<()> {
    let fits = |places: &mut dyn Iterator<Item = ArgLocation>| {
        let mut regs: Vec<_> = places.filter_map(ArgLocation::reg).collect();
        regs.sort_unstable();
        regs.dedup();
        regs.len() <= RegList::MAX
    };
    let fits = match sem {
        Sem::Call(call) => {
            fits(&mut call.pass.iter().map(|t| t.from)) && fits(&mut call.pass.iter().map(|t| t.to))
        }
        Sem::CallPointer(call) => {
            let pointer = call.pointer.reg().map(ArgLocation::Reg);
            fits(&mut call.args.iter().map(|(place, _)| *place).chain(pointer))
        }
        _ => true,
    };
    if fits { Ok(()) } else { Err(too_many_registers()) }
}

fn too_many_registers() -> Refusal {
    Refusal::new(
        format!("this instruction uses more than {} registers", RegList::MAX),
        "pass arguments of calls through .param variables",
    )
}

/// The op class of an instruction (one per space for a generic access), and the access as it was
/// classified.
struct Classed {
    class: OpClass,
    class_by_space: Option<Box<[OpClass; Space::RESOLVED.len()]>>,
    memory: Option<MemoryOp>,
}

/// Determines the op class of an instruction.
fn classify(
    lowered: &Lowered<'_>,
    op: &Opcode<'_>,
    isa: &IsaTable,
    classes: &mut ClassTable,
) -> Res<Classed> {
    let Lowered { root, kind, memory, .. } = *lowered;
    let missing = || {
        let message = format!("`{}` has no op class: no rule of the ISA table fits `{root}`", op.text);
        Refusal::new(message, "add a rule for it to the ISA table (isa/ptx.ron)")
    };
    let Some(space) = memory.and_then(MemoryOp::space) else {
        let name = isa.class(root, kind, None).ok_or_else(missing)?;
        return Ok(Classed { class: classes.intern(name), class_by_space: None, memory });
    };
    // Some spaces do not support all accesses (for example a store to .const). The functional run
    // reports such an access if it happens; until then it counts as an access to global memory.
    let class_in = |space| isa.class(root, kind, Some(space));
    let global = class_in(Space::Global);
    if space != Space::Generic {
        let (name, memory) = match class_in(space) {
            Some(name) => (name, memory),
            None => (global.ok_or_else(missing)?, memory.map(|memory| memory.to(Area::Global))),
        };
        return Ok(Classed { class: classes.intern(name), class_by_space: None, memory });
    }
    let mut by_space = Box::new([OpClass::default(); Space::RESOLVED.len()]);
    for (slot, space) in by_space.iter_mut().zip(Space::RESOLVED) {
        *slot = classes.intern(class_in(space).or(global).ok_or_else(missing)?);
    }
    Ok(Classed { class: by_space[Space::Global.index()], class_by_space: Some(by_space), memory })
}

/// Lowers an instruction with the module for its family.
fn dispatch<'a>(
    cx: &mut Cx<'a, '_>,
    op: &mut Opcode<'a>,
    args: &[ast::Operand],
    isa: &IsaTable,
) -> Res<Lowered<'a>> {
    let float = op.first_type().is_some_and(|ty| ty.float().is_some());
    match op.root {
        "fma" | "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "ex2" | "lg2" | "tanh" | "copysign" | "testp" => {
            float::lower(cx, op, args)
        }
        "add" | "sub" | "mul" | "mad" | "div" | "abs" | "neg" | "min" | "max" if float => {
            float::lower(cx, op, args)
        }
        "add" | "sub" | "mul" | "mad" | "div" | "abs" | "neg" | "min" | "max" | "addc" | "subc" | "madc"
        | "mul24" | "mad24" | "sad" | "rem" | "dp4a" | "dp2a" => int::lower(cx, op, args),
        "and" | "or" | "xor" | "not" | "cnot" | "lop3" | "shl" | "shr" | "shf" | "popc" | "clz" | "brev"
        | "bfind" | "bfe" | "bfi" | "prmt" | "fns" | "szext" | "bmsk" => bits::lower(cx, op, args),
        "vadd" | "vsub" | "vabsdiff" | "vmin" | "vmax" | "vshl" | "vshr" | "vmad" | "vset" | "vadd2"
        | "vsub2" | "vavrg2" | "vabsdiff2" | "vmin2" | "vmax2" | "vset2" | "vadd4" | "vsub4" | "vavrg4"
        | "vabsdiff4" | "vmin4" | "vmax4" | "vset4" => video::lower(cx, op, args),
        "setp" | "set" | "selp" | "slct" => compare::lower(cx, op, args),
        "cvt" | "cvta" | "isspacep" => convert::lower(cx, op, args),
        "mov" => mov::lower(cx, op, args),
        "st" | "red" if op.has("async") => cluster::store(cx, op, args),
        "ld" | "ldu" | "st" | "prefetch" | "prefetchu" | "discard" | "applypriority" | "createpolicy" => {
            memory::lower(cx, op, args)
        }
        "atom" | "red" => atomic::lower(cx, op, args),
        "cp" => copy::lower(cx, op, args),
        "tex" | "tld4" | "suld" | "sust" | "txq" | "suq" => image::lower(cx, op, args),
        "shfl" | "vote" | "activemask" | "match" | "redux" | "elect" => warp::lower(cx, op, args),
        "wmma" | "mma" | "ldmatrix" | "stmatrix" | "movmatrix" => matrix::lower(cx, op, args),
        "wgmma" => warpgroup::lower(cx, op, args),
        "bar" | "barrier" | "membar" | "fence" => barrier::lower(cx, op, args),
        "bra" | "brx" | "ret" | "exit" | "trap" | "brkpt" | "nanosleep" | "pmevent" | "griddepcontrol"
        | "setmaxnreg" => control::lower(cx, op, args),
        "mbarrier" => mbarrier::lower(cx, op, args),
        "mapa" | "getctarank" => cluster::lower(cx, op, args),
        "call" => call::lower(cx, op, args),
        _ => Err(refused::why(op, isa, cx.quiet)),
    }
}

/// Returns the operands if their number is exactly `N`.
fn exactly<'a, const N: usize>(op: &Opcode<'_>, args: &'a [ast::Operand]) -> Res<&'a [ast::Operand; N]> {
    args.try_into().map_err(|_| wrong_count(op, args, &N.to_string()))
}

fn wrong_count(op: &Opcode<'_>, args: &[ast::Operand], wanted: &str) -> Refusal {
    // an unknown modifier often explains the wrong number of operands
    op.finish().err().unwrap_or_else(|| {
        Refusal::new(format!("`{}` takes {wanted} operands, {} given", op.text, args.len()), "")
    })
}

/// Returns a hint with the most similar name. Long names are skipped, since they are rarely
/// mistyped and comparing them takes time.
fn did_you_mean<'n>(word: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    const LONGEST: usize = 80;
    const MOST: usize = 1000;
    if word.len() > LONGEST {
        return String::new();
    }
    let known = known.into_iter().filter(|name| name.len() <= LONGEST).take(MOST);
    closest(word, known).map_or(String::new(), |near| format!("did you mean `{near}`?"))
}

/// The functions that a kernel reaches, by index.
type FormalsByFunction = HashMap<u32, Formals>;
