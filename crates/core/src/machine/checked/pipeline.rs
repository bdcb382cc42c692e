//! Checks of the settings of the pipeline.

use std::collections::BTreeMap;

use super::range::Check;
use super::units::Units;
use super::value::Checked;
use crate::machine::written::pipeline::{
    CodeCache, Collector, FrontEnd, InstructionCache, InstructionCaches, Issue, Launch, LoadStore,
    RegisterFile,
};
use crate::machine::written::{OpSpec, PipelineSpec};

/// The validated details of an SM's pipeline that the paper model leaves out.
pub type Pipeline = Checked<PipelineSpec>;

/// The maximum duration in cycles of an operation on a machine with an operand collector or a
/// limited number of result buses.
const MAX_PIPELINE: u64 = 1000;

impl Pipeline {
    /// Returns the pipeline of a machine with these units and this number of sub-cores.
    pub(super) fn of(
        written: &PipelineSpec,
        (units, ops): (&Units, &BTreeMap<String, OpSpec>),
        sub_cores: u32,
        check: &mut Check,
    ) -> Option<Self> {
        Self::new(written.clone(), check, |pipeline, check| {
            if pipeline.collector.is_some() || pipeline.result_buses.is_some() {
                check_durations(units, ops, check);
            }
            settings(pipeline, sub_cores.max(1), &mut check.part("pipeline"));
            names(pipeline, units, &mut check.part("pipeline"));
        })
    }
}

fn check_durations(units: &Units, written: &BTreeMap<String, OpSpec>, check: &mut Check) {
    for (op, timing) in units.ops() {
        let total = timing.init.get().saturating_add(timing.lat.get());
        if total >= MAX_PIPELINE {
            let op_values = match written.get(op) {
                Some(OpSpec::Timed(timed)) => [timed.init, timed.lat],
                Some(OpSpec::Unit(_)) | None => [None, None],
            };
            let (field, op_values) =
                if timing.lat >= timing.init { ("lat", op_values[1]) } else { ("init", op_values[0]) };
            let unit_entry = ("units", units.list()[timing.unit.index()].name.as_str());
            let (entries, entry) = if op_values.is_some() { ("ops", op) } else { unit_entry };
            let setting = check.part(entries).entry(entry).full(field);
            let message = format!(
                "`{op}` takes {total} cycles ({setting}); with a collector or result buses it must take less than {MAX_PIPELINE}"
            );
            check.part("ops").entry(op).problem("", message, "");
        }
    }
}

/// Checks that the named units and op classes exist on the machine.
fn names(pipeline: &PipelineSpec, units: &Units, check: &mut Check) {
    let is_unit = |name: &String| units.list().iter().any(|unit| unit.name == *name);
    for unit in pipeline.collect.iter().filter(|unit| *unit != "memory" && !is_unit(unit)) {
        let message = format!("pipeline.collect names unit `{unit}`, which this machine does not have");
        check.part("collect").entry(unit).problem("", message, "`memory` stands for the load/store unit");
    }
    for class in pipeline.unscored.iter().filter(|class| units.op(class).is_none()) {
        let message = format!("pipeline.unscored names op class `{class}`, which this machine does not map");
        check.part("unscored").entry(class).problem("", message, "");
    }
}

