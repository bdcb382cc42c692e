//! Programs and lists of traces as applications: kernels and totals, and checkpoints from which
//! another process resumes.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{
    command, grouped, in_dir, json_in, names, scratch, shell, signal, start, stderr, stdout, wait_for,
};

/// Three kernels: each thread executes a loop and then adds to the result of another kernel.
const CODE: &str = "\
.version 6.3
.target sm_61
.address_size 64
KERNEL(fill, mov.u32 %r5\\, %r2;)
KERNEL(twice, ld.global.u32 %r5\\, [%rd3]; add.s32 %r5\\, %r5\\, %r5;)
KERNEL(more, ld.global.u32 %r5\\, [%rd3]; add.s32 %r5\\, %r5\\, %r1;)
";

fn kernel(name: &str, body: &str) -> String {
    format!(
        ".visible .entry {name}(.param .u64 p, .param .u32 rounds)\n{{\n.reg .pred %p<3>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<5>;\n\
         ld.param.u64 %rd1, [p];\nld.param.u32 %r7, [rounds];\nmov.u32 %r1, 0;\n\
         mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\nmad.lo.s32 %r2, %r2, %r3, %r4;\n\
         mul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\n\
         L:\nadd.s32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, %r7;\n@%p1 bra L;\n{body}\nst.global.u32 [%rd3], %r5;\nret;\n}}\n"
    )
}

/// Writes `three.ptx` and `app.ron`: the kernels `times` times, with loops of `rounds` iterations.
fn write_program(dir: &Path, times: u32, rounds: u32) {
    let mut code = String::new();
    for line in CODE.lines() {
        match line.strip_prefix("KERNEL(").and_then(|rest| rest.strip_suffix(')')) {
            Some(of) => {
                let (name, body) = of.split_once(", ").unwrap();
                code += &kernel(name, &body.replace("\\,", ","));
            }
            None => code += &format!("{line}\n"),
        }
    }
    std::fs::write(dir.join("three.ptx"), code).unwrap();
    let launch = |entry: &str, grid: u32| {
        format!(
            "Launch(entry: \"{entry}\", grid: ({grid}, 1, 1), block: (64, 1, 1), args: [Ptr(\"x\"), U32(\"rounds\")])"
        )
    };
    let steps = [launch("fill", 2), launch("twice", 4), launch("more", 1)].join(",\n ");
    let text = format!(
        "Program(module: \"three.ptx\", let: {{ \"rounds\": {rounds} }},\n buffers: [Buffer(name: \"x\", elem: U32, len: 256, init: Iota)],\n \
         steps: [Repeat({times}, [{steps},\n Copy(from: Ptr(\"x\"), to: Ptr(\"x\", 512), bytes: 256)])])\n"
    );
    std::fs::write(dir.join("app.ron"), text).unwrap();
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("no number: {value}"))
}

/// The place of the makespan in a result of `check`, and those in one of `compare`.
const ALONE: &str = "/makespan";
const GTO: &str = "/makespans/0/makespan";
const LRR: &str = "/makespans/1/makespan";

/// Checks that the rows of this key add up to the whole, for every bound.
fn adds_up(result: &Value, key: &str, makespan: &str) {
    let rows = result[key].as_array().unwrap();
    for place in [makespan, "/warp_instructions"] {
        let at = |result: &Value| number(result.pointer(place).expect("it is there"));
        assert_eq!(rows.iter().map(at).sum::<u64>(), at(result), "{key} {place}");
    }
    for bound in result["bounds"].as_array().unwrap() {
        let Some(whole) = bound["value"].as_u64() else { continue };
        let of_row = |row: &Value| {
            let bounds = row["bounds"].as_array().unwrap();
            number(&bounds.iter().find(|other| other["name"] == bound["name"]).unwrap()["value"])
        };
        assert_eq!(rows.iter().map(of_row).sum::<u64>(), whole, "{key}: {}", bound["name"]);
    }
}

