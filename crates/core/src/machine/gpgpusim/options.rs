//! Parser of configuration files: `-option value`, with comments from `#` to the end of the line. A
//! value may continue in the next line, in particular if it is in quotes.

use std::ops::Range;

use crate::diag::{Diagnostics, SourceText};

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
    /// The words of the value, separated by spaces.
    pub value: String,
    /// The index of the file.
    pub source: usize,
    /// The location of the value.
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
/// A value is not preceded by an option, or an option has no value.
pub(super) fn read(sources: &[SourceText]) -> Result<Vec<Given>, Diagnostics> {
    let mut all: Vec<Given> = Vec::new();
    let mut problems = Diagnostics::new();
    for (number, source) in sources.iter().enumerate() {
        let first = all.len();
        for (range, word) in words(source.text()) {
            if is_name(word) {
                let known_as =
                    FORMER.iter().find(|(former, _)| *former == word).map_or(word, |&(_, now)| now);
                let (name, known_as) = (word.to_owned(), known_as.to_owned());
                all.push(Given { name, known_as, value: String::new(), source: number, range });
            } else if let Some(option) = all[first..].last_mut() {
                if option.value.is_empty() {
                    option.range = range;
                } else {
                    option.value.push(' ');
                    option.range.end = range.end;
                }
                option.value.push_str(word);
            } else {
                let problem = source.error(range, "a value before any option");
                problems.push(
                    problem.hint("a configuration has `-option value`, such as `-gpgpu_n_clusters 46`"),
                );
                break;
            }
        }
        for option in &all[first..] {
            if option.value.is_empty() {
                let problem = source.error(option.range.clone(), format!("{} has no value", option.name));
                problems.push(problem);
            }
        }
        if all.len() == first && problems.is_empty() {
            let problem = source.error(0..1, "the file contains no options");
            problems
                .push(problem.hint("a configuration has `-option value`, such as `-gpgpu_n_clusters 46`"));
        }
    }
    problems.into_result(all)
}

/// Returns whether a word begins with a dash and a letter; a number may be negative.
fn is_name(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next() == Some('-') && letters.next().is_some_and(|c| c.is_ascii_alphabetic())
}

/// Returns the words outside of comments with their locations.
fn words(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').flat_map(move |line| {
        let base = start;
        start += line.len();
        let code = line.split('#').next().unwrap_or("");
        let mut from = 0;
        std::iter::from_fn(move || {
            let rest = &code[from..];
            let begin = from + rest.find(|c: char| !c.is_whitespace())?;
            let end = code[begin..].find(char::is_whitespace).map_or(code.len(), |length| begin + length);
            from = end;
            Some((base + begin..base + end, &code[begin..end]))
        })
    })
}
