//! Figures of papers: published numbers compared with the output of the commands.

use serde_json::Value;

use crate::support::{in_dir, json, scratch, stderr, stdout, warpbound};

fn reproduced(name: &str) -> Value {
    let all = json(&["reproduce", name], 0);
    assert_eq!(all["results"].as_array().unwrap().len(), 1);
    all["results"][0].clone()
}

/// Returns every number that the paper gives: its description, ours, the published one.
fn numbers(figure: &Value) -> Vec<(String, u64, u64)> {
    let one = |number: &Value| {
        let (ours, published) = (number["ours"].as_u64().unwrap(), number["published"].as_u64().unwrap());
        assert_eq!(number["difference"].as_i64().unwrap(), ours as i64 - published as i64);
        (number["what"].as_str().unwrap().to_owned(), ours, published)
    };
    figure["quantities"].as_array().unwrap().iter().map(one).collect()
}

fn disagreements(figure: &Value) -> Vec<(String, u64, u64)> {
    numbers(figure).into_iter().filter(|(_, ours, published)| ours != published).collect()
}

/// Each kernel of the study by Betts and Donaldson has an embedded launch.
#[test]
fn kernels_of_the_hybrid_study_are_embedded() {
    let listed = json(&["list"], 0);
    let known: Vec<&str> = listed["kernels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|kernel| kernel["kernel"].as_str().unwrap())
        .collect();
    for row in warpbound::report::reproduce::betts::TABLE_II {
        assert!(known.contains(&row.launch), "{} is for {}", row.launch, row.kernel);
    }
}

/// In the table of Betts and Donaldson no estimate except that of a single warp is below a run. If
/// there are more blocks than the machine holds, the paper's rule finds more waves than exist.
#[test]
fn kernels_of_the_hybrid_study_are_estimated() {
    let table = &json(&["reproduce", "betts", "--runs", "1"], 0)["results"][0];
    let rows = table["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 25);
    for row in rows {
        let below = row["below_high_water"].as_array().unwrap();
        assert!(below.iter().all(|name| name == "z_warp"), "{row}");
        let value = |name: &str| row[name].as_u64().unwrap_or_else(|| panic!("{name}: {row}"));
        assert!(value("hybrid_sections") >= value("high_water"), "{row}");
        let [paper, blocks] = [0, 1].map(|at| row["waves"][at].as_u64().unwrap());
        if row["launch"].as_str().unwrap().ends_with("_waves") {
            assert!(blocks > 1 && paper > blocks && value("z_hybrid") > value("hybrid_blocks"), "{row}");
        } else {
            assert_eq!(blocks, 1, "{row}");
        }
    }
}

/// Each configuration of the Voronoi kernel is simulated; two runs are not a valid sample, and
/// every row reports that. Each run takes the same time with each L1 and each replacement policy,
/// as the notes state, and its times are those of `pwcet`.
#[test]
fn traces_of_the_voronoi_kernel_are_those_of_the_machine() {
    let table = &json(&["reproduce", "diagxtrm", "--runs", "2"], 0)["results"][0];
    let rows = table["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 12);
    for row in rows {
        let why = row["no_curve"].as_str().unwrap();
        assert!(why.starts_with("2 measurements are too few") && row["ours"].is_null(), "{row}");
        let [shortest, longest] = ["shortest", "longest"].map(|name| row[name].as_u64().unwrap());
        assert!(30_000 < shortest && shortest < longest && longest < 40_000, "{row}");
    }
    assert_eq!(table["same_with_each_l1"], serde_json::json!([64, 256, 512, 1024]));
    let dir = scratch("reproduce-diagxtrm");
    let times = |vary: &str| -> Vec<u64> {
        let campaign = ["pwcet", "voronoi_64_waves", "--machine", "kepler-gk104", "--runs", "2"];
        let split = ["--set", "memory.l1.split=Percent(total: 65536, l1: 25)"];
        // two runs are too few for a curve here as well, but they are kept
        in_dir(&dir, &[&campaign[..], &split, &["--random", vary, "--out", vary]].concat());
        let records = std::fs::read_to_string(dir.join(vary).join("results.jsonl")).unwrap();
        let record = |line: &str| -> Value { serde_json::from_str(line).unwrap() };
        records.lines().map(|line| record(line)["makespan"].as_u64().unwrap()).collect()
    };
    let mut all = times("inputs,replacement,placement");
    all.sort_unstable();
    let last = &rows[11];
    assert_eq!(serde_json::json!(all), serde_json::json!([last["shortest"], last["longest"]]));
    let replaced = times("replacement");
    assert_eq!(replaced[0], replaced[1], "no line makes room");
}

/// Products of matrices access shared memory as often as on the board, from PTX and from machine
/// code, and take the cycles of `run`. The network finds the classes of the reference from either
/// code, and its layers keep every bound.
#[test]
fn products_and_network_of_the_pascal_study_agree_for_both_codes() {
    let section = reproduced("pastis");
    let products = section["products"].as_array().unwrap();
    let of = |row: &Value, names: [&str; 4]| names.map(|name| row[name].as_u64().unwrap());
    for (pair, published) in
        products.chunks(2).zip([[8, 2, 1131, 1241], [32, 4, 1381, 1491], [88, 8, 1580, 1677]])
    {
        assert_eq!((&pair[0]["code"], &pair[1]["code"]), (&"sm_61".into(), &"ptx".into()));
        for row in pair {
            let theirs =
                ["shared_reads_published", "shared_writes_published", "cycles_board", "cycles_pastis"];
            assert_eq!(of(row, theirs), published, "{row}");
            let [reads, writes, cycles, _] = of(row, ["shared_reads", "shared_writes", "cycles", "side"]);
            assert_eq!([reads, writes], published[..2], "{row}");
            let machine = section["machine"].as_str().unwrap();
            let run = json(&["run", row["launch"].as_str().unwrap(), "--machine", machine], 0);
            assert_eq!(Some(cycles), run["results"][0]["makespan"].as_u64(), "{row}");
            let error = (cycles as f64 - published[2] as f64) / published[2] as f64;
            assert!((row["error"].as_f64().unwrap() - error).abs() < 1e-4, "{row}");
        }
    }
    assert_eq!(products.len(), 6);
    // one warp per scheduler runs in the same way under any policy; layers of several warps per
    // policy do not
    assert_eq!(section["statements"][0]["holds"], true);
    assert!(products.iter().all(|row| row["cycles_run_to_barrier"] == row["cycles"]), "{section}");
    the_fitted_launch_cost_suits_the_other_products(&section);

    let network = &section["network"];
    assert_eq!((network["images"].as_u64(), network["right"].as_u64()), (Some(64), Some(63)));
    assert_eq!((&network["same_bytes"], network["codes"].as_array().unwrap().len()), (&true.into(), 2));
    for code in network["codes"].as_array().unwrap() {
        assert_eq!((&code["right"], &code["other_classes"]), (&63.into(), &0.into()), "{code}");
        // outputs are sums of numbers up to 20, each rounded in another order
        let difference = code["largest_difference"].as_f64().unwrap();
        assert!(0.0 < difference && difference < 1e-12, "{code}");
        let layers = code["layers"].as_array().unwrap();
        let sizes: Vec<_> = layers.iter().map(|l| (l["inputs"].as_u64(), l["neurons"].as_u64())).collect();
        assert_eq!(sizes, [(Some(784), Some(128)), (Some(128), Some(64)), (Some(64), Some(10))]);
        for layer in layers {
            assert_eq!(layer["status"], "holds", "{layer}");
            assert!(layer["cycles_run_to_barrier"].as_u64() > layer["cycles"].as_u64(), "{layer}");
            assert!(layer["lwb"].as_u64() >= layer["cycles_judged"].as_u64(), "{layer}");
        }
    }
}

/// The cost of a launch is the difference between machine code and the board's cycles of one
/// product. Whichever product is chosen, the others are then nearer to the board's cycles than
/// PasTiS's. The cost in the machine description is that of the first product.
fn the_fitted_launch_cost_suits_the_other_products(section: &Value) {
    let machine = section["machine"].as_str().unwrap();
    let products: Vec<&Value> = section["products"].as_array().unwrap().iter().step_by(2).collect();
    let fits = section["fits"].as_array().unwrap();
    assert_eq!(fits.len(), 3);
    assert_eq!(products[0]["cycles"], products[0]["cycles_board"]);
    for (fitted, fit) in fits.iter().enumerate() {
        let errors: Vec<f64> =
            fit["errors"].as_array().unwrap().iter().map(|e| e.as_f64().unwrap()).collect();
        let set = format!("pipeline.launch.end={}", fit["launch"]);
        for (number, row) in products.iter().enumerate() {
            let args = ["run", row["launch"].as_str().unwrap(), "--machine", machine, "--set", &set];
            let cycles = json(&args, 0)["results"][0]["makespan"].as_f64().unwrap();
            let error = cycles / row["cycles_board"].as_f64().unwrap() - 1.0;
            assert!((errors[number] - error).abs() < 1e-4, "{fit} {row}");
            assert_eq!(errors[number] == 0.0, number == fitted, "{fit}");
            assert!(errors[number].abs() < row["error_pastis"].as_f64().unwrap(), "{fit} {row}");
        }
    }
}

#[test]
fn options_that_do_not_apply_to_a_figure_are_refused() {
    for (args, place) in [
        (["reproduce", "fig2", "--runs", "3"], "the option is for betts and diagxtrm"),
        (["reproduce", "betts", "--svg", "plots"], "the option is for diagxtrm"),
    ] {
        let output = warpbound(&args);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains(place), "{}", stderr(&output));
    }
    let dir = scratch("reproduce-svg");
    std::fs::write(dir.join("fig4-75.svg"), "mine").unwrap();
    let output = in_dir(&dir, &["reproduce", "diagxtrm", "--svg", "."]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("the file is there already"), "{}", stderr(&output));
    assert_eq!(std::fs::read_to_string(dir.join("fig4-75.svg")).unwrap(), "mine");
}

#[test]
fn the_worked_example_is_that_of_the_paper() {
    let fig2 = reproduced("fig2");
    assert_eq!((numbers(&fig2).len(), disagreements(&fig2)), (18, vec![]));
    // the phases are those that `phases` prints
    let phases = json(&["phases", "fig3"], 0)["results"][0]["warps"][0]["phases"].clone();
    for (index, phase) in phases.as_array().unwrap().iter().enumerate() {
        for (end, field) in [("from", "start"), ("to", "end")] {
            let what = format!("{} {index} {end}", phase["kind"].as_str().unwrap());
            let found = numbers(&fig2).into_iter().find(|(name, ..)| *name == what);
            assert_eq!(found.map(|(_, ours, _)| ours), phase[field].as_u64(), "{what}");
        }
    }
    let fig3 = reproduced("fig3");
    assert_eq!((numbers(&fig3).len(), disagreements(&fig3)), (9, vec![]));
    // two of them are also given in the text of the paper
    let number_of = |what: &str| numbers(&fig3).into_iter().find(|(name, ..)| name == what).unwrap();
    assert_eq!(number_of("w1 i0 issued"), ("w1 i0 issued".to_owned(), 3, 3));
    assert_eq!(number_of("w1 i1 starts").1, 7);
}

#[test]
fn the_anomaly_of_figure_4_is_found() {
    let fig4 = reproduced("fig4");
    let statements = fig4["statements"].as_array().unwrap();
    assert!(statements.len() == 2 && statements.iter().all(|one| one["holds"] == true), "{fig4}");
    let known = json(&["anomaly", "--phases"], 0)["results"][0]["anomaly"].clone();
    let seen = statements[0]["seen"].as_str().unwrap();
    assert!(
        seen.ends_with(&format!("makespan {}, then {}", known["makespan_before"], known["makespan_after"])),
        "{seen}"
    );
    assert!(known["makespan_before"].as_u64() < known["makespan_after"].as_u64());
}

#[test]
fn the_report_on_fermi_is_right_but_for_lone_warps() {
    for (name, published) in
        [("fermi-fig3", vec![14, 13]), ("fermi-fig4", vec![22]), ("fermi-fig5", vec![30])]
    {
        let figure = reproduced(name);
        let found: Vec<(u64, u64)> =
            numbers(&figure).into_iter().map(|(_, ours, paper)| (ours, paper)).collect();
        assert_eq!(found, published.iter().map(|n| (*n, *n)).collect::<Vec<_>>(), "{name}");
        for statement in figure["statements"].as_array().unwrap() {
            assert_eq!(statement["holds"], true, "{name}");
        }
    }
    let formula = reproduced("fermi");
    assert_eq!(numbers(&formula).len(), 24 + 3 + 2);
    let lone = |rep: u64| (format!("W 1, rep {rep}"), 3 * rep + 2, 2 * rep + 3);
    assert_eq!(disagreements(&formula), [lone(2), lone(3), lone(4)]);
    // the same cells as `fermi`
    let table = json(&["fermi"], 0);
    for cell in table["results"].as_array().unwrap() {
        let what = format!("W {}, rep {}", cell["warps"], cell["rep"]);
        let found = numbers(&formula).into_iter().find(|(name, ..)| *name == what).unwrap();
        assert_eq!(Some(found.1), cell["worst"].as_u64(), "{what}");
        let ft = cell["bounds"].as_array().unwrap().iter().find(|bound| bound["name"] == "ft").unwrap();
        assert_eq!(Some(found.2), ft["value"].as_u64(), "{what}");
    }
}

#[test]
fn figures_are_listed_with_their_papers() {
    let listed = json(&["reproduce"], 0);
    let names: Vec<&str> =
        listed["results"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 17);
    let text = stdout(&warpbound(&["reproduce"]));
    let wrong = warpbound(&["reproduce", "fig5"]);
    let errors = stderr(&wrong);
    assert_eq!(wrong.status.code(), Some(1));
    for (name, figure, paper) in [
        ("fig3", "Figure 3", "Jeanmougin et al., ECRTS 2025"),
        ("fermi-fig3", "Figure 3", "Raravi and Andersson, 2010"),
        ("table3", "Table 3", "Jeanmougin et al., ECRTS 2025"),
        ("pastis-fig6", "Figure 6", "Adalbert et al., ERTS 2022"),
        ("pastis", "Figures 10 to 12", "Adalbert et al., ERTS 2022"),
        ("betts", "Table II", "Betts and Donaldson, ECRTS 2013"),
        ("diagxtrm", "Table 1", "Berezovskyi et al., ARCS 2016"),
    ] {
        assert!(names.contains(&name));
        let line = text.lines().find(|line| line.starts_with(&format!("{name} "))).expect("a line");
        assert!(line.contains(figure) && line.contains(paper), "{line}");
        assert!(errors.contains(&format!("{name} ({figure}, {paper})")), "{errors}");
    }
}

#[test]
fn text_shows_both_numbers_and_what_differs() {
    let text = stdout(&warpbound(&["reproduce", "fermi"]));
    assert!(text.starts_with("Formula FT, Raravi and Andersson, 2010, section III"), "{text}");
    let row = text.lines().find(|line| line.contains("W 1, rep 2")).unwrap();
    assert_eq!(row.split_whitespace().collect::<Vec<_>>()[4..7], ["8", "7", "+1*"], "{row}");
    assert!(text.contains("\n26 of 29 numbers agree"), "{text}");
}

/// The stack of a warp equals that of the paper's figures entry by entry, with SSY as with PBK, and
/// the statements of the text about it hold.
#[test]
fn the_stacks_of_the_pascal_study_are_those_of_the_paper() {
    for (name, rows) in [("pastis-fig5", 3), ("pastis-fig6", 5), ("pastis-fig7", 5)] {
        let figure = reproduced(name);
        let states = figure["stacks"].as_array().unwrap();
        assert_eq!(states.len(), 4, "before and after, by either instruction");
        let entries: Vec<&Value> =
            states.iter().flat_map(|state| state["rows"].as_array().unwrap()).collect();
        assert_eq!(entries.len(), 2 * rows, "{name}");
        assert!(
            entries.iter().all(|row| row["ours"].is_object() && row["ours"] == row["published"]),
            "{figure}"
        );
        assert_eq!(figure["statements"][0]["holds"], true, "{figure}");
    }
    // as many branches diverge as `run` counts
    let run = json(&["run", "ifelse@sm_61", "--machine", "jetson-tx2-pastis"], 0);
    let branches = run["results"][0]["divergence"]["branches"].as_array().unwrap();
    let diverged: u64 = branches.iter().map(|branch| branch["diverged"].as_u64().unwrap()).sum();
    let seen = reproduced("pastis-fig6")["statements"][0]["seen"].as_str().unwrap().to_owned();
    assert!(
        diverged > 0 && seen.contains(&format!("diverged {diverged} times, and after {diverged} of them")),
        "{seen}"
    );
}

/// Numbers of GUB in Table 4 that the other compiler changes by more than ten points, by policy.
#[test]
fn the_compiler_moves_numbers_of_table_4_under_both_policies() {
    let of =
        |more: &[&str]| json(&[&["reproduce", "table4"], more].concat(), 0)["results"][0]["numbers"].clone();
    let (clang, nvrtc) = (of(&[]), of(&["--compiler", "nvrtc"]));
    for policy in ["lrr", "gto"] {
        let far = clang.as_array().unwrap().iter().zip(nvrtc.as_array().unwrap()).filter(|(one, other)| {
            assert_eq!(
                (&one["program"], &one["warps"], &one["bound"]),
                (&other["program"], &other["warps"], &other["bound"])
            );
            let ours = |number: &Value| number["ours"].as_f64().unwrap();
            one["policy"] == policy && one["bound"] == "gub" && (ours(one) - ours(other)).abs() > 10.0
        });
        assert!(far.count() > 0, "{policy}");
    }
}

/// Returns the means of the overestimation of GUB in a form of Table 3: latency, policy, ours, the
/// paper's.
fn means(args: &[&str]) -> Vec<(u64, String, f64, f64)> {
    let result = json(&[&["reproduce"], args].concat(), 0)["results"][0].clone();
    let is_mean = |number: &&Value| number["figure"] == "mean" && number["bound"] == "gub";
    let one = |number: &Value| {
        let percent = |field: &str| number[field].as_f64().unwrap();
        let policy = number["policy"].as_str().unwrap().to_owned();
        (number["mem_latency"].as_u64().unwrap(), policy, percent("ours"), percent("published"))
    };
    let means: Vec<_> = result["numbers"].as_array().unwrap().iter().filter(is_mean).map(one).collect();
    assert_eq!(means.len(), 14, "{args:?}");
    means
}

#[test]
fn the_notes_on_the_differences_of_table_3_are_true() {
    let (ours, other) = (means(&["table3"]), means(&["table3", "--compiler", "nvrtc"]));
    for (ours, other) in ours.iter().zip(&other) {
        assert!(ours.2 != other.2 && (ours.2 - other.2).abs() <= 1.5, "{ours:?} {other:?}");
    }
    for (latency, policy, ours, paper) in means(&["table3-calls"]) {
        assert_eq!((ours - paper).abs() <= 3.0, latency >= 100, "{latency} {policy}: {ours} {paper}");
        assert!(latency >= 100 || ours < paper, "{latency} {policy}: {ours} {paper}");
    }
    let output = warpbound(&["reproduce", "fig2", "--compiler", "nvrtc"]);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(stderr(&output).contains("table3, table3-calls, table4"), "{}", stderr(&output));
}
