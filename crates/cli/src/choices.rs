//! A launch on a machine with a pipeline, whose arbiters are searched: what `explore` and `worst`
//! need of it.

use super::args::Common;
use super::load;
use super::policies;
use super::session::Session;
use warpbound_bound::{Bound, Plb};
use warpbound_core::base::Cycles;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::pipeline::Placement;
use warpbound_core::machine::{Machine, PolicyKind};
use warpbound_core::path::{BlockPaths, BlockSource, Footprint};
use warpbound_core::program::TimingTable;
use warpbound_judge::check::{BoundRow, JudgedLaunch, Plan, Verdict, check};
use warpbound_judge::load::LoadedKernel;
use warpbound_report::verdict;
use warpbound_sim::by_cycle::{Carried, Given, Launch};

/// Returns whether the arbiters of a machine are searched, and not the schedules of the paper model.
pub fn has_arbiters(machine: &Machine) -> bool {
    machine.pipeline().is_some() && !machine.beyond_the_paper_model().is_empty()
}

/// A launch whose arbiters are searched.
pub struct Searched {
    table: TimingTable,
    blocks: Vec<BlockPaths>,
    footprint: Footprint,
    /// The launch under GTO and under LRR, with PLB.
    pub checked: Vec<JudgedLaunch>,
}

impl Searched {
    /// Executes a launch and simulates it under GTO and LRR. Returns `None` if the command was
    /// stopped before the end.
    pub fn new(
        kernel: &LoadedKernel,
        machine: &Machine,
        common: &Common,
        session: &Session,
    ) -> Result<Option<Self>, Diagnostics> {
        let workload = &kernel.workload;
        let refused = |message: String| Diagnostic::general(workload.name.clone(), message);
        if machine.pipeline().is_some_and(|of| of.launch.placement != Placement::RoundRobin) {
            return Err(refused("the arbiters of this machine cannot be searched".to_owned())
                .hint("it places blocks in a random order: use --set pipeline.launch.placement=RoundRobin")
                .into());
        }
        let bounds: [Box<dyn Bound>; 1] = [Box::new(Plb)];
        let policies = [policies::setup(&PolicyKind::Gto)?, policies::setup(&PolicyKind::Lrr)?];
        let runs = u64::from(workload.blocks()) * policies.len() as u64;
        session.progress.begin(&workload.name, Some(runs), "blocks");
        let options = common.run_options(&session.monitor).judged_by(&bounds, &[]).threads(1).ahead(false);
        let checked = check(&Plan { workload, machine, policies: &policies, options });
        let checked = checked.map_err(|failed| kernel.with_excerpts(failed.problems))?;
        if !checked.iter().all(JudgedLaunch::is_complete) {
            return Ok(None);
        }
        if let Some(reason) = &checked[0].decided_by_order {
            return Err(refused(format!("the choices of this launch cannot be searched: {reason}"))
                .hint("--races ignore searches the choices of the paths of one run")
                .into());
        }
        let mut source = workload.source(common.functional_options(machine), &session.monitor)?;
        let (mut blocks, mut room) = (Vec::new(), BlockPaths::default());
        while source.next_block(&mut room).map_err(|problems| kernel.with_excerpts(problems))? {
            blocks.push(room.clone());
        }
        if blocks.len() < workload.blocks() as usize {
            return Ok(None);
        }
        let footprint = source.footprint();
        Ok(Some(Self { table: load::timing(kernel, machine)?, blocks, footprint, checked }))
    }

    /// Calls a function with the launch before its first cycle.
    pub fn launch<T>(&self, machine: &Machine, with: impl FnOnce(&Launch) -> T) -> T {
        let given = Given::new(machine, &self.table).expect("the machine has a pipeline");
        let (resident, carried) = (self.checked[0].resident_blocks, &mut Carried::default());
        with(&Launch::new(&given, resident, &self.footprint, &self.blocks, carried))
    }

    /// Returns the rows of the bound on the launch.
    pub fn bounds(&self) -> impl Iterator<Item = &BoundRow> + Clone {
        self.checked[0].bounds.iter()
    }

    /// Returns the verdicts on a largest makespan that lies between two limits.
    pub fn verdicts(&self, at_least: u64, at_most: u64) -> Vec<Verdict> {
        let undecided = "not every choice was followed: the worst case may be above or below";
        let (at_least, at_most) = (Cycles::new(at_least), Cycles::new(at_most));
        let judge = |row: &BoundRow| match &row.value {
            Ok(value) => Verdict::between(at_least, at_most, *value, undecided),
            Err(why) => Verdict::NotApplicable(why.clone()),
        };
        self.bounds().map(judge).collect()
    }

    /// Returns the bounds with these verdicts on a largest makespan, if it is known.
    pub fn judged(&self, verdicts: &[Verdict], worst: Option<u64>) -> Vec<verdict::Bound> {
        let judged = |(row, verdict): (&BoundRow, &Verdict)| {
            let value = row.value.as_ref().ok().copied();
            verdict::Bound::of_worst_case(row.name, value, verdict, worst.map(Cycles::new))
        };
        self.bounds().zip(verdicts).map(judged).collect()
    }
}
