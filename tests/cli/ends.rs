//! Every command ends soon after its time limit, in whatever step it is, and does not present a
//! partial result as a complete one.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{
    in_dir, launch_loop, names, scratch, shell, signal, start, stderr, stdout, wait_for, write_loop,
};

/// A time limit, and the longest time that a command may take on a machine that is also busy with
/// other work.
const LIMIT: &str = "0.5";
const MOST: Duration = Duration::from_secs(8);

/// Writes kernels on which every step of the commands takes very long.
fn write_long(dir: &Path) {
    write_loop(dir, u32::MAX);
    let launch = "Launch(module: \"loop.ptx\", entry: \"k\", grid: (1, 1, 1), block: (64, 1, 1), \
                  args: [Buffer(name: \"p\", elem: U32, len: 1, init: Zero)])";
    std::fs::write(dir.join("one.ron"), launch).unwrap();
    let plan = "Sweep(kernels: [Kernel(\"one.ron\")], max_instructions: Some(1000000000000))";
    std::fs::write(dir.join("plan.ron"), plan).unwrap();
    // tens of millions of empty lines before the first line of the trace
    let line = "yes '' | head -c 300000000 | gzip -1 > lines.traceg";
    assert!(shell(dir, line).status.success());
    assert!(shell(dir, "mkfifo fifo.csv").status.success());
    let options: String = (0..400_000).map(|number| format!("-no_such_option_{number} {number}\n")).collect();
    std::fs::write(dir.join("gpgpusim.config"), options).unwrap();
}

#[test]
fn every_command_ends_at_its_limit() {
    let dir = scratch("every-command-ends");
    write_long(&dir);
    let launch = launch_loop("2");
    let fuel = ["--max-instructions", "400000000000"];
    let of = |command: &'static str, more: &[&'static str]| [&[command], &launch[..], more, &fuel].concat();
    let commands: Vec<Vec<&str>> = vec![
        of("check", &[]),
        of("run", &[]),
        of("run", &["--explain"]),
        of("phases", &[]),
        of("compare", &[]),
        of("explore", &[]),
        of("worst", &[]),
        of("evidence-pack", &["--out", "packed"]),
        of("static", &[]),
        of("wcet", &["--runs", "1000000"]),
        of("export", &["--out", "exported"]),
        vec!["synthetic", "gemm", "--blocks", "1000000", "--instructions", "1000000", "--out", "made"],
        vec!["sweep", "plan.ron", "--out", "swept"],
        vec!["check", "lines.traceg"],
        vec!["import-config", "gpgpusim.config"],
        vec!["run", "fig3", "--trace", "fifo.csv"],
        vec!["hunt", "--bound", "iwb"],
        vec!["anomaly"],
        vec!["fermi", "--warps", "12", "--rep", "20", "--no-fairness"],
        vec!["pwcet", "vecadd", "--machine", "kepler-gk104", "--runs", "1000000", "--random", "replacement"],
    ];
    for command in &commands {
        let began = Instant::now();
        let output = in_dir(&dir, &[&command[..], &["--time-limit", LIMIT]].concat());
        let (out, err) = (stdout(&output), stderr(&output));
        assert!(began.elapsed() < MOST, "{command:?} took {:?}\n{out}{err}", began.elapsed());
        // an invalid input can be detected earlier
        let early = output.status.code() == Some(1) && began.elapsed() < Duration::from_millis(500);
        // despite the many options the command may complete
        let done = command[0] == "import-config" && output.status.success();
        assert!(
            early || done || format!("{out}{err}").contains("--time-limit") && !out.contains("wrote"),
            "{command:?} says nothing of its limit: {out}{err}"
        );
        // a verdict on the complete run would be wrong
        assert!(output.status.code() != Some(3), "{command:?}: {out}");
    }
    let left = names(&dir);
    let made = ["exported", "made", "packed"].iter().any(|name| left.iter().any(|left| left == name));
    assert!(!made && !left.iter().any(|name| name.ends_with(".part")), "{left:?}");
}

