//! Loading by name: kernels, launches, programs, traces, machines and policies, with every file
//! that they name.
//!
//! A [`Loader`] reads through [`Files`], which is implemented for the [`Disk`] and for files in
//! [`Memory`]; `isa/`, `configs/`, `kernels/` and `plans/` of the repository are embedded. No file
//! of the caller is kept between calls, and all results own what they contain. Errors are
//! [`Diagnostics`](warpbound_core::diag::Diagnostics) with place and hint, in which the options
//! have the names that [`OptionNames`] states.
//!
//! ```
//! use warpbound_core::base::ProgressMonitor;
//! use warpbound_judge::load::{LaunchOptions, Loader, Memory};
//!
//! let files = Memory::new().with("pair.warp", ".warps 2\n    alu.int a\n    alu.int _, a\n");
//! let loader = Loader::new(files);
//! let kernel = loader.kernel("pair.warp", &LaunchOptions::default(), &ProgressMonitor::new())?;
//! let machine = loader.machine("ecrts25-orin")?;
//! assert_eq!((kernel.workload.blocks(), machine.name()), (1, "ecrts25-orin"));
//! # Ok::<(), warpbound_core::diag::Diagnostics>(())
//! ```

mod applications;
mod arguments;
mod embedded;
mod files;
mod kernels;
mod launches;
mod loader;
mod location;
mod machines;
mod modules;
mod options;
pub mod read;
mod sources;
pub mod traces;

pub use applications::{LoadedApplication, is_program, load_program};
pub use arguments::which_and_value;
pub use embedded::{EmbeddedFolder, encoding_for, encoding_of, opcodes, ptx_isa, targets};
pub use files::{Disk, Files, Memory};
pub use kernels::{Loaded, LoadedKernel, launch_of};
pub use loader::{FROM_STDIN, Loader, ending_of};
pub use location::Location;
pub use machines::DEFAULT_MACHINE;
pub use modules::{Module, is_machine_code, launches_beside};
pub use options::{Assemble, LaunchOptions, OptionNames};
pub use sources::{SourceFile, SourcePlace, Sources};
