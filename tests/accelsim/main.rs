//! Traces of other tools as input, and traces that this program writes.

#[path = "../support/campaign.rs"]
mod campaign;
#[path = "../support/runs.rs"]
mod runs;
#[path = "../support/shipped.rs"]
mod shipped;

mod format;
mod hostile;
mod opcodes;
mod packed;
mod round_trip;
mod synthetic;
mod versions;

use std::sync::{Arc, LazyLock};

use warpbound::accelsim::{InMemory, Opcodes, TraceFile, TraceOptions, TracedKernel};
use warpbound::base::ProgressMonitor;
use warpbound::check::{Workload, WorkloadKind};
use warpbound::diag::Diagnostics;

const VECADD: &str = include_str!("files/vecadd.traceg");

/// Returns the opcode tables of the repository.
fn tables() -> Vec<Opcodes> {
    let source = |name: &str| Ok(shipped::source(&shipped::root().join(format!("isa/traces/{name}.ron"))));
    let table =
        |name| Opcodes::parse(&source(name).unwrap(), &source).unwrap_or_else(|error| panic!("{error}"));
    ["kepler", "pascal", "volta", "turing", "ampere", "hopper", "blackwell"].map(table).into()
}

fn read_file(bytes: &[u8], taking: &TraceOptions) -> Result<TracedKernel, Diagnostics> {
    static TABLES: LazyLock<Vec<Opcodes>> = LazyLock::new(tables);
    let file = TraceFile { name: "t.traceg".into(), open: Arc::new(InMemory(bytes.into())) };
    TracedKernel::read(file, &TABLES, taking, Some(&ProgressMonitor::new()))
}

fn read_as(text: &str, taking: &TraceOptions) -> Result<TracedKernel, Diagnostics> {
    read_file(text.as_bytes(), taking)
}

fn read_bytes(bytes: &[u8]) -> Result<TracedKernel, Diagnostics> {
    read_file(bytes, &TraceOptions::default())
}

fn read(text: &str) -> Result<TracedKernel, Diagnostics> {
    read_as(text, &TraceOptions::default())
}

fn workload(kernel: TracedKernel) -> Workload {
    Workload { name: "t".into(), kind: WorkloadKind::Trace(Arc::new(kernel)) }
}
