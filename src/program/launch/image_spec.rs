//! Textures and surfaces as people write them.

use serde::{Deserialize, Serialize};

use crate::program::expr::Expr;
use crate::program::image::{AddressMode, Channel, Filter, ReadMode};

/// A texture: a buffer, how texels lie in it, and how they are read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "Texture", deny_unknown_fields)]
pub struct TextureSpec {
    /// That of a texture reference of the module, or what [`super::ArgSpec::Texture`] calls it.
    pub name: String,
    /// The buffer or variable that holds the texels.
    pub buffer: String,
    /// Where they begin in it, bytes.
    #[serde(default)]
    pub offset: Expr,
    /// Type of a channel.
    pub elem: Channel,
    /// Channels of a texel: 1, 2 or 4.
    #[serde(default = "one")]
    pub channels: u8,
    /// Texels of a row.
    pub width: Expr,
    /// Rows, if there are two dimensions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<Expr>,
    /// Slices, if there are three dimensions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<Expr>,
    /// Layers, if it is an array of images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layers: Option<Expr>,
    /// Bytes from row to row, if not the texels of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pitch: Option<Expr>,
    /// One for all dimensions, or one for each.
    #[serde(default)]
    pub address: Vec<AddressMode>,
    /// For floating-point coordinates.
    #[serde(default)]
    pub filter: Filter,
    /// Floating-point coordinates run from 0 to 1.
    #[serde(default)]
    pub normalized: bool,
    /// What a fetch makes of integers.
    #[serde(default)]
    pub read: ReadMode,
    /// Refused if set: texels are linear.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub srgb: bool,
}

/// A surface: a buffer and how texels lie in it. Fields as in [`TextureSpec`].
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
