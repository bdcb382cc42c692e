//! Tests of the DRAM.

use super::super::{RequestKind, Token};
use super::*;

/// Returns settings with four banks in bits 8 and 9, and rows from bit 10.
fn settings() -> Settings {
    Settings {
        bank_bits: vec![8, 9],
        row_bit: 10,
        groups: 2,
        ccd: 4,
        ccdl: 6,
        rrd: 12,
        rcd: 24,
        ras: 55,
        rp: 24,
        rc: 78,
        cl: 24,
        wl: 8,
        cdlr: 10,
        wr: 24,
        rtpl: 4,
        ..Settings::default()
    }
}

/// Returns the tick in which each request is done, in the given order; all arrive before tick 0.
fn done(settings: &Settings, requests: &[(RequestKind, u64)]) -> Vec<u64> {
    let mut dram = Dram::new(settings);
    for (id, &(kind, address)) in requests.iter().enumerate() {
        let sector = 1 << (address / 32 % 4);
        let request = Request::new(address / 128, sector, kind, Token::Flight((id as u32).into()));
        dram.push(request, 0, address);
    }
    let mut ticks = vec![0; requests.len()];
    for now in 0..100_000 {
        if dram.is_idle() {
            return ticks;
        }
        let written_back = dram.tick(now);
        for transfer in written_back.iter().chain(dram.done()) {
            let Token::Flight(id) = transfer.request.token else { unreachable!() };
            ticks[u32::from(id) as usize] = now;
        }
        dram.take_done();
    }
    panic!("the DRAM never comes to rest: {dram:?}");
}

use RequestKind::{Read, Write, WriteBack};

#[test]
fn a_row_miss_activates_and_a_row_hit_does_not() {
    // activated in tick 0, read 24 ticks later, data after another 24
    assert_eq!(done(&settings(), &[(Read, 0)]), [48]);
    // same row: the next column command of the same group may issue 6 ticks later
    assert_eq!(done(&settings(), &[(Read, 0), (Read, 32)]), [48, 54]);
    // another row of the same bank: precharge after tRAS, activation after tRC
    assert_eq!(done(&settings(), &[(Read, 0), (Read, 1024)]), [48, 79 + 48]);
}

#[test]
fn banks_overlap_as_far_as_the_buses_let_them() {
    // the second bank gets its request in the next tick, and is activated tRRD after the first
    assert_eq!(done(&settings(), &[(Read, 0), (Read, 256)]), [48, 60]);
    // with a short tRRD, the column commands follow each other, tCCD apart
    let quick = Settings { rrd: 1, ..settings() };
    assert_eq!(done(&quick, &[(Read, 0), (Read, 256)]), [48, 52]);
}

#[test]
fn row_hits_stream_at_the_column_rate() {
    let stream: Vec<_> = (0..32).map(|n| (Read, n % 4 * 32 + n / 4 * 256 % 1024)).collect();
    let quick = Settings { ccdl: 4, rrd: 1, ..settings() };
    let ticks = done(&quick, &stream);
    let last = ticks.iter().max().unwrap();
    // 32 bursts of 4 ticks, after one activation and one read latency
    assert_eq!(*last, 48 + 31 * 4);
}

#[test]
fn open_rows_go_first_or_arrival_order_rules() {
    let requests = [(Read, 0), (Read, 1024), (Read, 64)];
    let first_ready = done(&settings(), &requests);
    assert!(first_ready[2] < first_ready[1], "{first_ready:?}");
    let in_order = done(&Settings { scheduler: DramScheduler::Fifo, ..settings() }, &requests);
    assert!(in_order.is_sorted(), "{in_order:?}");
    assert!(in_order[2] > first_ready.into_iter().max().unwrap());
}

#[test]
fn the_bus_turns_around() {
    // a write may issue tRCD - (tWL + 1) after the activation; its data follows tWL later
    assert_eq!(done(&settings(), &[(Write, 0)]), [15 + 8]);
    // read after write: tWL + burst + tCDLR
    assert_eq!(done(&settings(), &[(Write, 0), (Read, 32)]), [23, 15 + 22 + 24]);
    // write after read: tCL + burst + 2 - tWL
    assert_eq!(done(&settings(), &[(Read, 0), (Write, 32)]), [48, 24 + 22 + 8]);
    // precharge after write: data end plus tWR, if tRAS is over by then
    let other_row = done(&Settings { ras: 0, rc: 0, ..settings() }, &[(WriteBack, 0), (Read, 1024)]);
    assert_eq!(other_row, [23, 15 + 36 + 24 + 48]);
}

#[test]
fn a_row_stays_open_until_the_burst_that_reads_it_is_over() {
    // read in tick 24, precharged after a burst of 4 ticks, activated after tRP
    let quick = Settings { ras: 0, rc: 0, rtpl: 0, ..settings() };
    assert_eq!(done(&quick, &[(Read, 0), (Read, 1024)]), [48, 24 + 4 + 24 + 48]);
}

#[test]
fn large_requests_take_several_bursts() {
    let mut dram = Dram::new(&settings());
    dram.push(Request::new(0, 0b1111, Read, Token::None), 0, 0);
    let tick = (0..).find(|&now| {
        dram.tick(now);
        dram.done().is_some()
    });
    assert_eq!(tick, Some(48 + 3 * 6));
    assert_eq!(dram.stats(), DramStats { reads: 4, writes: 0, activations: 1 });
}

#[test]
fn sets_are_read_from_any_member_on() {
    assert!(rotated(0b1011_0010, 5).eq([5, 7, 1, 4]));
    assert_eq!(rotated(0, 3).count(), 0);
    assert!(rotated(u64::MAX, 63).take(2).eq([63, 0]));
}
