//! Products of warp groups, whose factors lie in shared memory.
//!
//! A matrix descriptor states where a factor begins and how it is laid out. A factor is 256 bits
//! wide along k. Its *line* is a row of A or a column of B. Without transposition, 16 bytes hold
//! elements of a line that are adjacent along k, and a line has two such parts. With it, 16 bytes hold
//! eight adjacent lines at one position along k. The layouts of these parts are those that the
//! PTX ISA names in "Shared Memory Matrix Layout" of `wgmma`.

use super::access::{decode, swizzled};
use super::context::Context;
use super::fault::{self, Fault};
use super::product::{Elements, Factor, Sum};
use super::races::{AccessEffect, Accessor};
use super::warp::Warp;
use warpbound_core::base::{LaneMask, Pc, WARP_SIZE};
use warpbound_core::isa::Space;
use warpbound_core::program::sem::{GroupFactor, GroupProduct, MatrixTy, Operand, SharedFactor};

/// The number of warps of a group.
const WARPS: usize = 4;

/// The bytes of a part of a matrix that are contiguous in every layout.
const PART: u64 = 16;

/// Multiplies the rows of one warp. All lanes of the warp are enabled.
///
/// # Errors
/// Returns an error if the block has no whole group with this warp, if lanes have different
/// descriptors or one that is not supported, or if a factor is not within shared memory.
pub(super) fn multiply(
    warp: &mut Warp,
    context: &mut Context,
    pc: Pc,
    product: &GroupProduct,
    enabled: LaneMask,
) -> Result<(), Fault> {
    if warp.id / WARPS * WARPS + WARPS > context.shape.warps {
        let message = format!("warp {} is in no group of four warps", warp.id);
        let hint = "blocks with products of warp groups consist of groups of 128 threads";
        return Err(fault::at(context.program, pc, message, hint));
    }
    let depth = product.depth();
    let rows = warp.id % WARPS * GroupProduct::ROWS;
    let mut reader = Reader { warp, context, pc };
    let a = match &product.a {
        GroupFactor::Registers { held, negated } => {
            Factor { inverted: inverted(held.fragment.ty, *negated), ..Factor::held(held) }
        }
        GroupFactor::Shared(factor) => reader.read(factor, rows..rows + GroupProduct::ROWS, depth)?,
    };
    let columns = reader.read(&product.b, 0..product.d.cols, depth)?;
    let accumulates = warp.pred(product.accumulates);
    let c = match accumulates & enabled {
        lanes if lanes.is_empty() => {
            let zeros = vec![0; product.d.rows * product.d.cols];
            Factor { elements: Elements::Bits(zeros), ..Factor::held(&product.c) }
        }
        lanes if lanes == enabled => Factor::held(&product.c),
        lanes => {
            let message = format!("only lanes {lanes} of warp {} want the sum with the addend", warp.id);
            return Err(fault::at(context.program, pc, message, "the predicate is the same in all lanes"));
        }
    };
    let sum = Sum { d: &product.d, dsts: &product.dsts, saturate: product.saturate, widened: false };
    let b = Factor { elements: transposed(columns.elements, depth), ..columns };
    sum.compute(warp, depth, &[a, b, c], enabled);
    Ok(())
}

/// Returns the bits that change the sign of an element.
fn inverted(ty: MatrixTy, negated: bool) -> u64 {
    if negated { 1 << (ty.bits() - 1) } else { 0 }
}

/// Returns a matrix by rows, of which the elements are given by columns of this length.
fn transposed(elements: Elements<'_>, rows: usize) -> Elements<'_> {
    let Elements::Bits(bits) = elements else { return elements };
    let columns = bits.len() / rows;
    Elements::Bits((0..bits.len()).map(|at| bits[at % columns * rows + at / columns]).collect())
}

/// The positions of the parts of a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    /// The address of the first byte.
    start: u64,
    /// The distance that the descriptor calls leading, in bytes.
    leading: u64,
    /// The distance that the descriptor calls stride, in bytes.
    stride: u64,
    /// The number of parts that are adjacent in memory; 1 for the layout without swizzling.
    adjacent: u64,
}

impl Layout {
    /// Decodes a matrix descriptor.
    ///
    /// # Errors
    /// Returns a message if it has an offset that is not supported.
    fn of(descriptor: u64) -> Result<Self, String> {
        let field = |from: u32| (descriptor >> from & 0x3fff) * PART;
        let offset = descriptor >> 49 & 7;
        if offset != 0 {
            return Err(format!("a matrix descriptor with base offset {offset} is not simulated"));
        }
        let adjacent = match descriptor >> 62 {
            0 => 1,
            1 => 8,
            2 => 4,
            _ => 2,
        };
        Ok(Self { start: field(0), leading: field(16), stride: field(32), adjacent })
    }

    /// Returns the address of a part: the one with this number along k of a line, or, of a transposed
    /// factor, that of eight lines at a position along k.
    fn part(&self, transposed: bool, across: u64, along: u64) -> u64 {
        let row = self.adjacent * PART;
        let offset = match (transposed, self.adjacent) {
            (false, 1) => across % 8 * row + across / 8 * self.stride + along * self.leading,
            (false, _) => across % 8 * row + across / 8 * self.stride + along * PART,
            (true, 1) => across * self.stride + along % 8 * row + along / 8 * self.leading,
            (true, adjacent) => {
                across % adjacent * PART
                    + across / adjacent * self.leading
                    + along % 8 * row
                    + along / 8 * self.stride
            }
        };
        swizzled(self.start + offset, row)
    }
}

