//! The combinations of a plan, by number.

use std::collections::BTreeSet;
use std::ops::Range;

use super::columns::is_fixed;
use super::draws::Draws;
use super::spec::{KernelSpec, SweepSpec, ValueSpec};
use warpbound_bound::{self as bound, Bound};
use warpbound_core::diag::{Diagnostics, Place, SourceText, Texts};
use warpbound_core::machine::{FORMER_POLICY_SETTING, PolicyKind};

/// The largest number of points of a job, which is also the largest number that is lost if the
/// process ends in the middle of a job.
const JOB_POINTS: u64 = 256;

/// The largest number of points of a plan.
const MOST: u64 = 1_000_000_000;

/// A parameter that takes several values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The path of a machine setting, or a launch option.
    pub name: String,
    /// The values as they are written on a command line.
    pub values: Vec<String>,
}

/// An axis with one of its values.
pub type Assignment<'p> = (&'p str, &'p str);

/// A kernel and the launch options that vary.
#[derive(Clone, Debug)]
struct Kernel {
    name: String,
    axes: Vec<Axis>,
    /// The number of the kernel's first launch.
    first: u64,
}

/// All combinations of a plan. The policy varies fastest, then the settings, machines, draws,
/// seeds, launch options and kernels.
#[derive(Clone, Debug)]
pub struct Points {
    kernels: Vec<Kernel>,
    seeds: Vec<u64>,
    draws: Option<Draws>,
    machines: Vec<String>,
    settings: Vec<Axis>,
    policies: Vec<PolicyKind>,
    /// The number of kernels with all combinations of launch options and seeds.
    launches: u64,
    /// The number of machines with all combinations of settings and draws.
    configurations: u64,
}

/// Consecutive points that share a functional run: a launch on some machines under all policies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The number of the launch.
    pub launch: u64,
    /// The numbers of the machines with their settings.
    pub configurations: Range<u64>,
}

/// A combination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point<'p> {
    /// The number of the point, from 0, in the order of the plan.
    pub number: u64,
    /// The kernel as the plan names it.
    pub kernel: &'p str,
    /// The launch options.
    pub launch: Vec<Assignment<'p>>,
    /// The seed.
    pub seed: u64,
    /// The number of the draw, if something is drawn.
    pub draw: Option<u64>,
    /// The machine as the plan names it.
    pub machine: &'p str,
    /// The machine settings.
    pub settings: Vec<Assignment<'p>>,
    /// The index of the policy in the plan.
    pub policy: usize,
}

impl Points {
    /// Returns the points of a plan, and all its problems that can be found without opening a
    /// kernel or machine; `suite` are the kernels of the embedded suite. If there are problems, the
    /// points serve only to find further ones, and must not be run.
    pub fn new(
        spec: &SweepSpec,
        source: &SourceText,
        suite: &[String],
        bounds: &[Box<dyn Bound>],
    ) -> (Self, Diagnostics) {
        let texts = Texts::new(source.clone());
        let root = texts.root();
        let mut problems = Diagnostics::new();
        let policies = policies(spec, &root, &mut problems);
        report_empty_lists(spec, &root, &mut problems);
        twice(&spec.seeds, &root.field("seeds"), &mut problems);
        twice(&spec.machines, &root.field("machines"), &mut problems);
        kernels_twice(spec, &root, &mut problems);
        for (index, name) in spec.bounds.iter().enumerate() {
            if let Some((message, hint)) = bound::unknown(name, bounds) {
                problems.push(root.field("bounds").item(index).error(message).hint(hint));
            }
        }
        let (seeds, drawn) = of_draws(spec, &root, &mut problems);
        let settings = axes(&spec.settings, &root.field("settings"), bounds, &mut problems);
        let (kernels, launches) = kernels(spec, seeds, suite, &root, bounds, &mut problems);
        let configurations = combinations(&settings)
            .and_then(|number| number.checked_mul(spec.machines.len() as u64))
            .and_then(|number| number.checked_mul(drawn));
        let all = launches
            .zip(configurations)
            .and_then(|(launches, configurations)| launches.checked_mul(configurations))
            .and_then(|product| product.checked_mul(spec.policies.len() as u64));
        if all.is_none_or(|all| all > MOST) {
            let number = all.map_or("more than 2^64".to_owned(), |all| all.to_string());
            let problem = root.error(format!("the plan has {number} points; at most {MOST} are done"));
            problems.push(problem.hint("split it into several plans"));
        }
        let counts = launches.zip(configurations).filter(|_| all.is_some());
        // a plan whose number of points exceeds 64 bits is rejected before any point is used
        let (launches, configurations) = counts.unwrap_or((0, 0));
        let points = Self {
            kernels,
            seeds: spec.seeds.clone(),
            draws: spec.draws.clone(),
            machines: spec.machines.clone(),
            settings,
            policies,
            launches,
            configurations,
        };
        (points, problems)
    }

