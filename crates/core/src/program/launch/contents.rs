//! The initial contents of buffers.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::half::f16_bits;
use super::number::Number;
use super::spec::{ArgSpec, BufferSpec, Elem, Init};
use super::value::{Scope, layout};
use super::{Buffer, ReadFile};
use crate::diag::{Diagnostic, Place};
use crate::program::expr::Expr;

/// The maximum size of a buffer in bytes. Larger ones are rejected before they are allocated.
const MAX_BUFFER_BYTES: u64 = 1 << 32;

/// Returns the size of a buffer in bytes.
///
/// # Errors
/// The length has no value, or is beyond the limit.
pub(in crate::program) fn size(spec: &BufferSpec, scope: &Scope, place: &Place) -> Result<u64, Diagnostic> {
    let len = place.field("len");
    let count = spec.len.eval(scope.names).map_err(|message| len.error(message))?;
    let count = u64::try_from(count)
        .map_err(|_| len.error(format!("buffer `{}` cannot have {count} elements", spec.name)))?;
    let size = count.checked_mul(spec.elem.size() as u64).filter(|&size| size <= MAX_BUFFER_BYTES);
    size.ok_or_else(|| len.error(format!("buffer `{}` is larger than 4 GiB", spec.name)))
}

/// Creates a buffer of this size and fills it. Random contents are drawn with the given seed from
/// the random stream with the given number. The contents of a constant buffer are drawn with seed
/// 0.
///
/// # Errors
/// The contents do not fit into the buffer.
pub(in crate::program) fn fill(
    spec: &BufferSpec,
    size: u64,
    (seed, stream): (u64, u64),
    scope: &Scope,
    place: &Place,
    read_file: ReadFile,
) -> Result<Buffer, Diagnostic> {
    let BufferSpec { name, elem, init, .. } = spec;
    let (elem, len) = (*elem, size / elem.size() as u64);
    let place = place.field("init");
    let wrong = |message: String| place.error(format!("buffer `{name}`: {message}"));
    let unfit = |place: &Place, message: String| {
        place.error(format!("buffer `{name}`: {message}")).hint(format!("its elements are {elem:?}"))
    };
    if elem == Elem::Ptr && matches!(init, Init::Fill(_) | Init::Iota | Init::Uniform(..) | Init::Values(_)) {
        return Err(wrong("its elements are pointers, not numbers".to_owned())
            .hint("init: Zero, Ptrs([Ptr(\"x\"), Ptr(\"x\", 64), Null]), Rows(\"x\", 64) or File(..)"));
    }
    let mut bytes = Vec::new();
    match init {
        Init::Zero => {}
        Init::Fill(value) => {
            let mut element = Vec::new();
            encode(elem, *value, &mut element).map_err(|message| unfit(&place.item(0), message))?;
            bytes = element.repeat(len as usize);
        }
        Init::Iota => (0..len).for_each(|i| nearest(elem, i as f64, &mut bytes)),
        Init::Uniform(lo, hi) => {
            if lo.partial_cmp(hi) != Some(std::cmp::Ordering::Less) {
                return Err(wrong(format!("Uniform({lo}, {hi}) is empty, the first must be less")));
            }
            let mut rng = ChaCha8Rng::seed_from_u64(if spec.constant { 0 } else { seed });
            rng.set_stream(stream);
            for _ in 0..len {
                let drawn = lo + (hi - lo) * rng.random::<f64>();
                nearest(elem, if elem.is_float() { drawn } else { drawn.floor() }, &mut bytes);
            }
        }
        Init::Values(values) => {
            for (index, value) in values.iter().enumerate() {
                let encoded = encode(elem, *value, &mut bytes);
                encoded.map_err(|message| unfit(&place.item(0).item(index), message))?;
            }
        }
        Init::File(path) => {
            bytes = read_file(path, size).map_err(|message| place.error(message))?;
            if bytes.len() as u64 != size {
                let has = bytes.len();
                return Err(wrong(format!("it holds {size} bytes, file `{path}` has {has}")));
            }
        }
        Init::Ptrs(_) | Init::Rows(..) if elem != Elem::Ptr => {
            return Err(wrong("pointers in a buffer of numbers".to_owned()).hint("elem: Ptr"));
        }
        Init::Ptrs(pointers) => bytes = pointers_to(pointers, scope, &place)?,
        Init::Rows(target, pitch) => bytes = row_pointers((target, pitch), len, scope, &place)?,
        Init::Struct(parts) => bytes = layout(parts, scope, &place.item(0))?.bytes,
    }
    if bytes.len() as u64 > size {
        return Err(wrong(format!("it holds {len} elements, {} bytes; {} bytes given", size, bytes.len())));
    }
    if bytes.is_empty() {
        // zeroed pages are not allocated until they are written
        bytes = vec![0; size as usize];
    } else {
        bytes.resize(size as usize, 0);
    }
    Ok(Buffer { name: name.clone(), elem, bytes, constant: spec.constant })
}

