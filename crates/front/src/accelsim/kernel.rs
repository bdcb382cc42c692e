//! The first reading of a trace, which builds the program and a summary.

use std::collections::BTreeMap;

use super::bulk;
use super::code::{Code, Guess};
use super::format::Format;
use super::header::{Header, NEWEST_TRACER};
use super::lower::{Action, InstrStats, Lowered, TraceOptions, lower};
use super::opcodes::{OpcodeEffect, Opcodes};
use super::stream::{Item, Stream};
use super::words::Wrong;
use super::{TraceFile, windows::Windows};
use warpbound_core::base::{LaneMask, ProgressMonitor, WARP_SIZE};
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::isa::Space;
use warpbound_core::machine::BlockNeeds;
use warpbound_core::program::KernelCode;

/// A traced kernel: its program, and the file from which its blocks are read.
#[derive(Clone, Debug)]
pub struct TracedKernel {
    /// The header of the trace.
    pub header: Header,
    /// The instructions that were executed, and an exit for warps whose trace has none.
    pub program: KernelCode,
    /// The instructions as text, one per line.
    pub listing: String,
    /// The statistics.
    pub summary: Summary,
    /// The copies from the host before this kernel, as (address, bytes).
    pub copies: Vec<(u64, u64)>,
    /// The copies from the host since the previous kernel of the list, as (address, bytes).
    pub copied_since: Vec<(u64, u64)>,
    pub(super) file: TraceFile,
    pub(super) code: Code,
    pub(super) actions: Vec<Action>,
    /// For each instruction of the program, its index in the code.
    order: Vec<Option<usize>>,
    pub(super) windows: Windows,
    /// The number of words of local memory per thread.
    pub(super) local_words: u64,
}

/// The statistics of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The number of blocks.
    pub blocks: u64,
    /// The number of warps.
    pub warps: u64,
    /// The number of instructions that warps executed.
    pub warp_instructions: u64,
    /// The number of lanes in these executions.
    pub thread_instructions: u64,
    /// The number of warp executions of each instruction.
    pub executions: Vec<u64>,
    /// The number of warp executions of each unknown opcode.
    pub unknown: BTreeMap<String, u64>,
    /// The name of the table of opcodes.
    pub opcodes: String,
    /// The number of warps whose last instruction is not an exit.
    pub without_exit: u64,
}

impl TracedKernel {
    /// Reads a trace from beginning to end. `tables` are the opcodes of each GPU generation.
    ///
    /// # Errors
    /// Returns a diagnostic at the first invalid line.
    pub fn read(
        file: TraceFile,
        tables: &[Opcodes],
        options: &TraceOptions,
        monitor: Option<&ProgressMonitor>,
    ) -> Result<Self, Diagnostics> {
        let mut stream = Stream::open(&file, monitor)?;
        let mut notes = Vec::new();
        let opcodes = table(&file, &stream.header, tables, &mut notes)?;
        let counted = Counting::new(&stream, opcodes).run(&mut stream)?;
        let header = std::mem::take(&mut stream.header);
        let Counting { mut code, seen, mut summary, most_local, windows, .. } = counted;
        let Lowered { mut program, actions, unknown, places, order } =
            lower(&file.name, &header, &code.found, &seen, opcodes, options);
        summary.unknown = unknown;
        code.place(&places);
        summary.executions = order.iter().map(|index| index.map_or(0, |index| seen[index].count)).collect();
        summary.opcodes = opcodes.name.clone();
        notes.extend(reading_notes(&header, &summary, options, &actions, &code));
        program.notes = notes;
        let listing = listing(&program, &code, &order);
        let local_words = header.own.local_bytes.map_or(most_local.div_ceil(4), |bytes| bytes / 4);
        Ok(Self {
            header,
            program,
            listing,
            summary,
            copies: Vec::new(),
            copied_since: Vec::new(),
            file,
            code,
            actions,
            order,
            windows,
            local_words,
        })
    }

    /// Returns the resources of an SM that one block needs.
    pub fn needs(&self) -> BlockNeeds {
        BlockNeeds {
            threads: self.header.block.iter().product(),
            registers_per_thread: (self.header.registers > 0).then_some(self.header.registers),
            shared_bytes: self.header.shared_bytes,
        }
    }

    /// Returns the name of the trace in messages.
    pub fn file_name(&self) -> &str {
        &self.file.name
    }

    /// Returns the number of blocks of the grid.
    pub fn blocks(&self) -> u32 {
        self.header.grid.iter().product()
    }

    /// Returns the opcode of an instruction; empty for an exit that the trace does not contain.
    pub fn opcode(&self, index: usize) -> &str {
        let found = self.order.get(index).copied().flatten().and_then(|index| self.code.found.get(index));
        found.map_or("", |found| found.fixed.opcode.as_str())
    }
}

