//! Figures 5 to 7: the stack of a warp at SSY, at a branch of two threads, and at SYNC.

use super::PAPER;
use super::published::{REJOIN, STACKS, TARGET};
use crate::count;
use crate::reproduce::figure::{FigureResult, Statement};
use crate::reproduce::stack::{StackEntry, StackState};

const SECTION: &str = "section III.A";

/// A figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    /// SSY or PBK.
    Fig5,
    /// The branch.
    Fig6,
    /// SYNC or BRK.
    Fig7,
}

/// Our stack through all three figures; entries are top first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walked {
    /// The opening instruction, `SSY` or `PBK`.
    pub opened_by: &'static str,
    /// The closing instruction, `SYNC` or `BRK`.
    pub closed_by: &'static str,
    /// The stacks initially, after the opening instruction, after the branch, and after the first
    /// threads execute the closing one.
    pub stacks: [Vec<StackEntry>; 4],
    /// The stack after the other threads execute the closing instruction, too.
    pub rejoined: Vec<StackEntry>,
}

/// The branches at which a warp diverged in a run of machine code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diverged {
    /// The launch.
    pub launch: String,
    /// The machine.
    pub machine: String,
    /// The number of divergent branches.
    pub branches: usize,
    /// The number of those after which the lanes that took the branch were executed first.
    pub taken_first: usize,
}

/// Returns a figure for our stacks with SSY and SYNC, and with PBK and BRK.
pub fn figure(drawn: Drawn, walks: &[Walked], run: &Diverged) -> FigureResult {
    let published: Vec<Vec<StackEntry>> = STACKS
        .iter()
        .map(|rows| rows.iter().map(|&(npc, rpc, mask)| StackEntry::new(npc, rpc, mask)).collect())
        .collect();
    let (figure, at, about) = match drawn {
        Drawn::Fig5 => ("Figure 5", 0, "the stack of a warp when SSY or PBK is executed"),
        Drawn::Fig6 => ("Figure 6", 1, "the stack of a warp when its first two threads take a branch"),
        Drawn::Fig7 => ("Figure 7", 2, "the stack of a warp when its first two threads come to SYNC or BRK"),
    };
    let mut stacks = Vec::new();
    for walk in walks {
        let Walked { opened_by, closed_by, .. } = walk;
        let instruction = match drawn {
            Drawn::Fig5 => format!("{opened_by} {REJOIN:#x}"),
            Drawn::Fig6 => format!("BRA {TARGET:#x} within {opened_by}"),
            Drawn::Fig7 => (*closed_by).to_owned(),
        };
        for (at, when) in [(at, "before"), (at + 1, "after")] {
            stacks.push(StackState::new(format!("{when} {instruction}"), &walk.stacks[at], &published[at]));
        }
    }
    FigureResult {
        stacks,
        statements: vec![statement(drawn, walks, run)],
        notes: notes(drawn),
        commands: vec![format!("warpbound run {} --machine {}", run.launch, run.machine)],
        ..FigureResult::new(figure, PAPER, SECTION, about)
    }
}

/// Returns the statement of the text about the figure.
fn statement(drawn: Drawn, walks: &[Walked], run: &Diverged) -> Statement {
    match drawn {
        Drawn::Fig5 => {
            let mask = |walk: &Walked, at: usize| walk.stacks[at].first().map(|top| top.mask.clone());
            let seen: Vec<String> = walks
                .iter()
                .map(|walk| {
                    let [before, after] =
                        [0, 1].map(|at| mask(walk, at).unwrap_or_else(|| "nothing".to_owned()));
                    format!("on top are {before} before {0} and {after} after it", walk.opened_by)
                })
                .collect();
            Statement {
                claim: "these instructions do not create divergence [...] which is why the mask remains unchanged at this point",
                place: SECTION,
                holds: walks.iter().all(|walk| mask(walk, 0) == mask(walk, 1)),
                seen: seen.join(", "),
            }
        }
        Drawn::Fig6 => Statement {
            claim: "in our experiments, the first threads to execute are always the ones taking the branch",
            place: SECTION,
            holds: run.branches > 0 && run.taken_first == run.branches,
            seen: format!(
                "in one run of {} on {} a warp diverged {}, and after {} of them the threads that took the branch went first",
                run.launch,
                run.machine,
                count(run.branches, "time"),
                run.taken_first
            ),
        },
        Drawn::Fig7 => {
            let resumed = StackEntry::new(STACKS[1][1].0, STACKS[1][1].1, STACKS[1][1].2);
            let seen: Vec<String> = walks
                .iter()
                .map(|walk| {
                    let entries: Vec<String> = walk
                        .rejoined
                        .iter()
                        .map(|entry| format!("npc {}, rpc {}, mask {}", entry.npc, entry.rpc, entry.mask))
                        .collect();
                    format!(
                        "when the other threads have come to {} the stack is {}",
                        walk.closed_by,
                        entries.join("; ")
                    )
                })
                .collect();
            Statement {
                claim: "the reconvergence is done and the execution flow resumes at the reconvergence address",
                place: SECTION,
                holds: walks.iter().all(|walk| walk.rejoined == [resumed.clone()]),
                seen: seen.join(", "),
            }
        }
    }
}

fn notes(drawn: Drawn) -> Vec<&'static str> {
    let mut notes = vec![
        "the stack is the one with which machine code and PTX are executed (`reconvergence: PascalStack`), here for the \
         instructions of the figures. An instruction has 8 bytes, and the address 0xFFFF stands for the end. In our copy \
         of the paper some masks lack an F, although the prose says that all 32 threads are active",
    ];
    if drawn == Drawn::Fig6 {
        notes.push("no documentation states which side of a branch is executed first; we chose the order that the paper \
        observed in its experiments");
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::Style;

    fn walk(mask: u32) -> Walked {
        let entries = |rows: &[(u32, u32, u32)]| -> Vec<StackEntry> {
            rows.iter().map(|&(npc, rpc, all)| StackEntry::new(npc, rpc, all & mask)).collect()
        };
        let stacks = STACKS.map(entries);
        let rejoined = stacks[1][1..].to_vec();
        Walked { opened_by: "SSY", closed_by: "SYNC", stacks, rejoined }
    }

    #[test]
    fn each_figure_is_compared_entry_by_entry_and_judged() {
        let run = |taken_first| Diverged {
            launch: "k".to_owned(),
            machine: "m".to_owned(),
            branches: 3,
            taken_first,
        };
        for (drawn, rows) in [(Drawn::Fig5, 1 + 2), (Drawn::Fig6, 2 + 3), (Drawn::Fig7, 3 + 2)] {
            let good = figure(drawn, &[walk(!0)], &run(3));
            assert!(good.statements[0].holds, "{good:?}");
            let text = good.text(Style::default());
            assert!(text.contains(&format!("\n{rows} of {rows} entries agree")), "{text}");
            let bad = figure(drawn, &[walk(0x7fff_ffff)], &run(2));
            assert!(!bad.text(Style::default()).contains(&format!("{rows} of {rows}")), "{bad:?}");
            assert_eq!(bad.statements[0].holds, drawn == Drawn::Fig5, "{bad:?}");
        }
    }

    #[test]
    fn a_run_without_divergence_shows_nothing() {
        assert!(!figure(Drawn::Fig6, &[walk(!0)], &Diverged::default()).statements[0].holds);
    }
}
