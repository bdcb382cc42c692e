//! The sentence that `check` and `wcet` begin with, and its data in JSON.

use serde_json::Value;

use super::support::{json, json_in, stdout, warpbound};

/// Returns the first line that a command prints.
fn opening(args: &[&str]) -> String {
    let output = warpbound(args);
    stdout(&output).lines().next().unwrap_or_default().to_owned()
}

#[test]
fn the_smallest_proved_bound_is_compared_with_the_longest_run() {
    let args = ["check", "docs/examples/halve.ron", "--policy", "gto,lrr"];
    let object = json(&args, 0);
    let answer = &object["answers"][0];
    assert_eq!(object["answers"].as_array().unwrap().len(), 1, "{object}");
    let of_results = |value: &dyn Fn(&Value) -> Option<u64>| -> Vec<u64> {
        object["results"].as_array().unwrap().iter().filter_map(value).collect()
    };
    let longest = of_results(&|result| result["makespan"].as_u64()).into_iter().max().unwrap();
    let proved = |bound: &&Value| bound["name"] != "gub" && bound["status"] == "holds";
    let smallest = of_results(&|result| {
        let bounds = result["bounds"].as_array().unwrap().iter();
        bounds.filter(proved).filter_map(|bound| bound["value"].as_u64()).min()
    });
    assert_eq!(answer["guaranteed"]["cycles"], smallest[0]);
    assert_eq!(answer["longest"]["cycles"], longest);
    assert_eq!(answer["guaranteed"]["inputs"], "this-input");
    assert_eq!(answer["policies"], serde_json::json!(["gto", "lrr"]));
    let sentence = opening(&args);
    assert_eq!(sentence, answer["sentence"].as_str().unwrap());
    assert_eq!(
        sentence,
        "guaranteed on this machine: 1,136 cycles (lwb) for this input under every work-conserving schedule, \
         1.03 times the longest run seen (1,101 cycles, lrr)"
    );
}

#[test]
fn a_bound_that_was_refuted_or_exceeded_guarantees_nothing() {
    // GUB is 140 here, below the makespan of 148 cycles, and smaller than every proved bound
    let object = json(&["check", "lrr-witness"], 3);
    assert_eq!(object["answers"][0]["guaranteed"]["bound"], "swb");
    assert_eq!(object["answers"][0]["guaranteed"]["cycles"], 168);
}

#[test]
fn each_policy_with_a_bound_of_its_own_has_an_answer() {
    let object = json(&["check", "saxpy", "--policy", "gto,srr,two-level"], 0);
    let answers = object["answers"].as_array().unwrap();
    assert_eq!(answers.len(), 3, "{answers:?}");
    assert!(answers[0]["guaranteed"]["policy"].is_null());
    // the run under srr is longer than the bound for work-conserving schedules may be, and is not
    // compared with it
    assert_eq!(answers[0]["longest"]["policy"], "gto");
    assert_eq!(answers[1]["guaranteed"]["policy"], "srr");
    assert_eq!(answers[1]["guaranteed"]["bound"], "srr");
    let sentence = answers[2]["sentence"].as_str().unwrap();
    assert!(sentence.contains("policy `two-level` is not work conserving"), "{sentence}");
    assert!(sentence.ends_with("; this is about the runs under two-level"), "{sentence}");
}

#[test]
fn the_blockers_of_the_nearest_bound_are_named() {
    let settings =
        ["--set", "memory.l1=none", "--set", "memory.lower=Perfect", "--set", "memory.constant.sets=4"];
    let settings = [&settings[..], &["--set", "memory.jitter=Geometric(3)"]].concat();
    let args = [&["check", "saxpy", "--machine", "fermi-c2050"], &settings[..]].concat();
    let object = json(&args, 0);
    let answer = &object["answers"][0];
    assert!(answer["guaranteed"].is_null() && answer["ratio"].is_null());
    let blockers: Vec<&str> =
        answer["blockers"].as_array().unwrap().iter().map(|reason| reason.as_str().unwrap()).collect();
    // PLB accounts for all other features
    assert_eq!(
        blockers,
        [
            "constants go through a cache (memory.constant)",
            "the latency of memory has no largest value (memory.jitter)"
        ]
    );
    let sentence = opening(&args);
    assert!(sentence.starts_with(&format!("no bound is proved on this machine: {}; ", blockers.join("; "))));
}

