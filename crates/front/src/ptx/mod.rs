//! The PTX front end, which translates text to a [`KernelCode`].
//!
//! `lexer` and `parser` turn a file into a syntax tree in which names are still text, and report
//! every syntax error. `resolve` resolves names and assigns addresses to variables. `lower`
//! translates the instructions of a kernel and of the functions that it reaches to semantics and op
//! classes, and reports everything that is not supported. `inspect` summarises the content of a
//! file, and `origins` finds the source lines that a compiler stated in it.
//!
//! No input causes a panic or takes much more than linear time in its length: nesting is limited,
//! registers and variables are created when they are first used, and problems beyond the first few
//! hundred are only counted.

mod ast;
mod inspect;
mod lexer;
mod lower;
mod origins;
mod parser;
mod report;
mod resolve;
mod span;
mod types;

pub use inspect::{ClassCount, EntrySummary, FunctionSummary, Inspection, Loop, Unsupported};
pub use origins::Origins;

use report::Reporter;
use span::Span;
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText, closest};
use warpbound_core::isa::IsaTable;
use warpbound_core::program::KernelCode;
use warpbound_core::program::names::{self, Found};

/// A parsed PTX file.
#[derive(Debug)]
pub struct Module {
    source: SourceText,
    ast: ast::Ast,
    statics: resolve::Statics,
}

impl Module {
    /// Parses a file.
    ///
    /// # Errors
    /// Returns a diagnostic for each syntax error, duplicate definition, and variable beyond the
    /// limits. Unknown opcodes, undeclared registers and similar problems are found when a kernel
    /// that contains them is lowered.
    pub fn parse(source: &SourceText) -> Result<Self, Diagnostics> {
        Self::parse_behind(source, 0)
    }

    /// Parses a file like [`Module::parse`], for a run of several modules: its variables in global
    /// memory are placed after those of another module ([`Module::globals_end`]).
    ///
    /// # Errors
    /// Returns a diagnostic for each syntax error, duplicate definition, and variable beyond the
    /// limits.
    pub fn parse_behind(source: &SourceText, globals_start: u64) -> Result<Self, Diagnostics> {
        let mut ast = parser::parse(source)?;
        let mut report = Reporter::new(source);
        let statics = resolve::check_names(&mut ast, source.text(), globals_start, &mut report);
        report.finish().into_result(Self { source: source.clone(), ast, statics })
    }

    /// Returns the address at which the variables in global memory of another module of the same
    /// run may begin.
    pub fn globals_end(&self) -> u64 {
        self.statics.globals.next_start()
    }

    /// Returns the names of the kernels in the order of the file.
    pub fn entries(&self) -> Vec<&str> {
        self.kernels().map(|(_, name)| name).collect()
    }

    /// Lowers a kernel and the functions that it reaches. `entry` is the kernel's name, mangled or
    /// not, or a part of it that no other kernel has.
    ///
    /// # Errors
    /// There is no such kernel, there are several, or the kernel contains errors or unsupported
    /// constructs. Other kernels of the file do not matter.
    pub fn program(&self, entry: &str, isa: &IsaTable) -> Result<KernelCode, Diagnostics> {
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

    /// Summarises the content of the file and lists what is not supported.
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
            .hint(format!("write more of one of these names: {}", listed(&names)))
    }

    /// Returns the text of a name.
    fn slice(&self, span: Span) -> &str {
        self.source.text().get(span.range()).unwrap_or_default()
    }
}

/// Formats names as a list in a message.
fn listed(all: &[&str]) -> String {
    const SHOWN: usize = 20;
    let shown: Vec<String> = all.iter().take(SHOWN).map(|name| names::shown(name)).collect();
    shown.join(", ") + if all.len() > SHOWN { ", ..." } else { "" }
}
