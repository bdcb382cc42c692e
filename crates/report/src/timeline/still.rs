//! A still picture of a whole run, for readers whose browser runs no scripts.

use std::fmt::Write;

use super::about::About;
use super::figure;
use super::legend::Legend;
use super::recording::{OfSm, Recording, Row};
use crate::html::text;
use crate::plot::{Ink, themed};

/// The number of intervals into which the picture divides the run.
const BINS: u64 = 200;
/// The width of an interval in pixels.
const BIN: u64 = 4;
/// The position of cycle 0.
const LEFT: u64 = 96;
/// The height of a lane, and the distance from one to the next.
const LANE: u64 = 12;
const STEP: u64 = 16;
/// The space above the first lane, for the cycles.
const TOP: u64 = 20;
/// The most lanes of SMs and of warps.
const MOST: usize = 48;

/// Returns the picture as HTML: the figure of a short run, or else a lane for each SM, sub-core,
/// unit and warp. `shown` is the SM whose units and warps are shown.
pub(super) fn picture(recording: &Recording, about: &About<'_>, legend: &Legend, shown: usize) -> String {
    let label = format!("The whole run of {} on {}, as a still picture", about.kernel, about.machine);
    if recording.limits().0 == 1
        && let Ok(figure) = figure::svg(recording, about)
    {
        let meaning = "Each instruction from its issue to its result, then the issues, and the phases of \
                       each warp alone. A line is a wait, a thick bar the initiation, a thin bar the latency.";
        return format!(
            "<figure class=\"still\">{}<figcaption>{meaning}</figcaption></figure>\n",
            themed(&figure, &label)
        );
    }
    let mut lanes = Lanes { body: String::new(), y: TOP, end: recording.end().max(1) };
    if recording.limits().0 > 1 {
        lanes.sms(recording);
    }
    if let Some(sm) = recording.sms().get(shown) {
        lanes.one_sm(sm, recording, legend, (recording.limits().0 > 1).then_some(shown));
    }
    let (width, height) = (LEFT + BINS * BIN + 16, lanes.y + 4);
    let cycles = lanes.cycles(height);
    format!(
        "<figure class=\"still\"><svg role=\"img\" aria-label=\"{}\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-size=\"11\" fill=\"var(--ink)\">\n{cycles}{}</svg>\n\
         <figcaption>The height of a lane is the share of cycles in which the sub-cores of the SM, or the \
         sub-core, issue, in which the unit is busy, or in which the warp issues.</figcaption></figure>\n",
        text(&label),
        lanes.body
    )
}

/// The cycles of each interval, multiplied by the number of intervals, that some intervals of a run
/// cover.
fn covered(intervals: impl Iterator<Item = (u64, u64)>, end: u64) -> Vec<u64> {
    let mut bins = vec![0; BINS as usize];
    for (from, to) in intervals {
        let (from, to) = (from.min(end) * BINS, to.min(end) * BINS);
        let mut at = from;
        while at < to {
            let bin = at / end;
            let until = to.min((bin + 1) * end);
            bins[bin as usize] += until - at;
            at = until;
        }
    }
    bins
}

/// The lanes of a picture, from top to bottom.
struct Lanes {
    body: String,
    y: u64,
    end: u64,
}

impl Lanes {
    /// Returns the numbers of some cycles, each with a line down to this height.
    fn cycles(&self, height: u64) -> String {
        let steps = (0..).flat_map(|power| [1, 2, 5].map(|digit| digit * 10u64.pow(power)));
        let step = steps.take(50).find(|step| self.end / step <= 8).unwrap_or(self.end);
        let mut cycles = String::new();
        for at in (0..=self.end).step_by(step as usize) {
            let x = LEFT + at * BINS * BIN / self.end;
            let _ = writeln!(
                cycles,
                "<text x=\"{x}\" y=\"12\" text-anchor=\"middle\">{at}</text><path stroke=\"var(--line)\" d=\"M{x} {TOP}V{height}\"/>"
            );
        }
        cycles
    }

    fn heading(&mut self, title: &str) {
        let y = self.y + LANE;
        let title = text(title);
        let _ = writeln!(self.body, "<text x=\"4\" y=\"{y}\" font-weight=\"600\">{title}</text>");
        self.y += STEP + 2;
    }

    /// Draws a lane. The height of each interval is the given part of its `whole` cycles, multiplied
    /// by the number of intervals.
    fn lane(&mut self, label: &str, parts: &[u64], whole: u64, ink: &str) {
        let base = self.y + LANE;
        let (x, y, label) = (LEFT - 6, self.y + LANE - 2, text(label));
        let _ = write!(
            self.body,
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"end\">{label}</text><path fill=\"var({ink})\" d=\"M{LEFT} {base}"
        );
        // tenths of a pixel; a little work is visible, too
        let height = |part: u64| (part * LANE * 10).div_ceil(whole.max(1)).min(LANE * 10);
        let heights: Vec<u64> = parts.iter().map(|part| height(*part)).collect();
        let mut at = 0;
        for run in heights.chunk_by(|a, b| a == b) {
            at += run.len() as u64;
            let top = base * 10 - run[0];
            let _ = write!(self.body, "V{}.{}H{}", top / 10, top % 10, LEFT + at * BIN);
        }
        let _ = writeln!(self.body, "V{base}Z\"/>");
        self.y += STEP;
    }

