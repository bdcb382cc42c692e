//! The report that compares several methods for the worst case of a kernel.

use std::borrow::Cow;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::all_paths::Given;
use super::answer::{Answer, Facts, Guaranteed, Inputs, Longest, one_order};
use super::output::{Origin, Output, Report};
use super::style::Style;
use super::table::Table;
use super::{Fraction, count, grouped};
use warpbound_bound::{self as bound, Guarantee, Schedules};
use warpbound_core::base::Cycles;
use warpbound_core::machine::{Machine, PolicyKind};
use warpbound_core::program::loop_bounds::LoopBound;
use warpbound_core::program::names;
use warpbound_hybrid::{Estimate, Estimates};
use warpbound_judge::check::JudgedLaunch;
use warpbound_judge::check::order::not_looked_for;
use warpbound_judge::load::LoadedKernel;
use warpbound_sim::PolicySetup;

/// A kernel. Times are in cycles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WcetResult {
    /// The name of the kernel or program.
    pub kernel: String,
    /// The machine.
    #[serde(flatten)]
    pub origin: Origin,
    /// The number of blocks of all launches.
    pub blocks: u64,
    /// The number of inputs; consecutive inputs have consecutive seeds.
    pub runs: u64,
    /// The policies under which each input was simulated.
    pub policies: Vec<String>,
    /// The given loop bounds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loop_bounds: Vec<Given>,
    /// The shortest of all simulated times.
    pub shortest: u64,
    /// The smallest proved bound beside the longest run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// The value of each method; the first is the longest simulated time.
    pub methods: Vec<MethodRow>,
    /// Every launch of a program; absent for a single launch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub launches: Vec<WcetLaunch>,
    /// Why the run did not look for races; absent if it did. If it did not, the report holds only
    /// for the paths of one order of accesses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub races_not_looked_for: Option<String>,
}

/// A launch of a program. Times are in cycles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WcetLaunch {
    /// The index of the launch in the program, from 0.
    pub launch: u64,
    /// The line of its step in the file.
    pub line: u32,
    /// The name of the kernel.
    pub entry: String,
    /// The longest simulated time.
    pub simulated: u64,
    /// The bound over all paths; absent if there is none.
    #[serde(rename = "static", default, skip_serializing_if = "Option::is_none")]
    pub all_paths: Option<u64>,
}

/// The value of a method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MethodRow {
    /// The name: `simulated`; the name of a bound on the paths of the runs; `z_warp`, `z_dynamic`,
    /// `z_hybrid`, `hybrid_blocks`, `hybrid_sections`; `explored`; or `static`.
    pub name: Cow<'static, str>,
    /// What the value holds for.
    pub about: About,
    /// The only policy that the value holds for, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// The value; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<u64>,
    /// (value - longest simulated time) / longest simulated time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overestimation: Option<Fraction>,
    /// Whether the value is known to be too small, because a run, or a schedule of the paths of a
    /// run, takes longer.
    pub undershoots: bool,
    /// The seed of the input from which the value results, if it is a single one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// A remark: the policy, or why there is no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What a value holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum About {
    /// The simulated runs.
    Runs,
    /// All work-conserving schedules of the paths of the runs; proved.
    Paths,
    /// All work-conserving schedules of the paths of the runs; published, but not proved.
    PathsUnproved,
    /// The paths of the runs under one policy; proved.
    PathsUnderPolicy,
    /// An estimate from the times of the runs; nothing is proved.
    Estimate,
    /// All inputs and all work-conserving schedules; proved.
    All,
}

impl About {
    /// Returns the text for people.
    pub fn text(self) -> &'static str {
        match self {
            Self::Runs => "these runs",
            Self::Paths => "all work-conserving schedules of these paths",
            Self::PathsUnproved => "all work-conserving schedules of these paths, not proved",
            Self::PathsUnderPolicy => "these paths under one policy",
            Self::Estimate => "an estimate, not proved",
            Self::All => "all inputs and work-conserving schedules",
        }
    }

    /// Returns the place in the table: what is seen, then what is proved, then the rest.
    fn place(self) -> u8 {
        match self {
            Self::Runs => 0,
            Self::All => 1,
            Self::Paths => 2,
            Self::PathsUnderPolicy => 3,
            Self::PathsUnproved => 4,
            Self::Estimate => 5,
        }
    }

    /// Returns what a bound on the paths of runs holds for, and its policy if it holds for one
    /// policy only.
    pub fn of_bound(name: &str, proved: bool) -> (Self, Option<String>) {
        match (bound::policy_of(name), proved) {
            (None, true) => (Self::Paths, None),
            (None, false) => (Self::PathsUnproved, None),
            (Some(policy), true) => (Self::PathsUnderPolicy, Some(policy.to_string())),
            (Some(policy), false) => (Self::PathsUnproved, Some(policy.to_string())),
        }
    }

    /// Returns whether the value is proved.
    pub fn is_proved(self) -> bool {
        matches!(self, Self::Paths | Self::PathsUnderPolicy | Self::All)
    }

    /// Returns the text for people, with the policy.
    pub fn text_for(self, policy: Option<&str>) -> String {
        match (self, policy) {
            (Self::PathsUnderPolicy, Some(policy)) => format!("these paths under {policy}"),
            (about, Some(policy)) => format!("{} (for {policy})", about.text()),
            (about, None) => about.text().to_owned(),
        }
    }
}

