//! What the control codes of machine code have to cover: the registers that its instructions
//! access, and the time that has to pass between two accesses to a register.
//!
//! The front end fills in both; `warpbound_judge::check::hazards` compares them with the control
//! codes.

use std::sync::Arc;

/// The way in which an instruction depends on an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hazard {
    /// It reads a register that the other writes.
    Read,
    /// It writes a register that the other writes.
    Write,
    /// It writes a register that the other reads.
    Overwrite,
}

/// A register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum File {
    /// The 32-bit registers of a thread.
    General,
    /// The predicates of a thread.
    Predicate,
    /// The 32-bit registers that the threads of a warp share.
    Uniform,
    /// The predicates that the threads of a warp share.
    UniformPredicate,
}

/// The accesses of the instructions of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hazards {
    /// The registers, by [`Access::register`]: the file and the name.
    pub registers: Vec<(File, String)>,
    /// The instructions, in the order of [`MachineCode::instructions`](super::MachineCode).
    pub instructions: Vec<Accesses>,
    /// The times that accesses need.
    pub delays: Arc<Delays>,
}

/// The accesses of an instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accesses {
    /// The text of the instruction, for messages.
    pub text: String,
    /// The guard, if there is one: the register of the predicate, and whether it is negated.
    pub guard: Option<(u16, bool)>,
    /// The queue from which the instruction reads its sources: instructions of one queue read theirs
    /// in order. `None` if no order is known.
    pub read_queue: Option<u8>,
    /// The unit that writes the results: instructions of one unit write theirs in order. `None` if no
    /// order is known.
    pub write_queue: Option<u8>,
    /// The queue behind whose instructions this one comes, if it also holds the warp until it is
    /// complete, so that they have read their sources when the warp continues.
    pub holds: Option<u8>,
    /// The accesses: reads come before writes.
    pub list: Vec<Access>,
}

/// An access to a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Access {
    /// The number of the register in [`Hazards::registers`].
    pub register: u16,
    /// Whether it writes the register.
    pub writes: bool,
    /// The number of its kind in [`Delays::kinds`].
    pub kind: u8,
}

/// What has to happen between two accesses to a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delay {
    /// Cycles from the issue of the earlier instruction to that of the later one.
    Cycles {
        /// The number if the earlier instruction has no guard.
        always: u8,
        /// The number if it has one.
        guarded: u8,
    },
    /// A wait at a barrier that the earlier instruction releases.
    Barrier,
}

/// The times that accesses of a generation need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delays {
    /// The kinds of accesses: classes of instructions, and the roles of operands of some of them.
    pub kinds: Vec<String>,
    /// The number of cycles from the issue of an instruction until a wait sees that it will release
    /// a barrier.
    pub signal: u8,
    /// The delays by file, hazard, and the kinds of the earlier and of the later access.
    delays: Vec<Option<Delay>>,
}

impl Delays {
    /// Creates a table without delays.
    pub fn new(kinds: Vec<String>, signal: u8) -> Self {
        let delays = vec![None; 12 * kinds.len() * kinds.len()];
        Self { kinds, signal, delays }
    }

    /// Sets a delay between accesses of two kinds: the earlier and the later one.
    pub fn set(&mut self, file: File, hazard: Hazard, pair: (u8, u8), delay: Delay) {
        if let Some(index) = self.index(file, hazard, pair) {
            self.delays[index] = Some(delay);
        }
    }

    /// Returns the delay between accesses of two kinds, the earlier and the later one, or `None` if
    /// the table has no number for them.
    pub fn get(&self, file: File, hazard: Hazard, pair: (u8, u8)) -> Option<Delay> {
        self.delays[self.index(file, hazard, pair)?]
    }

    /// Returns the name of a kind, or `?` if there is none with this number.
    pub fn kind(&self, number: u8) -> &str {
        self.kinds.get(usize::from(number)).map_or("?", String::as_str)
    }

    fn index(&self, file: File, hazard: Hazard, (earlier, later): (u8, u8)) -> Option<usize> {
        let (count, earlier, later) = (self.kinds.len(), usize::from(earlier), usize::from(later));
        let table = file as usize * 3 + hazard as usize;
        (earlier < count && later < count).then_some((table * count + earlier) * count + later)
    }
}
