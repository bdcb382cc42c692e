//! The verdicts on kernels that call through pointers, call themselves, or wait at an mbarrier
//! object.

use crate::runs;
use crate::shipped;

use std::path::Path;

use warpbound::check::{JudgedLaunch, Verdict};
use warpbound::diag::SourceText;
use warpbound::load::ptx_isa;
use warpbound::program::launch::{Launch, LaunchSpec};
use warpbound::ptx::Module;

/// Returns the verdicts on a launch of 64 threads with one buffer, under gto and lrr.
fn judged(text: &str, entry: &str, race_memory: Option<usize>) -> Vec<JudgedLaunch> {
    let isa = ptx_isa();
    let module = Module::parse(&SourceText::new("k.ptx", text)).unwrap_or_else(|e| panic!("{e}"));
    let program = module.program(entry, &isa).unwrap_or_else(|e| panic!("{e}"));
    let launch = format!(
        "Launch(module: \"\", entry: \"{entry}\", grid: (2, 1, 1), block: (64, 1, 1), args: [
            Buffer(name: \"out\", elem: I32, len: 192, init: Zero),
        ])"
    );
    let text = SourceText::new("launch", launch);
    let spec = LaunchSpec::parse(&text).unwrap();
    let launch = Launch::new(&spec, &program, 1, &text, &|_: &str, _| Err(String::new())).unwrap();
    let workload = runs::workload(entry, program, launch);
    runs::judged(&workload, &shipped::machine("ecrts25-orin"), race_memory)
}

/// The analyser and the simulator agree on the cost of calls, and bounds hold.
#[test]
fn calls_are_timed() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/ptx/compiled/pointers_clang_O2.ptx");
    let text = std::fs::read_to_string(file).unwrap();
    for entry in ["through_table", "virtual_functions", "recursion"] {
        // the blocks store the same values to the same addresses
        for run in judged(&text, entry, None) {
            assert!(run.self_checked_warps > 0, "{entry}: a difference would have been an error");
            for row in run.judged() {
                assert_eq!(row.verdict(), Verdict::Holds, "{entry}: {}", row.name);
            }
        }
    }
}

#[test]
fn no_bound_applies_if_a_wait_is_not_timed() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.shared .align 8 .b64 object;
.visible .entry waits(.param .u64 out)
{ .reg .pred %p<3>; .reg .b32 %r<3>; .reg .b64 %d<3>;
  mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 [object], 64; bar.sync 0;
  mbarrier.arrive.shared.b64 %d0, [object];
W: mbarrier.try_wait.shared.b64 %p1, [object], %d0;
  @!%p1 bra W; ret; }";
    for race_memory in [None, Some(1 << 20)] {
        for run in judged(text, "waits", race_memory) {
            assert!(!run.verdict().applies());
            for row in run.judged() {
                let Verdict::NotApplicable(reason) = row.verdict() else { panic!("{}", row.name) };
                assert!(row.value.is_err(), "{}", row.name);
                assert!(reason.contains("k.ptx:9") && reason.contains("mbarrier"), "{}: {reason}", row.name);
            }
            assert!(run.races.is_empty(), "{:?}", run.races);
            assert!(run.notes.iter().any(|note| note.contains("the makespan leaves out")), "{:?}", run.notes);
        }
    }
}
