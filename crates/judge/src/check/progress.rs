//! The progress of the runs of an application, as bytes: the results so far and, for a program,
//! device memory. A process that reads them resumes as the writing process would have continued.

use std::io::{self, BufRead, Read, Write};

use serde::{Deserialize, Serialize};

use super::application::Application;
use super::judged_application::JudgedApplication;
use super::left::Left;
use super::steps::start;
use warpbound_bound::Bound;
use warpbound_core::machine::Machine;
use warpbound_exec::{Device, Options};
use warpbound_sim::PolicySetup;
use warpbound_trace::trace::Stalls;

/// The number of digits of the largest number that is read, chosen so that later additions to it do
/// not overflow.
const MAX_DIGITS: usize = 16;
/// The upper limit of the numbers that are read.
const MOST: u64 = 10u64.pow(MAX_DIGITS as u32);

/// The progress of runs: the number of launches that are complete, and their results.
#[derive(Serialize)]
pub struct ApplicationProgress<'r> {
    /// The index of the group in progress. Runs on machines that need different data recorded form
    /// groups that run one after the other.
    pub group: usize,
    /// The number of such groups.
    #[serde(skip)]
    pub groups: usize,
    /// The number of launches that the runs of the group in progress have completed.
    pub launches: u64,
    /// The results so far, by machine and policy; `None` if there are none.
    pub runs: Vec<Vec<Option<&'r JudgedApplication>>>,
    /// The state of caches and DRAM that the launches have left, by machine and policy.
    pub left: Vec<Vec<&'r Left>>,
    /// The memory after the last of these launches; `None` for a list of traces.
    #[serde(skip)]
    pub device: Option<&'r Device>,
}

/// The progress of runs in the form from which they resume; compare [`ApplicationProgress`].
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedProgress {
    pub(super) group: usize,
    pub(super) launches: u64,
    pub(super) runs: Vec<Vec<Option<JudgedApplication>>>,
    pub(super) left: Vec<Vec<Left>>,
    #[serde(skip)]
    pub(super) device: Option<Device>,
}

/// Groups the indices of machines that need the same data recorded. The traces of a list are read
/// for all machines in any case, so they form a single group.
pub(super) fn groups<'m>(
    application: &Application,
    machines: impl Iterator<Item = &'m Machine>,
) -> Vec<Vec<usize>> {
    let mut groups: Vec<(Options, Vec<usize>)> = Vec::new();
    for (index, machine) in machines.enumerate() {
        let options = Options::of(machine, 0);
        let recorded = application.program().is_some();
        match groups.iter_mut().find(|(known, _)| !recorded || *known == options) {
            Some((_, members)) => members.push(index),
            None => groups.push((options, vec![index])),
        }
    }
    groups.into_iter().map(|(_, members)| members).collect()
}

/// Returns the number of launches that every run on this machine has completed, given the progress
/// of the runs.
pub(super) fn launches_on(
    machine: usize,
    groups: &[Vec<usize>],
    (group, launches): (usize, u64),
    all: u64,
) -> u64 {
    match groups.iter().position(|members| members.contains(&machine)) {
        Some(of) if of < group => all,
        Some(of) if of == group => launches,
        _ => 0,
    }
}

/// The runs that a checkpoint belongs to.
#[derive(Clone, Copy)]
pub struct ProgressOf<'a> {
    /// The application.
    pub application: &'a Application,
    /// The machines, each with its policies.
    pub on: &'a [(&'a Machine, &'a [PolicySetup])],
    /// The bounds.
    pub bounds: &'a [Box<dyn Bound>],
}

/// The largest number of bytes of a line of results.
const MAX_LINE: u64 = 1 << 30;

impl ProgressOf<'_> {
    /// Returns the number of launches to execute; a launch counts once for each group that executes
    /// it.
    pub fn launches(&self) -> u64 {
        through((0, self.groups().len()), 0, self.application.launches()).1
    }

    /// Returns the groups that the machines form.
    fn groups(&self) -> Vec<Vec<usize>> {
        groups(self.application, self.on.iter().map(|(machine, _)| *machine))
    }
}

