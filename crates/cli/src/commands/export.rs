//! `warpbound export`, which writes the paths of a run as traces for other tools, and `warpbound
//! synthetic`, which generates artificial traces.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::again::shell_word;
use crate::args::{self, Export};
use crate::files::{Draft, Folder, Outputs};
use crate::load;
use crate::output::{self, Outcome};
use crate::session::Session;
use warpbound_core::base::{Pc, ProgressMonitor};
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText};
use warpbound_core::path::{BlockPaths, BlockSource, Footprint};
use warpbound_core::program::KernelCode;
use warpbound_core::program::launch::Launch;
use warpbound_exec::{Executor, Options};
use warpbound_front::accelsim::{Launched, Opcodes, Synthetic, Writer};
use warpbound_judge::check::{WorkloadKind, WorkloadSource, execute_sequence};
use warpbound_judge::load::{Loaded, LoadedApplication, LoadedKernel, opcodes};
use warpbound_report::export::{ExportResult, WrittenFile};
use warpbound_report::output::Output;

/// The name of the list of kernels in the folder.
const LIST: &str = "kernelslist.g";
/// The architecture that is stated in traces of PTX code.
const TARGET: u32 = 86;

/// Runs the command.
pub fn run(args: &Export, session: &Session) -> Outcome {
    let common = &args.on.common;
    let loaded = load::any(&args.on.kernel, &args.on.ptx, common.seed, &session.monitor)?;
    let (machine, _) = load::machine_of(common, &loaded)?;
    let inputs = match &loaded {
        Loaded::Kernel(kernel) => kernel.inputs.clone(),
        Loaded::Application(program) => program.inputs.clone(),
    };
    // the recorded paths do not depend on the machine, so its statistics are switched off
    let options = Options::of(&machine, common.fuel());
    let options = Options { banks: None, traffic: false, constants: false, lanes: true, ..options };
    let folder = Folder::prepare("--out", &args.out, args.writing.force, &session.parts)?;
    let outputs = Outputs::new(&inputs, args.writing.force, &session.parts);
    let mut files = Files::new(args.out.clone(), folder, outputs, session)?;
    match &loaded {
        Loaded::Kernel(kernel) => one(kernel, options, session, &mut files)?,
        Loaded::Application(program) => several(program, options, session, &mut files)?,
    }
    let written = Output::new("export", Some(common.seed), vec![files.finish()?]);
    output::report(session, common.format, &written)
}

/// Runs `warpbound synthetic`.
pub fn synthetic(args: &args::Synthetic, session: &Session) -> Outcome {
    let synthetic = Synthetic {
        pattern: args.pattern.pattern(),
        blocks: args.blocks,
        warps: args.warps,
        instructions: args.instructions,
        seed: args.seed,
    };
    let folder = Folder::prepare("--out", &args.out, args.writing.force, &session.parts)?;
    let outputs = Outputs::new(&[], args.writing.force, &session.parts);
    let mut files = Files::new(args.out.clone(), folder, outputs, session)?;
    files.kernel(|to| Ok(synthetic.write(to)))?;
    files.instructions = synthetic.warp_instructions();
    output::text(session, &files.finish()?.text())
}

/// The files of the command; either all of them are written or none.
struct Files<'a> {
    out: PathBuf,
    outputs: Outputs,
    draft: Draft,
    /// Removes the folder if it is empty. It is declared after `draft`, so that it is dropped
    /// later.
    _folder: Folder,
    session: &'a Session,
    opcodes: &'static [Opcodes],
    list: String,
    kernels: u64,
    instructions: u64,
}

impl<'a> Files<'a> {
    fn new(
        out: PathBuf,
        folder: Folder,
        outputs: Outputs,
        session: &'a Session,
    ) -> Result<Self, Diagnostics> {
        let draft = folder.draft().map_err(|error| unwritten(&out, &error))?;
        let (opcodes, list) = (opcodes()?, String::new());
        Ok(Self { out, outputs, draft, _folder: folder, session, opcodes, list, kernels: 0, instructions: 0 })
    }

    /// Writes one trace, unless the command is stopped before the trace is complete.
    fn kernel(
        &mut self,
        fill: impl FnOnce(&mut dyn Write) -> Result<io::Result<()>, Diagnostics>,
    ) -> Result<(), Diagnostics> {
        self.kernels += 1;
        let name = trace_name(self.kernels);
        let path = self.out.join(&name);
        self.outputs.claim("--out", &path)?;
        let file = self.draft.file(&name).map_err(|error| unwritten(&path, &error))?;
        let mut to = BufWriter::with_capacity(1 << 20, UntilStopped { file, monitor: &self.session.monitor });
        let written = fill(&mut to)?.and_then(|()| to.flush());
        self.check_complete()?;
        written.map_err(|error| unwritten(&path, &error))?;
        self.list += &format!("{name}\n");
        Ok(())
    }

    /// Returns an error if the command was stopped: an incomplete trace would look like a complete
    /// trace of a shorter run.
    fn check_complete(&self) -> Result<(), Diagnostic> {
        match self.session.stopped() {
            None => Ok(()),
            Some(reason) => {
                let message =
                    format!("{}: no file is written, since the traces are incomplete", reason.text());
                Err(Diagnostic::general(format!("--out {}", self.out.display()), message))
            }
        }
    }