#[test]
fn three_kernels_as_code_and_as_traces() {
    let dir = scratch("three-kernels");
    write_program(&dir, 1, 20);
    let exported = in_dir(&dir, &["export", "app.ron", "--out", "traced"]);
    assert!(exported.status.success(), "{}", stderr(&exported));
    let mut makespans = Vec::new();
    for file in ["app.ron", "traced/kernelslist.g"] {
        let checked = json_in(&dir, &["check", file], 0);
        let result = &checked["results"][0];
        assert_eq!(checked["results"].as_array().unwrap().len(), 1, "it runs as one");
        let launches = result["launches"].as_array().unwrap();
        assert_eq!((launches.len(), &result["verdict"]), (3, &"holds".into()));
        let entries: Vec<&str> = launches.iter().map(|launch| launch["entry"].as_str().unwrap()).collect();
        assert_eq!(entries, ["fill", "twice", "more"]);
        assert_eq!(launches[1]["grid"], serde_json::json!([4, 1, 1]));
        adds_up(result, "launches", ALONE);
        adds_up(result, "steps", ALONE);
        makespans.push(number(&result["makespan"]));

        let ran = json_in(&dir, &["run", file], 0);
        assert_eq!(ran["results"][0]["makespan"], result["makespan"]);
        adds_up(&ran["results"][0], "launches", ALONE);
        let both = json_in(&dir, &["compare", file], 0);
        let compared = &both["results"][0];
        assert_eq!((both["results"].as_array().unwrap().len(), compared["blocks"].as_u64()), (1, Some(3)));
        for makespan in [GTO, LRR] {
            adds_up(compared, "steps", makespan);
        }
        assert_eq!(compared["makespans"][0]["makespan"], result["makespan"]);
        for command in ["check", "run"] {
            let text = stdout(&in_dir(&dir, &[command, file]));
            let total = text.lines().find(|line| line.contains(" total ")).expect("a row of totals");
            assert!(total.contains(&grouped(&result["makespan"])) && total.contains("holds"), "{text}");
        }
        // a single kernel of the program
        for (number, launch) in launches.iter().enumerate() {
            let one = json_in(&dir, &["check", file, "--launch", &number.to_string()], 0);
            assert_eq!(one["results"][0]["makespan"], launch["makespan"]);
        }
        let inspected = json_in(&dir, &["inspect", file], 0);
        let text = inspected["results"][0].to_string();
        assert!(["fill", "twice", "more"].iter().all(|entry| text.contains(entry)), "{text}");
    }
    assert_eq!(makespans[0], makespans[1], "a trace of it takes as long");

    let plan = "Sweep(kernels: [Vary(\"traced/kernelslist.g\", { \"launch\": [\"all\", 0, 1, 2] }), Kernel(\"app.ron\")], policies: [\"gto\", \"lrr\"])";
    std::fs::write(dir.join("plan.ron"), plan).unwrap();
    let swept = in_dir(&dir, &["sweep", "plan.ron", "--out", "results"]);
    assert!(swept.status.success(), "{}", stderr(&swept));
    let lines = std::fs::read_to_string(dir.join("results/results.jsonl")).unwrap();
    let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |launch: Value| {
        let row = rows.iter().find(|row| row["policy"] == "gto" && row["launch"] == launch);
        (number(&row.unwrap()["makespan"]), number(&row.unwrap()["launches"]))
    };
    let each: u64 = (0..3u64).map(|launch| of(launch.into()).0).sum();
    assert_eq!(of("all".into()), (each, 3));
    assert_eq!(of(Value::Null), (each, 3), "the program itself");
    let page = in_dir(&dir, &["report", "results", "--out", "page.html"]);
    assert!(page.status.success(), "{}", stderr(&page));
    assert!(std::fs::read_to_string(dir.join("page.html")).unwrap().contains("kernelslist.g"));
}

