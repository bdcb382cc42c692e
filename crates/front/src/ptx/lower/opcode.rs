//! Opcodes: a root and modifiers, all of which must be consumed.

use super::{Refusal, Res};
use crate::ptx::types::Type;
use warpbound_core::program::sem::Round;

/// An opcode whose modifiers are consumed one by one; a modifier that remains is not supported.
pub(super) struct Opcode<'a> {
    /// The complete text.
    pub text: &'a str,
    /// The text before the first dot.
    pub root: &'a str,
    modifiers: Vec<(&'a str, bool)>,
}

impl<'a> Opcode<'a> {
    /// Splits an opcode.
    pub fn new(text: &'a str) -> Self {
        let mut parts = text.split('.').map(str::trim);
        let root = parts.next().unwrap_or_default();
        Self { text, root, modifiers: parts.map(|part| (part, false)).collect() }
    }

    /// Consumes a modifier if it is present; returns whether it is.
    pub fn take(&mut self, name: &str) -> bool {
        match self.modifiers.iter_mut().find(|(part, used)| !used && *part == name) {
            Some((_, used)) => {
                *used = true;
                true
            }
            None => false,
        }
    }

    /// Consumes the first of these modifiers that is present.
    pub fn choose<T: Copy>(&mut self, options: &[(&str, T)]) -> Option<T> {
        options.iter().find(|(name, _)| self.take(name)).map(|(_, value)| *value)
    }

    /// Consumes one of these modifiers; it is an error if there is none.
    pub fn need<T: Copy>(&mut self, property: &str, options: &[(&str, T)]) -> Res<T> {
        self.choose(options).ok_or_else(|| {
            let names: Vec<String> = options.iter().map(|(name, _)| format!(".{name}")).collect();
            Refusal::new(
                format!("`{}` names no {property}", self.text),
                format!("one of {}", names.join(" ")),
            )
        })
    }

    /// Consumes all of these modifiers that are present.
    pub fn ignore(&mut self, names: &[&str]) {
        names.iter().for_each(|name| {
            self.take(name);
        });
    }

    /// Consumes all modifiers for which `fits` holds.
    pub fn ignore_if(&mut self, fits: impl Fn(&str) -> bool) {
        self.modifiers.iter_mut().filter(|(part, _)| fits(part)).for_each(|(_, used)| *used = true);
    }

    /// Returns whether a modifier is present, consumed or not.
    pub fn has(&self, name: &str) -> bool {
        self.modifiers.iter().any(|(part, _)| *part == name)
    }

    /// Returns the first type without consuming it.
    pub fn first_type(&self) -> Option<Type> {
        self.modifiers.iter().find_map(|(part, used)| (!used).then(|| Type::parse(part)).flatten())
    }

    /// Consumes all types.
    pub fn types(&mut self) -> Vec<Type> {
        self.all(Type::parse)
    }

    /// Consumes all modifiers that `parse` accepts, in order.
    pub fn all<T>(&mut self, parse: impl Fn(&str) -> Option<T>) -> Vec<T> {
        let mut found = Vec::new();
        for (part, used) in &mut self.modifiers {
            if let Some(meaning) = (!*used).then(|| parse(part)).flatten() {
                *used = true;
                found.push(meaning);
            }
        }
        found
    }

    /// Consumes the only type.
    pub fn ty(&mut self) -> Res<Type> {
        match self.types().as_slice() {
            [ty] => self.known(*ty),
            _ => Err(self.types_wrong(1)),
        }
    }

    /// Consumes two types.
    pub fn two_types(&mut self) -> Res<(Type, Type)> {
        match self.types().as_slice() {
            [a, b] => Ok((self.known(*a)?, self.known(*b)?)),
            _ => Err(self.types_wrong(2)),
        }
    }

    /// Returns the error for an opcode with a wrong number of types.
    pub fn types_wrong(&self, count: usize) -> Refusal {
        self.leftover().unwrap_or_else(|| {
            let plural = if count == 1 { "type" } else { "types" };
            Refusal::new(format!("`{}` does not have {count} {plural}", self.text), "")
        })
    }

    /// Checks that arithmetic instructions support a type.
    pub fn known(&self, ty: Type) -> Res<Type> {
        match ty {
            Type::Tf32 => Err(Refusal::new(
                format!(
                    "`{}`: values of tf32 can only be results of conversions and elements of matrices",
                    self.text
                ),
                "compute in single precision",
            )),
            Type::Halves { .. } => Err(Refusal::new(
                format!("`{}`: only add, min and max work on pairs of integers", self.text),
                "compute each half by itself, or use a video instruction",
            )),
            Type::Bits(128) => {
                Err(Refusal::new(format!("`{}`: 128-bit values are not supported", self.text), ""))
            }
            Type::Opaque => Err(Refusal::new(format!("`{}` has a type without values", self.text), "")),
            ty => Ok(ty),
        }
    }

    /// Consumes the rounding mode of arithmetic, if there is one.
    pub fn rounding(&mut self) -> Option<Round> {
        self.choose(&[("rn", Round::Nearest), ("rz", Round::Zero), ("rm", Round::Down), ("rp", Round::Up)])
    }

    fn leftover(&self) -> Option<Refusal> {
        let (part, _) = self.modifiers.iter().find(|(_, used)| !used)?;
        Some(Refusal::new(format!("`{}`: modifier `.{part}` is not supported here", self.text), ""))
    }

    /// Checks that all modifiers have been consumed.
    pub fn finish(&self) -> Res<()> {
        self.leftover().map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unconsumed_modifier_is_an_error() {
        let mut op = Opcode::new("add.rn.ftz.f32");
        assert_eq!(op.rounding(), Some(Round::Nearest));
        assert_eq!(op.ty().ok(), Some(Type::F32));
        assert!(op.finish().is_err_and(|refusal| refusal.message.contains("`.ftz`")));
        assert!(op.take("ftz") && op.finish().is_ok());
        assert!(Opcode::new("add.tf32").ty().is_err_and(|r| r.message.contains("tf32")));
    }
}
