//! The parser of `.warp` files, which reports all problems of a file at once.

use std::collections::HashMap;

use super::MicroKernel;
use warpbound_core::base::{Pc, RegId};
use warpbound_core::diag::{Diagnostics, SourceText, closest};
use warpbound_core::isa::BARRIER;
use warpbound_core::machine::PolicyKind;
use warpbound_core::path::Step;
use warpbound_core::program::{Area, Flow, Instr, KernelCode, MemoryOp, RegKind, RegList, Register, Sem};

/// The maximum number of warps of a block; no machine has more warp slots.
const MAX_WARPS: usize = 64;
/// The maximum number of blocks of a file.
const MAX_BLOCKS: usize = 4096;
const DIRECTIVES: [&str; 4] = [".warps", ".blocks", ".machine", ".policy"];

pub(super) fn parse(name: &str, source: &SourceText) -> Result<MicroKernel, Diagnostics> {
    let program =
        KernelCode { name: name.to_owned(), file: source.name().to_owned(), ..KernelCode::default() };
    let kernel = MicroKernel {
        machine: None,
        policy: None,
        program,
        warps: Vec::new(),
        blocks: Vec::new(),
        block_warps: 0,
    };
    let mut parser = Parser {
        source,
        kernel,
        registers: HashMap::new(),
        open: None,
        blocks: None,
        problems: Diagnostics::new(),
        line: 0,
    };
    let mut offset = 0;
    for line in source.text().split('\n') {
        parser.line += 1;
        parser.line(line, offset);
        offset += line.len() + 1;
    }
    parser.close_section();
    parser.close_blocks();
    if parser.kernel.warps.is_empty() && parser.problems.is_empty() {
        parser.problems.push(
            source
                .error(0..1, "no warps: the file holds no code")
                .hint("open the code of N warps with `.warps N`"),
        );
    }
    parser.problems.into_result(parser.kernel)
}

struct Parser<'a> {
    source: &'a SourceText,
    kernel: MicroKernel,
    registers: HashMap<String, RegId>,
    /// The current `.warps` section: the number of warps that execute it, its first instruction,
    /// and whether `ret` was seen.
    open: Option<(usize, Pc, bool)>,
    /// The current `.blocks` section: the number of blocks, their first warp, and the location.
    blocks: Option<(usize, usize, std::ops::Range<usize>)>,
    problems: Diagnostics,
    line: u32,
}

/// A word of a line with its byte offset in the file.
#[derive(Clone, Copy)]
struct Word<'a> {
    text: &'a str,
    offset: usize,
}

impl Word<'_> {
    fn range(self) -> std::ops::Range<usize> {
        self.offset..self.offset + self.text.len()
    }
}

