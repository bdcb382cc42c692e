//! Kernels with instrumentation points, and what is wrong with those that can have none.

use super::load::LoadedKernel;
use crate::base::Pc;
use crate::diag::Diagnostic;
use crate::hybrid::{Density, Instrumented, NoGraph};
use crate::program::Program;
use crate::program::warp_cfg::{Divergence, IrreducibleCode};

/// The ipoints of a kernel.
///
/// # Errors
/// A kernel without control flow of its own, or with cycles that are no loops.
pub fn instrumented(
    kernel: &LoadedKernel,
    divergence: Divergence,
    density: Density,
) -> Result<Instrumented, Diagnostic> {
    let program = kernel.workload.program();
    let Some(launch) = kernel.workload.launch() else {
        let message = "a .warp kernel has no control flow to instrument: its warps are straight-line code";
        return Err(Diagnostic::general(kernel.workload.name.clone(), message).hint("name a PTX kernel"));
    };
    Instrumented::new(program, Some(launch.block), divergence, density).map_err(|why| match why {
        NoGraph::Function(code) => irreducible(program, &code),
        NoGraph::Ipg(error) => Diagnostic::general(program.file.clone(), error.to_string())
            .hint("nodes are numbered as `warpbound cfg` shows them"),
    })
}

/// What is wrong with irreducible code.
pub fn irreducible(program: &Program, code: &IrreducibleCode) -> Diagnostic {
    let line = |pc: Pc| program.instrs[pc.index()].line;
    let message = format!(
        "the control flow of `{}` is irreducible: line {} leads into a cycle that is entered at line {}, too",
        code.function,
        line(code.from),
        line(code.to)
    );
    Diagnostic::general(program.file.clone(), message)
        .hint("a cycle with two entries has no header, so that nothing can be said of its rounds")
}
