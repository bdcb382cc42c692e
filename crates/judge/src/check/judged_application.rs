//! The results of an application. Each kernel is simulated and judged. All accesses of a kernel
//! come before those of the next one, so that makespans and bounds are added up. Copies between
//! kernels take no simulated time. Each kernel finds caches and DRAM in the state that the machine
//! specifies for the start of a launch.

use serde::{Deserialize, Serialize};

use super::application::ApplicationPlan;
use super::judged_launch::{Failed, JudgedLaunch};
use super::left::Left;
use super::verdict::{BoundRow, PartRow};
use warpbound_bound::Guarantee;
use warpbound_core::base::{BlockId, Cycles};
use warpbound_core::diag::{Diagnostic, Diagnostics};

/// The judged run of a launch or an application under one policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JudgedApplication {
    /// The result of the launch, or that over all launches of an application, with sums where
    /// possible. The blocks of an application are the launches that were simulated to their end.
    pub total: JudgedLaunch,
    /// One row per launch of an application; `None` if a single launch ran.
    pub launches: Option<Vec<LaunchRow>>,
}

/// The data kept about a launch besides its makespan and bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchRow {
    /// The index of the statement of the application that launched it.
    pub statement: u32,
    /// The number of warp executions of instructions.
    pub warp_instructions: u64,
}

/// The launches of one statement of an application, taken together.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementRow {
    /// The index of the statement.
    pub statement: usize,
    /// The number of launches.
    pub launches: u64,
    /// The makespan of the shortest launch.
    pub least: Cycles,
    /// The makespan of the longest launch.
    pub most: Cycles,
    /// The sum of all makespans.
    pub sum: Cycles,
    /// The number of warp executions of instructions.
    pub warp_instructions: u64,
    /// Each bound over these launches.
    pub bounds: Vec<StatementBound>,
}

/// A bound over the launches of one statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementBound {
    /// The sum over the launches, if the bound applies to all of them.
    pub value: Option<Cycles>,
    /// Whether one of the launches exceeds it.
    pub violated: bool,
}

/// A run as far as it got, and the error that ended it, if any.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The results that were judged, if there are any.
    pub judged: Option<JudgedApplication>,
    /// The reason why the run is incomplete, if it is.
    pub problems: Option<Diagnostics>,
}

impl Run {
    /// Creates a run that failed before it began.
    pub fn failed(problems: Diagnostics) -> Self {
        Self { judged: None, problems: Some(problems) }
    }

    /// Creates the run of one launch from its outcome.
    pub(super) fn of_launch(ran: Result<JudgedLaunch, Failed>) -> Self {
        let (checked, problems) = match ran {
            Ok(checked) => (Some(checked), None),
            Err(Failed { problems, mut judged }) => (judged.pop(), Some(problems)),
        };
        Self { judged: checked.map(|total| JudgedApplication { total, launches: None }), problems }
    }
}

impl JudgedApplication {
    /// Returns a row per launch of an application that was simulated to its end.
    pub fn launches(&self) -> &[LaunchRow] {
        self.launches.as_deref().unwrap_or_default()
    }

    /// Returns the statements that launched a kernel, in the order of the file.
    pub fn statements(&self) -> Vec<StatementRow> {
        let mut rows: Vec<Option<StatementRow>> = Vec::new();
        for (row, (_, makespan, values)) in self.launches().iter().zip(self.total.blocks.iter()) {
            let statement = row.statement as usize;
            if rows.len() <= statement {
                rows.resize(statement + 1, None);
            }
            let sums = rows[statement].get_or_insert_with(|| StatementRow {
                statement,
                launches: 0,
                least: makespan,
                most: makespan,
                sum: Cycles::ZERO,
                warp_instructions: 0,
                bounds: vec![
                    StatementBound { value: Some(Cycles::ZERO), violated: false };
                    self.total.bounds.len()
                ],
            });
            sums.launches += 1;
            sums.least = sums.least.min(makespan);
            sums.most = sums.most.max(makespan);
            sums.sum += makespan;
            sums.warp_instructions += row.warp_instructions;
            for (sum, value) in sums.bounds.iter_mut().zip(values) {
                sum.value = sum.value.zip(value).map(|(sum, value)| sum + value);
                sum.violated |= value.is_some_and(|value| makespan > value);
            }
        }
        rows.into_iter().flatten().collect()
    }

    /// Adds a launch that was not simulated to its end. Only its violations count.
    fn add_part(&mut self, part: &JudgedLaunch) {
        for (sum, bound) in self.total.bounds.iter_mut().zip(&part.bounds) {
            sum.violated |= bound.violated;
        }
    }

    /// Returns the number of the first launch of an application that exceeds a bound which
    /// determines the verdict.
    pub fn first_violation(&self) -> Option<u64> {
        self.launches.as_ref()?;
        let violated = |(makespan, values): (Cycles, &mut dyn Iterator<Item = Option<Cycles>>)| {
            let mut rows = self.total.bounds.iter().zip(values);
            rows.any(|(bound, value)| bound.gates && value.is_some_and(|value| makespan > value))
        };
        let mut blocks = self.total.blocks.iter();
        blocks.position(|(_, makespan, mut values)| violated((makespan, &mut values))).map(|n| n as u64)
    }
}

/// The run of an application in progress, launch by launch.
#[derive(Default)]
pub struct Tally {
    checked: Option<JudgedApplication>,
    /// The state of caches and DRAM that the launches so far have left on the machine.
    pub left: Left,
}

