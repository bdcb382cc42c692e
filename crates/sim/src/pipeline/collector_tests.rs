//! Compares the collector with one that simulates every step.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::super::by_cycle::{Collector as ByStep, Deciders, Rules};
use super::*;

/// The instructions that tests issue: the index of each is also its age.
#[derive(Default)]
struct Issued(Vec<(LatchEntry, Vec<usize>)>);

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
        let kinds = 1 + draw(4);
        let mut ours = Collector::new(settings, sub_cores);
        let mut theirs = ByStep::new(settings, sub_cores, kinds);
        let mut issued = Issued::default();
        let (eager, writes) = (1 + draw(4), draw(4));
        for now in 0..300 {
            let mut written = Vec::new();
            for _ in 0..draw(1 + writes) {
                let bank = draw(settings.banks as usize);
                put_off += usize::from(ours.wanted_until[bank] > now * u64::from(settings.steps));
                ours.write(1 << bank, now);
                written.push(bank);
                assert!(ours.writes(1 << bank));
            }
            for place in ours.collected() {
                if draw(eager) == 0 {
                    ours.take(place);
                    theirs.output.remove(&(place.unit(), place.sub_core()));
                    handed_over += 1;
                }
            }
            if ours.is_stuck() {
                ours.rest();
            } else {
                ours.cycle(now, &issued);
            }
            theirs.cycle(&written, &mut Deciders { policies: Vec::new(), chooser: &mut Rules });
            let description = format!("round {round}, cycle {now}, {settings:?}");
            let numbered = |place: LatchEntry, id: FlightId| ((place.unit(), place.sub_core()), id as usize);
            let output = ours.collected().map(|place| numbered(place, ours.at(place)));
            assert!(output.eq(theirs.output.iter().map(|(&place, &id)| (place, id))), "{description}");
            let input = ours.waiting().map(|place| numbered(place, ours.input.at(place).flight));
            assert!(input.eq(theirs.input.iter().map(|(&place, &id)| (place, id))), "{description}");
            for sub_core in 0..sub_cores {
                // the input and the output latch are numbered alike here
                let place = LatchEntry::new(draw(kinds), sub_core);
                if !ours.waiting().has(place) && draw(2) == 0 {
                    let id = issued.0.len();
                    let operands: Vec<usize> = (0..draw(5)).map(|_| sub_core * banks + draw(banks)).collect();
                    issued.0.push((place, operands.clone()));
                    ours.put(place, issued.entering(id as FlightId));
                    let place = (place.unit(), sub_core);
                    theirs.put(place, id, place, operands);
                }
            }
        }
    }
    assert!(handed_over > 30_000 && put_off > 3_000, "{handed_over} {put_off}");
}
