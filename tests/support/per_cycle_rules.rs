//! The policies of the per-cycle reference. Each is applied in every cycle, once for each sub-core.

use rand::Rng;

use super::{Rule, Sim};

impl Sim<'_> {
    fn id(&self, slot: usize) -> (usize, usize) {
        let warp = self.slots[slot].as_ref().expect("an eligible warp is there");
        (warp.block, warp.warp)
    }

    fn slot_of(&self, id: (usize, usize)) -> Option<usize> {
        (0..self.slots.len()).find(|&slot| self.slots[slot].is_some() && self.id(slot) == id)
    }

    /// Returns every slot of a sub-core in cyclic order, beginning with `from` or the next slot
    /// after it.
    fn around(&self, sub_core: usize, from: usize) -> Vec<usize> {
        let n = self.slots.len();
        let own = self.slots_of(sub_core);
        (0..n).map(|i| (from + i) % n).filter(|slot| own.contains(slot)).collect()
    }

    pub(super) fn choose(&mut self, core: usize) -> Option<usize> {
        let mut ready: Vec<usize> =
            self.slots_of(core).into_iter().filter(|&slot| self.ready(slot)).collect();
        let yielding = self.memory[core].yielding.and_then(|id| self.slot_of(id));
        if matches!(self.rule, Rule::Gto | Rule::Lrr | Rule::Oldest | Rule::Random(_))
            && ready.iter().any(|&slot| Some(slot) != yielding)
        {
            ready.retain(|&slot| Some(slot) != yielding);
        }
        let oldest = ready.iter().copied().min_by_key(|&slot| self.id(slot));
        match self.rule {
            Rule::Oldest => oldest,
            Rule::Gto => {
                let greedy =
                    ready.iter().copied().find(|&slot| Some(self.id(slot)) == self.memory[core].last);
                let chosen = greedy.or(oldest);
                if let Some(slot) = chosen {
                    self.memory[core].last = Some(self.id(slot));
                }
                chosen
            }
            Rule::Lrr => {
                let from = self.memory[core].last_slot.map_or(0, |slot| slot + 1);
                let chosen = self.around(core, from).into_iter().find(|slot| ready.contains(slot));
                self.memory[core].last_slot = chosen.or(self.memory[core].last_slot);
                chosen
            }
            Rule::Srr => {
                let turn = self
                    .around(core, self.memory[core].turn)
                    .into_iter()
                    .find(|&slot| self.eligible(slot))?;
                self.memory[core].turn = turn;
                if !ready.contains(&turn) {
                    return None;
                }
                self.memory[core].turn = turn + 1;
                Some(turn)
            }
            Rule::Gsrr => self.greedy_round_robin(core, &ready),
            Rule::TwoLevel(active) => self.two_level(core, *active, &ready),
            Rule::RunToBarrier => {
                let kept = self.memory[core].last.and_then(|id| self.slot_of(id));
                let kept = kept.filter(|&slot| self.eligible(slot));
                let others = self.slots_of(core).into_iter().filter(|&slot| self.eligible(slot));
                let elected = kept.or_else(|| others.min_by_key(|&slot| self.id(slot)));
                self.memory[core].last = elected.map(|slot| self.id(slot));
                elected.filter(|slot| ready.contains(slot))
            }
            Rule::Random(_) => {
                if ready.is_empty() {
                    return None;
                }
                let draw = u64::from(self.memory[core].rng.next_u32());
                Some(ready[((draw * ready.len() as u64) >> 32) as usize])
            }
            Rule::Replay(decisions) => {
                let due = |&&(block, cycle, _): &&(usize, u64, usize)| {
                    let resident = self.places.iter().flatten().find(|resident| resident.block == block);
                    resident.is_some_and(|resident| resident.start + cycle == self.t)
                };
                let slots = decisions.iter().filter(due).map(|&(block, _, warp)| self.slot_of((block, warp)));
                slots.flatten().find(|slot| ready.contains(slot))
            }
        }
    }

    fn greedy_round_robin(&mut self, core: usize, ready: &[usize]) -> Option<usize> {
        let n = self.slots.len();
        let turn = self.memory[core].turn % n;
        // the turn belongs to a warp; once used, it is not inherited by another warp in the same
        // slot
        let same = self.slots[turn].is_some() && Some(self.id(turn)) == self.memory[core].turn_of;
        if self.memory[core].issued_in_turn && same && ready.contains(&turn) {
            return Some(turn);
        }
        let from = if self.memory[core].issued_in_turn { turn + 1 } else { turn };
        let turn = self.around(core, from).into_iter().find(|&slot| self.eligible(slot))?;
        self.memory[core].turn = turn;
        self.memory[core].turn_of = Some(self.id(turn));
        self.memory[core].issued_in_turn = ready.contains(&turn);
        self.memory[core].issued_in_turn.then_some(turn)
    }

    fn two_level(&mut self, core: usize, capacity: usize, ready: &[usize]) -> Option<usize> {
        let alive = |sim: &Self, id: (usize, usize)| {
            let slot = sim.slot_of(id)?;
            (!sim.slots[slot].as_ref()?.finished).then_some(slot)
        };
        let waits = |sim: &Self, id: (usize, usize)| {
            let slot = sim.slot_of(id).expect("only live warps are asked about");
            sim.slots[slot].as_ref().unwrap().at_barrier || sim.waits_for_global(slot)
        };
        let mut active = std::mem::take(&mut self.memory[core].active);
        let mut pending = std::mem::take(&mut self.memory[core].pending);
        active.retain(|&id| alive(self, id).is_some());
        pending.retain(|&id| alive(self, id).is_some());
        active.sort_by_key(|&id| self.slot_of(id));
        for id in active.clone() {
            if waits(self, id) {
                active.retain(|&other| other != id);
                pending.push_back(id);
            }
        }
        while active.len() < capacity {
            let Some(at) = pending.iter().position(|&id| !waits(self, id)) else { break };
            active.extend(pending.remove(at));
        }
        self.memory[core].active = active;
        self.memory[core].pending = pending;
        let from = self.memory[core].last_slot.map_or(0, |slot| slot + 1);
        let is_active = |slot: usize| self.memory[core].active.contains(&self.id(slot));
        let chosen =
            self.around(core, from).into_iter().find(|&slot| ready.contains(&slot) && is_active(slot));
        self.memory[core].last_slot = chosen.or(self.memory[core].last_slot);
        chosen
    }

    /// Returns whether a register or copy group that the next instruction needs comes from global
    /// memory and is not yet available.
    fn waits_for_global(&self, slot: usize) -> bool {
        self.eligible(slot) && self.waits_until(slot, true) > self.t
    }
}
