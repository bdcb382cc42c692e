//! Switches of the pipeline and of memory with invalid values: all are reported, each at its
//! position. (`crates/core/src/machine/checked/memory.rs` tests more of memory's.)

use crate::shipped;

use std::fmt::Write;
use std::process::Command;

use warpbound::diag::{Diagnostic, Diagnostics, SourceText};
use warpbound::machine::{Machine, MachineSpec, MemorySpec};

fn load(text: &str) -> Result<Machine, Diagnostics> {
    let source = SourceText::new("m.ron", text);
    let base = |name: &str| Ok(shipped::source(&shipped::root().join(format!("configs/{name}.ron"))));
    let spec = MachineSpec::parse_with_bases(&source, &base)?;
    Machine::new(&spec, &source)
}

/// Returns the problems of a machine whose pipeline has these lines, the first of which is line 3.
fn with_pipeline(lines: &[&str]) -> Vec<Diagnostic> {
    let mut text =
        "Machine(name: \"m\", extends: \"ecrts25-orin\", sub_cores: 2,\npipeline: Pipeline(\n".to_owned();
    lines.iter().for_each(|line| writeln!(text, "{line},").unwrap());
    text.push_str("))");
    load(&text).unwrap_err().list().to_vec()
}

/// The maximal number of units runs on all four sub-cores; one more does not.
#[test]
fn a_pipeline_has_fifteen_units() {
    let machine = |units: usize| {
        let unit = |number| format!("\"u{number}\": Unit(init: 1, lat: 2)");
        let units: Vec<String> = (0..units).map(unit).collect();
        let text = format!(
            "Machine(name: \"m\", sub_cores: 4, units: {{ {} }}, ops: {{ \"barrier\": \"u0\" }},\npipeline: \
             Pipeline(collector: Collector(), load_store: LoadStore()))",
            units.join(", ")
        );
        load(&text)
    };
    if let Err(errors) = machine(15) {
        panic!("{errors:?}");
    }
    let errors = machine(16).unwrap_err();
    let message = &errors.list()[0].message;
    assert!(message.contains("16 units; at most 15 are supported with a pipeline"), "{message}");
}

#[test]
fn values_out_of_range_are_all_reported_at_their_lines() {
    // line by line: the setting, and the message about it
    let wrong: [(&str, &[&str]); 9] = [
        ("issue: Issue(per_warp: 3)", &["pipeline.issue.per_warp is 3, it must be 1 to 2"]),
        (
            "front_end: FrontEnd(buffer: 0, fetches: 65",
            &["front_end.buffer is 0, it must be 1 to 64", "front_end.fetches is 65, it must be 1 to 64"],
        ),
        (
            "icache: InstructionCache(sets: 0, ways: 0, instruction: 129, miss_latency: 2000000))",
            &[
                "icache.sets is 0",
                "icache.ways is 0",
                "icache.instruction is 129, it must be 1 to 128",
                "icache.miss_latency is 2000000",
            ],
        ),
        ("queue: 65537", &["pipeline.queue is 65537"]),
        (
            "collector: Collector(banks: 63, steps: 17, ports: 0)",
            &[
                "collector.steps is 17, it must be 1 to 16",
                "collector.ports is 0",
                "63 collector banks cannot be shared by 2 sub-cores",
            ],
        ),
        ("write_back: 1025, result_buses: 0", &["write_back is 1025, it must be 0", "result_buses is 0"]),
        (
            "load_store: LoadStore(shared_latency: 0, replies: 0, transaction: 64)",
            &[
                "load_store.shared_latency is 0",
                "load_store.replies is 0",
                "load_store.transaction is 64, it must be 32 or 128",
            ],
        ),
        ("launch: Launch(start: 2000000)", &["launch.start is 2000000"]),
        ("unscored: [\"int\", \"magic\"]", &["unscored names op class `magic`"]),
    ];
    let problems = with_pipeline(&wrong.map(|(setting, _)| setting));
    for (line, (setting, messages)) in (3..).zip(wrong) {
        for message in messages {
            let found = problems.iter().find(|problem| problem.message.contains(message));
            let Some(found) = found else { panic!("nobody says `{message}`: {problems:#?}") };
            assert_eq!((found.line, found.excerpt.trim_end_matches(',')), (line, setting), "{message}");
        }
    }
    assert_eq!(
        problems.len(),
        wrong.iter().map(|(_, messages)| messages.len()).sum::<usize>(),
        "{problems:#?}"
    );
}

