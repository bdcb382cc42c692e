//! A figure of a short run: the wait, initiation and latency of each instruction, the issues, and
//! the phases of warps alone.

use super::about::About;
use super::recording::{OfSm, Recording};
use crate::plot::{Anchor, Ink, Picture};
use warpbound_bound::PhaseKind;
use warpbound_core::base::Pc;

/// The most cycles of a figure.
const CYCLES: u64 = 600;
/// The most instructions of a figure.
const INSTRUCTIONS: usize = 300;
const ROW: i32 = 15;
/// The space above the first row, for the cycles.
const TOP: i32 = 24;

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
    let left = 52 + 7 * texts.max().unwrap_or(0).clamp(6, 40) as i32;
    let cycle = (900 / end as i32).clamp(2, 24);
    let rows = count + sm.gaps.len() + about.alone.len();
    let bottom = TOP + ROW * rows as i32;
    let legend = bottom + 20;
    let picture = Picture::new((left + cycle * end as i32 + 16) as u32, (legend + 14) as u32);
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
    picture: Picture,
    /// The position of cycle 0.
    left: i32,
    /// The width of a cycle.
    cycle: i32,
    /// The top of the next row.
    y: i32,
}

impl Figure<'_> {
    /// Returns the position of a cycle.
    fn x(&self, at: u64) -> i32 {
        self.left + self.cycle * at as i32
    }

    /// Draws the numbers of cycles with their lines.
    fn draw_cycles(&mut self, end: u64, bottom: i32) {
        let step = [1, 2, 5, 10, 20, 50, 100]
            .into_iter()
            .find(|step| self.cycle * *step as i32 >= 40)
            .unwrap_or(200);
        for at in (0..=end).step_by(step) {
            let x = self.x(at);
            self.picture.line(&[(x, TOP - 4), (x, bottom)], Ink::Grid, 1);
            self.picture.text((x, TOP - 12), &at.to_string(), Anchor::Middle, Ink::Muted);
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
                    self.picture.text((4, y + ROW / 2), &warp, Anchor::Start, Ink::Text);
                }
                let shown: String = text(self.about, instruction.pc).chars().take(40).collect();
                self.picture.text((self.left - 6, y + ROW / 2), &shown, Anchor::End, Ink::Text);
                let ink = Ink::Series(instruction.unit as usize);
                let (issue, start) = (self.x(instruction.issue), self.x(instruction.start()));
                let (initiated, done) = (self.x(instruction.init_end()), self.x(instruction.done()));
                if issue < start {
                    self.picture.line(&[(issue, y + ROW / 2), (start, y + ROW / 2)], Ink::Muted, 1);
                }
                self.picture.rectangle((start, y + 2), (initiated, y + ROW - 2), ink);
                self.picture.rectangle((initiated, y + ROW / 2 - 2), (done, y + ROW / 2 + 2), ink);
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
            self.picture.text((self.left - 6, y + ROW / 2), &name, Anchor::End, Ink::Muted);
            for row in sm.rows.iter().filter(|row| row.sub_core == core) {
                for instruction in &row.instructions {
                    let at = self.x(instruction.issue);
                    self.picture.rectangle((at, y + 2), (at + self.cycle.max(3) - 1, y + ROW - 2), Ink::Text);
                    if self.cycle >= 12 {
                        let middle = (at + self.cycle / 2, y + ROW / 2);
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
                (self.left - 6, y + ROW / 2),
                &format!("w{warp} alone"),
                Anchor::End,
                Ink::Muted,
            );
            for phase in phases {
                let (from, to) = (self.x(phase.start.get()), self.x(phase.end.get()));
                match phase.kind {
                    PhaseKind::Exec => self.picture.rectangle((from, y + 3), (to, y + ROW - 3), Ink::Muted),
                    PhaseKind::Idle => {
                        self.picture.line(&[(from, y + ROW / 2), (to, y + ROW / 2)], Ink::Muted, 1)
                    }
                }
            }
            self.y += ROW;
        }
    }

    /// Draws the names of the used units.
    fn draw_legend(&mut self, y: i32) {
        let recording = self.recording;
        let mut used: Vec<usize> = self.sm.instructions().map(|i| i.unit as usize).collect();
        used.sort_unstable();
        used.dedup();
        let mut at = 4;
        for unit in used {
            let name = recording.units().get(unit).map_or("", String::as_str);
            self.picture.rectangle((at, y - 5), (at + 10, y + 5), Ink::Series(unit));
            self.picture.text((at + 14, y), name, Anchor::Start, Ink::Text);
            at += 28 + 7 * name.chars().count() as i32;
        }
    }
}
