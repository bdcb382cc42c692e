//! `warpbound static` and `warpbound wcet`: the bound over all paths, and other knowledge about the
//! worst case.

use serde_json::Value;

use crate::support::{in_dir, json, json_in, scratch, stderr, stdout, warpbound};

fn bound(result: &Value, name: &str) -> u64 {
    let bounds = result["bounds"].as_array().unwrap();
    bounds.iter().find(|bound| bound["name"] == name).unwrap()["value"].as_u64().unwrap()
}

/// The sums of the suite: nearly all kernels have a single path.
#[test]
fn the_suite_has_one_path_nearly_everywhere() {
    let run = warpbound(&["static", "--format", "json"]);
    let all: Value = serde_json::from_slice(&run.stdout).unwrap();
    let results = all["results"].as_array().unwrap();
    assert_eq!(results.len(), 82, "the other seven need bounds of loops");
    let equal = |result: &&Value| bound(result, "static") == bound(result, "iwb");
    assert_eq!(results.iter().filter(equal).count(), 78);
    for result in results {
        assert!(bound(result, "static") >= bound(result, "iwb"), "{result}");
        assert!(bound(result, "static") >= result["makespan"].as_u64().unwrap());
        if result["warps"] == result["warps_with_one_path"] {
            assert!(equal(&result), "{result:#}");
        }
        assert_eq!(result["bounds"][0]["status"], "holds");
    }
    // in JSON, failures are in the object
    let failed = stderr(&warpbound(&["static"]));
    for kernel in ["bfs_expand", "btree_lane", "loopbreak", "sssp_relax"] {
        assert!(failed.contains(&format!("kernel: {kernel}")), "{failed}");
    }
}

#[test]
fn loops_that_depend_on_data_need_a_bound() {
    let without = warpbound(&["static", "loopbreak"]);
    assert!(!without.status.success());
    let errors = stderr(&without);
    assert!(
        errors.contains("the number of iterations of the loop of line 63 depends on the result of line 35"),
        "{errors}"
    );
    assert!(errors.contains("--loop-bound 63=N") && errors.contains("loopbreak.ptx:63"), "{errors}");
    let values: Vec<u64> = [59, 60, 1_000_000_000]
        .map(|most| {
            let result = json(&["static", "loopbreak", "--loop-bound", &format!("63={most}")], 0);
            bound(&result["results"][0], "static")
        })
        .to_vec();
    assert!(values.windows(2).all(|pair| pair[0] < pair[1]), "{values:?}");
    // a thousand million iterations of 4 warps, whose 32 lanes diverge
    assert!(values[2] > 32_000_000_000, "{values:?}");
    let few = stderr(&warpbound(&["static", "loopbreak", "--loop-bound", "63=9"]));
    assert!(
        few.contains(
            "the bound of the loop of line 63 is 9, and lane 29 of warp 0 in block 0 goes back 59 times"
        ),
        "{few}"
    );
    // the number that the error states suffices, and one less does not
    assert!(warpbound(&["static", "loopbreak", "--loop-bound", "63=59"]).status.success());
    let less = stderr(&warpbound(&["static", "loopbreak", "--loop-bound", "63=58"]));
    assert!(less.contains("--loop-bound 63=59;"), "{less}");
    let unused = warpbound(&["static", "saxpy", "--loop-bound", "other.ptx:63=1"]);
    assert!(
        unused.status.success() && stderr(&unused).contains("this bound is not used"),
        "{}",
        stderr(&unused)
    );
    for (text, message) in [
        ("3=9", "no loop begins in this line"),
        ("63=", "is not LINE=N"),
        ("x", "is not LINE=N"),
        ("63=-1", "is not LINE=N"),
    ] {
        let errors = stderr(&warpbound(&["static", "loopbreak", "--loop-bound", text]));
        assert!(errors.contains(message) && errors.contains("hint"), "{text}: {errors}");
    }
    let twice = stderr(&warpbound(&["static", "loopbreak", "--loop-bound", "63=9", "--loop-bound", "63=8"]));
    assert!(twice.contains("has a bound already"), "{twice}");
}