impl ApplicationProgress<'_> {
    /// Returns the number of launches that are complete and the number of all launches; a launch
    /// counts once for each group that executes it.
    pub fn through(&self, application: &Application) -> (u64, u64) {
        through((self.group, self.groups), self.launches, application.launches())
    }

    /// Writes the progress.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut *to, self)?;
        to.write_all(b"\n")?;
        self.device.into_iter().flat_map(Device::contents).try_for_each(|bytes| to.write_all(bytes))
    }
}

impl SavedProgress {
    /// Reads what [`ApplicationProgress::write`] wrote for the same application, machines, policies
    /// and bounds.
    ///
    /// # Errors
    /// Returns a description of what is wrong with the input.
    pub fn read(from: &mut impl BufRead, of: &ProgressOf) -> Result<Self, String> {
        let results = line(from)?;
        let begun: Self = serde_json::from_slice(&results)
            .map_err(|error| format!("the results cannot be read: {error}"))?;
        begun.fits(of)?;
        let mut device = of.application.program().map(|sequence| start(sequence)).transpose();
        let device = device.as_mut().map_err(|problems| problems.to_string())?;
        for piece in device.iter_mut().flat_map(Device::contents_mut) {
            from.read_exact(piece).map_err(|error| format!("memory cannot be read: {error}"))?;
        }
        match from.read(&mut [0]) {
            Ok(0) => Ok(Self { device: device.take(), ..begun }),
            Ok(_) => Err("there is more data than the memory has".to_owned()),
            Err(error) => Err(format!("the end cannot be read: {error}")),
        }
    }

    /// Does the same as [`ApplicationProgress::through`].
    pub fn through(&self, of: &ProgressOf) -> (u64, u64) {
        through((self.group, of.groups().len()), self.launches, of.application.launches())
    }

    /// Checks that the results fit these runs.
    fn fits(&self, of: &ProgressOf) -> Result<(), String> {
        let launches = of.application.launches();
        let groups = of.groups();
        if self.launches > launches || self.group >= groups.len() {
            return Err(format!("more kernels are done than the {launches} that there are"));
        }
        let statements: Vec<usize> = of.application.each().map(|launched| launched.statement).collect();
        fn shape<T>(policies: &[T], (_, on): &(&Machine, &[PolicySetup])) -> bool {
            policies.len() == on.len()
        }
        if self.runs.len() != of.on.len() || !self.runs.iter().zip(of.on).all(|(run, on)| shape(run, on)) {
            return Err("there are not as many results as runs".to_owned());
        }
        if self.left.len() != of.on.len() || !self.left.iter().zip(of.on).all(|(left, on)| shape(left, on)) {
            return Err("the state that the launches left is missing for a run".to_owned());
        }
        for (index, (policies, (machine, setups))) in self.runs.iter().zip(of.on).enumerate() {
            let through = launches_on(index, &groups, (self.group, self.launches), launches);
            for ((run, setup), left) in policies.iter().zip(*setups).zip(&self.left[index]) {
                let leaves = machine.memory().start.is_left() && machine.pipeline().is_some() && through > 0;
                if leaves == left.is_first() || !left.fits(machine) {
                    return Err("the state that the launches left does not fit this machine".to_owned());
                }
                if run.as_ref().map_or(0, |run| run.launches().len() as u64) != through {
                    return Err("a run has not come as far as the others".to_owned());
                }
                let Some(run) = run else { continue };
                fits(run, &statements, machine, setup, of.bounds)?;
            }
        }
        Ok(())
    }
}

