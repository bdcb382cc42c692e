//! Textures and surfaces: what kernels fetch through, and where the texels lie.
//!
//! An [`Image`] is a grid of texels in global memory, in rows, slices and layers: there is no
//! separate memory for textures and no tiled layout. A kernel names an image by a handle, a number
//! of 64 bits: of a texture or surface reference of its module (`.texref`, `.surfref`) that is the
//! address of the variable, of a texture or surface object a number that nothing else has.

use serde::{Deserialize, Serialize};

use super::layout::HANDLES_BASE;

/// Textures and surfaces of one launch or program.
pub const MAX_IMAGES: usize = 4096;
/// Distance of the handles of objects.
const HANDLE_STEP: u64 = 64;

/// The handle of a texture or surface object, by its number.
pub fn object_handle(number: usize) -> u64 {
    HANDLES_BASE + number as u64 * HANDLE_STEP
}

/// An image with the handle that kernels know it by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// What instructions name.
    pub handle: u64,
    /// What the launch calls it.
    pub name: String,
    /// The texels.
    pub image: Image,
    /// How a texture is read; nothing for a surface.
    pub sampler: Option<Sampler>,
}

/// A grid of texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    /// The first texel, a multiple of the size of a texel.
    pub address: u64,
    /// Dimensions, and whether there are layers.
    pub geometry: Geometry,
    /// Texels along x, y, z, at least 1; 1 beyond the dimensions.
    pub extent: [u32; 3],
    /// At least 1; 1 without layers.
    pub layers: u32,
    /// Bytes from row to row, a multiple of the size of a texel; slices and layers are as many rows
    /// as y says.
    pub pitch: u64,
    /// What a texel is.
    pub format: Format,
}

/// The shape of an image, without its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// 1 to 3.
    pub dims: u8,
    /// Whether there are layers (`.a1d`, `.a2d`).
    pub layered: bool,
}

/// What a texel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Type of a channel.
    pub elem: Channel,
    /// 1, 2 or 4.
    pub channels: u8,
}

/// Type of a channel.
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

/// How a texture is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampler {
    /// Per dimension.
    pub address: [AddressMode; 3],
    /// For floating-point coordinates.
    pub filter: Filter,
    /// Floating-point coordinates run from 0 to 1 over the image, not from 0 to its extent.
    pub normalized: bool,
    /// What a fetch makes of integers.
    pub read: ReadMode,
}

/// What floating-point coordinates outside of the image mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AddressMode {
    /// The nearest texel of the image.
    #[default]
    Clamp,
    /// Zero.
    Border,
    /// The image over and over.
    Wrap,
    /// The image over and over, every other time backwards.
    Mirror,
}

/// What a fetch between texels gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Filter {
    /// The texel that the coordinate lies in.
    #[default]
    Point,
    /// A mixture of the nearest texels.
    Linear,
}

/// What a fetch makes of integers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReadMode {
    /// Integers.
    #[default]
    Element,
    /// Of 8 and 16 bits: numbers from 0 to 1, signed ones from -1 to 1.
    NormalizedFloat,
}

impl Channel {
    /// Bytes.
    pub const fn size(self) -> u64 {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 | Self::F16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
        }
    }

    /// Whether a fetch gives a floating-point number.
    pub const fn gives_float(self, read: ReadMode) -> bool {
        match self {
            Self::F16 | Self::F32 => true,
            Self::U32 | Self::I32 => false,
            Self::U8 | Self::I8 | Self::U16 | Self::I16 => matches!(read, ReadMode::NormalizedFloat),
        }
    }
}

impl Format {
    /// Bytes of a texel, 1 to 16, a power of two.
    pub const fn size(self) -> u64 {
        self.elem.size() * self.channels as u64
    }
}

impl Geometry {
    /// As PTX writes it, without the dot.
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
    /// Bytes of a row without what pads it.
    pub fn row_bytes(&self) -> u64 {
        u64::from(self.extent[0]) * self.format.size()
    }

    /// Bytes from the first texel to the end of the last one.
    pub fn bytes(&self) -> u64 {
        let [_, y, z] = self.extent.map(u64::from);
        (y * z * u64::from(self.layers) - 1) * self.pitch + self.row_bytes()
    }

    /// Where byte `x` of a row lies; all coordinates are inside of the image.
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
