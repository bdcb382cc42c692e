//! Templates of launch files: the correct list of parameters, with guessed arguments.

use std::fmt::Write;

use super::image::{Channel, Format, Geometry};
use super::params::{ImageUse, Number, Part, Pointee, Usage, Uses, uses};
use super::{KernelCode, Param, ParamType, names};

/// The number of elements of each guessed buffer.
const ELEMENTS: u32 = 65536;
/// The distance in bytes between the rows that pointers in guessed buffers point to.
const PITCH: u32 = 256;
/// The size in bytes of the dynamic shared memory of a kernel that uses it.
const DYNAMIC_SHARED: u32 = 16384;

/// Guessed arguments that match the parameters of a kernel.
pub struct Arguments {
    args: Vec<Argument>,
    /// The buffers that pointers in other buffers point to, and those of textures and surfaces.
    targets: Vec<String>,
    images: Vec<GuessedImage>,
    uses: Uses,
}

struct GuessedImage {
    name: String,
    surface: bool,
    /// The specification in RON.
    text: String,
}

struct Argument {
    /// The argument in RON.
    text: String,
    /// What the code reveals about the parameter.
    comment: String,
}

/// Guesses the arguments from the code of a kernel and, if it has a mangled C++ name, from the
/// types in that name.
pub fn arguments(program: &KernelCode) -> Arguments {
    let uses = uses(program);
    let types = names::parameter_types(&program.name).filter(|types| types.len() == program.params.len());
    let mut guess = Guess { size: size(uses.axes), targets: Vec::new(), images: Vec::new() };
    for (reference, used) in program.references.iter().zip(&uses.references) {
        // a reference that is only queried may have any type
        let anything = ImageUse {
            surface: reference.surface,
            geometry: Geometry { dims: 2, layered: false },
            format: Format { elem: Channel::F32, channels: 1 },
        };
        guess.image(&names::short(&reference.name), used.unwrap_or(anything));
    }
    let mut args = Vec::new();
    for (index, param) in program.params.iter().enumerate() {
        let parts: Vec<&Part> = uses.parts.iter().filter(|part| part.param == index).collect();
        let ty = types.as_ref().map(|types| types[index].as_str());
        args.push(guess.argument(index, param, &parts, ty));
    }
    Arguments { args, targets: guess.targets, images: guess.images, uses }
}

/// Returns the number of threads along each axis, which is also the value of integers. The product
/// over the axes is at most [`ELEMENTS`].
fn size(axes: [bool; 3]) -> u32 {
    match axes {
        [_, _, true] => 32,
        [_, true, _] => 64,
        _ => 256,
    }
}

/// Returns the element type in launch files for a C++ type.
fn scalar(ty: &str) -> Option<&'static str> {
    Some(match ty.trim_end_matches(" const") {
        "bool" | "unsigned char" => "U8",
        "char" | "signed char" => "I8",
        "unsigned short" => "U16",
        "short" => "I16",
        "unsigned int" => "U32",
        "int" => "I32",
        "unsigned long" | "unsigned long long" => "U64",
        "long" | "long long" => "I64",
        "__half" | "half" | "_Float16" => "F16",
        "float" => "F32",
        "double" => "F64",
        ty => match ty.strip_suffix(['1', '2', '3', '4'])? {
            "uchar" => "U8",
            "char" => "I8",
            "ushort" => "U16",
            "short" => "I16",
            "uint" => "U32",
            "int" => "I32",
            "float" => "F32",
            "double" => "F64",
            _ => return None,
        },
    })
}

fn elem(number: Number) -> &'static str {
    match (number.bits, number.float, number.signed) {
        (64, true, _) => "F64",
        (32, true, _) => "F32",
        (16, true, _) => "F16",
        (64, _, true) => "I64",
        (64, ..) => "U64",
        (32, _, true) => "I32",
        (32, ..) => "U32",
        (16, _, true) => "I16",
        (16, ..) => "U16",
        (_, _, true) => "I8",
        _ => "U8",
    }
}

