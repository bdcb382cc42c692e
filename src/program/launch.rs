//! A launch of a kernel: grid, block, arguments and what the buffers hold.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::{ParamType, Program};
use crate::base::WARP_SIZE;
use crate::diag::{Diagnostic, Diagnostics, SourceText, from_ron};
use crate::machine::BlockNeeds;

/// A launch file as people write it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename = "Launch", deny_unknown_fields)]
pub struct LaunchSpec {
    /// What the launch shows.
    #[serde(default)]
    pub doc: String,
    /// Whether `check` without a kernel runs it.
    #[serde(default)]
    pub suite: bool,
    /// PTX file, beside the launch file.
    pub module: String,
    /// Kernel in it.
    pub entry: String,
    /// Blocks per axis.
    pub grid: (u32, u32, u32),
    /// Threads per axis.
    pub block: (u32, u32, u32),
    /// Dynamic shared memory, bytes.
    #[serde(default)]
    pub dynamic_shared: u32,
    /// Registers per thread, if they are to limit occupancy.
    #[serde(default)]
    pub registers: Option<u32>,
    /// Arguments in the order of the parameters.
    #[serde(default)]
    pub args: Vec<ArgSpec>,
    /// Contents of module variables, set before the launch as a host would.
    #[serde(default)]
    pub symbols: Vec<ArgSpec>,
}

/// An argument as people write it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "scalars by type name")]
pub enum ArgSpec {
    /// Device memory; the parameter gets its address.
    Buffer {
        name: String,
        elem: Elem,
        len: u64,
        init: Init,
    },
    U8(u8),
    I8(i8),
    U16(u16),
    I16(i16),
    U32(u32),
    I32(i32),
    U64(u64),
    I64(i64),
    F32(f32),
    F64(f64),
    /// A struct by value.
    Bytes(Vec<u8>),
}

/// Element type of a buffer, little endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "self-explanatory")]
pub enum Elem {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F16,
    F32,
    F64,
}

/// What a buffer holds before the launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Init {
    /// Zeros.
    Zero,
    /// One value everywhere.
    Fill(f64),
    /// 0, 1, 2, ...
    Iota,
    /// Drawn uniformly from [lo, hi) (integers: lo to hi - 1) with the run's seed.
    Uniform(f64, f64),
    /// These values, then zeros.
    Values(Vec<f64>),
    /// Raw bytes of a file beside the launch file.
    File(String),
}

/// A buffer ready to be copied to the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its name in the launch.
    pub name: String,
    /// Element type.
    pub elem: Elem,
    /// Contents.
    pub bytes: Vec<u8>,
}

/// An argument ready to be passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arg {
    /// The address of the buffer with this index in [`Launch::buffers`].
    Buffer(usize),
    /// Little-endian bytes of a scalar or struct.
    Value(Vec<u8>),
}

/// A launch that fits its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Blocks per axis.
    pub grid: [u32; 3],
    /// Threads per axis.
    pub block: [u32; 3],
    /// Dynamic shared memory, bytes.
    pub dynamic_shared: u32,
    /// Registers per thread, if stated.
    pub registers: Option<u32>,
    /// One per parameter.
    pub args: Vec<Arg>,
    /// Device memory, in order of the arguments.
    pub buffers: Vec<Buffer>,
    /// Contents of module variables, by name.
    pub symbols: Vec<Buffer>,
}

impl Elem {
    /// Bytes per element.
    pub const fn size(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 | Self::F16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }

    fn encode(self, value: f64, out: &mut Vec<u8>) {
        match self {
            // float-to-int `as` saturates; a value that does not fit is clamped
            Self::U8 => out.push(value as u8),
            Self::I8 => out.extend((value as i8).to_le_bytes()),
            Self::U16 => out.extend((value as u16).to_le_bytes()),
            Self::I16 => out.extend((value as i16).to_le_bytes()),
            Self::U32 => out.extend((value as u32).to_le_bytes()),
            Self::I32 => out.extend((value as i32).to_le_bytes()),
            Self::U64 => out.extend((value as u64).to_le_bytes()),
            Self::I64 => out.extend((value as i64).to_le_bytes()),
            Self::F16 => out.extend(f16_bits(value).to_le_bytes()),
            Self::F32 => out.extend((value as f32).to_le_bytes()),
            Self::F64 => out.extend(value.to_le_bytes()),
        }
    }
}

