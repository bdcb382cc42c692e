//! Cubins and fat binaries.

use warpbound::base::ProgressMonitor;
use warpbound::load::encoding_of;
use warpbound::sass::Module;

use super::{Format, Taken, files, refused, run};

pub const FORMAT: Format = Format { name: "cubin", seeds, take, mutants: 200 };

/// The number of kernels of a file that are run.
const KERNELS: usize = 2;

fn seeds() -> Vec<Vec<u8>> {
    [files("kernels", &[".cubin"], 10 << 10), files("tests/data/sass", &[".cubin"], 10 << 10)].concat()
}

fn take(input: &[u8], monitor: &ProgressMonitor) -> Taken {
    let name = "kernel.cubin";
    let read = encoding_of(name, input);
    let (encoding, module) = match read.and_then(|one| Ok((one, Module::read(name, input, one)?))) {
        Ok(read) => read,
        Err(problems) => return refused(&problems),
    };
    module.listing(encoding);
    for kernel in module.kernels() {
        module.build(kernel, encoding);
    }
    let mut taken = Taken::Refused;
    for entry in module.entries().into_iter().take(KERNELS) {
        match module.program(entry, encoding) {
            Ok(program) => {
                taken = Taken::Accepted;
                run::program(program, input, monitor);
            }
            Err(problems) => drop(refused(&problems)),
        }
    }
    taken
}
