//! The PTX front end: text to [`Program`].
//!
//! `lexer` and `parser` turn a file into a tree in which names are still text, reporting every
//! syntax error; `resolve` gives names their meaning and variables their addresses; `lower` turns
//! the instructions of a kernel and of the functions it reaches into semantics and op classes,
//! reporting everything it does not support; `inspect` says what a file contains.
//!
//! Nothing here panics on any input or takes more than about linear time in its length: nesting is
//! limited, registers and variables exist once they are used, and problems beyond the first few
//! hundred are only counted.

mod ast;
mod inspect;
mod lexer;
mod lower;
mod parser;
mod report;
mod resolve;
mod span;
mod types;

pub use inspect::{ClassCount, EntrySummary, FunctionSummary, Inspection, Loop, Unsupported};

use crate::diag::{Diagnostic, Diagnostics, SourceText, closest};
use crate::isa::IsaTable;
use crate::program::Program;
use crate::program::layout::{BUFFER_ALIGN, GUARD_BYTES};
use crate::program::names::{self, Found};
use report::Reporter;
use span::Span;

/// A parsed PTX file.
#[derive(Debug)]
pub struct Module {
    source: SourceText,
    ast: ast::Ast,
    statics: resolve::Statics,
}

impl Module {
    /// Reads a file.
    ///
    /// # Errors
    /// Every syntax error, name defined twice, and variable beyond the limits. Unknown opcodes,
    /// registers that are not declared and the like are found when a kernel that contains them is
    /// lowered.
    pub fn parse(source: &SourceText) -> Result<Self, Diagnostics> {
        Self::parse_behind(source, 0)
    }

    /// As [`Module::parse`], for a run of several modules: the variables in global memory lie
    /// behind those of another one ([`Module::globals_end`]).
    ///
    /// # Errors
    /// As [`Module::parse`].
    pub fn parse_behind(source: &SourceText, globals_start: u64) -> Result<Self, Diagnostics> {
        let mut ast = parser::parse(source)?;
        let mut report = Reporter::new(source);
        let statics = resolve::check_names(&mut ast, source.text(), globals_start, &mut report);
        report.finish().into_result(Self { source: source.clone(), ast, statics })
    }

    /// Where the variables in global memory of another module of the same run may begin.
    pub fn globals_end(&self) -> u64 {
        match self.statics.globals.size {
            none if none == self.statics.globals.start => none,
            end => (end + GUARD_BYTES).next_multiple_of(BUFFER_ALIGN),
        }
    }

    /// The names of the kernels, in the order of the file.
    pub fn entries(&self) -> Vec<&str> {
        self.kernels().map(|(_, name)| name).collect()
    }

    /// Lowers a kernel and the functions it reaches. It may be named by a part of its name, mangled
    /// or not, that no other kernel has.
    ///
    /// # Errors
    /// There is no such kernel or more than one, or everything in it that is wrong or not
    /// supported. What other kernels contain does not matter.
    pub fn program(&self, entry: &str, isa: &IsaTable) -> Result<Program, Diagnostics> {
        let index = match names::find(entry, self.kernels().map(|(_, name)| name)) {
            Found::One(index) => index,
            Found::Several(which) => return Err(self.ambiguous(entry, &which).into()),
            Found::None => return Err(self.no_such_kernel(entry).into()),
        };
        let (index, _) = self.kernels().nth(index).expect("the list of kernels does not change");
        let mut built = lower::build(self, index, isa);
        built.program.memory.globals = self.statics.globals.clone();
        built.program.memory.constants = self.statics.constants.clone();
        let last = self.ast.functions.iter().rposition(|function| function.body.is_some());
        built.program.ends_file = last == Some(index as usize) && built.program.functions.is_empty();
        let mut report = Reporter::new(&self.source);
        for problem in built.problems {
            report.error(problem.span, problem.message, problem.hint);
        }
        report.finish().into_result(built.program)
    }

    /// Says what the file contains and what of it is not supported.
    pub fn inspect(&self, isa: &IsaTable) -> Inspection {
        inspect::inspect(self, isa)
    }

    fn kernels(&self) -> impl Iterator<Item = (u32, &str)> {
        let functions = self.ast.functions.iter().enumerate();
        functions
            .filter(|(_, function)| function.entry && function.body.is_some())
            .map(|(index, function)| (index as u32, self.slice(function.name)))
    }

    fn no_such_kernel(&self, entry: &str) -> Diagnostic {
        let names = self.entries();
        let hint = match names.as_slice() {
            [] => "the file defines no kernel".to_owned(),
            names => {
                let near = closest(entry, names.iter().copied())
                    .map_or(String::new(), |near| format!("did you mean `{near}`? "));
                format!("{near}its kernels: {}", listed(names))
            }
        };
        Diagnostic::general(self.source.name(), format!("there is no kernel `{entry}`")).hint(hint)
    }

    fn ambiguous(&self, entry: &str, which: &[usize]) -> Diagnostic {
        let all = self.entries();
        let names: Vec<&str> = which.iter().map(|&index| all[index]).collect();
        let message = format!("`{entry}` is a part of {} names of kernels", names.len());
        Diagnostic::general(self.source.name(), message)
            .hint(format!("give more of one of them: {}", listed(&names)))
    }

    /// The text of a name.
    fn slice(&self, span: Span) -> &str {
        self.source.text().get(span.range()).unwrap_or_default()
    }
}

/// Names for a message.
fn listed(all: &[&str]) -> String {
    const SHOWN: usize = 20;
    let shown: Vec<String> = all.iter().take(SHOWN).map(|name| names::shown(name)).collect();
    shown.join(", ") + if all.len() > SHOWN { ", ..." } else { "" }
}
