//! Dense ids. They are displayed in the syntax of the text formats.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty), $prefix:literal) => {
        $(#[$doc])*
        #[derive(
            Clone,
            Copy,
            Debug,
            Default,
            PartialEq,
            Eq,
            PartialOrd,
            Ord,
            Hash,
            serde::Serialize,
            serde::Deserialize,
        )]
        pub struct $name($inner);

        impl $name {
            /// Creates the id with this number.
            #[inline]
            pub const fn new(number: $inner) -> Self {
                Self(number)
            }

            /// Creates the id with this index.
            ///
            /// # Panics
            /// If the index is out of range; front ends reject such inputs.
            #[inline]
            pub fn from_index(index: usize) -> Self {
                Self(<$inner>::try_from(index).expect(concat!(stringify!($name), " out of range")))
            }

            /// Returns the number.
            #[inline]
            pub const fn get(self) -> $inner {
                self.0
            }

            /// Returns the number as an index into a dense table.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

id!(
    /// A warp of a block, numbered in launch order.
    WarpId(u16), "w"
);
id!(
    /// A block (CTA) of the grid, numbered linearly in launch order.
    BlockId(u32), "b"
);
id!(
    /// A program counter: the index of an instruction in the decoded program.
    Pc(u32), "@"
);
id!(
    /// A register of a program, as an index into its register table. Predicates, carry flags and
    /// the pseudo-registers of asynchronous copies are registers, too.
    RegId(u16), "r"
);
id!(
    /// A functional unit of a machine.
    UnitId(u8), "u"
);
id!(
    /// An op class of a program, which the machine maps to a unit and a timing.
    OpClass(u16), "op"
);
