//! Builds the [`KernelCode`] of a kernel and the functions that it reaches.

use std::collections::{HashMap, HashSet};

use super::operand::Cx;
use super::{Formals, FormalsByFunction, Refusal, Res, flow, instruction};
use crate::ptx::Module;
use crate::ptx::ast::{self, DeclSpace, OperandKind, Stmt, VarDecl};
use crate::ptx::resolve::{Frame, Problem, Reach, Scopes, Symbol, has_length, natural_align, reach, size_of};
use crate::ptx::span::Span;
use crate::ptx::types::Type;
use warpbound_core::base::{OpClass, Pc, RegId};
use warpbound_core::diag::MAX_KEPT;
use warpbound_core::isa::{IsaTable, TypeKind};
use warpbound_core::path::Step;
use warpbound_core::program::cfg::Cfg;
use warpbound_core::program::layout::{Segment, WINDOW_SIZE, function_address};
use warpbound_core::program::sem::{ArgLocation, Sem};
use warpbound_core::program::{
    ClassTable, Flow, FrameLayout, Function, Instr, KernelCode, Param, ParamType, RegKind, RegList, Register,
    unset_reads,
};

/// The maximum local memory of a thread in bytes, which is that of hardware.
const MAX_LOCAL: u64 = 512 << 10;
/// The maximum size of a kernel's parameter block in bytes, which is that of hardware.
const MAX_PARAMS: u64 = 32_764;

/// A lowered kernel; the program is valid only if there are no problems. Global and constant memory
/// belong to the module and are not filled in yet.
pub(in crate::ptx) struct Built {
    pub program: KernelCode,
    pub problems: Vec<Problem>,
    /// The kernel and its functions in the order of their code.
    pub functions: Vec<FunctionCode>,
}

/// The code of one function.
pub(in crate::ptx) struct FunctionCode {
    /// The index in [`ast::Ast::functions`].
    pub index: u32,
    pub cfg: Cfg,
}

/// The op class of instructions that cannot be lowered.
const UNSUPPORTED: &str = "unsupported";

/// Lowers the kernel with this index and reports as many problems as possible.
pub(in crate::ptx) fn build(module: &Module, entry: u32, isa: &IsaTable) -> Built {
    let function = &module.ast.functions[entry as usize];
    let mut builder = Builder {
        module,
        isa,
        classes: ClassTable::default(),
        program: KernelCode {
            name: module.slice(function.name).to_owned(),
            file: module.source.name().to_owned(),
            max_threads: function.max_threads,
            cluster: function.cluster,
            ..KernelCode::default()
        },
        problems: Vec::new(),
        functions: Vec::new(),
        shared: HashMap::new(),
        formals: HashMap::new(),
        table_entries: 0,
    };
    let reached = reach(&module.ast, module.source.text(), &module.statics, entry);
    if builder.plan(&reached.functions) {
        builder.place_shared(&reached.functions);
        let mut scopes = builder.declare(&reached);
        for (&index, scopes) in reached.functions.iter().zip(&mut scopes) {
            builder.function(index, scopes);
        }
    }
    let functions = builder.functions.iter().map(|function| &function.cfg);
    builder.program.unset_reads = unset_reads(&builder.program, functions);
    let note = builder.program.order_note();
    builder.program.notes.extend(note.map(str::to_owned));
    builder.program.classes = builder.classes;
    Built { program: builder.program, problems: builder.problems, functions: builder.functions }
}

struct Builder<'a> {
    module: &'a Module,
    isa: &'a IsaTable,
    classes: ClassTable,
    program: KernelCode,
    problems: Vec<Problem>,
    functions: Vec<FunctionCode>,
    shared: HashMap<u32, u64>,
    formals: FormalsByFunction,
    table_entries: usize,
}

impl<'a> Builder<'a> {
    fn problem(&mut self, span: Span, construct: &str, refusal: Refusal) {
        let Refusal { message, hint, span: place } = refusal;
        let span = place.unwrap_or(span);
        self.problems.push(Problem { span, line: 0, construct: construct.to_owned(), message, hint });
    }