/// Reads factors for a warp.
struct Reader<'w, 'c, 'a> {
    warp: &'w Warp,
    context: &'c mut Context<'a>,
    pc: Pc,
}

impl Reader<'_, '_, '_> {
    /// Returns the elements of some lines of a factor, one line after the other.
    ///
    /// # Errors
    /// Returns an error for a descriptor that is not supported or differs between lanes, and if an
    /// element is not within shared memory.
    fn read(
        &mut self,
        factor: &SharedFactor,
        lines: std::ops::Range<usize>,
        depth: usize,
    ) -> Result<Factor<'static>, Fault> {
        let layout = Layout::of(self.descriptor(factor.descriptor)?)
            .map_err(|message| fault::at(self.context.program, self.pc, message, ""))?;
        let bytes = factor.ty.bits() / 8;
        let per_part = PART as usize / bytes;
        let first = lines.start;
        let mut elements = vec![0; lines.len() * depth];
        let (across, along) = match factor.transposed {
            false => (lines, 0..depth / per_part),
            true => (lines.start / per_part..lines.end / per_part, 0..depth),
        };
        for line in across {
            for place in along.clone() {
                let part = self.part(layout.part(factor.transposed, line as u64, place as u64))?;
                for (index, element) in part.chunks_exact(bytes).enumerate() {
                    let at = match factor.transposed {
                        false => (line - first) * depth + place * per_part + index,
                        true => (line * per_part + index - first) * depth + place,
                    };
                    elements[at] = decode(element);
                }
            }
        }
        let inverted = inverted(factor.ty, factor.negated);
        Ok(Factor { ty: factor.ty, elements: Elements::Bits(elements), inverted })
    }

    /// Returns a descriptor.
    ///
    /// # Errors
    /// Returns an error if lanes have different ones.
    fn descriptor(&self, descriptor: Operand) -> Result<u64, Fault> {
        let lanes = self.warp.operand(descriptor, &self.context.shape);
        match lanes.iter().position(|&other| other != lanes[0]) {
            None => Ok(lanes[0]),
            Some(lane) => {
                let message = format!(
                    "lanes 0 and {lane} of warp {} have different matrix descriptors, {:#x} and {:#x}",
                    self.warp.id, lanes[0], lanes[lane]
                );
                let hint = "all threads of a warp group give the same descriptor";
                Err(fault::at(self.context.program, self.pc, message, hint))
            }
        }
    }

    /// Returns the 16 bytes at an address of shared memory.
    ///
    /// # Errors
    /// Returns an error if they are not there.
    fn part(&mut self, address: u64) -> Result<[u8; PART as usize], Fault> {
        if let Some(detector) = &mut self.context.detector {
            let by = Accessor { warp: self.warp.id, pc: self.pc };
            detector.access(by, Space::Shared, address, PART, AccessEffect::Reads);
        }
        let thread = self.warp.id * WARP_SIZE;
        // a descriptor names no block of the cluster
        let own = self.context.memory.own(address);
        let bytes = self.context.memory.read(Space::Shared, thread, own, PART as usize);
        let part = bytes.ok().and_then(|bytes| bytes.try_into().ok());
        part.ok_or_else(|| {
            let message = format!(
                "a matrix of warp {} extends to address {address:#x} of shared memory, which has {} bytes",
                self.warp.id, self.context.shape.total_shared
            );
            let hint = "a matrix descriptor has addresses and distances in units of 16 bytes";
            fault::at(self.context.program, self.pc, message, hint)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts of 16 bytes of a tile of 64 lines and 256 bits do not overlap, and fill the memory
    /// that the layout spans.
    #[test]
    fn layouts_place_every_part_once() {
        for (adjacent, mode) in [(1, 0), (2, 3), (4, 2), (8, 1)] {
            for transposed in [false, true] {
                let (across, along) = if transposed { (8, 16) } else { (64, 2) };
                // the distances of a tile without gaps
                let (leading, stride) = match (transposed, adjacent) {
                    (false, 1) => (64 * 16, 8 * 16),
                    (false, _) => (0, 8 * adjacent * 16),
                    (true, 1) => (8 * 8 * 16, 8 * 16),
                    (true, _) => (8 * adjacent * 16 * 2, 8 * adjacent * 16),
                };
                let descriptor = 64 | ((leading / 16) << 16) | ((stride / 16) << 32) | (mode << 62);
                let layout = Layout::of(descriptor).unwrap();
                let mut places: Vec<u64> = (0..across)
                    .flat_map(|across| (0..along).map(move |along| layout.part(transposed, across, along)))
                    .collect();
                places.sort_unstable();
                places.dedup();
                assert_eq!(places.len(), 128, "{adjacent} {transposed}");
                // rows of more bytes than a factor has are filled by those beside it
                let whole = adjacent <= 2 || transposed;
                assert!(!whole || places == (0..128).map(|at| 1024 + at * 16).collect::<Vec<_>>());
            }
        }
    }

    /// Swizzling by 128 bytes moves part `p` of row `r` to place `p ^ r`.
    #[test]
    fn swizzling_exchanges_parts_of_a_row() {
        let layout = Layout::of(1 << 62 | 64 << 32).unwrap();
        for row in 0..8 {
            for part in 0..2 {
                assert_eq!(layout.part(false, row, part), row * 128 + (part ^ row) * 16);
            }
        }
        assert_eq!(layout.part(false, 8, 0), 1024);
        assert!(Layout::of(1 << 49).is_err());
    }
}
