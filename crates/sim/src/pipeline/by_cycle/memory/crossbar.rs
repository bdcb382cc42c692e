//! One direction of the crossbar.

use std::collections::VecDeque;

use super::super::choose::{Arbiter, Deciders};
use super::Request;
use crate::key::Key;

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
    pub fn tick(&mut self, deciders: &mut Deciders) {
        let count = self.inputs.len();
        for output in 0..self.outputs.len() {
            if self.outputs[output].len() >= self.limit {
                continue;
            }
            let goes_there = |input: &usize| self.inputs[*input].front().is_some_and(|(to, _)| *to == output);
            let inputs: Vec<usize> = (0..count).filter(goes_there).collect();
            let last = self.served[output];
            let chosen =
                deciders.choose(Arbiter::Crossbar, &inputs, |input| (input + count - last - 1) % count);
            if let Some(input) = chosen {
                self.outputs[output].extend(self.inputs[input].pop_front().map(|(_, packet)| packet));
                self.served[output] = input;
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.inputs.iter().all(VecDeque::is_empty) && self.outputs.iter().all(VecDeque::is_empty)
    }

    /// Adds the packets to the key of a state.
    pub fn key(&self, key: &mut Key) {
        for input in &self.inputs {
            // the output follows from the packet
            key.list(input, |key, (_, packet)| packet.key(key));
        }
        for output in &self.outputs {
            key.list(output, |key, packet| packet.key(key));
        }
    }
}
