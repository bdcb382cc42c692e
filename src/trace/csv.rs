//! The CSV trace: one line per issue, for scripts.

use std::borrow::Cow;
use std::io::{self, Write};

use super::{Issue, Observer, UnitInstances};

/// Writes `block,warp,index,pc,issue,start,done,unit`, a header first. Times are those of the SM;
/// `pc` is the index of the instruction in the program, `unit` the name of the unit, with several
/// sub-cores of its instance ([`UnitInstances`]).
pub struct CsvTrace<'a> {
    out: &'a mut dyn Write,
    units: UnitInstances,
    written: io::Result<()>,
}

impl<'a> CsvTrace<'a> {
    /// Writes to `out`, best a buffered one; `units` are those of the machine.
    pub fn new(out: &'a mut dyn Write, units: UnitInstances) -> Self {
        let written = writeln!(out, "block,warp,index,pc,issue,start,done,unit");
        Self { out, units, written }
    }

    /// Flushes.
    ///
    /// # Errors
    /// The first write that failed, whenever that was.
    pub fn finish(self) -> io::Result<()> {
        self.written?;
        self.out.flush()
    }
}

impl Observer for CsvTrace<'_> {
    fn issued(&mut self, issue: &Issue) {
        if self.written.is_err() {
            return;
        }
        let unit = quoted(self.units.name(issue));
        self.written = writeln!(
            self.out,
            "{},{},{},{},{},{},{},{}",
            issue.block.get(),
            issue.warp.get(),
            issue.index,
            issue.step.pc().get(),
            issue.issue,
            issue.start,
            issue.done,
            unit
        );
    }
}

/// A field as RFC 4180 wants it.
fn quoted(field: &str) -> Cow<'_, str> {
    if field.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\"")).into()
    } else {
        field.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::perfetto::tests::issue;

    #[test]
    fn one_line_per_issue_and_a_header() {
        let mut out = Vec::new();
        let mut csv = CsvTrace::new(&mut out, UnitInstances::one_each(["alu", "a,b"]));
        csv.issued(&issue(0, 2, 3, 5));
        csv.issued(&issue(1, 4, 4, 9));
        csv.finish().unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "block,warp,index,pc,issue,start,done,unit\n0,0,0,0,2,3,5,alu\n0,0,1,1,4,4,9,\"a,b\"\n"
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
        let mut csv = CsvTrace::new(&mut full, UnitInstances::default());
        csv.issued(&issue(0, 0, 0, 1));
        assert_eq!(csv.finish().unwrap_err().to_string(), "full");
    }
}
