//! `warpbound headers`: writes the headers with which kernels are compiled.

use super::again::shell_word;
use crate::args::Headers;
use crate::files::Folder;
use crate::output::{self, Outcome};
use crate::session::Session;
use warpbound_judge::compile;

/// Runs the command.
pub fn run(args: &Headers, session: &Session) -> Outcome {
    let folder = Folder::prepare("headers", &args.dir, args.writing.force, &session.parts)?;
    let headers = compile::headers();
    let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
    folder.check_files(&names)?;
    let files: Vec<(String, Vec<u8>)> =
        headers.iter().map(|(name, contents)| ((*name).to_owned(), contents.to_vec())).collect();
    session.conclude();
    folder.write("", &files)?;
    let word = shell_word(&args.dir.display().to_string());
    let text = format!(
        "wrote {} headers into {word}; clang uses them with\n  -I{word} -include cuda_runtime.h\n",
        files.len()
    );
    output::text(session, &text)
}
