//! `warpbound static` and `warpbound wcet`: the bound over all paths, and what else is known of the worst case.

use serde_json::Value;

use crate::support::{in_dir, json, json_in, scratch, stderr, stdout, warpbound};

fn bound(result: &Value, name: &str) -> u64 {
    let bounds = result["bounds"].as_array().unwrap();
    bounds.iter().find(|bound| bound["name"] == name).unwrap()["value"].as_u64().unwrap()
}

/// The sums of the suite: one path nearly everywhere.
#[test]
fn the_suite_has_one_path_nearly_everywhere() {
    let run = warpbound(&["static", "--format", "json"]);
    let all: Value = serde_json::from_slice(&run.stdout).unwrap();
    let results = all["results"].as_array().unwrap();
    assert_eq!(results.len(), 80, "the other nine need bounds of loops");
    let equal = |result: &&Value| bound(result, "static") == bound(result, "iwb");
    assert_eq!(results.iter().filter(equal).count(), 76);
    for result in results {
        assert!(bound(result, "static") >= bound(result, "iwb"), "{result}");
        assert!(bound(result, "static") >= result["makespan"].as_u64().unwrap());
        if result["warps"] == result["warps_with_one_path"] {
            assert!(equal(&result), "{result:#}");
        }
        assert_eq!(result["bounds"][0]["status"], "holds");
    }
    // in JSON what failed is in the object
    let failed = stderr(&warpbound(&["static"]));
    for kernel in ["bfs_expand", "btree_lane", "loopbreak", "sssp_relax"] {
        assert!(failed.contains(&format!("kernel: {kernel}")), "{failed}");
    }
}

#[test]
fn loops_that_depend_on_data_need_a_bound() {
    let without = warpbound(&["static", "loopbreak"]);
    assert!(!without.status.success());
    let said = stderr(&without);
    assert!(
        said.contains("how often the loop of line 63 goes round depends on what line 35 gives"),
        "{said}"
    );
    assert!(said.contains("--loop-bound 63=N") && said.contains("loopbreak.ptx:63"), "{said}");
    let values: Vec<u64> = [59, 60, 1_000_000_000]
        .map(|most| {
            let result = json(&["static", "loopbreak", "--loop-bound", &format!("63={most}")], 0);
            bound(&result["results"][0], "static")
        })
        .to_vec();
    assert!(values.windows(2).all(|pair| pair[0] < pair[1]), "{values:?}");
    // a thousand million rounds of 4 warps, whose 32 lanes go apart
    assert!(values[2] > 32_000_000_000, "{values:?}");
    let few = stderr(&warpbound(&["static", "loopbreak", "--loop-bound", "63=9"]));
    assert!(
        few.contains("the bound of the loop of line 63 is 9, and lane 3 of warp 0 in block 0 goes back 10"),
        "{few}"
    );
    for (text, message) in [
        ("3=9", "no loop begins in this line"),
        ("63=", "is not LINE=N"),
        ("x", "is not LINE=N"),
        ("63=-1", "is not LINE=N"),
    ] {
        let said = stderr(&warpbound(&["static", "loopbreak", "--loop-bound", text]));
        assert!(said.contains(message) && said.contains("hint"), "{text}: {said}");
    }
    let twice = stderr(&warpbound(&["static", "loopbreak", "--loop-bound", "63=9", "--loop-bound", "63=8"]));
    assert!(twice.contains("has a bound already"), "{twice}");
}

