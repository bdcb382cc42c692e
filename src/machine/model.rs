//! The validated machine.

use std::collections::BTreeMap;

use bitflags::bitflags;

use super::limits::{Limits, MAX_WARPS};
use super::memory::MemorySystem;
use super::pipeline::Pipeline;
use super::scheduler::SchedulerKind;
use super::shared_memory::SharedMemory;
use super::spec::{Hazard, LimitsSpec, MachineSpec, OpSpec, Reconvergence};
use super::sub_cores::SubCores;
use crate::base::{Cycles, Fnv1a, UnitId};
use crate::diag::{Diagnostic, Diagnostics, SourceText, closest};

bitflags! {
    /// The register hazards that hold an instruction back.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Hazards: u8 {
        /// Sources must be available.
        const RAW = 1;
        /// Destinations must be available too.
        const WAW = 2;
    }
}

/// A functional unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Its name.
    pub name: String,
    /// Cycles an initiation occupies it.
    pub init: Cycles,
    /// Pipelined cycles from the end of the initiation to the result.
    pub lat: Cycles,
    /// Whether there is one for all sub-cores, instead of one for each.
    pub shared: bool,
    /// Where the numbers come from; may be empty.
    pub source: String,
}

/// Where an op class runs and how long it takes there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpTiming {
    /// The unit.
    pub unit: UnitId,
    /// Cycles an initiation occupies it; at least 1.
    pub init: Cycles,
    /// Pipelined cycles from the end of the initiation to the result.
    pub lat: Cycles,
}

/// A machine that passed every check.
#[derive(Clone, Debug)]
pub struct Machine {
    name: String,
    doc: String,
    scheduler: SchedulerKind,
    hazards: Hazards,
    units: Vec<Unit>,
    ops: BTreeMap<String, OpTiming>,
    limits: Limits,
    exit_issues: bool,
    two_level_active: u32,
    memory: MemorySystem,
    sms: usize,
    pipeline: Option<Pipeline>,
    shared_memory: Option<SharedMemory>,
    sub_cores: SubCores,
    reconvergence: Reconvergence,
    digest: u64,
}

/// Op class of barriers; machines need not mention it.
const BARRIER: &str = "barrier";
/// SMs of a GPU.
const MAX_SMS: u32 = 256;
/// Cycles of the longest operation in a pipeline whose results must not meet.
const MAX_PIPELINE: u64 = 1000;
/// Times beyond this are refused, so that sums of them cannot overflow.
pub(super) const MAX_TIME: u64 = 1 << 32;