/// A bound over the paths of several runs.
#[derive(Clone, Debug)]
struct BoundOfRuns {
    name: &'static str,
    proved: bool,
    /// The largest value with its seed, or why one of the runs has none.
    value: Result<(Guarantee, u64), String>,
}

/// The results of simulated runs.
#[derive(Clone, Debug, Default)]
pub struct Simulated {
    longest: Option<(Cycles, u64, String)>,
    /// The longest time under each policy.
    longest_under: Vec<(String, Cycles)>,
    shortest: Option<Cycles>,
    bounds: Vec<BoundOfRuns>,
    /// The policies of the runs, with their schedules.
    schedules: Vec<Schedules>,
    /// Why the paths of a run depend on the order of memory accesses, or why the run did not look
    /// for such a dependence.
    decided_by_order: Option<String>,
    races_not_looked_for: Option<String>,
}

impl Simulated {
    /// Returns the schedules of the runs.
    pub fn schedules(&self) -> &[Schedules] {
        &self.schedules
    }

    /// Adds a run under a policy.
    pub fn add(&mut self, policy: &PolicyKind, seed: u64, run: &JudgedLaunch) {
        let schedules = run.schedules(policy);
        if !self.schedules.contains(&schedules) {
            self.schedules.push(schedules);
        }
        if self.decided_by_order.is_none() {
            self.decided_by_order = run.decided_by_order.as_ref().map(|why| format!("{why} (seed {seed})"));
        }
        if self.races_not_looked_for.is_none() {
            self.races_not_looked_for.clone_from(&run.races_not_looked_for);
        }
        if self.longest.as_ref().is_none_or(|(longest, ..)| run.makespan > *longest) {
            self.longest = Some((run.makespan, seed, run.policy.clone()));
        }
        match self.longest_under.iter_mut().find(|(policy, _)| *policy == run.policy) {
            Some((_, longest)) => *longest = run.makespan.max(*longest),
            None => self.longest_under.push((run.policy.clone(), run.makespan)),
        }
        self.shortest = Some(self.shortest.map_or(run.makespan, |shortest| shortest.min(run.makespan)));
        for row in run.judged() {
            let value = row.value.clone().map(|value| (value, seed));
            let proved = row.standing == warpbound_bound::Standing::Proved;
            match self.bounds.iter_mut().find(|known| known.name == row.name) {
                None => self.bounds.push(BoundOfRuns { name: row.name, proved, value }),
                Some(BoundOfRuns { value: most, .. }) => match (&most, &value) {
                    (Ok((most_value, _)), Ok((value, _))) if value <= most_value => {}
                    (Err(_), _) => {}
                    _ => *most = value,
                },
            }
        }
    }

    /// Returns the row of a bound over the paths of the runs.
    fn bound_row(&self, bound: &BoundOfRuns, occurred: Occurred) -> MethodRow {
        let BoundOfRuns { name, proved, value } = bound;
        let (about, policy) = About::of_bound(name, *proved);
        let value = value.clone().map(|(value, seed)| (value.cycles(), Some(seed)));
        let mut row = occurred.row(name, about, value);
        if let Some(policy) = policy {
            // runs and schedules under other policies do not contradict it
            let longest = self.longest_under.iter().find(|(other, _)| *other == policy);
            let longest = longest.map(|(_, longest)| longest.get());
            row.undershoots = row.value.zip(longest).is_some_and(|(value, run)| value < run);
            row.policy = Some(policy);
        }
        row
    }
}

/// The worst case over schedules, for the paths of the runs.
#[derive(Clone, Debug)]
pub enum Explored {
    /// The exact worst case, and the seed of the input that has it.
    Worst(Guarantee, u64),
    /// Why it is not known.
    Missing(String),
}

