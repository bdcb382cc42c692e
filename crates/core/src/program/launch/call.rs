//! Checks the shape and the arguments of a launch against the parameters of its kernel.

use super::spec::{ArgSpec, ShapeSpec};
use super::value::{Scope, value};
use super::{Arg, Launch};
use crate::diag::{Diagnostic, Diagnostics, Place};
use crate::program::expr::Expr;
use crate::program::{KernelCode, Param, ParamType, template};

/// The part of a file that describes one launch.
pub(in crate::program) struct Call<'a> {
    pub grid: &'a ShapeSpec,
    pub block: &'a ShapeSpec,
    pub dynamic_shared: &'a Expr,
    pub registers: Option<u32>,
    pub args: &'a [ArgSpec],
}

/// Builds the launch that a file describes, without buffers, symbols and images.
pub(in crate::program) fn call(
    fields: &Call,
    program: &KernelCode,
    scope: &Scope,
    place: &Place,
    problems: &mut Diagnostics,
) -> Launch {
    let mut launch = Launch {
        grid: shape("grid", fields.grid, [u32::MAX >> 1, 65535, 65535], scope, place, problems),
        block: shape("block", fields.block, [1024, 1024, 64], scope, place, problems),
        dynamic_shared: 0,
        registers: fields.registers,
        args: Vec::new(),
        buffers: Vec::new(),
        symbols: Vec::new(),
        images: Vec::new(),
    };
    let dynamic = fields.dynamic_shared.eval(scope.names).and_then(|bytes| {
        u32::try_from(bytes).map_err(|_| format!("{bytes} bytes of dynamic shared memory are out of range"))
    });
    match dynamic {
        Ok(bytes) => launch.dynamic_shared = bytes,
        Err(message) => problems.push(place.field("dynamic_shared").error(message)),
    }
    check_sizes(&launch, program, place, problems);
    let args = place.field("args");
    if fields.args.len() != program.params.len() {
        let (takes, given) = (program.params.len(), fields.args.len());
        let message = format!("`{}` takes {takes} arguments, {given} given", program.name);
        let list = template::arguments(program).list(8);
        problems.push(args.error(message).hint(format!("a list that fits, to be adapted:\n{list}")));
        // arguments cannot be assigned to parameters if their numbers differ
        return launch;
    }
    for (index, arg) in fields.args.iter().enumerate() {
        let Some(param) = program.params.get(index) else { break };
        match argument(arg, param, index, scope, &args.item(index)) {
            Ok(arg) => launch.args.push(arg),
            Err(problem) if problem.hint.is_empty() => {
                let fitting = template::arguments(program);
                problems.push(problem.hint(format!("an argument that fits: {}", fitting.one(index))));
            }
            Err(problem) => problems.push(problem),
        }
    }
    launch
}

fn shape(
    field: &'static str,
    shape_spec: &ShapeSpec,
    limits: [u32; 3],
    scope: &Scope,
    place: &Place,
    problems: &mut Diagnostics,
) -> [u32; 3] {
    let place = place.field(field);
    let mut shape = [1; 3];
    for (axis, expr) in [&shape_spec.0, &shape_spec.1, &shape_spec.2].into_iter().enumerate() {
        let extent = expr.eval(scope.names).and_then(|extent| {
            let fits = u32::try_from(extent).ok().filter(|n| (1..=limits[axis]).contains(n));
            fits.ok_or_else(|| format!("{field} of {extent} along {} is out of range", ["x", "y", "z"][axis]))
        });
        match extent {
            Ok(extent) => shape[axis] = extent,
            Err(message) => problems.push(
                place
                    .item(axis)
                    .error(message)
                    .hint(format!("each axis is at least 1 and at most {limits:?}")),
            ),
        }
    }
    shape
}

fn check_sizes(launch: &Launch, program: &KernelCode, place: &Place, problems: &mut Diagnostics) {
    let blocks: u64 = launch.grid.iter().map(|&n| u64::from(n)).fold(1, u64::saturating_mul);
    if blocks > u64::from(u32::MAX) {
        let message = format!("the grid has {blocks} blocks, at most 2^32 - 1 are supported");
        problems.push(place.field("grid").error(message));
    }
    let threads = launch.threads_per_block();
    let most = u64::from(program.max_threads.unwrap_or(1024).min(1024));
    if threads > most {
        let message = format!("a block of {threads} threads; `{}` runs with at most {most}", program.name);
        problems.push(place.field("block").error(message));
    }
}

fn argument(
    arg: &ArgSpec,
    param: &Param,
    index: usize,
    scope: &Scope,
    place: &Place,
) -> Result<Arg, Diagnostic> {
    let mut bytes = value(arg, scope, place)?.bytes;
    let pointer = matches!(
        arg,
        ArgSpec::Buffer { .. } | ArgSpec::Ptr(..) | ArgSpec::Null | ArgSpec::Texture(_) | ArgSpec::Surface(_)
    );
    if let ArgSpec::Buffer { name, .. } = arg
        && let Some(buffer) = scope.buffers.iter().position(|buffer| buffer.name == *name)
        && fits(arg, bytes.len(), param)
    {
        return Ok(Arg::Buffer(buffer));
    }
    if pointer && param.size == 4 && bytes[4..] == [0; 4] {
        // an address in a module with 32-bit addresses
        bytes.truncate(4);
    }
    if fits(arg, bytes.len(), param) {
        return Ok(Arg::Value(bytes));
    }
    let given = kind(arg, bytes.len());
    let wanted = match param.ty {
        ParamType::Int => format!("a {}-bit integer or pointer", param.size * 8),
        ParamType::Float => format!("an f{}", param.size * 8),
        ParamType::Bytes => format!("a struct of {} bytes", param.size),
    };
    Err(place.error(format!("argument {index}: {given} given, parameter `{}` takes {wanted}", param.name)))
}

fn fits(arg: &ArgSpec, size: usize, param: &Param) -> bool {
    let ty = match arg {
        ArgSpec::F16(_) | ArgSpec::F32(_) | ArgSpec::F64(_) => ParamType::Float,
        ArgSpec::Bytes(_) | ArgSpec::Struct(_) => ParamType::Bytes,
        _ => ParamType::Int,
    };
    // `.b32` parameters are untyped, so a float is accepted where an integer of its size is
    let typed = ty == param.ty
        || (ty == ParamType::Float && param.ty == ParamType::Int)
        || param.ty == ParamType::Bytes;
    let narrow = matches!(arg, ArgSpec::Buffer { .. }) && param.size == 4;
    (size == param.size as usize || narrow) && typed
}

fn kind(arg: &ArgSpec, size: usize) -> String {
    match arg {
        ArgSpec::Buffer { .. } => "a buffer".to_owned(),
        ArgSpec::Ptr(..) | ArgSpec::Null => "a pointer".to_owned(),
        ArgSpec::Texture(_) => "a texture".to_owned(),
        ArgSpec::Surface(_) => "a surface".to_owned(),
        ArgSpec::F16(_) | ArgSpec::F32(_) | ArgSpec::F64(_) => format!("an f{}", size * 8),
        ArgSpec::Bytes(_) | ArgSpec::Struct(_) => format!("a struct of {size} bytes"),
        _ => format!("a {}-bit integer", size * 8),
    }
}
