//! `warpbound pwcet`: times that runs exceed hardly ever, of measured or simulated runs.

mod campaign;
mod judge;

use std::io::Write;
use std::path::PathBuf;

pub use campaign::{Campaign, Simulated};

use crate::cli::args::Pwcet;
use crate::cli::files::{Folder, Outputs};
use crate::cli::measurements::{Measurements, is_measured};
use crate::cli::output::{self, Outcome};
use crate::cli::resources;
use crate::cli::session::Session;
use crate::diag::{Diagnostic, Diagnostics};
use crate::pwcet::threshold::Rule;
use crate::pwcet::{NoAnalysis, Options, Probability, Sample, analyse};
use crate::report::output::Output;
use crate::report::pwcet::{Measured, PwcetResult};

/// More measurements take too long: a test compares all with all, 200,000 in five seconds.
const MOST_MEASUREMENTS: usize = 500_000;

/// Runs that are simulated if nobody says.
const RUNS: u64 = 10_000;

/// More threads do not help any machine that we know.
pub const MOST_THREADS: usize = 256;

/// Runs the command.
pub fn run(args: &Pwcet, session: &Session) -> Outcome {
    let options = options(args)?;
    let (measured, sample, read) = if is_measured(&args.what) {
        from_file(args)?
    } else {
        let campaign = Campaign::new(args, args.common.seed, args.runs.unwrap_or(RUNS))?;
        match campaign.run(args, session)? {
            Simulated::Part(ending) => return Ok(ending),
            Simulated::All { measured, makespans } => {
                let sample = Sample::from_cycles(&makespans).map_err(|why| {
                    let problem = Diagnostic::general(args.what.clone(), format!("no curve: {why}"));
                    problem.hint("more --runs, or another source of variation (--vary)")
                })?;
                (measured, sample, campaign.inputs())
            }
        }
    };
    if sample.len() > MOST_MEASUREMENTS {
        let message =
            format!("{} measurements are too many: at most {MOST_MEASUREMENTS} are analysed", sample.len());
        let hint = "the test of independence compares all with all; analyse parts of them, each by itself";
        return Err(Diagnostic::general(args.what.clone(), message).hint(hint).into());
    }
    let mut outputs = Outputs::new(&read, args.writing.force, &session.parts);
    let page = args.page.as_ref().map(|path| Ok::<_, Diagnostic>((path, outputs.file("--page", path)?)));
    let page = page.transpose()?;
    let prepare = |dir| Folder::prepare("--svg", dir, args.writing.force, &session.parts);
    let folder = args.svg.as_deref().map(prepare).transpose()?;

    session.progress.begin("analysing", None, "replicates");
    let threads = args.jobs.unwrap_or_else(resources::threads).clamp(1, MOST_THREADS);
    let analysis =
        analyse(&sample, &options, threads, &session.watch).map_err(|why| no_curve(args, session, why))?;
    let mut result = PwcetResult::new(measured, args.unit.clone(), &sample, analysis);
    if let Some(runs) = args.judge {
        result.judged = Some(judge::judge(args, runs, &result.analysis.pwcet, session)?);
    }
    if let Some((path, mut part)) = page {
        let html = result.page().render();
        let written = part.write_all(html.as_bytes()).and_then(|()| part.place());
        written.map_err(|error| {
            Diagnostic::general(
                format!("--page {}", path.display()),
                format!("cannot write the file: {error}"),
            )
        })?;
    }
    if let Some(folder) = folder {
        let files: Vec<(String, Vec<u8>)> = result
            .plots()
            .into_iter()
            .map(|plot| (format!("{}.svg", plot.name), plot.svg.into_bytes()))
            .collect();
        folder.check_files(&files.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>())?;
        folder.write("", &files)?;
    }
    output::report(session, args.common.format, &Output::new("pwcet", Some(args.common.seed), vec![result]))
}

/// What the analysis is asked for.
///
/// # Errors
/// Every probability that is none.
pub fn options(args: &Pwcet) -> Result<Options, Diagnostics> {
    let mut problems = Diagnostics::new();
    let mut probabilities = Vec::new();
    for &probability in &args.probability {
        match Probability::new(probability) {
            Ok(probability) => probabilities.push(probability),
            Err(why) => problems.push(Diagnostic::general("--probability", why.to_string())),
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

fn from_file(args: &Pwcet) -> Result<(Measured, Sample, Vec<PathBuf>), Diagnostics> {
    let of_a_campaign = [
        ("--runs", args.runs.is_some()),
        ("--vary", !args.vary.is_empty()),
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
    let sample =
        Sample::new(values).map_err(|why| Diagnostic::general(file.clone(), format!("no curve: {why}")))?;
    Ok((Measured::Column { file, column }, sample, path.into_iter().collect()))
}

fn no_curve(args: &Pwcet, session: &Session, why: NoAnalysis) -> Diagnostic {
    let place = match why {
        NoAnalysis::Bootstraps(_) => "--bootstraps".to_owned(),
        NoAnalysis::Threshold(_) if args.threshold.is_some() => "--threshold".to_owned(),
        NoAnalysis::Threshold(_) if args.exceedances.is_some() => "--exceedances".to_owned(),
        _ => args.what.clone(),
    };
    match session.stopped() {
        Some(reason) => Diagnostic::general(place, format!("{} before there was a curve", reason.text())),
        None => Diagnostic::general(place, format!("no curve: {why}")),
    }
}
