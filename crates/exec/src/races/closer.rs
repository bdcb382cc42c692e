//! The precise analysis: which accesses to a location race with each other, cell by cell, including
//! all rare cases.

use super::atomics::Atomics;
use super::clocks::{ClockKey, Clocks, Side};
use super::detector::{Found, Named, RaceDetector};
use super::shadow::{Cell, Cells, Moment};
use super::{AccessEffect, Region};
use warpbound_core::base::Pc;

impl RaceDetector {
    /// Analyses an access to the bytes from an address on, some of which may be part of a race.
    #[cold]
    pub(super) fn examine(
        &mut self,
        region: Region,
        (address, bytes): (u64, u64),
        size: u64,
        moment: &Moment,
        effect: AccessEffect,
    ) {
        let Self { regions, clocks, limit, incomplete, atomics, found, unnamed, block, .. } = self;
        let mut named = Named { found, unnamed };
        let watched = &mut regions[region as usize];
        let Some((cells, _)) = watched.cells.cells(address, bytes, size, moment) else { return };
        let Cells { readers, writers, place } = cells;
        for (index, (reader, writer)) in readers.iter_mut().zip(writers).enumerate() {
            let address = address / place * place + index as u64 * place;
            if clocks.as_ref().is_some_and(|clocks| !clocks.fits(*limit)) {
                *incomplete = true;
                return;
            }
            let clocks = clocks.as_deref_mut().map(|clocks| (clocks, (region == Region::Shared, address)));
            let raced = examine(clocks, atomics, moment.own, (reader, writer), effect);
            for first in raced.into_iter().flatten() {
                let one = Found { region, address, first, second: moment.own, block: *block };
                named.add(one);
            }
        }
    }
}

/// Records one access to one location, and returns the writer and the reader with which it races.
/// Without clocks, the sections order accesses.
fn examine(
    clocks: Option<(&mut Clocks, ClockKey)>,
    atomics: &Atomics,
    own: Cell,
    (reader, writer): (&mut Cell, &mut Cell),
    effect: AccessEffect,
) -> [Option<Cell>; 2] {
    let (read, written) = (*reader, *writer);
    let foreign = |cell: Cell, side| match &clocks {
        None => cell.is_foreign(own),
        Some((clocks, place)) => clocks.is_foreign(cell, own.actor(), *place, side),
    };
    let (foreign_reader, foreign_writer) = (foreign(read, Side::Reader), foreign(written, Side::Writer));
    let raced_reader = foreign_reader.then_some(read);
    let raced_writer = foreign_writer.then_some(written);
    // with clocks, only a foreign access counts as open: the warp's own accesses may be in an
    // earlier section
    let open = |cell: Cell, foreign: bool| if clocks.is_some() { foreign } else { cell.is_open() };
    let side = match effect {
        AccessEffect::Reads | AccessEffect::Rewrites => {
            let seen = (open(read, foreign_reader), foreign_reader);
            *reader = last_reader(read, seen, own, effect == AccessEffect::Rewrites);
            Side::Reader
        }
        AccessEffect::Writes => {
            *writer = own;
            Side::Writer
        }
        AccessEffect::Updates => {
            let seen = (open(written, foreign_writer), foreign_writer);
            *writer = last_updater(written, seen, own, atomics);
            Side::Writer
        }
    };
    if let Some((clocks, place)) = clocks {
        let ordered = if side == Side::Reader { !foreign_reader } else { !foreign_writer };
        clocks.remember(own.actor(), place, side, ordered);
    }
    racing(atomics, own, (raced_reader, raced_writer), effect)
}

/// Returns the writer and the reader with which an access races, of those that it is not ordered
/// with.
fn racing(
    atomics: &Atomics,
    own: Cell,
    (reader, writer): (Option<Cell>, Option<Cell>),
    effect: AccessEffect,
) -> [Option<Cell>; 2] {
    match effect {
        AccessEffect::Reads => [writer, None],
        AccessEffect::Writes => [writer, reader],
        // several warps may write the same value, as long as no other warp reads the location or
        // writes another value
        AccessEffect::Rewrites => {
            [writer.filter(|cell| cell.is_special()), reader.filter(|read| !read.is_special())]
        }
        AccessEffect::Updates => {
            let pc = Pc::new(own.pc());
            let order_shows = |written: &Cell| {
                let other = Pc::new(written.pc());
                !written.is_special()
                    || !atomics.commute(other, pc)
                    || atomics.is_used(other)
                    || atomics.is_used(pc)
            };
            [writer.filter(order_shows), reader]
        }
    }
}

/// Returns the reader to remember after a read, or after a write of the value that is already there
/// (`special`). `read` is the reader before; `open` and `foreign` say whether its access is
/// unordered with the present one ([`Cell::is_open`]), and whether it is foreign.
fn last_reader(read: Cell, (open, foreign): (bool, bool), own: Cell, special: bool) -> Cell {
    match (open, foreign) {
        (false, _) if special => own.special(),
        (false, _) => own,
        (true, false) if special => read,
        (true, false) => read.plain(),
        (true, true) if special => read.many(),
        (true, true) => read.plain().many(),
    }
}

/// Returns the writer to remember after an atomic operation, like [`last_reader`].
fn last_updater(written: Cell, (open, foreign): (bool, bool), own: Cell, atomics: &Atomics) -> Cell {
    match (open, foreign) {
        (false, _) => own.special(),
        (true, true) => written.many(),
        // the warp's own store, or an operation whose result is used, is more informative
        (true, false) if !written.is_special() || !atomics.is_used(Pc::new(own.pc())) => written,
        (true, false) => own.special(),
    }
}
