//! The bytes of scalars, pointers and structs as a kernel receives them.

use super::half::f16_bits;
use super::spec::ArgSpec;
use crate::diag::{Diagnostic, Place, closest};
use crate::program::expr::{Expr, Names};
use crate::program::names::{self, Found};
use crate::program::tensor_map::TensorMap;

/// The maximum size of a struct in bytes.
const MAX_STRUCT_BYTES: i128 = 1 << 32;

/// A named region of device memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name of the region.
    pub name: String,
    /// The address of its first byte.
    pub address: u64,
    /// The size in bytes.
    pub size: u64,
}

/// The name of a texture or surface and its handles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::program) struct Handle {
    pub name: String,
    pub surface: bool,
    /// The handle of an object, or the handles of the references with this name, one for each
    /// module that has it.
    pub handles: Vec<u64>,
}

/// The names that expressions and pointers can use at some location of a file.
#[derive(Clone, Copy, Debug)]
pub(in crate::program) struct Scope<'a> {
    /// The names that expressions can use.
    pub names: &'a Names,
    /// The buffers.
    pub buffers: &'a [Named],
    /// The variables of the module.
    pub variables: &'a [Named],
    /// The textures and surfaces.
    pub images: &'a [Handle],
}

/// The memory representation of a value.
pub(in crate::program) struct Encoded {
    /// The bytes, little endian.
    pub bytes: Vec<u8>,
    /// The alignment in bytes.
    pub align: usize,
}

impl Scope<'_> {
    /// Returns the address at an offset in a buffer or variable; the largest valid offset is its
    /// size.
    pub fn address(&self, name: &str, offset: i128) -> Result<u64, String> {
        let Named { address, size, .. } = self.memory(name)?;
        match u64::try_from(offset) {
            Ok(offset) if offset <= *size => Ok(address + offset),
            _ => Err(format!("offset {offset} is outside of `{name}`, which has {size} bytes")),
        }
    }

    /// Returns a buffer or, if there is none, a variable.
    pub(super) fn memory(&self, name: &str) -> Result<&Named, String> {
        match self.buffers.iter().find(|buffer| buffer.name == name) {
            Some(buffer) => Ok(buffer),
            None => self.variable(name),
        }
    }

    fn variable(&self, name: &str) -> Result<&Named, String> {
        let known = || self.variables.iter().map(|variable| variable.name.as_str());
        let list = |indices: &mut dyn Iterator<Item = &Named>| {
            indices.map(|v| names::shown(&v.name)).collect::<Vec<_>>().join(", ")
        };
        match names::find_whole(name, known()) {
            Found::One(index) => Ok(&self.variables[index]),
            Found::Several(which) => {
                let list = list(&mut which.iter().map(|&index| &self.variables[index]));
                Err(format!("`{name}` can be any of {list}"))
            }
            Found::None => {
                let all = self.buffers.iter().chain(self.variables);
                let near = closest(name, all.clone().map(|named| named.name.as_str()));
                let near = near.map_or(String::new(), |near| format!(", did you mean `{near}`?"));
                let known = match list(&mut all.into_iter()) {
                    none if none.is_empty() => "there is none".to_owned(),
                    known => format!("there are {known}"),
                };
                Err(format!("no buffer or variable `{name}`{near} ({known})"))
            }
        }
    }

    /// Returns the handles of a texture or surface.
    ///
    /// # Errors
    /// Returns a message and a hint if there is none of this name and kind.
    pub(super) fn image(&self, name: &str, surface: bool) -> Result<&Handle, (String, String)> {
        let kind_name = |surface| if surface { "surface" } else { "texture" };
        match self.images.iter().find(|image| image.name == name) {
            Some(image) if image.surface == surface => Ok(image),
            Some(_) => Err((
                format!("`{name}` is a {}, not a {}", kind_name(!surface), kind_name(surface)),
                String::new(),
            )),
            None => {
                let known =
                    || self.images.iter().filter(|image| image.surface == surface).map(|i| i.name.as_str());
                let near =
                    closest(name, known()).map_or(String::new(), |near| format!("did you mean `{near}`? "));
                let list = match known().collect::<Vec<_>>().join(", ") {
                    none if none.is_empty() => format!("define it in `{}s` of the file", kind_name(surface)),
                    list => format!("{}s: {list}", kind_name(surface)),
                };
                Err((format!("there is no {} `{name}`", kind_name(surface)), near + &list))
            }
        }
    }

    fn integer(&self, value: &Expr, bits: u32, signed: bool, place: &Place) -> Result<Encoded, Diagnostic> {
        let value = value.eval(self.names).map_err(|message| place.error(message))?;
        let (least, most) = if signed {
            (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
        } else {
            (0, (1i128 << bits) - 1)
        };
        if !(least..=most).contains(&value) {
            let ty = if signed { 'I' } else { 'U' };
            return Err(place.error(format!("{value} does not fit {ty}{bits}: {least} to {most}")));
        }
        let size = bits as usize / 8;
        Ok(Encoded { bytes: value.to_le_bytes()[..size].to_vec(), align: size })
    }
}

