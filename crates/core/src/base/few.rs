//! A list that stores few elements without an allocation.

/// A list that stores up to `N` elements inline and more in a box.
#[derive(Clone)]
pub struct Few<T, const N: usize>(List<T, N>);

#[derive(Clone)]
enum List<T, const N: usize> {
    Here { len: u8, items: [T; N] },
    Boxed(Box<[T]>),
}

impl<T: Copy + Default, const N: usize> Few<T, N> {
    /// Returns the elements.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        match &self.0 {
            List::Here { len, items } => &items[..usize::from(*len)],
            List::Boxed(items) => items,
        }
    }

    /// Appends an element.
    pub fn push(&mut self, item: T) {
        match &mut self.0 {
            List::Here { len, items } if usize::from(*len) < N => {
                items[usize::from(*len)] = item;
                *len += 1;
            }
            _ => {
                let items = self.as_slice().iter().copied().chain([item]).collect();
                self.0 = List::Boxed(items);
            }
        }
    }
}

impl<T: Copy + Default, const N: usize> Default for Few<T, N> {
    #[inline]
    fn default() -> Self {
        const { assert!(N <= u8::MAX as usize) };
        Self(List::Here { len: 0, items: [T::default(); N] })
    }
}

impl<T: Copy + Default, const N: usize> FromIterator<T> for Few<T, N> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut list = Self::default();
        items.into_iter().for_each(|item| list.push(item));
        list
    }
}

impl<T: Copy + Default + PartialEq, const N: usize> PartialEq for Few<T, N> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl<T: Copy + Default + Eq, const N: usize> Eq for Few<T, N> {}

impl<T: Copy + Default + std::fmt::Debug, const N: usize> std::fmt::Debug for Few<T, N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_slice().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_keep_their_order_in_place_and_in_a_box() {
        for count in 0..10u16 {
            let list: Few<u16, 4> = (0..count).collect();
            assert_eq!(list.as_slice(), (0..count).collect::<Vec<_>>());
            assert_eq!(matches!(list.0, List::Here { .. }), count <= 4);
            let mut longer = list.clone();
            longer.push(99);
            assert_ne!(longer, list);
        }
    }
}
