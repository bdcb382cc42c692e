//! What the README quotes: runs with their output, the commands, the bounds, the policies, and its files.

use std::collections::BTreeSet;

use warpbound::bound::{self, Bound};
use warpbound::diag::SourceText;
use warpbound::machine::{MachineSpec, SchedulerKind, Setting};
use warpbound::micro::MicroKernel;
use warpbound::program::launch::LaunchSpec;
use warpbound::sweep::SweepSpec;

use super::support::{in_dir, scratch, stderr, stdout, warpbound};

fn readme() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap()
}

/// The indented blocks, without their indentation.
fn blocks() -> Vec<String> {
    let text = readme();
    let mut blocks = vec![String::new()];
    for line in text.lines() {
        let open = blocks.last_mut().unwrap();
        match line.strip_prefix("    ") {
            Some(code) => open.push_str(&format!("{code}\n")),
            None if line.is_empty() && !open.is_empty() => open.push('\n'),
            None if !open.is_empty() => blocks.push(String::new()),
            None => {}
        }
    }
    blocks
}

fn block_with(start: &str) -> String {
    let found: Vec<String> = blocks().into_iter().filter(|block| block.starts_with(start)).collect();
    assert_eq!(found.len(), 1, "one block begins with {start}");
    found.into_iter().next().unwrap()
}

/// What stands in code quotes in the first column of the table whose header begins so.
fn first_cells(header: &str) -> Vec<String> {
    let text = readme();
    let mut rows = text.lines().skip_while(|line| !line.starts_with(header)).skip(2);
    let mut cells = Vec::new();
    for row in rows.by_ref().take_while(|line| line.starts_with('|')) {
        let cell = row.split('|').nth(1).unwrap();
        cells.extend(cell.split('`').skip(1).step_by(2).map(str::to_owned));
    }
    assert!(!cells.is_empty(), "{header}");
    cells
}

#[test]
fn quoted_runs_print_what_is_quoted() {
    let mut runs = 0;
    for block in blocks() {
        let mut parts = block.split("$ warpbound ");
        assert_eq!(parts.next().map(str::trim).filter(|_| block.contains("$ warpbound")).unwrap_or(""), "");
        for part in parts {
            let (arguments, quoted) = part.split_once('\n').unwrap();
            let dir = scratch(&format!("readme-{runs}"));
            let output = in_dir(&dir, &arguments.split(' ').collect::<Vec<_>>());
            let printed = stdout(&output);
            assert!(matches!(output.status.code(), Some(0 | 3)), "{arguments}\n{}", stderr(&output));
            // what stands between two lines of dots is printed as it stands, and in this order
            let mut rest = printed.as_str();
            for piece in quoted.split("\n  ...\n").map(str::trim_end).filter(|piece| !piece.is_empty()) {
                let piece = piece.trim_start_matches('\n');
                let at = rest.find(piece).unwrap_or_else(|| panic!("{arguments}\n{piece}\n---\n{printed}"));
                rest = &rest[at + piece.len()..];
            }
            runs += 1;
        }
    }
    assert_eq!(runs, 3, "quoted runs");
}

#[test]
fn quoted_runs_with_settings_succeed() {
    let line = block_with("warpbound run icache_loop");
    let arguments: Vec<&str> = line.split_whitespace().skip(1).collect();
    let output = warpbound(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    // every --set of the block of examples fits the machine with everything in it
    let settings = block_with("--set 'memory.l1.split");
    let mut set: Vec<String> = Vec::new();
    for setting in settings.split("--set ").skip(1) {
        let setting = setting.trim().trim_matches('\'').to_owned();
        Setting::parse(&setting).unwrap_or_else(|problem| panic!("{setting}: {problem:?}"));
        let args = ["run", "vecadd", "--machine", "accelsim-sm1", "--set", &setting];
        let output = warpbound(&args);
        assert_eq!(output.status.code(), Some(0), "{setting}\n{}", stderr(&output));
        set.push(setting);
    }
    assert_eq!(set.len(), 5, "{set:?}");
}

#[test]
fn its_tables_are_complete() {
    let commands: BTreeSet<String> = first_cells("| command ")
        .iter()
        .map(|cell| cell.split(' ').next().unwrap().trim_end_matches(',').to_owned())
        .collect();
    let help = stdout(&warpbound(&["--help"]));
    let listed = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let known: BTreeSet<String> = listed
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')))
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .filter(|name| name != "help")
        .collect();
    assert_eq!(commands, known);

    let named: BTreeSet<String> = first_cells("| bound | standing ").into_iter().collect();
    let all: BTreeSet<String> = bound::all().iter().map(|bound| Bound::name(&**bound).to_owned()).collect();
    assert_eq!(named, all);
    let text = readme();
    let rows = text.lines().skip_while(|line| !line.starts_with("| bound | standing "));
    for bound in bound::all() {
        let quoted = format!("`{}`", bound.name());
        let row = rows.clone().find(|line| line.split('|').nth(1).is_some_and(|cell| cell.contains(&quoted)));
        assert!(row.unwrap().contains(bound.standing().name()), "{quoted}");
    }

    let start = text.find("Policies: ").expect("a list of policies") + "Policies: ".len();
    let end = start + text[start..].find('.').unwrap();
    let policies: Vec<&str> = text[start..end].split(',').map(str::trim).collect();
    assert_eq!(policies.len(), SchedulerKind::NAMED.len() + 2);
    for policy in policies {
        let policy = policy.replace("SEED", "1").replace("FILE", "x");
        assert!(policy.parse::<SchedulerKind>().is_ok(), "{policy}");
    }
}

#[test]
fn its_files_parse() {
    let source = |text: String| SourceText::new("README.md", text);
    let micro = source(block_with(".machine paper-fig2"));
    assert_eq!(MicroKernel::parse("readme", &micro).unwrap().block_warps, 2);
    let launch = LaunchSpec::parse(&source(block_with("Launch("))).unwrap();
    assert_eq!((launch.entry.as_str(), launch.args.len()), ("scale", 3));
    let machine = MachineSpec::parse(&source(block_with("Machine("))).unwrap();
    assert_eq!(machine.name.as_deref(), Some("mine"));
    let sweep = SweepSpec::parse(&source(block_with("Sweep("))).unwrap();
    assert_eq!((sweep.kernels.len(), sweep.settings.len(), sweep.policies.len()), (3, 2, 2));
    let version = env!("CARGO_PKG_RUST_VERSION");
    assert!(readme().contains(&format!("Rust {version} or later")), "the README names another version");
}
