//! What traces say of the transitions of an [`Ipg`].
//!
//! Betts and Donaldson, section V-A: a trace is sliced into those of its warps, and each is parsed by the graph. All of
//! it is done event by event. What is kept is a state for each warp that is running, and for each multiprocessor of
//! the current run; nothing grows with the length of a trace.

use std::fmt;

use super::ipg::Ipg;
use super::numbered::Numbered;
use super::sections::{NoSections, SectionTiming};
use super::timing::Timing;
use super::trace::Event;
use super::waves::{Arrivals, BlockWaves, WaveParameters};
use crate::base::{Cycle, Cycles};

/// Where in the traces something was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The run, from 1.
    pub run: u64,
    /// The multiprocessor.
    pub sm: u32,
    /// The warp on it.
    pub warp: u32,
    /// The line of the event at its end, from 1; where events do not come from a text, whatever number came with it.
    pub line: u64,
}

/// All that traces say.
#[derive(Clone, Debug)]
pub struct Observed {
    /// Times, counts and loop bounds.
    pub timing: Timing,
    /// By transition, where its longest time was seen first.
    pub longest: Vec<Option<Origin>>,
    /// The high-water mark: the longest run, from the first start to the last end on any multiprocessor.
    pub high_water: Cycles,
    /// The first run that took so long, from 1.
    pub high_water_run: u64,
    /// The shortest run.
    pub shortest_run: Cycles,
    /// The longest time of a single warp, from its start to its end.
    pub longest_warp: Cycles,
    /// How warps start.
    pub waves: WaveParameters,
    /// What the scheduler of blocks did, where it could be watched.
    pub blocks: Option<BlockWaves>,
    /// What warps did between barriers, where barriers and blocks could be watched.
    pub sections: Result<SectionTiming, NoSections>,
    /// How many runs.
    pub runs: u64,
    /// How many warps, of all runs.
    pub warps: u64,
    /// How many events.
    pub events: u64,
}

impl Observed {
    /// Joins what was seen of the same graph in later runs.
    pub fn then(&mut self, later: Self) {
        let before = self.runs;
        for (index, time) in later.timing.wcet.into_iter().enumerate() {
            if time > self.timing.wcet[index] {
                self.timing.wcet[index] = time;
                let origin = later.longest[index];
                self.longest[index] = origin.map(|at| Origin { run: at.run + before, ..at });
            }
        }
        let larger = |mine: &mut Vec<u64>, theirs: Vec<u64>| {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine = (*mine).max(theirs));
        };
        larger(&mut self.timing.count, later.timing.count);
        larger(&mut self.timing.bound, later.timing.bound);
        if later.high_water > self.high_water {
            (self.high_water, self.high_water_run) = (later.high_water, later.high_water_run + before);
        }
        self.shortest_run = self.shortest_run.min(later.shortest_run);
        self.longest_warp = self.longest_warp.max(later.longest_warp);
        self.waves = self.waves.max(later.waves);
        self.blocks = self.blocks.zip(later.blocks).map(|(mine, theirs)| mine.max(theirs));
        match (&mut self.sections, later.sections) {
            (Ok(mine), Ok(theirs)) => mine.max(&theirs),
            (Ok(_), Err(why)) => self.sections = Err(why),
            (Err(_), _) => {}
        }
        self.runs += later.runs;
        self.warps += later.warps;
        self.events += later.events;
    }
}

/// Why a trace cannot be one of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where. For a run without events, of multiprocessor and warp 0.
    pub at: Origin,
    /// What is wrong.
    pub kind: FaultKind,
}

/// What is wrong with a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The event is earlier than one before it on the same multiprocessor, of this cycle.
    Unsorted(Cycle),
    /// The warp begins although it has not ended.
    BeginsAgain,
    /// The warp passes this ipoint and has not started.
    NotStarted(usize),
    /// The graph has no transition from this ipoint to that.
    Impossible(usize, usize),
    /// The run ends, and the warp has not: it was last seen at this ipoint.
    NeverEnds(usize),
    /// The run has no events.
    EmptyRun,
    /// The warp goes round this loop more often than somebody said it does.
    BoundExceeded(usize, u64),
}

impl Fault {
    /// The fault in words, with the names of the graph's ipoints.
    pub fn describe(&self, ipg: &Ipg) -> String {
        let Origin { run, sm, warp, .. } = self.at;
        let who = format!("in run {run}, warp {warp} of SM {sm}");
        match self.kind {
            FaultKind::Unsorted(before) => {
                format!("unsorted: in run {run}, SM {sm} had an event in cycle {before} already")
            }
            FaultKind::BeginsAgain => format!("{who} begins again before it has ended"),
            FaultKind::NotStarted(ipoint) => {
                format!("{who} is at `{}` and has not started", ipg.name(ipoint))
            }
            FaultKind::Impossible(from, to) => {
                format!("{who} goes from `{}` to `{}`, which is impossible", ipg.name(from), ipg.name(to))
            }
            FaultKind::NeverEnds(ipoint) => format!("{who} never ends: it stays at `{}`", ipg.name(ipoint)),
            FaultKind::EmptyRun => format!("run {run} has no events"),
            FaultKind::BoundExceeded(of, bound) => {
                format!("{who} goes round the loop at {} more than {bound} times", ipg.loop_name(of))
            }
        }
    }

