//! The page of every command, `docs/commands.md`, is the help that the program prints.
//!
//! After a change, `WRITE_DOCS=1 cargo test --test cli commands_page` writes the page. Without the
//! variable, the test compares it.

use std::fmt::Write as _;

use super::support::{stdout, warpbound};

const HEAD: &str = "# Every command

This page is generated from the help texts of the program; do not edit it.
";

/// Returns the help of the program, or of one of its commands, without blanks at the ends of lines.
fn help(command: &[&str]) -> String {
    let output = warpbound(&[command, &["--help"]].concat());
    let lines: Vec<String> = stdout(&output).lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n").trim_end().to_owned()
}

/// Returns the names of the commands in the help of the program, in order.
pub fn commands(help: &str) -> Vec<&str> {
    let rows = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let rows = rows.take_while(|line| !line.is_empty());
    let names = rows.filter_map(|row| row.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help").collect()
}

#[test]
fn the_page_is_what_the_program_prints() {
    let of_all = help(&[]);
    let commands = commands(&of_all);
    assert!(commands.len() > 20 && commands.contains(&"check"), "{commands:?}");
    let mut page = format!("{HEAD}\n## `warpbound`\n\n```text\n{of_all}\n```\n");
    for command in commands {
        write!(page, "\n## `{command}`\n\n```text\n{}\n```\n", help(&[command])).unwrap();
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/commands.md");
    if std::env::var_os("WRITE_DOCS").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    let first = kept.lines().zip(page.lines()).find(|(kept, now)| kept != now);
    assert!(kept == page, "docs/commands.md is not the help: see the head of this file; first: {first:?}");
}