/// The bound over all paths.
#[derive(Clone, Debug)]
pub enum AllPathsValue {
    /// The value of the bound.
    Bound(Guarantee),
    /// Why there is no bound.
    Missing(String),
}

/// The results of all methods.
pub struct Largest {
    /// The simulated runs.
    pub simulated: Simulated,
    /// The estimates from times between points of the code, or why there are none.
    pub estimates: Result<Estimates, String>,
    /// The bound over all paths.
    pub found: AllPathsValue,
    /// The worst case over all schedules.
    pub explored: Explored,
}

impl Largest {
    /// Returns the row of every method, the simulated runs first.
    fn rows(&self) -> Vec<MethodRow> {
        let (longest, seed, policy) =
            self.simulated.longest.clone().unwrap_or((Cycles::ZERO, 0, String::new()));
        // the longest time that is known to occur
        let longest_known = match self.explored {
            Explored::Worst(worst, _) => longest.max(worst.cycles()),
            Explored::Missing(_) => longest,
        };
        let occurred = Occurred { longest, longest_known };
        let simulated = Ok((longest, Some(seed)));
        let mut rows = vec![occurred.row("simulated", About::Runs, simulated)];
        rows[0].note = Some(format!("under {policy}"));
        let explored = match &self.explored {
            Explored::Worst(worst, seed) => Ok((worst.cycles(), Some(*seed))),
            Explored::Missing(why) => Err(why.clone()),
        };
        rows.push(occurred.row("explored", About::Paths, explored));
        rows.extend(self.simulated.bounds.iter().map(|bound| self.simulated.bound_row(bound, occurred)));
        rows.extend(self.estimate_rows(occurred));
        let found = match &self.found {
            AllPathsValue::Bound(value) => Ok((value.cycles(), None)),
            AllPathsValue::Missing(why) => Err(why.clone()),
        };
        rows.push(occurred.row("static", About::All, found));
        rows
    }

    /// Returns the row of every estimate from times between points of the code.
    fn estimate_rows(&self, occurred: Occurred) -> Vec<MethodRow> {
        // times measured with one order of accesses do not apply to other orders
        let estimates = match &self.simulated.decided_by_order {
            Some(why) => Err(why.clone()),
            None => self.estimates.as_ref().map_err(Clone::clone),
        };
        let row = |name, which: fn(&Estimates) -> Estimate| {
            let value = estimates.as_ref().map(|found| (which(found).value, None)).map_err(Clone::clone);
            occurred.row(name, About::Estimate, value)
        };
        let mut rows = vec![
            row("z_warp", |found| found.warp),
            row("z_dynamic", |found| found.dynamic),
            row("z_hybrid", |found| found.hybrid),
        ];
        // the blocks are known, because every run was simulated
        if let Ok(Estimates { blocks: Some(blocks), sections, .. }) = &estimates {
            rows.push(occurred.row("hybrid_blocks", About::Estimate, Ok((blocks.value, None))));
            let value =
                sections.as_ref().map(|found| (found.hybrid.value, None)).map_err(|why| why.to_string());
            rows.push(occurred.row("hybrid_sections", About::Estimate, value));
        }
        rows
    }
}

/// The times that the values of methods are compared with.
#[derive(Clone, Copy)]
struct Occurred {
    /// The longest simulated time.
    longest: Cycles,
    /// The longest time that is known to occur.
    longest_known: Cycles,
}

impl Occurred {
    /// Returns the row of a method, from its value with its seed, or from the reason why there is
    /// none.
    fn row(
        self,
        name: &'static str,
        about: About,
        value: Result<(Cycles, Option<u64>), String>,
    ) -> MethodRow {
        let over = |value: Cycles| {
            let (value, longest) = (value.get() as f64, self.longest.get() as f64);
            (longest > 0.0).then(|| Fraction((value - longest) / longest))
        };
        let known = value.as_ref().ok();
        MethodRow {
            name: Cow::Borrowed(name),
            about,
            policy: None,
            value: known.map(|(value, _)| value.get()),
            overestimation: known.and_then(|(value, _)| over(*value)),
            undershoots: known.is_some_and(|(value, _)| *value < self.longest_known),
            seed: known.and_then(|(_, seed)| *seed),
            note: value.err(),
        }
    }
}

impl MethodRow {
    /// Returns what the value holds for, as text.
    pub fn holds_for(&self) -> String {
        self.about.text_for(self.policy.as_deref())
    }
}

/// The kernel or program of a report.
#[derive(Clone, Debug)]
pub struct Analysed {
    /// Its name.
    pub name: String,
    /// The number of blocks of all launches.
    pub blocks: u64,
    /// The given loop bounds.
    pub loop_bounds: Vec<Given>,
    /// The launches of a program; empty for a kernel.
    pub launches: Vec<WcetLaunch>,
}

