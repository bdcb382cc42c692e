//! Program files: their results, their verdicts, their messages.

use serde_json::Value;

use crate::support::{in_dir, json, printed, put, refused, scratch, warpbound};

pub fn floats(path: &std::path::Path) -> Vec<f32> {
    let bytes = std::fs::read(path).unwrap();
    bytes.as_chunks().0.iter().map(|word| f32::from_le_bytes(*word)).collect()
}

pub fn ints(path: &std::path::Path) -> Vec<i32> {
    floats(path).into_iter().map(|word| word.to_bits() as i32).collect()
}

/// Runs with these dumps into a folder.
pub fn dumped(dir: &std::path::Path, args: &[&str], names: &[&str]) -> Value {
    let dumps: Vec<String> = names.iter().map(|n| format!("--dump={n}={}", dir.join(n).display())).collect();
    let dumps: Vec<&str> = dumps.iter().map(String::as_str).collect();
    json(&[args, &dumps].concat(), 0)
}

#[test]
fn jacobi_solves_as_a_plain_loop_does() {
    let dir = scratch("jacobi");
    let (n, sweeps) = (20usize, 7);
    let of = ["run", "jacobi", "--let", "n=20", "--let", "sweeps=7", "--seed", "5"];
    let result = dumped(&dir, &of, &["u", "next", "f", "worst"]);

    let width = n + 2;
    let f = floats(&dir.join("f"));
    let around = |u: &[f32], i: usize| u[i - 1] + u[i + 1] + u[i - width] + u[i + width] + f[i];
    let inside: Vec<usize> = (0..n * n).map(|cell| (cell / n + 1) * width + cell % n + 1).collect();
    let (mut u, mut next) = (vec![0f32; width * width], vec![0f32; width * width]);
    for _ in 0..sweeps {
        inside.iter().for_each(|&i| next[i] = 0.25 * around(&u, i));
        std::mem::swap(&mut u, &mut next);
    }
    // after an odd number of sweeps, too, `u` is the grid that was written last
    assert_eq!(floats(&dir.join("u")), u);
    assert_eq!(floats(&dir.join("next")), next);
    let mut worst = vec![0f32; 4];
    for &i in &inside {
        let (x, y) = (i % width - 1, i / width - 1);
        let block = &mut worst[y / 16 * 2 + x / 16];
        *block = block.max((-4.0f32).mul_add(u[i], around(&u, i)).abs());
    }
    assert_eq!(floats(&dir.join("worst")), worst);

    // launches add up, and steps of the file group them
    let launches = result["launches"].as_array().unwrap();
    let sum: u64 = launches.iter().map(|launch| launch["makespan"].as_u64().unwrap()).sum();
    assert_eq!((launches.len(), &result["makespan"]), (8, &sum.into()));
    let steps = result["steps"].as_array().unwrap();
    assert_eq!((steps.len(), &steps[0]["launches"], &steps[1]["launches"]), (2, &7.into(), &1.into()));
    assert_eq!(steps[0]["makespan"].as_u64().unwrap() + steps[1]["makespan"].as_u64().unwrap(), sum);
    for (index, bound) in result["bounds"].as_array().unwrap().iter().enumerate() {
        let of = |launch: &Value| launch["bounds"][index]["value"].as_u64().unwrap();
        assert_eq!(bound["value"], launches.iter().map(of).sum::<u64>(), "{bound}");
    }
    let stalls: u64 = result["stalls"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
    let issues = (result["issue_utilisation"].as_f64().unwrap() * sum as f64).round() as u64;
    // the utilisation has four places
    assert!((stalls + issues).abs_diff(sum) <= sum / 10_000 + 1, "stalls and issues fill the makespan");
}

#[test]
fn a_double_loop_sorts() {
    let dir = scratch("sort");
    let result = dumped(&dir, &["run", "bitonic_sort", "--let", "n=512"], &["data"]);
    let sorted = ints(&dir.join("data"));
    assert!(sorted.is_sorted() && sorted.len() == 512 && sorted[0] < sorted[511]);
    // 1 + 2 + .. + 9 steps
    let launches = result["launches"].as_array().unwrap();
    assert_eq!(launches.len(), 45);
    assert_eq!(launches[4]["counters"], serde_json::json!({"k": 8, "j": 2}));
    assert_eq!(result["steps"].as_array().map(Vec::len), Some(1));
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

#[test]
fn one_launch_alone_equals_the_launch_within_its_program() {
    let of = ["--let", "n=20", "--let", "sweeps=5"];
    let whole = json(&[&["check", "jacobi"], &of[..]].concat(), 0);
    for number in [0, 3, 5] {
        let launch = number.to_string();
        let one = json(&[&["check", "jacobi", "--launch", &launch], &of[..]].concat(), 0);
        let within = &whole["launches"][number];
        assert_eq!(one["kernel"], format!("jacobi[{number}]"));
        assert_eq!(one["makespan"], within["makespan"]);
        let (whole, part) = (list(&one["bounds"]), list(&within["bounds"]));
        assert_eq!(whole.len(), part.len());
        for (whole, part) in whole.iter().zip(part) {
            for field in ["name", "value", "status", "overestimation"] {
                assert_eq!(whole[field], part[field], "{number}: {whole} {part}");
            }
        }
    }
    // memory is as the earlier launches leave it: the same after launch 5 as after all of them
    let dir = scratch("one-launch");
    let buffers = ["u", "worst"];
    dumped(&dir, &[&["run", "jacobi"], &of[..]].concat(), &buffers);
    let after: Vec<_> = buffers.iter().map(|name| floats(&dir.join(name))).collect();
    dumped(&dir, &[&["run", "jacobi", "--launch", "5"], &of[..]].concat(), &buffers);
    assert_eq!(buffers.map(|name| floats(&dir.join(name))).to_vec(), after);
    // commands for a single launch accept one, and report an error without
    assert_eq!(json(&[&["phases", "jacobi", "--launch", "2"], &of[..]].concat(), 0)["kernel"], "jacobi[2]");
    for command in ["phases", "explore", "anomaly"] {
        let error_message = refused(&[command, "jacobi"]);
        assert!(
            error_message.contains("program of 41 launches") && error_message.contains("--launch N, 0 to 40"),
            "{error_message}"
        );
    }
    assert!(refused(&["run", "jacobi", "--trace", "t.json"]).contains("choose one with --launch N"));
    assert!(refused(&["run", "jacobi", "--launch", "41"]).contains("`jacobi` has 41 launches"));
    assert!(refused(&["run", "vecadd", "--launch", "0"]).contains("one launch only"));
    assert!(refused(&["run", "jacobi", "--grid", "3"]).contains("this is a program"));
    assert!(refused(&["run", "jacobi", "--let", "m=3"]).contains("its numbers: n, sweeps, cells, side"));
}

#[test]
fn a_program_runs_where_kernels_run() {
    let of = ["--let", "n=16", "--let", "sweeps=2"];
    let compared = json(&[&["compare", "jacobi", "--max-states", "1000"], &of[..]].concat(), 0);
    let (row, checked) = (&compared["results"][0], json(&[&["check", "jacobi"], &of[..]].concat(), 0));
    assert_eq!(row["makespans"][0]["makespan"], checked["makespan"]);
    let explored = &row["explored_worst_at_least"];
    assert!(explored.as_u64() >= checked["makespan"].as_u64(), "{row}");
    let both = json(&[&["check", "jacobi", "vecadd"], &of[..]].concat(), 1);
    assert!(both["errors"][0]["message"].as_str().unwrap().contains("no `let`"), "{both}");
    let both = json(&["check", "jacobi", "vecadd"], 0);
    assert_eq!(
        (&both["results"][0]["kernel"], &both["results"][1]["kernel"]),
        (&"jacobi".into(), &"vecadd".into())
    );
    // with caches every launch starts in the state that the machine specifies
    let detailed = json(&[&["check", "jacobi", "--machine", "accelsim-sm1"], &of[..]].concat(), 0);
    assert_eq!(detailed["launches"].as_array().map(Vec::len), Some(3));
    assert!(printed(&["inspect", "jacobi"]).contains("program of 41 launches"));
    assert_eq!(json(&["inspect", "jacobi"], 0)["kind"], "program");
    let listed = json(&["list"], 0);
    let kernels = listed["kernels"].as_array().unwrap();
    assert!(kernels.iter().any(|kernel| kernel["kernel"] == "jacobi" && kernel["suite"] == false));
}

const HEAD: &str = ".version 6.3\n.target sm_61\n.address_size 64\n";

/// A module that counts in a variable, and adds a constant to the target of a pointer.
const COUNTER: &str = "
.global .align 4 .u32 count = 5;
.const .align 4 .u32 step;
.visible .entry tick(.param .u64 p, .param .u32 n)
{
 .reg .b64 %rd<4>; .reg .b32 %r<8>;
 ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; ld.const.u32 %r2, [step];
 ld.global.u32 %r3, [count]; add.u32 %r3, %r3, 1; st.global.u32 [count], %r3;
 ld.global.u32 %r4, [%rd1]; add.u32 %r4, %r4, %r2; add.u32 %r4, %r4, %r1; st.global.u32 [%rd1], %r4; ret;
}
";

/// Another module, with a variable of the same kind at what would be the same address.
const OTHER: &str = "
.global .align 4 .u32 total = 100;
.visible .entry take(.param .u64 p)
{
 .reg .b64 %rd<4>; .reg .b32 %r<8>;
 ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [total]; add.u32 %r2, %r2, %r1;
 st.global.u32 [total], %r2; ret;
}
";

#[test]
fn variables_persist_and_modules_share_memory() {
    let dir = scratch("modules");
    put(&dir, "counter.ptx", &format!("{HEAD}{COUNTER}"));
    put(&dir, "other.ptx", &format!("{HEAD}{OTHER}"));
    std::fs::write(dir.join("init.bin"), [7, 0, 0, 0]).unwrap();
    let program = put(
        &dir,
        "p.ron",
        r#"Program(
    module: "counter.ptx",
    let: { "rounds": 3 },
    buffers: [
        Buffer(name: "x", elem: U32, len: 4, init: Iota), Buffer(name: "y", elem: U32, len: 4, init: Zero),
        Buffer(name: "z", elem: U32, len: 1, init: File("init.bin")),
    ],
    symbols: [ Buffer(name: "step", elem: U32, len: 1, init: Fill(10)) ],
    steps: [
        For(var: "i", while: "i < rounds", do: [
            Launch(entry: "tick", grid: (1, 1, 1), block: (1, 1, 1), args: [Ptr("x", "4 * i"), U32("i * i")]),
            Repeat("i == 1", [ Write(to: Ptr("step"), elem: U32, len: 1, init: Fill(1000)) ]),
        ]),
        // what one module counted, the other adds, by address and by copy
        Launch(module: "other.ptx", entry: "take", grid: (1, 1, 1), block: (1, 1, 1), args: [Ptr("count")]),
        Copy(from: Ptr("x", 4), to: Ptr("y", 8), bytes: 8),
        Copy(from: Ptr("total"), to: Ptr("y"), bytes: 4),
        Launch(module: "other.ptx", entry: "take", grid: (1, 1, 1), block: (1, 1, 1), args: [Ptr("z")]),
    ],
)"#,
    );
    let result = dumped(&dir, &["run", &program], &["x", "y", "count", "total", "step"]);
    assert_eq!(result["launches"].as_array().map(Vec::len), Some(5));
    // 0 + 10 + 0, 1 + 10 + 1, 2 + 1000 + 4
    assert_eq!(ints(&dir.join("x")), [10, 12, 1006, 3]);
    assert_eq!(ints(&dir.join("count")), [8]);
    assert_eq!(ints(&dir.join("y")), [108, 0, 12, 1006]);
    assert_eq!(ints(&dir.join("total")), [115]);
    assert_eq!(ints(&dir.join("step")), [1000]);
    // a single launch sees what was written and copied before it
    dumped(&dir, &["run", &program, "--launch", "2"], &["x", "count"]);
    assert_eq!((ints(&dir.join("x"))[2], ints(&dir.join("count"))[0]), (1006, 8));
    let fewer = dumped(&dir, &["run", &program, "--let", "rounds=1"], &["count"]);
    assert_eq!((fewer["launches"].as_array().map(Vec::len), ints(&dir.join("count"))), (Some(3), vec![6]));
    let unknown = refused(&["run", &program, "--dump", "cuont=x"]);
    assert!(unknown.contains("did you mean `count`") && unknown.contains("buffers: x, y, z"), "{unknown}");
}

/// Only the schedules of blocks that run one by one are explored. A program is rejected if any of
/// its launches has two blocks on the SM.
#[test]
fn blocks_side_by_side_in_a_later_launch_are_not_explored() {
    let dir = scratch("side-by-side");
    put(&dir, "counter.ptx", &format!("{HEAD}{COUNTER}"));
    let explored = |blocks: u32| {
        let step = |grid: u32| {
            format!(
                "Launch(entry: \"tick\", grid: ({grid}, 1, 1), block: (1, 1, 1), args: [Ptr(\"x\"), U32(1)])"
            )
        };
        let steps = [step(1), step(blocks)].join(", ");
        let buffer = "Buffer(name: \"x\", elem: U32, len: 4, init: Zero)";
        let text = format!("Program(module: \"counter.ptx\", buffers: [{buffer}], steps: [{steps}])");
        let program = put(&dir, "p.ron", &text);
        let args = ["compare", &program, "--set", "limits.blocks=2", "--races", "ignore"];
        json(&args, 0)["results"][0]["explored_worst"].is_u64()
    };
    assert_eq!((explored(1), explored(2)), (true, false));
}

/// The machine and its base are inputs, so that a dump does not replace them.
#[test]
fn a_dump_does_not_replace_a_machine_file() {
    let dir = scratch("dump-machine");
    put(&dir, "base.ron", "Machine(name: \"base\", extends: \"ecrts25-orin\")");
    let machine = put(&dir, "m.ron", "Machine(name: \"m\", extends: \"base.ron\")");
    for file in ["m.ron", "base.ron"] {
        let dump = format!("u={}", dir.join(file).display());
        let error_message = refused(&["run", "jacobi", "--machine", &machine, "--dump", &dump, "--force"]);
        assert!(
            error_message.contains("this would overwrite") && error_message.contains("which is read"),
            "{error_message}"
        );
    }
}

#[test]
fn wrong_programs_are_reported_with_place_and_hint() {
    let dir = scratch("wrong-programs");
    put(&dir, "counter.ptx", &format!("{HEAD}{COUNTER}"));
    let wrong = |fields: &str| {
        let program = format!(
            "Program(\n module: \"counter.ptx\", let: {{ \"n\": 4 }},\n buffers: [ Buffer(name: \"x\", elem: U32, len: \"n\", init: Zero) ],\n {fields}\n)"
        );
        refused(&["run", &put(&dir, "p.ron", &program)])
    };
    let launch =
        |args: &str| format!("Launch(entry: \"tick\", grid: (1, 1, 1), block: (1, 1, 1), args: [{args}])");
    let steps = |steps: &str| wrong(&format!("steps: [ {steps} ],"));
    let good = launch("Ptr(\"x\"), U32(1)");
    for (error_message, parts) in [
        // once, though it happens in many iterations
        (
            steps(&format!("Repeat(9, [ {} ])", launch("Ptr(\"x\", 20), U32(1)"))),
            vec!["p.ron:4", "offset 20 is outside of `x`, which has 16 bytes"],
        ),
        (
            steps(&format!(
                "For(var: \"k\", while: \"k < 9\", do: [ {} ])",
                launch("Ptr(\"x\", \"4 * k\"), U32(1)")
            )),
            vec!["offset 20 is outside"],
        ),
        (steps(&launch("Ptr(\"y\"), U32(1)")), vec!["no buffer or variable `y`", "x", "count"]),
        (steps(&launch("U32(1)")), vec!["takes 2 arguments, 1 given", "args: ["]),
        (steps(&launch("Ptr(\"x\"), U32(\"n * m\")")), vec!["`m` is not defined", "p.ron:4"]),
        (steps("Repeat(\"n / 0\", [])"), vec!["division by zero"]),
        (steps(&format!("For(var: \"n\", while: 1, do: [ {good} ])")), vec!["the name `n` is taken"]),
        (
            steps("For(var: \"k\", while: \"k < 3\", next: \"k\", do: [])"),
            vec!["more than 4000000 steps", "does every loop end"],
        ),
        (steps(&format!("Repeat(1000001, [ {good} ])")), vec!["more than 1000000 launches"]),
        (steps("Swap(\"x\", \"z\")"), vec!["no buffer `z`"]),
        (
            steps("Copy(from: Ptr(\"x\"), to: Ptr(\"x\", 8), bytes: 12)"),
            vec!["bytes 8 to 20 are outside of `x`"],
        ),
        (steps("Copy(from: U32(1), to: Ptr(\"x\"), bytes: 4)"), vec!["not a place to copy"]),
        (steps(""), vec!["launches no kernel"]),
        (steps("Lunch()"), vec!["did you mean `Launch`"]),
        (steps(&good.replace("tick", "tock")), vec!["no kernel `tock`", "did you mean `tick`", "p.ron:4"]),
        (steps(&good.replace("(entry", "(module: \"none.ptx\", entry")), vec!["none.ptx", "does not exist"]),
        (
            steps(&launch("Buffer(name: \"q\", elem: U8, len: 1, init: Zero), U32(1)")),
            vec!["a buffer inside of a step", "`buffers`"],
        ),
        (
            wrong(&format!(
                "symbols: [ Buffer(name: \"stop\", elem: U8, len: 1, init: Zero) ], steps: [ {good} ]"
            )),
            vec!["no module has a variable `stop`", "count, step"],
        ),
        (wrong(&format!("stpes: [ {good} ]")), vec!["did you mean `steps`"]),
        (wrong(&format!("let: {{ \"n\": 1, \"n\": 2 }}, steps: [ {good} ]")), vec!["let"]),
    ] {
        assert!(parts.iter().all(|part| error_message.contains(part)), "{parts:?}:\n{error_message}");
        assert_eq!(error_message.matches("error: ").count(), 1, "{error_message}");
    }
    let twice = "Program(module: \"counter.ptx\", let: { \"n\": 1, \"n\": 2 }, steps: [])";
    assert!(refused(&["run", &put(&dir, "p.ron", twice)]).contains("`n` is given twice here"));
    // an error of a kernel is reported with its launch
    let program = format!(
        "Program(module: \"counter.ptx\", buffers: [ Buffer(name: \"x\", elem: U32, len: 4, init: Zero) ],\n steps: [ For(var: \"k\", while: \"k < 9\", do: [ {} ]) ])",
        launch("Ptr(\"x\", \"4 * k\"), U32(1)").replace("4 * k", "min(4 * k, 16)")
    );
    let error_message = refused(&["run", &put(&dir, "p.ron", &program)]);
    assert!(error_message.contains("in launch 4 (line 2 of the program, k = 4)"), "{error_message}");
    assert!(
        error_message.contains("out-of-bounds load") && error_message.contains("counter.ptx:"),
        "{error_message}"
    );
}

/// Returns two warps on which plain lrr exceeds GUB, as in the embedded `lrr-witness`, after a
/// barrier.
fn witness() -> String {
    let chain: String = (0..20).map(|i| format!(" add.u32 %r{}, 1, 2;\n", i + 10)).collect();
    format!(
        "{HEAD}.visible .entry k()\n{{\n .reg .pred %p<2>; .reg .b32 %r<40>;\n mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 32;\n bar.sync 0;\n @%p1 bra A;\n{chain} mul.lo.u32 %r30, 3, 5;\n mad.lo.u32 %r31, %r30, 1, 1;\n ret;\nA:\n popc.b32 %r32, 7;\n mul.lo.u32 %r33, %r32, 3;\n add.u32 %r34, 1, 2;\n mad.lo.u32 %r35, %r34, 1, 1;\n ret;\n}}\n"
    )
}

const WITNESS_MACHINE: &str = r#"Machine(
    name: "witness", doc: "the units of lrr-witness for PTX", policy: Lrr, hazards: [Raw],
    units: {
        "f0": Unit(init: 32, lat: 0), "f1": Unit(init: 4, lat: 0), "f2": Unit(init: 32, lat: 0),
        "f3": Unit(init: 1, lat: 18), "rest": Unit(init: 1, lat: 0),
    },
    ops: { "int.mul": "f0", "int.add": "f1", "int.mad": "f2", "alu.bits": "f3", "alu": "rest", "control": "rest", "barrier": "rest" },
)"#;