impl Machine {
    /// Checks a spec. `source` is the file it came from, for the places of messages.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn new(spec: &MachineSpec, source: &SourceText) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::new();
        let mut units = Vec::new();
        let mut by_name = BTreeMap::new();
        for (name, unit) in &spec.units {
            check_init(name, unit.init, source, &mut problems);
            check_lat(name, unit.lat, source, &mut problems);
            by_name.insert(name.as_str(), UnitId::from_index(units.len().min(255)));
            units.push(Unit {
                name: name.clone(),
                init: Cycles::new(unit.init),
                lat: Cycles::new(unit.lat),
                shared: unit.shared,
                source: unit.source.clone(),
            });
        }
        let mut ops = BTreeMap::new();
        for (op, placed) in &spec.ops {
            let (unit_name, init, lat) = match placed {
                OpSpec::Unit(unit) => (unit, None, None),
                OpSpec::Timed(timed) => (&timed.unit, timed.init, timed.lat),
            };
            let Some(&unit) = by_name.get(unit_name.as_str()) else {
                let near = closest(unit_name, by_name.keys().copied());
                let hint = near.map_or_else(
                    || {
                        format!(
                            "units of this machine: {}",
                            by_name.keys().copied().collect::<Vec<_>>().join(", ")
                        )
                    },
                    |name| format!("did you mean `{name}`?"),
                );
                problems.push(
                    locate(source, op, format!("op `{op}` runs on unit `{unit_name}`, which does not exist"))
                        .hint(hint),
                );
                continue;
            };
            if let Some(init) = init {
                check_init(op, init, source, &mut problems);
            }
            if let Some(lat) = lat {
                check_lat(op, lat, source, &mut problems);
            }
            let of_unit = &units[unit.index()];
            let timing = OpTiming {
                unit,
                init: init.map_or(of_unit.init, Cycles::new),
                lat: lat.map_or(of_unit.lat, Cycles::new),
            };
            ops.insert(op.clone(), timing);
        }
        if !ops.contains_key(BARRIER) {
            // MODEL.md section 1: own unit, init 1, lat 0 unless configured
            let unit = UnitId::from_index(units.len().min(255));
            units.push(Unit {
                name: BARRIER.to_owned(),
                init: Cycles::ONE,
                lat: Cycles::ZERO,
                shared: false,
                source: "MODEL.md section 1".to_owned(),
            });
            ops.insert(BARRIER.to_owned(), OpTiming { unit, init: Cycles::ONE, lat: Cycles::ZERO });
        }
        // the detailed engine has a bit for the load/store unit beside them
        let most = if spec.pipeline.is_some() { 63 } else { 64 };
        if units.len() > most {
            let message = format!("{} units; at most {most} are supported", units.len());
            problems.push(locate(source, "units", message));
        }
        let limits = check_limits(spec.limits.as_ref(), source, &mut problems);
        let two_level_active = spec.two_level_active.unwrap_or(6);
        if two_level_active == 0 {
            problems.push(locate(
                source,
                "two_level_active",
                "the two-level policy needs at least one active warp".into(),
            ));
        }
        let sub_cores = spec.sub_cores.unwrap_or(1);
        if !(1..=SubCores::MAX).contains(&(sub_cores as usize)) {
            problems.push(locate(
                source,
                "sub_cores",
                format!("sub_cores is {sub_cores}, it must be 1 to {}", SubCores::MAX),
            ));
        }
        let memory = spec.memory.clone().unwrap_or_default();
        memory.check(source, &mut problems);
        let accesses = spec.pipeline.as_ref().is_some_and(|pipeline| pipeline.load_store.is_some());
        if memory != MemorySystem::default() && !accesses {
            let message = "nothing goes to `memory`: this machine has no load/store unit".to_owned();
            problems.push(
                locate(source, "memory", message)
                    .hint("give it one: `pipeline: Pipeline(load_store: LoadStore())`, or --set pipeline.load_store.transaction=32"),
            );
        }
        let sms = spec.sms.unwrap_or(1);
        if sms > 1 && spec.pipeline.is_none() {
            problems.push(
                locate(source, "sms", "several SMs need the detailed engine".into())
                    .hint("add `pipeline: Pipeline()`, which changes nothing by itself"),
            );
        }
        if !(1..=MAX_SMS).contains(&sms) {
            problems.push(locate(source, "sms", format!("sms is {sms}, it must be 1 to {MAX_SMS}")));
        }
        if let Some(pipeline) = &spec.pipeline {
            let is_class = |name: &str| ops.contains_key(name);
            if pipeline.collector.is_some() || pipeline.result_buses.is_some() {
                for (op, timing) in &ops {
                    let total = timing.init.get().saturating_add(timing.lat.get());
                    if total >= MAX_PIPELINE {
                        problems.push(locate(
                            source,
                            op,
                            format!(
                                "`{op}` takes {total} cycles, pipelines with a collector or result buses hold less than {MAX_PIPELINE}"
                            ),
                        ));
                    }
                }
            }
            let is_unit = |name: &str| units.iter().any(|unit| unit.name == name);
            pipeline.check(sub_cores.max(1) as usize, source, &mut problems, is_class, is_unit);
        }
        let shared_memory =
            spec.shared_memory.as_ref().and_then(|shared| SharedMemory::new(shared, source, &mut problems));
        let hazards = spec.hazards.as_ref().map_or(Hazards::RAW, |list| {
            list.iter().fold(Hazards::empty(), |set, h| {
                set | match h {
                    Hazard::Raw => Hazards::RAW,
                    Hazard::Waw => Hazards::WAW,
                }
            })
        });
        if !hazards.contains(Hazards::RAW) {
            problems.push(
                locate(
                    source,
                    "hazards",
                    "a machine that ignores read-after-write hazards computes nonsense".into(),
                )
                .hint("hazards: [Raw] or [Raw, Waw]"),
            );
        }
        let mut digest = Fnv1a::default();
        digest.write(serde_json::to_string(spec).expect("a machine spec is plain data").as_bytes());
        let sub_cores = SubCores::new(sub_cores as usize, &units);
        let machine = Self {
            name: spec.name.clone().unwrap_or_default(),
            doc: spec.doc.clone().unwrap_or_default(),
            scheduler: spec.scheduler.clone().unwrap_or(SchedulerKind::Gto),
            hazards,
            units,
            ops,
            limits,
            exit_issues: spec.exit_issues.unwrap_or(false),
            two_level_active,
            memory,
            sms: sms as usize,
            pipeline: spec.pipeline.clone(),
            shared_memory,
            sub_cores,
            reconvergence: spec.reconvergence.unwrap_or_default(),
            digest: digest.finish(),
        };
        problems.into_result(machine)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it models.
    pub fn doc(&self) -> &str {
        &self.doc
    }

