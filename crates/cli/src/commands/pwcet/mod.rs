//! `warpbound pwcet`: estimates times that are exceeded with a small probability, from measured or
//! simulated runs.

mod campaign;
mod judge;

use std::io::Write;
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
use warpbound_pwcet::{NoAnalysis, Options, Probability, SCALES, Sample, SampleError, analyse};
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
    let (measured, values, read) = if is_measured(&args.what) {
        from_file(args)?
    } else {
        let campaign = Campaign::new(args, args.common.seed, args.runs.unwrap_or(RUNS), &session.monitor)?;
        match campaign.run(args, session)? {
            Simulated::Part(ending) => return Ok(ending),
            Simulated::All { measured, makespans } => {
                (measured, Values::Cycles(makespans), campaign.inputs())
            }
        }
    };
    options.exact_clock = measured.is_exact();
    if values.len() > MAX_MEASUREMENTS {
        let message =
            format!("{} measurements are too many: at most {MAX_MEASUREMENTS} are analysed", values.len());
        let hint = "the test of independence compares every pair of them; analyse parts of the measurements separately";
        return Err(Diagnostic::general(args.what.clone(), message).hint(hint).into());
    }
    let mut outputs = Outputs::new(&read, args.writing.force, &session.parts);
    let page = args.html.as_ref().map(|path| Ok::<_, Diagnostic>((path, outputs.file("--html", path)?)));
    let page = page.transpose()?;
    let prepare = |dir| Folder::prepare("--svg", dir, args.writing.force, &session.parts);
    let folder = args.svg.as_deref().map(prepare).transpose()?;

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
            let mut result = PwcetResult::new(measured, args.unit.clone(), &sample, analysis);
            if let Some(runs) = args.judge {
                result.judged = Some(judge::judge(args, runs, &result.analysis.pwcet, session)?);
            }
            PwcetReport::Curve(Box::new(result))
        }
        (_, Err(why)) if why.concerns_times() => {
            ending.late.push(no_curve(args, session, why));
            let times = values.finite();
            PwcetReport::NoCurve(Box::new(NoCurveResult::new(measured, args.unit.clone(), &times, why)))
        }
        (_, Err(why)) => return Err(no_curve(args, session, why).into()),
        (Err(why), Ok(_)) => return Err(no_curve(args, session, Without::Sample(why)).into()),
    };
    if let Some((path, part)) = page {
        write_page(&result, path, part)?;
    }
    if let Some(folder) = folder {
        write_plots(&result, &folder)?;
    }
    let output = Output::new("pwcet", Some(args.common.seed), vec![result]);
    ending.report(session, args.common.format, &output);
    Ok(ending)
}

/// Writes the report as an HTML page.
fn write_page(report: &PwcetReport, path: &Path, mut part: Part) -> Result<(), Diagnostic> {
    let html = report.page().render();
    let written = part.write_all(html.as_bytes()).and_then(|()| part.place());
    written.map_err(|error| {
        Diagnostic::general(format!("--html {}", path.display()), format!("cannot write the file: {error}"))
    })
}

/// Writes the plots of the report into a folder, each as an SVG file.
fn write_plots(report: &PwcetReport, folder: &Folder) -> Result<(), Diagnostic> {
    let files: Vec<(String, Vec<u8>)> = report
        .plots()
        .into_iter()
        .map(|plot| (format!("{}.svg", plot.name), plot.svg.into_bytes()))
        .collect();
    folder.check_files(&files.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>())?;
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
    ];
    if let Some((option, _)) = of_a_campaign.iter().find(|(_, given)| *given) {
        let problem = Diagnostic::general(
            *option,
            format!("`{}` has measured times, and nothing is simulated", args.what),
        );
        return Err(problem.hint("leave the option out, or name a kernel").into());
    }
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