    /// Draws a lane for each SM.
    fn sms(&mut self, recording: &Recording) {
        self.heading("All SMs");
        for (number, sm) in
            recording.sms().iter().enumerate().filter(|(_, sm)| !sm.rows.is_empty()).take(MOST)
        {
            let whole = self.end * sm.gaps.len() as u64;
            self.lane(&format!("SM {number}"), &self.issuing(&sm.gaps), whole, "--ink");
        }
        let running = recording.sms().iter().filter(|sm| !sm.rows.is_empty()).count();
        self.more(running, "SMs");
    }

    /// Returns the issue slots that were used in each interval, of these sub-cores.
    fn issuing(&self, sub_cores: &[Vec<super::recording::Gap>]) -> Vec<u64> {
        let idle = covered(sub_cores.iter().flatten().map(|gap| (gap.from, gap.to)), self.end);
        idle.iter().map(|idle| (self.end * sub_cores.len() as u64).saturating_sub(*idle)).collect()
    }

    /// Draws the sub-cores, units and warps of an SM.
    fn one_sm(&mut self, sm: &OfSm, recording: &Recording, legend: &Legend, number: Option<usize>) {
        let of = number.map_or(String::new(), |number| format!(" of SM {number}"));
        self.heading(&format!("Issue slots{of}"));
        for (core, gaps) in sm.gaps.iter().enumerate() {
            let name = if sm.gaps.len() > 1 { format!("sub-core {core}") } else { "issues".to_owned() };
            let parts = self.issuing(std::slice::from_ref(gaps));
            self.lane(&name, &parts, self.end, "--ink");
        }
        self.heading(&format!("Units{of}"));
        for (unit, intervals) in sm.busy(recording.units().len()).into_iter().enumerate() {
            if !intervals.is_empty() {
                let ink = Ink::Series(legend.unit_colours[unit]).variable();
                let parts = covered(intervals.into_iter(), self.end);
                self.lane(&recording.units()[unit], &parts, self.end, ink);
            }
        }
        self.heading(&format!("Warps{of}"));
        sm.rows.iter().take(MOST).for_each(|row| self.warp(row));
        self.more(sm.rows.len(), "warps");
    }

    /// Draws a warp on a ground from its start to its end.
    fn warp(&mut self, row: &Row) {
        let x = |cycle: u64| LEFT + cycle.min(self.end) * BINS * BIN / self.end;
        let (from, to, y) = (x(row.start), x(row.end), self.y);
        let _ = write!(
            self.body,
            "<rect x=\"{from}\" y=\"{y}\" width=\"{}\" height=\"{LANE}\" fill=\"var(--raised)\"/>",
            to - from
        );
        let parts = covered(row.instructions.iter().map(|i| (i.issue, i.issue + 1)), self.end);
        self.lane(&format!("b{} w{}", row.block, row.warp), &parts, self.end, "--accent");
    }

    /// States how many lanes there are beyond the limit.
    fn more(&mut self, count: usize, what: &str) {
        if count > MOST {
            self.heading(&format!("... and {} {what} more", count - MOST));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_distributed_exactly() {
        for end in [1, 7, 200, 1234] {
            let all = covered([(0, end)].into_iter(), end);
            assert_eq!(all, vec![end; BINS as usize], "{end}");
            let pieces = covered((0..end).map(|at| (at, at + 1)), end);
            assert_eq!(pieces, all, "{end}");
        }
        // cycle 3 of 8 is intervals 75 to 99
        let one = covered([(3, 4)].into_iter(), 8);
        let whole: Vec<usize> = (0..BINS as usize).filter(|bin| one[*bin] == 8).collect();
        assert_eq!((whole.first(), whole.len(), one.iter().sum::<u64>()), (Some(&75), 25, BINS));
    }

    #[test]
    fn equal_intervals_are_one_step_and_the_heights_are_shares() {
        let mut lanes = Lanes { body: String::new(), y: 0, end: 1 };
        let parts: Vec<u64> = (0..BINS).map(|bin| u64::from(bin < 100) * 2).collect();
        lanes.lane("a<b", &parts, 4, "--s1");
        assert!(lanes.body.contains("d=\"M96 12V6.0H496V12.0H896V12Z\""), "{}", lanes.body);
        assert!(lanes.body.contains(">a&lt;b</text>"));
    }
}
