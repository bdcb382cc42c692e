//! `explore` and `worst` on machines with a pipeline, whose arbiters are searched.

use serde_json::Value;

use crate::support::{json, stderr, warpbound};

/// Returns the only result of a command.
fn result(output: &Value) -> &Value {
    output["results"].get(0).unwrap_or(output)
}

/// Settings of a machine whose warps wait for fetch.
const FETCH: &str = "pipeline.front_end=FrontEnd(buffer: 2, fetches: 1)";

#[test]
fn the_worst_case_over_all_choices_is_between_the_policies_and_the_bound() {
    let output = json(&["explore", "witness-929", "--set", FETCH], 0);
    let found = result(&output);
    assert_eq!((&found["explored"], &found["complete"]), (&"choices".into(), &true.into()));
    let (worst, best) = (found["worst"].as_u64().unwrap(), found["best"].as_u64().unwrap());
    for policy in found["policies"].as_array().unwrap() {
        let makespan = policy["makespan"].as_u64().unwrap();
        assert!(best <= makespan && makespan < worst, "{best} <= {makespan} < {worst}");
    }
    let bound = &found["bounds"][0];
    assert_eq!((&bound["name"], &bound["status"]), (&"plb".into(), &"holds".into()));
    assert!(worst <= bound["value"].as_u64().unwrap());
    let differs = |choice: &&Value| choice["served"] != choice["by_rule"];
    assert!(found["witness"].as_array().unwrap().iter().filter(differs).count() > 0);
}

#[test]
fn a_search_that_ends_early_says_what_it_knows() {
    let args = ["explore", "witness-929", "--set", FETCH, "--max-states", "3"];
    let output = json(&args, 0);
    let found = result(&output);
    assert_eq!((&found["complete"], &found["stopped"]), (&false.into(), &"max-states".into()));
    assert!(found["worst"].is_null() && found["best"].is_null(), "{found}");
    assert_eq!(found["bounds"][0]["status"], "undecided");
    let exact = json(&["explore", "witness-929", "--set", FETCH], 0);
    let (least, worst) = (&found["worst_at_least"], &result(&exact)["worst"]);
    assert!(least.as_u64() <= worst.as_u64(), "{least} {worst}");
}

#[test]
fn larger_launches_are_climbed() {
    let args = ["worst", "vecadd", "--machine", "accelsim-sm1", "--budget", "20"];
    let output = json(&args, 0);
    let found = result(&output);
    let worst = found["worst"].as_u64().unwrap();
    assert!(worst <= found["bounds"][0]["value"].as_u64().unwrap());
    for policy in found["policies"].as_array().unwrap() {
        assert!(policy["makespan"].as_u64().unwrap() <= worst);
    }
    assert_eq!(output, json(&args, 0), "the search is not reproducible");
}

#[test]
fn options_of_schedules_are_refused() {
    for (args, expected) in [
        (&["explore", "fig3", "--set", FETCH, "--worst-schedule", "x.replay"][..], "other arbiters"),
        (&["explore", "fig3", "--set", FETCH, "--of-block", "1"], "as a whole"),
        (&["worst", "fig3", "--set", FETCH, "--out", "x"], "other arbiters"),
    ] {
        let output = warpbound(args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(stderr(&output).contains(expected), "{args:?}: {}", stderr(&output));
    }
}
