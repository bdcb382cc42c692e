//! `pwcet`: measured times, simulated campaigns, invalid samples; sweeps of runs that differ by
//! chance.

use std::path::Path;

use serde_json::Value;

use crate::support::{in_dir, json_in, names, scratch, stderr, stdout};

/// Returns the path of data whose reference values are in `tests/data/pwcet`.
fn sample(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/pwcet").join(name).display().to_string()
}

#[track_caller]
fn refused(dir: &Path, args: &[&str]) -> String {
    let output = in_dir(dir, args);
    assert_eq!(output.status.code(), Some(1), "{args:?}: {}", stdout(&output));
    assert_eq!(stdout(&output), "", "no curve is shown");
    stderr(&output)
}

/// The fit of another program to the same data, with a page and plots.
#[test]
fn measured_times_have_the_curve_of_other_programs() {
    let dir = scratch("pwcet-file");
    let file = sample("heavy.txt");
    let reference: Value =
        serde_json::from_str(&std::fs::read_to_string(sample("heavy.json")).unwrap()).unwrap();
    let fit = &reference["tail"];
    let threshold = fit["threshold"].as_f64().unwrap();
    let at = threshold.to_string();
    let args = ["pwcet", &file, "--threshold", &at, "--unit", "us", "--html", "p.html", "--svg", "plots"];
    let found = &json_in(&dir, &args, 0)["results"][0];
    let near = |ours: &Value, theirs: &Value| {
        let (ours, theirs) = (ours.as_f64().unwrap(), theirs.as_f64().unwrap());
        assert!((ours - theirs).abs() <= 1e-4 * theirs.abs(), "{ours} and {theirs}");
    };
    near(&found["tail"]["best"]["xi"], &fit["xi"]);
    near(&found["tail"]["best"]["alpha"], &fit["alpha"]);
    near(&found["tail"]["l_moments"]["xi"], &fit["l_moments"]["xi"]);
    assert_eq!(found["tail"]["exceedances"], fit["exceedances"]);
    let points = found["pwcet"]["points"].as_array().unwrap();
    let times: Vec<f64> = points.iter().map(|point| point["time"].as_f64().unwrap()).collect();
    assert!(times.len() == 13 && times.windows(2).all(|two| two[0] <= two[1]), "{times:?}");
    let page = std::fs::read_to_string(dir.join("p.html")).unwrap();
    for word in [
        "Probability that a run takes longer",
        "Autocorrelation",
        "Mean excess against threshold",
        ">us",
        "The curve is not a bound",
    ] {
        assert!(page.contains(word), "{word}");
    }
    assert_eq!(names(&dir.join("plots")).len(), 7);
    let text = stdout(&in_dir(&dir, &["pwcet", &file, "--threshold", &at]));
    assert!(text.contains("KPSS level") && text.contains("confidence") && text.contains("1e-9"), "{text}");
    // the result is the same through a pipe
    let quoted = format!("\"$W\" pwcet - --threshold {at} --format json < '{file}'");
    let piped = crate::support::shell(&dir, &quoted);
    let piped: Value = serde_json::from_slice(&piped.stdout).unwrap();
    assert_eq!(piped["results"][0]["pwcet"], found["pwcet"]);
}