    /// Returns the number of points.
    pub fn len(&self) -> u64 {
        self.launches * self.per_launch()
    }

    /// Returns whether there are no points, which is not the case for any valid plan.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of kernels with all combinations of launch options and seeds.
    pub fn launches(&self) -> u64 {
        self.launches
    }

    /// Returns the kernels with the launch options that vary.
    pub fn kernels(&self) -> impl Iterator<Item = (&str, &[Axis])> {
        self.kernels.iter().map(|kernel| (kernel.name.as_str(), kernel.axes.as_slice()))
    }

    /// Returns the machines as the plan names them.
    pub fn machines(&self) -> &[String] {
        &self.machines
    }

    /// Returns the machine settings that vary.
    pub fn settings(&self) -> &[Axis] {
        &self.settings
    }

    /// Returns the policies.
    pub fn policies(&self) -> &[PolicyKind] {
        &self.policies
    }

    /// Returns the seeds that the plan lists; if inputs are drawn, other seeds are used.
    pub fn seeds(&self) -> &[u64] {
        &self.seeds
    }

    /// Returns the draws, if there are any.
    pub fn draws(&self) -> Option<&Draws> {
        self.draws.as_ref()
    }

    /// Returns the number of seeds of each launch, and the draws if inputs are drawn.
    fn seeds_drawn(&self) -> (u64, Option<&Draws>) {
        match &self.draws {
            Some(draws) if draws.has_inputs() => (draws.count, Some(draws)),
            _ => (self.seeds.len() as u64, None),
        }
    }

    /// Returns the launch options that some kernel varies, each once.
    pub fn launch_options(&self) -> Vec<&str> {
        let mut options: Vec<&str> = Vec::new();
        for axis in self.kernels.iter().flat_map(|kernel| &kernel.axes) {
            if !options.contains(&axis.name.as_str()) {
                options.push(&axis.name);
            }
        }
        options
    }

    fn per_launch(&self) -> u64 {
        self.configurations * self.policies.len() as u64
    }

    /// Returns the largest number of configurations of a job.
    fn per_job(&self) -> u64 {
        (JOB_POINTS / self.policies.len() as u64).max(1)
    }

    fn jobs_per_launch(&self) -> u64 {
        self.configurations.div_ceil(self.per_job())
    }

    /// Returns the number of jobs.
    pub fn jobs(&self) -> u64 {
        self.launches * self.jobs_per_launch()
    }

    /// Returns the job with this number.
    pub fn job(&self, number: u64) -> Job {
        let start = number % self.jobs_per_launch() * self.per_job();
        let end = (start + self.per_job()).min(self.configurations);
        Job { launch: number / self.jobs_per_launch(), configurations: start..end }
    }

    /// Returns the numbers of a job's points.
    pub fn numbers(&self, job: &Job) -> Range<u64> {
        let policies = self.policies.len() as u64;
        let first = job.launch * self.per_launch();
        first + job.configurations.start * policies..first + job.configurations.end * policies
    }

    /// Returns the point with this number.
    pub fn point(&self, number: u64) -> Point<'_> {
        let policies = self.policies.len() as u64;
        let launch = number / self.per_launch();
        let configuration = number / policies % self.configurations;
        let (seeds, inputs) = self.seeds_drawn();
        let drawn = self.draws.as_ref().filter(|_| inputs.is_none());
        let per_draw = self.configurations / drawn.map_or(1, |draws| draws.count.max(1));
        let per_machine = per_draw / self.machines.len() as u64;
        let kernel = &self.kernels[self.kernels.partition_point(|kernel| kernel.first <= launch) - 1];
        let of_kernel = launch - kernel.first;
        let seed = match inputs {
            Some(draws) => draws.from + of_kernel % seeds,
            None => self.seeds[(of_kernel % seeds) as usize],
        };
        let draw = drawn.map(|draws| draws.from + configuration / per_draw);
        let configuration = configuration % per_draw;
        Point {
            number,
            kernel: &kernel.name,
            launch: chosen(&kernel.axes, of_kernel / seeds),
            seed,
            draw: draw.or(inputs.map(|_| seed)),
            machine: &self.machines[(configuration / per_machine) as usize],
            settings: chosen(&self.settings, configuration % per_machine),
            policy: (number % policies) as usize,
        }
    }
}

