//! Parser of configuration files: `-option value`, with comments from `#` to the end of the line. A
//! value may stand in the next line, and may have several words, in particular in quotes.

use std::ops::Range;

use crate::diag::{Diagnostic, Diagnostics, SourceText, shortened};

/// The names of options in earlier versions and their names in version 4.2.
const FORMER: &[(&str, &str)] = &[
    ("-l1_latency", "-gpgpu_l1_latency"),
    ("-l1_banks", "-gpgpu_l1_banks"),
    ("-smem_latency", "-gpgpu_smem_latency"),
    ("-rop_latency", "-gpgpu_l2_rop_latency"),
    ("-gmem_skip_L1D", "-gpgpu_gmem_skip_L1D"),
    ("-perf_sim_memcpy", "-gpgpu_perf_sim_memcpy"),
    ("-memory_partition_indexing", "-gpgpu_memory_partition_indexing"),
    ("-perfect_inst_const_cache", "-gpgpu_perfect_inst_const_cache"),
    ("-inst_fetch_throughput", "-gpgpu_inst_fetch_throughput"),
    ("-reg_file_port_throughput", "-gpgpu_reg_file_port_throughput"),
    ("-sub_core_model", "-gpgpu_sub_core_model"),
    ("-enable_specialized_operand_collector", "-gpgpu_enable_specialized_operand_collector"),
    ("-adaptive_cache_config", "-gpgpu_adaptive_cache_config"),
    ("-adaptive_volta_cache_config", "-gpgpu_adaptive_cache_config"),
    ("-mem_unit_ports", "-gpgpu_mem_unit_ports"),
    ("-dual_bus_interface", "-dram_dual_bus_interface"),
    ("-Seperate_Write_Queue_Enable", "-dram_seperate_write_queue_enable"),
    ("-Write_Queue_Size", "-dram_write_queue_size"),
    ("-inct_in_buffer_limit", "-icnt_in_buffer_limit"),
    ("-inct_out_buffer_limit", "-icnt_out_buffer_limit"),
    ("-inct_subnets", "-icnt_subnets"),
];

/// An option and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Given {
    /// The name as it is written, with the dash.
    pub name: String,
    /// The name in version 4.2.
    pub known_as: String,
    /// The words of the value without quotes, separated by spaces; empty if there is none.
    pub value: String,
    /// The index of the file.
    pub source: usize,
    /// The location of the value, or of the option if it has none.
    pub range: Range<usize>,
}

impl Given {
    pub fn place(&self, sources: &[SourceText]) -> (String, u32) {
        let source = &sources[self.source];
        (source.name().to_owned(), source.position(self.range.start).0)
    }
}

/// Reads all options of the files in order.
///
/// # Errors
/// A value is not preceded by an option, an option has the form `-option=value`, a quote is not
/// closed, or there is no option at all.
pub(super) fn read(sources: &[SourceText]) -> Result<Vec<Given>, Diagnostics> {
    let mut all: Vec<Given> = Vec::new();
    let mut problems = Diagnostics::new();
    for (number, source) in sources.iter().enumerate() {
        if let Err(problem) = read_file(number, source, &mut all) {
            problems.push(problem);
        }
    }
    // a single file may have nothing but comments
    if let (true, true, Some(source)) = (all.is_empty(), problems.is_empty(), sources.first()) {
        problems.push(source.error(0..1, "the file contains no options").hint(FORM));
    }
    problems.into_result(all)
}

/// Appends the options of a file. The value of the last one ends with the file.
fn read_file(number: usize, source: &SourceText, all: &mut Vec<Given>) -> Result<(), Diagnostic> {
    let first = all.len();
    for word in (Words { text: source.text(), at: 0 }) {
        let Word { range, text, quoted, closed } = word;
        if !closed {
            let problem = source.error(range.start..range.start + 1, "this quote is not closed");
            return Err(problem.hint("a value in quotes ends with a word whose last character is `\"`"));
        }
        if !quoted && is_name(&text) {
            if let Some((name, value)) = text.split_once('=') {
                let problem =
                    source.error(range, format!("{} is not the name of an option", shortened(&text)));
                let hint =
                    format!("options have the form `{} {}`, without `=`", shortened(name), shortened(value));
                return Err(problem.hint(hint));
            }
            let known_as = FORMER.iter().find(|(former, _)| *former == text).map_or(&*text, |&(_, now)| now);
            let known_as = known_as.to_owned();
            all.push(Given { name: text, known_as, value: String::new(), source: number, range });
        } else if let Some(option) = all[first..].last_mut() {
            if option.value.is_empty() {
                option.range = range;
            } else {
                option.value.push(' ');
                option.range.end = range.end;
            }
            option.value.push_str(&text);
        } else {
            return Err(source.error(range, "a value before any option").hint(FORM));
        }
    }
    Ok(())
}

/// What a configuration contains, for hints.
const FORM: &str = "a configuration has `-option value`, such as `-gpgpu_n_clusters 46`";

/// Returns whether a word begins with a dash and a letter; a number may be negative.
fn is_name(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next() == Some('-') && letters.next().is_some_and(|c| c.is_ascii_alphabetic())
}

/// A word, or several words in quotes, which are separated by one space.
struct Word {
    range: Range<usize>,
    /// The text without the quotes.
    text: String,
    quoted: bool,
    /// Whether the quote ends before the file does.
    closed: bool,
}

/// The words outside of comments. As in GPGPU-Sim, a comment begins with any `#`, also in quotes, and
/// a quote begins and ends only at the ends of words.
struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl Words<'_> {
    /// Returns the next word with its quotes.
    fn plain(&mut self) -> Option<Range<usize>> {
        loop {
            let rest = &self.text[self.at..];
            let begin = self.at + rest.find(|c: char| !c.is_whitespace())?;
            let word = &self.text[begin..];
            if word.starts_with('#') {
                self.at = word.find('\n').map_or(self.text.len(), |length| begin + length);
                continue;
            }
            let ends = |c: char| c.is_whitespace() || c == '#';
            self.at = word.find(ends).map_or(self.text.len(), |length| begin + length);
            return Some(begin..self.at);
        }
    }
}

impl Iterator for Words<'_> {
    type Item = Word;

    fn next(&mut self) -> Option<Word> {
        let mut range = self.plain()?;
        let first = &self.text[range.clone()];
        let Some(first) = first.strip_prefix('"') else {
            return Some(Word { text: first.to_owned(), range, quoted: false, closed: true });
        };
        let mut text = first.to_owned();
        while !text.ends_with('"') {
            let Some(next) = self.plain() else {
                return Some(Word { range, text, quoted: true, closed: false });
            };
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&self.text[next.clone()]);
            range.end = next.end;
        }
        text.pop();
        Some(Word { range, text, quoted: true, closed: true })
    }
}
