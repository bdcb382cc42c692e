//! Every embedded machine loads; those that are for real kernels run one.

use std::process::{Command, Output};

use serde_json::Value;

/// Machines of worked examples and counterexamples: they have no op classes of PTX.
const FOR_MICRO_KERNELS: [&str; 7] = [
    "identical-warps",
    "lrr-smallest",
    "lrr-witness",
    "paper-fig2",
    "pull-apart-6",
    "pull-apart-9",
    "twenty-one",
];

fn warpbound(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpbound")).args(args).output().expect("the binary runs")
}

fn json(args: &[&str]) -> Value {
    let output = warpbound(&[args, &["--format", "json"]].concat());
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stdout));
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

#[test]
fn every_machine_loads_and_runs_vecadd() {
    let listing = json(&["list"]);
    let names: Vec<&str> =
        listing["machines"].as_array().unwrap().iter().map(|m| m["name"].as_str().unwrap()).collect();
    for name in ["rtx3070", "rtx3070-1sm", "jetson-tx2", "jetson-tx2-microgpusim", "turing-tu102"] {
        assert!(names.contains(&name), "{name}");
    }
    for name in ["fermi-c2050", "kepler-gk104", "ablation-baseline", "ecrts25-orin"] {
        assert!(names.contains(&name), "{name}");
    }
    for name in names {
        if FOR_MICRO_KERNELS.contains(&name) {
            // by path: some kernels have the same names
            let file = format!("{}/configs/{name}.ron", env!("CARGO_MANIFEST_DIR"));
            assert_eq!(json(&["inspect", &file])["kind"], "machine", "{name}");
            continue;
        }
        let result = json(&["run", "vecadd", "--machine", name]);
        assert_eq!(result["machine"], name);
        assert!(result["makespan"].as_u64().unwrap() > 0, "{name}");
    }
}

#[test]
fn several_sms_share_the_work() {
    let makespan =
        |machine: &str| json(&["run", "sgemm_naive", "--machine", machine])["makespan"].as_u64().unwrap();
    let (all, one) = (makespan("rtx3070"), makespan("rtx3070-1sm"));
    assert!(all < one, "46 SMs take {all} cycles, one {one}");
}
