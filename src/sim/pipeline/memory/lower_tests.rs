//! Tests of the lower level as the SMs see it.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::super::RequestKind;
use super::*;
use crate::diag::SourceText;
use crate::machine::memory::{CacheSettings, Dram, Index, Jitter, Partitions, WriteMiss, WritePolicy};
use crate::machine::pipeline::LoadStore;
use crate::machine::{Machine, MachineSpec, MemorySpec, PipelineSpec};

/// The memory of a machine that has these settings.
fn checked(memory: &MemorySpec) -> MemorySystem {
    let pipeline = PipelineSpec { load_store: Some(LoadStore::default()), ..PipelineSpec::default() };
    let (memory, pipeline) = (Some(memory.clone()), Some(pipeline));
    let spec = MachineSpec { memory, pipeline, ..MachineSpec::default() };
    Machine::new(&spec, &SourceText::new("m.ron", "")).expect("settings in range").memory().clone()
}

fn fixed(latency: u64, per_cycle: u32, pipelined: bool) -> MemorySpec {
    MemorySpec {
        lower: LowerLevel::Fixed,
        fixed: Fixed { latency, per_cycle, pipelined },
        ..MemorySpec::default()
    }
}

fn partitions(channels: u32, slices: u32, with_l2: bool) -> MemorySpec {
    let l2 = CacheSettings {
        sets: 4,
        ways: 2,
        write: WritePolicy::Back,
        write_miss: WriteMiss::Allocate,
        ..CacheSettings::default()
    };
    let dram = Dram { clock: (7001, 2264), latency: 40, groups: 4, ..Dram::default() };
    let partitions = Partitions {
        channels,
        slices,
        latency: 20,
        spread: Index::Xor,
        l2: with_l2.then_some(l2),
        dram,
        ..Partitions::default()
    };
    MemorySpec { lower: LowerLevel::Partitions, partitions, ..MemorySpec::default() }
}

fn read(line: u64, sectors: u8, id: u32) -> Request {
    Request { line, sectors, kind: RequestKind::Read, id }
}

/// What each SM sends, as (core cycle, request): sent as soon as it can be from that cycle on.
type Traffic = Vec<Vec<(u64, Request)>>;

/// Replies as (core cycle, SM, id), until nothing is under way. `jump` uses `quiet_for` and `skip`.
fn run(settings: &MemorySpec, traffic: &Traffic, seed: u64, jump: bool) -> Vec<(u64, usize, u32)> {
    let settings = MemorySpec { seed, ..settings.clone() };
    let mut lower = Lower::new(&checked(&settings), traffic.len());
    let mut next = vec![0; traffic.len()];
    let mut replies = Vec::new();
    let mut cycle = 0;
    while cycle < 1 << 20 {
        for sm in 0..traffic.len() {
            replies.extend(lower.reply(sm).map(|reply| (cycle, sm, reply.id)));
        }
        lower.cycle();
        for (sm, sends) in traffic.iter().enumerate() {
            while let Some((at, request)) = sends.get(next[sm])
                && *at <= cycle
                && lower.accepts(sm, request)
            {
                lower.push(sm, *request);
                next[sm] += 1;
            }
        }
        let waiting =
            traffic.iter().zip(&next).filter_map(|(sends, &n)| sends.get(n).map(|&(at, _)| at)).min();
        if waiting.is_none() && lower.is_idle() {
            return replies;
        }
        cycle += 1;
        if jump && waiting.is_none_or(|at| at > cycle) {
            let until = waiting.unwrap_or(u64::MAX);
            let quiet = lower.quiet_for().min(until - cycle);
            lower.skip(quiet);
            cycle += quiet;
        }
    }
    panic!("requests without an answer: {lower:?}");
}

/// Random traffic of two SMs, in bursts, over a few dozen lines.
fn random_traffic(seed: u64) -> Traffic {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut below = |bound: u64| (u64::from(rng.next_u32()) * bound) >> 32;
    let mut sends = |count: u32| {
        let mut at = 0;
        let request = |id| {
            at += if below(5) == 0 { below(400) } else { below(2) };
            let kind = match below(4) {
                0 => RequestKind::Write,
                1 => RequestKind::Atomic,
                _ => RequestKind::Read,
            };
            (at, Request { line: below(60), sectors: 1 << below(4), kind, id })
        };
        (0..count).map(request).collect::<Vec<_>>()
    };
    vec![sends(150), sends(100)]
}

fn all_settings() -> Vec<MemorySpec> {
    let mut slow = partitions(2, 2, true);
    slow.partitions.clock = (2, 3);
    slow.jitter = Jitter::Geometric(30);
    let mut fast = partitions(2, 1, false);
    fast.partitions.clock = (3, 2);
    let mut narrow = partitions(1, 2, true);
    narrow.partitions.queue = 1;
    narrow.partitions.crossbar_queue = 1;
    narrow.partitions.ejection_queue = 1;
    narrow.partitions.dram.queue = 1;
    narrow.partitions.dram.returns = 1;
    let mut jittered = fixed(50, 2, true);
    jittered.jitter = Jitter::Uniform(0, 60);
    vec![
        MemorySpec::default(),
        fixed(50, 1, true),
        fixed(7, 1, false),
        jittered,
        partitions(1, 1, false),
        partitions(4, 2, true),
        slow,
        fast,
        narrow,
    ]
}

