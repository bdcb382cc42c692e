//! Traces of Accel-Sim's tracer, and lists of them.

use std::sync::{Arc, OnceLock};

use warpbound::accelsim::{InMemory, KernelsList, Opcodes, TraceFile, TraceOptions, TracedKernel};
use warpbound::base::ProgressMonitor;
use warpbound::check::{Workload, WorkloadKind};

use super::{Format, Taken, binary, files, refused, refused_at, run, source};
use crate::shipped;

pub const TRACE: Format = Format { name: "trace", seeds: traces, take: take_trace, mutants: 300 };
pub const LIST: Format = Format { name: "list", seeds: lists, take: take_list, mutants: 500 };

/// Returns the traces that the tool itself writes for small kernels.
fn exported() -> Vec<(String, Vec<u8>)> {
    let dir = binary::scratch("fuzz-exported");
    let mut found = Vec::new();
    for kernel in ["ifelse", "four_warps", "pairs_mixed"] {
        binary::succeeds(&dir, &["export", kernel, "--out", kernel]);
        for file in std::fs::read_dir(dir.join(kernel)).unwrap().map(|file| file.unwrap().path()) {
            found.push((file.display().to_string(), std::fs::read(&file).unwrap()));
        }
    }
    found.sort();
    found
}

fn traces() -> Vec<Vec<u8>> {
    let exported =
        exported().into_iter().filter(|(name, bytes)| name.ends_with(".traceg") && bytes.len() < 64 << 10);
    files("tests/accelsim/files", &[".traceg", ".tracez"], 64 << 10)
        .into_iter()
        .chain(exported.map(|(_, bytes)| bytes))
        .collect()
}

fn lists() -> Vec<Vec<u8>> {
    let exported = exported().into_iter().filter(|(name, _)| name.ends_with("kernelslist.g"));
    let written = b"MemcpyHtoD,0x00007f0000000000,4096\nkernel-1.traceg\n# more\nMemcpyDtoH,0x7f0000000000,64\nkernel-2.traceg.xz\n";
    exported.map(|(_, bytes)| bytes).chain([written.to_vec()]).collect()
}

fn tables() -> &'static [Opcodes] {
    static TABLES: OnceLock<Vec<Opcodes>> = OnceLock::new();
    TABLES.get_or_init(|| {
        let source =
            |name: &str| Ok(shipped::source(&shipped::root().join(format!("isa/traces/{name}.ron"))));
        let table =
            |name| Opcodes::parse(&source(name).unwrap(), &source).unwrap_or_else(|error| panic!("{error}"));
        ["kepler", "pascal", "volta", "turing", "ampere", "hopper", "blackwell"].map(table).into()
    })
}

fn take_trace(input: &[u8], watch: &ProgressMonitor) -> Taken {
    let file = TraceFile { name: "t.traceg".to_owned(), open: Arc::new(InMemory(input.into())) };
    match TracedKernel::read(file, tables(), &TraceOptions::default(), Some(watch)) {
        Ok(kernel) => {
            let workload = Workload { name: "t".to_owned(), kind: WorkloadKind::Trace(Arc::new(kernel)) };
            run::workload(&workload, run::some_machine(input), watch);
            Taken::Accepted
        }
        Err(problems) => refused(&problems),
    }
}

fn take_list(input: &[u8], _: &ProgressMonitor) -> Taken {
    let source = source("kernelslist.g", input);
    match KernelsList::parse(&source) {
        Ok(list) => {
            assert!(!list.kernels.is_empty(), "a list without kernels");
            Taken::Accepted
        }
        Err(problems) => refused_at(&problems, &source),
    }
}
