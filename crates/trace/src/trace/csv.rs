//! The CSV trace: one line per issue, for scripts.

use std::borrow::Cow;
use std::io::{self, Write};

use super::{Event, Issue, Listing, Needs, Observer, UnitInstances};
use warpbound_core::diag::printable;

/// Writes a header and lines of the form `block,warp,index,pc,issue,start,done,unit,line,text`.
/// Times are those of the SM. `pc` is the index of the instruction in the program, and `unit` is
/// the name of the unit or, with several sub-cores, the name of its instance ([`UnitInstances`]).
/// `line` (from 1; 0 if unknown) and `text` are those of the instruction in its source. Fields are
/// quoted as RFC 4180 requires, where necessary.
pub struct CsvTrace<'a> {
    out: &'a mut dyn Write,
    units: UnitInstances,
    listing: &'a Listing,
    written: io::Result<()>,
}

impl<'a> CsvTrace<'a> {
    /// Creates a trace that writes to `out`, which should be buffered. `units` are those of the
    /// machine, and `listing` is that of the program.
    #[inline]
    pub fn new(out: &'a mut dyn Write, units: UnitInstances, listing: &'a Listing) -> Self {
        let written = writeln!(out, "block,warp,index,pc,issue,start,done,unit,line,text");
        Self { out, units, listing, written }
    }

    /// Flushes the output.
    ///
    /// # Errors
    /// Returns the first write error, whenever it occurred.
    #[inline]
    pub fn finish(self) -> io::Result<()> {
        self.written?;
        self.out.flush()
    }
}

impl Observer for CsvTrace<'_> {
    fn needs(&self) -> Needs {
        Needs::IN_ORDER
    }

    fn on(&mut self, event: &Event) {
        match event {
            Event::Issued(issue) => self.issued(issue),
            Event::Sm(_)
            | Event::BlockStarted(_)
            | Event::Idled(_)
            | Event::BarrierReleased(_)
            | Event::WarpFinished(_)
            | Event::BlockEnded { .. }
            | Event::Sampled(_) => {}
        }
    }
}

impl CsvTrace<'_> {
    fn issued(&mut self, issue: &Issue) {
        if self.written.is_err() {
            return;
        }
        let pc = issue.step.pc();
        self.written = writeln!(
            self.out,
            "{},{},{},{},{},{},{},{},{},{}",
            issue.block.get(),
            issue.warp.get(),
            issue.index,
            pc.get(),
            issue.issue,
            issue.start,
            issue.done,
            quoted(self.units.name(issue)),
            self.listing.line(pc),
            quoted(self.listing.text(pc))
        );
    }
}

/// Quotes a field of a CSV file as RFC 4180 requires, and prevents spreadsheets from interpreting
/// it as a formula.
pub fn quoted(field: &str) -> Cow<'_, str> {
    let field = match is_formula(field) {
        true => Cow::Owned(format!("'{}", printable(field))),
        false => printable(field),
    };
    if field.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\"")).into()
    } else {
        field
    }
}

/// Returns whether a spreadsheet would interpret a text as a formula: it begins with the sign of a
/// formula and is not a number.
fn is_formula(field: &str) -> bool {
    field.starts_with(['=', '+', '-', '@', '\t', '\r']) && field.parse::<f64>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::perfetto::tests::issue;

    #[test]
    fn one_line_per_issue_and_a_header() {
        let mut out = Vec::new();
        let listing = Listing::new([(3, "add r1, r2".to_owned()), (0, "say \"a\"".to_owned())]);
        let mut csv = CsvTrace::new(&mut out, UnitInstances::one_each(["alu", "a,b"]), &listing);
        csv.issued(&issue(0, 2, 3, 5));
        csv.issued(&issue(1, 4, 4, 9));
        csv.finish().unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "block,warp,index,pc,issue,start,done,unit,line,text\n\
             0,0,0,0,2,3,5,alu,3,\"add r1, r2\"\n\
             0,0,1,1,4,4,9,\"a,b\",0,\"say \"\"a\"\"\"\n"
        );
    }

    #[test]
    fn a_full_disk_is_reported() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::Error::other("full"))
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut full = Full;
        let listing = Listing::default();
        let mut csv = CsvTrace::new(&mut full, UnitInstances::default(), &listing);
        csv.issued(&issue(0, 0, 0, 1));
        assert_eq!(csv.finish().unwrap_err().to_string(), "full");
    }
}
