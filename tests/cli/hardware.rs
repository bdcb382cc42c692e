//! `bundle`, which writes kernels to be run on a GPU, and `validate`, which compares measured with
//! simulated cycles.

use std::fs;
use std::path::Path;

use crate::support::{in_dir, json_in, names, scratch, stderr, stdout};

fn description(folder: &Path) -> serde_json::Value {
    serde_json::from_str(&fs::read_to_string(folder.join("launch.json")).unwrap()).unwrap()
}

#[test]
fn a_bundle_has_the_memory_before_and_after_the_run() {
    let dir = scratch("bundle");
    let args = ["bundle", "saxpy", "kmeans", "conv_sharpen", "--out", "b"];
    let output = in_dir(&dir, &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output), "wrote 3 kernels to b\n");
    let saxpy = dir.join("b/saxpy");
    let read = |name: &str| -> Vec<f32> {
        let bytes = fs::read(saxpy.join(name)).unwrap();
        bytes.as_chunks().0.iter().map(|word| f32::from_le_bytes(*word)).collect()
    };
    let of = description(&saxpy);
    assert_eq!((&of["kernel"], &of["buffers"][0]["after"]), (&"saxpy".into(), &"before/x.bin".into()));
    let (x, y, after) = (read("before/x.bin"), read("before/y.bin"), read("after/y.bin"));
    assert_eq!(x.len() as u64 * 4, of["buffers"][0]["bytes"]);
    assert!(x.iter().zip(&y).zip(&after).all(|((x, y), after)| x.mul_add(2.5, *y) == *after));
    let launch = &of["steps"][0]["launch"];
    assert_eq!((&launch["grid"][0], &launch["block"][0]), (&2.into(), &256.into()));
    let arguments = launch["arguments"].as_array().unwrap();
    let shown: Vec<&str> = arguments.iter().map(|argument| argument["type"].as_str().unwrap()).collect();
    assert_eq!(shown, ["u32", "f32", "pointer", "pointer"]);
    assert_eq!((&arguments[1]["value"], &arguments[3]["to"]["buffer"]["name"]), (&2.5.into(), &"y".into()));
    // programs have several launches, and steps of the host
    let steps = description(&dir.join("b/kmeans"))["steps"].as_array().unwrap().clone();
    assert_eq!(steps.iter().filter(|step| step.get("launch").is_some()).count(), 12);
    let sharpen = description(&dir.join("b/conv_sharpen"));
    let write = sharpen["steps"].as_array().unwrap().iter().find_map(|step| step.get("write")).unwrap();
    let file = dir.join("b/conv_sharpen").join(write["file"].as_str().unwrap());
    assert_eq!(fs::read(file).unwrap().len(), 100);
    assert_eq!(
        (&write["to"]["variable"]["name"], &write["to"]["variable"]["offset"]),
        (&"filter".into(), &0.into())
    );
    // nothing is replaced unasked, and the same input has the same bytes
    let refused = in_dir(&dir, &args);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("there already"), "{}", stderr(&refused));
    assert_eq!(in_dir(&dir, &["bundle", "saxpy", "--out", "c"]).status.code(), Some(0));
    for name in ["launch.json", "code.ptx", "after/y.bin"] {
        assert_eq!(
            fs::read(saxpy.join(name)).unwrap(),
            fs::read(dir.join("c/saxpy").join(name)).unwrap(),
            "{name}"
        );
    }
}

#[test]
fn what_a_gpu_cannot_run_from_a_bundle_is_refused_by_name() {
    let dir = scratch("bundle-refused");
    for (kernel, message) in [
        ("spmv_fetch", "textures or surfaces"),
        ("fig3", "a .warp kernel has no code that a GPU runs"),
        ("saxpy@sm_61", "this is machine code"),
        ("nosuch", "nosuch"),
    ] {
        let output = in_dir(&dir, &["bundle", kernel, "--out", "b"]);
        assert_eq!(output.status.code(), Some(1), "{kernel}");
        assert!(stderr(&output).contains(message), "{kernel}: {}", stderr(&output));
        assert!(!dir.join("b").join(kernel).exists());
    }
    let step = in_dir(&dir, &["bundle", "kmeans", "--launch", "1", "--out", "b"]);
    assert!(stderr(&step).contains("one launch of a program"), "{}", stderr(&step));
}

const HEADING: &str = "gpu,kernel,launch,entry,code,blocks,equal,clock_cycles";

