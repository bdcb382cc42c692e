//! `warpbound pwcet`: estimates times that are exceeded with a small probability, from measured or
//! simulated runs.

mod campaign;
mod judge;

use std::path::{Path, PathBuf};

pub use campaign::{Campaign, Simulated};

use crate::args::Pwcet;
use crate::files::{Folder, Outputs, Part};
use crate::measurements::{Measurements, is_measured};
use crate::output::{Ending, Outcome};
use crate::resources;
use crate::session::Session;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_pwcet::threshold::Rule;
use warpbound_pwcet::{
    MAX_BOOTSTRAPS, NoAnalysis, Options, Probability, SCALES, Sample, SampleError, analyse,
};
use warpbound_report::output::Output;
use warpbound_report::pwcet::{Measured, NoCurveResult, PwcetReport, PwcetResult, Without};

/// The most measurements; one of the tests compares all pairs, which takes five seconds for
/// 200,000.
const MAX_MEASUREMENTS: usize = 500_000;

/// The default of `--runs`, which the help text states, too.
const RUNS: u64 = 10_000;

/// The most threads; more do not help on any machine that we know.
pub const MAX_THREADS: usize = 256;

/// Runs the command.
pub fn run(args: &Pwcet, session: &Session) -> Outcome {
    let mut options = options(args)?;
    let input = Input::new(args, session)?;
    // before anything is simulated or analysed, which can take hours
    enough_bootstraps(args)?;
    let outputs = Wanted::new(args, &input.files(), session)?;
    let (measured, values) = match input {
        Input::Measured { measured, values, .. } => (measured, values),
        Input::Campaign(campaign) => match campaign.run(args, session)? {
            Simulated::Part(ending) => return Ok(ending),
            Simulated::All { measured, makespans } => (measured, Values::Cycles(makespans)),
        },
    };
    options.exact_clock = measured.is_exact();
    if values.len() > MAX_MEASUREMENTS {
        let message =
            format!("{} measurements are too many: at most {MAX_MEASUREMENTS} are analysed", values.len());
        let hint = "the test of independence compares every pair of them; analyse parts of the measurements separately";
        return Err(Diagnostic::general(args.what.clone(), message).hint(hint).into());
    }
    let unit = args.unit.clone().unwrap_or_else(|| "cycles".to_owned());
    session.progress.begin("analysing", None, "replicates");
    let threads = args.jobs.unwrap_or_else(resources::threads).clamp(1, MAX_THREADS);
    let sample = values.sample();
    let analysed = match &sample {
        Err(why) => Err(Without::Sample(*why)),
        Ok(sample) => analyse(sample, &options, threads, &session.monitor).map_err(Without::Analysis),
    };
    let mut ending = Ending::default();
    let result = match (sample, analysed) {
        (Ok(sample), Ok(analysis)) => {
            let mut result = PwcetResult::new(measured, unit, &sample, analysis);
            if let Some(runs) = args.judge {
                result.judged = Some(judge::judge(args, runs, &result.analysis.pwcet, session)?);
            }
            PwcetReport::Curve(Box::new(result))
        }
        (_, Err(why)) if why.concerns_times() => {
            ending.late.push(no_curve(args, session, why));
            let times = values.finite();
            PwcetReport::NoCurve(Box::new(NoCurveResult::new(measured, unit, &times, why)))
        }
        (_, Err(why)) => return Err(no_curve(args, session, why).into()),
        (Err(why), Ok(_)) => return Err(no_curve(args, session, Without::Sample(why)).into()),
    };
    outputs.write(&result)?;
    let output = Output::new("pwcet", Some(args.common.seed), vec![result]);
    ending.report(session, args.common.format, &output);
    Ok(ending)
}

/// What is analysed.
enum Input {
    /// Measured times, and the file that they were read from.
    Measured { measured: Measured, values: Values, read: Vec<PathBuf> },
    /// Runs to simulate.
    Campaign(Box<Campaign>),
}

impl Input {
    fn new(args: &Pwcet, session: &Session) -> Result<Self, Diagnostics> {
        if is_measured(&args.what) {
            let (measured, values, read) = from_file(args)?;
            return Ok(Self::Measured { measured, values, read });
        }
        if let Some(unit) = args.unit.as_ref().filter(|unit| *unit != "cycles") {
            let problem = Diagnostic::general(
                format!("--unit {unit}"),
                format!("`{}` is simulated, and its times are in cycles", args.what),
            );
            return Err(problem.hint("leave the option out").into());
        }
        only_an_analysis(args)?;
        let runs = args.runs.unwrap_or(RUNS);
        Ok(Self::Campaign(Box::new(Campaign::new(args, args.common.seed, runs, &session.monitor)?)))
    }