#[test]
fn invalid_samples_have_no_curve() {
    let dir = scratch("pwcet-bad");
    let write = |name: &str, text: &str| std::fs::write(dir.join(name), text).unwrap();
    let many = |value: &dyn Fn(u32) -> String| (0..200).map(|n| value(n) + "\n").collect::<String>();
    write("constant.csv", &many(&|_| "7".to_owned()));
    write("few.csv", "1\n2\n3\n");
    std::fs::create_dir(dir.join("empty")).unwrap();
    write("nan.csv", &(many(&|n| n.to_string()) + "nan\n"));
    write("negative.csv", &(many(&|n| n.to_string()) + "-1\n"));
    write(
        "units.csv",
        &many(&|n| if n % 2 == 0 { format!("{}", 1_000_000 + n) } else { format!("{}", 1000 + n) }),
    );
    write("suffix.csv", &(many(&|n| n.to_string()) + "12 ms\n"));
    write("two.csv", &many(&|n| format!("{n},{n}")));
    write("tied.csv", &many(&|n| (n / 195).to_string()));
    for (file, message) in [
        ("nan.csv", "nan.csv:201:1"),
        ("negative.csv", "this is negative"),
        ("units.csv", "are they all in one unit?"),
        ("suffix.csv", "units are not read"),
        ("two.csv", "2 columns without names"),
        ("nowhere.csv", "cannot read the file"),
        ("empty", "cannot read the file"),
    ] {
        let found = refused(&dir, &["pwcet", file]);
        assert!(found.contains(message), "{file}: {found}");
    }
    write("good.csv", &many(&|n| (n * n % 977).to_string()));
    for (more, message) in [
        (&["--runs", "5"][..], "nothing is simulated"),
        (&["--random", "jitter"], "nothing is simulated"),
        (&["--probability", "2"], "2 is not more than 0 and less than 1"),
        (&["--significance", "0"], "more than 0 and less than 1"),
        (&["--level", "nan"], "--level NaN"),
        (&["--threshold", "nan"], "no time that a run can take"),
        (&["--threshold", "1e308"], "no time that a run can take"),
        (&["--column", "x"], "there is no column `x`"),
        (&["--bootstraps", "9999999"], "bootstrap replicates"),
    ] {
        let found = refused(&dir, &[&["pwcet", "good.csv"], more].concat());
        assert!(found.contains(message), "{more:?}: {found}");
    }
    for (args, numbers, why, help) in [
        (&["constant.csv"][..], "7 to 7 cycles", "all measurements are 7", "a finer clock"),
        (&["few.csv"], "1 to 3 cycles", "3 measurements are too few", "at least 100 runs"),
        (
            &["tied.csv"],
            "0 to 1 cycles",
            "too many of the largest measurements are the same",
            "a finer clock",
        ),
        (&["good.csv", "--threshold", "1e9"], "cycles", "0 measurements are above the threshold", ""),
    ] {
        let output = in_dir(&dir, &[&["pwcet"], args].concat());
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(stderr(&output).contains(why), "{args:?}: {}", stderr(&output));
        let shown = stdout(&output);
        for part in [numbers, why, help] {
            assert!(shown.contains(part), "{args:?}, {part}: {shown}");
        }
    }
    std::os::unix::fs::symlink("good.csv", dir.join("link.html")).unwrap();
    assert!(
        refused(&dir, &["pwcet", "good.csv", "--html", "link.html", "--force"]).contains("which is read")
    );
}

