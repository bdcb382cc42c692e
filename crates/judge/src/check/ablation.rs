//! The ablation study of Jeanmougin et al., ECRTS 2025 (section 4.1, "Ablation Study", Table 2):
//! the effect of each simplification of the paper model on cycles.
//!
//! From a full machine, simplifications are made one after the other, so that a column's variant A
//! is the variant B of the column before. A column shows `100 * cycles(A) / cycles(B)` for each
//! kernel: below 100 % the simplified variant is the slower one.
//!
//! The changes of each variant are:
//!
//! | variant | change |
//! |---|---|
//! | `full` | the machine as given |
//! | `perfect-icache` | every fetch hits |
//! | `one-sub-core` | one sub-core is active |
//! | `single-issue` | one instruction per cycle |
//! | `no-cache` | neither L1 nor L2; interconnect and DRAM stay |
//! | `paper-model` | no pipeline and no memory system |
//!
//! On `one-sub-core`, the sub-core has its share of the result buses and the complete operand
//! collector, as on the paper's platform (`accelsim-ecrts`). `paper-model` makes the paper's
//! assumptions 1 to 4: a global access is one instruction of a fully pipelined unit, whatever its
//! addresses, and shared memory has no bank conflicts.
//!
//! The paper model's global latency is the measured latency of a lone coalesced load on `no-cache`,
//! so that the last column shows the effect of the simplification and not of a different memory.
//! The paper does not state the latency of its last variant. It calls [`PAPER_LATENCY`] realistic,
//! and the last column is also reported with that latency ([`BESIDE`] lists all such comparisons).
//! The paper model has no operand collector and no write-back stages, so that column also contains
//! the few cycles that these take per dependent instruction; the paper's last variant, an
//! Accel-Sim, kept them.
//!
//! On the embedded suite under gto the means are 109.7, 84.8, 99.1, 70.0 and 114.1 %. The paper
//! reports 111.8, 94.0, 99.8, 91.9 and 234.1 % on Rodinia. In every column, both means are on the
//! same side of 100 %. The sizes of the effects differ with the kernels. With one resident block,
//! as in the paper, sub-cores have less effect (90.9 % with `--set limits.blocks=1`; `reproduce
//! table2` shows that run beside the paper's numbers). The last column is far above 100 % only for
//! kernels whose accesses are not coalesced (two transposes and atomics, 195 to 240 %; no other
//! kernel of the suite is above 150 %).

use super::each::{Subject, judge_each, only_run};
use super::options::RunOptions;
use super::plan::Plan;
use super::replay::observe;
use super::workload::{Workload, WorkloadKind};
use warpbound_core::base::{Cycle, Cycles, ProgressMonitor};
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText};
use warpbound_core::isa::{GLOBAL_LOAD, IsaTable};
use warpbound_core::machine::memory::Start;
use warpbound_core::machine::{Machine, MachineSpec, OpSpec, PolicyKind};
use warpbound_core::program::launch::{Launch, LaunchSpec};
use warpbound_front::ptx::Module;
use warpbound_sim::PolicySetup;
use warpbound_trace::trace::Recorder;

/// The variants, from the full machine to the paper model.
pub const VARIANTS: [&str; 6] =
    ["full", "perfect-icache", "one-sub-core", "single-issue", "no-cache", "paper-model"];

/// The columns of Table 2. Column `n` compares variants `n` (A) and `n + 1` (B).
pub const COLUMNS: [&str; 5] = [
    "baseline vs perfect I$",
    "four vs one sub-core",
    "dual vs single issue",
    "cache vs no cache",
    "coalescing vs paper model",
];

/// An additional comparison for a column. Its two variants differ from those of the column in
/// something that the paper does not specify, or they isolate a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beside {
    /// The name of the comparison.
    pub name: &'static str,
    /// The index of the column.
    pub column: usize,
    /// The indices of A and B in [`Variants::machines`].
    pub machines: [usize; 2],
}

/// All additional comparisons, in the order of their columns. After the variants come four machines
/// without a memory system, in which only the load/store unit adds to the fixed latency: with four
/// sub-cores and with one, and both again with transactions of a whole line. The last two are the
/// single-issue variant with an empty L2, and the paper model with [`PAPER_LATENCY`].
pub const BESIDE: [Beside; 4] = [
    Beside { name: "the same, perfect memory", column: 1, machines: [6, 7] },
    Beside { name: "and a transaction a line", column: 1, machines: [8, 9] },
    Beside { name: "the same, L2 empty at first", column: 3, machines: [10, 4] },
    Beside { name: "the same at latency 200", column: 4, machines: [4, 11] },
];

/// The number of machines that every kernel runs on.
pub const MACHINES: usize = 12;

/// The latency in cycles of a global access that the paper calls realistic (section 4.2). It does
/// not state the latency used in Table 2.
pub const PAPER_LATENCY: u64 = 200;

/// The variants of a machine.
#[derive(Clone, Debug)]
pub struct Variants {
    /// The machines in the order of [`VARIANTS`], then those of [`BESIDE`].
    pub machines: Vec<Machine>,
    /// The latency in cycles of a lone coalesced load without caches, and of every global access in
    /// the paper model.
    pub load_latency: u64,
}