/// A bound that does not fit is not applicable, whether the loops or the latencies are too long.
#[test]
fn a_bound_that_does_not_fit_is_not_applicable() {
    let most = format!("63={}", u64::MAX);
    for latency in [1u64, 1 << 32] {
        let latency = format!("units.int.lat={latency}");
        let args =
            ["static", "loopbreak", "--machine", "jetson-tx2", "--loop-bound", &most, "--set", &latency];
        let result = &json(&args, 0)["results"][0];
        let bounds = result["bounds"].as_array().unwrap();
        let of = |name: &str| bounds.iter().find(|bound| bound["name"] == name).unwrap();
        let all_paths = of("static");
        assert_eq!((&all_paths["status"], all_paths.get("value")), (&"not-applicable".into(), None));
        assert!(all_paths["reason"].as_str().unwrap().contains("2^64 - 1 cycles"), "{all_paths}");
        assert_eq!(of("rbb")["status"], "holds", "the bound of the run has a value: {result}");
    }
}

/// The same for sums of blocks, of requests, and of sections that only some paths have.
#[test]
fn a_bound_that_does_not_fit_is_not_applicable_on_any_machine() {
    let kernels: [(&str, &[u32]); 3] =
        [("loopbreak", &[63]), ("bfs_expand", &[74]), ("eigen_cluster", &[608, 686])];
    for machine in ["ecrts25-orin", "turing-tu102", "accelsim-sm1", "fermi-c2050", "accelsim-ecrts-dram"] {
        for (kernel, lines) in kernels {
            let bounds: Vec<String> = lines.iter().map(|line| format!("{line}={}", u64::MAX)).collect();
            let bounds = bounds.iter().flat_map(|bound| ["--loop-bound", bound]);
            let args: Vec<&str> =
                ["static", kernel, "--machine", machine].into_iter().chain(bounds).collect();
            let all_paths = &json(&args, 0)["results"][0]["bounds"][0];
            assert_eq!(all_paths["status"], "not-applicable", "{kernel} on {machine}: {all_paths}");
            assert!(all_paths["reason"].as_str().unwrap().contains("2^64 - 1 cycles"), "{all_paths}");
        }
    }
}

/// A file of bounds for several kernels: each uses those of its own source.
#[test]
fn bounds_of_loops_come_from_a_file() {
    let dir = scratch("static-annotations");
    let text = "# loops that depend on data\nloopbreak.ptx:63 = 1667\n\nbfs.ptx:74=64 # a frontier\n";
    std::fs::write(dir.join("bounds"), text).unwrap();
    let output = in_dir(
        &dir,
        &["static", "loopbreak", "bfs_expand", "vecadd", "--annotations", "bounds", "--format", "json"],
    );
    assert!(output.status.success(), "{}", stderr(&output));
    let all: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let given = |index: usize| all["results"][index]["loop_bounds"].clone();
    assert_eq!(given(0), serde_json::json!([{ "line": 63, "most": 1667 }]));
    assert_eq!(given(1), serde_json::json!([{ "line": 74, "most": 64 }]));
    assert!(given(2).is_null());
    let option = |index: usize, text: &str| {
        let row = &all["results"][index];
        let alone = json(&["static", row["kernel"].as_str().unwrap(), "--loop-bound", text], 0);
        assert_eq!(bound(row, "static"), bound(&alone["results"][0], "static"));
    };
    option(0, "63=1667");
    option(1, "74=64");

    std::fs::write(dir.join("bounds"), "63=1667\nloopbreak.ptx:3=9\nx\n").unwrap();
    let wrong = stderr(&in_dir(&dir, &["wcet", "loopbreak", "--runs", "1", "--annotations", "bounds"]));
    assert!(wrong.contains("bounds:3:1") && wrong.contains("is not LINE=N or FILE:LINE=N"), "{wrong}");
    std::fs::write(dir.join("bounds"), "63=1667\nloopbreak.ptx:3=9\n").unwrap();
    let wrong = stderr(&in_dir(&dir, &["static", "loopbreak", "--annotations", "bounds"]));
    assert!(wrong.contains("bounds:2:1") && wrong.contains("no loop begins in this line"), "{wrong}");
    std::fs::write(dir.join("bounds"), b"\xff").unwrap();
    let wrong = stderr(&in_dir(&dir, &["static", "loopbreak", "--annotations", "bounds"]));
    assert!(wrong.contains("not UTF-8"), "{wrong}");
}

