//! The effect on a verdict if the paths depend on the order in which warps run.

use super::judged_launch::{Failed, JudgedLaunch, Unsettled};
use warpbound_bound::Order;
use warpbound_core::isa::Space;
use warpbound_core::program::KernelCode;
use warpbound_exec::Executor;
use warpbound_exec::races::{AccessKind, Party, Race, Source, TimeDependences, VaryingValue};

/// The dependences of a functional run on the order in which its warps accessed memory, as known at
/// its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderDependences {
    /// The values and accesses that depend on that order.
    pub dependences: TimeDependences,
    /// The reason why races were not looked for, if they were not.
    pub not_looked_for: Option<&'static str>,
}

/// The reason given for traces, for which races cannot be looked for.
pub const IN_A_TRACE: &str = "a trace does not show the results of other orders of accesses";

impl OrderDependences {
    /// Returns what is known after a functional run.
    pub fn of(executor: &Executor) -> Self {
        let not_looked_for = (!executor.watches_races()).then_some("--races ignore");
        Self { dependences: executor.time_dependences(), not_looked_for }
    }

    /// Returns the corresponding premise of bounds for the paths of the run.
    pub fn order(&self, program: &KernelCode) -> Order {
        if let Order::Decides(why) = untimed(program) {
            return Order::Decides(why);
        }
        match (self.reasons(program).first(), self.not_looked_for) {
            (Some(first), _) if self.is_unset() => Order::Decides(format!(
                "the paths depend on something that the launch does not define: {first}"
            )),
            (Some(first), _) => Order::Decides(format!("the paths depend on timing: {first}")),
            (None, Some(_)) => Order::NotLookedFor,
            (None, None) => Order::Irrelevant,
        }
    }

    /// Returns the reasons why the paths may differ if warps run at other times, the most
    /// informative reason first.
    pub fn reasons(&self, program: &KernelCode) -> Vec<String> {
        reasons(&self.dependences, program)
    }

    /// Returns whether the cause is a register that was never written, and not the order of
    /// accesses.
    fn is_unset(&self) -> bool {
        let TimeDependences { races, unnamed, value, .. } = &self.dependences;
        races.is_empty() && *unnamed == 0 && value.is_some_and(|value| value.source == Source::Unset)
    }

    /// Returns the note for the reader if races were not looked for.
    pub fn note(&self) -> Option<String> {
        self.not_looked_for.map(not_looked_for)
    }
}

/// Returns the note for the reader if races were not looked for, for this reason.
pub fn not_looked_for(why: &str) -> String {
    format!("races were not looked for ({why}): the results are those of the paths of one order of accesses")
}

/// Returns the notes of [`not_looked_for`] for several results, with one line for each distinct
/// reason.
pub fn notes_of<'a>(reasons: impl Iterator<Item = &'a String>) -> String {
    let mut listed: Vec<&String> = Vec::new();
    let mut text = String::new();
    for why in reasons {
        if !listed.contains(&why) {
            listed.push(why);
            text += &format!("note: {}\n", not_looked_for(why));
        }
    }
    text
}

/// Returns the premise for an analysis that treats loaded data as unknown. A wait that timing does
/// not model still counts.
pub fn untimed(program: &KernelCode) -> Order {
    program.untimed_wait().map_or(Order::Irrelevant, |(line, waits)| {
        let place = format!("{}:{line}", program.file);
        Order::Decides(format!("{place} {waits}, which timing does not model"))
    })
}

impl Unsettled {
    /// Withdraws every verdict if the run was one of several possible ones: another order of
    /// accesses may give other paths, and the bounds are not computed for those.
    #[must_use]
    pub fn settle(self, seen: &OrderDependences, program: &KernelCode) -> JudgedLaunch {
        let Self(mut checked) = self;
        if let Order::Decides(why) = seen.order(program) {
            checked.withdraw(&why);
            checked.decided_by_order = Some(why);
        }
        if let Some((line, waits)) = program.untimed_wait() {
            let place = format!("{}:{line}", program.file);
            checked.notes.push(format!("the makespan leaves out that {place} {waits}"));
        }
        let reasons = seen.reasons(program);
        if let Some((first, rest)) = reasons.split_first() {
            let order = match seen.is_unset() {
                true => "the makespan holds for one of several values of a register",
                false => "the makespan holds for one of several orders of accesses",
            };
            let others = rest.iter().map(|reason| format!("also: {reason}"));
            checked.notes.push(format!("{order}: {first}"));
            checked.notes.extend(others);
        }
        checked.notes.extend(seen.note());
        checked.races.clone_from(&seen.dependences.races);
        checked.races_not_looked_for = seen.not_looked_for.map(str::to_owned);
        checked
    }
}

