//! Encoding of instructions.

use super::field::{Field, low, signed};
use super::instruction::{Decoded, Operand, Value};
use super::{Encoding, Form, Kind, OperandSpec, Part, Register, Source, Word};

impl Encoding {
    /// Encodes an instruction.
    ///
    /// # Errors
    /// Returns the name of an operand whose value does not fit its field.
    pub fn encode<'t>(&self, decoded: &Decoded<'t>) -> Result<Word, &'t str> {
        let op = decoded.op;
        let form = &op.forms[decoded.form];
        let mut word = form.bits;
        if op.guarded {
            let file = self.guards(op);
            let (register, negated) = decoded.guard.unwrap_or((Register::Fixed, false));
            let number = file.number(register).ok_or("guard")?;
            word |= self.guard.put(u64::from(number) | u64::from(negated) << file.bits);
        }
        let modifiers = op.mnemonic.iter().filter_map(|part| match part {
            Part::Modifier(modifier) => Some(modifier),
            Part::Text(_) => None,
        });
        for (modifier, &(name, _, number)) in modifiers.zip(&decoded.modifiers) {
            word |= modifier.field.put(unsigned(number, &modifier.field).ok_or(name)?);
        }
        for (spec, operand) in op.operands.iter().zip(&decoded.operands) {
            word |= self.operand_bits(spec, form, operand).ok_or(operand.name)?;
        }
        Ok(word)
    }

    fn operand_bits(&self, spec: &OperandSpec, form: &Form, operand: &Operand) -> Option<Word> {
        let mut word = self.value_bits(spec, form, operand.value)?;
        // a number in the place of a register has no signs
        if matches!((spec.kind, operand.value), (Kind::RegisterOrNumber(_), Value::Small(_))) {
            return Some(word);
        }
        let flags = [
            (spec.neg, operand.neg),
            (spec.abs, operand.abs),
            (spec.inv, operand.inv),
            (spec.not, operand.not),
            (spec.cc, operand.cc),
            (spec.half, operand.half),
        ];
        for (bit, set) in flags {
            match (spec.sign(bit, form), set) {
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

    /// Returns the bits of the value of an operand.
    fn value_bits(&self, spec: &OperandSpec, form: &Form, value: Value) -> Option<Word> {
        let field = spec.place(form);
        let registers = &self.registers;
        let mut word = 0;
        let bits = match value {
            Value::Register(register) => registers.general.number(register)?.into(),
            Value::Predicate(register) => registers.predicate.number(register)?.into(),
            Value::Uniform(register) => registers.uniform.as_ref()?.number(register)?.into(),
            Value::UniformPredicate(register) => {
                registers.uniform_predicate.as_ref()?.number(register)?.into()
            }
            Value::Constant { bank, offset } => match form.source {
                Source::ConstantBytes(bits) => fits(offset, bits)? | u64::from(bank) << bits,
                Source::Constant(bits) if offset % 4 == 0 => {
                    fits(offset / 4, bits)? | u64::from(bank) << bits
                }
                _ => return None,
            },
            Value::IndexedConstant { bank, register, offset } => {
                let (at, bank_at) = (spec.offset.as_ref()?, spec.bank.as_ref()?);
                word |= at.put(fits(offset, at.width())?) | bank_at.put(unsigned(bank.into(), bank_at)?);
                registers.general.number(register)?.into()
            }
            Value::UniformConstant { bank, register, offset } => {
                let (at, bank_at) = (spec.offset.as_ref()?, spec.bank.as_ref()?);
                word |= at.put(fits(offset, at.width())?) | bank_at.put(unsigned(bank.into(), bank_at)?);
                registers.uniform.as_ref()?.number(register)?.into()
            }
            Value::Half(bits) | Value::Brain(bits) => bits.into(),
            Value::Number(number) if spec.words && number % 4 == 0 => fits(number / 4, field.width())?,
            Value::Number(number) if !spec.words => fits(number, field.width())?,
            Value::Small(number) if matches!(spec.kind, Kind::RegisterOrNumber(_)) => {
                let (number_field, bit) = spec.number.as_ref()?;
                return Some(number_field.put(unsigned(number, number_field)?) | 1 << bit);
            }
            Value::Small(number) if spec.words && number % 4 == 0 => number / 4,
            Value::Small(number) if !spec.words => number,
            Value::Single(bits) => upper(bits.into(), 32, field)?,
            Value::Double(bits) => upper(bits, 64, field)?,
            Value::Target(offset) if spec.words && offset % 4 == 0 => fits(offset / 4, field.width())?,
            Value::Target(offset) if !spec.words => fits(offset, field.width())?,
            Value::Address { uniform: Some(uniform), offset, .. } if spec.kind == Kind::UniformAddress => {
                word |= address_offset(spec, uniform, offset)?;
                registers.uniform.as_ref()?.number(uniform)?.into()
            }
            Value::Descriptor(_, register) => registers.uniform.as_ref()?.number(register)?.into(),
            Value::Address { register, offset, uniform, descriptor, .. } => {
                word |= address_offset(spec, register, offset)?;
                for (field, register) in [(&spec.uniform, uniform), (&spec.descriptor, descriptor)] {
                    if let (Some(field), Some(register)) = (field, register) {
                        word |= field.put(registers.uniform.as_ref()?.number(register)?.into());
                    }
                }
                registers.general.number(register)?.into()
            }
            Value::Choice(_, number) => number,
            Value::Barrier(barrier) | Value::Barriers(barrier) => barrier.into(),
            Value::Target(_) | Value::Number(_) | Value::Small(_) => return None,
        };
        let bits = if spec.complement { bits ^ low(field.width()) as u64 } else { bits };
        Some(word | field.put(unsigned(bits, field)?))
    }
}

/// Returns the bits of the offset of an address.
fn address_offset(spec: &OperandSpec, register: Register, offset: i64) -> Option<Word> {
    let Some(field) = &spec.offset else { return if offset == 0 { Some(0) } else { None } };
    let unit = if spec.words { 4 } else { 1 };
    if offset % unit != 0 {
        return None;
    }
    let offset = offset / unit;
    Some(field.put(match register {
        Register::Fixed if spec.uniform.is_none() => unsigned(u64::try_from(offset).ok()?, field)?,
        _ => fits(offset, field.width())?,
    }))
}

/// Returns the low bits of a signed number if they express it.
fn fits(value: i64, bits: u32) -> Option<u64> {
    (signed(value as u64, bits) == value).then_some(value as u64 & (low(bits) as u64))
}

/// Returns an unsigned number if it fits a field.
fn unsigned(value: u64, field: &Field) -> Option<u64> {
    (Word::from(value) <= low(field.width())).then_some(value)
}

/// Returns the upper bits of a number if the lower ones, which the field does not have, are zero.
fn upper(bits: u64, width: u32, field: &Field) -> Option<u64> {
    let missing = width.checked_sub(field.width())?;
    (Word::from(bits) & low(missing) == 0).then_some(bits >> missing)
}
