//! Results as text for people and as data for scripts. Pure: values in, text out.

pub mod ablation;
pub mod banks;
pub mod divergence;
pub mod gantt;
pub mod json;
pub mod phase_gantt;
pub mod sequence;
pub mod style;
pub mod table;
pub mod text;
