//! Extreme-value statistics of execution times: probabilistic worst-case execution times from
//! measurements.
//!
//! K. Berezovskyi, F. Guet, L. Santinelli, K. Bletsas, E. Tovar, "Measurement-Based Probabilistic
//! Timing Analysis for Graphics Processor Units", ARCS 2016 (DIAGXTRM; "the paper" in this crate).
//! The execution times of runs are tested for the conditions of the theory. A generalized Pareto
//! distribution is fitted to the times above a threshold, and its tail gives the time that is
//! exceeded with a given probability.
//!
//! ```text
//!  times ──> Sample ─┬─> kpss, bds, autocorrelation, extremal ──────────┐
//!                    ├─> threshold ──> tail ─┬─> curve                  ├──> decision ──> Analysis
//!                    │     gpd_fit, interval,├─> diagnostics            │
//!                    │    bootstrap, goodness└──────────────────────────┘
//!                    └─> blocks (gev), for comparison
//! ```
//!
//! [`analyse`] performs all of these steps. The result depends on what was measured: the tail does
//! not cover an input, a machine state or interference that occurred in no run. It is not a bound,
//! and shares no code with those of `bound`.

pub mod ad_table;
pub mod analysis;
pub mod autocorrelation;
pub mod bds;
mod bds_counts;
pub mod blocks;
pub mod bootstrap;
pub mod critical;
pub mod curve;
pub mod decision;
pub mod diagnostics;
pub mod distances;
pub mod exceeded;
pub mod extremal;
pub mod gev;
pub mod goodness;
pub mod gpd;
pub mod gpd_fit;
pub mod interval;
pub mod kpss;
mod kpss_limit;
mod optimise;
mod parallel;
pub mod probability;
pub mod sample;
mod special;
pub mod tail;
pub mod threshold;

pub use analysis::{Analysis, MAX_BOOTSTRAPS, NoAnalysis, Options, Summary, analyse};
pub use decision::{Advice, Decision};
pub use probability::{NoProbability, Probability};
pub use sample::{SCALES, Sample, SampleError, Ties};
