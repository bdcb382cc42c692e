//! Textures and surfaces.

use super::memory::elements;
use super::opcode::Opcode;
use super::operand::{Cx, Fit};
use super::{Lowered, Refusal, Res, exactly, wrong_count};
use crate::ptx::ast::{AddressExpr, Operand, OperandKind};
use crate::ptx::resolve::Symbol;
use crate::ptx::types::Type;
use warpbound_core::isa::TypeKind;
use warpbound_core::program::image::Geometry;
use warpbound_core::program::sem::{
    Fetch, ImageProperty, ImageQuery, Operand as Src, Outside, Sem, SurfaceAccess, SurfaceData,
};
use warpbound_core::program::{Area, MemoryOp, Reference, RegKind};

/// Lowers texture and surface instructions by the root of the opcode.
pub(super) fn lower<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    match op.root {
        "tex" | "tld4" => fetch(cx, op, args),
        "suld" | "sust" => surface(cx, op, args),
        _ => query(cx, op, args),
    }
}

fn geometry(op: &mut Opcode<'_>) -> Res<Geometry> {
    for (shape, feature) in
        [("cube", "cube maps"), ("acube", "cube maps"), ("2dms", "multisampling"), ("a2dms", "multisampling")]
    {
        if op.has(shape) {
            return Err(Refusal::new(format!("`{}`: {feature} is not simulated", op.text), ""));
        }
    }
    let shape = |dims, layered| Geometry { dims, layered };
    op.need(
        "geometry",
        &[
            ("1d", shape(1, false)),
            ("2d", shape(2, false)),
            ("3d", shape(3, false)),
            ("a1d", shape(1, true)),
            ("a2d", shape(2, true)),
        ],
    )
}

fn fetch<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    let gathers = op.root == "tld4";
    let gather = match gathers {
        true => Some(op.need("component", &[("r", 0), ("g", 1), ("b", 2), ("a", 3)])?),
        false => None,
    };
    // an image has a single level of detail, so all modifiers select that
    let details = op.choose(&[("base", 0), ("level", 1), ("grad", 2)]).unwrap_or(0);
    let geometry = geometry(op)?;
    if gathers && geometry.dims != 2 {
        return Err(Refusal::new(format!("`{}` gathers from two dimensions only", op.text), ""));
    }
    op.take("v4");
    let (ty, coord) = op.two_types()?;
    op.finish()?;
    let value = match ty {
        Type::Unsigned(32) | Type::Signed(32) | Type::F32 => ty.value(),
        _ => None,
    };
    let Some(value) = value else {
        let hint = "fetch .f32, .u32 or .s32 and convert";
        return Err(Refusal::new(format!("`{}`: results of this type are not simulated", op.text), hint));
    };
    let float = match coord {
        Type::F32 => true,
        Type::Signed(32) | Type::Unsigned(32) if !gathers => false,
        _ => return Err(Refusal::new(format!("`{}`: coordinates are .s32 or .f32", op.text), "")),
    };
    let [d, rest @ ..] = args else { return Err(wrong_count(op, args, "at least 2")) };
    // before PTX 1.5 there were no brackets
    let (texture, at, rest) = match rest {
        [Operand { kind: OperandKind::Image(texture, inner), span }, rest @ ..] => {
            let [at] = inner.as_slice() else {
                let hint = "compile for unified mode, where the texture has its sampler (no .samplerref)";
                return Err(Refusal::new("samplers of their own are not simulated", hint).at(*span));
            };
            (handle(cx, *texture, false)?, at, rest)
        }
        [Operand { kind: OperandKind::Name(name), .. }, at, rest @ ..] => {
            (handle(cx, AddressExpr { base: Some(*name), offset: 0 }, false)?, at, rest)
        }
        [other, ..] => return Err(no_image(other)),
        [] => return Err(wrong_count(op, args, "at least 2")),
    };
    let (layer, coords) = coordinates(cx, op, at, geometry, coord)?;
    if rest.len() != details {
        let hint = "offsets of coordinates and comparisons of depths are not simulated";
        return Err(Refusal::new(
            format!("`{}` has {} operands too many", op.text, rest.len().saturating_sub(details)),
            hint,
        ));
    }
    let mut detail = Vec::new();
    for operand in rest {
        let list = if details == 2 { usize::from(geometry.dims) } else { 1 };
        for part in vector(operand).iter().take(list) {
            let part = register(cx, part, coord)?;
            if !detail.contains(&part) {
                detail.push(part);
            }
        }
    }
    let mut dsts = [None; 4];
    for (dst, operand) in dsts.iter_mut().zip(elements(op, d, 4)?) {
        *dst = cx.maybe_destination(operand, ty, Fit::Exact)?;
    }
    let fetch =
        Fetch { texture, geometry, rows: false, coords, layer, float, ty: value, gather, detail, dsts };
    let memory = MemoryOp::Load(Area::Global);
    Ok(Lowered::access(Sem::Fetch(Box::new(fetch)), op.root, ty.kind(), memory))
}

