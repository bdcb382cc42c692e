//! The banks of shared memory, and the cost of bank conflicts between the lanes of an access. See
//! `warpbound::model`, section 8; Adalbert et al., ERTS 2022, section III.B.
//!
//! Consecutive words (4 bytes) of shared memory lie in consecutive banks. A bank delivers one word
//! at a time, to any number of lanes. The cost of an access depends only on its addresses, so it is
//! known for each dynamic instruction. The functional run counts the *extra transactions*, that is,
//! those beyond what an access of the same width takes without conflicts, and
//! [`SharedMemory::timing`] determines their cost.
//!
//! Whether lanes of an atomic that access the same word conflict is a setting ([`AtomicRule`]). In
//! GPGPU-Sim they do not (no extra transactions for 32 lanes on one word), and on measured GPUs they do;
//! Adalbert et al. measured only loads and stores. Asynchronous copies have the timing of their
//! access to global memory.

use serde::Serialize;

use super::range::{Check, MAX_TIME};
use super::units::OpTiming;
use crate::base::Cycles;
use crate::machine::written::{AtomicRule, BankRule, SharedMemorySpec};

/// The parameters that the functional run needs to count conflicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Banks {
    /// The rule for counting conflicts.
    pub rule: BankRule,
    /// The number of banks of 4-byte words, 1 to [`Banks::MOST`].
    pub count: u32,
    /// The conflicts between lanes of an atomic that access the same word.
    #[serde(skip_serializing_if = "is_words")]
    pub atomics: AtomicRule,
}

fn is_words(rule: &AtomicRule) -> bool {
    *rule == AtomicRule::Words
}

impl Banks {
    /// The maximum number of banks.
    pub const MOST: u32 = 64;

    /// Returns the number of pools of lanes that are served one after the other if each lane
    /// accesses `bytes` bytes.
    ///
    /// No source describes accesses wider than 128 bits; a pool then contains as many lanes as fit
    /// the 32 banks.
    #[inline]
    pub const fn pools(self, bytes: usize) -> usize {
        match (self.rule, bytes) {
            (BankRule::Turing | BankRule::Words, _) | (BankRule::Pascal, 0..=4) => 1,
            (BankRule::Pascal, 5..=8) => 2,
            (BankRule::Pascal, 9..=16) => 4,
            (BankRule::Pascal, _) => 8,
        }
    }
}

/// Validated shared memory with bank conflicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SharedMemory {
    banks: Banks,
    latency: u64,
    step: u64,
    /// The base latency in cycles for 1, 2 and at least 4 pools.
    base: [u64; 3],
}

/// The cost of accesses of one width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BankTiming {
    /// The unit, initiation interval and latency without conflicts.
    pub without: OpTiming,
    /// The number of transactions without conflicts.
    pub transactions: u32,
    /// The latency that each extra transaction adds, in addition to one cycle of initiation.
    pub lat_per_extra: Cycles,
}

/// The maximum of a setting in cycles; the sum of a few times 255 of them is below [`MAX_TIME`].
const MAX_CYCLES: u64 = MAX_TIME >> 12;

impl SharedMemory {
    /// Returns the validated settings, with the defaults of their rule.
    pub(super) fn of(written: &SharedMemorySpec, check: &mut Check) -> Option<Self> {
        let check = &mut check.part("shared_memory");
        let SharedMemorySpec { rule, banks, latency, step, base_32, base_64, base_128, atomics, source: _ } =
            written;
        let Some(rule) = *rule else {
            let message = "shared_memory does not say how conflicts are counted".to_owned();
            let hint = "add rule: Pascal, rule: Turing or rule: Words, or leave shared_memory out";
            check.problem("", message, hint);
            return None;
        };
        let atomics = atomics.unwrap_or_default();
        let banks = Banks { rule, count: banks.unwrap_or(32), atomics };
        // Adalbert et al., ERTS 2022, section III.B: dur = 22 + base + 2 * conflicts; measured on
        // TU102: 22 + 2(n-1)
        let (latency, step) = (latency.unwrap_or(22), step.unwrap_or(2));
        let base = [base_32.unwrap_or(1), base_64.unwrap_or(8), base_128.unwrap_or(16)];
        let memory = Self { banks, latency, step, base };
        let in_range = check.finds_nothing(|check| {
            check.range("banks", banks.count, 1..=Banks::MOST);
            check.range("latency", latency, 0..=MAX_CYCLES);
            if rule == BankRule::Words {
                check.range("step", step, 0..=MAX_CYCLES);
            } else {
                let hint = "each transaction takes a cycle to start";
                check.range_with_hint("step", step, 1..=MAX_CYCLES, if step == 0 { hint } else { "" });
            }
            check.range("base_32", base[0], 0..=MAX_CYCLES);
            check.range("base_64", base[1], 0..=MAX_CYCLES);
            check.range("base_128", base[2], 0..=MAX_CYCLES);
        });
        let valid = in_range && check.finds_nothing(|check| memory.check_durations(check));
        valid.then_some(memory)
    }

    /// Checks that an access takes at least as long as its transactions.
    fn check_durations(&self, check: &mut Check) {
        if self.banks.rule == BankRule::Words {
            return;
        }
        for bytes in [4, 8, 16, 32] {
            let (pools, total) = (self.banks.pools(bytes) as u64, self.total(bytes));
            if total < pools {
                let message = format!(
                    "an access of {bytes} bytes takes {total} cycles, fewer than its {pools} transactions"
                );
                return check.problem("latency", message, "raise shared_memory.latency");
            }
        }
    }