#[test]
fn a_setting_is_not_confused_with_a_part_of_another_word() {
    // "end" of "extends", "line" of "pipeline"
    for (setting, message) in [
        ("launch: Launch(end: 3000000)", "launch.end is 3000000"),
        ("front_end: FrontEnd(icache: InstructionCache(line: 0))", "icache.line is 0"),
    ] {
        let problems = with_pipeline(&[setting]);
        let found = problems.iter().find(|problem| problem.message.contains(message)).unwrap();
        assert_eq!(found.line, 3, "{found:?}");
    }
}

/// A register file has ranges of its own, and excludes the collector, which the message names.
#[test]
fn a_register_file_takes_the_place_of_a_collector() {
    let problems =
        with_pipeline(&["register_file: RegisterFile(banks: 17, ports: 0, window: 0, wide_window: 65)"]);
    for message in [
        "pipeline.register_file.banks is 17, it must be 1 to 16",
        "register_file.ports is 0, it must be 1 to 64",
        "register_file.window is 0",
        "register_file.wide_window is 65",
    ] {
        let found = problems.iter().find(|problem| problem.message.contains(message));
        assert_eq!(found.map(|problem| problem.line), Some(3), "{message}: {problems:#?}");
    }
    assert_eq!(problems.len(), 4);
    let both = with_pipeline(&["collector: Collector()", "register_file: RegisterFile()"]);
    let [problem] = both.as_slice() else { panic!("{both:#?}") };
    assert_eq!((problem.line, problem.excerpt.trim_end_matches(',')), (4, "register_file: RegisterFile()"));
    assert!(problem.message.contains("an operand collector or a register file with ports, not both"));
    assert_eq!(problem.hint, "`collector: none` removes an inherited collector");
}

#[test]
fn result_buses_need_a_collector() {
    let problems = with_pipeline(&["result_buses: 1"]);
    assert_eq!(problems.len(), 1);
    assert_eq!((problems[0].line, problems[0].hint.as_str()), (3, "add `collector: Collector()`"));
    let with = "Machine(name: \"m\", extends: \"ecrts25-orin\", \
                pipeline: Pipeline(collector: Collector(), result_buses: 1))";
    assert!(load(with).is_ok());
}

#[test]
fn unknown_names_and_kinds_are_reported_where_they_occur() {
    for (setting, message) in [
        ("quue: 1", "quue"),
        ("issue: Issue(per_wrap: 2)", "per_wrap"),
        ("collector: Collector(units: -1)", "too large or too small"),
        ("launch: Launch(start: soon)", "a whole number is expected"),
    ] {
        let problems = with_pipeline(&[setting]);
        assert_eq!((problems.len(), problems[0].line), (1, 3), "{problems:#?}");
        assert!(problems[0].message.contains(message), "{problems:#?}");
    }
}

