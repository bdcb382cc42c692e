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

const TRACES: &str = "-trace_opcode_latency_initiation_int 2,2\n-trace_opcode_latency_initiation_sp 2,1\n\
                      -trace_opcode_latency_initiation_dp 64,64\n-trace_opcode_latency_initiation_sfu 21,8\n\
                      -trace_opcode_latency_initiation_tensor 32,32\n-specialized_unit_1 1,4,4,4,4,BRA\n\
                      -trace_opcode_latency_initiation_spec_op_1 4,4\n";

/// The usual order in Accel-Sim: a machine, the latencies of machine code, and an overlay.
#[test]
fn an_overlay_on_two_files_changes_the_machine_that_runs() {
    let dir = scratch("import-config-three");
    std::fs::write(dir.join("trace.config"), TRACES).unwrap();
    // comments may have any encoding, and an overlay may contain nothing else
    let overlay = b"# der \xe4ltere Scheduler\n-gpgpu_scheduler\n  \"gto\" # gto\n\
                    -trace_opcode_latency_initiation_sfu 21,8\n-trace_opcode_latency_initiation_sfu 40,16\n";
    std::fs::write(dir.join("overlay.config"), overlay).unwrap();
    std::fs::write(dir.join("comments.config"), "# nothing\n\n").unwrap();
    let files = ["import-config", STOCK, "trace.config", "overlay.config", "comments.config"];
    let output = in_dir(&dir, &files);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    std::fs::write(dir.join("three.ron"), stdout(&output)).unwrap();
    for line in [
        "-gpgpu_scheduler gto at overlay.config:3: policy=Gto",
        "-trace_opcode_latency_initiation_sfu 21,8 at trace.config:4 (overlay.config:5 counts)",
        "-trace_opcode_latency_initiation_sfu 21,8 at overlay.config:4 (overlay.config:5 counts)",
        "-trace_opcode_latency_initiation_sfu 40,16 at overlay.config:5: units.sfu.init=16 units.sfu.lat=24",
    ] {
        assert!(stdout(&output).contains(&format!("//   {line}\n")), "{line} in {}", stdout(&output));
    }
    let every = json_in(&dir, &files, 0)["results"][0].clone();
    let overridden: Vec<_> = every["repeated"]
        .as_array()
        .unwrap()
        .iter()
        .map(|option| (option["option"].as_str().unwrap(), option["overridden_by"].as_str().unwrap()))
        .collect();
    let sfu = ("-trace_opcode_latency_initiation_sfu", "overlay.config:5");
    assert_eq!(overridden, [("-gpgpu_scheduler", "overlay.config:3"), sfu, sfu]);
    let run = |machine: &str, more: &[&str]| {
        let args = [&["run", "histogram", "--machine", machine], more].concat();
        json_in(&dir, &args, 0)["results"][0].clone()
    };
    let three = run("three.ron", &[]);
    assert_eq!(three["policy"], "gto");
    // the base alone has another policy and other latencies; the same files in another order, too
    let other = in_dir(&dir, &["import-config", "overlay.config", "trace.config", STOCK]);
    std::fs::write(dir.join("other.ron"), stdout(&other)).unwrap();
    assert_eq!(run("other.ron", &[])["policy"], "lrr");
    let settings = ["--policy", "lrr", "--set", "units.sfu.init=8", "--set", "units.sfu.lat=13"];
    assert_eq!(run("three.ron", &settings)["makespan"], run("other.ron", &[])["makespan"]);
}

/// Each option of the files is in exactly one list, also if it is strange.
#[test]
fn no_option_is_lost() {
    let dir = scratch("import-config-all");
    let hostile = "-config more.config\n-visualizer_enabled\n-nobody_knows\n-\u{e9}t\u{e9} 1\n-a // /* \"b c\" )\n\
                   -gpgpu_sub_core_model\n-gpgpu_n_clusters 0x2\n-gpgpu_n_clusters\n \"3\"\n";
    std::fs::write(dir.join("hostile.config"), hostile).unwrap();
    let args = ["import-config", "hostile.config", "--name", "hostile"];
    let result = json_in(&dir, &args, 0)["results"][0].clone();
    let mut places: Vec<(String, String)> = Vec::new();
    for list in ["used", "without_counterpart", "unknown", "repeated"] {
        let all = result[list].as_array().unwrap().iter();
        places.extend(all.map(|option| {
            (
                option["option"].as_str().unwrap().to_owned(),
                format!("{list} {}", option["value"].as_str().unwrap()),
            )
        }));
    }
    places.sort();
    let places: Vec<_> = places.iter().map(|(option, list)| (option.as_str(), list.as_str())).collect();
    assert_eq!(
        places,
        [
            ("-a", "unknown // /* b c )"),
            ("-config", "without_counterpart more.config"),
            ("-gpgpu_n_clusters", "repeated 0x2"),
            ("-gpgpu_n_clusters", "used 3"),
            ("-gpgpu_sub_core_model", "used "),
            ("-nobody_knows", "unknown -\u{e9}t\u{e9} 1"),
            ("-visualizer_enabled", "without_counterpart "),
        ]
    );
    std::fs::write(dir.join("hostile.ron"), result["machine"].as_str().unwrap()).unwrap();
    json_in(&dir, &["run", "saxpy", "--machine", "hostile.ron"], 0);
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
        ("equals", "\n-gpgpu_n_clusters=4\n", 2, "`-gpgpu_n_clusters 4`, without `=`"),
        ("template", "-trace_opcode_latency_initiation_sp X", 1, "`-trace_opcode_latency_initiation_sp 4,2`"),
        ("quote", "-gpgpu_n_mem 8\n-gpgpu_scheduler \"gto\n-gpgpu_n_clusters 4\n", 2, "not closed"),
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
