//! Banks of shared memory: how the lanes of an access get into each other's way, and what that
//! costs. [The model](crate::model#8-memory), section 8; Adalbert et al., ERTS 2022, section III.B.
//!
//! Shared memory lies in banks, word (4 bytes) by word. A bank delivers one word at a time, to any
//! number of lanes. What an access costs depends on its addresses only, so it is known per dynamic
//! instruction: the functional run counts the *extra transactions*, those beyond what an access of
//! its width takes without conflicts, and [`SharedMemory::timing`] says what they cost.
//!
//! Atomics on shared memory count as other accesses do: lanes on one word do not conflict, which is
//! what GPGPU-Sim shows (no extra for 32 lanes on one word); Adalbert et al.
//! measured loads and stores only. Asynchronous copies have the timing of their global side.

use serde::{Deserialize, Serialize};

use super::model::OpTiming;
use super::validate::{MAX_TIME, locate};
use crate::base::Cycles;
use crate::diag::{Diagnostics, SourceText};

/// How conflicts are counted and what they cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BankRule {
    /// Adalbert et al., ERTS 2022: lanes are served in pools, each with a transaction of its own.
    #[serde(alias = "pascal")]
    Pascal,
    /// Measured by microbenchmarks on two TU102: an n-way conflict takes 22 + 2(n-1) cycles.
    #[serde(alias = "turing")]
    Turing,
    /// GPGPU-Sim: a cycle of initiation for each distinct word of the most loaded bank, counting
    /// the first word of each lane only; the latency is that of the unit.
    #[serde(alias = "words")]
    Words,
}

/// `SharedMemory(rule: Pascal, ..)` as people write it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "SharedMemory", deny_unknown_fields, default)]
pub struct SharedMemorySpec {
    /// How conflicts are counted and what they cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<BankRule>,
    /// Banks of 4-byte words; 32 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub banks: Option<u32>,
    /// Pascal and Turing: cycles of every access; 22 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<u64>,
    /// Pascal and Turing: cycles of each extra transaction; 2 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u64>,
    /// Pascal: further cycles of an access of at most 32 bits; 1 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_32: Option<u64>,
    /// Pascal: further cycles of a 64-bit access; 8 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_64: Option<u64>,
    /// Pascal: further cycles of a 128-bit (or wider) access; 16 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_128: Option<u64>,
    /// Where the numbers come from.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
}

/// What the functional run has to know to count conflicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Banks {
    /// How they are counted.
    pub rule: BankRule,
    /// Banks of 4-byte words, 1 to [`Banks::MOST`].
    pub count: u32,
}

impl Banks {
    /// More banks are refused.
    pub const MOST: u32 = 64;

    /// Pools in which the lanes are served that access `bytes` bytes each.
    ///
    /// No source has accesses wider than 128 bits; a pool stays what fits the 32 banks.
    pub const fn pools(self, bytes: usize) -> usize {
        match (self.rule, bytes) {
            (BankRule::Turing | BankRule::Words, _) | (BankRule::Pascal, 0..=4) => 1,
            (BankRule::Pascal, 5..=8) => 2,
            (BankRule::Pascal, 9..=16) => 4,
            (BankRule::Pascal, _) => 8,
        }
    }
}

/// Shared memory with bank conflicts, validated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SharedMemory {
    banks: Banks,
    latency: u64,
    step: u64,
    /// By pools: 1, 2, 4 or more.
    base: [u64; 3],
}

/// What accesses of one width cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BankTiming {
    /// Unit, initiation and latency without conflicts.
    pub without: OpTiming,
    /// Transactions without conflicts.
    pub transactions: u32,
    /// Latency that each extra transaction adds, besides the cycle it initiates in.
    pub lat_per_extra: Cycles,
}

/// Cycles of one setting; a sum of a few times 255 of them is below [`MAX_TIME`].
const MAX_CYCLES: u64 = MAX_TIME >> 12;

