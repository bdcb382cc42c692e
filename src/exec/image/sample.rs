//! From coordinates to texels and weights, along one axis.
//!
//! The CUDA C++ Programming Guide ("Texture Fetching") says with `N` texels along the axis:
//!
//! * a coordinate `x` that is normalised stands for `N x`;
//! * point sampling gives texel `floor(x)`;
//! * linear filtering gives `(1 - a) T[i] + a T[i + 1]` with `x_B = x - 0.5`, `i = floor(x_B)`, and
//!   `a = frac(x_B)` in fixed point of 9 bits, 8 of them behind the point, so that 1 can be stored;
//! * `clamp` takes the nearest coordinate inside, `border` zero outside, `wrap` the fraction of a
//!   normalised coordinate, `mirror` the fraction or one less it, alternately.
//!
//! What it leaves open is decided here like this. `a` is rounded to the nearest multiple of 1/256,
//! a half up. Address modes apply to the indices `i` and `i + 1`, as in OpenGL; that is what the
//! formulas above say except for mirrored coordinates that lie between two texels precisely. Wrap and
//! mirror are clamp where coordinates are not normalised (the CUDA runtime's description of
//! `cudaTextureDesc` says so). NaN reads as 0; infinities are far outside, and read as 0 where there
//! is no outside (wrap and mirror). Products of coordinates and extents are exact: 24 bits times 32
//! in double precision.

use crate::program::image::{AddressMode, Sampler};

/// Parts that the way from one texel to the next is divided into.
pub(super) const PARTS: u32 = 256;

/// Two texels next to each other, `None` where there is nothing but zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    /// Indices of the lower one and the upper one.
    pub(super) texels: [Option<u32>; 2],
    /// How much of the upper one, of [`PARTS`].
    pub(super) weight: u32,
}

/// The texel of `n` along an axis that a coordinate lies in.
pub(super) fn point(x: f32, n: u32, sampler: &Sampler, axis: usize) -> Option<u32> {
    index(scaled(x, n, sampler, axis).floor(), n, mode(sampler, axis))
}

/// The texels of `n` along an axis that a coordinate lies between.
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

/// The coordinate, one for each texel.
fn scaled(x: f32, n: u32, sampler: &Sampler, axis: usize) -> f64 {
    let x = f64::from(x);
    let periodic = matches!(mode(sampler, axis), AddressMode::Wrap | AddressMode::Mirror);
    if x.is_nan() || x.is_infinite() && periodic {
        0.0
    } else if periodic {
        // as far as the period goes, so that half a texel still counts
        (x * f64::from(n)) % (2.0 * f64::from(n))
    } else if sampler.normalized {
        x * f64::from(n)
    } else {
        x
    }
}

/// The address mode that counts.
fn mode(sampler: &Sampler, axis: usize) -> AddressMode {
    match sampler.address[axis] {
        AddressMode::Wrap | AddressMode::Mirror if !sampler.normalized => AddressMode::Clamp,
        mode => mode,
    }
}

/// The texel at an integral place that may be outside.
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
