//! The functions that map a number to one of two to the power of `bits` places.

use warpbound_core::machine::memory::Index;

/// The exponents of the primitive polynomial of each degree from 1 on, without the exponent 0.
const EXPONENTS: [&[u32]; 16] = [
    &[1],
    &[2, 1],
    &[3, 1],
    &[4, 1],
    &[5, 2],
    &[6, 1],
    &[7, 1],
    &[8, 4, 3, 2],
    &[9, 4],
    &[10, 3],
    &[11, 2],
    &[12, 6, 4, 1],
    &[13, 4, 3, 1],
    &[14, 10, 6, 1],
    &[15, 1],
    &[16, 12, 3, 1],
];

/// Returns the place of a number.
pub(super) fn place(number: u64, bits: u32, function: Index) -> u64 {
    let count = 2_u64.pow(bits);
    match function {
        Index::Linear => number % count,
        Index::Xor => (number % count) ^ (number / count % count),
        Index::Polynomial if bits == 0 => 0,
        Index::Polynomial => remainder(number, EXPONENTS[bits as usize - 1]),
    }
}

/// Divides a polynomial whose coefficients are the bits of a number, from the highest one on.
fn remainder(number: u64, exponents: &[u32]) -> u64 {
    let degree = exponents[0];
    let mut rest: Vec<bool> = (0..64).map(|bit| number >> bit & 1 == 1).collect();
    for top in (degree..64).rev().filter(|&top| number >> top > 0) {
        if rest[top as usize] {
            for &exponent in exponents.iter().chain(&[0]) {
                let coefficient = &mut rest[(top - degree + exponent) as usize];
                *coefficient = !*coefficient;
            }
        }
    }
    (0..degree).map(|bit| u64::from(rest[bit as usize]) << bit).sum()
}
