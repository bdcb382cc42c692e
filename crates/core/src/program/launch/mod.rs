//! A kernel launch: grid, block, arguments and the initial contents of buffers.
//!
//! A [`LaunchSpec`] is the content of a launch file. A [`Launch`] has been checked against its
//! program; its buffers are filled and its pointers are addresses.

mod call;
mod contents;
mod half;
mod image;
mod image_spec;
mod number;
mod spec;
mod value;

pub use half::f16_bits;
pub use image_spec::{SurfaceSpec, TextureSpec};
pub use number::Number;
pub use spec::{ArgSpec, BufferSpec, Elem, Init, LaunchSpec, ShapeSpec, data_file, parse_arg};
pub use value::Named;

pub(in crate::program) use call::{Call, call};
pub(in crate::program) use contents::{fill, size};
pub(in crate::program) use image::{ImageSpec, bind, bind_all, check_references, handles, nameable, specs};
pub(in crate::program) use value::{Handle, Scope};

use super::KernelCode;
use super::expr::Names;
use super::image::Bound;
use super::layout::{self, GLOBALS_BASE, window_base};
use super::names;
use crate::base::{WARP_SIZE, ask_memory};
use crate::diag::{Diagnostics, Place, SourceText, Texts};
use crate::isa::Space;
use crate::machine::BlockNeeds;

/// Reads a file that a launch names. A file with more bytes than the given limit is an error.
pub type ReadFile<'a> = &'a dyn Fn(&str, u64) -> Result<Vec<u8>, String>;

/// A buffer that is ready to be copied to the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The name in the launch.
    pub name: String,
    /// The element type.
    pub elem: Elem,
    /// The contents.
    pub bytes: Vec<u8>,
    /// Whether kernels must not write the buffer, see [`BufferSpec::constant`].
    pub constant: bool,
}

/// An argument that is ready to be passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arg {
    /// The address of the buffer with this index in [`Launch::buffers`].
    Buffer(usize),
    /// The little-endian bytes of a scalar, pointer or struct.
    Value(Vec<u8>),
}

/// A launch that has been checked against its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The number of blocks per axis.
    pub grid: [u32; 3],
    /// The number of threads per block and axis.
    pub block: [u32; 3],
    /// The size of the dynamic shared memory in bytes.
    pub dynamic_shared: u32,
    /// The number of registers per thread, if stated.
    pub registers: Option<u32>,
    /// The arguments, one per parameter.
    pub args: Vec<Arg>,
    /// The device memory: first the stand-alone buffers, then those of arguments, in order.
    pub buffers: Vec<Buffer>,
    /// The contents of module variables, by name.
    pub symbols: Vec<Buffer>,
    /// The textures and surfaces.
    pub images: Vec<Bound>,
}

/// The first random stream of the seed for the contents of symbols; buffers use the streams before
/// it.
const SYMBOL_STREAMS: u64 = 0x1_0000;

impl Launch {
    /// Checks a launch against its program and fills its buffers. `source` is the launch file, for
    /// messages.
    ///
    /// # Errors
    /// Returns a diagnostic for each argument that does not match its parameter.
    pub fn new(
        spec: &LaunchSpec,
        program: &KernelCode,
        seed: u64,
        source: &SourceText,
        read_file: ReadFile,
    ) -> Result<Self, Diagnostics> {
        Self::from_texts(spec, program, seed, &Texts::new(source.clone()), read_file)
    }

    /// Creates a launch like [`Launch::new`], from a file and options that override parts of it.
    ///
    /// # Errors
    /// Returns a diagnostic for each argument that does not match its parameter.
    pub fn from_texts(
        spec: &LaunchSpec,
        program: &KernelCode,
        seed: u64,
        texts: &Texts,
        read_file: ReadFile,
    ) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::new();
        let place = texts.root();
        let none = Names::default();
        let buffers = buffers_of(spec, &place);
        let variables = variables(program);
        let images = specs(&spec.textures, &spec.surfaces, &place);
        let handles = handles(&images, &[nameable([program])], &mut problems);
        let scope = Scope { names: &none, buffers: &[], variables: &variables, images: &handles };
        let (buffers, named) = prepare(&buffers, &scope, seed, read_file, &mut problems);
        // stop here, because errors in buffers would be reported again below
        problems.into_result(())?;