struct Guess {
    size: u32,
    targets: Vec<String>,
    images: Vec<GuessedImage>,
}

impl Guess {
    fn argument(&mut self, index: usize, param: &Param, parts: &[&Part], ty: Option<&str>) -> Argument {
        let single_part = parts.iter().find(|part| part.offset == 0 && part.size == param.size);
        let name = buffer_name(param, index);
        let pointed = ty.and_then(|ty| ty.strip_suffix('*'));
        let usage = single_part.map(|part| &part.usage);
        let mut comment = match ty {
            Some(ty) => ty.to_owned(),
            None => match param.ty {
                ParamType::Int => format!(".b{}", param.size * 8),
                ParamType::Float => format!(".f{}", param.size * 8),
                ParamType::Bytes => format!("struct of {} bytes", param.size),
            },
        };
        let text = match (pointed, usage) {
            (_, Some(Usage::Image(image))) => {
                let image_kind = if image.surface { "surface" } else { "texture" };
                comment = format!("the handle of a {image_kind}, .{}", image.geometry.name());
                self.image(&name, *image)
            }
            (Some(pointed), usage) => {
                let pointee = match usage {
                    Some(Usage::Pointer(pointee)) => Some(pointee),
                    _ => None,
                };
                comment.push_str(accessed(pointee));
                self.buffer(&name, scalar(pointed), pointee)
            }
            (None, Some(Usage::Pointer(pointee))) if ty.is_none() => {
                comment.push_str(accessed(Some(pointee)));
                self.buffer(&name, None, Some(pointee))
            }
            (None, _) if param.ty == ParamType::Bytes => self.structure(&name, param, parts),
            (None, usage) => self.number(param, usage, ty),
        };
        Argument { text, comment }
    }

    fn buffer(&mut self, name: &str, known: Option<&str>, pointee: Option<&Pointee>) -> String {
        if let Some(target) = pointee.and_then(|pointee| pointee.pointers) {
            let row_buffer = format!("{name}_rows");
            let init = init(elem(target), true, self.size);
            let elem = elem(target);
            self.targets
                .push(format!("Buffer(name: {row_buffer:?}, elem: {elem}, len: {ELEMENTS}, init: {init})"));
            let rows = 64;
            return format!(
                "Buffer(name: {name:?}, elem: Ptr, len: {rows}, init: Rows({row_buffer:?}, {PITCH}))"
            );
        }
        let elem = known.or(pointee.map(|pointee| elem(pointee.elem))).unwrap_or("U8");
        let read = pointee.is_none_or(|pointee| pointee.read);
        let init = init(elem, read, self.size);
        format!("Buffer(name: {name:?}, elem: {elem}, len: {ELEMENTS}, init: {init})")
    }

    /// Adds a texture or surface with its own buffer and returns the argument that passes it.
    fn image(&mut self, name: &str, image: ImageUse) -> String {
        let ImageUse { surface, geometry, format: Format { elem, channels } } = image;
        let extent: &[u32] = match geometry.dims {
            1 => &[ELEMENTS],
            2 => &[256, 256],
            _ => &[32, 32, 64],
        };
        let layers = if geometry.layered { 4 } else { 1 };
        let buffer = format!("{name}_texels");
        let mut text = format!("name: {name:?}, buffer: {buffer:?}, elem: {elem:?}");
        if channels > 1 {
            let _ = write!(text, ", channels: {channels}");
        }
        for (field, extent) in ["width", "height", "depth"].iter().zip(extent) {
            let _ = write!(text, ", {field}: {extent}");
        }
        if geometry.layered {
            let _ = write!(text, ", layers: {layers}");
        }
        let len = extent.iter().product::<u32>() * layers * u32::from(channels);
        let elem = format!("{elem:?}");
        let init = init(&elem, true, self.size);
        self.targets.push(format!("Buffer(name: {buffer:?}, elem: {elem}, len: {len}, init: {init})"));
        let variant = if surface { "Surface" } else { "Texture" };
        self.images.push(GuessedImage { name: name.to_owned(), surface, text: format!("{variant}({text})") });
        format!("{variant}({name:?})")
    }