/// Reports lists of a plan that are empty.
fn report_empty_lists(spec: &SweepSpec, root: &Place, problems: &mut Diagnostics) {
    for (name, empty) in [
        ("kernels", spec.kernels.is_empty()),
        ("seeds", spec.seeds.is_empty()),
        ("machines", spec.machines.is_empty()),
        ("policies", spec.policies.is_empty()),
    ] {
        if empty {
            let problem = root.field(name).error(format!("`{name}` is empty, so there is nothing to run"));
            problems.push(problem.hint("leave it out for the default, or list something"));
        }
    }
}

/// Returns the kernels of a plan, and the number of their launches with this many seeds each;
/// `None` if it exceeds 64 bits.
fn kernels(
    spec: &SweepSpec,
    seeds: u64,
    suite: &[String],
    root: &Place,
    bounds: &[Box<dyn Bound>],
    problems: &mut Diagnostics,
) -> (Vec<Kernel>, Option<u64>) {
    let mut kernels = Vec::new();
    let mut launches: Option<u64> = Some(0);
    let mut kernel = |name: &str, axes: Vec<Axis>| {
        let variants = combinations(&axes);
        kernels.push(Kernel { name: name.to_owned(), axes, first: launches.unwrap_or(0) });
        let of_kernel = variants.and_then(|variants| variants.checked_mul(seeds));
        launches = launches.zip(of_kernel).and_then(|(sum, of_kernel)| sum.checked_add(of_kernel));
    };
    for (index, entry) in spec.kernels.iter().enumerate() {
        let place = root.field("kernels").item(index);
        match entry {
            KernelSpec::Suite => suite.iter().for_each(|name| kernel(name, Vec::new())),
            KernelSpec::SuiteWith(varied) => {
                let axes = axes(varied, &place.item(0), bounds, problems);
                suite.iter().for_each(|name| kernel(name, axes.clone()));
            }
            KernelSpec::Kernel(name) => kernel(name, Vec::new()),
            KernelSpec::Vary(name, varied) => {
                kernel(name, axes(varied, &place.item(1), bounds, problems));
            }
        }
    }
    (kernels, launches)
}

/// Returns the number of seeds of a launch, and the number of draws of a machine.
fn of_draws(spec: &SweepSpec, root: &Place, problems: &mut Diagnostics) -> (u64, u64) {
    let listed = spec.seeds.len() as u64;
    let Some(draws) = &spec.draws else { return (listed, 1) };
    let place = root.field("draws");
    if draws.count == 0 || draws.from.checked_add(draws.count - 1).is_none() {
        let problem = place.field("count").error("these numbers give no runs");
        problems.push(problem.hint("at least 1, and the last number has to fit into 64 bits"));
    }
    if draws.of.is_empty() {
        let problem = place.field("of").error("nothing is drawn, so all runs would be the same");
        problems.push(problem.hint("name some of Inputs, Replacement, Jitter, Placement"));
    }
    twice(&draws.of, &place.field("of"), problems);
    if !draws.has_inputs() {
        return (listed, draws.count);
    }
    if spec.seeds != [0] {
        let problem = root.field("seeds").error("inputs are drawn, so there are no seeds to list");
        problems.push(problem.hint("leave out `seeds`, or Inputs of `draws`"));
    }
    (draws.count, 1)
}

/// Returns the number of combinations of the values of axes, or `None` if it exceeds 64 bits.
fn combinations(axes: &[Axis]) -> Option<u64> {
    axes.iter().try_fold(1u64, |product, axis| product.checked_mul(axis.values.len() as u64))
}

/// Returns the combination with this number; the last axis varies fastest.
fn chosen(axes: &[Axis], mut number: u64) -> Vec<Assignment<'_>> {
    let mut chosen = Vec::with_capacity(axes.len());
    for axis in axes.iter().rev() {
        let values = axis.values.len() as u64;
        chosen.push((axis.name.as_str(), axis.values[(number % values) as usize].as_str()));
        number /= values;
    }
    chosen.reverse();
    chosen
}

fn policies(spec: &SweepSpec, root: &Place, problems: &mut Diagnostics) -> Vec<PolicyKind> {
    let mut known: Vec<PolicyKind> = Vec::new();
    for (index, word) in spec.policies.iter().enumerate() {
        let place = root.field("policies").item(index);
        match word.parse::<PolicyKind>() {
            Ok(kind) if known.contains(&kind) => {
                problems.push(place.error(format!("`{word}` is there twice")))
            }
            Ok(kind) => known.push(kind),
            Err(error) => problems.push(place.error(error.to_string()).hint(error.hint())),
        }
    }
    known
}