    /// Returns every file that is read.
    fn files(&self) -> Vec<PathBuf> {
        match self {
            Self::Measured { read, .. } => read.clone(),
            Self::Campaign(campaign) => campaign.inputs(),
        }
    }
}

/// Refuses the options of an analysis where there is none, because one part of the runs is simulated.
fn only_an_analysis(args: &Pwcet) -> Result<(), Diagnostics> {
    let of_an_analysis = [
        ("--judge", args.judge.is_some()),
        ("--html", args.html.is_some()),
        ("--svg", args.svg.is_some()),
        ("--threshold", args.threshold.is_some()),
        ("--exceedances", args.exceedances.is_some()),
        ("--probability", !args.probability.is_empty()),
    ];
    let mut problems = Diagnostics::new();
    for (option, _) in of_an_analysis.iter().filter(|(_, given)| *given && args.shard.is_some()) {
        let problem =
            Diagnostic::general(*option, "--shard simulates a part of the runs, without an analysis");
        problems
            .push(problem.hint("leave the option out; `pwcet` of the folder of `merge` analyses all runs"));
    }
    problems.into_result(())
}

/// Refuses a number of replicates that [`analyse`] would refuse after the runs.
fn enough_bootstraps(args: &Pwcet) -> Result<(), Diagnostic> {
    if args.bootstraps <= MAX_BOOTSTRAPS {
        return Ok(());
    }
    let message = NoAnalysis::Bootstraps(args.bootstraps).to_string();
    Err(Diagnostic::general(format!("--bootstraps {}", args.bootstraps), message)
        .hint(format!("at most {MAX_BOOTSTRAPS}; 0 makes no bootstrap")))
}

/// The names of all plots, which are known before there is a result.
const PLOTS: [&str; 7] = [
    "exceedance",
    "trace",
    "autocorrelation",
    "quantiles",
    "mean-residual-life",
    "stability-xi",
    "stability-alpha",
];

/// The files to write.
struct Wanted<'a> {
    page: Option<(&'a Path, Part)>,
    folder: Option<Folder>,
}

impl<'a> Wanted<'a> {
    /// Checks that every file may be written.
    fn new(args: &'a Pwcet, read: &[PathBuf], session: &Session) -> Result<Self, Diagnostic> {
        let mut outputs = Outputs::new(read, args.writing.force, &session.parts);
        let page = |path| Ok::<_, Diagnostic>((path, outputs.file("--html", path)?));
        let page = args.html.as_deref().map(page).transpose()?;
        let prepare = |dir| Folder::prepare("--svg", dir, args.writing.force, &session.parts);
        let folder = args.svg.as_deref().map(prepare).transpose()?;
        if let Some(folder) = &folder {
            let files = PLOTS.map(|name| format!("{name}.svg"));
            folder.check_files(&files.each_ref().map(String::as_str))?;
        }
        Ok(Self { page, folder })
    }

    fn write(self, report: &PwcetReport) -> Result<(), Diagnostics> {
        if let Some((path, part)) = self.page {
            part.complete(format!("--html {}", path.display()), report.page().render().as_bytes())?;
        }
        if let Some(folder) = self.folder {
            write_plots(report, &folder)?;
        }
        Ok(())
    }
}

/// Writes the plots of the report into a folder, each as an SVG file.
fn write_plots(report: &PwcetReport, folder: &Folder) -> Result<(), Diagnostic> {
    let files: Vec<(String, Vec<u8>)> = report
        .plots()
        .into_iter()
        .map(|plot| {
            assert!(PLOTS.contains(&plot.name), "a plot that was not checked before: {}", plot.name);
            (format!("{}.svg", plot.name), plot.svg.into_bytes())
        })
        .collect();
    folder.write("", &files)?;
    Ok(())
}

