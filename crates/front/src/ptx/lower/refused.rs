//! Explanations why an opcode is not supported.

use super::opcode::Opcode;
use super::{Refusal, did_you_mean};
use warpbound_core::isa::IsaTable;

/// Groups of opcodes that are known but not simulated.
const GROUPS: [(&[&str], &str, &str); 6] = [
    (
        &["sured", "istypep"],
        "only fetches, loads, stores and queries of textures and surfaces are simulated",
        "use atomics on global memory",
    ),
    (
        &["tcgen05"],
        "matrix instructions with tensor memory are not simulated",
        "compile the kernel for sm_80 or sm_90a, whose matrix instructions are simulated",
    ),
    (
        &["multimem", "clusterlaunchcontrol"],
        "access to several GPUs, and the launch of clusters by others, are not simulated",
        "compile the kernel for sm_80 or older",
    ),
    (
        &["tensormap"],
        "tensor maps that a kernel makes or changes are not simulated",
        "pass the map as an argument: TensorMap(..) in a launch file",
    ),
    (&["alloca", "stacksave", "stackrestore"], "the stack is not simulated", "use arrays of constant size"),
    (&["getnextctaid"], "this instruction is not simulated", "compile the kernel for sm_80 or older"),
];

/// Explains why an opcode that no family handles is not supported.
pub(super) fn why(op: &Opcode<'_>, isa: &IsaTable, quiet: bool) -> Refusal {
    for (roots, why, hint) in GROUPS {
        if roots.contains(&op.root) {
            return Refusal::new(format!("`{}`: {why}", op.text), hint);
        }
    }
    if isa.knows(op.root) {
        return Refusal::new(
            format!("`{}` has an op class but no meaning here", op.text),
            "the ISA table names an opcode that the simulator does not know",
        );
    }
    let roots: Vec<&str> = if quiet { Vec::new() } else { isa.roots().collect() };
    Refusal::new(format!("unknown opcode `{}`", op.text), did_you_mean(op.root, roots))
}
