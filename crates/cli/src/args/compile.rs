//! The options of `compile` and `headers`.

use std::path::PathBuf;

use super::Writing;
use crate::format::Format;
use warpbound_judge::compile::{Arch, Choice, Kind};

#[derive(Debug, clap::Args)]
pub struct Compile {
    /// Source of the kernels in CUDA C++
    pub file: PathBuf,
    /// Architecture for which PTX is made: sm_ and a number
    #[arg(long, value_name = "ARCH", default_value = "sm_80")]
    pub arch: Arch,
    /// Write the PTX to FILE; `-` is stdout [default: the name of the source with .ptx, here]
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub writing: Writing,
    /// Compiler: auto, clang, nvcc, nvrtc, or a program by its name or path
    ///
    /// `auto` takes the first one that is found and knows the architecture: clang with the target
    /// nvptx64, then nvcc, then NVRTC in a package of Python (python3 of VIRTUAL_ENV or in PATH). A
    /// program can be clang-16, a path of nvcc, or a Python interpreter that has NVRTC.
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = parse_choice, hide_default_value = true)]
    pub compiler: Choice,
    /// Define a macro (repeatable)
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]")]
    pub defines: Vec<String>,
    /// Look for included files in DIR (repeatable)
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// State source lines in the PTX, which is the default
    ///
    /// `run`, `why`, `static` and timelines then show them beside the lines of the PTX.
    #[arg(long, overrides_with = "no_lineinfo")]
    pub lineinfo: bool,
    /// Leave out the source lines
    #[arg(long)]
    pub no_lineinfo: bool,
    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Further options that the compiler gets unchanged, after `--`
    #[arg(last = true, value_name = "OPTION")]
    pub options: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub struct Headers {
    /// Folder for the headers, which is created if it does not exist
    pub dir: PathBuf,
    #[command(flatten)]
    pub writing: Writing,
}

fn parse_choice(text: &str) -> Result<Choice, String> {
    Ok(match text {
        "auto" => Choice::Auto,
        "clang" => Choice::Kind(Kind::Clang),
        "nvcc" => Choice::Kind(Kind::Nvcc),
        "nvrtc" => Choice::Kind(Kind::Nvrtc),
        "" => return Err("auto, clang, nvcc, nvrtc, or a program".to_owned()),
        program => Choice::Program(PathBuf::from(program)),
    })
}