impl Variants {
    /// Creates the variants of a full machine; `source` is its file, for messages.
    ///
    /// # Errors
    /// Returns an error for a machine without a pipeline or with several SMs, and if a variant is
    /// not valid.
    pub fn new(full: &MachineSpec, source: &SourceText, isa: &IsaTable) -> Result<Self, Diagnostics> {
        let name = full.name.clone().unwrap_or_default();
        let refuse = |message: &str| -> Diagnostics {
            Diagnostic::general(name.clone(), message)
                .hint("`ablation-baseline` is one, and so are machines that extend it")
                .into()
        };
        if full.pipeline.is_none() {
            return Err(refuse("an ablation starts from a machine with a `pipeline`"));
        }
        if full.sms.unwrap_or(1) > 1 {
            return Err(refuse("an ablation starts from a machine with one SM"));
        }
        let steps = [perfect_icache, one_sub_core, single_issue, no_cache];
        let mut specs = vec![full.clone()];
        for step in steps {
            let mut spec = specs[specs.len() - 1].clone();
            step(&mut spec);
            specs.push(spec);
        }
        let mut machines = Vec::with_capacity(MACHINES);
        for (spec, variant) in specs.iter().zip(VARIANTS) {
            machines.push(Machine::new(&named(spec, &name, variant), source)?);
        }
        let load_latency = lone_load(&machines[4], isa)?;
        let paper = |latency| {
            let paper = paper_model(specs[4].clone(), latency)?;
            Machine::new(&named(&paper, &name, VARIANTS[5]), source)
        };
        machines.push(paper(load_latency)?);
        for change in [perfect_memory, whole_lines] {
            for before in [1, 2] {
                let mut spec = specs[before].clone();
                change(&mut spec);
                machines.push(Machine::new(&named(&spec, &name, VARIANTS[before]), source)?);
            }
        }
        let mut cold = specs[3].clone();
        cold_memory(&mut cold);
        machines.push(Machine::new(&named(&cold, &name, VARIANTS[3]), source)?);
        machines.push(paper(PAPER_LATENCY)?);
        Ok(Self { machines, load_latency })
    }
}

fn named(spec: &MachineSpec, name: &str, variant: &str) -> MachineSpec {
    MachineSpec { name: Some(format!("{name}/{variant}")), ..spec.clone() }
}

fn perfect_icache(spec: &mut MachineSpec) {
    if let Some(front) = spec.pipeline.as_mut().and_then(|pipeline| pipeline.front_end.as_mut()) {
        front.icache = None;
    }
}

fn one_sub_core(spec: &mut MachineSpec) {
    let before = spec.sub_cores.replace(1).unwrap_or(1).max(1);
    if let Some(buses) = spec.pipeline.as_mut().and_then(|pipeline| pipeline.result_buses.as_mut()) {
        *buses = buses.div_ceil(before);
    }
}

fn single_issue(spec: &mut MachineSpec) {
    if let Some(pipeline) = &mut spec.pipeline {
        pipeline.issue.per_warp = 1;
    }
}

/// Removes the memory system: accesses that the load/store unit passes on return after a fixed
/// time.
fn perfect_memory(spec: &mut MachineSpec) {
    spec.memory = None;
}

/// Removes the memory system and makes the load/store unit pass on a line at a time instead of a
/// sector.
fn whole_lines(spec: &mut MachineSpec) {
    perfect_memory(spec);
    if let Some(unit) = spec.pipeline.as_mut().and_then(|pipeline| pipeline.load_store.as_mut()) {
        unit.transaction = 128;
    }
}

fn cold_memory(spec: &mut MachineSpec) {
    if let Some(memory) = &mut spec.memory {
        memory.start = Start::Cold;
    }
}

fn no_cache(spec: &mut MachineSpec) {
    if let Some(memory) = &mut spec.memory {
        memory.l1 = None;
        memory.partitions.l2 = None;
    }
    // no cache remains that could be warm
    cold_memory(spec);
}

fn paper_model(mut spec: MachineSpec, load_latency: u64) -> Result<MachineSpec, Diagnostics> {
    spec.pipeline = None;
    spec.memory = None;
    spec.shared_memory = None;
    let unit = match spec.ops.get(GLOBAL_LOAD) {
        Some(OpSpec::Unit(unit)) => Some(unit.clone()),
        Some(OpSpec::Timed(timed)) => Some(timed.unit.clone()),
        None => None,
    };
    if let Some(unit) = unit.and_then(|unit| spec.units.get_mut(&unit)) {
        // fully pipelined
        unit.init = 1;
    }
    Ok(spec.with_memory_latency(load_latency)?)
}

const PROBE: &str = "
.version 6.3
.target sm_61
.address_size 64
.visible .entry probe(.param .u64 data)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3];
  add.u32 %r2, %r2, %r1;
  st.global.u32 [%rd3], %r2;
  ret;
}
";

