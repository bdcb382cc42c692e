//! The value of a set of paths, compared with each of its paths.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use warpbound::base::{LaneMask, Pc};
use warpbound::bound::{Analyser, Bound, BoundReport, Iwb, static_bound};
use warpbound::diag::SourceText;
use warpbound::isa::Space;
use warpbound::path::{BlockPaths, LoopIterations, MemoryUse, PathPart, PathSet, Sides, Step, WarpPath, Way};
use warpbound::program::{KernelCode, TimingTable};
use warpbound::ptx::Module;

/// The steps of a path, each with whether it is an end.
type Word = Vec<(Step, bool)>;

/// The largest number of words.
const MAX_WORDS: usize = 4000;

/// Returns the instructions to draw from; the last one is `ret`, the one before it a barrier.
fn program() -> KernelCode {
    let text = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n\
        .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<4>; .reg .f32 %f<8>; .reg .f64 %fd<4>; .shared .align 16 .b8 sm[64];\n\
        mov.u32 %r0, %tid.x;\nadd.u32 %r1, %r0, %r1;\nadd.u32 %r2, %r1, %r3;\nld.global.u32 %r3, [%rd0];\n\
        ld.global.u32 %r4, [%rd1];\nadd.u32 %r3, %r2, 1;\nmul.lo.u32 %r5, %r3, %r4;\nld.shared.u32 %r6, [sm];\nadd.u32 %r4, %r6, %r5;\n\
        sqrt.rn.f32 %f1, %f0;\nadd.f32 %f0, %f1, %f2;\nadd.f64 %fd1, %fd0, %fd1;\ndiv.u32 %r7, %r4, %r1;\nadd.u32 %r1, %r7, %r7;\n\
        div.rn.f32 %f2, %f0, %f1;\nst.shared.u32 [sm], %r3;\nmov.u32 %r8, %r7;\nbar.sync 0;\nret;\n}\n";
    let module = Module::parse(&SourceText::new("k.ptx", text)).unwrap_or_else(|e| panic!("{e}"));
    module.program("k", &crate::shipped::isa()).unwrap_or_else(|e| panic!("{e}"))
}

struct Drawn<'p> {
    rng: ChaCha8Rng,
    program: &'p KernelCode,
    /// Whether lanes may end within sides.
    ends: bool,
    barriers: bool,
    loops: bool,
}

impl Drawn<'_> {
    fn step(&mut self) -> Step {
        let last = self.program.instrs.len() - 2;
        let index = self.rng.random_range(0..last);
        self.of(index)
    }

    fn of(&mut self, index: usize) -> Step {
        let pc = Pc::from_index(index);
        match index {
            3 | 4 => Step::with(pc, MemoryUse { space: Space::Global, extra_transactions: 0 }),
            7 | 15 => {
                let extra_transactions = self.rng.random_range(0..4);
                Step::with(pc, MemoryUse { space: Space::Shared, extra_transactions })
            }
            _ => Step::plain(pc),
        }
    }

    fn steps(&mut self, most: usize) -> Vec<Step> {
        let many = self.rng.random_range(0..=most);
        (0..many).map(|_| self.step()).collect()
    }

    fn end(&self) -> Step {
        Step::plain(Pc::from_index(self.program.instrs.len() - 1))
    }

    fn set(&mut self, depth: u32, in_loop: bool) -> PathSet {
        let mut set = PathSet::default();
        for _ in 0..self.rng.random_range(1..4) {
            match self.rng.random_range(0..10) {
                0 => {
                    let extra = [0u8, 3].map(|extra_transactions| {
                        Step::with(Pc::new(7), MemoryUse { space: Space::Shared, extra_transactions })
                    });
                    set.push_part(PathPart::OneOf(extra.to_vec().into()));
                }
                1 if self.barriers => {
                    let index = self.program.instrs.len() - 2;
                    let step = self.of(index);
                    set.push(step);
                }
                2..5 if depth > 0 => {
                    let mut first = self.set(depth - 1, in_loop);
                    let second = self.set(depth - 1, in_loop);
                    if self.ends && self.rng.random_range(0..4) == 0 {
                        first.push_part(PathPart::End(self.end()));
                    }
                    let (both, first_alone, second_alone) =
                        [(true, true, true), (false, true, true), (true, false, true), (true, true, false)]
                            [self.rng.random_range(0..4)];
                    let sides = Sides { first, second, both, first_alone, second_alone };
                    set.push_part(PathPart::Sides(Box::new(sides)));
                }
                5 if depth > 0 && self.loops => {
                    let mut round = self.set(depth - 1, true);
                    let paths = PathSet::from_path(&self.steps(2));
                    let first = self.rng.random_range(0..2) == 0;
                    round.push_part(PathPart::Leave(Box::new(Way { paths, first })));
                    round.push_part(PathPart::Steps(self.steps(2).into()));
                    let most = self.rng.random_range(0..2);
                    set.push_part(PathPart::Loop(Box::new(LoopIterations {
                        header: Pc::new(0),
                        round,
                        most,
                    })));
                }
                6 if in_loop => {
                    let paths = PathSet::from_path(&self.steps(2));
                    let first = self.rng.random_range(0..2) == 0;
                    set.push_part(PathPart::Leave(Box::new(Way { paths, first })));
                }
                _ => set.push_part(PathPart::Steps(self.steps(3).into())),
            }
        }
        set
    }
}

