//! The two halves of an L2, each of which keeps copies of the other's lines.
//!
//! An SM sends its requests to the half that is near. The first load of a line that belongs to the
//! far half takes longer; later loads wait for the copy that this one brings to the near half, or
//! find it there, until the copies of younger lines replace it.

use std::collections::{HashMap, VecDeque};

use super::{Request, RequestKind};
use warpbound_core::machine::memory::Partitions;

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
        let lines = u64::from(l2.sets) * u64::from(l2.ways) * u64::from(l2.line) / 128;
        Some(Self {
            latency: settings.far_latency,
            half: (channel % 2) as u16,
            copied: HashMap::new(),
            order: VecDeque::new(),
            capacity: (lines as usize).max(1),
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
