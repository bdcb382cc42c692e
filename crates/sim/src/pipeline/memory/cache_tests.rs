//! Tests of the cache.

use super::*;
use warpbound_core::machine::memory::Index;

const SMALL: CacheSettings = CacheSettings {
    sets: 2,
    ways: 2,
    line: 128,
    sectored: true,
    fetch: 32,
    replacement: Replacement::Lru,
    write: WritePolicy::Through,
    write_miss: WriteMiss::NoAllocate,
    index: Index::Linear,
    mshrs: 4,
    merge: 2,
    miss_queue: 8,
    port: 32,
};

fn request(kind: RequestKind, line: u64, sectors: u8, id: u32) -> Request {
    Request::new(line, sectors, kind, Token::Flight(id.into()))
}

fn read(line: u64, sectors: u8) -> Request {
    request(RequestKind::Read, line, sectors, 7)
}

fn write(line: u64, sectors: u8) -> Request {
    request(RequestKind::Write, line, sectors, 9)
}

fn id(token: Token) -> u32 {
    let Token::Flight(id) = token else { panic!("{token:?} was not sent") };
    id.into()
}

/// Sends all waiting requests, answers the fetches, and returns the requests.
fn serve(cache: &mut Cache) -> Vec<(RequestKind, u64, u8)> {
    let mut sent = Vec::new();
    while let Some(&out) = cache.outgoing() {
        cache.sent();
        sent.push((out.kind, out.line, out.sectors));
        if !out.kind.is_write() {
            cache.fill(out.token);
        }
    }
    while cache.ready().is_some() {}
    sent
}

/// Reads a line, and returns whether it was a hit.
fn touch(cache: &mut Cache, line: u64) -> bool {
    let hit = cache.access(read(line, 1)) == Access::Hit;
    serve(cache);
    hit
}

#[test]
fn a_miss_fetches_its_sectors_and_hits_afterwards() {
    let mut cache = Cache::new(&SMALL, 0);
    assert_eq!(cache.access(read(5, 0b0011)), Access::Miss);
    assert_eq!(serve(&mut cache), [(RequestKind::Read, 5, 0b0011)]);
    assert_eq!(cache.access(read(5, 0b0010)), Access::Hit);
    // another sector of the line is another miss, and only what is missing is fetched
    assert_eq!(cache.access(read(5, 0b0110)), Access::Miss);
    assert_eq!(serve(&mut cache), [(RequestKind::Read, 5, 0b0100)]);
    assert_eq!(cache.access(read(5, 0b0111)), Access::Hit);
    let stats = cache.stats();
    assert_eq!((stats.accesses, stats.hits, stats.misses), (4, 2, 2));
}

#[test]
fn a_cache_without_sectors_fetches_lines() {
    let mut cache = Cache::new(&CacheSettings { sectored: false, ..SMALL }, 0);
    assert_eq!(cache.access(read(5, 0b0001)), Access::Miss);
    assert_eq!(serve(&mut cache), [(RequestKind::Read, 5, 0b1111)]);
    assert_eq!(cache.access(read(5, 0b1000)), Access::Hit);
}

#[test]
fn parts_are_fetched_without_what_is_there() {
    let fetched = |fetch: u32, line: u32, sectors: u8| {
        let mut cache = Cache::new(&CacheSettings { fetch, line, ..SMALL }, 0);
        assert_eq!(cache.access(read(5, sectors)), Access::Miss);
        serve(&mut cache)[0].2
    };
    for (sectors, of_64) in [(0b0001, 0b0011), (0b0010, 0b0011), (0b0100, 0b1100), (0b0110, 0b1111)] {
        assert_eq!(fetched(32, 128, sectors), sectors);
        assert_eq!(fetched(64, 128, sectors), of_64);
        assert_eq!(fetched(128, 128, sectors), 0b1111);
    }
    // no more than the line
    assert_eq!(fetched(128, 64, 0b1000), 0b1100);
    assert_eq!(fetched(64, 32, 0b1000), 0b1000);
    let mut cache = Cache::new(
        &CacheSettings { fetch: 64, write: WritePolicy::Back, write_miss: WriteMiss::Allocate, ..SMALL },
        0,
    );
    assert_eq!(cache.access(write(5, 0b0001)), Access::Hit);
    assert_eq!(cache.access(read(5, 0b0010)), Access::Miss);
    assert_eq!(serve(&mut cache), [(RequestKind::Read, 5, 0b0010)]);
    // a load of another sector joins the fetch of its part
    assert_eq!(cache.access(read(5, 0b0100)), Access::Miss);
    assert_eq!(cache.access(read(5, 0b1000)), Access::Merged);
}

