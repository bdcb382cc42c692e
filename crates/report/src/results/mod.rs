//! The results of `report`: folders of results as a page and as plots. [`PlotData`] is what a plot
//! of the user's choice needs.
//!
//! [`Collected`] receives records one by one and keeps only sums, so that its size does not grow
//! with their number. [`page()`] and [`plots()`] show it.

mod checks;
mod collected;
mod figure;
mod formula;
mod methods;
mod names;
mod page;
mod parts;
mod plots;
mod plotted;
mod record;
mod singles;
mod spread;
mod tables;
mod units;
mod values;

pub use checks::{explained, records_of_check, worst_cases};
pub use collected::{Collected, Source, incomplete};
pub use formula::Formula;
pub use page::{number_of, page};
pub use plots::plots;
pub use plotted::PlotData;
