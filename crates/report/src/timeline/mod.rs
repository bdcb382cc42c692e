//! Timelines, written by `run --trace FILE.html` and `FILE.svg`.
//!
//! A [`Recording`] keeps a run as columns. [`page()`] makes an interactive page from it, whose
//! scripts in `assets/` draw the visible part; without scripts it shows a still picture. [`svg()`]
//! makes a figure of a short run.

mod about;
mod data;
mod figure;
mod legend;
mod packed;
mod page;
mod recording;
mod source;
mod still;

pub use about::About;
pub use figure::svg;
pub use page::page;
pub use recording::{Recording, TooLong};
