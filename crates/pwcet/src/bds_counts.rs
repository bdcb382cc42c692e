//! The number of close pairs of histories, counted as bits.
//!
//! Row i of the matrix of close pairs is a bit set: bit j is set if points i and j are close. In
//! the order of values, the points close to i are an interval, so the row is the difference of two
//! prefixes of the sorted points, as bit sets. Each prefix is composed of a stored one (there is
//! one for every few points) and a few bits. Histories of `m` points are close if the histories of
//! `m - 1` points that begin one later are close, and so are the first points. Row `i` is therefore
//! row `i + 1` of the dimension below, shifted by a bit, combined with row `i` of single points.
//! Only bits above `i` are used; 64 pairs of a row take a few instructions.

use super::parallel;
use warpbound_core::base::ProgressMonitor;

/// The largest embedding dimension.
pub(super) const DIMENSIONS: usize = 5;

/// The largest number of stored prefixes, of n bits each.
const PREFIXES: usize = 1024;

/// The number of parts into which rows are divided for threads.
const PARTS: usize = 32;

/// The counts for one distance.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    /// The number of close pairs of histories, by dimension from 1.
    joint: [u64; DIMENSIONS],
    /// The number of close pairs of single points, by the number of first points omitted.
    singles: [u64; DIMENSIONS],
    /// The sum of all rows of the whole matrix, including its diagonal.
    pub sum: f64,
    /// The sum of the squares of the rows.
    pub squares: f64,
}

impl Counts {
    /// Returns the number of close pairs of histories of this many points, at least 1.
    pub fn joint(&self, dimension: usize) -> u64 {
        self.joint.get(dimension.wrapping_sub(1)).copied().unwrap_or_default()
    }

    /// Returns the number of close pairs of points without this many of the first ones.
    pub fn singles(&self, without: usize) -> u64 {
        self.singles.get(without).copied().unwrap_or_default()
    }
}

/// Counts the pairs at a distance less than each of these; returns `None` if it was stopped.
pub(super) fn count(
    values: &[f64],
    distances: &[f64],
    threads: usize,
    monitor: &ProgressMonitor,
) -> Option<Vec<Counts>> {
    let sets = Sets::of(values);
    let windows: Vec<Vec<Window>> = distances.iter().map(|&distance| sets.windows(distance)).collect();
    let rows = values.len().div_ceil(PARTS);
    let parts = parallel::map(windows.len() * PARTS, threads, monitor, |job| {
        let first = job % PARTS * rows;
        windows.get(job / PARTS).map(|windows| sets.count(windows, first, (first + rows).min(values.len())))
    })?;
    let together = |(windows, parts): (&Vec<Window>, &[Option<Counts>])| {
        let mut all = Counts::default();
        for part in parts.iter().flatten() {
            all.joint.iter_mut().zip(part.joint).for_each(|(all, part)| *all += part);
            all.singles.iter_mut().zip(part.singles).for_each(|(all, part)| *all += part);
        }
        for window in windows {
            let close = (window.end - window.start) as f64;
            all.sum += close;
            all.squares += close * close;
        }
        all
    };
    Some(windows.iter().zip(parts.chunks(PARTS)).map(together).collect())
}

/// The positions of the points close to one, in the order of size.
type Window = std::ops::Range<usize>;

/// The sorted points as bit sets.
struct Sets {
    /// The value and the index of each point, in the order of size.
    sorted: Vec<(f64, usize)>,
    /// The first `every * k` of them as a set, for each k.
    prefixes: Vec<Vec<u64>>,
    every: usize,
    /// The number of words of a set.
    words: usize,
}

impl Sets {
    fn of(values: &[f64]) -> Self {
        let words = values.len().div_ceil(64);
        let every = values.len().div_ceil(PREFIXES).max(64);
        let mut sorted: Vec<(f64, usize)> = values.iter().copied().zip(0..).collect();
        sorted.sort_unstable_by(|left, right| left.0.total_cmp(&right.0).then(left.1.cmp(&right.1)));
        let mut prefix = vec![0; words];
        let mut prefixes = vec![prefix.clone()];
        for some in sorted.chunks(every) {
            some.iter().for_each(|&(_, index)| flip(&mut prefix, index));
            prefixes.push(prefix.clone());
        }
        Self { sorted, prefixes, every, words }
    }