const PROBE_LAUNCH: &str = "Launch(doc: \"\", module: \"probe.ptx\", entry: \"probe\", grid: (1, 1, 1), block: (32, 1, 1), args: [Buffer(name: \"data\", elem: I32, len: 32, init: Zero)])";

/// The load of [`PROBE`], as an index of issues; the addition that waits for it follows.
const LOAD: usize = 4;

/// Returns the cycles from the issue of a lone load of 128 consecutive bytes to that of an
/// instruction that reads its result.
///
/// # Errors
/// Returns an error if the machine cannot run the probe.
fn lone_load(machine: &Machine, isa: &IsaTable) -> Result<u64, Diagnostics> {
    let program = Module::parse(&SourceText::new("probe.ptx", PROBE))?.program("probe", isa)?;
    let source = SourceText::new("probe.ron", PROBE_LAUNCH);
    let launch = Launch::new(&LaunchSpec::parse(&source)?, &program, 0, &source, &|name, _| {
        Err(format!("{name} is no file of the probe"))
    })?;
    let kind = WorkloadKind::Launch { program: Box::new(program), launch: Box::new(launch) };
    let workload = Workload { name: "probe".to_owned(), kind };
    let policy = PolicySetup::new(&PolicyKind::Gto, |_| unreachable!("gto replays nothing"))?;
    let mut recorder = Recorder::new();
    let monitor = ProgressMonitor::new();
    let (policies, options) = (std::slice::from_ref(&policy), RunOptions::new(1 << 10, &monitor));
    let plan = Plan { workload: &workload, machine, policies, options };
    observe(&plan, &mut recorder)?;
    let issued: Vec<Cycle> = recorder.issues().map(|issue| issue.issue).collect();
    Ok((issued[LOAD + 1] - issued[LOAD]).get())
}

/// Returns the cycles of a launch or application on one variant, or `None` if the run was stopped
/// early. The launches of an application are added up.
///
/// # Errors
/// Returns the errors of [`super::check`].
pub fn cycles(
    subject: Subject,
    machine: &Machine,
    policy: &PolicySetup,
    max_instructions_per_block: u64,
    monitor: &ProgressMonitor,
) -> Result<Option<Cycles>, Diagnostics> {
    let options = RunOptions::new(max_instructions_per_block, monitor);
    let judged = only_run(judge_each(subject, &[(machine, std::slice::from_ref(policy))], &options))?;
    Ok(judged.total.is_complete().then_some(judged.total.makespan))
}

/// A kernel on every variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The kernel.
    pub kernel: String,
    /// Its cycles, in the order of [`Variants::machines`].
    pub cycles: [u64; MACHINES],
}

/// Returns `100 * a / b`.
fn percent(a: u64, b: u64) -> f64 {
    if a == b { 100.0 } else { 100.0 * a as f64 / b as f64 }
}

impl Row {
    /// Returns `100 * cycles(A) / cycles(B)` of a column.
    pub fn percent(&self, column: usize) -> f64 {
        percent(self.cycles[column], self.cycles[column + 1])
    }

    /// Returns the same ratio for an additional comparison.
    pub fn percent_beside(&self, comparison: &Beside) -> f64 {
        let [a, b] = comparison.machines;
        percent(self.cycles[a], self.cycles[b])
    }
}

/// A column over all kernels, in percent. The standard deviation treats the kernels as the whole
/// population.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "the rows of Table 2")]
pub struct Summary {
    pub mean: f64,
    pub std_dev: f64,
    pub min: f64,
    pub max: f64,
}

impl Summary {
    /// Summarises a column over these kernels, of which there must be at least one.
    pub fn of(rows: &[Row], column: usize) -> Self {
        Self::over(rows, |row| row.percent(column))
    }

    /// Summarises a percentage over these kernels, of which there must be at least one.
    pub fn over(rows: &[Row], percent: impl Fn(&Row) -> f64) -> Self {
        let all: Vec<f64> = rows.iter().map(percent).collect();
        let count = all.len() as f64;
        let mean = all.iter().sum::<f64>() / count;
        let variance = all.iter().map(|percent| (percent - mean).powi(2)).sum::<f64>() / count;
        Self {
            mean,
            std_dev: variance.sqrt(),
            min: all.iter().copied().fold(f64::INFINITY, f64::min),
            max: all.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_are_those_of_the_percentages() {
        let row = |a, b| {
            let mut cycles = [b; MACHINES];
            cycles[0] = a;
            Row { kernel: String::new(), cycles }
        };
        let rows = [row(150, 100), row(50, 100)];
        assert_eq!(Summary::of(&rows, 0), Summary { mean: 100.0, std_dev: 50.0, min: 50.0, max: 150.0 });
        assert_eq!(Summary::of(&rows, 1), Summary { mean: 100.0, std_dev: 0.0, min: 100.0, max: 100.0 });
        let first = Beside { name: "", column: 0, machines: [0, MACHINES - 1] };
        assert_eq!(Summary::over(&rows, |row| row.percent_beside(&first)), Summary::of(&rows, 0));
    }
}
