//! The image queries `txq` and `suq`.

use super::super::context::Context;
use super::super::fault::Fault;
use super::super::warp::Warp;
use super::{Expected, find};
use warpbound_core::base::{LaneMask, Pc};
use warpbound_core::program::image::{Bound, Channel, Format, ReadMode, Sampler};
use warpbound_core::program::sem::{ImageProperty, ImageQuery};

/// Executes `txq` and `suq`.
///
/// # Errors
/// Returns an error for a handle that is not an image of the required kind.
pub(in super::super) fn query(
    warp: &mut Warp,
    context: &Context,
    pc: Pc,
    query: &ImageQuery,
    enabled: LaneMask,
) -> Result<(), Fault> {
    let handles = warp.operand(query.image, &context.shape);
    for lane in enabled.lanes() {
        let Bound { image, sampler, .. } = find(context, pc, handles[lane], query.surface, Expected::Any)?;
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

/// Returns the type of a channel, in OpenCL's numbering.
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