impl Tally {
    /// Returns the result of the launches so far, or `None` if there were none.
    pub fn so_far(&self) -> Option<&JudgedApplication> {
        self.checked.as_ref()
    }

    /// Returns the number of launches that were simulated to their end.
    pub fn launches(&self) -> u64 {
        self.checked.as_ref().map_or(0, |all| all.launches().len() as u64)
    }

    /// Resumes a run after these results.
    pub fn from(checked: Option<JudgedApplication>, left: Left) -> Self {
        Self { checked, left }
    }

    /// Adds the result of a launch by this statement. Returns whether the run continues, which it
    /// does not after a launch that was stopped early.
    pub fn add(&mut self, plan: &ApplicationPlan, statement: usize, checked: JudgedLaunch) -> bool {
        let all = self.begun(plan, &checked);
        if !checked.is_complete() {
            all.add_part(&checked);
            return false;
        }
        let row = LaunchRow { statement: statement as u32, warp_instructions: checked.warp_instructions };
        all.launches.get_or_insert_default().push(row);
        add(&mut all.total, checked);
        true
    }

    /// Adds the results judged before a launch failed.
    pub fn fail(&mut self, plan: &ApplicationPlan, failed: &Failed) {
        for part in &failed.judged {
            self.begun(plan, part).add_part(part);
        }
    }

    fn begun(&mut self, plan: &ApplicationPlan, like: &JudgedLaunch) -> &mut JudgedApplication {
        let begin = || JudgedApplication { total: empty(like, plan), launches: Some(Vec::new()) };
        self.checked.get_or_insert_with(begin)
    }

    /// Returns the run, which ended with `ended`.
    pub fn end(self, plan: &ApplicationPlan, ended: Result<(), Diagnostics>) -> Run {
        let Self { checked: mut all, .. } = self;
        if let Some(JudgedApplication { total, .. }) = all.as_mut().filter(|all| all.launches().is_empty()) {
            // a bound that no launch was compared with does not count as holding
            let open = total.bounds.iter_mut().filter(|row| !row.violated);
            open.for_each(|row| row.withdraw("no launch was simulated to its end"));
        }
        // a valid application launches at least one kernel
        let none = || Diagnostics::from(Diagnostic::general(plan.name, "nothing launches a kernel"));
        let problems = ended.err().or_else(|| all.is_none().then(none));
        Run { judged: all, problems }
    }
}

/// Creates a zero sum with the same bounds and sub-cores as `like`.
fn empty(like: &JudgedLaunch, plan: &ApplicationPlan) -> JudgedLaunch {
    let zero = |row: &BoundRow| BoundRow {
        value: Ok(Guarantee::OF_NOTHING),
        violated: false,
        parts: Vec::new(),
        ..row.clone()
    };
    let bounds = like.bounds.iter().map(zero).collect();
    JudgedLaunch {
        launch_blocks: u32::try_from(plan.application.launches()).unwrap_or(u32::MAX),
        sms: like.sms,
        resident_blocks: like.resident_blocks,
        ..JudgedLaunch::empty(like.policy.clone(), bounds, like.sub_cores.len())
    }
}

fn add(total: &mut JudgedLaunch, one: JudgedLaunch) {
    let launch = BlockId::from_index(total.blocks.len());
    total.blocks.enter(
        launch,
        one.makespan,
        one.bounds.iter().map(|bound| bound.value.as_ref().ok().map(|value| value.cycles())),
    );
    total.makespan += one.makespan;
    total.resident_blocks = total.resident_blocks.max(one.resident_blocks);
    total.races_not_looked_for = total.races_not_looked_for.take().or(one.races_not_looked_for);
    total.decided_by_order = total.decided_by_order.take().or(one.decided_by_order);
    total.partial_barriers |= one.partial_barriers;
    total.issues += one.issues;
    total.stalls += one.stalls;
    total.warp_instructions += one.warp_instructions;
    total.thread_instructions += one.thread_instructions;
    total.self_checked_warps += one.self_checked_warps;
    if let Some(memory) = one.memory {
        *total.memory.get_or_insert_default() += memory;
    }
    total.sub_cores.iter_mut().zip(one.sub_cores).for_each(|(sum, used)| *sum += used);
    for (sum, bound) in total.bounds.iter_mut().zip(one.bounds) {
        match bound.value {
            Ok(value) => sum.add(value),
            Err(why) if sum.value.is_ok() => sum.value = Err(why),
            Err(_) => {}
        }
        sum.violated |= bound.violated;
        sum.left_out &= bound.left_out;
        add_parts(&mut sum.parts, bound.parts);
        let known: Cycles = sum.parts.iter().map(|part| part.cycles).sum();
        if sum.value.as_ref().map(|value| value.cycles()) != Ok(known) {
            sum.parts.clear();
        }
    }
    let new_notes = one.notes.into_iter().filter(|note| !total.notes.contains(note)).collect::<Vec<_>>();
    total.notes.extend(new_notes);
    let new_races = one.races.into_iter().filter(|race| !total.races.contains(race)).collect::<Vec<_>>();
    total.races.extend(new_races);
}

/// Adds the parts of a bound to those of the launches before.
pub(super) fn add_parts(sum: &mut Vec<PartRow>, parts: Vec<PartRow>) {
    for one in parts {
        match sum.iter_mut().find(|other| (other.part, &other.unit) == (one.part, &one.unit)) {
            Some(same) => same.cycles += one.cycles,
            None => sum.push(one),
        }
    }
    sum.sort_by_key(|one| one.part);
}
