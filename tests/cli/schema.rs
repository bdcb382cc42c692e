//! `schema`: the embedded schemas, and the validation of outputs.

use crate::support::{in_dir, names, scratch, shell, stderr, stdout, warpbound};

#[test]
fn the_schemas_are_those_of_the_repository() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    let mut files: Vec<String> = names(&folder).iter().map(|name| name.replace(".json", "")).collect();
    files.sort();
    let listed = stdout(&warpbound(&["schema", "list"]));
    assert_eq!(listed.lines().collect::<Vec<_>>(), files);
    for name in files {
        let file = std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
        assert_eq!(stdout(&warpbound(&["schema", "print", &name])), file, "{name}");
    }
    let unknown = warpbound(&["schema", "print", "phase"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(stderr(&unknown).contains("did you mean `phases`?"), "{}", stderr(&unknown));
}

#[test]
fn outputs_are_checked() {
    let dir = scratch("schema-check");
    let piped = shell(&dir, "$W phases fig3 --format json | tee good.json | $W schema check -");
    assert_eq!(piped.status.code(), Some(0), "{}", stderr(&piped));
    assert_eq!(stdout(&piped), "-: conforms to the schema of phases\n");
    // the output of a command without a result
    assert_eq!(shell(&dir, "$W phases nosuch --format json > failed.json").status.code(), Some(1));
    let good = std::fs::read_to_string(dir.join("good.json")).unwrap();
    std::fs::write(dir.join("wrong.json"), good.replacen("\"exec\":", "\"exce\":", 1)).unwrap();
    std::fs::write(dir.join("cut.json"), &good[..good.len() / 2]).unwrap();
    let all =
        in_dir(&dir, &["schema", "check", "good.json", "failed.json", "wrong.json", "cut.json", "none.json"]);
    assert_eq!(all.status.code(), Some(1));
    let fine = "good.json: conforms to the schema of phases\nfailed.json: conforms to the schema of errors\n";
    assert_eq!(stdout(&all), fine);
    let errors = stderr(&all);
    for part in [
        "/results/0/warps/0: `exec` is missing",
        "the schema has no property `exce`",
        "--> wrong.json",
        "`warpbound schema print phases` prints the schema",
        "this is not JSON",
        "--> cut.json:1:",
        "none.json",
    ] {
        assert!(errors.contains(part), "{part}: {errors}");
    }
}
