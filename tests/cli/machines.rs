//! Every embedded machine loads; those that are for real kernels run one.

use serde_json::Value;

use crate::support::{self, warpbound};

/// Machines of worked examples and counterexamples: they have no op classes of PTX.
const FOR_MICRO_KERNELS: [&str; 7] = [
    "identical-warps",
    "lrr-smallest",
    "lrr-witness",
    "paper-fig2",
    "pull-apart-6",
    "pull-apart-9",
    "twenty-one",
];

fn json(args: &[&str]) -> Value {
    support::json(args, 0)
}

#[test]
fn every_machine_loads_and_runs_vecadd() {
    let listing = json(&["list"]);
    let names: Vec<&str> =
        listing["machines"].as_array().unwrap().iter().map(|m| m["name"].as_str().unwrap()).collect();
    for name in ["rtx3070", "rtx3070-1sm", "jetson-tx2", "jetson-tx2-microgpusim", "turing-tu102"] {
        assert!(names.contains(&name), "{name}");
    }
    for name in ["fermi-c2050", "kepler-gk104", "ablation-baseline", "ecrts25-orin"] {
        assert!(names.contains(&name), "{name}");
    }
    for name in names {
        if FOR_MICRO_KERNELS.contains(&name) {
            // by path, because some kernels have the same names
            let file = format!("{}/configs/{name}.ron", env!("CARGO_MANIFEST_DIR"));
            assert_eq!(json(&["inspect", &file])["kind"], "machine", "{name}");
            continue;
        }
        let result = json(&["run", "vecadd", "--machine", name]);
        assert_eq!(result["machine"], name);
        assert!(result["makespan"].as_u64().unwrap() > 0, "{name}");
    }
}

/// A product reads 24 registers and writes 8, and each of them counts. Another product that reads
/// the last result as its last source, or writes it again, waits until the first product is done.
#[test]
fn products_wait_for_every_register() {
    let list = |name: &str| {
        let names: Vec<String> = (0..8).map(|i| format!("%{name}{i}")).collect();
        names.join(", ")
    };
    let makespan = |c7: &str, d7: &str, machine: &[&str]| {
        let of = |last: &str, name: &str| list(name).replace(&format!("%{name}7"), last);
        let text = format!(
            ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() {{
             .reg .b32 %a<8>, %b<8>, %c<8>, %d<8>, %e<8>, %f<8>;
             wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {{{}}}, {{{}}}, {{{}}}, {{{}}};
             wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {{{}}}, {{{}}}, {{{}}}, {{{}}};
             ret; }}",
            list("d"),
            list("a"),
            list("b"),
            list("c"),
            of(d7, "e"),
            list("a"),
            list("b"),
            of(c7, "f"),
        );
        let name = format!("warpbound-products-{}-{c7}{d7}.ptx", std::process::id()).replace('%', "");
        let file = std::env::temp_dir().join(name);
        std::fs::write(&file, text).unwrap();
        let file_name = file.to_str().unwrap();
        let launch = ["run", file_name, "--entry", "k", "--grid", "1", "--block", "32"];
        let makespan = json(&[&launch, machine].concat())["makespan"].as_u64().unwrap();
        std::fs::remove_file(file).unwrap();
        makespan
    };
    // a product takes 38 cycles, of which it occupies its unit for 32
    let turing = ["--machine", "turing-tu102"];
    let apart = makespan("%f7", "%e7", &turing);
    assert_eq!(makespan("%d7", "%e7", &turing), apart + 6, "read");
    assert_eq!(makespan("%f7", "%d7", &turing), apart, "only RAW hazards there");
    // the other engine; there an instruction waits for a result that it overwrites
    let set = ["--set", "units.tensor.init=1", "--set", "units.tensor.lat=200"];
    let detailed = [&["--machine", "accelsim-ecrts"][..], &set].concat();
    let apart = makespan("%f7", "%e7", &detailed);
    for (c7, d7) in [("%d7", "%e7"), ("%f7", "%d7")] {
        let waits = makespan(c7, d7, &detailed);
        assert!(waits > apart + 150, "{c7} {d7}: {waits}, {apart} apart");
    }
}

#[test]
fn matrix_kernels_run_on_machines_of_every_kind_and_their_bounds_hold() {
    for machine in ["ecrts25-orin", "ecrts25-orin-4sub", "ecrts25-orin-banks", "turing-tu102"] {
        for policy in ["gto", "lrr"] {
            let result = json(&[
                "check",
                "hgemm_wmma",
                "hgemm_mma",
                "--machine",
                machine,
                "--policy",
                policy,
                "--set",
                "limits.blocks=1",
            ]);
            assert_eq!(result["verdict"], "holds", "{machine} {policy}: {result}");
        }
    }
    for machine in ["accelsim-ecrts", "accelsim-ecrts-dram", "rtx3070"] {
        let makespan =
            |kernel: &str| json(&["run", kernel, "--machine", machine])["makespan"].as_u64().unwrap();
        assert!(makespan("hgemm_wmma") > 0 && makespan("hgemm_mma") > 0);
    }
    // the padded rows of one kernel are read without conflicts, those of the other are not
    let extra = |kernel: &str| {
        let banks = json(&["run", kernel, "--machine", "ecrts25-orin-banks"])["bank_conflicts"].clone();
        serde_json::to_string(&banks).unwrap()
    };
    assert_ne!(extra("hgemm_wmma"), extra("hgemm_mma"));
}

#[test]
fn several_sms_share_the_work() {
    let makespan =
        |machine: &str| json(&["run", "sgemm_naive", "--machine", machine])["makespan"].as_u64().unwrap();
    let (all, one) = (makespan("rtx3070"), makespan("rtx3070-1sm"));
    assert!(all < one, "46 SMs take {all} cycles, one {one}");
}

