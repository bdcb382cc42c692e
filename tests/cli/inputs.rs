//! Input files: regular files, read as far as needed, compressed files, and stdin.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::support::{in_dir, json, json_in, scratch, shell, stderr, stdout, with_stdin};

fn refused(dir: &Path, args: &[&str]) -> String {
    let output = in_dir(dir, args);
    assert_eq!(output.status.code(), Some(1), "{args:?}: {}{}", stdout(&output), stderr(&output));
    stderr(&output)
}

/// Numbers and names that a command would otherwise ignore.
#[test]
fn values_without_a_meaning_are_refused() {
    let dir = scratch("inputs-values");
    std::fs::write(dir.join("gpu.config"), "-gpgpu_n_clusters 1\n").unwrap();
    for (args, code, text) in [
        (&["check", "vecadd", "--jobs", "0"][..], 2, "--jobs"),
        (&["check", "vecadd", "--sm-threads", "0"], 2, "--sm-threads"),
        (&["check", "vecadd", "--registers", "0"], 2, "--registers"),
        (&["hunt", "--bound", "iwb", "--jobs", "0"], 2, "--jobs"),
        (&["synthetic", "gemm", "--out", "s", "--instructions", "0"], 2, "--instructions"),
        (&["evidence", "--range", "5..1"], 1, "the range is empty"),
        (&["evidence", "--range", "0..9999999999999"], 1, "after the last block"),
        (&["import-config", "gpu.config", "--name", ""], 1, "a machine needs a name"),
    ] {
        let output = in_dir(&dir, args);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}{}", stdout(&output), stderr(&output));
        assert!(stderr(&output).contains(text), "{}", stderr(&output));
    }
}

/// A trace of another kernel has the same mistake in most lines.
#[test]
fn the_same_mistake_of_a_trace_is_reported_once() {
    let dir = scratch("inputs-ipoints");
    assert!(in_dir(&dir, &["run", "saxpy", "--trace", "x.ipoints"]).status.success());
    let message = refused(&dir, &["hybrid", "vecadd", "--traces", "x.ipoints"]);
    let named: Vec<&str> = message.lines().filter(|line| line.contains("no ipoint is called")).collect();
    let distinct: std::collections::BTreeSet<&str> = named.iter().copied().collect();
    assert!(!named.is_empty() && named.len() == distinct.len(), "{message}");
}

