//! Synthetic traces.

use warpbound::accelsim::{Pattern, Synthetic};

use super::{read, runs, shipped, workload};

#[test]
fn each_pattern_is_a_trace_that_runs() {
    let machine = shipped::machine("ecrts25-orin");
    for (name, pattern) in Pattern::ALL {
        let made = Synthetic { pattern, blocks: 3, warps: 2, instructions: 300, seed: 7 };
        let mut bytes = Vec::new();
        made.write(&mut bytes).unwrap();
        let mut again = Vec::new();
        made.write(&mut again).unwrap();
        assert!(bytes == again, "{name}");
        let kernel =
            read(std::str::from_utf8(&bytes).unwrap()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(kernel.summary.warp_instructions, made.warp_instructions(), "{name}");
        assert!(kernel.summary.unknown.is_empty(), "{name}: {:?}", kernel.summary.unknown);
        for checked in runs::judged(&workload(kernel), &machine, None) {
            assert_eq!(checked.warp_instructions, made.warp_instructions(), "{name}");
            assert!(!checked.verdict().is_violated(), "{name}");
        }
    }
    let chase = |seed| {
        let mut bytes = Vec::new();
        let made = Synthetic { pattern: Pattern::Chase, blocks: 1, warps: 1, instructions: 40, seed };
        made.write(&mut bytes).unwrap();
        bytes
    };
    assert_ne!(chase(1), chase(2));
}
