//! All work-conserving schedules of a block, as a system to search.

use super::model::{Model, Outcome, State};
use super::search::{Extremes, Limits, OutOfFuel, System, search_system};
use warpbound_core::base::ProgressMonitor;

/// A system in which any ready warp may issue in each state; one warp represents all warps in the
/// same state.
#[derive(Clone, Debug)]
pub struct Schedules<'m>(pub &'m Model);

impl System for Schedules<'_> {
    type State = State;

    fn issues(&self) -> usize {
        self.0.issues()
    }

    fn start(&self) -> State {
        let mut state = self.0.start();
        self.0.normalise(&mut state);
        state
    }

    fn most_choices(&self) -> usize {
        self.0.warps()
    }

    fn choices(&self, state: &State, choices: &mut Vec<u16>) {
        choices.extend(self.0.choices(state).map(|position| position as u16));
    }

    fn issue(&self, state: &mut State, choice: u16) -> Outcome {
        let outcome = self.0.issue(state, usize::from(choice), None);
        self.0.normalise_unordered(state);
        outcome
    }

    fn encode(&self, state: &State, key: &mut Vec<u16>) {
        self.0.encode(state, key);
    }

    fn decode(&self, key: &[u16], state: &mut State) {
        self.0.decode(key, state);
    }
}

impl Schedules<'_> {
    /// Returns the warp that issues at each step of a run. The conversion is needed because choices
    /// are positions in normal form, which reorders warps.
    pub fn warps(&self, choices: &[u16]) -> Vec<usize> {
        let mut state = self.0.start();
        let mut warp_ids = self.0.start_order();
        let mut chosen = Vec::with_capacity(choices.len());
        for &choice in choices {
            warp_ids = self.0.normalise(&mut state).iter().map(|&from| warp_ids[from]).collect();
            chosen.push(warp_ids[usize::from(choice)]);
            self.0.issue(&mut state, usize::from(choice), None);
        }
        chosen
    }
}

/// Searches all work-conserving schedules of a block; witnesses are the ids of the warps that
/// issue. `monitor` is notified after every layer of the number of issues and states so far.
///
/// # Errors
/// Returns an error if the search runs out of fuel.
pub fn search(
    model: &Model,
    limits: Limits,
    monitor: &ProgressMonitor,
) -> Result<Extremes<usize>, OutOfFuel> {
    let schedules = Schedules(model);
    search_system(&schedules, limits, monitor)
        .map(|found| found.map_witnesses(|choices| schedules.warps(choices)))
}
