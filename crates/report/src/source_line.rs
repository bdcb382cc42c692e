//! The place of an instruction in the code, and in the source that a compiler made the code from.

use serde::{Deserialize, Serialize};

use warpbound_core::base::Pc;
use warpbound_judge::load::{LoadedKernel, SourcePlace, Sources};

/// The most characters of a source line that text shows.
const SHOWN: usize = 60;

/// The place of an instruction in the code: in PTX, for example.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SourceLine {
    /// The index of the instruction in the program.
    pub pc: u32,
    /// The line in the source.
    pub line: u32,
    /// The text of the line.
    pub text: String,
    /// The line of CUDA C++ from which a compiler made the instruction, if the PTX states it
    /// (`.loc`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<MadeFrom>,
}

/// A line of a source file from which a compiler made an instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MadeFrom {
    /// The name of the file in the PTX.
    pub file: String,
    /// The line.
    pub line: u32,
    /// The text of the line; absent if the file was not found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl SourceLine {
    /// Returns the place of an instruction of a kernel.
    pub fn of(kernel: &LoadedKernel, sources: &Sources, pc: Pc) -> Self {
        Self {
            pc: pc.get(),
            line: kernel.workload.program().instr(pc).line,
            text: kernel.text_of(pc),
            source: sources.at(pc).map(MadeFrom::from),
        }
    }

    /// Returns line and text in the form that tables show, with the source line if it is known.
    pub fn shown(&self) -> String {
        shown(self.line, &self.text, self.source.as_ref())
    }
}

/// Returns line and text of an instruction, with the source line if it is known.
pub fn shown(line: u32, text: &str, source: Option<&MadeFrom>) -> String {
    let source = source.map_or_else(String::new, |source| format!("; from {}", source.shown()));
    format!("{line}: {text}{source}")
}

impl From<SourcePlace<'_>> for MadeFrom {
    fn from(place: SourcePlace<'_>) -> Self {
        Self { file: place.file.to_owned(), line: place.line, text: place.text.map(str::to_owned) }
    }
}

impl MadeFrom {
    /// Returns the short name of the file, and the line.
    pub fn place(&self) -> String {
        let place = SourcePlace { file: &self.file, line: self.line, text: None };
        format!("{}:{}", place.short_name(), self.line)
    }

    /// Returns file, line and the beginning of the text, without the semicolon at its end.
    pub fn shown(&self) -> String {
        let Some(text) = &self.text else { return self.place() };
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let words = words.trim_end_matches(';').to_owned();
        let text = match words.char_indices().nth(SHOWN) {
            None => words,
            Some((end, _)) => format!("{}…", &words[..end]),
        };
        format!("{}: {text}", self.place())
    }
}
