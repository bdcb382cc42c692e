//! The judgement of a curve by runs that were not used to fit it.

use super::RUNS;
use super::campaign::Campaign;
use crate::args::Pwcet;
use crate::exhaustive::{Exploring, all_paths_value};
use crate::load;
use crate::loop_bounds::ByLine;
use crate::session::Session;
use warpbound_bound::Schedules;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_judge::load::Loaded;
use warpbound_pwcet::curve::Pwcet as Curve;
use warpbound_report::pwcet::{Further, Judged};
use warpbound_report::wcet::{AllPathsValue, Explored};

/// The number of runs whose schedules are explored.
const EXPLORED: u64 = 20;

/// Compares a curve with further runs, bounds and explored schedules.
pub fn judge(args: &Pwcet, runs: u64, curve: &Curve, session: &Session) -> Result<Judged, Diagnostics> {
    let given = args.common.seed.checked_add(args.runs.unwrap_or(RUNS));
    let from = given.filter(|from| from.checked_add(runs - 1).is_some()).ok_or_else(|| {
        Diagnostic::general("--judge", "the number of the last run does not fit in 64 bits")
            .hint("give a smaller --seed")
    })?;
    let campaign = Campaign::new(args, from, runs, &session.monitor)?;
    let bounds = campaign.bounds().map(|(name, proved)| (name, proved, Some(0)));
    let mut further = Further {
        from,
        runs,
        longest: None,
        above: vec![[0; 2]; curve.points.len()],
        bounds: bounds.collect(),
    };
    campaign.each(args, session, |number, makespan, record, columns| {
        if further.longest.is_none_or(|(longest, _)| makespan > longest) {
            further.longest = Some((makespan, number));
        }
        for (above, point) in further.above.iter_mut().zip(&curve.points) {
            let longer = |time: f64| u64::from(makespan as f64 > time);
            above[0] += longer(point.time);
            above[1] += point.upper_limit().map_or(0, longer);
        }
        for (name, _, most) in &mut further.bounds {
            *most = most.zip(record.number(columns, name)).map(|(most, value)| most.max(value));
        }
    })?;
    let (explored, found) = match load::any(&args.what, &args.ptx, args.common.seed, &session.monitor)? {
        Loaded::Application(_) => {
            let why = "it has several launches";
            (Explored::Missing(why.to_owned()), AllPathsValue::Missing(why.to_owned()))
        }
        Loaded::Kernel(kernel) => {
            let (_, resolved) = ByLine::new(&args.bounds)?.of(&kernel)?;
            let exploring = Exploring {
                ptx: &args.ptx,
                common: &args.common,
                runs: runs.min(EXPLORED),
                max_states: args.max_states,
                jobs: args.jobs,
            };
            // these runs are not observed, so it is unknown whether a replay passed over warps
            let schedules = [Schedules::Run { policy: campaign.policy().clone(), passed_over: None }];
            let explored = exploring.worst(&args.what, campaign.machine(), &schedules, session)?;
            (
                explored,
                all_paths_value(&kernel, campaign.machine(), &schedules, &resolved, &args.common, session)?,
            )
        }
    };
    Ok(Judged::new(curve, &further, &explored, &found))
}