        let mut problems = Diagnostics::new();
        let scope = Scope { buffers: &named, ..scope };
        let LaunchSpec { grid, block, dynamic_shared, registers, args, .. } = spec;
        let fields = Call { grid, block, dynamic_shared, registers: *registers, args };
        let mut launch = call(&fields, program, &scope, &place, &mut problems);
        launch.images = bind_all(&images, &scope, &mut problems);
        if problems.is_empty() {
            check_references(&launch, program, &place, &mut problems);
        }
        let set =
            |(index, symbol): (usize, &BufferSpec)| (symbol.clone(), place.field("symbols").item(index));
        let set: Vec<_> = spec.symbols.iter().enumerate().map(set).collect();
        let symbols = symbols(&set, program, &scope, seed, read_file, &mut problems);
        problems.into_result(Self { buffers, symbols, ..launch })
    }

    /// Returns the number of threads per block.
    pub fn threads_per_block(&self) -> u64 {
        self.block.iter().map(|&n| u64::from(n)).product()
    }

    /// Returns the number of warps per block.
    pub fn warps_per_block(&self) -> usize {
        self.threads_per_block().div_ceil(WARP_SIZE as u64) as usize
    }

    /// Returns the number of blocks in the grid.
    pub fn blocks(&self) -> u32 {
        self.grid.iter().product()
    }

    /// Returns the resources of an SM that one block occupies.
    pub fn needs(&self, program: &KernelCode) -> BlockNeeds {
        let shared = program.memory.shared_bytes(u64::from(self.dynamic_shared));
        BlockNeeds {
            threads: self.threads_per_block() as u32,
            registers_per_thread: self.registers,
            shared_bytes: u32::try_from(shared).unwrap_or(u32::MAX),
        }
    }
}

/// Returns the buffers that a launch defines, with their locations in the file: first the
/// stand-alone ones, then those of arguments.
fn buffers_of<'a>(spec: &LaunchSpec, place: &Place<'a>) -> Vec<(BufferSpec, Place<'a>)> {
    let mut found = Vec::new();
    for (index, buffer) in spec.buffers.iter().enumerate() {
        found.push((buffer.clone(), place.field("buffers").item(index)));
    }
    for (index, arg) in spec.args.iter().enumerate() {
        buffers_of_arg(arg, &place.field("args").item(index), &mut found);
    }
    found
}

fn buffers_of_arg<'a>(arg: &ArgSpec, place: &Place<'a>, found: &mut Vec<(BufferSpec, Place<'a>)>) {
    match arg {
        ArgSpec::Buffer { name, elem, len, init, constant } => {
            let (name, len, init) = (name.clone(), len.clone(), init.clone());
            found.push((BufferSpec { name, elem: *elem, len, init, constant: *constant }, place.clone()));
        }
        ArgSpec::Struct(parts) => {
            for (index, part) in parts.iter().enumerate() {
                buffers_of_arg(part, &place.item(0).item(index), found);
            }
        }
        ArgSpec::At(_, part) => buffers_of_arg(part, &place.item(1), found),
        _ => {}
    }
}

