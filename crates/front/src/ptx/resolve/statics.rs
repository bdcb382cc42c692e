//! Variables with a fixed address. Global and constant memory are laid out once per module, shared
//! memory once per kernel (only for variables that the kernel and its functions use).

use std::collections::{HashMap, HashSet};

use crate::ptx::ast::{Ast, Const, DeclSpace, Init, InitValue, VarDecl};
use crate::ptx::report::Reporter;
use crate::ptx::span::Span;
use crate::ptx::types::Type;
use warpbound_core::isa::Space;
use warpbound_core::program::launch::f16_bits;
use warpbound_core::program::layout::{GLOBALS_BASE, Segment, WINDOW_SIZE, function_address, window_base};

/// The maximum size in bytes of a variable, and of all variables in global memory together.
const MAX_GLOBALS: u64 = 1 << 30;

/// The variables and functions of the module, with their addresses.
#[derive(Debug, Default)]
pub(in crate::ptx) struct Statics {
    /// The index in [`Ast::vars`] of each name at module scope.
    pub vars: HashMap<Box<str>, u32>,
    /// The index in [`Ast::functions`] of each name: that of the definition, if there is one.
    pub functions: HashMap<Box<str>, u32>,
    /// The address in its space of each variable; `None` for shared and external variables.
    pub addresses: Vec<Option<u64>>,
    /// The size in bytes of each variable.
    pub sizes: Vec<u64>,
    /// Global memory with its initial contents.
    pub globals: Segment,
    /// Constant memory with its initial contents.
    pub constants: Segment,
    /// The functions whose addresses occur in initialisers, without duplicates, in the order of the
    /// file.
    pub taken: Vec<u32>,
    /// The initialisers that cannot be built, by index of the variable, with location and message.
    /// They are errors only for kernels that name the variable.
    pub broken: HashMap<u32, (Span, String)>,
}

/// Returns the size of a variable in bytes, or `None` if it exceeds the limits.
pub(in crate::ptx) fn size_of(var: &VarDecl) -> Option<u64> {
    let element = var.ty.bytes() * u64::from(var.vector);
    var.dims.iter().try_fold(element, |size, &dim| size.checked_mul(dim)).filter(|&size| size <= MAX_GLOBALS)
}

/// Returns whether all dimensions of a variable are known. Only the first one may be missing, in
/// external variables and in a function's last parameter, which takes an argument of any length.
pub(in crate::ptx) fn has_length(var: &VarDecl) -> bool {
    var.dims.first() != Some(&0)
}

/// Returns the alignment of a variable in bytes.
pub(in crate::ptx) fn natural_align(var: &VarDecl) -> u64 {
    if var.align > 0 { var.align } else { (var.ty.bytes() * u64::from(var.vector)).max(1) }
}

/// Collects the functions and variables of the module, reports duplicate definitions, and lays out
/// global and constant memory. Variables in global memory begin at offset `globals_start`.
pub(in crate::ptx) fn check_names(
    ast: &mut Ast,
    text: &str,
    globals_start: u64,
    report: &mut Reporter,
) -> Statics {
    let mut statics = Statics { globals: Segment::starting_at(globals_start), ..Statics::default() };
    name_functions(ast, text, report, &mut statics);
    for index in 0..ast.vars.len() {
        let var = &mut ast.vars[index];
        // `x[] = {1, 2}` takes its length from its initialiser
        if let (Some(0), Some(Init::List(list))) = (var.dims.first(), &var.init) {
            var.dims[0] = list.len() as u64;
        }
        if !has_length(var) && !var.external && var.space != DeclSpace::Shared {
            report.error(var.name, "this array has no length", "give it one, values, or `.extern`");
        }
        let size = size_of(var).unwrap_or_else(|| {
            report.error(var.name, "this variable is larger than 1 GiB", "declare it smaller");
            0
        });
        statics.sizes.push(size);
        let name = slice(text, ast.vars[index].name);
        if ast.vars[index].function.is_some() {
            continue;
        }
        match statics.vars.get(name).copied() {
            Some(old) if ast.vars[old as usize].external => {
                statics.vars.insert(name.into(), index as u32);
            }
            Some(_) if ast.vars[index].external => {}
            Some(_) => {
                report.error(
                    ast.vars[index].name,
                    format!("variable `{name}` is defined twice"),
                    "rename one of them",
                );
            }
            None => {
                statics.vars.insert(name.into(), index as u32);
            }
        }
    }
    statics.place(ast, text, report);
    statics.fill(ast, text);
    statics.take_functions(ast, text);
    statics
}

