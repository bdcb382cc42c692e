//! The maximum of a quantity over a set of paths, and the sections that all paths of a set have.

mod measure;
mod split;

pub(crate) use measure::{Growth, Measure, grown, over_part};
pub(crate) use split::{Piece, Sections, each_step, measured, units};