#[test]
fn everything_is_answered_once_and_jumping_changes_nothing() {
    for (number, settings) in all_settings().iter().enumerate() {
        for seed in 0..3 {
            let traffic = random_traffic(seed);
            let stepped = run(settings, &traffic, seed, false);
            assert_eq!(stepped, run(settings, &traffic, seed, true), "settings {number}, seed {seed}");
            for (sm, sends) in traffic.iter().enumerate() {
                let mut ids: Vec<u32> =
                    stepped.iter().filter(|reply| reply.1 == sm).map(|reply| reply.2).collect();
                ids.sort_unstable();
                assert!(ids.iter().copied().eq(0..sends.len() as u32), "settings {number}, SM {sm}");
            }
            // at most one reply per cycle and SM
            let mut places: Vec<_> = stepped.iter().map(|reply| (reply.0, reply.1)).collect();
            places.sort_unstable();
            assert!(places.windows(2).all(|pair| pair[0] != pair[1]));
        }
    }
}

#[test]
fn the_seed_decides_the_jitter() {
    let mut settings = partitions(1, 1, false);
    settings.jitter = Jitter::HeavyTail { scale: 20, shape: 1, most: 5000 };
    let traffic = random_traffic(0);
    assert_eq!(run(&settings, &traffic, 4, false), run(&settings, &traffic, 4, true));
    assert_ne!(run(&settings, &traffic, 4, false), run(&settings, &traffic, 5, false));
}

#[test]
fn fixed_latency_and_bandwidth() {
    let burst: Traffic = vec![(0..4).map(|id| (10, read(id.into(), 1, id))).collect()];
    let cycles = |settings| run(&settings, &burst, 0, false).iter().map(|r| r.0).collect::<Vec<_>>();
    assert_eq!(cycles(fixed(100, 1, true)), [110, 111, 112, 113]);
    // two are accepted per cycle, but an SM takes one reply
    assert_eq!(cycles(fixed(100, 2, true)), [110, 111, 112, 113]);
    // the next one is accepted in the cycle in which the one before is answered
    assert_eq!(cycles(fixed(100, 1, false)), [110, 210, 310, 410]);
    assert_eq!(cycles(MemorySpec::default()), [11, 12, 13, 14]);
}

/// Core cycles from a single read to its reply.
fn round_trip(settings: &MemorySpec) -> u64 {
    let replies = run(settings, &vec![vec![(0, read(0, 1, 0))]], 0, false);
    replies[0].0
}

#[test]
fn a_read_passes_all_stages() {
    // crossbar 2, latency 20, into the queue and through the L2 stage 1 each; then DRAM: taken
    // over 1, latency 40, then 2 DRAM ticks, tRCD + tCL = 24 and one to return; stage 1, crossbar
    // 1, ejection 2
    let settings = partitions(1, 1, false);
    let ticks = |tick: u64| tick * 7001 / 2264;
    let to_dram = 2 + 20 + 1 + 1 + 1 + 40;
    let start = ticks(to_dram - 1) + 1;
    let back = (to_dram..).find(|&cycle| ticks(cycle) > start + 1 + 24).unwrap();
    let trip = round_trip(&settings);
    assert!(trip.abs_diff(back + 3) <= 1, "{trip} against {back} + 3");
    // every latency counts in full
    let mut slower = settings.clone();
    slower.partitions.latency += 100;
    slower.partitions.dram.latency += 1000;
    assert!(round_trip(&slower).abs_diff(trip + 1100) <= 1);
}

#[test]
fn a_warm_l2_spares_the_dram() {
    let mut settings = partitions(2, 2, true);
    let cold = round_trip(&settings);
    settings.start = Start::Warm;
    let mut lower = Lower::new(&checked(&settings), 1);
    lower.preload(0, 256);
    lower.push(0, read(1, 0b1000, 0));
    let mut cycles = 0;
    while lower.reply(0).is_none() {
        lower.cycle();
        cycles += 1;
    }
    assert!(cycles + 40 < cold, "{cycles} against {cold}");
    assert_eq!((lower.stats().l2.hits, lower.stats().dram.reads), (1, 0));
    // cold settings ignore what they are told
    settings.start = Start::Cold;
    let mut lower = Lower::new(&checked(&settings), 1);
    lower.preload(0, 256);
    lower.push(0, read(1, 0b1000, 0));
    while lower.reply(0).is_none() {
        lower.cycle();
    }
    assert_eq!(lower.stats().dram.reads, 1);
}

#[test]
fn bandwidth_is_that_of_the_narrowest_part() {
    // one channel, one bank row: a burst of 32 bytes every tCCD = 4 ticks, 3.09 ticks per cycle
    let mut settings = partitions(1, 1, false);
    settings.partitions.dram.groups = 1;
    let stream =
        |count: u32| vec![(0..count).map(|id| (0, read(u64::from(id / 4), 1 << (id % 4), id))).collect()];
    let last = |settings: &MemorySpec, count| run(settings, &stream(count), 0, false).last().unwrap().0;
    let per_burst = (last(&settings, 400) - last(&settings, 80)) as f64 / 320.0;
    assert!((per_burst - 4.0 * 2264.0 / 7001.0).abs() < 0.15, "{per_burst} cycles per burst");
    // with four channels the SM's one reply per cycle is the limit
    settings = partitions(4, 2, false);
    let per_burst = (last(&settings, 400) - last(&settings, 80)) as f64 / 320.0;
    assert!((1.0..1.1).contains(&per_burst), "{per_burst} cycles per burst");
}
