//! Fetches from textures and accesses to surfaces.
//!
//! Texels lie in global memory, and every texel that a lane reads or writes is an access to global
//! memory: it counts for coalescing and for races as a load or store there does. (On devices whose
//! texture cache is the unified L1 a fetch is a load with another way to find its addresses.)
//!
//! Filtering takes the weights of `sample` along each axis, multiplies them, and adds the texels by
//! weight in double precision, the lowest x, y and z first; the sum is divided by 256 for each axis
//! and rounded once, to single precision. A texel outside in border mode counts as zero; a NaN texel
//! makes a NaN whatever its weight. How the hardware rounds in between is not documented.
//!
//! Choices where the CUDA C++ Programming Guide says nothing: integer coordinates outside of the
//! image give zero whatever the address mode (which is what `tex1Dfetch` is described to do); a layer
//! beyond the last one is the last one (its number is unsigned); `tld4` gives the channel of the texels
//! (i, j+1), (i+1, j+1), (i+1, j), (i, j).

mod sample;
mod texel;

use super::arith::single;
use super::fault::{self, Fault};
use super::lanes::{sign_extend, width_mask};
use super::races::{By, Deed};
use super::step::Context;
use super::warp::Warp;
use crate::base::{LaneMask, Pc, WARP_SIZE};
use crate::isa::Space;
use crate::path::MemoryUse;
use crate::program::image::{Bound, Channel, Filter, Format, Geometry, Image, ReadMode, Sampler};
use crate::program::sem::{
    Fetch, ImageProperty, ImageQuery, Operand, Outside, SurfaceAccess, SurfaceData,
};
use sample::{PARTS, Pair};


/// Texels that a fetch reads at most: two along each axis.
const MOST_TEXELS: usize = 8;
/// Bytes of an access to a surface at most.
const MAX_ACCESS: usize = 32;

const USED: MemoryUse = MemoryUse { space: Space::Global, transactions: 0 };

/// A texel to read, by its address, and its weight in a sum.
type Tap = (Option<u64>, u32);

/// What a fetch does in one lane.
struct Plan {
    taps: [Tap; MOST_TEXELS],
    count: usize,
    format: Format,
    read: ReadMode,
    /// The sum of all weights if texels are mixed; else the first one counts alone.
    whole: Option<f64>,
}

/// `tex` and `tld4`; the lines they touch are recorded.
///
/// # Errors
/// A handle that is no texture of this shape.
pub(super) fn fetch(
    warp: &mut Warp,
    context: &mut Context,
    pc: Pc,
    fetch: &Fetch,
    enabled: LaneMask,
) -> Result<MemoryUse, Fault> {
    let handles = warp.operand(fetch.texture, &context.shape);
    let layers = fetch.layer.map(|layer| warp.operand(layer, &context.shape));
    let mut coords = [[0; WARP_SIZE]; 3];
    for (row, &coord) in coords.iter_mut().zip(&fetch.coords) {
        *row = warp.operand(coord, &context.shape);
    }
    let mut addresses = [[None; MOST_TEXELS]; WARP_SIZE];
    let mut size = 0;
    for lane in enabled.lanes() {
        let bound = find(context, pc, handles[lane], false, Some(fetch.geometry))?;
        let Some(sampler) = &bound.sampler else { continue };
        let layer = layers.map_or(0, |layers| (layers[lane] as u32).min(bound.image.layers - 1));
        let at = coords.map(|row| row[lane] as u32);
        let plan = plan(fetch, &bound.image, sampler, at, layer);
        size = plan.format.size() as usize;
        let mut texels = [[0; 4]; MOST_TEXELS];
        for (index, &(address, _)) in plan.taps[..plan.count].iter().enumerate() {
            let Some(address) = address else { continue };
            match context.memory.bytes(Space::Global, warp.thread(lane), address, size) {
                Ok(bytes) => texels[index] = texel::values(bytes, plan.format, plan.read),
                Err(denied) => {
                    let access = at_texel("texture fetch", address, size, lane);
                    let (program, memory) = (context.program, &context.memory);
                    return Err(access.fault(denied, program, pc, memory, warp, &context.shape));
                }
            }
            if let Some(watch) = &mut context.watch {
                watch.access(By { warp: warp.id, pc }, Space::Global, address, size as u64, Deed::Reads);
            }
            addresses[lane][index] = Some(address);
        }
        let values = match (fetch.gather, plan.whole) {
            (Some(channel), _) => std::array::from_fn(|texel| texels[texel][usize::from(channel & 3)]),
            (None, Some(whole)) => mixed(&plan.taps[..plan.count], &texels, whole),
            (None, None) => texels[0],
        };
        for (dst, value) in fetch.dsts.iter().zip(values) {
            if let Some(dst) = dst {
                warp.set_in(*dst, lane, value.into());
            }
        }
    }
    let touched = enabled.lanes().flat_map(|lane| addresses[lane].into_iter().flatten());
    record(context, pc, touched, size);
    Ok(USED)
}

