//! State about a range of addresses, in pages that are created at the first access to them.

/// Pages within a memory limit.
#[derive(Clone, Debug)]
pub(super) struct Pages<P> {
    pub(super) slots: Vec<Option<Box<P>>>,
    pub(super) budget: Budget,
}

/// The number of bytes that pages take, and their limit.
#[derive(Clone, Debug)]
pub(super) struct Budget {
    taken: usize,
    limit: usize,
}

impl<P> Pages<P> {
    /// Creates the table of `count` pages, none of which exists, with a limit of `limit` bytes.
    pub(super) fn new(count: u64, limit: usize) -> Self {
        let slots = std::iter::repeat_with(|| None).take(count as usize).collect();
        Self { slots, budget: Budget { taken: 0, limit } }
    }

    /// Returns a page, and creates it if necessary; `None` if there is no such page or no room for
    /// it.
    pub(super) fn page(&mut self, index: usize, fresh: impl FnOnce() -> P) -> Option<&mut P> {
        let slot = self.slots.get_mut(index)?;
        if slot.is_none() {
            self.budget.take(size_of::<P>())?;
        }
        Some(slot.get_or_insert_with(|| Box::new(fresh())))
    }

    /// Drops all pages if they take a large part of the limit.
    pub(super) fn make_room(&mut self) {
        if self.budget.taken > self.budget.limit / 4 {
            self.slots.fill_with(|| None);
            self.budget.taken = 0;
        }
    }
}

impl Budget {
    /// Takes bytes; `None` if there is no room for them.
    pub(super) fn take(&mut self, bytes: usize) -> Option<()> {
        self.taken = self.taken.checked_add(bytes).filter(|taken| *taken <= self.limit)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_may_take_all_the_memory_that_there_is_for_them() {
        let mut pages: Pages<[u8; 16]> = Pages::new(3, 32);
        let created = [0, 1, 2, 1].map(|index| pages.page(index, || [0; 16]).is_some());
        assert_eq!(created, [true, true, false, true]);
    }
}
