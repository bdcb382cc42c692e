//! What every command is given: how to write, who watches, which files are unfinished.

use std::sync::Arc;

use super::args::General;
use super::files::Parts;
use super::progress::Progress;
use super::stop::{Stop, Without};
use super::terminal;
use crate::base::Watch;
use crate::report::output::Stopped;
use crate::report::style::Style;

/// One command's run.
pub struct Session {
    /// How to write on stdout.
    pub style: Style,
    /// What the running computation and the rest of the process share.
    pub watch: Arc<Watch>,
    /// Says how far the command is.
    pub progress: Progress,
    /// Unfinished files.
    pub parts: Parts,
    stop: Stop,
}

impl Session {
    /// From the options that all commands have. `without` is called if the command is ended before it has a result.
    pub fn new(general: &General, without: Arc<Without>) -> Self {
        let watch = Arc::new(Watch::new());
        let parts = Parts::default();
        let visible = !general.quiet && terminal::shows_progress();
        let progress = Progress::new(visible, watch.clone());
        let log = visible.then(|| progress.log());
        let stop = Stop::new(&watch, &parts, general.time_limit, log, without);
        Self { style: terminal::style(general.color), progress, stop, watch, parts }
    }

    /// Why the computation was asked to end, if it was.
    pub fn stopped(&self) -> Option<Stopped> {
        self.stop.reason()
    }

    /// The computation is over: what remains is to write and print its result.
    pub fn conclude(&self) {
        self.stop.conclude();
    }

    /// Says what stays, whatever happens, if the command is ended before it has a result.
    pub fn keep(&self, what: String) {
        self.stop.keep(what);
    }
}
