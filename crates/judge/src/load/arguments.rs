//! The arguments that options replace in a launch.

use super::options::LaunchOptions;
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText, Step, Texts, closest};
use warpbound_core::program::launch::{ArgSpec, BufferSpec, LaunchSpec, parse_arg};
use warpbound_core::program::{KernelCode, Param, ParamType};

/// The target of an argument `WHICH=VALUE`.
enum Target {
    /// The argument at this position.
    Argument(usize),
    /// A buffer of the launch that is not itself an argument.
    Buffer(usize),
}

/// Applies the arguments of the options: all `VALUE` in order replace the whole list, `WHICH=VALUE`
/// replaces one argument.
pub(super) fn replace_args(
    spec: &mut LaunchSpec,
    program: &KernelCode,
    options: &LaunchOptions,
    texts: &mut Texts,
) -> Result<(), Diagnostics> {
    let option = options.name("arg");
    let place = |text: &str| format!("{option} {text}");
    let mut problems = Diagnostics::new();
    let step = |field: &'static str, index: usize| vec![Step::field(field), Step::Item(index)];
    let (named, bare): (Vec<&String>, Vec<&String>) =
        options.args.iter().partition(|text| which_and_value(text).is_some());
    let mut args: Vec<Option<ArgSpec>> =
        if bare.is_empty() { spec.args.iter().cloned().map(Some).collect() } else { vec![None; bare.len()] };
    for (index, text) in bare.into_iter().enumerate() {
        if index >= program.params.len() {
            let (takes, given) = (program.params.len(), args.len());
            let plural = if takes == 1 { "" } else { "s" };
            let message = format!("`{}` takes {takes} argument{plural}, and {given} are given", program.name);
            problems.push(Diagnostic::general(place(text), message).hint("leave out the last ones"));
            break;
        }
        match value(&place(text), text, spec.args.get(index), program.params.get(index)) {
            Ok(arg) => {
                args[index] = Some(arg);
                texts.replace(step("args", index), SourceText::new(place(text), text.as_str()));
            }
            Err(wrong) => problems.append(wrong),
        }
    }
    for text in named {
        let Some((which, given)) = which_and_value(text) else { continue };
        let target = match target(which, spec, &args, program) {
            Ok(target) => target,
            Err(problem) => {
                problems.push(Diagnostic::general(place(text), problem.0).hint(problem.1));
                continue;
            }
        };
        let shown = SourceText::new(place(text), given);
        match target {
            Target::Argument(index) => {
                if args.len() <= index {
                    args.resize(index + 1, None);
                }
                let before = args[index].as_ref().or(spec.args.get(index));
                match value(&place(text), given, before, program.params.get(index)) {
                    Ok(arg) => args[index] = Some(arg),
                    Err(wrong) => problems.append(wrong),
                }
                texts.replace(step("args", index), shown);
            }
            Target::Buffer(index) => match value(&place(text), given, None, None) {
                Ok(ArgSpec::Buffer { name, elem, len, init, constant }) => {
                    spec.buffers[index] = BufferSpec { name, elem, len, init, constant };
                    texts.replace(step("buffers", index), shown);
                }
                Ok(_) => problems.push(
                    Diagnostic::general(place(text), format!("`{which}` is a buffer"))
                        .hint("Buffer(name: .., elem: .., len: .., init: ..)"),
                ),
                Err(wrong) => problems.append(wrong),
            },
        }
    }
    if let Some(missing) = args.iter().position(Option::is_none).filter(|_| problems.is_empty()) {
        let message = format!("argument {missing} is missing");
        problems.push(Diagnostic::general(option, message).hint("the first argument has the number 0"));
    }
    spec.args = args.into_iter().flatten().collect();
    problems.into_result(())
}

/// Splits an argument `WHICH=VALUE`; returns `None` for a plain value, which has no `=` after its
/// first word.
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
    program: &KernelCode,
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
/// parameter. `place` is the place of errors.
fn value(
    place: &str,
    text: &str,
    before: Option<&ArgSpec>,
    param: Option<&Param>,
) -> Result<ArgSpec, Diagnostics> {
    let of_option =
        |problems: Diagnostics| problems.map(|problem| Diagnostic { file: place.to_owned(), ..problem });
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
