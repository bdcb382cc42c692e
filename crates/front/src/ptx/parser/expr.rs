//! Parses numbers and constant expressions, which have the operators of C on 64-bit integers.

use super::{Failed, Parser};
use crate::ptx::ast::Const;
use crate::ptx::lexer::Kind;

/// The maximum nesting depth of parentheses and unary operators.
const MAX_DEPTH: u32 = 64;

/// Returns the precedence of a binary operator; a higher number binds more tightly.
fn binary(kind: Kind) -> Option<u8> {
    Some(match kind {
        Kind::PipePipe => 1,
        Kind::AndAnd => 2,
        Kind::Pipe => 3,
        Kind::Caret => 4,
        Kind::And => 5,
        Kind::EqualEqual | Kind::NotEqual => 6,
        Kind::Less | Kind::LessEqual | Kind::Greater | Kind::GreaterEqual => 7,
        Kind::ShiftLeft | Kind::ShiftRight => 8,
        Kind::Plus | Kind::Minus => ADDITIVE,
        Kind::Star | Kind::Slash | Kind::Percent => 10,
        _ => return None,
    })
}

/// The precedence of `+` and `-`.
const ADDITIVE: u8 = 9;

impl Parser<'_> {
    /// Parses a constant expression.
    pub(super) fn constant(&mut self) -> Result<Const, Failed> {
        self.ternary(0)
    }

    /// Parses an integer constant expression, as 64 bits in two's complement.
    pub(super) fn integer(&mut self) -> Result<i64, Failed> {
        let at = self.peek().span;
        match self.constant()? {
            Const::Int(value, _) => Ok(value as i64),
            Const::F32(_) | Const::F64(_) => Err(self.fail(at, "an integer is needed here", "")),
        }
    }

    /// Parses `(+ term)*` and `(- term)*` after a name; returns the sum.
    pub(super) fn offset(&mut self) -> Result<i64, Failed> {
        let mut sum = 0i64;
        while let Kind::Plus | Kind::Minus = self.peek().kind {
            let minus = self.bump().kind == Kind::Minus;
            let at = self.peek().span;
            let Const::Int(term, _) = self.operators(ADDITIVE + 1, 0)? else {
                return Err(self.fail(at, "an offset is an integer", ""));
            };
            sum = if minus { sum.wrapping_sub(term as i64) } else { sum.wrapping_add(term as i64) };
        }
        Ok(sum)
    }

    fn ternary(&mut self, depth: u32) -> Result<Const, Failed> {
        let condition = self.operators(0, depth)?;
        if !self.eat(Kind::Question) {
            return Ok(condition);
        }
        let yes = self.nested(depth, Self::ternary)?;
        self.expect(Kind::Colon, "`:` of `a ? b : c`")?;
        let no = self.nested(depth, Self::ternary)?;
        Ok(if matches!(condition, Const::Int(0, _)) { no } else { yes })
    }

    fn nested<T>(&mut self, depth: u32, parse: fn(&mut Self, u32) -> Result<T, Failed>) -> Result<T, Failed> {
        if depth >= MAX_DEPTH {
            let at = self.peek().span;
            return Err(self.fail(at, "this expression is nested too deeply", "simplify it"));
        }
        parse(self, depth + 1)
    }

    fn operators(&mut self, weakest: u8, depth: u32) -> Result<Const, Failed> {
        if depth >= MAX_DEPTH {
            let at = self.peek().span;
            return Err(self.fail(at, "this expression is nested too deeply", "simplify it"));
        }
        let mut left = self.unary(depth)?;
        while let Some(strength) = binary(self.peek().kind).filter(|&s| s >= weakest) {
            let operator = self.bump();
            let right = self.operators(strength + 1, depth + 1)?;
            let (Const::Int(a, ua), Const::Int(b, ub)) = (left, right) else {
                return Err(self.fail(operator.span, "operators work on integer constants only", ""));
            };
            left = match apply(operator.kind, a, b, ua || ub) {
                Some(value) => value,
                None => return Err(self.fail(operator.span, "division by zero in a constant", "")),
            };
        }
        Ok(left)
    }

    fn unary(&mut self, depth: u32) -> Result<Const, Failed> {
        let token = self.peek();
        match token.kind {
            Kind::Number => self.number(),
            Kind::Ident if self.slice(token.span) == "WARP_SZ" => {
                self.bump();
                Ok(Const::Int(warpbound_core::base::WARP_SIZE as u64, false))
            }
            Kind::Plus | Kind::Minus | Kind::Tilde | Kind::Not => {
                self.bump();
                let value = self.nested(depth, Self::unary)?;
                match (token.kind, value) {
                    (Kind::Plus, value) => Ok(value),
                    (Kind::Minus, Const::F32(bits)) => Ok(Const::F32(bits ^ 1 << 31)),
                    (Kind::Minus, Const::F64(bits)) => Ok(Const::F64(bits ^ 1 << 63)),
                    (Kind::Minus, Const::Int(value, unsigned)) => {
                        Ok(Const::Int(value.wrapping_neg(), unsigned))
                    }
                    (Kind::Tilde, Const::Int(value, unsigned)) => Ok(Const::Int(!value, unsigned)),
                    (Kind::Not, Const::Int(value, _)) => Ok(Const::Int(u64::from(value == 0), false)),
                    _ => Err(self.fail(token.span, "this operator needs an integer", "")),
                }
            }
            Kind::LeftParen => {
                self.bump();
                let cast = (self.peek().kind == Kind::Dot).then(|| self.slice(self.peek().span));
                let Some(cast) = cast else {
                    let value = self.nested(depth, Self::ternary)?;
                    self.expect(Kind::RightParen, "`)`")?;
                    return Ok(value);
                };
                let cast_at = self.bump().span;
                self.expect(Kind::RightParen, "`)`")?;
                match (cast, self.nested(depth, Self::unary)?) {
                    (".s64", Const::Int(value, _)) => Ok(Const::Int(value, false)),
                    (".u64", Const::Int(value, _)) => Ok(Const::Int(value, true)),
                    _ => Err(self.fail(cast_at, "constants are cast to .s64 or .u64 only", "")),
                }
            }
            _ => Err(self.unexpected("a constant")),
        }
    }

    fn number(&mut self) -> Result<Const, Failed> {
        let token = self.bump();
        let text = self.slice(token.span);
        number(text).ok_or_else(|| {
            let hint =
                "integers fit 64 bits; floats are 0f and 8 hex digits, 0d and 16, or a decimal fraction";
            self.fail(token.span, format!("`{text}` is not a number"), hint)
        })
    }
}

