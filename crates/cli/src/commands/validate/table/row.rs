//! A row of a table of measurements.

use std::ops::Range;

use crate::args::{PtxLaunch, QuotedLaunch, quoted};

/// A row of a table.
#[derive(Clone, Debug)]
pub struct Row {
    pub gpu: String,
    /// The name in the report.
    pub name: String,
    /// The kernel or program.
    pub kernel: String,
    /// The measured number; `None` if it was not measured.
    pub measured: Option<f64>,
    pub launches: Launches,
}

/// The launches that a row is about.
#[derive(Clone, Debug)]
pub enum Launches {
    /// A launch from a bundle.
    Bundled(Bundled),
    /// All launches of the kernel or program.
    Own(Box<Own>),
}

/// A launch from a bundle that ran on a GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundled {
    /// The number of the launch, from 0.
    pub launch: u64,
    /// The digest of the kernel, see [`crate::commands::bundle::digest_of`].
    pub code: String,
    pub blocks: u64,
    /// Whether the results on the GPU are those of the functional run: `yes`, `no` or `failed`.
    pub equal: String,
}

/// How a kernel was launched that was measured by other means.
#[derive(Clone, Debug, Default)]
pub struct Own {
    pub options: PtxLaunch,
    /// The launch whose cycles are subtracted.
    pub less: Option<PtxLaunch>,
    /// The number by which the cycles are divided.
    pub per: Option<f64>,
}

/// A problem of a row: its place in the line, the message, and a hint.
type Problem = (Range<usize>, String, &'static str);

/// Returns a field by the name of its column, with its place in the line; a column that is not there
/// has empty fields.
type Fields<'a> = dyn Fn(&str) -> (&'a str, Range<usize>) + 'a;

impl Row {
    /// Returns the number of the launch, from 0; 0 for all launches together.
    pub fn launch(&self) -> u64 {
        match &self.launches {
            Launches::Bundled(of) => of.launch,
            Launches::Own(_) => 0,
        }
    }

    /// Returns whether this is the name of the row or of its kernel.
    pub fn is_called(&self, name: &str) -> bool {
        name == self.name || name == self.kernel
    }

    /// Returns the problem of a second row of the same launch.
    pub fn twice(&self, place: Range<usize>) -> Problem {
        match &self.launches {
            Launches::Bundled(of) => {
                let message = format!("launch {} of `{}` has a row already", of.launch, self.kernel);
                (place, message, "leave one of the rows out")
            }
            Launches::Own(_) => {
                let message = format!("`{}` has a row already", self.name);
                (place, message, "leave one of the rows out, or give them names in a column `name`")
            }
        }
    }
}

/// Reads a row of a table of scripts/measure-on-card.py.
pub fn bundled(field: &Fields<'_>, metric: &str) -> Result<Row, Problem> {
    let text = |column: &str| field(column).0.to_owned();
    let wrong = |column: &str, message: String, hint| Err((field(column).1, message, hint));
    for column in ["gpu", "kernel", "code"] {
        needed(field, column)?;
    }
    let number = |column: &str| field(column).0.parse::<u64>().ok();
    let Some(launch) = number("launch") else {
        let message = format!("`{}` is not the number of a launch", text("launch"));
        return wrong("launch", message, "launches are counted from 0");
    };
    let Some(blocks) = number("blocks").filter(|blocks| *blocks > 0) else {
        let message = format!("`{}` is not a number of blocks", text("blocks"));
        return wrong("blocks", message, "a launch has at least one block");
    };
    let equal = text("equal");
    if !["yes", "no", "failed"].contains(&equal.as_str()) {
        let message = format!("`{equal}` does not state whether the results were equal");
        return wrong("equal", message, "write yes, no or failed");
    }
    Ok(Row {
        gpu: text("gpu"),
        name: text("kernel"),
        kernel: text("kernel"),
        measured: measured(field, metric)?,
        launches: Launches::Bundled(Bundled { launch, code: text("code"), blocks, equal }),
    })
}

/// Reads a row of any other table.
pub fn own(field: &Fields<'_>, metric: &str) -> Result<Row, Problem> {
    let text = |column: &str| field(column).0.to_owned();
    let kernel = needed(field, "kernel")?.to_owned();
    let options = launch(field, "options")?.unwrap_or_default();
    let less = launch(field, "less")?;
    let per = positive(field, "per", "it has to be above 0; leave the field empty to divide by nothing")?;
    let gpu = if field("gpu").0.is_empty() { "the GPU".to_owned() } else { text("gpu") };
    let name = match (field("name").0, field("options").0) {
        ("", "") => kernel.clone(),
        ("", options) => format!("{kernel} {options}"),
        (name, _) => name.to_owned(),
    };
    let measured = measured(field, metric)?;
    Ok(Row { gpu, name, kernel, measured, launches: Launches::Own(Box::new(Own { options, less, per })) })
}

/// Returns a field that must not be empty.
fn needed<'a>(field: &Fields<'a>, column: &str) -> Result<&'a str, Problem> {
    match field(column) {
        ("", place) => Err((place, format!("the field `{column}` is empty"), "every row needs it")),
        (text, _) => Ok(text),
    }
}

/// Returns the options of a launch, or `None` if the field is empty.
fn launch(field: &Fields<'_>, column: &str) -> Result<Option<PtxLaunch>, Problem> {
    let (text, place) = field(column);
    if text.is_empty() {
        return Ok(None);
    }
    let hint = "write options of a launch as on the command line: --entry NAME --block 128 --arg 'U32(5)'";
    match quoted(text) {
        Ok(QuotedLaunch { launch }) => Ok(Some(launch)),
        Err(message) => Err((place, message, hint)),
    }
}

fn measured(field: &Fields<'_>, metric: &str) -> Result<Option<f64>, Problem> {
    positive(field, metric, "it has to be above 0; leave the field empty if it was not measured")
}

/// Returns a number above 0, or `None` if the field is empty.
fn positive(field: &Fields<'_>, column: &str, hint: &'static str) -> Result<Option<f64>, Problem> {
    let (text, place) = field(column);
    match text.parse::<f64>() {
        _ if text.is_empty() => Ok(None),
        Ok(number) if number > 0.0 && number.is_finite() => Ok(Some(number)),
        _ if column == "per" => Err((place, format!("`{text}` is not a number to divide by"), hint)),
        _ => Err((place, format!("`{text}` is not a measured number"), hint)),
    }
}
