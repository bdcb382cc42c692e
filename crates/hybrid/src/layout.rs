//! The assignment of the warps of a trace to blocks, and their barriers, if the user describes
//! them.

use std::collections::HashMap;

use super::ipg::Ipg;
use super::sections::{NoSections, SectionTiming, Sections};
use super::trace::Event;
use super::waves::{BlockWaves, CtaSlots};
use warpbound_core::base::Cycle;

/// The largest number of warps of a block.
pub const MAX_WARPS: u32 = 1024;

/// The blocks of traces. A block has `n` warps: those numbered 0 to n-1 on a multiprocessor are one
/// block, n to 2n-1 the next. All warps of a block start before any of them starts again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The number of warps of a block, from 1 to `MAX_WARPS`.
    pub warps: u32,
    /// For each ipoint, whether a warp that passes it has arrived at a barrier, where it waits for
    /// its block; `None` if that is not described.
    pub barriers: Option<Vec<bool>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Off,
    Running,
    /// The warp has been waiting at a barrier since this cycle.
    Waiting(Cycle),
}

/// The warps of one block after the other.
#[derive(Clone, Debug)]
struct Group {
    /// The index of its first slot in [`CtaSlots`].
    first: usize,
    warps: Vec<State>,
    started: u32,
}

/// Collects the blocks and sections of traces.
#[derive(Clone, Debug)]
pub struct Blocks<'a> {
    ipg: &'a Ipg,
    layout: &'a Layout,
    groups: HashMap<(u32, u32), Group>,
    cta_slots: CtaSlots,
    waves: BlockWaves,
    sections: Sections<'a>,
    wrong: Option<NoSections>,
}

impl<'a> Blocks<'a> {
    /// Creates a collector that has observed nothing.
    pub fn new(ipg: &'a Ipg, layout: &'a Layout) -> Self {
        Self {
            ipg,
            layout,
            groups: HashMap::new(),
            cta_slots: CtaSlots::default(),
            waves: BlockWaves::default(),
            sections: Sections::new(ipg),
            wrong: None,
        }
    }

    /// Processes the next event, which must be possible in the graph.
    pub fn event(&mut self, event: Event) {
        if self.wrong.is_none() {
            self.wrong = self.record(event).err();
        }
    }

    fn record(&mut self, event: Event) -> Result<(), NoSections> {
        let Event { ipoint, sm, warp, cycle } = event;
        let size = self.layout.warps;
        let count = self.groups.len();
        let group = self.groups.entry((sm, warp / size)).or_insert_with(|| Group {
            first: count * size as usize,
            warps: vec![State::Off; size as usize],
            started: 0,
        });
        let position = (warp % size) as usize;
        // slots are numbered across all multiprocessors
        let slot = u32::try_from(group.first + position).map_err(|_| NoSections::Unknown)?;
        match group.warps[position] {
            State::Off => {
                if group.started == size {
                    if group.warps.iter().any(|&state| state != State::Off) {
                        return Err(NoSections::Again(warp));
                    }
                    group.started = 0;
                }
                if group.started == 0 {
                    self.cta_slots.block(0, group.first, size as usize);
                }
                group.started += 1;
                group.warps[position] = State::Running;
            }
            State::Running => {}
            State::Waiting(_) => {
                if group.started < size || group.warps.contains(&State::Running) {
                    return Err(NoSections::Early(warp));
                }
                let mut arrivals = Vec::new();
                for (number, state) in (warp - warp % size..).zip(&mut group.warps) {
                    if let State::Waiting(since) = *state {
                        arrivals.push((number, since));
                        *state = State::Running;
                    }
                }
                self.sections.met(sm, &arrivals);
            }
        }
        self.sections.passed(event);
        if self.ipg.is_exit(ipoint) {
            group.warps[position] = State::Off;
            self.cta_slots.ended(0, slot, cycle);
        } else {
            self.cta_slots.seen(0, slot, cycle);
            if self.layout.barriers.as_ref().is_some_and(|barriers| barriers[ipoint]) {
                group.warps[position] = State::Waiting(cycle);
            }
        }
        Ok(())
    }

    /// Ends the current run.
    pub fn end_run(&mut self) {
        self.waves = self.waves.max(std::mem::take(&mut self.cta_slots).waves());
        self.groups.clear();
    }

    /// Returns what was observed.
    pub fn finish(mut self) -> (Option<BlockWaves>, Result<SectionTiming, NoSections>) {
        self.end_run();
        match self.wrong {
            Some(why) => (None, Err(why)),
            None if self.layout.barriers.is_none() => (Some(self.waves), Err(NoSections::Unknown)),
            None => (Some(self.waves), self.sections.finish()),
        }
    }
}
