//! Checkpoints: a file, written between kernels, with which another process can resume an
//! application.
//!
//! The first line has the length and the digest of the rest. The second line is JSON and identifies
//! the application and its options. Compressed data follow: counters of the command, the
//! measurements so far, and the contents of device memory. The file is replaced atomically, so that
//! there is always a valid one. It is written when a kernel has ended, but only so often that
//! writing takes at most a twentieth of the time. The process that resumes repeats the kernels that
//! ended after the last write, which does not change the result.

use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::args;
use super::files::{Outputs, Part, Parts};
use super::output::Ending;
use super::session::Session;
use warpbound_core::base::Fnv1a;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_judge::check::{Application, ApplicationProgress, ProgressOf, SavedProgress};
use warpbound_judge::load::read;

mod identity;

pub use identity::Identity;

/// The start of the first line; the number is the version of the format.
const MAGIC: &str = "warpbound checkpoint 1";
/// The greatest length of the first line, in bytes.
const MAX_HEADING: usize = 80;
/// The greatest size of the file, in bytes.
const MAX_BYTES: u64 = 64 << 30;
/// Writing takes at most one part in this many of the time.
const SHARE: u32 = 20;

/// A checkpoint that is kept up to date.
pub struct Checkpoint {
    path: PathBuf,
    identity: Identity,
    parts: Parts,
    /// The number of kernels completed according to the file, and the number of all kernels.
    kept: (u64, u64),
    /// The time of the last write, and how long that took.
    written: Option<(Instant, Duration)>,
    /// The error of the last attempt to write, if it failed.
    problem: Option<Diagnostic>,
}

/// An opened checkpoint and its contents.
pub struct Opened<O> {
    pub checkpoint: Checkpoint,
    /// The state that another process reached, and the counters of the command.
    pub from: Option<(SavedProgress, O)>,
}

impl Checkpoint {
    /// Opens a checkpoint: checks that the file can be written and, with `--resume`, reads its
    /// contents.
    pub fn open<O: DeserializeOwned>(
        options: &args::Checkpoint,
        force: bool,
        identity: Identity,
        progress: &ProgressOf,
        inputs: &[PathBuf],
        session: &Session,
    ) -> Result<Option<Opened<O>>, Diagnostics> {
        let Some(path) = &options.checkpoint else { return Ok(None) };
        let there = path.exists();
        let may_replace = force || options.resume;
        let refused = |problem: Diagnostic| match there && !may_replace {
            true => problem.hint("--resume goes on with it, --force starts again; or choose another name"),
            false => problem,
        };
        Outputs::new(inputs, may_replace, &session.parts).file("--checkpoint", path).map_err(refused)?;
        let mut checkpoint = Self {
            path: path.clone(),
            identity,
            parts: session.parts.clone(),
            kept: (0, progress.launches()),
            written: None,
            problem: None,
        };
        if !there || !options.resume {
            return Ok(Some(Opened { checkpoint, from: None }));
        }
        let (begun, counters) = checkpoint
            .read(progress)
            .map_err(|(message, hint)| Diagnostic::general(path.display().to_string(), message).hint(hint))?;
        checkpoint.kept = begun.through(progress);
        let (done, all) = checkpoint.kept;
        tracing::info!("{}: going on after {done} of {all} kernels", path.display());
        Ok(Some(Opened { checkpoint, from: Some((begun, counters)) }))
    }

    /// Reads the contents of the file, or returns what is wrong with it and a hint.
    fn read<O: DeserializeOwned>(
        &self,
        progress: &ProgressOf,
    ) -> Result<(SavedProgress, O), (String, &'static str)> {
        let start_again =
            "it cannot be resumed: start again with --force and without --resume, or choose another name";
        let damaged = |message: String| (message, start_again);
        let bytes = read::bytes(&self.path, MAX_BYTES)
            .map_err(|problem| (problem.message, "a checkpoint is written by --checkpoint"))?;
        let (known, packed) = opened(&bytes).map_err(damaged)?;
        if let Some(difference) = self.identity.difference(&known) {
            return Err((
                format!("it belongs to another run: {difference}"),
                "resume it with the inputs and options of that run; or start again with --force and without --resume, or choose another name",
            ));
        }
        let mut inside = BufReader::new(ZlibDecoder::new(packed));
        let counters = read_counters(&mut inside).map_err(|why| damaged(format!("after line 2: {why}")))?;
        let begun = SavedProgress::read(&mut inside, progress)
            .map_err(|why| damaged(format!("after line 2: {why}")))?;
        Ok((begun, counters))
    }

    /// Writes the state after a kernel has ended, unless it was written recently. `counters` are
    /// those of the command.
    pub fn keep(
        &mut self,
        application: &Application,
        reached: &ApplicationProgress,
        counters: &impl Serialize,
    ) {
        let (done, all) = reached.through(application);
        let early = |(at, took): (Instant, Duration)| at.elapsed() < took * SHARE;
        if done < all && self.written.is_some_and(early) {
            return;
        }
        let began = Instant::now();
        match self.write(reached, counters) {
            Ok(()) => {
                self.kept = (done, all);
                self.problem = None;
            }
            Err(error) => {
                let message = format!("cannot write the file: {error}");
                self.problem = Some(Diagnostic::general(self.path.display().to_string(), message));
            }
        }
        self.written = Some((Instant::now(), began.elapsed()));
    }

