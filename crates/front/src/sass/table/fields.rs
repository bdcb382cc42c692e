//! Reading of the fields of instruction words.

use super::field::{Field, low, signed};
use super::instruction::{Operand, Value};
use super::{Encoding, Form, Kind, Op, OperandSpec, Part, Register, RegisterFile, Source, Values, Word};

/// A possible form of a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<'t> {
    /// The instruction.
    pub op: &'t Op,
    /// The index of the form.
    pub form: usize,
}

type Missing<'t> = (&'t str, u64);

impl Encoding {
    /// Returns the possible forms of a word, the most likely first.
    pub(super) fn candidates(&self, word: Word) -> impl Iterator<Item = Found<'_>> {
        let top = self.opcode.get(word) >> (self.opcode.width() - 8);
        self.by_top[top as usize].iter().filter_map(move |&(op, form)| {
            let op = &self.ops[op as usize];
            let found = &op.forms[form as usize];
            let fits = op.when.is_empty() || op.when.iter().any(|condition| condition.holds(word));
            (word & found.mask == found.bits && fits).then_some(Found { op, form: form as usize })
        })
    }

    /// Returns the predicates of which one is the guard of an instruction.
    pub(super) fn guards(&self, op: &Op) -> &RegisterFile {
        let registers = &self.registers;
        registers.uniform_predicate.as_ref().filter(|_| op.uniform).unwrap_or(&registers.predicate)
    }

    pub(super) fn guard(&self, word: Word, op: &Op) -> Option<(Register, bool)> {
        if !op.guarded {
            return None;
        }
        let (bits, file) = (self.guard.get(word), self.guards(op));
        let (number, negated) = (bits & u64::from(file.count()), bits >> file.bits != 0);
        let register = file.register(number as u8);
        // the predicate that is always true is not a guard
        (register != Register::Fixed || negated).then_some((register, negated))
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
        form: &'t Form,
    ) -> Result<Vec<Operand<'t>>, Missing<'t>> {
        op.operands.iter().map(|spec| self.operand(word, spec, form)).collect()
    }

    fn operand<'t>(
        &'t self,
        word: Word,
        spec: &'t OperandSpec,
        form: &'t Form,
    ) -> Result<Operand<'t>, Missing<'t>> {
        let bit = |bit: Option<u32>| spec.sign(bit, form).is_some_and(|bit| word >> bit & 1 != 0);
        let (place, value) = self.value(word, spec, form)?;
        let part = match &spec.part {
            None if spec.sign => ".SIGN",
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
            hidden: spec.silent
                || spec.with.is_some_and(|bit| word >> bit & 1 == 0)
                || spec.hide == Some(place)
                    && !bit(spec.not)
                    && !matches!((spec.kind, value), (Kind::RegisterOrNumber(_), Value::Register(_))),
            described: spec.described,
            sized: spec.sized,
            zero: spec.zero,
            value,
            neg: bit(spec.neg),
            abs: bit(spec.abs),
            inv: bit(spec.inv),
            not: bit(spec.not),
            cc: bit(spec.cc),
            half: bit(spec.half),
            part,
            // behind its magnitude for a register of a thread, within it for other sources
            part_last: spec.sign
                || spec.part_last && !matches!(value, Value::Uniform(_) | Value::Constant { .. }),
            wide: spec.wide,
            plain: spec.plain.then(|| spec.place(form).width()),
            next: spec.next,
            joined: spec.joined,
            apart: spec.apart,
            slot: if register { spec.slot.or(self.usual_slot(spec, form)) } else { None },
        })
    }

    /// Returns the operand slot of a register by its location.
    fn usual_slot(&self, spec: &OperandSpec, form: &Form) -> Option<u8> {
        let bit = spec.place(form).first()?;
        self.slots.iter().position(|&slot| slot == bit).map(|slot| slot as u8)
    }

    /// Returns the number in the location of an operand, and its meaning.
    fn value<'t>(
        &'t self,
        word: Word,
        spec: &'t OperandSpec,
        form: &'t Form,
    ) -> Result<(u64, Value<'t>), Missing<'t>> {
        let stored = spec.place(form).get(word);
        let bits = if spec.complement { stored ^ low(spec.field.width()) as u64 } else { stored };
        let missing = Err((spec.name.as_str(), bits));
        let value = match spec.kind {
            Kind::B => self.source_value(spec, form, bits)?,
            Kind::Register => self.register_value(spec, bits)?,
            Kind::Predicate => Value::Predicate(self.registers.predicate.register(bits as u8)),
            Kind::Uniform => self.uniform_value(spec, bits)?,
            Kind::UniformPredicate => match &self.registers.uniform_predicate {
                Some(file) => Value::UniformPredicate(file.register(bits as u8)),
                None => return missing,
            },
            Kind::IndexedConstant => Value::IndexedConstant {
                register: self.registers.general.register(bits as u8),
                offset: spec.offset.as_ref().map_or(0, |field| signed(field.get(word), field.width())),
                bank: spec.bank.as_ref().map_or(0, |field| field.get(word) as u8),
            },
            Kind::UniformConstant => match &self.registers.uniform {
                Some(file) => Value::UniformConstant {
                    register: file.register(bits as u8),
                    offset: spec.offset.as_ref().map_or(0, |field| signed(field.get(word), field.width())),
                    bank: spec.bank.as_ref().map_or(0, |field| field.get(word) as u8),
                },
                None => return missing,
            },
            Kind::Literal => Value::Choice(&spec.name, 0),
            Kind::Half => Value::Half(bits as u16),
            Kind::Brain => Value::Brain(bits as u16),
            Kind::Number(true) => {
                let unit = if spec.words { 4 } else { 1 };
                Value::Number(signed(bits, spec.field.width()) * unit)
            }
            Kind::Number(false) => Value::Small(if spec.words { bits * 4 } else { bits }),
            Kind::Single => Value::Single(bits as u32),
            Kind::Target => {
                let unit = if spec.words { 4 } else { 1 };
                Value::Target(signed(bits, spec.field.width()) * unit)
            }
            Kind::Address => self.address_value(word, spec, bits),
            Kind::UniformAddress => Value::Address {
                register: Register::Fixed,
                offset: spec.offset.as_ref().map_or(0, |field| signed(field.get(word), field.width())),
                wide: spec.wide,
                uniform: self.registers.uniform.as_ref().map(|file| file.register(bits as u8)),
                descriptor: None,
            },
            Kind::Descriptor(name) => match &self.registers.uniform {
                Some(file) => Value::Descriptor(name, file.register(bits as u8)),
                None => return missing,
            },
            Kind::RegisterOrNumber(_) => match &spec.number {
                Some((number, bit)) if word >> bit & 1 != 0 => {
                    let bits = number.get(word);
                    return Ok((bits, Value::Small(bits)));
                }
                _ => Value::Register(self.registers.general.register(bits as u8)),
            },
            Kind::Choice(choice) => match self.text(choice, bits) {
                Some(text) => Value::Choice(text, bits),
                None => return missing,
            },
            Kind::Barrier if bits >= self.control.barriers().into() => return missing,
            Kind::Barrier => Value::Barrier(bits as u8),
            Kind::Barriers => Value::Barriers(bits as u8),
        };
        Ok((stored, value))
    }

    /// Returns the meaning of the operand B, which depends on the form.
    fn source_value<'t>(
        &'t self,
        spec: &'t OperandSpec,
        form: &Form,
        bits: u64,
    ) -> Result<Value<'t>, Missing<'t>> {
        Ok(match form.source {
            Source::Number => Value::Number(signed(bits, form.b.width())),
            Source::Single => Value::Single((bits << (32 - form.b.width())) as u32),
            Source::Double => Value::Double(bits << (64 - form.b.width())),
            Source::Constant(offset) => Value::Constant {
                bank: (bits >> offset) as u8,
                offset: signed(bits & low(offset) as u64, offset) * 4,
            },
            Source::ConstantBytes(offset) => Value::Constant {
                bank: (bits >> offset) as u8,
                offset: signed(bits & low(offset) as u64, offset),
            },
            Source::Uniform => self.uniform_value(spec, bits)?,
            Source::Register | Source::None => self.register_value(spec, bits)?,
        })
    }

    fn register_value<'t>(&self, spec: &'t OperandSpec, bits: u64) -> Result<Value<'t>, Missing<'t>> {
        match self.registers.general.register(bits as u8) {
            // no register follows the one that is always zero
            Register::Fixed if spec.next => Err((spec.name.as_str(), bits)),
            register => Ok(Value::Register(register)),
        }
    }

    fn uniform_value<'t>(&self, spec: &'t OperandSpec, bits: u64) -> Result<Value<'t>, Missing<'t>> {
        let file = self.registers.uniform.as_ref().ok_or((spec.name.as_str(), bits))?;
        Ok(Value::Uniform(file.register(bits as u8)))
    }

    fn address_value(&self, word: Word, spec: &OperandSpec, bits: u64) -> Value<'static> {
        let register = self.registers.general.register(bits as u8);
        // without a register, the offset is the address, which is unsigned
        let offset = spec.offset.as_ref().map_or(0, |field| match register {
            Register::Fixed if spec.uniform.is_none() => field.get(word) as i64,
            _ => signed(field.get(word), field.width()),
        });
        let offset = if spec.words { offset * 4 } else { offset };
        let wide = spec.wide || spec.extended.is_some_and(|bit| word >> bit & 1 != 0);
        let file = self.registers.uniform.as_ref();
        let shared = |field: &Option<Field>| Some(file?.register(field.as_ref()?.get(word) as u8));
        let (uniform, descriptor) = (shared(&spec.uniform), shared(&spec.descriptor));
        Value::Address { register, offset, wide, uniform, descriptor }
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
