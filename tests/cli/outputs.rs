//! Output files: tested first, never written over an input or over each other, complete or not
//! written at all.

use std::path::Path;

use crate::support::{
    in_dir, launch_loop, names, scratch, shell, start, stderr, stdout, wait_for, warpbound, write_loop,
};

/// Returns the error message of a command that rejects an output; it must not have begun to work.
fn refused(dir: &Path, args: &[&str]) -> String {
    let output = in_dir(dir, args);
    assert_eq!(output.status.code(), Some(1), "{args:?}: {}{}", stdout(&output), stderr(&output));
    assert!(output.stdout.is_empty(), "{args:?}");
    stderr(&output)
}

#[test]
fn replacing_an_existing_file_needs_force() {
    let dir = scratch("existing");
    std::fs::write(dir.join("t.csv"), "mine").unwrap();
    let args = ["run", "fig3", "--trace", "t.csv"];
    let refusal = refused(&dir, &args);
    assert!(refusal.contains("there already") && refusal.contains("--force"), "{refusal}");
    assert_eq!(std::fs::read_to_string(dir.join("t.csv")).unwrap(), "mine");
    assert_eq!(in_dir(&dir, &[&args[..], &["--force"]].concat()).status.code(), Some(0));
    assert!(std::fs::read_to_string(dir.join("t.csv")).unwrap().starts_with("block,warp"));
    // a dangling link counts as existing, too; through a link, its target is replaced
    std::os::unix::fs::symlink("nothing", dir.join("dangling.csv")).unwrap();
    refused(&dir, &["run", "fig3", "--trace", "dangling.csv"]);
    std::os::unix::fs::symlink("t.csv", dir.join("link.csv")).unwrap();
    std::fs::write(dir.join("t.csv"), "mine").unwrap();
    assert_eq!(in_dir(&dir, &["run", "fig3", "--trace", "link.csv", "--force"]).status.code(), Some(0));
    assert!(std::fs::symlink_metadata(dir.join("link.csv")).unwrap().is_symlink());
    assert!(std::fs::read_to_string(dir.join("t.csv")).unwrap().starts_with("block,warp"));

    std::fs::write(dir.join("w.replay"), "mine").unwrap();
    refused(&dir, &["explore", "fig3", "--worst-schedule", "w.replay"]);
    for args in [&["family", "ping-pong", "--out", "f"][..], &["man", "m"]] {
        assert_eq!(in_dir(&dir, args).status.code(), Some(0), "{args:?}");
        assert!(refused(&dir, args).contains("there already"), "{args:?}");
        assert_eq!(in_dir(&dir, &[args, &["--force"]].concat()).status.code(), Some(0), "{args:?}");
    }
    let check = ["check", "lrr-witness", "--counterexamples", "found"];
    assert_eq!(in_dir(&dir, &check).status.code(), Some(3));
    assert!(refused(&dir, &check).contains("found/lrr-witness-lrr"));
    assert_eq!(in_dir(&dir, &[&check[..], &["--force"]].concat()).status.code(), Some(3));
    assert!(names(&dir).iter().all(|name| !name.contains("part")), "{:?}", names(&dir));
}

