//! Kernels and applications, loaded by their names.

use std::path::PathBuf;

use super::applications::{self, LoadedApplication};
use super::launches::{self, FittedLaunch};
use super::loader::Loader;
use super::location::Location;
use super::modules;
use super::options::LaunchOptions;
use super::read;
use super::sources::{self, Sources};
use super::traces;
use crate::check::{Subject, Workload, WorkloadKind};
use warpbound_core::base::{Fnv1a, Pc, ProgressMonitor};
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText, to_ron};
use warpbound_core::machine::PolicyKind;
use warpbound_core::program::launch::LaunchSpec;
use warpbound_front::accelsim::Listed;
use warpbound_front::micro::MicroKernel;

/// A loaded kernel, with the defaults that its file sets.
#[derive(Clone, Debug)]
pub struct LoadedKernel {
    /// The name that was given for it.
    pub name_given: String,
    /// The workload to simulate.
    pub workload: Workload,
    /// The file with the code.
    pub code: SourceText,
    /// The file it was loaded from.
    pub location: Location,
    /// Every file of the caller that was read for it.
    pub inputs: Vec<PathBuf>,
    /// The machine that its file names, if it does.
    pub machine: Option<String>,
    /// The policy that its file names, if it does.
    pub policy: Option<PolicyKind>,
    origin: Origin,
}

/// The kind of file that a kernel was made from.
#[derive(Clone, Debug)]
enum Origin {
    Micro,
    Launch(Box<LaunchSpec>),
    Application(Box<LoadedApplication>),
    Trace,
}

impl LoadedKernel {
    /// Returns the source line of an instruction, without comments and surrounding spaces.
    pub fn text_of(&self, pc: Pc) -> String {
        let line = self.code.line(self.workload.program().instr(pc).line);
        let code = line.split(['#', ';']).next().unwrap_or("").split("//").next().unwrap_or("");
        code.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Returns the source lines that the PTX of the kernel states, with the files that are found.
    /// Kernels in other forms have none.
    pub fn sources(&self) -> Sources {
        let lines = self.workload.program().instrs.iter().map(|instr| instr.line);
        Sources::of(&self.code, lines, &self.location, &self.inputs)
    }

    /// Adds the lines of the code to problems of its instructions, and the source lines from which
    /// these were made.
    #[must_use]
    pub fn with_excerpts(&self, problems: Diagnostics) -> Diagnostics {
        sources::with_excerpts(problems, &self.code, &self.location, &self.inputs)
    }

    /// Returns the launch in the form of a launch file, or `None` for a kernel of another kind.
    pub fn launch_spec(&self) -> Option<&LaunchSpec> {
        match &self.origin {
            Origin::Launch(spec) => Some(spec),
            _ => None,
        }
    }

    /// Returns the files for a folder from which the kernel can be launched again: `launch.ron` or
    /// `program.ron`, PTX or machine code, and data. A micro kernel or trace has no such files.
    ///
    /// # Errors
    /// Returns an error if a file with data can no longer be read.
    pub fn files(&self) -> Result<Vec<(String, Vec<u8>)>, Diagnostics> {
        let launch = match &self.origin {
            Origin::Micro | Origin::Trace => return Ok(Vec::new()),
            Origin::Application(of) => return of.files(),
            Origin::Launch(launch) => launch,
        };
        let named_alone = modules::is_machine_code(&self.location);
        let place = if named_alone { self.location.clone() } else { self.location.beside(&launch.module) };
        let (ending, bytes) = modules::contents(&place, &self.code)?;
        let module = format!("kernel.{ending}");
        let mut files = vec![(module.clone(), bytes)];
        let mut spec = LaunchSpec { module, ..(**launch).clone() };
        for path in spec.data_files() {
            let name = format!("data{}.bin", files.len());
            files.push((name.clone(), self.location.beside(path).bytes(read::DATA_BYTES)?));
            *path = name;
        }
        let text = to_ron("launch.ron", &spec, ron::extensions::Extensions::empty())?;
        files.push(("launch.ron".to_owned(), text.into_bytes()));
        Ok(files)
    }
}

/// A kernel or application.
#[derive(Clone, Debug)]
pub enum Loaded {
    /// One kernel, ready to run.
    Kernel(Box<LoadedKernel>),
    /// Several kernels that run one after the other.
    Application(Box<LoadedApplication>),
}

impl Loaded {
    /// Returns the name in reports.
    pub fn name(&self) -> &str {
        match self {
            Self::Kernel(kernel) => &kernel.workload.name,
            Self::Application(program) => &program.name,
        }
    }

    /// Returns the name that was given for it.
    pub fn name_given(&self) -> &str {
        match self {
            Self::Kernel(kernel) => &kernel.name_given,
            Self::Application(program) => &program.name_given,
        }
    }

    /// Returns the kernel or application as the subject of a verdict.
    pub fn subject(&self) -> Subject<'_> {
        match self {
            Self::Kernel(kernel) => Subject::Launch(&kernel.workload),
            Self::Application(of) => of.subject(),
        }
    }

