//! The names of registers in traces.
//!
//! Up to version 5 tracers list registers of threads only. Later ones also list uniform registers
//! and predicates. Each register has a number: those of threads their own, and the others numbers
//! above.

/// The highest number that a register of a thread can have. Traces that warpbound writes use numbers
/// up to this one.
const MAX_REGISTER: u32 = 59_999;
/// The number of the first uniform register.
const UNIFORM: u32 = MAX_REGISTER + 1;
/// The number of uniform registers that a name can state.
const UNIFORM_COUNT: u32 = 256;
/// The number of the first predicate.
const PREDICATE: u32 = UNIFORM + UNIFORM_COUNT;
/// The number of predicates of each kind. The last one is always true.
const PREDICATE_COUNT: u32 = 8;
/// The number of the first uniform predicate.
const UNIFORM_PREDICATE: u32 = PREDICATE + PREDICATE_COUNT;

/// The register of a thread that always reads zero in traces of real GPUs.
pub(super) const ZERO: u32 = 255;

/// Parses the name of a register of a thread, such as `R7`.
pub(super) fn register_number(text: &str) -> Option<u32> {
    text.strip_prefix('R')?.parse().ok().filter(|&number| number <= MAX_REGISTER)
}

/// Parses the name of a register of any kind: `R7`, `UR4`, `P0` or `UP1`.
pub(super) fn any_register_number(text: &str) -> Option<u32> {
    let kinds = [
        ("UR", UNIFORM, UNIFORM_COUNT),
        ("UP", UNIFORM_PREDICATE, PREDICATE_COUNT),
        ("P", PREDICATE, PREDICATE_COUNT),
    ];
    let other = kinds.iter().find_map(|&(prefix, first, count)| {
        let number: u32 = text.strip_prefix(prefix)?.parse().ok()?;
        (number < count).then_some(first + number)
    });
    register_number(text).or(other)
}

/// Returns the name of a register.
pub(super) fn name(number: u32) -> String {
    match number {
        UNIFORM_PREDICATE.. => format!("UP{}", number - UNIFORM_PREDICATE),
        PREDICATE.. => format!("P{}", number - PREDICATE),
        UNIFORM.. => format!("UR{}", number - UNIFORM),
        _ => format!("R{number}"),
    }
}

/// Returns whether a register is a predicate.
pub(super) fn is_predicate(number: u32) -> bool {
    number >= PREDICATE
}

/// Returns whether a register is a uniform one, or a predicate.
pub(super) fn is_other(number: u32) -> bool {
    number >= UNIFORM
}

/// Returns whether a register has a fixed value in traces of real GPUs of an architecture, such as
/// 90 for sm_90: zero, or true.
pub(super) fn is_constant(number: u32, architecture: Option<u32>) -> bool {
    // Blackwell has more uniform registers than the generations before
    let uniform_zero = UNIFORM + if architecture.is_some_and(|number| number >= 100) { 255 } else { 63 };
    let truth = PREDICATE_COUNT - 1;
    number == ZERO
        || number == uniform_zero
        || number == PREDICATE + truth
        || number == UNIFORM_PREDICATE + truth
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_belong_together() {
        for text in ["R0", "R255", "R59999", "UR0", "UR255", "P0", "P7", "UP0", "UP7"] {
            assert_eq!(name(any_register_number(text).unwrap()), text);
        }
        for text in ["", "R", "R60000", "UR256", "P8", "UP8", "X1", "R-1", "UR", "PR1"] {
            assert_eq!(any_register_number(text), None, "{text}");
        }
        assert_eq!(register_number("UR4"), None);
    }

    #[test]
    fn the_uniform_zero_depends_on_the_generation() {
        let uniform = |number: u32| any_register_number(&format!("UR{number}")).unwrap();
        assert!(is_constant(uniform(63), Some(90)) && !is_constant(uniform(255), Some(90)));
        assert!(is_constant(uniform(255), Some(120)) && !is_constant(uniform(63), Some(120)));
        assert!(is_constant(ZERO, None) && is_constant(any_register_number("P7").unwrap(), None));
    }
}