/// Which texels a lane reads.
fn plan(fetch: &Fetch, image: &Image, sampler: &Sampler, at: [u32; 3], layer: u32) -> Plan {
    let size = image.format.size();
    let place = |[x, y, z]: [Option<u32>; 3]| {
        Some(image.address_of(u64::from(x?) * size, [y?, z?], layer))
    };
    let mut plan = Plan {
        taps: [(None, 0); MOST_TEXELS],
        count: 1,
        format: image.format,
        read: sampler.read,
        whole: None,
    };
    let dims = usize::from(image.geometry.dims);
    let axis = |axis: usize, along: &dyn Fn(usize) -> Option<u32>| if axis < dims { along(axis) } else { Some(0) };
    let each = |along: &dyn Fn(usize) -> Option<u32>| [axis(0, along), axis(1, along), axis(2, along)];
    if !fetch.float {
        let inside = |axis: usize| (at[axis] < image.extent[axis] && at[axis] as i32 >= 0).then_some(at[axis]);
        plan.taps[0].0 = place(each(&inside));
    } else if sampler.filter == Filter::Point && fetch.gather.is_none() {
        let point = |axis: usize| sample::point(f32::from_bits(at[axis]), image.extent[axis], sampler, axis);
        plan.taps[0].0 = place(each(&point));
    } else {
        let pairs: [Pair; 3] = std::array::from_fn(|axis| match axis < dims {
            true => sample::linear(f32::from_bits(at[axis]), image.extent[axis], sampler, axis),
            false => Pair { texels: [Some(0); 2], weight: 0 },
        });
        if fetch.gather.is_some() {
            for (tap, [x, y]) in plan.taps.iter_mut().zip([[0, 1], [1, 1], [1, 0], [0, 0]]) {
                tap.0 = place([pairs[0].texels[x], pairs[1].texels[y], Some(0)]);
            }
            plan.count = 4;
            return plan;
        }
        plan.count = 1 << dims;
        plan.whole = Some(f64::from(PARTS).powi(dims as i32));
        for (corner, tap) in plan.taps[..1 << dims].iter_mut().enumerate() {
            let upper: [usize; 3] = std::array::from_fn(|axis| corner >> axis & 1);
            let weight = |axis: usize| match upper[axis] {
                1 => pairs[axis].weight,
                _ => PARTS - pairs[axis].weight,
            };
            tap.0 = place(std::array::from_fn(|axis| pairs[axis].texels[upper[axis]]));
            tap.1 = (0..dims).map(weight).product();
        }
    }
    plan
}

/// The sum of texels by weight.
fn mixed(taps: &[Tap], texels: &[[u32; 4]; MOST_TEXELS], whole: f64) -> [u32; 4] {
    std::array::from_fn(|channel| {
        let sum = taps.iter().zip(texels).fold(0.0, |sum, (&(_, weight), texel)| {
            sum + f64::from(weight) * f64::from(f32::from_bits(texel[channel]))
        });
        single::leave::<false>((sum / whole) as f32)
    })
}