#[test]
fn short_lines_divide_the_sectors() {
    let mut cache = Cache::new(&CacheSettings { line: 64, sectored: false, ..SMALL }, 0);
    assert_eq!(cache.access(read(5, 0b1000)), Access::Miss);
    assert_eq!(serve(&mut cache), [(RequestKind::Read, 5, 0b1100)]);
    assert_eq!(cache.access(read(5, 0b0100)), Access::Hit);
    assert_eq!(cache.access(read(5, 0b0001)), Access::Miss);
    assert_eq!(serve(&mut cache), [(RequestKind::Read, 5, 0b0011)]);
    let mut cache = Cache::new(&CacheSettings { line: 32, ..SMALL }, 0);
    for sector in 0..4 {
        assert_eq!(cache.access(read(0, 1 << sector)), Access::Miss);
    }
    // four lines fit into two sets of two ways, so all stay
    serve(&mut cache);
    for sector in 0..4 {
        assert_eq!(cache.access(read(0, 1 << sector)), Access::Hit);
    }
}

#[test]
fn replacement_policies_differ_where_they_should() {
    // lines 0, 2, 4 share set 0 of two ways; 0 is used again before 4 is accessed
    let survivors = |replacement| {
        let mut cache = Cache::new(&CacheSettings { replacement, ..SMALL }, 3);
        for line in [0, 2, 0, 4] {
            touch(&mut cache, line);
        }
        [touch(&mut cache.clone(), 0), touch(&mut cache.clone(), 2), touch(&mut cache, 4)]
    };
    assert_eq!(survivors(Replacement::Lru), [true, false, true]);
    assert_eq!(survivors(Replacement::Fifo), [false, true, true]);
    // direct-mapped: the last line of a set stays
    let mut direct = Cache::new(&CacheSettings { ways: 1, ..SMALL }, 0);
    assert_eq!([0, 2, 0, 1, 0].map(|line| touch(&mut direct, line)), [false, false, false, false, true]);
}

#[test]
fn random_replacement_is_uniform_and_the_seed_decides() {
    let survivors = |seed| {
        let settings = CacheSettings { sets: 1, ways: 4, replacement: Replacement::Random, ..SMALL };
        let mut cache = Cache::new(&settings, seed);
        let mut evicted = [0u32; 4];
        for line in 0..4 {
            touch(&mut cache, line);
        }
        for line in 4..2004 {
            let lines = |cache: &Cache| [0, 1, 2, 3].map(|frame| cache.lines.at(frame));
            let before = lines(&cache);
            touch(&mut cache, line);
            let frame = before.iter().zip(&lines(&cache)).position(|(old, new)| old != new);
            evicted[frame.unwrap()] += 1;
        }
        evicted
    };
    let evicted = survivors(1);
    assert!(evicted.iter().all(|&n| (400..600).contains(&n)), "{evicted:?}");
    assert_eq!(evicted, survivors(1));
    assert_ne!(evicted, survivors(2));
}