/// A campaign is a sweep: its runs are those of `run` with the drawn values, and it can be
/// interrupted, resumed and merged.
#[test]
fn a_campaign_is_a_sweep() {
    let dir = scratch("pwcet-campaign");
    fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
        let base = ["pwcet", "histogram", "--machine", "kepler-gk104", "--runs", "600", "--bootstraps", "0"];
        [&base[..], more].concat()
    }
    let vary = ["--random", "inputs,replacement,placement"];
    let whole = json_in(&dir, &with(&[&vary[..], &["--out", "all"]].concat()), 0)["results"][0].clone();
    let campaign = &whole["measured"]["campaign"];
    assert_eq!((campaign["runs"].as_u64(), campaign["from"].as_u64()), (Some(600), Some(0)));
    assert_eq!(campaign["varied"], serde_json::json!(["inputs", "replacement", "placement"]));
    // the same result in memory, and on one thread
    let again = json_in(&dir, &with(&[&vary[..], &["--jobs", "1"]].concat()), 0)["results"][0].clone();
    assert_eq!(again, whole);
    // and read from the folder
    let read = json_in(&dir, &["pwcet", "all", "--bootstraps", "0"], 0)["results"][0].clone();
    assert_eq!((&read["pwcet"], &read["kpss"]), (&whole["pwcet"], &whole["kpss"]));

    let lines = std::fs::read_to_string(dir.join("all/results.jsonl")).unwrap();
    let records: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records.len(), 600);
    let longest = campaign["longest_run"].as_u64().unwrap() as usize;
    let most = records.iter().map(|record| record["makespan"].as_u64()).max().unwrap();
    assert_eq!(records[longest]["makespan"].as_u64(), most);
    assert!(records.iter().enumerate().all(|(n, record)| record["draw"] == n && record["seed"] == n));

    // merged shards equal the whole, and so does an interrupted and resumed campaign
    for shard in ["1/2", "2/2"] {
        let out = format!("s{}", &shard[..1]);
        let output = in_dir(&dir, &with(&[&vary[..], &["--shard", shard, "--out", &out]].concat()));
        assert!(
            output.status.success() && stdout(&output).contains("300 of 300 points"),
            "{}",
            stdout(&output)
        );
    }
    assert!(in_dir(&dir, &["merge", "s1", "s2", "--out", "both"]).status.success());
    assert_eq!(std::fs::read_to_string(dir.join("both/results.jsonl")).unwrap(), lines);
    let half: String = lines.lines().take(300).map(|line| format!("{line}\n")).collect();
    std::fs::write(dir.join("all/results.jsonl"), half).unwrap();
    assert!(refused(&dir, &with(&[&vary[..], &["--out", "all"]].concat())).contains("--resume goes on"));
    let resumed = json_in(&dir, &with(&[&vary[..], &["--out", "all", "--resume"]].concat()), 0);
    assert_eq!(resumed["results"][0], whole);
    assert_eq!(std::fs::read_to_string(dir.join("all/results.jsonl")).unwrap(), lines);
}

/// Sources that are not drawn have no effect. If inputs are equal, caches replace the oldest line
/// and SMs receive blocks in turn, all runs are the same.
#[test]
fn every_source_of_variation_can_be_switched() {
    let dir = scratch("pwcet-sources");
    let makespans = |vary: &str, more: &[&str]| -> Vec<u64> {
        let of: Vec<String> = vary.split(',').map(|word| word[..1].to_uppercase() + &word[1..]).collect();
        let plan = format!(
            "Sweep(kernels: [Kernel(\"histogram\")], machines: [\"kepler-gk104\"], policies: [\"gto\"], settings: {{ {} }},
                draws: Draws(count: 12, from: 3, of: [{}]))",
            more.join(", "),
            of.join(", ")
        );
        std::fs::write(dir.join("plan.ron"), plan).unwrap();
        let out = format!("{}-{}", vary.replace(',', "-"), more.len());
        let ended = in_dir(&dir, &["sweep", "plan.ron", "--out", &out]);
        assert!(ended.status.success(), "{}", stderr(&ended));
        let lines = std::fs::read_to_string(dir.join(out).join("results.jsonl")).unwrap();
        let record = |line: &str| serde_json::from_str::<Value>(line).unwrap();
        lines.lines().map(|line| record(line)["makespan"].as_u64().unwrap()).collect()
    };
    let differ = |all: &[u64]| all.iter().any(|one| *one != all[0]);
    let jitter = "\"memory.jitter\": [\"Geometric(20)\"]";
    let inputs = makespans("inputs", &[jitter]);
    let jittered = makespans("jitter", &[jitter]);
    assert!(differ(&inputs) && differ(&jittered));
    assert_ne!(inputs, jittered);
    assert_ne!(makespans("inputs,jitter", &[jitter]), inputs);
    // the caches are large enough for this kernel, and two blocks have an SM each, so that
    // replacement and placement have no effect
    assert!(!differ(&makespans("replacement", &[jitter])), "jitter is off, since it is not drawn");
    // a run of the campaign equals a separate run
    let run = |number: u64, seed: &str| {
        let set = format!("memory.seed={seed}");
        let args = ["run", "histogram", "--machine", "kepler-gk104", "--set", "memory.jitter=Geometric(20)"];
        let number = number.to_string();
        let more = ["--seed", &number, "--set", &set, "--set", "memory.l1.cache.replacement=Lru"];
        let lru = ["--set", "memory.partitions.l2.replacement=Lru"];
        json_in(&dir, &[&args[..], &more, &lru].concat(), 0)["results"][0]["makespan"].as_u64().unwrap()
    };
    // memory.seed of draw 4: the first word of ChaCha8's stream 2^32 with that seed, from the
    // crate's own generator
    assert_eq!(run(0, &drawn(4).to_string()), jittered[1]);
}

