//! The changes that turn valid files into adversarial ones.

use std::ops::Range;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// The largest size of a mutant in bytes, chosen so that a trial takes milliseconds.
const MAX_BYTES: usize = 256 << 10;

/// Numbers at the limits of types, and words that represent numbers.
const EXTREMES: [&str; 22] = [
    "0",
    "-1",
    "1",
    "31",
    "32",
    "33",
    "64",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775809",
    "340282366920938463463374607431768211456",
    "1e308",
    "0.1e-400",
    "NaN",
];

/// Bytes that a text should not contain: control characters, marks of direction and of byte order,
/// incomplete characters.
const ODD: [&[u8]; 14] = [
    b"\0",
    b"\x1b[2J",
    b"\r",
    b"\x7f",
    b"\x08",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    "\u{202e}".as_bytes(),
    "\u{feff}".as_bytes(),
    "\u{2028}".as_bytes(),
    "\u{e9}".as_bytes(),
    "\u{1f600}".as_bytes(),
    "\u{200b}".as_bytes(),
];

/// Opening delimiters and prefixes.
const NESTING: [&[u8]; 9] = [b"(", b"[", b"{", b"Some(", b"-", b"!", b"/*", b"[[", b"((\n"];

/// Returns a mutant of one of the files, with pieces of another.
pub fn mutant(random: &mut ChaCha8Rng, files: &[Vec<u8>]) -> Vec<u8> {
    let pick = |random: &mut ChaCha8Rng| {
        // small files twice as often, because their mutants are tested quickly
        let [one, other] = [0; 2].map(|_| &files[random.random_range(0..files.len())]);
        if one.len() <= other.len() { one } else { other }
    };
    let mut bytes = pick(random).clone();
    let other = pick(random).clone();
    // mostly few changes, so that much of the file is still read
    let changes = 1 << random.random_range(0..4);
    for _ in 0..random.random_range(1..=changes) {
        change(random, &mut bytes, &other);
        bytes.truncate(MAX_BYTES);
    }
    bytes
}

fn change(random: &mut ChaCha8Rng, bytes: &mut Vec<u8>, other: &[u8]) {
    if bytes.is_empty() {
        bytes.extend_from_slice(other);
        return;
    }
    let at = random.random_range(0..bytes.len());
    match random.random_range(0..100) {
        0..6 => bytes[at] ^= 1 << random.random_range(0..8),
        6..9 => bytes[at] = random.random(),
        9..11 => bytes.insert(at, random.random()),
        11..14 => drop(bytes.drain(stretch(random, bytes.len(), 40))),
        14..16 => {
            let copy = bytes[stretch(random, bytes.len(), 40)].to_vec();
            insert(bytes, at, &copy);
        }
        16..19 => bytes.truncate(at),
        19..23 => {
            let odd = ODD[random.random_range(0..ODD.len())];
            insert(bytes, at, odd);
        }
        23..26 => {
            let opening = NESTING[random.random_range(0..NESTING.len())];
            let depth = 1 << random.random_range(0..16);
            insert(bytes, at, &opening.repeat(depth));
        }
        26..30 => {
            // the beginning of one file and the end of the other
            let from = stretch(random, other.len(), usize::MAX).start;
            bytes.truncate(at);
            bytes.extend_from_slice(&other[from..]);
        }
        30..48 => lines(random, bytes, other),
        48..72 => number(random, bytes),
        _ => words(random, bytes, other),
    }
}

/// Returns a random range of at most `most` elements within `length` elements.
fn stretch(random: &mut ChaCha8Rng, length: usize, most: usize) -> Range<usize> {
    if length == 0 {
        return 0..0;
    }
    let start = random.random_range(0..length);
    let most = most.min(length - start);
    start..start + random.random_range(1..=most)
}

fn insert(bytes: &mut Vec<u8>, at: usize, what: &[u8]) {
    bytes.splice(at..at, what.iter().copied());
}