fn settings(pipeline: &PipelineSpec, sub_cores: u32, check: &mut Check) {
    let PipelineSpec {
        issue: Issue { per_warp, distinct_units: _, rotate: _ },
        front_end,
        instruction_caches,
        queue,
        collector,
        register_file,
        // names, which are checked above
        collect: _,
        write_back,
        result_buses,
        load_store,
        launch:
            Launch { first, start, refill, end, blocks_per_cycle: _, total_blocks_per_cycle: _, placement: _ },
        unscored: _,
    } = pipeline;
    check.range("issue.per_warp", *per_warp, 1..=2);
    if let Some(front_end) = front_end {
        check_front_end(*front_end, &mut check.part("front_end"));
    }
    if let Some(caches) = instruction_caches {
        check_instruction_caches(*caches, &mut check.part("instruction_caches"));
        if front_end.is_some() {
            let message = "a machine has a front end or instruction caches, not both".to_owned();
            check.problem("instruction_caches", message, "`front_end: none` removes an inherited front end");
        }
    }
    if let Some(queue) = queue {
        check.range("queue", *queue, 0..=1 << 16);
    }
    if let Some(collector) = collector {
        check_collector(*collector, sub_cores, &mut check.part("collector"));
    }
    if let Some(file) = register_file {
        check_register_file(*file, &mut check.part("register_file"));
        if collector.is_some() {
            let message =
                "a machine has an operand collector or a register file with ports, not both".to_owned();
            check.problem("register_file", message, "`collector: none` removes an inherited collector");
        }
    }
    check.range("write_back", *write_back, 0..=1 << 10);
    if let Some(buses) = result_buses {
        check.range("result_buses", *buses, 1..=255);
        if collector.is_none() {
            let message = "result buses without an operand collector are not supported".to_owned();
            check.problem("result_buses", message, "add `collector: Collector()`");
        }
    }
    if let Some(LoadStore {
        shared_latency,
        shared_interval,
        conflict_latency,
        shared_atomic_latency,
        queues: _,
        address_interval,
        replies,
        transaction,
        data_interval,
        atomics_block: _,
        atomics_wait_for_addresses: _,
        constant_latency,
        constant_interval,
        read_latency,
        parameters_ready: _,
    }) = load_store
    {
        check.range("load_store.constant_latency", *constant_latency, 0..=1 << 12);
        check.range("load_store.constant_interval", *constant_interval, 0..=64);
        check.range("load_store.data_interval", *data_interval, 1..=64);
        check.range("load_store.read_latency", *read_latency, 0..=1 << 12);
        check.range("load_store.shared_latency", *shared_latency, 1..=1 << 12);
        check.range("load_store.shared_interval", *shared_interval, 1..=64);
        check.range("load_store.conflict_latency", *conflict_latency, 0..=64);
        check.range("load_store.shared_atomic_latency", *shared_atomic_latency, 0..=1 << 12);
        check.range("load_store.address_interval", *address_interval, 0..=64);
        check.range("load_store.replies", *replies, 1..=1 << 12);
        check.one_of("load_store.transaction", *transaction, [32, 128]);
    }
    check.range("launch.first", *first, 0..=1 << 20);
    check.range("launch.start", *start, 0..=1 << 20);
    check.range("launch.refill", *refill, 0..=1 << 20);
    check.range("launch.end", *end, 0..=1 << 20);
}

fn check_front_end(front_end: FrontEnd, check: &mut Check) {
    let FrontEnd { buffer, fetches, icache, ends_warps: _, stops_at_end: _ } = front_end;
    check.range("buffer", buffer, 1..=64);
    check.range("fetches", fetches, 1..=64);
    if let Some(InstructionCache { line, sets, ways, miss_latency, instruction }) = icache {
        check.range("icache.line", line, 1..=1 << 20);
        check.range("icache.sets", sets, 1..=1 << 16);
        check.range("icache.ways", ways, 1..=1 << 10);
        check.range("icache.instruction", instruction, 1..=line.max(1));
        check.range("icache.miss_latency", miss_latency, 0..=1 << 20);
    }
}

fn check_instruction_caches(caches: InstructionCaches, check: &mut Check) {
    let InstructionCaches {
        line,
        instruction,
        l0,
        l1,
        l1_latency,
        l1_interval,
        lower_latency,
        lower_interval,
        prefetch,
        warm: _,
        jump,
    } = caches;
    check.range("line", line, 1..=1 << 20);
    check.range("instruction", instruction, 1..=line.max(1));
    for (name, CodeCache { sets, ways }) in [("l0", l0), ("l1", l1)] {
        let mut check = check.part(name);
        check.range("sets", sets, 1..=1 << 16);
        check.range("ways", ways, 1..=1 << 10);
    }
    check.range("l1_latency", l1_latency, 1..=1 << 16);
    check.range("l1_interval", l1_interval, 1..=1 << 16);
    check.range("lower_latency", lower_latency, 0..=1 << 16);
    check.range("lower_interval", lower_interval, 1..=1 << 16);
    check.range("prefetch", prefetch, 0..=64);
    check.range("jump", jump, 1..=1 << 10);
}

fn check_register_file(file: RegisterFile, check: &mut Check) {
    let RegisterFile { banks, ports, window, wide_window, cache: _ } = file;
    check.range("banks", banks, 1..=RegisterFile::MOST_BANKS);
    check.range("ports", ports, 1..=64);
    check.range("window", window, 1..=64);
    check.range("wide_window", wide_window, 1..=64);
}

fn check_collector(collector: Collector, sub_cores: u32, check: &mut Check) {
    let Collector { units, banks, steps, ports } = collector;
    for (name, value) in [("units", units), ("banks", banks)] {
        check.range(name, value, sub_cores.min(64)..=64);
        if !value.is_multiple_of(sub_cores) {
            let message = format!("{value} collector {name} cannot be shared by {sub_cores} sub-cores");
            check.problem(name, message, "");
        }
    }
    check.range("steps", steps, 1..=16);
    check.range("ports", ports, 1..=64);
}
