//! `warpbound worst` as scripts see it.

use serde_json::Value;

use crate::support::{bound, in_dir, json, json_in, scratch, stderr, stdout, warpbound};

#[test]
fn slack_and_luck_are_the_overestimation() {
    let result = json(&["worst", "vecadd", "gauss_back", "saxpy", "--budget", "350"], 0);
    assert_eq!((&result["verdict"], &result["judged"]), (&"holds".into(), &3.into()));
    for row in result["results"].as_array().unwrap() {
        let name = row["kernel"].as_str().unwrap();
        let checked = json(&["check", name], 0);
        let worst = row["worst"].as_i64().unwrap();
        let tightest = bound(row, row["tightest_proved"].as_str().unwrap());
        let value = tightest["value"].as_i64().unwrap();
        for of in ["gub", "iwb", "swb", "lwb"] {
            assert_eq!(bound(row, of)["value"], bound(&checked, of)["value"], "{name}");
            assert!(bound(row, of)["value"].as_i64() >= Some(value) || of == "gub", "{name}");
        }
        assert_eq!(row["slack_cycles"], value - worst, "{name}");
        let policies = row["policies"].as_array().unwrap();
        assert_eq!((&policies[0]["policy"], &policies[0]["makespan"]), (&"gto".into(), &checked["makespan"]));
        assert_eq!(policies[1]["policy"], "lrr");
        for policy in policies {
            let makespan = policy["makespan"].as_i64().unwrap();
            assert!((0..=worst).contains(&makespan), "{name}");
            let luck = policy["luck_cycles"].as_i64().unwrap();
            assert_eq!(luck, worst - makespan);
            assert_eq!(row["slack_cycles"].as_i64().unwrap() + luck, value - makespan);
            let share = |field: &str| policy[field].as_f64().unwrap();
            assert!((share("slack") + share("luck") - share("overestimation")).abs() < 2e-4, "{policy}");
        }
        let stages =
            ["worst_of_policies", "worst_of_rules", "worst"].map(|field| row[field].as_i64().unwrap());
        assert!(stages.is_sorted(), "{name}: {stages:?}");
    }
    // equal blocks are searched once; two warps can be explored
    assert_eq!(
        (&result["results"][0]["blocks"], &result["results"][0]["searched_blocks"]),
        (&4.into(), &1.into())
    );
    let explored = &result["results"][1];
    assert_eq!((&explored["worst"], &explored["exact"]), (&19851.into(), &true.into()), "{explored}");
    let summary = &result["summary"];
    assert_eq!((&summary["launches"], &summary["exact"]), (&3.into(), &1.into()));
    let sum: i64 =
        result["results"].as_array().unwrap().iter().map(|row| row["worst"].as_i64().unwrap()).sum();
    assert_eq!(summary["worst"], sum);
}