fn plain<const N: usize>(bytes: [u8; N]) -> Encoded {
    Encoded { bytes: bytes.to_vec(), align: N }
}

/// Returns the representation of a single value.
///
/// # Errors
/// A name does not exist, or the value does not fit its type.
pub(in crate::program) fn value(arg: &ArgSpec, scope: &Scope, place: &Place) -> Result<Encoded, Diagnostic> {
    let inner = place.item(0);
    match arg {
        ArgSpec::Buffer { name, .. } => {
            scope.address(name, 0).map(|a| plain(a.to_le_bytes())).map_err(|message| place.error(message))
        }
        ArgSpec::Ptr(name, offset) => {
            let offset = offset.eval(scope.names).map_err(|message| place.item(1).error(message))?;
            scope
                .address(name, offset)
                .map(|a| plain(a.to_le_bytes()))
                .map_err(|message| place.error(message))
        }
        ArgSpec::Null => Ok(plain([0; 8])),
        ArgSpec::Texture(name) | ArgSpec::Surface(name) => {
            let surface = matches!(arg, ArgSpec::Surface(_));
            let handle =
                scope.image(name, surface).map_err(|(message, hint)| place.error(message).hint(hint))?;
            Ok(plain(handle.handles[0].to_le_bytes()))
        }
        ArgSpec::TensorMap { .. } => tensor_map(arg, scope, place),
        ArgSpec::U8(v) => scope.integer(v, 8, false, &inner),
        ArgSpec::I8(v) => scope.integer(v, 8, true, &inner),
        ArgSpec::U16(v) => scope.integer(v, 16, false, &inner),
        ArgSpec::I16(v) => scope.integer(v, 16, true, &inner),
        ArgSpec::U32(v) => scope.integer(v, 32, false, &inner),
        ArgSpec::I32(v) => scope.integer(v, 32, true, &inner),
        ArgSpec::U64(v) => scope.integer(v, 64, false, &inner),
        ArgSpec::I64(v) => scope.integer(v, 64, true, &inner),
        ArgSpec::F16(v) => Ok(plain(f16_bits(*v).to_le_bytes())),
        ArgSpec::F32(v) => Ok(plain(v.to_le_bytes())),
        ArgSpec::F64(v) => Ok(plain(v.to_le_bytes())),
        ArgSpec::Bytes(bytes) => Ok(Encoded { bytes: bytes.clone(), align: 1 }),
        ArgSpec::Struct(parts) => {
            let mut encoded = layout(parts, scope, &inner)?;
            encoded.bytes.resize(encoded.bytes.len().next_multiple_of(encoded.align), 0);
            Ok(encoded)
        }
        ArgSpec::At(..) => Err(place
            .error("At(..) gives the offset of a part of a struct, and this is not in a struct")
            .hint("Struct([U32(1), At(16, F32(2.0))])")),
    }
}

