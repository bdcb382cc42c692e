//! The functions of CUDA's device runtime that kernels may call: the driver has them, and no file
//! defines them.

/// The effect of a function of the device runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runtime {
    /// `printf`: nothing is printed, and the result is 0.
    Print,
    /// A failed assertion, which ends the kernel.
    Fail,
}

/// What a kernel is told that prints.
pub(crate) const PRINT_NOTE: &str =
    "the kernel calls printf: nothing is printed here, and the call returns 0";
/// The error of a kernel whose assertion fails.
pub(crate) const FAILED: &str = "an assertion of the kernel failed";

/// Returns the effect of a function by its name, if it is known.
pub(crate) fn function(name: &str) -> Option<Runtime> {
    match name {
        "vprintf" => Some(Runtime::Print),
        "__assertfail" | "__assert_fail" => Some(Runtime::Fail),
        _ => None,
    }
}
