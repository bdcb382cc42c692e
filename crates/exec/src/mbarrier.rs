//! Mbarrier objects.
//!
//! An object is one 64-bit word in shared memory, whose layout PTX leaves open. Here it has that of
//! Hopper, as the machine code shows that ptxas makes of the operations: it initialises the word by
//! computing it, and computes `pending_count` from a state. The parts are, from bit 0 on:
//!
//! * 1 bit, which is 0 in that code: 1 here if there is an object;
//! * 20 bits: the arrivals that each phase expects, subtracted from 2^20;
//! * 22 bits: the bytes that the current phase waits for; here they are a signed number;
//! * 20 bits: the arrivals that the current phase waits for, subtracted from 2^20;
//! * 1 bit: the parity of the phase.
//!
//! The state that an arrival returns is this word before the arrival.
//!
//! `try_wait` suspends its warp until the phase completes, so that the path does not depend on the
//! number of times that a loop repeats it. The suspension ends early only if nothing else in the
//! block can run; PTX permits this after an unspecified time. `test_wait` answers at once; if the
//! phase is not complete, other warps get their turn. The number of iterations of a loop around it
//! depends on the order of the warps, and is that of this run. Asynchronous copies complete at
//! once, and so does their arrival.
//!
//! The timing simulation does not model these waits: no verdict is given for a kernel that has
//! them, see [`warpbound_core::program::KernelCode::untimed_wait`].

use super::access::Targets;
use super::context::{Context, Meeting};
use super::fault::{self, Fault};
use super::lanes::width_mask;
use super::races::{AccessEffect, Accessor};
use super::warp::Warp;
use warpbound_core::base::{LaneMask, Pc};
use warpbound_core::isa::Space;
use warpbound_core::program::sem::{Address, Mbarrier, MbarrierArrive, MbarrierOp, Operand};

/// The largest number of arrivals and of bytes that an object can count.
const MOST: i64 = ARRIVALS - 1;

/// The number from which the fields of arrivals are subtracted.
const ARRIVALS: i64 = 1 << 20;

/// The bit of a word that says that there is an object.
const IS_OBJECT: u64 = 1;

/// An mbarrier object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Object {
    /// The number of arrivals that the phase still waits for.
    pending: i64,
    /// The number of arrivals of each phase.
    expected: i64,
    /// The number of bytes that the phase waits for.
    bytes: i64,
    /// The parity of the phase.
    phase: u64,
}

impl Object {
    fn new(count: i64) -> Self {
        Self { pending: count, expected: count, bytes: 0, phase: 0 }
    }

    /// Creates an object for phases of this many arrivals.
    ///
    /// # Errors
    /// Returns a message and a hint if the count is beyond the limits of an object.
    fn for_arrivals(count: i64) -> Result<Self, (String, &'static str)> {
        if !(1..=MOST).contains(&count) {
            let what = format!("an mbarrier object for {count} arrivals");
            return Err((what, "1 to 1048575 are possible"));
        }
        Ok(Self::new(count))
    }

    /// Decodes a word; `None` if it holds no object.
    fn decode(word: u64) -> Option<Self> {
        let field = |from: u32, bits: u32| word >> from & width_mask(bits);
        let arrivals = |from: u32| (ARRIVALS - field(from, 20) as i64) % ARRIVALS;
        (word & IS_OBJECT != 0).then(|| Self {
            expected: arrivals(1),
            bytes: super::lanes::sign_extend(field(21, 22), 22),
            pending: arrivals(43),
            phase: word >> 63,
        })
    }

    fn encode(self) -> u64 {
        let arrivals = |number: i64| (ARRIVALS - number) as u64 & width_mask(20);
        let bytes = self.bytes as u64 & width_mask(22);
        IS_OBJECT
            | arrivals(self.expected) << 1
            | bytes << 21
            | arrivals(self.pending) << 43
            | self.phase << 63
    }

