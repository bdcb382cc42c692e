//! Resolution of generic addresses in traces.

use super::header::Header;
use warpbound_core::isa::Space;

/// The size in bytes of the windows through which generic addresses reach shared and local memory.
const SIZE: u64 = 1 << 24;

/// The windows of a GPU according to the header of a trace.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Windows {
    shared: Option<u64>,
    local: Option<u64>,
}

impl Windows {
    pub(super) fn of(header: &Header) -> Self {
        // a base of zero means that the tracer did not know it
        let known = |base: Option<u64>| base.filter(|&base| base != 0);
        Self { shared: known(header.shared_base), local: known(header.local_base) }
    }

    /// Returns the space of an access and the address within that space.
    #[inline]
    pub(super) fn resolve(&self, space: Space, address: u64) -> (Space, u64) {
        let within = |base: Option<u64>| {
            let offset = address.wrapping_sub(base?);
            (offset < SIZE).then_some(offset)
        };
        match space {
            Space::Generic => match (within(self.shared), within(self.local)) {
                (Some(offset), _) => (Space::Shared, offset),
                (_, Some(offset)) => (Space::Local, offset),
                _ => (Space::Global, address),
            },
            Space::Shared => (space, within(self.shared).unwrap_or(address)),
            // the local memory of a thread is smaller than the window
            Space::Local => (space, within(self.local).unwrap_or(address) % SIZE),
            _ => (space, address),
        }
    }
}