#[test]
fn requests_merge_into_a_fetch_up_to_its_limit() {
    let mut cache = Cache::new(&SMALL, 0);
    assert_eq!(cache.access(request(RequestKind::Read, 5, 1, 20)), Access::Miss);
    assert_eq!(cache.access(request(RequestKind::Read, 5, 1, 21)), Access::Merged);
    assert_eq!(cache.access(request(RequestKind::Read, 5, 1, 22)), Access::Stall);
    let fetch = *cache.outgoing().unwrap();
    cache.sent();
    assert!(cache.outgoing().is_none(), "one fetch serves both");
    assert_eq!(cache.ready(), None);
    cache.fill(fetch.token);
    let ready: Vec<u32> = std::iter::from_fn(|| cache.ready()).map(|r| id(r.token)).collect();
    assert_eq!(ready, [20, 21]);
    assert!(cache.outgoing().is_none() && !cache.any_ready());
    assert_eq!(cache.stats().stalls, 1);
}

#[test]
fn a_load_waits_for_a_fetch_that_brings_all_that_it_wants() {
    let mut cache = Cache::new(&SMALL, 0);
    assert_eq!(cache.access(read(5, 0b0011)), Access::Miss);
    assert_eq!(cache.access(read(5, 0b0001)), Access::Merged, "the fetch brings more");
    let mut cache = Cache::new(&SMALL, 0);
    assert_eq!([0b0001, 0b0010].map(|sector| cache.access(read(5, sector))), [Access::Miss; 2]);
    assert_eq!(cache.access(read(5, 0b0011)), Access::Miss, "no fetch brings both");
}

#[test]
fn fetches_lines_and_the_miss_queue_are_limited() {
    let mut cache = Cache::new(&CacheSettings { mshrs: 2, ..SMALL }, 0);
    assert_eq!(cache.access(read(0, 1)), Access::Miss);
    assert_eq!(cache.access(read(1, 1)), Access::Miss);
    assert_eq!(cache.access(read(2, 1)), Access::Stall, "no MSHR");
    let mut cache = Cache::new(&SMALL, 0);
    assert_eq!(
        [0, 2, 4].map(|line| cache.access(read(line, 1))),
        [Access::Miss, Access::Miss, Access::Stall]
    );
    serve(&mut cache);
    assert_eq!(cache.access(read(4, 1)), Access::Miss, "a line is free again");
    let mut cache = Cache::new(&CacheSettings { miss_queue: 2, ..SMALL }, 0);
    assert_eq!([0, 1].map(|line| cache.access(read(line, 1))), [Access::Miss, Access::Stall]);
    assert_eq!([4, 5].map(|line| cache.access(write(line, 1))), [Access::Forwarded, Access::Stall]);
}

#[test]
fn write_through_changes_lines_and_goes_on() {
    let mut cache = Cache::new(&SMALL, 0);
    assert_eq!(cache.access(write(5, 1)), Access::Forwarded);
    assert_eq!(serve(&mut cache), [(RequestKind::Write, 5, 1)]);
    assert_eq!(cache.access(read(5, 1)), Access::Miss, "nothing was allocated");
    serve(&mut cache);
    assert_eq!(cache.access(write(5, 1)), Access::Forwarded);
    assert_eq!(cache.access(read(5, 1)), Access::Hit);
    let mut cache = Cache::new(&CacheSettings { write_miss: WriteMiss::Allocate, ..SMALL }, 0);
    assert_eq!(cache.access(write(5, 1)), Access::Forwarded);
    assert_eq!(cache.access(read(5, 1)), Access::Hit);
    assert_eq!(cache.access(read(5, 2)), Access::Miss, "only what was written is there");
}

#[test]
fn write_evict_removes_the_sectors() {
    let mut cache = Cache::new(&CacheSettings { write: WritePolicy::Evict, ..SMALL }, 0);
    cache.access(read(5, 3));
    serve(&mut cache);
    assert_eq!(cache.access(write(5, 1)), Access::Forwarded);
    assert_eq!(cache.access(read(5, 2)), Access::Hit);
    assert_eq!(cache.access(read(5, 1)), Access::Miss);
}

