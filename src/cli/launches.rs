//! Launch files, bare PTX files, and the options that describe a launch or override parts of it.

use std::cell::RefCell;
use std::path::PathBuf;

use super::args::{PtxLaunch, Shape};
use super::assets::Location;
use super::files::read;
use super::modules::Module;
use crate::diag::{Diagnostic, Diagnostics, SourceText, Step, Texts, closest};
use crate::program::Program;
use crate::program::expr::Expr;
use crate::program::launch::{ArgSpec, BufferSpec, Launch, LaunchSpec, ShapeSpec, parse_arg};
use crate::program::{Param, ParamType};

/// A launch that has been checked against its kernel, with its sources.
pub struct FittedLaunch {
    /// The launch in the form of a launch file.
    pub spec: LaunchSpec,
    /// The kernel.
    pub program: Program,
    /// The launch.
    pub launch: Launch,
    /// The text of the module's code.
    pub code: SourceText,
    /// Every file on disk that was read.
    pub inputs: Vec<PathBuf>,
}

/// Reads the launch of a file and applies the options.
pub fn from_file(
    location: &Location,
    source: SourceText,
    options: &PtxLaunch,
    seed: u64,
) -> Result<FittedLaunch, Diagnostics> {
    let mut spec = LaunchSpec::parse(&source)?;
    let written = std::mem::take(&mut spec.module);
    spec.module = options.module(&written);
    let module = location.beside(&spec.module);
    module_is_there(&module, &source, &written)?;
    fitted(spec, location, &module, Texts::new(source), options, seed)
}

/// Checks that the module that a file names exists; the error is placed at the name.
pub fn module_is_there(module: &Location, source: &SourceText, written: &str) -> Result<(), Diagnostics> {
    match module.on_disk() {
        Some(path) if !path.exists() => {
            let message = format!("the module `{written}` that is named here does not exist");
            let place = source.error_along(&["module", written], message);
            Err(place.hint(format!("it is looked for beside this file, as {}", module.shown())).into())
        }
        _ => Ok(()),
    }
}

/// Returns the launch of a bare PTX file that the options describe.
pub fn from_options(
    location: &Location,
    options: &PtxLaunch,
    seed: u64,
) -> Result<FittedLaunch, Diagnostics> {
    let mut problems = Diagnostics::new();
    if let Some(compiler) = &options.compiler {
        let problem = Diagnostic::general(format!("--compiler {compiler}"), "this is the code already");
        problems.push(problem.hint("--compiler chooses the .ptx file of a launch or program file"));
    }
    if location.on_disk().is_some_and(|path| !path.exists()) {
        // an unreadable file is reported before missing options
        location.bytes(read::PTX_BYTES)?;
    }
    for (name, given) in [("--grid", options.grid), ("--block", options.block)] {
        if given.is_none() {
            let problem = Diagnostic::general(location.shown(), format!("a file of code needs {name} X,Y,Z"));
            problems.push(problem.hint(
                "or write a launch .ron beside it: `warpbound inspect FILE.ptx --template > FILE.ron`",
            ));
        }
    }
    problems.into_result(())?;
    let entry = match &options.entry {
        Some(entry) => entry.clone(),
        None => Module::read(location, options, 0)?.only_kernel()?,
    };
    let one = || (Expr::from(1), Expr::from(1), Expr::from(1));
    let spec = LaunchSpec {
        doc: String::new(),
        suite: false,
        module: location.shown(),
        entry,
        grid: one(),
        block: one(),
        dynamic_shared: Expr::default(),
        registers: None,
        buffers: Vec::new(),
        args: Vec::new(),
        symbols: Vec::new(),
        textures: Vec::new(),
        surfaces: Vec::new(),
    };
    let said: String = options.arg.iter().map(|arg| format!("--arg {arg}\n")).collect();
    fitted(spec, location, location, Texts::new(SourceText::new("command line", said)), options, seed)
}

