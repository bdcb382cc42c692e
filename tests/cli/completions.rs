//! The completion of command lines: the scripts of `completions`, and the candidates.

use std::path::Path;
use std::process::Command;

use crate::support::{self, BINARY, stdout, warpbound};

/// Returns the candidates that bash has for the last of these words, with the script of the program.
fn in_bash(words: &[&str]) -> Vec<String> {
    let script = stdout(&warpbound(&["completions", "bash"]));
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let last = words.len() - 1;
    let program = format!(
        "{script}
        COMP_WORDS=({}); COMP_CWORD={last}; COMP_TYPE=9
        _clap_complete_warpbound warpbound {} ''
        printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        quoted.join(" "),
        quoted[last]
    );
    let folder = Path::new(BINARY).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let root = env!("CARGO_MANIFEST_DIR");
    let output = Command::new("bash").args(["-c", &program]).env("PATH", path).current_dir(root).output();
    let output = output.expect("bash runs");
    assert!(output.stderr.is_empty(), "{}", support::stderr(&output));
    stdout(&output).lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// Returns the candidates that the program prints for the script of a shell.
fn asked_by(shell: &str, words: &[&str]) -> String {
    let mut command = support::command(Path::new(env!("CARGO_MANIFEST_DIR")), &[&["--"], words].concat());
    let index = (words.len() - 1).to_string();
    let output = command.env("WARPBOUND_COMPLETE", shell).env("_CLAP_COMPLETE_INDEX", index).output();
    stdout(&output.expect("the binary runs"))
}

#[test]
fn bash_completes_commands_options_and_names() {
    let commands = in_bash(&["warpbound", "che"]);
    assert_eq!(commands, ["check"]);
    assert!(in_bash(&["warpbound", "check", "--req"]).contains(&"--require-verdict".to_owned()));
    assert_eq!(in_bash(&["warpbound", "run", "saxp"]), ["saxpy"]);
    assert_eq!(in_bash(&["warpbound", "run", "saxpy", "--machine", "kepler"]), ["kepler-gk104"]);
    assert_eq!(in_bash(&["warpbound", "check", "--policy", "gto,two"]), ["gto,two-level"]);
    assert_eq!(in_bash(&["warpbound", "sweep", "table4"]), ["table4"]);
    let settings = in_bash(&["warpbound", "run", "saxpy", "--set", "pipeline.launch."]);
    assert!(settings.contains(&"pipeline.launch.blocks_per_cycle=".to_owned()), "{settings:?}");
    assert_eq!(in_bash(&["warpbound", "run", "saxpy", "--set", "units.gmem.l"]), ["units.gmem.lat="]);
    assert_eq!(in_bash(&["warpbound", "hunt", "--bound", "rb"]), ["rbb"]);
    assert_eq!(in_bash(&["warpbound", "explain", "score"]), ["scoreboard"]);
    assert_eq!(in_bash(&["warpbound", "list", "mach"]), ["machines"]);
    assert_eq!(in_bash(&["warpbound", "schema", "print", "phas"]), ["phases"]);
    // files are candidates beside names
    assert!(
        in_bash(&["warpbound", "run", "docs/examples/halv"]).contains(&"docs/examples/halve.ron".to_owned())
    );
}

#[test]
fn each_shell_has_a_script_and_candidates() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = stdout(&warpbound(&["completions", shell]));
        assert!(script.contains("WARPBOUND_COMPLETE") && script.contains("warpbound"), "{shell}: {script}");
    }
    for shell in ["zsh", "fish"] {
        let found = asked_by(shell, &["warpbound", "run", "saxpy", "--machine", "kepler"]);
        // these shells show descriptions
        assert!(found.contains("kepler-gk104") && found.contains("Kepler (GK104)"), "{shell}: {found}");
    }
}
