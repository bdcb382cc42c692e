//! `warpbound report`: shows results as a page and as plots.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::args::Report;
use crate::commands::plot::WantedPlot;
use crate::files::results::{lines_of, read_manifest};
use crate::files::{Folder, Outputs, Part};
use crate::output::{Ending, Outcome};
use crate::session::Session;
use warpbound_core::diag::{Diagnostic, Diagnostics, shortened};
use warpbound_judge::sweep::{Manifest, Row, RowReader};
use warpbound_report::count;
use warpbound_report::results::{
    Collected, explained, number_of, page, plots, records_of_check, worst_cases,
};

/// The file with the lines in a folder of results.
const LINES: &str = "results.jsonl";

/// Runs the command.
pub fn run(args: &Report, session: &Session) -> Outcome {
    let mut problems = Diagnostics::new();
    let mut inputs = Vec::new();
    for path in &args.results {
        match Input::find(path) {
            Ok(input) => inputs.push(input),
            Err(problem) => problems.push(problem),
        }
    }
    let inputs = problems.into_result(inputs)?;
    let read: Vec<PathBuf> = inputs.iter().flat_map(Input::files).collect();
    let mut wanted = Wanted::create(args, &read, session)?;
    let mut all = Collected::default();
    session.progress.begin("reading results", None, "points");
    let mut problems = Diagnostics::new();
    for input in inputs {
        if let Err(problem) = input.read(&mut all, wanted.plot.as_mut(), session) {
            problems.push(problem);
        }
    }
    problems.into_result(())?;
    all.stopped = session.cut_short();
    session.conclude();
    let mut ending = Ending { violated: all.is_violated(), ..Ending::default() };
    if let Some(stopped) = all.stopped {
        let message = format!("{} before all results were read", stopped.text());
        let problem = Diagnostic::general("report", message);
        ending.late.push(problem.hint("what was read is shown, and marked as incomplete"));
    }
    let mut summary = format!("{} of {}", number_of(&all), count(all.sources.len(), "source"));
    summary.push_str(&format!(", {} violated, {} failed\n", all.total.violated, all.total.failed));
    wanted.write(&all)?.iter().for_each(|path| summary.push_str(&format!("{}\n", path.display())));
    ending.print(session, &summary);
    Ok(ending)
}

/// The outputs that the user wants, whose files are created before anything is read.
struct Wanted<'a> {
    plot: Option<WantedPlot>,
    pages: Vec<(&'a Path, Part)>,
    folder: Option<Folder>,
}

impl<'a> Wanted<'a> {
    fn create(args: &'a Report, read: &[PathBuf], session: &Session) -> Result<Self, Diagnostic> {
        let mut outputs = Outputs::new(read, args.writing.force, &session.parts);
        let plot = args.plot.as_ref().zip(args.out.as_ref());
        let plot =
            plot.map(|(text, path)| WantedPlot::create(text, path, "--out", &mut outputs)).transpose()?;
        // without a plot, --out is the page
        if let (None, Some(path)) = (&plot, &args.out) {
            let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            if ending == "svg" || ending == "pdf" {
                let problem = Diagnostic::general(format!("--out {}", path.display()), "no plot is named");
                return Err(problem
                    .hint("--plot 'cycles ~ mem_latency | policy' names one; --html FILE writes the page"));
            }
        }
        let mut pages = Vec::new();
        let page_at_out = args.out.as_ref().filter(|_| plot.is_none());
        for (option, path) in [("--html", args.html.as_ref()), ("--out", page_at_out)] {
            if let Some(path) = path {
                pages.push((path.as_path(), outputs.file(option, path)?));
            }
        }
        let prepare = |dir| Folder::prepare("--svg", dir, args.writing.force, &session.parts);
        Ok(Self { plot, pages, folder: args.svg.as_deref().map(prepare).transpose()? })
    }

    /// Writes all files and returns their paths.
    fn write(self, all: &Collected) -> Result<Vec<PathBuf>, Diagnostic> {
        let Self { plot, mut pages, folder } = self;
        let mut paths = Vec::new();
        if let Some(mut plot) = plot {
            if all.sources.len() > 1 {
                let names: Vec<&str> = all.sources.iter().map(|source| source.name.as_str()).collect();
                plot.data.note(format!("The points of {} together.", names.join(", ")));
            }
            all.incomplete().into_iter().for_each(|note| plot.data.note(note));
            paths.push(plot.write()?);
        }
        for (path, part) in &mut pages {
            let html = page(all).render();
            part.write_all(html.as_bytes()).map_err(|error| unwritten(path, &error))?;
            paths.push(path.to_path_buf());
        }
        if let Some(folder) = folder {
            let files = plots(all).into_iter();
            let files: Vec<(String, Vec<u8>)> =
                files.map(|plot| (format!("{}.svg", plot.name), plot.svg.into_bytes())).collect();
            folder.check_files(&files.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>())?;
            folder.write("", &files)?;
            paths.extend(files.iter().map(|(name, _)| folder.path(name)));
        }
        for (path, part) in pages {
            part.place().map_err(|error| unwritten(path, &error))?;
        }
        Ok(paths)
    }
}

fn unwritten(path: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::general(format!("--html {}", path.display()), format!("cannot write the file: {error}"))
}

/// A file or folder with results.
struct Input {
    /// The name on the command line.
    name: String,
    lines: PathBuf,
    manifest: Option<Manifest>,
}

