//! A summary of a file: kernels, sizes, instruction mix, loops, and unsupported constructs.

use std::collections::BTreeMap;

use super::Module;
use super::lower::{Built, FunctionCode, build};
use super::resolve::Problem;
use warpbound_core::base::Pc;
use warpbound_core::diag::{MAX_KEPT, SourceText};
use warpbound_core::isa::IsaTable;
use warpbound_core::program::cfg::Cfg;
use warpbound_core::program::{KernelCode, Param, RegKind};

/// The summary of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    /// The value of `.version`.
    pub version: String,
    /// The value of `.target`.
    pub target: String,
    /// The value of `.address_size` in bits.
    pub address_bits: u8,
    /// The kernels in the order of the file, without those after the first two million
    /// instructions.
    pub entries: Vec<EntrySummary>,
    /// The functions with a body in the order of the file.
    pub functions: Vec<FunctionSummary>,
    /// The unsupported constructs in ascending order of line.
    pub unsupported: Vec<Unsupported>,
    /// The number of further unsupported constructs.
    pub unsupported_left_out: usize,
}

/// The summary of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntrySummary {
    /// The name.
    pub name: String,
    /// The line of the declaration.
    pub line: u32,
    /// The parameters.
    pub params: Vec<Param>,
    /// The maximum number of threads of a block, if declared.
    pub max_threads: Option<u32>,
    /// The number of predicate registers in use, including those of functions.
    pub predicates: usize,
    /// The number of other registers in use for each width (8, 16, 32, 64 bits), including those of
    /// functions. PTX registers are virtual; a compiler maps them to fewer hardware registers.
    pub registers: BTreeMap<u8, usize>,
    /// The static shared memory in bytes.
    pub shared_bytes: u64,
    /// Whether the launch determines the size of additional shared memory.
    pub dynamic_shared: bool,
    /// The local memory per thread in bytes, including the parameters of functions.
    pub local_bytes: u64,
    /// The constant memory of the module in bytes.
    pub const_bytes: u64,
    /// The size of the module's variables in global memory in bytes.
    pub global_bytes: u64,
    /// The number of instructions, including those of functions.
    pub instructions: usize,
    /// The number of instructions per op class, in descending order.
    pub classes: Vec<ClassCount>,
    /// The loops of the kernel and its functions in ascending order of line.
    pub loops: Vec<Loop>,
    /// The names of the functions that the kernel reaches.
    pub calls: Vec<String>,
    /// Whether the kernel can be simulated.
    pub supported: bool,
    /// Notes for the user about a run.
    pub notes: Vec<String>,
}

/// The number of instructions of an op class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassCount {
    /// The op class.
    pub class: String,
    /// The number of instructions.
    pub count: usize,
}

/// The summary of a function that is not a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionSummary {
    /// The name.
    pub name: String,
    /// The line of the declaration.
    pub line: u32,
    /// The number of instructions.
    pub instructions: usize,
}

/// A natural loop; all back edges to the same header belong to one loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The function that contains the loop.
    pub function: String,
    /// The first line.
    pub line: u32,
    /// The last line, which is usually that of the back edge.
    pub end_line: u32,
    /// The nesting depth; 1 for an outermost loop.
    pub depth: usize,
}

/// An unsupported construct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The opcode or other construct.
    pub construct: String,
    /// The first line in which it occurs.
    pub line: u32,
    /// The number of occurrences in kernels and in functions that they reach.
    pub count: usize,
    /// The reason.
    pub message: String,
    /// How to avoid it.
    pub hint: String,
}

/// The number of lowered instructions after which the remaining kernels are omitted.
const MAX_EXAMINED: usize = 1 << 21;
/// The maximum number of loops that are listed per kernel.
const MAX_LOOPS: usize = 1000;

pub(super) fn inspect(module: &Module, isa: &IsaTable) -> Inspection {
    let mut all = BTreeMap::new();
    let mut entries = Vec::new();
    let mut examined = 0;
    for (index, name) in module.kernels() {
        // functions are lowered once per kernel that reaches them, which a file can exploit
        if examined > MAX_EXAMINED {
            break;
        }
        let built = build(module, index, isa);
        examined += built.program.instrs.len();
        for problem in &built.problems {
            // functions occur once per kernel that reaches them
            all.entry((problem.span.start, problem.message.clone())).or_insert_with(|| problem.clone());
        }
        entries.push(summary(module, index, name, &built));
    }
    let functions = module.ast.functions.iter().filter(|function| !function.entry);
    let mut unsupported = grouped(&module.source, all.into_values());
    let unsupported_left_out = unsupported.len().saturating_sub(MAX_KEPT);
    unsupported.truncate(MAX_KEPT);
    Inspection {
        version: module.ast.version.clone(),
        target: module.ast.target.clone(),
        address_bits: module.ast.address_bits,
        entries,
        functions: functions
            .filter_map(|function| {
                let body = function.body.as_ref()?;
                let name = module.slice(function.name).to_owned();
                Some(FunctionSummary { name, line: function.line, instructions: body.instructions })
            })
            .collect(),
        unsupported,
        unsupported_left_out,
    }
}

