//! `warpbound compare --over`: the fastest policy for each value of a setting.

use super::POLICIES;
use crate::args::{Common, Compare, Races};
use crate::commands::again::{self, shell_line};
use crate::commands::diff::side;
use crate::commands::prepared::Prepared;
use crate::failures::Batch;
use crate::lists::{Lists, Setup};
use crate::load;
use crate::output::{Ending, Outcome};
use crate::session::Session;
use crate::suite::suite_kernels;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_judge::check::JudgedLaunch;
use warpbound_judge::load::Loaded;
use warpbound_report::cause::WhyResult;
use warpbound_report::compare::Makespan;
use warpbound_report::fastest::{FastestResult, PointOfSetting};
use warpbound_report::output::{Origin, Output};

/// The setting that is the option `--mem-latency`.
const MEM_LATENCY: &str = "mem_latency";
/// The most values.
const MAX_VALUES: u64 = 10_000;
/// The number of values that are simulated side by side.
const AT_ONCE: usize = 32;
/// What a setting with its values looks like.
const FORM: &str = "for example mem_latency=100..=900/100, or units.gmem.lat=100,200,400";

/// A setting and its values.
struct Over {
    setting: String,
    values: Vec<String>,
}

/// Runs the command.
pub fn run(args: &Compare, over: &str, session: &Session) -> Outcome {
    let over = Over::parse(over)?;
    over.check(&args.common)?;
    let lists = Lists::new(&args.common)?;
    let names = if args.kernels.is_empty() { suite_kernels()? } else { args.kernels.clone() };
    let mut batch = Batch::new(&names);
    let mut results = Vec::new();
    while let Some((_, name)) = batch.begin(session) {
        session.progress.begin(batch.label(name), None, "blocks");
        match of_kernel(name, &over, &lists, args, session) {
            Ok(Some(of_kernel)) => {
                let is_part = |one: &FastestResult| one.points.len() < over.values.len();
                if of_kernel.iter().any(is_part) {
                    batch.cut_short();
                }
                results.extend(of_kernel);
            }
            Ok(None) => batch.cut_short(),
            Err(problems) => batch.failures.add(name, &problems),
        }
    }
    batch.only_failure(!results.is_empty())?;
    let output = Output::of_batch("compare", Some(args.common.seed), results, batch.report(session));
    let mut ending = Ending::default();
    ending.report(session, args.common.format, &output);
    ending.failures = batch.failures;
    Ok(ending)
}

/// Returns the results of a kernel, one for each machine, or `None` if the command was stopped before
/// the last run ended.
fn of_kernel(
    name: &str,
    over: &Over,
    lists: &Lists,
    args: &Compare,
    session: &Session,
) -> Result<Option<Vec<FastestResult>>, Diagnostics> {
    let what = load::any(name, &args.ptx, args.common.seed, &session.monitor)?;
    let plain = lists.setups(&args.common, &what, &POLICIES)?;
    let mut prepared = Prepared { what, setups: Vec::new() };
    let (mut setups, mut judged) = (Vec::new(), Vec::new());
    let mut done = 0;
    // the values of a part share a functional run, and are kept if the command is stopped later
    for part in over.values.chunks(AT_ONCE) {
        for value in part {
            prepared.setups.extend(lists.setups(&over.at(value, &args.common), &prepared.what, &POLICIES)?);
        }
        let Some(runs) = makespans_of(&prepared, args, session)? else { break };
        judged.extend(runs);
        setups.append(&mut prepared.setups);
        done += part.len();
    }
    if done == 0 {
        return Ok(None);
    }
    let what = &prepared.what;
    // the machines of the first value, then those of the next one
    let machines = plain.len();
    let mut results = Vec::new();
    for (machine, of_machine) in plain.iter().enumerate() {
        let at = |value: usize| value * machines + machine;
        let point =
            |(value, text): (usize, &String)| PointOfSetting::new(text.clone(), judged[at(value)].clone());
        let points = over.values[..done].iter().enumerate().map(point).collect();
        let origin = Origin::new(&of_machine[0].machine);
        let mut result = FastestResult::new(what.name().to_owned(), origin, over.setting.clone(), points);
        if let (Loaded::Kernel(_), true) = (what, done == over.values.len()) {
            let setups = |value: usize| &setups[at(value)][..];
            add_causes(&mut result, name, over, setups, args, session)?;
        }
        results.push(result);
    }
    Ok(Some(results))
}

/// Returns the makespans of the runs of each setup, or `None` if the command was stopped before the
/// last run ended.
fn makespans_of(
    prepared: &Prepared,
    args: &Compare,
    session: &Session,
) -> Result<Option<Vec<Vec<Makespan>>>, Diagnostics> {
    let options = args.several.run_options(&args.common, 1, &session.monitor);
    let mut makespans = Vec::new();
    for runs in prepared.run(&options) {
        let mut of_setup = Vec::new();
        for run in runs {
            if let Some(problems) = run.problems {
                return Err(prepared.what.with_excerpts(problems));
            }
            let Some(judged) = run.judged.filter(|judged| judged.total.is_complete()) else {
                return Ok(None);
            };
            let JudgedLaunch { policy, makespan, .. } = judged.total;
            of_setup.push(Makespan { policy, makespan: makespan.get() });
        }
        makespans.push(of_setup);
    }
    Ok(Some(makespans))
}

