//! Loop bounds that somebody gives: `--loop-bound` and `--annotations`.

use std::path::Path;

use crate::cli::args::Hybrid;
use crate::cli::files::read;
use crate::diag::{Diagnostic, Diagnostics};

/// The bounds by loop; `names` are what the loops are called, a line or a node, which several may share.
///
/// # Errors
/// Every bound that is none, or of no loop.
pub fn bounds(args: &Hybrid, names: &[String], what: &str) -> Result<Vec<Option<u64>>, Diagnostics> {
    let mut problems = Diagnostics::new();
    let mut bounds = vec![None; names.len()];
    let mut add = |text: &str, place: Diagnostic| match bound(text, names, what) {
        Ok((name, bound)) => {
            let loops = names.iter().zip(&mut bounds).filter(|(known, _)| **known == name);
            loops.for_each(|(_, of)| *of = Some(bound));
        }
        Err((message, hint)) => problems.push(Diagnostic { message, hint, ..place }),
    };
    if let Some(path) = &args.annotations {
        for (number, line) in annotations(path)?.lines().enumerate() {
            let text = line.split('#').next().unwrap_or("").trim();
            if !text.is_empty() {
                let file = Diagnostic::general(path.display().to_string(), "");
                let line_number = u32::try_from(number + 1).unwrap_or(u32::MAX);
                let width = u32::try_from(text.chars().count()).unwrap_or(1);
                let excerpt = line.to_owned();
                add(text, Diagnostic { line: line_number, column: 1, width, excerpt, ..file });
            }
        }
    }
    for text in &args.loop_bound {
        add(text, Diagnostic::general(format!("--loop-bound {text}"), ""));
    }
    problems.into_result(bounds)
}

fn annotations(path: &Path) -> Result<String, Diagnostic> {
    let bytes = read::text(path, read::TEXT_BYTES)?;
    String::from_utf8(bytes)
        .map_err(|_| Diagnostic::general(path.display().to_string(), "the file is not UTF-8 text"))
}

/// A loop and its bound, or what is wrong and what to do about it.
fn bound(text: &str, names: &[String], what: &str) -> Result<(String, u64), (String, String)> {
    let split = text.split_once('=').map(|(name, bound)| (name.trim(), bound.trim()));
    let parsed = split.and_then(|(name, bound)| Some((name.to_owned(), bound.parse::<u64>().ok()?)));
    let Some((name, bound)) = parsed else {
        let shape = what.to_uppercase();
        return Err((
            format!("expected {shape}=N"),
            format!("for example {shape}=16: at most 16 iterations"),
        ));
    };
    if names.contains(&name) {
        return Ok((name, bound));
    }
    let mut known: Vec<&str> = names.iter().map(String::as_str).collect();
    known.dedup();
    let hint = match known.as_slice() {
        [] => "there is no loop".to_owned(),
        [only] => format!("the only loop has its header at {what} {only}"),
        several => format!("loops have their headers at {what}s {}", several.join(", ")),
    };
    Err((format!("no loop has its header at {what} {name}"), hint))
}
