//! Against a collector that goes from step to step: banks with queues, of which one operand is read in a step.

use std::collections::VecDeque;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

/// What tests issue: an instruction for each number, which is its age too.
#[derive(Default)]
struct Issued(Vec<(Place, Vec<usize>)>);

impl Operands for Issued {
    fn banks(&self, id: FlightId) -> impl Iterator<Item = usize> {
        self.0[id as usize].1.iter().copied()
    }
}

impl Issued {
    fn entering(&self, id: FlightId) -> Entering {
        let (place, banks) = &self.0[id as usize];
        let reads = Reads::of(banks.iter().map(|&bank| bank as u8));
        let (counted, reads) = (reads.is_some(), reads.unwrap_or_default());
        Entering { age: id.into(), flight: id, place: *place, counted, reads }
    }
}

fn aged(id: FlightId) -> Aged {
    Aged { flight: id, age: id.into() }
}

/// A collector unit that is taken: its instruction, and how many operands have not been read.
#[derive(Clone, Copy)]
struct Taken {
    id: FlightId,
    place: Place,
    unread: usize,
}

struct ByStep {
    settings: Settings,
    sub_cores: usize,
    units: Vec<Option<Taken>>,
    /// By bank: the collector units that want to read it, one for each operand.
    reads: Vec<VecDeque<usize>>,
    written: Vec<bool>,
    search_from: Vec<usize>,
}

impl ByStep {
    fn new(settings: Settings, sub_cores: usize) -> Self {
        let units = settings.units as usize;
        Self {
            settings,
            sub_cores,
            units: vec![None; units],
            reads: vec![VecDeque::new(); settings.banks as usize],
            written: vec![false; settings.banks as usize],
            search_from: vec![units / sub_cores % units; settings.ports as usize],
        }
    }

    fn share(&self) -> usize {
        self.units.len() / self.sub_cores
    }

    fn cycle(&mut self, issued: &Issued, input: &mut Latch<Aged>, output: &mut Latch<Aged>) {
        for _ in 0..self.settings.steps {
            self.hand_over(output);
            self.read();
            self.accept(issued, input);
            self.written.fill(false);
        }
    }

    fn hand_over(&mut self, output: &mut Latch<Aged>) {
        let count = self.units.len();
        for port in 0..self.search_from.len() {
            let goes = |unit: &usize| {
                self.units[*unit].is_some_and(|taken| taken.unread == 0 && output.is_free(taken.place))
            };
            let from = self.search_from[port];
            let Some(unit) = (from..from + count).map(|unit| unit % count).find(goes) else { continue };
            let taken = self.units[unit].take().unwrap();
            output.put(taken.place, aged(taken.id));
            self.search_from[port] = (unit / self.share() + 1) * self.share() % count;
        }
    }

    fn read(&mut self) {
        for (bank, waiting) in self.reads.iter_mut().enumerate() {
            if !self.written[bank]
                && let Some(unit) = waiting.pop_front()
            {
                self.units[unit].as_mut().unwrap().unread -= 1;
            }
        }
    }

    fn accept(&mut self, issued: &Issued, input: &mut Latch<Aged>) {
        // a unit's instructions wait behind the oldest of them
        let mut stuck = Vec::new();
        for _ in 0..self.settings.ports {
            for unit in 0..PLACES / SubCores::MAX {
                let places = (0..self.sub_cores).map(|sub_core| Place::new(unit, sub_core));
                let oldest =
                    places.filter(|&place| !input.is_free(place)).min_by_key(|&place| input.at(place).flight);
                let Some(entry) = oldest.filter(|_| !stuck.contains(&unit)) else { continue };
                let from = entry.sub_core() * self.share();
                let Some(free) = (from..from + self.share()).find(|&unit| self.units[unit].is_none()) else {
                    stuck.push(unit);
                    continue;
                };
                let id = input.at(entry).flight;
                input.take(entry);
                let (place, banks) = &issued.0[id as usize];
                banks.iter().for_each(|&bank| self.reads[bank].push_back(free));
                self.units[free] = Some(Taken { id, place: *place, unread: banks.len() });
            }
        }
    }
}

#[test]
fn operands_are_read_when_a_collector_that_goes_by_steps_reads_them() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut draw = move |below: usize| ((u64::from(rng.next_u32()) * below as u64) >> 32) as usize;
    let (mut handed_over, mut put_off) = (0, 0);
    for round in 0..400 {
        let sub_cores = [1, 2, 4][draw(3)];
        let settings = Settings {
            units: (sub_cores * (1 + draw(4))) as u32,
            banks: (sub_cores * (1 + draw(4))) as u32,
            steps: 1 + draw(3) as u32,
            ports: [1, 2, 4, 8, 20][draw(5)],
        };
        let banks = settings.banks as usize / sub_cores;
        let (mut ours, mut theirs) = (Collector::new(settings, sub_cores), ByStep::new(settings, sub_cores));
        let (mut input_by_step, mut output_by_step) = (Latch::new(), Latch::new());
        let mut issued = Issued::default();
        let (kinds, eager, writes) = (1 + draw(4), 1 + draw(4), draw(4));
        for now in 0..300 {
            for _ in 0..draw(1 + writes) {
                let bank = draw(settings.banks as usize);
                put_off += usize::from(ours.wanted_until[bank] > now * u64::from(settings.steps));
                ours.write(1 << bank, now);
                theirs.written[bank] = true;
                assert!(ours.writes(1 << bank));
            }
            for place in ours.collected() {
                if draw(eager) == 0 {
                    ours.take(place);
                    output_by_step.take(place);
                    handed_over += 1;
                }
            }
            if ours.is_stuck() {
                ours.rest();
            } else {
                ours.cycle(now, &issued);
            }
            theirs.cycle(&issued, &mut input_by_step, &mut output_by_step);
            let all = |latch: &Latch<Aged>| {
                latch.full().map(|place| (place, latch.at(place).flight)).collect::<Vec<_>>()
            };
            let entering = |place| (place, ours.input.at(place).flight);
            let waiting = ours.waiting().map(entering).collect::<Vec<_>>();
            assert_eq!(all(&ours.output), all(&output_by_step), "round {round}, cycle {now}, {settings:?}");
            assert_eq!(waiting, all(&input_by_step), "round {round}, cycle {now}, {settings:?}");
            let taken = theirs.units.iter().flatten().count() as u32;
            assert_eq!(ours.free.count_ones(), settings.units - taken);
            for sub_core in 0..sub_cores {
                // the latches before and after are numbered alike here
                let place = Place::new(draw(kinds), sub_core);
                if !ours.waiting().has(place) && draw(2) == 0 {
                    let id = issued.0.len() as FlightId;
                    let operands = (0..draw(5)).map(|_| sub_core * banks + draw(banks)).collect();
                    issued.0.push((place, operands));
                    ours.put(place, issued.entering(id));
                    input_by_step.put(place, aged(id));
                }
            }
        }
    }
    assert!(handed_over > 30_000 && put_off > 3_000, "{handed_over} {put_off}");
}