    fn ast(&self, index: u32) -> &'a ast::Function {
        &self.module.ast.functions[index as usize]
    }

    /// Assigns each function its location in the code; returns false if the code is too long.
    fn plan(&mut self, functions: &[u32]) -> bool {
        let mut next = 0usize;
        for &index in functions {
            let function = self.ast(index);
            let Some(body) = &function.body else { continue };
            let first = next;
            next += body.instructions + usize::from(ends_open(self.module, body));
            let formals =
                Formals { number: self.program.functions.len() as u32, first, ..Formals::default() };
            self.formals.insert(index, formals);
            if !function.entry {
                self.program.functions.push(Function {
                    name: self.module.slice(function.name).to_owned(),
                    address: function_address(index),
                    first: Pc::from_index(first),
                    params: Vec::new(),
                    returns: Vec::new(),
                    frame: None,
                });
            }
        }
        let most = Step::MAX_PC as usize + 1;
        if next > most {
            let refusal = Refusal::new(
                format!(
                    "the kernel and its functions have {next} instructions, at most {most} are supported"
                ),
                "",
            );
            self.problem(self.ast(functions[0]).name, "size", refusal);
        }
        next <= most
    }

    /// Places the shared variables that the kernel or its functions use or declare, in the order of
    /// the file. Those without a size share the dynamic part after them.
    fn place_shared(&mut self, functions: &[u32]) {
        let used = self.used_statics(functions);
        let vars = &self.module.ast.vars;
        let mut order: Vec<u32> =
            used.into_iter().filter(|&index| vars[index as usize].space == DeclSpace::Shared).collect();
        order.sort_unstable();
        let memory = &mut self.program.memory;
        let mut dynamic = Vec::new();
        for index in order {
            let var = &vars[index as usize];
            let size = self.module.statics.sizes[index as usize];
            if size == 0 {
                memory.uses_dynamic_shared = true;
                dynamic.push(index);
            } else if memory.shared.size + size + natural_align(var) <= WINDOW_SIZE {
                let name = self.module.slice(var.name);
                self.shared.insert(index, memory.shared.place(name, size, natural_align(var)));
            } else {
                let refusal =
                    Refusal::new("shared memory exceeds 16 MiB", "declare fewer or smaller variables");
                let Refusal { message, hint, .. } = refusal;
                let construct = "declaration".to_owned();
                self.problems.push(Problem { span: var.name, line: 0, construct, message, hint });
            }
        }
        let start = memory.dynamic_shared_offset();
        self.shared.extend(dynamic.into_iter().map(|index| (index, start)));
    }

    fn used_statics(&self, functions: &[u32]) -> HashSet<u32> {
        let statics = &self.module.statics.vars;
        let mut used = HashSet::new();
        let mut name = |span: Span| {
            if let Some(&index) = statics.get(self.module.slice(span)) {
                used.insert(index);
            }
        };
        let mut declared = Vec::new();
        for &index in functions {
            let Some(body) = &self.ast(index).body else { continue };
            for stmt in &body.stmts {
                match stmt {
                    Stmt::Static(index) => declared.push(*index),
                    Stmt::Instr(instr) => instr.operands.iter().for_each(|o| names(o, &mut name)),
                    _ => {}
                }
            }
        }
        used.extend(declared);
        used
    }

    /// Reads the declarations of all functions, so that calls know the locations of parameters.
    fn declare(&mut self, reached: &Reach) -> Vec<Scopes<'a>> {
        let mut all = Vec::new();
        let rest = rest_bytes(self.module, &reached.functions);
        for &index in &reached.functions {
            let function = self.ast(index);
            let framed = reached.recursive.contains(&index);
            let first_register = self.program.regs.len();
            let mut frame_segment = Segment::default();
            let mut frame = Frame {
                ast: &self.module.ast,
                text: self.module.source.text(),
                local: if framed { &mut frame_segment } else { &mut self.program.memory.local },
                most_local: MAX_LOCAL,
                rest_bytes: rest.get(&index).copied().unwrap_or(0),
                problems: &mut self.problems,
            };
            let mut scopes = Scopes::new(function, &mut frame);
            if function.entry {
                self.kernel_params(function, &mut scopes);
            } else {
                let params = self.places(&function.params, &mut scopes, framed);
                let returns = self.places(&function.returns, &mut scopes, framed);
                if let Some(formals) = self.formals.get_mut(&index)
                    && let Some(known) = self.program.functions.get_mut(formals.number as usize)
                {
                    (known.params, known.returns) = (params.clone(), returns.clone());
                    known.frame = framed.then(|| FrameLayout {
                        bytes: frame_segment.size,
                        registers: (first_register..self.program.regs.len()).map(RegId::from_index).collect(),
                    });
                    formals.open = rest.contains_key(&index);
                    formals.params = params;
                    formals.returns = returns;
                }
            }
            all.push(scopes);
        }
        all
    }

    fn kernel_params(&mut self, function: &'a ast::Function, scopes: &mut Scopes<'a>) {
        let mut end = 0u64;
        for var in &function.params {
            let name = self.module.slice(var.name);
            let size = size_of(var).unwrap_or(u64::MAX);
            let offset = end.next_multiple_of(natural_align(var));
            if var.space != DeclSpace::Param || size == 0 || size > MAX_PARAMS || offset + size > MAX_PARAMS {
                let refusal = Refusal::new(
                    format!("`{name}` cannot be a parameter of a kernel"),
                    format!("parameters are sized .param variables, at most {MAX_PARAMS} bytes together"),
                );
                self.problem(var.name, "declaration", refusal);
                continue;
            }
            end = offset + size;
            let ty = match var.ty {
                _ if !var.dims.is_empty() || var.vector > 1 => ParamType::Bytes,
                Type::F32 | Type::F64 => ParamType::Float,
                _ => ParamType::Int,
            };
            if scopes.find(0, name).is_some() {
                let refusal = Refusal::new(format!("`{name}` is declared twice"), "rename one of them");
                self.problem(var.name, "declaration", refusal);
            }
            let (offset, size) = (offset as u32, size as u32);
            self.program.params.push(Param { name: name.to_owned(), offset, size, ty });
            scopes.define(0, name, Symbol::KernelParam(offset.into(), size.into()));
            scopes.define_element(0, name, var.ty.bytes());
        }
        self.program.memory.param_bytes = end as u32;
    }

    /// Returns the locations of a function's parameters or results. Those in registers are created
    /// here.
    fn places(
        &mut self,
        vars: &'a [VarDecl],
        scopes: &mut Scopes<'a>,
        framed: bool,
    ) -> Vec<(ArgLocation, u32)> {
        let mut places = Vec::new();
        for var in vars {
            let name = self.module.slice(var.name);
            let place = match scopes.find(0, name) {
                Some((_, Symbol::Param(offset, size))) => {
                    let place = if framed { ArgLocation::Frame(offset) } else { ArgLocation::Local(offset) };
                    (place, size as u32)
                }
                Some((_, Symbol::Unused(kind))) => {
                    let reg = warpbound_core::base::RegId::from_index(self.program.regs.len().min(60_000));
                    if self.program.regs.len() < 60_000 {
                        self.program.regs.push(Register { name: name.to_owned(), kind });
                    }
                    scopes.define(0, name, Symbol::Reg(reg, kind));
                    let bytes = match kind {
                        RegKind::Pred => 1,
                        RegKind::Bits(bits) => u32::from(bits / 8),
                    };
                    (ArgLocation::Reg(reg), bytes)
                }
                Some((_, Symbol::UnusedVector(_))) => {
                    let hint = "pass it in a .param variable";
                    let refusal =
                        Refusal::new(format!("`{name}` cannot be a parameter: it has several parts"), hint);
                    self.problem(var.name, "declaration", refusal);
                    (ArgLocation::Local(0), 0)
                }
                // a missing or duplicate name, which has been reported
                _ => (ArgLocation::Local(0), 0),
            };
            places.push(place);
        }
        places
    }

    /// Lowers the instructions of a function.
    fn function(&mut self, index: u32, scopes: &mut Scopes<'a>) {
        let function = self.ast(index);
        let Some(body) = &function.body else { return };
        let first = self.program.instrs.len();
        let planned = self.formals.get(&index).map_or(first, |formals| formals.first);
        debug_assert_eq!(first, planned, "functions are lowered in the planned order");
        let mut notes = std::mem::take(&mut self.program.notes);
        let first_register = self.program.regs.len();
        let number = self.formals.get(&index).map(|formals| formals.number as usize);
        let number = number.filter(|_| !function.entry);
        let framed = number.is_some_and(|number| self.program.functions[number].frame.is_some());
        let mut cx = Cx {
            module: self.module,
            scopes,
            scope: 0,
            program: &mut self.program,
            shared: &self.shared,
            formals: &self.formals,
            function,
            table_entries: self.table_entries,
            entry: function.entry,
            framed,
            first,
            carry: None,
            scratch: None,
            notes: &mut notes,
            quiet: self.problems.len() >= MAX_KEPT,
        };
        let mut opened = 0;
        for stmt in &body.stmts {
            match stmt {
                Stmt::Open => {
                    opened += 1;
                    cx.scope = opened;
                }
                Stmt::Close => cx.scope = cx.scopes.parent(cx.scope),
                Stmt::Instr(instr) => {
                    let lowered = instruction(&mut cx, instr, self.isa, &mut self.classes);
                    let lowered = lowered.unwrap_or_else(|refusal| {
                        self.problems.push(problem_of(instr, cx.text(instr.opcode), refusal));
                        cx.quiet = self.problems.len() >= MAX_KEPT;
                        placeholder(self.classes.intern(UNSUPPORTED), instr.line)
                    });
                    cx.program.instrs.push(lowered);
                }
                _ => {}
            }
        }
        self.table_entries = cx.table_entries;
        self.program.notes = notes;
        if ends_open(self.module, body) {
            self.end_implicitly(function, body.end_line);
        }
        let registers = first_register..self.program.regs.len();
        if let Some(number) = number
            && let Some(frame) = &mut self.program.functions[number].frame
        {
            frame.registers.extend(registers.map(RegId::from_index));
        }
        let cfg = flow::connect(&mut self.program, first);
        self.functions.push(FunctionCode { index, cfg });
    }

    /// Ends a body without `ret`, which returns.
    fn end_implicitly(&mut self, function: &ast::Function, line: u32) {
        let instr = self.implicit_end(function.entry, line).unwrap_or_else(|refusal| {
            self.problem(function.name, "ret", refusal);
            placeholder(self.classes.intern(UNSUPPORTED), line)
        });
        self.program.instrs.push(instr);
    }

    /// Returns the instruction that ends a body without `ret`.
    fn implicit_end(&mut self, entry: bool, line: u32) -> Res<Instr> {
        let class = self.isa.class("ret", TypeKind::None, None).ok_or_else(|| {
            Refusal::new("the body ends without `ret`, and the ISA table has no op class for `ret`", "")
        })?;
        let (sem, flow) =
            if entry { (Sem::Exit, Flow::Exit) } else { (Sem::Return { address: None }, Flow::Plain) };
        Ok(Instr { sem, flow, ..placeholder(self.classes.intern(class), line) })
    }
}