/// Assigns addresses and contents to buffers. `bare` is the scope without buffers.
pub(in crate::program) fn prepare(
    specs: &[(BufferSpec, Place)],
    bare: &Scope,
    seed: u64,
    read_file: ReadFile,
    problems: &mut Diagnostics,
) -> (Vec<Buffer>, Vec<Named>) {
    let mut named: Vec<Named> = Vec::new();
    for (spec, place) in specs {
        if named.iter().any(|before| before.name == spec.name) {
            let twice = place.field("name").error(format!("there are two buffers `{}`", spec.name));
            problems.push(twice.hint(format!(
                "rename one of them; another argument for the same buffer is Ptr({:?})",
                spec.name
            )));
        }
        let size = size(spec, bare, place).unwrap_or_else(|problem| {
            problems.push(problem);
            0
        });
        named.push(Named { name: spec.name.clone(), address: 0, size });
    }
    // the contents exist twice: in the launch, and in the memory of the device
    let mut filled = 0u64;
    for ((spec, place), buffer) in specs.iter().zip(&named).filter(|((spec, _), _)| spec.init != Init::Zero) {
        filled = filled.saturating_add(buffer.size.saturating_mul(2));
        if let Err(why) = ask_memory(filled) {
            let message =
                format!("buffer `{}`, together with the contents of the buffers before it, {why}", spec.name);
            problems.push(
                place.field("len").error(message).hint("make it smaller, or allow more with --max-memory"),
            );
            break;
        }
    }
    let places = layout::place_buffers(named.iter().map(|buffer| buffer.size));
    named.iter_mut().zip(places).for_each(|(buffer, place)| buffer.address = place.address);
    let scope = Scope { buffers: &named, ..*bare };
    let mut buffers = Vec::new();
    if problems.is_empty() {
        for (index, (spec, place)) in specs.iter().enumerate() {
            match fill(spec, named[index].size, (seed, index as u64), &scope, place, read_file) {
                Ok(buffer) => buffers.push(buffer),
                Err(problem) => problems.push(problem),
            }
        }
    }
    (buffers, named)
}

/// Returns the contents that the host copies to module variables before the first launch.
pub(in crate::program) fn symbols(
    specs: &[(BufferSpec, Place)],
    program: &KernelCode,
    scope: &Scope,
    seed: u64,
    read_file: ReadFile,
    problems: &mut Diagnostics,
) -> Vec<Buffer> {
    let mut filled: Vec<Buffer> = Vec::new();
    for (index, (spec, place)) in specs.iter().enumerate() {
        let symbol = size(spec, scope, place).and_then(|size| {
            let variable = variable(program, &spec.name).map_err(|problem| {
                let (message, hint) = problem;
                place.field("name").error(message).hint(hint)
            })?;
            if variable.size < size {
                let (name, holds) = (&variable.name, variable.size);
                return Err(place.error(format!("`{name}` holds {holds} bytes, {size} given")));
            }
            let stream = SYMBOL_STREAMS + index as u64;
            let buffer = fill(spec, size, (seed, stream), scope, place, read_file)?;
            Ok(Buffer { name: variable.name, ..buffer })
        });
        match symbol {
            Ok(symbol) if filled.iter().any(|before| before.name == symbol.name) => {
                problems.push(place.error(format!("`{}` is set twice", symbol.name)));
            }
            Ok(symbol) => filled.push(symbol),
            Err(problem) => problems.push(problem),
        }
    }
    filled
}

/// Finds a variable of the module by its PTX or C++ name.
///
/// # Errors
/// Returns a message and a hint if the name is unknown or ambiguous.
pub fn variable(program: &KernelCode, name: &str) -> Result<Named, (String, String)> {
    let all = variables(program);
    let list = |indices: &mut dyn Iterator<Item = &Named>| {
        indices.map(|variable| names::shown(&variable.name)).collect::<Vec<_>>().join(", ")
    };
    match names::find_whole(name, all.iter().map(|variable| variable.name.as_str())) {
        names::Found::One(index) => Ok(all[index].clone()),
        names::Found::Several(which) => Err((
            format!("`{name}` can be several variables of the module"),
            list(&mut which.iter().map(|&index| &all[index])),
        )),
        names::Found::None => Err((
            format!("the module has no variable `{name}`"),
            if all.is_empty() {
                "it has none".to_owned()
            } else {
                format!("its variables: {}", list(&mut all.iter()))
            },
        )),
    }
}