#[test]
fn write_back_keeps_stores_until_the_line_makes_room() {
    let settings = CacheSettings { write: WritePolicy::Back, write_miss: WriteMiss::Allocate, ..SMALL };
    let mut cache = Cache::new(&settings, 0);
    assert_eq!(cache.access(write(0, 0b0101)), Access::Hit);
    assert_eq!(cache.access(write(2, 0b0001)), Access::Hit);
    assert!(cache.outgoing().is_none());
    touch(&mut cache, 0);
    assert_eq!(cache.access(read(4, 1)), Access::Miss);
    // the write-back of the victim is sent before the fetch
    assert_eq!(serve(&mut cache), [(RequestKind::WriteBack, 2, 0b0001), (RequestKind::Read, 4, 1)]);
    assert_eq!(cache.access(read(6, 1)), Access::Miss);
    assert_eq!(serve(&mut cache), [(RequestKind::WriteBack, 0, 0b0101), (RequestKind::Read, 6, 1)]);
    assert_eq!(cache.stats().write_backs, 2);
    // a clean victim needs no write-back
    assert_eq!(cache.access(read(8, 1)), Access::Miss);
    assert_eq!(serve(&mut cache), [(RequestKind::Read, 8, 1)]);
    // without allocation a store that misses is forwarded
    let mut cache = Cache::new(&CacheSettings { write_miss: WriteMiss::NoAllocate, ..settings }, 0);
    assert_eq!(cache.access(write(0, 1)), Access::Forwarded);
}

#[test]
fn atomics_leave_dirty_lines() {
    let settings = CacheSettings { sets: 1, ways: 1, write: WritePolicy::Back, ..SMALL };
    let mut cache = Cache::new(&settings, 0);
    assert_eq!(cache.access(request(RequestKind::Atomic, 3, 1, 0)), Access::Miss);
    serve(&mut cache);
    cache.access(read(4, 1));
    assert_eq!(serve(&mut cache)[0], (RequestKind::WriteBack, 3, 1));
    assert_eq!(cache.access(request(RequestKind::Atomic, 4, 1, 0)), Access::Hit);
    cache.access(read(5, 1));
    assert_eq!(serve(&mut cache)[0], (RequestKind::WriteBack, 4, 1));
}

#[test]
fn a_store_to_a_line_on_its_way_survives_the_fill() {
    let settings = CacheSettings { write: WritePolicy::Back, write_miss: WriteMiss::Allocate, ..SMALL };
    let mut cache = Cache::new(&settings, 0);
    assert_eq!(cache.access(read(5, 0b0001)), Access::Miss);
    assert_eq!(cache.access(write(5, 0b0011)), Access::Hit);
    serve(&mut cache);
    cache.access(read(7, 1));
    cache.access(read(9, 1));
    assert!(serve(&mut cache).contains(&(RequestKind::WriteBack, 5, 0b0011)));
}

#[test]
fn a_warm_cache_hits_at_once() {
    let mut cache = Cache::new(&SMALL, 0);
    cache.preload_at(5, 0b0110, 5);
    assert_eq!(cache.access(read(5, 0b0110)), Access::Hit);
    assert_eq!(cache.access(read(5, 0b0001)), Access::Miss);
    assert_eq!(cache.access(read(6, 1)), Access::Miss);
}

/// A copy of the host writes whole sectors, also those that stores had written in part.
#[test]
fn a_copy_completes_a_sector_that_was_written_in_part() {
    let mut cache = Cache::new(&CacheSettings { write_miss: WriteMiss::Allocate, ..SMALL }, 0);
    cache.access(in_part(5, 0x0f));
    serve(&mut cache);
    cache.preload_at(5, 1, 5);
    assert_eq!(cache.access(read(5, 1)), Access::Hit);
}

/// Two fetches of the same sector are in flight; the line keeps its way until both have arrived.
#[test]
fn a_line_waits_for_every_fetch_of_its_sectors() {
    let mut cache = Cache::new(&CacheSettings { sets: 1, ways: 1, ..SMALL }, 0);
    let mut fetches = Vec::new();
    for sectors in [0b01, 0b10, 0b11] {
        assert_eq!(cache.access(read(5, sectors)), Access::Miss);
        fetches.extend(cache.outgoing().map(|fetch| fetch.token));
        cache.sent();
    }
    fetches[..2].iter().for_each(|&fetch| cache.fill(fetch));
    while cache.ready().is_some() {}
    assert_eq!(cache.access(read(7, 0b1)), Access::Stall);
    cache.fill(fetches[2]);
    assert_eq!(cache.access(read(7, 0b1)), Access::Miss);
}

