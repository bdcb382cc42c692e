//! No bound is printed as applicable if its premises do not hold, for any machine, kernel, policy
//! and command.
//!
//! [`Case::applies`] states the premises a second time, independently of the library. The tests run
//! the binary. `PREMISES_CASES=FROM..TO cargo test --test cli premises -- --ignored` runs more
//! cases.

use std::fmt::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{in_dir, scratch, stderr, stdout, warpbound};

/// Pseudorandom numbers, the same for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

/// The features of a machine beyond the paper model, and the bounds that account for them; `*`
/// stands for all bounds.
const FEATURES: [(&str, &[&str]); 9] = [
    ("", &["*"]),
    ("pipeline: Pipeline(),", &["*"]),
    ("pipeline: Pipeline(queue: 3),", &["iwb", "rbb"]),
    ("pipeline: Pipeline(issue: Issue(per_warp: 2)),", &["iwb", "rbb"]),
    ("pipeline: Pipeline(front_end: FrontEnd()),", &["plb"]),
    ("pipeline: Pipeline(collector: Collector()),", &["plb"]),
    ("pipeline: Pipeline(write_back: 1),", &["iwb", "swb", "lwb", "rbb"]),
    ("pipeline: Pipeline(launch: Launch(end: 1)),", &["rbb"]),
    ("sms: 2, pipeline: Pipeline(),", &["rbb"]),
];

/// The policies, and whether they are work conserving.
const POLICIES: [(&str, bool); 7] = [
    ("gto", true),
    ("lrr", true),
    ("oldest", true),
    ("random:3", true),
    ("srr", false),
    ("gsrr", false),
    ("two-level", false),
];

const COMMANDS: [&str; 5] = ["check", "compare", "static", "wcet", "explore"];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kernel {
    /// A micro kernel with a barrier.
    Warps,
    /// PTX with a barrier for one warp of two.
    Partial,
    /// PTX without a race.
    Clean,
    /// PTX whose warps store to one cell of shared memory, and load from it.
    Racy,
}

#[derive(Debug)]
struct Case {
    kernel: Kernel,
    blocks: u64,
    places: u64,
    feature: usize,
    policy: (&'static str, bool),
    /// The place where the policy is specified.
    written: u64,
    command: &'static str,
}

impl Case {
    fn new(seed: u64) -> (Self, Random) {
        let mut random = Random(seed.wrapping_mul(0x1234_5678_9abc_def1));
        let case = Self {
            kernel: random.of(&[Kernel::Warps, Kernel::Warps, Kernel::Partial, Kernel::Clean, Kernel::Racy]),
            blocks: 1 + random.below(2),
            places: 1 + random.below(2),
            // half of the machines are of the paper model, to which most bounds apply
            feature: if random.below(2) == 0 { 0 } else { random.below(FEATURES.len() as u64) as usize },
            policy: random.of(&POLICIES),
            written: random.below(3),
            command: random.of(&COMMANDS),
        };
        (case, random)
    }

    /// Returns whether a bound applies, according to its documented premises.
    fn applies(&self, bound: &str) -> bool {
        // exploration covers one block, under every work-conserving policy
        let explores = self.command == "explore";
        // these commands use work-conserving policies of their own unless --policy names one
        let own = matches!(self.command, "compare" | "wcet") && self.written != 1;
        let (policy, work_conserving) = if explores || own { ("any", true) } else { self.policy };
        let as_a_whole = ["sms: 2", "launch:"].iter().any(|of| FEATURES[self.feature].0.contains(of));
        let resident = !explores && self.blocks.min(self.places) > 1;
        let accounted = |name: &str| FEATURES[self.feature].1.iter().any(|of| *of == "*" || *of == name);
        let aligned = self.kernel != Kernel::Partial;
        let one_path = self.kernel != Kernel::Racy;
        match bound {
            "gub" | "iwb" | "swb" | "lwb" => {
                work_conserving && accounted(bound) && !resident && aligned && one_path
            }
            "rbb" => work_conserving && accounted(bound) && (resident || as_a_whole) && aligned && one_path,
            "srr" | "gsrr" => policy == bound && accounted(bound) && !resident && aligned && one_path,
            "explored" => work_conserving && accounted("*") && !resident && aligned && one_path,
            // loaded data are unknown to this command, so races have no effect
            "static" => {
                let of_units = if resident || as_a_whole { "rbb" } else { "iwb" };
                work_conserving && (accounted(of_units) || accounted("plb")) && aligned
            }
            // runs and estimates are not bounds
            _ => true,
        }
    }