/// `suld.b` and `sust.b`; the lines they touch are recorded.
///
/// # Errors
/// A handle that is no surface of this shape, an access outside of it that is to trap, or one that
/// is not aligned.
pub(super) fn surface(
    warp: &mut Warp,
    context: &mut Context,
    pc: Pc,
    access: &SurfaceAccess,
    enabled: LaneMask,
) -> Result<MemoryUse, Fault> {
    let size = access.size();
    let verb = if access.is_store() { "surface store" } else { "surface load" };
    let mut places = [None; WARP_SIZE];
    for lane in enabled.lanes() {
        let of = |operand: Operand| warp.operand_in(operand, &context.shape, lane);
        let bound = find(context, pc, of(access.surface), true, Some(access.geometry))?;
        let mut at = [0; 3];
        for (at, &coord) in at.iter_mut().zip(&access.coords) {
            *at = sign_extend(of(coord) & width_mask(32), 32);
        }
        let layer = access.layer.map_or(0, |layer| of(layer) & width_mask(32));
        match placed(&bound.image, at, layer, size, access.outside) {
            Ok(place) => places[lane] = place,
            Err(()) => {
                let [x, y, z] = at;
                let Image { extent, geometry, layers, .. } = bound.image;
                let message = format!(
                    "{verb} of {size} bytes outside of surface `{}`: byte {x} of row {y}, slice {z}, layer {layer} \
                     (lane {lane} of warp {}); it is a .{} of {} bytes by {} by {}, layers: {layers}",
                    bound.name,
                    warp.id,
                    geometry.name(),
                    bound.image.row_bytes(),
                    extent[1],
                    extent[2],
                );
                let hint = "the first coordinate of a surface counts bytes; .clamp and .zero do not trap";
                return Err(fault::at(context.program, pc, message, hint));
            }
        }
    }
    let all = || enabled.lanes().filter_map(|lane| Some((lane, places[lane]?)));
    let element = usize::from(access.bits / 8);
    let denied = |denied, lane, address, warp: &Warp, context: &Context| {
        let access = at_texel(verb, address, size, lane);
        access.fault(denied, context.program, pc, &context.memory, warp, &context.shape)
    };
    match &access.data {
        SurfaceData::Load(dsts) => {
            for lane in enabled.lanes() {
                let mut bytes = [0; MAX_ACCESS];
                if let Some(address) = places[lane] {
                    match context.memory.read(Space::Global, warp.thread(lane), address, size) {
                        Ok(found) => bytes[..size].copy_from_slice(found),
                        Err(wrong) => return Err(denied(wrong, lane, address, warp, context)),
                    }
                    if let Some(watch) = &mut context.watch {
                        let by = By { warp: warp.id, pc };
                        watch.access(by, Space::Global, address, size as u64, Deed::Reads);
                    }
                }
                for (dst, bytes) in dsts.iter().zip(bytes.chunks(element)) {
                    if let Some(dst) = dst {
                        let value = bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
                        warp.set_in(*dst, lane, value);
                    }
                }
            }
        }
        SurfaceData::Store(srcs) => {
            let mut written = [[0; MAX_ACCESS]; WARP_SIZE];
            let mut unchanged = LaneMask::empty();
            for (lane, address) in all() {
                for (src, bytes) in srcs.iter().zip(written[lane].chunks_mut(element)) {
                    let value = warp.operand_in(*src, &context.shape, lane);
                    bytes.copy_from_slice(&value.to_le_bytes()[..element]);
                }
                match context.memory.write(Space::Global, warp.thread(lane), address, size) {
                    Ok(old) if *old == written[lane][..size] => unchanged |= LaneMask::lane(lane),
                    Ok(_) => {}
                    Err(wrong) => return Err(denied(wrong, lane, address, warp, context)),
                }
            }
            for (lanes, deed) in [(enabled - unchanged, Deed::Writes), (unchanged, Deed::Rewrites)] {
                for (_, address) in all().filter(|(lane, _)| lanes.has(*lane)) {
                    if let Some(watch) = &mut context.watch {
                        let by = By { warp: warp.id, pc };
                        watch.access(by, Space::Global, address, size as u64, deed);
                    }
                }
            }
            for (lane, address) in all() {
                if let Ok(place) = context.memory.write(Space::Global, warp.thread(lane), address, size) {
                    place.copy_from_slice(&written[lane][..size]);
                }
            }
        }
    }
    record(context, pc, all().map(|(_, address)| address), size);
    Ok(USED)
}

/// Where an access to a surface goes; nowhere if it does nothing.
///
/// # Errors
/// It has to trap.
fn placed(image: &Image, at: [i64; 3], layer: u64, size: usize, outside: Outside) -> Result<Option<u64>, ()> {
    let last = [
        i64::try_from(image.row_bytes()).unwrap_or(i64::MAX) - size as i64,
        i64::from(image.extent[1]) - 1,
        i64::from(image.extent[2]) - 1,
    ];
    let fits = at.iter().zip(&last).all(|(at, last)| (0..=*last).contains(at));
    let inside = fits && layer < image.layers.into();
    match outside {
        _ if inside => {}
        Outside::Zero => return Ok(None),
        // nothing of this size is near
        Outside::Clamp if last[0] >= 0 => {}
        Outside::Clamp | Outside::Trap => return Err(()),
    }
    let [x, y, z]: [i64; 3] = std::array::from_fn(|axis| at[axis].clamp(0, last[axis]));
    let layer = layer.min(u64::from(image.layers - 1)) as u32;
    Ok(Some(image.address_of(x as u64, [y as u32, z as u32], layer)))
}

