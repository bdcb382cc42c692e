//! The format of launch files.

use serde::{Deserialize, Serialize};

use super::image_spec::{SurfaceSpec, TextureSpec};
use super::number::Number;
use crate::diag::{Diagnostic, Diagnostics, SourceText, from_ron};
use crate::program::expr::Expr;
use crate::program::tensor_map::TensorElem;

/// The extent along each axis.
pub type ShapeSpec = (Expr, Expr, Expr);

/// A launch file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename = "Launch", deny_unknown_fields)]
pub struct LaunchSpec {
    /// A description of the launch.
    #[serde(default)]
    pub doc: String,
    /// Whether `check` runs the launch if no kernel is named.
    #[serde(default)]
    pub suite: bool,
    /// The PTX file, relative to the launch file.
    pub module: String,
    /// The kernel in the module: its name, or a part of it that no other kernel has.
    pub entry: String,
    /// The number of blocks per axis.
    pub grid: ShapeSpec,
    /// The number of threads per block and axis.
    pub block: ShapeSpec,
    /// The number of blocks of a cluster per axis, if they are launched in clusters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<[u32; 3]>,
    /// The size of dynamic shared memory in bytes.
    #[serde(default)]
    pub dynamic_shared: Expr,
    /// The number of registers per thread, if they are to limit occupancy.
    #[serde(default)]
    pub registers: Option<u32>,
    /// The buffers that [`ArgSpec::Ptr`] can name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buffers: Vec<BufferSpec>,
    /// The arguments in the order of the parameters.
    #[serde(default)]
    pub args: Vec<ArgSpec>,
    /// The contents of module variables that the host sets before the launch.
    #[serde(default)]
    pub symbols: Vec<BufferSpec>,
    /// The textures that are bound to references of the module, and the texture objects that
    /// arguments name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub textures: Vec<TextureSpec>,
    /// The surfaces that are bound to references of the module, and the surface objects that
    /// arguments name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub surfaces: Vec<SurfaceSpec>,
}

/// An argument, or a part of a struct.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "scalars by type name")]
pub enum ArgSpec {
    /// The address of a new buffer. The fields are those of [`BufferSpec`].
    Buffer {
        name: String,
        elem: Elem,
        len: Expr,
        init: Init,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        constant: bool,
    },
    /// The address of a buffer or module variable, plus an offset in bytes.
    Ptr(String, #[serde(default)] Expr),
    /// A null pointer.
    Null,
    /// The 8-byte handle of a texture object, or the address of a texture reference.
    Texture(String),
    /// The 8-byte handle of a surface object, or the address of a surface reference.
    Surface(String),
    /// A tensor map by value, of 128 bytes. The names of the fields are those of the driver's
    /// `cuTensorMapEncodeTiled`, shortened.
    TensorMap {
        /// The name of the buffer or module variable that holds the tensor.
        of: String,
        /// The distance in bytes of the first element from the beginning of the buffer.
        #[serde(default)]
        offset: Expr,
        /// The type of the elements.
        elem: TensorElem,
        /// The number of elements along each axis; those along the first one are adjacent.
        dims: Vec<Expr>,
        /// The distance in bytes of elements that are adjacent along each axis but the first. Without
        /// it nothing is between them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        strides: Vec<Expr>,
        /// The number of elements of the box along each axis.
        #[serde(rename = "box")]
        extents: Vec<Expr>,
        /// The bytes over which parts of 16 bytes are exchanged in shared memory.
        #[serde(default)]
        swizzle: u32,
        /// Whether elements outside of the tensor are read as NaN, not 0.
        #[serde(default)]
        fill_nan: bool,
    },
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
    /// A struct by value, given by its bytes.
    Bytes(Vec<u8>),
    /// A struct by value; each member is aligned to a multiple of its size as in C.
    Struct(Vec<ArgSpec>),
    /// A member of a struct at an offset in bytes.
    At(Expr, Box<ArgSpec>),
}

/// A buffer in device memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "Buffer", deny_unknown_fields)]
pub struct BufferSpec {
    /// The name that arguments, `--dump` and messages use.
    pub name: String,
    /// The element type.
    pub elem: Elem,
    /// The number of elements.
    pub len: Expr,
    /// The initial contents.
    pub init: Init,
    /// Whether the contents belong to the launch rather than to its input. Kernels must not write
    /// such a buffer, and its random contents are always drawn with seed 0. The analysis of all
    /// paths can use values that are loaded from it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub constant: bool,
}

/// The element type of a buffer (little endian).
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
    /// An 8-byte address.
    Ptr,
}

/// The initial contents of a buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Init {
    /// Zeros.
    Zero,
    /// The same value in all elements.
    Fill(Number),
    /// The numbers 0, 1, 2, ...
    Iota,
    /// Random numbers, uniform in [lo, hi) (integers: lo to hi - 1), drawn with the run's seed.
    Uniform(f64, f64),
    /// The given values, followed by zeros.
    Values(Vec<Number>),
    /// The raw bytes of a file, whose path is relative to the launch file.
    File(String),
    /// The given pointers (`Ptr(..)` and `Null`), followed by null pointers.
    Ptrs(Vec<ArgSpec>),
    /// Pointers into a buffer at a constant distance in bytes, for example to its rows.
    Rows(String, Expr),
    /// The members of a struct, followed by zeros, regardless of the element type.
    Struct(Vec<ArgSpec>),
}

impl LaunchSpec {
    /// Parses a launch file.
    ///
    /// # Errors
    /// The text is not a launch; the diagnostic has the location.
    pub fn parse(source: &SourceText) -> Result<Self, Diagnostics> {
        from_ron(source)
    }

    /// Returns the paths of the data files that the launch names.
    pub fn data_files(&mut self) -> impl Iterator<Item = &mut String> {
        let of_args = self.args.iter_mut().flat_map(data_of_arg);
        self.buffers.iter_mut().chain(&mut self.symbols).filter_map(|b| data_file(&mut b.init)).chain(of_args)
    }
}

/// Returns the path of the data file that an initialiser names.
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
    /// Returns the size of an element in bytes.
    pub const fn size(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 | Self::F16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 | Self::Ptr => 8,
        }
    }

    /// Returns whether the elements are floating-point numbers.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }
}

/// Parses the value of `--arg`, which has the syntax of an argument in a launch file.
///
/// # Errors
/// The text is not an argument; the diagnostic has the location.
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
