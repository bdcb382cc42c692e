//! The accesses to registers that a later instruction may still have to wait for.

use warpbound_core::program::hazards::{Access, Accesses};
use warpbound_core::program::{Coded, Control};

/// The number of barriers that codes can name.
const BARRIERS: usize = 8;
/// Cycles and releases are counted up to this number, which is more than any delay.
const MOST: u32 = 255;

/// An access of an earlier instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pending {
    pub access: Access,
    /// The instruction.
    pub by: u32,
    /// Whether no barrier has shown yet that the access is complete.
    pub open: bool,
    /// The guard of the instruction, as long as its predicate has the same value.
    guard: Option<(u16, bool)>,
    /// The queue of the instruction, if it reads its sources, or writes its results, in order.
    queue: Option<u8>,
    /// The cycle of its issue, by the clock of the state.
    issued: u32,
    /// For each barrier, the first release that shows that the access is complete.
    signals: [Option<Signal>; BARRIERS],
}

/// A release of a barrier that an instruction has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Signal {
    /// The number of the release among those of the barrier.
    number: u32,
    /// The cycle of the issue of the instruction.
    issued: u32,
    /// The instruction; `None` if it is one of several, of which each would do.
    from: Option<u32>,
}

/// What is known when a warp reaches an instruction, whichever way it came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// The accesses, ordered by access and instruction.
    list: Vec<Pending>,
    clock: u32,
    /// The number of releases begun, by barrier.
    begun: [u32; BARRIERS],
}

/// An access that a wait completes.
pub(super) struct Completed {
    pub access: Access,
    pub by: u32,
    /// The only wait and release that complete it, if there is one: the barrier, and the instruction
    /// that releases it.
    pub only: Option<(u8, u32)>,
}

impl Pending {
    fn key(&self) -> (Access, u32) {
        (self.access, self.by)
    }

    /// Makes times and numbers relative to the current ones of a state.
    fn relative(&mut self, clock: u32, begun: &[u32; BARRIERS]) {
        self.issued = (clock - self.issued).min(MOST);
        for (signal, begun) in self.signals.iter_mut().zip(begun) {
            let Some(signal) = signal else { continue };
            signal.number = (begun - signal.number).min(MOST);
            signal.issued = (clock - signal.issued).min(MOST);
        }
    }

    /// Includes the same access on another way: the time that has passed is the shorter one, and a
    /// release counts if it is begun on both ways.
    fn include(&mut self, other: &Self) {
        self.open |= other.open;
        self.guard = self.guard.filter(|guard| other.guard == Some(*guard));
        self.issued = self.issued.min(other.issued);
        for (mine, other) in self.signals.iter_mut().zip(&other.signals) {
            *mine = mine.zip(*other).map(|(mine, other)| Signal {
                number: mine.number.min(other.number),
                issued: mine.issued.min(other.issued),
                from: mine.from.filter(|from| other.from == Some(*from)),
            });
        }
    }

    /// Returns whether other lanes make this access than those of an instruction, because the guard
    /// of one is the opposite of that of the other.
    pub(super) fn apart(&self, later: &Accesses) -> bool {
        let opposite = |(register, negated): (u16, bool)| (register, !negated);
        self.guard.is_some() && self.guard == later.guard.map(opposite)
    }

    /// Returns whether an access of a later instruction follows this one without a wait, because
    /// both pass through a queue or a unit that keeps their order.
    pub(super) fn keeps_order(&self, later: &Accesses) -> bool {
        let queue = if self.access.writes { later.write_queue } else { later.read_queue };
        self.queue.is_some() && self.queue == queue
    }

    /// Adds the release of a barrier. The first one counts.
    fn add(&mut self, barrier: u8, signal: Signal) {
        match &mut self.signals[usize::from(barrier)] {
            Some(known) => known.from = None,
            none => *none = Some(signal),
        }
    }
}

impl State {
    /// Returns the accesses to a register: reads or writes.
    pub(super) fn accesses(&self, register: u16, writes: bool) -> impl Iterator<Item = &Pending> {
        let of = move |pending: &Pending| (pending.access.register, pending.access.writes);
        let from = self.list.partition_point(|pending| of(pending) < (register, writes));
        self.list[from..].iter().take_while(move |pending| of(pending) == (register, writes))
    }

    /// Returns the cycles since the issue of an earlier instruction.
    pub(super) fn passed(&self, pending: &Pending) -> u32 {
        (self.clock - pending.issued).min(MOST)
    }

