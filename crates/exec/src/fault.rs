//! The diagnostics of errors of a kernel.

use super::memory::{Denied, Memory};
use super::warp::{Shape, Warp};
use warpbound_core::base::Pc;
use warpbound_core::diag::Diagnostic;
use warpbound_core::isa::Space;
use warpbound_core::program::KernelCode;
use warpbound_core::program::layout::{SHARED_UPPER, window_base};

/// An error of the kernel. It is boxed, because it is rare and results are returned by every
/// instruction.
pub(super) type Fault = Box<Diagnostic>;

/// Returns a fault at an instruction.
pub(super) fn at(program: &KernelCode, pc: Pc, message: String, hint: &str) -> Fault {
    let line = program.instrs.get(pc.index()).map_or(0, |instr| instr.line);
    let mut diagnostic = Diagnostic::general(&program.file, message).hint(hint);
    if line > 0 {
        (diagnostic.line, diagnostic.column, diagnostic.width) = (line, 1, 1);
    }
    Box::new(diagnostic)
}

/// An access that memory denied.
pub(super) struct Access {
    /// `load`, `store`, ...
    pub(super) verb: &'static str,
    /// The space of the access.
    pub(super) space: Space,
    /// The address within the space.
    pub(super) address: u64,
    /// The number of bytes.
    pub(super) size: usize,
    /// Whether the address was generic.
    pub(super) generic: bool,
    /// The lane that makes the access.
    pub(super) lane: usize,
}

impl Access {
    /// Returns the fault for the access.
    pub(super) fn fault(
        &self,
        denied: Denied,
        program: &KernelCode,
        pc: Pc,
        memory: &Memory,
        warp: &Warp,
        shape: &Shape,
    ) -> Fault {
        let [x, y, z] = shape.thread(warp.thread(self.lane));
        let [bx, by, bz] = shape.at;
        let Self { verb, size, address, .. } = *self;
        let space = self.space.name();
        let generic = if self.generic && self.space != Space::Global {
            let base = match self.space {
                Space::Shared if shape.ranks() > 1 => SHARED_UPPER << 32,
                space => window_base(space),
            };
            format!(" (generic {:#x})", address.wrapping_add(base))
        } else {
            String::new()
        };
        let near = memory.describe(self.space, address);
        let (problem, hint) = match denied {
            Denied::Unmapped if address < 4096 && self.space == Space::Global => {
                ("out-of-bounds", "this looks like a null pointer: is a buffer passed where one is expected?")
            }
            Denied::Unmapped
                if self.space == Space::Shared
                    && program.memory.uses_dynamic_shared
                    && shape.dynamic_shared == 0 =>
            {
                (
                    "out-of-bounds",
                    "the kernel has an array of dynamic shared memory, and the launch gives it no bytes: --dynamic-shared N, \
                     or `dynamic_shared: N` in a launch file",
                )
            }
            Denied::Unmapped => {
                ("out-of-bounds", "guard the access with the number of elements, or make the buffer larger")
            }
            Denied::Misaligned => (
                "misaligned",
                "an access has to start at a multiple of its size; a vector counts as one access",
            ),
            Denied::ReadOnly if self.space == Space::Global => (
                "read-only",
                "the launch says that this buffer is constant: leave out `constant: true` if it is not",
            ),
            Denied::ReadOnly => ("read-only", "constant and parameter memory cannot be written by a kernel"),
        };
        let message = format!(
            "{problem} {verb} of {size} bytes at {space} address {address:#x}{generic}: {near} \
             (lane {} of warp {}, thread ({x}, {y}, {z}) of block ({bx}, {by}, {bz}))",
            self.lane, warp.id
        );
        at(program, pc, message, hint)
    }
}
