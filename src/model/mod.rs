//! # The execution model
//!
//! This page defines a simulated cycle: the rules that the timing engine, the analyser, the
//! explorer and the reference simulator of the tests follow, in one place and without code. There
//! are four independent implementations ([`crate::sim`], [`crate::bound`],
//! [`crate::explore::model`], `tests/support/per_cycle.rs`), which agree. A difference between this
//! description and the code is a bug that should be reported.
//!
//! Sections 1 to 7 describe the *paper model*, named after Jeanmougin et al., ECRTS 2025, who
//! describe the SM in this way. Sections 8 to 10 describe memory, divergence and idle cycles,
//! sections 11 to 13 the analysis and the bounds, and section 14 the conditions under which results
//! are not meaningful. Sections 15 and 16 describe the other two models of warpbound, section 17
//! the effect of machine code, section 18 the memory system, and section 19 the stages of the
//! pipeline. [`glossary`] defines the terms, and [`bibliography`] lists the papers.
//!
//! All times are integers, in cycles. Intervals are half-open: `[a, b)` covers the cycles `a` to
//! `b - 1`.
#![doc = include_str!("issue.md")]
#![doc = include_str!("policies.md")]
#![doc = include_str!("sm.md")]
#![doc = include_str!("memory.md")]
#![doc = include_str!("bounds.md")]
#![doc = include_str!("beyond.md")]
#![doc = include_str!("memory_system.md")]
#![doc = include_str!("stages.md")]

#[doc = include_str!("bibliography.md")]
pub mod bibliography {}
#[doc = include_str!("../../docs/glossary.md")]
pub mod glossary {}
