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
    assert_eq!(run(&["report", "r", "--plot", "slowdown ~ policy / kernel", "--out", "c.pdf"]).0, Some(0));
    assert!(read("c.pdf").starts_with(b"%PDF-1.4"));
    // a value that is 0 everywhere
    assert_eq!(run(&["report", "r", "--plot", "idle_barrier ~ kernel", "--out", "d.svg"]).0, Some(0));
    assert!(!String::from_utf8(read("d.svg")).unwrap().contains("NaN"));
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
        ("cycles ~ policy", "no file is named"),
        ("cycles ~ policy=x.png", ".svg or .pdf"),
        ("cycles ~ policy=precious.svg", "there already"),
    ] {
        let output = in_dir(&dir, &["sweep", "plan.ron", "--out", "new", "--resume", "--plot", plot]);
        assert_eq!(output.status.code(), Some(1), "{plot}");
        assert!(stderr(&output).contains(message), "{plot}: {}", stderr(&output));
    }
    assert_eq!(std::fs::read(dir.join("precious.svg")).unwrap(), b"precious");
    for (words, message) in [
        (&["--plot", "cycles ~ cycles", "--out", "x.svg"][..], "can only be drawn"),
        (&["--plot", "kernel ~ policy", "--out", "x.svg"], "`kernel` is no number"),
        (&["--out", "x.svg"], "no plot is named"),
        (&["--plot", "ipc ~ policy", "--out", "r/manifest.json", "--force"], ".svg or .pdf"),
        (&["--html", "r/results.csv", "--force"], "which is read"),
    ] {
        let output = in_dir(&dir, &[&["report", "r"], words].concat());
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        assert!(stderr(&output).contains(message), "{words:?}: {}", stderr(&output));
    }
    assert_eq!(names(&dir), ["plan.ron", "precious.svg", "r"]);
}
