//! Runs that are stopped early report their partial results: Ctrl-C, SIGTERM, `--time-limit`,
//! memory.

use std::os::unix::process::ExitStatusExt;
use std::process::Output;
use std::time::Instant;

use serde_json::Value;

use crate::support::{
    in_dir, json, json_in, launch_loop, names, scratch, shell, signal, start, stderr, stdout, wait_for,
    write_loop,
};

fn parts(dir: &std::path::Path) -> usize {
    names(dir).iter().filter(|name| name.ends_with(".part")).count()
}

/// Signals a run that would take hours, once it is writing.
fn interrupted(name: &str, sent: &str, format: &str) -> (Output, Vec<String>) {
    let dir = scratch(name);
    write_loop(&dir, 1000);
    let launch = launch_loop("10000000");
    let more = ["--trace", "t.csv", "--dump", "p=p.bin", "--format", format];
    let child = start(&dir, &[&["run"], &launch[..], &more].concat());
    let size = || {
        let part = names(&dir).into_iter().filter(|name| name.ends_with(".part"));
        part.filter_map(|name| std::fs::metadata(dir.join(name)).ok()).map(|file| file.len()).max()
    };
    wait_for("the trace to grow", || size() > Some(100_000));
    let began = Instant::now();
    signal(&child, sent);
    let output = child.wait_with_output().unwrap();
    assert!(began.elapsed().as_secs() < 8, "it took {:?}", began.elapsed());
    (output, names(&dir))
}

#[test]
fn ctrl_c_prints_partial_results_and_leaves_no_files() {
    let (output, left) = interrupted("ctrl-c", "INT", "text");
    let text = stdout(&output);
    assert!(text.contains("INCOMPLETE") && text.contains("holds so far"), "{text}");
    assert!(text.contains("stopped by Ctrl-C") && text.contains("issue slots"), "{text}");
    assert!(stderr(&output).contains("not written"), "{}", stderr(&output));
    assert_eq!((output.status.code(), left), (Some(1), vec!["loop.ptx".to_owned()]));

    let (output, left) = interrupted("sigterm", "TERM", "json");
    let result: Value = crate::json_output::read(&output.stdout);
    assert_eq!((&result["complete"], &result["stopped"]), (&false.into(), &"terminated".into()));
    assert!(result["launch_blocks"] == 10_000_000 && !result["blocks"].as_array().unwrap().is_empty());
    assert_eq!(left, ["loop.ptx"]);
}

