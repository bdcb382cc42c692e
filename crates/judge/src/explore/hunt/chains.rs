//! Chains of random changes on several threads. The result does not depend on the number of threads,
//! because each chain has random numbers of its own, and the chain with the lowest number that ends the
//! search determines the result.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use warpbound_core::base::ProgressMonitor;

/// The first and the last temperature of the annealing, in units of the ratio of worst case to
/// bound.
const HOT: f64 = 0.03;
const COLD: f64 = 0.0005;

/// Returns whether a chain goes on from a candidate whose ratio is larger by `gain`; a smaller ratio is
/// accepted by chance. `progress` is 0 at the beginning of the chain and 1 at its end.
pub(super) fn accepts(gain: f64, progress: f64, rng: &mut ChaCha8Rng) -> bool {
    let temperature = HOT * (COLD / HOT).powf(progress);
    gain >= 0.0 || rng.random::<f64>() < (gain / temperature).exp()
}

/// Runs this many chains and returns their results in order, with their numbers. `begin` creates what
/// each thread reuses. `run` runs a chain, and returns its result and whether the chains after it are
/// irrelevant; it may give up as soon as the number that it is given is below its own.
pub(super) fn run_chains<S, C: Send>(
    chains: u64,
    jobs: usize,
    monitor: &ProgressMonitor,
    begin: &(dyn Fn() -> S + Sync),
    run: &(dyn Fn(u64, &mut S, &AtomicU64) -> (C, bool) + Sync),
) -> Vec<(u64, C)> {
    let next = AtomicU64::new(0);
    let last = AtomicU64::new(u64::MAX);
    let ended: Mutex<Vec<(u64, C)>> = Mutex::new(Vec::new());
    let work = || {
        let mut state = begin();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= chains || number > last.load(Ordering::Relaxed) || monitor.is_stopped() {
                return;
            }
            let (chain, ends) = run(number, &mut state, &last);
            if ends {
                last.fetch_min(number, Ordering::Relaxed);
            }
            ended.lock().expect("a hunting thread panicked").push((number, chain));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..jobs.max(1) {
            scope.spawn(work);
        }
        work();
    });
    let mut ended = ended.into_inner().expect("a hunting thread panicked");
    ended.sort_by_key(|(number, _)| *number);
    ended
}
