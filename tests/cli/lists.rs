//! Lists of machines and policies for `check` and `compare`: each result equals that of a separate
//! run, records equal those of the sweep, and the number of threads has no effect.

use std::path::Path;

use serde_json::Value;

use crate::support::{in_dir, json, json_in, scratch, stderr, stdout, warpbound};

const FILES: [&str; 3] = ["manifest.json", "results.csv", "results.jsonl"];

#[test]
fn each_result_of_a_list_equals_that_of_a_separate_run() {
    let (machines, policies) = (["ecrts25-orin", "accelsim-sm1"], ["lrr", "gto", "srr"]);
    for kernel in ["vecadd", "four_blocks", "bitonic_sort"] {
        let all =
            json(&["check", kernel, "--machine", &machines.join(","), "--policy", &policies.join(",")], 0);
        let results = all["results"].as_array().unwrap();
        assert_eq!(results.len(), 6);
        let mut results = results.iter();
        for machine in machines {
            for policy in policies {
                let alone = json(&["check", kernel, "--machine", machine, "--policy", policy], 0);
                assert_eq!(results.next().unwrap(), &alone["results"][0], "{kernel} {machine} {policy}");
            }
        }
    }
}

#[test]
fn a_list_is_a_table_with_the_machine_where_there_are_several() {
    let text = |args: &[&str]| stdout(&warpbound(args));
    let both = text(&["check", "vecadd", "--machine", "ecrts25-orin, accelsim-ecrts", "--policy", "gto,lrr"]);
    let lines: Vec<Vec<&str>> = both.lines().map(|line| line.split_whitespace().collect()).collect();
    // two sentences and an empty line come before the table
    assert_eq!(lines[3][..3], ["kernel", "machine", "policy"], "{both}");
    let rows: Vec<&[&str]> = lines[4..8].iter().map(|line| &line[..3]).collect();
    assert_eq!(
        rows,
        [
            ["vecadd", "ecrts25-orin", "gto"],
            ["vecadd", "ecrts25-orin", "lrr"],
            ["vecadd", "accelsim-ecrts", "gto"],
            ["vecadd", "accelsim-ecrts", "lrr"]
        ],
        "{both}"
    );
    assert!(both.contains("4 runs"), "{both}");
    let one = text(&["check", "vecadd", "--policy", "gto,lrr"]);
    assert!(one.lines().nth(2).unwrap().starts_with("kernel  policy"), "{one}");
    let drawn = text(&["check", "fig3", "--policy", "gto,lrr", "--gantt"]);
    for heading in ["\npaper-fig2 under gto\n", "\npaper-fig2 under lrr\n"] {
        assert!(drawn.contains(heading), "{drawn}");
    }
    let compared =
        text(&["compare", "fig3", "--machine", "paper-fig2,ecrts25-orin", "--policy", "srr,gto,oldest"]);
    // fig3 does not run on the second machine
    assert!(compared.starts_with("kernel  blocks"), "{compared}");
    let compared =
        text(&["compare", "vecadd", "--machine", "ecrts25-orin,accelsim-ecrts", "--policy", "srr,gto"]);
    let heading: Vec<&str> = compared.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(heading[..4], ["kernel", "machine", "blocks", "warp"], "{compared}");
    assert_eq!(heading[5..7], ["srr", "gto"], "{compared}");
}

#[test]
fn compare_agrees_with_check_for_each_policy() {
    let args = [
        "compare",
        "vecadd",
        "four_blocks",
        "--policy",
        "srr,oldest",
        "--machine",
        "ecrts25-orin,accelsim-ecrts",
    ];
    let all = json(&args, 0);
    let results = all["results"].as_array().unwrap();
    assert_eq!(results.len(), 4);
    for row in results {
        let (kernel, machine) = (row["kernel"].as_str().unwrap(), row["machine"].as_str().unwrap());
        for (makespan, policy) in row["makespans"].as_array().unwrap().iter().zip(["srr", "oldest"]) {
            let known = json(&["check", kernel, "--machine", machine, "--policy", policy], 0);
            assert_eq!(
                (&makespan["policy"], &makespan["makespan"]),
                (&policy.into(), &known["results"][0]["makespan"])
            );
        }
        // a bound for one policy appears next to those for others
        let applies = kernel == "vecadd" && machine == "ecrts25-orin";
        for name in ["srr", "lwb"].into_iter().filter(|_| applies) {
            let bounds = row["bounds"].as_array().unwrap();
            let bound = bounds.iter().find(|bound| bound["name"] == name).expect("it is there");
            assert!(bound["value"].is_u64(), "{kernel} {name}: {row}");
        }
    }
}

