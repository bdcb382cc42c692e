//! The description of a kernel in a bundle, `launch.json`.

use serde::Serialize;

use warpbound_core::program::launch::{Arg, Launch};
use warpbound_core::program::layout::GLOBALS_BASE;
use warpbound_core::program::sequence::Target;
use warpbound_core::program::{KernelCode, Param, ParamType};

/// The version of the format.
pub const FORMAT: u32 = 1;

/// What a kernel or program does, and to which memory.
#[derive(Serialize)]
pub struct Description {
    /// The version of this format.
    pub format: u32,
    /// The name by which warpbound knows the kernel.
    pub kernel: String,
    /// A digest of the code, the initial contents of memory and the steps.
    pub digest: String,
    /// The code.
    pub modules: Vec<Module>,
    /// The device memory outside of modules.
    pub buffers: Vec<Buffer>,
    /// What the host does, in order.
    pub steps: Vec<Step>,
}

/// A module and its variables.
#[derive(Serialize)]
pub struct Module {
    /// The file with its PTX.
    pub code: String,
    /// The variables in global and constant memory.
    pub variables: Vec<Variable>,
}

/// A variable of a module.
#[derive(Serialize)]
pub struct Variable {
    pub name: String,
    /// `global` or `const`.
    pub space: &'static str,
    /// The address in the functional run; that of a constant is its offset in constant memory.
    pub address: u64,
    pub bytes: u64,
    /// The file with what the host copies there before the first step; without it, the variable has
    /// the contents that the code states.
    pub before: Option<String>,
    /// The file with the contents after the last step.
    pub after: String,
}

/// A buffer. Its address matters only where pointers are stored in memory.
#[derive(Serialize)]
pub struct Buffer {
    pub name: String,
    pub address: u64,
    pub bytes: u64,
    /// The element type, such as `f32`; that of pointers is `ptr`.
    pub element: String,
    /// The file with the contents before the first step; null stands for zeros.
    pub before: Option<String>,
    /// The file with the contents after the last step; null stands for zeros.
    pub after: Option<String>,
}

/// A step of the host.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    Launch(LaunchStep),
    /// A copy from device memory to device memory.
    Copy {
        from: Place,
        to: Place,
        bytes: u64,
    },
    /// A copy from a file to device memory.
    Write {
        to: Place,
        file: String,
    },
}

/// A launch of a kernel.
#[derive(Serialize)]
pub struct LaunchStep {
    /// The index of the module.
    pub module: usize,
    pub entry: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// The bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    pub arguments: Vec<Argument>,
}

/// A place in device memory.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    Buffer { name: String, offset: u64 },
    Variable { module: usize, name: String, offset: u64 },
}

/// An argument of a kernel.
#[derive(Serialize)]
pub struct Argument {
    pub name: String,
    /// A scalar type such as `u32`, `pointer` or `bytes`.
    #[serde(rename = "type")]
    pub ty: String,
    /// The value of a scalar, for people; null for other types, and for floats that JSON lacks.
    pub value: Option<serde_json::Value>,
    /// What a pointer points to; null for other types, and for null pointers.
    pub to: Option<Place>,
    /// The bytes in hexadecimal, as the functional run passes them.
    pub bytes: String,
}

/// Returns the step that performs a launch.
pub fn launch_step(module: usize, program: &KernelCode, launch: &Launch, buffers: &[Buffer]) -> Step {
    let argument = |(param, arg): (&Param, &Arg)| {
        let bytes = match arg {
            Arg::Value(bytes) => bytes.clone(),
            Arg::Buffer(index) => {
                let address = buffers[*index].address.to_le_bytes();
                address[..(param.size as usize).min(8)].to_vec()
            }
        };
        of_bytes(param, &bytes, |address| to_place(address, module, program, buffers))
    };
    Step::Launch(LaunchStep {
        module,
        entry: program.name.clone(),
        grid: launch.grid,
        block: launch.block,
        dynamic_shared: launch.dynamic_shared,
        arguments: program.params.iter().zip(&launch.args).map(argument).collect(),
    })
}

fn of_bytes(param: &Param, bytes: &[u8], place: impl Fn(u64) -> Option<Place>) -> Argument {
    let mut word = [0; 8];
    word[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
    let number = u64::from_le_bytes(word);
    let to = (param.ty == ParamType::Int && param.size == 8).then(|| place(number)).flatten();
    let (ty, value) = match param.ty {
        _ if to.is_some() => ("pointer".to_owned(), None),
        ParamType::Int => (format!("u{}", param.size * 8), Some(number.into())),
        ParamType::Float => {
            let value = match param.size {
                4 => f64::from(f32::from_bits(number as u32)),
                8 => f64::from_bits(number),
                // JSON has no half-precision numbers; the bytes state the value
                _ => f64::NAN,
            };
            (format!("f{}", param.size * 8), serde_json::Number::from_f64(value).map(Into::into))
        }
        ParamType::Bytes => ("bytes".to_owned(), None),
    };
    let bytes = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Argument { name: param.name.clone(), ty, value, to, bytes }
}

/// Returns the buffer or variable of a kernel's module that an address lies in. Buffers are followed
/// by unmapped bytes, so the address after the last byte belongs to the buffer, too.
fn to_place(address: u64, module: usize, program: &KernelCode, buffers: &[Buffer]) -> Option<Place> {
    let within = |buffer: &&Buffer| (buffer.address..=buffer.address + buffer.bytes).contains(&address);
    if let Some(buffer) = buffers.iter().find(within) {
        return Some(Place::Buffer { name: buffer.name.clone(), offset: address - buffer.address });
    }
    let offset = address.checked_sub(GLOBALS_BASE)?;
    let variable = program.memory.globals.find(offset)?;
    Some(Place::Variable { module, name: variable.name.clone(), offset: offset - variable.offset })
}

/// Returns the buffer or variable that a copy reads or writes.
pub fn place(at: Target, modules: &[Module], buffers: &[Buffer]) -> Option<Place> {
    let in_module = |index: usize, space: &str, address: u64| {
        let variables = modules[index].variables.iter().filter(|variable| variable.space == space);
        let mut found = variables.filter(|v| (v.address..v.address + v.bytes).contains(&address));
        let variable = found.next()?;
        let (name, offset) = (variable.name.clone(), address - variable.address);
        Some(Place::Variable { module: index, name, offset })
    };
    match at {
        Target::Constant { module, offset } => in_module(module, "const", offset),
        Target::Global(address) => {
            let within =
                |buffer: &&Buffer| (buffer.address..buffer.address + buffer.bytes).contains(&address);
            match buffers.iter().find(within) {
                Some(buffer) => {
                    Some(Place::Buffer { name: buffer.name.clone(), offset: address - buffer.address })
                }
                None => (0..modules.len()).find_map(|module| in_module(module, "global", address)),
            }
        }
    }
}
