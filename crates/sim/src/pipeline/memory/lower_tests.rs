//! Tests of the lower level from the viewpoint of the SMs.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::super::{Request, RequestKind, Token};
use super::*;
use warpbound_core::diag::SourceText;
use warpbound_core::machine::memory::{
    CacheSettings, Dram, Index, Jitter, Partitions, WriteMiss, WritePolicy,
};
use warpbound_core::machine::pipeline::LoadStore;
use warpbound_core::machine::{Machine, MachineSpec, MemorySpec, PipelineSpec};

/// Returns the memory of a machine that has these settings.
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
    Request::new(line, sectors, RequestKind::Read, Token::Flight(id.into()))
}

fn id(token: Token) -> u32 {
    let Token::Flight(id) = token else { panic!("{token:?} was not sent") };
    id.into()
}

/// The requests of each SM, as (core cycle, request); each is sent as soon as possible from that
/// cycle on.
type Traffic = Vec<Vec<(u64, Request)>>;

/// Memory and the SMs that send to it.
struct Run<'t> {
    lower: Lower,
    ports: Vec<Port>,
    traffic: &'t Traffic,
    /// For each SM, the number of requests that it has sent.
    sent: Vec<usize>,
    /// The largest number of requests that an SM sends in a cycle.
    most: usize,
    /// The replies, as (core cycle, SM, id).
    replies: Vec<(u64, usize, u32)>,
}

impl<'t> Run<'t> {
    fn new(settings: &MemorySpec, traffic: &'t Traffic, seed: u64, most: usize) -> Self {
        let settings = MemorySpec { seed, ..settings.clone() };
        let lower = Lower::new(&checked(&settings), traffic.len());
        let ports = (0..traffic.len()).map(|sm| lower.port(sm)).collect();
        Self { lower, ports, traffic, sent: vec![0; traffic.len()], most, replies: Vec::new() }
    }

    /// Sends the requests of an SM that can be sent in a cycle.
    fn send(&mut self, sm: usize, cycle: u64) {
        let port = &mut self.ports[sm];
        port.begin_cycle(cycle);
        for _ in 0..self.most {
            match self.traffic[sm].get(self.sent[sm]) {
                Some(&(at, request)) if at <= cycle && port.accepts() => port.push(request),
                _ => return,
            }
            self.sent[sm] += 1;
        }
    }

    fn cycle(&mut self, cycle: u64) {
        let Self { lower, ports, replies, .. } = self;
        for (sm, port) in ports.iter_mut().enumerate() {
            lower.deliver(sm, port, |port| {
                let reply = port.reply();
                replies.extend(reply.map(|reply| (cycle, sm, id(reply.token))));
                reply.is_some()
            });
        }
        lower.cycle();
        for sm in 0..self.ports.len() {
            self.lower.open(sm, &mut self.ports[sm]);
            self.send(sm, cycle);
            self.lower.collect(&mut self.ports[sm]);
        }
    }

    /// Simulates cycles in which memory and the SMs are independent.
    fn window(&mut self, cycles: std::ops::Range<u64>) {
        self.lower.run_ahead(cycles.end - cycles.start, true, |shares| {
            // in another order than that of the shares
            shares.iter_mut().rev().for_each(Share::run);
        });
        for sm in 0..self.ports.len() {
            self.lower.open_window(sm, &mut self.ports[sm]);
            for cycle in cycles.clone() {
                self.replies.extend(self.ports[sm].reply().map(|reply| (cycle, sm, id(reply.token))));
                self.ports[sm].eject(cycle);
                self.send(sm, cycle);
            }
            self.lower.close_window(sm, &mut self.ports[sm]);
        }
        self.lower.follow(self.ports.iter().map(Port::waiting).sum());
    }

    /// Returns the cycle in which the next request can be sent, or `u64::MAX` if all have been.
    fn next(&self) -> u64 {
        let next = |(sends, &n): (&Vec<(u64, Request)>, &usize)| sends.get(n).map(|&(at, _)| at);
        self.traffic.iter().zip(&self.sent).filter_map(next).min().unwrap_or(u64::MAX)
    }

    fn is_over(&self) -> bool {
        self.next() == u64::MAX && self.lower.is_idle()
    }
}

/// Returns the replies until nothing is in flight. `jump` uses `quiet_for` and `skip`.
fn run(settings: &MemorySpec, traffic: &Traffic, seed: u64, jump: bool) -> Vec<(u64, usize, u32)> {
    let mut run = Run::new(settings, traffic, seed, usize::MAX);
    let mut cycle = 0;
    while cycle < 1 << 20 {
        run.cycle(cycle);
        if run.is_over() {
            return run.replies;
        }
        cycle += 1;
        if jump && run.next() > cycle {
            let quiet = run.lower.quiet_for().min(run.next() - cycle);
            run.lower.skip(quiet);
            cycle += quiet;
        }
    }
    panic!("requests without an answer: {:?}", run.lower);
}

