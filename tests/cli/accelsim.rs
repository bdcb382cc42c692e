//! Traces on the command line: import, export, compressed, listed, invalid.

use std::path::{Path, PathBuf};

use crate::support::{in_dir, json, scratch, stderr, stdout, warpbound};

const VECADD: &str = include_str!("../accelsim/files/vecadd.traceg");

/// Returns a folder with a list of three kernels, one of them compressed.
fn folder(name: &str) -> PathBuf {
    let dir = scratch(name);
    std::fs::write(dir.join("kernel-1.traceg"), VECADD).unwrap();
    let other = VECADD.replace("LDG.E 1 R4 4", "LDG.E.64 1 R4 4").replace("FROB.X", "IADD3");
    std::fs::write(dir.join("kernel-2.traceg"), &other).unwrap();
    // the same as kernel-2
    let packed = include_bytes!("../accelsim/files/vecadd64.traceg.xz");
    std::fs::write(dir.join("kernel-3.traceg.xz"), packed).unwrap();
    let list = "MemcpyHtoD,0x00007f1000000000,4096\nkernel-1.traceg\nkernel-2.traceg\nkernel-3.traceg.xz\n";
    std::fs::write(dir.join("kernelslist.g"), list).unwrap();
    dir
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

#[test]
fn a_list_is_checked_kernel_by_kernel_with_a_total() {
    let dir = folder("traces-list");
    let list = text(&dir.join("kernelslist.g"));
    let checked = json(&["check", &list], 0);
    let total = &checked["results"][0];
    let launches = total["launches"].as_array().unwrap();
    let makespans: Vec<u64> = launches.iter().map(|launch| launch["makespan"].as_u64().unwrap()).collect();
    assert_eq!(makespans.len(), 3);
    assert_eq!(makespans[1], makespans[2], "packed or not");
    assert_eq!(total["makespan"].as_u64().unwrap(), makespans.iter().sum::<u64>());
    assert_eq!(total["kernel"], "kernelslist");
    assert!(total["notes"].to_string().contains("predicates and uniform registers are not recorded"));
    let conservative = json(&["check", &list, "--launch", "1", "--conservative-predicates"], 0);
    assert!(
        conservative["results"][0]["notes"]
            .to_string()
            .contains("waits for the last instruction that set one")
    );
    // a warning names what is unknown, and the class that it counts as
    let warned = stderr(&warpbound(&["check", &list, "--unknown-op", "int.add"]));
    assert!(warned.contains("FROB.X") && warned.contains("count as int.add"), "{warned}");

    let one = json(&["run", &format!("{list}@1"), "--explain"], 0);
    assert_eq!(one["results"][0]["makespan"].as_u64(), Some(makespans[1]));
    let several = warpbound(&["phases", &list]);
    assert!(stderr(&several).contains("choose one with --launch N, 0 to 2"), "{}", stderr(&several));

    let compared = json(&["compare", &list], 0);
    assert_eq!(compared["results"][0]["steps"].as_array().unwrap().len(), 3);
    let inspected = json(&["inspect", &list], 0);
    let is = &inspected["results"][0];
    assert_eq!((is["kind"].as_str(), is["copied_bytes"].as_u64()), (Some("trace-list"), Some(4096)));
    assert_eq!(is["kernels"][0]["unknown"][0]["opcode"], "FROB.X");
    assert!(stdout(&warpbound(&["inspect", &list])).contains("not known: FROB.X 1"));
}

#[test]
fn errors_of_a_listed_file_name_the_list() {
    let dir = folder("traces-missing");
    let list = text(&dir.join("kernelslist.g"));
    std::fs::remove_file(dir.join("kernel-2.traceg")).unwrap();
    for args in [vec!["check", &list], vec!["run", &list, "--launch", "1"]] {
        let message = stderr(&warpbound(&args));
        assert!(
            message.contains("kernel-2.traceg") && message.contains("kernelslist.g, line 3, names it"),
            "{message}"
        );
    }
}

#[test]
fn traces_are_swept_and_drawn() {
    let dir = folder("traces-sweep");
    let plan = r#"Sweep(kernels: [Vary("kernelslist.g", { "launch": [0, 2] }), Kernel("kernel-2.traceg")],
        settings: { "units.gmem.lat": [99, 199] }, policies: ["gto", "lrr"])"#;
    std::fs::write(dir.join("plan.ron"), plan).unwrap();
    let swept = in_dir(&dir, &["sweep", "plan.ron", "--out", "results", "--format", "json"]);
    assert!(swept.status.success(), "{}{}", stdout(&swept), stderr(&swept));
    let lines = std::fs::read_to_string(dir.join("results/results.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 12, "{lines}");
    let page = in_dir(&dir, &["report", "results", "--out", "page.html"]);
    assert!(page.status.success(), "{}", stderr(&page));
    let drawn = in_dir(
        &dir,
        &["run", "kernel-1.traceg", "--trace", "t.html", "--trace", "t.json", "--trace", "t.csv"],
    );
    assert!(drawn.status.success(), "{}", stderr(&drawn));
    assert!(std::fs::read_to_string(dir.join("t.csv")).unwrap().contains("LDG.E"));
}

#[test]
fn commands_that_need_code_reject_traces() {
    let dir = folder("traces-code");
    let trace = text(&dir.join("kernel-1.traceg"));
    for command in ["cfg", "static", "export"] {
        let mut args = vec![command, trace.as_str()];
        let out = text(&dir.join("out"));
        if command == "export" {
            args.extend(["--out", out.as_str()]);
        }
        let output = warpbound(&args);
        assert_eq!(output.status.code(), Some(1), "{command}");
        assert!(stderr(&output).contains("trace"), "{command}: {}", stderr(&output));
    }
    let output = warpbound(&["check", &trace, "--grid", "1"]);
    assert!(stderr(&output).contains("this is a trace of a run"), "{}", stderr(&output));
    // a damaged file, and a file whose contents do not match its name
    std::fs::write(dir.join("cut.traceg.xz"), &std::fs::read(dir.join("kernel-3.traceg.xz")).unwrap()[..200])
        .unwrap();
    let cut = warpbound(&["check", &text(&dir.join("cut.traceg.xz"))]);
    assert_eq!(cut.status.code(), Some(1));
    assert!(stderr(&cut).contains("cannot read on"), "{}", stderr(&cut));
    let missing = warpbound(&["check", &text(&dir.join("none.traceg"))]);
    assert!(stderr(&missing).contains("cannot read the file"), "{}", stderr(&missing));
}

#[test]
fn exported_ptx_and_machine_code_give_the_same_run() {
    let dir = scratch("traces-export");
    for kernel in ["vecadd", "vecadd@sm_61", "histogram@sm_61", "lud_program"] {
        let out = text(&dir.join(kernel.replace('@', "-")));
        let output = warpbound(&["export", kernel, "--out", &out]);
        assert!(output.status.success(), "{kernel}: {}", stderr(&output));
        let again = json(&["check", &format!("{out}/kernelslist.g")], 0);
        let ours = json(&["check", kernel], 0);
        let sum = |key: &str| {
            again["results"].as_array().unwrap().iter().map(|r| r[key].as_u64().unwrap()).sum::<u64>()
        };
        let all = |key: &str| {
            ours["results"].as_array().unwrap().iter().map(|r| r[key].as_u64().unwrap()).sum::<u64>()
        };
        assert_eq!(sum("makespan"), all("makespan"), "{kernel}");
        assert_eq!(sum("warp_instructions"), all("warp_instructions"), "{kernel}");
    }
    let again = text(&dir.join("json"));
    let written = json(&["export", "vecadd", "--out", &again], 0)["results"][0].clone();
    assert_eq!((&written["kernels"], &written["out"]), (&1.into(), &again.as_str().into()));
    for file in written["files"].as_array().unwrap() {
        let bytes = std::fs::metadata(dir.join("json").join(file["name"].as_str().unwrap())).unwrap().len();
        assert_eq!(file["bytes"], bytes);
    }
    let table = warpbound(&["export", "vecadd", "--out", &again, "--force", "--format", "csv"]);
    assert!(stdout(&table).contains(",kernel-1.traceg,"), "{}", stdout(&table));
    let refused = warpbound(&["export", "fig3", "--out", &text(&dir.join("micro"))]);
    assert!(stderr(&refused).contains("neither registers of a GPU nor addresses"), "{}", stderr(&refused));
    let made = text(&dir.join("made"));
    let output = warpbound(&["synthetic", "gemm", "--out", &made, "--blocks", "2", "--instructions", "200"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let checked = json(&["check", &format!("{made}/kernelslist.g")], 0);
    assert_eq!(checked["verdict"], "holds");
}

#[test]
fn a_packed_trace_has_the_results_of_its_text() {
    let dir = scratch("traces-tracez");
    let packed = include_bytes!("../accelsim/files/tile6.tracez");
    std::fs::write(dir.join("kernel-1.tracez"), packed).unwrap();
    std::fs::write(dir.join("kernel-2.traceg"), include_str!("../accelsim/files/tile6.traceg")).unwrap();
    std::fs::write(dir.join("kernelslist.g"), "kernel-1.tracez\nkernel-2.traceg\n").unwrap();
    let checked = json(&["check", &text(&dir.join("kernelslist.g"))], 0);
    let launches = checked["results"][0]["launches"].as_array().unwrap();
    let makespans: Vec<u64> = launches.iter().map(|launch| launch["makespan"].as_u64().unwrap()).collect();
    assert!(makespans.len() == 2 && makespans[0] > 0 && makespans[0] == makespans[1], "{makespans:?}");
    let [packed_file, plain] = ["kernel-1.tracez", "kernel-2.traceg"].map(|name| text(&dir.join(name)));
    let inspected = [&packed_file, &plain].map(|file| json(&["inspect", file], 0)["results"][0].clone());
    assert_eq!(inspected[0]["tracer_version"].as_u64(), Some(6));
    assert_eq!(inspected[0]["instructions"], inspected[1]["instructions"]);
    std::fs::write(dir.join("cut.tracez"), &packed[..packed.len() - 1]).unwrap();
    let cut = warpbound(&["check", &text(&dir.join("cut.tracez"))]);
    let message = stderr(&cut);
    assert!(!cut.status.success() && message.contains("byte") && message.contains("damaged"), "{message}");
}
