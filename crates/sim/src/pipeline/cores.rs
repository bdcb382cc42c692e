//! The SMs as the launch drives them: each with its policies, its port to memory and the cycle in
//! which it has to be simulated next. Also contains the worker pool that may run some of them.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use crossbeam::channel::{Receiver, Sender, unbounded};

use super::Sm;
use super::memory::{Lower, Port, Share};
use crate::error::RunError;
use crate::policy::AnyPolicy;
use warpbound_trace::trace::{Event, Observer};

/// An SM with the policies of its sub-cores.
pub(super) struct Core<'a> {
    pub sm: Sm<'a>,
    pub policies: Vec<AnyPolicy<'a>>,
    /// The port to the memory behind the SM, if that is simulated.
    pub port: Option<Port>,
    /// The cycle in which something happens next on the SM, unless memory replies before or the SM
    /// gets a block. Until then it need not be simulated.
    pub next: u64,
    /// The cycle that the SM is in, or that it simulates next.
    pub at: u64,
    /// In a window, whether the SM has stopped in that cycle, at the point where blocks are removed
    /// and placed.
    pub waits: bool,
    /// In a window, the cycle in which the SM stops in any case.
    pub stop: u64,
    /// In a window, the error that occurred in that cycle.
    pub failed: Option<RunError>,
}

impl<'a> Core<'a> {
    pub fn new(sm: Sm<'a>, policies: Vec<AnyPolicy<'a>>, port: Option<Port>) -> Self {
        Self { sm, policies, port, next: 0, at: 0, waits: false, stop: u64::MAX, failed: None }
    }

    /// Emits the recorded events of the SM. If there are several SMs, the number of the SM comes
    /// first.
    pub fn tell(&mut self, several: bool, observer: &mut dyn Observer) {
        if several && !self.sm.log.is_empty() {
            observer.on(&Event::Sm(self.sm.index));
        }
        self.sm.log.tell(observer);
    }

    /// Returns whether memory has room again for an SM that waits for room.
    #[inline]
    pub fn has_room_again(&self, lower: &Lower) -> bool {
        let Self { sm, port: Some(port), .. } = self else { return false };
        sm.stuck_since.is_some() && port.is_full() && lower.room(sm.index) > 0
    }

    /// Returns whether a warp certainly has instructions left after this number of cycles.
    pub fn goes_on_for(&self, cycles: u64) -> bool {
        let Sm { blocks, warps, settings, .. } = &self.sm;
        let most = cycles.saturating_mul(settings.issue.per_warp.into());
        blocks.live().slots().any(|slot| u64::from(warps.left(slot)) > most)
    }

    /// Receives a reply of memory, if there is one for this SM and the SM can accept it.
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

    /// Simulates the first part of a cycle, up to the point at which blocks are placed, if
    /// something happens in it.
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

    /// Simulates the second part of the cycle, and updates the cycle of the next event.
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

    /// Simulates the cycles before `until` independently, up to one in which a block may be removed
    /// or placed.
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

    /// Simulates the rest of the cycle in which the SM has stopped.
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

/// A job for a thread, with its index among the jobs of its kind.
enum Job<'a> {
    /// Simulates some SMs up to a cycle.
    Sms(usize, Vec<Core<'a>>, u64),
    /// Simulates a share of memory through a window.
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

/// The worker pool helps if at least this number of requests wait in memory.
const CREW_LOAD: usize = 400;

/// A pool of worker threads that take SMs and parts of memory from a queue and return them.
pub(super) struct Crew<'a> {
    threads: usize,
    pile: Sender<Job<'a>>,
    to_do: Receiver<Job<'a>>,
    /// The jobs that are done; `None` comes from a thread that panicked.
    done: Receiver<Option<Job<'a>>>,
}

/// Reports the panic of its thread when dropped. Otherwise other threads would wait forever for the
/// job that the thread had taken.
struct Lost<'s, 'a>(&'s Sender<Option<Job<'a>>>);

impl Drop for Lost<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // the receiver may be gone already
            let _ = self.0.send(None);
        }
    }
}

impl<'a> Crew<'a> {
    /// Spawns this number of threads in addition to the calling one. One of them pauses while the
    /// thread that produces blocks is working.
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
                let pause_for_maker = || {
                    while maker.as_ref().is_some_and(|maker| maker.load(Relaxed)) {
                        std::thread::sleep(PAUSE);
                    }
                };
                while let Some(mut job) = {
                    pause_for_maker();
                    receive_soon(&to_do)
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

    /// Simulates all these SMs up to a cycle. The calling thread runs `first` before it takes part.
    pub fn run(&self, shares: &mut [Vec<Core<'a>>], until: u64, first: impl FnOnce()) {
        let busy = |core: &Core<'a>| core.at < until && !core.waits;
        let mut in_progress = 0;
        for (number, share) in shares.iter_mut().enumerate() {
            if share.iter().any(busy) {
                self.pile.send(Job::Sms(number, std::mem::take(share), until)).expect(LOST);
                in_progress += 1;
            }
        }
        first();
        self.work_off(in_progress, |job| {
            if let Job::Sms(number, cores, _) = job {
                shares[number] = cores;
            }
        });
    }

    /// Simulates all of memory through a window.
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

    /// Lets the calling thread take part until all `jobs` jobs are done and have been put back.
    fn work_off(&self, mut jobs: usize, mut put_back: impl FnMut(Job<'a>)) {
        while let Ok(mut job) = self.to_do.try_recv() {
            job.run();
            put_back(job);
            jobs -= 1;
        }
        for _ in 0..jobs {
            put_back(receive_soon(&self.done).flatten().expect(LOST));
        }
    }
}

/// Receives the next value. It polls for a while before it blocks, because waking a thread up takes
/// a large part of the time of a window.
fn receive_soon<T>(receiver: &Receiver<T>) -> Option<T> {
    for _ in 0..SPINS {
        if let Ok(next) = receiver.try_recv() {
            return Some(next);
        }
        std::hint::spin_loop();
    }
    receiver.recv().ok()
}

/// The number of polls before a thread blocks; they take about ten microseconds.
const SPINS: u32 = 2000;

/// The duration for which a pausing thread sleeps at a time.
const PAUSE: Duration = Duration::from_micros(100);

const LOST: &str = "a thread of the simulator is gone";
