//! Plots as SVG; equal numbers yield equal bytes.
//!
//! A picture has the colours of [`Ink`], so that it can be used by itself; [`themed`] replaces them
//! by those of the page that contains it.

mod chart;
mod factor;
mod marks;
mod palette;
mod panels;
mod picture;
mod scatter;
mod vector;
mod xy;

pub use chart::{BarPlot, BarRow, BoxPlot, FiveNumbers, LinePlot};
pub use palette::{Ink, themed};
pub use panels::{Across, Line, Panel, Panels};
pub use picture::{Anchor, Picture};
pub use scatter::Scatter;
pub use xy::{Axis, Drawn, Scale, Series, XyPlot};
