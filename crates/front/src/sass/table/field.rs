//! Fields of instruction words.

/// An instruction word, which is large enough for every generation.
pub type Word = u128;

/// A field of a word: the first bit and the width of each piece, low bits first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Field(Vec<(u32, u32)>);

impl Field {
    /// Parses a field: `48`, or `8+2,12` for two bits at 8 and one at 12. By default the width is
    /// that of the value.
    pub(super) fn parse(text: &str, width: u32) -> Result<Self, String> {
        let number = |text: &str| text.parse::<u32>().map_err(|_| format!("`{text}` is no bit"));
        let pieces: Vec<&str> = text.split(',').collect();
        let mut found = Vec::new();
        for piece in &pieces {
            let (bit, bits) = match piece.split_once('+') {
                Some((bit, bits)) => (number(bit)?, number(bits)?),
                None => (number(piece)?, if pieces.len() == 1 { width } else { 1 }),
            };
            if bits > 64 || bit.checked_add(bits).is_none_or(|end| end > Word::BITS) {
                return Err(format!("`{text}` lies beyond every word"));
            }
            if bits == 0 {
                return Err(format!("`{text}` needs the number of bits, as in `{bit}+8`"));
            }
            found.push((bit, bits));
        }
        let field = Self(found);
        if field.width() > 64 || field.mask().count_ones() != field.width() {
            return Err(format!("`{text}` has more than 64 bits, or one of them twice"));
        }
        Ok(field)
    }

    pub(super) fn at(bit: u32, width: u32) -> Self {
        Self(vec![(bit, width)])
    }

    /// Returns this field followed by another one for the higher bits.
    pub(super) fn then(mut self, higher: &Self) -> Self {
        self.0.extend_from_slice(&higher.0);
        self
    }

    /// Returns the lowest bit of the first piece, or `None` if the field is empty.
    pub(super) fn first(&self) -> Option<u32> {
        self.0.first().map(|&(bit, _)| bit)
    }

    pub(super) fn width(&self) -> u32 {
        self.0.iter().map(|(_, width)| width).sum()
    }

    pub(super) fn mask(&self) -> Word {
        self.0.iter().fold(0, |mask, &(bit, width)| mask | low(width) << bit)
    }

    pub(super) fn get(&self, word: Word) -> u64 {
        let mut shift = 0;
        self.0.iter().fold(0, |value, &(bit, width)| {
            let part = (word >> bit & low(width)) as u64;
            let value = value | part << shift;
            shift += width;
            value
        })
    }

    pub(super) fn put(&self, value: u64) -> Word {
        let mut left = Word::from(value);
        self.0.iter().fold(0, |word, &(bit, width)| {
            let part = left & low(width);
            left >>= width;
            word | part << bit
        })
    }
}

/// Returns a mask of the low `width` bits.
pub(super) fn low(width: u32) -> Word {
    Word::MAX.checked_shr(Word::BITS - width).unwrap_or(0)
}

/// Sign-extends the low bits of a number.
pub(super) fn signed(value: u64, bits: u32) -> i64 {
    let shift = 64 - bits.clamp(1, 64);
    ((value << shift) as i64) >> shift
}
