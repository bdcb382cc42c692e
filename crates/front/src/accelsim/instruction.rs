//! One line of a trace: an instruction that a warp executed.
//!
//! `PC mask ndst dsts.. OPCODE nsrc srcs.. [flag] width [mode addresses..]`, and what [`super::tail`]
//! parses. Tracers before version 3 prepend block and warp; tracers with line information prepend
//! the number of the source line, and tracers with numbers of SMs those of the SM and its warp.
//! Products of warp groups (`HGMMA` and others) have a flag before the width that is 1 where they
//! close a group. Bulk copies have other words instead of the addresses, which [`super::bulk`]
//! parses.

use super::format::{Format, Tail};
use super::header::MAX_OPERANDS;
use super::registers::{any_register_number, is_other};
use super::words::{SHAPE, Words, Wrong, hexadecimal};
use warpbound_core::base::{LaneMask, WARP_SIZE};

/// The parts of a line that are the same for all executions of an instruction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Fixed {
    pub(super) dsts: Vec<u32>,
    pub(super) opcode: String,
    pub(super) srcs: Vec<u32>,
    /// Whether the instruction is a product of a warp group that closes a group.
    pub(super) closes_group: bool,
    /// The number of bytes that each lane accesses according to the tracer; 0 if there are no
    /// addresses.
    pub(super) width: u32,
}

impl Fixed {
    /// Returns the number of registers that the line lists.
    pub(super) fn registers(&self) -> usize {
        self.dsts.len() + self.srcs.len()
    }

    /// Returns whether the line lists uniform registers or predicates.
    pub(super) fn lists_others(&self) -> bool {
        self.dsts.iter().chain(&self.srcs).any(|&number| is_other(number))
    }
}

impl Format {
    /// Returns the program counter, the active lanes, and the remaining words.
    #[inline]
    pub(super) fn begin<'l>(self, line: &'l [u8]) -> Result<(u64, LaneMask, Words<'l>), Wrong> {
        let mut words = Words::new(line, self);
        for _ in 0..self.before {
            words.decimal("a number of a block, warp or line")?;
        }
        let pc = words.hexadecimal("a program counter (hexadecimal)")?;
        let (word, at) = words.want("the mask of the active lanes")?;
        let mask = hexadecimal(word).and_then(|mask| u32::try_from(mask).ok());
        let mask =
            mask.ok_or_else(|| Wrong::new(at, "this is not a mask of 32 lanes (hexadecimal)", SHAPE))?;
        Ok((pc, LaneMask::from_bits_retain(mask), words))
    }
}