    fn machine(&self) -> String {
        let own = if self.written == 0 { policy(self.policy.0) } else { String::new() };
        format!(
            "Machine(name: \"m\", limits: Limits(blocks: {}), {} {own} units: {{ \"u\": Unit(init: 2, lat: 3), \"v\": \
             Unit(init: 1, lat: 9) }}, ops: {{ \"int\": \"u\", \"mem\": \"v\", \"ld.global\": \"v\", \"st.global\": \"v\", \
             \"ld.shared\": \"v\", \"st.shared\": \"v\", \"ld.param\": \"u\", \"bar\": \"u\", \"branch\": \"u\", \"fp32\": \"u\", \
             \"cvt\": \"u\", \"ret\": \"u\", \"alu.compare\": \"u\", \"alu.mov\": \"u\", \"alu.shift\": \"u\", \"control\": \"u\" }})",
            self.places, FEATURES[self.feature].0
        )
    }

    fn write(&self, random: &mut Random, dir: &Path) -> (PathBuf, Vec<String>) {
        std::fs::write(dir.join("m.ron"), self.machine()).unwrap();
        let mut args: Vec<String> = Vec::new();
        let file = match self.kernel {
            Kernel::Warps => {
                let mut text = String::new();
                let warps = 2 + random.below(2);
                for _ in 0..self.blocks {
                    let _ = writeln!(text, ".blocks 1\n.warps {}", warps - 1);
                    let body: String = (0..1 + random.below(4))
                        .map(|_| random.of(&["    int r1, r0\n", "    mem r0\n", "    int r2\n"]))
                        .collect();
                    let _ = writeln!(text, "{body}    bar\n    int r3, r0");
                    let _ = writeln!(text, ".warps 1\n    mem r0\n    int r2, r0\n    bar\n    int r3");
                }
                std::fs::write(dir.join("k.warp"), text).unwrap();
                "k.warp"
            }
            Kernel::Clean | Kernel::Partial | Kernel::Racy => {
                let cell = if self.kernel == Kernel::Racy { "0" } else { "%r2" };
                let barrier = if self.kernel == Kernel::Partial {
                    "setp.lt.u32 %p1, %r1, 32;\n@!%p1 bra END;\nbar.sync 1, 32;\nEND:\n"
                } else {
                    ""
                };
                let text = format!(
                    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{{\n.reg .b32 %r<6>;\n.reg .pred %p<2>;\n.shared .align 4 .b8 s[256];\n\
                     mov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\nmov.u32 %r4, s;\nadd.u32 %r5, %r4, {cell};\nst.shared.u32 [%r5], %r1;\n\
                     ld.shared.u32 %r3, [%r5];\n{barrier}ret;\n}}\n"
                );
                std::fs::write(dir.join("k.ptx"), text).unwrap();
                let grid = self.blocks.to_string();
                args.extend(["--entry", "k", "--grid", &grid, "--block", "64"].map(str::to_owned));
                "k.ptx"
            }
        };
        match self.written {
            1 => args.extend(["--policy".to_owned(), self.policy.0.to_owned()]),
            2 => args.extend(["--set".to_owned(), format!("policy={}", self.policy.0)]),
            _ => {}
        }
        (PathBuf::from(file), args)
    }
}

/// Returns the policy as a machine file writes it.
fn policy(policy: &str) -> String {
    let name = match policy {
        "gto" => "Gto",
        "lrr" => "Lrr",
        "oldest" => "Oldest",
        "srr" => "Srr",
        "gsrr" => "Gsrr",
        "two-level" => "TwoLevel",
        _ => "Random(3)",
    };
    format!("policy: {name},")
}

/// Statistics about the cases.
#[derive(Debug, Default)]
struct Counts {
    cases: u64,
    /// Cases that ended with an error and without a result.
    refused: u64,
    /// The number of values that were printed as applicable, by command.
    printed: [u64; COMMANDS.len()],
    left_out: u64,
    /// The faults, each with its case.
    wrong: Vec<String>,
    errors: Vec<String>,
}

/// Returns each name, with whether its value is printed as applicable.
fn claims(command: &str, result: &Value) -> Vec<(String, bool)> {
    let list = if command == "wcet" { "methods" } else { "bounds" };
    let rows = result[list].as_array().cloned().unwrap_or_default();
    let applies =
        |row: &Value| row["value"].is_u64() || row["status"] == "holds" || row["status"] == "violated";
    let mut all: Vec<_> =
        rows.iter().map(|row| (row["name"].as_str().unwrap_or("").to_owned(), applies(row))).collect();
    if command == "compare" {
        all.push(("explored".to_owned(), result["explored_worst"].is_u64()));
    }
    all
}

fn campaign(seeds: Range<u64>, dir: &Path) -> Counts {
    let mut counts = Counts::default();
    for seed in seeds {
        let (case, mut random) = Case::new(seed);
        let (file, more) = case.write(&mut random, dir);
        let mut args = vec![case.command, file.to_str().unwrap(), "--machine", "m.ron", "--format", "json"];
        args.extend(more.iter().map(String::as_str));
        match case.command {
            "wcet" => args.extend(["--runs", "1"]),
            // a machine with a pipeline has many choices
            "explore" => args.extend(["--max-states", "500"]),
            _ => {}
        }
        let output = in_dir(dir, &args);
        counts.cases += 1;
        let json: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let results = json["results"].as_array().cloned().unwrap_or_default();
        if results.is_empty() {
            counts.refused += 1;
            counts.errors.push(format!("case {seed}: {case:?} {} {}", stdout(&output), stderr(&output)));
        }
        for (name, applies) in results.iter().flat_map(|result| claims(case.command, result)) {
            let command = COMMANDS.iter().position(|known| *known == case.command).unwrap();
            if !applies {
                counts.left_out += 1;
            } else if case.applies(&name) {
                counts.printed[command] += 1;
            } else {
                counts.wrong.push(format!("{name} in case {seed}: {case:?}"));
            }
        }
    }
    counts
}

#[test]
fn no_bound_is_printed_as_applicable_outside_its_premises() {
    let counts = campaign(0..300, &scratch("premises"));
    assert!(counts.wrong.is_empty(), "{:#?}", counts.wrong);
    assert!(counts.printed.iter().all(|count| *count > 10) && counts.left_out > 300, "{counts:#?}");
    assert!(counts.refused < 120, "{counts:#?}");
}

#[test]
#[ignore = "a long campaign; PREMISES_CASES=FROM..TO"]
fn long_campaign() {
    let text = std::env::var("PREMISES_CASES").unwrap_or_else(|_| "0..20000".to_owned());
    let (from, to) = text.split_once("..").expect("FROM..TO");
    let counts = campaign(from.parse().unwrap()..to.parse().unwrap(), &scratch("premises-long"));
    let Counts { cases, refused, printed, left_out, ref wrong, .. } = counts;
    println!("cases {cases} refused {refused} printed {printed:?} left out {left_out} wrong {}", wrong.len());
    assert!(wrong.is_empty(), "{:#?}", &wrong[..wrong.len().min(20)]);
}

#[test]
fn the_policy_of_the_run_is_a_premise_of_the_bound_over_all_paths() {
    for args in [
        &["static", "pchase", "--policy", "srr"][..],
        &["static", "saxpy", "--policy", "gsrr"],
        &["static", "vecadd", "--policy", "two-level", "--set", "two_level_active=1"],
    ] {
        let output = warpbound(&[args, &["--format", "json"]].concat());
        let json: Value = serde_json::from_slice(&output.stdout).expect("json");
        let bounds = json["results"][0]["bounds"].as_array().expect("bounds").clone();
        let row = bounds.iter().find(|row| row["name"] == "static").expect("it is listed");
        assert_eq!(row["status"], "not-applicable", "{args:?}");
        assert!(row["reason"].as_str().unwrap().contains("is not work conserving"), "{row}");
    }
}
