//! The CSV trace: one line per issue, for scripts.

use std::io::{self, Write};

use super::{Issue, Observer};

/// Writes `block,warp,index,pc,issue,start,done,unit`, a header first. Times are those of the SM;
/// `pc` is the index of the instruction in the program, `unit` the unit's name.
pub struct CsvTrace<'a> {
    out: &'a mut dyn Write,
    units: Vec<String>,
    written: io::Result<()>,
}

impl<'a> CsvTrace<'a> {
    /// Writes to `out`, best a buffered one; `units` are the names of the machine's units.
    pub fn new(out: &'a mut dyn Write, units: impl IntoIterator<Item = String>) -> Self {
        let written = writeln!(out, "block,warp,index,pc,issue,start,done,unit");
        Self { out, units: units.into_iter().map(|name| quoted(&name)).collect(), written }
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
        let unit = self.units.get(issue.unit.index()).map_or("", String::as_str);
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
fn quoted(field: &str) -> String {
    if field.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::perfetto::tests::issue;

    #[test]
    fn one_line_per_issue_and_a_header() {
        let mut out = Vec::new();
        let mut csv = CsvTrace::new(&mut out, ["alu".to_owned(), "a,b".to_owned()]);
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
        let mut csv = CsvTrace::new(&mut full, []);
        csv.issued(&issue(0, 0, 0, 1));
        assert_eq!(csv.finish().unwrap_err().to_string(), "full");
    }
}
