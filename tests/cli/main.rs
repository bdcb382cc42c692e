//! Tests of the command line: results, exit codes, invalid inputs, files, batches, and runs that
//! are stopped early.

mod ablate;
mod accelsim;
mod all_paths;
mod anomaly;
mod answers;
mod applications;
mod batches;
mod cfg;
mod choices;
mod commands_page;
mod compile;
mod compilers;
mod completions;
mod ends;
mod evidence_pack;
mod explain;
mod fermi;
#[path = "../support/files.rs"]
mod files;
mod hardware;
mod held_bounds;
mod hunt;
mod hybrid;
mod import_config;
mod inputs;
#[path = "../support/json_output.rs"]
mod json_output;
mod lists;
mod machine_code;
mod machines;
mod outputs;
mod over;
mod plots;
mod premises;
mod pwcet;
mod readme;
mod reports;
mod reproduce;
mod schema;
mod stopping;
mod support;
mod sweeps;
mod terminal;
mod terms;
mod traces;
mod vocabulary;
mod worst;

use std::path::Path;

use serde_json::Value;

use support::{bound, in_dir, json, scratch, stderr, stdout, warpbound};

#[test]
fn sub_cores_are_a_setting_and_are_reported() {
    let dir = scratch("sub-cores");
    let (replay, csv) = (dir.join("run.replay"), dir.join("run.csv"));
    let files = [replay.to_str().unwrap(), csv.to_str().unwrap()];
    let on = ["--machine", "ecrts25-orin-4sub"];
    let run = |more: &[&str]| json(&[&["run", "reduce_shfl"], &on[..], more].concat(), 0);
    let result = run(&["--trace", files[0], "--trace", files[1]]);
    let makespan = result["makespan"].as_u64().unwrap();
    let sum = |of: &Value| of.as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum::<u64>();
    let cores = result["sub_cores"].as_array().unwrap();
    assert_eq!(cores.len(), 4);
    let issues: Vec<u64> = cores.iter().map(|core| core["issues"].as_u64().unwrap()).collect();
    for (core, issues) in cores.iter().zip(&issues) {
        assert_eq!(sum(&core["stalls"]) + issues, makespan);
    }
    assert_eq!(sum(&result["stalls"]) + issues.iter().sum::<u64>(), 4 * makespan);
    assert!(["gub", "iwb", "swb"].iter().all(|name| bound(&result, name)["status"] == "holds"));
    // private units exist four times, the load/store path once
    let table = std::fs::read_to_string(&csv).unwrap();
    assert!(table.contains(",int[3],") && table.contains(",gmem,") && !table.contains("gmem["));
    // the schedule of all sub-cores can be replayed, on this machine only
    let policy = format!("replay:{}", files[0]);
    assert_eq!(run(&["--policy", &policy])["makespan"], makespan);
    let one = json(&["run", "reduce_shfl", "--policy", &policy], 1);
    assert!(one["errors"][0]["message"].as_str().unwrap().contains("another warp of its sub-core"), "{one}");
    // with one sub-core, sub-cores are not mentioned; what cannot be explored is rejected
    assert!(json(&["run", "fig3"], 0).get("sub_cores").is_none());
    assert_eq!(json(&["check", "fig3", "--set", "sub_cores=2"], 0)["makespan"], 14);
    let worst = json(&["explore", "fig3", "--set", "sub_cores=2", "--set", "units.red.shared=true"], 0);
    assert_eq!((&worst["worst"], &bound(&worst, "swb")["value"]), (&Value::from(16), &Value::from(16)));
    let vary = ["explore", "fig3", "--set", "sub_cores=2", "--vary", "red=1..=3"];
    assert!(json(&vary, 1)["errors"][0]["message"].as_str().unwrap().contains("one sub-core"));
    assert_eq!(warpbound(&["check", "fig3", "--set", "sub_cores=5"]).status.code(), Some(1));
}

