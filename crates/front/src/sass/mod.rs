//! The machine code front end, which translates cubins to a
//! [`warpbound_core::program::KernelCode`].
//!
//! `table` reads the encodings of GPU generations (`isa/pascal.ron`, `isa/turing.ron`) and decodes
//! instruction words; `control` reads code; `text` prints instructions; `cubin` reads files;
//! `lower` translates instructions to semantics and op classes. What differs between generations is
//! in their tables; `lower` has a function for each name of semantics that a table may use.
//!
//! No input causes a panic, or takes more memory than the file, its variables, an expanded member of
//! a fat binary, and at most 64 MiB of functions that are added to several kernels.

mod control;
mod cubin;
mod lower;
mod table;
mod text;

pub use control::{instruction_at, word_at};
pub use cubin::{Kernel, target_of};
pub use lower::{Built, Line, Problem};
pub use table::{
    Abi, Axis, Bank, Banks, ControlFormat, ControlPlace, Decoded, Encoding, Latencies, LaunchValue, Meaning,
    Op, Operand, Refused, Register, RegisterFile, Registers, Source, Timing, Value, Word, meaning,
};
pub use text::text;

use std::fmt::Write;

use warpbound_core::diag::{Diagnostic, Diagnostics, closest};
use warpbound_core::program::KernelCode;
use warpbound_core::program::names::{self, Found};

/// A parsed file of machine code.
#[derive(Debug)]
pub struct Module {
    name: String,
    cubin: cubin::Cubin,
}

impl Module {
    /// Reads a cubin, or a fat binary that contains a cubin for the encoding.
    ///
    /// # Errors
    /// The file is not a cubin, or is damaged. Errors in the code of a kernel are found when it is
    /// lowered.
    pub fn read(name: &str, bytes: &[u8], encoding: &Encoding) -> Result<Self, Diagnostics> {
        Self::read_behind(name, bytes, encoding, 0)
    }

    /// Reads a file like [`Module::read`], for a run of several modules: its variables in global
    /// memory are placed after those of another module ([`Module::globals_end`]).
    ///
    /// # Errors
    /// As for [`Module::read`].
    pub fn read_behind(
        name: &str,
        bytes: &[u8],
        encoding: &Encoding,
        globals_start: u64,
    ) -> Result<Self, Diagnostics> {
        Ok(Self { name: name.to_owned(), cubin: cubin::read(name, bytes, encoding, globals_start)? })
    }

    /// Returns the offset at which the variables in global memory of another module of the same run
    /// may begin.
    pub fn globals_end(&self) -> u64 {
        self.cubin.globals.next_start()
    }

    /// Returns the architecture, such as 61 for sm_61.
    pub fn target(&self) -> u32 {
        self.cubin.target
    }

    /// Returns the names of the kernels in the order of the file.
    pub fn entries(&self) -> Vec<&str> {
        self.cubin.kernels.iter().map(|kernel| kernel.name.as_str()).collect()
    }

    /// Returns the kernels of the file.
    pub fn kernels(&self) -> &[Kernel] {
        &self.cubin.kernels
    }

    /// Lowers a kernel and reports as many problems as possible.
    pub fn build(&self, kernel: &Kernel, encoding: &Encoding) -> Built {
        // each kernel has a heading, followed by one line per instruction
        let before = self.cubin.kernels.iter().take_while(|other| other.name != kernel.name);
        let lines: usize = before.map(|other| 1 + encoding.count(other.code.len())).sum();
        lower::build(&self.name, encoding, &self.cubin, kernel, lines as u32 + 2)
    }

    /// Returns the code as text, with one line per instruction that contains its offset and control
    /// codes.
    pub fn listing(&self, encoding: &Encoding) -> String {
        let mut out = String::new();
        for kernel in &self.cubin.kernels {
            let _ = writeln!(out, "{}:", kernel.name);
            for index in 0..encoding.count(kernel.code.len()) {
                let (byte, word, control) = instruction_at(encoding, &kernel.code, index);
                let next = byte + encoding.word_bytes;
                let shown = match encoding.decode(word) {
                    Ok(decoded) => text(&decoded, next, control.reuse, text::place),
                    Err(_) => format!(".word {word:#x}"),
                };
                let _ = writeln!(out, "  {byte:04x}  {control}  {shown}");
            }
        }
        out
    }

    /// Lowers a kernel. `entry` is the kernel's name, mangled or not, or a part of it that no other
    /// kernel has.
    ///
    /// # Errors
    /// There is no such kernel, there are several, or the kernel contains instructions that are not
    /// supported.
    pub fn program(&self, entry: &str, encoding: &Encoding) -> Result<KernelCode, Diagnostics> {
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
            let whole = if self.cubin.member { "member" } else { "file" };
            let place = format!(
                ".text.{}+{:#x} (byte {:#x} of the {whole})",
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