#[test]
fn a_violation_in_a_program_is_shown_by_one_launch() {
    let dir = scratch("violation");
    put(&dir, "k.ptx", &witness());
    let machine = put(&dir, "m.ron", WITNESS_MACHINE);
    let launch = "Launch(entry: \"k\", grid: (1, 1, 1), block: (64, 1, 1))";
    let alone = "Launch(entry: \"k\", grid: (1, 1, 1), block: (32, 1, 1))";
    let program = put(
        &dir,
        "p.ron",
        &format!("Program(module: \"k.ptx\", steps: [\n {alone},\n Repeat(3, [ {launch} ]),\n])"),
    );
    let on = ["--machine", &machine, "--bound", "gub"];
    let result = json(&[&["check", &program], &on[..]].concat(), 3);
    assert_eq!(result["verdict"], "violated", "{result}");
    let gub = |launch: &Value| {
        launch["bounds"].as_array().unwrap().iter().find(|b| b["name"] == "gub").cloned().unwrap()
    };
    let launches = result["launches"].as_array().unwrap();
    let status: Vec<String> =
        launches.iter().map(|l| gub(l)["status"].as_str().unwrap().to_owned()).collect();
    assert_eq!(status, ["holds", "violated", "violated", "violated"]);
    let text = String::from_utf8(warpbound(&[&["check", &program], &on[..]].concat()).stdout).unwrap();
    assert!(text.contains("--launch 1"), "{text}");

    let found = dir.join("found");
    let output =
        warpbound(&[&["check", &program, "--counterexamples", found.to_str().unwrap()], &on[..]].concat());
    assert_eq!(output.status.code(), Some(3));
    let folder = std::fs::read_dir(&found).unwrap().next().unwrap().unwrap().path();
    let readme = std::fs::read_to_string(folder.join("README")).unwrap();
    let command = readme.lines().find(|line| line.contains("warpbound check")).expect("a command").trim();
    assert!(command.contains("program.ron --launch 1"), "{command}");
    let words: Vec<&str> = command.split_whitespace().skip(1).chain(["--format", "json"]).collect();
    let again = in_dir(&folder, &words);
    assert_eq!(again.status.code(), Some(3), "{}", String::from_utf8_lossy(&again.stderr));
    let again: Value = crate::json_output::read(&again.stdout);
    assert_eq!(again["makespan"], launches[1]["makespan"]);
}