#[test]
fn figure_3_of_the_paper() {
    let result = json(&["check", "fig3"], 0);
    assert_eq!(result["makespan"], 17);
    assert_eq!(bound(&result, "gub")["value"], 23);
    assert_eq!(bound(&result, "iwb")["value"], 24);
    assert_eq!(result["verdict"], "holds");
    let phases = json(&["phases", "fig3"], 0);
    let expected = serde_json::json!([
        {"kind": "exec", "start": 0, "end": 7, "pub": 16}, {"kind": "idle", "start": 7, "end": 8, "pub": 17},
        {"kind": "exec", "start": 8, "end": 10, "pub": 19}, {"kind": "idle", "start": 10, "end": 14, "pub": 23}
    ]);
    assert_eq!(phases["warps"][0]["phases"], expected);
    assert_eq!(phases["warps"][1]["phases"], expected);
    // GUB is the largest of the warps' upper bounds
    assert_eq!((&phases["warps"][0]["wub"], &phases["warps"][1]["wub"]), (&23.into(), &23.into()));
    let phases = json(&["phases", "sgemm_naive"], 0);
    assert_eq!(
        (&phases["warps"][0]["wub"], &phases["warps"][0]["phases"][0]["pub"]),
        (&Value::Null, &Value::Null)
    );
    assert!(phases["no_upper_bounds"].as_str().is_some_and(|why| why.contains("barriers")), "{phases}");
}

