//! `warpbound ablate`: the columns are consistent, the output formats agree, the number of threads
//! does not matter.

use std::process::Output;

use serde_json::Value;

use crate::support::warpbound;

const KERNELS: [&str; 3] = ["vecadd", "reduce3", "pchase"];

fn ablate(more: &[&str]) -> Output {
    let args = [&["ablate"], &KERNELS[..], more].concat();
    let output = warpbound(&args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn text(more: &[&str]) -> String {
    String::from_utf8(ablate(more).stdout).expect("text")
}

fn json(more: &[&str]) -> Value {
    crate::json_output::read(text(&[more, &["--format", "json"]].concat()).as_bytes())
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[test]
fn columns_are_cumulative_and_recomputed_from_cycles() {
    let report = json(&[]);
    let columns = report["columns"].as_array().unwrap();
    assert_eq!(columns.len(), 5);
    for pair in columns.windows(2) {
        assert_eq!(pair[0]["variant_b"], pair[1]["variant_a"]);
    }
    let kernels = report["kernels"].as_array().unwrap();
    assert_eq!(kernels.iter().map(|kernel| kernel["kernel"].as_str().unwrap()).collect::<Vec<_>>(), KERNELS);
    let mut of_column = vec![Vec::new(); 5];
    for kernel in kernels {
        let cycles = numbers(&kernel["cycles"]);
        assert_eq!(cycles.len(), 6);
        for (column, percent) in numbers(&kernel["percent"]).into_iter().enumerate() {
            let expected = 100.0 * cycles[column] / cycles[column + 1];
            assert!((percent - expected).abs() <= 0.0001, "{kernel}: {percent} is not {expected}");
            of_column[column].push(expected);
        }
    }
    for (column, all) in columns.iter().zip(&of_column) {
        let mean = all.iter().sum::<f64>() / 3.0;
        let variance = all.iter().map(|percent| (percent - mean) * (percent - mean)).sum::<f64>() / 3.0;
        let extremes = [all.iter().copied().fold(1e9, f64::min), all.iter().copied().fold(0.0, f64::max)];
        for (name, expected) in
            ["mean", "std_dev", "min", "max"].iter().zip([mean, variance.sqrt(), extremes[0], extremes[1]])
        {
            let shown = column[name].as_f64().unwrap();
            assert!((shown - expected).abs() <= 0.0001, "{name} of {column}: {expected}");
        }
    }
}

#[test]
fn every_column_shows_the_mechanism_that_it_names() {
    // the cycles of the variants; each kernel needs the mechanism of its column
    let report = json(&[]);
    let of = |name: &str| {
        let kernels = report["kernels"].as_array().unwrap();
        numbers(&kernels.iter().find(|kernel| kernel["kernel"] == name).unwrap()["cycles"])
    };
    // vecadd waits for memory, and a later fetch may even improve the order of its accesses
    for name in ["reduce3", "pchase"] {
        assert!(of(name)[0] > of(name)[1], "{name}: instructions have to come from somewhere");
    }
    let of_all = |variant: usize| KERNELS.iter().map(|name| of(name)[variant]).sum::<f64>();
    assert!(of_all(0) > of_all(1), "instructions have to come from somewhere");
    assert!(of("reduce3")[1] < of("reduce3")[2], "eight warps on one sub-core are slower than on four");
    assert!(of("pchase")[3] < of("pchase")[4], "a chase in 4 KiB hits the caches");
    assert!(of("pchase")[4] > of("pchase")[5], "random addresses are not coalesced");
}

#[test]
fn the_paper_model_has_the_measured_latency() {
    // the latency of a lone load, up to the issue of the instruction that reads it, is the same
    // with the no-cache memory and in the paper model
    let report = json(&[]);
    let latency = report["load_latency"].as_u64().unwrap();
    let paper = numbers(&report["kernels"][2]["cycles"])[5];
    // pchase: 32 dependent loads
    assert!(paper > 32.0 * latency as f64 && paper < 34.0 * latency as f64 + 1000.0, "{paper}, {latency}");
}

#[test]
fn forms_agree_and_threads_do_not_matter() {
    for form in ["text", "json", "csv"] {
        let one = text(&["--format", form, "--jobs", "1"]);
        assert_eq!(one, text(&["--format", form, "--jobs", "2"]), "{form}");
    }
    let report = json(&[]);
    let csv = text(&["--format", "csv"]);
    let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines[0], ["kernel", "column", "variant_a", "variant_b", "cycles_a", "cycles_b", "percent"]);
    assert_eq!(lines.len(), 1 + 3 * 5);
    for (number, line) in lines[1..].iter().enumerate() {
        let (kernel, column) = (&report["kernels"][number / 5], number % 5);
        assert_eq!(line[0], kernel["kernel"].as_str().unwrap());
        assert_eq!(line[1], report["columns"][column]["name"].as_str().unwrap());
        assert_eq!(line[4], kernel["cycles"][column].to_string());
        assert_eq!(line[5], kernel["cycles"][column + 1].to_string());
        assert_eq!(line[6].parse::<f64>().unwrap(), kernel["percent"][column].as_f64().unwrap());
    }
    let columns = text(&["--format", "csv", "--table", "results.columns"]);
    assert_eq!(columns.lines().count(), 1 + 5, "{columns}");
    let shown = text(&[]);
    for (name, label) in [("mean", "mean"), ("std_dev", "std. dev."), ("min", "min"), ("max", "max")] {
        let row =
            shown.lines().find(|line| line.trim_start().starts_with(label)).expect("a row of the table");
        let cells: Vec<&str> = row.trim_start().trim_start_matches(label).split_whitespace().collect();
        let expected: Vec<String> = report["columns"]
            .as_array()
            .unwrap()
            .iter()
            .map(|column| format!("{:.2}", column[name].as_f64().unwrap()))
            .collect();
        assert_eq!(cells, expected, "{label}");
    }
}

#[test]
fn machines_that_are_not_complete_are_refused() {
    for (machine, why) in [("ecrts25-orin", "with a `pipeline`"), ("rtx3070", "with one SM")] {
        let output = warpbound(&["ablate", "vecadd", "--machine", machine]);
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stderr).contains(why), "{machine}");
    }
}

/// The launches of a program start from the memory that earlier launches leave, so that the cycles
/// of the program are those of its launches, each simulated alone on the same machine.
#[test]
fn a_program_counts_as_the_sum_of_its_launches() {
    let cycles = |args: &[&str]| {
        let output = warpbound(&[&["ablate", "--format", "json"], args].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let report = crate::json_output::read(&output.stdout);
        let kernel = report["kernels"][0].clone();
        assert_eq!(kernel["kernel"], "jacobi");
        numbers(&kernel["cycles"])
    };
    let run = |machine: &str| {
        let output = warpbound(&["run", "jacobi", "--machine", machine, "--format", "json"]);
        crate::json_output::read(&output.stdout)["results"][0]["makespan"].as_f64().unwrap()
    };
    let of_program = cycles(&["jacobi"]);
    assert_eq!(of_program[0], run("ablation-baseline"));
    assert!(of_program.iter().all(|cycles| *cycles > 0.0), "{of_program:?}");
}
