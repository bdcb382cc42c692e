//! The same work for many indices, on several threads, with results that do not depend on how many.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::base::Watch;

/// Threads at most, whatever is asked for.
const MOST_THREADS: usize = 256;

/// What `work` gives for 0 to `count`, in that order; none if it was asked to stop. Each index is one step of `watch`.
pub(super) fn map<T: Send>(
    count: usize,
    threads: usize,
    watch: &Watch,
    work: impl Fn(usize) -> T + Sync,
) -> Option<Vec<T>> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        while !watch.is_stopped() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                break;
            }
            done.push((index, work(index)));
            watch.advance(1);
        }
        done
    };
    let mut done = Vec::with_capacity(count);
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(MOST_THREADS).min(count)).map(|_| scope.spawn(worker)).collect();
        done.extend(worker());
        for other in others {
            match other.join() {
                Ok(part) => done.extend(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    done.sort_unstable_by_key(|&(index, _)| index);
    (done.len() == count).then(|| done.into_iter().map(|(_, result)| result).collect())
}
