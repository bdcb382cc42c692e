//! Loop bounds that somebody gives, by loop.

use crate::cli::args::Hybrid;
use crate::cli::loop_bounds::{Given, given};
use crate::diag::{Diagnostic, Diagnostics};

/// The bounds by loop; `names` are what the loops are called, a line or a node, which several may share.
///
/// # Errors
/// Every bound that is none, or of no loop.
pub fn bounds(args: &Hybrid, names: &[String], what: &str) -> Result<Vec<Option<u64>>, Diagnostics> {
    let mut problems = Diagnostics::new();
    let mut bounds = vec![None; names.len()];
    for Given { text, place } in given(&args.loop_bound, args.annotations.as_deref())? {
        match bound(&text, names, what) {
            Ok((name, bound)) => {
                let loops = names.iter().zip(&mut bounds).filter(|(known, _)| **known == name);
                loops.for_each(|(_, of)| *of = Some(bound));
            }
            Err((message, hint)) => problems.push(Diagnostic { message, hint, ..place }),
        }
    }
    problems.into_result(bounds)
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
