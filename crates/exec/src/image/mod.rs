//! Fetches from textures and accesses to surfaces.
//!
//! Texels lie in global memory, and every texel that a lane reads or writes is an access to global
//! memory: it counts for coalescing and for race detection like a load or store there. (On devices
//! whose texture cache is the unified L1, a fetch is a load that computes its addresses in another
//! way.)
//!
//! Filtering computes the weights of `sample` along each axis, multiplies them, and adds the
//! weighted texels in double precision, the lowest x, y and z first. The sum is divided by 256 for
//! each axis and rounded once, to single precision. A texel outside in border mode counts as zero;
//! a NaN texel makes the result a NaN, whatever its weight. How the hardware rounds intermediate
//! results is not documented.
//!
//! The following choices are not specified by the CUDA C++ Programming Guide. Integer coordinates
//! outside of the image give zero whatever the address mode (which is the described behaviour of
//! `tex1Dfetch`). A layer beyond the last one is the last one (its number is unsigned). `tld4`
//! gives the channel of the texels (i, j+1), (i+1, j+1), (i+1, j), (i, j).

mod fetch;
mod query;
mod sample;
mod surface;
mod texel;

pub(super) use fetch::fetch;
pub(super) use query::query;
pub(super) use surface::surface;

use super::context::Context;
use super::fault::{self, Fault};
use super::memory::Denied;
use super::warp::Warp;
use warpbound_core::base::Pc;
use warpbound_core::isa::Space;
use warpbound_core::path::MemoryUse;
use warpbound_core::program::image::{Bound, Geometry};

/// The memory use of an access to an image; its lines are recorded separately.
const USED: MemoryUse = MemoryUse { space: Space::Global, extra_transactions: 0 };

/// The shape that an instruction expects of an image.
#[derive(Clone, Copy)]
enum Expected {
    /// Any shape.
    Any,
    /// This one.
    Exactly(Geometry),
    /// This one, or that of a texture with a single row if this one has two dimensions.
    Rows(Geometry),
}

impl Expected {
    /// Returns the expected shape if an image has another one.
    fn missed(self, found: Geometry) -> Option<Geometry> {
        let one_row = Geometry { dims: 1, layered: false };
        match self {
            Self::Exactly(wanted) if wanted != found => Some(wanted),
            Self::Rows(wanted) if wanted != found && found != one_row => Some(wanted),
            Self::Any | Self::Exactly(_) | Self::Rows(_) => None,
        }
    }
}

/// Returns the image to which a handle is bound.
fn find<'a>(
    context: &Context<'a>,
    pc: Pc,
    handle: u64,
    surface: bool,
    expected: Expected,
) -> Result<&'a Bound, Fault> {
    let image_kind = |surface| if surface { "surface" } else { "texture" };
    let program = context.program;
    let Some(bound) = context.images.iter().find(|bound| bound.handle == handle) else {
        let named = program.references.iter().find(|reference| reference.handle == handle);
        let message = match named {
            Some(reference) => format!("nothing is bound to the reference `{}`", reference.name),
            None => format!("{handle:#x} is the handle of no {}", image_kind(surface)),
        };
        let hint = if surface {
            "define it in the launch's `surfaces`; an argument gets its handle as Surface(\"its name\")"
        } else {
            "define it in the launch's `textures`; an argument gets its handle as Texture(\"its name\")"
        };
        return Err(fault::at(program, pc, message, hint));
    };
    if bound.sampler.is_none() != surface {
        let message = format!(
            "`{}` is a {}, a {} is needed here",
            bound.name,
            image_kind(!surface),
            image_kind(surface)
        );
        return Err(fault::at(program, pc, message, ""));
    }
    match expected.missed(bound.image.geometry) {
        Some(wanted) => {
            let (is, wanted) = (bound.image.geometry.name(), wanted.name());
            let message = format!(
                "`{}` is a .{is} {}, the instruction accesses .{wanted}",
                bound.name,
                image_kind(surface)
            );
            let hint = "`height`, `depth` and `layers` say how many dimensions there are";
            Err(fault::at(program, pc, message, hint))
        }
        None => Ok(bound),
    }
}

/// Returns the fault for a texel that cannot be accessed: the attempted operation, its address and
/// size, and the lane.
#[cold]
fn no_texel(
    denied: Denied,
    (verb, address, size, lane): (&'static str, u64, usize, usize),
    pc: Pc,
    warp: &Warp,
    context: &Context,
) -> Fault {
    let access = fault::Access { verb, space: Space::Global, address, size, generic: false, lane };
    access.fault(denied, context.program, pc, &context.memory, warp, &context.shape)
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