fn name_functions(ast: &Ast, text: &str, report: &mut Reporter, statics: &mut Statics) {
    for (index, function) in ast.functions.iter().enumerate() {
        let name = slice(text, function.name);
        let old = statics.functions.get(name).map(|&old| &ast.functions[old as usize]);
        match old {
            Some(old) if old.body.is_some() && function.body.is_some() => {
                let kind = if function.entry { "kernel" } else { "function" };
                report.error(
                    function.name,
                    format!("{kind} `{name}` is defined twice"),
                    "rename one of them",
                );
            }
            Some(old) if old.body.is_some() => {}
            _ => {
                statics.functions.insert(name.into(), index as u32);
            }
        }
    }
    for &(alias, target) in &ast.aliases {
        match statics.functions.get(slice(text, target)).copied() {
            Some(index) => {
                statics.functions.insert(slice(text, alias).into(), index);
            }
            None => report.error(target, format!("`{}` is no function", slice(text, target)), ""),
        }
    }
}

fn slice(text: &str, span: Span) -> &str {
    text.get(span.range()).unwrap_or_default()
}

impl Statics {
    fn place(&mut self, ast: &Ast, text: &str, report: &mut Reporter) {
        self.addresses = vec![None; ast.vars.len()];
        // Initial contents are stored up to the last byte that is not zero. Initialised variables
        // therefore come first, and among these the mostly zero ones last.
        let mut order: Vec<(u8, usize)> = (0..ast.vars.len())
            .filter(|&index| self.is_placed(ast, index))
            .map(|index| {
                let written = ast.vars[index].init.as_ref().map_or(0, count) * ast.vars[index].ty.bytes();
                let rank = match written {
                    0 => 2,
                    _ if self.sizes[index] > written * 64 + 4096 => 1,
                    _ => 0,
                };
                (rank, index)
            })
            .collect();
        order.sort_unstable();
        for (_, index) in order {
            let var = &ast.vars[index];
            let (segment, base, most) = match var.space {
                DeclSpace::Const => (&mut self.constants, 0, WINDOW_SIZE),
                _ => (&mut self.globals, GLOBALS_BASE, MAX_GLOBALS),
            };
            let size = self.sizes[index];
            if segment.size + size + natural_align(var) > most {
                let message = format!("variables of this space take more than {most} bytes together");
                report.error(var.name, message, "declare fewer or smaller ones");
                continue;
            }
            let offset = segment.place(slice(text, var.name), size, natural_align(var));
            self.addresses[index] = Some(base + offset);
        }
    }

    /// Returns whether a variable has an address in global or constant memory, that is, whether it
    /// is defined here.
    fn is_placed(&self, ast: &Ast, index: usize) -> bool {
        let var = &ast.vars[index];
        matches!(var.space, DeclSpace::Global | DeclSpace::Const) && !var.external
    }

    fn fill(&mut self, ast: &Ast, text: &str) {
        for (index, var) in ast.vars.iter().enumerate() {
            let (Some(init), Some(address)) = (&var.init, self.addresses[index]) else {
                if var.init.is_some() && var.space == DeclSpace::Shared {
                    let message = "shared memory cannot be initialised".to_owned();
                    self.broken.insert(index as u32, (var.name, message));
                }
                continue;
            };
            let mut dims = var.dims.clone();
            if var.vector > 1 {
                dims.push(u64::from(var.vector));
            }
            let mut writer =
                Writer { statics: self, ast, text, ty: var.ty, bytes: Vec::new(), size: 0, problem: None };
            writer.size = writer.statics.sizes[index];
            writer.write(init, &dims, 0);
            let Writer { bytes, problem, .. } = writer;
            if let Some((span, message)) = problem {
                self.broken.insert(index as u32, (span, message));
                continue;
            }
            let (segment, base) = match var.space {
                DeclSpace::Const => (&mut self.constants, 0),
                _ => (&mut self.globals, GLOBALS_BASE),
            };
            let from = (address - base - segment.start) as usize;
            if segment.init.len() < from + bytes.len() {
                segment.init.resize(from + bytes.len(), 0);
            }
            segment.init[from..from + bytes.len()].copy_from_slice(&bytes);
        }
    }
}

impl Statics {
    fn take_functions(&mut self, ast: &Ast, text: &str) {
        let mut seen = HashSet::new();
        let mut pending: Vec<&Init> = ast.vars.iter().rev().filter_map(|var| var.init.as_ref()).collect();
        while let Some(init) = pending.pop() {
            match init {
                Init::List(list) => pending.extend(list.iter().rev()),
                Init::Value(InitValue::Address { symbol, .. }, _) => {
                    let index = self.functions.get(slice(text, symbol.name)).copied();
                    self.taken.extend(index.filter(|&index| seen.insert(index)));
                }
                Init::Value(InitValue::Const(_), _) => {}
            }
        }
    }
}

/// Returns the number of values in an initialiser.
fn count(init: &Init) -> u64 {
    match init {
        Init::Value(..) => 1,
        Init::List(list) => list.iter().map(count).sum(),
    }
}

