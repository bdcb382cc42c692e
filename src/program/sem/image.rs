//! Fetches from textures, accesses to surfaces, and questions about both.

use super::{Operand, ValueTy};
use crate::base::RegId;
use crate::program::image::Geometry;

/// `tex` and `tld4`: a fetch, which always gives four values of 32 bits.
#[derive(Clone, Debug, PartialEq)]
pub struct Fetch {
    /// Handle of the texture.
    pub texture: Operand,
    /// The shape that the instruction expects.
    pub geometry: Geometry,
    /// One per dimension, 32 bits.
    pub coords: Vec<Operand>,
    /// Which layer, if the shape has layers.
    pub layer: Option<Operand>,
    /// Whether the coordinates are `.f32`, not `.s32`.
    pub float: bool,
    /// What the instruction takes the values for; the bits come from the texture alone.
    pub ty: ValueTy,
    /// `tld4`: this channel of the four texels that a linear filter would mix.
    pub gather: Option<u8>,
    /// Read and without effect: an image has one level of detail.
    pub detail: Vec<Operand>,
    /// Destinations; `None` for `_`.
    pub dsts: [Option<RegId>; 4],
}

/// `suld.b` and `sust.b`: bytes of a surface as they are.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceAccess {
    /// Handle of the surface.
    pub surface: Operand,
    /// The shape that the instruction expects.
    pub geometry: Geometry,
    /// One per dimension, 32 bits, signed; the first counts bytes, not texels.
    pub coords: Vec<Operand>,
    /// Which layer, if the shape has layers.
    pub layer: Option<Operand>,
    /// What happens outside of the surface.
    pub outside: Outside,
    /// Of each element: 8, 16, 32 or 64.
    pub bits: u8,
    /// What is moved.
    pub data: SurfaceData,
}

/// What an access to a surface moves.
#[derive(Clone, Debug, PartialEq)]
pub enum SurfaceData {
    /// To these registers; `None` for `_`.
    Load(Vec<Option<RegId>>),
    /// These values.
    Store(Vec<Operand>),
}

/// What an access outside of a surface does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// It is an error of the kernel.
    Trap,
    /// It goes to the nearest place of the surface.
    Clamp,
    /// A load gives zero, a store does nothing.
    Zero,
}

/// `txq` and `suq`: a property of an image.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageQuery {
    /// Handle of the texture or surface.
    pub image: Operand,
    /// Whether it has to be a surface.
    pub surface: bool,
    /// What is asked.
    pub property: ImageProperty,
    /// Read and without effect: the level of detail.
    pub detail: Vec<Operand>,
    /// Gets the answer.
    pub dst: RegId,
}

/// What can be asked about an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageProperty {
    /// Texels along an axis, 0 for x; 0 beyond the dimensions.
    Extent(u8),
    /// Layers.
    Layers,
    /// Type of a channel, as OpenCL numbers them.
    ChannelType,
    /// Which channels there are, as OpenCL numbers it.
    ChannelOrder,
    /// Whether coordinates are normalised.
    Normalized,
    /// A constant: levels of detail and samples, of which there is one.
    One,
}

impl SurfaceAccess {
    /// Bytes that each lane accesses.
    pub fn size(&self) -> usize {
        let elements = match &self.data {
            SurfaceData::Load(dsts) => dsts.len(),
            SurfaceData::Store(srcs) => srcs.len(),
        };
        usize::from(self.bits / 8) * elements
    }

    /// Whether it is a store.
    pub fn is_store(&self) -> bool {
        matches!(self.data, SurfaceData::Store(_))
    }
}