impl<'l> Words<'l> {
    /// Parses operands, opcode, the flag of products of warp groups, and width.
    pub(super) fn fixed(&mut self) -> Result<Fixed, Wrong> {
        let dsts = self.registers("the number of destinations")?;
        let (opcode, at) = self.text("an opcode")?;
        let is_opcode = |text: &str| {
            text.as_bytes()[0].is_ascii_uppercase()
                && text.len() <= 100
                && text.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'_'))
        };
        if !is_opcode(opcode) {
            return Err(Wrong::new(
                at,
                format!("`{}` is not an opcode", warpbound_core::diag::shortened(opcode)),
                SHAPE,
            ));
        }
        let srcs = self.registers("the number of sources")?;
        let closes_group = opcode.contains("GMMA") && self.group_flag()?;
        let from = self.position();
        let width = self.decimal("the width of the access")?;
        let width = u32::try_from(width).ok().filter(|width| *width <= 128);
        let width = width.ok_or_else(|| {
            Wrong::new(from..self.position(), "this is no width of an access, 0 to 128 bytes", SHAPE)
        })?;
        Ok(Fixed { dsts, opcode: opcode.to_owned(), srcs, closes_group, width })
    }

    /// Parses the flag of a product of a warp group.
    fn group_flag(&mut self) -> Result<bool, Wrong> {
        // Without the flag, the width, which is zero, and at most one immediate are left. There are
        // tracers of version 5 with and without it.
        let without = match self.format.tail {
            Tail::One => true,
            Tail::Two => self.numbers(3) < 3,
            Tail::Values | Tail::References | Tail::Newer => false,
        };
        let from = self.position();
        match if without { 0 } else { self.decimal("the flag of a product of a warp group")? } {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Wrong::new(
                from..self.position(),
                "this is no flag of a product of a warp group",
                "1 where the product closes a group of products, or else 0",
            )),
        }
    }

    fn registers(&mut self, expected: &str) -> Result<Vec<u32>, Wrong> {
        let from = self.position();
        let count = self.decimal(expected)?;
        let count = usize::try_from(count).ok().filter(|&count| count <= MAX_OPERANDS);
        let count = count.ok_or_else(|| {
            Wrong::new(
                from..self.position(),
                format!("an instruction has at most {MAX_OPERANDS} registers of a kind"),
                SHAPE,
            )
        })?;
        let mut registers = Vec::with_capacity(count);
        for _ in 0..count {
            let (text, at) = self.text("a register")?;
            let number = any_register_number(text);
            registers.push(number.ok_or_else(|| {
                Wrong::new(
                    at,
                    format!("`{text}` is not a register"),
                    "R0, R1, ..., uniform registers UR0, UR1, ..., predicates P0, UP0, ...",
                )
            })?);
        }
        Ok(registers)
    }

    /// Parses the addresses of the enabled lanes, which have one of three forms.
    #[inline]
    pub(super) fn addresses(&mut self, lanes: LaneMask, to: &mut [u64; WARP_SIZE]) -> Result<(), Wrong> {
        let from = self.position();
        match self.decimal("the form of the addresses")? {
            0 => {
                for lane in lanes.lanes() {
                    to[lane] = self.hexadecimal("an address (hexadecimal)")?;
                }
            }
            1 => {
                let mut address = self.hexadecimal("an address (hexadecimal)")?;
                let stride = self.decimal("the distance of two addresses")? as u64;
                let first = lanes.bits().trailing_zeros() % 32;
                let run = lanes.bits() >> first;
                if run & run.wrapping_add(1) != 0 {
                    let message = "a first address and a distance, but the active lanes are not consecutive";
                    return Err(Wrong::new(
                        from..self.position(),
                        message,
                        "form 0 lists all addresses, form 2 the differences",
                    ));
                }
                for lane in lanes.lanes() {
                    to[lane] = address;
                    address = address.wrapping_add(stride);
                }
            }
            2 => {
                let mut address = self.hexadecimal("an address (hexadecimal)")?;
                let mut first = true;
                for lane in lanes.lanes() {
                    if !first {
                        address =
                            address.wrapping_add(self.decimal("the difference of two addresses")? as u64);
                    }
                    first = false;
                    to[lane] = address;
                }
            }
            form => {
                let message = format!("addresses of form {form}");
                return Err(Wrong::new(
                    from..self.position(),
                    message,
                    "0 list, 1 first and distance, 2 first and differences",
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(text: &str, lanes: u32) -> Result<Vec<u64>, String> {
        let mut words = Words::new(text.as_bytes(), Format::ending(Tail::One));
        let mut to = [0; WARP_SIZE];
        let lanes = LaneMask::from_bits_retain(lanes);
        words.addresses(lanes, &mut to).and_then(|()| words.end(0, true)).map_err(|wrong| wrong.message)?;
        Ok(lanes.lanes().map(|lane| to[lane]).collect())
    }

    #[test]
    fn three_forms_of_addresses() {
        assert_eq!(addresses("0 0x10 0x20 ff", 0b1101), Ok(vec![0x10, 0x20, 0xff]));
        assert_eq!(addresses("1 0x100 -4", 0b1110), Ok(vec![0x100, 0xfc, 0xf8]));
        assert_eq!(addresses("2 0x100 8 -16", 0b1011), Ok(vec![0x100, 0x108, 0xf8]));
        assert_eq!(
            addresses("2 0x100 8 -16 7", 0b1011),
            Ok(vec![0x100, 0x108, 0xf8]),
            "an immediate follows"
        );
        assert_eq!(addresses("1 0x0 0", 0), Ok(vec![]));
        assert_eq!(addresses("2 0x0", 0), Ok(vec![]));
        assert_eq!(addresses("1 0xffffffffffffffff 1", 3), Ok(vec![u64::MAX, 0]), "addresses wrap");
        for (text, lanes) in [
            ("0 0x10", 3),
            ("1 0x10 4", 0b101),
            ("3 0x10", 1),
            ("1 0x10", 1),
            ("2 0x10 zz", 3),
            ("0 0x11111111111111111", 1),
            ("0 0x10 1 2", 1),
        ] {
            assert!(addresses(text, lanes).is_err(), "{text}");
        }
    }

    #[test]
    fn a_line_is_split_into_its_parts() {
        let line = b"0010 ffffffff 1 R5 LDG.E.64 2 R2 R255 8 1 0x7f00 8";
        let format = Format::ending(Tail::One);
        let (pc, lanes, mut words) = format.begin(line).unwrap();
        assert_eq!((pc, lanes), (16, LaneMask::ALL));
        let fixed = words.fixed().unwrap();
        assert_eq!((fixed.dsts, fixed.srcs), (vec![5], vec![2, 255]));
        assert_eq!((fixed.opcode.as_str(), fixed.width), ("LDG.E.64", 8));
        let old = Format { before: 4, tail: Tail::One };
        assert_eq!(old.begin(b"0 1 2 3 0008 1 0 NOP 0 0").unwrap().0, 8);
        for bad in [
            "",
            "zz 1",
            "10",
            "10 1ffffffff 0",
            "10 1 1 Q0 X 0 0",
            "10 1 1 P8 X 0 0",
            "10 1 0 9X 0 0",
            "10 1 99 R1",
            "10 1 0 X 0 999",
        ] {
            let read = format.begin(bad.as_bytes()).and_then(|(_, _, mut words)| words.fixed());
            assert!(read.is_err(), "{bad}");
        }
    }
}
