//! The given loop bounds, by loop.

use crate::args::Hybrid;
use crate::loop_bounds::{Given, given};
use warpbound_core::diag::{Diagnostic, Diagnostics};

/// Returns the bound of each loop. `names` are the names of the loops, lines or nodes; several
/// loops may share one.
///
/// # Errors
/// Every bound that is invalid or refers to no loop.
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

/// Parses the name of a loop and its bound, or returns what is wrong and a hint.
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