    /// Its policy.
    pub fn scheduler(&self) -> &SchedulerKind {
        &self.scheduler
    }

    /// The hazards its scoreboard checks.
    pub fn hazards(&self) -> Hazards {
        self.hazards
    }

    /// Its functional units, dense in [`UnitId`].
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// Its limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether the `ret` that ends a warp takes an issue slot.
    pub fn exit_issues(&self) -> bool {
        self.exit_issues
    }

    /// Size of the two-level policy's active set, warps.
    pub fn two_level_active(&self) -> u32 {
        self.two_level_active
    }

    /// How the SM is divided into sub-cores.
    pub fn sub_cores(&self) -> SubCores {
        self.sub_cores
    }

    /// The memory behind the load/store unit; perfect unless the machine says otherwise.
    pub fn memory(&self) -> &MemorySystem {
        &self.memory
    }

    /// SMs that share the blocks of a launch, at least one.
    pub fn sms(&self) -> usize {
        self.sms
    }

    /// What the paper model leaves out of the SM's pipeline; `None` for the paper model.
    pub fn pipeline(&self) -> Option<&Pipeline> {
        self.pipeline.as_ref()
    }

    /// What it does that the paper model does not, each as a clause for a message: no bound accounts
    /// for it, and what looks at the paper model alone must not be asked about it.
    pub fn beyond_the_paper_model(&self) -> Vec<&'static str> {
        let mut beyond = self.pipeline.as_ref().map_or(Vec::new(), Pipeline::beyond_the_bounds);
        if self.sms > 1 {
            beyond.push("several SMs share the blocks (sms)");
        }
        beyond
    }

    /// Whether constants and parameters have to be fetched.
    pub fn caches_constants(&self) -> bool {
        self.memory.constant.is_some() && self.pipeline.as_ref().is_some_and(|p| p.load_store.is_some())
    }

    /// Bank conflicts of shared memory, if it has any.
    pub fn shared_memory(&self) -> Option<&SharedMemory> {
        self.shared_memory.as_ref()
    }

    /// How lanes of a warp that diverged meet again.
    pub fn reconvergence(&self) -> Reconvergence {
        self.reconvergence
    }

    /// A digest of every setting: two machines with the same digest give the same cycles.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// Unit and timing of an op class. A class that is not mapped itself takes what its family is
    /// mapped to: `int.add` falls back to `int`.
    pub fn op(&self, class: &str) -> Option<OpTiming> {
        let mut name = class;
        loop {
            if let Some(timing) = self.ops.get(name) {
                return Some(*timing);
            }
            name = name.rsplit_once('.')?.0;
        }
    }

    /// The op classes and families this machine maps.
    pub fn ops(&self) -> impl Iterator<Item = (&str, OpTiming)> {
        self.ops.iter().map(|(name, timing)| (name.as_str(), *timing))
    }
}

pub(super) fn locate(source: &SourceText, name: &str, message: String) -> Diagnostic {
    let quoted = format!("\"{name}\"");
    let needle = if source.text().contains(&quoted) { quoted.as_str() } else { name };
    source.error_at(needle, message)
}

