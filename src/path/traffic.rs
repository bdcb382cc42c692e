//! Stub until the branch with the real one is merged.

/// One 128-byte line that an access touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineUse(u64);

impl LineUse {
    /// Sectors.
    pub fn sectors(self) -> u8 {
        (self.0 & 15) as u8
    }
    /// Last of its step.
    pub fn is_last(self) -> bool {
        self.0 & 16 != 0
    }
}