    /// What to do about it.
    pub fn hint(&self, ipg: &Ipg) -> String {
        let list = |ipoints: Vec<&str>| ipoints.join(", ");
        match self.kind {
            FaultKind::Unsorted(_) => {
                "events of an SM come in the order of time; `run` begins a new one".to_owned()
            }
            FaultKind::BeginsAgain | FaultKind::NeverEnds(_) => {
                let exits = (0..ipg.len()).filter(|&ipoint| ipg.is_exit(ipoint)).map(|exit| ipg.name(exit));
                format!("a warp ends at {}", list(exits.collect()))
            }
            FaultKind::NotStarted(_) => format!("a warp starts at {}", ipg.name(0)),
            FaultKind::Impossible(from, _) => {
                let next: Vec<&str> = ipg.leaving(from).iter().map(|&(to, _)| ipg.name(to)).collect();
                format!("from {} a warp can go to {}", ipg.name(from), list(next))
            }
            FaultKind::EmptyRun => "leave the line out".to_owned(),
            FaultKind::BoundExceeded(..) => {
                "the bound that was given for this loop is wrong: it is exceeded by a run".to_owned()
            }
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unsorted(_) => "unsorted",
            Self::BeginsAgain => "begins again",
            Self::NotStarted(_) => "not started",
            Self::Impossible(..) => "impossible transition",
            Self::NeverEnds(_) => "never ends",
            Self::EmptyRun => "empty run",
            Self::BoundExceeded(..) => "loop bound exceeded",
        })
    }
}

/// A warp that is running.
#[derive(Clone, Debug, Default)]
struct Live {
    at: usize,
    since: Cycle,
    start: Cycle,
    line: u64,
    /// By transition, how often so far; all 0 but for those in `done`.
    counts: Vec<u64>,
    done: Vec<usize>,
    /// By loop, iterations since it was entered.
    iterations: Vec<u64>,
}

/// A multiprocessor in the current run.
#[derive(Clone, Debug)]
struct Sm {
    number: u32,
    now: Cycle,
    last_end: Cycle,
    arrivals: Arrivals,
    /// By warp that is running, which state is its.
    live: Numbered,
}

/// Reads events and keeps what is to be known of them.
#[derive(Clone, Debug)]
pub struct Observer<'a> {
    ipg: &'a Ipg,
    found: Observed,
    /// By loop, the iterations between two entries that it is allowed; as many as there are.
    allowed: Vec<u64>,
    sms: Vec<Sm>,
    sm_of: Numbered,
    /// Warps that are running.
    running: usize,
    /// As many as warps were running at the same time.
    states: Vec<Live>,
    /// States of warps that have ended, to be used again.
    spare: Vec<usize>,
    in_run: bool,
}

impl<'a> Observer<'a> {
    /// An observer that has seen nothing.
    pub fn new(ipg: &'a Ipg) -> Self {
        let transitions = ipg.transitions().len();
        let found = Observed {
            timing: Timing {
                wcet: vec![None; transitions],
                count: vec![0; transitions],
                bound: vec![0; ipg.loops().len()],
            },
            longest: vec![None; transitions],
            high_water: Cycles::ZERO,
            high_water_run: 0,
            shortest_run: Cycles::new(u64::MAX),
            longest_warp: Cycles::ZERO,
            waves: WaveParameters::default(),
            blocks: None,
            sections: Err(NoSections::Unknown),
            runs: 0,
            warps: 0,
            events: 0,
        };
        Self {
            ipg,
            found,
            allowed: vec![u64::MAX; ipg.loops().len()],
            sms: Vec::new(),
            sm_of: Numbered::default(),
            running: 0,
            states: Vec::new(),
            spare: Vec::new(),
            in_run: false,
        }
    }

    /// The same, which refuses runs that go round a loop more often than somebody says; by loop.
    pub fn with_bounds(ipg: &'a Ipg, bounds: &[Option<u64>]) -> Self {
        let mut observer = Self::new(ipg);
        for (allowed, bound) in observer.allowed.iter_mut().zip(bounds) {
            *allowed = bound.unwrap_or(u64::MAX);
        }
        observer
    }

