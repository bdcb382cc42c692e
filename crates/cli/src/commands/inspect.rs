//! `warpbound inspect`: shows the contents of a file; nothing is simulated.

use std::fmt::Write;

use crate::args::Inspect;
use crate::files::loader;
use crate::output::{self, Outcome};
use crate::session::Session;
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText};
use warpbound_core::machine::Machine;
use warpbound_core::program::launch::{LaunchSpec, ShapeSpec};
use warpbound_core::program::sequence::Action;
use warpbound_core::program::template;
use warpbound_front::micro::MicroKernel;
use warpbound_front::ptx::Module;
use warpbound_front::sass;
use warpbound_judge::load::{
    LaunchOptions, Location, encoding_of, is_machine_code, is_program, load_program, ptx_isa, read, traces,
};
use warpbound_report::inspect::cubin::CubinFile;
use warpbound_report::inspect::machine::MachineFile;
use warpbound_report::inspect::ptx::{ClassCount, PtxFile};
use warpbound_report::inspect::trace::{TraceFile, TraceList};
use warpbound_report::inspect::{Buffer, Contents, InspectResult, LaunchFile, MicroFile, ProgramFile, Step};
use warpbound_report::output::Output;

/// Runs the command.
pub fn run(args: &Inspect, session: &Session) -> Outcome {
    let location = find(&args.file)?;
    if is_machine_code(&location) {
        return machine_code(args, &location, session);
    }
    if let Some(contents) = traced(&location, session)? {
        let result = InspectResult { file: location.shown(), contents };
        return output::report(session, args.format, &Output::new("inspect", None, vec![result]));
    }
    let source = location.text()?;
    if args.disasm {
        let problem =
            Diagnostic::general(location.shown(), "--disasm shows machine code, and this file has none");
        return Err(problem.hint("name a .cubin file").into());
    }
    if args.template {
        return template(args, &location, &source, session);
    }
    let contents = match location.extension().as_str() {
        "ptx" => Contents::Ptx(ptx(&source)?),
        "warp" => Contents::Micro(micro(&location, &source)?),
        // launches and machines are both RON, and differ in the first word
        _ if is_machine(&source) => Contents::Machine(machine(&location, &source)?),
        "ron" if is_program(&source) => Contents::Program(program(&args.file, location.clone(), source)?),
        "ron" => Contents::Launch(launch(&location, &source)?),
        other => {
            let problem = Diagnostic::general(
                location.shown(),
                format!("`.{other}` is not a kind of file that can be inspected"),
            );
            return Err(problem
                .hint(".ptx, .cubin, .warp, launch and machine .ron files, or an embedded name")
                .into());
        }
    };
    let result = InspectResult { file: location.shown(), contents };
    output::report(session, args.format, &Output::new("inspect", None, vec![result]))
}

/// Reads a trace or a list of traces.
fn traced(location: &Location, session: &Session) -> Result<Option<Contents>, Diagnostics> {
    let read = |file: &Location| {
        Ok(TraceFile::new(&traces::read(file, &LaunchOptions::default(), &session.monitor)?))
    };
    match location.extension().as_str() {
        "traceg" | "tracez" => Ok(Some(Contents::Trace(read(location)?))),
        "g" => {
            let (list, _) = traces::list(location)?;
            let kernels: Result<Vec<TraceFile>, Diagnostics> =
                list.kernels.iter().map(|listed| read(&location.beside(&listed.file))).collect();
            let kernels = kernels?;
            let copies = list.kernels.last().map_or(&[][..], |listed| &listed.copies);
            Ok(Some(Contents::TraceList(TraceList {
                copies: copies.len(),
                copied_bytes: copies
                    .iter()
                    .map(|(_, bytes)| bytes)
                    .fold(0, |sum: u64, bytes| sum.saturating_add(*bytes)),
                warp_instructions: kernels.iter().map(|kernel| kernel.warp_instructions).sum(),
                kernels,
            })))
        }
        _ => Ok(None),
    }
}

/// Inspects a file of machine code.
fn machine_code(args: &Inspect, location: &Location, session: &Session) -> Outcome {
    let bytes = location.bytes(read::PTX_BYTES)?;
    if args.template {
        let problem = Diagnostic::general(location.shown(), "a template is made from PTX, which has types");
        return Err(problem.hint("name the .ptx file that it was made from").into());
    }
    let encoding = encoding_of(&location.shown(), &bytes)?;
    let module = sass::Module::read(&location.shown(), &bytes, encoding)?;
    let contents = Contents::Cubin(CubinFile::new(&module, encoding, args.disasm));
    let result = InspectResult { file: location.shown(), contents };
    output::report(session, args.format, &Output::new("inspect", None, vec![result]))
}

/// Finds an embedded kernel, an embedded machine, or a file.
fn find(name: &str) -> Result<Location, Diagnostics> {
    loader().find_kernel(name).or_else(|as_kernel| loader().find_machine(name, None).map_err(|_| as_kernel))
}

