//! A reader of lines that keeps at most one line and a part of the next in memory.

use std::io::{self, ErrorKind, Read};
use std::ops::Range;

use warpbound_core::base::ProgressMonitor;

/// The maximum length of a line in bytes; the name of a kernel may be long.
const LONGEST: usize = 1 << 18;

/// An iterator over the lines of an input.
pub(super) struct Lines<'w> {
    input: Box<dyn Read + Send>,
    monitor: Option<&'w ProgressMonitor>,
    buffer: Vec<u8>,
    /// The position in the input of the beginning of the buffer.
    base: u64,
    start: usize,
    end: usize,
    number: u64,
    ended: bool,
}

/// The reason why a line cannot be read.
#[derive(Debug)]
pub(super) enum Failed {
    /// The input returned an error.
    Input(io::Error),
    /// A stop was requested.
    Stopped,
    /// The line is too long.
    TooLong,
}

impl<'w> Lines<'w> {
    /// Creates a reader; `monitor` may stop it.
    pub(super) fn new(input: Box<dyn Read + Send>, monitor: Option<&'w ProgressMonitor>) -> Self {
        Self { input, monitor, buffer: vec![0; LONGEST], base: 0, start: 0, end: 0, number: 0, ended: false }
    }

    /// Replaces the monitor that may stop the reader.
    pub(super) fn watched(&mut self, monitor: &'w ProgressMonitor) {
        self.monitor = Some(monitor);
    }

    /// Advances to the next line and returns its range without the line end.
    pub(super) fn advance(&mut self) -> Result<Option<Range<usize>>, Failed> {
        let mut searched = self.start;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[searched..self.end]) {
                let newline = searched + at;
                let line = self.start..newline;
                self.start = newline + 1;
                self.number += 1;
                return Ok(Some(self.trimmed(line)));
            }
            if self.ended {
                if self.start == self.end {
                    return Ok(None);
                }
                let line = self.start..self.end;
                self.start = self.end;
                self.number += 1;
                return Ok(Some(self.trimmed(line)));
            }
            self.compact();
            searched = self.end;
            if self.end == self.buffer.len() {
                self.number += 1;
                return Err(Failed::TooLong);
            }
            self.fill()?;
        }
    }

    /// Moves what has not been read to the beginning of the buffer.
    fn compact(&mut self) {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.base += self.start as u64;
            self.end -= self.start;
            self.start = 0;
        }
    }

    /// Reads more of the input into the buffer, which has room.
    fn fill(&mut self) -> Result<(), Failed> {
        if self.monitor.is_some_and(ProgressMonitor::is_stopped) {
            return Err(Failed::Stopped);
        }
        match self.input.read(&mut self.buffer[self.end..]) {
            Ok(0) => self.ended = true,
            Ok(count) => self.end += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(Failed::Input(error)),
        }
        Ok(())
    }

    /// Returns the first byte of the next line, or `None` at the end of the input.
    pub(super) fn peek(&mut self) -> Result<Option<u8>, Failed> {
        while self.start == self.end && !self.ended {
            self.compact();
            self.fill()?;
        }
        Ok((self.start < self.end).then(|| self.buffer[self.start]))
    }

    /// Returns the position in the input of the next line.
    pub(super) fn position(&self) -> u64 {
        self.base + self.start as u64
    }

    /// Continues with the lines of another input.
    pub(super) fn continue_with(&mut self, input: Box<dyn Read + Send>) {
        (self.input, self.ended) = (input, false);
        (self.base, self.start, self.end) = (0, 0, 0);
    }

    fn trimmed(&self, mut line: Range<usize>) -> Range<usize> {
        while line.end > line.start && matches!(self.buffer[line.end - 1], b'\r' | b' ' | b'\t') {
            line.end -= 1;
        }
        line
    }

    /// Returns the text of a line, which is valid until the next one is read.
    pub(super) fn text(&self, line: Range<usize>) -> &[u8] {
        &self.buffer[line]
    }

    /// Returns the number of the line, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }
}