#[test]
fn the_lrr_witness_breaks_gub_and_its_folder_replays() {
    let result = json(&["check", "lrr-witness"], 3);
    assert_eq!((&result["makespan"], &result["verdict"]), (&148.into(), &"violated".into()));
    // the documented fields of the output
    assert_eq!(result["schema"], 3);
    assert_eq!(result["policy"], "lrr");
    assert_eq!(
        result["warps"][0],
        serde_json::json!({"warp": 0, "finish": 148, "isolated": 84, "exec": 84, "idle": 0})
    );
    assert_eq!(
        result["warps"][1],
        serde_json::json!({"warp": 1, "finish": 116, "isolated": 56, "exec": 38, "idle": 18})
    );
    assert_eq!(
        *bound(&result, "gub"),
        serde_json::json!({"name": "gub", "value": 140, "status": "violated", "overestimation": -0.0541, "parts": [
            {"part": "alone", "cycles": 56}, {"part": "exec-phases", "cycles": 84}
        ]})
    );
    assert_eq!(
        *bound(&result, "iwb"),
        serde_json::json!({"name": "iwb", "value": 200, "status": "holds", "overestimation": 0.3514, "parts": [
            {"part": "alone", "cycles": 56},
            {"part": "units", "unit": "f0", "cycles": 32},
            {"part": "units", "unit": "f1", "cycles": 80},
            {"part": "units", "unit": "f2", "cycles": 32}
        ]})
    );

    let dir = scratch("counterexample");
    let output = warpbound(&["check", "lrr-witness", "--counterexamples", dir.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(3));
    let text = stdout(&output);
    assert!(text.contains("cd ") && text.contains("replay:schedule.replay"), "{text}");
    let folder = dir.join("lrr-witness-lrr");
    let readme = std::fs::read_to_string(folder.join("README")).unwrap();
    let command =
        readme.lines().find(|line| line.contains("warpbound check")).expect("a replay command").trim();
    let words: Vec<&str> = command.split_whitespace().skip(1).chain(["--format", "json"]).collect();
    let again = in_dir(&folder, &words);
    assert_eq!(again.status.code(), Some(3), "{}", stderr(&again));
    let again: Value = json_output::read(&again.stdout);
    assert_eq!((&again["makespan"], &again["bounds"]), (&result["makespan"], &result["bounds"]));
    // the kernel shows it by itself, from any working directory
    let kernel = folder.join("kernel.warp");
    for alone in [json(&["check", kernel.to_str().unwrap()], 3), {
        let output = in_dir(&folder, &["check", "kernel.warp", "--format", "json"]);
        json_output::read(&output.stdout)
    }] {
        assert_eq!((&alone["makespan"], &alone["bounds"]), (&result["makespan"], &result["bounds"]));
    }
}

#[test]
fn gating_bounds_decide_the_exit_code() {
    assert_eq!(json(&["check", "lrr-witness", "--bound", "iwb"], 0)["verdict"], "holds");
    assert_eq!(json(&["check", "lrr-witness", "--bound", "gub"], 3)["verdict"], "violated");
    let result = json(&["check", "lrr-witness", "--policy", "srr", "--bound", "gub"], 0);
    assert_eq!(result["verdict"], "not-applicable");
    assert!(bound(&result, "gub")["reason"].as_str().unwrap().contains("work conserving"));
    let wrong = warpbound(&["check", "lrr-witness", "--bound", "gup"]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(stderr(&wrong).contains("did you mean `gub`"));
}

#[test]
fn vecadd_gives_right_numbers_and_right_bytes() {
    let result = json(&["check", "kernels/vecadd/vecadd.ron"], 0);
    assert_eq!(result["verdict"], "holds");
    assert_eq!(result["blocks"].as_array().map(Vec::len), Some(4));
    let total: u64 =
        result["blocks"].as_array().unwrap().iter().map(|b| b["makespan"].as_u64().unwrap()).sum();
    assert_eq!(result["makespan"], total);

    let dir = scratch("vecadd");
    let files: Vec<String> =
        ["a", "b", "c"].iter().map(|n| format!("{n}={}", dir.join(n).display())).collect();
    let mut args = vec!["run", "vecadd"];
    files.iter().for_each(|file| args.extend(["--dump", file]));
    let run = json(&args, 0);
    let floats = |name: &str| -> Vec<f32> {
        let bytes = std::fs::read(dir.join(name)).unwrap();
        bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
    };
    let (a, b, c) = (floats("a"), floats("b"), floats("c"));
    assert_eq!(c.len(), a.len());
    assert!(c[..1000].iter().zip(a.iter().zip(&b)).all(|(c, (a, b))| *c == a + b));
    assert!(c[1000..].iter().all(|c| *c == 0.0), "beyond n nothing is written");
    let stalls: u64 = run["stalls"].as_object().unwrap().values().map(|v| v.as_u64().unwrap()).sum();
    let utilisation = run["issue_utilisation"].as_f64().unwrap();
    let makespan = run["makespan"].as_u64().unwrap();
    let issues = makespan - stalls;
    assert!(
        (issues as f64 / makespan as f64 - utilisation).abs() < 1e-4,
        "issues and stalls add up to the makespan"
    );
    assert!(run.get("exec_seconds").is_none(), "without --timings the output is reproducible");
}

#[test]
fn the_suite_holds_and_is_the_same_every_time() {
    let first = warpbound(&["check", "--format", "json", "--self-check"]);
    assert_eq!(first.status.code(), Some(0), "{}{}", stdout(&first), stderr(&first));
    let result: Value = json_output::read(&first.stdout);
    let rows = result["results"].as_array().unwrap();
    assert!(rows.len() >= 60, "{} rows", rows.len());
    for row in rows {
        assert_eq!(bound(row, "iwb")["status"], "holds", "{}", row["kernel"]);
        assert!(row["self_checked_warps"].as_u64().unwrap() > 0, "{}", row["kernel"]);
    }
    let policies: std::collections::BTreeSet<&str> =
        rows.iter().map(|r| r["policy"].as_str().unwrap()).collect();
    assert_eq!(policies.into_iter().collect::<Vec<_>>(), ["gto", "lrr"]);
    let again = warpbound(&["check", "--format", "json", "--self-check"]);
    assert_eq!(first.stdout, again.stdout);
}

#[test]
fn traces_are_written_completely_or_not_at_all() {
    let dir = scratch("traces");
    let paths: Vec<String> = ["t.json", "t.kanata", "t.csv", "t.replay"]
        .iter()
        .map(|n| dir.join(n).display().to_string())
        .collect();
    let mut args = vec!["run", "fig3"];
    paths.iter().for_each(|path| args.extend(["--trace", path]));
    assert_eq!(warpbound(&args).status.code(), Some(0));
    let perfetto: Value = serde_json::from_slice(&std::fs::read(&paths[0]).unwrap()).unwrap();
    assert!(perfetto["traceEvents"].as_array().unwrap().len() > 8);
    assert!(std::fs::read_to_string(&paths[1]).unwrap().starts_with("Kanata\t0004"));
    let csv = std::fs::read_to_string(&paths[2]).unwrap();
    assert_eq!(csv.lines().next(), Some("block,warp,index,pc,issue,start,done,unit,line,text"));
    assert_eq!(csv.lines().count(), 1 + 8);
    assert!(csv.contains("\n0,1,1,1,4,7,14,blue,"), "w1's i1 initiates at 7:\n{csv}");
    let replay = format!("replay:{}", paths[3]);
    assert_eq!(json(&["check", "fig3", "--policy", &replay], 0)["makespan"], 17);

    std::fs::write(dir.join("empty.replay"), "# nothing\n").unwrap();
    let before = std::fs::read_dir(&dir).unwrap().count();
    let output = in_dir(&dir, &["run", "fig3", "--trace", "failed.csv", "--policy", "replay:empty.replay"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("empty.replay"), "{}", stderr(&output));
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), before, "a run that fails leaves no file");
    assert_eq!(warpbound(&["run", "fig3", "--trace", "x.vcd"]).status.code(), Some(1));
}

#[test]
fn settings_reach_the_machine() {
    let at = |l: &str| json(&["check", "vecadd", "--mem-latency", l], 0)["makespan"].as_u64().unwrap();
    assert!(at("400") > at("200"));
    let same = json(&["check", "vecadd", "--set", "units.gmem.lat=99"], 0);
    assert_eq!(same["makespan"], at("100"));
    assert_ne!(same["machine_digest"], json(&["check", "vecadd"], 0)["machine_digest"]);
    assert_eq!(json(&["check", "fig3", "--set", "policy=lrr"], 0)["policy"], "lrr");
}

#[test]
fn bank_conflicts_are_reported_by_source_line() {
    let run = |kernel: &str| json(&["run", kernel, "--machine", "ecrts25-orin-banks"], 0);
    let worst = |result: &Value| -> Vec<u64> {
        let lines = result["bank_conflicts"].as_array().expect("a report");
        lines.iter().map(|line| line["worst_transactions"].as_u64().unwrap()).collect()
    };
    let (conflict, padded) = (run("transpose_conflict"), run("transpose_padded"));
    assert_eq!(worst(&conflict).iter().max(), Some(&32), "{conflict}");
    assert_eq!(worst(&padded).iter().max(), Some(&1), "{padded}");
    assert!(conflict["makespan"].as_u64() > padded["makespan"].as_u64());
    let set = ["run", "transpose_conflict", "--set", "shared_memory.rule=Turing"];
    assert_eq!(json(&set, 0)["bank_conflicts"], conflict["bank_conflicts"]);
    let text = stdout(&warpbound(&set));
    assert!(text.contains("shared accesses") && text.contains("ld.shared"), "{text}");
    // perfect memory is the default
    assert!(json(&["run", "transpose_conflict"], 0).get("bank_conflicts").is_none());
    let wrong = warpbound(&["run", "transpose_conflict", "--set", "shared_memory.rule=Fermi"]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(stderr(&wrong).contains("Pascal"), "{}", stderr(&wrong));
}

#[test]
fn a_bare_ptx_file_is_launched_from_the_command_line() {
    let result = json(
        &[
            "run",
            "kernels/vecadd/vecadd.ptx",
            "--grid",
            "1",
            "--block",
            "64,1,1",
            "--arg",
            "Buffer(name: \"a\", elem: F32, len: 64, init: Iota)",
            "--arg",
            "Buffer(name: \"b\", elem: F32, len: 64, init: Fill(0.5))",
            "--arg",
            "Buffer(name: \"c\", elem: F32, len: 64, init: Zero)",
            "--arg",
            "U32(64)",
        ],
        0,
    );
    assert_eq!(result["kernel"], "vecadd");
    assert_eq!(result["warps"].as_array().map(Vec::len), Some(2));
}

#[test]
fn bad_inputs_get_place_text_and_hint() {
    let dir = scratch("bad");
    let file = |name: &str, text: &str| {
        let path = dir.join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let warp = file("bad.warp", ".warps 2\n f0 r0\n 9x r1\n f1 r2, _\n");
    let zero = file(
        "zero.ron",
        "Machine(name: \"z\", units: { \"red\": Unit(init: 0, lat: 1) }, ops: { \"f0\": \"rad\" })",
    );
    let broken = file("broken.ron", "Machine(name: \"z\", units: { \"red\": Unit(init: 1, lat 1) })");
    let twice = file(
        "twice.ron",
        "Machine(name: \"t\", units: { \"red\": Unit(init: 1, lat: 1), \"red\": Unit(init: 2, lat: 1) }, ops: {})",
    );
    let launch = file(
        "l.ron",
        "Launch(module: \"k.ptx\", entry: \"k\", grid: (1,1,1), block: (2048,1,1), args: [U32(1), F32(1.0)])",
    );
    file(
        "k.ptx",
        ".version 6.3\n.target sm_61\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n ret;\n}\n",
    );
    let garbage = file("garbage.ptx", &"\u{1}garbage }{ @@ ;; \u{fffd}\n".repeat(20_000));
    let binary = dir.join("binary.warp");
    std::fs::write(&binary, [0xff, 0xfe, 0, 1]).unwrap();
    let cases: [(&[&str], &[&str]); 13] = [
        (&["check", &warp], &["bad.warp:3:2", "9x", "bad.warp:4:9"]),
        (&["check", "fig3", "--machine", &zero], &["zero.ron:1", "units.red.init is 0", "unit `rad`"]),
        (&["check", "fig3", "--machine", &broken], &["broken.ron:1:"]),
        (&["check", "fig3", "--machine", &twice], &["twice.ron:1:", "`red` is given twice here"]),
        (&["check", &launch], &["2048", "takes 1 arguments, 2 given", "args: [", "U64(256)"]),
        (&["check", &garbage, "--grid", "1", "--block", "1"], &["garbage.ptx:1:"]),
        (&["check", binary.to_str().unwrap()], &["not UTF-8"]),
        (&["check", "nowhere.warp"], &["nowhere.warp", "cannot read"]),
        (&["check", "vecad"], &["did you mean `vecadd`"]),
        (&["check", "fig3", "--machine", "ecrts25-orin"], &["maps op class `f0`", "fig3.warp:"]),
        (&["check", "vecadd", "--set", "units.gmme.lat=3"], &["--set units.gmme.lat=3", "gmem"]),
        (&["check", "fig3", "--grid", "3"], &["launches of PTX kernels"]),
        (&["run", "vecadd", "--dump", "d=x"], &["no buffer or module variable `d`", "a, b, c"]),
    ];
    for (args, expected) in cases {
        let output = warpbound(args);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {text}");
        assert!(output.stdout.is_empty(), "{args:?}");
        for part in expected {
            assert!(text.contains(part), "{args:?} does not say `{part}`:\n{text}");
        }
        let as_json = warpbound(&[args, &["--format", "json"]].concat());
        let errors: Value = json_output::read(&as_json.stdout);
        assert!(!errors["errors"].as_array().unwrap().is_empty());
        assert!(errors["errors"][0]["message"].is_string() && errors["errors"][0]["line"].is_u64());
    }
    assert_eq!(warpbound(&["chekc"]).status.code(), Some(2));
    assert_eq!(warpbound(&["check", "--format", "yaml"]).status.code(), Some(2));
}

#[test]
fn errors_of_a_running_kernel_name_the_line() {
    let dir = scratch("kernel-errors");
    let ptx = |body: &str| {
        format!(
            ".version 6.3\n.target sm_61\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n.reg .pred %p<3>;\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [p];\n{body}\nret;\n}}\n"
        )
    };
    let cases: [(&str, &str, &[&str]); 4] = [
        (
            "oob",
            "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\nst.global.u32 [%rd2+4096], %r1;",
            &["k.ptx:13", "`a`", "lane 0"],
        ),
        ("misaligned", "st.global.u32 [%rd1+2], 7;", &["k.ptx:10", "align"]),
        (
            "deadlock",
            "mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 32;\n@%p1 bar.sync 1, 64;\n@!%p1 bar.sync 2, 64;",
            &["k.ptx:12", "k.ptx:13"],
        ),
        ("endless", "L:\nadd.s32 %r1, %r1, 1;\nbra L;", &["--max-instructions", "k.ptx:1"]),
    ];
    for (name, body, expected) in cases {
        let folder = dir.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("k.ptx"), ptx(body)).unwrap();
        let output = in_dir(
            &folder,
            &[
                "check",
                "k.ptx",
                "--grid",
                "1",
                "--block",
                "64",
                "--max-instructions",
                "100000",
                "--arg",
                "Buffer(name: \"a\", elem: U32, len: 64, init: Zero)",
            ],
        );
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{name}: {text}{}", stdout(&output));
        for part in expected {
            assert!(text.contains(part), "{name} does not say `{part}`:\n{text}");
        }
    }
}

#[test]
fn every_shipped_ptx_is_supported() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
    let mut seen = 0;
    for entry in std::fs::read_dir(root).unwrap() {
        for file in std::fs::read_dir(entry.unwrap().path()).into_iter().flatten() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "ptx") {
                let result = json(&["inspect", path.to_str().unwrap()], 0);
                assert_eq!(result["unsupported"], serde_json::json!([]), "{}", path.display());
                assert!(!result["entries"].as_array().unwrap().is_empty());
                seen += 1;
            }
        }
    }
    assert!(seen >= 18, "{seen} files");
}