/// Parses a literal.
pub(in crate::ptx) fn number(text: &str) -> Option<Const> {
    let hex = |digits: &str, count: usize| {
        (digits.len() == count && digits.bytes().all(|b| b.is_ascii_hexdigit()))
            .then(|| u64::from_str_radix(digits, 16).ok())
            .flatten()
    };
    let (prefix, rest) =
        if text.is_char_boundary(2) && text.len() > 2 { text.split_at(2) } else { (text, "") };
    match prefix {
        "0f" | "0F" => return hex(rest, 8).map(|bits| Const::F32(bits as u32)),
        "0d" | "0D" => return hex(rest, 16).map(Const::F64),
        _ => {}
    }
    let (digits, unsigned) = text.strip_suffix(['U', 'u']).map_or((text, false), |digits| (digits, true));
    let integer = match prefix {
        "0x" | "0X" => parse(digits.get(2..)?, 16),
        "0b" | "0B" => parse(digits.get(2..)?, 2),
        _ if digits.contains(['.', 'e', 'E']) => {
            return digits.parse::<f64>().ok().filter(|_| !unsigned).map(|value| Const::F64(value.to_bits()));
        }
        _ if digits.len() > 1 && digits.starts_with('0') => parse(&digits[1..], 8),
        _ => parse(digits, 10),
    };
    // an integer that does not fit a signed type is unsigned, as in C
    integer.map(|value| Const::Int(value, unsigned || value > i64::MAX as u64))
}

fn parse(digits: &str, radix: u32) -> Option<u64> {
    // from_str_radix would accept a sign
    digits.starts_with(|c: char| c.is_digit(radix)).then(|| u64::from_str_radix(digits, radix).ok()).flatten()
}

fn apply(operator: Kind, a: u64, b: u64, unsigned: bool) -> Option<Const> {
    let (sa, sb) = (a as i64, b as i64);
    let truth = |value: bool| Const::Int(u64::from(value), false);
    let value = |value: u64| Const::Int(value, unsigned);
    let shift = u32::try_from(b).unwrap_or(u32::MAX);
    Some(match operator {
        Kind::PipePipe => truth(a != 0 || b != 0),
        Kind::AndAnd => truth(a != 0 && b != 0),
        Kind::Pipe => value(a | b),
        Kind::Caret => value(a ^ b),
        Kind::And => value(a & b),
        Kind::EqualEqual => truth(a == b),
        Kind::NotEqual => truth(a != b),
        Kind::Less => truth(if unsigned { a < b } else { sa < sb }),
        Kind::LessEqual => truth(if unsigned { a <= b } else { sa <= sb }),
        Kind::Greater => truth(if unsigned { a > b } else { sa > sb }),
        Kind::GreaterEqual => truth(if unsigned { a >= b } else { sa >= sb }),
        Kind::ShiftLeft => value(a.checked_shl(shift).unwrap_or(0)),
        Kind::ShiftRight if unsigned => value(a.checked_shr(shift).unwrap_or(0)),
        Kind::ShiftRight => value((sa >> shift.min(63)) as u64),
        Kind::Plus => value(a.wrapping_add(b)),
        Kind::Minus => value(a.wrapping_sub(b)),
        Kind::Star => value(a.wrapping_mul(b)),
        Kind::Slash | Kind::Percent if b == 0 => return None,
        Kind::Slash => value(if unsigned { a / b } else { sa.wrapping_div(sb) as u64 }),
        Kind::Percent => value(if unsigned { a % b } else { sa.wrapping_rem(sb) as u64 }),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_of_every_base() {
        for (text, expected) in [
            ("0", Const::Int(0, false)),
            ("017", Const::Int(15, false)),
            ("0x1F", Const::Int(31, false)),
            ("0b101", Const::Int(5, false)),
            ("12U", Const::Int(12, true)),
            ("0XFFU", Const::Int(255, true)),
            ("18446744073709551615", Const::Int(u64::MAX, true)),
            ("0f3F800000", Const::F32(0x3f80_0000)),
            ("0d3FF0000000000000", Const::F64(0x3ff0_0000_0000_0000)),
            ("1.5", Const::F64(1.5f64.to_bits())),
            ("2.5e3", Const::F64(2500f64.to_bits())),
        ] {
            assert_eq!(number(text), Some(expected), "{text}");
        }
        for text in ["08", "0b2", "0x", "0f123", "0dXYZ", "18446744073709551616", "1x", "0f+1234567", ""] {
            assert_eq!(number(text), None, "{text}");
        }
    }
}
