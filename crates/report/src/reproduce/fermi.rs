//! The schedules and the formula of Raravi and Andersson, 2010, compared with every schedule.

use super::figure::{FigureResult, Quantity, Statement};
use super::published;
use warpbound_judge::explore::fermi::{
    CycleUse, Fairness, FermiMachine, Finishing, Op, TemplateKernel, keeps_the_rules,
};

/// The paper.
pub const PAPER: &str = "Raravi and Andersson, 2010";
const SECTION: &str = "section III";
const SAYS: &str = "text";

/// A function that returns both extremes for some number of warps and repetitions, or `None` if the
/// search was stopped.
pub type Extremes<'a> = &'a dyn Fn(usize, usize) -> Option<Finishing>;

/// Returns Figure 3: two schedules of 64 threads, one sub-block.
pub fn fig3(extremes: Extremes) -> FigureResult {
    let found = extremes(published::FERMI_WARPS, 1);
    let number = |what: &str, ours: Option<u64>, published| Quantity::new(what, SAYS, ours, published);
    let quantities = vec![
        number("longest (a)", found.as_ref().map(|found| found.worst.get()), published::FERMI_FIG_3[0]),
        number("shortest (b)", found.as_ref().map(|found| found.best.get()), published::FERMI_FIG_3[1]),
    ];
    FigureResult {
        quantities,
        commands: vec!["warpbound fermi --witness 4,1".to_owned()],
        notes: vec![
            "ours are the longest and the shortest over all schedules; the report conjectures that (a) is the longest, and \
             does not say that (b) is the shortest",
        ],
        ..empty("Figure 3", "two schedules of four warps of 16 threads, sub-block once")
    }
}

/// Returns Figure 4 or 5: the schedule that is drawn, and the longest of all schedules.
pub fn drawn(machine: &FermiMachine, repetitions: usize, extremes: Extremes) -> FigureResult {
    let (figure, about, rows, published) = match repetitions {
        2 => ("Figure 4", "four warps of 16 threads, sub-block twice", published::FERMI_FIG_4, 22),
        _ => ("Figure 5", "four warps of 16 threads, sub-block three times", published::FERMI_FIG_5, 30),
    };
    let found = extremes(published::FERMI_WARPS, repetitions);
    let schedule = schedule(&rows);
    let kernel = TemplateKernel::new(machine, published::FERMI_WARPS, repetitions).ok();
    let holds = kernel.is_some_and(|kernel| keeps_the_rules(machine, &kernel, Fairness::SubBlock, &schedule));
    let seen = match holds {
        true => format!("followed cycle by cycle, it takes {} cycles", schedule.len()),
        false => "a cycle of it breaks a rule".to_owned(),
    };
    let claim = "work-conserving and sub-block level fair";
    FigureResult {
        quantities: vec![Quantity::new(
            "longest",
            "last cycle",
            found.map(|found| found.worst.get()),
            published,
        )],
        statements: vec![Statement {
            claim,
            place: "section III, of the schedule that is drawn",
            holds,
            seen,
        }],
        commands: vec![format!("warpbound fermi --witness 4,{repetitions}")],
        ..empty(figure, about)
    }
}

/// Returns the formula for the finishing time, and the two steps that lead to it.
pub fn formula(extremes: Extremes) -> FigureResult {
    let worst = |warps, repetitions| extremes(warps, repetitions).map(|found| found.worst.get());
    let mut quantities = Vec::new();
    for warps in 1..=6u64 {
        for repetitions in 1..=4u64 {
            let what = format!("W {warps}, rep {repetitions}");
            let ours = worst(warps as usize, repetitions as usize);
            quantities.push(Quantity::new(what, "FT", ours, published::fermi_ft(warps, repetitions)));
        }
    }
    let step =
        |more: Option<u64>, less: Option<u64>| more.zip(less).and_then(|(more, less)| more.checked_sub(less));
    for warps in 2..=4 {
        let ours = step(worst(warps, 1), worst(warps - 1, 1));
        quantities.push(Quantity::new(format!("warp {warps} adds"), SAYS, ours, 3));
    }
    for repetitions in 2..=3 {
        let ours = step(worst(4, repetitions), worst(4, repetitions - 1));
        quantities.push(Quantity::new(format!("rep {repetitions} adds"), SAYS, ours, 8));
    }
    FigureResult {
        quantities,
        commands: vec!["warpbound fermi".to_owned()],
        notes: vec![
            "paper: FT = 3 W + 2 + 2 W (rep_cnt - 1) for W warps of 16 threads, a conjecture; `warp n adds` is for rep 1, and `rep n adds` for W 4; ours: the longest finishing \
             time over every schedule that keeps the rules. One warp with more than one repetition takes longer than FT, since it never \
             has work in two units at a time: the conjecture fails there",
            "the text says that 48 threads take 8 cycles more for each repetition; figures 4 and 5, to which it refers, have 64",
        ],
        ..empty("Formula FT", "finishing time of W warps, against every schedule")
    }
}

fn empty(figure: &'static str, about: &'static str) -> FigureResult {
    FigureResult::new(figure, PAPER, SECTION, about)
}

/// Converts the rows of a figure to a schedule, cycle by cycle; the letters are those of the
/// figures.
fn schedule(rows: &[&str]) -> Vec<CycleUse> {
    let cycles = rows.iter().map(|row| row.len()).max().unwrap_or(0);
    let at = |row: &str, cycle: usize| match row.as_bytes().get(cycle) {
        Some(b'C') => Some(Op::Cuda),
        Some(b'L') => Some(Op::Load),
        Some(b'S') => Some(Op::Store),
        _ => None,
    };
    let of_cycle =
        |cycle| rows.iter().enumerate().filter_map(|(warp, row)| Some((warp, at(row, cycle)?))).collect();
    (0..cycles).map(of_cycle).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_that_breaks_a_rule_is_seen() {
        let machine = FermiMachine::published();
        let kernel = TemplateKernel::new(&machine, 4, 2).expect("it is one");
        let keeps = |rows: &[&str]| keeps_the_rules(&machine, &kernel, Fairness::SubBlock, &schedule(rows));
        let [a, b, c, d] = published::FERMI_FIG_4;
        assert!(keeps(&[a, b, c, d]));
        // a store that is too early, a slot that stays empty, a missing end
        assert!(!keeps(&["CLLC.....LLSC", b, c, d]));
        assert!(!keeps(&[a, b, c, &format!(".{d}")]));
        assert!(!keeps(&[a, b, c, &d[..21]]));
        // repetition 2 before all warps have completed repetition 1
        assert!(!keeps(&["CLLCLLCS", "C.......LLCLLCS", c, d]));
    }
}
