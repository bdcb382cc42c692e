//! Plots that a formula describes: `report --plot` and `sweep --plot`.

use crate::support::{in_dir, names, scratch, stderr};

const PLAN: &str = "Sweep(kernels: [Kernel(\"saxpy\"), Kernel(\"reduce0\")], settings: { \"mem_latency\": [100, 200, 400] }, policies: [\"gto\", \"srr\"])";

#[test]
fn formulas_are_drawn_as_svg_and_pdf() {
    let dir = scratch("plots");
    std::fs::write(dir.join("plan.ron"), PLAN).unwrap();
    let run = |words: &[&str]| {
        let output = in_dir(&dir, words);
        (output.status.code(), stderr(&output))
    };
    let read = |name: &str| std::fs::read(dir.join(name)).unwrap();
    let in_one = "cycles ~ mem_latency | policy = a.svg";
    assert_eq!(run(&["sweep", "plan.ron", "--out", "r", "--plot", in_one]).0, Some(0));
    let formula = "cycles ~ mem_latency | policy";
    assert_eq!(run(&["report", "r", "--plot", formula, "--out", "b.svg"]).0, Some(0));
    assert!(read("a.svg") == read("b.svg"), "a sweep and a report draw the same");
    let svg = String::from_utf8(read("b.svg")).unwrap();
    assert!(
        svg.contains(">gto</text>") && svg.contains(">srr</text>") && svg.contains("mem_latency (cycles)")
    );
    // a point of each line for each latency, and the legend
    assert_eq!(svg.matches("<polygon").count(), 2 * 3 + 2);
    for formula in [
        "slowdown ~ policy / kernel",
        // a value that is 0 everywhere
        "idle_barrier ~ kernel",
        "log(cycles) ~ log(mem_latency) | policy / kernel",
        "ecdf(slowdown) | policy",
        "box(cycles) ~ mem_latency | policy",
    ] {
        let (code, error) = run(&["report", "r", "--plot", formula, "--out", "c.pdf", "--force"]);
        assert_eq!(code, Some(0), "{formula}: {error}");
        assert!(read("c.pdf").starts_with(b"%PDF-1.4"));
        assert_eq!(run(&["report", "r", "--plot", formula, "--out", "d.svg", "--force"]).0, Some(0));
        let svg = String::from_utf8(read("d.svg")).unwrap();
        assert!(!svg.contains("NaN") && svg.matches("</text>").count() > 5, "{formula}: {svg}");
    }
}

#[test]
fn plots_say_what_is_missing_and_where_a_column_is_not() {
    let dir = scratch("partial-plots");
    std::fs::write(dir.join("plan.ron"), PLAN).unwrap();
    let formula = "cycles ~ mem_latency | policy";
    let shard =
        ["sweep", "plan.ron", "--out", "half", "--shard", "1/2", "--plot", "cycles ~ policy=half.svg"];
    assert_eq!(in_dir(&dir, &shard).status.code(), Some(0));
    let svg = std::fs::read_to_string(dir.join("half.svg")).unwrap();
    assert!(svg.contains("Only shard 1/2 of the plan"), "{svg}");
    // a sweep that was stopped: some lines are missing
    assert_eq!(in_dir(&dir, &["sweep", "plan.ron", "--out", "r"]).status.code(), Some(0));
    let lines = std::fs::read_to_string(dir.join("r/results.jsonl")).unwrap();
    let some: String = lines.split_inclusive('\n').take(7).collect();
    std::fs::write(dir.join("r/results.jsonl"), some).unwrap();
    let words = ["report", "r", "--plot", formula, "--out", "part.svg", "--html", "part.html"];
    assert_eq!(in_dir(&dir, &words).status.code(), Some(0));
    for name in ["part.svg", "part.html"] {
        let text = std::fs::read_to_string(dir.join(name)).unwrap();
        assert!(text.contains("not complete: 7 of 12 points"), "{name}");
    }
    // of several sources, the message names the one without the column
    std::fs::write(
        dir.join("other.jsonl"),
        "{\"point\":0,\"kernel\":\"k\",\"machine\":\"m\",\"policy\":\"gto\",\"makespan\":5}\n",
    )
    .unwrap();
    let output = in_dir(&dir, &["report", "r", "other.jsonl", "--plot", formula, "--out", "x.svg"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("other.jsonl: `mem_latency` is no column"), "{}", stderr(&output));
    // letters that the font of a PDF lacks
    std::fs::write(
        dir.join("other.jsonl"),
        "{\"point\":0,\"kernel\":\"\u{6f22}\",\"machine\":\"m\",\"policy\":\"\u{3bb}\",\"makespan\":5}\n",
    )
    .unwrap();
    let draw =
        |formula: &str, out: &str| in_dir(&dir, &["report", "other.jsonl", "--plot", formula, "--out", out]);
    assert_eq!(draw("cycles ~ policy", "greek.pdf").status.code(), Some(0));
    let output = draw("cycles ~ kernel", "chinese.pdf");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("ends in .svg"), "{}", stderr(&output));
    assert_eq!(draw("cycles ~ kernel", "chinese.svg").status.code(), Some(0));
}