    /// Adds the arrivals and bytes of an operation to those of the phase. `number` returns the
    /// value of an operand.
    ///
    /// # Errors
    /// Returns a message and a hint if a count is beyond the limits of the object or of the phase.
    fn count(
        &mut self,
        op: MbarrierOp,
        number: impl Fn(Operand) -> i64,
    ) -> Result<(), (String, &'static str)> {
        match op {
            MbarrierOp::Init { .. } | MbarrierOp::Inval | MbarrierOp::Wait { .. } => {}
            MbarrierOp::ExpectTx { bytes } => self.bytes += number(bytes),
            MbarrierOp::CompleteTx { bytes } => self.bytes -= number(bytes),
            MbarrierOp::CopiesArrive { counted } => self.pending -= i64::from(counted),
            MbarrierOp::Arrive(arrive) => {
                let count = number(arrive.count);
                self.bytes += number(arrive.expect);
                self.pending -= count;
                self.expected -= if arrive.drops { count } else { 0 };
                if !(1..=MOST).contains(&count) {
                    let what = format!("{count} arrivals at an mbarrier object");
                    return Err((what, "1 to 1048575 are possible"));
                }
                if !arrive.completes && self.pending == 0 && self.bytes == 0 {
                    let what = "an arrival with .noComplete that completes the phase".to_owned();
                    return Err((what, "leave .noComplete out where the arrival may be the last one"));
                }
            }
        }
        if self.pending < 0 || self.expected < 0 {
            let what = "more arrivals at an mbarrier object than its phase waits for".to_owned();
            return Err((what, "make the object for as many as arrive in each phase"));
        }
        if self.bytes.abs() > MOST {
            let what = "an mbarrier object that waits for too many bytes".to_owned();
            return Err((what, "1048575 are possible"));
        }
        Ok(())
    }

    /// Advances to the next phase if the current one is complete, and returns whether it is.
    fn complete(&mut self) -> bool {
        let completes = self.pending == 0 && self.bytes == 0;
        if completes {
            self.phase ^= 1;
            self.pending = self.expected;
        }
        completes
    }

    /// Returns whether the phase of a state, or the phase with a parity, has completed.
    fn is_over(self, phase: u64, parity: bool) -> bool {
        self.phase != if parity { phase & 1 } else { phase >> 63 }
    }
}

/// Executes all operations except for waits.
///
/// # Errors
/// Returns an error for an address without an object, and for counts beyond the limits of an
/// object.
pub(super) fn execute(
    warp: &mut Warp,
    context: &mut Context,
    pc: Pc,
    barrier: &Mbarrier,
    enabled: LaneMask,
) -> Result<(), Fault> {
    let targets = Targets::new(warp, context, pc, (barrier.space, &barrier.addr), 8, "mbarrier access");
    for lane in enabled.lanes() {
        let old = word(&targets, warp, context, pc, lane)?;
        let number =
            |operand: Operand| (warp.operand_in(operand, &context.shape, lane) & width_mask(32)) as i64;
        let fault = |(what, hint): (String, &str)| {
            let message = format!("{what} (lane {lane} of warp {})", warp.id);
            fault::at(context.program, pc, message, hint)
        };
        if let MbarrierOp::Init { count } = barrier.op {
            let object = Object::for_arrivals(number(count)).map_err(fault)?;
            store(&targets, warp, context, (pc, lane), object.encode(), AccessEffect::Writes);
            continue;
        }
        let mut object = object_in(old, &targets, warp, context, lane)?;
        if let MbarrierOp::Inval = barrier.op {
            store(&targets, warp, context, (pc, lane), 0, AccessEffect::Writes);
            continue;
        }
        object.count(barrier.op, number).map_err(fault)?;
        if let (MbarrierOp::CopiesArrive { .. }, Some(detector)) = (barrier.op, &mut context.detector) {
            // the copies arrive when they are done, so a warp that observes the arrival finds them
            // done
            detector.commit_copies(warp.id);
            detector.wait_for_copies(warp.id, 0, enabled);
        }
        let completes = object.complete();
        store(&targets, warp, context, (pc, lane), object.encode(), AccessEffect::Reads);
        if let Some(detector) = &mut context.detector {
            detector.arrive_at_object(warp.id, targets.of(lane).1, completes);
        }
        if let MbarrierOp::Arrive(MbarrierArrive { state: Some(state), .. }) = barrier.op {
            warp.set_in(state, lane, old);
        }
    }
    Ok(())
}

