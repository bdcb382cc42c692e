//! The kernels of a batch, one after the other or on several threads, in their order either way.

use super::failures::Batch;
use super::session::Session;
use crate::base::{Watch, in_order};

/// Says how many blocks the kernel at hand has, if that is known, for whoever watches.
pub type Blocks<'a> = &'a dyn Fn(Option<u64>);

/// Does `work` for each kernel, given by its number, and hands what comes of it to `sink`, with the number. Ends
/// early if somebody ends the command: what was under way is handed on as far as it came, the rest is not reached.
pub fn each_kernel<T: Send>(
    batch: &mut Batch,
    threads: usize,
    session: &Session,
    work: impl Fn(usize, &Watch, Blocks) -> T + Sync,
    mut sink: impl FnMut(&mut Batch, usize, T),
) {
    if threads == 1 {
        while let Some((index, name)) = batch.begin(session) {
            let label = batch.label(name);
            let begin = |blocks| session.progress.begin(label.clone(), blocks, "blocks");
            let done = work(index, &session.watch, &begin);
            sink(batch, index, done);
        }
        return;
    }
    let kernels = batch.kernels();
    session.progress.begin("simulating", Some(kernels as u64), "kernels");
    // kernels are counted, not blocks
    let watch = session.watch.beside();
    let one = |index| (!watch.is_stopped()).then(|| work(index, &watch, &|_| {}));
    let mut next = 0;
    // an error ends it: later ones would leave a gap
    let _ = in_order(0..kernels, threads, one, |done| {
        let done = done.ok_or(())?;
        batch.begun();
        sink(batch, next, done);
        next += 1;
        session.watch.advance(1);
        Ok::<(), ()>(())
    });
}
