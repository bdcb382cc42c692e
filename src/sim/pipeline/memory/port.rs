//! What an SM sees of the memory behind it: replies that have come, and room for what it sends.

use std::collections::VecDeque;

use super::Request;
use super::cache::Cache;
use super::crossbar::Packets;
use super::mapping::Mapping;

/// The SM's end of the way to memory and back. What is sent stays here until [`super::Lower`] takes it, so that an SM
/// needs nothing else of memory within a cycle, or a [window](super::Lower::run_ahead) of them.
#[derive(Clone, Debug)]
pub struct Port {
    sm: u16,
    now: u64,
    /// Within a window: replies at this end of the crossbar, with the cycle in which they came there.
    arriving: Packets,
    /// Those that the SM can take, and how many there can be.
    replies: VecDeque<Request>,
    limit: usize,
    /// What the SM has sent, with the cycle from which on it is there.
    sent: Packets,
    /// How many requests it may still send.
    room: usize,
    /// Which slice a request goes to, if there are slices. They have something to do until there is room again, so that
    /// nobody needs to ask in every cycle.
    mapping: Option<Mapping>,
}

impl Port {
    /// Of an SM to which so many replies come before the crossbar has to keep them.
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

    /// A cycle begins; nobody asks for it twice.
    #[inline]
    pub fn begin_cycle(&mut self, now: u64) {
        self.now = now;
    }

    /// Whether a request can be sent in this cycle.
    #[inline]
    pub fn accepts(&self) -> bool {
        self.room > 0
    }

    /// Whether an SM that nothing moves in may be left alone: it does not wait for room, or memory says when there is some.
    #[inline]
    pub fn may_be_waited_for(&self) -> bool {
        self.room > 0 || self.mapping.is_some()
    }

    /// Whether it has no room.
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

    /// Sends the first request that waits in a cache, if there is one and room for it. Whether it did.
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

    /// Whether the SM can take a reply.
    #[inline]
    pub fn has_replies(&self) -> bool {
        !self.replies.is_empty()
    }

    /// How many replies wait for the SM.
    pub fn waiting(&self) -> usize {
        self.replies.len()
    }

    /// Takes a reply; at most one per cycle.
    #[inline]
    pub fn reply(&mut self) -> Option<Request> {
        self.replies.pop_front()
    }

    /// Whether another reply may come.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.replies.len() < self.limit
    }

    #[inline]
    pub(super) fn arrive(&mut self, reply: Request) {
        self.replies.push_back(reply);
    }

    /// Within a window, once per cycle: the next reply that has reached this end of the crossbar comes out of it.
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

    /// Within a window: the next cycle, not before `from`, in which a reply comes out of the crossbar or can be taken.
    #[inline]
    pub fn next_event(&self, from: u64) -> u64 {
        if self.has_replies() {
            return from;
        }
        self.arriving.front().map_or(u64::MAX, |&(at, _)| from.max(at + 1))
    }

    /// A cycle or window begins, in which so much may be sent.
    #[inline]
    pub(super) fn set_room(&mut self, room: usize) {
        self.room = room;
    }

    /// In a window: what is in the crossbar for the SM.
    pub(super) fn arriving(&mut self) -> &mut Packets {
        &mut self.arriving
    }

    /// What was sent.
    #[inline]
    pub(super) fn sent(&mut self) -> &mut Packets {
        &mut self.sent
    }
}
