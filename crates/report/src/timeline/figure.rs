//! A figure of a short run: the wait, initiation and latency of each instruction, the issues, and
//! the phases of warps alone.

use super::about::About;
use super::recording::Recording;
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

/// Draws the run.
///
/// # Errors
/// If the run is too long for a figure: the reason.
pub fn svg(recording: &Recording, about: &About<'_>) -> Result<String, String> {
    let alone_end = about.alone.iter().flatten().map(|phase| phase.end.get()).max().unwrap_or(0);
    let end = recording.end().max(alone_end).max(1);
    let count: usize = recording.rows.iter().map(|row| row.instructions.len()).sum();
    if end > CYCLES || count > INSTRUCTIONS {
        return Err(format!(
            "{count} instructions over {end} cycles make no figure: at most {INSTRUCTIONS} over {CYCLES}"
        ));
    }
    let text = |pc: u32| about.listing.text(Pc::from_index(pc as usize));
    let texts = recording.rows.iter().flat_map(|row| &row.instructions).map(|i| text(i.pc).chars().count());
    let left = 52 + 7 * texts.max().unwrap_or(0).clamp(6, 40) as i32;
    let cycle = (900 / end as i32).clamp(2, 24);
    let x = |at: u64| left + cycle * at as i32;
    let rows = count + recording.gaps.len() + about.alone.len();
    let bottom = TOP + ROW * rows as i32;
    let legend = bottom + 20;
    let mut picture = Picture::new((x(end) + 16) as u32, (legend + 14) as u32);
    let step = [1, 2, 5, 10, 20, 50, 100].into_iter().find(|step| cycle * *step as i32 >= 40).unwrap_or(200);
    for at in (0..=end).step_by(step) {
        picture.line(&[(x(at), TOP - 4), (x(at), bottom)], Ink::Grid, 1);
        picture.text((x(at), TOP - 12), &at.to_string(), Anchor::Middle, Ink::Muted);
    }
    let mut y = TOP;
    for row in &recording.rows {
        let warp = if about.checked.launch_blocks > 1 {
            format!("b{} w{}", row.block, row.warp)
        } else {
            format!("w{}", row.warp)
        };
        for (index, instruction) in row.instructions.iter().enumerate() {
            if index == 0 {
                picture.text((4, y + ROW / 2), &warp, Anchor::Start, Ink::Text);
            }
            let shown: String = text(instruction.pc).chars().take(40).collect();
            picture.text((left - 6, y + ROW / 2), &shown, Anchor::End, Ink::Text);
            let ink = Ink::Series(instruction.unit as usize);
            let (issue, start) = (x(instruction.issue), x(instruction.start()));
            let (initiated, done) = (x(instruction.init_end()), x(instruction.done()));
            if issue < start {
                picture.line(&[(issue, y + ROW / 2), (start, y + ROW / 2)], Ink::Muted, 1);
            }
            picture.rectangle((start, y + 2), (initiated, y + ROW - 2), ink);
            picture.rectangle((initiated, y + ROW / 2 - 2), (done, y + ROW / 2 + 2), ink);
            y += ROW;
        }
    }
    for core in 0..recording.gaps.len() {
        let name = if recording.gaps.len() > 1 { format!("issues {core}") } else { "issues".to_owned() };
        picture.text((left - 6, y + ROW / 2), &name, Anchor::End, Ink::Muted);
        for row in recording.rows.iter().filter(|row| row.sub_core == core) {
            for instruction in &row.instructions {
                let at = x(instruction.issue);
                picture.rectangle((at, y + 2), (at + cycle.max(3) - 1, y + ROW - 2), Ink::Text);
                if cycle >= 12 {
                    let middle = (at + cycle / 2, y + ROW / 2);
                    picture.text(middle, &row.warp.to_string(), Anchor::Middle, Ink::Ground);
                }
            }
        }
        y += ROW;
    }
    for (warp, phases) in about.alone.iter().enumerate() {
        picture.text((left - 6, y + ROW / 2), &format!("w{warp} alone"), Anchor::End, Ink::Muted);
        for phase in phases {
            let (from, to) = (x(phase.start.get()), x(phase.end.get()));
            match phase.kind {
                PhaseKind::Exec => picture.rectangle((from, y + 3), (to, y + ROW - 3), Ink::Muted),
                PhaseKind::Idle => picture.line(&[(from, y + ROW / 2), (to, y + ROW / 2)], Ink::Muted, 1),
            }
        }
        y += ROW;
    }
    let mut used: Vec<usize> =
        recording.rows.iter().flat_map(|row| row.instructions.iter().map(|i| i.unit as usize)).collect();
    used.sort_unstable();
    used.dedup();
    let mut at = 4;
    for unit in used {
        let name = recording.units().get(unit).map_or("", String::as_str);
        picture.rectangle((at, legend - 5), (at + 10, legend + 5), Ink::Series(unit));
        picture.text((at + 14, legend), name, Anchor::Start, Ink::Text);
        at += 28 + 7 * name.chars().count() as i32;
    }
    Ok(picture.svg())
}