#[test]
fn traces_of_a_list_run_in_parallel_with_the_same_output() {
    let dir = scratch("list-jobs");
    write_program(&dir, 4, 50);
    assert!(in_dir(&dir, &["export", "app.ron", "--out", "t"]).status.success());
    let args = ["check", "t/kernelslist.g", "--policy", "gto,lrr", "--format", "json", "--jobs"];
    let one = in_dir(&dir, &[&args[..], &["1"]].concat());
    let four = in_dir(&dir, &[&args[..], &["4"]].concat());
    assert!(one.status.success(), "{}", stderr(&one));
    assert_eq!(stdout(&one), stdout(&four));
}

/// Runs a command with a checkpoint repeatedly, kills it each time after a part of the time that
/// the whole run takes, and returns the output of the run that completes, with the number of kills.
fn killed_until_done(dir: &Path, args: &[&str], seed: u64, whole: Duration) -> (String, u32) {
    let (mut state, mut kills) = (seed, 0);
    loop {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let threads = ["1", "2", "3"][(state >> 40) as usize % 3];
        let limit = format!("0.{:02}", 2 + (state >> 50) % 9);
        let ends: &[&str] = if state >> 63 == 1 { &["--time-limit", &limit] } else { &[] };
        let again = ["--checkpoint", "c", "--resume", "--sm-threads", threads];
        let mut child = command(dir, &[args, &again, ends].concat());
        // the output goes to a file: a process that waits for a reader of its output would be
        // killed although it is done
        let out = dir.join("killed.out");
        let mut child = child
            .stdout(std::fs::File::create(&out).unwrap())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        // longer and longer delays, so that it completes on a slow machine as well
        if ends.is_empty() {
            let part = whole.mul_f64(((state >> 33) % 100) as f64 / 100.0);
            std::thread::sleep(part + Duration::from_millis(5) * kills);
        }
        if ends.is_empty() && child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            kills += 1;
        }
        let mut output = child.wait_with_output().unwrap();
        output.stdout = std::fs::read(&out).unwrap();
        match output.status.code() {
            Some(0) => return (stdout(&output), kills),
            Some(1) if !ends.is_empty() => {
                let message = stderr(&output);
                // or it was stopped before it read the application
                let goes_on = message.contains("--resume goes on")
                    || message.contains("the same command goes on")
                    || stdout(&output).contains("stopped before the trace was read");
                assert!(goes_on, "{message}{}", stdout(&output));
            }
            Some(code) => panic!("{code}: {}", stderr(&output)),
            None => {}
        }
    }
}

#[test]
fn killed_runs_resume_to_the_same_output() {
    let dir = scratch("killed");
    write_program(&dir, 8, 1000);
    assert!(in_dir(&dir, &["export", "app.ron", "--out", "t"]).status.success());
    let lists = ["--machine", "ecrts25-orin,accelsim-ecrts", "--policy", "gto,random:7"];
    let check = [&["check", "app.ron", "--format", "json"][..], &lists].concat();
    let check_traces = [&["check", "t/kernelslist.g", "--format", "json"][..], &lists].concat();
    let run = ["run", "app.ron", "--format", "json", "--dump", "x=x.bin", "--force"];
    let mut kills = 0;
    // the state that a kernel leaves in caches and DRAM is kept, too
    let left = ["--machine", "accelsim-sm1,ecrts25-orin,accelsim-ecrts-dram", "--policy", "gto,lrr"];
    let check_left = [&["check", "app.ron", "--format", "json"][..], &left].concat();
    let traces_left = [&["check", "t/kernelslist.g", "--format", "json"][..], &left].concat();
    let run_left = ["run", "t/kernelslist.g", "--format", "json", "--machine", "accelsim-sm1"];
    let all = [&check[..], &check_traces, &run, &["check", "app.ron"], &check_left, &traces_left, &run_left];
    for (index, args) in all.into_iter().enumerate() {
        let begin = Instant::now();
        let whole = in_dir(&dir, args);
        let time = begin.elapsed();
        assert!(whole.status.success(), "{}", stderr(&whole));
        let dumped = std::fs::read(dir.join("x.bin")).ok();
        let _ = std::fs::remove_file(dir.join("x.bin"));
        let (resumed, killed) = killed_until_done(&dir, args, index as u64 + 1, time);
        assert_eq!(resumed, stdout(&whole), "{args:?}");
        if args[0] == "run" {
            assert_eq!(std::fs::read(dir.join("x.bin")).ok(), dumped);
        }
        // the checkpoint is complete: nothing is simulated, and the output is the same
        let again = in_dir(&dir, &[args, &["--checkpoint", "c", "--resume"]].concat());
        assert_eq!(stdout(&again), stdout(&whole));
        std::fs::remove_file(dir.join("c")).unwrap();
        kills += killed;
    }
    assert!(kills > 4, "no run was killed before its end");
}

