//! The reading of a text of traces into the observed data.

use std::collections::HashSet;
use std::io::{self, Read};

use super::ipg::Ipg;
use super::layout::{Blocks, Layout};
use super::observed::{Fault, Observed, Observer};
use super::trace::{ReadError, Reader, Record};
use warpbound_core::diag::{Diagnostic, Diagnostics};

/// The number of messages that are remembered, so that they are reported once.
const REMEMBERED: usize = 1000;

/// Reads traces to their end, with a memory size that does not depend on their length. Messages
/// call the input `file`.
///
/// `bounds` are the iteration bounds of the loops, and `layout` describes the blocks, if the user
/// gives them.
///
/// Every invalid line is reported, but lines with the same mistake only once. If events cannot follow each other, only the first such event is
/// reported, since it may be the cause of later ones. After a line that could not be read, none is
/// reported.
///
/// # Errors
/// The outer error concerns the input, the inner one its contents.
pub fn read_traces(
    input: impl Read,
    file: &str,
    ipg: &Ipg,
    bounds: &[Option<u64>],
    layout: Option<&Layout>,
) -> io::Result<Result<Observed, Diagnostics>> {
    let mut reader = Reader::new(input, file, ipg);
    let mut observer = Observer::with_bounds(ipg, bounds);
    let mut blocks = layout.map(|layout| Blocks::new(ipg, layout));
    let mut wrong = Diagnostics::new();
    // a trace of another program has the same mistake in most lines
    let mut reported: HashSet<String> = HashSet::new();
    let mut begun = false;
    loop {
        let record = match reader.next_record() {
            Ok(Some(record)) => record,
            Ok(None) => break,
            Err(ReadError::Io(error)) => return Err(error),
            Err(ReadError::Line(problem)) => {
                if !reported.contains(&problem.message) {
                    if reported.len() < REMEMBERED {
                        reported.insert(problem.message.clone());
                    }
                    wrong.push(*problem);
                }
                continue;
            }
        };
        if !wrong.is_empty() {
            continue;
        }
        let line = reader.line_number();
        let judged = match record {
            Record::Event(event) => observer.event(event, line),
            Record::Run if begun => observer.end_run(),
            Record::Run => Ok(()),
        };
        if let Some(blocks) = &mut blocks
            && judged.is_ok()
        {
            match record {
                Record::Event(event) => blocks.event(event),
                Record::Run => blocks.end_run(),
            }
        }
        begun = true;
        if let Err(fault) = judged {
            let message = fault.describe(ipg);
            let problem = match record {
                Record::Event(_) => reader.line_error(message),
                Record::Run => at_line_of(&fault, &message, file, line),
            };
            wrong.push(problem.hint(fault.hint(ipg)));
        }
    }
    if !wrong.is_empty() {
        return Ok(Err(wrong));
    }
    if !begun {
        return Ok(Err(Diagnostic::general(file, "a trace without events").into()));
    }
    let end = reader.line_number();
    Ok(match observer.finish() {
        Ok(found) => Ok(match blocks.map(Blocks::finish) {
            Some((blocks, sections)) => Observed { blocks, sections, ..found },
            None => found,
        }),
        Err(fault) => {
            let message = fault.describe(ipg);
            Err(at_line_of(&fault, &message, file, end).hint(fault.hint(ipg)).into())
        }
    })
}

