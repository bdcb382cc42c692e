//! Texture fetches, surface accesses, and queries of both.

use super::{Operand, ValueTy};
use crate::base::RegId;
use crate::program::image::Geometry;

/// `tex` and `tld4`: a texture fetch, which always returns four 32-bit values.
#[derive(Clone, Debug, PartialEq)]
pub struct Fetch {
    /// The handle of the texture.
    pub texture: Operand,
    /// The shape that the instruction expects.
    pub geometry: Geometry,
    /// Whether a one-dimensional texture counts as a two-dimensional one whose second coordinate has
    /// no effect, as it does in machine code.
    pub rows: bool,
    /// The 32-bit coordinates, one per dimension.
    pub coords: Vec<Operand>,
    /// The layer, if the shape is layered.
    pub layer: Option<Operand>,
    /// Whether the coordinates are `.f32` rather than `.s32`.
    pub float: bool,
    /// The type that the instruction gives the values; their bits depend only on the texture.
    pub ty: ValueTy,
    /// `tld4`: the channel that is read from the four texels that a linear filter would
    /// interpolate.
    pub gather: Option<u8>,
    /// Operands that are read without effect, since an image has a single level of detail.
    pub detail: Vec<Operand>,
    /// The destinations; `None` for `_`.
    pub dsts: [Option<RegId>; 4],
}

/// `suld.b` and `sust.b`: an access to the raw bytes of a surface.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceAccess {
    /// The handle of the surface.
    pub surface: Operand,
    /// The shape that the instruction expects.
    pub geometry: Geometry,
    /// The signed 32-bit coordinates, one per dimension; the first is in bytes rather than texels.
    pub coords: Vec<Operand>,
    /// The layer, if the shape is layered.
    pub layer: Option<Operand>,
    /// The effect of an access outside of the surface.
    pub outside: Outside,
    /// The width of each element: 8, 16, 32 or 64 bits.
    pub bits: u8,
    /// The registers or values.
    pub data: SurfaceData,
}

/// The registers or values of a surface access.
#[derive(Clone, Debug, PartialEq)]
pub enum SurfaceData {
    /// The destinations of a load; `None` for `_`.
    Load(Vec<Option<RegId>>),
    /// The values of a store.
    Store(Vec<Operand>),
}

/// The effect of an access outside of a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// An error of the kernel.
    Trap,
    /// An access to the nearest location of the surface.
    Clamp,
    /// A load returns zero, and a store has no effect.
    Zero,
}

/// `txq` and `suq`: a query of a property of an image.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageQuery {
    /// The handle of the texture or surface.
    pub image: Operand,
    /// Whether the image must be a surface.
    pub surface: bool,
    /// The property.
    pub property: ImageProperty,
    /// The level of detail, which is read without effect.
    pub detail: Vec<Operand>,
    /// The register that receives the property.
    pub dst: RegId,
}

/// A property of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageProperty {
    /// The number of texels along an axis (0 for x); 0 for axes that the image does not have.
    Extent(u8),
    /// The number of layers.
    Layers,
    /// The type of a channel in OpenCL's numbering.
    ChannelType,
    /// The set of channels in OpenCL's numbering.
    ChannelOrder,
    /// Whether coordinates are normalised.
    Normalized,
    /// The constant 1: the number of levels of detail, or of samples.
    One,
}

impl SurfaceAccess {
    /// Returns the number of bytes that each lane accesses.
    pub fn size(&self) -> usize {
        let elements = match &self.data {
            SurfaceData::Load(dsts) => dsts.len(),
            SurfaceData::Store(srcs) => srcs.len(),
        };
        usize::from(self.bits / 8) * elements
    }

    /// Returns whether it is a store.
    pub fn is_store(&self) -> bool {
        matches!(self.data, SurfaceData::Store(_))
    }
}
