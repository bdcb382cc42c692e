//! `warpbound cfg`: shows the control flow graph of a kernel's warps.

use std::ffi::OsStr;
use std::path::Path;

use crate::args::{Cfg, Edges};
use crate::files::Outputs;
use crate::load;
use crate::output::{self, Outcome};
use crate::session::Session;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::program::warp_cfg::{Divergence, WarpCfg};
use warpbound_judge::check::WorkloadKind;
use warpbound_report::cfg::CfgResult;
use warpbound_report::output::Output;

/// The form of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Dot,
    Svg,
}

/// Returns the files to write, each with its option and its form.
///
/// # Errors
/// Each file whose ending names no form.
fn files(args: &Cfg) -> Result<Vec<(&'static str, Form, &Path)>, Diagnostics> {
    let mut problems = Diagnostics::new();
    let mut files = Vec::new();
    for path in &args.out {
        match path.extension().and_then(OsStr::to_str) {
            Some("dot") => files.push(("--out", Form::Dot, path.as_path())),
            Some("svg") => files.push(("--out", Form::Svg, path.as_path())),
            _ => {
                let place = format!("--out {}", path.display());
                let problem = Diagnostic::general(place, "a graph is written as .svg or .dot");
                problems.push(problem.hint("change the ending of the file"));
            }
        }
    }
    files.extend(args.dot.as_deref().map(|path| ("--dot", Form::Dot, path)));
    files.extend(args.svg.as_deref().map(|path| ("--svg", Form::Svg, path)));
    problems.into_result(files)
}

/// Runs the command.
pub fn run(args: &Cfg, session: &Session) -> Outcome {
    let kernel = load::kernel(&args.kernel, &args.ptx, args.seed, &session.monitor)?;
    let program = kernel.workload.program();
    if let WorkloadKind::Trace(_) = kernel.workload.kind {
        let problem = Diagnostic::general(kernel.name_given, "a trace has paths, and no control flow");
        return Err(problem.hint("name the kernel's code: PTX or a cubin").into());
    }
    let (divergence, name) = match args.edges {
        Edges::Sides => (Divergence::Sides, "sides"),
        Edges::Published => (Divergence::Published, "published"),
    };
    let name = if program.has_independent_threads() { "threads take turns" } else { name };
    let block = kernel.workload.launch().map(|launch| launch.block);
    let graph = WarpCfg::new(program, block, divergence).map_err(|code| code.problem(program))?;
    let result = CfgResult::new(&kernel.workload.name, program, name, &graph);
    let mut outputs = Outputs::new(&kernel.inputs, args.writing.force, &session.parts);
    let mut problems = Diagnostics::new();
    for (option, form, path) in files(args)? {
        let place = format!("{option} {}", path.display());
        let written = outputs.file(option, path).and_then(|part| {
            let text = if form == Form::Dot { Ok(result.dot()) } else { result.svg() };
            let text =
                text.map_err(|why| Diagnostic::general(place.clone(), format!("it cannot be drawn: {why}")))?;
            part.complete(place, text.as_bytes())
        });
        if let Err(problem) = written {
            problems.push(problem);
        }
    }
    problems.into_result(())?;
    output::report(session, args.format, &Output::new("cfg", None, vec![result]))
}
