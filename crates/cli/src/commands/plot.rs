//! Plots that a formula describes, for `report --plot` and `sweep --plot`.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::files::{Outputs, Part};
use warpbound_core::diag::Diagnostic;
use warpbound_judge::sweep::Row;
use warpbound_report::plot::Panels;
use warpbound_report::results::{Formula, PlotData};

/// The form of the file of a plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// An SVG file.
    Svg,
    /// A PDF file.
    Pdf,
}

impl Form {
    /// Returns the form that the ending of a file states.
    ///
    /// # Errors
    /// It states none.
    pub fn of(option: &str, path: &Path) -> Result<Self, Diagnostic> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("svg") => Ok(Self::Svg),
            Some("pdf") => Ok(Self::Pdf),
            _ => {
                let place = format!("{option} {}", path.display());
                let problem = Diagnostic::general(place, "a plot is written as .svg or .pdf");
                Err(problem.hint("change the ending of the file"))
            }
        }
    }

    /// Returns the contents of the file.
    ///
    /// # Errors
    /// The font of PDF files lacks characters.
    pub fn contents(
        self,
        path: &Path,
        svg: impl FnOnce() -> String,
        pdf: impl FnOnce() -> Result<Vec<u8>, String>,
    ) -> Result<Vec<u8>, Diagnostic> {
        match self {
            Self::Svg => Ok(svg().into_bytes()),
            Self::Pdf => pdf().map_err(|why| {
                let hint = "name a file that ends in .svg: the program that shows it has fonts of its own";
                Diagnostic::general(path.display().to_string(), why).hint(hint)
            }),
        }
    }
}

/// A plot that the user wants, and its file.
pub struct WantedPlot {
    /// What the plot needs of the records so far.
    pub data: PlotData,
    text: String,
    path: PathBuf,
    form: Form,
    part: Part,
}

impl WantedPlot {
    /// Reads a formula and creates the file of its plot. `option` is the option that names the file.
    ///
    /// # Errors
    /// The text is no formula, the name of the file has another ending, or it cannot be created.
    pub fn create(
        text: &str,
        path: &Path,
        option: &'static str,
        outputs: &mut Outputs,
    ) -> Result<Self, Diagnostic> {
        let formula = Formula::parse(text)
            .map_err(|why| problem(text, why).hint(format!("the form is {}", Formula::FORM)))?;
        let form = Form::of(option, path)?;
        let part = outputs.file(option, path)?;
        let (text, path) = (text.to_owned(), path.to_owned());
        Ok(Self { data: PlotData::new(formula), text, path, form, part })
    }

    /// Checks that the results of a source with these columns have all that the formula names.
    ///
    /// # Errors
    /// There is no column of a name.
    pub fn check(&self, columns: &[String], source: &str) -> Result<(), Diagnostic> {
        self.data.check(columns).map_err(|why| problem(&self.text, format!("{source}: {why}")))
    }

    /// Draws the plot and writes the file. Returns its path.
    ///
    /// # Errors
    /// There is nothing to draw, or the file cannot be written.
    pub fn write(self) -> Result<PathBuf, Diagnostic> {
        let Self { data, text, path, form, mut part } = self;
        let panels: Panels = data.panels().map_err(|why| problem(&text, why))?;
        let bytes = form.contents(&path, || panels.svg(), || panels.pdf())?;
        part.write_all(&bytes).and_then(|()| part.place()).map_err(|error| {
            Diagnostic::general(path.display().to_string(), format!("cannot write the file: {error}"))
        })?;
        Ok(path)
    }

    /// Adds a record of the results of a source.
    ///
    /// # Errors
    /// The record has no column of a name in the formula.
    pub fn add(&mut self, record: &Row<'_>, source: &str) -> Result<(), Diagnostic> {
        self.data.add(record).map_err(|why| problem(&self.text, format!("{source}: {why}")))
    }
}

fn problem(formula: &str, why: String) -> Diagnostic {
    Diagnostic::general(format!("--plot {formula}"), why)
}
