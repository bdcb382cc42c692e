//! A worker pool that returns results in order.

use std::collections::BTreeMap;

use crossbeam::channel::unbounded;

/// The number of jobs per thread that may wait for an earlier job that takes longer.
const AHEAD: usize = 16;

/// Executes `jobs` on `threads` threads and passes the results to `sink` in the order of the jobs.
/// The number of jobs in flight or waiting is bounded, so the use of memory does not grow with the
/// number of jobs. Stops early if the sink fails.
///
/// # Errors
/// Returns the error of the sink.
pub fn in_order<J: Send, T: Send, E>(
    jobs: impl IntoIterator<Item = J>,
    threads: usize,
    work: impl Fn(J) -> T + Sync,
    mut sink: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let threads = threads.max(1);
    let mut jobs = jobs.into_iter().enumerate();
    std::thread::scope(|scope| {
        let (to_do, tasks) = unbounded::<(usize, J)>();
        let (done, results) = unbounded::<(usize, T)>();
        for _ in 0..threads {
            let (tasks, done, work) = (tasks.clone(), done.clone(), &work);
            scope.spawn(move || {
                for (index, job) in tasks {
                    // the receiver is closed if the sink failed
                    if done.send((index, work(job))).is_err() {
                        return;
                    }
                }
            });
        }
        // a worker that panics closes its end of the channel
        drop(done);
        let mut waiting = BTreeMap::new();
        let (mut next, mut given) = (0, 0);
        loop {
            while given < next + threads * AHEAD
                && let Some(job) = jobs.next()
            {
                given += 1;
                to_do.send(job).expect("tasks are held here");
            }
            if next == given {
                return Ok(());
            }
            let Ok((index, result)) = results.recv() else { return Ok(()) };
            waiting.insert(index, result);
            while let Some(result) = waiting.remove(&next) {
                next += 1;
                if let Err(error) = sink(result) {
                    // do not start the jobs that are still in the queue
                    while tasks.try_recv().is_ok() {}
                    return Err(error);
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_on_any_number_of_threads() {
        for threads in [1, 2, 7] {
            let mut seen = Vec::new();
            let work = |n: u64| {
                // the first job finishes last
                std::thread::sleep(std::time::Duration::from_micros((50u64.saturating_sub(n)) * 20));
                n * n
            };
            let done: Result<(), ()> = in_order(0..200, threads, work, |square| {
                seen.push(square);
                Ok(())
            });
            assert_eq!(done, Ok(()));
            assert_eq!(seen, (0..200).map(|n| n * n).collect::<Vec<u64>>());
        }
    }

    #[test]
    fn an_error_of_the_sink_ends_the_execution() {
        let begun = std::sync::atomic::AtomicU64::new(0);
        let work = |n: u64| {
            begun.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            n
        };
        let done = in_order(0..1_000_000, 2, work, |n| if n == 3 { Err("full") } else { Ok(()) });
        assert_eq!(done, Err("full"));
        assert!(begun.into_inner() <= 2 * AHEAD as u64 + 4);
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_panic_of_a_worker_is_propagated() {
        let _: Result<(), ()> = in_order(0..10, 1, |n| assert!(n < 5, "broken"), |()| Ok(()));
    }
}