/// Returns the table of opcodes for an architecture.
fn table<'t>(
    file: &TraceFile,
    header: &Header,
    tables: &'t [Opcodes],
    notes: &mut Vec<String>,
) -> Result<&'t Opcodes, Diagnostic> {
    let Some(version) = header.binary_version else {
        let problem =
            Diagnostic::general(&file.name, "the header does not state for which GPU the code was compiled");
        return Err(problem.hint("add a line such as `-binary version = 86` for sm_86"));
    };
    if !header.is_known() {
        notes.push(format!(
            "tracer version {} is newer than the versions known here: read as version {NEWEST_TRACER}",
            header.tracer
        ));
    }
    if let Some(table) = tables.iter().find(|table| table.targets.contains(&version)) {
        return Ok(table);
    }
    // the newest table that is not newer than the architecture, or else the oldest
    let newest = |table: &&Opcodes| table.targets.iter().copied().filter(|&target| target <= version).max();
    let near = tables.iter().max_by_key(newest);
    let Some(near) = near else {
        return Err(Diagnostic::general(&file.name, "there is no table of opcodes"));
    };
    notes.push(format!("no opcodes of sm_{version} are known: read with those of {}", near.name));
    Ok(near)
}

/// The addresses that the lines of an instruction have.
#[derive(Clone, Copy, Debug)]
enum Addressed {
    /// None.
    Not,
    /// Those of the active lanes, in a space.
    Lanes(Space),
    /// Those of a bulk copy of elements of this width.
    Bulk(u32),
}

/// The state of the first reading.
struct Counting<'o> {
    code: Code,
    guess: Guess,
    seen: Vec<InstrStats>,
    /// For each instruction, whether it is a branch or exit, the addresses of its lines, and the
    /// number of registers there.
    branches: Vec<bool>,
    addressed: Vec<Addressed>,
    registers: Vec<usize>,
    opcodes: &'o Opcodes,
    format: Format,
    windows: Windows,
    summary: Summary,
    /// The maximum number of bytes of local memory that a thread accesses.
    most_local: u64,
}

impl<'o> Counting<'o> {
    fn new(stream: &Stream<'_>, opcodes: &'o Opcodes) -> Self {
        Self {
            code: Code::default(),
            guess: Guess::default(),
            seen: Vec::new(),
            branches: Vec::new(),
            addressed: Vec::new(),
            registers: Vec::new(),
            opcodes,
            format: Format::of(&stream.header),
            windows: Windows::of(&stream.header),
            summary: Summary::default(),
            most_local: 0,
        }
    }

    fn run(mut self, stream: &mut Stream<'_>) -> Result<Self, Diagnostic> {
        let mut addresses = [0; WARP_SIZE];
        let mut before: Option<(LaneMask, bool)> = None;
        let mut ends = (0, 0);
        while let Some(item) = stream.advance()? {
            match item {
                Item::Block(_) => {
                    self.summary.blocks += 1;
                    self.summary.warps += stream.warps() as u64;
                    ends.0 += stream.warps() as u64;
                }
                Item::Warp(..) => before = None,
                Item::Instruction(last) => {
                    let (instr, lanes) = self
                        .instruction(stream.line(), &mut addresses)
                        .map_err(|wrong| stream.problem(wrong.at, wrong.message, wrong.hint))?;
                    let index = instr as usize;
                    let seen = &mut self.seen[index];
                    seen.count += 1;
                    seen.lanes += u64::from(lanes.count());
                    if let Some((others, branch)) = before {
                        seen.guarded |= !branch && lanes != others && (lanes - others).is_empty();
                    }
                    before = Some((lanes, self.branches[index]));
                    ends.1 += u64::from(last && self.is_exit(index));
                }
                Item::EndBlock => {}
            }
        }
        self.summary.without_exit = ends.0 - ends.1;
        self.summary.warp_instructions = self.seen.iter().map(|seen| seen.count).sum();
        self.summary.thread_instructions = self.seen.iter().map(|seen| seen.lanes).sum();
        Ok(self)
    }

    fn is_exit(&self, index: usize) -> bool {
        let opcode = &self.code.found[index].fixed.opcode;
        self.opcodes.find(opcode).is_some_and(|rule| rule.does == OpcodeEffect::Exit)
    }

    fn instruction(
        &mut self,
        line: &[u8],
        addresses: &mut [u64; WARP_SIZE],
    ) -> Result<(u32, LaneMask), Wrong> {
        let (pc, lanes, mut words) = self.format.begin(line)?;
        let instr = match self.code.known(&mut self.guess, pc, &mut words) {
            Some(instr) => instr,
            None => {
                let instr = self.code.learn(pc, &mut words)?;
                if self.seen.len() < self.code.found.len() {
                    self.add_properties();
                }
                instr
            }
        };
        let index = instr as usize;
        match self.addressed[index] {
            Addressed::Not => {}
            Addressed::Lanes(space) => {
                words.addresses(lanes, addresses)?;
                if matches!(space, Space::Local | Space::Generic) {
                    for lane in lanes.lanes() {
                        if let (Space::Local, address) = self.windows.resolve(space, addresses[lane]) {
                            self.most_local = self.most_local.max(address + 16);
                        }
                    }
                }
            }
            Addressed::Bulk(width) => words.bulk(width)?,
        }
        words.end(self.registers[index], !matches!(self.addressed[index], Addressed::Not))?;
        Ok((instr, lanes))
    }

