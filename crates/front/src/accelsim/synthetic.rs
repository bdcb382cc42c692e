//! Synthetic traces of any length.

use std::fmt::Write as _;
use std::io::{self, Write};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::write::compressed;
use warpbound_core::base::LaneMask;

/// The pattern of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Tiles are copied to shared memory and multiplied, with barriers.
    Gemm,
    /// Only arithmetic.
    Arithmetic,
    /// Two loads and a store of contiguous words per sum.
    Streaming,
    /// Each load reads the address of the next one; addresses are random.
    Chase,
}

/// A synthetic trace of one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Synthetic {
    /// The pattern of instructions.
    pub pattern: Pattern,
    /// The number of blocks.
    pub blocks: u32,
    /// The number of warps of a block, at most 32.
    pub warps: u32,
    /// The approximate number of instructions of a warp; it is rounded to whole iterations and an
    /// exit.
    pub instructions: u64,
    /// The seed of random addresses.
    pub seed: u64,
}

/// An instruction: the text that is the same for all executions, and the address pattern.
struct Op(&'static str, AddressPattern);

/// The address pattern of the lanes in one iteration.
#[derive(Clone, Copy)]
enum AddressPattern {
    /// No memory access.
    NoAccess,
    /// Contiguous accesses of `.1` bytes per lane in array number `.0`.
    Contiguous(u64, u64),
    /// Accesses to shared memory with this stride in bytes.
    Shared(u64),
    /// Random addresses.
    Scattered,
}

use AddressPattern::{Contiguous, NoAccess, Scattered, Shared};

/// The distance between two arrays in bytes.
const ARRAY: u64 = 1 << 32;
/// The address of the first array.
const BASE: u64 = 0x7f00_0000_0000;

impl Pattern {
    /// All patterns by name.
    pub const ALL: [(&'static str, Self); 4] = [
        ("gemm", Self::Gemm),
        ("arithmetic", Self::Arithmetic),
        ("streaming", Self::Streaming),
        ("chase", Self::Chase),
    ];

    /// Returns the instructions of one iteration.
    fn body(self) -> Vec<Op> {
        let op = |text| Op(text, NoAccess);
        match self {
            Self::Gemm => {
                let mut body = vec![
                    Op("1 R40 LDG.E.128 1 R2 16", Contiguous(0, 16)),
                    Op("1 R44 LDG.E.128 1 R4 16", Contiguous(1, 16)),
                    Op("0 STS.128 2 R6 R40 16", Shared(16)),
                    Op("0 STS.128 2 R7 R44 16", Shared(16)),
                    op("0 BAR.SYNC 0 0"),
                ];
                for _ in 0..4 {
                    body.push(Op("1 R48 LDS.128 1 R8 16", Shared(16)));
                    body.push(Op("1 R52 LDS.128 1 R9 16", Shared(0)));
                    for product in [
                        "1 R10 FFMA 3 R48 R52 R10 0",
                        "1 R11 FFMA 3 R48 R53 R11 0",
                        "1 R12 FFMA 3 R48 R54 R12 0",
                        "1 R13 FFMA 3 R48 R55 R13 0",
                        "1 R14 FFMA 3 R49 R52 R14 0",
                        "1 R15 FFMA 3 R49 R53 R15 0",
                        "1 R16 FFMA 3 R49 R54 R16 0",
                        "1 R17 FFMA 3 R49 R55 R17 0",
                        "1 R18 FFMA 3 R50 R52 R18 0",
                        "1 R19 FFMA 3 R50 R53 R19 0",
                        "1 R20 FFMA 3 R50 R54 R20 0",
                        "1 R21 FFMA 3 R51 R52 R21 0",
                    ] {
                        body.push(op(product));
                    }
                }
                body.extend([
                    op("0 BAR.SYNC 0 0"),
                    op("1 R2 IADD3 2 R2 R3 0"),
                    op("0 ISETP.GE.AND 1 R2 0"),
                    op("0 BRA 0 0"),
                ]);
                body
            }
            Self::Arithmetic => vec![
                op("1 R4 FFMA 3 R4 R5 R6 0"),
                op("1 R7 FFMA 3 R7 R5 R6 0"),
                op("1 R8 FADD 2 R4 R7 0"),
                op("1 R9 IMAD 3 R9 R10 R11 0"),
                op("1 R12 LOP3.LUT 3 R9 R12 R13 0"),
                op("1 R14 SHF.R.U32.HI 2 R12 R13 0"),
                op("1 R15 MUFU.RCP 1 R8 0"),
                op("1 R16 IADD3 3 R14 R16 R9 0"),
                op("0 ISETP.NE.AND 1 R16 0"),
                op("0 BRA 0 0"),
            ],
            Self::Streaming => vec![
                op("1 R2 IMAD.WIDE 2 R6 R255 0"),
                Op("1 R8 LDG.E 1 R2 4", Contiguous(0, 4)),
                Op("1 R9 LDG.E 1 R4 4", Contiguous(1, 4)),
                op("1 R10 FADD 2 R8 R9 0"),
                Op("0 STG.E 2 R12 R10 4", Contiguous(2, 4)),
                op("1 R6 IADD3 2 R6 R7 0"),
                op("0 ISETP.GE.AND 1 R6 0"),
                op("0 BRA 0 0"),
            ],
            Self::Chase => vec![
                Op("1 R2 LDG.E.64 1 R2 8", Scattered),
                op("1 R4 IADD3 2 R4 R5 0"),
                op("0 ISETP.NE.AND 1 R4 0"),
                op("0 BRA 0 0"),
            ],
        }
    }
}

impl Synthetic {
    /// Returns the number of instructions that the warps of the whole trace execute.
    pub fn warp_instructions(&self) -> u64 {
        let body = self.pattern.body().len() as u64;
        (self.iterations(body) * body + 1) * u64::from(self.blocks) * u64::from(self.warps)
    }

    fn iterations(&self, body: u64) -> u64 {
        self.instructions.saturating_sub(1).div_ceil(body)
    }

    /// Writes the trace.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let body = self.pattern.body();
        let shared = if self.pattern == Pattern::Gemm { 16 << 10 } else { 0 };
        let name =
            Pattern::ALL.iter().find(|(_, pattern)| *pattern == self.pattern).map_or("", |(name, _)| name);
        let threads = 32 * self.warps;
        write!(
            to,
            "-kernel name = synthetic_{name}\n-kernel id = 1\n-grid dim = ({},1,1)\n-block dim = ({threads},1,1)\n\
             -shmem = {shared}\n-nregs = 64\n-binary version = 86\n-cuda stream id = 0\n\
             -shmem base_addr = 0x00007e0000000000\n-local mem base_addr = 0x00007e0001000000\n-nvbit version = none\n\
             -accelsim tracer version = 4\n-enable lineinfo = 0\n\n",
            self.blocks
        )?;
        let iterations = self.iterations(body.len() as u64);
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let mut text = String::new();
        for block in 0..self.blocks {
            write!(to, "#BEGIN_TB\n\nthread block = {block},0,0\n")?;
            for warp in 0..self.warps {
                write!(to, "\nwarp = {warp}\ninsts = {}\n", iterations * body.len() as u64 + 1)?;
                let number = u64::from(block) * u64::from(self.warps) + u64::from(warp);
                for iteration in 0..iterations {
                    text.clear();
                    for (index, op) in body.iter().enumerate() {
                        let _ = write!(text, "{:04x} ffffffff {}", 16 * index, op.0);
                        write_addresses(op.1, number * iterations + iteration, &mut rng, &mut text);
                        text.push_str(" \n");
                    }
                    to.write_all(text.as_bytes())?;
                }
                writeln!(to, "{:04x} ffffffff 0 EXIT 0 0 ", 16 * body.len())?;
            }
            write!(to, "\n#END_TB\n\n")?;
        }
        Ok(())
    }
}

/// Appends the addresses of an iteration; iterations are numbered across all warps.
fn write_addresses(pattern: AddressPattern, iteration: u64, rng: &mut ChaCha8Rng, text: &mut String) {
    let lanes = |address: &mut dyn FnMut(u64) -> u64, text: &mut String| {
        let addresses: [u64; 32] = std::array::from_fn(|lane| address(lane as u64));
        compressed(LaneMask::ALL, &addresses, text);
    };
    match pattern {
        NoAccess => {}
        Contiguous(array, bytes) => {
            let first = BASE + array * ARRAY + iteration * 32 * bytes % ARRAY;
            lanes(&mut |lane| first + lane * bytes, text);
        }
        Shared(bytes) => lanes(&mut |lane| lane * bytes, text),
        Scattered => lanes(&mut |_| BASE + 8 * rng.random_range(0..ARRAY / 64), text),
    }
}
