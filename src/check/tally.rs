//! What comes of an application: each kernel is simulated and judged, and a kernel boundary orders everything, so that
//! makespans and bounds add up. Copies between kernels take no time here. Each kernel finds caches
//! and DRAM as the machine says that a launch finds them.

use serde::{Deserialize, Serialize};

use super::application::ApplicationPlan;
use super::checked::{Checked, Failed};
use super::judge::{BlockTable, BoundRow};
use crate::base::{BlockId, Cycles};
use crate::bound::Guarantee;
use crate::diag::{Diagnostic, Diagnostics};
use crate::sim::Left;

/// An application that ended with an error.
#[derive(Debug)]
pub struct ApplicationFailed {
    /// The error.
    pub problems: Diagnostics,
    /// The launches before it, if there were any. What was violated by them or by the one that failed
    /// stays so.
    pub judged: Option<Box<ApplicationChecked>>,
}

impl From<Diagnostics> for ApplicationFailed {
    fn from(problems: Diagnostics) -> Self {
        Self { problems, judged: None }
    }
}

/// An application under one policy, judged.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ApplicationChecked {
    /// Over all launches: what can be added up is. Its blocks are the launches that came to their end.
    pub total: Checked,
    /// Of each launch.
    pub launches: Vec<LaunchRow>,
}

/// What is kept of a launch besides its makespan and bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchRow {
    /// Which statement of the application launched it.
    pub statement: u32,
    /// Warp executions of instructions.
    pub warp_instructions: u64,
}

/// The launches of one statement of an application, taken together.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementRow {
    /// Which statement.
    pub statement: usize,
    /// How many launches.
    pub launches: u64,
    /// The shortest.
    pub least: Cycles,
    /// The longest.
    pub most: Cycles,
    /// All together.
    pub sum: Cycles,
    /// Warp executions of instructions.
    pub warp_instructions: u64,
    /// Each bound over these launches.
    pub bounds: Vec<StatementBound>,
}

/// A bound over the launches of one statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementBound {
    /// Its sum, if it applies to all of them.
    pub value: Option<Cycles>,
    /// Whether one of them exceeds it.
    pub violated: bool,
}

impl ApplicationChecked {
    /// The statements that launched something, in the order of the file.
    pub fn statements(&self) -> Vec<StatementRow> {
        let mut rows: Vec<Option<StatementRow>> = Vec::new();
        for (row, (_, makespan, values)) in self.launches.iter().zip(self.total.blocks.iter()) {
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

    /// Of a launch that did not come to its end only a violation counts.
    fn add_part(&mut self, part: &Checked) {
        for (sum, bound) in self.total.bounds.iter_mut().zip(&part.bounds) {
            sum.violated |= bound.violated;
        }
    }

    /// The first launch that exceeds a bound which decides the verdict.
    pub fn first_violation(&self) -> Option<u64> {
        let violated = |(makespan, values): (Cycles, &mut dyn Iterator<Item = Option<Cycles>>)| {
            let mut rows = self.total.bounds.iter().zip(values);
            rows.any(|(bound, value)| bound.gates && value.is_some_and(|value| makespan > value))
        };
        let mut blocks = self.total.blocks.iter();
        blocks.position(|(_, makespan, mut values)| violated((makespan, &mut values))).map(|n| n as u64)
    }
}

/// A run of an application that is under way, launch by launch.
#[derive(Default)]
pub struct Tally {
    checked: Option<ApplicationChecked>,
    /// What the launches so far have left on the machine.
    pub left: Left,
}

impl Tally {
    /// What came of the launches so far, if any did.
    pub fn so_far(&self) -> Option<&ApplicationChecked> {
        self.checked.as_ref()
    }

    /// Launches that came to their end.
    pub fn launches(&self) -> u64 {
        self.checked.as_ref().map_or(0, |all| all.launches.len() as u64)
    }

    /// Goes on after these.
    pub fn from(checked: Option<ApplicationChecked>, left: Left) -> Self {
        Self { checked, left }
    }

    /// Adds what came of a launch by this statement. Whether the run goes on: a launch that was ended early ends it.
    pub fn add(&mut self, plan: &ApplicationPlan, statement: usize, checked: Checked) -> bool {
        let all = self.begun(plan, &checked);
        if !checked.is_complete() {
            all.add_part(&checked);
            return false;
        }
        let row = LaunchRow { statement: statement as u32, warp_instructions: checked.warp_instructions };
        all.launches.push(row);
        add(&mut all.total, checked);
        true
    }

    /// Adds what was judged of a launch that failed.
    pub fn fail(&mut self, plan: &ApplicationPlan, failed: &Failed) {
        for part in &failed.judged {
            self.begun(plan, part).add_part(part);
        }
    }

    fn begun(&mut self, plan: &ApplicationPlan, like: &Checked) -> &mut ApplicationChecked {
        let begin = || ApplicationChecked { total: empty(like, plan), launches: Vec::new() };
        self.checked.get_or_insert_with(begin)
    }

    /// The result of a run that ended so, with what it left.
    pub fn end<T>(
        self,
        plan: &ApplicationPlan,
        ended: Result<T, Diagnostics>,
    ) -> Result<(ApplicationChecked, T), ApplicationFailed> {
        let Self { checked: mut all, .. } = self;
        if let Some(ApplicationChecked { total, .. }) = all.as_mut().filter(|all| all.launches.is_empty()) {
            // a bound that nothing was held against does not hold
            let open = total.bounds.iter_mut().filter(|row| !row.violated);
            open.for_each(|row| row.withdraw("no launch was simulated to its end"));
        }
        match ended {
            Ok(left) => {
                // an application launches something, or it is none
                let none = || Diagnostics::from(Diagnostic::general(plan.name, "nothing launches a kernel"));
                Ok((all.ok_or_else(none)?, left))
            }
            Err(problems) => Err(ApplicationFailed { problems, judged: all.map(Box::new) }),
        }
    }
}

/// A sum of nothing, of the same shape.
fn empty(like: &Checked, plan: &ApplicationPlan) -> Checked {
    let zero = |row: &BoundRow| BoundRow { value: Ok(Guarantee::OF_NOTHING), violated: false, ..row.clone() };
    Checked {
        makespan: Cycles::ZERO,
        warps: Vec::new(),
        bounds: like.bounds.iter().map(zero).collect(),
        blocks: BlockTable::new(plan.bounds.len()),
        launch_blocks: u32::try_from(plan.application.launches()).unwrap_or(u32::MAX),
        issues: 0,
        stalls: Default::default(),
        memory: None,
        sub_cores: vec![Default::default(); like.sub_cores.len()],
        warp_instructions: 0,
        thread_instructions: 0,
        self_checked_warps: 0,
        notes: Vec::new(),
        races: Vec::new(),
        races_not_looked_for: None,
        decided_by_order: None,
        ..like.clone()
    }
}

fn add(total: &mut Checked, one: Checked) {
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
        match (&mut sum.value, bound.value) {
            (Ok(sum), Ok(value)) => *sum += value,
            (Ok(_), Err(why)) => sum.value = Err(why),
            (Err(_), _) => {}
        }
        sum.violated |= bound.violated;
        sum.left_out &= bound.left_out;
    }
    let new_notes = one.notes.into_iter().filter(|note| !total.notes.contains(note)).collect::<Vec<_>>();
    total.notes.extend(new_notes);
    let new_races = one.races.into_iter().filter(|race| !total.races.contains(race)).collect::<Vec<_>>();
    total.races.extend(new_races);
}