    /// Stores the properties of a new instruction that each of its executions needs.
    #[cold]
    fn add_properties(&mut self) {
        let fixed = &self.code.found[self.code.found.len() - 1].fixed;
        let effect = self.opcodes.find(&fixed.opcode).map(|rule| rule.does);
        let space = match effect {
            Some(OpcodeEffect::Load(space) | OpcodeEffect::Store(space) | OpcodeEffect::Atomic(space)) => {
                space
            }
            _ => Space::Global,
        };
        self.seen.push(InstrStats::default());
        self.branches.push(matches!(effect, Some(OpcodeEffect::Branch | OpcodeEffect::Exit)));
        self.addressed.push(match fixed.width {
            width if bulk::is_bulk(&fixed.opcode) => Addressed::Bulk(width),
            0 => Addressed::Not,
            _ => Addressed::Lanes(space),
        });
        self.registers.push(fixed.registers());
    }
}

/// Returns notes that help to interpret the results.
fn reading_notes(
    header: &Header,
    summary: &Summary,
    options: &TraceOptions,
    actions: &[Action],
    code: &Code,
) -> Vec<String> {
    let mut notes = Vec::new();
    let uniform = code.found.iter().any(|found| found.fixed.lists_others());
    notes.push(match (header.own.whole, options.conservative_predicates) {
        (true, _) => "from a trace that lists every operand".to_owned(),
        (false, false) if uniform => "from a trace: dependences are those of the recorded registers; predicates and uniform \
                                      registers that are not recorded cost nothing (--conservative-predicates)"
            .to_owned(),
        (false, false) => "from a trace: dependences are those of the recorded registers; predicates and uniform registers \
                           are not recorded, and cost nothing (--conservative-predicates)"
            .to_owned(),
        (false, true) => "from a trace: dependences are those of the recorded registers; every instruction that may read a predicate \
                          waits for the last instruction that set one (--conservative-predicates); uniform registers are \
                          not recorded, and cost nothing"
            .to_owned(),
    });
    if !summary.unknown.is_empty() {
        let count: u64 = summary.unknown.values().sum();
        let names: Vec<&str> = summary.unknown.keys().take(12).map(String::as_str).collect();
        let more = summary.unknown.len().saturating_sub(12);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        notes.push(format!(
            "opcodes that are not known count as {}, in {count} of {} warp instructions: {}{more}",
            options.unknown,
            summary.warp_instructions,
            names.join(", ")
        ));
    }
    if !header.unknown.is_empty() {
        let keys: Vec<&str> = header.unknown.keys().map(String::as_str).collect();
        notes.push(format!("header lines that are not known: {}", keys.join(", ")));
    }
    if summary.without_exit > 0 {
        notes.push(format!("{} warps end without EXIT in the trace: one was added", summary.without_exit));
    }
    if actions.contains(&Action::Arrive) && !header.own.whole {
        notes.push(
            "numbers of barriers are not recorded: all barriers count as one barrier of the whole block"
                .to_owned(),
        );
    }
    if code.found.iter().any(|found| bulk::is_bulk(&found.fixed.opcode)) {
        notes.push(
            "bulk copies only take their unit: what waits for them costs nothing, and the memory that they access \
             does not count as traffic"
                .to_owned(),
        );
    }
    if actions.contains(&Action::Wait) && header.tracer < 5 && !header.own.whole {
        notes.push(
            "tracers before version 5 do not record how many copies DEPBAR leaves in flight: none is assumed"
                .to_owned(),
        );
    }
    notes
}

/// Returns the instructions as text.
fn listing(program: &KernelCode, code: &Code, order: &[Option<usize>]) -> String {
    let mut text = String::new();
    for (index, instr) in order.iter().zip(&program.instrs) {
        let Some(found) = index.map(|index| &code.found[index]) else {
            text.push_str("not executed\n");
            continue;
        };
        let name = |reg: &warpbound_core::base::RegId| program.regs[reg.index()].name.as_str();
        let names =
            |regs: &[warpbound_core::base::RegId]| regs.iter().map(name).collect::<Vec<_>>().join(", ");
        let (dsts, srcs) = (names(instr.dsts.as_slice()), names(instr.srcs.as_slice()));
        let arrow = if dsts.is_empty() || srcs.is_empty() { "" } else { " <- " };
        text.push_str(&format!("{:04x} {} {dsts}{arrow}{srcs}", found.pc, found.fixed.opcode));
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    // the last instruction is the exit of warps that have none
    text.truncate(text.len() - "not executed\n".len());
    text + "end of the warp\n"
}