/// Writes an initialiser as bytes.
struct Writer<'a> {
    statics: &'a Statics,
    ast: &'a Ast,
    text: &'a str,
    ty: Type,
    /// The bytes up to the last value; the rest is zero.
    bytes: Vec<u8>,
    size: u64,
    problem: Option<(Span, String)>,
}

impl Writer<'_> {
    /// Writes an initialiser at an element index; `dims` are the dimensions of the part that it
    /// covers.
    fn write(&mut self, init: &Init, dims: &[u64], at: u64) {
        match init {
            Init::Value(value, span) => self.value(*value, *span, at),
            Init::List(list) => {
                let inner = dims.get(1..).unwrap_or_default();
                // The number of elements that a nested list covers. It saturates for a variable
                // beyond the limits, whose values then lie outside of it.
                let stride = inner.iter().fold(1u64, |product, &dim| product.saturating_mul(dim)).max(1);
                let mut next = at;
                for item in list {
                    if let Init::List(_) = item {
                        let aligned = (next - at).checked_next_multiple_of(stride).unwrap_or(u64::MAX);
                        next = at.saturating_add(aligned);
                        self.write(item, inner, next);
                        next = next.saturating_add(stride);
                    } else {
                        self.write(item, inner, next);
                        next = next.saturating_add(1);
                    }
                }
            }
        }
    }

    fn value(&mut self, value: InitValue, span: Span, element: u64) {
        if self.problem.is_some() {
            return;
        }
        let bits = match value {
            InitValue::Const(constant) => Ok(convert(constant, self.ty)),
            InitValue::Address { symbol, mask } => self
                .address(slice(self.text, symbol.name), symbol.generic)
                .map(|address| address.wrapping_add(symbol.offset as u64))
                .map(|address| {
                    mask.map_or(address, |m| (address & m).checked_shr(m.trailing_zeros()).unwrap_or(0))
                }),
        };
        let width = self.ty.bytes();
        let from = element.saturating_mul(width);
        match bits {
            Err(message) => self.problem = Some((span, message)),
            Ok(_) if from.saturating_add(width) > self.size => {
                self.problem = Some((span, "there are more values than the variable holds".into()));
            }
            Ok(bits) => {
                let (from, width) = (from as usize, width as usize);
                if self.bytes.len() < from + width {
                    self.bytes.resize(from + width, 0);
                }
                let source = bits.to_le_bytes();
                let width = width.min(source.len());
                self.bytes[from..from + width].copy_from_slice(&source[..width]);
            }
        }
    }

    fn address(&self, name: &str, generic: bool) -> Result<u64, String> {
        if let Some(&index) = self.statics.functions.get(name) {
            return match self.ast.functions[index as usize].entry {
                true => Err(format!("`{name}` is a kernel, whose address is not supported")),
                false => Ok(function_address(index)),
            };
        }
        let index = *self.statics.vars.get(name).ok_or_else(|| format!("`{name}` is not declared"))? as usize;
        let address = self.statics.addresses[index]
            .ok_or_else(|| format!("the address of `{name}` is not known before launch"))?;
        let base = match self.ast.vars[index].space {
            DeclSpace::Const if generic => window_base(Space::Const),
            _ => 0,
        };
        Ok(base + address)
    }
}

/// Returns the bits of a constant in a type.
pub(in crate::ptx) fn convert(constant: Const, ty: Type) -> u64 {
    let mask = if ty.bits() >= 64 { u64::MAX } else { (1 << ty.bits()) - 1 };
    let narrow = |value: f64| match ty {
        Type::F16 => u64::from(f16_bits(value)),
        Type::F64 => value.to_bits(),
        _ => u64::from((value as f32).to_bits()),
    };
    mask & match (constant, ty) {
        (Const::Int(value, false), Type::F32) => u64::from((value as i64 as f32).to_bits()),
        (Const::Int(value, true), Type::F32) => u64::from((value as f32).to_bits()),
        (Const::Int(value, false), Type::F64) => (value as i64 as f64).to_bits(),
        (Const::Int(value, true), Type::F64) => (value as f64).to_bits(),
        // untyped bits, and halves, which have no literals of their own
        (Const::Int(value, _), _) => value,
        (Const::F32(bits), Type::F64 | Type::F16) => narrow(f64::from(f32::from_bits(bits))),
        (Const::F32(bits), _) => u64::from(bits),
        (Const::F64(bits), Type::F32 | Type::F16) => narrow(f64::from_bits(bits)),
        // in 32 untyped bits, a fraction can only mean single precision
        (Const::F64(bits), _) if ty.bits() == 32 => narrow(f64::from_bits(bits)),
        (Const::F64(bits), _) => bits,
    }
}
