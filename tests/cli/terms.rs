//! `explain`, and the filters of `list`.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::{json, stderr, stdout, warpbound};

/// Returns the kinds and first names of the terms of this name.
fn explained(name: &str) -> Vec<(String, String)> {
    let output = json(&["explain", name], 0);
    let terms = output["terms"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    terms.map(|term| (text(&term["kind"]), text(&term["names"][0]))).collect()
}

#[test]
fn a_term_is_explained_in_any_spelling() {
    let text = stdout(&warpbound(&["explain", "Exec", "Phase"]));
    assert!(text.starts_with("exec phase, or idle phase (term)\n") && text.contains("runs alone"), "{text}");
    let text = stdout(&warpbound(&["explain", "units.gmem.lat"]));
    for part in
        ["units.UNIT.lat (setting of machines)", "type: integer", "unit: cycles", "see docs/settings.md"]
    {
        assert!(text.contains(part), "{text}");
    }
    let kinds: Vec<String> = explained("barrier").into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["stall-reason", "cause", "unit"]);
    let unknown = warpbound(&["explain", "scorebord"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(stderr(&unknown).contains("did you mean `scoreboard`"), "{}", stderr(&unknown));
    let kernel = warpbound(&["explain", "saxpy"]);
    assert!(stderr(&kernel).contains("`warpbound list kernels saxpy`"), "{}", stderr(&kernel));
    let all = stdout(&warpbound(&["explain"]));
    for heading in
        ["terms\n", "policies\n", "bounds\n", "stall reasons\n", "functional units\n", "settings of machines"]
    {
        assert!(all.contains(heading), "{heading}: {all}");
    }
}

/// Everything that outputs and options name is explained.
#[test]
fn names_of_outputs_are_explained() {
    let has = |name: &str, kind: &str| {
        assert!(explained(name).iter().any(|(of, _)| of == kind), "{name} is no {kind}");
    };
    let listing = json(&["list"], 0);
    for (list, kind) in [("policies", "policy"), ("bounds", "bound")] {
        for one in listing[list].as_array().unwrap() {
            has(one["name"].as_str().unwrap(), kind);
        }
    }
    for machine in listing["machines"].as_array().unwrap() {
        let file = format!("configs/{}.ron", machine["name"].as_str().unwrap());
        for unit in json(&["inspect", &file], 0)["units"].as_array().unwrap() {
            has(unit["name"].as_str().unwrap(), "unit");
        }
    }
    let run = json(&["run", "saxpy", "--machine", "accelsim-sm1", "--explain"], 0);
    for reason in run["stalls"].as_object().unwrap().keys() {
        has(reason, "stall-reason");
    }
}

#[test]
fn lists_are_filtered() {
    let listing = json(&["list", "kernels", "MATRIX", "shared"], 0);
    let kernels = listing["kernels"].as_array().unwrap();
    assert!(!kernels.is_empty() && listing["machines"].as_array().unwrap().is_empty());
    for kernel in kernels {
        let text = format!("{}\n{}", kernel["kernel"], kernel["doc"]).to_lowercase();
        assert!(text.contains("matrix") && text.contains("shared"), "{kernel}");
    }
    let all = json(&["list"], 0);
    assert!(kernels.len() < all["kernels"].as_array().unwrap().len());
    // without a kind, words search everything
    let text = stdout(&warpbound(&["list", "robin"]));
    let heads: BTreeSet<&str> = text.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(heads.contains("policy") && heads.contains("bound") && !heads.contains("machine"), "{text}");
    let machines = stdout(&warpbound(&["list", "machines"]));
    let line = machines.lines().find(|line| line.starts_with("ecrts25-orin ")).unwrap();
    assert!(line.contains("model, not compared"), "{line}");
    assert!(machines.contains("156 of 156 runs take equal cycles"), "{machines}");
    let none = warpbound(&["list", "plans", "unheard-of"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(stderr(&none).contains("no plans with `unheard-of`"), "{}", stderr(&none));
}
