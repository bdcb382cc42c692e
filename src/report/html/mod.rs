//! Pages that people open in a browser: one file each, with everything in it.
//!
//! A [`Page`] is a list of [`Section`]s; a further one is a further entry. Styles and scripts are files in
//! `assets/`, put into the page as they are. A page asks nobody for anything: its own policy
//! (`Content-Security-Policy`) forbids requests. Whatever comes from outside goes through [`text`] or [`script_data`].

mod escape;
mod page;
mod table;

pub use escape::{script_data, text};
pub use page::{Page, Section};
pub use table::{HtmlCell, HtmlColumn, HtmlTable, grouped};
