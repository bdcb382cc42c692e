//! `kernelslist.g`: the kernels in order, and the copies from the host between them.

use warpbound_core::diag::{Diagnostics, SourceText};

/// A list of traces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelsList {
    /// The kernels in order.
    pub kernels: Vec<Listed>,
    /// The number of other lines, such as copies to the host and memory sets.
    pub passed_over: u64,
}

/// A kernel in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its trace file, relative to the list.
    pub file: String,
    /// The line in the list.
    pub line: u32,
    /// The distinct copies from the host to the GPU so far, as (address, bytes).
    pub copies: Vec<(u64, u64)>,
    /// The copies since the previous kernel, including those that repeat an earlier one.
    pub since: Vec<(u64, u64)>,
}

/// The ends of the names of traces: as text, packed as a whole, or packed piece by piece.
const ENDINGS: [&str; 4] = [".traceg", ".traceg.xz", ".traceg.gz", ".tracez"];
/// The maximum number of copies.
const MAX_COPIES: usize = 1 << 16;

impl KernelsList {
    /// Parses a list.
    ///
    /// # Errors
    /// A line is invalid, or there are no kernels.
    pub fn parse(source: &SourceText) -> Result<Self, Diagnostics> {
        let mut list = Self::default();
        let mut problems = Diagnostics::new();
        let mut copies: Vec<(u64, u64)> = Vec::new();
        let mut since: Vec<(u64, u64)> = Vec::new();
        let mut at = 0;
        for (index, line) in source.text().split('\n').enumerate() {
            let text = line.trim();
            let place = at..at + line.len();
            at += line.len() + 1;
            if text.is_empty() || text.starts_with('#') {
            } else if text.starts_with("MemcpyHtoD") {
                let copied = copy(text);
                since.extend(copied);
                match copied {
                    // a buffer that is written again
                    Some(copy) if copies.contains(&copy) => {}
                    Some(copy) if copies.len() < MAX_COPIES => copies.push(copy),
                    Some(_) => problems.push(source.error(place, "more than 65536 copies")),
                    None => problems.push(
                        source
                            .error(place, "this is no copy to the GPU")
                            .hint("MemcpyHtoD,ADDRESS,BYTES, the address hexadecimal"),
                    ),
                }
            } else if text.starts_with("Memcpy") || text.starts_with("Memset") {
                list.passed_over += 1;
            } else if ENDINGS.iter().any(|ending| text.ends_with(ending)) {
                list.kernels.push(Listed {
                    file: text.to_owned(),
                    line: index as u32 + 1,
                    copies: copies.clone(),
                    since: std::mem::take(&mut since),
                });
            } else {
                let raw = text.ends_with(".trace") || text.ends_with(".trace.xz");
                let hint = match raw {
                    true => {
                        "this is a list of traces as the tracer writes them: its post-processing makes kernelslist.g"
                    }
                    false => {
                        "lines are kernel-N.traceg, kernel-N.traceg.xz, kernel-N.tracez, MemcpyHtoD,ADDRESS,BYTES or comments with #"
                    }
                };
                problems.push(source.error(place, "neither a trace nor a copy").hint(hint));
            }
        }
        if list.kernels.is_empty() && problems.is_empty() {
            problems.push(source.error(0..1, "the list names no trace"));
        }
        problems.into_result(list)
    }
}

fn copy(text: &str) -> Option<(u64, u64)> {
    let mut parts = text.split(',').map(str::trim).skip(1);
    let address = parts.next()?;
    let address = u64::from_str_radix(address.strip_prefix("0x").unwrap_or(address), 16).ok()?;
    let bytes = parts.next()?.parse::<u64>().ok()?;
    (parts.next().is_none() && address.checked_add(bytes).is_some()).then_some((address, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_belong_to_the_next_kernel() {
        let text = "# c\nMemcpyHtoD,0x7f00,1024\nkernel-1.traceg\n\nMemcpyHtoD,0x7f00,1024\nMemcpyHtoD,ff,8\nMemcpyDtoH,1,1\nkernel-2.traceg.xz\nkernel-3.tracez\n";
        let list = KernelsList::parse(&SourceText::new("k", text)).unwrap();
        let found: Vec<_> = list.kernels.iter().map(|k| (k.file.as_str(), k.line, k.copies.len())).collect();
        assert_eq!(
            found,
            [("kernel-1.traceg", 3, 1), ("kernel-2.traceg.xz", 8, 2), ("kernel-3.tracez", 9, 2)]
        );
        assert_eq!(list.passed_over, 1);
    }

    #[test]
    fn every_wrong_line_is_named() {
        let text = "kernel-1.trace\nMemcpyHtoD,zz,1\nMemcpyHtoD,1\nfoo\nMemcpyHtoD,0xffffffffffffffff,2\nkernel-1.traceg\n";
        let error = KernelsList::parse(&SourceText::new("k", text)).unwrap_err();
        let lines: Vec<u32> = error.list().iter().map(|d| d.line).collect();
        assert_eq!(lines, [1, 2, 3, 4, 5], "{error}");
        assert!(error.list()[0].hint.contains("post-processing"));
        assert!(KernelsList::parse(&SourceText::new("k", "\n")).is_err());
    }
}