/// For each function whose last parameter is an array without a length, returns the size in bytes
/// of the longest argument that a call passes for it. A call copies only as many bytes as its own
/// argument has.
fn rest_bytes(module: &Module, functions: &[u32]) -> HashMap<u32, u64> {
    let open = |index: &u32| {
        let last = module.ast.functions[*index as usize].params.last();
        last.is_some_and(|var| var.space == DeclSpace::Param && !has_length(var))
    };
    let mut bytes: HashMap<u32, u64> =
        functions.iter().filter(|index| open(index)).map(|&index| (index, 0)).collect();
    if bytes.is_empty() {
        return bytes;
    }
    // a function may pass on its own parameter, so the sizes depend on each other
    loop {
        let mut changed = false;
        for &caller in functions {
            let function = &module.ast.functions[caller as usize];
            let Some(body) = &function.body else { continue };
            let mut sizes: HashMap<&str, u64> = HashMap::new();
            let declared = body.stmts.iter().filter_map(|stmt| match stmt {
                Stmt::Decl(var) => Some(&**var),
                _ => None,
            });
            for var in function.params.iter().chain(declared).filter(|var| var.space == DeclSpace::Param) {
                let var_bytes = if has_length(var) {
                    size_of(var).unwrap_or(0)
                } else {
                    bytes.get(&caller).copied().unwrap_or(0)
                };
                let size = sizes.entry(module.slice(var.name)).or_default();
                *size = var_bytes.max(*size);
            }
            for (callee, argument) in calls(module, body) {
                let passed = sizes.get(module.slice(argument)).copied().unwrap_or(0);
                if let Some(known) = bytes.get_mut(&callee).filter(|known| **known < passed) {
                    *known = passed;
                    changed = true;
                }
            }
        }
        if !changed {
            return bytes;
        }
    }
}