fn fitted(
    mut spec: LaunchSpec,
    location: &Location,
    module: &Location,
    mut texts: Texts,
    options: &PtxLaunch,
    seed: u64,
) -> Result<FittedLaunch, Diagnostics> {
    if let Some(number) = options.launch {
        let problem = Diagnostic::general(format!("--launch {number}"), "this file has one launch only");
        return Err(problem.hint("--launch chooses a launch of a program file").into());
    }
    if let Some(constant) = options.constant.first() {
        let problem = Diagnostic::general(format!("--let {constant}"), "this file has no `let`");
        return Err(problem.hint("--let changes a number that a program file names").into());
    }
    if let Some(entry) = &options.entry {
        spec.entry.clone_from(entry);
    }
    let read_module = Module::read(module, options, 0)?;
    let program = read_module.program(&spec.entry)?;
    let code = read_module.code;
    spec.entry.clone_from(&program.name);
    let mut replace = |field: &'static str, option: &str, value: String| {
        let text = SourceText::new(format!("{option} {value}"), value);
        texts.replace(vec![Step::field(field)], text);
    };
    for (field, option, given, of) in [
        ("grid", "--grid", options.grid, &mut spec.grid),
        ("block", "--block", options.block, &mut spec.block),
    ] {
        if let Some(shape) = given {
            *of = shape_spec(shape);
            replace(field, option, format!("{},{},{}", shape.0, shape.1, shape.2));
        }
    }
    if let Some(bytes) = options.dynamic_shared {
        spec.dynamic_shared = Expr::from(u64::from(bytes));
        replace("dynamic_shared", "--dynamic-shared", bytes.to_string());
    }
    spec.registers = options.registers.or(spec.registers);
    replace_args(&mut spec, &program, &options.arg, &mut texts)?;
    let inputs = [location, module].into_iter().filter_map(Location::on_disk).map(PathBuf::from);
    let inputs = RefCell::new(inputs.collect::<Vec<PathBuf>>());
    let read = |path: &str, most: u64| read_data(location, path, most, &mut inputs.borrow_mut());
    let launch = Launch::from_texts(&spec, &program, seed, &texts, &read)?;
    Ok(FittedLaunch { spec, program, launch, code, inputs: inputs.into_inner() })
}

/// Reads the contents of a buffer, at most `most` bytes, from a file that is named in another one.
pub fn read_data(
    location: &Location,
    path: &str,
    most: u64,
    inputs: &mut Vec<PathBuf>,
) -> Result<Vec<u8>, String> {
    let file = location.beside(path);
    inputs.extend(file.on_disk().map(PathBuf::from));
    file.bytes(most.min(read::DATA_BYTES)).map_err(|problem| match most {
        u64::MAX => format!("`{path}`: {}", problem.message),
        most => format!("`{path}`, for a buffer of {most} bytes: {}", problem.message),
    })
}

fn shape_spec(Shape(x, y, z): Shape) -> ShapeSpec {
    let axis = |n: u32| Expr::from(u64::from(n));
    (axis(x), axis(y), axis(z))
}

/// The target of a `--arg WHICH=VALUE`.
enum Target {
    /// The argument at this position.
    Argument(usize),
    /// A buffer of the launch that is not itself an argument.
    Buffer(usize),
}

/// Applies the options `--arg`: all `--arg VALUE` in order replace the whole list, `--arg
/// WHICH=VALUE` replaces one argument.
fn replace_args(
    spec: &mut LaunchSpec,
    program: &Program,
    options: &[String],
    texts: &mut Texts,
) -> Result<(), Diagnostics> {
    let mut problems = Diagnostics::new();
    let step = |field: &'static str, index: usize| vec![Step::field(field), Step::Item(index)];
    let (named, bare): (Vec<&String>, Vec<&String>) =
        options.iter().partition(|text| which_and_value(text).is_some());
    let mut args: Vec<Option<ArgSpec>> =
        if bare.is_empty() { spec.args.iter().cloned().map(Some).collect() } else { vec![None; bare.len()] };
    for (index, text) in bare.into_iter().enumerate() {
        match value(text, text, spec.args.get(index), program.params.get(index)) {
            Ok(arg) => {
                args[index] = Some(arg);
                texts.replace(step("args", index), SourceText::new(format!("--arg {text}"), text.as_str()));
            }
            Err(wrong) => problems.append(wrong),
        }
    }
    for text in named {
        let Some((which, given)) = which_and_value(text) else { continue };
        let target = match target(which, spec, &args, program) {
            Ok(target) => target,
            Err(problem) => {
                problems.push(Diagnostic::general(format!("--arg {text}"), problem.0).hint(problem.1));
                continue;
            }
        };
        let shown = SourceText::new(format!("--arg {text}"), given);
        match target {
            Target::Argument(index) => {
                if args.len() <= index {
                    args.resize(index + 1, None);
                }
                let before = args[index].as_ref().or(spec.args.get(index));
                match value(text, given, before, program.params.get(index)) {
                    Ok(arg) => args[index] = Some(arg),
                    Err(wrong) => problems.append(wrong),
                }
                texts.replace(step("args", index), shown);
            }
            Target::Buffer(index) => match value(text, given, None, None) {
                Ok(ArgSpec::Buffer { name, elem, len, init, constant }) => {
                    spec.buffers[index] = BufferSpec { name, elem, len, init, constant };
                    texts.replace(step("buffers", index), shown);
                }
                Ok(_) => problems.push(
                    Diagnostic::general(format!("--arg {text}"), format!("`{which}` is a buffer"))
                        .hint("Buffer(name: .., elem: .., len: .., init: ..)"),
                ),
                Err(wrong) => problems.append(wrong),
            },
        }
    }
    if let Some(missing) = args.iter().position(Option::is_none).filter(|_| problems.is_empty()) {
        let message = format!("argument {missing} is missing");
        problems.push(Diagnostic::general("--arg", message).hint("the first argument has the number 0"));
    }
    spec.args = args.into_iter().flatten().collect();
    problems.into_result(())
}

