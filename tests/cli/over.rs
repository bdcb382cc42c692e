//! `compare --over`: the fastest policy for each value of a setting.

use serde_json::Value;

use super::support::{json, stderr, stdout, warpbound};

fn makespan(kernel: &str, policy: &str, setting: &str) -> Value {
    let args = ["check", kernel, "--policy", policy, "--set", setting];
    json(&args, 0)["results"][0]["makespan"].clone()
}

/// The makespans are those of separate runs, the fastest policies have the smallest one, and the
/// causes are those of `why`.
#[test]
fn each_point_is_that_of_a_run_and_each_cause_that_of_why() {
    let args = ["compare", "saxpy", "--policy", "gto,lrr,srr", "--over", "units.gmem.lat=5..=205/100"];
    let found = &json(&args, 0)["results"][0];
    assert_eq!(found["setting"], "units.gmem.lat");
    let points = found["points"].as_array().unwrap();
    assert_eq!(points.len(), 3);
    for point in points {
        let setting = format!("units.gmem.lat={}", point["value"].as_str().unwrap());
        let makespans = point["makespans"].as_array().unwrap();
        for one in makespans {
            assert_eq!(one["makespan"], makespan("saxpy", one["policy"].as_str().unwrap(), &setting));
        }
        let smallest = makespans.iter().map(|one| one["makespan"].as_u64()).min();
        let fastest: Vec<&Value> = makespans
            .iter()
            .filter(|one| Some(one["makespan"].as_u64()) == smallest)
            .map(|one| &one["policy"])
            .collect();
        assert_eq!(point["fastest"].as_array().unwrap().iter().collect::<Vec<_>>(), fastest);
    }
    // lrr is the fastest at a short latency, and gto at long ones
    let ranges = found["ranges"].as_array().unwrap();
    let fastest: Vec<&str> = ranges.iter().map(|range| range["fastest"][0].as_str().unwrap()).collect();
    assert_eq!(fastest, ["lrr", "gto"]);
    for range in ranges {
        let lead = &range["lead"];
        let command = shlex::split(lead["command"].as_str().unwrap()).unwrap();
        let words: Vec<&str> = command.iter().skip(1).map(String::as_str).collect();
        let why = json(&words, 0);
        assert_eq!((&why["causes"], &why["difference"]), (&lead["causes"], &lead["cycles"]));
    }
    let text = stdout(&warpbound(&args));
    assert!(text.contains("at units.gmem.lat 5, lrr is the fastest\n"), "{text}");
    assert!(text.contains("from units.gmem.lat 105 to 205, gto is the fastest\n"), "{text}");
}

/// Several kernels and machines have a result each, and a program has no causes.
#[test]
fn kernels_machines_and_programs() {
    let args = [
        "compare",
        "vecadd",
        "backprop_program",
        "--machine",
        "ecrts25-orin,accelsim-ecrts",
        "--over",
        "units.int.lat=2,3",
    ];
    let results = json(&args, 0)["results"].clone();
    let named: Vec<(&str, &str)> = results
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["kernel"].as_str().unwrap(), one["machine"].as_str().unwrap()))
        .collect();
    let machines = ["ecrts25-orin", "accelsim-ecrts"];
    assert_eq!(named[..2], machines.map(|machine| ("vecadd", machine)));
    assert_eq!(named[2..], machines.map(|machine| ("backprop_program", machine)));
    for one in results.as_array().unwrap().iter().skip(2) {
        for range in one["ranges"].as_array().unwrap() {
            assert!(range["lead"]["causes"].is_null(), "{range}");
        }
    }
}

#[test]
fn wrong_settings_and_values_are_named() {
    let fails = |over: &[&str], message: &str| {
        let errors = stderr(&warpbound(&[&["compare", "saxpy"], over].concat()));
        assert!(errors.contains(message) && errors.contains("hint"), "{over:?}: {errors}");
    };
    fails(&["--over", "units.gmem.lat"], "expected a setting, =, and its values");
    fails(&["--over", "units.gmem.lat=9..=5"], "the first value is greater than the last");
    fails(&["--over", "units.gmm.lat=5..=9"], "gmm");
    fails(&["--over", "mem_latency=5,6", "--mem-latency", "7"], "--over gives this setting its values");
    fails(&["--over", "mem_latency=abc,def"], "mem_latency");
}
