//! Replays, and micro kernels.

use std::sync::OnceLock;

use warpbound::base::{BlockId, Cycle, ProgressMonitor};
use warpbound::check::{Workload, WorkloadKind};
use warpbound::diag::SourceText;
use warpbound::machine::Machine;
use warpbound::micro::{self, MicroKernel};
use warpbound::program::TimingTable;
use warpbound::sim::policy::Schedule;
use warpbound::sim::{PolicySetup, simulate};
use warpbound::trace::Recorder;

use super::{Format, Taken, files, refused_at, run, source};
use crate::shipped;

pub const REPLAY: Format = Format { name: "replay", seeds: replays, take: take_replay, mutants: 500 };
pub const WARP: Format = Format { name: "warp", seeds: kernels, take: take_kernel, mutants: 400 };

const KERNEL: &str = ".warps 3\nf0 r0\nf1 r1, r0\nf0 r2, r1\nbar\nf1 r3, r2\n";

fn machine() -> &'static Machine {
    static MACHINE: OnceLock<Machine> = OnceLock::new();
    MACHINE.get_or_init(|| shipped::machine("paper-fig2"))
}

fn kernel() -> Workload {
    let kernel =
        MicroKernel::parse("k", &SourceText::new("k.warp", KERNEL)).unwrap_or_else(|error| panic!("{error}"));
    Workload { name: "k".to_owned(), kind: WorkloadKind::Micro(Box::new(kernel)) }
}

/// Returns the schedules of several policies, and one with several blocks.
fn replays() -> Vec<Vec<u8>> {
    let workload = kernel();
    let table = TimingTable::new(workload.program(), machine()).unwrap_or_else(|error| panic!("{error}"));
    let monitor = ProgressMonitor::new();
    let policies = [PolicySetup::Gto, PolicySetup::Lrr, PolicySetup::TwoLevel, PolicySetup::Random(3)];
    let of = |policy: PolicySetup| {
        let mut recorder = Recorder::default();
        let mut source = workload.source(warpbound::exec::Options::of(machine(), 1 << 10), &monitor).unwrap();
        simulate(&mut source, &table, machine(), &policy, 1, &mut recorder, |_, _| {}).unwrap();
        Schedule::text(recorder.issues(), |_: BlockId| Cycle::ZERO).into_bytes()
    };
    policies
        .map(of)
        .into_iter()
        .chain([b"# several\n0 0\n1 1\nblock 3\n0 1\nblock 1\n0 0\n".to_vec()])
        .collect()
}

fn take_replay(input: &[u8], monitor: &ProgressMonitor) -> Taken {
    let source = source("s.replay", input);
    match Schedule::parse(&source) {
        Ok(schedule) => {
            run::under(&kernel(), machine(), &[PolicySetup::Replay(schedule)], monitor);
            Taken::Accepted
        }
        Err(problems) => refused_at(&problems, &source),
    }
}

fn kernels() -> Vec<Vec<u8>> {
    let shipped = [files("kernels", &[".warp"], 8 << 10), files("tests", &[".warp"], 8 << 10)].concat();
    shipped.into_iter().chain([KERNEL.as_bytes().to_vec()]).collect()
}

fn take_kernel(input: &[u8], monitor: &ProgressMonitor) -> Taken {
    let source = source("k.warp", input);
    let kernel = match MicroKernel::parse("k", &source) {
        Ok(kernel) => kernel,
        Err(problems) => return refused_at(&problems, &source),
    };
    if kernel.blocks.len() <= 64 && kernel.block_warps <= 64 {
        let text = micro::write(&kernel, "");
        let again = MicroKernel::parse("k", &SourceText::new("k.warp", text.as_str()));
        let again = again.unwrap_or_else(|error| panic!("a written kernel is none: {error}\n{text}"));
        assert_eq!(micro::write(&again, ""), text, "a written kernel is another one");
    }
    let workload = Workload { name: "k".to_owned(), kind: WorkloadKind::Micro(Box::new(kernel)) };
    run::workload(&workload, machine(), monitor);
    Taken::Accepted
}
