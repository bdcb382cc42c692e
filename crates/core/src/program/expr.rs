//! Integers in launch and program files: a number, or an expression over the names that the
//! file defines, such as `"(n + 15) / 16"`.
//!
//! The precedence is that of C: `- !`, `* / %`, `+ -`, `<< >>`, `< <= > >=`, `== !=`. Comparisons
//! yield 1 or 0; `min(a, b)` and `max(a, b)` are functions. Division truncates towards zero. Values
//! are exact: a value beyond 128 bits, a division by zero and a shift by more than 63 bits are
//! errors.

use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::diag::closest;

/// The maximum length of an expression in bytes, and the maximum depth of its parentheses.
const MAX_LENGTH: usize = 500;
const MAX_DEPTH: usize = 32;

/// A parsed expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    /// The source text; `None` for a number.
    text: Option<String>,
    node: Node,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Value(i128),
    Name(String),
    Negate(Box<Node>),
    Not(Box<Node>),
    Binary(Op, Box<(Node, Node)>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    Min,
    Max,
}

/// The binary operators by level of precedence, the highest first. An operator precedes those that
/// are a prefix of it.
const LEVELS: [&[(&str, Op)]; 5] = [
    &[("*", Op::Mul), ("/", Op::Div), ("%", Op::Rem)],
    &[("+", Op::Add), ("-", Op::Sub)],
    &[("<<", Op::Shl), (">>", Op::Shr)],
    &[("<=", Op::Le), (">=", Op::Ge), ("<", Op::Lt), (">", Op::Gt)],
    &[("==", Op::Eq), ("!=", Op::Ne)],
];

/// The names that an expression may use, the innermost scope last.
#[derive(Clone, Debug, Default)]
pub struct Names {
    values: Vec<(String, i128)>,
}

impl Names {
    /// Defines a name in a new innermost scope.
    ///
    /// # Errors
    /// The name is not an identifier, is `min` or `max`, or is defined already.
    pub fn define(&mut self, name: &str, value: i128) -> Result<(), String> {
        let plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !plain || matches!(name, "min" | "max") {
            return Err(format!(
                "`{name}` is not a name: use letters, digits and `_`, and neither `min` nor `max`"
            ));
        }
        if self.get(name).is_some() {
            return Err(format!("the name `{name}` is taken"));
        }
        self.values.push((name.to_owned(), value));
        Ok(())
    }

    /// Changes the value of the innermost name.
    pub fn set_last(&mut self, value: i128) {
        if let Some(last) = self.values.last_mut() {
            last.1 = value;
        }
    }

    /// Removes the innermost name.
    pub fn forget_last(&mut self) {
        self.values.pop();
    }

    fn get(&self, name: &str) -> Option<i128> {
        self.values.iter().rev().find(|(known, _)| known == name).map(|(_, value)| *value)
    }
}

impl Default for Expr {
    fn default() -> Self {
        Self::from(0)
    }
}

impl From<u64> for Expr {
    fn from(value: u64) -> Self {
        Self { text: None, node: Node::Value(value.into()) }
    }
}

impl Expr {
    /// Parses an expression.
    ///
    /// # Errors
    /// Returns a message if the text is too long or is not an expression.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |message: String| format!("expression `{text}`: {message}");
        if text.len() > MAX_LENGTH {
            return Err(format!("an expression of more than {MAX_LENGTH} characters"));
        }
        let mut parser = Parser { text, at: 0 };
        let node = parser.binary(LEVELS.len(), 0).map_err(wrong)?;
        if !parser.rest().is_empty() {
            return Err(wrong(format!("`{}` is not expected", parser.rest())));
        }
        Ok(Self { text: Some(text.to_owned()), node })
    }

    /// Evaluates the expression.
    ///
    /// # Errors
    /// A name is not defined, or an operation has no result.
    pub fn eval(&self, names: &Names) -> Result<i128, String> {
        eval(&self.node, names).map_err(|message| match &self.text {
            Some(text) => format!("expression `{text}`: {message}"),
            None => message,
        })
    }

    /// Returns the value of an expression that contains no names.
    pub fn constant(&self) -> Option<i128> {
        self.eval(&Names::default()).ok()
    }
}

