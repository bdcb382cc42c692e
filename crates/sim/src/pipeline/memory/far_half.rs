//! The two halves of an L2, each of which keeps copies of the other's lines.
//!
//! An SM sends its requests to the half that is near. The first load of a line that belongs to the
//! far half takes longer; later loads wait for the copy that this one brings to the near half, or
//! find it there, until the copies of younger lines replace it.

use std::collections::{HashMap, VecDeque};

use super::{Request, RequestKind};
use warpbound_core::machine::memory::{LINE_BYTES, Partitions};

/// The lines of a slice that the SMs of the other half have copies of.
#[derive(Clone, Debug)]
pub(super) struct FarHalf {
    latency: u64,
    /// The half of the slice: the parity of its channel.
    half: u16,
    /// The tick in which the copy of each line arrives or has arrived.
    copied: HashMap<u64, u64>,
    /// The same lines, the oldest first.
    order: VecDeque<u64>,
    capacity: usize,
}

impl FarHalf {
    /// Creates the copies of a slice of this channel; `None` if the L2 has no halves.
    pub fn new(settings: &Partitions, channel: u32) -> Option<Self> {
        let l2 = settings.l2.as_ref().filter(|_| settings.far_latency > 0)?;
        Some(Self {
            latency: settings.far_latency,
            half: (channel % 2) as u16,
            copied: HashMap::new(),
            order: VecDeque::new(),
            capacity: (l2.bytes() / LINE_BYTES).max(1) as usize,
        })
    }

    /// Returns the tick at which a request continues that would continue at this tick if there were
    /// no halves.
    pub fn continues_at(&mut self, tick: u64, request: &Request) -> u64 {
        let loads = matches!(request.kind, RequestKind::Read | RequestKind::Constant);
        if !loads || request.sm % 2 == self.half {
            return tick;
        }
        if let Some(&arrives) = self.copied.get(&request.line) {
            return tick.max(arrives);
        }
        if self.order.len() == self.capacity
            && let Some(oldest) = self.order.pop_front()
        {
            self.copied.remove(&oldest);
        }
        self.copied.insert(request.line, tick + self.latency);
        self.order.push_back(request.line);
        tick + self.latency
    }
}

#[cfg(test)]
mod tests {
    use super::super::Token;
    use super::*;
    use warpbound_core::machine::memory::CacheSettings;

    fn load(line: u64, sm: u16) -> Request {
        Request { sm, ..Request::new(line, 1, RequestKind::Read, Token::None) }
    }

    fn halves(ways: u32) -> FarHalf {
        let l2 = Some(CacheSettings { sets: 1, ways, line: 128, ..CacheSettings::default() });
        FarHalf::new(&Partitions { l2, far_latency: 170, ..Partitions::default() }, 2).unwrap()
    }

    #[test]
    fn later_loads_wait_for_the_copy_of_the_first() {
        let mut halves = halves(8);
        // the near half needs no copies
        assert_eq!(halves.continues_at(10, &load(5, 4)), 10);
        assert_eq!(halves.continues_at(10, &load(5, 3)), 180);
        assert_eq!(halves.continues_at(50, &load(5, 1)), 180);
        assert_eq!(halves.continues_at(200, &load(5, 1)), 200);
        // stores and atomics go to the line itself
        assert_eq!(halves.continues_at(10, &Request { kind: RequestKind::Write, ..load(6, 1) }), 10);
        assert_eq!(halves.continues_at(20, &Request { kind: RequestKind::Atomic, ..load(6, 1) }), 20);
        assert_eq!(halves.continues_at(30, &load(6, 1)), 200);
    }

    #[test]
    fn copies_of_younger_lines_replace_the_oldest() {
        let mut halves = halves(2);
        for line in [1, 2, 3] {
            assert_eq!(halves.continues_at(1000 * line, &load(line, 1)), 1000 * line + 170);
        }
        assert_eq!(halves.continues_at(5000, &load(3, 1)), 5000);
        assert_eq!(halves.continues_at(6000, &load(1, 1)), 6170);
    }

    #[test]
    fn an_l2_in_one_piece_has_no_halves() {
        assert!(FarHalf::new(&Partitions::default(), 0).is_none());
        let l2 = Some(CacheSettings::default());
        assert!(FarHalf::new(&Partitions { l2, ..Partitions::default() }, 0).is_none());
    }
}
