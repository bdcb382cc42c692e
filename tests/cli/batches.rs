//! Batches continue after a failure, and results are never lost.

use crate::support::{
    BINARY, command, in_dir, json, json_in, launch_loop, scratch, shell, stderr, stdout, warpbound,
    write_loop,
};

#[test]
fn failing_kernels_are_listed_and_the_others_judged() {
    let kernels = ["check", "nope", "lrr-witness", "nowhere.warp", "fig3"];
    let output = warpbound(&kernels);
    let (text, errors) = (stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(3), "the violation decides");
    assert!(text.contains("2 runs,") && text.contains("lrr-witness") && text.contains("VIOLATED"), "{text}");
    assert!(text.contains("2 kernels failed: nope, nowhere.warp"), "{text}");
    assert!(errors.contains("no embedded kernel") && errors.contains("= kernel: nope\n"), "{errors}");
    assert!(errors.contains("= kernel: nowhere.warp\n"), "{errors}");

    let result = json(&kernels, 3);
    let names: Vec<&str> =
        result["results"].as_array().unwrap().iter().map(|r| r["kernel"].as_str().unwrap()).collect();
    assert_eq!((names, &result["verdict"]), (vec!["lrr-witness", "fig3"], &"violated".into()));
    assert_eq!((&result["judged"], &result["complete"]), (&2.into(), &false.into()));
    assert_eq!(result["failed"], serde_json::json!(["nope", "nowhere.warp"]));
    assert_eq!(result["errors"][0]["kernels"], serde_json::json!(["nope"]));
    assert!(result["errors"][1]["message"].as_str().unwrap().contains("cannot read"), "{result}");

    assert_eq!(json(&["check", "fig3", "nope"], 1)["results"][0]["verdict"], "holds");
    assert_eq!(json(&["check", "fig3", "chain"], 0)["errors"], serde_json::Value::Null);
}

#[test]
fn the_same_error_is_reported_once() {
    let dir = scratch("same-error");
    let machine = "Machine(name: \"z\", units: { \"red\": Unit(init: 0, lat: 1) }, ops: { \"f0\": \"red\" })";
    std::fs::write(dir.join("zero.ron"), machine).unwrap();
    let args = ["check", "fig3", "chain", "witness-929", "--machine", "zero.ron"];
    let output = in_dir(&dir, &args);
    let errors = stderr(&output);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(errors.matches("error:").count(), 1, "{errors}");
    assert!(
        errors.contains("zero.ron:1:") && errors.contains("= kernels: fig3, chain, witness-929"),
        "{errors}"
    );
    let result = json_in(&dir, &args, 1);
    assert_eq!(result["errors"].as_array().unwrap().len(), 1, "{result}");
    assert_eq!(result["errors"][0]["kernels"].as_array().unwrap().len(), 3);
}

#[test]
fn blocks_judged_before_an_error_keep_their_verdicts() {
    let dir = scratch("late-error");
    // block 1 writes beyond the buffer
    let ptx = ".version 6.3\n.target sm_61\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<3>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %ctaid.x;\nmul.wide.u32 %rd2, %r1, 4096;\nadd.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r1;\nret;\n}\n";
    std::fs::write(dir.join("k.ptx"), ptx).unwrap();
    let arg = "Buffer(name: \"p\", elem: U32, len: 4, init: Zero)";
    let args = ["check", "k.ptx", "--grid", "8", "--block", "32", "--arg", arg];
    let result = json_in(&dir, &args, 1);
    assert_eq!((&result["complete"], &result["launch_blocks"]), (&false.into(), &8.into()));
    assert_eq!((result["blocks"].as_array().unwrap().len(), &result["judged"]), (1, &1.into()));
    assert!(result["errors"][0]["message"].as_str().unwrap().contains("`p`"), "{result}");
    let output = in_dir(&dir, &args);
    assert!(stdout(&output).contains("INCOMPLETE, 1 of 8 blocks"), "{}", stdout(&output));
    assert!(stderr(&output).contains("k.ptx:12"), "{}", stderr(&output));
}

