//! The policies of the per-cycle reference: asked in every cycle, whatever happens in it.

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

    /// Every slot, beginning with this one.
    fn around(&self, from: usize) -> Vec<usize> {
        let n = self.slots.len();
        (0..n).map(|i| (from + i) % n).collect()
    }

    pub(super) fn choose(&mut self) -> Option<usize> {
        let ready: Vec<usize> = (0..self.slots.len()).filter(|&slot| self.ready(slot)).collect();
        let oldest = ready.iter().copied().min_by_key(|&slot| self.id(slot));
        match self.rule {
            Rule::Oldest => oldest,
            Rule::Gto => {
                let greedy = ready.iter().copied().find(|&slot| Some(self.id(slot)) == self.memory.last);
                let chosen = greedy.or(oldest);
                if let Some(slot) = chosen {
                    self.memory.last = Some(self.id(slot));
                }
                chosen
            }
            Rule::Lrr => {
                let from = self.memory.last_slot.map_or(0, |slot| slot + 1);
                let chosen = self.around(from).into_iter().find(|slot| ready.contains(slot));
                self.memory.last_slot = chosen.or(self.memory.last_slot);
                chosen
            }
            Rule::Srr => {
                let turn = self.around(self.memory.turn).into_iter().find(|&slot| self.eligible(slot))?;
                self.memory.turn = turn;
                if !ready.contains(&turn) {
                    return None;
                }
                self.memory.turn = turn + 1;
                Some(turn)
            }
            Rule::Gsrr => self.greedy_round_robin(&ready),
            Rule::TwoLevel(active) => self.two_level(*active, &ready),
            Rule::Random(_) => {
                if ready.is_empty() {
                    return None;
                }
                let draw = u64::from(self.memory.rng.next_u32());
                Some(ready[((draw * ready.len() as u64) >> 32) as usize])
            }
            Rule::Replay(decisions) => {
                let due = |&&(block, cycle, _): &&(usize, u64, usize)| {
                    let resident = self.places.iter().flatten().find(|resident| resident.block == block);
                    resident.is_some_and(|resident| resident.start + cycle == self.t)
                };
                let &(block, _, warp) = decisions.iter().find(due)?;
                let slot = self.slot_of((block, warp));
                slot.filter(|slot| ready.contains(slot))
            }
        }
    }

    fn greedy_round_robin(&mut self, ready: &[usize]) -> Option<usize> {
        let n = self.slots.len();
        let turn = self.memory.turn % n;
        // the turn is a warp's; another warp in its slot does not inherit it once it was used
        let same = self.slots[turn].is_some() && Some(self.id(turn)) == self.memory.turn_of;
        if self.memory.issued_in_turn && same && ready.contains(&turn) {
            return Some(turn);
        }
        let from = if self.memory.issued_in_turn { turn + 1 } else { turn };
        let turn = self.around(from).into_iter().find(|&slot| self.eligible(slot))?;
        self.memory.turn = turn;
        self.memory.turn_of = Some(self.id(turn));
        self.memory.issued_in_turn = ready.contains(&turn);
        self.memory.issued_in_turn.then_some(turn)
    }

    fn two_level(&mut self, capacity: usize, ready: &[usize]) -> Option<usize> {
        let alive = |sim: &Self, id: (usize, usize)| {
            let slot = sim.slot_of(id)?;
            (!sim.slots[slot].as_ref()?.finished).then_some(slot)
        };
        let waits = |sim: &Self, id: (usize, usize)| {
            let slot = sim.slot_of(id).expect("only live warps are asked about");
            sim.slots[slot].as_ref().unwrap().at_barrier || sim.waits_for_global(slot)
        };
        let mut active = std::mem::take(&mut self.memory.active);
        let mut pending = std::mem::take(&mut self.memory.pending);
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
        self.memory.active = active;
        self.memory.pending = pending;
        let from = self.memory.last_slot.map_or(0, |slot| slot + 1);
        let is_active = |slot: usize| self.memory.active.contains(&self.id(slot));
        let chosen = self.around(from).into_iter().find(|&slot| ready.contains(&slot) && is_active(slot));
        self.memory.last_slot = chosen.or(self.memory.last_slot);
        chosen
    }

    /// A register or copy group that the next instruction needs comes from global memory and is
    /// not there yet.
    fn waits_for_global(&self, slot: usize) -> bool {
        self.eligible(slot) && self.waits_until(slot, true) > self.t
    }
}