#[test]
fn inputs_are_never_overwritten() {
    let dir = scratch("overwriting");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::copy(root.join("kernels/vecadd/vecadd.ptx"), dir.join("vecadd.ptx")).unwrap();
    let launch = std::fs::read_to_string(root.join("kernels/vecadd/vecadd.ron")).unwrap();
    let with_file = launch.replacen("Uniform(-1.0, 1.0)", "File(\"a.bin\")", 1);
    assert_ne!(launch, with_file);
    std::fs::write(dir.join("vecadd.ron"), with_file).unwrap();
    std::fs::write(dir.join("a.bin"), vec![0; 4096]).unwrap();
    std::fs::write(dir.join("m.ron"), "Machine(extends: \"base.ron\", name: \"m\")").unwrap();
    std::fs::copy(root.join("configs/ecrts25-orin.ron"), dir.join("base.ron")).unwrap();
    std::fs::hard_link(dir.join("vecadd.ptx"), dir.join("hard.bin")).unwrap();
    std::os::unix::fs::symlink("a.bin", dir.join("soft.bin")).unwrap();
    let run = ["run", "vecadd.ron", "--machine", "m.ron", "--force"];
    assert_eq!(in_dir(&dir, &run).status.code(), Some(0));
    let before: Vec<Vec<u8>> = ["vecadd.ron", "vecadd.ptx", "a.bin", "m.ron", "base.ron"]
        .map(|f| std::fs::read(dir.join(f)).unwrap())
        .into();
    for file in
        ["vecadd.ron", "./vecadd.ptx", "../overwriting/a.bin", "m.ron", "base.ron", "hard.bin", "soft.bin"]
    {
        let dump = format!("c={file}");
        let refusal = refused(&dir, &[&run[..], &["--dump", &dump]].concat());
        assert!(refusal.contains("is read") && refusal.contains(file), "{file}: {refusal}");
    }
    let after: Vec<Vec<u8>> = ["vecadd.ron", "vecadd.ptx", "a.bin", "m.ron", "base.ron"]
        .map(|f| std::fs::read(dir.join(f)).unwrap())
        .into();
    assert_eq!(before, after);

    // a replay file, and the folder of a kernel
    assert_eq!(in_dir(&dir, &["run", "fig3", "--trace", "s.replay"]).status.code(), Some(0));
    let replay = ["run", "fig3", "--policy", "replay:s.replay", "--trace", "s.replay", "--force"];
    assert!(refused(&dir, &replay).contains("is read"));
    assert_eq!(in_dir(&dir, &["check", "lrr-witness", "--counterexamples", "found"]).status.code(), Some(3));
    std::fs::rename(dir.join("found/lrr-witness-lrr"), dir.join("found/kernel-lrr")).unwrap();
    let own =
        ["check", "found/kernel-lrr/kernel.warp", "--policy", "lrr", "--counterexamples", "found", "--force"];
    assert!(refused(&dir, &own).contains("kernel.warp is in this folder"));
}

#[test]
fn outputs_differ_and_have_a_place() {
    let dir = scratch("places");
    std::fs::create_dir(dir.join("d.csv")).unwrap();
    for (more, named) in [
        (&["--trace", "a.csv", "--trace", "./a.csv"][..], "another output"),
        (&["--trace", "a.csv", "--trace", "d.csv/../a.csv"], "another output"),
        (&["--trace", "nowhere/a.csv"], "nowhere/a.csv"),
        (&["--trace", "d.csv"], "directory"),
        (&["--trace", "new.csv/"], "directory"),
        (&["--trace", "a.vcd"], "ending"),
    ] {
        let refusal = refused(&dir, &[&["run", "fig3"], more].concat());
        assert!(refusal.contains(named), "{more:?}: {refusal}");
    }
    // all problems at the same time
    let refusal = refused(&dir, &["run", "fig3", "--trace", "nowhere/a.csv", "--trace", "d.csv"]);
    assert_eq!(refusal.matches("error:").count(), 2, "{refusal}");
    let explore = ["explore", "fig3", "--worst-schedule", "w", "--best-schedule", "w"];
    assert!(refused(&dir, &explore).contains("another output"));
    std::fs::write(dir.join("file"), "").unwrap();
    for args in [
        &["check", "fig3", "--counterexamples", "file"][..],
        &["check", "fig3", "--counterexamples", "file/x"],
        &["hunt", "--bound", "gub", "--counterexamples", "file"],
        &["man", "file"],
    ] {
        assert!(refused(&dir, args).contains("cannot create"), "{args:?}");
    }
    assert_eq!(names(&dir), ["d.csv", "file"], "what was refused leaves nothing");
    // nothing found, nothing left behind
    assert_eq!(in_dir(&dir, &["check", "fig3", "--counterexamples", "a/b"]).status.code(), Some(0));
    assert_eq!(names(&dir), ["d.csv", "file"]);
}

