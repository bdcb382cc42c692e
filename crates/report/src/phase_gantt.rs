//! A drawing of phases under a policy in the style of figure 4 of Jeanmougin et al., ECRTS 2025. It
//! shows the exec and idle phases of each warp and its delays, with some phases marked.

use std::fmt::Write;

use warpbound_bound::PhaseKind;
use warpbound_judge::explore::phase_level::PhaseRun;

/// The most cycles that are drawn.
const MAX_CYCLES: u64 = 2000;
/// The number of cycles drawn side by side; further cycles are drawn below.
const WIDTH: u64 = 100;

/// The legend of the letters.
pub const LEGEND: &str =
    "# exec phase   - idle phase   . delayed by others   X x marked phases (exec, idle)\n";

/// Draws a schedule of `warps` warps. `marked` lists the marked phases by warp, index of the pair,
/// and kind.
pub fn draw(runs: &[PhaseRun], warps: usize, marked: &[(usize, usize, PhaseKind)]) -> String {
    let end = runs.iter().map(|run| run.idle_end.get()).max().unwrap_or(0);
    if end > MAX_CYCLES {
        return format!("(no drawing of {end} cycles; at most {MAX_CYCLES})\n");
    }
    let label = warps.saturating_sub(1).to_string().len() + 2;
    let mut text = String::new();
    for from in (0..end.max(1)).step_by(WIDTH as usize) {
        let to = (from + WIDTH).min(end);
        if from > 0 {
            text.push('\n');
        }
        let mut ruler = " ".repeat(label);
        for tick in (from..=to).step_by(5) {
            let here = label + (tick - from) as usize;
            let _ = write!(ruler, "{}{tick}", " ".repeat(here.saturating_sub(ruler.len())));
        }
        let _ = writeln!(text, "{ruler}");
        for warp in 0..warps {
            let own: Vec<&PhaseRun> = runs.iter().filter(|run| run.warp == warp).collect();
            let drawn: String = (from..to).map(|cycle| at(&own, cycle, marked)).collect();
            let name = format!("w{warp}");
            let _ = writeln!(text, "{name:<label$}{}", drawn.trim_end());
        }
    }
    text
}

fn at(runs: &[&PhaseRun], cycle: u64, marked: &[(usize, usize, PhaseKind)]) -> char {
    let Some(run) = runs.iter().find(|run| (run.ready.get()..run.idle_end.get()).contains(&cycle)) else {
        return ' ';
    };
    let is_marked = |kind| marked.contains(&(run.warp, run.index, kind));
    match cycle {
        c if c < run.start.get() => '.',
        c if c < run.exec_end.get() => {
            if is_marked(PhaseKind::Exec) {
                'X'
            } else {
                '#'
            }
        }
        _ if is_marked(PhaseKind::Idle) => 'x',
        _ => '-',
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpbound_core::base::Cycle;

    #[test]
    fn phases_delays_and_marks_are_drawn() {
        let run = |warp, index, [ready, start, exec_end, idle_end]: [u64; 4]| PhaseRun {
            warp,
            index,
            ready: Cycle::new(ready),
            start: Cycle::new(start),
            exec_end: Cycle::new(exec_end),
            idle_end: Cycle::new(idle_end),
        };
        let runs = [run(0, 0, [0, 0, 2, 5]), run(1, 0, [0, 2, 6, 7]), run(0, 1, [5, 6, 8, 8])];
        let marked = [(0, 0, PhaseKind::Idle), (1, 0, PhaseKind::Exec)];
        assert_eq!(draw(&runs, 2, &marked), "   0    5\nw0 ##xxx.##\nw1 ..XXXX-\n");
        assert!(draw(&[run(0, 0, [0, 0, 1, 5000])], 1, &[]).starts_with("(no drawing"));
    }
}