#[test]
fn only_regular_files_are_read() {
    let dir = scratch("irregular");
    assert!(shell(&dir, "mkfifo f.warp f.ron f.replay").status.success());
    std::fs::create_dir(dir.join("d.warp")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", dir.join("zero.ron")).unwrap();
    for (args, said) in [
        (&["check", "f.warp"][..], "not a regular file"),
        (&["check", "fig3", "--machine", "f.ron"], "not a regular file"),
        (&["check", "fig3", "--policy", "replay:f.replay"], "not a regular file"),
        (&["check", "zero.ron"], "not a regular file"),
        (&["inspect", "zero.ron"], "not a regular file"),
        (&["check", "d.warp"], "directory"),
    ] {
        let text = refused(&dir, args);
        assert!(text.contains(said), "{args:?}: {text}");
    }
    assert!(refused(&dir, &["check", "f.warp"]).contains("named `-`"), "and says what to do");
}

#[test]
fn files_are_read_as_far_as_needed() {
    let dir = scratch("large");
    for (name, bytes) in
        [("k.ptx", 65 << 20), ("k.warp", 17 << 20), ("l.ron", 17 << 20), ("s.replay", 257 << 20)]
    {
        File::create(dir.join(name)).unwrap().set_len(bytes).unwrap();
    }
    for (args, limit) in [
        (&["inspect", "k.ptx"][..], "at most 67108864 are read"),
        (&["check", "k.warp"], "at most 16777216 are read"),
        (&["check", "l.ron"], "at most 16777216 are read"),
        (&["check", "fig3", "--machine", "l.ron"], "at most 16777216 are read"),
        (&["check", "fig3", "--policy", "replay:s.replay"], "at most 268435456 are read"),
    ] {
        let text = refused(&dir, args);
        assert!(text.contains(limit), "{args:?}: {text}");
    }
    // a buffer determines how much of its file is needed
    std::fs::copy(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/vecadd/vecadd.ptx"),
        dir.join("vecadd.ptx"),
    )
    .unwrap();
    let arg = |name: &str, init: &str| format!("Buffer(name: \"{name}\", elem: F32, len: 4, init: {init})");
    let (a, b, c) = (arg("a", "File(\"a.bin\")"), arg("b", "Zero"), arg("c", "Zero"));
    let args = [
        "run",
        "vecadd.ptx",
        "--grid",
        "1",
        "--block",
        "32",
        "--arg",
        &a,
        "--arg",
        &b,
        "--arg",
        &c,
        "--arg",
        "U32(4)",
    ];
    File::create(dir.join("a.bin")).unwrap().set_len(1 << 40).unwrap();
    let text = refused(&dir, &args);
    assert!(text.contains("for a buffer of 16 bytes") && text.contains("1099511627776"), "{text}");
    File::create(dir.join("a.bin")).unwrap().set_len(12).unwrap();
    assert!(refused(&dir, &args).contains("has 12"));
    File::create(dir.join("a.bin")).unwrap().set_len(16).unwrap();
    assert_eq!(in_dir(&dir, &args).status.code(), Some(0));
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

fn shipped(path: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// `kernels/witness/fig3.warp`, compressed by xz.
const FIG3_XZ: &[u8] = include_bytes!("fig3.warp.xz");

#[test]
fn packed_files_are_read_like_their_contents() {
    let dir = scratch("packed");
    let write = |name: &str, bytes: &[u8]| std::fs::write(dir.join(name), bytes).unwrap();
    write("fig3.warp.gz", &gz(&shipped("kernels/witness/fig3.warp")));
    write("fig3.warp.xz", FIG3_XZ);
    write("vecadd.ptx.gz", &gz(&shipped("kernels/vecadd/vecadd.ptx")));
    let launch = String::from_utf8(shipped("kernels/vecadd/vecadd.ron")).unwrap();
    write("vecadd.ron.gz", &gz(launch.replace("vecadd.ptx", "vecadd.ptx.gz").as_bytes()));
    write("m.ron.gz", &gz(&shipped("configs/ecrts25-orin.ron")));
    let plain = json(&["check", "fig3"], 0);
    assert_eq!(json_in(&dir, &["check", "fig3.warp.gz"], 0), plain);
    assert_eq!(json_in(&dir, &["check", "fig3.warp.xz"], 0), plain);
    let vecadd = json(&["check", "vecadd"], 0);
    assert_eq!(json_in(&dir, &["check", "vecadd.ron.gz", "--machine", "m.ron.gz"], 0), vecadd);
    assert_eq!(json_in(&dir, &["inspect", "vecadd.ptx.gz"], 0)["entries"][0]["kernel"], "vecadd");
    assert_eq!(in_dir(&dir, &["run", "fig3", "--trace", "s.replay"]).status.code(), Some(0));
    write("s.gz", &gz(&std::fs::read(dir.join("s.replay")).unwrap()));
    assert_eq!(json_in(&dir, &["check", "fig3", "--policy", "replay:s.gz"], 0)["makespan"], 17);

    // 17 MiB of blanks in a few kilobytes
    write("bomb.warp.gz", &gz(&vec![b' '; 17 << 20]));
    assert!(refused(&dir, &["check", "bomb.warp.gz"]).contains("unpacks to more than 16777216 bytes"));
    write("cut.warp.gz", &gz(b".warps 1\n ret\n")[..12]);
    assert!(refused(&dir, &["check", "cut.warp.gz"]).contains("cannot be unpacked"));
    write("cut.warp.xz", &FIG3_XZ[..60]);
    assert!(refused(&dir, &["check", "cut.warp.xz"]).contains("cannot be unpacked"));
}

#[test]
fn a_dash_is_stdin() {
    let dir = scratch("stdin");
    let run = |args: &[&str], stdin: &[u8]| -> Value {
        let output = with_stdin(&dir, &[args, &["--format", "json"]].concat(), stdin);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
        crate::json_output::read(&output.stdout)
    };
    let fig3 = shipped("kernels/witness/fig3.warp");
    for bytes in [&fig3[..], &gz(&fig3), FIG3_XZ] {
        let checked = run(&["check", "-"], bytes);
        assert_eq!((&checked["makespan"], &checked["kernel"]), (&17.into(), &"stdin".into()));
    }
    assert_eq!(run(&["explore", "-"], &fig3)["worst"], 18);
    let ptx = shipped("kernels/vecadd/vecadd.ptx");
    assert_eq!(run(&["inspect", "-"], &ptx)["entries"][0]["kernel"], "vecadd");
    let buffer = |name| format!("Buffer(name: \"{name}\", elem: F32, len: 64, init: Iota)");
    let (a, b, c) = (buffer("a"), buffer("b"), buffer("c"));
    let launch = [
        "run", "-", "--grid", "1", "--block", "64", "--arg", &a, "--arg", &b, "--arg", &c, "--arg", "U32(64)",
    ];
    assert_eq!(run(&launch, &ptx)["kernel"], "vecadd");
    // a launch finds its module relative to the current folder
    std::fs::write(dir.join("vecadd.ptx"), &ptx).unwrap();
    let vecadd = run(&["check", "-"], &shipped("kernels/vecadd/vecadd.ron"));
    assert_eq!(vecadd["makespan"], json(&["check", "vecadd"], 0)["makespan"]);
    let machine = shipped("configs/lrr-witness.ron");
    let other = with_stdin(&dir, &["check", "lrr-witness", "--machine", "-", "--format", "json"], &machine);
    assert_eq!(other.status.code(), Some(3), "{}", stderr(&other));
    assert_eq!(in_dir(&dir, &["run", "fig3", "--trace", "s.replay"]).status.code(), Some(0));
    let schedule = std::fs::read(dir.join("s.replay")).unwrap();
    assert_eq!(run(&["check", "fig3", "--policy", "replay:-"], &schedule)["makespan"], 17);
    // a counterexample for a kernel from stdin
    let witness = shipped("kernels/witness/lrr-witness.warp");
    let found = with_stdin(&dir, &["check", "-", "--counterexamples", "found"], &witness);
    assert_eq!(found.status.code(), Some(3), "{}", stderr(&found));
    assert_eq!(in_dir(&dir, &["check", "found/stdin-lrr/kernel.warp"]).status.code(), Some(3));

    for (stdin, said) in [(&b"hello"[..], "neither PTX"), (b"", "it is empty")] {
        let output = with_stdin(&dir, &["check", "-"], stdin);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
    }
    let twice = with_stdin(&dir, &["check", "-", "--machine", "-"], &fig3);
    assert!(stderr(&twice).contains("once only"), "{}", stderr(&twice));
}
