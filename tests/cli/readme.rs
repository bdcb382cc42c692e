//! Tests of what the README and the pages of the book (`docs/`) quote: runs with their output,
//! commands, bounds, policies, and files. Their links have targets.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use warpbound::bound::{self, Bound};
use warpbound::diag::SourceText;
use warpbound::machine::{MachineSpec, PolicyKind, Setting};
use warpbound::micro::MicroKernel;
use warpbound::program::launch::LaunchSpec;
use warpbound::sweep::SweepSpec;

use super::commands_page;
use super::files::below;
use super::support::{in_dir, scratch, stderr, stdout, warpbound};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the text of a page, whose name is its path from the root of the repository.
fn text(page: &str) -> String {
    std::fs::read_to_string(root().join(page)).unwrap()
}

/// Returns the README and the pages of the book, as paths from the root of the repository.
fn pages() -> Vec<String> {
    let name = |path: PathBuf| path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
    let mut pages: Vec<String> = below("docs", "md").into_iter().map(name).collect();
    pages.push("README.md".to_owned());
    pages.sort();
    pages
}

/// Returns the blocks of code of a page, fenced or indented, without indentation, and its lines of
/// prose with their numbers.
fn code_and_prose(page: &str) -> (Vec<String>, Vec<(usize, String)>) {
    let (mut code, mut prose) = (vec![String::new()], Vec::new());
    let mut fenced = false;
    for (index, line) in text(page).lines().enumerate() {
        if line.starts_with("```") {
            fenced = !fenced;
            code.push(String::new());
            continue;
        }
        let open = code.last_mut().unwrap();
        match line.strip_prefix("    ") {
            _ if fenced => open.push_str(&format!("{line}\n")),
            Some(inside) => open.push_str(&format!("{inside}\n")),
            None if line.is_empty() && !open.is_empty() => open.push('\n'),
            None => {
                code.push(String::new());
                prose.push((index + 1, line.to_owned()));
            }
        }
    }
    assert!(!fenced, "{page}: a block of code is not closed");
    code.retain(|block| !block.is_empty());
    (code, prose)
}

fn block_with(page: &str, start: &str) -> String {
    let blocks = code_and_prose(page).0;
    let found: Vec<String> = blocks.into_iter().filter(|block| block.starts_with(start)).collect();
    assert_eq!(found.len(), 1, "{page}: one block begins with {start}");
    found.into_iter().next().unwrap()
}

/// Returns the code in the first column of the table whose header begins with `header`.
fn first_cells(page: &str, header: &str) -> Vec<String> {
    let text = text(page);
    let mut rows = text.lines().skip_while(|line| !line.starts_with(header)).skip(2);
    let mut cells = Vec::new();
    for row in rows.by_ref().take_while(|line| line.starts_with('|')) {
        let cell = row.split('|').nth(1).unwrap();
        cells.extend(cell.split('`').skip(1).step_by(2).map(str::to_owned));
    }
    assert!(!cells.is_empty(), "{page}: {header}");
    cells
}

/// Returns the targets of a page's links and images, outside of code.
fn links(page: &str) -> Vec<String> {
    let prose: Vec<String> = code_and_prose(page).1.into_iter().map(|(_, line)| line).collect();
    let prose = prose.join("\n");
    assert_eq!(prose.matches('`').count() % 2, 0, "{page}: code in quotes is not closed");
    let plain: String = prose.split('`').step_by(2).collect();
    let targets = plain.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| target.to_owned()).collect()
}

/// Creates a folder in which the examples of a page run, with the files that they name.
fn folder_of_examples(page: &str) -> PathBuf {
    let dir = scratch(&format!("quoted-{}", page.replace('/', "-")));
    for entry in std::fs::read_dir(root().join("docs/examples")).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), dir.join(entry.file_name())).unwrap();
    }
    let config = root().join("tests/data/gpgpusim/rtx3070.config");
    std::fs::copy(config, dir.join("gpgpusim.config")).unwrap();
    dir
}