/// Half-precision bits of the value nearest to `value`, ties to even.
pub fn f16_bits(value: f64) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = value.abs();
    if value.is_nan() {
        return 0x7fff;
    }
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    // the spacing of halves around the value, 2^-24 at the least; scaling by it is exact
    let exponent = if magnitude < 2f64.powi(-14) { -14 } else { magnitude.log2().floor() as i32 };
    let exponent = if magnitude < 2f64.powi(exponent) { (exponent - 1).max(-14) } else { exponent };
    let mantissa = (magnitude / 2f64.powi(exponent - 10)).round_ties_even() as u16;
    // a mantissa of 2048 carries into the exponent, a subnormal one of 1024 becomes normal
    let biased = (exponent + 14) as u16;
    sign | (biased << 10).wrapping_add(mantissa)
}

impl LaunchSpec {
    /// Reads a launch file.
    ///
    /// # Errors
    /// Where the text stops being a launch.
    pub fn parse(source: &SourceText) -> Result<Self, Diagnostics> {
        from_ron(source)
    }
}

impl Launch {
    /// Fits a launch to its program and fills its buffers. `source` is the launch file, for
    /// messages; `read_file` gives the bytes of `Init::File`.
    ///
    /// # Errors
    /// Every argument that does not fit.
    pub fn new(
        spec: &LaunchSpec,
        program: &Program,
        seed: u64,
        source: &SourceText,
        read_file: &dyn Fn(&str) -> Result<Vec<u8>, String>,
    ) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::new();
        let mut launch = Self {
            grid: [spec.grid.0, spec.grid.1, spec.grid.2],
            block: [spec.block.0, spec.block.1, spec.block.2],
            dynamic_shared: spec.dynamic_shared,
            registers: spec.registers,
            args: Vec::new(),
            buffers: Vec::new(),
            symbols: Vec::new(),
        };
        launch.check_shape(program, source, &mut problems);
        if spec.args.len() != program.params.len() {
            let names: Vec<&str> = program.params.iter().map(|p| p.name.as_str()).collect();
            problems.push(
                source
                    .error_at(
                        "args",
                        format!(
                            "`{}` takes {} arguments, {} given",
                            program.name,
                            program.params.len(),
                            spec.args.len()
                        ),
                    )
                    .hint(format!("parameters: {}", names.join(", "))),
            );
        }
        for (index, arg) in spec.args.iter().enumerate() {
            if let Some(param) = program.params.get(index)
                && let Err(message) = arg_fits(arg, param)
            {
                problems.push(source.error_at(
                    arg_needle(arg, source),
                    format!("argument {} of `{}`: {message}", index + 1, program.name),
                ));
            }
            match arg {
                ArgSpec::Buffer { .. } => match fill(arg, seed, launch.buffers.len() as u64, read_file) {
                    Ok(buffer) => {
                        launch.args.push(Arg::Buffer(launch.buffers.len()));
                        launch.buffers.push(buffer);
                    }
                    Err(message) => problems.push(source.error_at("arg", message)),
                },
                scalar => launch.args.push(Arg::Value(scalar_bytes(scalar))),
            }
        }
        for (index, symbol) in spec.symbols.iter().enumerate() {
            match fill(symbol, seed, 0x1_0000 + index as u64, read_file) {
                Ok(buffer) => launch.add_symbol(buffer, program, source, &mut problems),
                Err(message) => problems.push(source.error_at("symbols", message)),
            }
        }
        problems.into_result(launch)
    }

    fn check_shape(&self, program: &Program, source: &SourceText, problems: &mut Diagnostics) {
        for (what, shape, limits) in
            [("grid", self.grid, [u32::MAX >> 1, 65535, 65535]), ("block", self.block, [1024, 1024, 64])]
        {
            if shape.iter().zip(limits).any(|(&n, limit)| n == 0 || n > limit) {
                problems.push(
                    source
                        .error_at(
                            what,
                            format!("{what} ({}, {}, {}) is out of range", shape[0], shape[1], shape[2]),
                        )
                        .hint(format!("each axis is at least 1 and at most {limits:?}")),
                );
            }
        }
        let blocks: u64 = self.grid.iter().map(|&n| u64::from(n)).fold(1, u64::saturating_mul);
        if blocks > u64::from(u32::MAX) {
            problems.push(
                source.error_at(
                    "grid",
                    format!("the grid has {blocks} blocks, at most 2^32 - 1 are supported"),
                ),
            );
        }
        let threads = self.threads_per_block();
        let most = u64::from(program.max_threads.unwrap_or(1024).min(1024));
        if threads > most {
            problems.push(source.error_at(
                "block",
                format!("a block of {threads} threads; `{}` runs with at most {most}", program.name),
            ));
        }
    }

    fn add_symbol(
        &mut self,
        symbol: Buffer,
        program: &Program,
        source: &SourceText,
        problems: &mut Diagnostics,
    ) {
        let vars = program.memory.globals.vars.iter().chain(&program.memory.constants.vars);
        match vars.clone().find(|v| v.name == symbol.name) {
            Some(var) if var.size < symbol.bytes.len() as u64 => problems.push(source.error_at(
                &symbol.name,
                format!("`{}` holds {} bytes, {} given", symbol.name, var.size, symbol.bytes.len()),
            )),
            Some(_) => self.symbols.push(symbol),
            None => {
                let known: Vec<&str> = vars.map(|v| v.name.as_str()).collect();
                problems.push(
                    source
                        .error_at(&symbol.name, format!("the module has no variable `{}`", symbol.name))
                        .hint(format!("its variables: {}", known.join(", "))),
                );
            }
        }
    }

    /// Threads in a block.
    pub fn threads_per_block(&self) -> u64 {
        self.block.iter().map(|&n| u64::from(n)).product()
    }

    /// Warps in a block.
    pub fn warps_per_block(&self) -> usize {
        self.threads_per_block().div_ceil(WARP_SIZE as u64) as usize
    }

    /// Blocks in the grid.
    pub fn blocks(&self) -> u32 {
        self.grid.iter().product()
    }

    /// What one block takes of an SM.
    pub fn needs(&self, program: &Program) -> BlockNeeds {
        let shared = program.memory.shared_bytes(u64::from(self.dynamic_shared));
        BlockNeeds {
            threads: self.threads_per_block() as u32,
            registers_per_thread: self.registers,
            shared_bytes: u32::try_from(shared).unwrap_or(u32::MAX),
        }
    }
}

