//! A folder of results: a manifest that identifies them, and a line for each point.
//!
//! `results.jsonl` only grows, by whole jobs in the order of the plan. If the process is killed or
//! the disk is full, at most the last line is incomplete, and everything before it stays valid; the
//! process that resumes truncates the file there. `manifest.json` and `results.csv` appear complete
//! or not at all.
//!
//! Every line ends with a checksum of the rest of the line, and so does the manifest; a reader
//! rejects any that was changed. A folder of an older version has no checksums and is read with a
//! warning. If the manifest has one, every line must have one, too.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;

use serde::{Deserialize, Serialize};

use super::part::{Part, Parts};
use warpbound_core::base::Fnv1a;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_judge::load::read;
use warpbound_judge::sweep::{Manifest, MergeError, Place, Row, RowReader, csv_heading, csv_of_row, merge};

const MANIFEST: &str = "manifest.json";
const LINES: &str = "results.jsonl";
const TABLE: &str = "results.csv";

/// The greatest length of a line of results, in bytes.
const MAX_LINE: u64 = 1 << 24;

/// Results that are being written; no other process writes to the folder meanwhile.
#[derive(Debug)]
pub struct Results {
    dir: PathBuf,
    lines: File,
    manifest: Manifest,
    parts: Parts,
    /// The lock on the folder, rather than on a file, because its files are replaced.
    _lock: Option<File>,
}

impl Results {
    /// Opens the folder for these results, and creates it if it does not exist. With `resume`, it
    /// may already contain some of them.
    ///
    /// # Errors
    /// If the folder has other results, or results without `resume`, or if another process writes
    /// to it.
    pub fn open(dir: &Path, manifest: Manifest, resume: bool, parts: &Parts) -> Result<Self, Diagnostic> {
        let impossible = |what: &str, error: io::Error| problem(dir, format!("{what}: {error}"));
        fs::create_dir_all(dir).map_err(|error| impossible("cannot create the folder", error))?;
        let lock = lock(dir)?;
        parts.remove_stale(dir);
        let lines = OpenOptions::new().read(true).append(true).create(true).open(dir.join(LINES));
        let lines = lines.map_err(|error| impossible("cannot open results.jsonl", error))?;
        let there = dir.join(MANIFEST);
        let length = lines.metadata().map_err(|error| impossible("cannot read results.jsonl", error))?.len();
        if there.exists() {
            let known = read_manifest(dir)?;
            if let Some(why) = manifest.difference(&known) {
                return Err(problem(dir, format!("the folder has other results: {why}"))
                    .hint("choose another folder"));
            }
            if known.shard != manifest.shard {
                let part = known.shard.map_or("the whole plan".to_owned(), |shard| format!("shard {shard}"));
                return Err(problem(dir, format!("the folder has results of {part}"))
                    .hint("each shard has a folder of its own"));
            }
            if !resume {
                return Err(problem(dir, "the folder has results already".to_owned())
                    .hint("--resume goes on with them; or choose another folder"));
            }
        } else if length > 0 {
            return Err(problem(dir, "the folder has results.jsonl and no manifest.json".to_owned())
                .hint("choose another folder"));
        } else {
            let checksum = digest(&manifest);
            let text = Sealed { manifest: &manifest, checksum: &checksum };
            let text = serde_json::to_string_pretty(&text).expect("a manifest is plain data") + "\n";
            let written = Part::create(&there, parts).and_then(|mut part| {
                part.write_all(text.as_bytes())?;
                part.place()
            });
            written.map_err(|error| impossible("cannot write manifest.json", error))?;
        }
        Ok(Self { dir: dir.to_owned(), lines, manifest, parts: parts.clone(), _lock: lock })
    }

    /// Returns the manifest of the results.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns how many of these jobs, each given by the indices of its points, are complete, and
    /// truncates the file after the last of them.
    ///
    /// # Errors
    /// If a line belongs to another point.
    pub fn done(&mut self, jobs: impl Iterator<Item = std::ops::Range<u64>>) -> Result<u64, Diagnostic> {
        let mut lines = self.read()?;
        let (mut done, mut keep, mut line) = (0, 0, 0);
        'jobs: for job in jobs {
            for point in job {
                let Some(text) = lines.next() else { break 'jobs };
                line += 1;
                let text = text.map_err(|error| self.problem("cannot read results.jsonl", &error))?;
                if self.manifest.point_of(&text) != Some(point) {
                    let message = format!("line {line} of results.jsonl is not that of point {point}");
                    return Err(problem(&self.dir, message).hint(
                        "to complete the results of some shards, merge the others; a file that has been changed cannot be resumed",
                    ));
                }
            }
            done += 1;
            keep = lines.read;
        }
        self.lines.set_len(keep).map_err(|error| self.problem("cannot cut results.jsonl", &error))?;
        Ok(done)
    }