/// If blocks are resident together, the bound is RBB over all paths.
#[test]
fn blocks_that_are_resident_together_have_a_bound() {
    let args = ["static", "sgemm_naive", "hotspot", "bitonic_shared", "--machine", "turing-tu102"];
    let result = json(&args, 0);
    for row in result["results"].as_array().unwrap() {
        if row["blocks"].as_u64().unwrap() > 1 {
            assert_eq!(row["of_paths"], "rbb");
            assert!(bound(row, "static") >= bound(row, "rbb"), "{row}");
        } else {
            assert_eq!(row["of_paths"], "iwb");
        }
    }
    let text = stdout(&warpbound(&args));
    assert!(text.contains("iwb/rbb"), "{text}");
}

/// Unknown facts are errors with their position.
#[test]
fn unknown_facts_are_errors() {
    let dir = scratch("static-beyond");
    let kernel = |body: &str| {
        format!(
            ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n.reg .pred %p<4>; .reg .b32 %r<4>; \
             .reg .b64 %d<4>;\nld.param.u64 %d0, [p];\nld.global.u32 %r0, [%d0];\nsetp.eq.u32 %p0, %r0, 1;\n{body}\nret;\n}}\n"
        )
    };
    let all_paths_value = |body: &str| {
        std::fs::write(dir.join("k.ptx"), kernel(body)).unwrap();
        let buffer = "Buffer(name: \"a\", elem: U32, len: 64, init: Uniform(0, 9))";
        in_dir(&dir, &["static", "k.ptx", "--grid", "1", "--block", "64", "--arg", buffer])
    };
    let barrier = stderr(&all_paths_value("@%p0 bar.sync 0;"));
    assert!(barrier.contains("barriers that depend on data") && barrier.contains("k.ptx:10"), "{barrier}");
    let table = "ts: .branchtargets A, B;\nbrx.idx %r0, ts;\nA: mov.u32 %r1, 1;\nB: mov.u32 %r1, 2;";
    let errors = stderr(&all_paths_value(table));
    assert!(errors.contains("branches through tables"), "{errors}");
    // a barrier that depends on uniform data is only on some paths: all sections have the same
    // bound
    let text =
        stdout(&all_paths_value("@%p0 bra L;\nbar.sync 0;\nadd.u32 %r1, %r0, 1;\nL: add.u32 %r2, %r0, 1;"));
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
    assert!(few.contains("goes back 59 times (seed "), "{few}");
}

/// A block small enough to explore all schedules: the worst of them is between the longest run and
/// every proved bound.
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

