//! The output of `warpbound hunt` and `warpbound family` in JSON.

use crate::support::{bound, in_dir as warpbound, json_in as json, scratch, stderr, stdout};

#[test]
fn gub_is_violated_in_all_three_settings_and_the_folders_replay() {
    let dir = scratch("hunt-gub");
    let result = json(&dir, &["hunt", "--bound", "gub", "--seed", "1", "--counterexamples", "found"], 3);
    assert_eq!(result["verdict"], "violated");
    let settings = result["results"].as_array().unwrap();
    let names: Vec<&str> = settings.iter().map(|s| s["setting"].as_str().unwrap()).collect();
    assert_eq!(names, ["any", "identical", "policy:lrr"]);
    for setting in settings {
        let witness = &setting["violation"]["witness"];
        let name = setting["setting"].as_str().unwrap();
        let folder = dir.join(format!("found/hunt-gub-{}-1", name.replace(':', "-")));
        let readme = std::fs::read_to_string(folder.join("README")).unwrap();
        let command = readme.lines().find_map(|line| line.trim().strip_prefix("warpbound ")).unwrap();
        let words: Vec<&str> = command.split_whitespace().collect();
        let checked = json(&folder, &words, 3);
        assert_eq!(checked["makespan"], witness["worst"], "{name}");
        assert_eq!(bound(&checked, "gub")["value"], witness["bound"], "{name}");
        assert_eq!(bound(&checked, "gub")["status"], "violated", "{name}");
        assert_eq!(bound(&checked, "iwb")["status"], "holds", "{name}");
        assert!(witness["instructions"].as_u64() < setting["violation"]["found"]["instructions"].as_u64());
        if name == "policy:lrr" {
            let plain = ["check", "kernel.warp", "--machine", "machine.ron", "--policy", "lrr"];
            assert_eq!(json(&folder, &plain, 3)["makespan"], witness["worst"]);
        }
    }
}

#[test]
fn the_output_is_the_same_for_any_number_of_jobs() {
    let dir = scratch("hunt-jobs");
    for (setting, seed) in [("any", "7"), ("policy:gto", "5")] {
        let run = |jobs| {
            let output = warpbound(
                &dir,
                &["hunt", "--bound", "gub", "--seed", seed, "--setting", setting, "--jobs", jobs],
            );
            assert_eq!(output.status.code(), Some(3));
            output.stdout
        };
        let one = run("1");
        assert!(String::from_utf8_lossy(&one).contains("--- schedule.replay"));
        assert_eq!(one, run("2"), "{setting}");
    }
}

/// A bound that does not apply never counts as 0 cycles.
#[test]
fn a_bound_is_judged_only_where_it_applies() {
    let dir = scratch("hunt-applies");
    for setting in [&[][..], &["--setting", "identical"], &["--setting", "policy:lrr"]] {
        let args =
            [&["hunt", "--bound", "plb", "--instances", "3", "--counterexamples", "c"], setting].concat();
        let output = warpbound(&dir, &args);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains("--bound plb") && message.contains("--machine accelsim-sm1"), "{message}");
    }
    // the setting of a bound of one policy is that policy
    let srr = json(&dir, &["hunt", "--bound", "srr", "--instances", "50"], 0);
    let setting = &srr["results"][0];
    assert_eq!((&setting["setting"], &setting["instances"]), (&"policy:srr".into(), &50.into()));
    let output = warpbound(&dir, &["hunt", "--bound", "srr", "--setting", "any"]);
    assert!(stderr(&output).contains("--setting policy:srr"));
    let output = warpbound(&dir, &["hunt", "--bound", "iwb", "--setting", "fast"]);
    assert!(stderr(&output).contains("policies: gto, lrr, srr,"));
}

