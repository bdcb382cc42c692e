//! Coalescing: the memory lines of an access.

use super::LineUse;
use crate::base::WARP_SIZE;

/// The size of a word in bytes.
const WORD: u64 = 4;

/// The lines that one instruction touches, collected lane by lane.
///
/// The number of lines per cycle belongs to the timing and is not considered here.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    /// The lines, in ascending order, and the bytes touched in each. An atomic operation has
    /// consecutive entries for the passes over the same line.
    pending: Vec<(u64, u128)>,
}

impl Lines {
    /// Returns the line and the mask of the bytes of an access within one line.
    fn split(address: u64, bytes: usize) -> (u64, u128) {
        let offset = address % LineUse::LINE_BYTES;
        debug_assert!(offset + bytes as u64 <= LineUse::LINE_BYTES, "accesses are aligned");
        (address / LineUse::LINE_BYTES, ((1 << bytes) - 1) << offset)
    }

    /// Adds a load or store of a lane; accesses of several lanes to the same line are merged.
    pub fn touch(&mut self, address: u64, bytes: usize) {
        let (line, mask) = Self::split(address, bytes);
        // most lanes access the same line as the previous lane, or a later one
        match self.pending.last_mut() {
            Some((last, touched)) if *last == line => {
                *touched |= mask;
                return;
            }
            Some((last, _)) if *last > line => {}
            _ => {
                self.pending.push((line, mask));
                return;
            }
        }
        let at = self.pending.partition_point(|&(other, _)| other < line);
        match self.pending.get_mut(at) {
            Some((same, touched)) if *same == line => *touched |= mask,
            _ => self.pending.insert(at, (line, mask)),
        }
    }

    /// Adds the accesses of lanes that together touch all bytes of a range; nothing else may have been
    /// added.
    pub fn touch_range(&mut self, address: u64, bytes: u64) {
        debug_assert!(self.pending.is_empty(), "lines are in ascending order");
        let mut left = bytes;
        let mut at = address;
        while left > 0 {
            let offset = at % LineUse::LINE_BYTES;
            let here = left.min(LineUse::LINE_BYTES - offset);
            let mask = u128::MAX >> (LineUse::LINE_BYTES - here) << offset;
            self.pending.push((at / LineUse::LINE_BYTES, mask));
            left -= here;
            at = at.wrapping_add(here);
        }
    }

    /// Adds an access of a lane to its local memory. Words at the same local address are adjacent
    /// for the lanes of a warp, so an access of 4 bytes by all lanes fills one line. `words` is the
    /// number of words per thread, `warp` is the number of the warp in the launch, and `base` is
    /// the address of local memory. The lines of a warp do not overlap those of another one.
    pub fn touch_local(
        &mut self,
        base: u64,
        (words, warp): (u64, u64),
        lane: usize,
        address: u64,
        bytes: usize,
    ) {
        let end = address.saturating_add(bytes as u64);
        let mut at = address;
        while at < end {
            let row = warp.wrapping_mul(words).wrapping_add(at / WORD);
            let word = row.wrapping_mul(WARP_SIZE as u64).wrapping_add((lane % WARP_SIZE) as u64);
            let offset = word.wrapping_mul(WORD).wrapping_add(at % WORD);
            let next = (at / WORD + 1).saturating_mul(WORD).min(end);
            self.touch(base | offset & (base - 1), (next - at) as usize);
            at = next;
        }
    }

    /// Adds an atomic access of a lane. Lanes that access the same bytes need separate passes; a
    /// lane joins the first pass that does not touch its bytes (GPGPU-Sim 4.2: 32 serial
    /// transactions for one address).
    pub fn touch_apart(&mut self, address: u64, bytes: usize) {
        let (line, mask) = Self::split(address, bytes);
        let first = self.pending.partition_point(|&(other, _)| other < line);
        let passes = self.pending[first..].iter().take_while(|&&(other, _)| other == line);
        match passes.clone().position(|&(_, touched)| touched & mask == 0) {
            Some(pass) => self.pending[first + pass].1 |= mask,
            None => {
                let end = first + passes.count();
                self.pending.insert(end, (line, mask));
            }
        }
    }

    /// Moves the entries of the instruction to `to`. For a store, the entries of lines whose
    /// sectors are written only in part state the words that are written.
    pub fn finish(&mut self, to: &mut Vec<LineUse>, store: bool) {
        let Some(&(last, _)) = self.pending.last() else {
            to.push(LineUse::none());
            return;
        };
        let room = LineUse::has_room_for_words(last);
        let mut touched = Touched::new(0, store, room);
        to.reserve(self.pending.len());
        for &(line, bytes) in &self.pending {
            // most often, the same bytes of each line are touched
            if bytes != touched.bytes {
                touched = Touched::new(bytes, store, room);
            }
            to.push(touched.line.moved(line));
            if let Some(words) = touched.words {
                to.push(words);
            }
        }
        if let Some(last) = to.last_mut() {
            *last = last.ending();
        }
        self.pending.clear();
    }
}

/// The entries for a line, given the bytes that are touched.
struct Touched {
    bytes: u128,
    /// The entry of the line, with the number 0 in place of the line number.
    line: LineUse,
    /// The entry with the words that are written, if a separate entry is needed.
    words: Option<LineUse>,
}

impl Touched {
    /// Creates the entries. `room` states whether the entry of the line has room for the words of a
    /// sector.
    fn new(bytes: u128, store: bool, room: bool) -> Self {
        let sectors = sectors(bytes);
        let whole = Self { bytes, line: LineUse::new(0, sectors, false), words: None };
        if !store {
            return whole;
        }
        let words = words(bytes);
        if words == LineUse::words_of(sectors) {
            whole
        } else if sectors.is_power_of_two() && room {
            Self { line: LineUse::in_part(0, sectors, words, false), ..whole }
        } else {
            Self { words: Some(LineUse::words(words, false)), ..whole }
        }
    }
}