impl Input {
    /// Returns the files of the results, none of which may be replaced.
    fn files(&self) -> Vec<PathBuf> {
        let beside = |name: &str| self.lines.with_file_name(name);
        let others = ["manifest.json", "results.csv"].into_iter().filter(|_| self.manifest.is_some());
        std::iter::once(self.lines.clone()).chain(others.map(beside)).collect()
    }

    fn find(path: &Path) -> Result<Self, Diagnostic> {
        let name = path.display().to_string();
        let problem = |message: String| {
            Diagnostic::general(name.clone(), message)
                .hint("name a folder that `warpbound sweep` or `merge` wrote, a results.jsonl file, or what `check`, `static`, `wcet` or `run --explain` printed with `--format json`")
        };
        let there =
            std::fs::metadata(path).map_err(|error| problem(format!("cannot read the results: {error}")))?;
        if !there.is_dir() {
            if !there.is_file() {
                return Err(problem("this is a device, pipe or socket, not a regular file".to_owned()));
            }
            return Ok(Self { name, lines: path.to_owned(), manifest: None });
        }
        let lines = path.join(LINES);
        if !lines.is_file() {
            return Err(problem("this is no folder of results: it has no results.jsonl".to_owned()));
        }
        Ok(Self { manifest: Some(read_manifest(path)?), name, lines })
    }

    /// Adds every line to the collected results.
    fn read(
        self,
        all: &mut Collected,
        mut plot: Option<&mut WantedPlot>,
        session: &Session,
    ) -> Result<(), Diagnostic> {
        let place = self.lines.display().to_string();
        if let Some(plot) = &mut plot {
            plot.data.begin();
            self.manifest.iter().try_for_each(|manifest| plot.check(&manifest.columns, &self.name))?;
        }
        all.begin(self.name.clone(), self.manifest);
        let mut reader =
            Reader { name: self.name, all, plot, session, rows: RowReader::default(), records: 0 };
        for (number, line) in (1..).zip(lines_of(&self.lines)?) {
            let line = line.map_err(|error| {
                Diagnostic::general(place.clone(), format!("cannot read the file: {error}"))
            })?;
            if session.monitor.is_stopped() {
                return Ok(());
            }
            if line.trim().is_empty() {
                continue;
            }
            reader.line(&line).map_err(|problem| match problem {
                Problem::Line(column, message) => {
                    let hint = "results.jsonl has one object per line, as `warpbound sweep` writes it";
                    let at = Diagnostic::general(place.clone(), message).hint(hint);
                    Diagnostic { line: number, column, width: 1, excerpt: shortened(&line), ..at }
                }
                Problem::Plot(problem) => problem,
            })?;
        }
        if reader.records == 0 {
            let message = "there are no results: no line is complete";
            return Err(
                Diagnostic::general(place, message).hint("run `warpbound sweep` first; --resume goes on")
            );
        }
        Ok(())
    }
}

/// What is wrong with a line.
enum Problem {
    /// The line itself is wrong in this column.
    Line(u32, String),
    /// The line has not what the plot needs.
    Plot(Diagnostic),
}

/// Reads the lines of a source.
struct Reader<'a> {
    name: String,
    all: &'a mut Collected,
    plot: Option<&'a mut WantedPlot>,
    session: &'a Session,
    rows: RowReader,
    records: u64,
}

impl Reader<'_> {
    /// Adds what a line contains: a record, or the output of another command.
    fn line(&mut self, line: &str) -> Result<(), Problem> {
        // nearly all lines are records, which need no tree of values
        let mut rows = std::mem::take(&mut self.rows);
        let added = match rows.read(line) {
            Ok(row) if row.get("command").is_none() => Some(self.record(&row)),
            _ => None,
        };
        self.rows = rows;
        added.unwrap_or_else(|| self.output(line))
    }

    /// Adds a record.
    fn record(&mut self, record: &Row<'_>) -> Result<(), Problem> {
        self.all.add(record).map_err(|why| Problem::Line(1, format!("this line is no record: {why}")))?;
        if let Some(plot) = &mut self.plot {
            plot.add(record, &self.name).map_err(Problem::Plot)?;
        }
        self.records += 1;
        self.session.monitor.advance(1);
        Ok(())
    }

    /// Adds the output of `check`, `static`, `wcet` or `run --explain`.
    fn output(&mut self, line: &str) -> Result<(), Problem> {
        let output: serde_json::Value = serde_json::from_str(line).map_err(|error| {
            let column = error.column().max(1);
            let column = if column > 250 { 1 } else { column as u32 };
            Problem::Line(column, format!("this line is no record: {error}"))
        })?;
        let wrong = |what: &str, why: String| Problem::Line(1, format!("this is {what}: {why}"));
        let cases = worst_cases(&output).map_err(|why| wrong("not what wcet writes", why))?;
        if output["command"] == "wcet" {
            self.records += cases.len() as u64;
            cases.into_iter().for_each(|case| self.all.compare(case));
            return Ok(());
        }
        let listed = records_of_check(&output);
        let paths = explained(&output).map_err(|why| wrong("no critical path", why))?;
        paths.into_iter().for_each(|path| self.all.explain(path));
        for record in listed.as_ref().map_or(std::slice::from_ref(&output), Vec::as_slice) {
            let mut rows = RowReader::default();
            let row = rows.convert(record);
            self.record(&row.map_err(|why| Problem::Line(1, format!("this line is no record: {why}")))?)?;
        }
        Ok(())
    }
}
