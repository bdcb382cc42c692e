//! Lowers texture fetches, accesses to surfaces, and queries of both.
//!
//! The sources of a fetch form one list: the layer, the coordinates, the handle if a register holds
//! it, and the level of detail. Without `.SCR`, the first register operand names the layer and the
//! coordinates, and the second one the rest. With it, the first operand names one half of the list
//! and the second one the other half.

use super::{Cx, Decoded, Operand, Res, Role, Value, refuse};
use crate::sass::table::meaning::Image as Name;
use warpbound_core::base::RegId;
use warpbound_core::program::image::Geometry;
use warpbound_core::program::sem::{
    Fetch, ImageProperty, ImageQuery, IntTy, Operand as Src, Outside, Sem, SurfaceAccess, SurfaceData,
    ValueTy,
};
use warpbound_core::program::{Area, MemoryOp};

pub(super) fn lower(cx: &mut Cx, d: &Decoded, name: Name) -> Res<Role> {
    match name {
        Name::Sample | Name::Texel | Name::Gather => fetch(cx, d, name),
        Name::LoadSurface => surface(cx, d, false),
        Name::StoreSurface => surface(cx, d, true),
        Name::Query => query(cx, d),
    }
}

/// The numbers of registers that the operands of a fetch name.
#[derive(Clone, Copy)]
struct Counts {
    /// Those of the first and of the second source.
    sources: [u8; 2],
    /// Those of the first and of the second destination.
    results: [u8; 2],
}

/// Returns the number of registers of an operand of these instructions; `None` if it is an operand
/// of another instruction.
pub(super) fn width(d: &Decoded, operand: &Operand) -> Option<u8> {
    let shape = geometry(d)?;
    let counts = Counts::of(d, shape);
    match (operand.name, operand.value) {
        ("m", _) => Some(coordinates(shape)),
        ("a", _) => Some(counts.sources[0]),
        ("b", _) => Some(counts.sources[1]),
        ("upper", _) => Some(counts.results[1]),
        ("d", _) if d.operand("m").is_none() => Some(counts.results[0]),
        ("d", _) => Some(elements(d)?.1),
        // the handle of the texture and that of its sampler
        ("h", Value::Uniform(_)) => Some(2),
        _ => None,
    }
}

impl Counts {
    fn of(d: &Decoded, shape: Geometry) -> Self {
        let coordinates = coordinates(shape);
        let rest = u8::from(in_register(d)) + u8::from(has_level(d));
        let all = coordinates + rest;
        let results = mask(d).count_ones() as u8;
        Self {
            sources: if d.has("scr") { [all.div_ceil(2), all / 2] } else { [coordinates, rest] },
            results: [results.min(2), results.saturating_sub(2)],
        }
    }
}

/// Returns the shape that an instruction names, if it names one.
fn geometry(d: &Decoded) -> Option<Geometry> {
    let text = match d.operand("g").map(|operand| operand.value) {
        Some(Value::Choice(text, _)) => text,
        _ => d.modifier("shape"),
    };
    let (dims, layered) = match text {
        "1D" => (1, false),
        "2D" => (2, false),
        "3D" => (3, false),
        "ARRAY_1D" | "1D_ARRAY" => (1, true),
        "ARRAY_2D" | "2D_ARRAY" => (2, true),
        _ => return None,
    };
    Some(Geometry { dims, layered })
}

fn needed_geometry(d: &Decoded) -> Res<Geometry> {
    geometry(d)
        .map_or_else(|| refuse(format!("{} of this shape", d.op.name), "cube maps are not simulated"), Ok)
}

/// Returns the number of coordinates, including the layer.
fn coordinates(shape: Geometry) -> u8 {
    shape.dims + u8::from(shape.layered)
}

/// Returns whether the handle is among the registers, and not an operand of its own.
fn in_register(d: &Decoded) -> bool {
    d.operand("h").is_none()
}

/// Returns whether the level of detail is among the registers.
fn has_level(d: &Decoded) -> bool {
    d.modifier("lod") == ".LL"
}

/// Returns the set of channels that are written.
fn mask(d: &Decoded) -> u64 {
    match d.operand("mask").map(|operand| operand.value) {
        Some(Value::Small(mask)) => mask & 0xf,
        _ => 0xf,
    }
}

/// Returns the destination of each channel. They are the registers of both destinations in turn.
fn results(cx: &mut Cx, d: &Decoded) -> [Option<RegId>; 4] {
    let mut dsts = [None; 4];
    let written = (0..4).filter(|channel| mask(d) >> channel & 1 != 0);
    for (index, channel) in written.enumerate() {
        let (name, step) = if index < 2 { ("d", index) } else { ("upper", index - 2) };
        let value = d.operand(name).map(|operand| operand.value);
        dsts[channel] = value.and_then(|value| cx.register_of(value, step as u8));
    }
    dsts
}

