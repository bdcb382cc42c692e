//! The machine code front end: cubins to [`crate::program::Program`].
//!
//! `table` reads how a generation encodes its instructions (`isa/pascal.ron`) and takes words apart; `control` reads
//! what the compiler tells the scheduler; `text` prints; `cubin` opens files; `lower` turns instructions into semantics and op classes.
//!
//! Nothing here panics on any input or takes more memory than the file and its variables.

mod control;
mod cubin;
mod lower;
mod table;
mod text;

pub use control::{instruction_at, word_at};
pub use cubin::Kernel;
pub use lower::{Built, Line, Problem};
pub use table::{ControlPlace, Decoded, Encoding, Op, Operand, Refused, Timing, Value, Word};
pub use text::text;

use std::fmt::Write;

use crate::diag::{Diagnostic, Diagnostics, closest};
use crate::program::Program;
use crate::program::layout::{BUFFER_ALIGN, GLOBALS_BASE, GUARD_BYTES};
use crate::program::names::{self, Found};

/// A file of machine code.
#[derive(Debug)]
pub struct Module {
    name: String,
    cubin: cubin::Cubin,
}

impl Module {
    /// Reads a cubin, or that of a fat binary which the encoding is for.
    ///
    /// # Errors
    /// What keeps the file from being one. What is wrong with the code of a kernel is found when it is lowered.
    pub fn read(name: &str, bytes: &[u8], encoding: &Encoding) -> Result<Self, Diagnostics> {
        Self::read_behind(name, bytes, encoding, GLOBALS_BASE)
    }

    /// As [`Module::read`], for a run of several modules: variables in global memory lie behind those of another one
    /// ([`Module::globals_end`]).
    ///
    /// # Errors
    /// As [`Module::read`].
    pub fn read_behind(
        name: &str,
        bytes: &[u8],
        encoding: &Encoding,
        globals_start: u64,
    ) -> Result<Self, Diagnostics> {
        let start = globals_start.max(GLOBALS_BASE);
        Ok(Self { name: name.to_owned(), cubin: cubin::read(name, bytes, &encoding.targets, start)? })
    }

    /// Where the variables in global memory of another module of the same run may begin.
    pub fn globals_end(&self) -> u64 {
        (self.cubin.globals.size + GUARD_BYTES).next_multiple_of(BUFFER_ALIGN)
    }

    /// The architecture: 61 for sm_61.
    pub fn target(&self) -> u32 {
        self.cubin.target
    }

    /// The names of the kernels, in the order of the file.
    pub fn entries(&self) -> Vec<&str> {
        self.cubin.kernels.iter().map(|kernel| kernel.name.as_str()).collect()
    }

    /// The kernels as the file has them.
    pub fn kernels(&self) -> &[Kernel] {
        &self.cubin.kernels
    }

    /// Lowers a kernel, finding as many problems as there are.
    pub fn build(&self, kernel: &Kernel, encoding: &Encoding) -> Built {
        // a heading of each kernel, then a line for each instruction
        let before = self.cubin.kernels.iter().take_while(|other| other.name != kernel.name);
        let lines: usize = before.map(|other| 1 + encoding.count(other.code.len())).sum();
        lower::build(&self.name, encoding, &self.cubin, kernel, lines as u32 + 2)
    }

    /// The code as text: a line for each instruction, with its byte and control codes.
    pub fn listing(&self, encoding: &Encoding) -> String {
        let mut out = String::new();
        for kernel in &self.cubin.kernels {
            let _ = writeln!(out, "{}:", kernel.name);
            for index in 0..encoding.count(kernel.code.len()) {
                let (byte, word, control) = instruction_at(encoding, &kernel.code, index);
                let next = byte + encoding.word_bytes;
                let shown = match encoding.decode(word) {
                    Ok(decoded) => text(&decoded, next, control.reuse, |target| format!("{target:#x}")),
                    Err(_) => format!(".word {word:#x}"),
                };
                let _ = writeln!(out, "  {byte:04x}  {control}  {shown}");
            }
        }
        out
    }

    /// Lowers a kernel, by its name or a part of it that no other has.
    ///
    /// # Errors
    /// There is no such kernel or more than one, or every instruction of it that cannot be run.
    pub fn program(&self, entry: &str, encoding: &Encoding) -> Result<Program, Diagnostics> {
        let all = self.entries();
        let kernel = match names::find(entry, all.iter().copied()) {
            Found::One(index) => &self.cubin.kernels[index],
            Found::Several(which) => {
                let names: Vec<String> = which.iter().map(|&index| names::shown(all[index])).collect();
                let message = format!("`{entry}` is a part of {} names of kernels", which.len());
                return Err(Diagnostic::general(&self.name, message).hint(names.join(", ")).into());
            }
            Found::None => {
                let near = closest(entry, all.iter().copied());
                let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
                let names: Vec<String> = all.iter().map(|name| names::shown(name)).collect();
                let hint = format!("{near}its kernels: {}", names.join(", "));
                return Err(Diagnostic::general(&self.name, format!("there is no kernel `{entry}`"))
                    .hint(hint)
                    .into());
            }
        };
        let Built { program, problems, .. } = self.build(kernel, encoding);
        let mut all = Diagnostics::new();
        for problem in problems {
            let place = format!(
                ".text.{}+{:#x} (byte {:#x} of the file)",
                kernel.name,
                problem.byte,
                kernel.at + problem.byte as u64
            );
            all.push(
                Diagnostic::general(&self.name, format!("{place}: {}", problem.message)).hint(problem.hint),
            );
        }
        all.into_result(program)
    }
}