/// The results of earlier kernels are printed. The launches before a selected launch are stopped at
/// the limit as well.
#[test]
fn preparations_end_at_the_limit_too() {
    let dir = scratch("read-before");
    // a trace with a valid beginning and an endless continuation
    let line = "(printf -- '-grid dim = (1,1,1)\\n'; yes '' | head -c 300000000) | gzip -1 > long.traceg";
    assert!(shell(&dir, line).status.success());
    let output = in_dir(&dir, &["check", "fig3", "long.traceg", "--time-limit", LIMIT]);
    let (out, err) = (stdout(&output), stderr(&output));
    assert!(out.contains("fig3") && out.contains("1 holds"), "{out}{err}");
    assert!(
        out.contains("stopped by --time-limit") && err.contains("before the trace was read"),
        "{out}{err}"
    );
    assert_eq!(output.status.code(), Some(1));
    let of_jacobi = ["jacobi", "--let", "sweeps=4000", "--let", "n=200", "--launch", "3999"];
    for command in ["check", "phases", "worst", "explore"] {
        let began = Instant::now();
        let output = in_dir(&dir, &[&[command], &of_jacobi[..], &["--time-limit", LIMIT]].concat());
        let (out, err) = (stdout(&output), stderr(&output));
        assert!(began.elapsed() < MOST, "{command} took {:?}", began.elapsed());
        let without = format!("{out}{err}").contains("before there was any result");
        assert!(
            format!("{out}{err}").contains("--time-limit") || out.contains("INCOMPLETE"),
            "{command}: {out}{err}"
        );
        assert!(!without, "{command} was ended from outside: {out}{err}");
    }
}

/// A list of traces is read before its first kernel runs, so that a shorter limit never leads to a
/// checkpoint.
#[test]
fn a_limit_that_is_too_short_to_read_a_list_is_reported() {
    let dir = scratch("read-list");
    std::fs::write(dir.join("short.traceg"), include_str!("../accelsim/files/vecadd.traceg")).unwrap();
    let line = "(printf -- '-grid dim = (1,1,1)\\n'; yes '' | head -c 300000000) | gzip -1 > long.traceg";
    assert!(shell(&dir, line).status.success());
    std::fs::write(dir.join("kernelslist.g"), "short.traceg\nlong.traceg\n").unwrap();
    for command in ["check", "run"] {
        for _ in 0..2 {
            let args = [command, "kernelslist.g", "--checkpoint", "c", "--resume", "--time-limit", LIMIT];
            let output = in_dir(&dir, &args);
            let message = stderr(&output);
            assert_eq!(output.status.code(), Some(1), "{message}");
            assert!(message.contains("stopped before the trace was read"), "{message}");
            let rest = message.split("error: stopped after ").nth(1).expect("a time");
            let spent: f64 = rest.split(' ').next().unwrap().parse().unwrap();
            assert!((0.5..8.0).contains(&spent), "{message}");
            assert!(
                message.contains("before all kernels were read, so nothing was added to it\n  --> c"),
                "{message}"
            );
            assert!(message.contains("give more time than that takes"), "{message}");
            assert!(!dir.join("c").exists());
        }
    }
}

