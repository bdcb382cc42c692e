//! The appearance of output: tables that fit, colours, progress.

use std::path::Path;
use std::process::Command;

use crate::support::{BINARY, command, launch_loop, scratch, stderr, stdout, write_loop};

/// Returns a command's text for lines of this many characters.
fn at_width(width: usize, args: &[&str]) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = command(root, args).env("COLUMNS", width.to_string()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
    stdout(&output)
}

#[test]
fn tables_fit_the_terminal() {
    let commands: [&[&str]; 12] = [
        &["check", "fig3", "vecadd", "sgemm_naive", "witness-929"],
        &["check", "vecadd", "--policy", "srr"],
        &["compare", "fig3", "witness-929"],
        &["run", "vecadd"],
        &["run", "reduce0", "--machine", "ecrts25-orin-4sub"],
        &["run", "transpose_conflict", "--machine", "accelsim-sm1"],
        &["list"],
        &["inspect", "ecrts25-orin"],
        &["inspect", "vecadd"],
        &["ablate", "vecadd"],
        &["explore", "fig3"],
        &["fermi", "--warps", "1..=2", "--rep", "1..=2"],
    ];
    for args in commands {
        let full = at_width(10_000, args);
        for width in [60, 80, 120] {
            let text = at_width(width, args);
            for line in text.lines() {
                // text to be copied is not broken, nor is a list of bounds without blanks
                let is_command = line.contains("warpbound ") || line.contains("--");
                assert!(line.chars().count() <= width || is_command, "{args:?} at {width}: {line}");
            }
            assert!(width > 60 || text != full, "{args:?} is the same at {width}");
        }
        assert_eq!(full, at_width(5_000, args), "{args:?}");
    }
    // the most important columns stay
    let narrow = at_width(60, commands[0]);
    let heading = narrow.lines().find(|line| line.starts_with("kernel ")).unwrap();
    assert!(
        ["kernel", "policy", "makespan", "overestimation", "verdict"]
            .iter()
            .all(|name| heading.contains(name)),
        "{narrow}"
    );
    assert!(narrow.contains("(no room for blocks, warp insts, gub"), "{narrow}");
    assert_eq!(narrow.lines().filter(|line| line.contains("holds")).count(), 5, "{narrow}");
    assert!(at_width(60, commands[2]).contains("tightest"));
    // if stdout is not a terminal, all columns are printed
    let output = command(Path::new(env!("CARGO_MANIFEST_DIR")), commands[0]).output().unwrap();
    assert_eq!(stdout(&output), at_width(10_000, commands[0]));
}

/// Returns what a command shows on a terminal of 80 columns: stdout and stderr together.
fn on_terminal(dir: &Path, args: &[&str], set: &[(&str, &str)]) -> String {
    let quoted: Vec<String> = args.iter().map(|arg| format!("'{arg}'")).collect();
    let line = format!("stty cols 80 rows 24; {BINARY} {}", quoted.join(" "));
    let mut script = Command::new("script");
    script.args(["-qec", &line, "/dev/null"]).current_dir(dir);
    script.env_remove("COLUMNS").env_remove("NO_COLOR").env("TERM", "xterm").envs(set.iter().copied());
    let output =
        script.stdin(std::process::Stdio::null()).output().expect("script, of util-linux, is a terminal");
    stdout(&output)
}

#[test]
fn colours_are_for_people() {
    let dir = scratch("colours");
    let coloured = |text: &str| text.contains("\x1b[");
    let piped = |args: &[&str]| stdout(&command(&dir, args).output().unwrap());
    assert!(!coloured(&piped(&["check", "fig3"])));
    assert!(coloured(&piped(&["check", "fig3", "--color", "always"])));
    assert!(coloured(&on_terminal(&dir, &["check", "fig3"], &[])));
    assert!(!coloured(&on_terminal(&dir, &["check", "fig3", "--color", "never"], &[])));
    assert!(!coloured(&on_terminal(&dir, &["check", "fig3"], &[("NO_COLOR", "1")])));
    assert!(!coloured(&on_terminal(&dir, &["check", "fig3"], &[("TERM", "dumb")])));
    // a table as wide as the terminal
    let narrow = on_terminal(&dir, &["check", "fig3", "vecadd", "--color", "never"], &[]);
    assert!(
        narrow.contains("no room for") && narrow.lines().all(|line| line.trim_end().len() <= 80),
        "{narrow}"
    );
}

#[test]
fn progress_is_shown_after_two_seconds_to_people_only() {
    let dir = scratch("progress");
    write_loop(&dir, 1000);
    let launch = launch_loop("10000000");
    let run = |seconds| [&["check"], &launch[..], &["--time-limit", seconds]].concat();
    let shown =
        |args: &[&str], set: &[(&str, &str)]| on_terminal(&dir, args, set).contains("of 10,000,000 blocks");
    let quiet = [&run("2.5")[..], &["--quiet"]].concat();
    std::thread::scope(|scope| {
        let long = scope.spawn(|| shown(&run("2.6"), &[]));
        let quiet = scope.spawn(|| shown(&quiet, &[]));
        let dumb = scope.spawn(|| shown(&run("2.5"), &[("TERM", "dumb")]));
        assert!(!shown(&run("1"), &[]), "too early");
        assert!(long.join().unwrap());
        assert!(!quiet.join().unwrap() && !dumb.join().unwrap());
    });
    let piped = command(&dir, &run("0.2")).output().unwrap();
    assert!(piped.stderr.is_empty(), "{}", stderr(&piped));
}

#[test]
fn quiet_suppresses_warnings_but_no_errors_and_results() {
    let dir = scratch("quiet");
    let idle = ["check", "chain", "--machine", "accelsim-sm1", "--set", "memory.fixed.latency=3"];
    let plain = command(&dir, &idle).output().unwrap();
    assert!(!plain.stderr.is_empty(), "this setting does nothing");
    let quiet = command(&dir, &[&idle[..], &["--quiet"]].concat()).output().unwrap();
    assert!(quiet.stderr.is_empty() && quiet.stdout == plain.stdout, "{}", stderr(&quiet));
    let wrong = command(&dir, &["check", "nope", "--quiet"]).output().unwrap();
    assert!(stderr(&wrong).contains("no embedded kernel"));
    assert_eq!(command(&dir, &["check", "fig3", "-q", "-v"]).output().unwrap().status.code(), Some(2));
}
