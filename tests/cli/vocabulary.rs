//! Names and numbers that all commands share: tables as CSV, and the names of earlier versions.

use crate::support::{json, json_in, scratch, stderr, stdout, warpbound};

/// The tables of a command as CSV have the numbers of its JSON.
#[test]
fn tables_as_csv() {
    let csv = |words: &[&str], code| {
        let output = warpbound(words);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {}", stderr(&output));
        (stdout(&output), stderr(&output))
    };
    let found = json(&["check", "saxpy", "vecadd"], 0);
    let (text, _) = csv(&["check", "saxpy", "vecadd", "--format", "csv"], 0);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let columns = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let results = found["results"].as_array().unwrap();
    assert_eq!(rows.len(), results.len());
    let cell = |row: &csv::StringRecord, column: &str| {
        row[columns.iter().position(|name| name == column).unwrap()].to_owned()
    };
    for (row, result) in rows.iter().zip(results) {
        assert_eq!(cell(row, "kernel"), result["kernel"].as_str().unwrap());
        assert_eq!(cell(row, "makespan"), result["makespan"].to_string());
        for bound in result["bounds"].as_array().unwrap() {
            for field in ["value", "overestimation"] {
                let column = format!("bounds.{}.{field}", bound["name"].as_str().unwrap());
                assert_eq!(cell(row, &column), bound[field].to_string(), "{column}");
            }
        }
    }
    let (text, _) = csv(&["check", "saxpy", "--format", "csv", "--table", "results.blocks"], 0);
    assert_eq!(text.lines().count(), 3, "{text}");
    let (text, error) = csv(&["check", "saxpy", "--format", "csv", "--table", "blocks"], 1);
    assert!(text.is_empty() && error.contains("tables: results, results.bounds"), "{error}");
    // a table that would not be printed
    let (text, error) = csv(&["check", "saxpy", "--table", "results.blocks"], 1);
    assert!(text.is_empty() && error.contains("only --format csv prints one table"), "{error}");
    // errors are messages for people
    let (text, error) = csv(&["check", "saxpi", "--format", "csv"], 1);
    assert!(text.is_empty() && error.contains("saxpy"), "{error}");
}

/// The names of version 0.1 are still read.
#[test]
fn former_names_of_options_and_settings() {
    let dir = scratch("former-names");
    let srr = json(&["check", "saxpy", "--policy", "srr"], 0);
    assert_eq!(json(&["check", "saxpy", "--scheduler", "srr"], 0), srr);
    let set = |setting: &str| json(&["check", "saxpy", "--set", setting], 0);
    assert_eq!(set("scheduler=srr"), set("policy=srr"));
    let machine = "Machine(name: \"ecrts25-orin\", extends: \"ecrts25-orin\", scheduler: Srr)";
    std::fs::write(dir.join("m.ron"), machine).unwrap();
    let found = json_in(&dir, &["check", "saxpy", "--machine", "m.ron"], 0);
    assert_eq!((&found["policy"], &found["makespan"]), (&"srr".into(), &srr["makespan"]));
    std::fs::write(dir.join("k.warp"), ".machine paper-fig2\n.scheduler lrr\n.warps 2\n f0 r0\n ret\n")
        .unwrap();
    assert_eq!(json_in(&dir, &["check", "k.warp"], 0)["policy"], "lrr");
}

/// Each command has a main table, also where its lists are inside other objects.
#[test]
fn main_tables() {
    for (words, columns) in [
        (&["list", "kernels", "saxpy"][..], "kernel,file,suite,doc"),
        (&["explain", "lwb"], "kind,"),
        (&["cfg", "saxpy"], "kernel,file,"),
        (&["why", "fig3", "fig3 --policy lrr"], "sentence,"),
    ] {
        let output = warpbound(&[words, &["--format", "csv"]].concat());
        let text = stdout(&output);
        assert!(text.lines().count() > 1 && text.contains(columns), "{words:?}: {text}{}", stderr(&output));
    }
}