#[test]
fn a_stopped_export_keeps_the_existing_file() {
    let dir = scratch("ended-export");
    let small = ["export", "jacobi", "--let", "sweeps=1", "--out", "traces"];
    assert_eq!(in_dir(&dir, &small).status.code(), Some(0));
    let before: Vec<Vec<u8>> = names(&dir.join("traces"))
        .iter()
        .map(|name| std::fs::read(dir.join("traces").join(name)).unwrap())
        .collect();
    let large =
        ["export", "jacobi", "--let", "sweeps=100000", "--let", "n=200", "--out", "traces", "--force"];
    let output = in_dir(&dir, &[&large[..], &["--time-limit", "1"]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(stderr(&output).contains("stopped by --time-limit"), "{}", stderr(&output));
    let after: Vec<Vec<u8>> = names(&dir.join("traces"))
        .iter()
        .map(|name| std::fs::read(dir.join("traces").join(name)).unwrap())
        .collect();
    assert_eq!(before, after);
}

#[test]
fn a_command_without_a_result_in_time_reports_it_in_json() {
    let dir = scratch("no-result");
    assert!(shell(&dir, "mkfifo fifo.csv").status.success());
    let child = start(&dir, &["run", "fig3", "--trace", "a.csv", "--trace", "fifo.csv", "--format", "json"]);
    wait_for("the first file", || names(&dir).iter().any(|name| name.ends_with(".part")));
    let began = Instant::now();
    signal(&child, "INT");
    let output = child.wait_with_output().unwrap();
    assert!(began.elapsed() < MOST, "it took {:?}", began.elapsed());
    let result: Value = crate::json_output::read(&output.stdout);
    assert_eq!((&result["complete"], &result["stopped"]), (&false.into(), &"interrupt".into()));
    assert_eq!(result["results"], serde_json::json!([]));
    assert_eq!((output.status.code(), names(&dir)), (Some(1), vec!["fifo.csv".to_owned()]));
}

#[test]
fn the_next_run_removes_the_files_of_a_killed_process() {
    let dir = scratch("ends-killed");
    write_loop(&dir, 1000);
    let launch = launch_loop("10000000");
    let mut child = start(&dir, &[&["run"], &launch[..], &["--trace", "t.csv"]].concat());
    let parts = || names(&dir).into_iter().filter(|name| name.ends_with(".part")).collect::<Vec<_>>();
    wait_for("a file", || !parts().is_empty());
    let running = parts();
    // another process does not remove the files of a running one
    assert_eq!(in_dir(&dir, &["run", "fig3", "--trace", "other.csv"]).status.code(), Some(0));
    assert_eq!(parts(), running);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(parts(), running);
    assert_eq!(in_dir(&dir, &["run", "fig3", "--trace", "next.csv"]).status.code(), Some(0));
    assert_eq!(names(&dir), ["loop.ptx", "next.csv", "other.csv"]);
}

#[test]
fn a_full_stdout_is_an_error_for_help_too() {
    let dir = scratch("ends-full");
    for line in [
        "$W --help > /dev/full",
        "$W check --help > /dev/full",
        "$W --version > /dev/full",
        "$W list > /dev/full",
    ] {
        let output = shell(&dir, line);
        assert_eq!(output.status.code(), Some(1), "{line}");
        assert!(stderr(&output).contains("cannot write the result"), "{line}: {}", stderr(&output));
    }
    assert_eq!(shell(&dir, "$W --help > /dev/null").status.code(), Some(0));
}

#[test]
fn memory_is_requested_before_it_is_used() {
    let dir = scratch("asked");
    write_loop(&dir, 10);
    let with = |init: &str| format!("Buffer(name: \"p\", elem: F32, len: 1000000000, init: {init})");
    let run = |arg: &str, more: &[&str]| {
        in_dir(&dir, &[&["run", "loop.ptx", "--grid", "1", "--block", "64", "--arg", arg], more].concat())
    };
    let refused = run(&with("Fill(1)"), &["--max-memory", "1G"]);
    assert_eq!(refused.status.code(), Some(1));
    let message = stderr(&refused);
    assert!(
        message.contains("buffer `p`")
            && message.contains("1.0 GiB may be used")
            && message.contains("--max-memory"),
        "{message}"
    );
    let local = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n.local .align 4 .b8 l[400000];\n\
                 .reg .u32 %r; ld.local.u32 %r, [l]; st.local.u32 [l+4], %r;\nret;\n}\n";
    std::fs::write(dir.join("local.ptx"), local).unwrap();
    let of_block = ["run", "local.ptx", "--grid", "1", "--block", "1024", "--max-memory", "100M"];
    let message = stderr(&in_dir(&dir, &of_block));
    assert!(
        message.contains("local memory of a block of `k`") && message.contains("--max-memory"),
        "{message}"
    );
    let plan = "Sweep(kernels: [Suite], draws: Some(Draws(count: 9223372036854775808, of: [Placement])))";
    std::fs::write(dir.join("plan.ron"), plan).unwrap();
    let sweep = in_dir(&dir, &["sweep", "plan.ron", "--out", "swept"]);
    assert!(stderr(&sweep).contains("points; at most"), "{}", stderr(&sweep));
    for wrong in ["x", "-1", "1T", ""] {
        assert_eq!(in_dir(&dir, &["check", "fig3", "--max-memory", wrong]).status.code(), Some(2), "{wrong}");
    }
    let crossbar = ["check", "vecadd", "--machine", "fermi-c2050", "--set", "units.fp32.lat=2147483647"];
    let line = format!("ulimit -v 3000000; $W {}", crossbar.join(" "));
    let output = shell(&dir, &line);
    assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{}", stderr(&output));
    assert!(!stderr(&output).contains("memory allocation"), "{}", stderr(&output));
}

/// Runs a command of the shell, which has to succeed, and returns the most memory that it took at a
/// time, in KiB.
#[cfg(target_os = "linux")]
fn peak(dir: &Path, command: &str) -> u64 {
    let line = format!(
        "({command}) >/dev/null & P=$!; M=0; while [ -e /proc/$P/status ]; do \
         R=$(sed -n 's/VmHWM: *\\([0-9]*\\).*/\\1/p' /proc/$P/status); \
         [ \"${{R:-0}}\" -gt $M ] && M=$R; sleep 0.02; done; echo $M; wait $P"
    );
    let output = shell(dir, &line);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    stdout(&output).trim().parse().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn buffers_of_zeros_take_no_memory() {
    let dir = scratch("zeros");
    write_loop(&dir, 10);
    let peak = peak(
        &dir,
        "ulimit -v 12000000; exec $W run loop.ptx --grid 1 --block 64 --arg \
         'Buffer(name: \"p\", elem: F32, len: 1000000000, init: Zero)' --races ignore",
    );
    assert!(peak < 500_000, "{peak} KiB");
}

#[cfg(target_os = "linux")]
#[test]
fn each_kernel_of_a_batch_keeps_a_few_kilobytes() {
    let dir = scratch("many-kernels");
    for format in ["text", "json"] {
        let with = |kernels: u64| {
            let options = format!("--policy gto --jobs 1 --sm-threads 1 --format {format}");
            peak(&dir, &format!("exec $W check $(yes chain | head -{kernels}) {options}"))
        };
        let (few, many) = (with(100), with(3100));
        assert!(many < few + 3000 * 5, "{format}: {few} KiB, {many} KiB");
    }
}

const NASTY: &str = "a\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}31m\u{202e}b\u{2066}c";

fn is_active(text: &str) -> bool {
    text.chars().any(|c| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
    })
}

#[test]
fn control_characters_of_names_and_source_lines_are_inactive() {
    let dir = scratch("nasty");
    let name = format!("{NASTY}.warp");
    std::fs::write(dir.join(&name), ".warps 1\n int.add r1\n ret\n").unwrap();
    let broken = format!("{NASTY}-2.warp");
    std::fs::write(dir.join(&broken), format!(".warps 1\n nosuch{NASTY} r1\n")).unwrap();
    let missing = format!("{NASTY}-3.warp");
    let list = format!(".warps 1\n int.add r1 # {NASTY}\n ret\n");
    std::fs::write(dir.join("comment.warp"), list).unwrap();
    let ptx = format!("{NASTY}.ptx");
    let kernel = format!(
        ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n.reg .u32 %r; .reg .u64 %rd;\n\
         ld.param.u64 %rd, [p]; // {NASTY}\nmov.u32 %r, %tid.x; // {NASTY}\nst.global.u32 [%rd], %r;\nret;\n}}\n"
    );
    std::fs::write(dir.join(&ptx), kernel).unwrap();
    let arg = format!("Buffer(name: {NASTY:?}, elem: U32, len: 32, init: Zero)");
    let runs: Vec<Vec<&str>> = vec![
        vec!["check", &name],
        vec!["check", &name, &broken, &missing],
        vec!["check", &name, "--format", "json"],
        vec!["check", &broken, "--format", "json"],
        vec!["run", &name, "-v"],
        vec!["run", &broken],
        vec!["compare", &name],
        vec!["phases", &name],
        vec!["explore", &name],
        vec!["worst", &name],
        vec!["check", "fig3", "--policy", NASTY],
        vec!["check", "fig3", "--machine", NASTY],
        vec!["check", "fig3", "--set", NASTY],
        vec!["check", "fig3", NASTY, "--no-such", NASTY],
        vec![NASTY],
        vec!["cfg", &name],
        vec!["check", &name, "--out", "results"],
        vec!["report", "results", "--out", "page.html", "--force"],
        vec![
            "run", &name, "--trace", "t.csv", "--trace", "t.kanata", "--trace", "t.svg", "--trace", "t.html",
            "--trace", "t.json", "--trace", "t.replay",
        ],
        vec![
            "run",
            "comment.warp",
            "--trace",
            "c.csv",
            "--trace",
            "c.kanata",
            "--trace",
            "c.svg",
            "--trace",
            "c.html",
            "--trace",
            "c.json",
        ],
        vec![
            "run",
            &ptx,
            "--grid",
            "1",
            "--block",
            "32",
            "--arg",
            &arg,
            "--trace",
            "p.ipoints",
            "--trace",
            "p.json",
        ],
        vec!["export", &ptx, "--grid", "1", "--block", "32", "--arg", &arg, "--out", "exported"],
    ];
    for run in &runs {
        let output = in_dir(&dir, run);
        let (out, err) = (stdout(&output), stderr(&output));
        assert!(!is_active(&out) && !is_active(&err), "{run:?}\n{out:?}\n{err:?}");
    }
    for file in [
        "t.csv",
        "t.kanata",
        "t.svg",
        "t.html",
        "c.csv",
        "c.svg",
        "c.html",
        "t.json",
        "t.replay",
        "c.json",
        "p.ipoints",
        "p.json",
        "exported/kernelslist.g",
        "exported/kernel-1.traceg",
        "page.html",
        "results/results.csv",
    ] {
        let text = std::fs::read_to_string(dir.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(!is_active(&text), "{file}");
    }
}