/// Returns the bytes of a tensor map.
///
/// # Errors
/// A name does not exist, a number is not possible, or the tensor is not within its buffer.
fn tensor_map(arg: &ArgSpec, scope: &Scope, place: &Place) -> Result<Encoded, Diagnostic> {
    let ArgSpec::TensorMap { of, offset, elem, dims, strides, extents, swizzle, fill_nan } = arg else {
        return Err(place.error("this is no tensor map"));
    };
    let number = |expr: &Expr, field: &'static str, most: i128| {
        let place = place.field(field);
        let number = expr.eval(scope.names).map_err(|message| place.error(message))?;
        let known = u64::try_from(number).ok().filter(|_| number <= most);
        known.ok_or_else(|| place.error(format!("{number} is out of range: 0 to {most}")))
    };
    let list = |exprs: &[Expr], field: &'static str, most: i128| {
        exprs.iter().map(|expr| number(expr, field, most)).collect::<Result<Vec<u64>, Diagnostic>>()
    };
    let start = i128::from(number(offset, "offset", 1 << 40)?);
    let address = scope.address(of, start).map_err(|message| {
        place.field("of").error(message).hint("`of` names a buffer or a module variable")
    })?;
    let dims = list(dims, "dims", 1 << 32)?;
    let mut strides = list(strides, "strides", 1 << 40)?;
    if strides.is_empty() {
        let dense = dims.iter().scan(elem.bytes(), |bytes, dim| {
            *bytes = bytes.saturating_mul(*dim);
            Some(*bytes)
        });
        strides = dense.take(dims.len().saturating_sub(1)).collect();
    }
    let extents = list(extents, "box", 1 << 16)?.into_iter().map(|extent| extent as u32).collect();
    let map =
        TensorMap { address, elem: *elem, dims, strides, extents, swizzle: *swizzle, fill_nan: *fill_nan };
    let hint = "for instance TensorMap(of: \"a\", elem: F16, dims: [256, 128], box: [64, 128], swizzle: 128)";
    map.check().map_err(|message| place.error(message).hint(hint))?;
    let memory = scope.memory(of).map_err(|message| place.error(message))?;
    let (begins, bytes) = (u128::from(map.address - memory.address), map.bytes());
    if begins + bytes > u128::from(memory.size) {
        let message = format!(
            "the tensor ends {} bytes behind the beginning of `{of}`, which has {} bytes",
            begins + bytes,
            memory.size
        );
        return Err(place.error(message).hint("the last element has to be within the buffer"));
    }
    Ok(Encoded { bytes: map.encode().to_vec(), align: 64 })
}

/// Lays out values consecutively, each aligned like a struct member in C.
///
/// # Errors
/// A name does not exist, a value does not fit its type, or an offset lies inside of a preceding
/// member.
pub(in crate::program) fn layout(
    parts: &[ArgSpec],
    scope: &Scope,
    place: &Place,
) -> Result<Encoded, Diagnostic> {
    let mut encoded = Encoded { bytes: Vec::new(), align: 1 };
    for (index, part) in parts.iter().enumerate() {
        let place = place.item(index);
        let end = encoded.bytes.len();
        let (part, start) = match part {
            ArgSpec::At(offset, part) => {
                let at = place.item(0);
                let offset = offset.eval(scope.names).map_err(|message| at.error(message))?;
                if !(end as i128..MAX_STRUCT_BYTES).contains(&offset) {
                    let message =
                        format!("offset {offset} is not after the {end} bytes of the parts before it");
                    return Err(at.error(message).hint("parts must be in the order of their offsets"));
                }
                (value(part, scope, &place.item(1))?, offset as usize)
            }
            part => {
                let part = value(part, scope, &place)?;
                encoded.align = encoded.align.max(part.align);
                let start = end.next_multiple_of(part.align);
                (part, start)
            }
        };
        encoded.bytes.resize(start, 0);
        encoded.bytes.extend(part.bytes);
    }
    Ok(encoded)
}
