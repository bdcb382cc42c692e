//! Serving an instruction: its transactions, one after the other.

use super::{INBOX, LoadStore, Purpose, Reply, Serving};
use crate::base::WarpMask;
use crate::isa::Space;
use crate::path::{LineUse, Step};
use crate::program::Access;
use crate::sim::pipeline::Sm;
use crate::sim::pipeline::flight::FlightId;
use crate::sim::pipeline::memory::{Access as Lookup, Port, Request, RequestKind};

impl Serving {
    /// Takes the next transaction of so many bytes off what is left: line and sectors.
    fn take(&mut self, sm: &Sm<'_>, bytes: u32) -> (u64, u8) {
        while self.sectors == 0 {
            self.line -= 1;
            self.sectors = sm.line(self.slot as usize, self.line).sectors();
        }
        let highest = 7 - self.sectors.leading_zeros();
        let part = part(highest, bytes) & self.sectors;
        self.sectors &= !part;
        self.left -= 1;
        (sm.line(self.slot as usize, self.line).line(), part)
    }
}

/// The sectors that lie in the same so many bytes of a line as this one, as a mask.
fn part(sector: u32, bytes: u32) -> u8 {
    let sectors = (bytes / 32).max(1);
    (((1u16 << sectors) - 1) << (sector / sectors * sectors)) as u8
}

/// In how many parts of so many bytes these sectors of a line lie.
fn parts(mut sectors: u8, bytes: u32) -> u32 {
    let mut count = 0;
    while sectors != 0 {
        sectors &= !part(sectors.trailing_zeros(), bytes);
        count += 1;
    }
    count
}

impl LoadStore {
    /// Bytes that one transaction of an access to a space covers.
    fn transaction_bytes(&self, space: Space) -> u32 {
        match (&self.constants, space) {
            (Some(cache), Space::Const | Space::Param) => cache.line_bytes(),
            _ => self.settings.transaction,
        }
    }

    /// Takes an instruction.
    pub fn start(&mut self, sm: &mut Sm<'_>, id: FlightId) {
        let code = sm.code;
        let now = sm.now;
        let flight = sm.flights.get_mut(id);
        flight.start = now;
        let step = flight.step;
        let access = code.of(step).access.unwrap_or(Access::Fence);
        let space = if access == Access::Fence { Space::Param } else { code.table.space(step) };
        let banks = if space == Space::Shared { bank_transactions(step) } else { 0 };
        flight.unanswered = if space == Space::Shared { 1 } else { flight.transactions };
        self.rests_until = 0;
        self.serving = Some(Serving {
            flight: id,
            access,
            space,
            slot: flight.slot,
            last_bank: now + banks,
            line: flight.line,
            sectors: 0,
            left: flight.transactions,
        });
    }

    pub(super) fn serve(&mut self, sm: &mut Sm<'_>, mut port: Option<&mut Port>) -> bool {
        let Some(mut serving) = self.serving else { return false };
        let id = serving.flight;
        match serving.space {
            Space::Shared => {
                if sm.now < serving.last_bank {
                    return false;
                }
                if serving.access == Access::Store {
                    self.leave(sm, true);
                } else if self.shared.len() < self.settings.shared_latency as usize {
                    self.shared.push_back((id, sm.now + u64::from(self.settings.shared_latency)));
                    self.leave(sm, false);
                }
            }
            Space::Global | Space::Local => {
                let mut sent = false;
                let cached = self.l1.is_some() && serving.access != Access::Atomic;
                let width = if cached { self.l1.as_ref().map_or(1, |l1| l1.width()) } else { 1 };
                for _ in 0..width {
                    if serving.left == 0 || !self.send(sm, &mut serving, cached, port.as_deref_mut()) {
                        break;
                    }
                    self.serving = Some(serving);
                    sent = true;
                }
                if serving.left == 0 {
                    let waits = serving.access != Access::Store && sm.flights.get(id).unanswered > 0;
                    self.leave(sm, !waits);
                }
                return sent || self.serving.is_none();
            }
            Space::Const | Space::Param if serving.access == Access::Load && self.constants.is_some() => {
                if serving.left > 0 && !self.look_up_constant(sm, &mut serving) {
                    return false;
                }
                self.serving = Some(serving);
                if serving.left == 0 {
                    let waits = sm.flights.get(id).unanswered > 0;
                    self.leave(sm, !waits);
                }
            }
            _ => self.leave(sm, true),
        }
        true
    }

