//! The options of `inspect`.

use crate::format::Format;

#[derive(Debug, clap::Args)]
pub struct Inspect {
    /// A kernel, module, trace or machine file, or an embedded name
    ///
    /// The file is a .ptx, .cubin or .warp file, a trace (.traceg, .tracez, kernelslist.g), or a
    /// launch, program or machine .ron file; `-` is stdin.
    pub file: String,
    /// List every instruction of machine code with its control codes
    #[arg(long)]
    pub disasm: bool,
    /// Write a launch file with guessed arguments to stdout, for a kernel of a .ptx file
    #[arg(long)]
    pub template: bool,
    /// With --template: the kernel, needed if the file has several
    ///
    /// It is the name or a part of it, mangled or not.
    #[arg(long, requires = "template")]
    pub entry: Option<String>,
    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}