/// Checks that the result fits a run with launches by these statements.
fn fits(
    run: &JudgedApplication,
    statements: &[usize],
    machine: &Machine,
    policy: &PolicySetup,
    bounds: &[Box<dyn Bound>],
) -> Result<(), String> {
    let total = &run.total;
    let as_planned = total.policy == policy.kind().to_string()
        && total.sms == machine.sms()
        && total.sub_cores.len() == machine.sms() * machine.sub_cores().count()
        && total.launch_blocks == u32::try_from(statements.len()).unwrap_or(u32::MAX)
        && total.bounds.iter().map(|row| row.name).eq(bounds.iter().map(|bound| bound.name()));
    let by_statement = run.launches().iter().map(|launch| launch.statement as usize);
    let in_order = run.launches().len() <= statements.len()
        && by_statement.eq(statements.iter().copied().take(run.launches().len()));
    if run.launches.is_none()
        || !as_planned
        || !in_order
        || total.blocks.len() != run.launches().len()
        || !total.blocks.is_whole(bounds.len())
    {
        return Err("the results are those of other runs".to_owned());
    }
    let mut makespans = 0;
    let mut sums = vec![0; bounds.len()];
    for (_, makespan, values) in total.blocks.iter() {
        add(&mut makespans, makespan.get())?;
        for (sum, value) in sums.iter_mut().zip(values) {
            add(sum, value.map_or(0, |value| value.get()))?;
        }
    }
    let mut instructions = 0;
    run.launches().iter().try_for_each(|launch| add(&mut instructions, launch.warp_instructions))?;
    let slots = makespans * total.sub_cores.len() as u64;
    let idle = |stalls: &Stalls, most: u64| stalls.total().get() <= most;
    let adds_up = (makespans, instructions) == (total.makespan.get(), total.warp_instructions)
        && idle(&total.stalls, slots)
        && total.sub_cores.iter().all(|used| idle(&used.stalls, makespans));
    if !adds_up {
        return Err("the totals are not the sums of the kernels".to_owned());
    }
    Ok(())
}

/// Adds to a sum that must stay below [`MOST`].
fn add(sum: &mut u64, value: u64) -> Result<(), String> {
    let new = sum.checked_add(value).filter(|sum| *sum < MOST);
    *sum = new.ok_or_else(|| "the kernels add up to more than any run takes".to_owned())?;
    Ok(())
}

fn through((group, groups): (usize, usize), launches: u64, all: u64) -> (u64, u64) {
    (all.saturating_mul(group as u64).saturating_add(launches), all.saturating_mul(groups as u64))
}

/// Reads the next line of JSON, without its line break.
///
/// # Errors
/// Returns an error if the line cannot be read, does not end, or contains a number that no run can
/// reach.
pub fn line(from: &mut impl BufRead) -> Result<Vec<u8>, String> {
    let mut line = Vec::new();
    from.take(MAX_LINE)
        .read_until(b'\n', &mut line)
        .map_err(|error| format!("it cannot be unpacked: {error}"))?;
    line.pop_if(|last| *last == b'\n').ok_or("a line does not end")?;
    if has_too_large_a_number(&line) {
        return Err(format!("a number has more than {MAX_DIGITS} digits"));
    }
    Ok(line)
}

/// Returns whether a number in the JSON has too many digits.
fn has_too_large_a_number(json: &[u8]) -> bool {
    let (mut digits, mut in_text, mut escaped) = (0, false, false);
    for &byte in json {
        if in_text {
            (in_text, escaped) = (escaped || byte != b'"', !escaped && byte == b'\\');
            continue;
        }
        in_text = byte == b'"';
        digits = if byte.is_ascii_digit() { digits + 1 } else { 0 };
        if digits > MAX_DIGITS {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_no_run_can_reach_are_rejected() {
        for (text, too_large) in [
            ("{\"a\":9999999999999999}", false),
            ("{\"a\":10000000000000000}", true),
            ("{\"12345678901234567890\":[1,\"\\\"12345678901234567890\",2]}", false),
            ("[\"\\\\\",12345678901234567890]", true),
            ("[1234567890,1234567890]", false),
        ] {
            assert_eq!(has_too_large_a_number(text.as_bytes()), too_large, "{text}");
            let read = line(&mut format!("{text}\nmore").as_bytes());
            assert_eq!(read.is_err(), too_large, "{text}");
        }
        assert!(line(&mut &b"1"[..]).is_err_and(|message| message.contains("does not end")));
    }
}