/// Each kernel finds caches and DRAM in the state that the machine specifies, in every command.
#[test]
fn a_kernel_finds_the_state_that_the_previous_one_left() {
    let dir = scratch("left-between-kernels");
    write_program(&dir, 1, 2);
    assert!(in_dir(&dir, &["export", "app.ron", "--out", "t"]).status.success());
    for file in ["app.ron", "t/kernelslist.g"] {
        let times = |command: &str, start: &str| -> Vec<u64> {
            let set = format!("memory.start={start}");
            let args = [command, file, "--machine", "accelsim-sm1", "--policy", "lrr", "--set", &set];
            let launches = json_in(&dir, &args, 0)["results"][0]["launches"].clone();
            launches.as_array().unwrap().iter().map(|launch| number(&launch["makespan"])).collect()
        };
        let [cold, warm, left, copied] =
            ["Cold", "Warm", "Left", "LeftAndCopied"].map(|start| times("check", start));
        for (start, found) in [("Cold", &cold), ("Left", &left), ("LeftAndCopied", &copied)] {
            assert_eq!(&times("run", start), found, "{file} {start}");
        }
        // the first finds only the copies, the others the state that it has left
        assert_eq!((left[0], copied[0]), (cold[0], warm[0]), "{file}");
        // half of the data that the second one reads were never cached, and it waits for them
        assert!(left[1] < cold[1] && left[2] + 100 < cold[2], "{file}: {left:?} {cold:?}");
        // the first one only stores
        assert!(warm[1] + 100 < cold[1], "{file}: {warm:?} {cold:?}");
        let both = ["compare", file, "--machine", "accelsim-sm1", "--set", "memory.start=Left"];
        let both = json_in(&dir, &both, 0);
        assert_eq!(
            number(&both["results"][0]["makespans"][1]["makespan"]),
            left.iter().sum::<u64>(),
            "{file}"
        );
        // the second kernel alone is the first kernel of its run
        let alone =
            ["check", file, "--launch", "1", "--machine", "accelsim-sm1", "--set", "memory.start=Left"];
        let alone = json_in(&dir, &[&alone[..], &["--policy", "lrr"]].concat(), 0);
        assert_eq!(number(&alone["results"][0]["makespan"]), cold[1], "{file}");
    }
    let plan =
        "Sweep(kernels: [Kernel(\"app.ron\")], machines: [\"accelsim-sm1\"], policies: [\"gto\", \"lrr\"])";
    std::fs::write(dir.join("plan.ron"), plan).unwrap();
    let swept = in_dir(&dir, &["sweep", "plan.ron", "--out", "results"]);
    assert!(swept.status.success(), "{}", stderr(&swept));
    let lines = std::fs::read_to_string(dir.join("results/results.jsonl")).unwrap();
    let checked = ["check", "app.ron", "--machine", "accelsim-sm1", "--policy", "gto,lrr"];
    let checked = json_in(&dir, &checked, 0);
    for (line, result) in lines.lines().zip(checked["results"].as_array().unwrap()) {
        let row: Value = serde_json::from_str(line).unwrap();
        assert_eq!(row["makespan"], result["makespan"]);
    }
}