fn is_machine(source: &SourceText) -> bool {
    let code = source.text().lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("//"));
    code.is_some_and(|line| line.starts_with("Machine") || line.starts_with("#!"))
}

fn ptx(source: &SourceText) -> Result<PtxFile, Diagnostics> {
    Ok(PtxFile::new(&Module::parse(source)?.inspect(&ptx_isa())))
}

fn machine(location: &Location, source: &SourceText) -> Result<MachineFile, Diagnostics> {
    let spec = loader().machine_spec_of(source, location)?;
    Ok(MachineFile::new(Machine::new(&spec, source)?, spec.idle_settings()))
}

fn launch(location: &Location, source: &SourceText) -> Result<LaunchFile, Diagnostics> {
    let spec = LaunchSpec::parse(source)?;
    let module = location.beside(&spec.module).text()?;
    let shape = |s: &ShapeSpec| format!("({}, {}, {})", s.0, s.1, s.2);
    let mut heading = format!("{}: launch of {} from {}\n", source.name(), spec.entry, spec.module);
    if !spec.doc.is_empty() {
        let _ = writeln!(heading, "  {}", spec.doc);
    }
    let _ = writeln!(
        heading,
        "  grid {}, block {}, dynamic shared {} bytes",
        shape(&spec.grid),
        shape(&spec.block),
        spec.dynamic_shared
    );
    for buffer in &spec.buffers {
        let _ = writeln!(heading, "  {}", ron(buffer));
    }
    for arg in &spec.args {
        let _ = writeln!(heading, "  argument {}", ron(arg));
    }
    Ok(LaunchFile {
        launch: serde_json::to_value(&spec).expect("a launch is plain data"),
        module: ptx(&module)?,
        heading,
        module_file: module.name().to_owned(),
    })
}

/// Returns a value in the form of a RON file.
fn ron(value: &dyn erased_serde::Serialize) -> String {
    let style = ron::ser::PrettyConfig::new().compact_structs(true).compact_arrays(true).compact_maps(true);
    ron::ser::to_string_pretty(value, style).expect("what was read as RON can be written")
}

/// Returns the report of a program: its launches, step by step.
fn program(name: &str, location: Location, source: SourceText) -> Result<ProgramFile, Diagnostics> {
    let program = load_program(name, location, source, &LaunchOptions::default())?;
    let sequence = program.program()?;
    let mut counts = vec![0u64; sequence.statements.len()];
    for action in sequence.actions() {
        if let Ok(Action::Launch(launch)) = action {
            counts[launch.statement] += 1;
        }
    }
    let steps = sequence.statements.iter().zip(&counts).map(|(statement, launches)| {
        let kernel = &sequence.kernels[statement.kernel];
        Step {
            line: statement.line,
            launches: *launches,
            entry: kernel.program.name.clone(),
            module: sequence.modules[kernel.module].name.clone(),
        }
    });
    let buffers = sequence.buffers.iter();
    Ok(ProgramFile {
        launches: sequence.launches,
        buffers: buffers.map(|b| Buffer { name: b.name.clone(), bytes: b.bytes.len() }).collect(),
        steps: steps.collect(),
        program: program.written(),
    })
}

/// Runs `--template`: prints a launch file for one kernel.
fn template(args: &Inspect, location: &Location, source: &SourceText, session: &Session) -> Outcome {
    if location.extension() != "ptx" {
        let problem = Diagnostic::general(location.shown(), "a template is made from the code of a kernel");
        return Err(problem.hint("name a .ptx file").into());
    }
    let entry = match &args.entry {
        Some(entry) => entry.clone(),
        None => warpbound_judge::load::Module::read(location, &LaunchOptions::default(), 0)?
            .only_kernel("--entry")?,
    };
    let program = Module::parse(source)?.program(&entry, &ptx_isa())?;
    output::text(session, &template::launch_file(&program, &location.shown()))
}

fn micro(location: &Location, source: &SourceText) -> Result<MicroFile, Diagnostics> {
    let kernel = MicroKernel::parse(&location.stem(), source)?;
    let mut op_classes: Vec<ClassCount> = Vec::new();
    for instr in &kernel.program.instrs {
        let class = kernel.program.classes.name(instr.class);
        match op_classes.iter_mut().find(|known| known.class == class) {
            Some(known) => known.instructions += 1,
            None => op_classes.push(ClassCount { class: class.to_owned(), instructions: 1 }),
        }
    }
    Ok(MicroFile {
        blocks: kernel.blocks.len(),
        warps: kernel.block_warps,
        warp_instructions: kernel.warps.iter().map(|(start, end)| end.index() - start.index()).collect(),
        machine: kernel.machine.clone(),
        policy: kernel.policy.as_ref().map(ToString::to_string),
        op_classes,
    })
}