/// Returns the replies in order, the memory statistics at the end of each cycle, and the number of
/// cycles simulated in windows. Windows of these lengths are used where possible.
fn run_windows(
    settings: &MemorySpec,
    traffic: &Traffic,
    seed: u64,
    mut length: impl FnMut() -> u64,
) -> (Vec<(u64, usize, u32)>, Vec<LowerStats>, u64) {
    let mut run = Run::new(settings, traffic, seed, 3);
    let (mut stats, mut in_windows, mut from) = (Vec::new(), 0, 0);
    while from < 1 << 20 {
        let cycles = run.lower.horizon().min(length());
        if cycles > 1 {
            run.window(from..from + cycles);
            stats.extend((from..from + cycles).map(|cycle| run.lower.stats_at(cycle)));
            in_windows += cycles;
        } else {
            run.cycle(from);
            stats.push(run.lower.stats());
        }
        from += cycles.max(1);
        if run.is_over() {
            run.replies.sort_unstable();
            return (run.replies, stats, in_windows);
        }
    }
    panic!("requests without an answer: {:?}", run.lower);
}

/// Returns random traffic of two SMs, in bursts, over a few dozen lines.
fn random_traffic(seed: u64) -> Traffic {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut below = |bound: u64| (u64::from(rng.next_u32()) * bound) >> 32;
    let mut sends = |count: u32| {
        let mut at = 0;
        let request = |id: u32| {
            at += if below(5) == 0 { below(400) } else { below(2) };
            let kind = match below(4) {
                0 => RequestKind::Write,
                1 => RequestKind::Atomic,
                _ => RequestKind::Read,
            };
            (at, Request::new(below(60), 1 << below(4), kind, Token::Flight(id.into())))
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
fn windows_change_nothing() {
    let mut windows = 0;
    for (number, settings) in all_settings().iter().enumerate() {
        if settings.lower != LowerLevel::Partitions {
            continue;
        }
        for (seed, crossbar_queue) in (0..12).zip([8, 200].into_iter().cycle()) {
            let mut settings = settings.clone();
            if settings.partitions.crossbar_queue > 1 {
                settings.partitions.crossbar_queue = crossbar_queue;
            }
            let traffic = random_traffic(seed);
            let mut narrow = settings.clone();
            narrow.partitions.latency = 0;
            assert_eq!(Lower::new(&checked(&narrow), 2).horizon(), 0, "nothing is ahead of itself");
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let lengths = move || 1 + u64::from(rng.next_u32()) % 30;
            let (replies, stats, cycles) = run_windows(&settings, &traffic, seed, lengths);
            let (stepped, by_cycle, _) = run_windows(&settings, &traffic, seed, || 1);
            assert_eq!(replies, stepped, "settings {number}, seed {seed}");
            let other =
                stats.iter().zip(&by_cycle).enumerate().find(|(_, (windows, cycles))| windows != cycles);
            assert_eq!(other, None, "settings {number}, seed {seed}");
            windows += cycles;
        }
    }
    assert!(windows > 20_000, "few windows were tried: {windows}");
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
    // the next request is accepted in the cycle in which the previous one is answered
    assert_eq!(cycles(fixed(100, 1, false)), [110, 210, 310, 410]);
    assert_eq!(cycles(MemorySpec::default()), [11, 12, 13, 14]);
}

/// Nothing answers a write-back, so no request waits for it.
#[test]
fn a_write_back_leaves_room_in_its_cycle() {
    let mut lower = Lower::new(&checked(&fixed(100, 2, false)), 1);
    let mut port = lower.port(0);
    for (room, kind) in [(2, RequestKind::WriteBack), (1, RequestKind::Read)] {
        if room == 2 {
            lower.cycle();
        }
        assert_eq!(lower.room(0), room);
        lower.open(0, &mut port);
        port.push(Request::new(9, 1, kind, Token::None));
        lower.collect(&mut port);
    }
    lower.cycle();
    assert_eq!(lower.room(0), 0);
}

/// Returns the number of core cycles from a single read to its reply.
fn round_trip(settings: &MemorySpec) -> u64 {
    let replies = run(settings, &vec![vec![(0, read(0, 1, 0))]], 0, false);
    replies[0].0
}

#[test]
fn a_read_passes_all_stages() {
    // crossbar 2, latency 20, into the queue and through the L2 stage 1 each; then DRAM: accepted
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

/// Returns the number of cycles until the only request is answered.
fn answered_after(lower: &mut Lower, request: Request) -> u64 {
    let mut port = lower.port(0);
    lower.open(0, &mut port);
    port.push(request);
    lower.collect(&mut port);
    let mut cycles = 0;
    while !lower.deliver(0, &mut port, |port| port.reply().is_some()) {
        lower.cycle();
        cycles += 1;
    }
    cycles
}

#[test]
fn a_warm_l2_spares_the_dram() {
    let mut settings = partitions(2, 2, true);
    let cold = round_trip(&settings);
    let mut lower = Lower::new(&checked(&settings), 1);
    lower.preload(0, 256);
    let cycles = answered_after(&mut lower, read(1, 0b1000, 0));
    assert!(cycles + 40 < cold, "{cycles} against {cold}");
    assert_eq!((lower.stats().l2.hits, lower.stats().dram.reads), (1, 0));
    // the same holds for data that another launch has read
    let mut first = Lower::new(&checked(&settings), 1);
    answered_after(&mut first, read(1, 0b1000, 0));
    let left = first.leave(1000, 1);
    let mut lower = Lower::new(&checked(&settings), 1);
    assert!(lower.go_on_after(left.clone()));
    assert_eq!(answered_after(&mut lower, read(1, 0b1000, 0)), cycles);
    assert_eq!((lower.stats().l2.hits, lower.stats().dram.reads), (1, 0));
    // the state does not fit a memory with other parts
    settings.partitions.slices = 1;
    assert!(!Lower::new(&checked(&settings), 1).go_on_after(left));
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
