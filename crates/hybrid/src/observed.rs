//! The data that traces give about the transitions of an [`Ipg`].
//!
//! Betts and Donaldson, section V-A: a trace is divided into the traces of its warps, and each is
//! parsed according to the graph. This module does both event by event. It keeps a state for each
//! running warp and for each multiprocessor of the current run; the memory does not grow with the
//! length of a trace.

use std::fmt;

use super::ipg::Ipg;
use super::numbered::Numbered;
use super::sections::{NoSections, SectionTiming};
use super::timing::Timing;
use super::trace::Event;
use super::waves::{Arrivals, BlockWaves, WaveParameters};
use warpbound_core::base::{Cycle, Cycles};

/// The position of an observation in the traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The number of the run, from 1.
    pub run: u64,
    /// The multiprocessor.
    pub sm: u32,
    /// The warp on it.
    pub warp: u32,
    /// The line of the event at which the observation ends, from 1; if events do not come from a
    /// text, the number that was passed with the event.
    pub line: u64,
}

/// All data from traces.
#[derive(Clone, Debug)]
pub struct Observed {
    /// Times, counts and loop bounds.
    pub timing: Timing,
    /// The first position of the longest time of each transition.
    pub longest: Vec<Option<Origin>>,
    /// The high-water mark: the length of the longest run, from the first start to the last end on
    /// any multiprocessor.
    pub high_water: Cycles,
    /// The number of the first run of that length, from 1.
    pub high_water_run: u64,
    /// The length of the shortest run.
    pub shortest_run: Cycles,
    /// The longest time of a single warp, from its start to its end.
    pub longest_warp: Cycles,
    /// The parameters of the start times of warps.
    pub waves: WaveParameters,
    /// The decisions of the block scheduler; `None` if they were not observed.
    pub blocks: Option<BlockWaves>,
    /// The times of warps between barriers, if barriers and blocks could be observed.
    pub sections: Result<SectionTiming, NoSections>,
    /// The number of runs.
    pub runs: u64,
    /// The number of warps of all runs.
    pub warps: u64,
    /// The number of events.
    pub events: u64,
}

impl Observed {
    /// Adds what was observed of the same graph in later runs.
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

/// The reason why a trace is not possible in the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The position. For a run without events, it has multiprocessor 0 and warp 0.
    pub at: Origin,
    /// The kind of the fault.
    pub kind: FaultKind,
}

/// The kind of a fault in a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The event is earlier than a previous event on the same multiprocessor, which was in this
    /// cycle.
    Unsorted(Cycle),
    /// The warp starts although it has not ended.
    BeginsAgain,
    /// The warp passes this ipoint before it has started.
    NotStarted(usize),
    /// The graph has no transition from the first ipoint to the second.
    Impossible(usize, usize),
    /// The run ends before the warp, which was last observed at this ipoint.
    NeverEnds(usize),
    /// The run has no events.
    EmptyRun,
    /// The warp iterates this loop more often than the given bound allows.
    BoundExceeded(usize, u64),
}

impl Fault {
    /// Returns a description of the fault, with the names of the graph's ipoints.
    pub fn describe(&self, ipg: &Ipg) -> String {
        let Origin { run, sm, warp, .. } = self.at;
        let warp_of_run = format!("in run {run}, warp {warp} of SM {sm}");
        match self.kind {
            FaultKind::Unsorted(before) => {
                format!("unsorted: in run {run}, SM {sm} had an event in cycle {before} already")
            }
            FaultKind::BeginsAgain => format!("{warp_of_run} begins again before it has ended"),
            FaultKind::NotStarted(ipoint) => {
                format!("{warp_of_run} is at `{}` and has not started", ipg.name(ipoint))
            }
            FaultKind::Impossible(from, to) => {
                format!(
                    "{warp_of_run} goes from `{}` to `{}`, which is impossible",
                    ipg.name(from),
                    ipg.name(to)
                )
            }
            FaultKind::NeverEnds(ipoint) => {
                format!("{warp_of_run} never ends: it stays at `{}`", ipg.name(ipoint))
            }
            FaultKind::EmptyRun => format!("run {run} has no events"),
            FaultKind::BoundExceeded(of, bound) => {
                format!("{warp_of_run} goes round the loop at {} more than {bound} times", ipg.loop_name(of))
            }
        }
    }

    /// Returns a hint on how to correct it.
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
            FaultKind::EmptyRun => "remove the line".to_owned(),
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

/// A running warp.
#[derive(Clone, Debug, Default)]
struct Live {
    at: usize,
    since: Cycle,
    start: Cycle,
    line: u64,
    /// The number of times that each transition was taken so far; 0 except for those in `done`.
    counts: Vec<u64>,
    done: Vec<usize>,
    /// The number of iterations of each loop since it was entered.
    iterations: Vec<u64>,
}

/// A multiprocessor in the current run.
#[derive(Clone, Debug)]
struct Sm {
    number: u32,
    now: Cycle,
    last_end: Cycle,
    arrivals: Arrivals,
    /// The index of the state of each running warp.
    live: Numbered,
}

/// Reads events and collects the data about transitions.
#[derive(Clone, Debug)]
pub struct Observer<'a> {
    ipg: &'a Ipg,
    found: Observed,
    /// The largest number of iterations between two entries that is allowed, by loop.
    allowed: Vec<u64>,
    sms: Vec<Sm>,
    sm_of: Numbered,
    /// The number of running warps.
    running: usize,
    /// The states of warps; there are as many as warps were running at the same time.
    states: Vec<Live>,
    /// The indices of states of warps that have ended, for reuse.
    spare: Vec<usize>,
    in_run: bool,
}

