//! The service of an instruction: its transactions, one after the other.

use super::parts::Parts;
use super::{Answer, INBOX, LoadStore, Reply, Settings, Shared, SmAccess};
use crate::pipeline::flight::FlightId;
use crate::pipeline::memory::{Access as Lookup, Port, Request, RequestKind, Token};
use warpbound_core::isa::Space;
use warpbound_core::program::Access;

/// The instruction that is being served.
#[derive(Clone, Copy, Debug)]
pub(super) struct Serving {
    pub flight: FlightId,
    pub slot: u8,
    pub access: Access,
    pub space: Space,
    /// The cycle in which its last bank transaction, the last address of its constants or its next
    /// transaction with data is served; before that cycle it waits for nothing else.
    pub last_bank: u64,
    /// The number of cycles that it stays in the pipeline of shared memory beyond its stages.
    pub delay: u32,
    /// The present line: its index in the traffic of the path, its number, and its remaining
    /// sectors as a mask.
    pub number: u32,
    pub line: u64,
    pub sectors: u8,
    /// The words of the line that a store writes.
    pub words: u32,
    /// The number of remaining memory transactions.
    pub left: u32,
}

impl Serving {
    /// Returns the next one of the remaining transactions.
    #[inline(always)]
    fn next(&mut self, sm_access: &impl SmAccess, parts: Parts) -> (u64, u8) {
        while self.sectors == 0 {
            self.number -= 1;
            let mut line = sm_access.line(self.slot, self.number);
            self.words = line.written();
            if let Some(words) = line.written_before() {
                self.words = words;
                self.number -= 1;
                line = sm_access.line(self.slot, self.number);
            }
            (self.line, self.sectors) = (line.line(), line.sectors());
        }
        let highest = 7 - self.sectors.leading_zeros();
        (self.line, parts.around(highest) & self.sectors)
    }

    /// Records that the transaction of these sectors has been sent.
    #[inline]
    fn pass(&mut self, sectors: u8) {
        self.sectors &= !sectors;
        self.left -= 1;
    }
}

impl LoadStore {
    /// Simulates a cycle of the instruction that is being served, and returns whether anything
    /// happened.
    pub(super) fn serve(&mut self, now: u64, sm_access: &impl SmAccess, port: Option<&mut Port>) -> bool {
        let Some(Serving { flight, access, space, last_bank, delay, .. }) = self.serving else {
            return false;
        };
        if now < last_bank {
            return false;
        }
        match space {
            Space::Shared => {
                if access == Access::Store {
                    self.leave(flight, true);
                } else if self.shared.len() < self.settings.shared_latency as usize {
                    let atomic = self.settings.atomics_block && access == Access::Atomic;
                    let at = now + u64::from(self.settings.shared_latency) + u64::from(delay);
                    self.shared.push_back(Shared { flight, atomic, at });
                    self.leave(flight, false);
                }
            }
            Space::Global | Space::Local => return self.send(now, sm_access, port),
            Space::Param if access == Access::Load && self.settings.parameters_ready => {
                self.unanswered[flight as usize] = 0;
                self.leave_constants(flight, now);
            }
            Space::Const | Space::Param if access == Access::Load && self.constants.is_some() => {
                return self.look_up_constant(now, sm_access);
            }
            Space::Const | Space::Param if access == Access::Load => self.leave_constants(flight, now),
            _ => self.leave(flight, true),
        }
        true
    }

    /// Looks up one line in the constant cache, and returns whether the cache accepted it.
    fn look_up_constant(&mut self, now: u64, sm_access: &impl SmAccess) -> bool {
        let (Some(serving), Some(cache)) = (&mut self.serving, &mut self.constants) else { return true };
        let flight = serving.flight;
        let unanswered = &mut self.unanswered[flight as usize];
        if serving.left > 0 {
            let (line, sectors) = serving.next(sm_access, Parts::of(cache.line_bytes()));
            let token = Token::Flight(flight.into());
            match cache.access(Request::new(line, sectors, RequestKind::Constant, token)) {
                Lookup::Stall => {
                    self.refused.1 += 1;
                    return false;
                }
                Lookup::Hit => *unanswered -= 1,
                Lookup::Miss | Lookup::Merged | Lookup::Forwarded => {}
            }
            serving.pass(sectors);
        }
        if serving.left == 0 {
            if *unanswered > 0 {
                self.leave(flight, false);
            } else {
                self.leave_constants(flight, now);
            }
        }
        true
    }

    /// Ends the service of a load of constants that are all there.
    fn leave_constants(&mut self, flight: FlightId, now: u64) {
        let stages = self.settings.constant_latency;
        if stages > 0 {
            self.unanswered[flight as usize] = 1;
            self.passing.push_back((flight, now + u64::from(stages)));
        }
        self.leave(flight, stages == 0);
    }

    /// Sends as many transactions of an access to global or local memory as possible. Returns
    /// whether one was sent or the instruction leaves.
    fn send(&mut self, now: u64, sm_access: &impl SmAccess, mut port: Option<&mut Port>) -> bool {
        let Self { serving: Some(serving), l1, inbox, parts, .. } = self else { return false };
        let (flight, slot) = (serving.flight, serving.slot);
        let (kind, token) = match serving.access {
            Access::Store => (RequestKind::Write, Token::Warp(slot)),
            Access::Atomic => (RequestKind::Atomic, Token::Flight(flight.into())),
            _ => (RequestKind::Read, Token::Flight(flight.into())),
        };
        let cached = !matches!(serving.access, Access::Atomic | Access::LoadUncached);
        let mut l1 = l1.as_mut().filter(|_| cached);
        let of_data = data_cycles(&self.settings, serving.access);
        let width = if of_data > 0 { 1 } else { l1.as_ref().map_or(1, |l1| l1.width()) };
        let before = serving.left;
        for _ in 0..width {
            if serving.left == 0 {
                break;
            }
            let (line, sectors) = serving.next(sm_access, *parts);
            let request = Request::new(line, sectors, kind, token).writing(serving.words);
            let goes = if let Some(l1) = &mut l1 {
                l1.take(request, now)
            } else if let Some(port) = &mut port {
                let accepts = port.accepts();
                if accepts {
                    port.push(request);
                }
                accepts
            } else {
                let accepts = inbox.len() < INBOX;
                if accepts {
                    inbox.push_back(match kind {
                        RequestKind::Write => Reply::Stored(slot),
                        RequestKind::Atomic => Reply::Atomic(flight),
                        _ => Reply::Load(flight),
                    });
                }
                accepts
            };
            if !goes {
                break;
            }
            serving.pass(sectors);
            serving.last_bank = now + of_data;
        }
        let (sent, over, access) = (serving.left < before, serving.left == 0, serving.access);
        if over {
            let waits = access != Access::Store && self.unanswered[flight as usize] > 0;
            self.leave(flight, !waits);
        }
        sent || over
    }

    /// Ends the service of an instruction, which makes room for the next one. The instruction may
    /// be complete already.
    fn leave(&mut self, flight: FlightId, complete: bool) {
        self.serving = None;
        self.answers.push(Answer::Left(flight));
        if complete {
            self.answers.push(Answer::Complete(flight));
        }
    }
}

/// Returns the cycles that pass before each transaction of an access to memory; 0 if none have to.
#[inline]
pub(super) fn data_cycles(settings: &Settings, access: Access) -> u64 {
    let has_data = matches!(access, Access::Store | Access::Atomic);
    if has_data && settings.data_interval > 1 { settings.data_interval.into() } else { 0 }
}
