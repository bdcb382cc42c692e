//! A launch file as people write it.

use serde::{Deserialize, Serialize};

use super::image_spec::{SurfaceSpec, TextureSpec};
use crate::diag::{Diagnostic, Diagnostics, SourceText, from_ron};
use crate::program::expr::Expr;

/// Extent per axis.
pub type ShapeSpec = (Expr, Expr, Expr);

/// A launch file.
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
    /// Kernel in it: its name, or a part that no other kernel has.
    pub entry: String,
    /// Blocks per axis.
    pub grid: ShapeSpec,
    /// Threads per axis.
    pub block: ShapeSpec,
    /// Dynamic shared memory, bytes.
    #[serde(default)]
    pub dynamic_shared: Expr,
    /// Registers per thread, if they are to limit occupancy.
    #[serde(default)]
    pub registers: Option<u32>,
    /// Device memory that [`ArgSpec::Ptr`] names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buffers: Vec<BufferSpec>,
    /// Arguments in the order of the parameters.
    #[serde(default)]
    pub args: Vec<ArgSpec>,
    /// Contents of module variables, set before the launch as a host would.
    #[serde(default)]
    pub symbols: Vec<BufferSpec>,
    /// Textures: what references of the module are bound to, and objects that arguments name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub textures: Vec<TextureSpec>,
    /// Surfaces, likewise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub surfaces: Vec<SurfaceSpec>,
}

/// An argument, or a part of a struct.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "scalars by type name")]
pub enum ArgSpec {
    /// Device memory of its own; the parameter gets its address. Fields as in [`BufferSpec`].
    Buffer {
        name: String,
        elem: Elem,
        len: Expr,
        init: Init,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        constant: bool,
    },
    /// The address of a buffer or module variable, plus so many bytes.
    Ptr(String, #[serde(default)] Expr),
    /// A pointer to nothing.
    Null,
    /// The handle of a texture object, 8 bytes; of a texture reference its address.
    Texture(String),
    /// The handle of a surface, likewise.
    Surface(String),
    U8(Expr),
    I8(Expr),
    U16(Expr),
    I16(Expr),
    U32(Expr),
    I32(Expr),
    U64(Expr),
    I64(Expr),
    F16(f64),
    F32(f32),
    F64(f64),
    /// A struct by value, byte by byte.
    Bytes(Vec<u8>),
    /// A struct by value: each part at the next multiple of its size, as C lays it out.
    Struct(Vec<ArgSpec>),
    /// A part of a struct at this offset in bytes.
    At(Expr, Box<ArgSpec>),
}

/// Device memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "Buffer", deny_unknown_fields)]
pub struct BufferSpec {
    /// What arguments, `--dump` and messages call it.
    pub name: String,
    /// Type of its elements.
    pub elem: Elem,
    /// Elements.
    pub len: Expr,
    /// What it holds at first.
    pub init: Init,
    /// Whether what it holds belongs to the launch and not to its input: kernels must not write it, random data are
    /// those of seed 0 whatever the seed is, and the analysis of all paths knows what is loaded from it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub constant: bool,
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
    /// An address, 8 bytes.
    Ptr,
}

/// What a buffer holds before the launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
    /// These pointers (`Ptr(..)` and `Null`), then null pointers.
    Ptrs(Vec<ArgSpec>),
    /// Pointers into a buffer, so many bytes apart: to its rows, for example.
    Rows(String, Expr),
    /// Parts laid out as those of a struct, then zeros; whatever the type of the elements.
    Struct(Vec<ArgSpec>),
}

impl LaunchSpec {
    /// Reads a launch file.
    ///
    /// # Errors
    /// Where the text stops being a launch.
    pub fn parse(source: &SourceText) -> Result<Self, Diagnostics> {
        from_ron(source)
    }

    /// The files of data that it names.
    pub fn data_files(&mut self) -> impl Iterator<Item = &mut String> {
        let of_args = self.args.iter_mut().flat_map(data_of_arg);
        self.buffers.iter_mut().chain(&mut self.symbols).filter_map(|b| data_file(&mut b.init)).chain(of_args)
    }
}

/// The file of data that an initialiser names.
pub fn data_file(init: &mut Init) -> Option<&mut String> {
    match init {
        Init::File(path) => Some(path),
        _ => None,
    }
}

fn data_of_arg(arg: &mut ArgSpec) -> Vec<&mut String> {
    match arg {
        ArgSpec::Buffer { init, .. } => data_file(init).into_iter().collect(),
        ArgSpec::Struct(parts) => parts.iter_mut().flat_map(data_of_arg).collect(),
        ArgSpec::At(_, part) => data_of_arg(part),
        _ => Vec::new(),
    }
}

impl Elem {
    /// Bytes per element.
    pub const fn size(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 | Self::F16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 | Self::Ptr => 8,
        }
    }

    /// Whether its elements are floating-point numbers.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }
}

/// Reads `--arg`, written as an argument of a launch file.
///
/// # Errors
/// Where the text stops being an argument.
pub fn parse_arg(text: &str) -> Result<ArgSpec, Diagnostics> {
    from_ron(&SourceText::new(format!("--arg {text}"), text)).map_err(|error: Diagnostics| {
        let mut all = Diagnostics::new();
        for problem in error.list() {
            let example = "for example U32(1000), Ptr(\"a\", 64) or Buffer(name: \"a\", elem: F32, len: 64, init: Iota)";
            all.push(Diagnostic { hint: example.into(), ..problem.clone() });
        }
        all
    })
}