/// Times that have not yet been checked to be a sample.
enum Values {
    /// Simulated times.
    Cycles(Vec<u64>),
    /// Times from a file; reading has checked that they are finite and not negative.
    Times(Vec<f64>),
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Self::Cycles(cycles) => cycles.len(),
            Self::Times(times) => times.len(),
        }
    }

    fn sample(&self) -> Result<Sample, SampleError> {
        match self {
            Self::Cycles(cycles) => Sample::from_cycles(cycles),
            Self::Times(times) => Sample::new(times.clone()),
        }
    }

    fn finite(&self) -> Vec<f64> {
        match self {
            Self::Cycles(cycles) => cycles.iter().map(|&cycles| cycles as f64).collect(),
            Self::Times(times) => times.clone(),
        }
    }
}

/// Returns the options of the analysis.
///
/// # Errors
/// Every invalid probability.
pub fn options(args: &Pwcet) -> Result<Options, Diagnostics> {
    let mut problems = Diagnostics::new();
    let mut probabilities = Vec::new();
    for &probability in &args.probability {
        match Probability::new(probability) {
            Ok(probability) => probabilities.push(probability),
            Err(why) => {
                let place = format!("--probability {probability}");
                let hint = "a probability with which a run takes longer, such as 1e-9";
                problems.push(Diagnostic::general(place, why.to_string()).hint(hint));
            }
        }
    }
    if let Some(time) = args.threshold.filter(|time| !(0.0..=SCALES.1).contains(time)) {
        let place = format!("--threshold {time}");
        let problem = Diagnostic::general(place, "this is no time that a run can take");
        problems.push(problem.hint("a time in the unit of the measurements, from 0 to 1e100"));
    }
    for (option, share) in [("--significance", args.significance), ("--level", args.level)] {
        if !(share > 0.0 && share < 1.0) {
            let place = format!("{option} {share}");
            let problem = Diagnostic::general(place, "this is not more than 0 and less than 1");
            problems.push(problem.hint("a share, such as 0.05 for 5 %"));
        }
    }
    let defaults = Options::default();
    problems.into_result(Options {
        significance: args.significance,
        level: args.level,
        threshold: match (args.threshold, args.exceedances) {
            (Some(time), _) => Rule::At(time),
            (None, Some(count)) => Rule::Exceedances(count),
            (None, None) => Rule::Automatic,
        },
        bootstraps: args.bootstraps,
        seed: args.common.seed,
        probabilities: if probabilities.is_empty() { defaults.probabilities } else { probabilities },
        ..defaults
    })
}

fn from_file(args: &Pwcet) -> Result<(Measured, Values, Vec<PathBuf>), Diagnostics> {
    let of_a_campaign = [
        ("--runs", args.runs.is_some()),
        ("--random", !args.random.is_empty()),
        ("--out", args.out.is_some()),
        ("--judge", args.judge.is_some()),
        ("--machine", args.common.machine.is_some()),
        ("--policy", args.common.policy.is_some()),
        ("--mem-latency", args.common.mem_latency.is_some()),
        ("--set", !args.common.set.is_empty()),
        ("--loop-bound", !args.bounds.loop_bound.is_empty()),
        ("--annotations", args.bounds.annotations.is_some()),
        ("--entry and the other options of a launch", !args.ptx.words().is_empty()),
    ];
    let mut problems = Diagnostics::new();
    for (option, _) in of_a_campaign.iter().filter(|(_, given)| *given) {
        let problem = Diagnostic::general(
            *option,
            format!("`{}` has measured times, and nothing is simulated", args.what),
        );
        problems.push(problem.hint("leave the option out, or name a kernel"));
    }
    problems.into_result(())?;
    let Measurements { file, column, values, path } = Measurements::read(&args.what, args.column.as_deref())?;
    Ok((Measured::Column { file, column }, Values::Times(values), path.into_iter().collect()))
}

fn no_curve(args: &Pwcet, session: &Session, why: Without) -> Diagnostic {
    let place = match why {
        Without::Analysis(NoAnalysis::Bootstraps(_)) => "--bootstraps".to_owned(),
        Without::Analysis(NoAnalysis::Threshold(_)) if args.threshold.is_some() => "--threshold".to_owned(),
        Without::Analysis(NoAnalysis::Threshold(_)) if args.exceedances.is_some() => {
            "--exceedances".to_owned()
        }
        _ => args.what.clone(),
    };
    match session.stopped() {
        Some(reason) => Diagnostic::general(place, format!("{} before there was a curve", reason.text())),
        None => Diagnostic::general(place, format!("no curve: {why}")),
    }
}