fn same(a: &Path, b: &Path) {
    for file in FILES {
        let read = |dir: &Path| std::fs::read(dir.join(file)).unwrap();
        assert!(read(a) == read(b), "{file} in {} and {}", a.display(), b.display());
    }
}

/// Sweeps the plan in the manifest of a folder, and compares the results.
fn is_the_sweep_of_its_plan(dir: &Path, out: &str, code: i32) -> Vec<Value> {
    let manifest: Value =
        serde_json::from_slice(&std::fs::read(dir.join(out).join("manifest.json")).unwrap()).unwrap();
    std::fs::write(dir.join("plan.ron"), manifest["plan"].as_str().unwrap()).unwrap();
    let swept = format!("{out}-swept");
    json_in(dir, &["sweep", "plan.ron", "--out", &swept], code);
    same(&dir.join(out), &dir.join(&swept));
    let lines = std::fs::read_to_string(dir.join(out).join("results.jsonl")).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn folders_of_results_equal_those_of_a_sweep_on_any_number_of_threads() {
    let dir = scratch("lists-out");
    let run = |command: &str, out: &str, jobs: &str, more: &[&str]| {
        let kernels = [command, "vecadd", "reduce_shfl", "atax_program", "four_blocks"];
        let lists = ["--machine", "ecrts25-orin,ecrts25-orin-4sub", "--policy", "lrr,srr", "--seed", "3"];
        let args = [&kernels[..], &lists, &["--out", out, "--jobs", jobs], more].concat();
        json_in(&dir, &args, 0)
    };
    let set = ["--mem-latency", "100", "--set", "limits.blocks=1", "--bound", "lwb,srr"];
    let one = run("check", "one", "1", &set);
    let three = run("check", "three", "3", &set);
    assert_eq!(one, three);
    same(&dir.join("one"), &dir.join("three"));
    let records = is_the_sweep_of_its_plan(&dir, "one", 0);
    assert_eq!(records.len(), 16);
    assert_eq!(records[15]["kernel"], "four_blocks");
    for (record, result) in records.iter().zip(one["results"].as_array().unwrap()) {
        for (column, field) in
            [("makespan", "makespan"), ("policy", "policy"), ("machine", "machine"), ("verdict", "verdict")]
        {
            assert_eq!(record[column], result[field]);
        }
    }
    let few = ["--max-states", "100"];
    let compared = run("compare", "compared", "2", &few);
    assert_eq!(compared, run("compare", "again", "1", &few));
    same(&dir.join("compared"), &dir.join("again"));
    is_the_sweep_of_its_plan(&dir, "compared", 0);
}

#[test]
fn launch_options_and_defaults_are_part_of_the_plan() {
    let dir = scratch("lists-plan");
    json_in(&dir, &["check", "saxpy", "--block", "32,2", "--arg", "0=1000", "--out", "a"], 0);
    let records = is_the_sweep_of_its_plan(&dir, "a", 0);
    assert_eq!(
        (&records[0]["block"], &records[0]["arg 0"], &records[0]["policy"]),
        (&"32,2,1".into(), &1000.into(), &"gto".into())
    );
    let refused = |args: &[&str], expected: &str| {
        let output = in_dir(&dir, args);
        assert!(
            output.status.code() == Some(1) && stderr(&output).contains(expected),
            "{args:?}: {}",
            stderr(&output)
        );
    };
    refused(&["check", "saxpy", "--out", "a"], "the folder has other results");
    refused(&["check", "saxpy", "--block", "32,2", "--arg", "0=1000", "--out", "a"], "has results already");
    refused(&["check", "fig3", "--out", "b"], "`fig3` names `paper-fig2`");
    refused(&["check", "saxpy", "--arg", "U32(1)", "--out", "b"], "an argument in a plan needs WHICH=");
    refused(&["check", "saxpy", "nope", "--out", "b"], "no embedded kernel of this name");
    assert!(!dir.join("b").exists(), "nothing was begun");
}

#[test]
fn failures_are_records_and_stop_nothing() {
    let dir = scratch("lists-failed");
    let lists = ["--machine", "ecrts25-orin,lrr-witness", "--policy", "gto,lrr"];
    let kernels = ["check", "vecadd", "lrr-witness"];
    let all = json_in(&dir, &[&kernels[..], &lists, &["--out", "out", "--jobs", "2"]].concat(), 3);
    // each runs on only one of the machines
    let shown =
        |result: &Value| (result["kernel"].clone(), result["machine"].clone(), result["verdict"].clone());
    let results: Vec<_> = all["results"].as_array().unwrap().iter().map(shown).collect();
    let row = |kernel: &str, machine: &str, verdict: &str| (kernel.into(), machine.into(), verdict.into());
    assert_eq!(
        results,
        [
            row("vecadd", "ecrts25-orin", "holds"),
            row("vecadd", "ecrts25-orin", "holds"),
            row("lrr-witness", "lrr-witness", "holds"),
            row("lrr-witness", "lrr-witness", "violated"),
        ]
    );
    assert_eq!(all["failed"], serde_json::json!(["vecadd", "lrr-witness"]));
    let records = is_the_sweep_of_its_plan(&dir, "out", 3);
    let failed: Vec<bool> = records.iter().map(|record| record["error"].is_string()).collect();
    assert_eq!(failed, [false, false, true, true, true, true, false, false]);
    assert_eq!(records[7]["gub_verdict"], "violated");
    // a kernel that fails alone is a record, too
    json_in(&dir, &["check", "vecadd", "--machine", "lrr-witness", "--out", "alone"], 1);
    assert!(is_the_sweep_of_its_plan(&dir, "alone", 1)[0]["error"].is_string());
    // the command that reproduces it has the machine of the run
    let command = all["results"][3]["replay_command"].as_str().unwrap();
    assert_eq!(command, "warpbound check lrr-witness --policy lrr --machine lrr-witness");
    let found = [
        "check",
        "lrr-witness",
        "--machine",
        "lrr-witness,ecrts25-orin",
        "--policy",
        "lrr",
        "--counterexamples",
        "found",
    ];
    assert_eq!(in_dir(&dir, &found).status.code(), Some(3));
    assert!(dir.join("found/lrr-witness-lrr-witness-lrr").is_dir());
    assert_eq!(in_dir(&dir, &["compare", "lrr-witness"]).status.code(), Some(3));
}

#[test]
fn mistakes_in_lists_are_reported_together_with_their_places() {
    let args = [
        "check",
        "vecadd",
        "--machine",
        "ecrts25-orin,orin,,ecrts25-orin,-",
        "--policy",
        "gto,foo,lrr,gto,lr",
    ];
    for command in ["check", "compare"] {
        let output = warpbound(&[&[command], &args[1..]].concat());
        let errors = stderr(&output);
        assert!(output.status.code() == Some(1) && output.stdout.is_empty(), "{errors}");
        for (place, expected) in [
            ("--machine:1:14", "no embedded machine of this name"),
            ("--machine:1:19", "a name is missing here"),
            ("--machine:1:20", "`ecrts25-orin` is there twice"),
            ("--machine:1:33", "stdin can be read once only"),
            ("--policy:1:5", "unknown policy `foo`"),
            ("--policy:1:13", "`gto` is there twice"),
            ("--policy:1:17", "unknown policy `lr`"),
        ] {
            let message =
                errors.split("error: ").find(|part| part.starts_with(expected) && part.contains(place));
            assert!(message.is_some(), "{place} {expected}: {errors}");
        }
        assert_eq!(errors.matches("error: ").count(), 7, "{errors}");
    }
    // a setting that no machine supports is reported once
    let output = warpbound(&[
        "check",
        "vecadd",
        "--machine",
        "ecrts25-orin,accelsim-ecrts",
        "--set",
        "units.gmem.latt=1",
    ]);
    assert_eq!(stderr(&output).matches("error: ").count(), 1, "{}", stderr(&output));
}

#[test]
fn a_machine_file_may_have_a_comma_in_its_name() {
    let dir = scratch("lists-comma");
    std::fs::write(dir.join("a,b.ron"), "Machine(name: \"mine\", extends: \"ecrts25-orin\")").unwrap();
    let alone = json_in(&dir, &["check", "vecadd", "--machine", "a,b.ron"], 0);
    assert_eq!(alone["results"].as_array().unwrap().len(), 1);
    assert_eq!(alone["results"][0]["machine"], "mine");
}

/// Each launch of a program is executed once for all machines that need the same data recorded, and
/// a run that fails in the middle does not affect the others.
#[test]
fn a_program_is_executed_once_and_a_failed_run_does_not_affect_the_others() {
    let dir = scratch("lists-program");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::copy(root.join("kernels/bitonic/bitonic.ptx"), dir.join("bitonic.ptx")).unwrap();
    let launch = |threads: u32| {
        format!(
            "Launch(entry: \"bitonic_step\", grid: ({}, 1, 1), block: ({threads}, 1, 1), \
             args: [Ptr(\"data\"), U32(1), U32(2)])",
            512 / threads
        )
    };
    let program = format!(
        "Program(doc: \"two launches\", module: \"bitonic.ptx\", steps: [{}, {}], \
         buffers: [Buffer(name: \"data\", elem: I32, len: 512, init: Uniform(-99, 99))])",
        launch(64),
        launch(256)
    );
    std::fs::write(dir.join("two.ron"), program).unwrap();
    let orin = std::fs::read_to_string(root.join("configs/ecrts25-orin.ron")).unwrap();
    let small = orin.replace("threads: 1536", "threads: 128").replace("ecrts25-orin", "small");
    assert_ne!(small, orin);
    std::fs::write(dir.join("small.ron"), small).unwrap();
    let machines = ["small.ron", "ecrts25-orin", "ecrts25-orin-banks", "accelsim-sm1"];
    let policies = ["gto", "lrr"];
    let list = machines.join(",");
    let of = |machine: &str, policy: &str, more: &[&str]| {
        let args = [&["check", "two.ron", "--machine", machine, "--policy", policy], more].concat();
        in_dir(&dir, &args)
    };
    let all = of(&list, &policies.join(","), &["--format", "json"]);
    assert_eq!(all.status.code(), Some(1));
    let all = crate::json_output::read(&all.stdout);
    let error_message = all["errors"][0]["message"].as_str().unwrap();
    assert!(
        error_message.starts_with("in launch 1 (line 1 of the program): block larger than the SM holds"),
        "{error_message}"
    );
    let mut results = all["results"].as_array().unwrap().iter();
    for machine in machines {
        for policy in policies {
            let alone = of(machine, policy, &["--format", "json"]);
            let alone = crate::json_output::read(&alone.stdout);
            assert_eq!(results.next(), alone["results"].as_array().unwrap().first(), "{machine} {policy}");
        }
    }
    assert_eq!(results.next(), None);
    let executed = |machine: &str, policies: &str| {
        stderr(&of(machine, policies, &["-v", "-v"])).matches("executing").count()
    };
    // the three policies of two machines share one run; each machine that records other data has
    // one of its own
    assert_eq!(executed("ecrts25-orin", "gto"), 2);
    assert_eq!(executed("small.ron,ecrts25-orin", "gto,lrr,srr"), 2);
    assert_eq!(executed("ecrts25-orin,ecrts25-orin-banks", "gto,lrr"), 4);
}