/// Removes, duplicates or moves a line, or takes one from the other file.
fn lines(random: &mut ChaCha8Rng, bytes: &mut Vec<u8>, other: &[u8]) {
    let split = |bytes: &[u8]| -> Vec<Vec<u8>> {
        bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    };
    let (mut all, theirs) = (split(bytes), split(other));
    let at = random.random_range(0..all.len());
    match random.random_range(0..4) {
        0 => drop(all.remove(at)),
        1 => all.insert(at, all[at].clone()),
        2 => {
            let to = random.random_range(0..all.len());
            all.swap(at, to);
        }
        _ if theirs.is_empty() => {}
        _ => all.insert(at, theirs[random.random_range(0..theirs.len())].clone()),
    }
    *bytes = all.concat();
}

/// Replaces a number by an extreme one.
fn number(random: &mut ChaCha8Rng, bytes: &mut Vec<u8>) {
    let all: Vec<Range<usize>> =
        tokens(bytes).into_iter().filter(|token| bytes[token.start].is_ascii_digit()).collect();
    if all.is_empty() {
        return;
    }
    let place = all[random.random_range(0..all.len())].clone();
    let new = match random.random_range(0..30) {
        0 => "9".repeat(1 << random.random_range(0..14)),
        1 => format!("0.{}1", "0".repeat(400)),
        2..8 => std::str::from_utf8(&bytes[place.clone()])
            .ok()
            .and_then(|text| text.parse::<u64>().ok())
            .map_or("7".to_owned(), |value| value.wrapping_add(1).to_string()),
        _ => EXTREMES[random.random_range(0..EXTREMES.len())].to_owned(),
    };
    bytes.splice(place, new.into_bytes());
}

/// Removes or duplicates a word, swaps it with another, or replaces it by one of this or the other
/// file.
fn words(random: &mut ChaCha8Rng, bytes: &mut Vec<u8>, other: &[u8]) {
    let (all, theirs) = (tokens(bytes), tokens(other));
    if all.is_empty() {
        return;
    }
    let place = all[random.random_range(0..all.len())].clone();
    match random.random_range(0..6) {
        0 => drop(bytes.drain(place)),
        1 => {
            let word = bytes[place.clone()].to_vec();
            insert(bytes, place.start, &word);
        }
        2 => {
            let second = all[random.random_range(0..all.len())].clone();
            let (first, second) = if place.start <= second.start { (place, second) } else { (second, place) };
            if first != second {
                let (one, two) = (bytes[first.clone()].to_vec(), bytes[second.clone()].to_vec());
                bytes.splice(second, one);
                bytes.splice(first, two);
            }
        }
        3 | 4 => {
            let word = bytes[all[random.random_range(0..all.len())].clone()].to_vec();
            bytes.splice(place, word);
        }
        _ if theirs.is_empty() => {}
        _ => {
            let word = &other[theirs[random.random_range(0..theirs.len())].clone()];
            bytes.splice(place, word.iter().copied());
        }
    }
}

/// Returns the words, numbers and symbols of a text.
fn tokens(bytes: &[u8]) -> Vec<Range<usize>> {
    let kind = |byte: u8| match byte {
        b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => 1,
        b' ' | b'\t' | b'\n' | b'\r' => 0,
        _ => 2,
    };
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, byte) in bytes.iter().enumerate() {
        match (kind(*byte), found.last_mut()) {
            (0, _) => {}
            (1, Some(last)) if last.end == at && kind(bytes[at - 1]) == 1 => last.end = at + 1,
            _ => found.push(at..at + 1),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn a_number_makes_the_same_mutant_again() {
        let files = [b"add.s32 %r1, 17;\nret;\n".to_vec(), b"mov.u32 %r2, 0;\n".to_vec()];
        let of = |number| mutant(&mut ChaCha8Rng::seed_from_u64(number), &files);
        let all: Vec<_> = (0..500).map(of).collect();
        assert_eq!(all, (0..500).map(of).collect::<Vec<_>>());
        let different: std::collections::BTreeSet<_> = all.iter().collect();
        assert!(different.len() > 300, "{}", different.len());
    }

    #[test]
    fn a_text_is_cut_into_words_numbers_and_signs() {
        let text = b"add.s32 %r1,\n17;";
        let shown: Vec<&str> =
            tokens(text).into_iter().map(|token| std::str::from_utf8(&text[token]).unwrap()).collect();
        assert_eq!(shown, ["add", ".", "s32", "%", "r1", ",", "17", ";"]);
    }
}
