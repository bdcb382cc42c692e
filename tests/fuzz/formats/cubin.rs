//! Cubins and fat binaries.

use warpbound::base::ProgressMonitor;
use warpbound::sass::{Encoding, Module};

use super::{Format, Taken, files, refused, run};
use crate::shipped;

pub const FORMAT: Format = Format { name: "cubin", seeds, take, mutants: 200 };

/// The number of kernels of a file that are run.
const KERNELS: usize = 2;

fn seeds() -> Vec<Vec<u8>> {
    [files("kernels", &[".cubin"], 10 << 10), files("tests/data/sass", &[".cubin"], 10 << 10)].concat()
}

fn encoding() -> &'static Encoding {
    shipped::encoding()
}

fn take(input: &[u8], monitor: &ProgressMonitor) -> Taken {
    let module = match Module::read("kernel.cubin", input, encoding()) {
        Ok(module) => module,
        Err(problems) => return refused(&problems),
    };
    module.listing(encoding());
    for kernel in module.kernels() {
        module.build(kernel, encoding());
    }
    let mut taken = Taken::Refused;
    for entry in module.entries().into_iter().take(KERNELS) {
        match module.program(entry, encoding()) {
            Ok(program) => {
                taken = Taken::Accepted;
                run::program(program, input, monitor);
            }
            Err(problems) => drop(refused(&problems)),
        }
    }
    taken
}
