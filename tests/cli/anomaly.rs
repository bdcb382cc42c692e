//! `warpbound anomaly`: its findings can be reproduced with the commands that it prints.

use serde_json::Value;

use crate::support::{json, warpbound};

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

/// Runs a command that a report printed; its words need no shell quoting here.
fn replayed(command: &Value) -> Value {
    let words: Vec<&str> = command.as_str().unwrap().split(' ').collect();
    assert_eq!(words[0], "warpbound");
    json(&words[1..], 0)
}

#[test]
fn phases_show_the_anomaly_of_figure_4_under_lrr_and_gto() {
    for seed in [&[][..], &["--seed", "3", "--pairs", "3"]] {
        let report = json(&[&["anomaly", "--phases"], seed].concat(), 0);
        assert_eq!(report["schema"], 3);
        let results = list(&report["results"]);
        assert_eq!(results.iter().map(|r| r["policy"].as_str().unwrap()).collect::<Vec<_>>(), ["lrr", "gto"]);
        for result in results {
            let anomaly = &result["anomaly"];
            let (before, after) = (&anomaly["makespan_before"], &anomaly["makespan_after"]);
            assert!(after.as_u64() > before.as_u64(), "{anomaly}");
            assert_eq!(list(&anomaly["shortened"]).len(), 2);
            assert!(list(&anomaly["shortened"]).iter().all(|s| s["to"].as_u64() < s["from"].as_u64()));
            assert_eq!(&replayed(&anomaly["command_before"])["results"][0]["makespan"], before);
            assert_eq!(&replayed(&anomaly["command_after"])["results"][0]["makespan"], after);
        }
    }
}

#[test]
fn the_shortest_lrr_anomaly_is_drawn() {
    let text = String::from_utf8(warpbound(&["anomaly", "--phases", "--policy", "lrr"]).stdout).unwrap();
    let expected = "\
before: makespan 7
   0    5
w0 #---#--
w1 .#-..#
w2 ..XXxx#

after: makespan 8
   0    5
w0 #---.#--
w1 .#-#
w2 ..Xx#
";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_real_kernel_gets_slower_when_memory_gets_faster() {
    let report = json(&["anomaly", "saxpy", "vecadd", "--sweep", "mem-latency=40..=60"], 0);
    let results = list(&report["results"]);
    assert_eq!(results.len(), 2);
    let mut rises = 0;
    for kernel in results {
        for policy in list(&kernel["policies"]) {
            let makespans = list(&policy["makespans"]);
            assert_eq!(makespans.len(), 21);
            let up = makespans.windows(2).filter(|pair| pair[1].as_u64() > pair[0].as_u64()).count();
            assert_eq!(list(&policy["rises"]).len(), up);
            rises += up;
            if let Some(rise) = policy.get("largest") {
                assert!(rise["value_after"].as_u64() < rise["value_before"].as_u64());
                assert!(rise["makespan_after"].as_u64() > rise["makespan_before"].as_u64());
                assert_eq!(replayed(&rise["command_before"])["makespan"], rise["makespan_before"]);
                assert_eq!(replayed(&rise["command_after"])["makespan"], rise["makespan_after"]);
            }
        }
    }
    assert!(rises > 10, "{rises}");
    let gto = &list(&results[0]["policies"])[0];
    // 53 cycles reduced to 50: eleven percent longer
    assert_eq!((&gto["policy"], &gto["largest"]["value_after"]), (&"gto".into(), &50.into()));
    assert_eq!(
        (&gto["largest"]["makespan_before"], &gto["largest"]["increase"]),
        (&1457.into(), &164.into())
    );
}

#[test]
fn strict_round_robin_shows_no_anomalies() {
    // under strict round robin, the paths determine the order of issues (except for the releases of
    // barriers), so that every time is a maximum of sums of latencies
    let report = json(&["anomaly", "saxpy", "blackscholes", "histogram", "--policy", "srr"], 0);
    for kernel in list(&report["results"]) {
        assert_eq!(list(&kernel["policies"][0]["rises"]).len(), 0, "{}", kernel["kernel"]);
    }
}