fn eval(node: &Node, names: &Names) -> Result<i128, String> {
    match node {
        Node::Value(value) => Ok(*value),
        Node::Name(name) => names.get(name).ok_or_else(|| unknown(name, names)),
        Node::Negate(inner) => eval(inner, names)?.checked_neg().ok_or_else(overflow),
        Node::Not(inner) => Ok((eval(inner, names)? == 0).into()),
        Node::Binary(op, sides) => {
            let (a, b) = (eval(&sides.0, names)?, eval(&sides.1, names)?);
            binary(*op, a, b)
        }
    }
}

fn binary(op: Op, a: i128, b: i128) -> Result<i128, String> {
    let shift = || u32::try_from(b).ok().filter(|&by| by < 64).ok_or_else(|| format!("a shift by {b}"));
    let value = match op {
        Op::Mul => a.checked_mul(b),
        Op::Add => a.checked_add(b),
        Op::Sub => a.checked_sub(b),
        Op::Div | Op::Rem if b == 0 => return Err("a division by zero".to_owned()),
        Op::Div => a.checked_div(b),
        Op::Rem => a.checked_rem(b),
        Op::Shl => a.checked_mul(1 << shift()?),
        Op::Shr => Some(a >> shift()?),
        Op::Lt => Some((a < b).into()),
        Op::Le => Some((a <= b).into()),
        Op::Gt => Some((a > b).into()),
        Op::Ge => Some((a >= b).into()),
        Op::Eq => Some((a == b).into()),
        Op::Ne => Some((a != b).into()),
        Op::Min => Some(a.min(b)),
        Op::Max => Some(a.max(b)),
    };
    value.ok_or_else(overflow)
}

fn overflow() -> String {
    "the value does not fit 128 bits".to_owned()
}

fn unknown(name: &str, names: &Names) -> String {
    let known: Vec<&str> = names.values.iter().map(|(name, _)| name.as_str()).collect();
    let near = closest(name, known.iter().copied());
    match (near, known.is_empty()) {
        (Some(near), _) => format!("`{name}` is not defined, did you mean `{near}`?"),
        (None, true) => format!("`{name}` is not defined; no names are defined here"),
        (None, false) => format!("`{name}` is not defined; names here: {}", known.join(", ")),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.text[self.at..].trim_start()
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at = self.text.len() - self.rest().len() + token.len();
        }
        found
    }

    /// Parses a left-associative chain of the operators of a level, whose operands have higher
    /// precedence.
    fn binary(&mut self, level: usize, depth: usize) -> Result<Node, String> {
        let Some(inner) = level.checked_sub(1) else { return self.unary(depth) };
        let mut left = self.binary(inner, depth)?;
        // a `<` that begins `<<` is not an operator by itself
        while let Some((_, op)) = LEVELS[inner].iter().find(|(sign, _)| self.operator(sign)) {
            left = Node::Binary(*op, Box::new((left, self.binary(inner, depth)?)));
        }
        Ok(left)
    }

    fn operator(&mut self, sign: &str) -> bool {
        let longer =
            ["<<", ">>", "<=", ">="].iter().any(|l| l.len() > sign.len() && self.rest().starts_with(l));
        !longer && self.take(sign)
    }

    fn unary(&mut self, depth: usize) -> Result<Node, String> {
        if depth > MAX_DEPTH {
            return Err("it nests too deeply".to_owned());
        }
        if self.take("-") {
            return Ok(Node::Negate(Box::new(self.unary(depth + 1)?)));
        }
        if self.rest().starts_with('!') && !self.rest().starts_with("!=") && self.take("!") {
            return Ok(Node::Not(Box::new(self.unary(depth + 1)?)));
        }
        if self.take("(") {
            let inside = self.binary(LEVELS.len(), depth + 1)?;
            self.expect(")")?;
            return Ok(inside);
        }
        let rest = self.rest();
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let word = &rest[..length];
        self.take(word);
        match word {
            "" if rest.is_empty() => Err("it ends where a value is expected".to_owned()),
            "" => Err(format!("a value is expected before `{rest}`")),
            "min" => self.function(Op::Min, depth),
            "max" => self.function(Op::Max, depth),
            word if word.starts_with(|c: char| c.is_ascii_digit()) => number(word),
            name => Ok(Node::Name(name.to_owned())),
        }
    }

    fn function(&mut self, op: Op, depth: usize) -> Result<Node, String> {
        self.expect("(")?;
        let first = self.binary(LEVELS.len(), depth + 1)?;
        self.expect(",")?;
        let second = self.binary(LEVELS.len(), depth + 1)?;
        self.expect(")")?;
        Ok(Node::Binary(op, Box::new((first, second))))
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.take(token) {
            return Ok(());
        }
        match self.rest() {
            "" => Err(format!("`{token}` is missing at the end")),
            rest => Err(format!("`{token}` is missing before `{rest}`")),
        }
    }
}