/// Lets the bytes of a bulk copy arrive at the object at a lane's address of shared memory, or at the
/// corresponding one of another block of the cluster.
///
/// # Errors
/// Returns an error for an address without an object, and for too many bytes.
pub(super) fn bytes_arrive(
    warp: &Warp,
    context: &mut Context,
    pc: Pc,
    signal: &Address,
    (lane, rank): (usize, Option<u64>),
    bytes: u64,
) -> Result<(), Fault> {
    let mut targets = Targets::new(warp, context, pc, (Space::Shared, signal), 8, "mbarrier access");
    if let Some(rank) = rank {
        targets = targets.in_block(context, rank);
    }
    let old = word(&targets, warp, context, pc, lane)?;
    let mut object = object_in(old, &targets, warp, context, lane)?;
    let op = MbarrierOp::CompleteTx { bytes: Operand::Imm(bytes) };
    object.count(op, |_| bytes as i64).map_err(|(what, hint)| {
        let message = format!("{what} (lane {lane} of warp {})", warp.id);
        fault::at(context.program, pc, message, hint)
    })?;
    let completes = object.complete();
    write(&targets, warp, context, lane, object.encode());
    if let Some(detector) = &mut context.detector {
        let (space, address) = targets.of(lane);
        let by = Accessor { warp: warp.id, pc };
        detector.by_bulk_copy(by, true, (space, address), 8, AccessEffect::Reads);
        detector.copy_arrives(warp.id, address, completes);
    }
    Ok(())
}

/// Executes `test_wait` and `try_wait`.
///
/// # Errors
/// Returns an error for an address without an object.
pub(super) fn wait(
    warp: &mut Warp,
    context: &mut Context,
    pc: Pc,
    barrier: &Mbarrier,
    enabled: LaneMask,
) -> Result<Meeting, Fault> {
    let MbarrierOp::Wait { done, suspends, .. } = barrier.op else { return Ok(Meeting::None) };
    let over = over(warp, context, pc, barrier, enabled)?;
    if suspends && over != enabled && !warp.time_is_up {
        return Ok(Meeting::Suspended);
    }
    warp.time_is_up = false;
    let targets = Targets::new(warp, context, pc, (barrier.space, &barrier.addr), 8, "mbarrier access");
    if let Some(detector) = &mut context.detector {
        for lane in enabled.lanes() {
            let (space, address) = targets.of(lane);
            detector.access(Accessor { warp: warp.id, pc }, space, address, 8, AccessEffect::Reads);
        }
        for lane in over.lanes() {
            detector.learn_of_object(warp.id, targets.of(lane).1);
        }
    }
    warp.set_pred(done, over, enabled);
    Ok(if over == enabled { Meeting::None } else { Meeting::TestFailed })
}

/// Returns whether a warp whose enabled lanes are suspended at this wait can continue. It can also
/// continue if the wait is an error, which its execution will report.
pub(super) fn can_go_on(
    warp: &Warp,
    context: &mut Context,
    pc: Pc,
    barrier: &Mbarrier,
    enabled: LaneMask,
) -> bool {
    over(warp, context, pc, barrier, enabled).map_or(true, |over| over == enabled)
}