#[test]
fn the_order_of_two_policies_flips_with_latency() {
    let args = ["anomaly", "blackscholes", "--policy", "gto,lrr", "--sweep", "mem-latency=5..=205:100"];
    let report = json(&args, 0);
    let flip = &report["results"][0]["flips"][0];
    assert_eq!((&flip["first"], &flip["second"]), (&"gto".into(), &"lrr".into()));
    for (lead, first_is_faster) in [("first_leads", true), ("second_leads", false)] {
        let lead = &flip[lead];
        assert_eq!(lead["first_makespan"].as_u64() < lead["second_makespan"].as_u64(), first_is_faster);
        assert_eq!(replayed(&lead["first_command"])["makespan"], lead["first_makespan"]);
        assert_eq!(replayed(&lead["second_command"])["makespan"], lead["second_makespan"]);
    }
}

#[test]
fn a_unit_and_a_setting_can_be_swept_and_the_commands_carry_all_options() {
    let report = json(&["anomaly", "vecadd", "--unit", "int", "--mem-latency", "60", "--seed", "2"], 0);
    let result = &report["results"][0];
    assert_eq!(
        (&result["setting"], &result["values"]),
        (&"units.int.lat".into(), &serde_json::json!([2, 1, 0]))
    );
    let same = ["anomaly", "vecadd", "--sweep", "units.int.lat=0..=2", "--mem-latency", "60", "--seed", "2"];
    assert_eq!(json(&same, 0), report);
    let micro = json(&["anomaly", "lrr-witness", "--unit", "f3", "--policy", "lrr"], 0);
    assert_eq!(micro["results"][0]["policies"][0]["makespans"][0], 148);
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let of_jobs = |jobs: &str| warpbound(&["anomaly", "saxpy", "reduce3", "--jobs", jobs]).stdout;
    assert!(!of_jobs("1").is_empty());
    assert_eq!(of_jobs("1"), of_jobs("3"));
    assert_eq!(of_jobs("1"), of_jobs("1000"));
}

#[test]
fn wrong_inputs_are_named() {
    for (args, named) in [
        (&["anomaly", "vecad"][..], "did you mean `vecadd`"),
        (&["anomaly", "vecadd", "--sweep", "x"], "PATH=FROM..=TO"),
        (&["anomaly", "vecadd", "--unit", "gmen"], "`gmem`"),
        (&["anomaly", "saxpy", "--mem-latency", "30"], "--mem-latency 30"),
        (
            &["anomaly", "saxpy", "--sweep", "mem-latency=5..=9", "--set", "units.gmem.lat=7"],
            "--sweep mem-latency",
        ),
        (
            &["anomaly", "saxpy", "--sweep", "units.gmem.lat=0..=9", "--set", "units.gmem.lat=7"],
            "--set units.gmem.lat=7",
        ),
        (&["anomaly", "saxpy", "--sweep", "units.gmem.lat=0..=9", "--mem-latency", "30"], "--mem-latency 30"),
        (&["anomaly", "saxpy", "--sweep", "units.int.lat=5..=1"], "the range is empty"),
        (&["anomaly", "vecadd", "--policy", "gto,what"], "unknown policy"),
        (&["anomaly", "vecadd", "--policy", "replay:x"], "one latency only"),
        (&["anomaly", "vecadd", "--machine", "accelsim-ecrts"], "anomalies are searched in the paper model"),
        (&["anomaly", "fig3"], "--unit NAME"),
        (&["anomaly", "--phases", "--policy", "two-level"], "does not schedule whole phases"),
        (&["anomaly", "--phases", "--warps", "0"], "0 phases"),
        (&["anomaly", "--phases", "--shortened", "13"], "1 to 12 phases"),
        (&["anomaly", "--lengths", "1,x/0"], "no length"),
    ] {
        let output = warpbound(args);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{args:?}: {message}");
        assert!(message.contains(named), "{args:?}: {message}");
    }
}
