//! Dense ids. Each prints as it stands in the text formats.

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
            /// The id with this number.
            pub const fn new(number: $inner) -> Self {
                Self(number)
            }

            /// The id with this index.
            ///
            /// # Panics
            /// If the index does not fit; front ends refuse inputs of that size before.
            pub fn from_index(index: usize) -> Self {
                Self(<$inner>::try_from(index).expect(concat!(stringify!($name), " out of range")))
            }

            /// The number.
            pub const fn get(self) -> $inner {
                self.0
            }

            /// The number as an index into a dense table.
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
    /// A warp of a block, in launch order.
    WarpId(u16), "w"
);
id!(
    /// A block (CTA) of the grid, linear, in launch order.
    BlockId(u32), "b"
);
id!(
    /// An instruction of a program: its index in the decoded code.
    Pc(u32), "@"
);
id!(
    /// A register of a program, in the numbering of its register table. Predicates, carry flags
    /// and the pseudo-registers of asynchronous copies are registers too.
    RegId(u16), "r"
);
id!(
    /// A functional unit of a machine.
    UnitId(u8), "u"
);
id!(
    /// An op class of a program: what the machine maps to a unit and a timing.
    OpClass(u16), "op"
);
