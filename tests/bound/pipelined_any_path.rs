//! PLB over sets of paths, compared with PLB of paths that are drawn from the sets.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use warpbound::base::{BlockId, LaneMask, Pc};
use warpbound::bound::{MemoryLeft, Part, PipelineAnalyser, PipelineShare, PipelineShares};
use warpbound::diag::SourceText;
use warpbound::isa::Space;
use warpbound::machine::Machine;
use warpbound::path::{
    Accessed, BarrierUse, BlockPaths, Elsewhere, Footprint, LineUse, LoopIterations, MemoryUse, PathPart,
    PathSet, Sides, Step, Steps, WarpPath, Way,
};
use warpbound::program::{Access, KernelCode, TimingTable};
use warpbound::ptx::Module;

use crate::pipelined::{analyser, number, plb, rounds};
use crate::pipelined_memory::{BASES, CODES, of_memory};
use crate::pipelined_streams::SETTINGS;
use crate::random_kernels::add_codes;
use crate::shipped;

/// The number of lines of the buffers: with few of them, requests whose places are not known fetch all that
/// there is.
const LINES: [u64; 3] = [96, 24, 4];

/// Returns the instructions to draw from; the last one is `ret`, the one before it a barrier.
fn program() -> KernelCode {
    let text = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n\
        .reg .b32 %r<40>; .reg .b64 %rd<4>; .reg .f32 %f<8>; .shared .align 16 .b8 sm[64];\n\
        ld.global.u32 %r3, [%rd0];\nld.global.u32 %r4, [%rd0];\nld.global.u32 %r5, [%rd0];\n\
        ld.global.u32 %r6, [%rd0];\nst.global.u32 [%rd1], %r3;\nst.global.u32 [%rd1], %r9;\n\
        atom.global.add.u32 %r7, [%rd1], %r4;\nred.global.add.u32 [%rd1], %r8;\n\
        ld.shared.u32 %r10, [sm];\nst.shared.u32 [sm], %r3;\nadd.u32 %r11, %r3, %r4;\n\
        add.u32 %r12, %r5, %r6;\nadd.u32 %r3, %r11, 1;\nmul.lo.u32 %r8, %r7, %r10;\nsqrt.rn.f32 %f1, %f0;\n\
        add.f32 %f0, %f1, %f2;\nmembar.gl;\nadd.u32 %r13, %r13, 1;\nbar.sync 0;\nret;\n}\n";
    let module = Module::parse(&SourceText::new("k.ptx", text)).unwrap_or_else(|e| panic!("{e}"));
    module.program("k", &shipped::isa()).unwrap_or_else(|e| panic!("{e}"))
}

struct Drawn<'p> {
    rng: ChaCha8Rng,
    program: &'p KernelCode,
    table: &'p TimingTable,
    /// One in this many accesses has a place that depends on data.
    elsewhere: u32,
    ends: bool,
    barriers: bool,
    longest_loop: u64,
    /// The number of lines of the buffers.
    buffers: u64,
}

