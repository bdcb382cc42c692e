//! Reading and writing of the fields of instruction words.

use super::instruction::{Decoded, Operand, Value};
use super::{ControlPlace, Encoding, Field, Kind, Op, OperandSpec, Part, Source, Values, Word, low, signed};

/// A possible form of a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<'t> {
    /// The instruction.
    pub op: &'t Op,
    /// The index of the form.
    pub form: usize,
}

/// The register that is always zero.
const RZ: u64 = 255;
/// The number of barriers of a warp.
const BARRIERS: u64 = 6;

type Missing<'t> = (&'t str, u64);

impl Encoding {
    /// Returns the possible forms of a word, the most likely first.
    pub(super) fn candidates(&self, word: Word) -> impl Iterator<Item = Found<'_>> {
        let top = (word >> (self.word_bytes * 8 - 8)) as usize & 0xff;
        self.by_top[top].iter().filter_map(move |&(op, form)| {
            let op = &self.ops[op as usize];
            let found = op.forms[form as usize];
            (word & found.mask == found.bits).then_some(Found { op, form: form as usize })
        })
    }

    pub(super) fn guard(&self, word: Word, op: &Op) -> Option<(u8, bool)> {
        let bits = if op.guarded { (word >> self.guard & 15) as u8 } else { 7 };
        // the predicate that is always true is not a guard
        (bits != 7).then_some((bits & 7, bits & 8 != 0))
    }

    pub(super) fn modifiers<'t>(
        &'t self,
        word: Word,
        op: &'t Op,
    ) -> Result<Vec<(&'t str, &'t str, u64)>, Missing<'t>> {
        let mut found = Vec::new();
        for part in &op.mnemonic {
            match part {
                Part::Text(_) => {}
                Part::Modifier(modifier) => {
                    let number = modifier.field.get(word);
                    let text = match &modifier.values {
                        Values::Flag { text, inverted } if (number != 0) != *inverted => text,
                        Values::Flag { .. } => "",
                        Values::Choice(choice) => {
                            self.text(*choice, number).ok_or((modifier.name.as_str(), number))?
                        }
                    };
                    found.push((modifier.name.as_str(), text, number));
                }
            }
        }
        Ok(found)
    }

    fn text(&self, choice: usize, number: u64) -> Option<&str> {
        self.choices[choice].texts.get(number as usize)?.as_deref()
    }

    pub(super) fn operands<'t>(
        &'t self,
        word: Word,
        op: &'t Op,
        form: usize,
    ) -> Result<Vec<Operand<'t>>, Missing<'t>> {
        op.operands.iter().map(|spec| self.operand(word, spec, op.forms[form].source)).collect()
    }

    fn operand<'t>(
        &'t self,
        word: Word,
        spec: &'t OperandSpec,
        source: Source,
    ) -> Result<Operand<'t>, Missing<'t>> {
        let bit = |bit: Option<u32>| bit.is_some_and(|bit| word >> bit & 1 != 0);
        let (place, value) = self.value(word, spec, source)?;
        let part = match &spec.part {
            None => "",
            Some((field, choice)) => {
                let number = field.get(word);
                self.text(*choice, number).ok_or((spec.name.as_str(), number))?
            }
        };
        let register = matches!(value, Value::Register(_) | Value::Address { .. });
        Ok(Operand {
            name: &spec.name,
            // of an operand that may be a register or a number, only the number can be hidden
            hidden: spec.hide == Some(place)
                && !matches!((spec.kind, value), (Kind::RegisterOrNumber(_), Value::Register(_))),
            value,
            neg: bit(spec.neg),
            abs: bit(spec.abs),
            inv: bit(spec.inv),
            not: bit(spec.not),
            cc: bit(spec.cc),
            half: bit(spec.half),
            part,
            wide: spec.wide,
            plain: spec.plain,
            next: spec.next,
            joined: spec.joined,
            apart: spec.apart,
            slot: if register { spec.slot.or(spec.usual_slot(source)) } else { None },
        })
    }

    /// Returns the number in the location of an operand, and its meaning.
    fn value<'t>(
        &'t self,
        word: Word,
        spec: &'t OperandSpec,
        source: Source,
    ) -> Result<(u64, Value<'t>), Missing<'t>> {
        let field = spec.place(source);
        let bits = field.get(word);
        let constant = || Value::Constant { bank: (bits >> 14) as u8, offset: signed(bits & 0x3fff, 14) * 4 };
        let value = match (spec.kind, source) {
            (Kind::B, Source::Number) => Value::Number(signed(bits, 20)),
            (Kind::B, Source::Single) => Value::Single((bits as u32) << 12),
            (Kind::B, Source::Double) => Value::Double(bits << 44),
            (Kind::B, Source::Constant) | (Kind::Constant, _) => constant(),
            // no register follows RZ
            (Kind::B | Kind::Register, _) if spec.next && bits == RZ => {
                return Err((spec.name.as_str(), bits));
            }
            (Kind::B | Kind::Register, _) => Value::Register(bits as u8),
            (Kind::Predicate, _) => Value::Predicate(bits as u8),
            (Kind::IndexedConstant, _) => Value::IndexedConstant {
                register: bits as u8,
                offset: signed(bits >> 8, 16),
                bank: (bits >> 24) as u8,
            },
            (Kind::Number(width, true), _) => Value::Number(signed(bits, width)),
            (Kind::Number(_, false), _) => Value::Small(bits),
            (Kind::Single, _) => Value::Single(bits as u32),
            (Kind::Target, _) => Value::Target(signed(bits, 24)),
            (Kind::Address, _) => {
                // without a register, the offset is the address, which is unsigned
                let offset = spec.offset.as_ref().map_or(0, |(field, _)| match bits {
                    RZ => field.get(word) as i64,
                    _ => signed(field.get(word), field.width()),
                });
                let offset = if spec.words { offset * 4 } else { offset };
                Value::Address {
                    register: bits as u8,
                    offset,
                    wide: spec.extended.is_some_and(|bit| word >> bit & 1 != 0),
                }
            }
            (Kind::RegisterOrNumber(_), _) => match &spec.number {
                Some((number, bit)) if word >> bit & 1 != 0 => {
                    let bits = number.get(word);
                    return Ok((bits, Value::Small(bits)));
                }
                _ => Value::Register(bits as u8),
            },
            (Kind::Choice(choice), _) => {
                Value::Choice(self.text(choice, bits).ok_or((spec.name.as_str(), bits))?, bits)
            }
            (Kind::Barrier, _) if bits >= BARRIERS => return Err((spec.name.as_str(), bits)),
            (Kind::Barrier, _) => Value::Barrier(bits as u8),
            (Kind::Barriers, _) => Value::Barriers(bits as u8),
        };
        Ok((bits, value))
    }

    /// Encodes an instruction.
    ///
    /// # Errors
    /// Returns the name of an operand whose value does not fit its field.
    pub fn encode<'t>(&self, decoded: &Decoded<'t>) -> Result<Word, &'t str> {
        let op = decoded.op;
        let form = op.forms[decoded.form];
        let mut word = form.bits;
        if op.guarded {
            let (register, negated) = decoded.guard.unwrap_or((7, false));
            word |= Word::from(register & 7 | u8::from(negated) << 3) << self.guard;
        }
        let modifiers = op.mnemonic.iter().filter_map(|part| match part {
            Part::Modifier(modifier) => Some(modifier),
            Part::Text(_) => None,
        });
        for (modifier, &(name, _, number)) in modifiers.zip(&decoded.modifiers) {
            if number >> modifier.field.width() != 0 {
                return Err(name);
            }
            word |= modifier.field.put(number);
        }
        for (spec, operand) in op.operands.iter().zip(&decoded.operands) {
            word |= self.operand_bits(spec, form.source, operand).ok_or(operand.name)?;
        }
        Ok(word)
    }

    fn operand_bits(&self, spec: &OperandSpec, source: Source, operand: &Operand) -> Option<Word> {
        let fits = |value: i64, bits: u32| {
            (signed(value as u64, bits) == value).then_some(value as u64 & (low(bits) as u64))
        };
        let small = |value: u64, field: &Field| (value <= low(field.width()) as u64).then_some(value);
        let field = spec.place(source);
        let mut word = 0;
        let bits = match (operand.value, spec.kind) {
            (Value::Register(register), _) => u64::from(register),
            (Value::Predicate(register), _) => u64::from(register),
            (Value::Constant { bank, offset }, _) if offset % 4 == 0 => {
                fits(offset / 4, 14)? | u64::from(bank) << 14
            }
            (Value::IndexedConstant { bank, register, offset }, _) => {
                u64::from(register) | fits(offset, 16)? << 8 | u64::from(bank) << 24
            }
            (Value::Number(number), _) => fits(number, field.width())?,
            (Value::Small(number), Kind::RegisterOrNumber(_)) => {
                let (number_field, bit) = spec.number.as_ref()?;
                return Some(number_field.put(small(number, number_field)?) | 1 << bit);
            }
            (Value::Small(number), _) => number,
            (Value::Single(bits), Kind::Single) => bits.into(),
            (Value::Single(bits), _) if bits & 0xfff == 0 => u64::from(bits >> 12),
            (Value::Double(bits), _) if bits << 20 == 0 => bits >> 44,
            (Value::Target(offset), _) => fits(offset, 24)?,
            (Value::Address { register, offset, .. }, _) => {
                let (offset_field, _) = spec.offset.as_ref()?;
                let unit = if spec.words { 4 } else { 1 };
                if offset % unit != 0 {
                    return None;
                }
                let offset = offset / unit;
                word |= offset_field.put(match u64::from(register) {
                    RZ => small(u64::try_from(offset).ok()?, offset_field)?,
                    _ => fits(offset, offset_field.width())?,
                });
                register.into()
            }
            (Value::Choice(_, number), _) => number,
            (Value::Barrier(barrier) | Value::Barriers(barrier), _) => barrier.into(),
            _ => return None,
        };
        word |= field.put(small(bits, &field)?);
        let flags = [
            (spec.neg, operand.neg),
            (spec.abs, operand.abs),
            (spec.inv, operand.inv),
            (spec.not, operand.not),
            (spec.cc, operand.cc),
            (spec.half, operand.half),
        ];
        for (bit, set) in flags {
            match (bit, set) {
                (_, false) => {}
                (Some(bit), true) => word |= 1 << bit,
                (None, true) => return None,
            }
        }
        if let Some((field, choice)) = &spec.part {
            let number =
                self.choices[*choice].texts.iter().position(|text| text.as_deref() == Some(operand.part))?;
            word |= field.put(number as u64);
        }
        Some(word)
    }

    /// Returns the offset of an instruction in the code, and the location of its control codes as
    /// byte and bit.
    pub fn place(&self, index: usize) -> (usize, (usize, u32)) {
        match self.control {
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
        match self.control {
            ControlPlace::Bundle { instructions, .. } => {
                let within = word % (instructions + 1);
                // branches may also target the control word before an instruction
                Some(word / (instructions + 1) * instructions + within.saturating_sub(1))
            }
            ControlPlace::Inside { .. } => Some(word),
        }
    }

    /// Returns the number of instructions in this many bytes of code.
    pub fn count(&self, bytes: usize) -> usize {
        let words = bytes / self.word_bytes;
        match self.control {
            ControlPlace::Bundle { instructions, .. } => {
                words / (instructions + 1) * instructions + (words % (instructions + 1)).saturating_sub(1)
            }
            ControlPlace::Inside { .. } => words,
        }
    }
}

impl OperandSpec {
    /// Returns the operand slot of a register by its location: first, second or third source.
    fn usual_slot(&self, source: Source) -> Option<u8> {
        match (self.kind, self.place(source).0.first()) {
            (_, Some((8, _))) => Some(0),
            (_, Some((20, _))) | (Kind::B, Some((39, _))) => Some(1),
            (_, Some((39, _))) => Some(2),
            _ => None,
        }
    }
}

impl Op {
    /// Returns the text after the name of an instruction: literals, and the indices of its
    /// modifiers.
    pub fn suffix(&self) -> impl Iterator<Item = Result<&str, usize>> {
        let mut next = 0;
        self.mnemonic.iter().map(move |part| match part {
            Part::Text(text) => Ok(text.as_str()),
            Part::Modifier(_) => {
                next += 1;
                Err(next - 1)
            }
        })
    }
}
