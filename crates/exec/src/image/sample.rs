//! The mapping from coordinates to texels and weights, along one axis.
//!
//! The CUDA C++ Programming Guide ("Texture Fetching") specifies, with `N` texels along the axis:
//!
//! * a normalised coordinate `x` stands for `N x`;
//! * point sampling gives texel `floor(x)`;
//! * linear filtering gives `(1 - a) T[i] + a T[i + 1]` with `x_B = x - 0.5`, `i = floor(x_B)`, and
//!   `a = frac(x_B)` in fixed point of 9 bits, 8 of them after the point, so that 1 can be stored;
//! * `clamp` takes the nearest coordinate inside, `border` gives zero outside, `wrap` takes the
//!   fraction of a normalised coordinate, and `mirror` takes alternately the fraction and one minus
//!   the fraction.
//!
//! The details that it leaves open are defined as follows. `a` is rounded to the nearest multiple
//! of 1/256, ties up. Address modes apply to the indices `i` and `i + 1`, as in OpenGL; this agrees
//! with the formulas above except for mirrored coordinates that lie exactly between two texels.
//! Wrap and mirror act as clamp where coordinates are not normalised (according to the CUDA
//! runtime's description of `cudaTextureDesc`). NaN reads as 0; infinities are far outside, and
//! read as 0 with wrap and mirror, where no coordinate is outside. Products of coordinates and
//! extents are exact in double precision: a coordinate has 24 significant bits, and an extent is at
//! most 2^28.

use warpbound_core::program::image::{AddressMode, Sampler};

/// The number of parts into which the distance between two texels is divided.
pub(super) const PARTS: u32 = 256;

/// Two adjacent texels; `None` stands for zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    /// The indices of the lower and the upper texel.
    pub(super) texels: [Option<u32>; 2],
    /// The weight of the upper texel, in units of 1/[`PARTS`].
    pub(super) weight: u32,
}

/// Returns the texel, of `n` along an axis, in which a coordinate lies.
pub(super) fn point(x: f32, n: u32, sampler: &Sampler, axis: usize) -> Option<u32> {
    index(scaled(x, n, sampler, axis).floor(), n, mode(sampler, axis))
}

/// Returns the texels, of `n` along an axis, between which a coordinate lies.
pub(super) fn linear(x: f32, n: u32, sampler: &Sampler, axis: usize) -> Pair {
    let parts = f64::from(PARTS);
    // x - 0.5 in parts, rounded to the nearest: floor(256 (x - 0.5) + 0.5)
    let fixed = (scaled(x, n, sampler, axis) * parts - parts / 2.0 + 0.5).floor();
    let lower = (fixed / parts).floor();
    // infinite coordinates have no weight
    let weight = if fixed.is_finite() { fixed.rem_euclid(parts) as u32 } else { 0 };
    let mode = mode(sampler, axis);
    Pair { texels: [index(lower, n, mode), index(lower + 1.0, n, mode)], weight }
}

/// Returns the coordinate in units of texels.
fn scaled(x: f32, n: u32, sampler: &Sampler, axis: usize) -> f64 {
    let x = f64::from(x);
    let periodic = matches!(mode(sampler, axis), AddressMode::Wrap | AddressMode::Mirror);
    if x.is_nan() || x.is_infinite() && periodic {
        0.0
    } else if periodic {
        // reduced modulo the period, so that half a texel remains significant
        (x * f64::from(n)) % (2.0 * f64::from(n))
    } else if sampler.normalized {
        x * f64::from(n)
    } else {
        x
    }
}

/// Returns the effective address mode.
fn mode(sampler: &Sampler, axis: usize) -> AddressMode {
    match sampler.address[axis] {
        AddressMode::Wrap | AddressMode::Mirror if !sampler.normalized => AddressMode::Clamp,
        mode => mode,
    }
}

/// Returns the texel at an integral position that may be outside.
fn index(at: f64, n: u32, mode: AddressMode) -> Option<u32> {
    let n = f64::from(n);
    let inside = match mode {
        AddressMode::Clamp => at.clamp(0.0, n - 1.0),
        AddressMode::Border if (0.0..n).contains(&at) => at,
        AddressMode::Border => return None,
        AddressMode::Wrap => at.rem_euclid(n),
        AddressMode::Mirror => {
            let at = at.rem_euclid(2.0 * n);
            if at < n { at } else { 2.0 * n - 1.0 - at }
        }
    };
    Some(inside as u32)
}
