//! The execution of the kernels of a batch, one after the other or on several threads. Results
//! arrive in the order of the kernels in both cases.

use super::failures::Batch;
use super::session::Session;
use warpbound_core::base::{ProgressMonitor, in_order};

/// Reports the number of blocks of the current kernel, if known, to the progress display.
pub type Blocks<'a> = &'a dyn Fn(Option<u64>);

/// Runs `work` for each kernel, given by its index, and passes the result to `sink` together with
/// the index. If the command is stopped, the partial results of the kernels in flight are passed
/// on, and the other kernels are not started.
pub fn each_kernel<T: Send>(
    batch: &mut Batch,
    threads: usize,
    session: &Session,
    work: impl Fn(usize, &ProgressMonitor, Blocks) -> T + Sync,
    mut sink: impl FnMut(&mut Batch, usize, T),
) {
    if threads == 1 {
        while let Some((index, name)) = batch.begin(session) {
            let label = batch.label(name);
            let begin = |blocks| session.progress.begin(label.clone(), blocks, "blocks");
            let done = work(index, &session.monitor, &begin);
            sink(batch, index, done);
        }
        return;
    }
    let kernels = batch.kernels();
    session.progress.begin("simulating", Some(kernels as u64), "kernels");
    // progress counts kernels, not blocks
    let monitor = session.monitor.beside();
    let one = |index| (!monitor.is_stopped()).then(|| work(index, &monitor, &|_| {}));
    let mut next = 0;
    // an error stops the batch, because later results would leave a gap
    let _ = in_order(0..kernels, threads, one, |done| {
        let done = done.ok_or(())?;
        batch.begun();
        sink(batch, next, done);
        next += 1;
        session.monitor.advance(1);
        Ok::<(), ()>(())
    });
}
