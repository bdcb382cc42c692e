//! Miss status holding registers: fetches in flight, and the requests that wait for them.

use std::collections::VecDeque;

use super::Request;

const NONE: u32 = u32::MAX;

/// A fetch in flight.
#[derive(Clone, Copy, Debug)]
struct Fetch {
    line: u64,
    /// The first request that waits for it.
    request: Request,
    sectors: u8,
    /// Whether its data has not arrived yet.
    pending: bool,
    atomic: bool,
    /// The way of the cache that is allocated for the line, as an index.
    frame: u32,
    /// The number of requests that wait.
    waiting: u32,
    /// The first and the last of the other waiting requests, which are linked in order.
    first: u32,
    last: u32,
    /// The next fetch in flight for the same way.
    next: u32,
}

#[derive(Clone, Copy, Debug)]
struct Waiter {
    request: Request,
    next: u32,
}

/// The effect of a completed fetch on the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Done {
    pub frame: usize,
    pub sectors: u8,
    /// The sectors that other fetches in flight bring to the same way.
    pub coming: u8,
    /// Whether an atomic waits for it.
    pub atomic: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Mshrs {
    fetches: Vec<Fetch>,
    /// The largest number of fetches.
    count: usize,
    /// The numbers of entries of `fetches` that are free.
    free: Vec<u32>,
    /// For each way of the cache up to the last one that had a fetch, one more than the first fetch in
    /// flight for it, or 0.
    by_frame: Vec<u32>,
    merge: u32,
    waiters: Vec<Waiter>,
    free_waiter: u32,
    /// The fetches whose data has arrived, in order.
    complete: VecDeque<u32>,
}

impl Mshrs {
    pub fn new(count: u32, merge: u32) -> Self {
        Self {
            fetches: Vec::new(),
            count: count as usize,
            free: Vec::new(),
            by_frame: Vec::new(),
            merge,
            waiters: Vec::new(),
            free_waiter: NONE,
            complete: VecDeque::new(),
        }
    }

    /// Returns the fetch in flight that brings these sectors of a line to its way; if there are
    /// several, the one that started first.
    pub fn find(&self, frame: usize, line: u64, sectors: u8) -> Option<u32> {
        let mut fetches = self.of_frame(frame);
        fetches.find(|&id| {
            let fetch = &self.fetches[id as usize];
            fetch.line == line && fetch.sectors & sectors == sectors
        })
    }

    fn of_frame(&self, frame: usize) -> impl Iterator<Item = u32> {
        let existing = |id: u32| (id != NONE).then_some(id);
        let first = self.by_frame.get(frame).and_then(|first| first.checked_sub(1));
        std::iter::successors(first, move |&id| existing(self.fetches[id as usize].next))
    }

    /// Sets the successor of a fetch of a way, or the first fetch of the way.
    fn link(&mut self, frame: usize, before: Option<u32>, next: u32) {
        match before {
            Some(before) => self.fetches[before as usize].next = next,
            // NONE becomes 0
            None => self.by_frame[frame] = next.wrapping_add(1),
        }
    }

    pub fn has_free(&self) -> bool {
        !self.free.is_empty() || self.fetches.len() < self.count
    }

    /// Returns the number of registers in use.
    pub fn in_use(&self) -> u32 {
        (self.fetches.len() - self.free.len()) as u32
    }

    /// Returns whether another request may wait for this fetch.
    pub fn may_merge(&self, id: u32) -> bool {
        self.fetches[id as usize].waiting < self.merge
    }

    /// Starts a fetch for a request, and returns the number of its register; one must be free.
    #[inline]
    pub fn start(&mut self, line: u64, sectors: u8, frame: usize, request: Request, atomic: bool) -> u32 {
        debug_assert!(self.has_free(), "the caller has checked that a register is free");
        let fetch = Fetch {
            line,
            request,
            sectors,
            pending: true,
            atomic,
            frame: frame as u32,
            waiting: 1,
            first: NONE,
            last: NONE,
            next: NONE,
        };
        let id = match self.free.pop() {
            Some(id) => {
                self.fetches[id as usize] = fetch;
                id
            }
            None => {
                self.fetches.push(fetch);
                (self.fetches.len() - 1) as u32
            }
        };
        if self.by_frame.len() <= frame {
            self.by_frame.resize(frame + 1, 0);
        }
        if self.by_frame[frame] == 0 {
            self.by_frame[frame] = id + 1;
        } else {
            let last = self.of_frame(frame).last();
            self.link(frame, last, id);
        }
        id
    }

    /// Adds a request that waits for a fetch.
    pub fn merge(&mut self, id: u32, request: Request, atomic: bool) {
        let waiter = Waiter { request, next: NONE };
        let number = if self.free_waiter == NONE {
            self.waiters.push(waiter);
            (self.waiters.len() - 1) as u32
        } else {
            let number = self.free_waiter;
            self.free_waiter = self.waiters[number as usize].next;
            self.waiters[number as usize] = waiter;
            number
        };
        let fetch = &mut self.fetches[id as usize];
        fetch.atomic |= atomic;
        fetch.waiting += 1;
        let last = std::mem::replace(&mut fetch.last, number);
        if last == NONE {
            fetch.first = number;
        } else {
            self.waiters[last as usize].next = number;
        }
    }

    /// Records that the data of a fetch has arrived, and returns the effect on the cache.
    #[inline(always)]
    pub fn complete(&mut self, id: u32) -> Done {
        let fetch = &mut self.fetches[id as usize];
        let (frame, sectors, atomic, next) = (fetch.frame as usize, fetch.sectors, fetch.atomic, fetch.next);
        assert!(fetch.pending, "memory answered a fetch that is not under way");
        fetch.pending = false;
        if self.by_frame[frame] == id + 1 {
            self.link(frame, None, next);
        } else {
            let before = self.of_frame(frame).take_while(|&other| other != id).last();
            self.link(frame, before, next);
        }
        self.complete.push_back(id);
        let coming = self.of_frame(frame).fold(0, |all, id| all | self.fetches[id as usize].sectors);
        Done { frame, sectors, coming, atomic }
    }

    #[inline]
    pub fn any_ready(&self) -> bool {
        !self.complete.is_empty()
    }

    /// Removes and returns the next request whose data has arrived, in the order of completion,
    /// then of arrival.
    #[inline(always)]
    pub fn ready(&mut self) -> Option<Request> {
        let id = *self.complete.front()?;
        let fetch = &mut self.fetches[id as usize];
        let request = fetch.request;
        fetch.waiting -= 1;
        if fetch.waiting == 0 {
            self.complete.pop_front();
            self.free.push(id);
        } else {
            let number = fetch.first;
            let waiter = &mut self.waiters[number as usize];
            (fetch.request, fetch.first) = (waiter.request, waiter.next);
            waiter.next = self.free_waiter;
            self.free_waiter = number;
        }
        Some(request)
    }
}
