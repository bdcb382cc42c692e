//! `warpbound man`: prints or writes manual pages.

use clap::CommandFactory;
use clap_mangen::roff::{Roff, bold, roman};

use crate::args::{Args, Man};
use crate::examples;
use crate::files::Folder;
use crate::output::{self, Ending, Outcome};
use crate::session::Session;
use warpbound_core::diag::Diagnostic;

/// Runs the command.
pub fn run(args: &Man, session: &Session) -> Outcome {
    let mut command = Args::command();
    command.build();
    let Some(dir) = &args.dir else {
        return output::text(session, &String::from_utf8_lossy(&page(&command)?));
    };
    let mut pages = vec![("warpbound.1".to_owned(), page(&command)?)];
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        pages.push((format!("warpbound-{}.1", sub.get_name()), page(sub)?));
    }
    let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
    let folder = Folder::prepare("man", dir, args.writing.force, &session.parts)?;
    folder.check_files(&names)?;
    folder.write("", &pages)?;
    let mut ending = Ending::default();
    ending.print(session, &format!("{} pages in {}\n", pages.len(), dir.display()));
    Ok(ending)
}

fn page(command: &clap::Command) -> Result<Vec<u8>, Diagnostic> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone())
        .render(&mut text)
        .and_then(|()| sections(command.get_name()).to_writer(&mut text))
        .map_err(|error| Diagnostic::general("man", error.to_string()))?;
    Ok(text)
}

/// Returns the sections that the options do not yield.
fn sections(command: &str) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["EXIT STATUS"]);
    for (code, meaning) in examples::EXIT_CODES {
        roff.control("TP", []).text([bold(code)]).text([roman(meaning)]);
    }
    roff.control("SH", ["EXAMPLES"]);
    for (line, meaning) in examples::of(command) {
        roff.control("PP", []).text([roman(*meaning)]);
        roff.control("RS", ["4"]).control("nf", []).text([roman(*line)]).control("fi", []).control("RE", []);
    }
    roff
}
