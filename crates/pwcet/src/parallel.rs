//! The execution of the same work for many indices on several threads, with results that do not
//! depend on the number of threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use warpbound_core::base::ProgressMonitor;

/// The largest number of threads, whatever is requested.
const MAX_THREADS: usize = 256;

/// Returns the results of `work` for 0 to `count` - 1, in that order; `None` if it was stopped.
/// Each index is one step of `monitor`.
pub(super) fn map<T: Send>(
    count: usize,
    threads: usize,
    monitor: &ProgressMonitor,
    work: impl Fn(usize) -> T + Sync,
) -> Option<Vec<T>> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        while !monitor.is_stopped() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                break;
            }
            done.push((index, work(index)));
            monitor.advance(1);
        }
        done
    };
    let mut done = Vec::with_capacity(count);
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(MAX_THREADS).min(count)).map(|_| scope.spawn(worker)).collect();
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
