use proptest::prelude::*;

use super::values::{address, cache, named, ratio, thousandths};
use super::{Became, Imported, import};
use crate::diag::{Diagnostics, SourceText};
use crate::machine::{Machine, MachineSpec};

const STOCK: &str = include_str!("../../../../../tests/data/gpgpusim/rtx3070.config");

fn config(name: &str) -> SourceText {
    let path = format!("{}/../../configs/{name}.ron", env!("CARGO_MANIFEST_DIR"));
    SourceText::new(path.clone(), std::fs::read_to_string(path).unwrap())
}

fn machine(name: &str) -> MachineSpec {
    MachineSpec::parse_with_bases(&config(name), &|name| Ok(config(name))).unwrap()
}

fn imported(text: &str) -> Result<Imported, Diagnostics> {
    import(&[SourceText::new("gpgpusim.config", text)], machine("accelsim-sm1"))
}

fn settings(text: &str) -> Vec<String> {
    let options = imported(text).unwrap().options;
    let applied = |became| if let Became::Settings(settings) = became { settings } else { Vec::new() };
    options.into_iter().flat_map(|option| applied(option.became)).collect()
}

/// Collects the paths at which two JSON values differ.
fn differences(a: &serde_json::Value, b: &serde_json::Value, path: &str, found: &mut Vec<String>) {
    match (a, b) {
        (serde_json::Value::Object(a), serde_json::Value::Object(b)) => {
            let names: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).collect();
            for name in names {
                let none = serde_json::Value::Null;
                let (a, b) = (a.get(name).unwrap_or(&none), b.get(name).unwrap_or(&none));
                differences(a, b, &format!("{path}.{name}"), found);
            }
        }
        _ if a == b => {}
        _ => found.push(format!("{path}: {a} {b}")),
    }
}

/// The options yield every number of the machine that was written by hand. They differ only in the
/// sources of numbers, and in what that machine omits on purpose.
#[test]
fn the_stock_configuration_is_the_machine_that_was_written_by_hand() {
    let mut ours = serde_json::to_value(machine("rtx3070")).unwrap();
    let mut theirs = serde_json::to_value(imported(STOCK).unwrap().spec).unwrap();
    for machine in [&mut ours, &mut theirs] {
        for entries in ["units", "ops"] {
            for entry in machine[entries].as_object_mut().unwrap().values_mut() {
                if let Some(entry) = entry.as_object_mut() {
                    entry.remove("source");
                }
            }
        }
    }
    let mut found = Vec::new();
    differences(&ours, &theirs, "", &mut found);
    found.retain(|difference| !difference.starts_with(".name") && !difference.starts_with(".doc"));
    // rtx3070 does not include the time of a launch
    assert_eq!(found, [".pipeline.launch.first: 1 5001"]);
}

/// The options of SM86_RTX3070's trace.config.
const TRACES: &str = "-trace_opcode_latency_initiation_int 2,2\n-trace_opcode_latency_initiation_sp 2,1\n\
                      -trace_opcode_latency_initiation_dp 64,64\n-trace_opcode_latency_initiation_sfu 21,8\n\
                      -trace_opcode_latency_initiation_tensor 32,32\n\
                      -specialized_unit_1 1,4,4,4,4,BRA\n-trace_opcode_latency_initiation_spec_op_1 4,4\n\
                      -specialized_unit_2 1,4,200,4,4,TEX\n-trace_opcode_latency_initiation_spec_op_2 200,4\n\
                      -specialized_unit_3 1,4,32,4,4,TENSOR\n-trace_opcode_latency_initiation_spec_op_3 32,32\n\
                      -specialized_unit_4 1,4,4,4,4,UDP\n-trace_opcode_latency_initiation_spec_op_4 4,1\n";