    /// One line of the constant cache. Whether the cache could look it up.
    fn look_up_constant(&mut self, sm: &mut Sm<'_>, serving: &mut Serving) -> bool {
        let Some(cache) = &mut self.constants else { return true };
        let mut next = *serving;
        let (line, sectors) = next.take(sm, cache.line_bytes());
        match cache.access(Request { line, sectors, kind: RequestKind::Constant, sm: 0, id: next.flight }) {
            Lookup::Stall => {
                self.refused.1 += 1;
                return false;
            }
            Lookup::Hit => sm.flights.get_mut(next.flight).unanswered -= 1,
            Lookup::Miss | Lookup::Merged | Lookup::Forwarded => {}
        }
        *serving = next;
        true
    }

    /// One transaction. Whether there was room for it.
    fn send(
        &mut self,
        sm: &mut Sm<'_>,
        serving: &mut Serving,
        cached: bool,
        port: Option<&mut Port>,
    ) -> bool {
        let mut next = *serving;
        let (line, sectors) = next.take(sm, self.settings.transaction);
        let (purpose, kind) = match serving.access {
            Access::Store => (Purpose::Store, RequestKind::Write),
            Access::Atomic => (Purpose::Atomic, RequestKind::Atomic),
            _ => (Purpose::Load, RequestKind::Read),
        };
        let id = if purpose == Purpose::Store { u32::from(serving.slot) } else { serving.flight };
        let request = Request { line, sectors, kind, sm: 0, id };
        match (&mut self.l1, port) {
            (Some(l1), _) if cached => {
                if !l1.accepts(&request, sm.now) {
                    return false;
                }
                l1.push(request, sm.now);
            }
            (_, Some(port)) => {
                if !port.accepts() {
                    return false;
                }
                port.push(request);
            }
            _ => {
                if self.inbox.len() >= INBOX {
                    return false;
                }
                self.inbox.push_back(Reply { flight: serving.flight, slot: serving.slot, purpose });
            }
        }
        *serving = next;
        if purpose == Purpose::Store {
            sm.warps[serving.slot as usize].stores += 1;
        }
        true
    }

    /// The instruction makes room for the next one, and is complete or not.
    fn leave(&mut self, sm: &mut Sm<'_>, complete: bool) {
        if let Some(serving) = self.serving.take() {
            sm.flights.get_mut(serving.flight).init_end = sm.now;
            sm.sources_read(serving.flight, sm.now);
            if complete {
                sm.complete(serving.flight);
            }
        }
    }
}

/// Cycles for which a shared-memory access keeps the banks.
fn bank_transactions(step: Step) -> u64 {
    u64::from(step.memory().extra_transactions) + 1
}

impl Sm<'_> {
    /// A line of the memory traffic of a warp.
    fn line(&self, slot: usize, line: u32) -> LineUse {
        self.path(slot).traffic()[line as usize]
    }

    /// What an access that is about to issue asks of memory: the end of its traffic, and its
    /// transactions.
    pub fn claim_traffic(&mut self, slot: usize, step: Step, access: Access) -> (u32, u32) {
        let Some(unit) = &self.load_store else { return (0, 0) };
        let space = self.code.table.space(step);
        let (bytes, atomics_block) = (unit.transaction_bytes(space), unit.settings.atomics_block);
        let first = self.warps[slot].traffic;
        let mut transactions = 0;
        if self.code.table.moves_lines(step) {
            let mut lines = 0;
            for line in self.path(slot).traffic().get(first as usize..).unwrap_or(&[]) {
                lines += 1;
                transactions += parts(line.sectors(), bytes);
                if line.is_last() {
                    break;
                }
            }
            self.warps[slot].traffic += lines;
        }
        if access == Access::Atomic && atomics_block {
            let answers = if space == Space::Shared { 1 } else { transactions };
            self.warps[slot].atomics += answers;
            if answers > 0 {
                self.held |= WarpMask::slot(slot);
            }
        }
        (self.warps[slot].traffic, transactions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_go_in_parts_of_a_transaction() {
        let of = |bytes| [0b0001, 0b0110, 0b1001, 0b1111].map(|sectors| parts(sectors, bytes));
        assert_eq!(of(32), [1, 2, 2, 4]);
        assert_eq!(of(64), [1, 2, 2, 2]);
        assert_eq!(of(128), [1, 1, 1, 1]);
        assert_eq!([part(1, 32), part(1, 64), part(2, 64), part(2, 128)], [0b10, 0b11, 0b1100, 0b1111]);
    }
}
