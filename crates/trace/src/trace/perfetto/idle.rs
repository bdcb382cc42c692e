//! The cycles in which a sub-core issued nothing, with the reasons.

use super::json::{Events, Track};
use crate::trace::{Idle, Waiting};

/// Writes the idle cycles of every sub-core. Consecutive intervals with the same reason and the
/// same warp become one slice.
#[derive(Default)]
pub(super) struct IdleSlots {
    /// For each sub-core, the interval that has not been written, because the next one may continue
    /// it.
    held: Vec<Option<Idle>>,
}

impl IdleSlots {
    #[inline]
    pub fn new(sub_cores: usize) -> Self {
        Self { held: vec![None; sub_cores] }
    }

    /// Adds an interval. `track` is that of sub-core 0; the others follow. `names` are those of the
    /// instructions, as JSON.
    pub fn idled(&mut self, idle: &Idle, track: Track, names: &[String], events: &mut Events<'_>) {
        let sub_core = usize::from(idle.sub_core);
        if self.held.len() <= sub_core {
            self.held.resize(sub_core + 1, None);
        }
        match &mut self.held[sub_core] {
            Some(held) if continues(held, idle) => held.to = idle.to,
            held => {
                if let Some(over) = held.replace(*idle) {
                    write(&over, track, names, events);
                }
            }
        }
    }

    /// Writes the remaining intervals.
    #[inline]
    pub fn finish(&mut self, track: Track, names: &[String], events: &mut Events<'_>) {
        for idle in self.held.iter_mut().filter_map(Option::take) {
            write(&idle, track, names, events);
        }
    }
}

fn continues(held: &Idle, next: &Idle) -> bool {
    held.to == next.from && held.reason == next.reason && held.waiting == next.waiting
}

fn write(idle: &Idle, Track { pid, tid }: Track, names: &[String], events: &mut Events<'_>) {
    let track = Track { pid, tid: tid + usize::from(idle.sub_core) };
    let (time, reason) = ((idle.from, idle.to), idle.reason.name());
    let name = format_args!(r#""{reason}""#);
    match idle.waiting {
        None => events.slice(track, time, name, format_args!("")),
        Some(Waiting { block, warp, index, step, .. }) => {
            let pc = step.pc();
            let text = names.get(pc.index()).map_or(r#""""#, String::as_str);
            let (block, warp, pc) = (block.get(), warp.get(), pc.get());
            let args = format_args!(
                r#""block":{block},"warp":{warp},"pc":{pc},"index":{index},"instruction":{text}"#
            );
            events.slice(track, time, name, args);
        }
    }
}