#[test]
fn a_stopped_run_prints_how_to_resume_it() {
    let dir = scratch("stopped-application");
    write_program(&dir, 2000, 1000);
    let args = ["check", "app.ron", "--checkpoint", "c"];
    let child = start(&dir, &args);
    wait_for("the checkpoint", || dir.join("c").exists());
    signal(&child, "INT");
    let output = child.wait_with_output().unwrap();
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(stdout(&output).contains("INCOMPLETE"), "{}", stdout(&output));
    assert!(
        message.contains("of 6000 kernels are kept") && message.contains("with --resume goes on"),
        "{message}"
    );
    assert_eq!(names(&dir), ["app.ron", "c", "three.ptx"], "nothing else is left");
    let before = std::fs::read(dir.join("c")).unwrap();
    // without --resume the checkpoint is not replaced
    let refused = in_dir(&dir, &args);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("--resume goes on with it"), "{}", stderr(&refused));
    assert_eq!(std::fs::read(dir.join("c")).unwrap(), before);
    // with --resume, the time limit leaves a later checkpoint
    let more = in_dir(&dir, &[&args[..], &["--resume", "--time-limit", "1"]].concat());
    let done = |message: &str| -> u64 {
        let before = message.split(" of 6000 kernels").next().unwrap();
        before.rsplit(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
    };
    assert!(done(&stderr(&more)) > done(&message), "{}{message}", stderr(&more));
}

/// Returns a checkpoint of a short program.
fn checkpoint_of_a_short_program(name: &str) -> PathBuf {
    let dir = scratch(name);
    write_program(&dir, 2, 20);
    let output = in_dir(&dir, &["check", "app.ron", "--checkpoint", "c"]);
    assert!(output.status.success(), "{}", stderr(&output));
    dir
}

#[test]
fn a_checkpoint_is_refused_by_other_runs() {
    let dir = checkpoint_of_a_short_program("other-checkpoints");
    let before = std::fs::read(dir.join("c")).unwrap();
    let resume = |more: &[&str]| {
        let output = in_dir(&dir, &[&["check", "app.ron", "--checkpoint", "c", "--resume"], more].concat());
        (output.status.code(), stderr(&output))
    };
    assert_eq!(resume(&[]), (Some(0), String::new()));
    for (more, message) in [
        (&["--mem-latency", "300"][..], "machine `ecrts25-orin` has changed"),
        (&["--machine", "accelsim-ecrts"], "machines: `ecrts25-orin` there, `accelsim-ecrts` here"),
        (&["--policy", "lrr"], "policies: `gto` there, `lrr` here"),
        (&["--seed", "3"], "--seed: 0 there, 3 here"),
        (&["--let", "rounds=21"], "options: none there, `--let rounds=21` here"),
        (&["--bound", "gub"], "--bound: none there, `gub` here"),
        (&["--races", "ignore"], "memory of the race detector"),
        (&["--max-instructions", "1000000"], "--max-instructions"),
        (&["--self-check"], "--self-check: false there, true here"),
    ] {
        let (code, text) = resume(more);
        assert_eq!(code, Some(1), "{more:?}: {text}");
        assert!(text.contains("it belongs to another run: ") && text.contains(message), "{more:?}: {text}");
        assert!(text.contains("--force"), "{more:?}: {text}");
    }
    let ran = in_dir(&dir, &["run", "app.ron", "--checkpoint", "c", "--resume"]);
    assert!(stderr(&ran).contains("command: `check` there, `run` here"), "{}", stderr(&ran));
    for (file, from, to) in [("three.ptx", "1;\nsetp", "2;\nsetp"), ("app.ron", "Repeat(2", "Repeat(3")] {
        let text = std::fs::read_to_string(dir.join(file)).unwrap();
        std::fs::write(dir.join(file), text.replace(from, to)).unwrap();
        let (code, message) = resume(&[]);
        assert!(code == Some(1) && message.contains(&format!("`{file}` has changed")), "{file}: {message}");
        std::fs::write(dir.join(file), text).unwrap();
    }
    // a trace in which an address has changed
    assert!(in_dir(&dir, &["export", "app.ron", "--out", "t"]).status.success());
    let args = ["check", "t/kernelslist.g", "--checkpoint", "d", "--resume"];
    assert!(in_dir(&dir, &args).status.success());
    let trace = dir.join("t/kernel-2.traceg");
    let text = std::fs::read_to_string(&trace).unwrap();
    let line = text.lines().find(|line| line.contains("STG")).unwrap();
    std::fs::write(&trace, text.replacen(line, &format!("{line} "), 1)).unwrap();
    let message = stderr(&in_dir(&dir, &args));
    assert!(message.contains("kernel-2.traceg` has changed"), "{message}");
    assert_eq!(std::fs::read(dir.join("c")).unwrap(), before, "none of it was touched");
    // a single kernel, or several applications, have no checkpoint
    for args in [&["check", "fig3"][..], &["run", "fig3"], &["check", "app.ron", "fig3"], &["check"]] {
        let output = in_dir(&dir, &[args, &["--checkpoint", "e"]].concat());
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(stderr(&output).contains("between the kernels of a program"), "{}", stderr(&output));
    }
    assert_eq!(in_dir(&dir, &["check", "app.ron", "--resume"]).status.code(), Some(2));
}