    fn write(&self, reached: &ApplicationProgress, counters: &impl Serialize) -> std::io::Result<()> {
        let mut rest = serde_json::to_vec(&self.identity)?;
        rest.push(b'\n');
        let mut packed = ZlibEncoder::new(rest, Compression::fast());
        serde_json::to_writer(&mut packed, counters)?;
        packed.write_all(b"\n")?;
        reached.write(&mut packed)?;
        let rest = packed.finish()?;
        let mut part = Part::create(&self.path, &self.parts)?;
        part.write_all(heading_of(&rest).as_bytes())?;
        part.write_all(&rest)?;
        part.place_synced()
    }

    /// Reports how to resume, if the command was stopped early, and errors of writing.
    pub fn conclude(self, session: &Session, ending: &mut Ending) {
        let (done, all) = self.kept;
        if session.stopped().is_some() && done < all {
            let message = format!("{done} of {all} kernels are kept");
            let problem = Diagnostic::general(self.path.display().to_string(), message);
            ending.late.push(problem.hint("the same command with --resume goes on"));
        }
        ending.late.append(self.problem.map(Diagnostics::from).unwrap_or_default());
    }
}

/// Splits the bytes of a file into its identity and the compressed data.
fn opened(bytes: &[u8]) -> Result<(Identity, &[u8]), String> {
    let heading = bytes.iter().take(MAX_HEADING).position(|&byte| byte == b'\n');
    let (line, rest) = match heading {
        Some(end) if bytes.starts_with(MAGIC.as_bytes()) => bytes.split_at(end + 1),
        _ if bytes.starts_with(b"warpbound checkpoint ") => {
            return Err("line 1 is not that of a checkpoint of this version".to_owned());
        }
        _ => return Err("line 1 is not that of a checkpoint".to_owned()),
    };
    if line != heading_of(rest).as_bytes() {
        return Err(format!(
            "the {} bytes after line 1 do not match its length and checksum: the file is cut off or has been changed",
            rest.len()
        ));
    }
    let end = rest.iter().position(|&byte| byte == b'\n').ok_or("line 2 does not end")?;
    let identity = serde_json::from_slice(&rest[..end]);
    let identity = identity.map_err(|error| format!("line 2 does not describe the run: {error}"))?;
    Ok((identity, &rest[end + 1..]))
}

/// Returns the first line of the file, with its line feed, for this rest.
fn heading_of(rest: &[u8]) -> String {
    format!("{MAGIC} {} {:016x}\n", rest.len(), Fnv1a::of(rest))
}

/// Reads the counters of the command from a line of JSON.
fn read_counters<O: DeserializeOwned>(from: &mut impl std::io::BufRead) -> Result<O, String> {
    let line = warpbound_judge::check::line(from)?;
    serde_json::from_slice(&line).map_err(|error| format!("the counters cannot be read: {error}"))
}

/// Returns the error for a command that was stopped before it opened its checkpoint. It opens the
/// checkpoint only after reading all kernels, because their contents decide whether the checkpoint
/// belongs to them.
pub fn not_begun(path: &Path, session: &Session) -> Diagnostic {
    let spent = session.elapsed().as_secs_f64();
    let message =
        format!("stopped after {spent:.1} s, before all kernels were read, so nothing was added to it");
    let hint = "each try reads all kernels before it runs the first one: give more time than that takes, and the same command goes on";
    Diagnostic::general(path.display().to_string(), message).hint(hint)
}

/// Returns the error for commands with several kernels, or with one that is not an application.
pub fn of_one(path: &Path, what: &str) -> Diagnostic {
    Diagnostic::general(format!("--checkpoint {}", path.display()), what.to_owned())
        .hint("it is written between the kernels of a program file or of a list of traces; give one of these")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_files_are_rejected() {
        let mut rest = serde_json::to_vec(&Identity::default()).unwrap();
        rest.extend(b"\n\x78\x01 whatever is packed");
        let whole = [heading_of(&rest).as_bytes(), &rest].concat();
        assert_eq!(opened(&whole).unwrap().1, b"\x78\x01 whatever is packed");
        for length in 0..whole.len() {
            opened(&whole[..length]).expect_err("it is cut off");
        }
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut changed = whole.clone();
                changed[at] ^= 1 << bit;
                let problem = opened(&changed).expect_err("a byte is different");
                assert!(problem.contains("line "), "{problem}");
            }
        }
        // a valid heading with an invalid rest
        for rest in ["", "\n", "{}\n", "{\"tool_version\":3}\n", "null\n"] {
            let file = heading_of(rest.as_bytes()) + rest;
            assert!(opened(file.as_bytes()).expect_err(rest).contains("line 2"), "{rest:?}");
        }
    }

    #[test]
    fn every_difference_has_a_name() {
        let ours = serde_json::to_value(Identity::default()).unwrap();
        for (key, value) in ours.as_object().unwrap() {
            let other = match value {
                serde_json::Value::String(_) => "x".into(),
                serde_json::Value::Bool(_) => true.into(),
                serde_json::Value::Array(_) if key == "policies" => serde_json::json!([["x"]]),
                serde_json::Value::Array(_) if key == "files" || key == "machines" => {
                    serde_json::json!([["x", "0"]])
                }
                serde_json::Value::Array(_) => serde_json::json!(["x"]),
                _ => 7.into(),
            };
            let mut other_identity = ours.clone();
            other_identity[key] = other;
            let other_identity: Identity = serde_json::from_value(other_identity).unwrap();
            let difference = Identity::default().difference(&other_identity).expect(key);
            assert!(difference.contains(" there, "), "{key}: {difference}");
        }
        assert_eq!(Identity::default().difference(&Identity::default()), None);
    }
}