fn surface<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    if !op.take("b") {
        let hint = "suld.b and sust.b move bytes as they are";
        return Err(Refusal::new(format!("`{}`: formatted surfaces are not simulated", op.text), hint));
    }
    op.ignore(&["ca", "cg", "cs", "cv", "wb", "wt"]);
    let geometry = geometry(op)?;
    let count = op.choose(&[("v2", 2), ("v4", 4)]).unwrap_or(1);
    let outside = [("trap", Outside::Trap), ("clamp", Outside::Clamp), ("zero", Outside::Zero)];
    let outside = op.choose(&outside).unwrap_or(Outside::Trap);
    let ty = op.ty()?;
    op.finish()?;
    let store = op.root == "sust";
    let (place, data) = match exactly(op, args)? {
        [place, data] if store => (place, data),
        [data, place] => (place, data),
    };
    let OperandKind::Image(surface, inner) = &place.kind else { return Err(no_image(place)) };
    let [at] = inner.as_slice() else { return Err(no_image(place)) };
    let surface = handle(cx, *surface, true)?;
    let (layer, coords) = coordinates(cx, op, at, geometry, Type::Signed(32))?;
    let list = elements(op, data, count)?;
    let data = if store {
        let mut srcs = Vec::with_capacity(count);
        for operand in list {
            srcs.push(cx.source(operand, ty, Fit::Wider)?);
        }
        SurfaceData::Store(srcs)
    } else {
        let mut dsts = Vec::with_capacity(count);
        for operand in list {
            dsts.push(cx.maybe_destination(operand, ty, Fit::Wider)?);
        }
        SurfaceData::Load(dsts)
    };
    let access = SurfaceAccess { surface, geometry, coords, layer, outside, bits: ty.bits(), data };
    let memory = if store { MemoryOp::Store(Area::Global) } else { MemoryOp::Load(Area::Global) };
    Ok(Lowered::access(Sem::Surface(Box::new(access)), op.root, ty.kind(), memory))
}

fn query<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    let surface = op.root == "suq";
    let level = op.take("level");
    let property = op.need(
        "property that is known here",
        &[
            ("width", ImageProperty::Extent(0)),
            ("height", ImageProperty::Extent(1)),
            ("depth", ImageProperty::Extent(2)),
            ("array_size", ImageProperty::Layers),
            ("channel_data_type", ImageProperty::ChannelType),
            ("channel_order", ImageProperty::ChannelOrder),
            ("normalized_coords", ImageProperty::Normalized),
            ("num_mipmap_levels", ImageProperty::One),
            ("num_samples", ImageProperty::One),
        ],
    )?;
    let ty = op.ty()?;
    op.finish()?;
    let (d, a, detail) = match args {
        [d, a] if !level => (d, a, Vec::new()),
        [d, a, detail] if level => (d, a, vec![register(cx, detail, Type::Signed(32))?]),
        _ => return Err(wrong_count(op, args, if level { "3" } else { "2" })),
    };
    let OperandKind::Address(image) = a.kind else { return Err(no_image(a)) };
    let image = handle(cx, image, surface)?;
    let dst = cx.dst(d, ty)?;
    let query = ImageQuery { image, surface, property, detail, dst };
    Ok(Lowered::new(Sem::ImageQuery(Box::new(query)), op.root, TypeKind::Int))
}

