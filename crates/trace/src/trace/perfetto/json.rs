//! The output of JSON trace events, one per line.

use std::fmt::{Arguments, Display};
use std::io::{self, Write};

use serde_json::Value;

use warpbound_core::base::Cycle;

/// A track: a process and a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Track {
    pub pid: u64,
    pub tid: usize,
}

/// An output of events, until a write fails.
pub(super) struct Events<'a> {
    out: &'a mut dyn Write,
    written: io::Result<()>,
    first: bool,
}

impl<'a> Events<'a> {
    #[inline]
    pub fn new(out: &'a mut dyn Write) -> Self {
        let written = out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
        Self { out, written, first: true }
    }

    /// Closes the JSON and flushes the output.
    #[inline]
    pub fn finish(self) -> io::Result<()> {
        self.written?;
        self.out.write_all(b"\n]}\n")?;
        self.out.flush()
    }

    fn event(&mut self, text: Arguments<'_>) {
        if self.written.is_ok() {
            let separator = if std::mem::take(&mut self.first) { "\n" } else { ",\n" };
            self.written = write!(self.out, "{separator}{text}");
        }
    }

    /// Names a process; the viewer sorts processes by number.
    #[inline]
    pub fn process(&mut self, pid: u64, name: &str) {
        let name = Value::from(name);
        self.event(format_args!(
            r#"{{"ph":"M","pid":{pid},"name":"process_name","args":{{"name":{name}}}}}"#
        ));
        self.event(format_args!(
            r#"{{"ph":"M","pid":{pid},"name":"process_sort_index","args":{{"sort_index":{pid}}}}}"#
        ));
    }

    /// Names a track.
    #[inline]
    pub fn track(&mut self, Track { pid, tid }: Track, name: &str) {
        let name = Value::from(name);
        self.event(format_args!(
            r#"{{"ph":"M","pid":{pid},"tid":{tid},"name":"thread_name","args":{{"name":{name}}}}}"#
        ));
        self.event(format_args!(
            r#"{{"ph":"M","pid":{pid},"tid":{tid},"name":"thread_sort_index","args":{{"sort_index":{tid}}}}}"#
        ));
    }

    /// Writes a slice, which lasts from one cycle to another. `name` is JSON, and `args` is the
    /// text between the braces.
    #[inline]
    pub fn slice(
        &mut self,
        Track { pid, tid }: Track,
        (from, to): (Cycle, Cycle),
        name: impl Display,
        args: Arguments<'_>,
    ) {
        self.event(format_args!(
            r#"{{"ph":"X","pid":{pid},"tid":{tid},"ts":{from},"dur":{},"name":{name},"args":{{{args}}}}}"#,
            to - from
        ));
    }

    /// Writes counter values that hold from a cycle on. `name` is JSON, and `args` is the text
    /// between the braces.
    #[inline]
    pub fn counter(&mut self, pid: u64, at: Cycle, name: impl Display, args: Arguments<'_>) {
        self.event(format_args!(r#"{{"ph":"C","pid":{pid},"ts":{at},"name":{name},"args":{{{args}}}}}"#));
    }
}
