//! `run --explain` and `diff`.

use serde_json::Value;

use super::support::{BINARY, in_dir, json, json_in, scratch, shell, stderr, stdout, warpbound};

fn sum(rows: &Value, of: &str) -> i64 {
    rows.as_array().unwrap().iter().map(|row| row[of].as_i64().unwrap()).sum()
}

fn cycles(explanation: &Value, kind: &str) -> u64 {
    let rows = explanation["kinds"].as_array().unwrap();
    rows.iter().find(|row| row["kind"] == kind).map_or(0, |row| row["cycles"].as_u64().unwrap())
}

#[test]
fn the_path_of_figure_3() {
    let result = json(&["run", "fig3", "--explain", "-v"], 0);
    let explanation = &result["explanation"];
    assert_eq!((&explanation["makespan"], &result["makespan"]), (&17.into(), &17.into()));
    assert_eq!((sum(&explanation["kinds"], "cycles"), sum(&explanation["lines"], "cycles")), (17, 17));
    let of_kinds = ["latency", "initiation", "issue-slot"].map(|kind| cycles(explanation, kind));
    assert_eq!(of_kinds, [10, 4, 3]);
    let stretches = explanation["path"]["stretches"].as_array().unwrap();
    let shown: Vec<(i64, i64, &str, i64)> = stretches
        .iter()
        .map(|s| {
            let number = |key: &str| s[key].as_i64().unwrap();
            (number("from"), number("to"), s["kind"].as_str().unwrap(), s["of"]["warp"].as_i64().unwrap())
        })
        .collect();
    assert_eq!(
        shown,
        [
            (0, 3, "issue-slot", 1),
            (3, 5, "initiation", 1),
            (5, 11, "latency", 1),
            (11, 13, "initiation", 1),
            (13, 17, "latency", 1)
        ]
    );
    // each cycle of the bound has a part
    let bound = &explanation["bound"];
    assert_eq!(sum(&bound["parts"], "cycles"), bound["cycles"].as_i64().unwrap());
    // without -v there is no path, without --explain no explanation
    assert!(json(&["run", "fig3", "--explain"], 0)["explanation"].get("path").is_none());
    assert!(json(&["run", "fig3"], 0).get("explanation").is_none());
    let text = stdout(&warpbound(&["run", "fig3", "--explain"]));
    for line in [
        "critical path: the causes of the 17 cycles",
        "      10   58.8 %  latency     a result is under way",
        "      17  100.0 %  makespan",
        "       3  17.6 %      1  issue-slot",
        "the run beside the bound",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn machines_of_every_kind_are_explained() {
    for (kernel, machine) in [
        ("sgemm_naive", "ecrts25-orin-4sub"),
        ("reduce_shfl", "accelsim-sm1"),
        ("vecadd", "rtx3070"),
        ("transpose_naive", "accelsim-ecrts-dram"),
    ] {
        let result = json(&["run", kernel, "--machine", machine, "--explain"], 0);
        let makespan = result["makespan"].as_i64().unwrap();
        let explanation = &result["explanation"];
        assert_eq!(explanation["makespan"], makespan, "{kernel} on {machine}");
        assert_eq!(sum(&explanation["kinds"], "cycles"), makespan);
        assert_eq!(sum(&explanation["lines"], "cycles"), makespan);
    }
}

#[test]
fn runs_that_cannot_be_explained_have_a_reason() {
    let program = warpbound(&["run", "kernels/jacobi/jacobi.ron", "--explain"]);
    assert_eq!(program.status.code(), Some(1));
    assert!(stderr(&program).contains("--explain"), "{}", stderr(&program));
    assert_eq!(warpbound(&["run", "fig3", "--explain", "--timings"]).status.code(), Some(2));
    let stopped = warpbound(&["run", "sgemm_naive", "--explain", "--time-limit", "0"]);
    assert_eq!(stopped.status.code(), Some(1));
    assert!(stderr(&stopped).contains("did not come to its end"), "{}", stderr(&stopped));
}

#[test]
fn two_policies_side_by_side() {
    let words = ["lrr-witness --policy gto", "lrr-witness --policy lrr"];
    let result = json(&["diff", words[0], words[1]], 0);
    let difference = result["difference"].as_i64().unwrap();
    let makespan = |side: &str| result[side]["makespan"].as_i64().unwrap();
    assert_eq!(makespan("b"), 148);
    assert_eq!(difference, makespan("b") - makespan("a"));
    assert_ne!(difference, 0);
    assert_eq!(
        (sum(&result["kinds"], "difference"), sum(&result["lines"], "difference")),
        (difference, difference)
    );
    for line in result["lines"].as_array().unwrap() {
        assert_eq!(sum(&line["kinds"], "difference"), line["difference"].as_i64().unwrap(), "{line}");
    }
    assert_eq!(result["settings"], serde_json::json!(["policies differ: A gto, B lrr"]));
    let first = result["reasons"][0].as_str().unwrap();
    let (slow, fast) = if difference > 0 { ("lrr", "gto") } else { ("gto", "lrr") };
    let beginning = format!("{slow} is {} cycles (", difference.abs());
    assert!(first.starts_with(&beginning) && first.ends_with(&format!("slower than {fast}.")), "{first}");
    // with the arguments swapped, everything has the opposite sign, and the same reason
    let turned = json(&["diff", words[1], words[0]], 0);
    assert_eq!(turned["difference"], -difference);
    assert_eq!(turned["reasons"][0], first);
    let text = stdout(&warpbound(&["diff", words[0], words[1]]));
    assert!(text.starts_with("lrr-witness: A ") && text.contains(first), "{text}");
}

#[test]
fn diff_of_files_equals_diff_of_command_lines() {
    let dir = scratch("diff-files");
    let write = shell(
        &dir,
        "$W run fig3 --explain --format json > a.json && \
         $W run fig3 --set units.blue.lat=40 --explain -v --format json > b.json",
    );
    assert!(write.status.success(), "{}", stderr(&write));
    let files = json_in(&dir, &["diff", "a.json", "b.json"], 0);
    let words = json_in(&dir, &["diff", "fig3", "fig3 --set units.blue.lat=40"], 0);
    for part in ["difference", "kinds", "lines", "stalls", "units", "reasons", "settings"] {
        assert_eq!(files[part], words[part], "{part}");
    }
    assert_eq!(files["settings"], serde_json::json!(["settings of the machine paper-fig2 differ"]));
    let same = json_in(&dir, &["diff", "a.json", "fig3"], 0);
    assert_eq!((&same["difference"], same["reasons"].as_array().unwrap().len()), (&0.into(), 1));
    assert_eq!(same["reasons"][0], "Both take 17 cycles, and spend them in the same ways.");
}

/// Returns the error message of a rejected `diff`.
fn refused(dir: &std::path::Path, words: &[&str]) -> String {
    let output = in_dir(dir, &[&["diff"], words].concat());
    assert_eq!(output.status.code(), Some(1), "{words:?}\n{}", stdout(&output));
    stderr(&output)
}

#[test]
fn bad_inputs_of_diff() {
    let dir = scratch("diff-bad");
    let write = shell(
        &dir,
        "$W run fig3 --explain --format json > good.json && $W run fig3 --format json > plain.json && \
         $W check fig3 --format json > check.json && head -c 300 good.json > cut.json && echo '[1]' > list.json && \
         sed 's/\"cycles\":10/\"cycles\":11/' good.json > wrong.json && sed 's/\"schema\":3/\"schema\":1/' good.json > old.json",
    );
    assert!(write.status.success(), "{}", stderr(&write));
    let stopped =
        [BINARY, "run", "sgemm_naive", "--explain", "--time-limit", "0", "--format", "json"].join(" ");
    shell(&dir, &format!("{stopped} > stopped.json"));
    for (other, expected) in [
        ("missing.json", "missing.json"),
        ("cut.json", "cut.json:1:"),
        ("list.json", "not a result of `warpbound run`"),
        ("plain.json", "has no critical path"),
        ("check.json", "a result of `warpbound check`"),
        ("wrong.json", "does not add up to its 17 cycles"),
        ("old.json", "version 1"),
        ("stopped.json", "did not come to its end"),
        ("vecadd", "two kernels, `fig3` and `vecadd`"),
        ("fig3 --sheduler lrr", "--sheduler"),
        ("fig3 --gantt", "--gantt does nothing here"),
        ("fig3 --set 'hazards=Raw", "a quotation mark is not closed"),
        ("figure3", "figure3"),
        ("", "KERNEL"),
    ] {
        let text = refused(&dir, &["good.json", other]);
        assert!(text.contains(expected), "{other}: {text}");
    }
    // in JSON, the same problem is in the object
    let problem = json_in(&dir, &["diff", "good.json", "vecadd"], 1);
    assert!(problem["errors"][0]["message"].as_str().unwrap().starts_with("two kernels"), "{problem}");
}

/// The stated causes are differences of the critical paths that `diff` lists.
#[test]
fn why_states_the_largest_causes() {
    let pair = ["reduce0", "reduce0 --policy lrr"];
    let found = json(&["why", pair[0], pair[1]], 0);
    let all = json(&["diff", pair[0], pair[1]], 0);
    assert_eq!(found["difference"], all["difference"]);
    assert_eq!((&found["slower"]["name"], &found["faster"]["name"]), (&"lrr".into(), &"gto".into()));
    let rows = all["lines"].as_array().unwrap().iter();
    let rows = rows.flat_map(|line| line["kinds"].as_array().unwrap().iter().map(move |kind| (line, kind)));
    let causes = found["causes"].as_array().unwrap();
    assert_eq!(causes.len(), 3);
    let mut smallest = i64::MAX;
    let mut stated: Vec<(Value, Value)> = Vec::new();
    for cause in causes {
        // the differences of one kind at an instruction and its neighbours
        let mut lines = vec![cause["instruction"]["line"].clone()];
        lines.extend(cause["neighbours"].as_array().into_iter().flatten().cloned());
        let of_cause = |(line, kind): &(&Value, &Value)| {
            lines.contains(&line["instruction"]["line"]) && kind["kind"] == cause["kind"]
        };
        let each = rows.clone().filter(of_cause).map(|(_, kind)| kind["difference"].as_i64().unwrap().max(0));
        let sum: i64 = each.sum();
        assert_eq!(cause["cycles"].as_i64(), Some(sum), "{cause}");
        assert!(sum <= smallest, "the largest cause comes first: {causes:?}");
        smallest = sum;
        stated.extend(lines.into_iter().map(|line| (line, cause["kind"].clone())));
    }
    // no cause that is left out is larger
    for (line, kind) in rows.clone() {
        let is_stated = stated.contains(&(line["instruction"]["line"].clone(), kind["kind"].clone()));
        assert!(is_stated || kind["difference"].as_i64().unwrap() <= smallest, "{line}");
    }
    let differences: Vec<i64> = rows.clone().map(|(_, kind)| kind["difference"].as_i64().unwrap()).collect();
    let sum = |sign: i64| differences.iter().map(|cycles| (cycles * sign).max(0)).sum::<i64>();
    assert_eq!((found["spent_more"].as_i64(), found["spent_less"].as_i64()), (Some(sum(1)), Some(sum(-1))));
    // the order of the arguments does not matter
    assert_eq!(json(&["why", pair[1], pair[0]], 0)["causes"], found["causes"]);
    // kernels may differ, and then causes are kinds of cycles
    let kernels = json(&["why", "transpose_naive", "transpose_padded"], 0);
    assert_eq!(kernels["slower"]["name"], "transpose_padded");
    let spent = |name: &str| kernels[name].as_u64().unwrap();
    assert_eq!(spent("spent_more") - spent("spent_less"), spent("difference"));
    let same = stdout(&warpbound(&["why", "fig3", "fig3"]));
    assert!(same.contains("both take 17 cycles, and spend them in the same ways"), "{same}");
    assert!(refused(&scratch("why-bad"), &["fig3", "nosuch"]).contains("nosuch"));
}
