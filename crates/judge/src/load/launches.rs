//! Launch files, bare PTX files, and the options that describe a launch or override parts of it.

use std::cell::RefCell;
use std::path::PathBuf;

use super::arguments::replace_args;
use super::location::Location;
use super::modules::Module;
use super::options::LaunchOptions;
use super::read;
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText, Step, Texts};
use warpbound_core::program::KernelCode;
use warpbound_core::program::expr::Expr;
use warpbound_core::program::launch::{Launch, LaunchSpec, ShapeSpec};

/// A launch that has been checked against its kernel, with its sources.
pub(super) struct FittedLaunch {
    /// The launch in the form of a launch file.
    pub spec: LaunchSpec,
    /// The kernel.
    pub program: KernelCode,
    /// The launch.
    pub launch: Launch,
    /// The text of the module's code.
    pub code: SourceText,
    /// Every file of the caller that was read.
    pub inputs: Vec<PathBuf>,
}

/// Reads the launch of a file and applies the options.
pub(super) fn from_file(
    location: &Location,
    source: SourceText,
    options: &LaunchOptions,
) -> Result<FittedLaunch, Diagnostics> {
    let mut spec = LaunchSpec::parse(&source)?;
    let written = std::mem::take(&mut spec.module);
    spec.module = options.module(&written);
    let module = location.beside(&spec.module);
    module_is_there(&module, &source, &written)?;
    fitted(spec, location, (&module, None), Texts::new(source), options)
}

/// Checks that the module that a file names exists; the error is placed at the name.
pub(super) fn module_is_there(
    module: &Location,
    source: &SourceText,
    written: &str,
) -> Result<(), Diagnostics> {
    if module.path().is_none() || module.exists() {
        return Ok(());
    }
    let message = format!("the module `{written}` that is named here does not exist");
    let place = source.error_along(&["module", written], message);
    Err(place.hint(format!("it is looked for beside this file, as {}", module.shown())).into())
}

/// Returns the launch of a bare PTX file that the options describe.
pub(super) fn from_options(
    location: &Location,
    options: &LaunchOptions,
) -> Result<FittedLaunch, Diagnostics> {
    let mut problems = Diagnostics::new();
    if let Some(compiler) = &options.compiler {
        let option = options.name("compiler");
        let problem = Diagnostic::general(format!("{option} {compiler}"), "this is the code already");
        problems.push(problem.hint(format!("{option} chooses the .ptx file of a launch or program file")));
    }
    if location.path().is_some() && !location.exists() {
        // an unreadable file is reported before missing options
        location.bytes(read::PTX_BYTES)?;
    }
    for (name, given) in [("grid", options.grid), ("block", options.block)] {
        if given.is_none() {
            let message = format!("a file of code needs {} X,Y,Z", options.name(name));
            let problem = Diagnostic::general(location.shown(), message);
            problems.push(problem.hint(
                "or write a launch .ron beside it: `warpbound inspect FILE.ptx --template > FILE.ron`",
            ));
        }
    }
    problems.into_result(())?;
    let (entry, known) = match &options.entry {
        Some(entry) => (entry.clone(), None),
        None => {
            let module = Module::read(location, options, 0)?;
            (module.only_kernel(&options.name("entry"))?, Some(module))
        }
    };
    let one = || (Expr::from(1), Expr::from(1), Expr::from(1));
    let spec = LaunchSpec {
        doc: String::new(),
        suite: false,
        module: location.shown(),
        entry,
        grid: one(),
        block: one(),
        cluster: None,
        dynamic_shared: Expr::default(),
        registers: None,
        buffers: Vec::new(),
        args: Vec::new(),
        symbols: Vec::new(),
        textures: Vec::new(),
        surfaces: Vec::new(),
    };
    let option = options.name("arg");
    let arg_lines: String = options.args.iter().map(|arg| format!("{option} {arg}\n")).collect();
    let texts = Texts::new(SourceText::new(options.names.together, arg_lines));
    fitted(spec, location, (location, known), texts, options)
}

/// Applies the options to a launch. Its module is read from its location unless it is known.
fn fitted(
    mut spec: LaunchSpec,
    location: &Location,
    (module, known): (&Location, Option<Module>),
    mut texts: Texts,
    options: &LaunchOptions,
) -> Result<FittedLaunch, Diagnostics> {
    if let Some(number) = options.launch {
        let option = options.name("launch");
        let problem = Diagnostic::general(format!("{option} {number}"), "this file has one launch only");
        return Err(problem.hint(format!("{option} chooses a launch of a program file")).into());
    }
    if let Some(constant) = options.constants.first() {
        let option = options.name("let");
        let problem = Diagnostic::general(format!("{option} {constant}"), "this file has no `let`");
        return Err(problem.hint(format!("{option} changes a number that a program file names")).into());
    }
    if let Some(entry) = &options.entry {
        spec.entry.clone_from(entry);
    }
    let read_module = known.map_or_else(|| Module::read(module, options, 0), Ok)?;
    let mut program = read_module.program(&spec.entry)?;
    if let Some(cluster @ [x, y, z]) = spec.cluster {
        if let Some([of_x, of_y, of_z]) = program.cluster.filter(|&known| known != cluster) {
            let message = format!(
                "cluster ({x}, {y}, {z}); `{}` runs in clusters of ({of_x}, {of_y}, {of_z}) blocks",
                program.name
            );
            return Err(texts.root().field("cluster").error(message).into());
        }
        program.cluster = Some(cluster);
    }
    let code = read_module.code;
    spec.entry.clone_from(&program.name);
    let mut replace = |field: &'static str, option: &str, value: String| {
        let text = SourceText::new(format!("{} {value}", options.name(option)), value);
        texts.replace(vec![Step::field(field)], text);
    };
    for (field, given, of) in
        [("grid", options.grid, &mut spec.grid), ("block", options.block, &mut spec.block)]
    {
        if let Some([x, y, z]) = given {
            *of = shape_spec([x, y, z]);
            replace(field, field, format!("{x},{y},{z}"));
        }
    }
    if let Some(bytes) = options.dynamic_shared {
        spec.dynamic_shared = Expr::from(u64::from(bytes));
        replace("dynamic_shared", "dynamic-shared", bytes.to_string());
    }
    spec.registers = options.registers.or(spec.registers);
    replace_args(&mut spec, &program, options, &mut texts)?;
    let inputs = [location, module].into_iter().filter_map(Location::path).map(PathBuf::from);
    let inputs = RefCell::new(inputs.collect::<Vec<PathBuf>>());
    let read = |path: &str, most: u64| read_data(location, path, most, &mut inputs.borrow_mut());
    let launch = Launch::from_texts(&spec, &program, options.seed, &texts, &read)?;
    Ok(FittedLaunch { spec, program, launch, code, inputs: inputs.into_inner() })
}

/// Reads the contents of a buffer, at most `most` bytes, from a file that is named in another one.
pub(super) fn read_data(
    location: &Location,
    path: &str,
    most: u64,
    inputs: &mut Vec<PathBuf>,
) -> Result<Vec<u8>, String> {
    let file = location.beside(path);
    inputs.extend(file.path().map(PathBuf::from));
    file.bytes(most.min(read::DATA_BYTES)).map_err(|problem| match most {
        u64::MAX => format!("`{path}`: {}", problem.message),
        most => format!("`{path}`, for a buffer of {most} bytes: {}", problem.message),
    })
}

fn shape_spec([x, y, z]: [u32; 3]) -> ShapeSpec {
    let axis = |n: u32| Expr::from(u64::from(n));
    (axis(x), axis(y), axis(z))
}
