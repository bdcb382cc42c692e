//! The miss status holding registers of a cache.

use std::collections::VecDeque;

use super::Request;
use crate::key::Key;

/// A fetch from the next level, and the requests that wait for it in the order of their arrival.
#[derive(Clone, Debug)]
pub(super) struct Fetch {
    number: u64,
    pub set: usize,
    pub line: u64,
    pub sectors: Vec<u64>,
    pub waiting: VecDeque<Request>,
    arrived: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Fetches {
    limit: usize,
    merge: usize,
    /// The number of fetches ever started.
    started: u64,
    all: Vec<Fetch>,
    /// The numbers of those that have arrived, in the order of arrival.
    arrived: VecDeque<u64>,
}

impl Fetches {
    pub fn new(limit: u32, merge: u32) -> Self {
        Self {
            limit: limit as usize,
            merge: merge as usize,
            started: 0,
            all: Vec::new(),
            arrived: VecDeque::new(),
        }
    }

    /// Returns the lines of the fetches in flight.
    pub fn lines_in_flight(&self) -> impl Iterator<Item = u64> {
        self.all.iter().filter(|fetch| !fetch.arrived).map(|fetch| fetch.line)
    }

    /// Lets a request wait for the first fetch in flight that brings these sectors of a line.
    /// Returns `None` if there is no such fetch. If there is one, returns whether the request waits
    /// for it; it does not if the fetch already serves as many requests as are allowed.
    pub fn join(&mut self, line: u64, sectors: &[u64], request: &Request) -> Option<bool> {
        let brings = |fetch: &&mut Fetch| {
            fetch.line == line
                && !fetch.arrived
                && sectors.iter().all(|sector| fetch.sectors.contains(sector))
        };
        let fetch = self.all.iter_mut().find(brings)?;
        let joins = fetch.waiting.len() < self.merge;
        if joins {
            fetch.waiting.push_back(request.clone());
        }
        Some(joins)
    }

    pub fn has_room(&self) -> bool {
        self.all.len() < self.limit
    }

    /// Starts a fetch, and returns its number.
    pub fn start(&mut self, (set, line): (usize, u64), sectors: Vec<u64>, request: &Request) -> u64 {
        let number = self.started;
        self.started += 1;
        let waiting = VecDeque::from([request.clone()]);
        self.all.push(Fetch { number, set, line, sectors, waiting, arrived: false });
        number
    }

    /// Records that the data of a fetch has arrived, and returns the fetch.
    pub fn arrive(&mut self, number: u64) -> &Fetch {
        self.arrived.push_back(number);
        let fetch = self.all.iter_mut().find(|fetch| fetch.number == number).expect("it was started");
        assert!(!fetch.arrived, "a fetch is answered twice");
        fetch.arrived = true;
        fetch
    }

    /// Returns whether the data of a fetch has arrived.
    pub fn has_arrived(&self) -> bool {
        !self.arrived.is_empty()
    }

    /// Removes and returns the next request whose data has arrived. A register is free when all its
    /// requests have been returned.
    pub fn next(&mut self) -> Option<Request> {
        let number = *self.arrived.front()?;
        let place = self.all.iter().position(|fetch| fetch.number == number).expect("it has arrived");
        let request = self.all[place].waiting.pop_front();
        if self.all[place].waiting.is_empty() {
            self.all.remove(place);
            self.arrived.pop_front();
        }
        request
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Adds the registers to the key of a state.
    pub fn key(&self, key: &mut Key) {
        key.list(&self.all, |key, fetch| {
            let Fetch { number, set, line, sectors, waiting, arrived } = fetch;
            key.put(*number);
            key.put(*set as u64);
            key.put(*line);
            key.list(sectors, |key, &sector| key.put(sector));
            key.list(waiting, |key, request| request.key(key));
            key.put((*arrived).into());
        });
        key.list(&self.arrived, |key, &number| key.put(number));
    }
}