fn drawn(number: u64) -> u64 {
    use rand::{Rng, SeedableRng};
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(number);
    rng.set_stream(1 << 32);
    rng.next_u64()
}

#[test]
fn a_campaign_without_variation_is_refused() {
    let dir = scratch("pwcet-still");
    for (args, message) in [
        (&["pwcet", "transpose_naive", "--runs", "200"][..], "nothing differs between runs"),
        (&["pwcet", "transpose_naive", "--random", "inputs"], "has no random data"),
        (&["pwcet", "vecadd", "--random", "replacement"], "no cache whose lines"),
        (&["pwcet", "vecadd", "--machine", "kepler-gk104", "--random", "jitter"], "memory.jitter is Off"),
        (&["pwcet", "vecadd", "--machine", "accelsim-sm1", "--random", "placement"], "on several SMs only"),
        (&["pwcet", "vecadd", "--machine", "kepler-gk104", "--runs", "200"], "all measurements are"),
        (&["pwcet", "vecadd", "--column", "a"], "is simulated and has no columns"),
        (&["pwcet", "vecadd", "--runs", "0"], "0 is not in 1.."),
        (&["pwcet", "vecadd", "--random", "weather"], "inputs, replacement, jitter, placement"),
        (&["pwcet", "nowhere"], "no embedded kernel of this name"),
    ] {
        let output = in_dir(&dir, args);
        assert!(
            !output.status.success() && stderr(&output).contains(message),
            "{args:?}: {}",
            stderr(&output)
        );
    }
}

/// If no curve is possible, the known data of the runs are shown; simulated cycles need no finer
/// clock.
#[test]
fn runs_without_a_curve_are_shown_in_numbers_and_plots() {
    let dir = scratch("pwcet-none");
    let args = ["pwcet", "vecadd", "--machine", "kepler-gk104", "--runs", "120"];
    let all = [&args[..], &["--svg", "plots", "--html", "page.html"]].concat();
    let result = json_in(&dir, &all, 1)["results"][0].clone();
    let sample = &result["sample"];
    assert_eq!(
        (&sample["measurements"], &result["measured"]["campaign"]["runs"]),
        (&120.into(), &120.into())
    );
    assert!(sample["minimum"].as_f64() > Some(0.0) && sample["minimum"] == sample["maximum"], "{sample}");
    assert!(result["no_curve"].as_str().unwrap().contains("all measurements are"), "{result}");
    assert!(!result["trace"].as_array().unwrap().is_empty() && result.get("pwcet").is_none());
    let help = result["what_would_help"].to_string();
    assert!(help.contains("--random") && !help.contains("clock"), "{help}");
    assert_eq!(names(&dir.join("plots")), ["exceedance.svg", "trace.svg"]);
    assert!(std::fs::read_to_string(dir.join("page.html")).unwrap().contains("all measurements are"));
    let help = stdout(&in_dir(&dir, &["pwcet", "--help"]));
    assert!(help.contains("[default: 10000]"), "{help}");
}

