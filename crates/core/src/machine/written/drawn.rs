//! The random behaviour of a machine, which differs from run to run.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::machine::MachineSpec;
use super::memory::{CacheSettings, Jitter, MemorySpec, Replacement};
use super::pipeline::Placement;

/// A random aspect of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Random {
    /// The choice of the victim in the L1, the constant cache and the L2.
    Replacement,
    /// Random additions to the latency of memory.
    Jitter,
    /// The choice of the SM that receives the next block.
    Placement,
}

/// The first random stream; the buffers of a launch use the streams before it.
const STREAMS: u64 = 1 << 32;

impl Random {
    /// All random aspects.
    pub const ALL: [Self; 3] = [Self::Replacement, Self::Jitter, Self::Placement];
}

impl MachineSpec {
    /// Returns the aspects of the machine that are random as it is written.
    pub fn random(&self) -> Vec<Random> {
        let memory = self.memory.as_ref();
        let replaces = |cache: &CacheSettings| cache.replacement.is_random();
        let is_there = |random: &Random| match random {
            Random::Replacement => memory.is_some_and(|memory| caches(memory).any(replaces)),
            Random::Jitter => memory.is_some_and(|memory| memory.jitter != Jitter::Off),
            Random::Placement => self.placement().is_some_and(|placement| placement != Placement::RoundRobin),
        };
        Random::ALL.into_iter().filter(is_there).collect()
    }

    /// Returns the machine for the run with this number, in which exactly these aspects are random.
    /// Its seeds are the first draws of ChaCha8 streams, and the number is the seed of ChaCha8.
    ///
    /// # Errors
    /// Returns the aspect that the machine does not support, and the setting that it requires.
    pub fn drawn(&self, randoms: &[Random], number: u64) -> Result<Self, (String, &'static str)> {
        let seed = |stream: u64| {
            let mut rng = ChaCha8Rng::seed_from_u64(number);
            rng.set_stream(STREAMS + stream);
            rng.next_u64()
        };
        let has = |random| randoms.contains(&random);
        let mut spec = self.clone();
        if let Some(memory) = &mut spec.memory {
            let mut caches = 0;
            for cache in caches_mut(memory) {
                caches += 1;
                cache.replacement = match (has(Random::Replacement), cache.replacement) {
                    (true, _) => Replacement::Random,
                    (false, Replacement::Random) => Replacement::Lru,
                    (false, other @ (Replacement::Lru | Replacement::Fifo)) => other,
                };
            }
            if !has(Random::Jitter) {
                memory.jitter = Jitter::Off;
            }
            if has(Random::Replacement) && caches > 0 || memory.jitter != Jitter::Off {
                memory.seed = seed(0);
            }
        }
        let memory = spec.memory.as_ref();
        if has(Random::Replacement) && memory.is_none_or(|memory| caches(memory).next().is_none()) {
            return Err((
                "there is no cache whose lines could be replaced at random".to_owned(),
                "a machine with `memory` and caches, for example kepler-gk104",
            ));
        }
        if has(Random::Jitter) && memory.is_none_or(|memory| memory.jitter == Jitter::Off) {
            return Err((
                "memory.jitter is Off, so there is nothing to draw".to_owned(),
                "give its distribution, for example --set 'memory.jitter=Geometric(4)'",
            ));
        }
        let sms = spec.sms.unwrap_or(1);
        match &mut spec.pipeline {
            Some(pipeline) if has(Random::Placement) && sms > 1 => {
                pipeline.launch.placement = Placement::Random(seed(1));
            }
            _ if has(Random::Placement) => {
                return Err((
                    "blocks can be placed at random on several SMs only".to_owned(),
                    "a machine with `sms` and `pipeline`, for example kepler-gk104",
                ));
            }
            Some(pipeline) => pipeline.launch.placement = Placement::RoundRobin,
            None => {}
        }
        Ok(spec)
    }

    fn placement(&self) -> Option<Placement> {
        Some(self.pipeline.as_ref()?.launch.placement)
    }
}

fn caches(memory: &MemorySpec) -> impl Iterator<Item = &CacheSettings> {
    let l1 = memory.l1.iter().map(|l1| &l1.cache);
    l1.chain(&memory.constant).chain(&memory.partitions.l2)
}

fn caches_mut(memory: &mut MemorySpec) -> impl Iterator<Item = &mut CacheSettings> {
    let l1 = memory.l1.iter_mut().map(|l1| &mut l1.cache);
    l1.chain(&mut memory.constant).chain(&mut memory.partitions.l2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::SourceText;
    use crate::machine::Machine;

    fn spec(settings: &str) -> MachineSpec {
        let source = SourceText::new("m.ron", format!("Machine(name: \"m\", {settings})"));
        MachineSpec::parse(&source).unwrap_or_else(|problems| panic!("{problems}"))
    }

    #[test]
    fn only_the_requested_aspects_are_random() {
        let base = spec(
            "sms: 4, pipeline: Pipeline(), memory: Memory(l1: L1(cache: Cache(replacement: Random)), jitter: Geometric(3), \
             lower: Partitions, partitions: Partitions(l2: Cache()))",
        );
        assert_eq!(base.random(), [Random::Replacement, Random::Jitter]);
        let one = |randoms: &[Random], number| base.drawn(randoms, number).expect("it can");
        let all = one(&Random::ALL, 5);
        assert_eq!(all.random(), Random::ALL);
        let memory = all.memory.as_ref().expect("it has one");
        assert!(caches(memory).count() == 2 && caches(memory).all(|c| c.replacement == Replacement::Random));
        for randoms in [&Random::ALL[..1], &Random::ALL[1..2], &Random::ALL[2..], &[]] {
            assert_eq!(one(randoms, 5).random(), randoms, "the others are off");
        }
        let text = |spec: &MachineSpec| serde_json::to_string(spec).expect("plain data");
        assert_eq!(text(&one(&Random::ALL, 5)), text(&all), "the same number, the same machine");
        assert_ne!(text(&one(&Random::ALL, 6)), text(&all));
        assert_eq!(text(&one(&[], 5)), text(&one(&[], 6)));
    }

    #[test]
    fn unsupported_random_aspects_are_reported() {
        let plain = spec("");
        for random in Random::ALL {
            let (message, hint) = plain.drawn(&[random], 0).expect_err("it cannot");
            assert!(!message.is_empty() && !hint.is_empty());
        }
        let drawn = plain.drawn(&[], 9).expect("no aspect is requested");
        let source = SourceText::new("m.ron", "");
        assert_eq!(
            Machine::new(&drawn, &source).map(|m| m.digest()).ok(),
            Machine::new(&plain, &source).map(|m| m.digest()).ok()
        );
    }
}