#[test]
fn the_second_signal_ends_at_once_and_still_leaves_no_files() {
    let dir = scratch("two-signals");
    assert!(shell(&dir, "mkfifo fifo.csv").status.success());
    // the run waits for a reader of the pipe
    let child = start(&dir, &["run", "fig3", "--trace", "a.csv", "--trace", "fifo.csv"]);
    wait_for("the first file", || parts(&dir) == 1);
    signal(&child, "INT");
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert_eq!(parts(&dir), 1, "the first signal only asks");
    signal(&child, "INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.signal(), Some(2), "{output:?}");
    assert_eq!(names(&dir), ["fifo.csv"]);
}

#[test]
fn a_stopped_batch_lists_what_it_did_not_reach() {
    let dir = scratch("ended-batch");
    // no block ends, but the functional run can be stopped nevertheless
    write_loop(&dir, u32::MAX);
    let launch = launch_loop("2");
    let args = [&["check", "lrr-witness"], &launch[..], &["--time-limit", "0.3"]].concat();
    // the witness is not a .ptx file, so its launch options are invalid: its error is kept, too
    let result = json_in(&dir, &args, 1);
    assert_eq!((&result["complete"], &result["stopped"]), (&false.into(), &"time-limit".into()));
    assert_eq!(result["errors"][0]["kernels"], serde_json::json!(["lrr-witness"]));

    let output = in_dir(&dir, &["check", "lrr-witness", "fig3", "vecadd", "--time-limit", "0"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stdout(&output).contains("3 kernels not reached: lrr-witness, fig3, vecadd"),
        "{}",
        stdout(&output)
    );
    let suite = json(&["check", "--time-limit", "0"], 1);
    assert!(suite["not_reached"].as_array().unwrap().len() >= 30 && suite["judged"] == 0, "{suite}");
    for command in ["compare", "anomaly", "ablate"] {
        let result = json(&[command, "--time-limit", "0"], 1);
        assert_eq!(
            (&result["complete"], &result["stopped"]),
            (&false.into(), &"time-limit".into()),
            "{command}"
        );
        assert!(!result["not_reached"].as_array().unwrap().is_empty(), "{command}");
    }
}

/// Returns the JSON output of a search that ends at its time limit. On a machine that is busy with
/// other tests, a search can be ended before it has any result; then it is run again.
fn json_in_time(dir: &std::path::Path, args: &[&str]) -> Value {
    for _ in 0..4 {
        let output = in_dir(dir, &[args, &["--format", "json"]].concat());
        if !stdout(&output).contains("before there was any result") {
            assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
            return crate::json_output::read(&output.stdout);
        }
    }
    json_in(dir, args, 1)
}

#[test]
fn time_limits_end_every_search() {
    let dir = scratch("time-limits");
    write_loop(&dir, u32::MAX);
    let began = Instant::now();
    let launch = launch_loop("2");
    let endless = [&launch[..], &["--time-limit", "0.2"]].concat();
    let checked = json_in(&dir, &[&["check"], &endless[..]].concat(), 1);
    assert_eq!((&checked["complete"], &checked["judged"]), (&false.into(), &0.into()));
    assert!(checked["bounds"][0]["reason"].as_str().unwrap().contains("no block"), "{checked}");
    let ran = json_in(&dir, &[&["run"], &endless[..]].concat(), 1);
    assert_eq!((&ran["complete"], &ran["stopped"]), (&false.into(), &"time-limit".into()));
    let phases = in_dir(&dir, &[&["phases"], &endless[..]].concat());
    assert!(
        phases.status.code() == Some(1) && stderr(&phases).contains("--time-limit"),
        "{}",
        stderr(&phases)
    );

    write_machine_and_kernel(&dir);
    let limit = ["--time-limit", "0.3"];
    let explored = json_in_time(&dir, &[&["explore", "huge.warp"], &limit[..]].concat());
    assert_eq!((&explored["complete"], &explored["stopped"]), (&false.into(), &"time-limit".into()));
    assert!(explored["worst_at_least"].as_u64() <= explored["worst_at_most"].as_u64());
    let compared =
        json_in_time(&dir, &[&["compare", "huge.warp", "--max-states", "100000000"], &limit[..]].concat());
    assert_eq!(
        (&compared["complete"], &compared["results"][0]["explored_worst"]),
        (&false.into(), &Value::Null)
    );
    assert!(compared["results"][0]["explored_worst_at_least"].is_u64());
    for args in [
        &["hunt", "--bound", "iwb"][..],
        &["evidence", "--warps", "2", "--instructions", "4"],
        &[
            "evidence",
            "--warps",
            "4",
            "--instructions",
            "5",
            "--range",
            "900000000000..900000000001",
            "--jobs",
            "1",
        ],
    ] {
        let result = json_in_time(&dir, &[args, &limit[..]].concat());
        assert_eq!(
            (&result["complete"], &result["stopped"]),
            (&false.into(), &"time-limit".into()),
            "{args:?}"
        );
    }
    let hunted = json(&[&["hunt", "--bound", "iwb"], &limit[..]].concat(), 1);
    assert!(hunted["results"][0]["instances"].as_u64() > Some(0), "{hunted}");
    let phases = ["anomaly", "--phases", "--policy", "srr", "--max-schedules", "1000000000"];
    assert_eq!(json(&[&phases[..], &limit].concat(), 1)["results"][0]["complete"], false);
    let fermi = json(&[&["fermi", "--warps", "12", "--rep", "20", "--no-fairness"], &limit[..]].concat(), 1);
    assert_eq!(fermi["results"][0]["complete"], false);
    assert!(began.elapsed().as_secs() < 40, "it took {:?}", began.elapsed());
}

#[test]
fn cycles_are_accounted_for_if_blocks_are_unfinished() {
    let dir = scratch("under-way");
    write_loop(&dir, 100_000);
    let launch = launch_loop("1000");
    let run = [&["run"], &launch[..], &["--machine", "accelsim-sm1", "--time-limit", "1"]].concat();
    let result = json_in(&dir, &run, 1);
    let makespan = result["makespan"].as_u64().unwrap();
    assert!(result["complete"] == false, "{result}");
    for core in result["sub_cores"].as_array().unwrap() {
        let stalls: u64 = core["stalls"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
        assert_eq!(core["issues"].as_u64().unwrap() + stalls, makespan);
    }
}

#[test]
fn a_limit_that_is_not_reached_changes_nothing() {
    let plain = in_dir(&scratch("limit"), &["run", "vecadd", "--format", "json"]);
    let limited = in_dir(&scratch("limit"), &["run", "vecadd", "--format", "json", "--time-limit", "1h"]);
    assert_eq!(plain.stdout, limited.stdout);
    for wrong in ["x", "-1", "1d", ""] {
        let output = in_dir(&scratch("limit"), &["check", "fig3", "--time-limit", wrong]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn limits_beyond_memory_end_in_a_message() {
    let dir = scratch("memory");
    write_loop(&dir, u32::MAX);
    write_machine_and_kernel(&dir);
    let arg = "'Buffer(name: \"p\", elem: U32, len: 1, init: Zero)'";
    let line = format!(
        "ulimit -v 180000; $W check loop.ptx --grid 1 --block 64 --arg {arg} --max-instructions 1000000000000"
    );
    let output = shell(&dir, &line);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("of memory, and that is the limit"), "{}", stderr(&output));
    assert!(stderr(&output).contains("does not end"), "{}", stderr(&output));
    let line = "ulimit -v 180000; $W explore huge.warp --max-states 1000000000000 --jobs 1 --format json";
    let output = shell(&dir, line);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let result: Value = crate::json_output::read(&output.stdout);
    assert_eq!((&result["complete"], &result["stopped"]), (&false.into(), &"memory".into()), "{result}");
    assert!(result["states"].as_u64() > Some(10_000), "{result}");
}

/// Writes a block with more states than any machine has memory for.
fn write_machine_and_kernel(dir: &std::path::Path) {
    let machine = "Machine(name: \"mem\", units: { \"a\": Unit(init: 2, lat: 13), \"b\": Unit(init: 3, lat: 7), \
                   \"c\": Unit(init: 5, lat: 29), \"d\": Unit(init: 1, lat: 17) }, \
                   ops: { \"f0\": \"a\", \"f1\": \"b\", \"f2\": \"c\", \"f3\": \"d\", \"ret\": \"a\" })";
    std::fs::write(dir.join("mem.ron"), machine).unwrap();
    let mut kernel = ".machine mem.ron\n".to_owned();
    for warp in 0..8 {
        kernel += ".warps 1\n";
        for index in 0..16 {
            // some mixture of units and dependences, different in each warp
            let mixed = (index * 7 + warp * 5 + index * index * (warp + 3)) % 11;
            let source =
                if index > 2 && mixed < 7 { format!(", r{}", index - 1 - mixed % 3) } else { String::new() };
            kernel += &format!(" f{} r{index}{source}\n", (mixed + index + warp) % 4);
        }
    }
    std::fs::write(dir.join("huge.warp"), kernel).unwrap();
}
