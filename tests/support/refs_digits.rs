//! The expected memory contents after the kernels of `digits`, in double precision and byte by
//! byte.

use super::{RefIo, Scalar};

/// Computes the expected buffers in place. Returns `None` if the entry is unknown.
pub fn reference(entry: &str, io: &mut RefIo) -> Option<()> {
    match entry {
        "digits_layer" => digits_layer(io),
        "digits_unpack" => digits_unpack(io),
        "digits_enlarge" => digits_enlarge(io),
        _ => return None,
    }
    Some(())
}

fn f64s(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect()
}

fn bytes(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn digits_layer(io: &mut RefIo) {
    let [weights, bias, input, mut out] = [0, 1, 2, 3].map(|buffer| f64s(&io.buffers[buffer]));
    let [neurons, inputs, images] = [0, 1, 2].map(|scalar| io.size(scalar));
    for neuron in 0..neurons {
        for image in 0..images {
            let of = |k: usize| (weights[neuron * inputs + k], input[k * images + image]);
            let sum = (0..inputs).map(of).fold(0.0, |sum: f64, (weight, x)| weight.mul_add(x, sum));
            out[neuron * images + image] = (sum + bias[neuron]).max(0.0);
        }
    }
    io.buffers[3] = bytes(&out);
}

fn digits_unpack(io: &mut RefIo) {
    let Scalar::F(scale) = io.scalars[0] else { panic!("the scale is a float") };
    let mut out = f64s(&io.buffers[1]);
    for (out, byte) in out.iter_mut().zip(&io.buffers[0][..io.size(1)]) {
        *out = scale * f64::from(byte.cast_signed());
    }
    io.buffers[1] = bytes(&out);
}

/// Interpolates bilinearly at the centres of the pixels. Coordinates in 14ths of a small pixel and
/// weights in 196ths are integers, which are exact in floating point.
fn digits_enlarge(io: &mut RefIo) {
    let (images, mut out) = (io.buffers[0].clone(), f64s(&io.buffers[1]));
    let number = io.block[0] as usize;
    // the distance of a pixel's centre from the centre of the first small pixel, in 14ths of a
    // small pixel
    let centre = |at: usize| ((at as f64 + 0.5) * 4.0 - 7.0).clamp(0.0, 98.0);
    // the weight of a small pixel at this distance
    let share = |at: f64, pixel: usize| (14.0 - (at - 14.0 * pixel as f64).abs()).max(0.0);
    for (at, out) in out.iter_mut().enumerate() {
        let (image, pixel) = (&images[64 * (at % number)..], at / number);
        let (x, y) = (centre(pixel % 28), centre(pixel / 28));
        let all = (0..64).map(|p| share(x, p % 8) * share(y, p / 8) * f64::from(image[p]));
        *out = all.sum::<f64>() * (1.0 / 3136.0);
    }
    io.buffers[1] = bytes(&out);
}