fn joined(before: &[Word], after: &[Word]) -> Vec<Word> {
    let mut all = Vec::new();
    for word in before {
        for more in after {
            all.push([word.as_slice(), more].concat());
        }
    }
    tidy(all)
}

fn tidy(mut words: Vec<Word>) -> Vec<Word> {
    words.sort_by_key(|word| format!("{word:?}"));
    words.dedup();
    words
}

/// Returns the words of a set after any of the words `before`; `left` receives those that have left
/// the enclosing loop. Returns `None` if there are too many.
fn words(set: &PathSet, mut before: Vec<Word>, left: &mut Vec<Word>) -> Option<Vec<Word>> {
    for part in set.parts() {
        if before.len() > MAX_WORDS || left.len() > MAX_WORDS {
            return None;
        }
        let plain = |steps: &[Step]| steps.iter().map(|&step| (step, false)).collect::<Word>();
        before = match part {
            PathPart::Steps(steps) => joined(&before, &[plain(steps.steps())]),
            PathPart::OneOf(steps) => {
                let any: Vec<Word> = steps.steps().iter().map(|step| plain(&[*step])).collect();
                joined(&before, &any)
            }
            PathPart::End(step) => joined(&before, &[vec![(*step, true)]]),
            PathPart::Sides(sides) => {
                let first = words(&sides.first, before.clone(), left)?;
                let mut all = Vec::new();
                if sides.both {
                    all.extend(words(&sides.second, first.clone(), left)?);
                }
                if sides.second_alone {
                    all.extend(words(&sides.second, before, left)?);
                }
                if sides.first_alone {
                    all.extend(first);
                }
                tidy(all)
            }
            PathPart::Perhaps(rest) => {
                let more = words(rest, before.clone(), left)?;
                tidy([before, more].concat())
            }
            PathPart::Loop(rounds) => {
                let mut away = Vec::new();
                for _ in 0..=rounds.most {
                    before = words(&rounds.round, before, &mut away)?;
                }
                let mut all = away.clone();
                for _ in 1..(rounds.most + 1) * rounds.ways_after().count() as u64 {
                    let mut next = Vec::new();
                    for way in rounds.ways_after() {
                        next.extend(words(way, away.clone(), &mut Vec::new())?);
                    }
                    away = tidy(next);
                    all.extend(away.clone());
                    if all.len() > MAX_WORDS {
                        return None;
                    }
                }
                tidy(all)
            }
            PathPart::Leave(way) => {
                let gone = words(&way.paths, before.clone(), &mut Vec::new())?;
                left.extend(gone.clone());
                if way.first { tidy([before, gone].concat()) } else { before }
            }
        };
    }
    (before.len() <= MAX_WORDS).then_some(before)
}

fn path(word: &Word) -> WarpPath {
    let mut path = WarpPath::new();
    for (index, &(step, end)) in word.iter().enumerate() {
        let step = if end && index + 1 == word.len() { step.ending_warp() } else { step };
        path.push(step, LaneMask::ALL);
    }
    path
}

fn iwb(table: &TimingTable, warps: &[&Word]) -> u64 {
    let paths = BlockPaths { warps: warps.iter().map(|word| path(word)).collect(), ..BlockPaths::default() };
    let mut report = BoundReport::default();
    Analyser::new(table).for_each_section(&paths, |section| Iwb.add_section(&mut report, section));
    report.value.cycles().get()
}