/// What cannot be written or used is refused before anything is simulated: with the default number of
/// runs these commands would take minutes.
#[test]
fn outputs_and_options_are_checked_before_the_runs() {
    let dir = scratch("pwcet-before");
    std::fs::write(dir.join("there.html"), "page").unwrap();
    std::fs::write(dir.join("times.csv"), "cycles\n1\n2\n").unwrap();
    std::fs::create_dir(dir.join("plots")).unwrap();
    std::fs::write(dir.join("plots/trace.svg"), "plot").unwrap();
    let many = ["pwcet", "bfs_expand", "--runs", "100000000"];
    for (more, place) in [
        (&["--html", "nodir/x.html"][..], "--html nodir/x.html"),
        (&["--html", "there.html"], "--html there.html"),
        (&["--svg", "times.csv"], "--svg times.csv"),
        (&["--svg", "plots"], "--svg plots/trace.svg"),
        (&["--bootstraps", "2000000"], "--bootstraps 2000000"),
        (&["--unit", "ms"], "--unit ms"),
        (&["--random", "inputs,inputs"], "--random inputs"),
        (&["--out", "o", "--shard", "1/2", "--judge", "5"], "--judge"),
    ] {
        let found = refused(&dir, &[&many[..], more].concat());
        assert!(found.contains(&format!("--> {place}\n")), "{found}");
    }
    for more in [&["--policy", "lrr"][..], &["--machine", "rtx3070"], &["--set", "sms=2"], &["--grid", "2"]] {
        let found = refused(&dir, &[&["pwcet", "times.csv"], more].concat());
        assert!(
            found.contains("nothing is simulated") && found.contains(more[0].trim_end_matches("grid")),
            "{found}"
        );
    }
}

/// A curve compared with further runs: the counts are those of the runs themselves, and no proved
/// bound is below a run.
#[test]
fn a_curve_is_judged_by_further_runs() {
    let dir = scratch("pwcet-judged");
    let args = [
        "pwcet",
        "embedding",
        "--runs",
        "400",
        "--judge",
        "900",
        "--max-states",
        "50",
        "--bootstraps",
        "0",
        "--html",
        "p.html",
    ];
    let found = &json_in(&dir, &args, 0)["results"][0];
    let judged = &found["judged"];
    assert_eq!((judged["from"].as_u64(), judged["runs"].as_u64()), (Some(400), Some(900)));
    // the same runs as a separate campaign
    let more = ["pwcet", "embedding", "--runs", "900", "--seed", "400", "--out", "more", "--bootstraps", "0"];
    let campaign = json_in(&dir, &more, 0)["results"][0]["measured"]["campaign"].clone();
    assert_eq!(judged["longest_run"], campaign["longest_run"]);
    let lines = std::fs::read_to_string(dir.join("more/results.jsonl")).unwrap();
    let records: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let makespan = |record: &Value| record["makespan"].as_f64().unwrap();
    for at in judged["exceeded"].as_array().unwrap() {
        let longer = records.iter().filter(|record| makespan(record) > at["time"].as_f64().unwrap()).count();
        assert_eq!(at["runs"].as_u64(), Some(longer as u64));
        assert_eq!(at["contradicted"].as_bool(), Some(at["p_value"].as_f64().unwrap() < 0.001));
        let limit = &at["by_upper_limit"];
        if let Some(time) = limit["time"].as_f64() {
            let longer = records.iter().filter(|record| makespan(record) > time).count();
            assert_eq!(limit["runs"].as_u64(), Some(longer as u64));
            assert!(time >= at["time"].as_f64().unwrap());
        }
    }
    let longest = judged["longest"].as_f64().unwrap();
    assert_eq!(judged["below_run"].as_bool(), Some(judged["at_1e_9"].as_f64().unwrap() < longest));
    let others = judged["others"].as_array().unwrap();
    let value = |name: &str| others.iter().find(|row| row["name"] == name).unwrap()["value"].as_f64();
    for bound in ["iwb", "swb", "lwb"] {
        let most = records.iter().map(|record| record[bound].as_f64().unwrap()).fold(0.0, f64::max);
        assert_eq!(value(bound), Some(most), "{bound}");
        assert!(most >= longest, "{bound}");
    }
    assert!(value("static") >= value("iwb") && value("explored").is_none());
    assert!(std::fs::read_to_string(dir.join("p.html")).unwrap().contains("Does it hold?"));
    assert!(
        refused(&dir, &["pwcet", "embedding", "--judge", "9", "--seed", "18446744073709551610"])
            .contains("64 bits")
    );
}