/// A loop whose trip count is the first word of a buffer, which the launch may declare constant.
#[test]
fn contents_of_constant_buffers_are_known() {
    let dir = scratch("static-constant");
    let kernel = |store: &str| {
        format!(
            ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 q)\n{{\n.reg .pred %p<4>; .reg .b32 %r<4>; \
             .reg .b64 %d<4>;\nld.param.u64 %d0, [p];\nld.param.u64 %d1, [q];\nld.global.u32 %r0, [%d0];\nmov.u32 %r1, 0;\n\
             L: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, %r0;\n@%p0 bra L;\nst.global.u32 [{store}], %r1;\nret;\n}}\n"
        )
    };
    let args = |command: &'static str, constant: bool, init: &str| {
        let first = format!("Buffer(name: \"a\", elem: U32, len: 1, init: {init}, constant: {constant})");
        let second = "Buffer(name: \"b\", elem: U32, len: 1, init: Zero)".to_owned();
        let more = ["k.ptx", "--grid", "1", "--block", "32", "--races", "ignore", "--arg"].map(str::to_owned);
        let launch = [first, "--arg".to_owned(), second];
        [command.to_owned()].into_iter().chain(more).chain(launch).collect::<Vec<String>>()
    };
    let run = |args: &[String], more: &[&str]| {
        let all: Vec<&str> = args.iter().map(String::as_str).chain(more.iter().copied()).collect();
        in_dir(&dir, &all)
    };
    std::fs::write(dir.join("k.ptx"), kernel("%d1")).unwrap();
    let unknown = stderr(&run(&args("static", false, "Fill(7)"), &[]));
    assert!(
        unknown.contains("--loop-bound 11=N") && unknown.contains("line 9") && unknown.contains("k.ptx:11"),
        "{unknown}"
    );
    let value = |init: &str| {
        let found = run(&args("static", true, init), &["--format", "json"]);
        let found: serde_json::Value = serde_json::from_slice(&found.stdout).unwrap();
        let row = &found["results"][0];
        assert_eq!(bound(row, "static"), bound(row, "iwb"), "there is one path: {row}");
        bound(row, "static")
    };
    let [seven, eight, nine] = ["Fill(7)", "Fill(8)", "Fill(9)"].map(value);
    assert!(seven < eight && eight - seven == nine - eight, "{seven}, {eight}, {nine}");
    // random contents of a constant buffer are the same for every seed
    let makespan = |constant: bool, seed: &str| {
        let ran = run(&args("run", constant, "Uniform(1, 90)"), &["--seed", seed, "--format", "json"]);
        let ran: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
        ran["results"][0]["makespan"].as_u64().unwrap()
    };
    assert_eq!(makespan(true, "3"), makespan(true, "4"));
    assert_eq!(makespan(true, "3"), makespan(false, "0"));
    assert_ne!(makespan(false, "3"), makespan(false, "4"));
    // a kernel cannot write a constant buffer
    std::fs::write(dir.join("k.ptx"), kernel("%d0")).unwrap();
    assert!(run(&args("run", false, "Fill(7)"), &[]).status.success());
    let wrong = run(&args("run", true, "Fill(7)"), &[]);
    let errors = stderr(&wrong);
    assert_eq!(wrong.status.code(), Some(1), "{errors}");
    assert!(
        errors.contains("k.ptx:14") && errors.contains("read-only") && errors.contains("constant: true"),
        "{errors}"
    );
}

/// A program has the sum of the bounds of its launches, a line for each of them, and one for the total.
#[test]
fn programs_have_a_total_and_a_line_for_each_launch() {
    let result = &json(&["static", "jacobi"], 0)["results"][0];
    let launches = result["launches"].as_array().unwrap();
    assert_eq!(launches.len(), 41);
    let sum: u64 = launches.iter().map(|launch| bound(launch, "static")).sum();
    assert_eq!(bound(result, "static"), sum);
    assert!(launches.iter().all(|launch| bound(launch, "static") >= launch["makespan"].as_u64().unwrap()));
    let (first, last) = (&launches[0], &launches[40]);
    assert_eq!((&first["entry"], &last["entry"]), (&"jacobi".into(), &"residual".into()));
    assert_eq!(
        (&last["launch"], &last["grid"], &last["of_paths"]),
        (&40.into(), &serde_json::json!([2, 2, 1]), &"iwb".into())
    );
    assert_eq!((&result["blocks"], &result["warps"]), (&164.into(), &1312.into()));
    let text = stdout(&warpbound(&["static", "jacobi"]));
    assert!(
        text.starts_with("guaranteed on this machine: 249,012 cycles (static) for every input")
            && text.contains(
                "\njacobi on ecrts25-orin, gto: 214056 cycles with the data of this run, in 41 launches\n"
            ),
        "{text}"
    );
    assert_eq!(
        text.lines().filter(|line| line.trim_end().ends_with("holds") && line.contains(" jacobi ")).count(),
        40,
        "{text}"
    );
    // one launch alone, in memory of which only the declared constants are known
    let alone = &json(&["static", "jacobi", "--launch", "40"], 0)["results"][0];
    assert_eq!(bound(alone, "static"), bound(last, "static"));
    let both = stdout(&warpbound(&["static", "jacobi", "saxpy"]));
    assert!(both.contains("1 launch and 1 program: static "), "{both}");
}