impl Parser<'_> {
    fn line(&mut self, line: &str, offset: usize) {
        let code = line.split('#').next().unwrap_or("");
        let words = split(code, offset);
        let Some((&head, operands)) = words.split_first() else { return };
        if head.text.starts_with('.') {
            self.directive(head, operands);
        } else {
            self.instruction(head, operands);
        }
    }

    fn problem(&mut self, word: Word, message: impl Into<String>, hint: impl Into<String>) {
        self.problems.push(self.source.error(word.range(), message).hint(hint));
    }

    fn directive(&mut self, head: Word, operands: &[Word]) {
        let &[value] = operands else {
            let message = format!("`{}` takes one value, {} given", head.text, operands.len());
            return self.problem(head, message, ".warps N, .blocks N, .machine NAME or FILE, .policy NAME");
        };
        match head.text {
            ".warps" => self.warps(value),
            ".blocks" => self.blocks(head, value),
            ".machine" | ".policy" | ".scheduler" if self.open.is_some() || self.blocks.is_some() => {
                let first = if self.blocks.is_some() { ".blocks" } else { ".warps" };
                let message = format!("`{}` after the first `{first}`", head.text);
                self.problem(head, message, "move it to the top of the file");
            }
            ".machine" => self.kernel.machine = Some(value.text.to_owned()),
            // `.scheduler` is its name before version 0.2
            ".policy" | ".scheduler" => match value.text.parse::<PolicyKind>() {
                Ok(kind) => self.kernel.policy = Some(kind),
                Err(error) => self.problem(value, error.to_string(), error.hint()),
            },
            other => {
                let hint = closest(other, DIRECTIVES).map_or_else(
                    || format!("directives: {}", DIRECTIVES.join(", ")),
                    |near| format!("did you mean `{near}`?"),
                );
                self.problem(head, format!("unknown directive `{other}`"), hint);
            }
        }
    }

    fn warps(&mut self, value: Word) {
        self.close_section();
        let start = self.next_pc();
        let block_warps = self.kernel.warps.len() - self.blocks.as_ref().map_or(0, |(_, first, _)| *first);
        // an invalid count still opens a section, so that its instructions are checked, too
        let count = match value.text.parse::<usize>() {
            Ok(count) if (1..=MAX_WARPS - block_warps.min(MAX_WARPS - 1)).contains(&count) => count,
            _ => {
                let remaining = MAX_WARPS.saturating_sub(block_warps);
                let message = match value.text.parse::<u128>() {
                    Ok(given) if given > 0 => {
                        format!("a block has at most {MAX_WARPS} warps: {given} are too many here")
                    }
                    _ => format!("`{}` is not a number of warps", value.text),
                };
                let hint = match block_warps {
                    0 => format!("from 1 to {MAX_WARPS}"),
                    before => format!("this block has {before} warps already, so that {remaining} are left"),
                };
                self.problem(value, message, hint);
                1
            }
        };
        self.open = Some((count, start, false));
    }

    fn blocks(&mut self, head: Word, value: Word) {
        self.close_section();
        if self.blocks.is_none() && !self.kernel.warps.is_empty() {
            let hint =
                "the first `.blocks` comes before the first `.warps`; without `.blocks` there is one block";
            return self.problem(head, "`.blocks` after warps that belong to no block", hint);
        }
        self.close_blocks();
        let count = match value.text.parse::<usize>() {
            Ok(count) if (1..=MAX_BLOCKS - self.kernel.blocks.len().min(MAX_BLOCKS - 1)).contains(&count) => {
                count
            }
            _ => {
                let message = format!("`{}` is not a number of blocks", value.text);
                self.problem(value, message, format!("1 to {MAX_BLOCKS} blocks in all"));
                1
            }
        };
        self.blocks = Some((count, self.kernel.warps.len(), head.range()));
    }

    fn close_blocks(&mut self) {
        let warps = self.kernel.warps.len();
        let Some((count, first, place)) = self.blocks.take() else {
            // a file without `.blocks` is a single block
            if self.kernel.blocks.is_empty() && warps > 0 {
                self.kernel.blocks.push(0);
                self.kernel.block_warps = warps;
            }
            return;
        };
        let block_warps = warps - first;
        if self.kernel.blocks.is_empty() {
            self.kernel.block_warps = block_warps;
        }
        if block_warps == 0 || block_warps != self.kernel.block_warps {
            let message = match (block_warps, self.kernel.block_warps) {
                (0, _) => "blocks without warps".to_owned(),
                (here, before) => format!("blocks of {here} warps, those before have {before}"),
            };
            let hint =
                "all blocks of a launch have the same number of warps; a warp without work has only `ret`";
            self.problems.push(self.source.error(place, message).hint(hint));
        }
        self.kernel.blocks.extend(std::iter::repeat_n(first, count));
    }

    fn next_pc(&self) -> Pc {
        Pc::from_index(self.kernel.program.instrs.len())
    }

    fn instruction(&mut self, head: Word, operands: &[Word]) {
        let Some((_, _, ended)) = self.open else {
            return self.problem(
                head,
                "instruction before the first `.warps`",
                "open the code of N warps with `.warps N`",
            );
        };
        if ended {
            return self.problem(
                head,
                "instruction after `ret`",
                "open other warps with `.warps N`, or remove it",
            );
        }
        if self.kernel.program.instrs.len() >= Step::MAX_PC as usize {
            return self.problem(head, "more than 2^20 instructions", "");
        }
        if !is_name(head.text) {
            let message = format!("`{}` is not an op name", head.text);
            return self.problem(head, message, "letters, digits, `_` and `.`, beginning with a letter");
        }
        let (flow, class) = match head.text {
            "ret" => (Flow::Exit, "control"),
            "bar" => (Flow::Barrier, BARRIER),
            op => (Flow::Plain, op),
        };
        if flow != Flow::Plain && !operands.is_empty() {
            let hint = "`bar` is a barrier and `ret` ends the warp; give an op of your own another name";
            return self.problem(head, format!("`{}` takes no operands", head.text), hint);
        }
        if operands.len() > 1 + RegList::MAX {
            let message =
                format!("{} operands; at most one destination and {} sources", operands.len(), RegList::MAX);
            return self.problem(head, message, "");
        }
        let mut dsts = RegList::new();
        let mut srcs = RegList::new();
        for (position, operand) in operands.iter().enumerate() {
            let is_destination = position == 0;
            if operand.text == "_" {
                if !is_destination {
                    self.problem(*operand, "`_` as a source", "`_` only says that there is no destination");
                }
            } else if !is_name(operand.text) {
                let message = format!("`{}` is not a register name", operand.text);
                self.problem(*operand, message, "letters, digits, `_` and `.`, beginning with a letter");
            } else if let Some(reg) = self.register(*operand) {
                if is_destination { dsts.insert(reg) } else { srcs.insert(reg) }
            }
        }
        self.push(flow, class, dsts, srcs);
        if flow == Flow::Exit
            && let Some(open) = &mut self.open
        {
            open.2 = true;
        }
    }

    fn push(&mut self, flow: Flow, class: &str, dsts: RegList, srcs: RegList) {
        let program = &mut self.kernel.program;
        // only the name states that the instruction loads from global memory
        let memory = class.ends_with(".global").then_some(MemoryOp::Unaddressed(Area::Global));
        let class = program.classes.intern(class);
        program.instrs.push(Instr {
            folded: false,
            class,
            class_by_space: None,
            dsts,
            srcs,
            guard: None,
            flow,
            memory,
            sem: Sem::None,
            line: self.line,
        });
    }

    fn register(&mut self, word: Word) -> Option<RegId> {
        if let Some(&reg) = self.registers.get(word.text) {
            return Some(reg);
        }
        let next = self.kernel.program.regs.len();
        if next >= 60_000 {
            self.problem(word, "more than 60000 registers", "");
            return None;
        }
        let reg = RegId::from_index(next);
        self.kernel.program.regs.push(Register { name: word.text.to_owned(), kind: RegKind::Bits(32) });
        self.registers.insert(word.text.to_owned(), reg);
        Some(reg)
    }

    fn close_section(&mut self) {
        let Some((count, start, ended)) = self.open.take() else { return };
        if !ended {
            self.push(Flow::Exit, "control", RegList::new(), RegList::new());
        }
        let end = self.next_pc();
        self.kernel.warps.extend(std::iter::repeat_n((start, end), count));
    }
}