/// Groups problems by construct and reason.
fn grouped(source: &SourceText, problems: impl Iterator<Item = Problem>) -> Vec<Unsupported> {
    let mut found: BTreeMap<(String, String), Unsupported> = BTreeMap::new();
    for problem in problems {
        let Problem { span, line, construct, message, hint } = problem;
        let key = (construct.clone(), message.clone());
        let entry = found.entry(key).or_insert_with(|| {
            let line = if line > 0 { line } else { source.position(span.start as usize).0 };
            Unsupported { construct, line, count: 0, message, hint }
        });
        entry.count += 1;
    }
    let mut list: Vec<Unsupported> = found.into_values().collect();
    list.sort_by(|a, b| (a.line, &a.construct).cmp(&(b.line, &b.construct)));
    list
}

fn summary(module: &Module, index: u32, name: &str, built: &Built) -> EntrySummary {
    let function = &module.ast.functions[index as usize];
    let Built { program, problems, functions, .. } = built;
    let mut registers = BTreeMap::new();
    let mut predicates = 0;
    for register in &program.regs {
        match register.kind {
            RegKind::Pred => predicates += 1,
            RegKind::Bits(bits) => *registers.entry(bits).or_insert(0) += 1,
        }
    }
    let mut loops: Vec<Loop> = functions.iter().flat_map(|code| loops(module, program, code)).collect();
    loops.truncate(MAX_LOOPS);
    EntrySummary {
        name: name.to_owned(),
        line: function.line,
        params: program.params.clone(),
        max_threads: program.max_threads,
        predicates,
        registers,
        shared_bytes: program.memory.shared.size,
        dynamic_shared: program.memory.uses_dynamic_shared,
        local_bytes: program.memory.local.size,
        const_bytes: module.statics.constants.size,
        global_bytes: module.statics.globals.size,
        instructions: program.instrs.len(),
        classes: classes(program),
        loops,
        calls: functions
            .iter()
            .skip(1)
            .map(|code| module.slice(module.ast.functions[code.index as usize].name).to_owned())
            .collect(),
        supported: problems.is_empty(),
        notes: program.notes.clone(),
    }
}

fn classes(program: &KernelCode) -> Vec<ClassCount> {
    let mut counts = vec![0usize; program.classes.names().len()];
    for instr in &program.instrs {
        if let Some(count) = counts.get_mut(instr.class.index()) {
            *count += 1;
        }
    }
    let names = program.classes.names().iter().cloned();
    let mut list: Vec<ClassCount> = names
        .zip(counts)
        .filter(|(_, count)| *count > 0)
        .map(|(class, count)| ClassCount { class, count })
        .collect();
    list.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.class.cmp(&b.class)));
    list
}

/// Returns the natural loops of a function.
fn loops(module: &Module, program: &KernelCode, code: &FunctionCode) -> Vec<Loop> {
    let Cfg { blocks, graph, .. } = &code.cfg;
    let dominators = graph.dominators();
    // The first and the last block of each loop. The header may come after the branch that closes
    // the loop.
    let mut spans: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for from in 0..graph.len() {
        for &to in graph.successors(from) {
            if dominators.dominates(to, from) {
                let (first, last) = spans.entry(to).or_insert((to, to));
                (*first, *last) = ((*first).min(from), (*last).max(from));
            }
        }
        if spans.len() >= MAX_LOOPS {
            break;
        }
    }
    let line = |pc: Pc| program.instrs.get(pc.index()).map_or(0, |instr| instr.line);
    let function = module.slice(module.ast.functions[code.index as usize].name).to_owned();
    let mut list: Vec<Loop> = spans
        .values()
        .map(|&(first, last)| Loop {
            function: function.clone(),
            line: line(blocks[first].start),
            end_line: line(Pc::new(blocks[last].end.get() - 1)),
            depth: spans.values().filter(|&&(f, l)| f <= first && last <= l).count(),
        })
        .collect();
    list.sort_by_key(|found| (found.line, found.end_line));
    list
}
