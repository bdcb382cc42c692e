//! HTML pages, each of which is a single self-contained file.
//!
//! A [`Page`] is a list of [`Section`]s. Styles and scripts are files in `assets/` and are copied
//! into the page unchanged. A page makes no requests; its own `Content-Security-Policy` forbids
//! them. All text from outside passes through [`text`] or [`script_data`].

mod escape;
mod page;
mod table;

pub use super::grouped;
pub use escape::{script_data, text};
pub use page::{Page, Section};
pub use table::{HtmlCell, HtmlColumn, HtmlTable};