    /// Appends the lines of a job, or none of them.
    ///
    /// # Errors
    /// If the lines cannot be written.
    pub fn append(&mut self, lines: &str) -> Result<(), Diagnostic> {
        let before =
            self.lines.metadata().map_err(|error| self.problem("cannot write results.jsonl", &error))?.len();
        let lines: String = lines.lines().map(|line| sealed(line) + "\n").collect();
        self.lines.write_all(lines.as_bytes()).map_err(|error| {
            // errors are ignored: the process that resumes truncates the file again
            let _ = self.lines.set_len(before);
            self.problem("cannot write results.jsonl", &error)
        })
    }

    /// Merges these results with those of other folders, in the order of the points, and returns
    /// their number.
    ///
    /// # Errors
    /// If a line is not a record, or if two records contradict each other.
    pub fn merge(&mut self, folders: &[PathBuf]) -> Result<u64, Diagnostic> {
        let mut inputs = vec![self.read()?];
        for folder in folders {
            inputs.push(read_lines(folder)?);
        }
        let path = self.dir.join(LINES);
        let impossible = |error: io::Error| self.problem("cannot merge", &error);
        let mut part = io::BufWriter::new(Part::create(&path, &self.parts).map_err(impossible)?);
        let point_of = |line: &str| self.manifest.point_of(line);
        let merged = merge(inputs, point_of, |line| {
            part.write_all(sealed(line).as_bytes())?;
            part.write_all(b"\n")
        });
        let name = |input: usize| match input {
            0 => &self.dir,
            other => &folders[other - 1],
        };
        let points = merged.map_err(|error| match error {
            MergeError::Io(error) => impossible(error),
            MergeError::NoRecord { input, line } => {
                problem(name(input), format!("line {line} of results.jsonl is no record of this plan"))
            }
            MergeError::OutOfOrder { input, line } => problem(
                name(input),
                format!("the point of line {line} of results.jsonl comes before that of the line above"),
            ),
            MergeError::Contradiction { point, inputs: [a, b] } => {
                let other = name(a).display();
                problem(name(b), format!("point {point} has other results here than in {other}"))
                    .hint("one of the files has been changed")
            }
        })?;
        part.into_inner()
            .map_err(io::IntoInnerError::into_error)
            .and_then(Part::place)
            .map_err(impossible)?;
        let lines = OpenOptions::new().read(true).append(true).open(&path).map_err(impossible)?;
        self.lines = lines;
        Ok(points)
    }

    /// Returns the lines of the results from the beginning.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(&self) -> Result<Lines, Diagnostic> {
        let mut file =
            self.lines.try_clone().map_err(|error| self.problem("cannot read results.jsonl", &error))?;
        file.seek(SeekFrom::Start(0)).map_err(|error| self.problem("cannot read results.jsonl", &error))?;
        Ok(Lines::new(file, &self.dir.join(LINES)))
    }

    /// Writes the results as CSV, and passes each record to `see`.
    ///
    /// # Errors
    /// If the results cannot be read or the table cannot be written.
    pub fn finish(&self, mut see: impl FnMut(&Row<'_>)) -> Result<(), Diagnostics> {
        let mut problems = Diagnostics::new();
        if let Err(error) = self.lines.sync_data() {
            problems.push(self.problem("cannot write results.jsonl", &error));
        }
        let unwritten = |error: io::Error| self.problem("cannot write results.csv", &error);
        let mut table = Part::create(&self.dir.join(TABLE), &self.parts).map(io::BufWriter::new);
        let columns = &self.manifest.columns;
        let mut write = |text: &str| {
            if let Ok(part) = &mut table
                && let Err(error) = part.write_all(text.as_bytes())
            {
                table = Err(error);
            }
        };
        write(&csv_heading(columns));
        let mut columns: Vec<Place> = columns.iter().map(|name| Place::of(name)).collect();
        let mut reader = RowReader::default();
        for line in self.read()? {
            let line = line.map_err(|error| self.problem("cannot read results.jsonl", &error))?;
            let record = reader.read(&line).map_err(|error| {
                problem(&self.dir, format!("a line of results.jsonl is no record: {error}"))
            })?;
            // an error of the table does not affect the results, which are the lines
            see(&record);
            write(&csv_of_row(&mut columns, &record));
        }
        let placed =
            table.and_then(|table| table.into_inner().map_err(io::IntoInnerError::into_error)?.place());
        if let Err(error) = placed {
            problems.push(unwritten(error));
        }
        problems.into_result(())
    }

    fn problem(&self, what: &str, error: &io::Error) -> Diagnostic {
        problem(&self.dir, format!("{what}: {error}"))
    }
}