fn no_image(operand: &Operand) -> Refusal {
    Refusal::new("a texture or surface with coordinates is needed here", "write it as `[name, {x, y}]`")
        .at(operand.span)
}

fn vector(operand: &Operand) -> &[Operand] {
    match &operand.kind {
        OperandKind::Vector(list) => list,
        _ => std::slice::from_ref(operand),
    }
}

/// Returns a 32-bit register or constant.
fn register(cx: &mut Cx<'_, '_>, operand: &Operand, ty: Type) -> Res<Src> {
    match cx.src(operand, ty)? {
        Src::Special(_) => {
            let hint = "move it to a register first";
            Err(Refusal::new("special registers cannot be coordinates", hint).at(operand.span))
        }
        source => Ok(source),
    }
}

/// Returns the layer, if the shape is layered, and one coordinate per dimension; further elements
/// are padding.
fn coordinates(
    cx: &mut Cx<'_, '_>,
    op: &Opcode<'_>,
    at: &Operand,
    geometry: Geometry,
    ty: Type,
) -> Res<(Option<Src>, Vec<Src>)> {
    let list = vector(at);
    let needed = usize::from(geometry.dims) + usize::from(geometry.layered);
    if !(needed..=4).contains(&list.len()) {
        let message = format!("`{}` takes {needed} coordinates, {} given", op.text, list.len());
        return Err(Refusal::new(message, "").at(at.span));
    }
    let (layer, coords) = list[..needed].split_at(usize::from(geometry.layered));
    let layer = match layer.first() {
        Some(layer) => Some(register(cx, layer, Type::Bits(32))?),
        None => None,
    };
    let mut sources = Vec::with_capacity(coords.len());
    for coord in coords {
        sources.push(register(cx, coord, ty)?);
    }
    Ok((layer, sources))
}

/// Returns the handle of an image: a register, or a reference of the module.
fn handle(cx: &mut Cx<'_, '_>, address: AddressExpr, surface: bool) -> Res<Src> {
    let (Some(name), 0) = (address.base, address.offset) else {
        return Err(Refusal::new("an image is named by a reference or a register with its handle", ""));
    };
    let text = cx.text(name);
    if let Some((reg, kind)) = cx.reg(name)? {
        if kind != RegKind::Bits(64) {
            let message = format!("`{text}` cannot hold the handle of an image");
            return Err(Refusal::new(message, "handles have 64 bits").at(name));
        }
        return Ok(Src::Reg(reg));
    }
    let image_kind = if surface { "surface" } else { "texture" };
    let known = match cx.symbol(text) {
        Some(Symbol::Static(index)) => {
            let reference = cx.module.ast.vars[index as usize].ty == Type::Opaque;
            cx.module.statics.addresses[index as usize].filter(|_| reference)
        }
        Some(Symbol::KernelParam(..)) => {
            let hint = "load the handle to a register first: ld.param.u64";
            return Err(
                Refusal::new(format!("`{text}` is a parameter, not a {image_kind} reference"), hint).at(name)
            );
        }
        Some(_) => None,
        None => return Err(cx.unknown(name)),
    };
    let Some(handle) = known else {
        let hint =
            format!("declare it in this file: .global .{}ref {text};", if surface { "surf" } else { "tex" });
        return Err(
            Refusal::new(format!("`{text}` is no {image_kind} reference of this file"), hint).at(name)
        );
    };
    let reference = Reference { name: text.to_owned(), handle, surface };
    if !cx.program.references.contains(&reference) {
        cx.program.references.push(reference);
    }
    Ok(Src::Imm(handle))
}