fn check_init(name: &str, init: u64, source: &SourceText, problems: &mut Diagnostics) {
    if init == 0 {
        problems.push(
            locate(source, name, format!("`{name}` has init 0"))
                .hint("an initiation occupies the unit for at least one cycle: init >= 1"),
        );
    }
    if init > MAX_TIME {
        problems.push(locate(
            source,
            name,
            format!("`{name}` has init {init}; at most {MAX_TIME} is supported"),
        ));
    }
}

fn check_lat(name: &str, lat: u64, source: &SourceText, problems: &mut Diagnostics) {
    if lat > MAX_TIME {
        problems.push(locate(
            source,
            name,
            format!("`{name}` has lat {lat}; at most {MAX_TIME} is supported"),
        ));
    }
}

fn check_limits(spec: Option<&LimitsSpec>, source: &SourceText, problems: &mut Diagnostics) -> Limits {
    let empty = LimitsSpec::default();
    let spec = spec.unwrap_or(&empty);
    // the paper model: one block at a time, nothing else binds
    let limits = Limits {
        warps: spec.warps.unwrap_or(MAX_WARPS),
        threads: spec.threads.unwrap_or(2048),
        blocks: spec.blocks.unwrap_or(1),
        registers: spec.registers.unwrap_or(65536),
        shared_bytes: spec.shared_bytes.unwrap_or(102_400),
        shared_bytes_per_block: spec.shared_bytes_per_block.unwrap_or(49_152),
    };
    if limits.warps == 0 || limits.warps > MAX_WARPS {
        problems.push(locate(
            source,
            "warps",
            format!("limits.warps is {}, it must be 1 to {MAX_WARPS}", limits.warps),
        ));
    }
    if limits.threads == 0 || limits.blocks == 0 {
        problems.push(locate(source, "limits", "limits.threads and limits.blocks must be at least 1".into()));
    }
    limits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Setting;
    use crate::machine::memory::{Jitter, LowerLevel, Split};

    const FIG2: &str = r#"Machine(
        name: "fig2", scheduler: Gto, hazards: [Raw],
        units: { "red": Unit(init: 2, lat: 6), "blue": Unit(init: 3, lat: 4) },
        ops: { "f0": "red", "int": "blue", "int.div": Op(unit: "red", init: 9, lat: 19) },
    )"#;

    fn machine(text: &str, settings: &[&str]) -> Result<Machine, Diagnostics> {
        let source = SourceText::new("m.ron", text);
        let settings: Vec<Setting> = settings.iter().map(|s| Setting::parse(s).unwrap()).collect();
        let none = |name: &str| Err(Diagnostic::general(name, "no such machine").into());
        let spec = MachineSpec::parse_with_bases(&source, &none)?.with_settings(&settings)?;
        Machine::new(&spec, &source)
    }

    #[test]
    fn classes_fall_back_to_their_family() {
        let m = machine(FIG2, &[]).unwrap();
        assert_eq!(m.op("int.add.x").unwrap().init, Cycles::new(3));
        assert_eq!(m.op("int.div").unwrap().lat, Cycles::new(19));
        assert_eq!(m.op("fp"), None);
        assert_eq!(m.op("barrier").unwrap().lat, Cycles::ZERO);
    }

    #[test]
    fn settings_reach_every_kind_of_value() {
        let m = machine(
            FIG2,
            &[
                "units.red.lat=7",
                "ops.int.lat=11",
                "ops.int.div.init=5",
                "scheduler=lrr",
                "hazards=Raw,Waw",
                "limits.blocks=3",
                "exit_issues=true",
                "sub_cores=3",
                "units.blue.shared=true",
            ],
        )
        .unwrap();
        assert_eq!(m.op("f0").unwrap().lat, Cycles::new(7));
        assert_eq!(m.op("int.add").unwrap().lat, Cycles::new(11));
        assert_eq!(m.op("int.div").unwrap().init, Cycles::new(5));
        assert_eq!(m.scheduler(), &SchedulerKind::Lrr);
        assert_eq!(m.hazards(), Hazards::RAW | Hazards::WAW);
        assert_eq!(m.limits().blocks, 3);
        assert!(m.exit_issues());
        let unit = |class: &str| m.op(class).unwrap().unit;
        assert_eq!(m.sub_cores().count(), 3);
        assert!(m.sub_cores().is_shared(unit("int")) && !m.sub_cores().is_shared(unit("f0")));
        assert_ne!(m.digest(), machine(FIG2, &[]).unwrap().digest());
    }

    #[test]
    fn switches_go_on_and_off_from_the_command_line() {
        let on = machine(FIG2, &["pipeline.issue.per_warp=2", "pipeline.front_end.fetches=3"]).unwrap();
        let pipeline = on.pipeline().unwrap();
        assert_eq!((pipeline.issue.per_warp, pipeline.front_end.unwrap().fetches), (2, 3));
        let off = ["pipeline.queue=4", "pipeline.front_end.fetches=3", "pipeline.front_end=none"];
        let off = machine(FIG2, &off).unwrap();
        assert_eq!((off.pipeline().unwrap().front_end, off.pipeline().unwrap().queue), (None, Some(4)));
        assert!(machine(FIG2, &["pipeline.issue.per_wrap=2"]).unwrap_err().to_string().contains("per_wrap"));
        assert!(machine(FIG2, &["pipeline.queue.x=2"]).is_err());
        assert!(machine(FIG2, &["pipeline.queue=4", "pipeline=none"]).unwrap().pipeline().is_none());
        let both = machine(FIG2, &["pipeline.queue=4", "pipeline=Pipeline(write_back: 1)"]).unwrap();
        assert_eq!((both.pipeline().unwrap().queue, both.pipeline().unwrap().write_back), (Some(4), 1));
    }

    /// With a load/store unit, so that memory is reached.
    fn memory(settings: &[&str]) -> MemorySystem {
        let settings = [&["pipeline.load_store=LoadStore()"], settings].concat();
        machine(FIG2, &settings).unwrap_or_else(|problems| panic!("{problems}")).memory().clone()
    }

    #[test]
    fn a_setting_can_be_all_that_a_file_can_say() {
        let pipeline = |setting: &str| machine(FIG2, &[setting]).unwrap().pipeline().unwrap().clone();
        for list in ["[red, memory]", "[\"red\", \"memory\"]", "[\"red\", \"memory\",] // in this order"] {
            assert_eq!(pipeline(&format!("pipeline.collect={list}")).collect, ["red", "memory"], "{list}");
        }
        assert_eq!(pipeline("pipeline.unscored=[]").unscored, [""; 0]);
        assert_eq!(
            memory(&["memory.partitions.dram.clock=(7001, 2264)"]).partitions.dram.clock,
            (7001, 2264)
        );
        assert_eq!(memory(&["memory.partitions.dram.bank_bits=[7, 12]"]).partitions.dram.bank_bits, [7, 12]);
        let split = memory(&["memory.l1.split=Fit(total: 131072, shared: [0, 8192])"]).l1.unwrap().split;
        assert_eq!(split, Split::Fit { total: 131_072, shared: vec![0, 8192] });
        assert_eq!(memory(&["memory.jitter=Uniform(2, 9)"]).jitter, Jitter::Uniform(2, 9));
        assert_eq!(memory(&["memory.jitter=Geometric(4)", "memory.jitter=Off"]).jitter, Jitter::Off);
        // a part is replaced, its neighbours are not
        let l1 = memory(&["memory.l1.banks=4", "memory.lower=Fixed", "memory.l1=L1(latency: 3)"]);
        assert_eq!((l1.l1.unwrap().banks, l1.lower), (1, LowerLevel::Fixed));
        let default = memory(&["memory.l1.banks=4", "memory.lower=Fixed", "memory=none"]);
        assert_eq!(default, MemorySystem::default());
    }

    #[test]
    fn entries_and_words_without_quotes_can_be_set() {
        let m = machine(
            FIG2,
            &[
                "units.red=Unit(init: 7, lat: 8)",
                "units.red.source=FACTS.md, by \"hand\"",
                "units={\"new\": Unit(init: 3, lat: 3)}",
                "ops.f0=new",
                "ops.int.div=Op(unit: \"blue\", init: 5)",
                "limits=Limits(warps: 3)",
                "scheduler=Random(5)",
                "hazards=[Raw, Waw]",
                "name=5",
                "reconvergence=PascalStack",
            ],
        )
        .unwrap();
        let red = m.units().iter().find(|unit| unit.name == "red").unwrap();
        assert_eq!((red.init.get(), red.source.as_str()), (7, "FACTS.md, by \"hand\""));
        assert_eq!(m.op("f0").unwrap().init, Cycles::new(3));
        assert_eq!(m.op("int.div").unwrap().init, Cycles::new(5));
        assert_eq!(m.limits().warps, 3);
        assert_eq!((m.scheduler(), m.name()), (&SchedulerKind::Random(5), "5"));
        assert_eq!(m.reconvergence(), Reconvergence::PascalStack);
    }

    #[test]
    fn values_that_do_not_fit_are_refused_as_in_a_file() {
        for (setting, message) in [
            ("pipeline.collect=red", "Expected opening `[`"),
            ("pipeline.collect=[red", "Expected"),
            ("pipeline.queue=[1]", "Expected integer"),
            ("pipeline.queue=", "Unexpected end"),
            ("pipeline.queue=1), sms: (2", "trailing"),
            ("pipeline.issue=none", "Expected"),
            ("memory.partitions.dram.clock=(1, 2, 3)", "Expected"),
            ("memory.partitions.dram.clock.0=1", "`0` is not the name"),
            ("memory.l1.split=Fit(total: 1, sharde: [0])", "`sharde`"),
            ("memory.l1.split=Fitt(total: 1)", "`Fitt`"),
            ("memory.l1.split.total=1", "Expected"),
            ("memory.jitter=Uniform(-1, 2)", "out of bounds"),
            ("sms.x=1", "no parts"),
        ] {
            let error = machine(FIG2, &[setting]).unwrap_err();
            let shown = error.to_string();
            assert_eq!(error.list().len(), 1, "{shown}");
            let (problem, place) = (&error.list()[0], format!("--set {setting}"));
            assert!(problem.message.contains(message) && problem.file == place, "{setting}: {shown}");
            assert!(!problem.hint.is_empty(), "{setting}: {shown}");
        }
    }

    #[test]
    fn wrong_settings_say_what_exists() {
        for bad in [
            "units.gren.lat=1",
            "unitz.red.lat=1",
            "units.red.late=3",
            "units.red.lat=x",
            "scheduler=fifo",
            "units=3",
            "limits.foo=1",
            "sub_cores=x",
        ] {
            let error = machine(FIG2, &[bad]).unwrap_err().to_string();
            assert!(error.contains(bad), "{bad}: {error}");
        }
    }

    #[test]
    fn all_problems_are_reported_with_their_line() {
        let text = FIG2.replace("init: 2", "init: 0").replace("\"f0\": \"red\"", "\"f0\": \"rde\"");
        let error = machine(&text, &[]).unwrap_err();
        let shown = error.to_string();
        assert_eq!(error.list().len(), 2, "{shown}");
        assert!(shown.contains("m.ron:3") && shown.contains("init 0"), "{shown}");
        assert!(shown.contains("m.ron:4") && shown.contains("did you mean `red`"), "{shown}");
    }

    #[test]
    fn extends_overrides_key_by_key_and_finds_circles() {
        let base = SourceText::new("base", FIG2);
        let load = |name: &str| {
            if name == "base" {
                Ok(base.clone())
            } else {
                Ok(SourceText::new("loop", "Machine(name: \"l\", extends: \"loop\")"))
            }
        };
        let child = SourceText::new(
            "child",
            "Machine(name: \"c\", extends: \"base\", units: { \"red\": Unit(init: 4, lat: 4) })",
        );
        let m = Machine::new(&MachineSpec::parse_with_bases(&child, &load).unwrap(), &child).unwrap();
        assert_eq!(m.name(), "c");
        assert_eq!(m.op("f0").unwrap().init, Cycles::new(4));
        assert_eq!(m.op("int").unwrap().init, Cycles::new(3));
        let circle = SourceText::new("x", "Machine(name: \"x\", extends: \"loop\")");
        assert!(MachineSpec::parse_with_bases(&circle, &load).unwrap_err().to_string().contains("circle"));
    }
}
