//! One file per command.

pub mod ablate;
pub mod again;
pub mod anomaly;
pub mod cfg;
pub mod check;
pub mod compare;
pub mod completions;
pub mod diff;
pub mod draw;
pub mod every_path;
pub mod evidence;
pub mod explore;
pub mod family;
pub mod fermi;
pub mod hunt;
pub mod hybrid;
pub mod inspect;
pub mod list;
pub mod man;
pub mod merge;
pub mod phases;
pub mod report;
pub mod reproduce;
pub mod run;
pub mod sweep;
pub mod worst;