/// Returns every op class of a machine with its unit and timing.
fn classes(spec: &MachineSpec) -> Vec<(String, String, u64, u64)> {
    let machine = Machine::new(spec, &config("accelsim-sm1")).unwrap();
    let opcodes = ["turing", "ampere", "common"].map(|name| {
        std::fs::read_to_string(format!("{}/../../isa/traces/{name}.ron", env!("CARGO_MANIFEST_DIR")))
            .unwrap()
    });
    let text = opcodes.concat();
    let mut names: Vec<&str> =
        text.split("class: \"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    names.extend(["control", "barrier", "fence", "shfl", "tensor", "alu.vote", "int.mul24"]);
    names.sort_unstable();
    names.dedup();
    let timing = |name: &&str| {
        let op = machine.op(name).or_else(|| machine.op(&format!("{name}.global"))).unwrap();
        let unit = machine.units()[op.unit.index()].name.clone();
        ((*name).to_owned(), unit, op.init.get(), op.lat.get())
    };
    names.iter().map(timing).collect()
}

#[test]
fn the_configuration_of_traces_is_the_machine_for_traces() {
    let sources = [SourceText::new("gpgpusim.config", STOCK), SourceText::new("trace.config", TRACES)];
    let imported = import(&sources, machine("accelsim-sm1")).unwrap();
    let ours = machine("rtx3070-trace");
    assert_eq!(classes(&ours), classes(&imported.spec));
    let pipeline = |spec: &MachineSpec| {
        let pipeline = spec.pipeline.clone().unwrap();
        (pipeline.collect, pipeline.unscored)
    };
    assert_eq!(pipeline(&ours), pipeline(&imported.spec));
    let became = |name: &str| &imported.options.iter().find(|option| option.name == name).unwrap().became;
    for name in ["-ptx_opcode_latency_int", "-ptx_opcode_initiation_dp", "-ptx_opcode_latency_sfu"] {
        assert!(matches!(became(name), Became::Nothing(why) if why.contains("-trace_opcode")), "{name}");
    }
    assert!(matches!(became("-specialized_unit_4"), Became::Settings(all) if !all.is_empty()));
    let source = &imported.spec.units["udp"].source;
    assert!(source.contains("spec_op_4 4,1 (trace.config:13)"), "{source}");
    // without a latency of traces, units of traces have no effect
    let alone = imported_options("-specialized_unit_1 1,4,4,4,4,BRA\n");
    assert!(matches!(&alone[0], Became::Nothing(why) if why.contains("-trace_opcode_latency_initiation_*")));
    for (text, message) in [
        ("-trace_opcode_latency_initiation_int 4\n", "1 numbers where 2"),
        ("-trace_opcode_latency_initiation_int 2,4\n", "cannot hold"),
        ("-trace_opcode_latency_initiation_int 4,1\n-specialized_unit_1 1,4,BRA\n", "the form is"),
    ] {
        let problems = super::import(&[SourceText::new("trace.config", text)], machine("accelsim-sm1"));
        assert!(problems.unwrap_err().to_string().contains(message), "{text}");
    }
}

/// Imports several files, which are called `a`, `b` and so on.
fn imported_in_order(texts: &[&str]) -> Result<Imported, Diagnostics> {
    let sources: Vec<SourceText> =
        ["a", "b", "c"].iter().zip(texts).map(|(name, text)| SourceText::new(*name, *text)).collect();
    import(&sources, machine("accelsim-sm1"))
}

#[test]
fn the_last_occurrence_of_an_option_counts_in_the_order_of_the_files() {
    let overlay = "-gpgpu_scheduler gto\n-trace_opcode_latency_initiation_sfu 30,8\n-l1_latency 50\n";
    for (texts, policy, sfu, l1) in [
        (&[STOCK, TRACES, overlay][..], "Gto", 22, 50),
        (&[overlay, STOCK, TRACES], "Lrr", 13, 39),
        (&[TRACES, overlay, STOCK], "Lrr", 22, 39),
    ] {
        let imported = imported_in_order(texts).unwrap();
        let spec = serde_json::to_value(&imported.spec).unwrap();
        assert_eq!(spec["policy"], policy, "{spec}");
        assert_eq!(imported.spec.units["sfu"].lat, sfu);
        assert_eq!(spec["memory"]["l1"]["latency"], l1, "{spec}");
        Machine::new(&imported.spec, &config("accelsim-sm1")).unwrap();
    }
    // a former name is the same option, and an option may occur many times
    let repeated = imported_in_order(&[
        "-l1_latency 1\n-l1_latency 2 -gpgpu_l1_latency 3\n",
        "# none\n",
        "\n-l1_latency 4",
    ]);
    let options = repeated.unwrap().options;
    let became: Vec<_> = options.into_iter().map(|option| option.became).collect();
    let at = |file: &str, line| Became::Repeated(file.to_owned(), line);
    let last = Became::Settings(vec!["memory.l1.latency=4".to_owned()]);
    assert_eq!(became, [at("c", 2), at("c", 2), at("c", 2), last]);
}

#[test]
fn a_latency_of_traces_that_is_missing_has_the_default_of_accel_sim() {
    let imported = imported_in_order(&[
        STOCK,
        "-trace_opcode_latency_initiation_sp 6,2\n-specialized_unit_1 1,4,4,4,4,BRA\n-specialized_unit_2 0,1,1,1,1,TEX",
    ])
    .unwrap();
    let unit = |name: &str| (imported.spec.units[name].init, imported.spec.units[name].lat);
    let defaults = ["int", "fp64", "sfu", "tensor"].map(unit);
    assert_eq!((unit("fp32"), defaults, unit("bra")), ((2, 4), [(1, 3); 4], (4, 0)));
    assert!(!imported.spec.units.contains_key("tex"));
    let but = |name: &str| imported.options.iter().find(|option| option.name == name).unwrap().but.clone();
    let differs = but("-trace_opcode_latency_initiation_sp").unwrap();
    assert!(differs.contains("-trace_opcode_latency_initiation_int is not given"), "{differs}");
    let differs = but("-specialized_unit_1").unwrap();
    assert!(
        differs.contains("spec_op_1 is not given, so its default in Accel-Sim applies, 4,4"),
        "{differs}"
    );
    Machine::new(&imported.spec, &config("accelsim-sm1")).unwrap();
    assert!(!imported.not_given.iter().any(|name| name.starts_with("-trace")), "{:?}", imported.not_given);
}

#[test]
fn an_interval_of_zero_occupies_the_unit_for_a_cycle() {
    let spec = imported("-trace_opcode_latency_initiation_tensor 3,0\n").unwrap().spec;
    assert_eq!((spec.units["tensor"].init, spec.units["tensor"].lat), (1, 3));
    let spec = imported("-ptx_opcode_latency_sfu 4\n-ptx_opcode_initiation_sfu 0\n").unwrap().spec;
    assert_eq!((spec.units["sfu"].init, spec.units["sfu"].lat), (1, 4));
}

/// The parser of GPGPU-Sim accepts these forms.
#[test]
fn options_have_the_forms_of_the_original() {
    for (text, setting) in [
        ("-gpgpu_n_clusters\n\n   # a comment\n\t12", "sms=12"),
        ("-gpgpu_n_clusters 12#13\n", "sms=12"),
        ("\r\n-gpgpu_n_clusters 12\r\n", "sms=12"),
        ("-gpgpu_n_clusters \"12\"", "sms=12"),
        ("-gpgpu_n_clusters 0x1C", "sms=28"),
        ("-gpgpu_n_clusters 014", "sms=12"),
        ("-gpgpu_n_clusters +12", "sms=12"),
        ("-gpgpu_scheduler \"gto\"", "policy=Gto"),
        ("-trace_opcode_latency_initiation_int \"4,\n 2\"", "units.int.lat=2"),
        ("-gpgpu_dram_timing_opt \"CL=12: # not \"\n  WL=4\"", "memory.partitions.dram.wl=4"),
        ("-gpgpu_dual_issue_diff_exec_units -gpgpu_n_mem 8", "pipeline.issue.distinct_units=false"),
        ("-gpgpu_dual_issue_diff_exec_units", "pipeline.issue.distinct_units=true"),
        // these are listed, whatever they are
        ("-visualizer_enabled\n-gpgpu_n_clusters 12\n-nobody_knows\n-or_this a b c -config x", "sms=12"),
    ] {
        let found = settings(text);
        assert!(found.iter().any(|found| found == setting), "{text}: {found:?}");
    }
    let differs = imported("-gpgpu_sub_core_model -gpgpu_n_mem 8").unwrap().options[0].but.clone().unwrap();
    assert!(differs.contains("reads as 0 before another option"), "{differs}");
    let became = imported_options("-trace_opcode_latency_initiation_itn 4,1\n-config more.config\n");
    assert_eq!(became[0], Became::Unknown(Some("-trace_opcode_latency_initiation_int")));
    assert!(matches!(&became[1], Became::Nothing(why) if why.contains("in their order")));
}

#[test]
fn wrong_values_have_a_column_and_a_hint() {
    for (texts, (file, line, column), message, hint) in [
        (
            &["-gpgpu_n_mem 16", "\n  -gpgpu_n_mem\t16x"][..],
            ("b", 2, 16),
            "`16x` is not a number",
            "-gpgpu_n_mem 1`",
        ),
        (&["-gpgpu_n_mem 08"], ("a", 1, 14), "`08` is not a number", "-gpgpu_n_mem 1`"),
        (&["-gpgpu_n_mem 0x"], ("a", 1, 14), "`0x` is not a number", "-gpgpu_n_mem 1`"),
        (&["-gpgpu_n_mem 0x+1"], ("a", 1, 14), "`0x+1` is not a number", "-gpgpu_n_mem 1`"),
        (&["-gpgpu_n_mem -1"], ("a", 1, 14), "`-1` is not a number", "-gpgpu_n_mem 1`"),
        (&["-gpgpu_n_mem 1 2"], ("a", 1, 14), "`1 2` is not a number", "-gpgpu_n_mem 1`"),
        (&["-smem_latency é"], ("a", 1, 15), "-smem_latency: `é` is not", "-smem_latency 1`"),
        (&["-gpgpu_sub_core_model 2"], ("a", 1, 23), "neither 0 nor 1", "-gpgpu_sub_core_model 1`"),
        (&[STOCK, "-trace_opcode_latency_initiation_sp X"], ("b", 1, 37), "`X` is not a number", "_sp 4,2`"),
        (
            &["-trace_opcode_latency_initiation_sp 99999999999999999999,1"],
            ("a", 1, 37),
            "out of range",
            "_sp 4,2`",
        ),
        (
            &[TRACES, "-specialized_unit_1 1,x,4,4,4,BRA"],
            ("b", 1, 21),
            "`x` is not a number",
            "1,4,4,4,4,BRA",
        ),
        (&["-gpgpu_n_clusters=4"], ("a", 1, 1), "is not the name of an option", "`-gpgpu_n_clusters 4`"),
        (&["-gpgpu_n_mem 8\n-gpgpu_scheduler \"gto"], ("a", 2, 18), "not closed", "in quotes"),
        (&["# nothing", "17"], ("b", 1, 1), "before any option", "-gpgpu_n_clusters 46"),
    ] {
        let problems = imported_in_order(texts).unwrap_err();
        let first = &problems.list()[0];
        assert_eq!((&*first.file, first.line, first.column), (file, line, column), "{problems}");
        assert!(first.message.contains(message) && first.hint.contains(hint), "{problems}");
        assert_eq!(problems.list().len(), 1, "{problems}");
    }
    // an overridden value does not matter
    imported_in_order(&["-gpgpu_n_mem x", "-gpgpu_n_mem 8"]).unwrap();
}

fn imported_options(text: &str) -> Vec<Became> {
    imported(text).unwrap().options.into_iter().map(|option| option.became).collect()
}

#[test]
fn options_determine_the_memory_at_the_start_of_a_launch() {
    for (text, start) in [
        ("-gpgpu_perf_sim_memcpy 1\n", "LeftAndCopied"),
        ("-gpgpu_perf_sim_memcpy 0\n", "Left"),
        ("-gpgpu_flush_l2_cache 1\n-gpgpu_perf_sim_memcpy 1\n", "Warm"),
        ("-gpgpu_perf_sim_memcpy 0\n-gpgpu_flush_l2_cache 1\n", "Cold"),
    ] {
        assert!(settings(text).contains(&format!("memory.start={start}")), "{text}");
    }
}

#[test]
fn the_number_of_slices_need_not_be_a_power_of_two() {
    let found = settings(
        "-gpgpu_n_mem 12\n-gpgpu_n_sub_partition_per_mchannel 2\n-gpgpu_memory_partition_indexing 2\n",
    );
    for setting in ["memory.partitions.spread=Polynomial", "memory.partitions.spread_bits=15"] {
        assert!(found.iter().any(|found| found == setting), "{setting} in {found:?}");
    }
    let spec = imported(&STOCK.replace("-gpgpu_n_mem 16", "-gpgpu_n_mem 12")).unwrap().spec;
    Machine::new(&spec, &config("accelsim-sm1")).unwrap();
}

/// Returns timings of integers and doubles. Given are the latency of integers, and the latency and
/// the initiation interval of their multiply-add.
fn timings([int, mad, interval]: [&str; 3]) -> String {
    format!(
        "-ptx_opcode_latency_int {int},13,4,{mad},145,21\n-ptx_opcode_initiation_int 2,2,2,{interval},8,4\n\
         -ptx_opcode_latency_dp 64,64,64,64,330\n-ptx_opcode_initiation_dp 64,64,64,64,130\n"
    )
}

#[test]
fn problems_of_the_machine_are_attributed_to_options() {
    let (unit, op) = (timings(["4000", "5", "2"]), timings(["4", "4000", "2"]));
    let interval = timings(["4", "5000000001", "5000000001"]);
    let traces = TRACES.replace("spec_op_1 4,4", "spec_op_1 4000,4");
    for (text, option, line) in [
        (&*unit, "-ptx_opcode_latency_int: ", 1),
        (&*op, "-ptx_opcode_latency_int: ", 1),
        (&*interval, "-ptx_opcode_initiation_int: ", 2),
        (&*traces, "-trace_opcode_latency_initiation_spec_op_1: ", 7),
        ("# a\n-gpgpu_n_mem 100\n", "-gpgpu_n_mem: ", 2),
        ("-gpgpu_cache:dl2 S:48:128:16,L:B:m:L:P,A:192:4,32:0,32\n", "-gpgpu_cache:dl2: ", 1),
        ("\n\n-gpgpu_clock_domains 1132:1132:99999:3500.5\n", "-gpgpu_clock_domains: ", 3),
        ("-gpgpu_n_mem 40\n-gpgpu_n_sub_partition_per_mchannel 2\n", "-gpgpu_n_mem: ", 1),
        ("-gpgpu_num_sched_per_core 99\n", "-gpgpu_num_sched_per_core: ", 1),
        ("\n-gpgpu_operand_collector_num_units_gen 7\n", "-gpgpu_operand_collector_num_units_gen: ", 2),
        (
            "-gpgpu_unified_l1d_size 128\n-gpgpu_shmem_option 0,8,4\n-gpgpu_adaptive_cache_config 1\n",
            "-gpgpu_adaptive_cache_config: ",
            3,
        ),
    ] {
        let imported = imported(text).unwrap();
        let written =
            crate::diag::to_ron("m.ron", &imported.spec, ron::extensions::Extensions::empty()).unwrap();
        let written = SourceText::new("a machine", written);
        let problems = imported.of_options(Machine::new(&imported.spec, &written).unwrap_err(), &written);
        let (of_option, others): (Vec<_>, Vec<_>) =
            problems.list().iter().partition(|problem| problem.message.starts_with(option));
        assert!(!of_option.is_empty(), "{problems}");
        for problem in of_option {
            assert_eq!((&*problem.file, problem.line), ("gpgpusim.config", line), "{problem}");
        }
        // a problem that stems from several options, or from the base, has no location in a file
        assert!(others.iter().all(|problem| problem.line == 0), "{problems}");
    }
}

#[test]
fn every_option_is_accounted_for() {
    let all = imported(
        "-gpgpu_n_clusters 2 # two\n-gpgpu_n_clusters 3\n-power_simulation_enabled 1\n-gpgpu_n_memm 4\n",
    );
    let all = all.unwrap();
    let became: Vec<_> = all.options.into_iter().map(|option| (option.line, option.became)).collect();
    assert_eq!(became[0], (1, Became::Repeated("gpgpusim.config".to_owned(), 2)));
    assert_eq!(became[1], (2, Became::Settings(vec!["sms=3".to_owned()])));
    assert!(matches!(&became[2].1, Became::Nothing(reason) if reason.contains("energy")));
    assert_eq!(became[3].1, Became::Unknown(Some("-gpgpu_n_mem")));
    assert!(all.not_given.contains(&"-gpgpu_n_mem") && !all.not_given.contains(&"-gpgpu_n_clusters"));
}

#[test]
fn values_are_parsed_in_their_formats() {
    let text = cache("S:64:128:16,L:B:m:L:P,A:192:4,32:0,32").unwrap().unwrap();
    assert!(text.sectored);
    assert_eq!((text.sets, text.line, text.ways, text.mshrs, text.merge), (64, 128, 16, 192, 4));
    assert_eq!((text.write, text.index, text.miss_queue, text.port), ('B', 'P', 32, Some(32)));
    assert_eq!(cache("none"), Ok(None));
    assert_eq!(cache("N:64:128:8,L:T:m:N:H,A:32:8,8").unwrap().unwrap().port, None);
    for wrong in [
        "",
        "S:64:128",
        "S:64:128:16",
        "Q:64:128:16,L:B:m:L:P,A:1:1,1",
        "S:-1:128:16,L:B:m:L:P,A:1:1,1",
        "nonee",
    ] {
        assert!(cache(wrong).is_err(), "{wrong}");
    }
    assert_eq!(
        ["1132", "3500.5", "0.125"].map(|text| thousandths(text).unwrap()),
        [1_132_000, 3_500_500, 125]
    );
    for wrong in ["", "x", "0", "-1", "1.2345", "99999999999999999999", "1e3", "1.+2"] {
        assert!(thousandths(wrong).is_err(), "{wrong}");
    }
    assert_eq!(ratio(3_500_500, 1_132_000), (7001, 2264));
    assert_eq!(named("nbk=16:CCD=4").unwrap(), [("nbk".to_owned(), 16), ("CCD".to_owned(), 4)]);
    assert!(named("nbk=16:CCD").is_err());
    let bits = address("00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.BBBDDDCC.CCCSSSSS").unwrap();
    assert_eq!((bits.channel_bit, &*bits.channel, &*bits.bank), (None, &[10, 11, 12][..], &[13, 14, 15][..]));
    assert!(address("dramid@8;0000").is_err() && address("chip@8;").is_err());
}

#[test]
fn older_configurations_have_other_forms() {
    // no integer unit and no unit for doubles
    let fermi = "-gpgpu_num_sched_per_core 2\n-gpgpu_num_dp_units 0\n-smem_latency 26\n\
                 -ptx_opcode_latency_int 4,13,4,5,145\n-ptx_opcode_initiation_int 1,2,2,1,8\n\
                 -ptx_opcode_latency_dp 8,19,8,8,330\n-ptx_opcode_initiation_dp 2,2,2,2,130\n\
                 -gpgpu_dram_timing_opt \"nbk=16:CCD=2:RRD=6:\n   CL=12:WL=4:nbkgrp=4:CCDL=3\" # a comment\n";
    let found = settings(fermi);
    for setting in [
        "pipeline.load_store.shared_latency=26",
        "memory.partitions.dram.cl=12",
        "ops={\"int\": Op(unit: \"fp32\", init: 1, lat: 3)}",
        "ops={\"alu\": Op(unit: \"fp32\", init: 1, lat: 0)}",
        "ops={\"int.max\": Op(unit: \"fp32\", init: 2, lat: 11)}",
        "ops={\"fp64\": Op(unit: \"sfu\", init: 2, lat: 6)}",
        "ops={\"int.div\": Op(unit: \"sfu\", init: 8, lat: 137)}",
    ] {
        assert!(found.iter().any(|is| is == setting), "{setting} in {found:?}");
    }
    // an L1 of fixed size, independent of shared memory
    let found = settings("-gpgpu_cache:dl1 N:32:128:4,L:L:m:N:H,S:64:8,8\n");
    assert!(found.contains(&"memory.l1.split=Off".to_owned()), "{found:?}");
    let spec = imported(fermi).unwrap().spec;
    Machine::new(&spec, &config("accelsim-sm1")).unwrap();
    // channel bits among the others are not counted for the bits of the bank
    let found = settings(
        "-gpgpu_mem_addr_mapping 00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.BBBDDDCC.CCCSSSSS",
    );
    assert!(found.contains(&"memory.partitions.channel_bit=10".to_owned()), "{found:?}");
    assert!(found.contains(&"memory.partitions.dram.bank_bits=[10, 11, 12]".to_owned()), "{found:?}");
    assert!(found.contains(&"memory.partitions.dram.row_bit=13".to_owned()), "{found:?}");
}

#[test]
fn wrong_values_are_reported_at_their_location() {
    for (text, line, message) in [
        ("46\n", 1, "a value before any option"),
        ("\n-gpgpu_n_clusters\n", 2, "has no value"),
        ("-gpgpu_n_clusters x\n", 1, "not a number"),
        ("-gpgpu_n_clusters 0\n", 1, "no SM"),
        ("# a\n-gpgpu_shader_core_pipeline 1536:64\n", 2, "32 threads"),
        ("-gpgpu_cache:dl2 S:64:128\n", 1, "the form is"),
        ("-gpgpu_clock_domains 1:2:3\n", 1, "the form is"),
        ("-ptx_opcode_latency_sfu 4\n-ptx_opcode_initiation_sfu 8\n", 1, "8 (-ptx_opcode_initiation_sfu)"),
        ("-gpgpu_num_sched_per_core 99999999999\n", 1, "not a number"),
        ("", 1, "no option"),
    ] {
        let problems = imported(text).unwrap_err();
        let first = &problems.list()[0];
        assert_eq!(first.line, line, "{problems}");
        assert!(first.message.contains(message), "{problems}");
    }
}

proptest! {
    /// Any text yields a machine, or diagnostics with lines.
    #[test]
    fn changed_files_are_read_or_refused(at in 0usize..4000, length in 0usize..40, with in ".{0,20}") {
        let cut = |at: usize| (0..=at.min(STOCK.len())).rev().find(|&at| STOCK.is_char_boundary(at)).unwrap();
        let (from, to) = (cut(at), cut(at + length));
        let text = format!("{}{with}{}", &STOCK[..from], &STOCK[to..]);
        match imported(&text) {
            Ok(imported) => {
                let _ = Machine::new(&imported.spec, &config("accelsim-sm1"));
            }
            Err(problems) => prop_assert!(problems.list().iter().all(|problem| problem.line > 0), "{problems}"),
        }
    }
}
