//! `warpbound schema`: lists and prints the schemas of JSON outputs, and checks files against them.

use crate::args::{Schema, SchemaAction};
use crate::files::loader;
use crate::output::{self, Outcome};
use crate::session::Session;
use warpbound_core::diag::Diagnostics;
use warpbound_report::schema_files;

/// Runs the command.
pub fn run(args: &Schema, session: &Session) -> Outcome {
    let text = match &args.action {
        SchemaAction::List => schema_files::names().iter().map(|name| format!("{name}\n")).collect(),
        SchemaAction::Print { schema } => schema_files::text(schema)?.to_owned(),
        SchemaAction::Check { files } => return check(files, session),
    };
    output::text(session, &text)
}

/// Checks each file; the errors of all files are printed after the files that conform.
fn check(files: &[String], session: &Session) -> Outcome {
    let mut ending = output::Ending::default();
    for name in files {
        match check_file(name) {
            Ok(schema) => ending.print(session, &format!("{name}: conforms to the schema of {schema}\n")),
            Err(problems) => ending.late.append(problems),
        }
    }
    Ok(ending)
}

fn check_file(name: &str) -> Result<String, Diagnostics> {
    schema_files::check(&loader().find_text(name)?.text()?)
}