/// Returns the lanes whose phase has completed.
fn over(
    warp: &Warp,
    context: &mut Context,
    pc: Pc,
    barrier: &Mbarrier,
    enabled: LaneMask,
) -> Result<LaneMask, Fault> {
    let MbarrierOp::Wait { phase, parity, .. } = barrier.op else { return Ok(enabled) };
    let targets = Targets::new(warp, context, pc, (barrier.space, &barrier.addr), 8, "mbarrier access");
    let mut over = LaneMask::empty();
    for lane in enabled.lanes() {
        let word = word(&targets, warp, context, pc, lane)?;
        let object = object_in(word, &targets, warp, context, lane)?;
        if object.is_over(warp.operand_in(phase, &context.shape, lane), parity) {
            over |= LaneMask::lane(lane);
        }
    }
    Ok(over)
}

/// Returns the word of a lane's object.
fn word(targets: &Targets, warp: &Warp, context: &mut Context, pc: Pc, lane: usize) -> Result<u64, Fault> {
    let (space, address) = targets.of(lane);
    if space != Space::Shared {
        let message = format!(
            "an mbarrier object at address {address:#x} of {} memory (lane {lane} of warp {})",
            space.name(),
            warp.id
        );
        return Err(fault::at(context.program, pc, message, "mbarrier objects are in shared memory"));
    }
    match context.memory.read(space, warp.thread(lane), address, 8) {
        Ok(bytes) => Ok(super::access::decode(bytes)),
        Err(denied) => Err(targets.fault(denied, lane, warp, context)),
    }
}

/// Stores the word of a lane's object, which [`word`] has returned. For race detection, an arrival
/// counts as a read: it races with the creation and the end of the object, but not with other
/// arrivals.
fn store(
    targets: &Targets,
    warp: &Warp,
    context: &mut Context,
    (pc, lane): (Pc, usize),
    word: u64,
    effect: AccessEffect,
) {
    write(targets, warp, context, lane, word);
    if let Some(detector) = &mut context.detector {
        let (space, address) = targets.of(lane);
        detector.access(Accessor { warp: warp.id, pc }, space, address, 8, effect);
    }
}

/// Writes the word of a lane's object.
fn write(targets: &Targets, warp: &Warp, context: &mut Context, lane: usize, word: u64) {
    let (space, address) = targets.of(lane);
    if let Ok(bytes) = context.memory.write(space, warp.thread(lane), address, 8) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    context.objects_changed += 1;
}

/// Returns the object that the word of a lane's address holds.
///
/// # Errors
/// Returns an error if it holds none.
fn object_in(
    word: u64,
    targets: &Targets,
    warp: &Warp,
    context: &Context,
    lane: usize,
) -> Result<Object, Fault> {
    Object::decode(word).ok_or_else(|| {
        let (_, address) = targets.of(lane);
        let message = format!(
            "there is no mbarrier object at shared address {address:#x} (lane {lane} of warp {})",
            warp.id
        );
        let hint = "make it with mbarrier.init, and let a barrier of the block follow";
        fault::at(context.program, targets.pc(), message, hint)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_hold_objects() {
        for object in [
            Object { pending: MOST, expected: 1, bytes: -MOST, phase: 1 },
            Object { pending: 0, expected: 0, bytes: MOST, phase: 0 },
        ] {
            assert_eq!(Object::decode(object.encode()), Some(object));
        }
        assert_eq!(Object::decode(0), None);
        // what the machine code of ptxas computes for 7 arrivals, and how it counts the pending ones
        let word = Object::new(7).encode();
        assert_eq!(word & !IS_OBJECT, ((1 << 20) - 7) << 1 | ((1 << 20) - 7) << 11 << 32);
        assert_eq!((1 << 20) - (word >> 43 & 0xf_ffff), 7);
    }

    #[test]
    fn phases_complete_when_nothing_is_missing() {
        let mut object = Object::new(2);
        object.pending = 0;
        object.bytes = 4;
        assert!(!object.complete());
        let state = object.encode();
        object.bytes = 0;
        assert!(object.complete() && object.is_over(state, false) && object.is_over(0, true));
        assert!(!object.is_over(object.encode(), false) && !object.is_over(1, true));
        assert_eq!((object.pending, object.phase), (2, 1));
    }
}