    /// Returns the parameters that the functional run needs.
    #[inline]
    pub fn banks(&self) -> Banks {
        self.banks
    }

    /// Returns the duration in cycles of an access without conflicts (Pascal and Turing).
    fn total(&self, bytes: usize) -> u64 {
        match self.banks.rule {
            BankRule::Pascal => {
                let width = self.banks.pools(bytes).ilog2().min(2);
                self.latency + self.base[width as usize]
            }
            BankRule::Turing | BankRule::Words => self.latency,
        }
    }

    /// Returns the timing of accesses of `bytes` bytes per lane; `plain` is the timing without the
    /// model of bank conflicts.
    ///
    /// The initiation interval and the latency of a Pascal access are nTrans and dur - nTrans,
    /// those of a Turing access are n and 22 + 2(n-1) - n. GPGPU-Sim's rule only lengthens the
    /// initiation interval.
    pub fn timing(&self, plain: OpTiming, bytes: usize) -> BankTiming {
        let transactions = self.banks.pools(bytes) as u32;
        let init = u64::from(transactions);
        match self.banks.rule {
            BankRule::Words => BankTiming { without: plain, transactions, lat_per_extra: Cycles::ZERO },
            BankRule::Pascal | BankRule::Turing => BankTiming {
                without: OpTiming {
                    unit: plain.unit,
                    init: Cycles::new(init),
                    lat: Cycles::new(self.total(bytes).saturating_sub(init)),
                },
                transactions,
                lat_per_extra: Cycles::new(self.step.saturating_sub(1)),
            },
        }
    }
}

impl BankTiming {
    /// Returns the timing of an access with this number of extra transactions.
    #[inline]
    pub fn with_extra(&self, extra: u8) -> OpTiming {
        let extra = u64::from(extra);
        OpTiming {
            unit: self.without.unit,
            init: self.without.init + Cycles::new(extra),
            lat: self.without.lat + self.lat_per_extra * extra,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::UnitId;
    use crate::diag::{Diagnostics, SourceText};

    const PLAIN: OpTiming = OpTiming { unit: UnitId::new(3), init: Cycles::ONE, lat: Cycles::new(28) };

    fn validated(spec: &SharedMemorySpec) -> Result<SharedMemory, Diagnostics> {
        let mut problems = Diagnostics::new();
        let source = SourceText::new("m.ron", "Machine(shared_memory: SharedMemory(banks: 0, latency: 3))");
        let memory = SharedMemory::of(spec, &mut Check::new(&source, &mut problems));
        problems.into_result(()).map(|()| memory.expect("no problem, so there is one"))
    }

    fn of(rule: BankRule) -> SharedMemorySpec {
        SharedMemorySpec { rule: Some(rule), ..SharedMemorySpec::default() }
    }

    fn init_and_total(timing: OpTiming) -> (u64, u64) {
        (timing.init.get(), (timing.init + timing.lat).get())
    }

    #[test]
    fn pascal_durations_are_those_of_the_formula() {
        let memory = validated(&of(BankRule::Pascal)).unwrap();
        for (bytes, pools, base) in [(1, 1, 1), (4, 1, 1), (8, 2, 8), (16, 4, 16)] {
            let timing = memory.timing(PLAIN, bytes);
            for extra in [0u8, 1, 7, 31] {
                let expected = (pools + u64::from(extra), 22 + base + 2 * u64::from(extra));
                assert_eq!(init_and_total(timing.with_extra(extra)), expected, "{bytes} bytes, {extra}");
            }
        }
    }

    #[test]
    fn turing_latencies_are_those_measured() {
        let timing = validated(&of(BankRule::Turing)).unwrap().timing(PLAIN, 4);
        let measured = [(1u8, 22), (2, 24), (4, 28), (8, 36), (16, 52), (32, 84)];
        for (ways, total) in measured {
            assert_eq!(init_and_total(timing.with_extra(ways - 1)), (u64::from(ways), total));
        }
    }

    #[test]
    fn words_lengthen_the_initiation_only() {
        let timing = validated(&of(BankRule::Words)).unwrap().timing(PLAIN, 16);
        assert_eq!(timing.with_extra(0), PLAIN);
        assert_eq!(timing.with_extra(31), OpTiming { init: Cycles::new(32), ..PLAIN });
    }

    #[test]
    fn invalid_settings_are_reported_by_name() {
        for (spec, named) in [
            (SharedMemorySpec::default(), "how conflicts are counted"),
            (SharedMemorySpec { banks: Some(0), ..of(BankRule::Words) }, "banks is 0"),
            (SharedMemorySpec { banks: Some(65), ..of(BankRule::Turing) }, "banks is 65"),
            (SharedMemorySpec { step: Some(0), ..of(BankRule::Turing) }, "step is 0"),
            (
                SharedMemorySpec { latency: Some(1 << 40), ..of(BankRule::Pascal) },
                "latency is 1099511627776, it must be 0 to",
            ),
            (
                SharedMemorySpec { latency: Some(3), base_128: Some(0), ..of(BankRule::Pascal) },
                "fewer than its 4 transactions",
            ),
        ] {
            let problems = validated(&spec).unwrap_err().to_string();
            assert!(problems.contains(named) && problems.contains("m.ron:1:"), "{problems}");
        }
    }
}
