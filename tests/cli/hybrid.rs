//! `hybrid`: estimates of kernels, of traces, and of the examples of Betts and Donaldson,
//! ECRTS 2013.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::support::{in_dir, json, json_in, scratch, stderr, stdout, warpbound};

fn files() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/hybrid_files")
}

/// Returns the only result of a command in a folder.
fn result(dir: &Path, args: &[&str]) -> Value {
    json_in(dir, args, 0)["results"][0].clone()
}

fn estimate<'a>(result: &'a Value, name: &str) -> &'a Value {
    result["estimates"].as_array().unwrap().iter().find(|row| row["name"] == name).expect("it is listed")
}

fn value(result: &Value, name: &str) -> u64 {
    estimate(result, name)["value"].as_u64().unwrap_or_else(|| panic!("{name}: {result}"))
}

fn example(traces: &str, more: &[&str]) -> Value {
    let args = ["hybrid", "--graph", "figure1.graph", "--traces", traces];
    result(&files(), &[&args, more].concat())
}

#[test]
fn the_running_example_of_the_paper() {
    let found = example("section5.traces", &[]);
    let values = ["z_warp", "z_warp_tree", "z_dynamic", "z_hybrid"].map(|name| value(&found, name));
    assert_eq!((found["high_water"].as_u64(), values), (Some(34), [30, 30, 37, 38]));
    assert_eq!(estimate(&found, "z_warp")["below_high_water"], true);
    assert_eq!(estimate(&found, "z_hybrid")["below_high_water"], false);
    assert!(
        estimate(&found, "hybrid_blocks")["missing"].as_str().unwrap().contains("which warps form a block")
    );
    assert_eq!(found["never_observed"], 1);
    let text =
        stdout(&in_dir(&files(), &["hybrid", "--graph", "figure1.graph", "--traces", "section5.traces"]));
    assert!(text.contains("BELOW the high-water mark") && text.contains("never observed"), "{text}");
}

#[test]
fn the_figures_of_the_paper() {
    // figure 1: one side takes 10 + 2 * 7 + 7, the other 3 + 5
    let found = example("figure1.traces", &[]);
    assert_eq!((value(&found, "z_warp"), value(&found, "z_warp_tree")), (31, 31));
    // a given bound replaces the observed one
    let found = example("figure1.traces", &["--loop-bound", "i2=5"]);
    assert_eq!((value(&found, "z_warp"), value(&found, "z_warp_tree")), (52, 52));
    assert_eq!(
        (found["loops"][0]["observed"].as_u64(), found["loops"][0]["given"].as_u64()),
        (Some(2), Some(5))
    );
    let waves = &example("figure6.traces", &[])["waves"];
    let values = ["waves", "warps_per_wave", "delta"].map(|name| waves[name].as_u64().unwrap());
    assert_eq!(values, [2, 3, 8]);
}

#[test]
fn loop_bounds_that_are_wrong_are_refused() {
    let dir = scratch("hybrid-bounds");
    for file in ["figure1.graph", "figure1.traces"] {
        std::fs::copy(files().join(file), dir.join(file)).unwrap();
    }
    let args = ["hybrid", "--graph", "figure1.graph", "--traces", "figure1.traces"];
    let refused = |more: &[&str]| {
        let output = in_dir(&dir, &[&args, more].concat());
        assert_eq!(output.status.code(), Some(1), "{more:?}");
        stderr(&output)
    };
    let error_message = refused(&["--loop-bound", "i2=1"]);
    assert!(
        error_message.contains("figure1.traces:6:1")
            && error_message.contains("in run 1, warp 0 of SM 0 goes round"),
        "{error_message}"
    );
    let error_message = refused(&["--loop-bound", "i3=4"]);
    assert!(
        error_message.contains("no loop has its header at node i3") && error_message.contains("at node i2"),
        "{error_message}"
    );
    assert!(refused(&["--loop-bound", "i2"]).contains("expected NODE=N"));
    std::fs::write(dir.join("bounds"), "# comment\ni2 = 3 # at most\nb2=1\n").unwrap();
    let error_message = refused(&["--annotations", "bounds"]);
    assert!(
        error_message.contains("bounds:3:1") && error_message.contains("no loop has its header at node b2"),
        "{error_message}"
    );
    std::fs::write(dir.join("bounds"), "i2 = 3\n").unwrap();
    assert_eq!(value(&result(&dir, &[&args[..], &["--annotations", "bounds"]].concat()), "z_warp"), 38);
    // bounds of a kernel by line, with the run's seed
    let loops = &json(&["hybrid", "histogram", "--runs", "1"], 0)["results"][0]["loops"];
    let found =
        loops.as_array().unwrap().iter().find(|of| of["observed"].as_u64() > Some(0)).expect("a loop");
    let bound = format!("{}=0", found["line"]);
    let output = warpbound(&["hybrid", "histogram", "--runs", "2", "--seed", "7", "--loop-bound", &bound]);
    let error_message = stderr(&output);
    assert!(
        output.status.code() == Some(1)
            && error_message.contains("in run 1, warp")
            && error_message.contains("(seed 7)"),
        "{error_message}"
    );
    let error_message =
        stderr(&warpbound(&["hybrid", "histogram", "--runs", "1", "--loop-bound", "999999=1"]));
    assert!(error_message.contains(&format!("{}", found["line"])), "{error_message}");
}