/// Returns a store to these words of the first sector of a line.
fn in_part(line: u64, words: u32) -> Request {
    write(line, 1).writing(words)
}

/// Tests the behaviour of GPGPU-Sim's L1 and L2 (`LAZY_FETCH_ON_READ`): a store allocates and
/// fetches nothing, and the rest of a partly written sector has to be fetched when a load accesses
/// the sector.
#[test]
fn a_sector_that_is_written_in_part_is_fetched_when_a_load_wants_it() {
    for write in [WritePolicy::Through, WritePolicy::Back] {
        let mut cache = Cache::new(&CacheSettings { write, write_miss: WriteMiss::Allocate, ..SMALL }, 0);
        cache.access(in_part(5, 0x0f));
        serve(&mut cache);
        assert_eq!(cache.access(read(5, 1)), Access::Miss, "{write:?}");
        assert_eq!(cache.access(read(5, 1)), Access::Merged, "{write:?}");
        assert_eq!(serve(&mut cache), [(RequestKind::Read, 5, 1)], "{write:?}");
        assert_eq!(cache.access(read(5, 1)), Access::Hit, "{write:?}");
        // a sector that is present stays readable, whatever is written to it
        cache.access(in_part(5, 0x01));
        serve(&mut cache);
        assert_eq!(cache.access(read(5, 1)), Access::Hit, "{write:?}");
        // a sector that is written completely, at once or in parts, need not be fetched
        cache.access(in_part(6, 0xff));
        cache.access(in_part(7, 0x3c));
        cache.access(in_part(7, 0xc3));
        serve(&mut cache);
        for line in [6, 7] {
            assert_eq!(cache.access(read(line, 1)), Access::Hit, "{write:?}, line {line}");
            assert_eq!(cache.access(read(line, 2)), Access::Miss, "{write:?}, line {line}");
        }
        serve(&mut cache);
    }
}

#[test]
fn a_store_in_part_to_a_sector_under_way_waits_for_it() {
    let mut cache = Cache::new(&CacheSettings { write_miss: WriteMiss::Allocate, ..SMALL }, 0);
    assert_eq!(cache.access(read(5, 1)), Access::Miss);
    cache.access(in_part(5, 0x0f));
    assert_eq!(cache.access(read(5, 1)), Access::Merged);
    serve(&mut cache);
    assert_eq!(cache.access(read(5, 1)), Access::Hit);
}

/// Tests that a store of a whole sector completes no other sector of its line.
#[test]
fn a_whole_sector_completes_no_other() {
    let mut cache = Cache::new(&CacheSettings { write_miss: WriteMiss::Allocate, ..SMALL }, 0);
    cache.access(write(5, 2).writing(0x0f00));
    cache.access(write(5, 1));
    serve(&mut cache);
    assert_eq!(cache.access(read(5, 1)), Access::Hit);
    assert_eq!(cache.access(read(5, 2)), Access::Miss);
}

/// Tests that a line can have several fetches in flight, of sectors that were missed one after the
/// other: each is found, in the order of their starts, until its own data arrives, in any order.
#[test]
fn fetches_of_one_frame_are_all_found() {
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
        let mut mshrs = Mshrs::new(4, 8);
        let start = |sector: u8| mshrs.start(5, 1 << sector, 1, read(5, 1 << sector), false);
        let ids = [0, 1, 2].map(start);
        let mut there = [true; 3];
        for done in order {
            for (sector, (id, there)) in ids.into_iter().zip(there).enumerate() {
                assert_eq!(mshrs.find(1, 5, 1 << sector), there.then_some(id), "{order:?}: sector {sector}");
            }
            assert_eq!(mshrs.find(0, 5, 1), None);
            mshrs.complete(ids[done]);
            there[done] = false;
        }
        assert!((0..3).all(|sector| mshrs.find(1, 5, 1 << sector).is_none()));
    }
}
