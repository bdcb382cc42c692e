//! The place and the format of control codes, and with them the places of instructions in code.

use super::field::{Field, Word, low};
use super::{Encoding, Mistake};
use serde::Deserialize;
use warpbound_core::program::Control;

/// The control codes of a generation.
#[derive(Debug)]
pub struct ControlFormat {
    /// The place of the codes of an instruction.
    pub place: ControlPlace,
    stall: Field,
    stay: Field,
    write_barrier: Field,
    read_barrier: Field,
    wait: Field,
    reuse: Field,
}

/// The location of the control codes of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum ControlPlace {
    /// A separate word before a group of instructions has the control codes of all of them.
    Bundle {
        /// The number of instructions after the word.
        instructions: usize,
        /// The number of bits for each instruction; the first one has the lowest bits.
        bits: u32,
    },
    /// The control codes are bits of the instruction itself.
    Inside {
        /// The lowest of these bits.
        bit: u32,
    },
}

/// The control codes as the table states them.
#[derive(Deserialize)]
#[serde(rename = "Control", deny_unknown_fields)]
pub(super) struct ControlSpec {
    place: ControlPlace,
    stall: String,
    stay: String,
    write_barrier: String,
    read_barrier: String,
    wait: String,
    reuse: String,
}

/// The maximum number of barriers of a warp that the simulation can count.
const MAX_BARRIERS: u32 = 6;

impl ControlSpec {
    /// Returns the format, or the field of the table that is wrong.
    pub(super) fn checked(self, word_bits: u32) -> Result<ControlFormat, Mistake> {
        let hint = "a field is given as its first bit and its number of bits, such as \"0+4\", counted from the \
                    first bit of an instruction's codes";
        let field = |name: &'static str, text: &str, most: u32| {
            let field = Field::parse(text, 1).map_err(|message| Mistake::new(name, message, hint))?;
            let width = field.width();
            if width > most {
                let message = format!("`{text}` has {width} bits, at most {most} are supported");
                return Err(Mistake::new(name, message, hint));
            }
            Ok(field)
        };
        let format = ControlFormat {
            place: self.place,
            stall: field("stall", &self.stall, 8)?,
            stay: field("stay", &self.stay, 1)?,
            write_barrier: field("write_barrier", &self.write_barrier, 3)?,
            read_barrier: field("read_barrier", &self.read_barrier, 3)?,
            wait: field("wait", &self.wait, MAX_BARRIERS)?,
            reuse: field("reuse", &self.reuse, 8)?,
        };
        let mut taken: Word = 0;
        for (name, field) in format.fields() {
            if taken & field.mask() != 0 {
                let message = format!("the bits of `{name}` belong to another control code, too");
                return Err(Mistake::new(name, message, hint));
            }
            taken |= field.mask();
        }
        // the highest number of a barrier's field stands for no barrier
        let barriers = low(format.write_barrier.width().min(format.read_barrier.width()));
        if Word::from(format.barriers()) > barriers {
            let message = format!("{} barriers have no numbers in the fields of barriers", format.barriers());
            return Err(Mistake::new(
                "wait",
                message,
                "the highest number of these fields stands for no barrier",
            ));
        }
        let width = format.width();
        let fits = match format.place {
            ControlPlace::Bundle { instructions, bits } => {
                let all = u32::try_from(instructions).ok().and_then(|count| count.checked_mul(bits));
                instructions > 0 && all.is_some_and(|all| all <= word_bits) && bits >= width
            }
            ControlPlace::Inside { bit } => bit.checked_add(width).is_some_and(|end| end <= word_bits),
        };
        if !fits {
            let message = format!("the control codes, {width} bits each, do not fit a word");
            let hint = format!("a word has {word_bits} bits; `place` says where the codes begin");
            return Err(Mistake::new("place", message, hint));
        }
        Ok(format)
    }
}