impl Analysed {
    /// Returns a single launch.
    pub fn launch(kernel: &LoadedKernel, given: &[LoopBound]) -> Self {
        let workload = &kernel.workload;
        Self {
            name: workload.name.clone(),
            blocks: workload.blocks().into(),
            loop_bounds: Given::of_kernel(kernel, given),
            launches: Vec::new(),
        }
    }
}

impl WcetResult {
    /// Returns the report of a launch or program with several inputs.
    pub fn new(of: Analysed, machine: &Machine, runs: u64, policies: &[PolicySetup], all: &Largest) -> Self {
        let Analysed { name, blocks, loop_bounds, launches } = of;
        let mut result = Self {
            answer: None,
            kernel: name,
            origin: Origin::new(machine),
            blocks,
            runs,
            policies: policies.iter().map(|policy| policy.kind().to_string()).collect(),
            loop_bounds,
            shortest: all.simulated.shortest.unwrap_or(Cycles::ZERO).get(),
            methods: all.rows(),
            launches,
            races_not_looked_for: all.simulated.races_not_looked_for.clone(),
        };
        result.answer = Some(result.answer(all.simulated.longest.as_ref()));
        result
    }

    /// Returns the answer. A bound for every input is preferred to a bound on the paths of the
    /// runs, even though it is larger.
    fn answer(&self, longest: Option<&(Cycles, u64, String)>) -> Answer {
        let proved = |row: &&MethodRow| row.name != "explored" && row.about.is_proved();
        let rows = || self.methods.iter().filter(proved);
        let smallest = |for_all: bool| {
            let rows = rows().filter(|row| (row.about == About::All) == for_all && row.value.is_some());
            rows.min_by_key(|row| row.value)
        };
        let why_none = || rows().filter_map(|row| row.note.as_deref());
        let of_all = rows().find(|row| row.about == About::All).and_then(|row| row.note.clone());
        let paths = match self.runs {
            1 => Inputs::ThisInput,
            _ => Inputs::TheseInputs,
        };
        let order = self.races_not_looked_for.as_deref().map(one_order);
        let guaranteed = |row: &MethodRow, inputs: Inputs, assumes: Vec<String>| Guaranteed {
            cycles: row.value.unwrap_or_default(),
            bound: row.name.clone(),
            inputs,
            policy: row.policy.clone(),
            assumes,
            parts: Vec::new(),
        };
        let (guaranteed, more) = match (smallest(true), smallest(false)) {
            (Some(row), _) => {
                let given = self.loop_bounds.iter().map(Given::text);
                (Ok(guaranteed(row, Inputs::EveryInput, given.collect())), None)
            }
            (None, Some(row)) => {
                let more = of_all.map(|why| format!("no bound for other inputs is proved: {why}"));
                (Ok(guaranteed(row, paths, order.into_iter().collect())), more)
            }
            (None, None) => {
                let reasons = why_none().map(|why| why.split("; ").map(str::to_owned).collect::<Vec<_>>());
                let fewest = reasons.reduce(|best, next| if next.len() < best.len() { next } else { best });
                (Err(fewest.unwrap_or_else(|| vec!["no proved bound was judged".to_owned()])), None)
            }
        };
        let facts = Facts {
            guaranteed,
            longest: longest.map(|(cycles, seed, policy)| Longest {
                cycles: cycles.get(),
                policy: policy.clone(),
                seed: Some(*seed),
            }),
            exceeded: rows().filter(|row| row.undershoots).map(|row| row.name.to_string()).collect(),
            more,
        };
        Answer::new(&self.kernel, self.origin.clone(), self.policies.clone(), facts)
    }

    /// Returns whether a run or schedule took longer than a proved bound on it.
    pub fn is_violated(&self) -> bool {
        let proved = |row: &&MethodRow| row.name != "explored" && row.about.is_proved();
        let exceeds = |launch: &WcetLaunch| launch.all_paths.is_some_and(|bound| launch.simulated > bound);
        self.methods.iter().filter(proved).any(|row| row.undershoots) || self.launches.iter().any(exceeds)
    }

