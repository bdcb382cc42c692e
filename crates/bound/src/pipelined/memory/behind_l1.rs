//! What loads count behind the L1 of their SM, and how little of it is left if its lines stay.

use super::request::RequestCost;

/// The loads that an L1 looks up.
#[derive(Clone, Debug)]
pub(super) struct BehindL1 {
    /// All of them; the first one for each set of sectors of each line; and the first one for each such set in
    /// each block.
    all: Services,
    once: Services,
    in_blocks: Services,
    /// The numbers of these loads by slice.
    by_slice: Vec<Numbers>,
    /// The number of loads that may wait for DRAM although lines of the L2 stay.
    late_loads: u64,
    /// Whether some load is known to find its data in the L2, if lines stay, but not in the L1.
    is_answered_by_l2: bool,
}

/// Loads, and their services behind the SM.
#[derive(Clone, Copy, Debug, Default)]
struct Services {
    loads: u64,
    at_slices: u64,
    /// What those add that may wait for DRAM, if lines of the L2 stay.
    late: u64,
}

/// Numbers of loads that reach a slice.
#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    all: u64,
    once: u64,
    in_blocks: u64,
}

/// A load that an L1 looks up.
#[derive(Clone, Copy, Debug)]
pub(super) struct LookedUp {
    pub slice: usize,
    /// Whether no load before it, or none of its block, needs the same set of sectors of the line.
    pub is_first: bool,
    pub is_first_in_block: bool,
    /// Whether it may wait for DRAM although lines of the L2 stay.
    pub is_late: bool,
    /// The service of its result beyond a cycle, if that is part of its service behind the SM. Another load of
    /// these sectors may write a result in one cycle.
    pub result: u64,
}

impl BehindL1 {
    /// Creates the counts for this many slices.
    pub fn new(slices: u32) -> Self {
        Self {
            all: Services::default(),
            once: Services::default(),
            in_blocks: Services::default(),
            by_slice: vec![Numbers::default(); slices as usize],
            late_loads: 0,
            is_answered_by_l2: false,
        }
    }

    /// Records a load, given the cost of its request.
    pub fn load(&mut self, load: LookedUp, cost: &RequestCost) {
        let LookedUp { slice, is_first, is_first_in_block, is_late, result } = load;
        self.all.add(cost.at_slices, if is_late { cost.late } else { 0 });
        self.late_loads += u64::from(is_late);
        // another load of these sectors may wait for DRAM
        if is_first {
            self.once.add(cost.at_slices + result, cost.late);
        }
        if is_first_in_block {
            self.in_blocks.add(cost.at_slices + result, cost.late);
        }
        if let Some(slice) = self.by_slice.get_mut(slice) {
            slice.all += 1;
            slice.once += u64::from(is_first);
            slice.in_blocks += u64::from(is_first_in_block);
        }
    }

    /// Records that a load is known to find its data in the L2, if lines stay, but not in the L1.
    pub fn note_answer_of_l2(&mut self) {
        self.is_answered_by_l2 = true;
    }

    /// Returns the number of fetches if lines of the L1 stay.
    pub fn fetches(&self, sms: u64) -> u64 {
        fetched(self.once.loads, self.in_blocks.loads, sms)
    }

    /// Returns the number of loads that make no such fetch.
    pub fn joins(&self, sms: u64) -> u64 {
        self.all.loads.saturating_sub(self.fetches(sms))
    }

    /// Returns the service behind the SMs of loads that make no such fetch.
    pub fn spared(&self, sms: u64) -> u64 {
        let spared = |of: fn(&Services) -> u64| {
            of(&self.all).saturating_sub(fetched(of(&self.once), of(&self.in_blocks), sms))
        };
        spared(|services| services.at_slices).saturating_add(spared(|services| services.late))
    }

    /// Returns the number of loads that do not reach a slice because they make no such fetch.
    pub fn spared_at(&self, slice: usize, sms: u64) -> u64 {
        let Numbers { all, once, in_blocks } = self.by_slice[slice];
        all - fetched(once, in_blocks, sms)
    }

    /// Returns the number of loads that may join a fetch of DRAM and be passed by others.
    pub fn passed(&self) -> u64 {
        if self.is_answered_by_l2 { self.late_loads } else { 0 }
    }
}

/// Returns what is left of a sum over loads if lines of the L1 stay, given what is counted once and once for
/// each block: each set of sectors is fetched once on each SM, and no more than once for each block.
fn fetched(once: u64, in_blocks: u64, sms: u64) -> u64 {
    once.saturating_mul(sms).min(in_blocks)
}

impl Services {
    fn add(&mut self, at_slices: u64, late: u64) {
        self.loads += 1;
        self.at_slices = self.at_slices.saturating_add(at_slices);
        self.late = self.late.saturating_add(late);
    }
}
