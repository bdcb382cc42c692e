//! PTX.

use std::sync::OnceLock;

use warpbound::base::ProgressMonitor;
use warpbound::isa::IsaTable;
use warpbound::ptx::Module;

use super::{Format, Taken, files, refused, refused_at, run, source};
use crate::shipped;

pub const FORMAT: Format = Format { name: "ptx", seeds, take, mutants: 300 };

/// The number of kernels of a file that are run.
const KERNELS: usize = 3;

fn seeds() -> Vec<Vec<u8>> {
    [files("kernels", &[".ptx"], 12 << 10), files("tests/files/ptx", &[".ptx"], 12 << 10)].concat()
}

pub fn isa() -> &'static IsaTable {
    static ISA: OnceLock<IsaTable> = OnceLock::new();
    ISA.get_or_init(shipped::isa)
}

fn take(input: &[u8], monitor: &ProgressMonitor) -> Taken {
    let source = source("kernel.ptx", input);
    let module = match Module::parse(&source) {
        Ok(module) => module,
        Err(problems) => return refused_at(&problems, &source),
    };
    let inspection = module.inspect(isa());
    let mut taken = Taken::Refused;
    for entry in module.entries().into_iter().take(KERNELS) {
        let supported =
            inspection.entries.iter().find(|summary| summary.name == entry).map(|summary| summary.supported);
        match module.program(entry, isa()) {
            Ok(program) => {
                taken = Taken::Accepted;
                run::program(program, input, monitor);
            }
            Err(problems) => {
                assert_ne!(supported, Some(true), "inspected as supported and refused: {problems}");
                refused(&problems);
            }
        }
    }
    taken
}
