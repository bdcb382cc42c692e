//! Occupancy: the number of blocks that are resident on one SM at the same time.

use std::fmt;

use crate::base::WARP_SIZE;
use crate::machine::checked::Limits;

/// The resources that one block of a launch needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockNeeds {
    /// The number of threads.
    pub threads: u32,
    /// The number of registers per thread, if the launch states it.
    pub registers_per_thread: Option<u32>,
    /// The static and dynamic shared memory in bytes.
    pub shared_bytes: u32,
}

impl BlockNeeds {
    /// Returns the number of warps; the last one may be partial.
    pub fn warps(&self) -> u32 {
        self.threads.div_ceil(WARP_SIZE as u32)
    }
}

/// The number of resident blocks, and the resource that limits it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// The number of resident blocks, at least 1.
    pub blocks: u32,
    /// The limiting resource.
    pub limited_by: &'static str,
}

/// The error if not even a single block fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoesNotFit {
    resource: &'static str,
    owner: &'static str,
    needed: u64,
    available: u64,
}

impl fmt::Display for DoesNotFit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a block needs {} {}, {} {}", self.needed, self.resource, self.owner, self.available)
    }
}

impl std::error::Error for DoesNotFit {}

impl Limits {
    /// Returns the number of blocks with these needs that can be resident at the same time.
    ///
    /// # Errors
    /// Not even one block fits.
    pub fn occupancy(&self, needs: &BlockNeeds) -> Result<Occupancy, DoesNotFit> {
        if needs.shared_bytes > self.shared_bytes_per_block {
            return Err(DoesNotFit {
                resource: "bytes of shared memory",
                owner: "one block may have",
                needed: u64::from(needs.shared_bytes),
                available: u64::from(self.shared_bytes_per_block),
            });
        }
        let registers = needs.registers_per_thread.map_or(0, |r| u64::from(r) * u64::from(needs.threads));
        let rows: [(&'static str, u64, u32); 5] = [
            ("blocks", 1, self.blocks),
            ("warps", u64::from(needs.warps()), self.warps),
            ("threads", u64::from(needs.threads), self.threads),
            ("registers", registers, self.registers),
            ("bytes of shared memory", u64::from(needs.shared_bytes), self.shared_bytes),
        ];
        let mut best = Occupancy { blocks: u32::MAX, limited_by: "blocks" };
        for (resource, needed, available) in rows {
            if needed == 0 {
                continue;
            }
            let fits = u64::from(available) / needed;
            if fits == 0 {
                return Err(DoesNotFit {
                    resource,
                    owner: "the SM has",
                    needed,
                    available: u64::from(available),
                });
            }
            if fits < u64::from(best.blocks) {
                best = Occupancy { blocks: u32::try_from(fits).unwrap_or(u32::MAX), limited_by: resource };
            }
        }
        Ok(best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orin() -> Limits {
        Limits {
            warps: 48,
            threads: 1536,
            blocks: 32,
            registers: 65536,
            shared_bytes: 102_400,
            shared_bytes_per_block: 49_152,
        }
    }

    #[test]
    fn occupancy_agrees_with_the_reference_data() {
        // accelsim.csv: vecadd.w1 32 (cta_limit), vecadd.w8 6 (threads), sgemm_dbuf.w8 4 (regs, 64
        // a thread)
        let occupancy = |threads, registers, shared| {
            orin().occupancy(&BlockNeeds { threads, registers_per_thread: registers, shared_bytes: shared })
        };
        assert_eq!(occupancy(32, Some(12), 0), Ok(Occupancy { blocks: 32, limited_by: "blocks" }));
        assert_eq!(occupancy(256, Some(12), 0).map(|o| o.blocks), Ok(6));
        assert_eq!(occupancy(256, Some(64), 8192), Ok(Occupancy { blocks: 4, limited_by: "registers" }));
        assert!(occupancy(2048, None, 0).is_err());
        assert!(occupancy(32, None, 49_153).is_err());
        assert!(occupancy(1024, Some(65), 0).is_err());
    }
}