/// The fields that the result for traces shares with the result for runs.
const COMMON: [&str; 9] = [
    "ipoints",
    "warps",
    "events",
    "high_water",
    "shortest_run",
    "longest_warp",
    "loops",
    "transitions",
    "limits",
];

#[test]
fn a_written_trace_gives_the_result_of_the_run() {
    let dir = scratch("hybrid-round-trip");
    for (kernel, machine) in [("histogram", "ecrts25-orin"), ("vecadd", "rtx3070")] {
        let on = ["--seed", "3", "--machine", machine];
        let trace = ["run", kernel, "--trace", "t.ipoints", "--force"];
        let output = in_dir(&dir, &[&trace[..], &on].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        let direct = result(&dir, &[&["hybrid", kernel, "--runs", "1"][..], &on].concat());
        let read = result(&dir, &[&["hybrid", kernel, "--traces", "t.ipoints"][..], &on].concat());
        for field in COMMON {
            assert_eq!(direct[field], read[field], "{kernel} {field}");
        }
        for name in ["z_warp", "z_dynamic", "z_hybrid"] {
            assert_eq!(estimate(&direct, name), estimate(&read, name), "{kernel}");
        }
        let events = std::fs::read_to_string(dir.join("t.ipoints")).unwrap();
        let lines = events.lines().filter(|line| !line.starts_with('#') && *line != "run").count();
        assert_eq!(direct["events"].as_u64(), Some(lines as u64));
        assert_eq!(events.matches("\nend ").count() as u64, direct["warps"].as_u64().unwrap());
    }
}

#[test]
fn runs_of_kernels_are_walks_of_their_graphs() {
    for kernel in ["ifelse", "loopbreak", "histogram", "bitonic_shared", "bfs_expand"] {
        for policy in ["gto", "lrr"] {
            for ipoints in ["blocks", "loops"] {
                let args = ["hybrid", kernel, "--runs", "2", "--policy", policy, "--ipoints", ipoints];
                let found = &json(&args, 0)["results"][0];
                let mark = found["high_water"].as_u64().unwrap();
                assert!(value(found, "z_warp") >= found["longest_warp"].as_u64().unwrap(), "{args:?}");
                // the last warp starts within the jitter; blocks follow each other in their CTA
                // slots
                for name in ["z_dynamic", "hybrid_blocks", "hybrid_sections"] {
                    assert!(value(found, name) >= mark, "{args:?} {name}");
                }
                for row in found["estimates"].as_array().unwrap() {
                    let below = row["value"].as_u64().map(|value| value < mark);
                    assert_eq!(row["below_high_water"].as_bool(), below, "{args:?} {row}");
                }
            }
        }
    }
}

/// Graph and traces define which warps form a block and where they wait. Warp 0 needs 10 cycles to
/// the barrier and does not wait, warp 1 needs 3 cycles after it.
#[test]
fn barriers_of_traces_are_sections() {
    let dir = scratch("hybrid-barriers");
    let graph = "b0 -> b1\nb1 -> b2\nb2 -> b3\n";
    std::fs::write(
        dir.join("t"),
        "b0 0 0 0\nb0 0 1 0\nb1 0 1 2\nb1 0 0 10\nb2 0 0 11\nb3 0 0 12\nb2 0 1 13\nb3 0 1 14\n",
    )
    .unwrap();
    let of = |more: &str| {
        std::fs::write(dir.join("g"), format!("{graph}{more}")).unwrap();
        result(&dir, &["hybrid", "--graph", "g", "--traces", "t"])
    };
    let found = of("block 2\nbarrier b1\n");
    // 10 + 3 + 1; a warp alone: 10 + 11 + 1
    assert_eq!(["z_warp", "hybrid_blocks", "hybrid_sections"].map(|name| value(&found, name)), [22, 22, 14]);
    assert_eq!((found["high_water"].as_u64(), found["waves"]["block_path"].as_u64()), (Some(14), Some(14)));
    let found = of("block 2\n");
    assert_eq!(value(&found, "hybrid_blocks"), 22);
    let why = |found: &Value| estimate(found, "hybrid_sections")["missing"].as_str().unwrap().to_owned();
    assert!(why(&found).contains("neither the positions of the barriers"), "{found}");
    let found = of("block 3\nbarrier b1\n");
    assert!(
        why(&found).contains("warp 0 passed a barrier before all warps of its block had arrived"),
        "{found}"
    );
    assert!(estimate(&found, "hybrid_blocks")["missing"].is_string());
}

/// Runs with the paths of the first one are not timed again: all of `scan_naive`, none of
/// `bitonic_shared`.
#[test]
fn several_runs_combine_the_results_of_each() {
    let longest = |found: &Value| -> Vec<Option<u64>> {
        found["transitions"].as_array().unwrap().iter().map(|row| row["longest"].as_u64()).collect()
    };
    for kernel in ["scan_naive", "bitonic_shared"] {
        let together = &json(&["hybrid", kernel, "--runs", "3", "--seed", "5"], 0)["results"][0];
        let alone = ["5", "6", "7"]
            .map(|seed| json(&["hybrid", kernel, "--runs", "1", "--seed", seed], 0)["results"][0].clone());
        let most = |field: &str| alone.iter().map(|found| found[field].as_u64().unwrap()).max();
        assert_eq!(together["high_water"].as_u64(), most("high_water"), "{kernel}");
        let all =
            alone.iter().map(longest).reduce(|a, b| a.into_iter().zip(b).map(|(a, b)| a.max(b)).collect());
        assert_eq!(Some(longest(together)), all, "{kernel}");
        let events: u64 = alone.iter().map(|found| found["events"].as_u64().unwrap()).sum();
        assert_eq!(together["events"].as_u64(), Some(events), "{kernel}");
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let args = ["hybrid", "histogram", "--runs", "5", "--seed", "11", "--format", "json", "--jobs"];
    let [one, three] = ["1", "3"].map(|jobs| stdout(&warpbound(&[&args[..], &[jobs]].concat())));
    assert!(!one.is_empty());
    assert_eq!(one, three);
}

#[test]
fn traces_that_are_wrong_are_refused_with_their_place() {
    let dir = scratch("hybrid-wrong");
    std::fs::copy(files().join("figure1.graph"), dir.join("g")).unwrap();
    let good = std::fs::read_to_string(files().join("section5.traces")).unwrap();
    let error_message = |text: &str| {
        std::fs::write(dir.join("t"), text).unwrap();
        let output = in_dir(&dir, &["hybrid", "--graph", "g", "--traces", "t"]);
        assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
        stderr(&output)
    };
    let cut = error_message(good.trim_end());
    assert!(cut.contains("t:24:1") && cut.contains("the trace was cut off"), "{cut}");
    let unsorted = error_message(&good.replacen("i2 0 1 10\n", "i2 0 1 4\n", 1));
    assert!(unsorted.contains("t:9:1") && unsorted.contains("unsorted"), "{unsorted}");
    let mixed = error_message(&good.replacen("i2 0 1 10\n", "i2 0 9 10\n", 1));
    assert!(mixed.contains("warp 9 of SM 0") && mixed.contains("has not started"), "{mixed}");
    let output = in_dir(&dir, &["run", "vecadd", "--trace", "v.ipoints"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let output = in_dir(&dir, &["hybrid", "histogram", "--traces", "v.ipoints"]);
    let other = stderr(&output);
    assert!(output.status.code() == Some(1) && other.contains("v.ipoints:"), "{other}");
    let missing = in_dir(&dir, &["hybrid", "--graph", "g", "--traces", "none"]);
    assert!(missing.status.code() == Some(1) && stderr(&missing).contains("cannot read the file"));
    let graph = "a -> b\nb -> a\n";
    std::fs::write(dir.join("g"), graph).unwrap();
    assert!(error_message(&good).contains("the graph has no end"));
    let usage = in_dir(&dir, &["hybrid", "--graph", "g"]);
    assert_eq!(usage.status.code(), Some(2));
}

#[test]
fn the_integer_program_is_written() {
    let dir = scratch("hybrid-lp");
    let found = result(&dir, &["hybrid", "histogram", "--runs", "1", "--dump-lp", "h.lp"]);
    let text = std::fs::read_to_string(dir.join("h.lp")).unwrap();
    for part in ["Maximize\n", "Subject To\n", "Bounds\n", "General\n", "x.b0.b", "flow.end", "\nEnd\n"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let observed =
        found["transitions"].as_array().unwrap().iter().filter(|row| row["longest"].is_u64()).count();
    let variables =
        text.lines().skip_while(|line| *line != "General").filter(|line| line.starts_with(" x.")).count();
    assert_eq!(variables, observed);
    // the optimum of the program is the estimate
    let sum: u64 = found["transitions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["longest"].as_u64().unwrap_or(0) * row["worst"].as_u64().unwrap())
        .sum();
    assert_eq!(sum, value(&found, "z_warp"));
    assert_eq!(in_dir(&dir, &["hybrid", "histogram", "--dump-lp", "h.lp"]).status.code(), Some(1));
}

#[test]
fn kernels_without_control_flow_are_refused() {
    let dir = scratch("hybrid-micro");
    for args in [&["hybrid", "fig3"][..], &["run", "fig3", "--trace", "t.ipoints"]] {
        let output = in_dir(&dir, args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(stderr(&output).contains("straight-line code"), "{}", stderr(&output));
    }
    assert!(!dir.join("t.ipoints").exists());
}