impl Drawn<'_> {
    fn below(&mut self, most: u32) -> u32 {
        self.rng.random_range(0..most)
    }

    fn lines(&mut self, many: u32) -> Vec<LineUse> {
        let mut lines = BTreeMap::new();
        for _ in 0..many {
            *lines.entry(self.rng.random_range(0..self.buffers)).or_default() |= self.below(15) as u8 + 1;
        }
        lines.into_iter().map(|(line, sectors)| LineUse::new(line, sectors, false)).collect()
    }

    fn push(&mut self, steps: &mut Steps) {
        let last = self.program.instrs.len() as u32 - 2;
        let index = self.below(last) as usize;
        self.push_of(index, steps);
    }

    fn push_of(&mut self, index: usize, steps: &mut Steps) {
        let pc = Pc::from_index(index);
        match index {
            0..8 => {
                let step = Step::with(pc, MemoryUse { space: Space::Global, extra_transactions: 0 });
                let lines = self.below(4);
                let (lines, elsewhere) = match self.below(self.elsewhere) {
                    0 => {
                        let (known, many) = (self.below(2), 1 + self.below(6));
                        let sectors = many + self.below(3 * many + 1);
                        (self.lines(known), Elsewhere { lines: many, sectors })
                    }
                    _ => (self.lines(lines), Elsewhere::default()),
                };
                steps.push_access(step, Accessed { lines: &lines, elsewhere });
            }
            8 | 9 => {
                let extra_transactions = self.below(4) as u8;
                steps.push(Step::with(pc, MemoryUse { space: Space::Shared, extra_transactions }));
            }
            _ => steps.push(Step::plain(pc)),
        }
    }

    fn steps(&mut self, most: u32) -> Steps {
        let mut steps = Steps::default();
        for _ in 0..self.below(most + 1) {
            self.push(&mut steps);
        }
        steps
    }

    fn some(&mut self, most: u32) -> PathSet {
        let mut set = PathSet::default();
        set.push_part(PathPart::Steps(self.steps(most)));
        set
    }

    fn end(&self) -> Step {
        Step::plain(Pc::from_index(self.program.instrs.len() - 1))
    }

    fn set(&mut self, depth: u32, in_loop: bool) -> PathSet {
        let mut set = PathSet::default();
        for _ in 0..1 + self.below(4) {
            match self.below(10) {
                0 => {
                    let mut any = Steps::default();
                    self.push_of(3, &mut any);
                    self.push_of(3, &mut any);
                    set.push_part(PathPart::OneOf(any));
                }
                1 if self.barriers => {
                    let pc = Pc::from_index(self.program.instrs.len() - 2);
                    set.push(Step::with(pc, BarrierUse { id: 0, warps: 0 }));
                }
                2..5 if depth > 0 => {
                    let mut first = self.set(depth - 1, in_loop);
                    let second = self.set(depth - 1, in_loop);
                    if self.ends && self.below(4) == 0 {
                        first.push_part(PathPart::End(self.end()));
                    }
                    let (both, first_alone, second_alone) =
                        [(true, true, true), (false, true, true), (true, false, true), (true, true, false)]
                            [self.below(4) as usize];
                    let sides = Sides { first, second, both, first_alone, second_alone };
                    set.push_part(PathPart::Sides(Box::new(sides)));
                }
                5 if depth > 0 => {
                    let mut round = self.set(depth - 1, true);
                    let (paths, first) = (self.some(2), self.below(2) == 0);
                    round.push_part(PathPart::Leave(Box::new(Way { paths, first })));
                    round.push_part(PathPart::Steps(self.steps(2)));
                    let most = self.rng.random_range(0..=self.longest_loop);
                    let rounds = LoopIterations { header: Pc::new(0), round, most };
                    set.push_part(PathPart::Loop(Box::new(rounds)));
                }
                6 if in_loop => {
                    let (paths, first) = (self.some(2), self.below(2) == 0);
                    set.push_part(PathPart::Leave(Box::new(Way { paths, first })));
                }
                _ => set.push_part(PathPart::Steps(self.steps(4))),
            }
        }
        set
    }

    fn warp(&mut self) -> PathSet {
        let mut set = if self.below(4) == 0 { self.some(12) } else { self.set(2, false) };
        set.push_part(PathPart::End(self.end()));
        set
    }

    /// Draws a path of a warp. Returns `None` if lanes do not leave a loop in time.
    fn path(&mut self, set: &PathSet) -> Option<WarpPath> {
        let mut word = Vec::new();
        self.follow(set, &mut word, false)?;
        let mut path = WarpPath::new();
        let last = word.len();
        for (index, (step, end, group)) in word.into_iter().enumerate() {
            let step = if end && index + 1 == last { step.ending_warp() } else { step };
            path.push(step, LaneMask::ALL);
            if self.table.moves_lines(step) {
                path.push_traffic(&group);
            }
        }
        Some(path)
    }

    /// Draws the lines of an access.
    fn group(&mut self, step: Step, accessed: Accessed) -> Vec<LineUse> {
        let Elsewhere { lines, sectors } = accessed.elsewhere;
        let mut group: Vec<(u64, u8)> =
            accessed.lines.iter().map(|line| (line.line(), line.sectors())).collect();
        let (mut left, most) = (sectors, lines + u32::from(lines > 0));
        let few = self.below(3) > 0;
        for taken in 0..if lines > 0 { self.below(most) } else { 0 } {
            let mut mask = 1_u8 << self.below(4);
            if left > lines - taken && !few {
                mask |= 1 << self.below(4);
            }
            left -= mask.count_ones();
            let line = self.rng.random_range(0..if few { self.buffers.div_ceil(8) } else { self.buffers });
            group.push((line, mask));
        }
        if self.table.instr(step.pc()).access != Some(Access::Atomic) {
            let mut merged: BTreeMap<u64, u8> = BTreeMap::new();
            group.iter().for_each(|&(line, mask)| *merged.entry(line).or_default() |= mask);
            group = merged.into_iter().collect();
        }
        group.sort_unstable();
        let mut group: Vec<LineUse> =
            group.into_iter().map(|(line, mask)| LineUse::new(line, mask, false)).collect();
        match group.last_mut() {
            Some(last) => *last = last.ending(),
            None => group.push(LineUse::none()),
        }
        group
    }

    fn step(&mut self, step: Step, accessed: Accessed, word: &mut Word) {
        let group = self.group(step, accessed);
        word.push((step, false, group));
    }

    /// Returns whether all lanes have left the enclosing loop; `None` if there is no such path.
    fn follow(&mut self, set: &PathSet, word: &mut Word, must_leave: bool) -> Option<bool> {
        if word.len() > 3000 {
            return None;
        }
        for part in set.parts() {
            match part {
                PathPart::Steps(steps) => {
                    steps.iter().for_each(|(step, accessed)| self.step(step, accessed, word));
                }
                PathPart::OneOf(steps) => {
                    let (step, accessed) = steps.iter().nth(self.below(steps.len() as u32) as usize)?;
                    self.step(step, accessed, word);
                }
                PathPart::End(step) => word.push((*step, true, Vec::new())),
                PathPart::Sides(sides) => {
                    let mut ways = Vec::new();
                    ways.extend(sides.both.then_some((true, true)));
                    ways.extend(sides.first_alone.then_some((true, false)));
                    ways.extend(sides.second_alone.then_some((false, true)));
                    let (first, second) = ways[self.below(ways.len() as u32) as usize];
                    // all lanes leave on one side only if the warp takes only that side
                    let only = first != second;
                    if first && self.follow(&sides.first, word, must_leave && only)? {
                        return Some(true);
                    }
                    if second && self.follow(&sides.second, word, must_leave)? {
                        return Some(true);
                    }
                }
                PathPart::Perhaps(rest) => {
                    if self.below(2) == 0 {
                        self.follow(rest, word, false)?;
                    }
                }
                PathPart::Loop(rounds) => {
                    let few = self.below(2) == 0;
                    let taken = if few { rounds.most } else { self.rng.random_range(0..=rounds.most) };
                    let mut left = false;
                    for round in 0..=taken {
                        left = self.follow(&rounds.round, word, round == taken)?;
                        if left {
                            break;
                        }
                    }
                    if !left {
                        return None;
                    }
                    let ways: Vec<&PathSet> = rounds.ways_after().collect();
                    let more = ((rounds.most + 1) * ways.len() as u64).saturating_sub(1);
                    let more = if self.below(2) == 0 { more } else { self.rng.random_range(0..=more) };
                    for _ in 0..more {
                        let way = ways[self.below(ways.len() as u32) as usize];
                        self.follow(way, word, false)?;
                    }
                }
                PathPart::Leave(way) => {
                    let all = must_leave || self.below(8) == 0;
                    if all || way.first && self.below(2) == 0 {
                        self.follow(&way.paths, word, false)?;
                    }
                    if all {
                        return Some(true);
                    }
                }
            }
        }
        Some(false)
    }
}