/// A manifest in the form of its file.
#[derive(Serialize)]
struct Sealed<'a> {
    #[serde(flatten)]
    manifest: &'a Manifest,
    checksum: &'a str,
}

/// The separator of a record and its checksum.
const CHECKSUM: &str = ",\"checksum\":\"";

/// Returns a record with its checksum.
fn sealed(record: &str) -> String {
    let Some(open) = record.strip_suffix('}') else { return record.to_owned() };
    format!("{open}{CHECKSUM}{}\"}}", checksum_of(open))
}

/// Returns the checksum of a record without its last brace.
fn checksum_of(open: &str) -> String {
    let mut digest = Fnv1a::default();
    digest.write(open.as_bytes());
    digest.write(b"}");
    format!("{:016x}", digest.finish())
}

/// Returns the checksum of a manifest.
fn digest(manifest: &Manifest) -> String {
    let text = serde_json::to_string(manifest).expect("a manifest is plain data");
    format!("{:016x}", Fnv1a::of(text.as_bytes()))
}

/// An iterator over complete lines of results, with their checksums verified and removed.
#[derive(Debug)]
pub struct Lines {
    file: BufReader<File>,
    name: PathBuf,
    /// Whether every line must have a checksum.
    sealed: bool,
    /// The number of lines returned.
    line: u64,
    /// The number of bytes of the lines returned.
    read: u64,
}

impl Lines {
    fn new(file: File, path: &Path) -> Self {
        let sealed = path.parent().is_some_and(|dir| {
            path.file_name().is_some_and(|name| name == LINES)
                && read_sealed(dir).is_ok_and(|(_, sealed)| sealed)
        });
        Self { file: BufReader::new(file), name: path.to_owned(), sealed, line: 0, read: 0 }
    }

    /// Returns the record of a line.
    fn record(&self, mut line: String) -> io::Result<String> {
        let wrong = |what: &str| {
            let message = format!("line {} of {} {what}", self.line, self.name.display());
            Err(io::Error::new(io::ErrorKind::InvalidData, message))
        };
        // most lines end with a checksum, which is found there without a search
        let at_end = line.len().checked_sub(CHECKSUM.len() + "0123456789abcdef\"}".len());
        let at_end = at_end.filter(|at| line.get(*at..).is_some_and(|end| end.starts_with(CHECKSUM)));
        let Some(open) = at_end.or_else(|| line.rfind(CHECKSUM)) else {
            if self.sealed {
                return wrong("has no checksum, and all others have one: it was not written by warpbound");
            }
            return Ok(line);
        };
        let checksum = line[open + CHECKSUM.len()..].strip_suffix("\"}");
        if checksum != Some(checksum_of(&line[..open]).as_str()) {
            return wrong("has another checksum than its contents: it was changed after it was written");
        }
        line.truncate(open);
        line.push('}');
        Ok(line)
    }
}

impl Iterator for Lines {
    type Item = io::Result<String>;

    fn next(&mut self) -> Option<io::Result<String>> {
        use std::io::Read;
        let mut line = Vec::new();
        match self.file.by_ref().take(MAX_LINE).read_until(b'\n', &mut line) {
            Err(error) => Some(Err(error)),
            // a last line without a line feed was not written completely
            Ok(_) if line.pop_if(|last| *last == b'\n').is_none() => None,
            Ok(bytes) => {
                self.read += bytes as u64;
                self.line += 1;
                Some(String::from_utf8(line).map_err(io::Error::other).and_then(|line| self.record(line)))
            }
        }
    }
}

/// Reads the manifest of a folder of results.
///
/// # Errors
/// If the manifest does not exist or is invalid.
pub fn read_manifest(dir: &Path) -> Result<Manifest, Diagnostic> {
    let (manifest, sealed) = read_sealed(dir)?;
    if !sealed {
        tracing::warn!("{}: written without checksums, so that changes are not noticed", dir.display());
    }
    Ok(manifest)
}