/// What to look for in the launch file to show an argument.
fn arg_needle<'a>(arg: &'a ArgSpec, source: &SourceText) -> &'a str {
    match arg {
        ArgSpec::Buffer { name, .. } if source.text().contains(name.as_str()) => name,
        _ => "arg",
    }
}

fn arg_fits(arg: &ArgSpec, param: &super::Param) -> Result<(), String> {
    let (given, size, ty) = match arg {
        ArgSpec::Buffer { .. } => ("a buffer", 8, ParamType::Int),
        ArgSpec::U8(_) | ArgSpec::I8(_) => ("an 8-bit integer", 1, ParamType::Int),
        ArgSpec::U16(_) | ArgSpec::I16(_) => ("a 16-bit integer", 2, ParamType::Int),
        ArgSpec::U32(_) | ArgSpec::I32(_) => ("a 32-bit integer", 4, ParamType::Int),
        ArgSpec::U64(_) | ArgSpec::I64(_) => ("a 64-bit integer", 8, ParamType::Int),
        ArgSpec::F32(_) => ("an f32", 4, ParamType::Float),
        ArgSpec::F64(_) => ("an f64", 8, ParamType::Float),
        ArgSpec::Bytes(bytes) => ("bytes", bytes.len() as u32, ParamType::Bytes),
    };
    let pointer = matches!(arg, ArgSpec::Buffer { .. }) && param.size == 4;
    // `.b32` parameters are untyped: a float fits where an integer of its size would
    let typed = ty == param.ty
        || (ty == ParamType::Float && param.ty == ParamType::Int)
        || param.ty == ParamType::Bytes;
    if (size == param.size || pointer) && typed {
        return Ok(());
    }
    let wanted = match param.ty {
        ParamType::Int => format!("a {}-bit integer or pointer", param.size * 8),
        ParamType::Float => format!("an f{}", param.size * 8),
        ParamType::Bytes => format!("{} bytes", param.size),
    };
    Err(format!("{given} given, parameter `{}` takes {wanted}", param.name))
}

fn scalar_bytes(arg: &ArgSpec) -> Vec<u8> {
    match arg {
        ArgSpec::Buffer { .. } => Vec::new(),
        ArgSpec::U8(v) => v.to_le_bytes().to_vec(),
        ArgSpec::I8(v) => v.to_le_bytes().to_vec(),
        ArgSpec::U16(v) => v.to_le_bytes().to_vec(),
        ArgSpec::I16(v) => v.to_le_bytes().to_vec(),
        ArgSpec::U32(v) => v.to_le_bytes().to_vec(),
        ArgSpec::I32(v) => v.to_le_bytes().to_vec(),
        ArgSpec::U64(v) => v.to_le_bytes().to_vec(),
        ArgSpec::I64(v) => v.to_le_bytes().to_vec(),
        ArgSpec::F32(v) => v.to_le_bytes().to_vec(),
        ArgSpec::F64(v) => v.to_le_bytes().to_vec(),
        ArgSpec::Bytes(v) => v.clone(),
    }
}