    fn structure(&mut self, name: &str, param: &Param, parts: &[&Part]) -> String {
        let mut fields = Vec::new();
        let (mut end, mut align) = (0u32, 1);
        for part in parts.iter().filter(|part| matches!(part.size, 1 | 2 | 4 | 8)) {
            if part.offset < end {
                continue;
            }
            let natural = end.next_multiple_of(part.size) == part.offset;
            end = part.offset + part.size;
            let value = match &part.usage {
                Usage::Pointer(pointee) => {
                    self.buffer(&format!("{name}_{}", part.offset), None, Some(pointee))
                }
                Usage::Image(image) => self.image(&format!("{name}_{}", part.offset), *image),
                Usage::Number(number) => self.literal(elem(*number)),
            };
            if natural {
                align = align.max(part.size);
                fields.push(value);
            } else {
                fields.push(format!("At({}, {value})", part.offset));
            }
        }
        if end.next_multiple_of(align) != param.size {
            fields.push(format!("At({}, U8(0))", param.size - 1));
        }
        format!("Struct([{}])", fields.join(", "))
    }

    fn number(&self, param: &Param, usage: Option<&Usage>, ty: Option<&str>) -> String {
        let bits = (param.size * 8) as u8;
        let of_type = ty.and_then(scalar).filter(|ty| ty[1..] == bits.to_string());
        let elem = match (of_type, usage) {
            (Some(ty), _) => ty,
            (None, Some(Usage::Number(number))) => elem(*number),
            _ => elem(Number { bits, float: param.ty == ParamType::Float, signed: false }),
        };
        self.literal(elem)
    }

    fn literal(&self, elem: &str) -> String {
        match elem {
            "F16" | "F32" | "F64" => format!("{elem}(1.0)"),
            "U8" | "I8" => format!("{elem}(1)"),
            _ => format!("{elem}({})", self.size),
        }
    }
}

/// Returns the name of a guessed buffer for messages and `--dump`: the name of the parameter,
/// unless the compiler generated it.
fn buffer_name(param: &Param, index: usize) -> String {
    let by_compiler = param.name.ends_with(&format!("_param_{index}"));
    let plain = param.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if by_compiler || !plain || param.name.is_empty() { format!("p{index}") } else { param.name.clone() }
}

fn accessed(pointee: Option<&Pointee>) -> &'static str {
    match pointee.map(|pointee| (pointee.read, pointee.written)) {
        Some((true, true)) => ", read and written",
        Some((true, false)) => ", read",
        Some((false, true)) => ", written",
        _ => "",
    }
}

fn init(elem: &str, read: bool, size: u32) -> String {
    match (read, elem) {
        (false, _) => "Zero".to_owned(),
        (true, "F16" | "F32" | "F64") => "Uniform(0.0, 1.0)".to_owned(),
        (true, "U8" | "I8") => "Uniform(0, 100)".to_owned(),
        // small enough to be an index
        (true, _) => format!("Uniform(0, {size})"),
    }
}

impl Arguments {
    /// Returns the argument for one parameter in RON.
    pub fn one(&self, index: usize) -> &str {
        self.args.get(index).map_or("", |arg| &arg.text)
    }

    /// Returns the texture or surface with this name in RON.
    pub fn image(&self, name: &str) -> Option<&str> {
        let name = names::short(name);
        self.images.iter().find(|image| image.name == name).map(|image| image.text.as_str())
    }

