//! The binary, for formats that only the command line reads.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU64, Ordering};

use super::Taken;

fn command(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpbound"));
    command.args(args).current_dir(dir).env_remove("COLUMNS").env_remove("NO_COLOR");
    command.output().expect("the binary runs")
}

/// Returns an empty folder that no other trial has.
pub fn scratch(name: &str) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}-{number}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

/// Runs a command that must succeed.
pub fn succeeds(dir: &Path, args: &[&str]) {
    let output = command(dir, args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Runs a command that may reject its input, and must then give the reason.
pub fn answers(dir: &Path, args: &[&str]) -> Taken {
    // limits of time, and of requested memory
    let limits = ["--time-limit", "5", "--max-memory", "256M"];
    let output = command(dir, &[args, &limits].concat());
    let error_text = String::from_utf8_lossy(&output.stderr);
    assert!(!error_text.contains("panicked"), "{args:?}: {error_text}");
    match output.status.code() {
        Some(0 | 3) => Taken::Accepted,
        Some(1) => {
            // a table of results itself reports the errors of single kernels
            assert!(
                error_text.contains("error: ") || !output.stdout.is_empty(),
                "{args:?} says nothing: {error_text}"
            );
            Taken::Refused
        }
        _ => panic!("{args:?} ends with {}: {error_text}", output.status),
    }
}
