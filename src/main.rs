//! The `warpbound` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    warpbound::cli::main()
}
