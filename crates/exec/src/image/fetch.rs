//! The texture fetches `tex` and `tld4`.

use super::super::arith::single;
use super::super::context::Context;
use super::super::fault::Fault;
use super::super::races::{AccessEffect, Accessor};
use super::super::warp::Warp;
use super::sample::{self, PARTS, Pair};
use super::{Expected, USED, find, no_texel, record, texel};
use warpbound_core::base::{LaneMask, Pc, WARP_SIZE};
use warpbound_core::isa::Space;
use warpbound_core::path::MemoryUse;
use warpbound_core::program::image::{Filter, Image, Sampler};
use warpbound_core::program::sem::Fetch;

/// The largest number of texels that a fetch reads: two along each axis.
const MAX_TEXELS: usize = 8;

/// A texel to read, given by its address, and its weight in a sum; `None` stands for zero.
type Tap = (Option<u64>, u32);

/// The actions of a fetch in one lane.
struct Plan {
    taps: [Tap; MAX_TEXELS],
    count: usize,
    /// The sum of all weights if texels are mixed; `None` if each is a separate result.
    total_weight: Option<f64>,
}

/// Executes `tex` and `tld4`, and records the lines that they touch.
///
/// # Errors
/// Returns an error for a handle that is not a texture of this shape.
pub(in super::super) fn fetch(
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
    let shape = fetch.geometry;
    let expected = if fetch.rows { Expected::Rows(shape) } else { Expected::Exactly(shape) };
    let mut addresses = [[None; MAX_TEXELS]; WARP_SIZE];
    let mut size = 0;
    for lane in enabled.lanes() {
        let bound = find(context, pc, handles[lane], false, expected)?;
        let Some(sampler) = &bound.sampler else { continue };
        let layer = layers.map_or(0, |layers| (layers[lane] as u32).min(bound.image.layers - 1));
        let at = coords.map(|row| row[lane] as u32);
        let plan = Plan::new(fetch, &bound.image, sampler, at, layer);
        size = bound.image.format.size() as usize;
        let mut texels = [[0; 4]; MAX_TEXELS];
        for (index, &(address, _)) in plan.taps[..plan.count].iter().enumerate() {
            let Some(address) = address else { continue };
            match context.memory.bytes(Space::Global, warp.thread(lane), address, size) {
                Ok(bytes) => texels[index] = texel::values(bytes, bound.image.format, sampler.read),
                Err(denied) => {
                    let attempt = ("texture fetch", address, size, lane);
                    return Err(no_texel(denied, attempt, pc, warp, context));
                }
            }
            if let Some(detector) = &mut context.detector {
                detector.access(
                    Accessor { warp: warp.id, pc },
                    Space::Global,
                    address,
                    size as u64,
                    AccessEffect::Reads,
                );
            }
            addresses[lane][index] = Some(address);
        }
        let values = match (fetch.gather, plan.total_weight) {
            (Some(channel), _) => std::array::from_fn(|texel| texels[texel][usize::from(channel & 3)]),
            (None, Some(total_weight)) => mixed(&plan.taps[..plan.count], &texels, total_weight),
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

impl Plan {
    fn new(fetch: &Fetch, image: &Image, sampler: &Sampler, at: [u32; 3], layer: u32) -> Self {
        let size = image.format.size();
        let dims = usize::from(image.geometry.dims);
        let place =
            |[x, y, z]: [Option<u32>; 3]| Some(image.address_of(u64::from(x?) * size, [y?, z?], layer));
        // beyond the dimensions there is one texel
        let axes = |texel: &dyn Fn(usize) -> Option<u32>| {
            std::array::from_fn(|axis| if axis < dims { texel(axis) } else { Some(0) })
        };
        let x = |axis: usize| f32::from_bits(at[axis]);
        let mut plan = Self { taps: [(None, 0); MAX_TEXELS], count: 1, total_weight: None };
        if !fetch.float {
            // negative coordinates are beyond every extent
            plan.taps[0].0 = place(axes(&|axis| (at[axis] < image.extent[axis]).then_some(at[axis])));
            return plan;
        }
        if sampler.filter == Filter::Point && fetch.gather.is_none() {
            plan.taps[0].0 = place(axes(&|axis| sample::point(x(axis), image.extent[axis], sampler, axis)));
            return plan;
        }
        let pairs: [Pair; 3] = std::array::from_fn(|axis| {
            if axis < dims {
                sample::linear(x(axis), image.extent[axis], sampler, axis)
            } else {
                Pair { texels: [Some(0); 2], weight: 0 }
            }
        });
        if fetch.gather.is_some() {
            for (tap, [x, y]) in plan.taps.iter_mut().zip([[0, 1], [1, 1], [1, 0], [0, 0]]) {
                tap.0 = place([pairs[0].texels[x], pairs[1].texels[y], Some(0)]);
            }
            plan.count = 4;
            return plan;
        }
        plan.count = 1 << dims;
        plan.total_weight = Some(f64::from(PARTS).powi(dims as i32));
        for (corner, tap) in plan.taps[..plan.count].iter_mut().enumerate() {
            let upper: [usize; 3] = std::array::from_fn(|axis| corner >> axis & 1);
            let weight = |axis: usize| {
                let weight = pairs[axis].weight;
                if upper[axis] == 1 { weight } else { PARTS - weight }
            };
            *tap = (
                place(std::array::from_fn(|axis| pairs[axis].texels[upper[axis]])),
                (0..dims).map(weight).product(),
            );
        }
        plan
    }
}

/// Returns the weighted sum of texels.
fn mixed(taps: &[Tap], texels: &[[u32; 4]; MAX_TEXELS], total_weight: f64) -> [u32; 4] {
    std::array::from_fn(|channel| {
        let sum = taps.iter().zip(texels).fold(0.0, |sum, (&(_, weight), texel)| {
            sum + f64::from(weight) * f64::from(f32::from_bits(texel[channel]))
        });
        single::bits_of::<false>((sum / total_weight) as f32)
    })
}