fn number(word: &str) -> Result<Node, String> {
    let plain = word.replace('_', "");
    let value = match plain.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16),
        None => plain.parse(),
    };
    value.map(Node::Value).map_err(|_| format!("`{word}` is no number"))
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.text, &self.node) {
            (Some(text), _) => f.write_str(text),
            (None, Node::Value(value)) => value.fmt(f),
            // unreachable: only numbers have no text
            (None, _) => Ok(()),
        }
    }
}

/// Writes an integer in the smallest type that holds it, since few formats have integers of 128 bits.
pub(super) fn serialize_integer<S: Serializer>(value: i128, serializer: S) -> Result<S::Ok, S::Error> {
    match (u64::try_from(value), i64::try_from(value)) {
        (Ok(value), _) => serializer.serialize_u64(value),
        (_, Ok(value)) => serializer.serialize_i64(value),
        _ => serializer.serialize_i128(value),
    }
}

impl Serialize for Expr {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (&self.text, &self.node) {
            (None, Node::Value(value)) => serialize_integer(*value, serializer),
            _ => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Expr {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ExprVisitor;

        impl Visitor<'_> for ExprVisitor {
            type Value = Expr;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer, or an expression such as \"n / 2\"")
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Expr, E> {
                Ok(Expr::from(value))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Expr, E> {
                Ok(Expr { text: None, node: Node::Value(value.into()) })
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Expr, E> {
                Expr::parse(text).map_err(E::custom)
            }
        }

        deserializer.deserialize_any(ExprVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<i128, String> {
        let mut names = Names::default();
        names.define("n", 100).unwrap();
        names.define("k", 3).unwrap();
        names.define("size", 8).unwrap();
        Expr::parse(text)?.eval(&names)
    }

    #[test]
    fn expressions_have_the_values_of_c() {
        for (text, expected) in [
            ("7", 7),
            ("0x1f", 31),
            ("1_000", 1000),
            ("(n + 15) / 16", 7),
            ("n - k - 1", 96),
            ("-7 / 2", -3),
            ("-7 % 4", -3),
            ("1 << k + 1", 16),
            ("n >> 2", 25),
            ("1 + 2 * 3 << 1", 14),
            ("k < n == 1", 1),
            ("n <= 100", 1),
            ("n != 100", 0),
            ("!k", 0),
            ("min(n, 2 * k) + max(-1, 0)", 6),
            ("- -k", 3),
        ] {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn errors_state_their_reason() {
        for (text, why) in [
            ("", "ends where a value"),
            ("n +", "ends where a value"),
            ("(n", "`)` is missing"),
            ("n k", "`k` is not expected"),
            ("m", "names here: n, k, size"),
            ("sice", "did you mean `size`"),
            ("n / (k - 3)", "division by zero"),
            ("1 << 64", "a shift by 64"),
            ("0x7fffffffffffffffffffffffffffffff + 1", "128 bits"),
            ("12ab", "no number"),
            ("min(1)", "`,` is missing"),
            ("&n", "a value is expected"),
        ] {
            let message = value(text).unwrap_err();
            assert!(message.contains(why), "{text}: {message}");
        }
        assert!(value(&"(".repeat(400)).unwrap_err().contains("too deep"));
        assert!(value(&"1+".repeat(400)).unwrap_err().contains("characters"));
        assert!(Names::default().define("min", 1).is_err() && Names::default().define("2", 1).is_err());
    }

    #[test]
    fn numbers_and_texts_are_read_and_written() {
        let read = |text: &str| ron::from_str::<Expr>(text).map_err(|e| e.to_string());
        assert_eq!(read("-5").unwrap().constant(), Some(-5));
        assert_eq!(read("18446744073709551615").unwrap().constant(), Some(u64::MAX.into()));
        assert_eq!(read("\"n*2\"").unwrap().constant(), None);
        assert!(read("2.5").unwrap_err().contains("an integer, or an expression"));
        for text in ["-5", "7", "\"n*2\""] {
            assert_eq!(ron::to_string(&read(text).unwrap()).unwrap(), text);
        }
    }
}
