//! One direction of the crossbar between SMs and memory partitions.
//!
//! Each tick an output takes at most one packet; among the inputs whose first packet is for it, it is round robin
//! (one iteration of iSLIP: McKeown, "The iSLIP scheduling algorithm for input-queued switches", IEEE/ACM ToN 1999).
//! As in GPGPU-Sim 4.2 the outputs choose one after the other and a packet leaves its input at once, so that a later
//! output of the same tick may take the packet behind it: iSLIP proper moves one packet per input and tick. A packet
//! is one request or reply, whatever its size.

use std::collections::VecDeque;

use super::Request;
use super::queues::Queues;
use super::set::Set;

#[derive(Clone, Debug)]
pub(super) struct Crossbar {
    /// Packets with their output.
    inputs: Queues<(u16, Request)>,
    /// Packets with the core cycle in which they came there.
    outputs: Queues<(u64, Request)>,
    /// Per output: the inputs whose first packet is for it.
    wanting: Vec<Set>,
    /// Outputs that an input wants.
    wanted: Set,
    /// Per output: the input served last.
    served: Vec<usize>,
    limit: usize,
}

impl Crossbar {
    pub fn new(inputs: usize, outputs: usize, limit: usize) -> Self {
        Self {
            inputs: Queues::new(inputs),
            outputs: Queues::new(outputs),
            wanting: vec![Set::new(inputs); outputs],
            wanted: Set::new(outputs),
            served: vec![inputs - 1; outputs],
            limit,
        }
    }

    pub fn accepts(&self, input: usize) -> bool {
        self.room_at(input) > 0
    }

    /// How many more packets an input has room for.
    #[inline]
    pub fn room_at(&self, input: usize) -> usize {
        self.limit.saturating_sub(self.inputs.len_of(input))
    }

    pub fn push(&mut self, input: usize, output: usize, packet: Request) {
        if self.inputs.len_of(input) == 0 {
            self.want(output, input);
        }
        self.inputs.push(input, (output as u16, packet));
    }

    pub fn pop(&mut self, output: usize) -> Option<Request> {
        self.outputs.pop(output).map(|(_, packet)| packet)
    }

    /// The first output from this one on where packets are.
    pub fn next_arrival(&self, from: usize) -> Option<usize> {
        self.outputs.next_filled(from)
    }

    /// Whether no packet is in it.
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty() && self.outputs.is_empty()
    }

    /// Whether packets are at inputs.
    pub fn has_waiting(&self) -> bool {
        !self.inputs.is_empty()
    }

    /// Whether packets are at outputs.
    pub fn has_arrivals(&self) -> bool {
        !self.outputs.is_empty()
    }

    /// How many more packets every input has room for, and every output.
    pub fn room(&self) -> (usize, usize) {
        let room = |queues: usize| self.limit.saturating_sub(queues);
        (room(self.inputs.longest()), room(self.outputs.longest()))
    }

    /// Lets somebody change what waits at an output.
    pub fn change_output(&mut self, output: usize, change: impl FnOnce(&mut VecDeque<(u64, Request)>)) {
        self.outputs.change(output, change);
    }

    /// One tick, in this core cycle.
    pub fn advance(&mut self, now: u64) {
        let mut next = self.wanted.next(0);
        while let Some(output) = next {
            if self.outputs.len_of(output) < self.limit {
                self.serve(output, now);
            }
            next = self.wanted.next(output + 1);
        }
    }

    fn want(&mut self, output: usize, input: usize) {
        self.wanting[output].insert(input);
        self.wanted.insert(output);
    }

    /// A packet goes to an output that is wanted.
    fn serve(&mut self, output: usize, now: u64) {
        let wanting = &mut self.wanting[output];
        let Some(input) = wanting.next(self.served[output] + 1).or_else(|| wanting.next(0)) else { return };
        let Some((_, packet)) = self.inputs.pop(input) else { return };
        wanting.remove(input);
        if wanting.next(0).is_none() {
            self.wanted.remove(output);
        }
        self.outputs.push(output, (now, packet));
        self.served[output] = input;
        if let Some(&(behind, _)) = self.inputs.front(input) {
            self.want(usize::from(behind), input);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(id: u32) -> Request {
        Request { line: u64::from(id), sectors: 1, kind: super::super::RequestKind::Read, sm: 0, id }
    }

    fn arrivals(crossbar: &mut Crossbar, output: usize) -> Vec<u32> {
        std::iter::from_fn(|| crossbar.pop(output)).map(|p| p.id).collect()
    }

    #[test]
    fn inputs_take_turns_at_an_output() {
        let mut crossbar = Crossbar::new(3, 2, 8);
        for (id, input) in [(0, 0), (1, 0), (2, 2), (3, 2), (4, 1)] {
            crossbar.push(input, 0, packet(id));
        }
        crossbar.push(1, 1, packet(5));
        for _ in 0..6 {
            crossbar.advance(0);
        }
        assert_eq!(arrivals(&mut crossbar, 0), [0, 4, 2, 1, 3]);
        // input 1 was held up by the packet in front
        assert_eq!(arrivals(&mut crossbar, 1), [5]);
        assert!(crossbar.is_empty());
    }

    #[test]
    fn an_input_may_send_to_several_outputs_in_ascending_order() {
        let mut crossbar = Crossbar::new(2, 3, 8);
        for (id, output) in [(0, 0), (1, 2), (2, 1), (3, 1)] {
            crossbar.push(0, output, packet(id));
        }
        crossbar.advance(0);
        assert_eq!(arrivals(&mut crossbar, 0), [0]);
        assert_eq!(arrivals(&mut crossbar, 2), [1]);
        // output 1 had had its turn
        assert!(arrivals(&mut crossbar, 1).is_empty());
        crossbar.advance(0);
        assert_eq!(arrivals(&mut crossbar, 1), [2]);
    }

    #[test]
    fn different_outputs_work_in_parallel_and_full_ones_wait() {
        let mut crossbar = Crossbar::new(2, 2, 1);
        crossbar.push(0, 1, packet(0));
        crossbar.push(1, 0, packet(1));
        assert!(!crossbar.accepts(0));
        crossbar.advance(0);
        assert!(crossbar.accepts(0) && crossbar.has_arrivals());
        crossbar.push(0, 1, packet(2));
        crossbar.advance(0);
        assert_eq!(arrivals(&mut crossbar, 1), [0]);
        crossbar.advance(0);
        assert_eq!(arrivals(&mut crossbar, 1), [2]);
        assert_eq!(arrivals(&mut crossbar, 0), [1]);
    }
}
