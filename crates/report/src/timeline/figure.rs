//! A figure of a short run: the wait, initiation and latency of each instruction, the issues, and
//! the phases of warps alone.

use super::about::About;
use super::recording::{OfSm, Recording};
use crate::plot::{Anchor, Drawing, Ink};
use warpbound_bound::PhaseKind;
use warpbound_core::base::Pc;

/// The most cycles of a figure.
const CYCLES: u64 = 600;
/// The most instructions of a figure.
const INSTRUCTIONS: usize = 300;
const ROW: f64 = 15.0;
/// The space above the first row, for the cycles.
const TOP: f64 = 24.0;

/// Draws the run of SM 0.
///
/// # Errors
/// If the run is too long for a figure: the reason.
pub fn svg(recording: &Recording, about: &About<'_>) -> Result<String, String> {
    let empty = OfSm::default();
    let sm = recording.sms().first().unwrap_or(&empty);
    let alone_end = about.alone.iter().flatten().map(|phase| phase.end.get()).max().unwrap_or(0);
    let end = recording.end().max(alone_end).max(1);
    let count = sm.instructions().count();
    if end > CYCLES || count > INSTRUCTIONS {
        return Err(format!(
            "{count} instructions over {end} cycles make no figure: at most {INSTRUCTIONS} over {CYCLES}"
        ));
    }
    let texts = sm.instructions().map(|i| text(about, i.pc).chars().count());
    let left = 52.0 + 7.0 * texts.max().unwrap_or(0).clamp(6, 40) as f64;
    let cycle = (900.0 / end as f64).clamp(2.0, 24.0);
    let rows = count + sm.gaps.len() + about.alone.len();
    let bottom = TOP + ROW * rows as f64;
    let legend = bottom + 20.0;
    let picture = Drawing::new(left + cycle * end as f64 + 16.0, legend + 14.0);
    let mut figure = Figure { recording, sm, about, picture, left, cycle, y: TOP };
    figure.draw_cycles(end, bottom);
    figure.draw_instructions();
    figure.draw_issues();
    figure.draw_warps_alone();
    figure.draw_legend(legend);
    Ok(figure.picture.svg())
}

/// Returns the text of an instruction.
fn text<'a>(about: &'a About<'_>, pc: u32) -> &'a str {
    about.listing.text(Pc::from_index(pc as usize))
}

/// A figure that is being drawn from top to bottom.
struct Figure<'a> {
    recording: &'a Recording,
    sm: &'a OfSm,
    about: &'a About<'a>,
    picture: Drawing,
    /// The position of cycle 0.
    left: f64,
    /// The width of a cycle.
    cycle: f64,
    /// The top of the next row.
    y: f64,
}

impl Figure<'_> {
    /// Returns the position of a cycle.
    fn x(&self, at: u64) -> f64 {
        self.left + self.cycle * at as f64
    }

    /// Draws the numbers of cycles with their lines.
    fn draw_cycles(&mut self, end: u64, bottom: f64) {
        let step = [1u32, 2, 5, 10, 20, 50, 100]
            .into_iter()
            .find(|step| self.cycle * f64::from(*step) >= 40.0)
            .unwrap_or(200);
        for at in (0..=end).step_by(step as usize) {
            let x = self.x(at);
            self.picture.line(vec![(x, TOP - 4.0), (x, bottom)], Ink::Grid, 1.0);
            self.picture.text((x, TOP - 12.0), &at.to_string(), Anchor::Middle, Ink::Muted);
        }
    }

    /// Draws a row for each instruction of each warp.
    fn draw_instructions(&mut self) {
        let sm = self.sm;
        for row in &sm.rows {
            let warp = if self.about.checked.launch_blocks > 1 {
                format!("b{} w{}", row.block, row.warp)
            } else {
                format!("w{}", row.warp)
            };
            for (index, instruction) in row.instructions.iter().enumerate() {
                let y = self.y;
                if index == 0 {
                    self.picture.text((4.0, y + ROW / 2.0), &warp, Anchor::Start, Ink::Text);
                }
                let shown: String = text(self.about, instruction.pc).chars().take(40).collect();
                self.picture.text((self.left - 6.0, y + ROW / 2.0), &shown, Anchor::End, Ink::Text);
                let ink = Ink::Series(instruction.unit as usize);
                let (issue, start) = (self.x(instruction.issue), self.x(instruction.start()));
                let (initiated, done) = (self.x(instruction.init_end()), self.x(instruction.done()));
                if issue < start {
                    self.picture.line(vec![(issue, y + ROW / 2.0), (start, y + ROW / 2.0)], Ink::Muted, 1.0);
                }
                self.picture.rectangle((start, y + 2.0), (initiated, y + ROW - 2.0), ink);
                self.picture.rectangle((initiated, y + ROW / 2.0 - 2.0), (done, y + ROW / 2.0 + 2.0), ink);
                self.y += ROW;
            }
        }
    }

    /// Draws a row for each sub-core with the issues of its warps.
    fn draw_issues(&mut self) {
        let sm = self.sm;
        for core in 0..sm.gaps.len() {
            let y = self.y;
            let name = if sm.gaps.len() > 1 { format!("issues {core}") } else { "issues".to_owned() };
            self.picture.text((self.left - 6.0, y + ROW / 2.0), &name, Anchor::End, Ink::Muted);
            for row in sm.rows.iter().filter(|row| row.sub_core == core) {
                for instruction in &row.instructions {
                    let at = self.x(instruction.issue);
                    let to = at + self.cycle.max(3.0) - 1.0;
                    self.picture.rectangle((at, y + 2.0), (to, y + ROW - 2.0), Ink::Text);
                    if self.cycle >= 12.0 {
                        let middle = (at + self.cycle / 2.0, y + ROW / 2.0);
                        self.picture.text(middle, &row.warp.to_string(), Anchor::Middle, Ink::Ground);
                    }
                }
            }
            self.y += ROW;
        }
    }

    /// Draws a row for each warp with its phases when it runs alone.
    fn draw_warps_alone(&mut self) {
        for (warp, phases) in self.about.alone.iter().enumerate() {
            let y = self.y;
            self.picture.text(
                (self.left - 6.0, y + ROW / 2.0),
                &format!("w{warp} alone"),
                Anchor::End,
                Ink::Muted,
            );
            for phase in phases {
                let (from, to) = (self.x(phase.start.get()), self.x(phase.end.get()));
                match phase.kind {
                    PhaseKind::Exec => {
                        self.picture.rectangle((from, y + 3.0), (to, y + ROW - 3.0), Ink::Muted)
                    }
                    PhaseKind::Idle => {
                        self.picture.line(vec![(from, y + ROW / 2.0), (to, y + ROW / 2.0)], Ink::Muted, 1.0)
                    }
                }
            }
            self.y += ROW;
        }
    }

    /// Draws the names of the used units.
    fn draw_legend(&mut self, y: f64) {
        let recording = self.recording;
        let mut used: Vec<usize> = self.sm.instructions().map(|i| i.unit as usize).collect();
        used.sort_unstable();
        used.dedup();
        let mut at = 4.0;
        for unit in used {
            let name = recording.units().get(unit).map_or("", String::as_str);
            self.picture.rectangle((at, y - 5.0), (at + 10.0, y + 5.0), Ink::Series(unit));
            self.picture.text((at + 14.0, y), name, Anchor::Start, Ink::Text);
            at += 28.0 + 7.0 * name.chars().count() as f64;
        }
    }
}