#[test]
fn schedules_replay_to_what_was_reported() {
    let dir = scratch("worst-schedules");
    let kernels = ["vecadd", "reduce_shfl", "fig3"];
    let line = [&["worst"], &kernels[..], &["--budget", "330", "--out", "found"]].concat();
    let result = json_in(&dir, &line, 0);
    for row in result["results"].as_array().unwrap() {
        let file = row["schedule"].as_str().unwrap();
        let replay = format!("replay:{file}");
        let checked = json_in(&dir, &["check", row["kernel"].as_str().unwrap(), "--policy", &replay], 0);
        assert_eq!(checked["makespan"], row["worst"]);
        // the schedule is work conserving, so the bounds apply
        assert_eq!(
            (bound(&checked, "lwb")["status"].as_str(), &checked["verdict"]),
            (Some("holds"), &"holds".into())
        );
    }
    // existing files are kept, unless they may be replaced
    let again = in_dir(&dir, &["worst", "fig3", "--out", "found"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(stderr(&again).contains("the file is there already"), "{}", stderr(&again));
    assert_eq!(in_dir(&dir, &["worst", "fig3", "--out", "found", "--force"]).status.code(), Some(0));
    // on several sub-cores, too
    let on = ["--machine", "ecrts25-orin-4sub", "--budget", "100"];
    let result = json_in(&dir, &[&["worst", "reduce_shfl", "--out", "four"], &on[..]].concat(), 0);
    let replay = [
        "check",
        "reduce_shfl",
        "--machine",
        "ecrts25-orin-4sub",
        "--policy",
        "replay:four/reduce_shfl.replay",
    ];
    assert_eq!(json_in(&dir, &replay, 0)["makespan"], result["worst"]);
}

#[test]
fn an_exceeded_bound_is_reported() {
    let dir = scratch("worst-violated");
    let result = json_in(&dir, &["worst", "witness-929", "--out", "found"], 3);
    assert_eq!(
        (&result["worst"], &result["exact"], &result["verdict"]),
        (&48.into(), &true.into(), &"violated".into())
    );
    assert_eq!(
        (&bound(&result, "gub")["status"], &bound(&result, "swb")["status"]),
        (&"violated".into(), &"holds".into())
    );
    let replay = ["check", "witness-929", "--policy", "replay:found/witness-929.replay"];
    assert_eq!(json_in(&dir, &replay, 3)["makespan"], 48);
    // the search without exploration gives the same result
    assert_eq!(json(&["worst", "witness-929", "--max-states", "0"], 3)["worst"], 48);
    let text = warpbound(&["worst", "witness-929"]);
    assert_eq!(text.status.code(), Some(3));
    assert!(
        stdout(&text).contains("bound gub VIOLATED: 44 cycles, and a schedule takes 48"),
        "{}",
        stdout(&text)
    );
}

#[test]
fn text_has_one_line_per_kernel_and_the_means() {
    let output = warpbound(&["worst", "vecadd", "fig3", "--budget", "50"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("kernel") && lines[0].contains("worst found"), "{text}");
    assert!(lines[1].starts_with("vecadd ") && lines[2].starts_with("fig3 "), "{text}");
    assert!(lines[2].contains("(exact)"), "{text}");
    assert!(text.contains("2 launches") && text.contains("slack of the bound"), "{text}");
}

#[test]
fn the_bytes_are_the_same_on_any_number_of_threads() {
    let run = |jobs: &str, more: &[&str]| {
        let line = [&["worst", "saxpy", "fig3", "--budget", "700", "--format", "json", "--jobs", jobs], more]
            .concat();
        let output = warpbound(&line);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        output.stdout
    };
    let one = run("1", &[]);
    assert_eq!(one, run("3", &[]));
    let evaluations = |bytes: &[u8]| {
        let output: Value = serde_json::from_slice(bytes).unwrap();
        output["results"][0]["evaluations"].as_u64().unwrap()
    };
    assert!(evaluations(&one) <= 2 * 700);
    assert!(evaluations(&run("2", &["--search-seed", "9"])) <= 2 * 700);
}

#[test]
fn unsupported_requests_are_refused_with_a_reason() {
    for (args, expected) in [
        (&["worst", "fig3", "--policy", "gto"][..], &["--policy gto", "worst work-conserving schedule"][..]),
        (&["worst", "fig3", "--budget", "0"], &["--budget 0", "1 or more"]),
        (
            &[
                "worst",
                "vecadd",
                "--machine",
                "accelsim-sm1",
                "--set",
                "sms=2",
                "--set",
                "pipeline.launch.placement=Random(1)",
            ],
            &["random order", "RoundRobin"],
        ),
        (
            &["worst", "vecadd", "--set", "limits.blocks=2"],
            &["2 blocks", "resident at a time", "limits.blocks=1"],
        ),
        (&["worst", "jacobi"], &["--launch"]),
        (&["worst", "no-such-kernel"], &["no-such-kernel"]),
    ] {
        let output = warpbound(args);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {message}");
        assert!(expected.iter().all(|part| message.contains(part)), "{args:?}: {message}");
    }
    // a kernel that fails does not prevent the search of the others
    let result = json(&["worst", "jacobi", "fig3", "--budget", "20"], 1);
    assert_eq!(
        (&result["failed"], &result["results"][0]["worst"]),
        (&serde_json::json!(["jacobi"]), &18.into())
    );
}

#[test]
fn a_time_limit_gives_the_best_result_so_far() {
    let result = json(&["worst", "saxpy", "vecadd", "--budget", "100000000", "--time-limit", "1"], 1);
    assert_eq!((&result["complete"], &result["stopped"]), (&false.into(), &"time-limit".into()));
}
