//! What the driver and the compiler of a generation agree on: the banks of constants.

use serde::Deserialize;

use super::Mistake;
use warpbound_core::isa::Space;

/// The banks of constants and what the driver writes to them before a launch.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Abi {
    /// The number of each bank.
    pub banks: Banks,
    /// The offset of the first parameter in the bank of the launch, for files that do not state it.
    pub params: u32,
    /// The words of the bank of the launch before the parameters.
    launch: Vec<LaunchWord>,
}

/// The numbers of the banks of constants.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Banks {
    /// The properties of the launch, followed by the parameters.
    pub launch: u8,
    /// The constants that the compiler makes for a kernel.
    pub compiler: u8,
    /// The constants of the user, which all kernels share.
    pub user: u8,
    /// The addresses of variables.
    pub addresses: u8,
}

/// The content of a bank of constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bank {
    /// The properties of the launch, followed by the parameters.
    Launch,
    /// The constants that the compiler makes for a kernel.
    Compiler,
    /// The constants of the user.
    User,
    /// The addresses of variables.
    Addresses,
}

/// A word of the bank of the launch.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename = "Word", deny_unknown_fields)]
struct LaunchWord {
    /// The offset in bytes.
    at: u32,
    holds: LaunchValue,
}

/// The value of a word of the bank of the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum LaunchValue {
    /// The lower half of the first generic address of a space.
    Window(Space),
    /// The upper half of the first generic address of a space.
    UpperWindow(Space),
    /// The number of threads of a block in one direction.
    BlockSize(Axis),
    /// The number of blocks of the grid in one direction.
    GridSize(Axis),
    /// Whether the launch has clusters: 1 or 0.
    HasClusters,
    /// The number of blocks of a cluster in one direction.
    ClusterSize(Axis),
    /// Its reciprocal, a single.
    ClusterReciprocal(Axis),
    /// The number of clusters of the grid in one direction.
    ClusterCount(Axis),
    /// The number of blocks of a cluster.
    ClusterRanks,
    /// A word of the descriptor of global memory, which no instruction interprets here.
    Descriptor,
    /// The end of the thread's local memory, from which the stack grows downwards.
    StackTop,
}

/// A direction of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[allow(missing_docs, reason = "the names say everything")]
pub enum Axis {
    X,
    Y,
    Z,
}

impl Axis {
    /// Returns the number of the direction, from 0.
    pub fn index(self) -> u8 {
        match self {
            Self::X => 0,
            Self::Y => 1,
            Self::Z => 2,
        }
    }
}

impl Banks {
    fn all(&self) -> [(&'static str, u8, Bank); 4] {
        [
            ("launch", self.launch, Bank::Launch),
            ("compiler", self.compiler, Bank::Compiler),
            ("user", self.user, Bank::User),
            ("addresses", self.addresses, Bank::Addresses),
        ]
    }

    /// Returns the content of a bank, or `None` if nothing is known of it.
    pub fn content(&self, number: u8) -> Option<Bank> {
        self.all().iter().find(|(_, known, _)| *known == number).map(|&(_, _, bank)| bank)
    }
}

impl Abi {
    /// Returns the value of a word of the bank of the launch, or `None` if it is not known.
    pub fn launch_value(&self, at: u32) -> Option<LaunchValue> {
        self.launch.iter().find(|word| word.at == at).map(|word| word.holds)
    }

    /// Returns the mistakes, each with the path of the wrong value.
    pub(super) fn mistakes(&self, bank_bits: u32) -> Vec<Mistake> {
        let mut found = Vec::new();
        let banks = self.banks.all();
        for (index, &(name, number, _)) in banks.iter().enumerate() {
            if let Some((other, ..)) = banks[..index].iter().find(|(_, known, _)| *known == number) {
                let message = format!("bank {number} is the one of `{other}`, too");
                found.push(Mistake::new(name, message, "each bank has a number of its own").within("banks"));
            }
            if u32::from(number) >> bank_bits != 0 {
                let message = format!("bank {number} does not fit the {bank_bits} bits of a bank");
                found.push(Mistake::new(name, message, "`sources` states these bits").within("banks"));
            }
        }
        if !self.params.is_multiple_of(4) {
            let message = format!("the parameters begin at {:#x}, which is no multiple of 4", self.params);
            found.push(Mistake::new("params", message, "constants are words of four bytes"));
        }
        for (index, word) in self.launch.iter().enumerate() {
            let at = word.at;
            let mut wrong = |field, message: String, hint: &str| {
                found.push(Mistake::new(field, message, hint).item(index).within("launch"));
            };
            if !at.is_multiple_of(4) {
                wrong("at", format!("{at:#x} is no multiple of 4"), "constants are words of four bytes");
            } else if at >= self.params {
                let hint = format!("the parameters begin at {:#x}", self.params);
                wrong("at", format!("{at:#x} lies in the parameters"), &hint);
            } else if self.launch[..index].iter().any(|other| other.at == at) {
                wrong("at", format!("the word at {at:#x} is given twice"), "a word holds one value");
            }
            if let LaunchValue::Window(space) | LaunchValue::UpperWindow(space) = word.holds
                && !matches!(space, Space::Shared | Space::Local | Space::Const | Space::Param)
            {
                let message = format!("{} memory has no window of generic addresses", space.name());
                wrong("holds", message, "Shared, Local, Const and Param have one");
            }
        }
        found
    }
}
