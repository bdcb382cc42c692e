//! SMs as the launch sees them: each with its policies, its port to memory and the cycle in which somebody has to look
//! at it again; and the threads that may run some of them.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use crossbeam::channel::{Receiver, Sender, unbounded};

use super::Sm;
use super::memory::{Lower, Port, Share};
use crate::sim::error::RunError;
use crate::sim::policy::AnyPolicy;
use crate::trace::Observer;

/// An SM with the policies of its sub-cores.
pub(super) struct Core<'a> {
    pub sm: Sm<'a>,
    pub policies: Vec<AnyPolicy<'a>>,
    /// To the memory behind the SM, if it is simulated.
    pub port: Option<Port>,
    /// When something happens on it next, if memory does not answer before and it gets no block: up to
    /// there nobody looks at it.
    pub next: u64,
    /// The cycle that it is in, or goes to next.
    pub at: u64,
    /// In a window: whether it stands in that cycle, where blocks are taken out and placed.
    pub waits: bool,
    /// In a window: where it stands in any case.
    pub stop: u64,
    /// In a window: what went wrong in that cycle.
    pub failed: Option<RunError>,
}

impl<'a> Core<'a> {
    pub fn new(sm: Sm<'a>, policies: Vec<AnyPolicy<'a>>, port: Option<Port>) -> Self {
        Self { sm, policies, port, next: 0, at: 0, waits: false, stop: u64::MAX, failed: None }
    }

    /// Tells what happened on it, one of several or the only one.
    pub fn tell(&mut self, several: bool, observer: &mut dyn Observer) {
        if several && !self.sm.log.is_empty() {
            observer.on_sm(self.sm.index);
        }
        self.sm.log.tell(observer);
    }

    /// Whether memory has room again for an SM that waits for that.
    #[inline]
    pub fn has_room_again(&self, lower: &Lower) -> bool {
        let Self { sm, port: Some(port), .. } = self else { return false };
        sm.stuck_since.is_some() && port.is_full() && lower.room(sm.index) > 0
    }

    /// Whether a warp certainly has instructions left after so many cycles.
    pub fn goes_on_for(&self, cycles: u64) -> bool {
        let Sm { blocks, warps, settings, .. } = &self.sm;
        let most = cycles.saturating_mul(settings.issue.per_warp.into());
        blocks.live().slots().any(|slot| u64::from(warps.left(slot)) > most)
    }

    /// Takes a reply of memory, if there is one for this SM and it can.
    pub fn receive(&mut self, lower: &mut Lower, now: u64) {
        let Self { sm, port: Some(port), .. } = self else { return };
        let taken = lower.deliver(sm.index, port, |port| {
            sm.advance_to(now);
            sm.receive(port)
        });
        if taken {
            self.next = now;
        }
    }

    /// A cycle, up to the point where blocks are placed, if something happens in it.
    #[inline]
    pub fn begin_cycle(&mut self, now: u64) {
        if self.next <= now {
            if self.sm.plain { self.begin::<true>(now) } else { self.begin::<false>(now) }
        }
    }

    #[inline(always)]
    fn begin<const PLAIN: bool>(&mut self, now: u64) {
        self.sm.advance_to(now);
        let Self { sm, port, .. } = self;
        if let Some(port) = port {
            port.begin_cycle(now);
        }
        sm.begin_cycle::<PLAIN>(port.as_mut());
    }

    /// The rest of it, and when something happens next.
    pub fn end_cycle(&mut self) -> Result<(), RunError> {
        if self.sm.plain { self.end::<true>() } else { self.end::<false>() }
    }

    #[inline(always)]
    fn end<const PLAIN: bool>(&mut self) -> Result<(), RunError> {
        self.sm.begin_due_blocks(&mut self.policies);
        self.sm.end_cycle::<PLAIN>(&mut self.policies).map_err(RunError::from)?;
        self.next = self.sm.next_event(self.port.as_ref().is_some_and(Port::may_be_waited_for));
        Ok(())
    }

    /// Goes through the cycles before `until` by itself, up to one in which a block may be taken out or placed.
    pub fn run(&mut self, until: u64) {
        if self.sm.plain { self.run_as::<true>(until) } else { self.run_as::<false>(until) }
    }

    fn run_as<const PLAIN: bool>(&mut self, until: u64) {
        let of_port =
            |port: &Option<Port>, from| port.as_ref().map_or(u64::MAX, |port: &Port| port.next_event(from));
        let mut next_of_port = of_port(&self.port, self.at);
        while self.at < until && !self.waits {
            let now = self.next.min(next_of_port).max(self.at);
            if now >= until {
                self.at = until;
                return;
            }
            self.at = now;
            if next_of_port <= now
                && let Some(port) = &mut self.port
            {
                if port.has_replies() {
                    self.sm.advance_to(now);
                    if self.sm.receive(port) {
                        self.next = now;
                    }
                }
                port.eject(now);
                next_of_port = of_port(&self.port, now + 1);
            }
            if self.next > now {
                self.at = now + 1;
                continue;
            }
            self.begin::<PLAIN>(now);
            if self.sm.others_rest() && now < self.stop && (PLAIN || !self.sm.listening) {
                self.sm.rest_others();
                self.next = self.sm.next_event(self.port.as_ref().is_some_and(Port::may_be_waited_for));
                self.at = now + 1;
                continue;
            }
            self.waits = self.stop <= now || self.sm.has_ended();
            if !self.waits {
                self.finish::<PLAIN>();
            }
        }
    }

