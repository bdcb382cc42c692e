//! `run --trace FILE.html` and `FILE.svg`: what happened when, to be looked at.
//!
//! A [`Recording`] keeps a run as columns; [`page()`] makes an interactive page of it, whose scripts in `assets/`
//! draw the part in sight, and [`svg()`] a figure of a short one.

mod about;
mod data;
mod figure;
mod packed;
mod page;
mod recording;
mod source;

pub use about::About;
pub use figure::svg;
pub use page::page;
pub use recording::{Recording, TooLong};
