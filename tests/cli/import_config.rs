//! `import-config`: the resulting machine runs, and unsupported options are reported.

use serde_json::Value;

use super::support::{in_dir, json_in, scratch, stderr, stdout};

const STOCK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/gpgpusim/rtx3070.config");

#[test]
fn the_machine_has_the_settings_of_the_configuration() {
    let dir = scratch("import-config");
    let output = in_dir(&dir, &["import-config", STOCK]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("the top of the machine lists them"), "{}", stderr(&output));
    std::fs::write(dir.join("stock.ron"), stdout(&output)).unwrap();
    let makespan = |machine: &str, more: &[&str]| {
        let args = [&["run", "histogram", "--machine", machine], more].concat();
        json_in(&dir, &args, 0)["results"][0]["makespan"].as_u64().unwrap()
    };
    // the launch takes 5000 cycles there
    assert_eq!(makespan("stock.ron", &[]), makespan("rtx3070", &["--set", "pipeline.launch.first=5001"]));
    let again = in_dir(&dir, &["import-config", STOCK]);
    assert_eq!(output.stdout, again.stdout);
}

#[test]
fn later_files_override_earlier_ones() {
    let dir = scratch("import-config-over");
    std::fs::write(dir.join("over.config"), "-gpgpu_n_clusters 2\n-gpgpu_bows 3\n").unwrap();
    let args = ["import-config", STOCK, "over.config", "--name", "two"];
    let result = json_in(&dir, &args, 0)["results"][0].clone();
    assert_eq!(result["name"], "two");
    let names = |list: &str| -> Vec<String> {
        let all = result[list].as_array().unwrap().iter();
        all.map(|option| option["option"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("repeated"), ["-gpgpu_n_clusters"]);
    assert_eq!(names("unknown"), ["-gpgpu_bows"]);
    assert!(names("without_counterpart").contains(&"-visualizer_enabled".to_owned()));
    let sms = |option: &&Value| option["option"] == "-gpgpu_n_clusters";
    let used = result["used"].as_array().unwrap().iter().find(sms).unwrap();
    assert_eq!(used["settings"][0], "sms=2");
    assert_eq!(used["place"], "over.config:1");
}

#[test]
fn bad_configurations_are_refused_where_they_are_wrong() {
    let dir = scratch("import-config-bad");
    for (name, text, line, message) in [
        ("cache", "-gpgpu_n_clusters 1\n-gpgpu_cache:dl1 S:4:128\n", 2, "the form is"),
        ("sets", "-gpgpu_cache:dl1 S:0:128:256,L:T:m:L:L,A:384:48,16:0,32\n", 1, "sets"),
        ("number", "-gpgpu_n_mem 16x\n", 1, "not a number"),
        (
            "slices",
            "-gpgpu_n_clusters 1\n-gpgpu_n_mem 100\n",
            2,
            "-gpgpu_n_mem: memory.partitions.channels is 100",
        ),
        ("binary", "\u{1}\u{2}\0\u{3}", 1, "a value before any option"),
        ("empty", "", 1, "no option"),
    ] {
        let file = format!("{name}.config");
        std::fs::write(dir.join(&file), text).unwrap();
        let output = in_dir(&dir, &["import-config", &file]);
        assert_eq!(output.status.code(), Some(1), "{name}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{name}");
        assert!(stderr(&output).contains(message), "{name}: {}", stderr(&output));
        assert!(stderr(&output).contains(&format!("{file}:{line}")), "{name}: {}", stderr(&output));
        assert!(!stderr(&output).contains("as a machine"), "{name}: {}", stderr(&output));
    }
    let long = format!("-gpgpu_n_clusters {}\n", "9".repeat(1 << 20));
    std::fs::write(dir.join("long.config"), long).unwrap();
    let output = in_dir(&dir, &["import-config", "long.config", "missing.config"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).len() < 10_000 && stderr(&output).contains("missing.config"),
        "{}",
        stderr(&output)
    );
}