/// Returns the digest of a kernel.
fn digest(dir: &Path, kernel: &str) -> String {
    let output = in_dir(dir, &["bundle", kernel, "--out", "digests", "--force"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    description(&dir.join("digests").join(kernel))["digest"].as_str().unwrap().to_owned()
}

/// Returns the makespans of the launches of a kernel on a machine.
fn makespan(dir: &Path, kernel: &str) -> u64 {
    let args = ["run", kernel, "--machine", "turing-tu102"];
    json_in(dir, &args, 0)["results"][0]["makespan"].as_u64().unwrap()
}

#[test]
fn measured_cycles_are_compared_with_simulated_ones() {
    let dir = scratch("validate");
    let (reduce, chase) = (makespan(&dir, "reduce5"), makespan(&dir, "pchase"));
    let rows = [
        format!("gpu one,reduce5,0,reduce5,{},1,yes,{reduce}", digest(&dir, "reduce5")),
        // twice the simulated cycles: an error of -50 %
        format!("gpu one,pchase,0,pchase,{},1,yes,{}", digest(&dir, "pchase"), 2 * chase),
        format!("gpu one,saxpy,0,saxpy,{},2,yes,100", digest(&dir, "saxpy")),
        "gpu one,softmax_warp,0,softmax_warp,0,1,no,100".to_owned(),
        "gpu one,scan_naive,0,scan,0,1,yes,".to_owned(),
        "gpu one,chain,0,chain,0123456789abcdef,1,yes,100".to_owned(),
        "gpu one,nosuch,0,nosuch,0,1,yes,100".to_owned(),
        "gpu one,jacobi,1,jacobi,0,1,yes,100".to_owned(),
    ];
    fs::write(dir.join("t.csv"), format!("{HEADING}\n{}\n", rows.join("\n"))).unwrap();
    let args = ["validate", "t.csv", "--machine", "turing-tu102"];
    let all = json_in(&dir, &[&args[..], &["--out", "p.svg"]].concat(), 0);
    let result = &all["results"][0];
    assert_eq!(
        (&result["compared"], &result["mape"], &result["worst_error"]),
        (&2.into(), &0.25.into(), &(-0.5).into())
    );
    assert_eq!((&result["worst_kernel"], &result["mean_error"]), (&"pchase".into(), &(-0.25).into()));
    assert_eq!(result["kernels"][0]["simulated"], reduce);
    // the GPU took longer than the bound of a chain of loads, of which the bound counts each once
    let bounds: Vec<u64> =
        result["kernels"].as_array().unwrap().iter().map(|of| of["bound"].as_u64().unwrap()).collect();
    assert!(bounds[0] >= reduce && (chase..2 * chase).contains(&bounds[1]), "{bounds:?}");
    let beside = &result["bounds"];
    assert_eq!((&beside["bounded"], &beside["exceeded"]), (&2.into(), &serde_json::json!(["pchase"])));
    assert_eq!(beside["least_kernel"], "pchase");
    let ratio = bounds[1] as f64 / (2 * chase) as f64;
    assert!((beside["least_ratio"].as_f64().unwrap() - ratio).abs() < 1e-4, "{beside}");
    assert_eq!(
        result["stalls"].as_array().unwrap().iter().map(|of| of["compared"].as_u64().unwrap()).sum::<u64>(),
        2
    );
    let left_out: Vec<String> = result["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|of| format!("{}: {}", of["kernel"].as_str().unwrap(), of["reason"].as_str().unwrap()))
        .collect();
    for part in [
        "saxpy: the machine has one SM, and a launch has more blocks",
        "softmax_warp: the results on the GPU are not equal bit for bit",
        "scan_naive: `clock_cycles` of launch 0 was not measured",
        "chain: the code or the data are not those that were measured",
        "nosuch: ",
        "jacobi: launch 0 has no row",
    ] {
        assert!(left_out.iter().any(|reason| reason.starts_with(part)), "{part}: {left_out:?}");
    }
    assert_eq!(left_out.len(), 6);
    let plot = fs::read_to_string(dir.join("p.svg")).unwrap();
    assert!(plot.contains("measured cycles") && plot.contains("turing-tu102"), "{plot}");
    let text = stdout(&in_dir(&dir, &args));
    assert!(text.contains("2 kernels compared: mean absolute error 25.0 %, median 25.0 %"), "{text}");
    let bounds = "2 kernels have a proved bound on turing-tu102. On gpu one, pchase took longer. The";
    assert!(text.replace('\n', " ").contains(bounds), "{text}");
    let csv = stdout(&in_dir(&dir, &[&args[..], &["--format", "csv"]].concat()));
    assert!(csv.lines().count() == 3 && csv.contains("reduce5"), "{csv}");
    // with one thread and with several, the bytes are the same
    let with = |jobs: &str| stdout(&in_dir(&dir, &[&args[..], &["--jobs", jobs]].concat()));
    assert_eq!(with("1"), with("3"));
    assert!(names(&dir).iter().all(|name| !name.contains("part")));
}

#[test]
fn measured_instructions_are_compared_with_executed_ones() {
    let dir = scratch("validate-instructions");
    let mut rows = Vec::new();
    // a launch, and a program of three, whose sum counts
    for (kernel, launches) in [("reduce5", 1), ("conv_sharpen", 3)] {
        let run = json_in(&dir, &["run", kernel, "--machine", "rtx3070"], 0);
        let executed = run["results"][0]["warp_instructions"].as_u64().unwrap();
        let digest = digest(&dir, kernel);
        for launch in 0..launches {
            let measured = if launch == 0 { executed + 1 - launches } else { 1 };
            rows.push(format!("g,{kernel},{launch},{kernel},{digest},1,yes,{measured}"));
        }
    }
    let heading = HEADING.replace("clock_cycles", "smsp__inst_executed.sum@flushed");
    fs::write(dir.join("t.csv"), format!("{heading}\n{}\n", rows.join("\n"))).unwrap();
    let metric = ["validate", "t.csv", "--machine", "rtx3070", "--metric", "smsp__inst_executed.sum@flushed"];
    let result = &json_in(&dir, &[&metric[..], &["--out", "p.svg"]].concat(), 0)["results"][0];
    assert_eq!((&result["compared"], &result["mape"]), (&2.into(), &0.0.into()), "{result}");
    assert!(result.get("bounds").is_none() && result["kernels"][0].get("bound").is_none(), "{result}");
    assert!(fs::read_to_string(dir.join("p.svg")).unwrap().contains("measured warp instructions"));
}

#[test]
fn the_table_of_the_repository_is_about_the_kernels_of_the_repository() {
    let table = concat!(env!("CARGO_MANIFEST_DIR"), "/data/measured/h100-sxm-kernels.csv");
    let args = [
        "validate",
        table,
        "--machine",
        "turing-tu102",
        "--kernels",
        "pchase,chain,sgemm_dbuf_w4,jacobi,saxpy@nvrtc",
    ];
    let all = json_in(&scratch("validate-h100"), &args, 0);
    let result = &all["results"][0];
    assert_eq!((&result["gpu"], &result["compared"]), (&"NVIDIA H100 80GB HBM3".into(), &3.into()));
    let reasons: Vec<&str> =
        result["left_out"].as_array().unwrap().iter().map(|of| of["reason"].as_str().unwrap()).collect();
    assert!(reasons.len() == 2 && reasons.iter().all(|reason| reason.contains("more blocks")), "{reasons:?}");
}

#[test]
fn a_wrong_table_has_place_text_and_hint() {
    let dir = scratch("validate-wrong");
    let good = "g,k,0,k,c,1,yes,5";
    for (table, parts) in [
        ("", &["no table"][..]),
        (
            "gpu,kernel,launch,code,block,equal,clock_cycles\n",
            &["no column `blocks`", "did you mean `block`?"],
        ),
        ("gpu,kernel,launch,code,blocks,equal,cycles\n", &["no column `clock_cycles`", "--metric"]),
        ("gpu,gpu,kernel,launch,code,blocks,equal,clock_cycles\n", &["two columns are called `gpu`"]),
        (HEADING, &["the table has no row"]),
        (&format!("{HEADING}\n{good},7\n"), &["t.csv:2", "this row has 9 columns, the first line names 8"]),
        (&format!("{HEADING}\n{good}\n{good}\n"), &["t.csv:3", "has a row already"]),
        (
            &format!("{HEADING}\n# a remark\n\ng,k,x,k,c,1,yes,5\n"),
            &["t.csv:4:5", "`x` is not the number of a launch"],
        ),
        (&format!("{HEADING}\ng,k,0,k,c,0,yes,5\n"), &["`0` is not a number of blocks"]),
        (&format!("{HEADING}\ng,k,0,k,c,1,maybe,5\n"), &["`maybe` does not state", "yes, no or failed"]),
        (
            &format!("{HEADING}\ng,k,0,k,c,1,yes,-5\ng,k,1,k,c,1,yes,nan\n"),
            &["t.csv:2:", "t.csv:3:", "`nan` is not a measured number"],
        ),
        (&format!("{HEADING}\n,k,0,k,c,1,yes,5\n"), &["the field `gpu` is empty"]),
        (&format!("{HEADING}\n{good}\nh,k,0,k,c,1,yes,5\n"), &["rows of 2 GPUs", "--gpu: g, h"]),
        (&format!("{HEADING}\n{good}\n"), &["no kernel of the table can be compared", "k: "]),
    ] {
        fs::write(dir.join("t.csv"), table).unwrap();
        let output = in_dir(&dir, &["validate", "t.csv", "--machine", "turing-tu102"]);
        assert_eq!(output.status.code(), Some(1), "{table}");
        for part in parts {
            assert!(stderr(&output).contains(part), "{part}: {}", stderr(&output));
        }
    }
    fs::write(dir.join("t.csv"), format!("{HEADING}\n{good}\n")).unwrap();
    for (option, value, message) in [
        ("--out", "plot.png", "written as .svg or .pdf"),
        ("--gpu", "h", "no row of this GPU"),
        ("--kernels", "other", "no such kernel"),
    ] {
        let output = in_dir(&dir, &["validate", "t.csv", option, value]);
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
}

/// Tables that no bundle is the origin of: kernels by name or file, options, differences of two
/// launches, and parts of them.
#[test]
fn tables_of_other_measurements_are_compared() {
    let dir = scratch("validate-own");
    let run = |args: &[&str]| {
        let args = [&["run"], args, &["--machine", "rtx3070"]].concat();
        json_in(&dir, &args, 0)["results"][0]["makespan"].as_u64().unwrap()
    };
    let (small, large) = (run(&["saxpy", "--block", "64"]), run(&["saxpy", "--block", "128"]));
    fs::create_dir(dir.join("tables")).unwrap();
    fs::write(dir.join("tables/two.warp"), ".machine rtx3070\n.warps 1\nret\n").unwrap();
    let text = format!(
        "kernel,name,options,less,per,cycles,gpu\n\
         saxpy,,--block 64,,,{small},A\n\
         saxpy,twice,--block 128,,,{},A\n\
         saxpy,\"a tenth\",--block 128,--block 64,10,{},A\n\
         jacobi,,,,,1,A\n\
         two.warp,,,,,,A\n\
         saxpy,shorter,--block 64,--block 128,,5,A\n\
         saxpy,wrong,--block 4096,,,5,A\n",
        2 * large,
        (large.abs_diff(small)) as f64 / 10.0,
    );
    let (less, more) = if small < large { ("shorter", "a tenth") } else { ("a tenth", "shorter") };
    fs::write(dir.join("tables/t.csv"), text).unwrap();
    let result = &json_in(&dir, &["validate", "tables/t.csv", "--machine", "rtx3070"], 0)["results"][0];
    let of = |name: &str| {
        let kernels = result["kernels"].as_array().unwrap();
        kernels.iter().find(|of| of["kernel"] == name).unwrap_or_else(|| panic!("{name}: {result}")).clone()
    };
    assert_eq!((&result["metric"], &result["gpu"]), (&"cycles".into(), &"A".into()));
    let plain = of("saxpy --block 64");
    assert_eq!((&plain["simulated"], &plain["error"]), (&small.into(), &0.0.into()));
    assert!(plain["bound"].as_u64().unwrap() >= small);
    assert_eq!(of("twice")["error"], -0.5);
    // a program counts as a whole
    let jacobi = of("jacobi");
    assert_eq!((&jacobi["launches"], &jacobi["simulated"]), (&41.into(), &run(&["jacobi"]).into()));
    let difference = of(more);
    assert!(difference["simulated"].as_f64().unwrap() > 0.0 && difference.get("bound").is_none());
    let reason = |name: &str| {
        let left = result["left_out"].as_array().unwrap();
        left.iter().find(|of| of["kernel"] == name).unwrap()["reason"].as_str().unwrap().to_owned()
    };
    assert_eq!(reason("two.warp"), "`cycles` was not measured");
    assert!(reason(less).contains("whose cycles are subtracted"), "{}", reason(less));
    assert!(reason("wrong").contains("4096"), "{}", reason("wrong"));
    let chosen = ["validate", "tables/t.csv", "--machine", "rtx3070", "--kernels", "twice,jacobi"];
    assert_eq!(json_in(&dir, &chosen, 0)["results"][0]["compared"], 2);
    for (table, parts) in [
        ("kernel,cycle\nsaxpy,5\n", &["no column `cycles`", "did you mean `cycle`?", "--metric"][..]),
        ("kernels,cycles\nsaxpy,5\n", &["no column `kernel`", "needed are kernel and the metric"]),
        ("kernel,cycles\nsaxpy,5\nsaxpy,6\n", &["t.csv:3:1", "`saxpy` has a row already", "a column `name`"]),
        ("kernel,cycles,per\nsaxpy,5,0\n", &["t.csv:2:", "`0` is not a number to divide by"]),
        ("kernel,cycles,options\nsaxpy,5,--blocks 4\n", &["t.csv:2:", "--blocks", "as on the command line"]),
        ("kernel,cycles,less\nsaxpy,5,'4\n", &["t.csv:2:", "a quotation mark is not closed"]),
    ] {
        fs::write(dir.join("t.csv"), table).unwrap();
        let output = in_dir(&dir, &["validate", "t.csv", "--machine", "rtx3070"]);
        assert_eq!(output.status.code(), Some(1), "{table}");
        for part in parts {
            assert!(stderr(&output).contains(part), "{part}: {}", stderr(&output));
        }
    }
}