#[test]
fn other_batches_continue_after_a_failure_too() {
    let violated = json(&["compare", "lrr-witness"], 3);
    let bounds = violated["results"][0]["bounds"].as_array().unwrap();
    let marked: Vec<&str> = bounds
        .iter()
        .filter(|bound| bound["violated"] == true)
        .filter_map(|bound| bound["name"].as_str())
        .collect();
    assert_eq!(marked, ["gub"], "{violated}");
    let text = stdout(&warpbound(&["compare", "lrr-witness"]));
    assert!(
        text.contains(" 140* ") && text.contains("\n* a run under one of these policies took longer"),
        "{text}"
    );
    let compared = json(&["compare", "fig3", "nope"], 1);
    assert_eq!(compared["results"][0]["explored_worst"], 18);
    assert_eq!(compared["errors"][0]["kernels"], serde_json::json!(["nope"]));
    let swept = json(&["anomaly", "fig3", "vecadd", "--sweep", "mem-latency=10..=20:5"], 1);
    assert_eq!(swept["results"][0]["kernel"], "vecadd");
    assert_eq!(swept["errors"][0]["kernels"], serde_json::json!(["fig3"]));
    let ablated = json(&["ablate", "nope", "vecadd"], 1);
    assert_eq!(ablated["kernels"][0]["kernel"], "vecadd");
    assert_eq!(ablated["errors"][0]["kernels"], serde_json::json!(["nope"]));
}

#[test]
fn the_exit_code_does_not_depend_on_the_reader_of_the_output() {
    let dir = scratch("readers");
    // no reader
    let mut child =
        command(&dir, &["check", "lrr-witness"]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(3));
    let piped = shell(&dir, "{ $W check lrr-witness; echo $? >code; } | head -1; cat code");
    assert!(stdout(&piped).ends_with("3\n"), "{}", stdout(&piped));
    // a full disk
    for (kernel, code) in [("lrr-witness", 3), ("fig3", 1)] {
        let full = shell(&dir, &format!("$W check {kernel} >/dev/full"));
        assert_eq!(full.status.code(), Some(code));
        assert!(
            stderr(&full).contains("stdout") && stderr(&full).contains("cannot write"),
            "{}",
            stderr(&full)
        );
    }
    // a closed stdout cannot be distinguished from /dev/null that is open for reading as well,
    // which is no error
    for nowhere in [">/dev/null", "1<>/dev/null", ">&-"] {
        for (kernel, code) in [("lrr-witness", 3), ("fig3", 0)] {
            let lost = shell(&dir, &format!("$W check {kernel} {nowhere}"));
            assert_eq!((lost.status.code(), stderr(&lost).as_str()), (Some(code), ""), "{nowhere}");
        }
    }
    let full = shell(&dir, "$W check fig3 nope 2>/dev/full");
    assert_eq!(full.status.code(), Some(1), "no panic: {}", stdout(&full));
    assert!(!BINARY.is_empty());
}

/// A bound of a launch has no value where each block is judged by itself.
#[test]
fn a_bound_of_the_launch_that_is_named_for_single_blocks_has_no_value() {
    for bound in ["plb", "rbb"] {
        let result = json(&["check", "fig3", "--bound", bound], 0);
        let rows = result["results"][0]["bounds"].as_array().expect("bounds");
        let row = rows.iter().find(|row| row["name"] == bound).expect("it is named");
        assert_eq!((&row["status"], row.get("value")), (&"not-applicable".into(), None), "{row}");
        assert_eq!(result["judged"], 0);
    }
}

#[test]
fn a_run_without_a_verdict_is_reported_as_such() {
    let args = ["check", "chain", "--policy", "two-level"];
    let output = warpbound(&args);
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).contains("nothing was judged: no gating bound applies"), "{}", stdout(&output));
    assert_eq!(json(&args, 0)["judged"], 0);
    let required = [&args[..], &["--require-verdict"]].concat();
    let output = warpbound(&required);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("no verdict on chain under two-level"), "{}", stderr(&output));
    assert_eq!(json(&required, 1)["judged"], 0);
    assert_eq!(json(&["check", "fig3", "--require-verdict"], 0)["judged"], 1);
    assert_eq!(json(&["check", "lrr-witness", "--require-verdict"], 3)["judged"], 1);
    // one of two
    let two = ["check", "fig3", "chain", "--bound", "srr", "--policy", "srr", "--require-verdict"];
    assert_eq!(json(&two, 0)["judged"], 2);
    let none = ["check", "fig3", "--bound", "srr", "--require-verdict"];
    assert_eq!(json(&none, 1)["judged"], 0);
    // a verdict on some of the blocks is not a verdict on the run
    let dir = scratch("require-verdict");
    write_loop(&dir, 20_000);
    let launch = launch_loop("100000");
    let cut = [&["check"], &launch[..], &["--time-limit", "0.5", "--require-verdict"]].concat();
    assert_eq!(json_in(&dir, &cut, 1)["complete"], false);
}
