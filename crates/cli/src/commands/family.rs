//! `warpbound family`: writes a kernel of a parametric family.

use super::again::shell_word;
use crate::args::{Family, FamilyName};
use crate::files::Folder;
use crate::output::{self, Outcome};
use crate::session::Session;
use warpbound_front::micro::family::PingPong;

/// The names of the files in the folder.
const KERNEL: &str = "kernel.warp";
const MACHINE: &str = "machine.ron";

/// Runs the command.
pub fn run(args: &Family, session: &Session) -> Outcome {
    let files = match args.name {
        FamilyName::PingPong => {
            PingPong { period: args.p, stages: args.m, length: args.n, gated: args.gated }.files(MACHINE)?
        }
    };
    let Some(dir) = &args.out else {
        let text = format!("# {KERNEL}\n{}\n// {MACHINE}\n{}", files.kernel, files.machine);
        return output::text(session, &text);
    };
    let folder = Folder::prepare("--out", dir, args.writing.force, &session.parts)?;
    folder.check_files(&[MACHINE, KERNEL])?;
    let contents = [(MACHINE, files.machine), (KERNEL, files.kernel)];
    folder.write("", &contents.map(|(name, text)| (name.to_owned(), text.into_bytes())))?;
    let word = shell_word(&dir.join(KERNEL).display().to_string());
    let text = format!("wrote {word} and its machine; to check it:\n  warpbound check {word} --policy lrr\n");
    output::text(session, &text)
}