    /// Returns all fields that specify arguments, one argument per line, indented by the given
    /// number of spaces.
    pub fn list(&self, indent: usize) -> String {
        let blanks = " ".repeat(indent);
        let mut text = String::new();
        if !self.targets.is_empty() {
            let _ = writeln!(text, "{blanks}buffers: [");
            for target in &self.targets {
                let _ = writeln!(text, "{blanks}    {target},");
            }
            let _ = writeln!(text, "{blanks}],");
        }
        for (field, surface) in [("textures", false), ("surfaces", true)] {
            let mut images = self.images.iter().filter(|image| image.surface == surface).peekable();
            if images.peek().is_none() {
                continue;
            }
            let _ = writeln!(text, "{blanks}{field}: [");
            for image in images {
                let _ = writeln!(text, "{blanks}    {},", image.text);
            }
            let _ = writeln!(text, "{blanks}],");
        }
        if self.args.is_empty() {
            let _ = write!(text, "{blanks}args: [],");
            return text;
        }
        let _ = writeln!(text, "{blanks}args: [");
        for arg in &self.args {
            let _ = writeln!(text, "{blanks}    {},    // {}", arg.text, arg.comment);
        }
        let _ = write!(text, "{blanks}],");
        text
    }
}

/// Returns a launch file for a kernel. `module` is the name of its PTX file.
pub fn launch_file(program: &KernelCode, module: &str) -> String {
    let arguments = arguments(program);
    let (grid, block) = shape(arguments.uses.axes, program);
    let mut text = String::from(
        "// Sizes, numbers and contents are guesses from the code of the kernel: put in what you want to run.\n",
    );
    if let Some(name) = names::demangled(&program.name) {
        let _ = writeln!(text, "// {}", name.replace('\n', " "));
    }
    let triple = |s: [u32; 3]| format!("({}, {}, {})", s[0], s[1], s[2]);
    let _ = writeln!(
        text,
        "Launch(\n    module: {module:?}, entry: {:?},\n    grid: {}, block: {},",
        program.name,
        triple(grid),
        triple(block)
    );
    if program.memory.uses_dynamic_shared {
        let _ = writeln!(text, "    dynamic_shared: {DYNAMIC_SHARED},    // bytes");
    }
    let _ = writeln!(text, "{}", arguments.list(4));
    // The host must set the constant variables that the module does not initialise.
    let blank = |v: &&super::layout::Variable| v.offset >= program.memory.constants.init.len() as u64;
    let constants: Vec<String> = program.memory.constants.vars.iter().filter(blank).map(symbol).collect();
    if !constants.is_empty() {
        let _ = writeln!(text, "    // symbols: [ {} ],", constants.join(", "));
    }
    text.push_str(")\n");
    text
}

/// Returns the initialiser of a variable that the host may set.
fn symbol(variable: &super::layout::Variable) -> String {
    let (elem, len) = match variable.size {
        words if words % 4 == 0 => ("F32", words / 4),
        bytes => ("U8", bytes),
    };
    format!("Buffer(name: {:?}, elem: {elem}, len: {len}, init: Zero)", names::short(&variable.name))
}

/// Returns a grid and a block for [`size`] threads along each axis.
fn shape(axes: [bool; 3], program: &KernelCode) -> ([u32; 3], [u32; 3]) {
    // A tile of 32 x 32 words, possibly with a padding word per row, is usually processed by flat
    // blocks.
    let tile = |bytes: u64| matches!(bytes, 4096 | 4224);
    let mut block = match axes {
        [_, _, true] => [8, 8, 4],
        [_, true, _] if program.memory.shared.vars.iter().any(|v| tile(v.size)) => [32, 8, 1],
        [_, true, _] => [16, 16, 1],
        _ => [128, 1, 1],
    };
    let most = program.max_threads.unwrap_or(1024).max(1);
    while block.iter().product::<u32>() > most {
        let longest = (0..3).max_by_key(|&axis| block[axis]).unwrap_or(0);
        block[longest] /= 2;
    }
    let threads = size(axes);
    let mut grid = [1; 3];
    for axis in 0..3 {
        if axes[axis] || axis == 1 && axes[2] {
            grid[axis] = threads.div_ceil(block[axis]);
        }
    }
    (grid, block)
}