/// The steps of a path, each with whether it is an end, and with its lines.
type Word = Vec<(Step, bool, Vec<LineUse>)>;

/// Returns the bound over the sets of a launch, and what the launch leaves.
fn of_sets(
    tools: (&KernelCode, &TimingTable, &Machine),
    blocks: &[Vec<PathSet>],
    resident: u32,
    (footprint, in_regions): (&Footprint, bool),
) -> (u64, MemoryLeft) {
    let places = (resident, blocks.len(), blocks[0].len());
    let (mut analyser, _) = analyser(tools, places, footprint);
    if in_regions {
        analyser = analyser.accessing_only(footprint.buffers.clone());
    }
    let mut shares = PipelineShares::new(&analyser);
    for (index, block) in blocks.iter().enumerate() {
        shares.add(BlockId::from_index(index), &analyser.share_of_any(block).0);
    }
    shares.end(&analyser);
    (shares.value().cycles().get(), analyser.leaves())
}

/// Returns what a launch with these paths leaves.
fn leaves(
    tools: (&KernelCode, &TimingTable, &Machine),
    blocks: &[BlockPaths],
    resident: u32,
    footprint: &Footprint,
) -> MemoryLeft {
    let places = (resident, blocks.len(), blocks[0].warps.len());
    let (mut analyser, _) = analyser(tools, places, footprint);
    blocks.iter().for_each(|block| drop(analyser.share(block)));
    analyser.leaves()
}