    /// The rest of the cycle in which it stands.
    pub fn finish_cycle(&mut self) {
        if self.sm.plain { self.finish::<true>() } else { self.finish::<false>() }
    }

    #[inline(always)]
    fn finish<const PLAIN: bool>(&mut self) {
        self.waits = false;
        if let Err(error) = self.end::<PLAIN>() {
            self.waits = true;
            self.failed = Some(error);
        }
        if !PLAIN && self.sm.keeps_order {
            self.sm.log.settle_at(self.at);
        }
        if !self.waits {
            self.at += 1;
        }
    }
}

/// Something for a thread, with its number among its like.
enum Job<'a> {
    /// Some SMs go up to a cycle.
    Sms(usize, Vec<Core<'a>>, u64),
    /// Some of memory goes through a window.
    Memory(usize, Share),
}

impl Job<'_> {
    fn run(&mut self) {
        match self {
            Self::Sms(_, cores, until) => cores.iter_mut().for_each(|core| core.run(*until)),
            Self::Memory(_, share) => share.run(),
        }
    }
}

/// Requests that wait in memory from which on the crew helps.
const CREW_LOAD: usize = 400;

/// Threads that take SMs and parts of memory from a pile and give them back.
pub(super) struct Crew<'a> {
    threads: usize,
    pile: Sender<Job<'a>>,
    to_do: Receiver<Job<'a>>,
    /// Nothing comes from a thread that panicked.
    done: Receiver<Option<Job<'a>>>,
}

/// Says so if its thread panics: others would wait for what that has taken.
struct Lost<'s, 'a>(&'s Sender<Option<Job<'a>>>);

impl Drop for Lost<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // who should hear of it may be gone
            let _ = self.0.send(None);
        }
    }
}

impl<'a> Crew<'a> {
    /// So many threads beside the one that asks. One of them gives way to a thread that makes blocks, while that is at work.
    pub fn spawn<'scope>(
        scope: &'scope std::thread::Scope<'scope, '_>,
        threads: usize,
        mut maker: Option<Arc<AtomicBool>>,
    ) -> Self
    where
        'a: 'scope,
    {
        let (pile, to_do) = unbounded::<Job<'a>>();
        let (give_back, done) = unbounded();
        for _ in 0..threads {
            let (to_do, give_back, maker) = (to_do.clone(), give_back.clone(), maker.take());
            scope.spawn(move || {
                let _lost = Lost(&give_back);
                let give_way = || {
                    while maker.as_ref().is_some_and(|maker| maker.load(Relaxed)) {
                        std::thread::sleep(A_WHILE);
                    }
                };
                while let Some(mut job) = {
                    give_way();
                    soon(&to_do)
                } {
                    job.run();
                    if give_back.send(Some(job)).is_err() {
                        return;
                    }
                }
            });
        }
        Self { threads, pile, to_do, done }
    }

    /// All these SMs go up to a cycle. Before this thread takes part in that, it does something else.
    pub fn run(&self, shares: &mut [Vec<Core<'a>>], until: u64, first: impl FnOnce()) {
        let busy = |core: &Core<'a>| core.at < until && !core.waits;
        let mut away = 0;
        for (number, share) in shares.iter_mut().enumerate() {
            if share.iter().any(busy) {
                self.pile.send(Job::Sms(number, std::mem::take(share), until)).expect(LOST);
                away += 1;
            }
        }
        first();
        self.work_off(away, |job| {
            if let Job::Sms(number, cores, _) = job {
                shares[number] = cores;
            }
        });
    }

    /// All of memory goes through a window.
    pub fn run_memory(&self, shares: &mut [Share]) {
        if self.threads == 0 || shares.iter().map(Share::load).sum::<usize>() < CREW_LOAD {
            return shares.iter_mut().for_each(Share::run);
        }
        for (number, share) in shares.iter_mut().enumerate() {
            self.pile.send(Job::Memory(number, std::mem::take(share))).expect(LOST);
        }
        self.work_off(shares.len(), |job| {
            if let Job::Memory(number, share) = job {
                shares[number] = share;
            }
        });
    }

    /// This thread takes part until all jobs, so many, are done and put back.
    fn work_off(&self, mut jobs: usize, mut put_back: impl FnMut(Job<'a>)) {
        while let Ok(mut job) = self.to_do.try_recv() {
            job.run();
            put_back(job);
            jobs -= 1;
        }
        for _ in 0..jobs {
            put_back(soon(&self.done).flatten().expect(LOST));
        }
    }
}

/// What comes next, for which it looks a while before it sleeps: to wake a thread up takes a good part of a window's time.
fn soon<T>(receiver: &Receiver<T>) -> Option<T> {
    for _ in 0..SPINS {
        if let Ok(next) = receiver.try_recv() {
            return Some(next);
        }
        std::hint::spin_loop();
    }
    receiver.recv().ok()
}

/// How often a thread looks before it sleeps, for some ten microseconds.
const SPINS: u32 = 2000;

/// How long one that gives way sleeps at a time.
const A_WHILE: Duration = Duration::from_micros(100);

const LOST: &str = "a thread of the simulator is gone";