#[test]
fn results_and_errors_are_those_of_an_uninterrupted_run() {
    let dir = scratch("checkpointed-results");
    write_program(&dir, 2, 20);
    let whole = in_dir(&dir, &["check", "app.ron", "--policy", "gto,lrr", "--out", "whole"]);
    assert!(whole.status.success(), "{}", stderr(&whole));
    // twice into the same folder: the second time from the checkpoint alone
    for _ in 0..2 {
        let args =
            ["check", "app.ron", "--policy", "gto,lrr", "--out", "kept", "--checkpoint", "c", "--resume"];
        let output = in_dir(&dir, &args);
        assert_eq!(stdout(&output), stdout(&whole), "{}", stderr(&output));
        for file in ["results.jsonl", "results.csv", "manifest.json"] {
            let read = |folder: &str| std::fs::read(dir.join(folder).join(file)).unwrap();
            assert_eq!(read("kept"), read("whole"), "{file}");
        }
    }
    // the fourth kernel reads beyond the buffer: the earlier results stay, and so does the error
    let text = std::fs::read_to_string(dir.join("app.ron")).unwrap();
    let fails = text.replace("Repeat(2, [", "Repeat(1, [").replace("bytes: 256)])]", "bytes: 256)]), LAST]");
    let last = "Launch(entry: \"twice\", grid: (5, 1, 1), block: (64, 1, 1), args: [Ptr(\"x\"), U32(1)])";
    std::fs::write(dir.join("fails.ron"), fails.replace("LAST", last)).unwrap();
    for lists in [&["--policy", "gto"][..], &["--policy", "gto,lrr"]] {
        let plain = in_dir(&dir, &[&["check", "fails.ron"], lists].concat());
        assert_eq!(plain.status.code(), Some(1), "{}", stdout(&plain));
        assert!(stderr(&plain).contains("in launch 3"), "{}", stderr(&plain));
        for _ in 0..2 {
            let resumed =
                in_dir(&dir, &[&["check", "fails.ron", "--checkpoint", "f", "--resume"], lists].concat());
            assert_eq!((stdout(&resumed), stderr(&resumed)), (stdout(&plain), stderr(&plain)));
        }
        std::fs::remove_file(dir.join("f")).unwrap();
    }
}

/// Returns a valid checkpoint file in which the compressed lines of JSON are changed.
fn repacked(whole: &[u8], change: &mut dyn FnMut(&mut Vec<u8>)) -> Vec<u8> {
    use std::io::{Read, Write};
    let end = |from: usize| from + whole[from..].iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let first = end(0);
    let packed = end(first);
    let mut inside = Vec::new();
    flate2::read::ZlibDecoder::new(&whole[packed..]).read_to_end(&mut inside).unwrap();
    change(&mut inside);
    let mut rest =
        flate2::write::ZlibEncoder::new(whole[first..packed].to_vec(), flate2::Compression::fast());
    rest.write_all(&inside).unwrap();
    let rest = rest.finish().unwrap();
    let digest = warpbound::base::Fnv1a::of(&rest);
    [format!("warpbound checkpoint 1 {} {digest:016x}\n", rest.len()).as_bytes(), &rest].concat()
}

