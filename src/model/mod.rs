//! # The execution model
//!
//! What a simulated cycle is: the rules that the timing engine, the analyser, the explorer and the tests' own reference
//! simulator all follow, in one place and without code. They were written four times, independently ([`crate::sim`],
//! [`crate::bound`], [`crate::explore::model`], `tests/support/per_cycle.rs`), and agree; where a description here and the
//! code differ, that is a fault to be reported.
//!
//! Sections 1 to 7 are the *paper model*, named after Jeanmougin et al., ECRTS 2025, who describe the SM so; 8 to 10 say
//! what its instructions take, 11 to 13 what is computed about it, 14 when none of that means anything, 15 and 16 the two
//! other models of this crate, 17 what machine code changes. Papers are listed in [`bibliography`].
//!
//! All times are integers, in cycles. Intervals are half open: `[a, b)` covers the cycles `a` to `b - 1`.
#![doc = include_str!("issue.md")]
#![doc = include_str!("policies.md")]
#![doc = include_str!("sm.md")]
#![doc = include_str!("memory.md")]
#![doc = include_str!("bounds.md")]
#![doc = include_str!("beyond.md")]

#[doc = include_str!("bibliography.md")]
pub mod bibliography {}
