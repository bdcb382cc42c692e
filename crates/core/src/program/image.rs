//! Textures and surfaces, and the layout of their texels in memory.
//!
//! An [`Image`] is a grid of texels in global memory, arranged in rows, slices and layers; there is
//! neither a separate texture memory nor a tiled layout. A kernel names an image by a 64-bit
//! handle. The handle of a texture or surface reference (`.texref`, `.surfref`) is the address of
//! its variable; that of a texture or surface object is a unique number at which no memory lies.

use serde::{Deserialize, Serialize};

use super::layout::HANDLES_BASE;

/// The maximum number of textures and surfaces of one launch or program.
pub const MAX_IMAGES: usize = 4096;
/// The difference between the handles of consecutive objects.
const HANDLE_STEP: u64 = 64;

/// Returns the handle of the texture or surface object with this number.
pub fn object_handle(number: usize) -> u64 {
    HANDLES_BASE + number as u64 * HANDLE_STEP
}

/// Returns the handle of the texture or surface reference with this number in a module of machine
/// code, where references have no address.
pub fn reference_handle(number: usize) -> u64 {
    object_handle(MAX_IMAGES + number)
}

/// An image that is bound to a handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The handle that instructions use.
    pub handle: u64,
    /// The name in the launch file.
    pub name: String,
    /// The texels.
    pub image: Image,
    /// How a texture is sampled; `None` for a surface.
    pub sampler: Option<Sampler>,
}

/// A grid of texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    /// The address of the first texel, a multiple of the texel's size.
    pub address: u64,
    /// The number of dimensions, and whether the image is layered.
    pub geometry: Geometry,
    /// The number of texels along x, y and z, at least 1; 1 for dimensions that the image does not
    /// have.
    pub extent: [u32; 3],
    /// The number of layers, at least 1; 1 if the image is not layered.
    pub layers: u32,
    /// The distance between rows in bytes, a multiple of the texel's size. Each slice or layer
    /// consists of `extent[1]` rows.
    pub pitch: u64,
    /// The format of a texel.
    pub format: Format,
}

/// The shape of an image without its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// The number of dimensions, 1 to 3.
    pub dims: u8,
    /// Whether the image is layered (`.a1d`, `.a2d`).
    pub layered: bool,
}

/// The format of a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// The type of a channel.
    pub elem: Channel,
    /// The number of channels: 1, 2 or 4.
    pub channels: u8,
}

/// The type of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "self-explanatory")]
pub enum Channel {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    F16,
    F32,
}

/// How a texture is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampler {
    /// The address mode of each dimension.
    pub address: [AddressMode; 3],
    /// The filter, which applies to floating-point coordinates.
    pub filter: Filter,
    /// Whether floating-point coordinates range from 0 to 1 over the image rather than from 0 to
    /// its extent.
    pub normalized: bool,
    /// How a fetch converts integers.
    pub read: ReadMode,
}

/// The texel that a floating-point coordinate outside of the image reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AddressMode {
    /// The nearest texel of the image.
    #[default]
    Clamp,
    /// Zero.
    Border,
    /// The image is repeated.
    Wrap,
    /// The image is repeated, mirrored every other time.
    Mirror,
}

/// The value of a fetch between texels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Filter {
    /// The texel that contains the coordinate.
    #[default]
    Point,
    /// An interpolation of the nearest texels.
    Linear,
}

/// How a fetch converts integers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReadMode {
    /// Integers stay integers.
    #[default]
    Element,
    /// Integers of 8 and 16 bits become numbers from 0 to 1 (unsigned) or -1 to 1 (signed).
    NormalizedFloat,
}

impl Channel {
    /// Returns the size in bytes.
    pub const fn size(self) -> u64 {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 | Self::F16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
        }
    }

    /// Returns whether a fetch returns a floating-point number.
    pub const fn gives_float(self, read: ReadMode) -> bool {
        match self {
            Self::F16 | Self::F32 => true,
            Self::U32 | Self::I32 => false,
            Self::U8 | Self::I8 | Self::U16 | Self::I16 => matches!(read, ReadMode::NormalizedFloat),
        }
    }
}

impl Format {
    /// Returns the size of a texel in bytes: a power of two from 1 to 16.
    pub const fn size(self) -> u64 {
        self.elem.size() * self.channels as u64
    }
}

impl Geometry {
    /// Returns the name in PTX without the dot.
    pub const fn name(self) -> &'static str {
        match (self.dims, self.layered) {
            (1, false) => "1d",
            (1, true) => "a1d",
            (2, false) => "2d",
            (2, true) => "a2d",
            _ => "3d",
        }
    }
}

impl Image {
    /// Returns the number of bytes of a row without padding.
    pub fn row_bytes(&self) -> u64 {
        u64::from(self.extent[0]) * self.format.size()
    }

    /// Returns the number of bytes from the first texel to the end of the last one.
    pub fn bytes(&self) -> u64 {
        let [_, y, z] = self.extent.map(u64::from);
        (y * z * u64::from(self.layers) - 1) * self.pitch + self.row_bytes()
    }

    /// Returns the address of byte `x_bytes` of a row. All coordinates must be inside of the image.
    pub fn address_of(&self, x_bytes: u64, [y, z]: [u32; 2], layer: u32) -> u64 {
        let slice = u64::from(layer) * u64::from(self.extent[2]) + u64::from(z);
        let row = slice * u64::from(self.extent[1]) + u64::from(y);
        self.address + row * self.pitch + x_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texels_lie_in_rows_slices_and_layers() {
        let mut image = Image {
            address: 1024,
            geometry: Geometry { dims: 3, layered: false },
            extent: [5, 3, 2],
            layers: 1,
            pitch: 32,
            format: Format { elem: Channel::I16, channels: 2 },
        };
        assert_eq!((image.format.size(), image.row_bytes(), image.bytes()), (4, 20, 5 * 32 + 20));
        assert_eq!(image.address_of(16, [2, 1], 0), 1024 + (3 + 2) * 32 + 16);
        image.geometry = Geometry { dims: 1, layered: true };
        (image.extent, image.layers) = ([5, 1, 1], 4);
        assert_eq!(image.address_of(4, [0, 0], 3), 1024 + 3 * 32 + 4);
        assert_eq!(image.bytes(), 3 * 32 + 20);
    }
}