/// Creates a diagnostic for a fault found at the end of a run, at the line of the event that it
/// concerns, whose text is no longer available.
fn at_line_of(fault: &Fault, message: &str, file: &str, end: u64) -> Diagnostic {
    let line = if fault.at.line == 0 { end } else { fault.at.line };
    let mut problem = Diagnostic::general(file, message);
    (problem.line, problem.column, problem.width) = (u32::try_from(line).unwrap_or(u32::MAX), 1, 1);
    problem
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpbound_core::base::Cycles;
    use warpbound_core::program::graph::FlowGraph;

    /// Returns a graph in which `a` leads to `b` or `c`, and those to `d`; `b` can repeat.
    fn diamond() -> Ipg {
        let graph =
            FlowGraph::new(vec![vec![1, 2], vec![1, 3], vec![3], vec![]], vec![false, false, false, true]);
        Ipg::new(&graph, &[], |_| true, |node| ["a", "b", "c", "d"][node].to_owned()).unwrap()
    }

    fn read(text: &str) -> Result<Observed, Diagnostics> {
        read_traces(text.as_bytes(), "t", &diamond(), &[], None).unwrap()
    }

    fn problems(text: &str) -> Vec<(u32, u32, String)> {
        let wrong = read(text).unwrap_err();
        wrong.list().iter().map(|p| (p.line, p.column, p.message.clone())).collect()
    }

    #[test]
    fn warps_of_the_same_number_and_several_multiprocessors_are_distinguished() {
        let text = "# a comment\nrun\na 0 0 5\na,1,0,7 # more\n\nb 0 0 6\r\n\tb , 0 , 0 , 9\nd 0 0 11\na 0 0 12\n\
                    c 1 0 20\nd 1 0 21\nb 0 0 14\nd 0 0 30\nrun\na 3 4 0\nc 3 4 1\nd 3 4 3\n";
        let found = read(text).unwrap();
        let ipg = diamond();
        let wcet = |from, to| found.timing.wcet[ipg.transition(from, to).unwrap()].map(Cycles::get);
        assert_eq!((wcet(0, 1), wcet(1, 1), wcet(1, 3)), (Some(2), Some(3), Some(16)));
        assert_eq!((wcet(0, 2), wcet(2, 3)), (Some(13), Some(2)));
        assert_eq!(found.timing.bound, [1]);
        assert_eq!((found.runs, found.warps, found.events), (2, 4, 13));
        assert_eq!((found.high_water.get(), found.high_water_run, found.shortest_run.get()), (25, 1, 3));
        assert_eq!(found.longest_warp.get(), 18);
        let longest = found.longest[ipg.transition(1, 3).unwrap()].unwrap();
        assert_eq!((longest.run, longest.sm, longest.warp, longest.line), (1, 0, 0, 13));
        // on SM 0 the second start, in cycle 12, comes after an end
        assert_eq!((found.waves.waves, found.waves.warps_per_wave, found.waves.jitter.get()), (2, 1, 7));
    }

    #[test]
    fn every_invalid_line_is_reported() {
        let text = "a 0 0\na 0 0 x\na 0 4294967296 1\nq 0 0 1\na 0 0 1 2\nrun 2\n,a 0 0 1\na 0,,0 1\n\
                    a 0 0 18446744073709551616\na -1 0 1\n";
        let found = problems(text);
        let lines: Vec<u32> = found.iter().map(|(line, ..)| *line).collect();
        assert_eq!(lines, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        assert!(found[0].2.contains("cycle is missing"), "{found:?}");
        assert_eq!((found[1].1, found[2].1, found[4].1), (7, 5, 9));
        assert!(found[3].2.contains("no ipoint is called `q`"), "{found:?}");
        assert!(found[7].2.contains("warp is missing"), "{found:?}");
    }

    #[test]
    fn an_impossible_order_of_events_is_reported_once() {
        let one = |text: &str| {
            let found = problems(text);
            assert_eq!(found.len(), 1, "{found:?}");
            found[0].clone()
        };
        let unsorted = one("a 0 0 5\na 0 1 4\na 0 2 3\n");
        assert!(unsorted.0 == 2 && unsorted.2.contains("unsorted"), "{unsorted:?}");
        let again = one("a 0 0 5\na 0 0 6\n");
        assert!(again.0 == 2 && again.2.contains("begins again"), "{again:?}");
        let start = one("a 0 0 5\nb 0 1 6\n");
        assert!(start.0 == 2 && start.2.contains("warp 1 of SM 0") && start.2.contains("not started"));
        let jump = one("a 0 7 5\nc 0 7 6\nb 0 7 7\n");
        assert!(jump.0 == 3 && jump.2.contains("warp 7 of SM 0 goes from `c` to `b`"), "{jump:?}");
        let open = one("a 0 0 5\nc 0 0 6\nrun\n");
        assert!(open.0 == 2 && open.2.contains("never ends"), "{open:?}");
        let ended = one("a 0 0 5\nc 0 0 6\nd 0 0 7\nd 0 0 8\n");
        assert!(ended.0 == 4 && ended.2.contains("not started"), "{ended:?}");
        let cut = one("a 0 0 5\nc 0 0 6\nd 0 0 1");
        assert!(cut.0 == 3 && cut.2.contains("does not end"), "{cut:?}");
        let empty = one("run\nrun\na 0 0 5\n");
        assert!(empty.0 == 2 && empty.2.contains("run 1 has no events"), "{empty:?}");
        assert!(one("# nothing\n").2.contains("without events"));
        assert!(one("run\n").2.contains("no events"));
        // each multiprocessor has its own time
        assert!(read("a 0 0 5\na 1 0 4\nc 1 0 5\nd 1 0 5\nc 0 0 6\nd 0 0 6\n").is_ok());
    }

    /// A reader that returns its bytes a few at a time, as pipes may.
    struct SmallReads<'a>(&'a [u8], usize);

    impl Read for SmallReads<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(into.len());
            into[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[test]
    fn the_size_of_the_pieces_of_an_input_does_not_matter() {
        let mut text = "run\n".to_owned();
        for at in 0..90 {
            let sep = ["", " ", "  ,\t"][at % 3];
            text += &format!("a 0 {at} {at}{sep}\nc 0  {at} {at} # {}\nd 0 {at} {at}\n", "-".repeat(at * 40));
        }
        let outcome = |found: Result<Observed, Diagnostics>| match found {
            Ok(found) => format!("{found:?}"),
            Err(wrong) => wrong.to_string(),
        };
        let long = format!("{text}{}\nq\n{}", "x".repeat(9000), "y".repeat(4097));
        let cases = [text.clone(), text.trim_end().to_owned(), text.replace("a 0 7 7", "a 0 7 a"), long];
        for text in &cases {
            let whole = outcome(read(text));
            for size in [1, 2, 3, 7, 64, 4095, 4096, 4097, 4098] {
                let found =
                    read_traces(SmallReads(text.as_bytes(), size), "t", &diamond(), &[], None).unwrap();
                assert_eq!(outcome(found), whole, "{size}");
            }
        }
        assert!(read(&text).unwrap().events == 270);
        let lines: Vec<u32> = problems(&cases[3]).iter().map(|(line, ..)| *line).collect();
        // line 274 is too long, too, which is reported once
        assert_eq!(lines, [272, 273]);
    }

    #[test]
    fn numbers_at_their_limits() {
        let most = format!("a {0} {0} {1}\nc {0} {0} {1}\nd {0} {0} {1}\n", u32::MAX, u64::MAX);
        let found = read(&most).unwrap();
        assert_eq!((found.events, found.high_water), (3, Cycles::ZERO));
        for wrong in [
            "a 4294967296 0 0",
            "a 0 4294967296 0",
            "a 0 0 18446744073709551616",
            "a 0 0 99999999999999999999",
        ] {
            assert_eq!(problems(&format!("{wrong}\n")).len(), 1, "{wrong}");
        }
        let zeros = "a 000000000000 0 00000000000000000000007\nc 0 0 8\nd 0 00 9\n";
        assert_eq!(read(zeros).unwrap().high_water.get(), 2);
    }

    #[test]
    fn garbage_causes_no_panic_and_long_lines_are_skipped() {
        let mut text = vec![b'a'; 100_000];
        text.extend_from_slice(b"\na 0 0 \xff\n\xff\xfe 1 2 3\n\0\n");
        let wrong = read_traces(text.as_slice(), "t", &diamond(), &[], None).unwrap().unwrap_err();
        let lines: Vec<u32> = wrong.list().iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [1, 2, 3, 4]);
        assert!(wrong.to_string().contains("4096 bytes"));
    }
}