#[test]
fn no_path_of_a_set_has_a_larger_bound() {
    let of_registers = program();
    let (seed, rounds) = (number("SEED", 1), rounds(1200));
    let (mut compared, mut equal, mut nearest) = (0_u64, 0_u64, 0.0_f64);
    let (mut known, mut same) = (0_u64, 0_u64);
    for case in 0..rounds {
        let case = number("ONLY", seed * 1_000_000_000 + case);
        let mut rng = ChaCha8Rng::seed_from_u64(case);
        let mut draw = |below: usize| rng.random_range(0..below);
        let base = BASES[draw(BASES.len())];
        let mut settings = of_memory(&mut draw, &[]);
        settings.extend(["memory.fixed.per_cycle=64", "memory.constant=none"].map(str::to_owned));
        settings.push(format!("sms={}", [1, 1, 2, 5][draw(4)]));
        for _ in 0..draw(4) {
            let of = SETTINGS[draw(SETTINGS.len())];
            settings.push(of[draw(of.len())].to_owned());
        }
        let mut program = of_registers.clone();
        if draw(3) == 0 {
            settings.push(CODES.to_owned());
            add_codes(&mut program, case);
        }
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let Ok(machine) = shipped::try_machine_with(base, &settings) else { continue };
        let Ok(table) = TimingTable::new(&program, &machine) else { continue };
        if machine.pipeline().is_none_or(|pipeline| pipeline.load_store.is_none()) {
            continue;
        }
        let (blocks, warps, resident) = (1 + draw(4), 1 + draw(4), 1 + draw(3) as u32);
        let single = draw(6) == 0;
        let mut drawn = Drawn {
            elsewhere: [1, 2, 5, 1000][draw(4)],
            ends: draw(3) == 0,
            barriers: draw(3) == 0,
            longest_loop: [0, 1, 3, 40][draw(4)],
            buffers: LINES[draw(LINES.len())],
            rng,
            program: &program,
            table: &table,
        };
        let sets: Vec<Vec<PathSet>> = (0..blocks)
            .map(|_| {
                let warp = |_| if single { drawn.only_known() } else { drawn.warp() };
                (0..warps).map(warp).collect()
            })
            .collect();
        let buffers = vec![(0, drawn.buffers * LineUse::LINE_BYTES)];
        let footprint = Footprint { buffers, ..Footprint::default() };
        let tools = (&program, &table, &machine);
        let in_regions = drawn.below(4) > 0;
        let (value, left) = of_sets(tools, &sets, resident, (&footprint, in_regions));
        for _ in 0..4 {
            let mut paths = Vec::new();
            for (index, block) in sets.iter().enumerate() {
                let warps: Option<Vec<WarpPath>> = block.iter().map(|set| drawn.path(set)).collect();
                let Some(warps) = warps else { break };
                paths.push(BlockPaths { block: BlockId::from_index(index), warps, ..BlockPaths::default() });
            }
            if paths.len() < sets.len() {
                continue;
            }
            let Ok(bound) = plb(&program, &table, &machine, &paths, resident, &footprint) else { continue };
            let left_by_run = leaves(tools, &paths, resident, &footprint);
            assert!(
                left.follows_from(&left_by_run),
                "ONLY={case} {base} {settings:?}: {left:?} {left_by_run:?}: {sets:?} {paths:?}"
            );
            if left != MemoryLeft::unknown() {
                known += 1;
                same += u64::from(left == left_by_run);
            }
            compared += 1;
            equal += u64::from(value == bound);
            nearest = nearest.max(if single { 0.0 } else { bound as f64 / value as f64 });
            assert!(bound <= value, "ONLY={case} {base} {settings:?}: {bound} > {value}: {sets:?} {paths:?}");
            if single {
                assert_eq!(bound, value, "ONLY={case} {base} {settings:?}: {sets:?}");
            }
        }
        if std::env::var("ONLY").is_ok() {
            break;
        }
    }
    println!("{compared} compared, {equal} equal, others up to {nearest:.3}");
    println!("of {compared}, {known} leave known lines, {same} the same as the run");
    assert!(compared > rounds && equal > rounds / 20, "{compared} compared, {equal} equal");
    assert!(known > rounds / 4 && same < known, "{known} known, {same} the same");
}