    /// The next event; `line` is what messages call its place.
    ///
    /// # Errors
    /// If the event cannot follow those before it. What is read after that means nothing.
    pub fn event(&mut self, event: Event, line: u64) -> Result<(), Fault> {
        if !self.in_run {
            self.found.runs += 1;
            self.in_run = true;
        }
        let Event { ipoint, sm, warp, cycle } = event;
        let at = Origin { run: self.found.runs, sm, warp, line };
        let fault = |kind| Err(Fault { at, kind });
        self.found.events += 1;
        let index = match self.sm_of.get(sm) {
            Some(index) => index,
            None => {
                let (last_end, live) = (cycle, Numbered::default());
                self.sms.push(Sm { number: sm, now: cycle, last_end, arrivals: Arrivals::default(), live });
                self.sm_of.insert(sm, self.sms.len() - 1);
                self.sms.len() - 1
            }
        };
        let state = &mut self.sms[index];
        if cycle < state.now {
            return fault(FaultKind::Unsorted(state.now));
        }
        state.now = cycle;
        let slot = state.live.get(warp);
        if let Some(slot) = slot {
            let live = &mut self.states[slot];
            let Some(transition) = self.ipg.transition(live.at, ipoint) else {
                return fault(if ipoint == 0 {
                    FaultKind::BeginsAgain
                } else {
                    FaultKind::Impossible(live.at, ipoint)
                });
            };
            live.advance(self.ipg, transition, cycle, &mut self.found, at);
            let exceeded = |&&of: &&usize| live.iterations[of] > self.allowed[of];
            if let Some(&of) = self.ipg.transitions()[transition].iterates.iter().find(exceeded) {
                return fault(FaultKind::BoundExceeded(of, self.allowed[of]));
            }
        } else if ipoint == 0 {
            state.arrivals.start(cycle);
            let slot = self.spare.pop().unwrap_or_else(|| {
                self.states.push(Live {
                    counts: vec![0; self.found.timing.wcet.len()],
                    iterations: vec![0; self.found.timing.bound.len()],
                    ..Live::default()
                });
                self.states.len() - 1
            });
            let live = &mut self.states[slot];
            live.iterations.fill(0);
            (live.at, live.since, live.start, live.line) = (0, cycle, cycle, line);
            state.live.insert(warp, slot);
            self.running += 1;
        } else {
            return fault(FaultKind::NotStarted(ipoint));
        }
        if self.ipg.is_exit(ipoint)
            && let Some(slot) = state.live.get(warp)
        {
            state.live.remove(warp);
            self.running -= 1;
            let live = &mut self.states[slot];
            state.arrivals.end();
            state.last_end = cycle;
            self.found.warps += 1;
            self.found.longest_warp = self.found.longest_warp.max(cycle - live.start);
            for transition in live.done.drain(..) {
                let most = &mut self.found.timing.count[transition];
                *most = (*most).max(std::mem::take(&mut live.counts[transition]));
            }
            self.spare.push(slot);
        }
        Ok(())
    }

    /// The current run ends.
    ///
    /// # Errors
    /// If a warp has not ended, or there was no event.
    pub fn end_run(&mut self) -> Result<(), Fault> {
        if !self.in_run {
            let at = Origin { run: self.found.runs + 1, sm: 0, warp: 0, line: 0 };
            return Err(Fault { at, kind: FaultKind::EmptyRun });
        }
        if self.running > 0 {
            let of = |sm: &Sm| sm.live.iter().next().map(|(warp, slot)| (sm.number, warp, slot));
            if let Some((sm, warp, slot)) = self.sms.iter().filter_map(of).min() {
                let live = &self.states[slot];
                let at = Origin { run: self.found.runs, sm, warp, line: live.line };
                return Err(Fault { at, kind: FaultKind::NeverEnds(live.at) });
            }
        }
        let start = self.sms.iter().filter_map(|sm| sm.arrivals.first()).min();
        let end = self.sms.iter().map(|sm| sm.last_end).max();
        if let (Some(start), Some(end)) = (start, end) {
            let took = end - start;
            if took > self.found.high_water || self.found.high_water_run == 0 {
                (self.found.high_water, self.found.high_water_run) = (took, self.found.runs);
            }
            self.found.shortest_run = self.found.shortest_run.min(took);
            for sm in &self.sms {
                self.found.waves = self.found.waves.max(sm.arrivals.parameters(start));
            }
        }
        self.sms.clear();
        self.sm_of.clear();
        self.in_run = false;
        Ok(())
    }

    /// What was seen, with the current run as the last.
    ///
    /// # Errors
    /// As for [`Self::end_run`].
    pub fn finish(mut self) -> Result<Observed, Fault> {
        self.end_run()?;
        Ok(self.found)
    }
}

impl Live {
    fn advance(&mut self, ipg: &Ipg, transition: usize, cycle: Cycle, found: &mut Observed, at: Origin) {
        let taken = &ipg.transitions()[transition];
        let time = cycle - self.since;
        if found.timing.wcet[transition].is_none_or(|longest| longest < time) {
            found.timing.wcet[transition] = Some(time);
            found.longest[transition] = Some(at);
        }
        if self.counts[transition] == 0 {
            self.done.push(transition);
        }
        self.counts[transition] += 1;
        for &entered in &taken.enters {
            self.iterations[entered] = 0;
        }
        for &iterated in &taken.iterates {
            self.iterations[iterated] += 1;
            let bound = &mut found.timing.bound[iterated];
            *bound = (*bound).max(self.iterations[iterated]);
        }
        (self.at, self.since, self.line) = (taken.to, cycle, at.line);
    }
}