    fn text(&self, style: Style) -> String {
        let mut text = String::new();
        if let Some(answer) = &self.answer {
            text.push_str(&style.fill(&format!("{}\n\n", answer.sentence)));
        }
        let _ = writeln!(
            text,
            "{} on {}: {} under {}",
            self.kernel,
            self.origin.machine,
            count(usize::try_from(self.runs).unwrap_or(usize::MAX), "input"),
            self.policies.join(", ")
        );
        for given in &self.loop_bounds {
            let _ = writeln!(text, "  {}", given.text());
        }
        let mut reasons = Reasons::default();
        text.push_str(&self.table(style, &mut reasons).render(2, style.width));
        text.push_str(&style.fill(&reasons.text()));
        let _ = writeln!(text, "  shortest of these runs: {} cycles", grouped(self.shortest));
        text.push_str(&launches(&self.launches, style));
        if let Some(why) = &self.races_not_looked_for {
            let _ = writeln!(text, "  note: {}", not_looked_for(why));
        }
        text
    }

    /// Returns the table of methods, grouped by what their values hold for.
    fn table(&self, style: Style, reasons: &mut Reasons) -> Table {
        let mut table = Table::new(["method", "cycles", "overestimation", ""], &[0, 3]).uncut(&[0]);
        let mut groups: Vec<String> = Vec::new();
        let mut sorted: Vec<&MethodRow> = self.methods.iter().collect();
        sorted.sort_by_key(|row| row.about.place());
        for row in sorted {
            let group = row.holds_for();
            if groups.last() != Some(&group) {
                table.across(format!("{group}:"));
                groups.push(group);
            }
            let mut notes = Vec::new();
            if row.undershoots {
                notes.push(match row.about.is_proved() {
                    true => style.paint("1;31", "VIOLATED"),
                    false => style.paint("33", "UNDERSHOOTS"),
                });
            }
            notes.extend(row.seed.map(|seed| format!("seed {seed}")));
            notes.extend(row.note.as_deref().map(|note| reasons.shortened(note)));
            table.row([
                format!("  {}", row.name),
                row.value.map_or_else(|| "-".to_owned(), |value| value.to_string()),
                row.overestimation.map_or_else(|| "-".to_owned(), |over| format!("{:+.1} %", over.0 * 100.0)),
                notes.join(", "),
            ]);
        }
        table
    }
}

/// The reasons for which methods have no value. Reasons of a method that has several are listed once,
/// below the table, with a number.
#[derive(Debug, Default)]
struct Reasons {
    list: Vec<String>,
}

/// The number of reasons from which on they are listed below the table.
const AT_ONCE: usize = 3;

impl Reasons {
    /// Returns a note as it is, or, if it consists of many reasons, their numbers.
    fn shortened(&mut self, note: &str) -> String {
        let reasons: Vec<&str> = note.split("; ").collect();
        if reasons.len() < AT_ONCE {
            return note.to_owned();
        }
        let mut numbers: Vec<usize> = Vec::new();
        for reason in reasons {
            let known = self.list.iter().position(|known| known == reason);
            numbers.push(known.unwrap_or_else(|| {
                self.list.push(reason.to_owned());
                self.list.len() - 1
            }));
        }
        numbers.sort_unstable();
        let mut parts: Vec<String> = Vec::new();
        for range in numbers.chunk_by(|a, b| a + 1 == *b) {
            let (first, last) = (range[0] + 1, range[range.len() - 1] + 1);
            parts.push(if first == last { first.to_string() } else { format!("{first} to {last}") });
        }
        format!("does not apply: reasons {}", parts.join(", "))
    }

    /// Returns the list.
    fn text(&self) -> String {
        if self.list.is_empty() {
            return String::new();
        }
        let lines = self.list.iter().enumerate();
        let lines: String = lines.map(|(index, why)| format!("  {:>4}  {why}\n", index + 1)).collect();
        format!("  reasons:\n{lines}")
    }
}

/// The most launches that the text lists.
const MAX_LINES: usize = 200;

/// Returns the table of the launches of a program, one per line; empty if there are none.
fn launches(launches: &[WcetLaunch], style: Style) -> String {
    if launches.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["launch", "line", "kernel", "simulated", "static"], &[2]).expendable([1]);
    for launch in launches.iter().take(MAX_LINES) {
        table.row([
            launch.launch.to_string(),
            launch.line.to_string(),
            names::short(&launch.entry),
            launch.simulated.to_string(),
            launch.all_paths.map_or_else(|| "-".to_owned(), |value| value.to_string()),
        ]);
    }
    let mut text = format!("\n{}", table.render(2, style.width));
    if launches.len() > MAX_LINES {
        let more = count(launches.len() - MAX_LINES, "more launch");
        let _ = writeln!(text, "  ... and {more}; --format json lists all of them");
    }
    text
}

impl Report for Output<WcetResult> {
    fn text(&self, style: Style) -> String {
        let tables: Vec<String> = self.results.iter().map(|result| result.text(style)).collect();
        tables.join("\n") + &self.batch.text()
    }
}
