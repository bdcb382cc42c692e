//! `warpbound cfg`: blocks, loops, the edges that divergence adds, and the output files.

use serde_json::Value;

use crate::support::{in_dir, json, json_in, scratch, stderr, stdout, warpbound};

fn pairs(list: &Value, from: &str, to: &str) -> Vec<(u64, u64)> {
    let number = |edge: &Value, field: &str| edge[field].as_u64().unwrap();
    list.as_array().unwrap().iter().map(|edge| (number(edge, from), number(edge, to))).collect()
}

/// Lanes leave a loop in different iterations, through a separate branch side. From the end of that
/// side, the warp goes back to the beginning of the loop.
#[test]
fn lanes_that_leave_a_loop_early_wait_for_each_other() {
    let ours = &json(&["cfg", "loopbreak"], 0)["results"][0];
    let published = &json(&["cfg", "loopbreak", "--edges", "published"], 0)["results"][0];
    assert_eq!(ours["edges"], published["edges"]);
    let [ours, published] = [ours, published].map(|result| pairs(&result["added"], "from", "to"));
    assert!(ours.iter().any(|(from, to)| from == to) && published.iter().all(|(from, to)| from != to));
    let text = stdout(&warpbound(&["cfg", "loopbreak"]));
    assert!(text.contains("lanes may diverge at the end of 5;") && text.contains("loop at line"), "{text}");
}

/// A value that is the same in all lanes causes no divergence; if rows of threads consist of whole
/// warps, `%tid.y` is such a value.
#[test]
fn uniform_branches_add_nothing() {
    let dir = scratch("cfg-uniform");
    let branch = |value: &str| {
        format!(
            ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{{\n.reg .pred %p<2>; .reg .b32 %r<3>;\n\
             mov.u32 %r0, {value};\nsetp.eq.u32 %p0, %r0, 1;\n@%p0 bra B;\nadd.u32 %r1, %r0, 1;\nbra C;\n\
             B: add.u32 %r1, %r0, 2;\nC: ret;\n}}\n"
        )
    };
    for (value, block, added) in [
        ("%ctaid.x", "64", 0),
        ("%laneid", "64", 2),
        ("%tid.x", "64", 2),
        ("%tid.y", "64,2", 0),
        ("%tid.y", "16,4", 2),
        ("%tid.z", "16,4,2", 0),
    ] {
        std::fs::write(dir.join("k.ptx"), branch(value)).unwrap();
        let result = json_in(&dir, &["cfg", "k.ptx", "--grid", "1", "--block", block], 0);
        let result = &result["results"][0];
        assert_eq!(result["added"].as_array().map(Vec::len), Some(added), "{value} {block}");
        assert_eq!(result["blocks"][0]["diverges"], added > 0, "{value} {block}");
    }
}

#[test]
fn graphs_are_written_and_drawn() {
    let dir = scratch("cfg-files");
    let args = ["cfg", "ifelse", "--out", "g.dot", "--out", "g.svg"];
    assert!(in_dir(&dir, &args).status.success());
    let dot = std::fs::read_to_string(dir.join("g.dot")).unwrap();
    let result = &json(&["cfg", "ifelse"], 0)["results"][0];
    let count = |field: &str| result[field].as_array().unwrap().len();
    assert_eq!(dot.matches("->").count(), count("edges") + count("added"));
    assert_eq!(dot.matches("dashed").count(), count("added"));
    assert!(count("added") > 0);
    let svg = std::fs::read_to_string(dir.join("g.svg")).unwrap();
    let blocks = count("blocks");
    assert!(
        svg.contains("</svg>") && (0..blocks).all(|block| svg.contains(&format!("b{block}: line"))),
        "{svg}"
    );
    // an existing file is not replaced without --force
    let again = in_dir(&dir, &args);
    assert_eq!(again.status.code(), Some(1));
    assert!(stderr(&again).contains("the file is there already"), "{}", stderr(&again));
    assert!(in_dir(&dir, &[&args[..], &["--force"]].concat()).status.success());
}

#[test]
fn a_cycle_with_two_entries_is_reported() {
    let dir = scratch("cfg-irreducible");
    let text = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n.reg .pred %p<2>; .reg .b32 %r<3>;\n\
         mov.u32 %r0, %tid.x;\nsetp.eq.u32 %p0, %r0, 1;\n@%p0 bra B;\nA: add.u32 %r1, %r0, 1;\n\
         B: add.u32 %r1, %r1, 2;\nsetp.eq.u32 %p1, %r1, 9;\n@%p1 bra A;\nret;\n}\n";
    std::fs::write(dir.join("k.ptx"), text).unwrap();
    let refused = in_dir(&dir, &["cfg", "k.ptx", "--grid", "1", "--block", "32"]);
    assert_eq!(refused.status.code(), Some(1));
    let error_message = stderr(&refused);
    assert!(error_message.contains("the control flow of `k` is irreducible: line 1"), "{error_message}");
}