/// The loops of the kernels of a program need bounds, which may differ from launch to launch.
#[test]
fn loop_bounds_of_programs_name_their_kernel_and_launches() {
    let without = stderr(&warpbound(&["static", "bfs_program"]));
    assert!(
        without.contains(
            "in launch 0 (line 32 of the program, depth = 1): the number of iterations of the loop of line 74"
        ),
        "{without}"
    );
    let of = |bounds: &[&str]| {
        let options = bounds.iter().flat_map(|bound| ["--loop-bound", bound]);
        let args: Vec<&str> = ["static", "bfs_program"].into_iter().chain(options).collect();
        json(&args, 0)["results"][0].clone()
    };
    let (all, some) = (of(&["74=40"]), of(&["bfs.ptx:74=40", "74@0=4", "74@16-18=30"]));
    let value = |result: &Value, launch: usize| bound(&result["launches"][launch], "static");
    assert!(value(&some, 0) < value(&some, 16) && value(&some, 16) < value(&some, 2));
    assert_eq!((value(&some, 2), value(&some, 1)), (value(&all, 2), value(&all, 1)));
    let given = serde_json::json!([
        { "entry": "bfs_expand", "line": 74, "most": 40 },
        { "entry": "bfs_expand", "line": 74, "launches": [0, 0], "most": 4 },
        { "entry": "bfs_expand", "line": 74, "launches": [16, 18], "most": 30 },
    ]);
    assert_eq!(some["loop_bounds"], given);
    assert_eq!(some["launches"][16]["loop_bounds"], serde_json::json!([{ "line": 74, "most": 30 }]));
    let fails = |args: &[&str], message: &str| {
        let errors = stderr(&warpbound(&[&["static"], args].concat()));
        assert!(errors.contains(message) && errors.contains("hint"), "{args:?}: {errors}");
    };
    fails(&["bfs_program", "--loop-bound", "74@99=5"], "the program has no launch of this number");
    fails(&["bfs_program", "--loop-bound", "74@0-99=5"], "the program has no launch of this number");
    fails(&["bfs_program", "--loop-bound", "74@1=5"], "none of these launches executes the loop");
    fails(&["bfs_program", "--loop-bound", "75@x=5"], "is not LINE@LAUNCH=N");
    fails(
        &["bfs_expand", "--loop-bound", "74@0=5"],
        "`bfs_expand` is one kernel, and only a program has launches",
    );
    fails(
        &["bfs_program", "--loop-bound", "74=40", "--loop-bound", "74@4=0"],
        "in launch 4 (line 32 of the program",
    );
}