impl<'a> Observer<'a> {
    /// Creates an observer that has observed nothing.
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

    /// Creates an observer that rejects runs in which a loop exceeds the given bound; bounds are
    /// indexed by loop.
    pub fn with_bounds(ipg: &'a Ipg, bounds: &[Option<u64>]) -> Self {
        let mut observer = Self::new(ipg);
        for (allowed, bound) in observer.allowed.iter_mut().zip(bounds) {
            *allowed = bound.unwrap_or(u64::MAX);
        }
        observer
    }

    /// Processes the next event; `line` is the line that messages name.
    ///
    /// # Errors
    /// Returns an error if the event cannot follow those before it. Results of later calls are
    /// meaningless after that.
    pub fn event(&mut self, event: Event, line: u64) -> Result<(), Fault> {
        if !self.in_run {
            self.found.runs += 1;
            self.in_run = true;
        }
        let Event { ipoint, sm, warp, cycle } = event;
        let at = Origin { run: self.found.runs, sm, warp, line };
        let fault = |kind| Err(Fault { at, kind });
        self.found.events += 1;
        let index = self.index_of(sm, cycle);
        let state = &mut self.sms[index];
        if cycle < state.now {
            return fault(FaultKind::Unsorted(state.now));
        }
        state.now = cycle;
        let slot = match state.live.get(warp) {
            Some(slot) => {
                self.pass(slot, ipoint, cycle, at)?;
                slot
            }
            None if ipoint == 0 => self.start(index, warp, cycle, line),
            None => return fault(FaultKind::NotStarted(ipoint)),
        };
        if self.ipg.is_exit(ipoint) {
            self.end(index, warp, slot, cycle);
        }
        Ok(())
    }

    /// Returns the index of a multiprocessor. It is added if this is its first event in the run.
    fn index_of(&mut self, sm: u32, cycle: Cycle) -> usize {
        if let Some(index) = self.sm_of.get(sm) {
            return index;
        }
        let (last_end, live) = (cycle, Numbered::default());
        self.sms.push(Sm { number: sm, now: cycle, last_end, arrivals: Arrivals::default(), live });
        self.sm_of.insert(sm, self.sms.len() - 1);
        self.sms.len() - 1
    }

    /// Processes an event of a running warp.
    fn pass(&mut self, slot: usize, ipoint: usize, cycle: Cycle, at: Origin) -> Result<(), Fault> {
        let live = &mut self.states[slot];
        let Some(transition) = self.ipg.transition(live.at, ipoint) else {
            let kind = match ipoint {
                0 => FaultKind::BeginsAgain,
                _ => FaultKind::Impossible(live.at, ipoint),
            };
            return Err(Fault { at, kind });
        };
        live.advance(self.ipg, transition, cycle, &mut self.found, at);
        let exceeded = |&&of: &&usize| live.iterations[of] > self.allowed[of];
        if let Some(&of) = self.ipg.transitions()[transition].iterates.iter().find(exceeded) {
            return Err(Fault { at, kind: FaultKind::BoundExceeded(of, self.allowed[of]) });
        }
        Ok(())
    }

    /// Starts a warp on a multiprocessor, and returns the index of its state.
    fn start(&mut self, index: usize, warp: u32, cycle: Cycle, line: u64) -> usize {
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
        let sm = &mut self.sms[index];
        sm.arrivals.start(cycle);
        sm.live.insert(warp, slot);
        self.running += 1;
        slot
    }

    /// Ends a warp on a multiprocessor.
    fn end(&mut self, index: usize, warp: u32, slot: usize, cycle: Cycle) {
        let sm = &mut self.sms[index];
        sm.live.remove(warp);
        sm.arrivals.end();
        sm.last_end = cycle;
        self.running -= 1;
        let live = &mut self.states[slot];
        self.found.warps += 1;
        self.found.longest_warp = self.found.longest_warp.max(cycle - live.start);
        for transition in live.done.drain(..) {
            let most = &mut self.found.timing.count[transition];
            *most = (*most).max(std::mem::take(&mut live.counts[transition]));
        }
        self.spare.push(slot);
    }

    /// Ends the current run.
    ///
    /// # Errors
    /// Returns an error if a warp has not ended, or if there was no event.
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

    /// Returns what was observed, with the current run as the last.
    ///
    /// # Errors
    /// Returns the errors of [`Self::end_run`].
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
