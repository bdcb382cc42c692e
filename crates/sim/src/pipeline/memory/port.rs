//! The interface of an SM to the memory behind it: the replies that have arrived, and the room for
//! requests.

use std::collections::VecDeque;
use warpbound_core::machine::Mapping;

use super::Request;
use super::cache::Cache;
use super::crossbar::Packets;

/// The SM's end of the path to memory and back. Requests stay here until [`super::Lower`] takes
/// them, so that an SM needs no other access to memory within a cycle, or a
/// [window](super::Lower::run_ahead) of cycles.
#[derive(Clone, Debug)]
pub struct Port {
    sm: u16,
    now: u64,
    /// Within a window: the replies at this end of the crossbar, with the cycle of their arrival
    /// there.
    arriving: Packets,
    /// The replies that the SM can take, and the largest number of them.
    replies: VecDeque<Request>,
    limit: usize,
    /// The requests that the SM has sent, with the cycle from which on they are available.
    sent: Packets,
    /// The number of requests that it may still send.
    room: usize,
    /// The mapping of requests to slices, if there are slices. As long as an SM waits for room,
    /// slices have work, so that memory is simulated until there is room and the SM is woken. The
    /// SM need not check for room in every cycle.
    mapping: Option<Mapping>,
}

impl Port {
    /// Creates the port of an SM that buffers up to `limit` replies; further ones wait in the
    /// crossbar.
    pub(super) fn new(sm: usize, limit: usize, mapping: Option<Mapping>) -> Self {
        Self {
            sm: sm as u16,
            now: 0,
            arriving: VecDeque::new(),
            replies: VecDeque::new(),
            limit,
            sent: VecDeque::new(),
            room: 0,
            mapping,
        }
    }

    /// Starts a cycle.
    #[inline]
    pub fn begin_cycle(&mut self, now: u64) {
        self.now = now;
    }

    /// Returns whether a request can be sent in this cycle.
    #[inline]
    pub fn accepts(&self) -> bool {
        self.room > 0
    }

    /// Returns whether an SM in which nothing moves need not be simulated: it does not wait for
    /// room, or it is woken when there is room.
    #[inline]
    pub fn may_be_waited_for(&self) -> bool {
        self.room > 0 || self.mapping.is_some()
    }

    /// Returns whether there is no room for a request.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.room == 0
    }

    /// Sends a request.
    pub fn push(&mut self, request: Request) {
        debug_assert!(self.room > 0, "no room for {request:?}");
        self.room -= 1;
        let slice = self.mapping.as_ref().map_or(0, |mapping| mapping.slice(request.address()));
        self.sent.push_back((self.now + 1, Request { sm: self.sm, slice: slice as u8, ..request }));
    }

    /// Sends the first request that waits in a cache, and returns whether there was one and room
    /// for it.
    #[inline]
    pub fn take_from(&mut self, cache: &mut Cache) -> bool {
        match cache.outgoing() {
            Some(&request) if self.accepts() => {
                self.push(request);
                cache.sent();
                true
            }
            _ => false,
        }
    }

    /// Returns whether the SM can take a reply.
    #[inline]
    pub fn has_replies(&self) -> bool {
        !self.replies.is_empty()
    }

    /// Returns the number of replies that wait for the SM.
    pub fn waiting(&self) -> usize {
        self.replies.len()
    }

    /// Takes a reply; at most one per cycle.
    #[inline]
    pub fn reply(&mut self) -> Option<Request> {
        self.replies.pop_front()
    }

    /// Returns whether there is room for another reply.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.replies.len() < self.limit
    }

    #[inline]
    pub(super) fn arrive(&mut self, reply: Request) {
        self.replies.push_back(reply);
    }

    /// Moves, within a window and once per cycle, the next reply that has reached this end out of
    /// the crossbar.
    #[inline]
    pub fn eject(&mut self, now: u64) {
        if let Some(&(at, reply)) = self.arriving.front()
            && at < now
            && self.has_room()
        {
            self.arriving.pop_front();
            self.arrive(reply);
        }
    }

    /// Returns, within a window, the next cycle from `from` on in which a reply leaves the crossbar
    /// or can be taken.
    #[inline]
    pub fn next_event(&self, from: u64) -> u64 {
        if self.has_replies() {
            return from;
        }
        self.arriving.front().map_or(u64::MAX, |&(at, _)| from.max(at + 1))
    }

    /// Sets the number of requests that may be sent in the cycle or window that begins.
    #[inline]
    pub(super) fn set_room(&mut self, room: usize) {
        self.room = room;
    }

    /// Returns, in a window, the packets in the crossbar for the SM.
    pub(super) fn arriving(&mut self) -> &mut Packets {
        &mut self.arriving
    }

    /// Returns the requests that were sent.
    #[inline]
    pub(super) fn sent(&mut self) -> &mut Packets {
        &mut self.sent
    }
}