/// What the analysis does not know is an error with its place.
#[test]
fn what_is_not_known_is_said() {
    let dir = scratch("static-beyond");
    let kernel = |body: &str| {
        format!(
            ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n.reg .pred %p<4>; .reg .b32 %r<4>; \
             .reg .b64 %d<4>;\nld.param.u64 %d0, [p];\nld.global.u32 %r0, [%d0];\nsetp.eq.u32 %p0, %r0, 1;\n{body}\nret;\n}}\n"
        )
    };
    let static_of = |body: &str| {
        std::fs::write(dir.join("k.ptx"), kernel(body)).unwrap();
        let buffer = "Buffer(name: \"a\", elem: U32, len: 64, init: Uniform(0, 9))";
        in_dir(&dir, &["static", "k.ptx", "--grid", "1", "--block", "64", "--arg", buffer])
    };
    let barrier = stderr(&static_of("@%p0 bar.sync 0;"));
    assert!(barrier.contains("barriers that depend on data") && barrier.contains("k.ptx:10"), "{barrier}");
    let table = "ts: .branchtargets A, B;\nbrx.idx %r0, ts;\nA: mov.u32 %r1, 1;\nB: mov.u32 %r1, 2;";
    let said = stderr(&static_of(table));
    assert!(said.contains("branches through tables"), "{said}");
    // a barrier that a condition on uniform data leads to is one that some paths have: sections are bounded all alike
    let text = stdout(&static_of("@%p0 bra L;\nbar.sync 0;\nadd.u32 %r1, %r0, 1;\nL: add.u32 %r2, %r0, 1;"));
    assert!(text.contains("the number of barriers depends on data") && text.contains("holds"), "{text}");
}

#[test]
fn wcet_puts_methods_side_by_side() {
    let result = &json(&["wcet", "ifelse", "--runs", "5"], 0)["results"][0];
    let methods = result["methods"].as_array().unwrap();
    let value =
        |name: &str| methods.iter().find(|row| row["name"] == name).unwrap()["value"].as_u64().unwrap();
    let longest = value("simulated");
    for bound in ["iwb", "swb", "lwb", "static"] {
        assert!(value(bound) >= longest, "{bound}");
    }
    assert!(value("static") >= value("iwb") && value("z_dynamic") >= value("z_warp"));
    assert!(result["shortest"].as_u64().unwrap() <= longest);
    let names: Vec<&str> = methods.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "simulated",
            "explored",
            "gub",
            "iwb",
            "swb",
            "lwb",
            "z_warp",
            "z_dynamic",
            "z_hybrid",
            "hybrid_blocks",
            "hybrid_sections",
            "static"
        ]
    );
    // the same on any number of threads
    let text = |jobs: &str| stdout(&warpbound(&["wcet", "ifelse", "--runs", "5", "--jobs", jobs]));
    assert_eq!(text("1"), text("3"));
    let unbounded = stdout(&warpbound(&["wcet", "loopbreak", "--runs", "2"]));
    assert!(unbounded.contains("--loop-bound 63=N"), "{unbounded}");
    let few = stderr(&warpbound(&["wcet", "loopbreak", "--runs", "3", "--loop-bound", "63=9"]));
    assert!(few.contains("goes back 10 times (seed 0)"), "{few}");
}

/// A block small enough for all of its schedules: the worst of them is between the longest run and every proved bound.
#[test]
fn tiny_blocks_are_explored() {
    let dir = scratch("wcet-tiny");
    let kernel = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .pred %p<4>; .reg .b32 %r<4>; \
        .reg .b64 %d<4>;\nld.param.u64 %d0, [p];\nld.global.u32 %r0, [%d0];\nsetp.lt.u32 %p0, %r0, 5;\n@%p0 bra L;\nmul.lo.u32 %r1, %r0, 3;\n\
        mul.lo.u32 %r1, %r1, 3;\nL: st.global.u32 [%d0+4], %r1;\nret;\n}\n";
    std::fs::write(dir.join("k.ptx"), kernel).unwrap();
    let buffer = "Buffer(name: \"a\", elem: U32, len: 64, init: Uniform(0, 10))";
    let args = [
        "wcet", "k.ptx", "--grid", "1", "--block", "64", "--arg", buffer, "--runs", "20", "--races", "ignore",
    ];
    let result = &json_in(&dir, &args, 0)["results"][0];
    let methods = result["methods"].as_array().unwrap();
    let row = |name: &str| methods.iter().find(|row| row["name"] == name).unwrap();
    let value = |name: &str| row(name)["value"].as_u64().unwrap();
    assert!(value("simulated") <= value("explored"));
    assert!(value("explored") <= value("iwb") && value("iwb") <= value("static"));
    assert!(result["shortest"].as_u64().unwrap() < value("simulated"), "inputs take different paths");
}