#[test]
fn a_report_stops_in_time_and_marks_what_it_has_read() {
    let dir = scratch("stopped-report");
    let record = |point: u32| {
        format!(
            "{{\"point\":{point},\"kernel\":\"k{}\",\"machine\":\"m\",\"policy\":\"gto\",\"makespan\":{point}}}\n",
            point % 7
        )
    };
    let lines: String = (0..400_000).map(record).collect();
    std::fs::write(dir.join("many.jsonl"), lines).unwrap();
    let words = ["report", "many.jsonl", "--html", "p.html", "--time-limit", "0.05"];
    let output = in_dir(&dir, &words);
    let error = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("stopped by --time-limit before all results were read"), "{error}");
    assert!(std::fs::read_to_string(dir.join("p.html")).unwrap().contains("The reading was stopped by"));
    // the values of a distribution are kept
    let formula = ["report", "many.jsonl", "--plot", "ecdf(cycles)", "--out", "p.svg"];
    let output = in_dir(&dir, &[&formula[..], &["--max-memory", "1M"]].concat());
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("of memory, and 1.0 MiB may be used"), "{}", stderr(&output));
    assert_eq!(in_dir(&dir, &formula).status.code(), Some(0));
}

#[test]
fn wrong_formulas_and_files_are_refused_before_anything_runs() {
    let dir = scratch("wrong-plots");
    std::fs::write(dir.join("plan.ron"), PLAN).unwrap();
    std::fs::write(dir.join("precious.svg"), "precious").unwrap();
    assert_eq!(in_dir(&dir, &["sweep", "plan.ron", "--out", "r"]).status.code(), Some(0));
    for (plot, message) in [
        ("cycles ~ nope=x.svg", "`nope` is no column"),
        ("cycles = x.svg", "no `~`"),
        ("violin(cycles) ~ policy = x.svg", "cannot be drawn"),
        ("cycles ~ policy", "no file is named"),
        ("cycles ~ policy=x.png", ".svg or .pdf"),
        ("cycles ~ policy=precious.svg", "there already"),
    ] {
        let output = in_dir(&dir, &["sweep", "plan.ron", "--out", "new", "--resume", "--plot", plot]);
        assert_eq!(output.status.code(), Some(1), "{plot}");
        assert!(stderr(&output).contains(message), "{plot}: {}", stderr(&output));
    }
    assert_eq!(std::fs::read(dir.join("precious.svg")).unwrap(), b"precious");
    std::os::unix::fs::symlink("r/results.jsonl", dir.join("link.html")).unwrap();
    for (words, message) in [
        (&["--plot", "cycles ~ cycles", "--out", "x.svg"][..], "can only be drawn"),
        (&["--plot", "kernel ~ policy", "--out", "x.svg"], "`kernel` is no number"),
        (&["--out", "x.svg"], "no plot is named"),
        (&["--plot", "ipc ~ policy", "--out", "r/manifest.json", "--force"], ".svg or .pdf"),
        (&["--html", "link.html", "--force"], "which is read"),
    ] {
        let output = in_dir(&dir, &[&["report", "r"], words].concat());
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        assert!(stderr(&output).contains(message), "{words:?}: {}", stderr(&output));
    }
    assert_eq!(names(&dir), ["link.html", "plan.ron", "precious.svg", "r"]);
}