#[test]
fn the_value_of_a_set_is_that_of_its_longest_path() {
    let program = program();
    let (mut exact, mut above, mut compared) = (0, 0, 0);
    for seed in 0..400 {
        let settings: &[&str] = &[];
        let machine = crate::shipped::machine_with("ecrts25-orin-banks", settings);
        let table = TimingTable::new(&program, &machine).unwrap();
        let mut drawn = Drawn {
            rng: ChaCha8Rng::seed_from_u64(seed),
            program: &program,
            ends: seed % 3 == 1,
            barriers: seed % 5 == 2,
            loops: seed % 2 == 0,
        };
        let whole = |drawn: &mut Drawn<'_>| {
            let mut set = drawn.set(2, false);
            let end = drawn.end();
            set.push_part(PathPart::End(end));
            set
        };
        let (set, other) = (whole(&mut drawn), whole(&mut drawn));
        let Some(mine) = words(&set, vec![Vec::new()], &mut Vec::new()) else { continue };
        if mine.is_empty() {
            continue;
        }
        let longest = mine.iter().map(|word| iwb(&table, &[word])).max().unwrap();
        let value = static_bound(&table, std::slice::from_ref(&set)).value.get();
        assert!(value >= longest, "seed {seed}: {value} < {longest}: {set:?}");
        if seed % 3 != 1 && seed % 5 != 2 {
            assert_eq!(value, longest, "seed {seed}: {set:?}");
        }
        for word in mine.iter().take(200) {
            assert!(set.contains(path(word).steps()), "seed {seed}: {word:?} not in {set:?}");
        }
        *(if value == longest { &mut exact } else { &mut above }) += 1;
        if let Some(others) = words(&other, vec![Vec::new()], &mut Vec::new())
            && mine.len() * others.len() < 400
        {
            let both = static_bound(&table, &[set.clone(), other.clone()]).value.get();
            for (a, b) in mine.iter().flat_map(|a| others.iter().map(move |b| (a, b))) {
                compared += 1;
                let pair = iwb(&table, &[a, b]);
                assert!(pair <= both, "seed {seed}: {pair} > {both}: {set:?} {other:?}");
            }
        }
    }
    println!("exact {exact} above {above} pairs {compared}");
    assert!(exact > 100 && compared > 1000);
}

#[test]
fn only_repeated_iterations_are_left_out() {
    let program = program();
    let machine = crate::shipped::machine("ecrts25-orin-banks");
    let table = TimingTable::new(&program, &machine).unwrap();
    let mut all = 0;
    for seed in 0..220 {
        let mut drawn = Drawn {
            rng: ChaCha8Rng::seed_from_u64(seed),
            program: &program,
            ends: false,
            barriers: false,
            loops: false,
        };
        let before = drawn.steps(4);
        let mut body = drawn.set(u32::from(seed % 3 == 0), false);
        body.push_part(PathPart::Steps(drawn.steps(8).into()));
        let after = drawn.steps(4);
        let most: u64 = match seed % 11 {
            0 => drawn.rng.random_range(100..260),
            _ => drawn.rng.random_range(0..34),
        };
        let mut round = PathSet::leaving();
        round.append(body.clone());
        let finish = |mut set: PathSet| {
            set.push_part(PathPart::Steps(after.clone().into()));
            set.push_part(PathPart::End(drawn.end()));
            set
        };
        let mut looped = PathSet::default();
        looped.push_part(PathPart::Steps(before.clone().into()));
        looped.push_part(PathPart::Loop(Box::new(LoopIterations { header: Pc::new(0), round, most })));
        let looped = finish(looped);
        let value = |sets: &[PathSet]| static_bound(&table, sets).value.get();
        let mut unrolled = PathSet::default();
        unrolled.push_part(PathPart::Steps(before.into()));
        let (mut longest, mut longest_of_two) = (0, 0);
        let other = finish(PathSet::default());
        for _ in 0..=most {
            let whole = finish(unrolled.clone());
            longest = longest.max(value(std::slice::from_ref(&whole)));
            longest_of_two = longest_of_two.max(value(&[whole, other.clone()]));
            unrolled.append(body.clone());
        }
        assert_eq!(value(std::slice::from_ref(&looped)), longest, "seed {seed} most {most}: {looped:?}");
        assert!(value(&[looped, other]) >= longest_of_two, "seed {seed} most {most}");
        all += 1;
    }
    assert_eq!(all, 220);
}
