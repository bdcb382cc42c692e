//! One direction of the crossbar between SMs and memory partitions.
//!
//! Each tick an input sends at most one packet and an output takes at most one; among the inputs
//! that want the same output it is round robin (one iteration of iSLIP: McKeown, "The iSLIP
//! scheduling algorithm for input-queued switches", IEEE/ACM ToN 1999). A packet is one request or
//! reply, whatever its size.

use std::collections::VecDeque;

use super::Request;

#[derive(Clone, Debug)]
pub(super) struct Crossbar {
    inputs: Vec<VecDeque<(u16, Request)>>,
    outputs: Vec<VecDeque<Request>>,
    /// Per output: the input served last.
    served: Vec<usize>,
    /// Per output: the best input of this tick, as (distance from the one served last, input).
    best: Vec<Option<(usize, usize)>>,
    limit: usize,
    /// Packets at inputs, packets at outputs.
    waiting: usize,
    arrived: usize,
}

impl Crossbar {
    pub fn new(inputs: usize, outputs: usize, limit: usize) -> Self {
        Self {
            inputs: vec![VecDeque::new(); inputs],
            outputs: vec![VecDeque::new(); outputs],
            served: vec![inputs - 1; outputs],
            best: vec![None; outputs],
            limit,
            waiting: 0,
            arrived: 0,
        }
    }

    pub fn accepts(&self, input: usize) -> bool {
        self.inputs[input].len() < self.limit
    }

    pub fn push(&mut self, input: usize, output: usize, packet: Request) {
        self.inputs[input].push_back((output as u16, packet));
        self.waiting += 1;
    }

    pub fn pop(&mut self, output: usize) -> Option<Request> {
        let packet = self.outputs[output].pop_front()?;
        self.arrived -= 1;
        Some(packet)
    }

    /// Whether no packet is in it.
    pub fn is_empty(&self) -> bool {
        self.waiting + self.arrived == 0
    }

    /// Whether packets are at inputs.
    pub fn has_waiting(&self) -> bool {
        self.waiting > 0
    }

    /// Whether packets are at outputs.
    pub fn has_arrivals(&self) -> bool {
        self.arrived > 0
    }

    /// One tick.
    pub fn advance(&mut self) {
        if self.waiting == 0 {
            return;
        }
        let inputs = self.inputs.len();
        for (input, queue) in self.inputs.iter().enumerate() {
            let Some(&(output, _)) = queue.front() else { continue };
            let output = usize::from(output);
            let distance = (input + inputs - 1 - self.served[output]) % inputs;
            if self.best[output].is_none_or(|best| distance < best.0) {
                self.best[output] = Some((distance, input));
            }
        }
        for output in 0..self.outputs.len() {
            let Some((_, input)) = self.best[output].take() else { continue };
            if self.outputs[output].len() >= self.limit {
                continue;
            }
            if let Some((_, packet)) = self.inputs[input].pop_front() {
                self.outputs[output].push_back(packet);
                self.served[output] = input;
                self.waiting -= 1;
                self.arrived += 1;
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
