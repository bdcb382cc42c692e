//! Copies by the tensor memory accelerator, which have no addresses of lanes.
//!
//! After the width, Accel-Sim 2.0 writes `barrier multicast [blocks] bytes outside`, that is, the
//! address of the barrier on which the copy arrives, 1 and the mask of the blocks of the cluster if
//! the copy goes to several, the number of bytes, and the number of those outside of the tensor.
//! Tracers before leave these words out. Then come the addresses: `3 count addresses..`, or
//! `4 first count differences..`. These words are checked; they do not become part of paths, since a
//! path has at most one address per lane.

use super::words::{Words, Wrong};

/// The beginnings of the opcodes whose lines have such words.
const OPCODES: [&str; 7] = ["UTMALDG", "UTMASTG", "UTMAPF", "UTMAREDG", "UBLKCP", "UBLKPF", "UBLKRED"];

const SHAPE: &str =
    "[barrier multicast [blocks] bytes outside] 3 count addresses.., or 4 first count differences..";

/// Returns whether an opcode is one of a bulk copy.
pub(super) fn is_bulk(opcode: &str) -> bool {
    OPCODES.iter().any(|root| opcode.starts_with(root))
}

impl Words<'_> {
    /// Checks what follows the width of a bulk copy.
    pub(super) fn bulk(&mut self, width: u32) -> Result<(), Wrong> {
        // nothing but immediates: the tracer does not record bulk copies
        if width == 0 && self.numbers(3) < 3 {
            return Ok(());
        }
        // barriers are at multiples of eight bytes, so 3 and 4 are forms of addresses
        if !matches!(self.peek(), Some(b"3" | b"4")) {
            self.hexadecimal("the address of a barrier (hexadecimal)")?;
            let from = self.position();
            match self.decimal("whether the copy goes to several blocks")? {
                0 => {}
                1 => {
                    self.hexadecimal("the mask of the blocks of a cluster (hexadecimal)")?;
                }
                _ => {
                    let message = "whether the copy goes to several blocks is stated by 0 or 1";
                    return Err(Wrong::new(from..self.position(), message, SHAPE));
                }
            }
            self.count("the number of bytes")?;
            self.count("the number of bytes outside of the tensor")?;
        }
        let from = self.position();
        match self.decimal("the form of the addresses of a bulk copy")? {
            3 => {
                for _ in 0..self.count("the number of addresses")? {
                    self.hexadecimal("an address (hexadecimal)")?;
                }
            }
            4 => {
                self.hexadecimal("an address (hexadecimal)")?;
                for _ in 1..self.count("the number of addresses")? {
                    self.decimal("the difference of two addresses")?;
                }
            }
            form => {
                let message = format!("addresses of form {form} in a bulk copy");
                return Err(Wrong::new(from..self.position(), message, SHAPE));
            }
        }
        Ok(())
    }

    fn count(&mut self, expected: &str) -> Result<u64, Wrong> {
        let from = self.position();
        let value = self.decimal(expected)?;
        u64::try_from(value)
            .map_err(|_| Wrong::new(from..self.position(), format!("{expected} is negative"), SHAPE))
    }
}

#[cfg(test)]
mod tests {
    use super::super::format::{Format, Tail};
    use super::*;

    fn read(width: u32, text: &str) -> Result<Option<i64>, String> {
        let mut words = Words::new(text.as_bytes(), Format::ending(Tail::Two));
        words.bulk(width).and_then(|()| words.end(0, true)).map_err(|wrong| wrong.message)
    }

    #[test]
    fn forms_of_bulk_copies() {
        for text in [
            "0x400 0 1024 0 3 2 0x7f00 0x7f10 5 6",
            "400 1 f 1024 16 4 0x7f00 3 16 16 5 6",
            "0 0 0 0 4 0x0 0 5 6",
            "3 1 7f00 5",
            "4 7f00 2 -16 5 6",
        ] {
            assert_eq!(read(16, text), Ok(Some(5)), "{text}");
        }
        assert_eq!(read(0, " 5"), Ok(Some(5)), "not recorded");
        assert_eq!(read(0, ""), Ok(None));
        assert_eq!(read(0, "3 0 5"), Ok(Some(5)));
        for text in [
            "0x400 0 1024 0 1 0x7f00 16 5 6",
            "0x400 2 1024 0 3 0 5 6",
            "0x400 0 -1 0 3 0 5 6",
            "0x400 0 1024 0 3 -1 5 6",
            "0x400 0 1024 0 3 9223372036854775807 5 6",
            "0x400 0 1024 0 4 0x7f00 9 1 2",
            "0x400 0",
            "",
        ] {
            assert!(read(16, text).is_err(), "{text}");
        }
    }

    #[test]
    fn opcodes_of_bulk_copies() {
        assert!(is_bulk("UTMALDG.2D") && is_bulk("UBLKCP.S.G"));
        assert!(!is_bulk("UTMACCTL") && !is_bulk("LDGSTS.E"));
    }
}