/// Returns the sectors that contain any of these bytes of a line.
fn sectors(bytes: u128) -> u8 {
    let sectors_of_half = |half: u64| u8::from(half as u32 != 0) | u8::from(half >> 32 != 0) << 1;
    sectors_of_half(bytes as u64) | sectors_of_half((bytes >> 64) as u64) << 2
}

/// Returns the words of a line that the mask of bytes covers completely.
fn words(bytes: u128) -> u32 {
    words_of_half(bytes as u64) | words_of_half((bytes >> 64) as u64) << 16
}

fn words_of_half(bytes: u64) -> u32 {
    // if the lanes access scattered addresses, one half is nearly always empty
    if bytes == 0 {
        return 0;
    }
    let pairs = bytes & bytes >> 1;
    // every fourth bit represents a word; these bits are gathered pairwise, then in groups of four,
    // and so on
    let all = pairs & pairs >> 2 & 0x1111_1111_1111_1111;
    let twos = (all | all >> 3) & 0x0303_0303_0303_0303;
    let fours = (twos | twos >> 6) & 0x000f_000f_000f_000f;
    let eights = (fours | fours >> 12) & 0x0000_00ff_0000_00ff;
    (eights | eights >> 24) as u32 & 0xffff
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(touch: impl FnOnce(&mut Lines)) -> Vec<(u64, u8, bool)> {
        let (mut lines, mut uses) = (Lines::default(), Vec::new());
        touch(&mut lines);
        lines.finish(&mut uses, false);
        assert!(lines.pending.is_empty());
        uses.iter().map(|used| (used.address(), used.sectors(), used.is_last())).collect()
    }

    #[test]
    fn lanes_on_a_line_are_merged_and_lines_ascend() {
        let got = group(|lines| [260, 0, 132, 4, 124, 132].into_iter().for_each(|a| lines.touch(a, 4)));
        assert_eq!(got, [(0, 0b1001, false), (128, 0b0001, false), (256, 0b0001, true)]);
        let wide = group(|lines| lines.touch(96, 32));
        assert_eq!(wide, [(0, 0b1000, true)]);
        assert_eq!(group(|_| {}), [(0, 0, true)]);
    }

    #[test]
    fn a_store_states_its_words_unless_it_writes_whole_sectors() {
        let stored = |touch: &dyn Fn(&mut Lines)| {
            let (mut lines, mut uses) = (Lines::default(), Vec::new());
            touch(&mut lines);
            lines.finish(&mut uses, true);
            uses
        };
        let whole = stored(&|lines| (0..32).for_each(|word| lines.touch(4 * word, 4)));
        assert_eq!(whole, [LineUse::new(0, 0b1111, true)]);
        let part = LineUse::in_part;
        let half = stored(&|lines| (28..38).for_each(|word| lines.touch(4 * word, 4)));
        assert_eq!(half, [part(0, 8, 0xf000_0000, false), part(1, 1, 0x3f, true)]);
        let bytes = stored(&|lines| (3..9).for_each(|byte| lines.touch(byte, 1)));
        assert_eq!(bytes, [part(0, 1, 0b10, true)]);
        // several sectors, and a line with a number of many bits
        let two = stored(&|lines| (4..9).for_each(|word| lines.touch(4 * word, 4)));
        assert_eq!(two, [LineUse::new(0, 0b11, false), LineUse::words(0x1f0, true)]);
        let far = stored(&|lines| lines.touch(u64::MAX - 127, 4));
        assert_eq!(far, [LineUse::new(u64::MAX / 128, 1, false), LineUse::words(1, true)]);
    }

    #[test]
    fn sectors_and_words_are_those_of_their_bytes() {
        for n in 0..10_000_u64 {
            let draw = |by: u64| n.wrapping_mul(by) ^ n.wrapping_mul(by) >> 29;
            let half = |by: u64| draw(by) | draw(by ^ 0xff) | draw(by ^ 0xff00) << 7;
            let bytes =
                u128::from(half(0x9e37_79b9_7f4a_7c15)) << 64 | u128::from(half(0xbf58_476d_1ce4_e5b9));
            let sector = |sector: &u32| (bytes >> (32 * sector)) as u32 != 0;
            let word = |word: &u32| (bytes >> (4 * word)) as u8 & 0xf == 0xf;
            assert_eq!(sectors(bytes), (0..4).filter(sector).fold(0, |set, sector| set | 1 << sector));
            assert_eq!(words(bytes), (0..32).filter(word).fold(0, |set, word| set | 1 << word));
        }
        for set in 0..16_u8 {
            let all = (0..32).filter(|word| set >> (word / 8) & 1 == 1).fold(0, |all, word| all | 1 << word);
            assert_eq!(LineUse::words_of(set), all);
        }
    }

    #[test]
    fn atomics_on_the_same_bytes_need_separate_passes() {
        // lanes on words 0, 1, 0, 40, 0: three passes over line 0, the first of which includes word
        // 1
        let got = group(|lines| [0, 4, 0, 160, 0].into_iter().for_each(|a| lines.touch_apart(a, 4)));
        assert_eq!(got, [(0, 1, false), (0, 1, false), (0, 1, false), (128, 2, true)]);
        // the halves of a word do not overlap
        assert_eq!(group(|lines| [64, 66].into_iter().for_each(|a| lines.touch_apart(a, 2))), [(0, 4, true)]);
    }
}
