//! One direction of the crossbar between SMs and memory partitions.
//!
//! Per tick an output accepts at most one packet. It selects round robin among the inputs whose
//! first packet is addressed to it (one iteration of iSLIP: McKeown, "The iSLIP scheduling
//! algorithm for input-queued switches", IEEE/ACM ToN 1999). As in GPGPU-Sim 4.2, the outputs
//! select one after the other and a packet leaves its input at once, so that a later output of the
//! same tick may take the packet behind it; the original iSLIP moves one packet per input and tick.
//! A packet is one request or reply, whatever its size.
//!
//! In a window, the packets of an input are known beforehand, each with the time from which on it
//! is available.

use std::collections::VecDeque;

use super::Request;
use super::set::{Set, Sets};

/// A queue of packets with times. At an input, the time is that from which on the packet is
/// available; at an output, it is the core cycle in which the packet arrived.
pub(super) type Packets = VecDeque<(u64, Request)>;

/// The kind of the outputs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outputs {
    Slices,
    Sms,
}

impl Outputs {
    /// Returns the output to which a packet goes.
    #[inline(always)]
    fn of(self, packet: &Request) -> usize {
        match self {
            Self::Slices => packet.slice.into(),
            Self::Sms => packet.sm.into(),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Crossbar {
    inputs: Vec<Packets>,
    outputs: Vec<Packets>,
    kind: Outputs,
    /// The outputs that have packets.
    filled: Set,
    /// For each output, the inputs whose first packet is addressed to it and is available.
    wanting: Sets,
    /// The outputs for which an input has an available packet.
    wanted: Set,
    /// In a window, by the time since its start: the inputs whose first packet becomes available
    /// then.
    coming: Vec<Vec<u16>>,
    window: u64,
    /// The inputs with a packet that is available or will become so. Outside of a window, these are
    /// all inputs with packets.
    listed: Set,
    /// For each output, the input served last.
    served: Vec<usize>,
    limit: usize,
}

impl Crossbar {
    pub fn new(inputs: usize, (kind, outputs): (Outputs, usize), limit: usize) -> Self {
        Self {
            inputs: vec![VecDeque::new(); inputs],
            outputs: vec![VecDeque::new(); outputs],
            kind,
            filled: Set::new(outputs),
            wanting: Sets::new(outputs, inputs),
            wanted: Set::new(outputs),
            coming: Vec::new(),
            window: 0,
            listed: Set::new(inputs),
            served: vec![inputs - 1; outputs],
            limit,
        }
    }

    /// Returns, by output, the input served last, as the state at rest.
    pub fn left(&self) -> Vec<usize> {
        self.served.clone()
    }

    /// Restores the state that another launch has left, and returns whether it fits.
    #[must_use]
    pub fn go_on_after(&mut self, served: &[usize]) -> bool {
        let fits =
            served.len() == self.outputs.len() && served.iter().all(|&input| input < self.inputs.len());
        if fits {
            self.served.copy_from_slice(served);
        }
        fits
    }

    /// Returns whether an input has room for another packet.
    pub fn accepts(&self, input: usize) -> bool {
        self.room_at(input) > 0
    }

    /// Returns the number of further packets for which an input has room.
    #[inline]
    pub fn room_at(&self, input: usize) -> usize {
        self.limit.saturating_sub(self.inputs[input].len())
    }

    /// Adds a packet to an input; it is available at once.
    pub fn push(&mut self, input: usize, packet: Request) {
        if self.inputs[input].is_empty() {
            self.want(input, self.kind.of(&packet));
            self.listed.insert(input);
        }
        self.inputs[input].push_back((0, packet));
    }

    /// Returns the next packet at an output.
    #[inline]
    pub fn front(&self, output: usize) -> Option<&Request> {
        self.outputs[output].front().map(|(_, packet)| packet)
    }

    /// Removes the next packet at an output.
    #[inline]
    pub fn pop(&mut self, output: usize) {
        self.outputs[output].pop_front();
        if self.outputs[output].is_empty() {
            self.filled.remove(output);
        }
    }

    /// Returns the first output with packets, from this one on.
    #[inline]
    pub fn next_arrival(&self, from: usize) -> Option<usize> {
        self.filled.next(from)
    }

    /// Returns whether the crossbar contains no packet.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty() && self.filled.is_empty()
    }

    /// Returns whether packets wait at inputs.
    #[inline]
    pub fn has_waiting(&self) -> bool {
        !self.listed.is_empty()
    }

    /// Returns whether packets have arrived at outputs.
    #[inline]
    pub fn has_arrivals(&self) -> bool {
        !self.filled.is_empty()
    }

    /// Returns the number of further packets for which every input has room, and the same for the
    /// outputs.
    pub fn room(&self) -> (usize, usize) {
        let room = |queues: &[Packets]| {
            let longest = queues.iter().map(VecDeque::len).max().unwrap_or(0);
            self.limit.saturating_sub(longest)
        };
        (room(&self.inputs), room(&self.outputs))
    }

    /// Exchanges the packets of an input: in a window, the sender holds them.
    pub fn exchange_input(&mut self, input: usize, packets: &mut Packets) {
        std::mem::swap(&mut self.inputs[input], packets);
    }

    /// Exchanges the packets of an output: in a window, the receiver holds them.
    pub fn exchange_output(&mut self, output: usize, packets: &mut Packets) {
        let queue = &mut self.outputs[output];
        std::mem::swap(queue, packets);
        if queue.is_empty() {
            self.filled.remove(output);
        } else {
            self.filled.insert(output);
        }
    }

    /// Starts a window. The packets at the inputs become available at times up to `length` after
    /// `now`.
    pub fn begin_window(&mut self, now: u64, length: u64) {
        self.window = now;
        self.coming.resize_with((length + 1) as usize, Vec::new);
        for input in 0..self.inputs.len() {
            if !self.listed.has(input)
                && let Some((at, packet)) = self.inputs[input].front()
            {
                let (at, output) = (*at, self.kind.of(packet));
                self.listed.insert(input);
                self.look_at(input, at, output, now);
            }
        }
    }

    /// Advances to a time in a window. Returns whether [`Self::advance`] has something to do.
    #[inline]
    pub fn pass(&mut self, now: u64) -> bool {
        let coming = (now - self.window) as usize;
        if !self.coming[coming].is_empty() {
            let mut inputs = std::mem::take(&mut self.coming[coming]);
            for input in inputs.drain(..) {
                if let Some((_, packet)) = self.inputs[usize::from(input)].front() {
                    self.want(input.into(), self.kind.of(packet));
                }
            }
            self.coming[coming] = inputs;
        }
        self.is_wanted()
    }

    /// Returns whether an input has an available packet.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// Simulates one tick at this time, in this core cycle. `take` may consume a packet that would
    /// arrive at an empty output.
    #[inline]
    pub fn advance(&mut self, now: u64, cycle: u64, mut take: impl FnMut(usize, &Request) -> bool) {
        let mut next = self.wanted.next(0);
        while let Some(output) = next {
            if self.outputs[output].len() < self.limit {
                self.serve(output, now, cycle, &mut take);
            }
            next = self.wanted.next(output + 1);
        }
    }

    /// Moves a packet to an output, which must have one waiting.
    #[inline(always)]
    fn serve(&mut self, output: usize, now: u64, cycle: u64, take: &mut impl FnMut(usize, &Request) -> bool) {
        let Some(input) = self.wanting.next_around(output, self.served[output] + 1) else { return };
        let queue = &mut self.inputs[input];
        let Some(&(_, packet)) = queue.front() else { return };
        queue.pop_front();
        let behind = queue.front().map(|(at, behind)| (*at, self.kind.of(behind)));
        if self.wanting.remove(output, input) {
            self.wanted.remove(output);
        }
        self.served[output] = input;
        match behind {
            Some((at, behind)) => self.look_at(input, at, behind, now),
            None => self.listed.remove(input),
        }
        let arrived = &mut self.outputs[output];
        if !arrived.is_empty() || !take(output, &packet) {
            arrived.push_back((cycle, packet));
            self.filled.insert(output);
        }
    }

    /// Registers the new first packet of an input, which goes to this output.
    #[inline(always)]
    fn look_at(&mut self, input: usize, at: u64, output: usize, now: u64) {
        if at <= now {
            self.want(input, output);
        } else {
            self.coming[(at - self.window) as usize].push(input as u16);
        }
    }

    #[inline(always)]
    fn want(&mut self, input: usize, output: usize) {
        self.wanting.insert(output, input);
        self.wanted.insert(output);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{RequestKind, Token};
    use super::*;

    fn packet(id: u32, output: u8) -> Request {
        let packet = Request::new(u64::from(id), 1, RequestKind::Read, Token::Flight(id.into()));
        Request { slice: output, ..packet }
    }

    fn crossbar(inputs: usize, outputs: usize, limit: usize) -> Crossbar {
        Crossbar::new(inputs, (Outputs::Slices, outputs), limit)
    }

    fn advance(crossbar: &mut Crossbar) {
        crossbar.advance(0, 0, |_, _| false);
    }

    fn arrivals(crossbar: &mut Crossbar, output: usize) -> Vec<u64> {
        let next = || {
            let line = crossbar.front(output)?.line;
            crossbar.pop(output);
            Some(line)
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn inputs_take_turns_at_an_output() {
        let mut crossbar = crossbar(3, 2, 8);
        for (id, input) in [(0, 0), (1, 0), (2, 2), (3, 2), (4, 1)] {
            crossbar.push(input, packet(id, 0));
        }
        crossbar.push(1, packet(5, 1));
        for _ in 0..6 {
            advance(&mut crossbar);
        }
        assert_eq!(arrivals(&mut crossbar, 0), [0, 4, 2, 1, 3]);
        // input 1 was blocked by the packet in front
        assert_eq!(arrivals(&mut crossbar, 1), [5]);
        assert!(crossbar.is_empty());
    }

    #[test]
    fn an_input_may_send_to_several_outputs_in_ascending_order() {
        let mut crossbar = crossbar(2, 3, 8);
        for (id, output) in [(0, 0), (1, 2), (2, 1), (3, 1)] {
            crossbar.push(0, packet(id, output));
        }
        advance(&mut crossbar);
        assert_eq!(arrivals(&mut crossbar, 0), [0]);
        assert_eq!(arrivals(&mut crossbar, 2), [1]);
        // output 1 had already had its turn
        assert!(arrivals(&mut crossbar, 1).is_empty());
        advance(&mut crossbar);
        assert_eq!(arrivals(&mut crossbar, 1), [2]);
    }

    #[test]
    fn different_outputs_work_in_parallel_and_full_ones_wait() {
        let mut crossbar = crossbar(2, 2, 1);
        crossbar.push(0, packet(0, 1));
        crossbar.push(1, packet(1, 0));
        assert!(!crossbar.accepts(0));
        advance(&mut crossbar);
        assert!(crossbar.accepts(0) && crossbar.has_arrivals());
        crossbar.push(0, packet(2, 1));
        advance(&mut crossbar);
        assert_eq!(arrivals(&mut crossbar, 1), [0]);
        advance(&mut crossbar);
        assert_eq!(arrivals(&mut crossbar, 1), [2]);
        assert_eq!(arrivals(&mut crossbar, 0), [1]);
    }

    #[test]
    fn packets_of_a_window_are_there_from_their_time_on() {
        let mut crossbar = crossbar(70, 2, 8);
        let mut packets = [(5, packet(0, 1)), (7, packet(1, 0))].into();
        crossbar.exchange_input(69, &mut packets);
        crossbar.begin_window(4, 4);
        let mut taken = Vec::new();
        for now in 4..=8 {
            if crossbar.pass(now) {
                crossbar.advance(now, now, |output, packet| {
                    taken.push((now, output, packet.line));
                    true
                });
            }
        }
        assert_eq!(taken, [(5, 1, 0), (7, 0, 1)]);
        assert!(crossbar.is_empty());
    }
}