#[test]
fn outputs_are_tested_before_anything_is_simulated() {
    let dir = scratch("tried-first");
    // the kernel does not end within its fuel, which would be another error if it were run
    write_loop(&dir, u32::MAX);
    let refusal = refused(&dir, &[&["run"], &launch_loop("1")[..], &["--dump", "p=nowhere/p"]].concat());
    assert!(refusal.contains("nowhere/p") && !refusal.contains("does not end"), "{refusal}");
    std::fs::create_dir_all(dir.join("found/k-gto")).unwrap();
    let refusal =
        refused(&dir, &[&["check"], &launch_loop("1")[..], &["--counterexamples", "found"]].concat());
    assert!(refusal.contains("found/k-gto") && !refusal.contains("does not end"), "{refusal}");
}

#[test]
fn the_result_comes_before_files_that_cannot_be_written() {
    let dir = scratch("full");
    std::os::unix::fs::symlink("/dev/full", dir.join("full.csv")).unwrap();
    let output = in_dir(&dir, &["run", "fig3", "--trace", "full.csv", "--trace", "good.csv"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("makespan 17 cycles, holds"), "{}", stdout(&output));
    assert!(
        stderr(&output).contains("full.csv") && stderr(&output).contains("cannot write"),
        "{}",
        stderr(&output)
    );
    assert!(dir.join("good.csv").exists(), "one file does not take another with it");
    // a violation remains one
    std::fs::create_dir(dir.join("found")).unwrap();
    std::fs::write(dir.join("found/lrr-witness-lrr"), "a file, no folder").unwrap();
    let output = in_dir(&dir, &["check", "lrr-witness", "--counterexamples", "found", "--force"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stdout(&output).contains("VIOLATED") && stdout(&output).contains("warpbound check lrr-witness"));
    assert!(stderr(&output).contains("cannot write"), "{}", stderr(&output));
}

#[test]
fn two_writers_leave_one_complete_file() {
    let dir = scratch("two-writers");
    write_loop(&dir, 2000);
    let run = |file| [&["run"], &launch_loop("40")[..], &["--timings", "--trace", file]].concat();
    let alone = in_dir(&dir, &run("alone.csv"));
    assert_eq!(alone.status.code(), Some(0), "{}", stderr(&alone));
    let mut writers = [start(&dir, &run("t.csv")), start(&dir, &run("t.csv"))];
    let parts = || names(&dir).iter().filter(|name| name.ends_with(".part")).count();
    wait_for("both to write", || parts() == 2 || dir.join("t.csv").exists());
    for writer in &mut writers {
        assert_eq!(writer.wait().unwrap().code(), Some(0));
    }
    assert_eq!(names(&dir), ["alone.csv", "loop.ptx", "t.csv"]);
    let [one, other] = ["alone.csv", "t.csv"].map(|name| std::fs::read(dir.join(name)).unwrap());
    assert!(one == other && one.len() > 1_000_000, "{} and {} bytes", one.len(), other.len());
}

#[test]
fn every_kernel_of_a_batch_gets_a_folder_of_its_own() {
    let dir = scratch("folders");
    let output = in_dir(&dir, &["check", "lrr-witness", "lrr-witness", "--counterexamples", "found"]);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(names(&dir.join("found")), ["lrr-witness-lrr", "lrr-witness-lrr-2"]);
    // the commands work as printed, including blanks in names
    let spaced = ["check", "lrr-witness", "--counterexamples", "two words", "--bound", "gub"];
    let text = stdout(&in_dir(&dir, &spaced));
    let line = text.lines().find(|line| line.contains("cd ")).expect("a command").trim();
    let again = shell(&dir, &line.replace("warpbound ", "$W "));
    assert_eq!(again.status.code(), Some(3), "{line}: {}", stderr(&again));
}

/// Returns the command lines in the section with examples of a manual page.
fn examples(page: &str) -> Vec<String> {
    let (_, examples) = page.split_once(".SH EXAMPLES").expect("examples");
    let mut lines = examples.lines();
    let mut found = Vec::new();
    while lines.any(|line| line == ".nf") {
        found.push(lines.next().unwrap().replace("\\-", "-"));
    }
    found
}

/// Runs each example of the manual, in the order of the commands, as later ones use results of
/// earlier ones.
#[test]
fn the_examples_of_the_manual_work() {
    let dir = scratch("examples");
    let config = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/gpgpusim/rtx3070.config");
    std::fs::copy(config, dir.join("gpgpusim.config")).unwrap();
    std::fs::write(dir.join("trace.config"), "-trace_opcode_latency_initiation_int 4,2\n").unwrap();
    std::fs::write(dir.join("gto.config"), "-gpgpu_scheduler gto\n").unwrap();
    let times: String = (0..500_u64).map(|i| format!("{}\n", 1000 + i * i * 7919 % 1009 / 4)).collect();
    std::fs::write(dir.join("times.csv"), format!("cycles\n{times}")).unwrap();
    let measured = include_str!("../../data/measured/h100-sxm-kernels.csv");
    let few = measured.lines().enumerate().filter(|(row, line)| *row == 0 || line.contains(",pchase,"));
    let few: Vec<&str> = few.map(|(_, line)| line).collect();
    std::fs::write(dir.join("cycles.csv"), few.join("\n")).unwrap();
    std::fs::write(dir.join("latencies.csv"), "kernel,options,cycles\nsaxpy,--block 128,5000\n").unwrap();
    // a compiler, unless another one is installed
    super::compile::fake_nvcc(&dir.join("bin"));
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/examples/halve.cu"), dir.join("halve.cu"))
        .unwrap();
    assert_eq!(in_dir(&dir, &["man", "manual"]).status.code(), Some(0));
    let help = stdout(&warpbound(&["--help"]));
    let commands = crate::commands_page::commands(&help);
    let pages = ["warpbound.1".to_owned()].into_iter();
    for page in pages.chain(commands.iter().map(|name| format!("warpbound-{name}.1"))) {
        let found = examples(&std::fs::read_to_string(dir.join("manual").join(&page)).unwrap());
        assert!(!found.is_empty(), "{page} has no example");
        for line in found {
            assert!(line.starts_with("warpbound "), "{page}: {line}");
            // a line may have several commands
            let line = line.replace("| warpbound ", "| $W ").replacen("warpbound ", "$W ", 1);
            let output = shell(&dir, &format!("PATH=\"$PATH:$PWD/bin\"; export PATH; {line}"));
            // a witness of a violated bound is an example, too
            assert!(matches!(output.status.code(), Some(0 | 3)), "{line}: {}", stderr(&output));
        }
    }
}

#[test]
fn help_and_manual_have_examples_and_exit_codes_of_every_command() {
    let help = stdout(&warpbound(&["--help"]));
    let commands = crate::commands_page::commands(&help);
    assert!(commands.len() >= 15, "{commands:?}");
    for name in &commands {
        let help = stdout(&warpbound(&[name, "--help"]));
        let (_, sections) = help.split_once("\nExamples:\n").unwrap_or_else(|| panic!("{help}"));
        let (examples, codes) = sections.split_once("\nExit status:\n").unwrap();
        let lines = examples.lines().filter(|line| line.starts_with("  warpbound ")).count();
        assert!((2..=3).contains(&lines), "{name} has {lines} examples");
        assert!(codes.contains("  3  A gating bound is violated"), "{codes}");
        assert!(!stdout(&warpbound(&[name, "-h"])).contains("Exit status"), "the short help is short");
    }
    let dir = scratch("man");
    assert_eq!(in_dir(&dir, &["man", "pages"]).status.code(), Some(0));
    let pages = names(&dir.join("pages"));
    for name in &commands {
        let page = format!("warpbound-{name}.1");
        assert!(pages.contains(&page), "{page} of {pages:?}");
        let text = std::fs::read_to_string(dir.join("pages").join(page)).unwrap();
        for section in ["NAME", "SYNOPSIS", "EXIT STATUS", "EXAMPLES"] {
            assert!(
                text.contains(&format!(".SH {section}\n")) || text.contains(&format!(".SH \"{section}\"")),
                "{name}: {section}"
            );
        }
    }
    let page = stdout(&warpbound(&["man"]));
    assert!(page.contains(".TH warpbound 1") && page.contains("time\\-limit"), "{page}");
}