    /// Returns the points closer than `distance` to each point, by its index.
    fn windows(&self, distance: f64) -> Vec<Window> {
        let mut windows = vec![0..0; self.sorted.len()];
        let (mut start, mut end) = (0, 0);
        let close = |left: usize, right: usize| match (self.sorted.get(left), self.sorted.get(right)) {
            (Some(left), Some(right)) => right.0 - left.0 < distance,
            _ => false,
        };
        for (place, &(_, index)) in self.sorted.iter().enumerate() {
            while start < place && !close(start, place) {
                start += 1;
            }
            end = end.max(place + 1);
            while close(place, end) {
                end += 1;
            }
            if let Some(window) = windows.get_mut(index) {
                *window = start..end;
            }
        }
        windows
    }

    /// Toggles, in the words of `row` from `from` on, the bits of the first `count` sorted points.
    fn toggle(&self, row: &mut [u64], from: usize, count: usize) {
        let nearest = ((count + self.every / 2) / self.every).min(self.prefixes.len().saturating_sub(1));
        if let Some(prefix) = self.prefixes.get(nearest) {
            row.iter_mut().zip(prefix).skip(from).for_each(|(word, bits)| *word ^= bits);
        }
        let have = (nearest * self.every).min(self.sorted.len());
        let rest = self.sorted.get(have.min(count)..have.max(count)).unwrap_or_default();
        rest.iter().for_each(|&(_, index)| flip(row, index));
    }

    /// Counts the pairs whose earlier point is one of these rows.
    fn count(&self, windows: &[Window], first: usize, end: usize) -> Counts {
        let mut counts = Counts::default();
        // rows of dimension 1 to 4, of the point handled before this one in the loop
        let mut rows = vec![vec![0_u64; self.words + 1]; DIMENSIONS - 1];
        let mut next = vec![0_u64; self.words + 1];
        // the first rows of the loop only fill those of higher dimensions
        let ahead = (end + DIMENSIONS - 1).min(windows.len());
        for (index, window) in windows.iter().enumerate().take(ahead).skip(first).rev() {
            let counted = index < end;
            let (from, mask) = ((index + 1) / 64, u64::MAX << ((index + 1) % 64));
            next.iter_mut().skip(from).for_each(|word| *word = 0);
            self.toggle(&mut next, from, window.end);
            self.toggle(&mut next, from, window.start);
            for dimension in (2..=DIMENSIONS).rev() {
                let (lower, upper) = rows.split_at_mut(dimension - 1);
                let Some(before) = lower.last() else { continue };
                let pairs = match upper.first_mut() {
                    Some(row) => join(&next, before, row, from, mask),
                    None => close(&next, before, from, mask),
                };
                counts.joint[dimension - 1] += if counted { pairs } else { 0 };
            }
            if counted {
                let pairs = ones(&next, from, mask);
                counts.joint[0] += pairs;
                counts.singles.iter_mut().take(index + 1).for_each(|singles| *singles += pairs);
            }
            if let Some(row) = rows.first_mut() {
                std::mem::swap(row, &mut next);
            }
        }
        counts
    }
}

fn flip(set: &mut [u64], index: usize) {
    if let Some(word) = set.get_mut(index / 64) {
        *word ^= 1 << (index % 64);
    }
}

/// Returns the words from `from` on of single points, combined with those of the history that
/// begins one later.
fn joined<'a>(single: &'a [u64], before: &'a [u64], from: usize) -> impl Iterator<Item = u64> + 'a {
    let before = before.get(from..).unwrap_or_default();
    let single = single.get(from..).unwrap_or_default();
    let after = before.get(1..).unwrap_or_default();
    single.iter().zip(before).zip(after).map(|((single, low), high)| single & (low >> 1 | high << 63))
}

/// Writes the combined words to `row`. Returns the number of bits set; in the first word only those
/// of `mask` count.
fn join(single: &[u64], before: &[u64], row: &mut [u64], from: usize, mask: u64) -> u64 {
    let row = row.get_mut(from..).unwrap_or_default();
    let mut sum = 0;
    for (word, bits) in row.iter_mut().zip(joined(single, before, from)) {
        *word = bits;
        sum += u64::from(bits.count_ones());
    }
    sum - u64::from((row.first().copied().unwrap_or_default() & !mask).count_ones())
}

/// Returns the same count without writing a row.
fn close(single: &[u64], before: &[u64], from: usize, mask: u64) -> u64 {
    let first = joined(single, before, from).next().unwrap_or_default();
    joined(single, before, from).map(|bits| u64::from(bits.count_ones())).sum::<u64>()
        - u64::from((first & !mask).count_ones())
}

/// Returns the number of bits set in a row; in the first word only those of `mask` count.
fn ones(row: &[u64], from: usize, mask: u64) -> u64 {
    let row = row.get(from..).unwrap_or_default();
    row.iter().map(|bits| u64::from(bits.count_ones())).sum::<u64>()
        - u64::from((row.first().copied().unwrap_or_default() & !mask).count_ones())
}
