//! One direction of the crossbar.

use std::collections::VecDeque;

use super::Request;

#[derive(Clone, Debug)]
pub(super) struct Crossbar {
    /// The packets at each input, with the output that each goes to.
    inputs: Vec<VecDeque<(usize, Request)>>,
    outputs: Vec<VecDeque<Request>>,
    /// For each output, the input that it served last.
    served: Vec<usize>,
    limit: usize,
}

impl Crossbar {
    pub fn new(inputs: usize, outputs: usize, limit: u32) -> Self {
        Self {
            inputs: vec![VecDeque::new(); inputs],
            outputs: vec![VecDeque::new(); outputs],
            served: vec![inputs - 1; outputs],
            limit: limit as usize,
        }
    }

    pub fn accepts(&self, input: usize) -> bool {
        self.inputs[input].len() < self.limit
    }

    pub fn push(&mut self, input: usize, output: usize, packet: Request) {
        self.inputs[input].push_back((output, packet));
    }

    pub fn pop(&mut self, output: usize) -> Option<Request> {
        self.outputs[output].pop_front()
    }

    /// Simulates a tick: each output with room takes the first packet of one input.
    pub fn tick(&mut self) {
        let count = self.inputs.len();
        for output in 0..self.outputs.len() {
            if self.outputs[output].len() >= self.limit {
                continue;
            }
            for n in 1..=count {
                let input = (self.served[output] + n) % count;
                if self.inputs[input].front().is_some_and(|(to, _)| *to == output) {
                    self.outputs[output].extend(self.inputs[input].pop_front().map(|(_, packet)| packet));
                    self.served[output] = input;
                    break;
                }
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.inputs.iter().all(VecDeque::is_empty) && self.outputs.iter().all(VecDeque::is_empty)
    }
}