/// Buffers beyond this are refused rather than left to the allocator.
const MAX_BUFFER_BYTES: u64 = 1 << 32;

fn fill(
    arg: &ArgSpec,
    seed: u64,
    stream: u64,
    read_file: &dyn Fn(&str) -> Result<Vec<u8>, String>,
) -> Result<Buffer, String> {
    let ArgSpec::Buffer { name, elem, len, init } = arg else {
        return Err("a symbol is set from a Buffer(name: .., elem: .., len: .., init: ..)".to_owned());
    };
    let size = len.checked_mul(elem.size() as u64).filter(|&s| s <= MAX_BUFFER_BYTES);
    let size = size.ok_or_else(|| format!("buffer `{name}` is larger than 4 GiB"))? as usize;
    let mut bytes = Vec::with_capacity(size);
    match init {
        Init::Zero => {}
        Init::Fill(value) => (0..*len).for_each(|_| elem.encode(*value, &mut bytes)),
        Init::Iota => (0..*len).for_each(|i| elem.encode(i as f64, &mut bytes)),
        Init::Uniform(lo, hi) => {
            if lo.partial_cmp(hi) != Some(std::cmp::Ordering::Less) {
                return Err(format!("buffer `{name}`: Uniform({lo}, {hi}) is empty, the first must be less"));
            }
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(stream);
            for _ in 0..*len {
                let drawn = lo + (hi - lo) * rng.random::<f64>();
                elem.encode(if elem.is_float() { drawn } else { drawn.floor() }, &mut bytes);
            }
        }
        Init::Values(values) => {
            if values.len() as u64 > *len {
                return Err(format!("buffer `{name}` holds {len} elements, {} values given", values.len()));
            }
            values.iter().for_each(|v| elem.encode(*v, &mut bytes));
        }
        Init::File(path) => {
            bytes = read_file(path)?;
            if bytes.len() != size {
                return Err(format!("buffer `{name}` holds {size} bytes, file `{path}` has {}", bytes.len()));
            }
        }
    }
    bytes.resize(size, 0);
    Ok(Buffer { name: name.clone(), elem: *elem, bytes })
}

/// Reads `--arg`, written as an argument of a launch file.
///
/// # Errors
/// Where the text stops being an argument.
pub fn parse_arg(text: &str) -> Result<ArgSpec, Diagnostics> {
    from_ron(&SourceText::new(format!("--arg {text}"), text)).map_err(|error: Diagnostics| {
        let mut all = Diagnostics::new();
        for problem in error.list() {
            all.push(Diagnostic {
                hint: "for example U32(1000) or Buffer(name: \"a\", elem: F32, len: 64, init: Iota)".into(),
                ..problem.clone()
            });
        }
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_round_to_nearest_even() {
        for (value, bits) in [
            (0.0, 0),
            (-0.0, 0x8000),
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (65504.0, 0x7bff),
            (65519.9, 0x7bff),
            (65520.0, 0x7c00),
            (5.960_464_477_539_063e-8, 1),
            (2.980_232_238_769_531_3e-8, 0),
            (6.103_515_625e-5, 0x0400),
            (6.097_555_160_522_461e-5, 0x03ff),
            (1.000_488_281_25, 0x3c00),
            (1.001_464_843_75, 0x3c02),
            (f64::INFINITY, 0x7c00),
        ] {
            assert_eq!(f16_bits(value), bits, "{value}");
        }
    }

    #[test]
    fn arguments_parse_as_in_a_launch_file() {
        assert_eq!(parse_arg("U32(7)").unwrap(), ArgSpec::U32(7));
        let buffer = parse_arg("Buffer(name: \"a\", elem: F32, len: 4, init: Uniform(-1.0, 1.0))").unwrap();
        let no_files = |_: &str| Err(String::new());
        let first = fill(&buffer, 1, 0, &no_files).unwrap();
        assert_eq!(first, fill(&buffer, 1, 0, &no_files).unwrap());
        assert_ne!(first, fill(&buffer, 2, 0, &no_files).unwrap());
        assert!(parse_arg("U33(7)").unwrap_err().to_string().contains("--arg U33(7)"));
    }
}
