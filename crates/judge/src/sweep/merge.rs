//! The combination of the results of shards.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The reason why results cannot be combined.
#[derive(Debug, PartialEq, Eq)]
pub enum MergeError<E> {
    /// A line of an input is not a record.
    NoRecord {
        /// The index of the input.
        input: usize,
        /// The number of the line, from 1.
        line: u64,
    },
    /// The points of this input are not in order.
    OutOfOrder {
        /// The index of the input.
        input: usize,
        /// The number of the line, from 1.
        line: u64,
    },
    /// Two inputs have different records of a point.
    Contradiction {
        /// The point.
        point: u64,
        /// The indices of the inputs.
        inputs: [usize; 2],
    },
    /// An input cannot be read, or the result cannot be written.
    Io(E),
}

/// Merges inputs whose lines are in the order of their points, which `point_of` returns; a record
/// that several inputs have is written once. Returns the number of points. Merging the result again
/// with any of the inputs gives the same result.
///
/// # Errors
/// Returns an error for lines that are not records, and for records that contradict each other.
pub fn merge<E>(
    inputs: Vec<impl Iterator<Item = Result<String, E>>>,
    point_of: impl Fn(&str) -> Option<u64>,
    mut sink: impl FnMut(&str) -> Result<(), E>,
) -> Result<u64, MergeError<E>> {
    let mut inputs: Vec<Input<_>> =
        inputs.into_iter().map(|lines| Input { lines, line: 0, last: None }).collect();
    let mut heads = BinaryHeap::new();
    for (index, input) in inputs.iter_mut().enumerate() {
        heads.extend(input.next(index, &point_of)?.map(Reverse));
    }
    let mut points = 0;
    let mut last: Option<(u64, String, usize)> = None;
    while let Some(Reverse((point, index, line))) = heads.pop() {
        heads.extend(inputs[index].next(index, &point_of)?.map(Reverse));
        match &last {
            Some((known, text, from)) if *known == point => {
                if *text != line {
                    return Err(MergeError::Contradiction { point, inputs: [*from, index] });
                }
            }
            _ => {
                sink(&line).map_err(MergeError::Io)?;
                points += 1;
                last = Some((point, line, index));
            }
        }
    }
    Ok(points)
}

struct Input<I> {
    lines: I,
    line: u64,
    last: Option<u64>,
}

impl<E, I: Iterator<Item = Result<String, E>>> Input<I> {
    fn next(
        &mut self,
        input: usize,
        point_of: &impl Fn(&str) -> Option<u64>,
    ) -> Result<Option<(u64, usize, String)>, MergeError<E>> {
        let Some(text) = self.lines.next() else { return Ok(None) };
        let text = text.map_err(MergeError::Io)?;
        self.line += 1;
        let line = self.line;
        let point = point_of(&text).ok_or(MergeError::NoRecord { input, line })?;
        if self.last.replace(point).is_some_and(|last| last >= point) {
            return Err(MergeError::OutOfOrder { input, line });
        }
        Ok(Some((point, input, text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(inputs: &[&[&str]]) -> Result<Vec<String>, MergeError<()>> {
        let inputs = inputs.iter().map(|lines| lines.iter().map(|line| Ok((*line).to_owned()))).collect();
        let mut all = Vec::new();
        let point_of = |line: &str| serde_json::from_str::<serde_json::Value>(line).ok()?["point"].as_u64();
        let points = merge(inputs, point_of, |line| {
            all.push(line.to_owned());
            Ok(())
        })?;
        assert_eq!(points as usize, all.len());
        Ok(all)
    }

    #[test]
    fn merging_is_idempotent() {
        let (a, b, c) = (r#"{"point":0,"x":1}"#, r#"{"point":1}"#, r#"{"point":7}"#);
        let all = vec![a.to_owned(), b.to_owned(), c.to_owned()];
        assert_eq!(merged(&[&[a, c], &[b]]), Ok(all.clone()));
        assert_eq!(merged(&[&[a, b, c], &[b], &[a, c]]), Ok(all));
        assert_eq!(merged(&[&[], &[]]), Ok(vec![]));
    }

    #[test]
    fn invalid_and_contradictory_inputs_are_refused() {
        let (a, other) = (r#"{"point":0,"x":1}"#, r#"{"point":0,"x":2}"#);
        assert_eq!(merged(&[&[a], &[other]]), Err(MergeError::Contradiction { point: 0, inputs: [0, 1] }));
        assert_eq!(merged(&[&[a, "{}"]]), Err(MergeError::NoRecord { input: 0, line: 2 }));
        assert_eq!(merged(&[&[a, a]]), Err(MergeError::OutOfOrder { input: 0, line: 2 }));
    }
}
