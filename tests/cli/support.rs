//! Helpers that run the binary.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

pub const BINARY: &str = env!("CARGO_BIN_EXE_warpbound");

pub fn warpbound(args: &[&str]) -> Output {
    in_dir(Path::new(env!("CARGO_MANIFEST_DIR")), args)
}

pub fn in_dir(dir: &Path, args: &[&str]) -> Output {
    command(dir, args).output().expect("the binary runs")
}

/// Returns the command for the binary in a folder, with an environment that does not depend on the
/// user.
pub fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    command.args(args).current_dir(dir).env_remove("COLUMNS").env_remove("NO_COLOR");
    command
}

/// Runs the binary with input on stdin.
pub fn with_stdin(dir: &Path, args: &[&str], stdin: &[u8]) -> Output {
    use std::io::Write;
    let mut command = command(dir, args);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // a command that does not read stdin closes it
    let _ = child.stdin.take().unwrap().write_all(stdin);
    child.wait_with_output().unwrap()
}

/// Runs a shell command line in a folder; `$W` is the binary.
pub fn shell(dir: &Path, line: &str) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(dir).env("W", BINARY).env_remove("COLUMNS").env_remove("NO_COLOR");
    command.output().expect("a shell")
}

/// Returns a number as text shows it, with a comma between groups of three digits.
pub fn grouped(number: &serde_json::Value) -> String {
    let digits = number.as_u64().expect("a number").to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).map(|group| std::str::from_utf8(group).unwrap()).collect();
    groups.into_iter().rev().collect::<Vec<_>>().join(",")
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

pub fn json(args: &[&str], code: i32) -> Value {
    json_in(Path::new(env!("CARGO_MANIFEST_DIR")), args, code)
}

pub fn json_in(dir: &Path, args: &[&str], code: i32) -> Value {
    let output = in_dir(dir, &[args, &["--format", "json"]].concat());
    assert_eq!(output.status.code(), Some(code), "{args:?}\n{}{}", stdout(&output), stderr(&output));
    crate::json_output::read(&output.stdout)
}

/// Returns an empty folder for this test.
pub fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

pub fn bound<'a>(result: &'a Value, name: &str) -> &'a Value {
    result["bounds"].as_array().unwrap().iter().find(|b| b["name"] == name).expect("the bound is listed")
}

/// Returns the names in a folder, sorted.
pub fn names(dir: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = std::fs::read_dir(dir).unwrap().map(name).collect();
    names.sort();
    names
}

/// Waits until a condition holds, with a time limit.
pub fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(60), "waited for {what} in vain");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub fn start(dir: &Path, args: &[&str]) -> Child {
    command(dir, args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

pub fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
    assert!(sent.expect("kill").success());
}

/// Writes `loop.ptx`: each warp executes a loop `rounds` times and writes the count to `p`.
pub fn write_loop(dir: &Path, rounds: u32) {
    let text = format!(
        ".version 6.3\n.target sm_61\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n.reg .pred %p<3>;\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, 0;\nL:\nadd.s32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, {rounds};\n@%p1 bra L;\nst.global.u32 [%rd1], %r1;\nret;\n}}\n"
    );
    std::fs::write(dir.join("loop.ptx"), text).unwrap();
}

/// Returns the options that launch it with this many blocks.
pub fn launch_loop(blocks: &str) -> [&str; 7] {
    [
        "loop.ptx",
        "--grid",
        blocks,
        "--block",
        "64",
        "--arg",
        "Buffer(name: \"p\", elem: U32, len: 1, init: Zero)",
    ]
}