impl SharedMemory {
    pub(super) fn new(
        spec: &SharedMemorySpec,
        source: &SourceText,
        problems: &mut Diagnostics,
    ) -> Option<Self> {
        let Some(rule) = spec.rule else {
            problems.push(
                locate(
                    source,
                    "shared_memory",
                    "shared_memory does not say how conflicts are counted".into(),
                )
                .hint("add rule: Pascal, rule: Turing or rule: Words, or leave shared_memory out"),
            );
            return None;
        };
        let count = spec.banks.unwrap_or(32);
        if !(1..=Banks::MOST).contains(&count) {
            let message = format!("shared_memory.banks is {count}, it must be 1 to {}", Banks::MOST);
            problems.push(locate(source, "banks", message));
        }
        let mut cycles = |name: &str, value: Option<u64>, default: u64| {
            let value = value.unwrap_or(default);
            if value > MAX_CYCLES {
                let message = format!("shared_memory.{name} is {value}; at most {MAX_CYCLES} is supported");
                problems.push(locate(source, name, message));
            }
            value.min(MAX_CYCLES)
        };
        // Adalbert et al., ERTS 2022, section III.B: dur = 22 + base + 2 * conflicts; measured on TU102: 22 + 2(n-1)
        let latency = cycles("latency", spec.latency, 22);
        let step = cycles("step", spec.step, 2);
        let base = [
            cycles("base_32", spec.base_32, 1),
            cycles("base_64", spec.base_64, 8),
            cycles("base_128", spec.base_128, 16),
        ];
        let banks = Banks { rule, count };
        let own = Self { banks, latency, step, base };
        if rule != BankRule::Words {
            if step == 0 {
                let message = "shared_memory.step is 0, but each transaction takes a cycle to start".into();
                problems.push(locate(source, "step", message).hint("step: 1 or more"));
            }
            for bytes in [4, 8, 16, 32] {
                let (pools, total) = (banks.pools(bytes) as u64, own.total(bytes));
                if total < pools {
                    let message = format!(
                        "an access of {bytes} bytes takes {total} cycles, fewer than its {pools} transactions"
                    );
                    problems.push(locate(source, "latency", message).hint("raise shared_memory.latency"));
                    break;
                }
            }
        }
        Some(own)
    }

    /// What the functional run has to know.
    pub fn banks(&self) -> Banks {
        self.banks
    }

    /// Cycles of an access without conflicts, Pascal and Turing.
    fn total(&self, bytes: usize) -> u64 {
        match self.banks.rule {
            BankRule::Pascal => {
                let width = self.banks.pools(bytes).ilog2().min(2);
                self.latency + self.base[width as usize]
            }
            BankRule::Turing | BankRule::Words => self.latency,
        }
    }

    /// The timing of accesses of `bytes` bytes per lane, which without conflicts would be `plain`.
    ///
    /// Initiation and latency of a Pascal access are nTrans and dur - nTrans, of a Turing access n
    /// and 22 + 2(n-1) - n; GPGPU-Sim's rule lengthens the initiation only.
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
    /// The timing of an access with this many extra transactions.
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

    const PLAIN: OpTiming = OpTiming { unit: UnitId::new(3), init: Cycles::ONE, lat: Cycles::new(28) };

    fn validated(spec: &SharedMemorySpec) -> Result<SharedMemory, Diagnostics> {
        let mut problems = Diagnostics::new();
        let source = SourceText::new("m.ron", "Machine(shared_memory: SharedMemory(banks: 0, latency: 3))");
        let memory = SharedMemory::new(spec, &source, &mut problems);
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
    fn what_makes_no_sense_is_refused_with_its_place() {
        for (spec, named) in [
            (SharedMemorySpec::default(), "how conflicts are counted"),
            (SharedMemorySpec { banks: Some(0), ..of(BankRule::Words) }, "banks is 0"),
            (SharedMemorySpec { banks: Some(65), ..of(BankRule::Turing) }, "banks is 65"),
            (SharedMemorySpec { step: Some(0), ..of(BankRule::Turing) }, "step is 0"),
            (SharedMemorySpec { latency: Some(1 << 40), ..of(BankRule::Pascal) }, "at most"),
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