    /// Returns the names and digests of every file that it consists of.
    ///
    /// # Errors
    /// Returns an error if a file can no longer be read.
    pub fn digests(&self) -> Result<Vec<(String, u64)>, Diagnostics> {
        let kernel = match self {
            Self::Application(application) => return application.digests(),
            Self::Kernel(kernel) => kernel,
        };
        if matches!(kernel.origin, Origin::Trace) {
            return Ok(kernel.location.digests(&kernel.inputs)?);
        }
        let files = kernel.files()?;
        if files.is_empty() {
            return Ok(vec![("kernel.warp".to_owned(), Fnv1a::of(kernel.code.text().as_bytes()))]);
        }
        Ok(files.into_iter().map(|(name, bytes)| (name, Fnv1a::of(&bytes))).collect())
    }

    /// Returns the number of blocks to simulate in this number of runs, if known.
    pub fn blocks(&self, runs: usize) -> Option<u64> {
        match self {
            Self::Kernel(kernel) => Some(u64::from(kernel.workload.blocks()) * runs as u64),
            Self::Application(_) => None,
        }
    }

    /// Returns the machine that the kernel's own file names.
    pub fn own_machine(&self) -> Option<&str> {
        match self {
            Self::Kernel(kernel) => kernel.machine.as_deref(),
            Self::Application(_) => None,
        }
    }

    /// Adds the source lines of the code to the errors of a run.
    pub fn with_excerpts(&self, problems: Diagnostics) -> Diagnostics {
        match self {
            Self::Kernel(kernel) => kernel.with_excerpts(problems),
            Self::Application(program) => program.with_excerpts(problems),
        }
    }
}

impl Loader {
    /// Finds and reads a kernel; for a program or a list of traces, this is the launch that the
    /// options select. If `monitor` requests it, reading stops early, as in the other functions
    /// that read kernels.
    ///
    /// # Errors
    /// Returns an error if a file is invalid, if it has several launches, or if reading was
    /// stopped.
    pub fn kernel(
        &self,
        name: &str,
        options: &LaunchOptions,
        monitor: &ProgressMonitor,
    ) -> Result<LoadedKernel, Diagnostics> {
        match self.load(name, options, monitor)? {
            Loaded::Kernel(kernel) => Ok(*kernel),
            Loaded::Application(of) => {
                let message = format!("`{}` is a {} of {}, not one", of.name, of.kind(), of.kernels());
                let hint =
                    format!("choose one with {} N; the first has the number 0", options.name("launch"));
                Err(Diagnostic::general(of.location.shown(), message).hint(hint).into())
            }
        }
    }

    /// Finds and reads a kernel or application.
    ///
    /// # Errors
    /// Returns an error if a file is invalid, or if reading was stopped.
    pub fn load(
        &self,
        name: &str,
        options: &LaunchOptions,
        monitor: &ProgressMonitor,
    ) -> Result<Loaded, Diagnostics> {
        self.load_at(name, self.find_kernel(name)?, options, monitor)
    }

    /// Reads a kernel or application that was found under this name.
    ///
    /// # Errors
    /// Returns the errors of [`Self::load`].
    pub fn load_at(
        &self,
        name: &str,
        location: Location,
        options: &LaunchOptions,
        monitor: &ProgressMonitor,
    ) -> Result<Loaded, Diagnostics> {
        let with_compiler;
        let options = match self.by_compiler(name).1 {
            Some(compiler) => {
                with_compiler = LaunchOptions { compiler: Some(compiler.to_owned()), ..options.clone() };
                &with_compiler
            }
            None => options,
        };
        let kernel = match location.extension().as_str() {
            "warp" if options.is_given() => {
                let message =
                    format!("{} and similar options belong to launches of PTX kernels", options.some_names());
                return Err(Diagnostic::general(name, message)
                    .hint("a .warp file describes its own launch")
                    .into());
            }
            "warp" => micro(name, location)?,
            "ron" => return launch_or_program(name, location, options),
            "traceg" | "tracez" | "g" if options.describes_a_launch() || !options.constants.is_empty() => {
                let message = format!(
                    "{}, {} and similar options belong to code, and this is a trace of a run",
                    options.some_names(),
                    options.name("let")
                );
                return Err(Diagnostic::general(name, message).into());
            }
            "traceg" | "tracez" => trace(name, location, options, None, monitor)?,
            "g" => return trace_or_list(name, location, options, monitor),
            "cubin" | "fatbin" if options.grid.is_none() && options.block.is_none() => {
                return self.load(&launch_of_code(name, &location, options)?, options, monitor);
            }
            "ptx" | "cubin" | "fatbin" => {
                let fitted = launches::from_options(&location, options)?;
                launch(name, fitted.program.name.clone(), location, fitted)
            }
            "cu" => {
                let problem = Diagnostic::general(name, "this is CUDA C, not PTX");
                return Err(problem.hint(compiling(&location)).into());
            }
            other => return Err(not_a_kernel(name, other).into()),
        };
        Ok(Loaded::Kernel(Box::new(kernel)))
    }
}