/// Returns the axes that are valid: they have values, and their names are not those of other
/// columns.
fn axes(
    written: &[(String, Vec<ValueSpec>)],
    place: &Place,
    bounds: &[Box<dyn Bound>],
    problems: &mut Diagnostics,
) -> Vec<Axis> {
    let mut axes = Vec::with_capacity(written.len());
    for (name, values) in written {
        let place = place.field(name.clone());
        let values: Vec<String> = values.iter().map(ValueSpec::word).collect();
        if values.is_empty() {
            problems.push(place.error(format!("`{name}` has no values")));
        }
        if is_fixed(name, bounds) {
            let hint = match name.as_str() {
                "policy" | FORMER_POLICY_SETTING => "list policies in `policies`",
                _ => "it is the name of another column of the results",
            };
            problems.push(place.error(format!("`{name}` cannot vary here")).hint(hint));
        }
        twice(&values, &place, problems);
        axes.push(Axis { name: name.clone(), values });
    }
    axes
}

/// Reports the kernels that occur twice with the same launch options.
fn kernels_twice(spec: &SweepSpec, root: &Place, problems: &mut Diagnostics) {
    for (index, entry) in spec.kernels.iter().enumerate() {
        if spec.kernels[..index].contains(entry) {
            let name = match entry {
                KernelSpec::Suite | KernelSpec::SuiteWith(_) => "the suite",
                KernelSpec::Kernel(name) | KernelSpec::Vary(name, _) => name,
            };
            problems.push(root.field("kernels").item(index).error(format!("`{name}` is there twice")));
        }
    }
}

