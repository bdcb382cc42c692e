//! Detection of settings that have no effect on their machine.
//!
//! Such a setting is not an error, since another machine that extends this one, or a further
//! setting of the command line, may use it. But a user who changes it and sees no difference should
//! learn the reason. Effects that depend on the kernel or on the policy of a run are not
//! considered.

use std::fmt;

use serde::Serialize;

use crate::machine::written::memory::{
    CacheSettings, Fixed, Jitter, LowerLevel, MemorySpec, Partitions, Start,
};
use crate::machine::written::pipeline::{AccessQueues, Issue, Launch, PipelineSpec, Placement};
use crate::machine::written::{BankRule, MachineSpec, SharedMemorySpec, UnitSpec};

/// A setting that does nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IdleSetting {
    /// The path of the setting in the syntax of `--set`.
    pub path: String,
    /// The reason why it has no effect.
    pub reason: String,
}

impl fmt::Display for IdleSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} does nothing: {}", self.path, self.reason)
    }
}

impl IdleSetting {
    /// Returns whether the setting at this path is the idle setting, a part of it, or a section
    /// that contains it.
    pub fn concerns(&self, path: &str) -> bool {
        let within = |whole: &str, part: &str| {
            part.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        within(&self.path, path) || within(path, &self.path)
    }
}

impl MachineSpec {
    /// Returns the settings that differ from their defaults and have no effect on this machine.
    pub fn idle_settings(&self) -> Vec<IdleSetting> {
        // The fields are listed here and below, so that a new setting cannot be overlooked.
        let Self {
            sub_cores,
            units,
            pipeline,
            memory,
            shared_memory,
            // these settings have an effect on every machine, or their effect depends on the kernel
            // and the policy
            name: _,
            doc: _,
            extends: _,
            policy: _,
            hazards: _,
            ops: _,
            limits: _,
            exit_issues: _,
            two_level_active: _,
            clock_khz: _,
            fitted: _,
            sms,
            reconvergence: _,
            dependences: _,
        } = self;
        let mut found = Vec::new();
        let mut idle = |unused: bool, path: &str, reason: &str| {
            if unused {
                found.push(IdleSetting { path: path.to_owned(), reason: reason.to_owned() });
            }
        };
        let one_sub_core = sub_cores.unwrap_or(1) == 1;
        for (name, UnitSpec { shared, init: _, lat: _, source: _ }) in units {
            let path = format!("units.{name}.shared");
            idle(*shared && one_sub_core, &path, "there is one sub-core, and so no other to share with");
        }
        if let Some(pipeline) = pipeline {
            idle_in_pipeline(pipeline, (one_sub_core, sms.unwrap_or(1) == 1), &mut idle);
        }
        if let Some(memory) = memory {
            idle_in_memory(memory, &mut idle);
        }
        if let Some(shared) = shared_memory {
            let has_load_store = pipeline.as_ref().is_some_and(|pipeline| pipeline.load_store.is_some());
            idle_in_shared_memory(shared, has_load_store, &mut idle);
        }
        found
    }
}

fn idle_in_pipeline(
    pipeline: &PipelineSpec,
    (one_sub_core, one_sm): (bool, bool),
    idle: &mut impl FnMut(bool, &str, &str),
) {
    let PipelineSpec {
        issue: Issue { per_warp, distinct_units, rotate },
        collector,
        collect,
        // each of these settings has an effect without any other setting
        front_end: _,
        instruction_caches: _,
        queue: _,
        // its effect depends on the kernel
        register_file: _,
        write_back: _,
        result_buses: _,
        load_store,
        launch:
            Launch {
                first: _,
                start: _,
                refill: _,
                end: _,
                blocks_per_cycle: _,
                total_blocks_per_cycle: _,
                placement,
            },
        unscored: _,
    } = pipeline;
    idle(
        !distinct_units && *per_warp == 1,
        "pipeline.issue.distinct_units",
        "one instruction issues per cycle (pipeline.issue.per_warp)",
    );
    idle(*placement != Placement::default() && one_sm, "pipeline.launch.placement", "there is one SM (sms)");
    let queues = load_store.is_some_and(|unit| unit.queues != AccessQueues::default());
    idle(
        queues && (one_sub_core || collector.is_some()),
        "pipeline.load_store.queues",
        if one_sub_core { "there is one sub-core" } else { "accesses wait in the collector" },
    );
    idle(
        load_store.is_some_and(|unit| unit.address_interval > 0 && unit.queues == AccessQueues::One),
        "pipeline.load_store.address_interval",
        "the sub-cores have no queues of their own (pipeline.load_store.queues)",
    );
    idle(*rotate && one_sub_core, "pipeline.issue.rotate", "there is one sub-core");
    idle(
        !collect.is_empty() && collector.is_none(),
        "pipeline.collect",
        "there is no operand collector (pipeline.collector)",
    );
}

fn idle_in_memory(memory: &MemorySpec, idle: &mut impl FnMut(bool, &str, &str)) {
    let MemorySpec { l1, constant, lower, fixed, partitions, jitter, start, copied_limit, seed } = memory;
    let other = format!("memory.lower is {lower:?}");
    idle(*lower != LowerLevel::Fixed && *fixed != Fixed::default(), "memory.fixed", &other);
    let partitioned = *lower == LowerLevel::Partitions;
    idle(!partitioned && *partitions != Partitions::default(), "memory.partitions", &other);
    // with a cache, a fetch takes one cycle plus the jitter even if the lower level is perfect
    let perfect = *lower == LowerLevel::Perfect && l1.is_none() && constant.is_none();
    idle(
        perfect && *jitter != Jitter::Off,
        "memory.jitter",
        "memory.lower is Perfect and there is no cache in front of it, so nothing has a latency",
    );
    let l2 = partitions.l2.as_ref().filter(|_| partitioned);
    idle(
        l2.is_some_and(|l2| !l2.sectored && l2.fetch != CacheSettings::default().fetch),
        "memory.partitions.l2.fetch",
        "without `sectored`, a miss fetches the whole line",
    );
    // without an L2, the rows of DRAM, the clocks and the arbiters still keep their state
    let starts = if partitioned { start.copies() } else { *start != Start::Cold };
    idle(starts && l2.is_none(), "memory.start", "there is no L2 (memory.partitions.l2)");
    idle(
        *copied_limit > 0 && !start.copies(),
        "memory.copied_limit",
        "no copied data is in the L2 (memory.start)",
    );
    let drawn = |cache: &CacheSettings| cache.replacement.is_random();
    let caches = l1.iter().map(|l1| &l1.cache).chain(constant).chain(l2);
    let random = caches.into_iter().any(drawn) || !perfect && *jitter != Jitter::Off;
    idle(*seed != 0 && !random, "memory.seed", "nothing is random: no jitter, no random replacement");
}

fn idle_in_shared_memory(
    shared: &SharedMemorySpec,
    has_load_store: bool,
    idle: &mut impl FnMut(bool, &str, &str),
) {
    let SharedMemorySpec { rule, banks: _, latency, step, base_32, base_64, base_128, atomics: _, source: _ } =
        shared;
    let (common, pascal) = match rule {
        _ if has_load_store => {
            let reason = "behind a load/store unit the latency is pipeline.load_store.shared_latency";
            (Some(reason), Some(reason))
        }
        Some(BankRule::Words) => {
            let reason = "rule Words takes the latency of the unit";
            (Some(reason), Some(reason))
        }
        Some(BankRule::Turing) => (None, Some("rule Turing does not use base latencies")),
        Some(BankRule::Pascal) | None => (None, None),
    };
    for (name, set, reason) in [
        ("latency", latency.is_some(), common),
        ("step", step.is_some(), common),
        ("base_32", base_32.is_some(), pascal),
        ("base_64", base_64.is_some(), pascal),
        ("base_128", base_128.is_some(), pascal),
    ] {
        idle(set && reason.is_some(), &format!("shared_memory.{name}"), reason.unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::SourceText;

    fn idle(settings: &str) -> Vec<String> {
        let source = SourceText::new("m.ron", format!("Machine(name: \"m\", {settings})"));
        let spec = MachineSpec::parse(&source).unwrap_or_else(|problems| panic!("{problems}"));
        spec.idle_settings().into_iter().map(|setting| setting.path).collect()
    }

    #[test]
    fn a_setting_is_idle_only_if_nothing_uses_it() {
        for (path, unused, used) in [
            (
                "memory.fixed",
                "memory: Memory(fixed: Fixed(latency: 7))",
                "memory: Memory(lower: Fixed, fixed: Fixed(latency: 7))",
            ),
            (
                "memory.partitions",
                "memory: Memory(lower: Fixed, partitions: Partitions(channels: 2))",
                "memory: Memory(lower: Partitions, partitions: Partitions(channels: 2))",
            ),
            (
                "memory.jitter",
                "memory: Memory(jitter: Geometric(3))",
                "memory: Memory(l1: L1(), jitter: Geometric(3))",
            ),
            (
                "memory.start",
                "memory: Memory(lower: Partitions, start: Warm)",
                "memory: Memory(lower: Partitions, start: Warm, partitions: Partitions(l2: Cache()))",
            ),
            (
                "memory.seed",
                "memory: Memory(l1: L1(), seed: 5)",
                "memory: Memory(l1: L1(cache: Cache(replacement: Random)), seed: 5)",
            ),
            (
                "pipeline.issue.rotate",
                "pipeline: Pipeline(issue: Issue(rotate: true))",
                "sub_cores: 2, pipeline: Pipeline(issue: Issue(rotate: true))",
            ),
            (
                "pipeline.launch.placement",
                "pipeline: Pipeline(launch: Launch(placement: Random(1)))",
                "sms: 2, pipeline: Pipeline(launch: Launch(placement: Random(1)))",
            ),
            (
                "pipeline.issue.distinct_units",
                "pipeline: Pipeline(issue: Issue(distinct_units: false))",
                "pipeline: Pipeline(issue: Issue(distinct_units: false, per_warp: 2))",
            ),
            (
                "pipeline.collect",
                "pipeline: Pipeline(collect: [\"memory\"])",
                "pipeline: Pipeline(collect: [\"memory\"], collector: Collector())",
            ),
            (
                "units.a.shared",
                "units: {\"a\": Unit(init: 1, lat: 1, shared: true)}",
                "sub_cores: 2, units: {\"a\": Unit(init: 1, lat: 1, shared: true)}",
            ),
            (
                "shared_memory.latency",
                "shared_memory: SharedMemory(rule: Words, latency: 3)",
                "shared_memory: SharedMemory(rule: Turing, latency: 3)",
            ),
            (
                "shared_memory.base_64",
                "shared_memory: SharedMemory(rule: Turing, base_64: 3)",
                "shared_memory: SharedMemory(rule: Pascal, base_64: 3)",
            ),
            (
                "memory.partitions.l2.fetch",
                "memory: Memory(lower: Partitions, partitions: Partitions(l2: Cache(sectored: false, fetch: 64)))",
                "memory: Memory(lower: Partitions, partitions: Partitions(l2: Cache(fetch: 64)))",
            ),
            (
                "pipeline.load_store.queues",
                "pipeline: Pipeline(load_store: LoadStore(queues: BySubCore))",
                "sub_cores: 2, pipeline: Pipeline(load_store: LoadStore(queues: BySubCore))",
            ),
            (
                "shared_memory.step",
                "pipeline: Pipeline(load_store: LoadStore()), shared_memory: SharedMemory(rule: Pascal, step: 3)",
                "pipeline: Pipeline(), shared_memory: SharedMemory(rule: Pascal, step: 3)",
            ),
        ] {
            assert_eq!(idle(unused), [path], "{unused}");
            assert_eq!(idle(used), [""; 0], "{used}");
        }
    }

    #[test]
    fn a_path_concerns_parts_and_enclosing_settings() {
        let setting = IdleSetting { path: "memory.fixed".to_owned(), reason: String::new() };
        assert!(["memory.fixed.latency", "memory.fixed", "memory"].into_iter().all(|p| setting.concerns(p)));
        assert!(!["memory.fixe", "memory.fixed_", "memory.l1", ""].into_iter().any(|p| setting.concerns(p)));
    }
}