/// Runs a command line of a page, which may end with `> FILE`, and compares its output with the
/// quoted one. Lines of dots replace omitted output; the parts between them must occur in this
/// order.
fn run_quoted(page: &str, dir: &Path, line: &str, quoted: &str) {
    let (command, file) =
        line.split_once(" > ").map_or((line, None), |(command, file)| (command, Some(file.trim())));
    let arguments = shlex::split(command).unwrap();
    let output = in_dir(dir, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let (printed, error_text) = (stdout(&output), stderr(&output));
    let quotes_an_error = quoted.contains("error: ");
    let fine = matches!((output.status.code(), quotes_an_error), (Some(0 | 3), false) | (Some(1), true));
    assert!(fine, "{page}: {line}\n{:?}\n{error_text}", output.status);
    if let Some(file) = file {
        std::fs::write(dir.join(file), &printed).unwrap();
    }
    let all: Vec<&str> = printed.lines().chain(error_text.lines()).map(str::trim_end).collect();
    let all = all.join("\n");
    let mut rest = all.as_str();
    let quoted = format!("\n{quoted}");
    for piece in quoted.split("\n  ...\n").map(str::trim_end).filter(|piece| !piece.is_empty()) {
        let piece = piece.trim_start_matches('\n');
        let at = rest.find(piece).unwrap_or_else(|| panic!("{page}: {line}\n{piece}\n---\n{all}"));
        rest = &rest[at + piece.len()..];
    }
}

#[test]
fn quoted_runs_print_what_is_quoted() {
    let mut runs = 0;
    for page in pages() {
        let blocks = code_and_prose(&page).0;
        let blocks: Vec<String> = blocks.iter().map(|block| block.replace(" \\\n", " ")).collect();
        let quoting = || blocks.iter().filter(|block| block.contains("$ warpbound "));
        if quoting().next().is_none() {
            continue;
        }
        let dir = folder_of_examples(&page);
        for block in quoting() {
            let mut parts = block.split("$ warpbound ");
            assert_eq!(parts.next().map(str::trim), Some(""), "{page}: {block}");
            for part in parts {
                let (line, quoted) = part.split_once('\n').unwrap();
                run_quoted(&page, &dir, line, quoted);
                runs += 1;
            }
        }
    }
    assert!(runs >= 40, "{runs} quoted runs");
}

#[test]
fn quoted_settings_fit() {
    // every --set of the block of examples fits the machine with all features
    let settings = block_with("docs/machines.md", "--set 'memory.l1.split");
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
fn tables_are_complete() {
    let commands: BTreeSet<String> = first_cells("docs/using.md", "| command ")
        .iter()
        .map(|cell| cell.split(' ').next().unwrap().trim_end_matches(',').to_owned())
        .collect();
    let help = stdout(&warpbound(&["--help"]));
    let known: BTreeSet<String> = commands_page::commands(&help).into_iter().map(str::to_owned).collect();
    assert_eq!(commands, known);

    let bounds = "docs/bounds.md";
    let named: BTreeSet<String> = first_cells(bounds, "| bound | standing ").into_iter().collect();
    let all: BTreeSet<String> = bound::all().iter().map(|bound| Bound::name(&**bound).to_owned()).collect();
    assert_eq!(named, all);
    let bounds = text(bounds);
    let rows = bounds.lines().skip_while(|line| !line.starts_with("| bound | standing "));
    for bound in bound::all() {
        let quoted = format!("`{}`", bound.name());
        let row = rows.clone().find(|line| line.split('|').nth(1).is_some_and(|cell| cell.contains(&quoted)));
        assert!(row.unwrap().contains(bound.standing().name()), "{quoted}");
    }

    let policies = text("docs/policies.md");
    let start = policies.find("Policies: ").expect("a list of policies") + "Policies: ".len();
    let end = start + policies[start..].find('.').unwrap();
    let policies: Vec<&str> = policies[start..end].split(',').map(str::trim).collect();
    assert_eq!(policies.len(), PolicyKind::NAMED.len() + 2);
    for policy in policies {
        let policy = policy.replace("SEED", "1").replace("FILE", "x");
        assert!(policy.parse::<PolicyKind>().is_ok(), "{policy}");
    }
}

#[test]
fn quoted_files_parse() {
    let source = |page: &str, start: &str| SourceText::new(page, block_with(page, start));
    let micro = source("docs/files.md", ".machine paper-fig2");
    assert_eq!(MicroKernel::parse("files", &micro).unwrap().block_warps, 2);
    let launch = LaunchSpec::parse(&source("docs/files.md", "Launch(")).unwrap();
    assert_eq!((launch.entry.as_str(), launch.args.len()), ("scale", 3));
    let machine = MachineSpec::parse(&source("docs/machines.md", "Machine(")).unwrap();
    assert_eq!(machine.name.as_deref(), Some("mine"));
    let sweep = SweepSpec::parse(&source("docs/sweeps.md", "Sweep(\n    kernels: [  ")).unwrap();
    assert_eq!((sweep.kernels.len(), sweep.settings.len(), sweep.policies.len()), (3, 2, 2));
    let shown = [
        ("docs/files.md", "two.warp"),
        ("docs/machines.md", "mine.ron"),
        ("docs/programs.md", "rounds.ron"),
        ("docs/sweeps.md", "plan.ron"),
        ("docs/wcet.md", "halve.ron"),
    ];
    for (page, file) in shown {
        let file = format!("docs/examples/{file}");
        assert!(code_and_prose(page).0.contains(&text(&file)), "{page} shows {file} as it is");
    }
    let version = env!("CARGO_PKG_RUST_VERSION");
    assert!(
        text("README.md").contains(&format!("Rust {version} or later")),
        "the README names another version"
    );
}

#[test]
fn links_lead_to_files() {
    let mut all = pages();
    all.push("CONTRIBUTING.md".to_owned());
    let mut followed = 0;
    for page in &all {
        let file = root().join(page);
        for link in links(page) {
            if link.contains("://") || link.starts_with('#') {
                continue;
            }
            let target = link.split('#').next().unwrap();
            assert!(file.parent().unwrap().join(target).is_file(), "{page}: no file is at {link}");
            // the pages of a built book cannot link to files outside of the book
            assert!(page == "README.md" || !target.starts_with(".."), "{page}: {link} leaves the book");
            followed += 1;
        }
    }
    assert!(followed >= 50, "{followed} links");
}

#[test]
fn the_summary_lists_every_page_of_the_book() {
    let listed: BTreeSet<String> = links("docs/SUMMARY.md").into_iter().collect();
    let chapters = pages().into_iter().filter_map(|page| page.strip_prefix("docs/").map(str::to_owned));
    let chapters: BTreeSet<String> = chapters.filter(|page| page != "SUMMARY.md").collect();
    assert_eq!(listed, chapters);
}

#[test]
fn lines_of_prose_are_at_most_100_characters_wide() {
    for page in pages() {
        for (number, line) in code_and_prose(&page).1 {
            let may_be_wide = line.starts_with(['|', '#']);
            assert!(may_be_wide || line.chars().count() <= 100, "{page}:{number} is too wide: {line}");
        }
    }
}