/// `txq` and `suq`.
///
/// # Errors
/// A handle that is nothing of the kind.
pub(super) fn query(
    warp: &mut Warp,
    context: &Context,
    pc: Pc,
    query: &ImageQuery,
    enabled: LaneMask,
) -> Result<(), Fault> {
    let handles = warp.operand(query.image, &context.shape);
    for lane in enabled.lanes() {
        let Bound { image, sampler, .. } = find(context, pc, handles[lane], query.surface, None)?;
        let answer = match query.property {
            ImageProperty::Extent(axis) if axis < image.geometry.dims => image.extent[usize::from(axis)],
            ImageProperty::Extent(_) => 0,
            ImageProperty::Layers if image.geometry.layered => image.layers,
            ImageProperty::Layers => 0,
            ImageProperty::ChannelType => channel_type(image.format, sampler.as_ref()),
            ImageProperty::ChannelOrder => match image.format.channels {
                1 => 0x10b0,
                2 => 0x10b2,
                _ => 0x10b5,
            },
            ImageProperty::Normalized => sampler.is_some_and(|sampler| sampler.normalized).into(),
            ImageProperty::One => 1,
        };
        warp.set_in(query.dst, lane, answer.into());
    }
    Ok(())
}

/// As OpenCL numbers the types of channels.
fn channel_type(format: Format, sampler: Option<&Sampler>) -> u32 {
    let normalized = sampler.is_some_and(|sampler| sampler.read == ReadMode::NormalizedFloat);
    match (format.elem, normalized) {
        (Channel::I8, true) => 0x10d0,
        (Channel::I16, true) => 0x10d1,
        (Channel::U8, true) => 0x10d2,
        (Channel::U16, true) => 0x10d3,
        (Channel::I8, false) => 0x10d7,
        (Channel::I16, false) => 0x10d8,
        (Channel::I32, _) => 0x10d9,
        (Channel::U8, false) => 0x10da,
        (Channel::U16, false) => 0x10db,
        (Channel::U32, _) => 0x10dc,
        (Channel::F16, _) => 0x10dd,
        (Channel::F32, _) => 0x10de,
    }
}

/// What a handle stands for.
fn find<'a>(
    context: &Context<'a>,
    pc: Pc,
    handle: u64,
    surface: bool,
    geometry: Option<Geometry>,
) -> Result<&'a Bound, Fault> {
    let what = |surface| if surface { "surface" } else { "texture" };
    let program = context.program;
    let Some(bound) = context.images.iter().find(|bound| bound.handle == handle) else {
        let named = program.references.iter().find(|reference| reference.handle == handle);
        let message = match named {
            Some(reference) => format!("nothing is bound to the reference `{}`", reference.name),
            None => format!("{handle:#x} is the handle of no {}", what(surface)),
        };
        let hint = if surface {
            "define it in the launch's `surfaces`; an argument gets its handle as Surface(\"its name\")"
        } else {
            "define it in the launch's `textures`; an argument gets its handle as Texture(\"its name\")"
        };
        return Err(fault::at(program, pc, message, hint));
    };
    if bound.sampler.is_none() != surface {
        let message =
            format!("`{}` is a {}, a {} is needed here", bound.name, what(!surface), what(surface));
        return Err(fault::at(program, pc, message, ""));
    }
    match geometry {
        Some(wanted) if wanted != bound.image.geometry => {
            let (is, wanted) = (bound.image.geometry.name(), wanted.name());
            let message =
                format!("`{}` is a .{is} {}, the instruction accesses .{wanted}", bound.name, what(surface));
            let hint = "`height`, `depth` and `layers` say how many dimensions there are";
            Err(fault::at(program, pc, message, hint))
        }
        _ => Ok(bound),
    }
}

fn at_texel(verb: &'static str, address: u64, size: usize, lane: usize) -> fault::Access {
    fault::Access { verb, space: Space::Global, address, size, generic: false, lane }
}

/// Records the lines of accesses.
fn record(context: &mut Context, pc: Pc, addresses: impl Iterator<Item = u64>, size: usize) {
    let Context { record, memory, .. } = context;
    if let Some(mut group) = record.collect(pc, Space::Global) {
        for address in addresses {
            group.global(memory, address, size, false);
        }
        group.finish();
    }
}