/// Reads a launch or program file.
fn launch_or_program(name: &str, location: Location, options: &LaunchOptions) -> Result<Loaded, Diagnostics> {
    let source = location.text()?;
    let kernel = if applications::is_program(&source) {
        let program = applications::load_program(name, location, source, options)?;
        match options.launch {
            None => return Ok(Loaded::Application(Box::new(program))),
            Some(number) => launch_of(program, number)?,
        }
    } else {
        let fitted = launches::from_file(&location, source, options)?;
        launch(name, options.name_of(&location.stem()), location, fitted)
    };
    Ok(Loaded::Kernel(Box::new(kernel)))
}

/// Reads a list of traces, or the one that the options select.
fn trace_or_list(
    name: &str,
    location: Location,
    options: &LaunchOptions,
    monitor: &ProgressMonitor,
) -> Result<Loaded, Diagnostics> {
    let (list, source) = traces::list(&location)?;
    Ok(match traces::chosen(&list, &source, options)? {
        Some(chosen) => Loaded::Kernel(Box::new(trace(name, location, options, Some(chosen), monitor)?)),
        None => {
            Loaded::Application(Box::new(applications::load_list(name, location, &list, options, monitor)?))
        }
    })
}

/// Returns the name of the launch for a file of machine code, which must be the only one for it in
/// the same folder.
fn launch_of_code(name: &str, location: &Location, options: &LaunchOptions) -> Result<String, Diagnostics> {
    let mut found = modules::launches_beside(location)?;
    if found.len() == 1 {
        return Ok(found.remove(0));
    }
    let message = format!("{} launches in its folder are for this file", found.len());
    let hint = if found.is_empty() {
        let (grid, block) = (options.name("grid"), options.name("block"));
        format!("give {grid} and {block}, or write a launch .ron that names its .ptx")
    } else {
        format!("name one of them: {}", found.join(", "))
    };
    Err(Diagnostic::general(name, message).hint(hint).into())
}

/// Returns the error for a file with an extension that kernels do not have.
fn not_a_kernel(name: &str, ending: &str) -> Diagnostic {
    let message = match ending {
        "" => "the name has no extension that shows the kind of the file".to_owned(),
        other => format!("`.{other}` is not a kind of kernel file"),
    };
    let hint = "kernels are .warp, .ptx, .cubin, launch and program .ron files, traces (.traceg, .tracez, kernelslist.g), names that `warpbound list` shows, \
                or `-` for stdin";
    Diagnostic::general(name, message).hint(hint)
}

/// Returns a hint on compiling a CUDA file to PTX.
fn compiling(location: &Location) -> String {
    format!("compile it first: warpbound compile {} -o {}.ptx", location.shown(), location.stem())
}

fn micro(name: &str, location: Location) -> Result<LoadedKernel, Diagnostics> {
    let code = location.text()?;
    let kernel = MicroKernel::parse(&location.stem(), &code)?;
    Ok(LoadedKernel {
        name_given: name.to_owned(),
        origin: Origin::Micro,
        machine: kernel.machine.clone(),
        policy: kernel.policy.clone(),
        workload: Workload { name: location.stem(), kind: WorkloadKind::Micro(Box::new(kernel)) },
        code,
        inputs: location.path().map(PathBuf::from).into_iter().collect(),
        location,
    })
}

/// Reads a trace that is given directly or as part of a list.
fn trace(
    name: &str,
    location: Location,
    options: &LaunchOptions,
    of: Option<Listed>,
    monitor: &ProgressMonitor,
) -> Result<LoadedKernel, Diagnostics> {
    let mut inputs: Vec<PathBuf> = location.path().map(PathBuf::from).into_iter().collect();
    let (workload, code) = match &of {
        Some(listed) => traces::listed(&location, listed, options, monitor)?,
        None => traces::workload(&location, options, monitor)?,
    };
    inputs.extend(of.and_then(|listed| location.beside(&listed.file).path().map(PathBuf::from)));
    inputs.dedup();
    Ok(LoadedKernel {
        name_given: name.to_owned(),
        code,
        workload,
        location,
        inputs,
        machine: None,
        policy: None,
        origin: Origin::Trace,
    })
}

fn launch(name_given: &str, name: String, location: Location, fitted: FittedLaunch) -> LoadedKernel {
    let FittedLaunch { spec, program, launch, code, inputs } = fitted;
    LoadedKernel {
        name_given: name_given.to_owned(),
        workload: Workload {
            name,
            kind: WorkloadKind::Launch { program: Box::new(program), launch: Box::new(launch) },
        },
        code,
        location,
        inputs,
        machine: None,
        policy: None,
        origin: Origin::Launch(Box::new(spec)),
    }
}

/// Returns one launch of an application.
///
/// # Errors
/// Returns an error if it has fewer launches.
pub fn launch_of(application: LoadedApplication, number: u64) -> Result<LoadedKernel, Diagnostics> {
    let (workload, code) = application.launch(number)?;
    Ok(LoadedKernel {
        name_given: application.name_given.clone(),
        workload,
        code,
        location: application.location.clone(),
        inputs: application.inputs.clone(),
        machine: None,
        policy: None,
        origin: match application.application.program() {
            Some(_) => Origin::Application(Box::new(application)),
            None => Origin::Trace,
        },
    })
}