/// Splits a line into words, which are separated by white space; commas separate operands and are
/// dropped.
fn split(code: &str, offset: usize) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in code.char_indices().chain(std::iter::once((code.len(), ' '))) {
        let separates = c == ',' || c.is_whitespace();
        match (separates, start) {
            (true, Some(from)) => {
                words.push(Word { text: &code[from..at], offset: offset + from });
                start = None;
            }
            (false, None) => start = Some(at),
            _ => {}
        }
    }
    words
}

fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '%')
        && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpbound_core::path::BlockSource;

    fn kernel(text: &str) -> Result<MicroKernel, Diagnostics> {
        parse("t", &SourceText::new("t.warp", text))
    }

    #[test]
    fn sections_give_each_warp_its_code() {
        let k = kernel(
            ".machine m\n.policy random:4\n.warps 2 # two\n f0 r0\n f1 _, r0, r1\n ret\n.warps 1\n bar\n",
        )
        .unwrap();
        assert_eq!((k.machine.as_deref(), k.policy.clone()), (Some("m"), Some(PolicyKind::Random(4))));
        assert_eq!(k.warps.len(), 3);
        assert_eq!(k.warps[0], k.warps[1]);
        let paths = k.paths(0);
        assert_eq!(paths.warps[0].steps().len(), 3);
        assert_eq!(paths.warps[2].steps().len(), 2, "the missing ret is added");
        assert!(paths.warps[2].steps()[1].ends_warp());
        let f1 = &k.program.instrs[1];
        assert_eq!((f1.dsts.as_slice().len(), f1.srcs.as_slice().len()), (0, 2));
    }

    #[test]
    fn blocks_have_warps_of_their_own() {
        let k = kernel(
            ".machine m\n.blocks 2\n.warps 2\n f0 r0\n.blocks 1\n.warps 1\n f1\n f1\n.warps 1\n ret\n",
        )
        .unwrap();
        assert_eq!((k.blocks.as_slice(), k.block_warps, k.warps.len()), ([0, 0, 2].as_slice(), 2, 4));
        let lengths = |block| k.paths(block).warps.iter().map(|w| w.steps().len()).collect::<Vec<_>>();
        assert_eq!([0, 1, 2].map(lengths), [vec![2, 2], vec![2, 2], vec![3, 1]]);
        let mut source = k.source();
        let mut paths = warpbound_core::path::BlockPaths::default();
        for block in 0..3 {
            assert!(source.next_block(&mut paths).unwrap());
            assert_eq!(paths, k.paths(block));
        }
        assert!(!source.next_block(&mut paths).unwrap());
        for (wrong, line) in [
            (".warps 1\n ret\n.blocks 2\n.warps 1\n ret\n", 3),
            (".blocks 2\n.warps 1\n ret\n.blocks 1\n.warps 2\n ret\n", 4),
            (".blocks 2\n.blocks 1\n.warps 1\n ret\n", 1),
            (".blocks x\n.warps 1\n ret\n", 1),
            (".blocks 4097\n.warps 1\n ret\n", 1),
            (".blocks 1\n.machine m\n.warps 1\n ret\n", 2),
        ] {
            let error = kernel(wrong).unwrap_err();
            assert!(error.list().iter().any(|d| d.line == line), "{wrong}: {error}");
        }
    }

    #[test]
    fn all_problems_are_reported() {
        let text = "f0 r0\n.warps x\n f0 9r\n ret f\n ret\n f0 r1\n.wraps 2\n.machine late\n.policy fifo\n";
        let error = kernel(text).unwrap_err();
        let lines: Vec<u32> = error.list().iter().map(|d| d.line).collect();
        assert_eq!(lines, [1, 2, 3, 4, 6, 7, 8, 9], "{error}");
        assert!(kernel("").is_err());
        assert!(kernel("# nothing\n").is_err());
        assert!(kernel(".warps 65\n ret\n").is_err());
        assert!(kernel(".warps 60\n ret\n.warps 5\n ret\n").is_err());
    }
}
