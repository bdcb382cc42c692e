//! One direction of the crossbar between SMs and memory partitions.
//!
//! Each tick an input sends at most one packet and an output takes at most one; among the inputs
//! that want the same output it is round robin (one iteration of iSLIP: McKeown, "The iSLIP
//! scheduling algorithm for input-queued switches", IEEE/ACM ToN 1999). A packet is one request or
//! reply, whatever its size.

use super::Request;
use super::queues::Queues;

#[derive(Clone, Debug)]
pub(super) struct Crossbar {
    /// Packets with their output.
    inputs: Queues<(u16, Request)>,
    outputs: Queues<Request>,
    /// Per output: the input served last.
    served: Vec<usize>,
    /// Per output: the best input of this tick, as (distance from the one served last, input).
    best: Vec<Option<(usize, usize)>>,
    /// Outputs that have one.
    wanted: Vec<usize>,
    limit: usize,
}

impl Crossbar {
    pub fn new(inputs: usize, outputs: usize, limit: usize) -> Self {
        Self {
            inputs: Queues::new(inputs),
            outputs: Queues::new(outputs),
            served: vec![inputs - 1; outputs],
            best: vec![None; outputs],
            wanted: Vec::with_capacity(outputs),
            limit,
        }
    }

    pub fn accepts(&self, input: usize) -> bool {
        self.inputs.len_of(input) < self.limit
    }

    pub fn push(&mut self, input: usize, output: usize, packet: Request) {
        self.inputs.push(input, (output as u16, packet));
    }

    pub fn pop(&mut self, output: usize) -> Option<Request> {
        self.outputs.pop(output)
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

    /// One tick.
    pub fn advance(&mut self) {
        if self.inputs.is_empty() {
            return;
        }
        let count = self.inputs.count();
        let mut next = self.inputs.next_filled(0);
        while let Some(input) = next {
            next = self.inputs.next_filled(input + 1);
            let Some(&(output, _)) = self.inputs.front(input) else { continue };
            let output = usize::from(output);
            let served = self.served[output];
            let distance = if input > served { input - served } else { input + count - served };
            match &mut self.best[output] {
                None => {
                    self.best[output] = Some((distance, input));
                    self.wanted.push(output);
                }
                Some(best) if distance < best.0 => *best = (distance, input),
                Some(_) => {}
            }
        }
        // an input has one packet in front, so the outputs do not get into each other's way
        while let Some(output) = self.wanted.pop() {
            let best = self.best[output].take();
            if self.outputs.len_of(output) >= self.limit {
                continue;
            }
            if let Some((_, input)) = best
                && let Some((_, packet)) = self.inputs.pop(input)
            {
                self.outputs.push(output, packet);
                self.served[output] = input;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(id: u32) -> Request {
        Request { line: u64::from(id), sectors: 1, kind: super::super::RequestKind::Read, id }
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
            crossbar.advance();
        }
        assert_eq!(arrivals(&mut crossbar, 0), [0, 4, 2, 1, 3]);
        // input 1 was held up by the packet in front
        assert_eq!(arrivals(&mut crossbar, 1), [5]);
        assert!(crossbar.is_empty());
    }

    #[test]
    fn different_outputs_work_in_parallel_and_full_ones_wait() {
        let mut crossbar = Crossbar::new(2, 2, 1);
        crossbar.push(0, 1, packet(0));
        crossbar.push(1, 0, packet(1));
        assert!(!crossbar.accepts(0));
        crossbar.advance();
        assert!(crossbar.accepts(0) && crossbar.has_arrivals());
        crossbar.push(0, 1, packet(2));
        crossbar.advance();
        assert_eq!(arrivals(&mut crossbar, 1), [0]);
        crossbar.advance();
        assert_eq!(arrivals(&mut crossbar, 1), [2]);
        assert_eq!(arrivals(&mut crossbar, 0), [1]);
    }
}