impl Drawn<'_> {
    /// Draws a single path of which all places are known.
    fn only_known(&mut self) -> PathSet {
        let elsewhere = std::mem::replace(&mut self.elsewhere, u32::MAX);
        let mut set = self.some(16);
        if self.barriers {
            let pc = Pc::from_index(self.program.instrs.len() - 2);
            set.push(Step::with(pc, BarrierUse { id: 0, warps: 0 }));
            let more = self.some(16);
            set.append(more);
        }
        self.elsewhere = elsewhere;
        set.push_part(PathPart::End(self.end()));
        set
    }
}

/// Loads whose places depend on data count for DRAM what fetching each set of sectors of each line of the
/// buffers once takes, and no less than those on a path that needs all of these sets.
#[test]
fn loads_of_unknown_places_fetch_no_more_than_the_buffers_hold() {
    const LOADS: usize = 60;
    let program = program();
    let load = Step::with(Pc::new(0), MemoryUse { space: Space::Global, extra_transactions: 0 });
    let end = Step::plain(Pc::from_index(program.instrs.len() - 1));
    let mut steps = Steps::default();
    for _ in 0..LOADS {
        steps.push_access(load, Accessed { lines: &[], elsewhere: Elsewhere { lines: 1, sectors: 4 } });
    }
    let mut set = PathSet::default();
    set.push_part(PathPart::Steps(steps));
    set.push_part(PathPart::End(end));
    for fetch in ["64", "32"] {
        let settings = ["sms=1", &format!("memory.partitions.l2.fetch={fetch}")];
        let machine = shipped::try_machine_with("h100-sxm", &settings).unwrap_or_else(|e| panic!("{e}"));
        let table = TimingTable::new(&program, &machine).unwrap_or_else(|e| panic!("{e}"));
        // what DRAM counts for any path, and for one that takes all sets of sectors of each line in turn
        let of_buffers = |lines: u64| {
            let buffers = vec![(0, lines * LineUse::LINE_BYTES)];
            let footprint = Footprint { buffers: buffers.clone(), ..Footprint::default() };
            let dram = |share: &dyn Fn(&mut PipelineAnalyser) -> PipelineShare| {
                let (analyser, _) = analyser((&program, &table, &machine), (1, 1, 1), &footprint);
                let mut analyser = analyser.accessing_only(buffers.clone());
                let mut shares = PipelineShares::new(&analyser);
                shares.add(BlockId::from_index(0), &share(&mut analyser));
                shares.end(&analyser);
                let parts = shares.parts();
                parts.iter().filter(|part| part.part == Part::Dram).map(|part| part.cycles.get()).sum::<u64>()
            };
            let mut path = WarpPath::new();
            for index in 0..LOADS as u64 {
                path.push(load, LaneMask::ALL);
                let mask = 1 + (index / lines % 15) as u8;
                path.push_traffic(&[LineUse::new(index % lines, mask, false).ending()]);
            }
            path.push(end.ending_warp(), LaneMask::ALL);
            let paths = BlockPaths { warps: vec![path], ..BlockPaths::default() };
            let of_any = dram(&|analyser| analyser.share_of_any(std::slice::from_ref(&set)).0);
            (of_any, dram(&|analyser| analyser.share(&paths)))
        };
        let (all, _) = of_buffers(1000);
        for lines in [1, 2] {
            let (of_any, of_path) = of_buffers(lines);
            assert!(of_path <= of_any && of_any < all, "{fetch}, {lines} lines: {of_path} {of_any} {all}");
        }
    }
}