#[test]
fn inspect_shows_every_setting_of_a_machine() {
    let shown = json(&["inspect", "accelsim-sm1"]);
    assert_eq!((&shown["sms"], &shown["sub_cores"]), (&1.into(), &4.into()));
    assert_eq!(shown["hazards"], serde_json::json!(["RAW", "WAW"]));
    assert_eq!(shown["reconvergence"], "PostDominator");
    assert_eq!(shown["shared_memory"]["banks"], serde_json::json!({"rule": "Words", "count": 32}));
    // a value of the base, one of this machine, and a default
    let pipeline = &shown["pipeline"];
    assert_eq!((&pipeline["queue"], &pipeline["result_buses"]), (&1.into(), &8.into()));
    assert_eq!(pipeline["front_end"]["icache"], Value::Null);
    let keys = |of: &Value| of.as_object().unwrap().len();
    assert_eq!((keys(pipeline), keys(&shown["memory"])), (12, 8));
    assert_eq!(shown["memory"]["partitions"]["dram"]["clock"], serde_json::json!([7001, 2264]));
    assert_eq!(shown["idle_settings"], serde_json::json!([]));
    let paper = json(&["inspect", "ecrts25-orin"]);
    assert_eq!((&paper["pipeline"], &paper["shared_memory"]), (&Value::Null, &Value::Null));
    assert_eq!(json(&["inspect", "ablation-baseline"])["pipeline"]["front_end"]["icache"]["sets"], 64);
}

#[test]
fn inspect_writes_pipeline_and_memory_as_files_do() {
    let text = |name: &str| {
        let output = warpbound(&["inspect", name]);
        assert!(output.status.success(), "{name}");
        String::from_utf8(output.stdout).unwrap()
    };
    let full = text("accelsim-sm1");
    for part in [
        "1 SM with 4 sub-cores\n",
        "shared memory with 32 banks of 4-byte words, conflicts by rule Words",
        "pipeline (what is not shown is off): Pipeline(\n",
        "load_store: LoadStore(\n",
        "memory: Memory(\n",
        "split: Fit(\n",
        "clock: (7001, 2264)",
        "l2: Cache(",
    ] {
        assert!(full.contains(part), "`{part}` is not in\n{full}");
    }
    // a lower level that does not exist
    assert!(!full.contains("fixed: Fixed") && !full.contains("does nothing"), "{full}");
    let paper = text("ecrts25-orin-4sub");
    for part in [
        "4 sub-cores that share const, gmem, smem\n",
        "this is the paper model",
        "memory: perfect",
        "without bank",
    ] {
        assert!(paper.contains(part), "`{part}` is not in\n{paper}");
    }
    assert!(text("rtx3070").contains("46 SMs with 4 sub-cores"));
    let idle = text("accelsim-ecrts");
    assert!(idle.contains("note: pipeline.issue.rotate does nothing: there is one sub-core"), "{idle}");
}

#[test]
fn an_unused_setting_of_the_command_line_gives_a_warning() {
    let warnings = |settings: &[&str]| {
        let set = settings.iter().flat_map(|setting| ["--set", *setting]);
        let run = ["check", "vecadd", "saxpy", "--machine", "accelsim-sm1"];
        let args: Vec<&str> = run.into_iter().chain(set).collect();
        let output = warpbound(&args);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stderr).unwrap()
    };
    let fixed = warnings(&["memory.fixed.latency=300"]);
    assert!(fixed.contains("memory.fixed does nothing: memory.lower is Partitions"), "{fixed}");
    assert_eq!(fixed.matches("does nothing").count(), 1, "{fixed}");
    // unused settings of the machine itself do not concern the command line
    assert_eq!(warnings(&["memory.lower=Fixed", "memory.fixed.latency=300"]), "");
    let shared = warnings(&["shared_memory.latency=30"]);
    assert!(shared.contains("the latency is pipeline.load_store.shared_latency"), "{shared}");
}

#[test]
fn settings_that_are_reported_as_unused_change_no_cycle() {
    let run = |args: &[&str]| {
        let args = [&["run", "--format", "json"], args].concat();
        let output = warpbound(&args);
        let shown = String::from_utf8(output.stderr).unwrap();
        let result: Value = crate::json_output::read(&output.stdout);
        (result["makespan"].as_u64().unwrap_or_else(|| panic!("{args:?}: {result}")), shown)
    };
    for (machine, settings) in [
        (
            "accelsim-ecrts",
            &[
                "pipeline.issue.rotate=true",
                "pipeline.issue.distinct_units=false",
                "shared_memory.latency=99",
                "shared_memory.base_64=99",
                "memory.seed=4",
                "memory.fixed.latency=9",
                "memory.start=Warm",
                "memory.jitter=Uniform(2, 9)",
                "units.fp32.shared=true",
            ][..],
        ),
        ("turing-tu102", &["shared_memory.base_64=99", "pipeline.collect=[sfu, memory]"]),
    ] {
        for kernel in ["transpose_conflict", "sgemm_naive"] {
            let (makespan, silent) = run(&[kernel, "--machine", machine]);
            assert_eq!(silent, "");
            for setting in settings {
                let (same, warning) = run(&[kernel, "--machine", machine, "--set", setting]);
                let path = setting.split_once('=').unwrap().0;
                let idle = path.strip_suffix(".latency").filter(|_| path.contains("fixed")).unwrap_or(path);
                assert!(warning.contains(&format!("{idle} does nothing: ")), "{setting}: {warning}");
                assert_eq!(same, makespan, "{kernel} on {machine} with {setting}");
            }
        }
    }
}
