//! Numbers as the paper prints them, and our launches of the same kind.

/// A product of integer matrices by one block, with one thread per element of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// The figure.
    pub figure: &'static str,
    /// The number of rows and columns of the matrices.
    pub side: u32,
    /// Our embedded launch.
    pub launch: &'static str,
    /// Transactions of shared memory reads, the same on the board and by PasTiS.
    pub reads: u64,
    /// Transactions of shared memory writes, the same on the board and by PasTiS.
    pub writes: u64,
    /// Cycles on the Jetson TX2.
    pub board: u64,
    /// Cycles by PasTiS.
    pub pastis: u64,
}

const fn product(figure: &'static str, side: u32, launch: &'static str, numbers: [u64; 4]) -> Product {
    let [reads, writes, board, pastis] = numbers;
    Product { figure, side, launch, reads, writes, board, pastis }
}

/// Figures 10 to 12: products on one, two and four warps.
pub const PRODUCTS: [Product; 3] = [
    product("Figure 10", 4, "imatmul_tiled_4x4", [8, 2, 1131, 1241]),
    product("Figure 11", 8, "imatmul_tiled_8x8", [32, 4, 1381, 1491]),
    product("Figure 12", 11, "imatmul_tiled_11x11", [88, 8, 1580, 1677]),
];

/// Our program of the network of section V.
pub const NETWORK: &str = "digits_program";

/// The numbers of inputs of its layers, and the number of outputs of the last layer.
pub const SIZES: [u32; 4] = [784, 128, 64, 10];

/// The stack of figures 5 to 7: initially, after SSY or PBK, after the branch, and after SYNC or
/// BRK of the first two threads. Entries are top first, with npc, rpc and mask. Some masks in our
/// copy of the text lack an F, although the prose says that all 32 threads are active.
pub const STACKS: [&[(u32, u32, u32)]; 4] = [
    &[(0x8, 0xffff, !0)],
    &[(0x10, REJOIN, !0), (REJOIN, 0xffff, !0)],
    &[(TARGET, REJOIN, 0xc000_0000), (0x18, REJOIN, 0x3fff_ffff), (REJOIN, 0xffff, !0)],
    &[(0x18, REJOIN, 0x3fff_ffff), (REJOIN, 0xffff, !0)],
];

/// The address of the reconvergence point.
pub const REJOIN: u32 = 0x70;

/// The address of the branch target.
pub const TARGET: u32 = 0x48;

/// The size of an instruction in bytes.
pub const INSTRUCTION: u32 = 8;

/// The number of threads that take the branch; they are the first ones of the warp.
pub const TAKING: u32 = 2;