/// Returns the functions that a body calls by name, with the last argument of each call if that is
/// a name.
fn calls<'a>(module: &'a Module, body: &'a ast::Body) -> impl Iterator<Item = (u32, Span)> + 'a {
    body.stmts.iter().filter_map(|stmt| {
        let Stmt::Instr(instr) = stmt else { return None };
        if !module.slice(instr.opcode).starts_with("call") {
            return None;
        }
        let mut operands =
            instr.operands.iter().skip_while(|operand| matches!(operand.kind, OperandKind::Group(_)));
        let OperandKind::Name(callee) = operands.next()?.kind else { return None };
        let OperandKind::Group(arguments) = &operands.next()?.kind else { return None };
        let OperandKind::Name(argument) = arguments.last()?.kind else { return None };
        Some((*module.statics.functions.get(module.slice(callee))?, argument))
    })
}

/// Returns the problem of an instruction that could not be lowered; its message names the opcode.
fn problem_of(instr: &ast::Instr, opcode: &str, refusal: Refusal) -> Problem {
    let Refusal { mut message, hint, span } = refusal;
    if !message.contains(opcode) {
        message = format!("`{opcode}`: {message}");
    }
    let span = span.unwrap_or(instr.opcode);
    Problem { span, line: instr.line, construct: opcode.to_owned(), message, hint }
}