impl ControlFormat {
    fn fields(&self) -> [(&'static str, &Field); 6] {
        [
            ("stall", &self.stall),
            ("stay", &self.stay),
            ("write_barrier", &self.write_barrier),
            ("read_barrier", &self.read_barrier),
            ("wait", &self.wait),
            ("reuse", &self.reuse),
        ]
    }

    /// Returns the number of bits of an instruction's control codes.
    pub fn width(&self) -> u32 {
        let mask = self.fields().iter().fold(0, |mask, (_, field)| mask | field.mask());
        Word::BITS - mask.leading_zeros()
    }

    /// Returns the number of barriers of a warp.
    pub fn barriers(&self) -> u32 {
        self.wait.width()
    }

    /// Returns the number of bits of a barrier's number.
    pub(super) fn barrier_bits(&self) -> u32 {
        self.write_barrier.width()
    }

    /// Returns the bits of an instruction word that belong to its control codes.
    pub fn mask(&self) -> Word {
        match self.place {
            ControlPlace::Bundle { .. } => 0,
            ControlPlace::Inside { bit } => low(self.width()) << bit,
        }
    }

    /// Reads the control codes of an instruction, which begin at the lowest bit.
    pub fn read(&self, bits: Word) -> Control {
        let barrier = |field: &Field| {
            let number = field.get(bits);
            (Word::from(number) != low(field.width())).then_some(number as u8)
        };
        Control {
            stall: self.stall.get(bits) as u8,
            stay: self.stay.get(bits) != 0,
            write_barrier: barrier(&self.write_barrier),
            read_barrier: barrier(&self.read_barrier),
            wait: self.wait.get(bits) as u8,
            reuse: self.reuse.get(bits) as u8,
        }
    }

    /// Returns the bits of control codes, the inverse of [`ControlFormat::read`].
    pub fn write(&self, control: &Control) -> Word {
        let barrier = |field: &Field, barrier: Option<u8>| field.put(barrier.map_or(u64::MAX, u64::from));
        self.stall.put(control.stall.into())
            | self.stay.put(control.stay.into())
            | barrier(&self.write_barrier, control.write_barrier)
            | barrier(&self.read_barrier, control.read_barrier)
            | self.wait.put(control.wait.into())
            | self.reuse.put(control.reuse.into())
    }
}

impl Encoding {
    /// Returns the offset of an instruction in the code, and the location of its control codes as
    /// byte and bit.
    pub fn place(&self, index: usize) -> (usize, (usize, u32)) {
        match self.control.place {
            ControlPlace::Bundle { instructions, bits } => {
                let (bundle, within) = (index / instructions, index % instructions);
                let start = bundle * (instructions + 1) * self.word_bytes;
                (start + (within + 1) * self.word_bytes, (start, within as u32 * bits))
            }
            ControlPlace::Inside { bit } => (index * self.word_bytes, (index * self.word_bytes, bit)),
        }
    }

    /// Returns the number of the instruction at a byte offset, or `None` if none begins there.
    pub fn index_at(&self, byte: usize) -> Option<usize> {
        let word = byte / self.word_bytes;
        if !byte.is_multiple_of(self.word_bytes) {
            return None;
        }
        match self.control.place {
            ControlPlace::Bundle { instructions, .. } => {
                let within = word % (instructions + 1);
                // branches may also target the control word before an instruction
                Some(word / (instructions + 1) * instructions + within.saturating_sub(1))
            }
            ControlPlace::Inside { .. } => Some(word),
        }
    }

    /// Returns the number of bytes up to the end of the first instruction of a function.
    pub fn first_bytes(&self) -> usize {
        match self.control.place {
            ControlPlace::Bundle { .. } => 2 * self.word_bytes,
            ControlPlace::Inside { .. } => self.word_bytes,
        }
    }

    /// Returns the number of instructions in this many bytes of code.
    pub fn count(&self, bytes: usize) -> usize {
        let words = bytes / self.word_bytes;
        match self.control.place {
            ControlPlace::Bundle { instructions, .. } => {
                words / (instructions + 1) * instructions + (words % (instructions + 1)).saturating_sub(1)
            }
            ControlPlace::Inside { .. } => words,
        }
    }
}