/// Returns the variables of the module with their generic addresses.
pub fn variables(program: &KernelCode) -> Vec<Named> {
    let memory = &program.memory;
    let named_at = |base: u64| {
        move |variable: &layout::Variable| Named {
            name: variable.name.clone(),
            address: base + variable.offset,
            size: variable.size,
        }
    };
    let globals = memory.globals.vars.iter().map(named_at(GLOBALS_BASE));
    globals.chain(memory.constants.vars.iter().map(named_at(window_base(Space::Const)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::expr::Expr;
    use crate::program::{Param, ParamType};

    fn program() -> KernelCode {
        let mut program = KernelCode { name: "k".into(), ..KernelCode::default() };
        program.memory.globals.place("_ZN4mine5tableE", 64, 8);
        program.memory.constants.place("factor", 4, 4);
        let sizes = [(8, ParamType::Int), (8, ParamType::Int), (24, ParamType::Bytes), (4, ParamType::Int)];
        let mut offset = 0;
        for (index, (size, ty)) in sizes.into_iter().enumerate() {
            program.params.push(Param { name: format!("k_param_{index}"), offset, size, ty });
            offset += size;
        }
        program
    }

    fn launch(fields: &str) -> Result<Launch, String> {
        let text =
            format!("Launch(module: \"k.ptx\", entry: \"k\", grid: (1, 1, 1), block: (32, 1, 1), {fields})");
        let source = SourceText::new("k.ron", text);
        let spec = LaunchSpec::parse(&source).map_err(|problems| problems.to_string())?;
        let read = |name: &str, _: u64| Err(format!("no file {name}"));
        Launch::new(&spec, &program(), 0, &source, &read).map_err(|problems| problems.to_string())
    }

    fn words(bytes: &[u8]) -> Vec<u64> {
        bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
    }

    const BASE: u64 = layout::BUFFERS_BASE;

    #[test]
    fn pointers_may_occur_in_arguments_buffers_and_structs() {
        let launch = launch(
            r#"buffers: [
                Buffer(name: "a", elem: F32, len: "3 * 4", init: Iota),
                Buffer(name: "rows", elem: Ptr, len: 3, init: Ptrs([Ptr("a", 16), Null])),
                Buffer(name: "nodes", elem: U8, len: 32, init: Struct([U32(7), Ptr("nodes", 16), U8(1), Null])),
                Buffer(name: "pitch", elem: Ptr, len: 2, init: Rows("a", 16)),
            ],
            args: [Ptr("rows"), Ptr("mine::table", 64), Struct([U8(3), Ptr("a", 48), At(20, F32(2.0))]), U32("1 << 4")]"#,
        )
        .unwrap();
        let second = (BASE + 48 + layout::GUARD_BYTES).next_multiple_of(256);
        let third = (second + 24 + layout::GUARD_BYTES).next_multiple_of(256);
        assert_eq!(words(&launch.buffers[1].bytes), [BASE + 16, 0, 0]);
        assert_eq!(words(&launch.buffers[2].bytes), [7, third + 16, 1, 0]);
        assert_eq!(words(&launch.buffers[3].bytes), [BASE, BASE + 16]);
        let Arg::Value(rows) = &launch.args[0] else { panic!("no value") };
        let Arg::Value(table) = &launch.args[1] else { panic!("no value") };
        let Arg::Value(structure) = &launch.args[2] else { panic!("no value") };
        assert_eq!((words(rows)[0], words(table)[0]), (second, GLOBALS_BASE + 64));
        assert_eq!(words(structure), [3, BASE + 48, 0x4000_0000 << 32]);
        assert_eq!(launch.args[3], Arg::Value(vec![16, 0, 0, 0]));
    }

    #[test]
    fn wrong_launches_are_reported_with_location_and_hint() {
        let args = |args: &str| launch(&format!("args: [{args}]")).unwrap_err();
        let rest = "Struct([U8(3), Null, F32(1.0)]), U32(1)";
        for (message, parts) in [
            (args("Null"), vec!["`k` takes 4 arguments, 1 given", "args: ["]),
            (
                args(&format!("Ptr(\"b\"), Null, {rest}")),
                vec!["no buffer or variable `b`", "mine::table", "Ptr(\"b\")"],
            ),
            (args(&format!("Ptr(\"factor\", 5), Null, {rest}")), vec!["offset 5 is outside of `factor`"]),
            (
                args(&format!("F32(1.0), Null, {rest}")),
                vec!["argument 0", "k_param_0", "64-bit integer or pointer"],
            ),
            (
                args("Null, Null, Struct([U8(3), Null]), U32(1)"),
                vec!["argument 2", "16 bytes given", "24 bytes"],
            ),
            (args("Null, Null, Struct([Null, At(4, Null)]), U32(1)"), vec!["not after the 8 bytes"]),
            (args("Null, Null, At(4, Null), U32(1)"), vec!["not in a struct"]),
            (args(&format!("U64(-1), Null, {rest}")), vec!["-1 does not fit U64"]),
            (args(&format!("U64(\"m\"), Null, {rest}")), vec!["`m` is not defined"]),
            (
                args("Buffer(name: \"a\", elem: U8, len: 1, init: Zero, inti: 1), Null"),
                vec!["no field `inti` of `Buffer`", "did you mean `init`", "^^^^"],
            ),
            (args("Bufer(name: \"a\")"), vec!["`Bufer` is not one of", "did you mean `Buffer`"]),
            (
                args("Buffer(name: \"a\", elem: U8, init: Zero, len: 1, len: 2)"),
                vec!["the field `len`", "is given twice here", "k.ron:1:"],
            ),
            (
                args("Buffer(name: \"a\", elem: U8, init: Zero)"),
                vec!["the field `len` of `Buffer` is missing"],
            ),
        ] {
            assert!(parts.iter().all(|part| message.contains(part)), "{parts:?}:\n{message}");
        }
        let buffers = |list: &str| launch(&format!("buffers: [{list}]")).unwrap_err();
        let one = |init: &str| buffers(&format!("Buffer(name: \"a\", elem: F32, len: 2, init: {init})"));
        let twice = "Buffer(name: \"a\", elem: U8, len: 1, init: Zero)";
        assert!(buffers(&format!("{twice}, {twice}")).contains("two buffers `a`"));
        assert!(one("Values([1, 2, 3])").contains("2 elements, 8 bytes; 12 bytes given"));
        assert!(one("Ptrs([])").contains("elem: Ptr"));
        assert!(one("Rows(\"a\", 4)").contains("elem: Ptr"));
        assert!(one("File(\"x\")").contains("no file x"));
        assert!(one("Uniform(1, 1)").contains("is empty"));
        let symbols = |list: &str| launch(&format!("symbols: [{list}]")).unwrap_err();
        let set = |name: &str, len: u32| format!("Buffer(name: {name:?}, elem: U8, len: {len}, init: Zero)");
        assert!(symbols(&set("tabel", 1)).contains("mine::table"));
        assert!(symbols(&set("mine::table", 65)).contains("holds 64 bytes, 65 given"));
        assert!(
            symbols(&format!("{}, {}", set("_ZN4mine5tableE", 1), set("mine::table", 1)))
                .contains("set twice")
        );
    }

    #[test]
    fn arguments_parse_as_in_a_launch_file() {
        assert_eq!(parse_arg("U32(7)").unwrap(), ArgSpec::U32(Expr::from(7)));
        assert_eq!(parse_arg("Ptr(\"a\")").unwrap(), ArgSpec::Ptr("a".into(), Expr::from(0)));
        let random = |seed: u64| {
            let source = SourceText::new(
                "k.ron",
                "Launch(module: \"k.ptx\", entry: \"k\", grid: (1, 1, 1), block: (1, 1, 1),
                 args: [Buffer(name: \"a\", elem: F32, len: 4, init: Uniform(-1.0, 1.0))])",
            );
            let spec = LaunchSpec::parse(&source).unwrap();
            let program = KernelCode { params: program().params[..1].to_vec(), ..KernelCode::default() };
            Launch::new(&spec, &program, seed, &source, &|_, _| Err(String::new())).unwrap().buffers[0]
                .clone()
        };
        assert_eq!(random(1), random(1));
        assert_ne!(random(1), random(2));
        assert!(parse_arg("U33(7)").unwrap_err().to_string().contains("--arg U33(7)"));
    }
}
