//! A drawing of a small run in the style of figures 2 and 3 of Jeanmougin et al., ECRTS 2025. It
//! shows the wait, initiation and latency of each instruction, the issuing warp in each cycle, and
//! the phases of each warp when it runs alone.

use std::fmt::Write;

use warpbound_bound::{Phase, PhaseKind};
use warpbound_core::base::{Cycle, WarpId};
use warpbound_core::machine::SubCores;

/// An instruction of the drawing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    /// The warp of the instruction.
    pub warp: WarpId,
    /// The label of the instruction.
    pub text: String,
    /// The name of its unit.
    pub unit: String,
    /// The cycle of its issue.
    pub issue: Cycle,
    /// The cycle at which its initiation began.
    pub start: Cycle,
    /// The cycle at which its initiation ended.
    pub initiated: Cycle,
    /// The cycle at which its result was available.
    pub done: Cycle,
}

/// The most cycles that are drawn.
const MAX_CYCLES: u64 = 600;
/// The most instructions that are drawn.
const MAX_BARS: usize = 300;
/// The number of cycles drawn side by side; further cycles are drawn below.
const WIDTH: u64 = 100;

/// Draws a run of one block. `alone` holds the phases of each warp when it runs alone. Each
/// sub-core has its own line of issues.
pub fn draw(bars: &[Bar], alone: &[Vec<Phase>], sub_cores: SubCores) -> String {
    let last_done = bars.iter().map(|bar| bar.done.get());
    let last_phase = alone.iter().flatten().map(|phase| phase.end.get());
    let end = last_done.chain(last_phase).max().unwrap_or(0);
    if end > MAX_CYCLES || bars.len() > MAX_BARS {
        return format!(
            "(no drawing: {} instructions over {end} cycles; at most {MAX_BARS} over {MAX_CYCLES}. --trace FILE.json opens in Perfetto)\n",
            bars.len()
        );
    }
    let labels: Vec<String> =
        bars.iter().map(|bar| format!("{:<4}{}", bar.warp.to_string(), bar.text)).collect();
    let label = labels.iter().map(String::len).max().unwrap_or(0).max(9);
    let unit = bars.iter().map(|bar| bar.unit.len()).max().unwrap_or(0);
    let mut text = String::new();
    let mut from = 0;
    loop {
        let to = (from + WIDTH).min(end);
        ruler(&mut text, label + unit + 2, from, to);
        let mut order: Vec<usize> = (0..bars.len()).collect();
        order.sort_by_key(|&i| bars[i].warp);
        for i in order {
            let bar = &bars[i];
            let drawn: String = (from..to).map(|cycle| bar.at(cycle)).collect();
            if !drawn.trim().is_empty() || end <= WIDTH {
                let _ = writeln!(text, "{:<label$} {:<unit$} {}", labels[i], bar.unit, drawn.trim_end());
            }
        }
        for core in 0..sub_cores.count() {
            let own = |bar: &&Bar| sub_cores.of_slot(bar.warp.index()) == core;
            let issues: String = (from..to).map(|cycle| issuer(bars.iter().filter(own), cycle)).collect();
            let name = if sub_cores.count() > 1 { format!("issues {core}") } else { "issues".to_owned() };
            let _ = writeln!(text, "{name:<label$} {:<unit$} {}", "", issues.trim_end());
        }
        for (warp, phases) in alone.iter().enumerate() {
            let drawn: String = (from..to).map(|cycle| phase_at(phases, cycle)).collect();
            let name = format!("{:<4}alone", WarpId::from_index(warp).to_string());
            let _ = writeln!(text, "{name:<label$} {:<unit$} {}", "", drawn.trim_end());
        }
        from = to;
        if from >= end {
            break;
        }
        text.push('\n');
    }
    text.push_str(". issued, waits for its unit   # initiation   = latency   E exec phase   - idle phase (warp run alone)\n");
    text
}

fn ruler(text: &mut String, indent: usize, from: u64, to: u64) {
    let mut numbers = " ".repeat(indent);
    let mut ticks = " ".repeat(indent);
    for cycle in from..to {
        if cycle % 10 == 0 {
            let here = indent + (cycle - from) as usize;
            let _ = write!(numbers, "{}{cycle}", " ".repeat(here.saturating_sub(numbers.len())));
        }
        ticks.push(if cycle % 10 == 0 {
            '|'
        } else if cycle % 5 == 0 {
            ':'
        } else {
            ' '
        });
    }
    let _ = writeln!(text, "{numbers}\n{}", ticks.trim_end());
}

impl Bar {
    fn at(&self, cycle: u64) -> char {
        match cycle {
            c if c < self.issue.get() || c >= self.done.get() => ' ',
            c if c < self.start.get() => '.',
            c if c < self.initiated.get() => '#',
            _ => '=',
        }
    }
}

fn issuer<'b>(mut bars: impl Iterator<Item = &'b Bar>, cycle: u64) -> char {
    let issued = bars.find(|bar| bar.issue.get() == cycle);
    issued.map_or(' ', |bar| char::from_digit(u32::from(bar.warp.get()) % 36, 36).unwrap_or('?'))
}

fn phase_at(phases: &[Phase], cycle: u64) -> char {
    match phases
        .iter()
        .find(|phase| (phase.start.get()..phase.end.get()).contains(&cycle))
        .map(|phase| phase.kind)
    {
        Some(PhaseKind::Exec) => 'E',
        Some(PhaseKind::Idle) => '-',
        None => ' ',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cycle_shows_what_the_instruction_does() {
        let c = Cycle::new;
        let bar = Bar {
            warp: WarpId::new(1),
            text: "f1 r2".into(),
            unit: "blue".into(),
            issue: c(1),
            start: c(3),
            initiated: c(6),
            done: c(8),
        };
        let phases = vec![
            Phase { kind: PhaseKind::Exec, start: c(0), end: c(6) },
            Phase { kind: PhaseKind::Idle, start: c(6), end: c(8) },
        ];
        let drawn = draw(&[bar], &[phases], SubCores::ONE);
        assert!(drawn.contains("w1  f1 r2 blue  ..###==\n"), "{drawn}");
        assert!(drawn.contains("w0  alone      EEEEEE--\n"), "{drawn}");
        assert!(drawn.contains("issues          1\n"), "{drawn}");
    }

    #[test]
    fn long_runs_are_not_drawn() {
        let bar = Bar {
            warp: WarpId::new(0),
            text: String::new(),
            unit: String::new(),
            issue: Cycle::ZERO,
            start: Cycle::ZERO,
            initiated: Cycle::ZERO,
            done: Cycle::new(10_000),
        };
        assert!(draw(&[bar], &[], SubCores::ONE).starts_with("(no drawing"));
    }
}
