//! Writes micro kernels as text, for counterexample folders.

use std::fmt::Write;

use super::MicroKernel;
use warpbound_core::base::Pc;
use warpbound_core::program::Flow;

/// Returns the kernel as a `.warp` file that begins with `header` as comment lines. Parsing it
/// yields the same kernel.
pub fn write(kernel: &MicroKernel, header: &str) -> String {
    let mut text = String::new();
    for line in header.lines() {
        let _ = writeln!(text, "# {line}");
    }
    if let Some(machine) = &kernel.machine {
        let _ = writeln!(text, ".machine {machine}");
    }
    if let Some(policy) = &kernel.policy {
        let _ = writeln!(text, ".policy {policy}");
    }
    for blocks in kernel.blocks.chunk_by(|a, b| a == b) {
        if kernel.blocks.len() > 1 {
            let _ = writeln!(text, ".blocks {}", blocks.len());
        }
        for run in kernel.warps[blocks[0]..][..kernel.block_warps].chunk_by(|a, b| a == b) {
            let _ = writeln!(text, ".warps {}", run.len());
            let (start, end) = run[0];
            for index in start.index()..end.index() {
                let _ = writeln!(text, "    {}", instruction(kernel, Pc::from_index(index)));
            }
        }
    }
    text
}

fn instruction(kernel: &MicroKernel, pc: Pc) -> String {
    let program = &kernel.program;
    let instr = program.instr(pc);
    match instr.flow {
        Flow::Exit => return "ret".to_owned(),
        Flow::Barrier => return "bar".to_owned(),
        _ => {}
    }
    let name = |reg: &warpbound_core::base::RegId| program.regs[reg.index()].name.clone();
    let mut text = program.classes.name(instr.class).to_owned();
    let srcs = instr.srcs.as_slice();
    match instr.dsts.as_slice().first() {
        Some(dst) => text = format!("{text} {}", name(dst)),
        None if !srcs.is_empty() => text.push_str(" _"),
        None => {}
    }
    for src in srcs {
        text = format!("{text}, {}", name(src));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpbound_core::diag::SourceText;

    #[test]
    fn a_written_kernel_is_parsed_as_the_same_kernel() {
        let text = ".machine m\n.policy lrr\n.warps 2\n    f0 r0\n    f1 _, r0\n    bar\n    f2\n    ret\n.warps 1\n    ret\n";
        let kernel = MicroKernel::parse("t", &SourceText::new("t.warp", text)).unwrap();
        assert_eq!(write(&kernel, "hello"), format!("# hello\n{text}"));
        let again = MicroKernel::parse("t", &SourceText::new("t.warp", write(&kernel, ""))).unwrap();
        assert_eq!(again.paths(0), kernel.paths(0));
    }

    #[test]
    fn blocks_read_back_too() {
        let text = ".blocks 3\n.warps 1\n    f0 r0\n    ret\n.blocks 1\n.warps 1\n    f1 r0\n    ret\n";
        let kernel = MicroKernel::parse("t", &SourceText::new("t.warp", text)).unwrap();
        assert_eq!(write(&kernel, ""), text);
    }
}