/// Splits `WHICH=VALUE`; returns `None` for a plain value, which has no `=` after its first word.
pub fn which_and_value(text: &str) -> Option<(&str, &str)> {
    let (which, value) = text.split_once('=')?;
    let word = which.trim();
    let plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "_.$%".contains(c));
    plain.then(|| (word, value.trim()))
}

/// Returns the target that a position, a parameter's name or a buffer's name denotes.
fn target(
    which: &str,
    spec: &LaunchSpec,
    args: &[Option<ArgSpec>],
    program: &Program,
) -> Result<Target, (String, String)> {
    let params = &program.params;
    if let Ok(index) = which.parse::<usize>() {
        if index < params.len() {
            return Ok(Target::Argument(index));
        }
        let message = format!("`{}` has {} parameters", program.name, params.len());
        return Err((message, "the first has the number 0".to_owned()));
    }
    let named = |arg: &Option<ArgSpec>| matches!(arg, Some(ArgSpec::Buffer { name, .. }) if name == which);
    if let Some(index) = args.iter().position(named) {
        return Ok(Target::Argument(index));
    }
    if let Some(index) = spec.buffers.iter().position(|buffer| buffer.name == which) {
        return Ok(Target::Buffer(index));
    }
    let whole = params.iter().position(|param| param.name == which);
    let ending = format!("_{which}");
    let ends: Vec<usize> = (0..params.len()).filter(|&i| params[i].name.ends_with(&ending)).collect();
    match (whole, ends.as_slice()) {
        (Some(index), _) => Ok(Target::Argument(index)),
        (None, [index]) => Ok(Target::Argument(*index)),
        _ => {
            let of_args = args.iter().flatten().filter_map(|arg| match arg {
                ArgSpec::Buffer { name, .. } => Some(name.as_str()),
                _ => None,
            });
            let buffers = of_args.chain(spec.buffers.iter().map(|buffer| buffer.name.as_str()));
            let known: Vec<&str> = buffers.chain(params.iter().map(|param| param.name.as_str())).collect();
            let near = closest(which, known.iter().copied());
            let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
            let hint = format!("{near}a position from 0, a buffer or a parameter: {}", known.join(", "));
            Err((format!("`{which}` is no parameter or buffer"), hint))
        }
    }
}

/// Parses an argument. A plain number has the type of the argument that it replaces, or else of the
/// parameter.
fn value(
    option: &str,
    text: &str,
    before: Option<&ArgSpec>,
    param: Option<&Param>,
) -> Result<ArgSpec, Diagnostics> {
    let of_option = |problems: Diagnostics| {
        problems.map(|problem| Diagnostic { file: format!("--arg {option}"), ..problem })
    };
    if text.parse::<f64>().is_err() {
        return parse_arg(text).map_err(of_option);
    }
    let integer = text.parse::<i128>().is_ok();
    let by_param = || {
        let param = param?;
        Some(match (param.ty, param.size) {
            (ParamType::Float, 4) => "F32",
            (ParamType::Float, 8) => "F64",
            (ParamType::Int, 4) if !integer => "F32",
            (ParamType::Int, 8) if !integer => "F64",
            (ParamType::Int, 1) => {
                if text.starts_with('-') {
                    "I8"
                } else {
                    "U8"
                }
            }
            (ParamType::Int, 2) => {
                if text.starts_with('-') {
                    "I16"
                } else {
                    "U16"
                }
            }
            (ParamType::Int, 4) => {
                if text.starts_with('-') {
                    "I32"
                } else {
                    "U32"
                }
            }
            (ParamType::Int, 8) => {
                if text.starts_with('-') {
                    "I64"
                } else {
                    "U64"
                }
            }
            _ => return None,
        })
    };
    let ty = before.and_then(scalar_type).or_else(by_param);
    match ty {
        Some(ty) => parse_arg(&format!("{ty}({text})")).map_err(of_option),
        None => parse_arg(text).map_err(of_option),
    }
}

fn scalar_type(arg: &ArgSpec) -> Option<&'static str> {
    Some(match arg {
        ArgSpec::U8(_) => "U8",
        ArgSpec::I8(_) => "I8",
        ArgSpec::U16(_) => "U16",
        ArgSpec::I16(_) => "I16",
        ArgSpec::U32(_) => "U32",
        ArgSpec::I32(_) => "I32",
        ArgSpec::U64(_) => "U64",
        ArgSpec::I64(_) => "I64",
        ArgSpec::F16(_) => "F16",
        ArgSpec::F32(_) => "F32",
        ArgSpec::F64(_) => "F64",
        _ => return None,
    })
}
