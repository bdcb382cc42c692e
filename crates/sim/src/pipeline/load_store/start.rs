//! The description of an instruction that is passed to the unit.

use super::LoadStore;
use super::serve::{Serving, data_cycles};
use crate::pipeline::flight::FlightId;
use warpbound_core::isa::Space;
use warpbound_core::program::Access;

/// An access that starts.
#[derive(Clone, Copy, Debug)]
pub(in crate::pipeline) struct Start {
    pub flight: FlightId,
    pub slot: u8,
    pub access: Access,
    pub space: Space,
    /// The number of its transactions with shared memory beyond the first, or of the addresses of a load
    /// of constants.
    pub extra: u64,
    /// The end of its lines in the traffic of its warp.
    pub lines_end: u32,
    /// The number of its memory transactions.
    pub transactions: u32,
}

impl LoadStore {
    /// Starts to serve an instruction; the unit must be free.
    pub fn start(&mut self, start: Start, now: u64) {
        let Start { flight, slot, access, space, extra, lines_end, transactions } = start;
        let shared = space == Space::Shared;
        let atomic = if access == Access::Atomic { self.settings.shared_atomic_latency } else { 0 };
        let number = flight as usize;
        if self.unanswered.len() <= number {
            self.unanswered.resize(number + 1, 0);
        }
        self.unanswered[number] = if shared { 1 } else { transactions };
        self.rests_until = 0;
        self.acted = true;
        self.serving = Some(Serving {
            flight,
            slot,
            access,
            space,
            last_bank: now
                + match space {
                    Space::Shared => (extra + 1) * u64::from(self.settings.shared_interval),
                    Space::Const | Space::Param => 1 + extra * u64::from(self.settings.constant_interval),
                    Space::Global | Space::Local if transactions > 0 => data_cycles(&self.settings, access),
                    Space::Global | Space::Local | Space::Generic => 0,
                },
            delay: extra as u32 * self.settings.conflict_latency + atomic,
            number: lines_end,
            line: 0,
            sectors: 0,
            words: u32::MAX,
            left: transactions,
        });
    }
}