    /// Waits for the barriers that an instruction names, and returns the accesses that this
    /// completes. A release is seen some cycles after the issue of its instruction.
    pub(super) fn wait(&mut self, coded: &Coded, signal_time: u8) -> Vec<Completed> {
        let (waits, named) = (coded.control.wait, coded.control.wait | coded.waits);
        if named == 0 && coded.drains.is_none() {
            return Vec::new();
        }
        let mut completed = Vec::new();
        for pending in self.list.iter_mut().filter(|pending| pending.open) {
            let (mut count, mut only) = (0, None);
            for ((barrier, signal), begun) in (0..).zip(&pending.signals).zip(&self.begun) {
                let Some(signal) = signal else { continue };
                let all = named >> barrier & 1 != 0;
                // all releases except the last few have been made
                let some = coded.drains.is_some_and(|(drained, left)| {
                    drained == barrier && signal.number + u32::from(left) <= *begun
                });
                if (all || some) && self.clock - signal.issued >= u32::from(signal_time) {
                    count += 1;
                    only = signal.from.filter(|_| waits >> barrier & 1 != 0).map(|from| (barrier, from));
                }
            }
            if count > 0 {
                pending.open = false;
                let only = only.filter(|_| count == 1);
                completed.push(Completed { access: pending.access, by: pending.by, only });
            }
        }
        completed
    }

    /// Issues an instruction with its accesses.
    pub(super) fn issue(&mut self, by: u32, accesses: &Accesses, control: &Control) {
        let clock = self.clock;
        let mut begin = |barrier: Option<u8>| {
            let barrier = barrier? & 7;
            let count = &mut self.begun[usize::from(barrier)];
            *count += 1;
            Some((barrier, Signal { number: *count, issued: clock, from: Some(by) }))
        };
        let (read, written) = (begin(control.read_barrier), begin(control.write_barrier));
        let list = &accesses.list;
        if accesses.guard.is_none() {
            // later accesses depend on this write, which depends on those before it
            let over = |register: u16| list.iter().any(|access| access.writes && access.register == register);
            self.list.retain(|pending| !over(pending.access.register));
        }
        for &access in list {
            let queue = if access.writes { accesses.write_queue } else { accesses.read_queue };
            let signals = [None; BARRIERS];
            let guard = accesses.guard;
            let pending = Pending { access, by, open: true, guard, queue, issued: clock, signals };
            match self.list.binary_search_by_key(&pending.key(), Pending::key) {
                Ok(place) => self.list[place] = pending,
                Err(place) => self.list.insert(place, pending),
            }
        }
        for access in list.iter().filter(|access| access.writes) {
            let of = |guard: &(u16, bool)| guard.0 != access.register;
            self.list.iter_mut().for_each(|pending| pending.guard = pending.guard.filter(of));
        }
        if accesses.holds.is_some() {
            let reads = self.list.iter_mut().filter(|pending| !pending.access.writes);
            reads.filter(|pending| pending.queue == accesses.holds).for_each(|pending| pending.open = false);
        }
        // the release after the result is written also shows that the sources have been read
        let ends = [(read, false), (written, false), (written, true)];
        for ((barrier, signal), writes) in ends.into_iter().filter_map(|(end, of)| Some((end?, of))) {
            let queue = if writes { accesses.write_queue } else { accesses.read_queue };
            for pending in self.list.iter_mut().filter(|pending| pending.open) {
                let behind = queue.is_some() && pending.queue == queue;
                if pending.access.writes == writes && (pending.by == by || behind) {
                    pending.add(barrier, signal);
                }
            }
        }
        self.clock += u32::from(control.stall).max(1);
    }

    /// Makes the times relative to the present, so that states of several ways can be compared.
    pub(super) fn settle(&mut self) {
        let (clock, begun) = (self.clock, self.begun);
        self.list.iter_mut().for_each(|pending| pending.relative(clock, &begun));
        (self.clock, self.begun) = (0, [0; BARRIERS]);
    }

    /// Includes a state of another way to the same instruction; both are settled. Returns whether
    /// anything changes.
    pub(super) fn include(&mut self, other: &Self) -> bool {
        let before = std::mem::take(&mut self.list);
        let mut merged = Vec::with_capacity(before.len());
        let mut others = other.list.as_slice();
        for &mine in &before {
            let place = others.partition_point(|pending| pending.key() < mine.key());
            merged.extend_from_slice(&others[..place]);
            others = &others[place..];
            let mut kept = mine;
            if let Some((same, rest)) = others.split_first().filter(|(first, _)| first.key() == mine.key()) {
                kept.include(same);
                others = rest;
            }
            merged.push(kept);
        }
        merged.extend_from_slice(others);
        let changed = merged != before;
        self.list = merged;
        changed
    }

    /// Starts to count time from a settled state: what has passed lies before the clock's start.
    pub(super) fn resume(&self) -> Self {
        let list = self.list.iter().map(|pending| {
            let mut pending = *pending;
            pending.issued = MOST - pending.issued;
            for signal in pending.signals.iter_mut().flatten() {
                signal.number = MOST - signal.number;
                signal.issued = MOST - signal.issued;
            }
            pending
        });
        Self { list: list.collect(), clock: MOST, begun: [MOST; BARRIERS] }
    }
}