/// A hunt that judged nothing states why, and prints no average.
#[test]
fn a_hunt_on_machines_that_judges_nothing_states_why() {
    let dir = scratch("hunt-nothing");
    let args = ["hunt", "--bound", "iwb", "--machine", "rtx3070", "--instances", "5", "--warps", "16"];
    let found = json(&dir, &args, 0);
    let setting = &found["results"][0];
    assert_eq!((&setting["verdict"], &setting["instances"]), (&"not-applicable".into(), &0.into()));
    assert!(setting["mean_ratio"].is_null());
    let why = setting["why_not_judged"].as_str().unwrap();
    let text = stdout(&warpbound(&dir, &args));
    assert!(text.contains(why) && !text.contains("on average"), "{text}");
    let output = warpbound(&dir, &["hunt", "--bound", "gub", "--machine", "paper-fig2"]);
    let message = stderr(&output);
    assert!(message.contains("--machine paper-fig2") && message.contains("`ld.param`"), "{message}");
    assert_eq!(message.matches("error:").count(), 1, "{message}");
}

#[test]
fn iwb_is_not_violated() {
    let dir = scratch("hunt-iwb");
    let result = json(&dir, &["hunt", "--bound", "iwb", "--instances", "20000", "--jobs", "2"], 0);
    let setting = &result["results"][0];
    assert_eq!((&result["verdict"], &setting["setting"]), (&"holds".into(), &"any".into()));
    assert_eq!((&setting["instances"], &setting["exact_instances"]), (&20000.into(), &20000.into()));
    assert_eq!(setting["closest"]["ratio"], 1.0);
    assert!(setting["violation"].is_null());
    assert!(setting["schedules"].as_f64() > Some(20000.0));
}

#[test]
fn rbb_is_not_violated_with_several_blocks() {
    let dir = scratch("hunt-rbb");
    let args = ["hunt", "--bound", "rbb", "--setting", "any", "--instances", "300", "--blocks", "2"];
    let result = json(&dir, &args, 0);
    let setting = &result["results"][0];
    assert_eq!((&result["verdict"], &setting["instances"]), (&"holds".into(), &300.into()));
    assert_eq!(setting["closest"]["ratio"], 1.0);
}

/// A hunt on machines of every kind, whose kernels, launches and settings are all accepted by the
/// ordinary front ends or refused; the output does not depend on the number of threads.
#[test]
fn machines_with_pipelines_and_memory_systems_are_hunted() {
    let dir = scratch("hunt-machines");
    let machines = "accelsim-ecrts,accelsim-sm1,accelsim-ecrts-dram,fermi-c2050,kepler-gk104";
    let run = |bound: &str, machines: &str, jobs: &str| {
        let args = ["hunt", "--bound", bound, "--machine", machines, "--instances", "300", "--setting"];
        json(&dir, &[&args[..], &["policy:lrr", "--jobs", jobs]].concat(), 0)
    };
    for (bound, machines) in [("plb", machines), ("rbb", "jetson-tx2,turing-tu102,ecrts25-orin-4sub")] {
        let one = run(bound, machines, "1");
        assert_eq!(one, run(bound, machines, "2"));
        let result = &one["results"][0];
        let number = |name: &str| result[name].as_u64().unwrap();
        assert_eq!((number("cases"), &result["verdict"]), (300, &"holds".into()), "{result}");
        assert_eq!(number("refused") + number("not_applicable") + number("instances"), 300);
        assert!(number("instances") > 100, "{result}");
        // the closest case can be repeated
        let closest = &result["closest"];
        std::fs::write(dir.join("kernel.ptx"), closest["kernel"].as_str().unwrap()).unwrap();
        let command = closest["command"].as_str().unwrap().strip_prefix("warpbound ").unwrap();
        let words = shlex::split(command).unwrap();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let checked = json(&dir, &words, 0);
        assert_eq!(checked["makespan"], closest["worst"]);
        assert_eq!(crate::support::bound(&checked, bound)["value"], closest["bound"]);
    }
}