#[test]
fn explore_finds_the_extremes_and_reports_what_it_proved() {
    for (kernel, worst, best, gub, iwb, code) in [
        ("witness-929", 48, 35, 44, 58, 3),
        ("fig3", 18, 17, 23, 24, 0),
        ("witness-identical", 106, 91, 100, 139, 3),
    ] {
        let result = json(&["explore", kernel], code);
        assert_eq!(
            (&result["worst"], &result["best"], &result["complete"]),
            (&worst.into(), &best.into(), &true.into())
        );
        assert_eq!(
            (&bound(&result, "gub")["value"], &bound(&result, "iwb")["value"]),
            (&gub.into(), &iwb.into())
        );
        assert!(result["states"].as_u64().unwrap() > 0 && !result["witness"].as_array().unwrap().is_empty());
    }
    let schedule = scratch("explore").join("worst.replay");
    json(&["explore", "witness-929", "--worst-schedule", schedule.to_str().unwrap()], 3);
    let replay = format!("replay:{}", schedule.display());
    assert_eq!(json(&["check", "witness-929", "--policy", &replay], 3)["makespan"], 48);

    let short = json(&["explore", "witness-929", "--max-states", "10"], 0);
    assert_eq!(short["complete"], false);
    assert!(short.get("worst").is_none() && short.get("best").is_none(), "never a wrong worst");
    assert!(
        short["worst_at_least"].as_u64().unwrap() <= 48 && short["worst_at_most"].as_u64().unwrap() >= 48
    );

    let varied = json(&["explore", "lrr-witness", "--vary", "f3=0..=30"], 0);
    assert!(varied["worst"].as_u64() > varied["all_longest"].as_u64(), "a timing anomaly under lrr");
    assert_eq!(warpbound(&["explore", "fig3", "--policy", "lrr"]).status.code(), Some(1));
}

#[test]
fn compare_lists_all_bounds_with_the_explored_worst_case() {
    let result = json(&["compare", "witness-929", "fig3"], 0);
    let first = &result["results"][0];
    assert_eq!((&first["explored_worst"], &first["tightest_proved"]), (&48.into(), &"swb".into()));
    assert!(first["makespans"][1]["makespan"].as_u64().unwrap() <= 48);
}

/// Commands that cover only the paper model report that, instead of giving its numbers for another
/// machine.
#[test]
fn commands_for_the_paper_model_refuse_other_machines() {
    for args in [
        &["phases", "chain"][..],
        &["anomaly", "chain", "--unit", "int"],
        &["explore", "chain", "--vary", "int=1..=3", "--policy", "gto"],
    ] {
        let output = warpbound(&[args, &["--set", "pipeline.launch.start=100"]].concat());
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(stderr(&output).contains("launching takes time"), "{args:?}: {}", stderr(&output));
    }
    let compared = json(&["compare", "chain", "--set", "pipeline.launch.start=100"], 0);
    assert!(compared["results"][0]["explored_worst"].is_null(), "{compared}");
}