/// Returns consecutive registers from that of an operand on. The coordinates of a surface are printed
/// like an address.
fn list(cx: &mut Cx, d: &Decoded, name: &str, count: u8) -> Vec<Src> {
    let value = d.operand(name).map(|operand| match operand.value {
        Value::Address { register, .. } => Value::Register(register),
        value => value,
    });
    let register = |step| value.and_then(|value| cx.register_of(value, step)).map_or(Src::Imm(0), Src::Reg);
    (0..count).map(register).collect()
}

/// Returns the handle that an operand of its own names.
fn handle(cx: &mut Cx, d: &Decoded) -> Res<Src> {
    match (d.operand("h").map(|operand| operand.value), d.operand("bank").map(|operand| operand.value)) {
        (Some(Value::Small(word)), Some(Value::Small(bank))) => cx.constant(bank as u8, 4 * word as i64),
        (Some(Value::Uniform(_)), _) => cx.source(d, "h"),
        _ => refuse(format!("{} without a handle", d.op.name), ""),
    }
}

fn fetch(cx: &mut Cx, d: &Decoded, name: Name) -> Res<Role> {
    let shape = needed_geometry(d)?;
    let counts = Counts::of(d, shape);
    let mut sources = list(cx, d, "a", counts.sources[0]);
    sources.extend(list(cx, d, "b", counts.sources[1]));
    let mut sources = sources.into_iter();
    let layer = if shape.layered { sources.next() } else { None };
    let coords: Vec<Src> = sources.by_ref().take(shape.dims.into()).collect();
    let texture = match in_register(d) {
        true => sources.next().unwrap_or(Src::Imm(0)),
        false => handle(cx, d)?,
    };
    let gather = match d.modifier("channel") {
        _ if name != Name::Gather => None,
        ".R" => Some(0),
        ".G" => Some(1),
        ".B" => Some(2),
        _ => Some(3),
    };
    let fetch = Fetch {
        texture,
        geometry: shape,
        rows: shape == Geometry { dims: 2, layered: false },
        coords,
        layer,
        float: name != Name::Texel,
        ty: ValueTy::Int(IntTy { bits: 32, signed: false }),
        gather,
        // the level of detail
        detail: sources.collect(),
        dsts: results(cx, d),
    };
    cx.push(Sem::Fetch(Box::new(fetch)));
    Ok(Role { memory: Some(MemoryOp::Load(Area::Global)), ..Role::PLAIN })
}

/// Returns the bits of each element of a surface access, and the number of elements.
fn elements(d: &Decoded) -> Option<(u8, u8)> {
    match d.modifier("bits") {
        ".U8" => Some((8, 1)),
        ".U16" => Some((16, 1)),
        "" => Some((32, 1)),
        ".64" => Some((32, 2)),
        ".128" => Some((32, 4)),
        _ => None,
    }
}

fn surface(cx: &mut Cx, d: &Decoded, store: bool) -> Res<Role> {
    let shape = needed_geometry(d)?;
    let Some((bits, count)) = elements(d) else {
        return refuse(format!("{}{}", d.op.name, d.modifier("bits")), "compilers extend signs afterwards");
    };
    let mut coords = list(cx, d, "m", coordinates(shape));
    let layer = if shape.layered { coords.pop() } else { None };
    let outside = match d.modifier("outside") {
        ".IGN" => Outside::Zero,
        ".TRAP" => Outside::Trap,
        _ => Outside::Clamp,
    };
    let values = list(cx, d, "d", count);
    let data = if store {
        SurfaceData::Store(values)
    } else {
        let register = |value: &Src| if let Src::Reg(register) = value { Some(*register) } else { None };
        SurfaceData::Load(values.iter().map(register).collect())
    };
    let surface = handle(cx, d)?;
    let access = SurfaceAccess { surface, geometry: shape, coords, layer, outside, bits, data };
    cx.push(Sem::Surface(Box::new(access)));
    let memory = if store { MemoryOp::Store(Area::Global) } else { MemoryOp::Load(Area::Global) };
    Ok(Role { memory: Some(memory), ..Role::PLAIN })
}

fn query(cx: &mut Cx, d: &Decoded) -> Res<Role> {
    let image = handle(cx, d)?;
    let detail = list(cx, d, "a", 1);
    for (index, dst) in results(cx, d).into_iter().enumerate() {
        let Some(dst) = dst else { continue };
        // layers and levels are read from a table of the driver
        let property = if index < 3 { ImageProperty::Extent(index as u8) } else { ImageProperty::One };
        let detail = detail.clone();
        cx.push(Sem::ImageQuery(Box::new(ImageQuery { image, surface: false, property, detail, dst })));
    }
    Ok(Role::PLAIN)
}
