//! Plots as SVG, the same bytes from the same numbers.
//!
//! Drawn in the colours of [`Ink`], a picture stands for itself; [`themed`] gives it the colours of the
//! page that it is in.

mod chart;
mod factor;
mod marks;
mod palette;
mod picture;
mod xy;

pub use chart::{BarPlot, BarRow, BoxPlot, FiveNumbers, LinePlot};
pub use palette::{Ink, themed};
pub use picture::{Anchor, Picture};
pub use xy::{Axis, Drawn, Scale, Series, XyPlot};
