//! The instrumentation of kernels with ipoints.

use warpbound_core::diag::Diagnostic;
use warpbound_core::program::warp_cfg::Divergence;
use warpbound_hybrid::{Density, Instrumented, NoGraph};
use warpbound_judge::load::LoadedKernel;

/// Returns the ipoints of a kernel.
///
/// # Errors
/// If the kernel has no control flow graph, or one with irreducible cycles.
pub fn instrumented(
    kernel: &LoadedKernel,
    divergence: Divergence,
    density: Density,
) -> Result<Instrumented, Diagnostic> {
    let program = kernel.workload.program();
    let Some(launch) = kernel.workload.launch() else {
        let message =
            "a .warp kernel or trace has no control flow to instrument: its warps are straight-line code";
        return Err(Diagnostic::general(kernel.workload.name.clone(), message).hint("name a PTX kernel"));
    };
    Instrumented::new(program, Some(launch.block), divergence, density).map_err(|why| match why {
        NoGraph::Function(code) => code.problem(program),
        why @ NoGraph::Independent => Diagnostic::general(program.file.clone(), why.to_string())
            .hint("name the PTX of the kernel, or machine code for sm_61"),
        NoGraph::Ipg(error) => Diagnostic::general(program.file.clone(), error.to_string())
            .hint("nodes are numbered as `warpbound cfg` shows them"),
    })
}