    /// Writes the trace of a launch.
    fn launch(
        &mut self,
        program: &KernelCode,
        code: &SourceText,
        launch: &Launch,
        executor: &mut Executor,
    ) -> Result<(), Diagnostics> {
        if program.blocks_of_cluster() > 1 {
            let message = format!("`{}` runs in clusters, which a trace does not describe", program.name);
            let problem = Diagnostic::general(&program.file, message);
            return Err(problem.hint("`bundle` writes the results of a launch in clusters").into());
        }
        let machine_code = program.machine_code.is_some();
        let target = if machine_code { 61 } else { TARGET };
        let none = || Diagnostic::general("isa/traces", "there is no table of opcodes");
        let opcodes = self.opcodes.iter().find(|table| table.targets.contains(&target)).ok_or_else(none)?;
        let opcode = |pc: Pc| machine_code.then(|| opcode_of(code.line(program.instr(pc).line))).flatten();
        let writer = Writer::new(program, opcodes, target, &opcode)?;
        let footprint = executor.footprint();
        for (address, bytes) in &footprint.buffers {
            let line = format!("MemcpyHtoD,0x{address:016x},{bytes}\n");
            if !self.list.contains(&line) {
                self.list += &line;
            }
        }
        let launched = launched(program, launch, &footprint, executor.local_bytes(), self.kernels + 1);
        let mut count = 0;
        self.kernel(|to| {
            if let Err(error) = writer.header(&launched, to) {
                return Ok(Err(error));
            }
            let mut paths = BlockPaths::default();
            let [x, y, _] = launch.grid;
            while executor.next_block(&mut paths)? {
                let block = paths.block.index() as u32;
                count += paths.warp_instructions();
                if let Err(error) = writer.block(&paths, [block % x, block / x % y, block / x / y], to) {
                    return Ok(Err(error));
                }
            }
            Ok(Ok(()))
        })?;
        self.instructions += count;
        Ok(())
    }

    /// Places the files.
    fn finish(mut self) -> Result<ExportResult, Diagnostics> {
        self.check_complete()?;
        let path = self.out.join(LIST);
        self.outputs.claim("--out", &path)?;
        self.session.conclude();
        let list = self.draft.file(LIST).and_then(|mut list| list.write_all(self.list.as_bytes()));
        list.and_then(|()| self.draft.place()).map_err(|error| unwritten(&path, &error))?;
        let names = (1..=self.kernels).map(trace_name).chain([LIST.to_owned()]);
        let file = |name: String| {
            let bytes = fs::metadata(self.out.join(&name))?.len();
            Ok(WrittenFile { name, bytes })
        };
        let files = names.map(file).collect::<io::Result<_>>().map_err(|error| unwritten(&path, &error))?;
        let list = path.display().to_string();
        Ok(ExportResult {
            out: self.out.display().to_string(),
            word: shell_word(&list),
            list,
            kernels: self.kernels,
            warp_instructions: self.instructions,
            files,
        })
    }
}

/// Returns the name of the trace of a kernel.
fn trace_name(kernel: u64) -> String {
    format!("kernel-{kernel}.traceg")
}

/// A file that rejects further bytes once the command has to stop.
struct UntilStopped<'a> {
    file: File,
    monitor: &'a ProgressMonitor,
}

impl Write for UntilStopped<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.monitor.is_stopped() {
            return Err(io::Error::other("the command was ended"));
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn unwritten(path: &Path, error: &io::Error) -> Diagnostics {
    Diagnostic::general(format!("--out {}", path.display()), format!("cannot write the file: {error}")).into()
}

fn launched<'a>(
    program: &KernelCode,
    launch: &Launch,
    footprint: &'a Footprint,
    local_bytes: u64,
    number: u64,
) -> Launched<'a> {
    let registers = launch.needs(program).registers_per_thread;
    Launched { grid: launch.grid, block: launch.block, registers, footprint, local_bytes, number }
}

/// Returns the opcode in a line of a disassembly: the word after the control codes and the guard.
fn opcode_of(line: &str) -> Option<String> {
    let mut words = line.split_whitespace().filter(|word| !word.contains(':') && !word.starts_with('@'));
    let opcode = words.find(|word| word.starts_with(|c: char| c.is_ascii_uppercase()))?;
    let clean = opcode.trim_end_matches([';', ',']);
    clean.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'_')).then(|| clean.to_owned())
}

fn one(
    kernel: &LoadedKernel,
    options: Options,
    session: &Session,
    files: &mut Files<'_>,
) -> Result<(), Diagnostics> {
    let Some(launch) = kernel.workload.launch() else {
        let what = match kernel.workload.kind {
            WorkloadKind::Trace(_) => "this is a trace already",
            _ => "a .warp kernel has neither registers of a GPU nor addresses",
        };
        return Err(Diagnostic::general(&kernel.name_given, what)
            .hint("name PTX or a cubin with its launch")
            .into());
    };
    let source = kernel.workload.source(options, &session.monitor)?;
    let WorkloadSource::Launch(mut executor) = source else {
        return Err(Diagnostic::general(&kernel.name_given, "nothing is executed").into());
    };
    let written = files.launch(kernel.workload.program(), &kernel.code, launch, &mut executor);
    written.map_err(|problems| kernel.with_excerpts(problems))
}

fn several(
    program: &LoadedApplication,
    options: Options,
    session: &Session,
    files: &mut Files<'_>,
) -> Result<(), Diagnostics> {
    let sequence = program.program()?;
    execute_sequence(sequence, None, options, &session.monitor, &mut |step, executor| {
        let kernel = sequence.kernel(step);
        files.launch(&kernel.program, &program.codes[kernel.module], &step.launch, executor)
    })
    .map(|_| ())
    .map_err(|problems| program.with_excerpts(problems))
}
