//! Extreme-value statistics of execution times: probabilistic worst-case execution times from measurements.
//!
//! K. Berezovskyi, F. Guet, L. Santinelli, K. Bletsas, E. Tovar, "Measurement-Based Probabilistic Timing Analysis for Graphics
//! Processor Units", ARCS 2016 (DIAGXTRM; "the paper" in this module). Times of runs are tested for what the theory asks
//! of them, a generalized Pareto distribution is fitted to those above a threshold, and its tail says which time is exceeded
//! with which probability.
//!
//! ```text
//!  times ──> Sample ─┬─> kpss, bds, autocorrelation, extremal ──────────┐
//!                    ├─> threshold ──> tail ─┬─> curve                  ├──> decision ──> Analysis
//!                    │     gpd_fit, interval,├─> diagnostics            │
//!                    │    bootstrap, goodness└──────────────────────────┘
//!                    └─> blocks (gev), for comparison
//! ```
//!
//! All of it is [`analyse`]. It rests on what was measured: an input, a machine state or a neighbour that no run had is in no
//! tail. This is no bound, and shares nothing with those of `bound`.

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

pub use analysis::{Analysis, NoAnalysis, Options, Summary, analyse};
pub use decision::{Advice, Decision};
pub use probability::{NoProbability, Probability};
pub use sample::{Sample, SampleError, Ties};