/// Reports the elements that occur twice in a list, because their points would be duplicated.
fn twice<T: Ord + std::fmt::Display>(list: &[T], place: &Place, problems: &mut Diagnostics) {
    let mut seen = BTreeSet::new();
    for (index, value) in list.iter().enumerate().filter(|(_, value)| !seen.insert(*value)) {
        problems.push(place.item(index).error(format!("`{value}` is there twice")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(text: &str) -> Result<Points, Diagnostics> {
        let source = SourceText::new("plan.ron", text);
        let suite = ["a", "b"].map(str::to_owned);
        let (points, problems) =
            Points::new(&SweepSpec::parse(&source)?, &source, &suite, &warpbound_bound::all());
        problems.into_result(points)
    }

    #[test]
    fn points_are_numbered_from_the_policy_outwards() {
        let points = points(
            r#"Sweep(kernels: [Suite, Vary("c", { "block": [32, "64,2"], "arg n": [1, 2, 3] })], seeds: [5, 6],
                     machines: ["m", "n"], settings: { "x.y": [10, 20] }, policies: ["lrr", "gto"])"#,
        )
        .expect("it is a plan");
        let launches = 2 * 2 + 6 * 2;
        assert_eq!((points.len(), points.jobs()), (launches * 2 * 2 * 2, launches));
        let described = |number| {
            let Point { kernel, launch, seed, machine, settings, policy, .. } = points.point(number);
            (kernel, launch, seed, machine, settings, policy)
        };
        assert_eq!(described(0), ("a", vec![], 5, "m", vec![("x.y", "10")], 0));
        assert_eq!(described(1), ("a", vec![], 5, "m", vec![("x.y", "10")], 1));
        assert_eq!(described(2), ("a", vec![], 5, "m", vec![("x.y", "20")], 0));
        assert_eq!(described(4), ("a", vec![], 5, "n", vec![("x.y", "10")], 0));
        assert_eq!(described(8), ("a", vec![], 6, "m", vec![("x.y", "10")], 0));
        assert_eq!(
            described(32),
            ("c", vec![("block", "32"), ("arg n", "1")], 5, "m", vec![("x.y", "10")], 0)
        );
        assert_eq!(
            described(48),
            ("c", vec![("block", "32"), ("arg n", "2")], 5, "m", vec![("x.y", "10")], 0)
        );
        assert_eq!(
            described(127),
            ("c", vec![("block", "64,2"), ("arg n", "3")], 6, "n", vec![("x.y", "20")], 1)
        );
    }

    #[test]
    fn draws_take_the_place_of_seeds_or_multiply_machines() {
        let described = |points: &Points| -> Vec<(u64, Option<u64>, String)> {
            let all = (0..points.len()).map(|number| points.point(number));
            all.map(|point| (point.seed, point.draw, format!("{}{:?}", point.machine, point.settings)))
                .collect()
        };
        let axes = "kernels: [Kernel(\"k\")], machines: [\"m\", \"n\"], settings: { \"s\": [1, 2] }, policies: [\"gto\"]";
        let with = |more: &str| points(&format!("Sweep({axes}, {more})")).expect("it is a plan");
        let inputs = with("draws: Draws(count: 3, from: 7, of: [Inputs, Jitter])");
        assert_eq!((inputs.launches(), inputs.len()), (3, 12));
        let seeds: Vec<_> = described(&inputs).iter().map(|(seed, draw, _)| (*seed, *draw)).collect();
        let each = |number| std::iter::repeat_n((number, Some(number)), 4);
        assert_eq!(seeds, each(7).chain(each(8)).chain(each(9)).collect::<Vec<_>>());
        // a single functional run for all
        let machine = with("seeds: [5], draws: Draws(count: 300, of: [Replacement])");
        assert_eq!((machine.launches(), machine.len(), machine.jobs()), (1, 1200, 5));
        let all = described(&machine);
        let once = described(&with("seeds: [5]"));
        for (number, (seed, draw, on)) in all.iter().enumerate() {
            assert_eq!((*seed, *draw), (5, Some(number as u64 / 4)));
            assert_eq!(*on, once[number % 4].2);
        }
        for (wrong, message) in [
            ("draws: Draws(count: 0, of: [Inputs])", "no runs"),
            ("draws: Draws(count: 2, from: 18446744073709551615, of: [Inputs])", "no runs"),
            ("draws: Draws(count: 2, of: [])", "nothing is drawn"),
            ("draws: Draws(count: 2, of: [Jitter, Jitter])", "twice"),
            ("seeds: [1], draws: Draws(count: 2, of: [Inputs])", "no seeds to list"),
        ] {
            let problems = points(&format!("Sweep({axes}, {wrong})")).expect_err(wrong);
            assert!(problems.list()[0].message.contains(message), "{problems}");
        }
    }

    #[test]
    fn jobs_cover_the_points_in_order() {
        let values = (0..300).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
        let text = format!(
            "Sweep(machines: [\"m\"], settings: {{ \"s\": [{values}] }}, policies: [\"gto\", \"lrr\", \"srr\"])"
        );
        let points = points(&text).expect("it is a plan");
        let mut next = 0;
        for job in (0..points.jobs()).map(|number| points.job(number)) {
            let numbers = points.numbers(&job);
            assert_eq!(numbers.start, next);
            assert!(numbers.end - numbers.start <= JOB_POINTS);
            let kernels = numbers.clone().map(|number| points.point(number).kernel).collect::<Vec<_>>();
            assert!(kernels.windows(2).all(|two| two[0] == two[1]));
            next = numbers.end;
        }
        assert_eq!(next, points.len());
    }

    #[test]
    fn every_mistake_is_named_with_its_place() {
        let problems = points(
            "Sweep(kernels: [Vary(\"c\", { \"block\": [] })], seeds: [1, 1],\n machines: [],\n \
             settings: { \"makespan\": [1], \"s\": [1, 2, \"1\"] },\n policies: [\"gto\", \"gtoo\"], bounds: [\"gubb\"])",
        )
        .expect_err("it is full of mistakes");
        let messages: Vec<(u32, &str)> =
            problems.list().iter().map(|problem| (problem.line, problem.message.as_str())).collect();
        for wanted in [
            (4, "unknown policy `gtoo`"),
            (2, "`machines` is empty"),
            (1, "`1` is there twice"),
            (3, "`1` is there twice"),
            (4, "unknown bound `gubb`"),
            (3, "`makespan` cannot vary here"),
            (1, "`block` has no values"),
        ] {
            assert!(
                messages.iter().any(|(line, text)| *line == wanted.0 && text.starts_with(wanted.1)),
                "{wanted:?}: {messages:?}"
            );
        }
    }

    #[test]
    fn too_many_points_are_refused() {
        let axes: String = (0..40)
            .map(|axis| {
                format!("\"s{axis}\": [{}],", (0..3).map(|n| n.to_string()).collect::<Vec<_>>().join(","))
            })
            .collect();
        let problems = points(&format!("Sweep(settings: {{ {axes} }})")).expect_err("too many");
        assert!(problems.list()[0].message.contains("points"), "{problems}");
    }
}