/// Does the same as [`Unsettled::settle`], whether the run failed or not.
///
/// # Errors
/// Returns the error of the run, with the results judged before it.
pub(super) fn settled(
    ran: Result<Unsettled, Failed<Unsettled>>,
    seen: &OrderDependences,
    program: &KernelCode,
) -> Result<JudgedLaunch, Failed> {
    match ran {
        Ok(checked) => Ok(checked.settle(seen, program)),
        Err(Failed { problems, judged }) => {
            let judged = judged.into_iter().map(|checked| checked.settle(seen, program)).collect();
            Err(Failed { problems, judged })
        }
    }
}

impl JudgedLaunch {
    fn withdraw(&mut self, why: &str) {
        // a premise that fails for every order of accesses is the better reason
        self.bounds.iter_mut().for_each(|row| row.withdraw(why));
        self.blocks.withdraw_bounds();
    }
}

fn reasons(dependences: &TimeDependences, program: &KernelCode) -> Vec<String> {
    let TimeDependences { races, unnamed, value, incomplete, stray, split_barrier } = dependences;
    let mut reasons: Vec<String> = races.iter().map(|race| text(race, program)).collect();
    if *unnamed > 0 {
        reasons.push(format!("races of {unnamed} more pairs of accesses"));
    }
    reasons.extend(value.map(|value| decided(value, program)));
    if let Some(line) = split_barrier {
        reasons.push(format!(
            "{}:{line} is a barrier at which only some threads of a warp arrive, and the hardware does not define \
             when the others go on",
            program.file
        ));
    }
    if let Some(line) = stray {
        reasons.push(format!(
            "{}:{line} stores to a buffer to which no pointer in its registers refers, and reads of it were not \
             watched for races",
            program.file
        ));
    }
    if *incomplete {
        reasons.push(
            "there was too little memory to watch all accesses for races; --race-memory gives more, --races ignore \
             looks for no races"
                .to_owned(),
        );
    }
    reasons
}

/// Returns a text such as `k.ptx:12 reads a clock, and where a warp goes or what it accesses at
/// k.ptx:15 depends on it`.
fn decided(value: VaryingValue, program: &KernelCode) -> String {
    let VaryingValue { source, line, decides } = value;
    let file = &program.file;
    let place = line.map_or_else(|| "an earlier launch".to_owned(), |line| format!("{file}:{line}"));
    let what = match source {
        Source::Clock => "reads a clock",
        Source::Placement => "reads its position on the hardware",
        Source::Sum => "adds floating-point numbers in an order that is left to time",
        Source::Unset => "reads a register that nothing has written before",
        Source::Launch => "left a value in memory that differs from run to run",
    };
    format!("{place} {what}, and where a warp goes or what it accesses at {file}:{decides} depends on it")
}

/// Returns a text such as `k.ptx:31 (warp 0) stores and k.ptx:35 (warp 3) loads the same bytes
/// without an order`.
fn text(race: &Race, program: &KernelCode) -> String {
    let Race { space, address, place, first, second } = race;
    let several_blocks = first.block != second.block;
    let party = |party: &Party| {
        let block = match party.block {
            _ if !several_blocks => String::new(),
            Some(block) => format!(" of block {block}"),
            None => " of an earlier block".to_owned(),
        };
        let others = if party.others { " and others" } else { "" };
        let verb = match party.access {
            AccessKind::Load => "loads",
            AccessKind::Store => "stores",
            AccessKind::Atomic => "updates",
            AccessKind::AsyncCopy => "copies",
        };
        format!("{}:{} (warp {}{block}{others}) {verb}", program.file, party.line, party.warp)
    };
    let place = if *space == Space::Global { format!(", {place}") } else { String::new() };
    let block = match second.block {
        Some(block) if !several_blocks => format!(" in block {block}"),
        _ => String::new(),
    };
    let atomic = first.access == AccessKind::Atomic && second.access == AccessKind::Atomic;
    let what = if atomic {
        "the same cell, and a result depends on the order"
    } else {
        "the same bytes without an order"
    };
    format!(
        "{} and {} {what}: {} address {address:#x}{place}{block}",
        party(first),
        party(second),
        space.name()
    )
}
