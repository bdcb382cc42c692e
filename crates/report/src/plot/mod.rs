//! Plots as SVG and as PDF; equal numbers yield equal bytes.
//!
//! Every plot is a [`Drawing`] with the colours of [`Ink`], so that it can be used by itself;
//! [`themed`] replaces them by those of the page that contains it.

mod axis;
mod drawing;
mod font;
mod frame;
mod legend;
mod palette;
mod panels;
mod pdf;
mod rows;
mod scatter;
mod svg;
mod xy;

pub use axis::Scale;
pub use drawing::{Anchor, At, Drawing};
pub use palette::{Ink, themed};
pub use panels::{Across, FiveNumbers, Line, Panel, Panels, Shown, Spread, capitalised};
pub use rows::{BarPlot, BarRow, BoxPlot};
pub use scatter::Scatter;
pub use xy::{Axis, Drawn, Series, XyPlot};