#[test]
fn what_was_not_checked_is_part_of_the_answer() {
    let sentence = opening(&["check", "vecadd", "--races", "ignore"]);
    assert!(sentence.contains("; this assumes that no other order of memory accesses"), "{sentence}");
    let object = json(&["check", "vecadd", "--races", "ignore"], 0);
    assert_eq!(object["answers"][0]["guaranteed"]["assumes"].as_array().unwrap().len(), 1);
    assert!(json(&["check", "vecadd"], 0)["answers"][0]["guaranteed"].get("assumes").is_none());
}

#[test]
fn a_program_is_answered_as_a_whole() {
    let object = json(&["check", "jacobi"], 0);
    let launches = object["results"][0]["launches"].as_array().unwrap();
    let lwb = |launch: &Value| super::bound(launch, "lwb")["value"].as_u64().unwrap();
    assert_eq!(object["answers"][0]["guaranteed"]["cycles"], launches.iter().map(lwb).sum::<u64>());
}

/// Writes a machine for which no bound is proved, and returns the path of the file.
fn without_bounds(test: &str) -> String {
    let path = super::scratch(test).join("jitter.ron");
    let text = "Machine(name: \"jitter\", extends: \"fermi-c2050\", memory: Memory(jitter: Geometric(3)))";
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn several_kernels_are_summed_up_for_each_machine() {
    let machines = format!("turing-tu102,{}", without_bounds("answers-machines"));
    let args = ["check", "vecadd", "saxpy", "--machine", &machines];
    let object = json(&args, 0);
    let of = object["by_machine"].as_array().unwrap();
    assert_eq!((&of[0]["kernels"], &of[0]["guaranteed"]), (&Value::from(2), &Value::from(2)));
    assert_eq!((&of[1]["kernels"], &of[1]["guaranteed"]), (&Value::from(2), &Value::from(0)));
    let ratios: Vec<f64> =
        object["answers"].as_array().unwrap().iter().filter_map(|answer| answer["ratio"].as_f64()).collect();
    assert_eq!(ratios.len(), 2);
    let mean = of[0]["mean_ratio"].as_f64().unwrap();
    assert!((mean - (ratios[0] + ratios[1]) / 2.0).abs() < 1e-3, "{mean} {ratios:?}");
    assert_eq!(of[0]["largest_ratio"].as_f64().unwrap(), ratios[0].max(ratios[1]));
    assert_eq!(of[1]["blockers"][0]["kernels"], 2);
    let output = stdout(&warpbound(&args));
    let lines: Vec<&str> = output.lines().collect();
    assert!(
        lines[0].starts_with("guaranteed on turing-tu102: 2 of 2 kernels have a proved bound"),
        "{output}"
    );
    assert!(lines[1].starts_with("no bound is proved on jitter for any of 2 kernels: "), "{output}");
}

#[test]
fn the_parts_of_bounds_are_averaged_for_each_machine() {
    let machines = format!("accelsim-ecrts,ecrts25-orin,{}", without_bounds("answers-parts"));
    let args = ["check", "vecadd", "saxpy", "--machine", &machines];
    let object = json(&args, 0);
    let answers: Vec<&Value> = object["answers"].as_array().unwrap().iter().collect();
    let of = &object["by_machine"][0];
    assert_eq!((&of["machine"], &of["with_parts"]), (&Value::from("accelsim-ecrts"), &Value::from(2)));
    let share = |answer: &Value, name: &str| {
        let bound = &answer["guaranteed"];
        let parts = bound["parts"].as_array().unwrap().iter();
        let cycles: u64 =
            parts.filter(|part| part["part"] == name).map(|part| part["cycles"].as_u64().unwrap()).sum();
        cycles as f64 / bound["cycles"].as_f64().unwrap()
    };
    let parts = of["parts"].as_array().unwrap();
    let mut sum = 0.0;
    for part in parts {
        let with: Vec<f64> = answers
            .iter()
            .filter(|answer| answer["machine"] == "accelsim-ecrts")
            .map(|answer| share(answer, part["part"].as_str().unwrap()))
            .collect();
        let mean = part["share"].as_f64().unwrap();
        assert!((mean - (with[0] + with[1]) / 2.0).abs() < 1e-3, "{part} {with:?}");
        sum += mean;
    }
    // the parts of a bound add up to it
    assert!((sum - 1.0).abs() < 1e-3, "{parts:?}");
    assert_eq!(object["by_machine"][2]["guaranteed"], 0);
    let output = stdout(&warpbound(&args));
    let heading = output.lines().position(|line| line.starts_with("machine ")).expect("a table of machines");
    let rows: Vec<Vec<&str>> =
        output.lines().skip(heading).take(4).map(|line| line.split_whitespace().collect()).collect();
    assert!(rows[0].contains(&"load-store") && rows[0].contains(&"latency"), "{output}");
    assert_eq!((rows[1][0], rows[1][1], rows[1][2]), ("accelsim-ecrts", "2", "2"), "{output}");
    assert_eq!((rows[2][0], rows[2][5]), ("ecrts25-orin", "2"), "{output}");
    assert_eq!((rows[3][0], rows[3][2], rows[3][3]), ("jitter", "0", "-"), "{output}");
    // a machine alone has the table only if it says more than the sentence
    assert!(stdout(&warpbound(&["check", "vecadd", "saxpy"])).contains("with parts"));
    let srr = stdout(&warpbound(&["check", "vecadd", "saxpy", "--policy", "srr"]));
    assert!(!srr.contains("with parts"), "the bound of strict round robin has no parts: {srr}");
}

#[test]
fn a_run_that_is_stopped_guarantees_nothing() {
    let dir = super::scratch("answers-stopped");
    super::support::write_loop(&dir, 50_000_000);
    let launch = super::support::launch_loop("40");
    let args = [&["check", "--time-limit", "0.5"], &launch[..]].concat();
    let object = json_in(&dir, &args, 1);
    let answer = &object["answers"][0];
    assert!(answer["guaranteed"].is_null() && answer["longest"].is_null(), "{object}");
    assert_eq!(answer["blockers"][0], "a run did not come to its end");
}

#[test]
fn wcet_says_for_which_inputs_its_answer_holds() {
    let kernel = "docs/examples/halve.ron";
    let with = json(&["wcet", kernel, "--runs", "20", "--loop-bound", "41=16"], 0);
    let answer = &with["answer"];
    assert_eq!(answer["guaranteed"]["bound"], "static");
    assert_eq!(answer["guaranteed"]["inputs"], "every-input");
    assert_eq!(answer["guaranteed"]["assumes"][0], "the loop of line 41 goes back at most 16 times");
    let without = json(&["wcet", kernel, "--runs", "20"], 0);
    let answer = &without["answer"];
    assert_eq!(answer["guaranteed"]["inputs"], "these-inputs");
    let sentence = answer["sentence"].as_str().unwrap();
    assert!(
        sentence.contains("; no bound for other inputs is proved: the number of iterations"),
        "{sentence}"
    );
    assert_eq!(opening(&["wcet", kernel, "--runs", "20"]), sentence);
    let machine = without_bounds("answers-wcet");
    let none = json(&["wcet", "vecadd", "--runs", "2", "--machine", &machine], 0);
    assert!(none["answer"]["guaranteed"].is_null());
    assert!(none["answer"]["blockers"][0].as_str().unwrap().contains("memory.jitter"));
}
