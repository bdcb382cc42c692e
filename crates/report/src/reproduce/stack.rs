//! The stacks of a warp in the form of a paper: our stack and the paper's, row by row.

use serde::Serialize;

use crate::table::Table;

/// An entry of a stack: the address at which its lanes continue, the address at which they
/// reconverge, and the mask of the lanes, in hexadecimal as in the paper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StackEntry {
    /// The address of the next instruction.
    pub npc: String,
    /// The address of the reconvergence point.
    pub rpc: String,
    /// The active mask; the first thread of the warp is the highest bit.
    pub mask: String,
}

impl StackEntry {
    /// Returns an entry with these addresses and lanes.
    pub fn new(npc: u32, rpc: u32, mask: u32) -> Self {
        Self { npc: format!("0x{npc:X}"), rpc: format!("0x{rpc:X}"), mask: format!("0x{mask:08X}") }
    }

    fn cells(entry: Option<&Self>) -> [String; 3] {
        entry.map_or_else(
            || ["-"; 3].map(str::to_owned),
            |entry| [entry.npc.clone(), entry.rpc.clone(), entry.mask.clone()],
        )
    }
}

/// The stack before or after an instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StackState {
    /// The instruction, and whether the stack is the one before or after it.
    pub when: String,
    /// The entries, top first.
    pub rows: Vec<StackRow>,
}

/// A row of two stacks. An entry is missing if one stack is lower than the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StackRow {
    /// Our entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ours: Option<StackEntry>,
    /// The paper's entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<StackEntry>,
}

impl StackState {
    /// Returns both stacks, top first.
    pub fn new(when: impl Into<String>, ours: &[StackEntry], published: &[StackEntry]) -> Self {
        let row = |at: usize| StackRow { ours: ours.get(at).cloned(), published: published.get(at).cloned() };
        Self { when: when.into(), rows: (0..ours.len().max(published.len())).map(row).collect() }
    }
}

impl StackRow {
    /// Returns whether both entries exist and are equal.
    pub fn agrees(&self) -> bool {
        self.ours.is_some() && self.ours == self.published
    }
}

/// Returns the table of the states one below the other, with a mark where our entry differs from
/// the paper's.
pub(super) fn table(states: &[StackState]) -> Table {
    let heading = ["stack, top first", "npc", "rpc", "mask", "paper: npc", "rpc", "mask"];
    let mut table = Table::new(heading, &[0]);
    for state in states {
        for (at, row) in state.rows.iter().enumerate() {
            let when = if at == 0 { state.when.clone() } else { String::new() };
            let [npc, rpc, mask] = StackEntry::cells(row.ours.as_ref());
            let mask = mask + if row.agrees() { " " } else { "*" };
            let published = StackEntry::cells(row.published.as_ref());
            table.row([when, npc, rpc, mask].into_iter().chain(published));
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_written_as_in_the_paper_and_differences_are_marked() {
        let [one, two] = [3, 1].map(|mask| StackEntry::new(0x48, 0xffff, mask << 30));
        assert_eq!([&one.npc, &one.rpc, &one.mask], ["0x48", "0xFFFF", "0xC0000000"]);
        let state = StackState::new("after", &[one.clone(), two.clone()], &[one.clone(), one.clone()]);
        assert_eq!(state.rows.iter().map(StackRow::agrees).collect::<Vec<_>>(), [true, false]);
        let higher = StackState::new("after", std::slice::from_ref(&one), &[one.clone(), two]);
        assert_eq!(higher.rows.iter().map(StackRow::agrees).collect::<Vec<_>>(), [true, false]);
        let text = table(&[state, higher]).render(0, None);
        let marked: Vec<bool> = text.lines().skip(1).map(|line| line.contains('*')).collect();
        assert_eq!(marked, [false, true, false, true], "{text}");
    }
}
