//! Columns of integers encoded as text: seven bits per byte, the lowest first, then base64.

/// A sequence of encoded numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packed(Vec<u8>);

impl Packed {
    /// Encodes the numbers of an iterator.
    pub fn of(numbers: impl IntoIterator<Item = u64>) -> Self {
        let mut packed = Self::default();
        numbers.into_iter().for_each(|number| packed.push(number));
        packed
    }

    /// Appends a number.
    pub fn push(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 & 0x7f | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// Returns the encoding in base64.
    pub fn text(&self) -> String {
        const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = String::with_capacity(self.0.len().div_ceil(3) * 4);
        for bytes in self.0.chunks(3) {
            let word =
                bytes.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - bytes.len()));
            for digit in 0..4 {
                let bits = (word >> (18 - 6 * digit)) & 0x3f;
                text.push(if digit <= bytes.len() { DIGITS[bits as usize] as char } else { '=' });
            }
        }
        text
    }
}

impl serde::Serialize for Packed {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_as_many_bytes_as_they_need() {
        assert_eq!(Packed::of([0, 127, 128, 300, u64::MAX]).0.len(), 1 + 1 + 2 + 2 + 10);
        // RFC 4648, section 10
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(Packed(bytes.as_bytes().to_vec()).text(), text);
        }
        assert_eq!(Packed::of([300]).0, [0xac, 0x02]);
    }
}
