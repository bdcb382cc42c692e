//! `evidence-pack`: what a pack contains, and that what it names exists.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::support::{grouped, in_dir, json_in, names, scratch, stderr, stdout};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Makes a pack and returns its data, which must be what the command prints as JSON.
fn make(dir: &Path, args: &[&str]) -> Value {
    let printed = json_in(dir, &[&["evidence-pack", "--out", "pack"], args].concat(), 0);
    let file: Value = serde_json::from_str(&read(&dir.join("pack/evidence.json"))).unwrap();
    assert_eq!(file["results"], printed["results"]);
    file["results"][0].clone()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

/// Returns the names and contents of all files below a folder, sorted.
fn all_files(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for name in names(dir) {
        let path = dir.join(name);
        match path.is_dir() {
            true => files.extend(all_files(&path)),
            false => files.push((path.clone(), std::fs::read(&path).unwrap())),
        }
    }
    files
}

/// Runs a command line of a pack in the folder of its claim.
fn run_there(dir: &Path, command: &str) -> std::process::Output {
    let words = shlex::split(command).unwrap();
    assert_eq!(words[0], "warpbound");
    in_dir(dir, &words[1..].iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn the_claim_is_that_of_check_and_can_be_repeated_from_the_pack_alone() {
    let dir = scratch("pack-repeat");
    let kernels = ["fig3", "saxpy", "vecadd@sm_61", "jacobi"];
    let pack = make(&dir, &kernels);
    let claims = list(&pack, "claims");
    assert_eq!(claims.len(), kernels.len());
    for (claim, kernel) in claims.iter().zip(kernels) {
        let policies = ["--policy", "gto,lrr,oldest,random:0"];
        let checked = json_in(&dir, &[&["check", kernel], &policies[..]].concat(), 0);
        assert_eq!(claim["answer"], checked["answers"][0], "{kernel}");
        let machine = claim["machine"].as_str().unwrap();
        let sentence = claim["answer"]["sentence"].as_str().unwrap();
        let named = format!("{kernel}: {}", sentence.replace("this machine", machine));
        assert_eq!(claim["statement"], named.as_str());
        assert_eq!(claim["is_guaranteed"], true);
        let folder = dir.join("pack").join(claim["id"].as_str().unwrap());
        let replays = list(claim, "replays");
        let again = run_there(&folder, replays[0]["command"].as_str().unwrap());
        assert_eq!(again.status.code(), Some(0), "{kernel}: {}", stderr(&again));
        assert_eq!(stdout(&again).lines().next(), Some(sentence), "{kernel}");
        let longest = run_there(&folder, replays[1]["command"].as_str().unwrap());
        assert_eq!(longest.status.code(), Some(0), "{kernel}: {}", stderr(&longest));
        let makespan = format!("makespan {} cycles, holds", grouped(&claim["answer"]["longest"]["cycles"]));
        assert!(stdout(&longest).contains(&makespan), "{kernel}: {}", stdout(&longest));
    }
}

#[test]
fn a_pack_is_the_same_every_time_and_names_no_place_or_time() {
    let dir = scratch("pack-same");
    // the kernel is named by an absolute path, which must not be part of the pack
    let kernel = root().join("docs/examples/halve.ron");
    let machines = "ecrts25-orin,accelsim-ecrts";
    let written = |out: &str| {
        let args = ["evidence-pack", "--out", out, kernel.to_str().unwrap(), "--machine", machines];
        let output = in_dir(&dir, &args);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        all_files(&dir.join(out))
    };
    let (one, two) = (written("one"), written("two"));
    assert_eq!(one.len(), two.len());
    for ((path, bytes), (other, same)) in one.iter().zip(&two) {
        assert_eq!(path.strip_prefix(dir.join("one")), other.strip_prefix(dir.join("two")));
        assert!(bytes == same, "{} differs", path.display());
        let text = String::from_utf8_lossy(bytes);
        let here = root().to_str().unwrap();
        assert!(!text.contains(here) && !text.contains(dir.to_str().unwrap()), "{}", path.display());
    }
}

#[test]
fn digests_are_those_of_the_files() {
    let dir = scratch("pack-digests");
    let pack = make(&dir, &["saxpy", "fig3"]);
    let folder = dir.join("pack");
    // the sums are in the form of `sha256sum`, which is asked where it is installed
    if let Ok(output) =
        std::process::Command::new("sha256sum").args(["-c", "SHA256SUMS"]).current_dir(&folder).output()
    {
        assert!(output.status.success(), "{}", stdout(&output));
    }
    let sums = read(&folder.join("SHA256SUMS"));
    let summed: Vec<&str> = sums.lines().map(|line| line.split_once("  ").unwrap().1).collect();
    let mut all: Vec<String> = all_files(&folder)
        .iter()
        .map(|(path, _)| path.strip_prefix(&folder).unwrap().to_str().unwrap().to_owned())
        .filter(|name| name != "SHA256SUMS")
        .collect();
    all.sort();
    let mut sorted = summed.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, all);
    for claim in list(&pack, "claims") {
        for file in list(claim, "files") {
            let name = format!("{}/{}", claim["id"].as_str().unwrap(), file["name"].as_str().unwrap());
            let line = format!("{}  {name}\n", file["sha256"].as_str().unwrap());
            assert!(sums.contains(&line), "{line}");
            assert_eq!(file["bytes"], std::fs::metadata(folder.join(&name)).unwrap().len());
        }
    }
    // the code of the kernel is in the pack as it is in the repository
    let code = std::fs::read(folder.join("saxpy-ecrts25-orin/kernel.ptx")).unwrap();
    assert!(code == std::fs::read(root().join("kernels/saxpy/saxpy.ptx")).unwrap());
}

#[test]
fn a_guaranteed_bound_has_no_broken_premise_and_parts_add_up() {
    let dir = scratch("pack-premises");
    let pack = make(
        &dir,
        &["vecadd", "jacobi", "--machine", "ecrts25-orin,jetson-tx2,turing-tu102,accelsim-ecrts,fermi-c2050"],
    );
    let mut bounds = std::collections::BTreeSet::new();
    for claim in list(&pack, "claims") {
        let id = &claim["id"];
        let premises = list(claim, "premises");
        let with = |status: &str| premises.iter().filter(|premise| premise["status"] == status).count();
        assert_eq!(with("to-be-argued"), 5, "{id}");
        if claim["is_guaranteed"] == false {
            assert!(with("broken") > 0 && claim.get("derivation").is_none(), "{id}");
            continue;
        }
        assert_eq!((with("broken"), with("not-examined")), (0, 0), "{id}");
        let derivation = &claim["derivation"];
        bounds.insert(derivation["bound"].as_str().unwrap().to_owned());
        assert_eq!(derivation["value"], claim["answer"]["guaranteed"]["cycles"]);
        for terms in [("parts", "cycles"), ("terms", "value")] {
            let all = list(derivation, terms.0);
            let sum: u64 = all.iter().map(|term| term[terms.1].as_u64().unwrap()).sum();
            assert!(all.is_empty() || derivation["value"] == sum, "{id}: {derivation}");
        }
        for run in list(claim, "runs") {
            assert!(run["makespan"].as_u64() <= derivation["value"].as_u64(), "{id}");
        }
    }
    assert!(bounds.contains("plb") && bounds.contains("rbb") && bounds.contains("lwb"), "{bounds:?}");
}

/// `--static` claims the bound over all paths, of kernels and of programs.
#[test]
fn claims_about_every_input_are_those_of_static() {
    let dir = scratch("pack-static");
    let kernels = ["saxpy", "kmeans", "bfs_program", "bfs_expand"];
    let bounds = ["--loop-bound", "74=40", "--loop-bound", "bfs.ptx:74=40"];
    let wrong =
        in_dir(&dir, &[&["evidence-pack", "bfs_program", "--static", "--out", "w"], &bounds[..]].concat());
    assert!(stderr(&wrong).contains("has a bound already"), "{}", stderr(&wrong));
    for (machine, own) in [("ecrts25-orin", "iwb"), ("accelsim-sm1", "plb")] {
        let out = format!("pack-{machine}");
        let args = [
            "evidence-pack",
            "--static",
            "--out",
            &out,
            "--machine",
            machine,
            "--loop-bound",
            "bfs.ptx:74=40",
        ];
        let pack = json_in(&dir, &[&args[..], &kernels].concat(), 0)["results"][0].clone();
        let claims = list(&pack, "claims");
        assert_eq!(claims.len(), kernels.len());
        for (claim, kernel) in claims.iter().zip(kernels) {
            assert_eq!(claim["id"], format!("{kernel}-{machine}-static").as_str());
            let guaranteed = &claim["answer"]["guaranteed"];
            assert_eq!(
                (&guaranteed["bound"], &guaranteed["inputs"]),
                (&"static".into(), &"every-input".into())
            );
            let derivation = &claim["derivation"];
            assert_eq!(derivation["value"], guaranteed["cycles"]);
            let rules: Vec<&str> =
                list(derivation, "rules").iter().map(|rule| rule.as_str().unwrap()).collect();
            let first = format!("{}-1", own.to_uppercase());
            assert!(rules.contains(&"STATIC-1") && rules.contains(&first.as_str()), "{rules:?}");
            for (list_of, of) in [("parts", "cycles"), ("terms", "value")] {
                let all = list(derivation, list_of);
                let sum: u64 = all.iter().map(|term| term[of].as_u64().unwrap()).sum();
                assert!(all.is_empty() || derivation["value"] == sum, "{kernel}: {derivation}");
            }
            let premises = list(claim, "premises");
            let with = |status: &str| premises.iter().filter(|premise| premise["status"] == status).count();
            assert_eq!((with("broken"), with("not-examined")), (0, 0), "{kernel}: {premises:?}");
            let loops = premises.iter().filter(|premise| premise["id"] == "loop-1").count();
            assert_eq!(loops, usize::from(kernel.starts_with("bfs")), "{kernel}");
            // everything can be repeated from the folder of the claim alone
            let folder = dir.join(&out).join(claim["id"].as_str().unwrap());
            let replays = list(claim, "replays");
            let command = replays[0]["command"].as_str().unwrap();
            let again = run_there(&folder, &format!("{command} --format json"));
            assert_eq!(again.status.code(), Some(0), "{kernel}: {}", stderr(&again));
            let again: Value = serde_json::from_str(&stdout(&again)).unwrap();
            assert_eq!(
                again["results"][0]["bounds"][0]["value"], guaranteed["cycles"],
                "{kernel}: {command}"
            );
            let longest = run_there(&folder, replays[1]["command"].as_str().unwrap());
            // no bound covers a replay on a machine whose sub-cores take turns
            let makespan = format!("makespan {} cycles", grouped(&claim["answer"]["longest"]["cycles"]));
            assert!(stdout(&longest).contains(&makespan), "{kernel}: {}", stdout(&longest));
        }
    }
    let fails = |args: &[&str], message: &str| {
        let output = in_dir(&dir, &[&["evidence-pack", "--out", "fails"], args].concat());
        assert_eq!(output.status.code(), Some(1), "{args:?}: {}", stdout(&output));
        assert!(stderr(&output).contains(message), "{args:?}: {}", stderr(&output));
        assert!(!dir.join("fails").exists());
    };
    fails(&["saxpy", "--loop-bound", "5=5"], "this applies to claims about every input only");
    fails(&["saxpy", "--static", "--policy", "gto,srr"], "for work-conserving schedules");
    fails(&["bfs_program", "--static"], "in launch 0 (line 32 of the program");
    // without a bound the pack states why
    let none =
        make(&dir, &["saxpy", "--static", "--machine", "fermi-c2050", "--set", "memory.jitter=Geometric(3)"]);
    let claim = &none["claims"][0];
    assert_eq!(claim["is_guaranteed"], false);
    let blocker = list(&claim["answer"], "blockers")[0].as_str().unwrap();
    let broken = list(claim, "premises").iter().filter(|premise| premise["status"] == "broken");
    assert!(broken.into_iter().any(|premise| premise["finding"] == blocker), "{claim}");
}

#[test]
fn without_a_bound_the_pack_states_that_nothing_is_guaranteed_and_why() {
    let dir = scratch("pack-none");
    let pack = make(&dir, &["saxpy", "--machine", "fermi-c2050", "--set", "memory.jitter=Geometric(3)"]);
    let claim = &pack["claims"][0];
    assert_eq!(claim["is_guaranteed"], false);
    let statement = claim["statement"].as_str().unwrap();
    let start = "nothing is guaranteed for saxpy: no bound is proved on fermi-c2050: ";
    assert!(statement.starts_with(start), "{statement}");
    let broken: Vec<&Value> =
        list(claim, "premises").iter().filter(|premise| premise["status"] == "broken").collect();
    assert_eq!(broken.len(), list(&claim["answer"], "blockers").len(), "{broken:?}");
    for blocker in list(&claim["answer"], "blockers") {
        let blocker = blocker.as_str().unwrap();
        let names = |premise: &&Value| premise["premise"].as_str().unwrap().contains(blocker);
        assert!(broken.iter().any(names), "{blocker}");
    }
    for file in ["README.md", "index.html"] {
        assert!(read(&dir.join("pack").join(file)).contains(start), "{file}");
    }
    // a race is another reason
    let race = scratch("pack-race");
    std::fs::copy(root().join("docs/examples/last.ptx"), race.join("last.ptx")).unwrap();
    let buffer = "Buffer(name: \"x\", elem: I32, len: 1, init: Zero)";
    let pack = make(&race, &["last.ptx", "--grid", "1", "--block", "64", "--arg", buffer]);
    let order = list(&pack["claims"][0], "premises").iter().find(|premise| premise["id"] == "order").unwrap();
    assert_eq!(order["status"], "broken", "{order}");
    assert!(order["finding"].as_str().unwrap().contains("last.ptx:21"), "{order}");
    // what was not looked for is not reported as holding
    let ignored = scratch("pack-ignored");
    let pack = make(&ignored, &["vecadd", "--races", "ignore"]);
    let order = list(&pack["claims"][0], "premises").iter().find(|premise| premise["id"] == "order").unwrap();
    assert_eq!(order["status"], "not-examined", "{order}");
}

#[test]
fn policies_with_bounds_of_their_own_have_claims_of_their_own() {
    let dir = scratch("pack-policies");
    let pack = make(&dir, &["saxpy", "--policy", "gto,srr,two-level"]);
    let claims = list(&pack, "claims");
    let ids: Vec<&str> = claims.iter().map(|claim| claim["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["saxpy-ecrts25-orin", "saxpy-ecrts25-orin-srr", "saxpy-ecrts25-orin-2"]);
    assert_eq!(claims[1]["premises_of"], "srr");
    assert_eq!(claims[1]["premises"][0]["premise"], "The policy is srr.");
    assert_eq!(claims[2]["is_guaranteed"], false);
    assert_eq!(claims[2]["premises"][0]["status"], "broken");
}

/// Returns whether a Rust file defines a function with this name.
fn defines(path: &str, name: &str) -> bool {
    let text = read(&root().join(path));
    ["(", "<"].iter().any(|after| text.contains(&format!("fn {name}{after}")))
}

#[test]
fn every_place_and_test_that_a_pack_names_exists() {
    let dir = scratch("pack-names");
    // together these have every proved bound
    let mut packs = Vec::new();
    for (number, args) in [
        &["fig3", "--policy", "gto,srr"][..],
        &["fig3", "--policy", "gsrr"],
        &["vecadd", "--machine", "ecrts25-orin,jetson-tx2,accelsim-ecrts"],
        &["vecadd", "--machine", "turing-tu102,ecrts25-orin-4sub"],
        &["vecadd", "--set", "pipeline.unscored=[\"st.global\"]"],
        &["bfs_program", "--static", "--loop-bound", "74=40"],
        &["conv2d", "jacobi", "--static", "--machine", "turing-tu102,accelsim-ecrts"],
    ]
    .into_iter()
    .enumerate()
    {
        let out = format!("pack-{number}");
        let args = [&["evidence-pack", "--out", &out][..], args].concat();
        packs.push(json_in(&dir, &args, 0)["results"][0].clone());
    }
    let mut bounds = std::collections::BTreeSet::new();
    let mut tests = std::collections::BTreeSet::new();
    let mut places = std::collections::BTreeSet::new();
    for pack in &packs {
        for rule in list(pack, "rules") {
            bounds.insert(rule["bound"].as_str().unwrap().to_owned());
            let text = |name: &str| rule[name].as_str().unwrap();
            assert!(root().join(text("code")).is_file(), "{rule}");
            let proof = read(&root().join(text("proof")));
            assert!(proof.contains(text("part")), "{rule}");
            tests.extend(list(rule, "tests").iter().map(|test| test.as_str().unwrap().to_owned()));
        }
        for premise in list(pack, "claims").iter().flat_map(|claim| list(claim, "premises")) {
            tests.extend(list(premise, "tests").iter().map(|test| test.as_str().unwrap().to_owned()));
            places.extend(premise["checked_in"].as_str().map(str::to_owned));
        }
    }
    for place in tests.iter().chain(&places) {
        let (file, name) = place.split_once(": ").unwrap();
        assert!(defines(file, name), "{place} does not exist");
    }
    assert!(tests.len() > 30 && places.len() >= 6, "{tests:?} {places:?}");
    let named: Vec<&str> = bounds.iter().map(String::as_str).collect();
    assert_eq!(named, ["all", "gsrr", "iwb", "lwb", "plb", "rbb", "srr", "static", "swb"]);
}

#[test]
fn wrong_folders_and_policies_are_rejected_before_anything_runs() {
    let dir = scratch("pack-wrong");
    let wrong = |args: &[&str], message: &str| {
        let output = in_dir(&dir, &[&["evidence-pack"], args].concat());
        assert_eq!(output.status.code(), Some(1), "{args:?}: {}", stdout(&output));
        assert!(stderr(&output).contains(message), "{args:?}: {}", stderr(&output));
        assert!(stdout(&output).is_empty(), "{args:?}");
    };
    std::fs::create_dir(dir.join("full")).unwrap();
    std::fs::write(dir.join("full/kept"), "x").unwrap();
    wrong(&["saxpy", "--out", "full"], "the folder is not empty");
    assert_eq!(names(&dir.join("full")), ["kept"]);
    std::fs::write(dir.join("file"), "x").unwrap();
    wrong(&["saxpy", "--out", "file"], "cannot create the folder");
    wrong(&["saxpy", "--out", "file/below"], "cannot create the folder");
    wrong(&["saxpy", "--out", "new", "--policy", "replay:x"], "a replay is one schedule");
    wrong(&["saxpy", "nosuch", "--out", "new"], "nosuch");
    wrong(&["saxpy", "--machine", "nosuch", "--out", "new"], "nosuch");
    // a command that fails leaves no folder, and no part of a pack
    assert!(!dir.join("new").exists());
    let usage = in_dir(&dir, &["evidence-pack", "saxpy"]);
    assert_eq!(usage.status.code(), Some(2));
    assert_eq!(in_dir(&dir, &["evidence-pack", "--out", "new"]).status.code(), Some(2));
    // an empty folder may exist
    std::fs::create_dir(dir.join("empty")).unwrap();
    let output = in_dir(&dir, &["evidence-pack", "fig3", "--out", "empty"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(
        names(&dir.join("empty")),
        ["README.md", "SHA256SUMS", "evidence.json", "fig3-paper-fig2", "index.html"]
    );
    assert_eq!(
        stdout(&output).lines().last().unwrap(),
        "wrote the evidence; to read it, open empty/index.html"
    );
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_is_an_error() {
    use std::os::unix::fs::PermissionsExt;
    let dir = scratch("pack-locked");
    let locked = dir.join("locked");
    std::fs::create_dir(&locked).unwrap();
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o555)).unwrap();
    // the permissions do not stop a superuser
    if std::fs::write(locked.join("probe"), "x").is_ok() {
        return;
    }
    let output = in_dir(&dir, &["evidence-pack", "saxpy", "--out", "locked"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("cannot create files in the folder"), "{}", stderr(&output));
}