/// Returns the bytes of a list of pointers.
///
/// # Errors
/// An element is no pointer, or its target is unknown.
fn pointers_to(pointers: &[ArgSpec], scope: &Scope, place: &Place) -> Result<Vec<u8>, Diagnostic> {
    if let Some(other) = pointers.iter().position(|p| !matches!(p, ArgSpec::Ptr(..) | ArgSpec::Null)) {
        let place = place.item(0).item(other);
        return Err(place.error("this is no pointer").hint("Ptr(\"x\"), Ptr(\"x\", 64) or Null"));
    }
    Ok(layout(pointers, scope, &place.item(0))?.bytes)
}

/// Returns the bytes of pointers to the rows of a buffer, which are `pitch` bytes apart.
///
/// # Errors
/// The pitch has no value, or a row is outside of the buffer.
fn row_pointers(
    (target, pitch): (&str, &Expr),
    rows: u64,
    scope: &Scope,
    place: &Place,
) -> Result<Vec<u8>, Diagnostic> {
    let pitch = pitch.eval(scope.names).map_err(|message| place.item(1).error(message))?;
    let mut bytes = Vec::new();
    for row in 0..rows {
        let address = scope.address(target, i128::from(row) * pitch).map_err(|m| place.error(m))?;
        bytes.extend(address.to_le_bytes());
    }
    Ok(bytes)
}

/// Appends the bytes of a number as an element.
///
/// # Errors
/// The element is an integer, and the number is none, or is too large.
fn encode(elem: Elem, number: Number, out: &mut Vec<u8>) -> Result<(), String> {
    if elem.is_float() {
        nearest(elem, number.float(), out);
    } else {
        let bytes = number.integer(elem.size())?.to_le_bytes();
        out.extend(&bytes[..elem.size()]);
    }
    Ok(())
}

/// Appends the bytes of the nearest element to a number.
fn nearest(elem: Elem, value: f64, out: &mut Vec<u8>) {
    match elem {
        // the cast from float to int saturates, so a value out of range is clamped
        Elem::U8 => out.push(value as u8),
        Elem::I8 => out.extend((value as i8).to_le_bytes()),
        Elem::U16 => out.extend((value as u16).to_le_bytes()),
        Elem::I16 => out.extend((value as i16).to_le_bytes()),
        Elem::U32 => out.extend((value as u32).to_le_bytes()),
        Elem::I32 => out.extend((value as i32).to_le_bytes()),
        Elem::U64 | Elem::Ptr => out.extend((value as u64).to_le_bytes()),
        Elem::I64 => out.extend((value as i64).to_le_bytes()),
        Elem::F16 => out.extend(f16_bits(value).to_le_bytes()),
        Elem::F32 => out.extend((value as f32).to_le_bytes()),
        Elem::F64 => out.extend(value.to_le_bytes()),
    }
}