#[test]
fn hostile_checkpoints_end_in_a_message() {
    let dir = checkpoint_of_a_short_program("hostile-checkpoints");
    let whole = std::fs::read(dir.join("c")).unwrap();
    let mut state = 11u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let resume = |bytes: &[u8]| {
        std::fs::write(dir.join("c"), bytes).unwrap();
        let output = in_dir(&dir, &["check", "app.ron", "--checkpoint", "c", "--resume", "--format", "json"]);
        let message = stderr(&output);
        assert!(!message.contains("panicked"), "{message}");
        let code = output.status.code();
        assert!(code == Some(0) || code == Some(1), "{code:?}: {message}");
        (code, stdout(&output))
    };
    assert_eq!(repacked(&whole, &mut |_| {}), whole);
    let (mut refused, mut taken) = (0, 0);
    for _ in 0..150 {
        let bytes = repacked(&whole, &mut |inside| {
            let results = inside.windows(2).position(|two| two == b"]\n" || two == b"}\n").unwrap();
            let digits: Vec<usize> = (0..results).filter(|&at| inside[at].is_ascii_digit()).collect();
            match next(4) {
                0 => inside[digits[next(digits.len())]] = b'0' + next(10) as u8,
                1 => drop(inside.splice(digits[next(digits.len())]..=results, *b"9")),
                2 => {
                    let at = digits[next(digits.len())];
                    inside.splice(at..=at, *b"999999999999999");
                }
                _ => {
                    let length = inside.len();
                    inside.truncate(next(length));
                }
            }
        });
        match resume(&bytes).0 {
            Some(0) => taken += 1,
            _ => refused += 1,
        }
    }
    // a count on which nothing else depends may differ
    assert!(refused > 100, "{refused} were refused, {taken} taken");
    let memory = repacked(&whole, &mut |inside| inside.push(0));
    assert_eq!(resume(&memory).0, Some(1));
}

#[test]
fn damaged_checkpoints_end_in_a_message() {
    let dir = checkpoint_of_a_short_program("damaged-checkpoints");
    let whole = std::fs::read(dir.join("c")).unwrap();
    let refused = |bytes: &[u8]| {
        std::fs::write(dir.join("c"), bytes).unwrap();
        let output = in_dir(&dir, &["check", "app.ron", "--checkpoint", "c", "--resume"]);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.starts_with("error: ") && message.contains("--> c\n"), "{message}");
        assert!(message.contains("--force") || message.contains("written by --checkpoint"), "{message}");
        assert_eq!(std::fs::read(dir.join("c")).unwrap(), bytes, "it is left as it is");
    };
    // every truncation and every change of a byte is tested in crates/cli/src/checkpoint.rs; here
    // some of them
    for length in [0, 1, 10, 30, 50, 60, whole.len() / 2, whole.len() - 1] {
        refused(&whole[..length]);
    }
    let mut state = 5u64;
    for _ in 0..20 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut bytes = whole.clone();
        let at = (state >> 20) as usize % bytes.len();
        bytes[at] ^= 1 << (state >> 60 & 7);
        refused(&bytes);
    }
    refused(&[&whole[..], b"x"].concat());
    refused(&std::fs::read(dir.join("three.ptx")).unwrap());
    std::fs::write(dir.join("c"), &whole).unwrap();
    assert!(in_dir(&dir, &["check", "app.ron", "--checkpoint", "c", "--resume"]).status.success());
    // the path is in a folder that does not exist, or is that of an input or of a folder
    for (line, message) in [
        ("$W check app.ron --checkpoint none/c", "folder"),
        ("$W check app.ron --checkpoint three.ptx --force", "overwrite"),
        ("$W check app.ron --checkpoint .", "directory"),
    ] {
        let output = shell(&dir, line);
        assert_eq!(output.status.code(), Some(1), "{line}");
        assert!(stderr(&output).contains(message), "{line}: {}", stderr(&output));
    }
}
