//! The index functions of sets and slices.

use crate::machine::memory::Index;

/// Primitive polynomials over GF(2) by degree, where bit n is the coefficient of x^n; from
/// Peterson's table. Degree 0 stands for a single index.
const PRIMITIVE: [u64; 17] = [
    1, 0x3, 0x7, 0xb, 0x13, 0x25, 0x43, 0x83, 0x11d, 0x211, 0x409, 0x805, 0x1053, 0x201b, 0x4443, 0x8003,
    0x1_100b,
];

/// Returns the index of a number among `2^bits`. The functions are linear in GF(2), so two numbers
/// that differ in the low bits only never collide.
#[inline(always)]
pub fn place_of(number: u64, bits: u32, function: Index) -> usize {
    let mask = (1u64 << bits) - 1;
    let index = match function {
        Index::Linear => number & mask,
        Index::Xor => (number ^ number >> bits) & mask,
        Index::Polynomial => remainder(number, bits),
    };
    index as usize
}

/// The remainder of a byte, by degree, position of the byte in a number, and value of the byte.
/// Remainders are linear, so the remainder of a number is the sum of those of its bytes.
static REMAINDERS: [[[u16; 256]; 8]; PRIMITIVE.len()] = {
    let mut all = [[[0; 256]; 8]; PRIMITIVE.len()];
    let mut degree = 1;
    while degree < PRIMITIVE.len() {
        let mut frame = 0;
        while frame < 8 {
            let mut byte = 1;
            while byte < 256 {
                let others = byte & (byte - 1);
                let lowest = ((byte ^ others) as u64) << (8 * frame);
                all[degree][frame][byte] =
                    all[degree][frame][others] ^ by_division(lowest, degree as u32) as u16;
                byte += 1;
            }
            frame += 1;
        }
        degree += 1;
    }
    all
};

#[inline(always)]
fn remainder(mut number: u64, bits: u32) -> u64 {
    let mut sum = 0;
    for of_frame in &REMAINDERS[bits as usize] {
        sum ^= of_frame[number as usize % 256];
        number >>= 8;
        if number == 0 {
            break;
        }
    }
    sum.into()
}

const fn by_division(mut number: u64, bits: u32) -> u64 {
    let polynomial = PRIMITIVE[bits as usize];
    while number >> bits != 0 {
        let degree = 63 - number.leading_zeros();
        number ^= polynomial << (degree - bits);
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_do_what_they_say() {
        assert_eq!(place_of(0b1101_1010, 4, Index::Linear), 0b1010);
        assert_eq!(place_of(0b1101_1010, 4, Index::Xor), 0b0111);
        // x^5 = x^2 + 1 modulo x^5 + x^2 + 1, and x^10 = x^4 + 1
        assert_eq!(place_of(1 << 5, 5, Index::Polynomial), 0b00101);
        assert_eq!(place_of(1 << 10, 5, Index::Polynomial), 0b10001);
        assert_eq!(place_of(77, 0, Index::Polynomial), 0);
    }

    #[test]
    fn the_tables_hold_the_remainders() {
        let mut number = 1u64;
        for _ in 0..2000 {
            number = number.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(99);
            for bits in 1..PRIMITIVE.len() as u32 {
                assert_eq!(remainder(number, bits), by_division(number, bits), "{number} {bits}");
            }
        }
    }

    #[test]
    fn polynomials_are_irreducible_and_spread_strides() {
        for (bits, &polynomial) in PRIMITIVE.iter().enumerate().skip(1) {
            assert_eq!(63 - polynomial.leading_zeros() as usize, bits);
            // the polynomial is primitive if the powers of x run through all remainders but 0
            let mut power = 1u64;
            let mut order = 0u64;
            loop {
                power <<= 1;
                if power >> bits != 0 {
                    power ^= polynomial;
                }
                order += 1;
                if power == 1 {
                    break;
                }
            }
            assert_eq!(order, (1 << bits) - 1, "degree {bits}");
        }
        for stride in [1, 32, 64, 1024] {
            let mut seen = [0; 32];
            for n in 0..32 {
                seen[place_of(n * stride, 5, Index::Polynomial)] += 1;
            }
            assert_eq!(seen, [1; 32], "stride {stride}");
        }
    }
}