/// Returns the replacement of an instruction that could not be lowered.
fn placeholder(class: OpClass, line: u32) -> Instr {
    Instr {
        class,
        class_by_space: None,
        dsts: RegList::new(),
        srcs: RegList::new(),
        guard: None,
        flow: Flow::Plain,
        memory: None,
        sem: Sem::Nop,
        line,
        folded: false,
    }
}

/// Calls `found` for each name in an operand.
fn names(operand: &ast::Operand, found: &mut impl FnMut(Span)) {
    match &operand.kind {
        OperandKind::Name(name) => found(*name),
        OperandKind::Symbol(expr) => found(expr.name),
        OperandKind::Indexed(element) => found(element.name),
        OperandKind::Address(address) => address.base.into_iter().for_each(found),
        OperandKind::Image(address, rest) => {
            address.base.into_iter().for_each(&mut *found);
            rest.iter().for_each(|operand| names(operand, found));
        }
        OperandKind::Vector(list) | OperandKind::Group(list) => {
            for operand in list {
                names(operand, found);
            }
        }
        _ => {}
    }
}

/// Returns whether control can reach the closing brace of a body: its last instruction falls
/// through, or a branch target is after it.
fn ends_open(module: &Module, body: &ast::Body) -> bool {
    let mut labels: HashSet<&str> = HashSet::new();
    let mut last = None;
    for stmt in body.stmts.iter().rev() {
        match stmt {
            Stmt::Label(name) => {
                labels.insert(module.slice(*name));
            }
            Stmt::Instr(instr) => {
                last = Some(instr);
                break;
            }
            _ => {}
        }
    }
    let Some(last) = last else { return true };
    let root = module.slice(last.opcode).split('.').next().unwrap_or_default();
    if last.guard.is_some() || !matches!(root, "ret" | "exit" | "bra" | "brx") {
        return true;
    }
    let is_label = |name: &Span| labels.contains(module.slice(*name));
    !labels.is_empty()
        && body.stmts.iter().any(|stmt| match stmt {
            Stmt::Targets(_, targets) => targets.iter().any(is_label),
            Stmt::Instr(instr) => {
                instr.operands.iter().any(|o| matches!(&o.kind, OperandKind::Name(name) if is_label(name)))
            }
            _ => false,
        })
}
