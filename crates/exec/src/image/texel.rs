//! The conversion of texels to the values that a fetch gives.

use super::super::arith::exact::{F16, F32};
use warpbound_core::program::image::{Channel, Format, ReadMode};
use warpbound_core::program::sem::Round;

/// Returns the channels of a texel as registers get them; missing channels are zero.
///
/// Integers are sign-extended to 32 bits. `NormalizedFloat` divides integers of 8 and 16 bits by
/// the largest integer of their type; the smallest signed number gives -1, like its successor.
/// Halves are converted to single precision.
pub(super) fn values(bytes: &[u8], format: Format, read: ReadMode) -> [u32; 4] {
    let mut values = [0; 4];
    for (value, bytes) in values.iter_mut().zip(bytes.chunks_exact(format.elem.size() as usize)) {
        let raw = bytes.iter().rev().fold(0, |raw, &byte| raw << 8 | u32::from(byte));
        *value = channel(raw, format.elem, read);
    }
    values
}

fn channel(raw: u32, elem: Channel, read: ReadMode) -> u32 {
    let number = match elem {
        Channel::I8 => i32::from(raw as u8 as i8),
        Channel::I16 => i32::from(raw as u16 as i16),
        _ => raw as i32,
    };
    let most: f32 = match (elem, read) {
        (Channel::U8, ReadMode::NormalizedFloat) => 255.0,
        (Channel::I8, ReadMode::NormalizedFloat) => 127.0,
        (Channel::U16, ReadMode::NormalizedFloat) => 65535.0,
        (Channel::I16, ReadMode::NormalizedFloat) => 32767.0,
        (Channel::F16, _) => return F32.pack(F16.unpack(raw.into()), Round::Nearest) as u32,
        _ => return number as u32,
    };
    (number as f32 / most).max(-1.0).to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(elem: Channel, read: ReadMode, bytes: &[u8]) -> u32 {
        values(bytes, Format { elem, channels: 1 }, read)[0]
    }

    #[test]
    fn channels_become_numbers_of_32_bits() {
        let element = |elem, bytes: &[u8]| one(elem, ReadMode::Element, bytes);
        assert_eq!(element(Channel::U8, &[200]), 200);
        assert_eq!(element(Channel::I8, &[200]), -56i32 as u32);
        assert_eq!(element(Channel::U16, &[0xff, 0xfe]), 0xfeff);
        assert_eq!(element(Channel::I16, &[0xff, 0xfe]), -257i32 as u32);
        assert_eq!(element(Channel::F16, &[0x00, 0xc0]), (-2f32).to_bits());
        assert_eq!(element(Channel::F16, &[0x01, 0x00]), 2f32.powi(-24).to_bits());
        assert_eq!(element(Channel::F32, &[1, 2, 3, 4]), 0x0403_0201);
        let both = values(&[1, 0, 0xff, 0xff], Format { elem: Channel::I16, channels: 2 }, ReadMode::Element);
        assert_eq!(both, [1, u32::MAX, 0, 0]);
    }

    #[test]
    fn normalised_integers_reach_one_and_minus_one() {
        let float = |elem, bytes: &[u8]| f32::from_bits(one(elem, ReadMode::NormalizedFloat, bytes));
        assert_eq!(float(Channel::U8, &[255]), 1.0);
        assert_eq!(float(Channel::U8, &[51]), 0.2);
        assert_eq!(float(Channel::I8, &[127]), 1.0);
        assert_eq!(float(Channel::I8, &[0x81]), -1.0);
        assert_eq!(float(Channel::I8, &[0x80]), -1.0);
        assert_eq!(float(Channel::U16, &[0xff, 0xff]), 1.0);
        assert_eq!(float(Channel::I16, &[0x00, 0x80]), -1.0);
        assert_eq!(float(Channel::I16, &[1, 0]), 1.0 / 32767.0);
        // wider integers are not converted
        assert_eq!(one(Channel::U32, ReadMode::NormalizedFloat, &[7, 0, 0, 0]), 7);
    }
}
