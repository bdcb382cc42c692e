//! What is known of a range of addresses, by pages that are made when something in them is accessed.

/// Pages within a bound of memory.
#[derive(Clone, Debug)]
pub(super) struct Pages<P> {
    pub(super) slots: Vec<Option<Box<P>>>,
    pub(super) budget: Budget,
}

/// Bytes that pages take, and how many they may.
#[derive(Clone, Debug)]
pub(super) struct Budget {
    taken: usize,
    limit: usize,
}

impl<P> Pages<P> {
    /// So many pages, none of them made, which may take `limit` bytes.
    pub(super) fn new(count: u64, limit: usize) -> Self {
        let slots = std::iter::repeat_with(|| None).take(count as usize).collect();
        Self { slots, budget: Budget { taken: 0, limit } }
    }

    /// A page, made if it is not there; `None` if there is no such page or no room for it.
    pub(super) fn page(&mut self, index: usize, fresh: impl FnOnce() -> P) -> Option<&mut P> {
        let slot = self.slots.get_mut(index)?;
        if slot.is_none() {
            self.budget.take(size_of::<P>())?;
        }
        Some(slot.get_or_insert_with(|| Box::new(fresh())))
    }

    /// Forgets everything if that gives much memory back.
    pub(super) fn make_room(&mut self) {
        if self.budget.taken > self.budget.limit / 4 {
            self.slots.fill_with(|| None);
            self.budget.taken = 0;
        }
    }
}

impl Budget {
    /// Takes bytes, if there is room for them.
    pub(super) fn take(&mut self, bytes: usize) -> Option<()> {
        self.taken = self.taken.checked_add(bytes).filter(|taken| *taken <= self.limit)?;
        Some(())
    }
}
