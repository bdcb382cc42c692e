//! Textures and surfaces in launch files.

use serde::{Deserialize, Serialize};

use crate::program::expr::Expr;
use crate::program::image::{AddressMode, Channel, Filter, ReadMode};

/// A texture: a buffer, the layout of its texels, and how they are sampled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "Texture", deny_unknown_fields)]
pub struct TextureSpec {
    /// The name of a texture reference of the module, or the name that [`super::ArgSpec::Texture`]
    /// uses.
    pub name: String,
    /// The buffer or module variable that holds the texels.
    pub buffer: String,
    /// The offset of the first texel in bytes.
    #[serde(default)]
    pub offset: Expr,
    /// The type of a channel.
    pub elem: Channel,
    /// The number of channels of a texel: 1, 2 or 4.
    #[serde(default = "one")]
    pub channels: u8,
    /// The number of texels in a row.
    pub width: Expr,
    /// The number of rows, if there are at least two dimensions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<Expr>,
    /// The number of slices, if there are three dimensions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<Expr>,
    /// The number of layers, if it is a layered image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layers: Option<Expr>,
    /// The distance between rows in bytes; by default the size of a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pitch: Option<Expr>,
    /// The address mode: one for all dimensions, or one for each.
    #[serde(default)]
    pub address: Vec<AddressMode>,
    /// The filter for floating-point coordinates.
    #[serde(default)]
    pub filter: Filter,
    /// Whether floating-point coordinates range from 0 to 1.
    #[serde(default)]
    pub normalized: bool,
    /// How a fetch converts integers.
    #[serde(default)]
    pub read: ReadMode,
    /// Rejected if set: only linear texels are supported.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub srgb: bool,
}

/// A surface: a buffer and the layout of its texels. The fields are those of [`TextureSpec`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "Surface", deny_unknown_fields)]
#[allow(missing_docs, reason = "as in TextureSpec")]
pub struct SurfaceSpec {
    pub name: String,
    pub buffer: String,
    #[serde(default)]
    pub offset: Expr,
    pub elem: Channel,
    #[serde(default = "one")]
    pub channels: u8,
    pub width: Expr,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<Expr>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<Expr>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layers: Option<Expr>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pitch: Option<Expr>,
}

fn one() -> u8 {
    1
}