/// Adds the causes of the largest lead in each range of values.
fn add_causes<'s>(
    result: &mut FastestResult,
    name: &str,
    over: &Over,
    setups: impl Fn(usize) -> &'s [Setup],
    args: &Compare,
    session: &Session,
) -> Result<(), Diagnostics> {
    for range in &mut result.ranges {
        let Some(lead) = &mut range.lead else { continue };
        let index = over.values.iter().position(|value| *value == lead.value);
        let (Some(index), Some(fastest)) = (index, range.fastest.first()) else { continue };
        let given = |policy: &str| {
            let setup = setups(index).iter().find(|setup| setup.policy.kind().to_string() == policy)?;
            let mut words = again::subject(name, &setup.common, policy);
            words.extend(args.ptx.words());
            Some(shell_line(&words))
        };
        let (Some(slow), Some(fast)) = (given(&lead.next), given(fastest)) else { continue };
        let (slower, faster) = (side(&slow, session)?, side(&fast, session)?);
        let why = WhyResult::new((&slow, &slower), (&fast, &faster));
        (lead.causes, lead.spent_less) = (why.causes, Some(why.spent_less));
        let words = ["warpbound".to_owned(), "why".to_owned(), slow, fast];
        lead.command = Some(shell_line(&words));
    }
    Ok(())
}

impl Over {
    /// Parses `SETTING=FROM..=TO`, `SETTING=FROM..=TO/STEP` or `SETTING=VALUE,VALUE,..`.
    fn parse(text: &str) -> Result<Self, Diagnostic> {
        let wrong = |message: &str| Diagnostic::general(format!("--over {text}"), message).hint(FORM);
        let (setting, values) =
            text.split_once('=').ok_or_else(|| wrong("expected a setting, =, and its values"))?;
        let setting = setting.trim();
        let setting = if setting == "mem-latency" { MEM_LATENCY } else { setting };
        let values = match values.split_once("..=") {
            Some((from, rest)) => {
                let (to, step) = rest.split_once('/').unwrap_or((rest, "1"));
                let number = |text: &str| text.trim().parse::<u64>().ok();
                let numbers = (number(from), number(to), number(step));
                let (Some(from), Some(to), Some(step @ 1..)) = numbers else {
                    return Err(wrong(
                        "expected FROM..=TO or FROM..=TO/STEP with integers and a step of at least 1",
                    ));
                };
                if from > to {
                    return Err(wrong("the first value is greater than the last"));
                }
                if (to - from) / step >= MAX_VALUES {
                    return Err(wrong("these are more than 10,000 values"));
                }
                (0..=(to - from) / step).map(|index| (from + index * step).to_string()).collect()
            }
            None => values.split(',').map(|value| value.trim().to_owned()).collect::<Vec<_>>(),
        };
        if setting == MEM_LATENCY
            && let Some(value) = values.iter().find(|value| value.parse::<u64>().is_err())
        {
            return Err(wrong(&format!("`{value}` is no number of cycles, which mem_latency is")));
        }
        if setting.is_empty() || values.iter().any(String::is_empty) {
            return Err(wrong("a setting or a value is missing"));
        }
        if let Some((index, value)) =
            values.iter().enumerate().find(|(index, value)| values[..*index].contains(value))
        {
            return Err(wrong(&format!("value {} is {value} again", index + 1)));
        }
        Ok(Self { setting: setting.to_owned(), values })
    }

    /// Checks that no other option gives the setting a value.
    fn check(&self, common: &Common) -> Result<(), Diagnostic> {
        let is_set = |text: &&String| text.split('=').next().map(str::trim) == Some(&self.setting);
        let other = match self.setting == MEM_LATENCY {
            true => common.mem_latency.map(|value| format!("--mem-latency {value}")),
            false => common.set.iter().find(is_set).map(|text| format!("--set {text}")),
        };
        let message = "--over gives this setting its values";
        other.map_or(Ok(()), |place| Err(Diagnostic::general(place, message).hint("leave one of them out")))
    }

    /// Returns the options with this value of the setting. No race is looked for, because nothing
    /// is claimed about other schedules.
    fn at(&self, value: &str, common: &Common) -> Common {
        let mut at = Common { races: Races::Ignore, ..common.clone() };
        match (self.setting == MEM_LATENCY, value.parse()) {
            (true, Ok(latency)) => at.mem_latency = Some(latency),
            _ => at.set.push(format!("{}={value}", self.setting)),
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_lists_are_read() {
        let values = |text: &str| Over::parse(text).map(|over| over.values).map_err(|wrong| wrong.message);
        assert_eq!(values("mem_latency=100..=300/100").unwrap(), ["100", "200", "300"]);
        assert_eq!(values("units.gmem.lat=7..=9").unwrap(), ["7", "8", "9"]);
        assert_eq!(values("a=1..=10/4").unwrap(), ["1", "5", "9"]);
        assert_eq!(values("hazards=[Raw], [Raw;Waw]").unwrap(), ["[Raw]", "[Raw;Waw]"]);
        assert!(values("a=3..=1").unwrap_err().contains("greater"));
        assert!(values("a=1..=9/0").unwrap_err().contains("step"));
        assert!(values("a=0..=18446744073709551615").unwrap_err().contains("more than"));
        assert!(values("a=1,,2").unwrap_err().contains("missing"));
        assert!(values("a=1,2,1").unwrap_err().contains("value 3 is 1 again"));
        assert!(values("a").unwrap_err().contains("expected a setting"));
    }
}