/// A nondeterministic value that a launch leaves in memory is also nondeterministic for the
/// launches after it.
#[test]
fn nondeterminism_passes_from_launch_to_launch() {
    let dir = scratch("marks");
    let kernel = |name: &str, body: &str| {
        format!(
            ".visible .entry {name}(.param .u64 x, .param .u64 y)\n{{\n.reg .u32 %r<6>; .reg .u64 %rd<3>; .reg .pred %p;\n\
             ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];\n{body}\nret;\n}}\n"
        )
    };
    let module = [
        kernel("unset", "st.global.u32 [%rd1], %r3;"),
        kernel("clock", "mov.u32 %r3, %clock; st.global.u32 [%rd1], %r3;"),
        kernel("known", "st.global.u32 [%rd1], 3;"),
        kernel("pass", "ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd2], %r1;"),
        kernel(
            "decide",
            "ld.global.u32 %r1, [%rd2]; setp.eq.u32 %p, %r1, 7; @%p bra E;\nadd.u32 %r2, %r1, 1; st.global.u32 [%rd1], %r2;\nE:",
        ),
    ];
    put(&dir, "m.ptx", &format!(".version 7.0\n.target sm_80\n.address_size 64\n{}", module.concat()));
    let launch = |entry: &str| {
        format!(
            "Launch(entry: \"{entry}\", grid: (1, 1, 1), block: (1, 1, 1), args: [Ptr(\"x\"), Ptr(\"y\")])"
        )
    };
    for (first, varies) in [("unset", true), ("clock", true), ("known", false)] {
        let steps = [first, "pass", "decide"].map(launch).join(", ");
        let buffer = |name: &str| format!("Buffer(name: \"{name}\", elem: U32, len: 1, init: Zero)");
        let text = format!(
            "Program(module: \"m.ptx\", buffers: [{}, {}], steps: [{steps}])",
            buffer("x"),
            buffer("y")
        );
        let program = put(&dir, &format!("{first}.ron"), &text);
        let judged = |more: &[&str]| {
            let result = json(&[&["check", &program], more].concat(), 0);
            (result["verdict"].clone(), result.to_string())
        };
        for more in [&[][..], &["--launch", "2"]] {
            let (verdict, said) = judged(more);
            let expected = if varies { "not-applicable" } else { "holds" };
            assert_eq!(verdict, expected, "{first} {more:?}: {said}");
            assert_eq!(
                said.contains("left a value in memory that differs from run to run"),
                varies,
                "{said}"
            );
        }
    }
}