#[test]
fn wrong_hunts_are_refused() {
    let dir = scratch("hunt-wrong");
    for (args, code, named) in [
        (&["hunt", "--bound", "gup"][..], 1, "did you mean `gub`"),
        (&["hunt", "--bound", "gub", "--setting", "policy:fifo"], 1, "unknown policy `fifo`"),
        (&["hunt", "--bound", "gub", "--setting", "all"], 1, "unknown setting `all`"),
        (&["hunt", "--bound", "gub", "--setting", "policy:srr"], 1, "not work conserving"),
        (&["hunt", "--bound", "gub", "--setting", "policy:replay:x"], 1, "one kernel only"),
        (&["hunt", "--bound", "gub", "--instances", "0"], 1, "nothing to judge"),
        (&["hunt", "--bound", "gub", "--warps", "0"], 2, "--warps"),
        (&["hunt", "--bound", "iwb", "--blocks", "3"], 1, "about single blocks"),
        (&["hunt", "--bound", "rbb", "--resident", "9"], 2, "--resident"),
        (&["hunt", "--bound", "plb", "--machine", "fermi"], 1, "did you mean `fermi-c2050`"),
        (&["hunt", "--bound", "plb", "--machine", "fermi-c2050", "--setting", "any"], 1, "paper model only"),
        (&["hunt", "--bound", "plb", "--machine", "fermi-c2050", "--units", "3"], 1, "at random"),
        (&["hunt"], 2, "--bound"),
        (&["family", "ping-pong", "--m", "40"], 1, "64 units"),
        (&["family", "ping-pong", "--p", "0", "--n", "0"], 1, "--n 0"),
        (&["family", "ping-pong", "--m", "18446744073709551615", "--gated"], 1, "1 to 31 stages"),
        (&["family", "pong"], 2, "ping-pong"),
    ] {
        let output = warpbound(&dir, args);
        let shown = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {shown}");
        assert!(shown.contains(named), "{args:?}: {shown}");
    }
}

#[test]
fn the_ping_pong_family_has_the_numbers_of_its_table() {
    // the table in `warpbound::model`, section 12: P, m, n, gated, instructions, GUB, lrr, gto, IWB
    let table = [
        (8, 3, 8, false, Some(52), 192, 209, None, 248),
        (16, 4, 16, false, Some(134), 704, 1073, None, 1184),
        (32, 6, 32, false, Some(394), 2688, 6305, None, 6656),
        (32, 8, 32, false, Some(526), 2944, 8417, None, 8896),
        (16, 4, 16, true, None, 722, 1073, Some(1089), 1196),
        (32, 6, 32, true, None, 2718, 6305, Some(6337), 6676),
    ];
    let dir = scratch("family");
    for (p, m, n, gated, instructions, gub, lrr, gto, iwb) in table {
        let folder = format!("p{p}m{m}{gated}");
        let [p, m, n] = [p, m, n].map(|value| value.to_string());
        let mut args = vec!["family", "ping-pong", "--p", &p, "--m", &m, "--n", &n, "--out", &folder];
        if gated {
            args.push("--gated");
        }
        assert_eq!(warpbound(&dir, &args).status.code(), Some(0), "{args:?}");
        let kernel = format!("{folder}/kernel.warp");
        for (policy, makespan) in [("lrr", Some(lrr)), ("gto", gto)] {
            let Some(makespan) = makespan else { continue };
            let checked = json(&dir, &["check", &kernel, "--policy", policy], 3);
            assert_eq!(checked["makespan"], makespan, "{folder} {policy}");
            assert_eq!(bound(&checked, "gub")["value"], gub, "{folder}");
            assert_eq!(bound(&checked, "iwb")["value"], iwb, "{folder}");
            assert_eq!(bound(&checked, "iwb")["status"], "holds");
        }
        if let Some(instructions) = instructions {
            let code = std::fs::read_to_string(dir.join(&kernel)).unwrap();
            let is_code = |line: &&str| line.starts_with("    ") && !line.contains("ret");
            assert_eq!(code.lines().filter(is_code).count() as u64, instructions, "{folder}");
        }
    }
    let printed = warpbound(&dir, &["family", "ping-pong"]);
    let text = String::from_utf8(printed.stdout).unwrap();
    assert!(text.contains("# kernel.warp\n") && text.contains("// machine.ron\nMachine("), "{text}");
}
