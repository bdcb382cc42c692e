//! Queues of which most are empty.

use std::collections::VecDeque;

use super::set::Set;

/// A number of queues, and which of them hold something.
#[derive(Clone, Debug)]
pub(super) struct Queues<T> {
    queues: Vec<VecDeque<T>>,
    filled: Set,
    /// Entries in all queues.
    len: usize,
}

impl<T> Queues<T> {
    pub fn new(count: usize) -> Self {
        Self {
            queues: std::iter::repeat_with(VecDeque::new).take(count).collect(),
            filled: Set::new(count),
            len: 0,
        }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    pub fn len_of(&self, number: usize) -> usize {
        self.queues[number].len()
    }

    #[inline]
    pub fn front(&self, number: usize) -> Option<&T> {
        self.queues[number].front()
    }

    #[inline]
    pub fn push(&mut self, number: usize, entry: T) {
        self.queues[number].push_back(entry);
        self.filled.insert(number);
        self.len += 1;
    }

    #[inline]
    pub fn pop(&mut self, number: usize) -> Option<T> {
        let entry = self.queues[number].pop_front()?;
        if self.queues[number].is_empty() {
            self.filled.remove(number);
        }
        self.len -= 1;
        Some(entry)
    }

    /// The length of the longest queue.
    pub fn longest(&self) -> usize {
        self.queues.iter().map(VecDeque::len).max().unwrap_or(0)
    }

    /// Lets somebody change a queue as a whole.
    pub fn change(&mut self, number: usize, change: impl FnOnce(&mut VecDeque<T>)) {
        let queue = &mut self.queues[number];
        self.len -= queue.len();
        change(queue);
        self.len += queue.len();
        if queue.is_empty() {
            self.filled.remove(number);
        } else {
            self.filled.insert(number);
        }
    }

    /// The first queue from `from` on that holds something.
    #[inline]
    pub fn next_filled(&self, from: usize) -> Option<usize> {
        self.filled.next(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filled_queues_are_found_in_order() {
        let mut queues = Queues::new(130);
        for (number, entry) in [(129, 1), (3, 2), (64, 3), (3, 4)] {
            queues.push(number, entry);
        }
        let filled = |queues: &Queues<i32>| {
            let next = |&last: &usize| queues.next_filled(last + 1);
            std::iter::successors(queues.next_filled(0), next).collect::<Vec<_>>()
        };
        assert_eq!(filled(&queues), [3, 64, 129]);
        assert_eq!((queues.pop(64), queues.pop(64), queues.pop(3)), (Some(3), None, Some(2)));
        assert_eq!(filled(&queues), [3, 129]);
        assert_eq!((queues.front(3), queues.len_of(3), queues.is_empty()), (Some(&4), 1, false));
    }
}