/// `wcet` begins with the guarantee for a program, too, and a list of traces has no code.
#[test]
fn wcet_takes_programs() {
    let result = &json(&["wcet", "kmeans", "--runs", "3"], 0)["results"][0];
    let answer = &result["answer"]["guaranteed"];
    let alone = &json(&["static", "kmeans"], 0)["results"][0];
    assert_eq!((&answer["bound"], &answer["inputs"]), (&"static".into(), &"every-input".into()));
    assert_eq!(answer["cycles"], bound(alone, "static"));
    let launches = result["launches"].as_array().unwrap();
    assert_eq!(launches.len(), 12);
    let sum: u64 = launches.iter().map(|launch| launch["static"].as_u64().unwrap()).sum();
    assert_eq!(answer["cycles"], sum);
    assert!(launches.iter().all(|launch| launch["simulated"].as_u64() <= launch["static"].as_u64()));
    let text = stdout(&warpbound(&["wcet", "kmeans", "--runs", "1"]));
    assert!(
        text.starts_with("guaranteed on this machine: ") && text.contains("(static) for every input"),
        "{text}"
    );
    assert_eq!(text.lines().filter(|line| line.contains("kmeans_assign")).count(), 6, "{text}");
    // without the loop bound the answer is about the inputs of the runs
    let unbounded = &json(&["wcet", "bfs_program", "--runs", "1"], 0)["results"][0];
    assert_eq!(unbounded["answer"]["guaranteed"]["inputs"], "this-input");
    let seed = stderr(&warpbound(&["wcet", "bfs_program", "--runs", "2", "--loop-bound", "74=3"]));
    assert!(seed.contains("in launch ") && seed.contains("(seed 0)"), "{seed}");
}

/// Look-ups of constants that only some paths have count like those of every path: with one register,
/// the cache for constants can track a single fetch at a time.
#[test]
fn constants_that_only_some_paths_load_are_counted() {
    let dir = scratch("static-constants");
    let loads: String =
        (0..16).map(|n| format!("ld.const.u32 %r{}, [table+{}];\n", 10 + n, 128 * n)).collect();
    let ptx = format!(
        ".version 6.3\n.target sm_61\n.address_size 64\n.const .align 16 .b8 table[4096];\n\
         .visible .entry k(.param .u64 x)\n{{\n.reg .pred %p<2>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<2>;\n\
         ld.param.u64 %rd1, [x];\ncvta.to.global.u64 %rd1, %rd1;\nld.global.u32 %r1, [%rd1];\n\
         setp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\n{loads}L:\nret;\n}}\n"
    );
    std::fs::write(dir.join("k.ptx"), ptx).unwrap();
    for cache in ["sets: 1, ways: 64, mshrs: 1", "sets: 1, ways: 1, mshrs: 64"] {
        let constants = format!("memory.constant=Cache(line: 128, sectored: false, merge: 64, {cache})");
        let args = [
            &["static", "k.ptx", "--entry", "k", "--grid", "1", "--block", "32", "--machine", "accelsim-sm1"]
                [..],
            &["--arg", "Buffer(name: \"x\", elem: U32, len: 1024, init: Zero)"],
            &["--set", &constants, "--set", "pipeline.load_store.parameters_ready=true"],
            &["--set", "memory.partitions.dram.latency=500"],
        ];
        let result = &json_in(&dir, &args.concat(), 0)["results"][0];
        let makespan = result["makespan"].as_u64().unwrap();
        assert!(makespan > 8000, "each load waits for the one before: {makespan}");
        assert!(bound(result, "static") >= bound(result, "plb"), "{result:#}");
        assert!(bound(result, "plb") >= makespan, "{result:#}");
    }
}

/// Control codes, and not registers, decide for what this machine code waits.
#[test]
fn machine_code_has_a_bound_over_all_paths() {
    for (kernel, code, machine) in [
        ("vecadd", "sm_75", "quadro-rtx6000"),
        ("vecadd", "sm_90", "h100-sxm"),
        ("vecadd", "sm_120", "rtx5090"),
        // its lanes diverge in regions of BSSY
        ("reduce5", "sm_90", "h100-sxm"),
    ] {
        let run = json(&["static", kernel, "--compiler", code, "--machine", machine], 0);
        let result = &run["results"][0];
        assert_eq!(result["bounds"][0]["status"], "holds", "{result:#}");
        assert!(bound(result, "static") >= bound(result, "plb"), "{result:#}");
    }
}
