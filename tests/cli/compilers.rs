//! The same launch with the PTX of another compiler.

use crate::support::{in_dir, json, json_in, scratch, stderr, stdout, warpbound};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn a_launch_and_a_program_with_ptx_of_another_compiler() {
    let of = |kernel: &str, more: &[&str]| {
        let result = json(&[&["check", kernel], more].concat(), 0)["results"][0].clone();
        (result["kernel"].as_str().unwrap().to_owned(), result["makespan"].as_u64().unwrap())
    };
    for kernel in ["sgemm_naive", "jacobi"] {
        let (ours, other) = (of(kernel, &[]), of(kernel, &["--compiler", "nvrtc"]));
        assert_eq!((ours.0, other.0), (kernel.to_owned(), format!("{kernel}@nvrtc")));
        assert_ne!(ours.1, other.1, "two compilers do not agree on every instruction of {kernel}");
    }
    // the memory contents at the end are the same
    let dir = scratch("compilers");
    let dump = |name: &str, more: &[&str]| {
        let output = in_dir(&dir, &[&["run", "saxpy", "--dump", &format!("y={name}")], more].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        std::fs::read(dir.join(name)).unwrap()
    };
    assert_eq!(dump("clang.bin", &[]), dump("nvrtc.bin", &["--compiler", "nvrtc"]));
    // the PTX is a file in the folder of the module that the launch names
    for (from, to) in
        [("vecadd.ron", "k.ron"), ("vecadd.ptx", "vecadd.ptx"), ("vecadd.ptx", "vecadd.mine.ptx")]
    {
        std::fs::copy(format!("{ROOT}/kernels/vecadd/{from}"), dir.join(to)).unwrap();
    }
    let makespan = |more: &[&str]| {
        json_in(&dir, &[&["check", "k.ron"], more].concat(), 0)["results"][0]["makespan"].clone()
    };
    assert_eq!(makespan(&[]), makespan(&["--compiler", "mine"]));
}

#[test]
fn a_missing_compiler_is_reported() {
    for (args, message) in [
        (["check", "vecadd", "--compiler", "nvcc"], "kernels/vecadd/vecadd.nvcc.ptx"),
        (["check", "jacobi", "--compiler", "nvcc"], "kernels/jacobi/jacobi.nvcc.ptx"),
        (["check", "fig3", "--compiler", "nvrtc"], "launches of PTX kernels"),
        (["check", "kernels/vecadd/vecadd.ptx", "--compiler", "nvrtc"], "this is the code already"),
    ] {
        let output = warpbound(&args);
        assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
}

#[test]
fn a_plan_takes_the_suite_by_several_compilers() {
    let dir = scratch("compilers-sweep");
    let text = "Sweep(kernels: [Suite, SuiteWith({ \"compiler\": [\"nvrtc\"] })], policies: [\"gto\"])";
    std::fs::write(dir.join("plan.ron"), text).unwrap();
    json_in(&dir, &["sweep", "plan.ron", "--out", "out"], 0);
    let lines = std::fs::read_to_string(dir.join("out/results.jsonl")).unwrap();
    let records: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (ours, others) = records.split_at(records.len() / 2);
    assert!(ours.len() >= 45);
    for (ours, other) in ours.iter().zip(others) {
        assert_eq!(ours["kernel"], other["kernel"]);
        assert_eq!((&ours["compiler"], &other["compiler"]), (&serde_json::Value::Null, &"nvrtc".into()));
        assert_eq!((&ours["verdict"], &other["verdict"]), (&"holds".into(), &"holds".into()));
    }
}
