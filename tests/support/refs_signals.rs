//! The expected results of the shipped kernels of signal and image processing: Fourier transforms,
//! convolutions.

use std::f64::consts::PI;

use super::{Match, RefIo};

/// Computes the expected buffers as [`super::reference`] does.
pub fn reference(entry: &str, io: &mut RefIo) -> Option<Vec<Match>> {
    let mut matches = vec![Match::Exact; io.buffers.len()];
    match entry {
        "fft_radix2" | "fft_radix4" => {
            // Sines and cosines of the special function unit are accurate to 2^-20.9, in at most 9
            // stages, of numbers whose magnitude is about 26 and rarely 80.
            matches[2] = Match::F32 { rel: 0.0, abs: 2e-4 };
            matches[3] = matches[2];
            let n = if entry == "fft_radix2" { 2 } else { 4 } * io.block_threads();
            transforms(io, n);
        }
        "fft_lowpass" => lowpass(io),
        "conv2d" => {
            let (width, height) = (io.size(0), io.size(1));
            let out = convolved(&io.f32s(0), [width, height], &blur(), 5);
            io.put_f32s(1, &out);
        }
        "conv_rows" => {
            let (width, height) = (io.size(0), io.grid[1] as usize);
            let out = convolved(&io.f32s(0), [width, height], &BINOMIAL, 5);
            io.put_f32s(1, &out);
        }
        "conv_columns" => {
            let (width, height) = (io.size(0), io.size(1));
            let out = convolved(&io.f32s(0), [width, height], &BINOMIAL, 1);
            io.put_f32s(1, &out);
        }
        _ => return None,
    }
    Some(matches)
}

/// The one-dimensional filter that the kernels come with.
const BINOMIAL: [f32; 5] = [1.0 / 16.0, 4.0 / 16.0, 6.0 / 16.0, 4.0 / 16.0, 1.0 / 16.0];

/// Returns the two-dimensional filter that the kernels come with.
fn blur() -> Vec<f32> {
    BINOMIAL.iter().flat_map(|down| BINOMIAL.map(|right| down * right)).collect()
}

/// Returns an image of this width and height under a filter with this number of columns, row by
/// row: one chain of fused multiply-adds for each pixel, and zeros outside the image.
pub fn convolved(image: &[f32], [width, height]: [usize; 2], filter: &[f32], columns: usize) -> Vec<f32> {
    let (half_width, half_height) = (columns / 2, filter.len() / columns / 2);
    let pixel = |x: usize, y: usize| {
        let (x, y) = (x.checked_sub(half_width)?, y.checked_sub(half_height)?);
        (x < width && y < height).then(|| image[y * width + x])
    };
    let at = |i: usize| {
        let terms = filter.iter().enumerate();
        terms.fold(0.0f32, |sum, (k, factor)| {
            factor.mul_add(pixel(i % width + k % columns, i / width + k / columns).unwrap_or(0.0), sum)
        })
    };
    (0..width * height).map(at).collect()
}

/// Returns the discrete Fourier transform by its definition, with this sign in the exponent.
pub fn transformed(values: &[[f64; 2]], sign: f64) -> Vec<[f64; 2]> {
    let n = values.len();
    let roots: Vec<[f64; 2]> = (0..n)
        .map(|k| {
            let angle = sign * 2.0 * PI * k as f64 / n as f64;
            [angle.cos(), angle.sin()]
        })
        .collect();
    let element = |k: usize| {
        values.iter().enumerate().fold([0.0, 0.0], |sum, (j, [re, im])| {
            let [c, s] = roots[j * k % n];
            [sum[0] + re * c - im * s, sum[1] + re * s + im * c]
        })
    };
    (0..n).map(element).collect()
}

fn transforms(io: &mut RefIo, n: usize) {
    let (re, im) = (io.f32s(0), io.f32s(1));
    let values: Vec<[f64; 2]> = re.iter().zip(&im).map(|(re, im)| [f64::from(*re), f64::from(*im)]).collect();
    assert_eq!(values.len(), n * io.blocks());
    let sign = f64::from(io.float(0));
    let out: Vec<[f64; 2]> = values.chunks(n).flat_map(|signal| transformed(signal, sign)).collect();
    for part in 0..2 {
        io.put_f32s(2 + part, &out.iter().map(|value| value[part] as f32).collect::<Vec<f32>>());
    }
}

fn lowpass(io: &mut RefIo) {
    let (scale, cut, n, count) = (io.float(0), io.size(1), io.size(2), io.size(3));
    for part in 0..2 {
        let mut values = io.f32s(part);
        for (i, value) in values[..count].iter_mut().enumerate() {
            let frequency = (i % n).min(n - i % n);
            *value = if frequency > cut { 0.0 } else { *value * scale };
        }
        io.put_f32s(part, &values);
    }
}