/// Reads the manifest, and returns whether it has a checksum.
fn read_sealed(dir: &Path) -> Result<(Manifest, bool), Diagnostic> {
    #[derive(Deserialize)]
    struct Read {
        #[serde(flatten)]
        manifest: Manifest,
        checksum: Option<String>,
    }
    let text = read::bytes(&dir.join(MANIFEST), read::TEXT_BYTES)?;
    let Read { manifest, checksum } = serde_json::from_slice(&text).map_err(|error| {
        problem(dir, format!("manifest.json is not a manifest: {error}"))
            .hint("`warpbound sweep` and `merge` write folders of results")
    })?;
    if checksum.as_ref().is_some_and(|checksum| *checksum != digest(&manifest)) {
        let message =
            "manifest.json has another checksum than its contents: it was changed after it was written";
        return Err(problem(dir, message.to_owned()));
    }
    Ok((manifest, checksum.is_some()))
}

/// Opens the lines of a folder of results.
///
/// # Errors
/// If the file cannot be opened.
pub fn read_lines(dir: &Path) -> Result<Lines, Diagnostic> {
    let file = File::open(dir.join(LINES));
    let file = file.map_err(|error| problem(dir, format!("cannot read results.jsonl: {error}")))?;
    Ok(Lines::new(file, &dir.join(LINES)))
}

/// Opens the lines of a file in any folder. Another thread reads them and verifies their checksums,
/// which takes a good part of the time of a report.
///
/// # Errors
/// If the file cannot be opened.
pub fn lines_of(file: &Path) -> Result<Ahead, Diagnostic> {
    let impossible = |error| problem(file, format!("cannot read the file: {error}"));
    Ahead::new(Lines::new(File::open(file).map_err(impossible)?, file)).map_err(impossible)
}

/// Lines that another thread reads ahead, in their order.
#[derive(Debug)]
pub struct Ahead {
    from: mpsc::Receiver<Vec<io::Result<String>>>,
    next: std::vec::IntoIter<io::Result<String>>,
    /// Whether the last line was received.
    ended: bool,
}

impl Ahead {
    /// The lines that are passed on together, and how often these wait for the receiver.
    const TOGETHER: usize = 256;
    const WAITING: usize = 4;

    fn new(mut lines: Lines) -> io::Result<Self> {
        let (to, from) = mpsc::sync_channel(Self::WAITING);
        thread::Builder::new().spawn(move || {
            loop {
                let some: Vec<io::Result<String>> = lines.by_ref().take(Self::TOGETHER).collect();
                let is_last = some.is_empty();
                // after an error of its own the receiver is gone
                if to.send(some).is_err() || is_last {
                    break;
                }
            }
        })?;
        Ok(Self { from, next: Vec::new().into_iter(), ended: false })
    }
}

impl Iterator for Ahead {
    type Item = io::Result<String>;

    fn next(&mut self) -> Option<io::Result<String>> {
        if let Some(line) = self.next.next() {
            return Some(line);
        }
        if self.ended {
            return None;
        }
        match self.from.recv() {
            Ok(some) => {
                // no lines at all are the end
                self.ended = some.is_empty();
                self.next = some.into_iter();
                self.next.next()
            }
            // the thread ended without the last line, because of a fault of its own
            Err(error) => {
                self.ended = true;
                Some(Err(io::Error::other(error)))
            }
        }
    }
}

fn problem(dir: &Path, message: String) -> Diagnostic {
    Diagnostic::general(dir.display().to_string(), message)
}

/// Locks the folder for this process while the result is alive. Returns `None` if the file system
/// has no locks.
///
/// # Errors
/// If another process holds the lock.
fn lock(dir: &Path) -> Result<Option<File>, Diagnostic> {
    let folder = match File::open(dir) {
        Ok(folder) => folder,
        Err(error) => {
            tracing::warn!("{}: cannot be locked: {error}", dir.display());
            return Ok(None);
        }
    };
    match folder.try_lock() {
        Ok(()) => Ok(Some(folder)),
        Err(TryLockError::WouldBlock) => {
            Err(problem(dir, "another process writes to this folder".to_owned())
                .hint("wait for it, or choose another folder"))
        }
        // on a file system without locks, a warning is all that can be done
        Err(TryLockError::Error(error)) => {
            tracing::warn!("{}: cannot be locked: {error}", dir.display());
            Ok(None)
        }
    }
}
