//! The key of the state of a launch. A search distinguishes states by their keys.

/// A sequence of numbers that describes a state. Launches with equal keys have equal futures under
/// equal choices: times count from the present cycle, and what only the past or the rules of the
/// arbiters need is left out.
#[derive(Debug, Default)]
pub(crate) struct Key {
    bytes: Vec<u8>,
    /// The names of the instructions by SM and number. Numbers depend on the past.
    names: Vec<Vec<u64>>,
}

impl Key {
    /// Creates an empty key, with the names of the instructions by SM and number.
    pub fn new(names: Vec<Vec<u64>>) -> Self {
        Self { bytes: Vec::with_capacity(256), names }
    }

    pub fn into_bytes(self) -> Box<[u8]> {
        self.bytes.into()
    }

    /// Adds a number: seven bits in each byte, the low ones first.
    pub fn put(&mut self, mut number: u64) {
        while number >= 128 {
            self.bytes.push(number as u8 | 128);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    /// Adds the time until `at`; a time that has passed counts as the present.
    pub fn until(&mut self, at: u64, now: u64) {
        self.put(at.saturating_sub(now));
    }

    /// Adds an instruction of an SM.
    pub fn instr(&mut self, sm: usize, id: usize) {
        self.put(self.names[sm][id]);
    }

    /// Returns the name of an instruction of an SM.
    pub fn name(&self, sm: usize, id: usize) -> u64 {
        self.names[sm][id]
    }

    /// Adds a list: its length, and each of its elements by `put`.
    pub fn list<T>(
        &mut self,
        items: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
        mut put: impl FnMut(&mut Self, T),
    ) {
        let items = items.into_iter();
        self.put(items.len() as u64);
        items.for_each(|item| put(self, item));
    }

    /// Adds numbers in ascending order.
    pub fn sorted(&mut self, numbers: impl IntoIterator<Item = u64>) {
        let mut numbers: Vec<u64> = numbers.into_iter().collect();
        numbers.sort_unstable();
        self.list(numbers, Self::put);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(fill: impl Fn(&mut Key)) -> Box<[u8]> {
        let mut key = Key::new(vec![vec![7, 300]]);
        fill(&mut key);
        key.into_bytes()
    }

    #[test]
    fn different_numbers_have_different_keys() {
        let numbers = [0, 1, 127, 128, 129, 16_383, 16_384, u64::MAX];
        let keys: std::collections::BTreeSet<Box<[u8]>> =
            numbers.iter().map(|&number| of(|key| key.put(number))).collect();
        assert_eq!(keys.len(), numbers.len());
        assert_ne!(of(|key| key.list([1, 2], Key::put)), of(|key| key.list([1], Key::put)));
    }

    #[test]
    fn past_times_and_the_order_of_sets_do_not_matter() {
        assert_eq!(of(|key| key.until(3, 5)), of(|key| key.until(5, 5)));
        assert_ne!(of(|key| key.until(6, 5)), of(|key| key.until(5, 5)));
        assert_eq!(of(|key| key.sorted([9, 2])), of(|key| key.sorted([2, 9])));
        assert_eq!(of(|key| key.instr(0, 1)), of(|key| key.put(300)));
    }
}
