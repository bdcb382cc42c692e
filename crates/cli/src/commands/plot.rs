//! Plots that a formula describes, for `report --plot` and `sweep --plot`.

use std::path::{Path, PathBuf};

use crate::files::{Outputs, Part};
use warpbound_core::diag::Diagnostic;
use warpbound_judge::sweep::Row;
use warpbound_report::plot::Panels;
use warpbound_report::results::{Formula, PlotData};

/// The form of the file of a plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Svg,
    Pdf,
}

/// The file of a plot that is to be drawn.
pub struct PlotFile {
    path: PathBuf,
    form: Form,
    part: Part,
}

impl PlotFile {
    /// Creates the file. `option` is the option that names it; the ending of its name is its form.
    ///
    /// # Errors
    /// The name has another ending, or the file cannot be created.
    pub fn create(option: &str, path: &Path, outputs: &mut Outputs) -> Result<Self, Diagnostic> {
        let form = match path.extension().and_then(|ending| ending.to_str()) {
            Some("svg") => Form::Svg,
            Some("pdf") => Form::Pdf,
            _ => {
                let place = format!("{option} {}", path.display());
                let problem = Diagnostic::general(place, "a plot is written as .svg or .pdf");
                return Err(problem.hint("change the ending of the file"));
            }
        };
        Ok(Self { path: path.to_owned(), form, part: outputs.file(option, path)? })
    }

    /// Writes the plot and returns the path of the file.
    ///
    /// # Errors
    /// The font of PDF files lacks characters, or the file cannot be written.
    pub fn write(
        self,
        svg: impl FnOnce() -> String,
        pdf: impl FnOnce() -> Result<Vec<u8>, String>,
    ) -> Result<PathBuf, Diagnostic> {
        let Self { path, form, part } = self;
        let place = path.display().to_string();
        let bytes = match form {
            Form::Svg => svg().into_bytes(),
            Form::Pdf => pdf().map_err(|why| {
                let hint = "name a file that ends in .svg: the program that shows it has fonts of its own";
                Diagnostic::general(&place, why).hint(hint)
            })?,
        };
        part.complete(place, &bytes)?;
        Ok(path)
    }
}

/// A plot that the user wants, and its file.
pub struct WantedPlot {
    /// What the plot needs of the records so far.
    pub data: PlotData,
    text: String,
    file: PlotFile,
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
        let file = PlotFile::create(option, path, outputs)?;
        Ok(Self { data: PlotData::new(formula), text: text.to_owned(), file })
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
        let Self { data, text, file } = self;
        let panels: Panels = data.panels().map_err(|why| problem(&text, why))?;
        file.write(|| panels.svg(), || panels.pdf())
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
