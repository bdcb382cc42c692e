//! One file per command.

pub mod anomaly;
pub mod check;
pub mod draw;
pub mod explore;
pub mod fermi;
pub mod inspect;
pub mod list;
pub mod phases;
pub mod run;