#[test]
fn a_wrong_setting_of_the_command_line_is_named() {
    for (setting, message) in [
        ("pipeline.collector.units=0", "collector.units is 0"),
        ("pipeline.front_end.icache.line=0", "icache.line is 0"),
        ("pipeline.load_store.transaction=sector", "a whole number is expected"),
        ("pipeline.load_store.transactions=32", "no field `transactions` of `LoadStore`; it has"),
        ("pipeline.collect=[\"fp23\"]", "collect names unit `fp23`"),
        ("memory.l1.cache.ways=0", "l1.cache.ways is 0"),
        ("memory.l1.cache.replacement=Mru", "`Mru` is not one of `Lru`"),
        ("memory.l1.split=Fit(total: 8, parts: [0])", "no field `parts` of `Fit`"),
        ("memory.jitter=Uniform(5, 2)", "the bounds must ascend"),
        ("memory.partitions.dram.clock=(7001, 1)", "more than 64 times"),
        ("memory.fixed.per_cycle=0", "fixed.per_cycle is 0"),
        ("memory.partitions.dram.row_bit=4", "dram.row_bit is 4, it must be 5 to 40"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_warpbound"))
            .args(["run", "vecadd", "--set", setting])
            .output()
            .expect("the binary runs");
        let shown = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{setting}:\n{shown}");
        let place = format!("--> --set {setting}");
        assert!(shown.contains(message) && shown.contains(&place), "{setting}:\n{shown}");
    }
}

#[test]
fn memory_that_nothing_reaches_is_refused() {
    let text = "Machine(name: \"m\", extends: \"ecrts25-orin\",\nmemory: Memory(lower: Fixed))";
    let problems = load(text).unwrap_err();
    assert_eq!((problems.list().len(), problems.list()[0].line), (1, 2));
    assert!(problems.list()[0].message.contains("no load/store unit"), "{problems}");
    let with = text.replace("memory:", "pipeline: Pipeline(load_store: LoadStore()), memory:");
    assert!(load(&with).is_ok());
}

#[test]
fn units_that_do_not_exist_cannot_be_collected() {
    let problems = with_pipeline(&["collector: Collector()", "collect: [\"fp32\", \"memory\", \"fp23\"]"]);
    assert_eq!((problems.len(), problems[0].line), (1, 4), "{problems:#?}");
    assert!(problems[0].message.contains("`fp23`"), "{problems:#?}");
}

#[test]
fn clocks_that_differ_too_much_and_numbers_too_large_are_refused() {
    let dram = "Machine(name: \"m\", extends: \"accelsim-ecrts-dram\",\n\
                memory: Memory(partitions: Partitions(dram: Dram(\nclock: (1048576, 1)))))";
    let problems = load(dram).unwrap_err();
    assert_eq!(problems.list()[0].line, 3, "{problems}");
    assert!(problems.list()[0].message.contains("more than 64 times"), "{problems}");
    let huge = "Machine(name: \"m\", extends: \"accelsim-ecrts\",\n\
                units: {\"int\": Unit(init: 1, lat: 18446744073709551615)})";
    let problems = load(huge).unwrap_err();
    assert_eq!(problems.list()[0].line, 2, "{problems}");
}

/// A file can switch off what its base has, and the result reflects that.
#[test]
fn a_file_can_switch_off_what_its_base_has() {
    let of = |settings: &str| load(&format!("Machine(name: \"m\", extends: \"accelsim-sm1\", {settings})"));
    let paper = of("pipeline: None, memory: None").unwrap();
    assert!(paper.pipeline().is_none() && *paper.memory() == MemorySpec::default());
    // without a load/store unit nothing reaches the memory
    assert!(of("pipeline: None").unwrap_err().to_string().contains("no load/store unit"));
    let seeded = of("memory: Memory(seed: 3)").unwrap();
    let expected = MemorySpec { seed: 3, ..(**shipped::machine("accelsim-sm1").memory()).clone() };
    assert_eq!(*seeded.memory(), expected);
    assert!(expected.l1.is_some());
}

/// A setting with alternatives is replaced as a whole.
#[test]
fn another_kind_of_split_replaces_the_base_s() {
    let split = "Machine(name: \"m\", extends: \"accelsim-sm1\", \
                 memory: Memory(l1: L1(split: Percent(total: 65536, l1: 50))))";
    assert!(load(split).is_ok(), "{:?}", load(split).err());
}
