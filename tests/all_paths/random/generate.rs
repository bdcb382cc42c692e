//! Random kernels: control flow that depends on thread ids, on data, and on both.

use std::fmt::Write as _;
use std::ops::Range;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Case;

/// The registers with a different value in each lane.
const VALUES: Range<u32> = 10..18;
/// The registers with the same value in all lanes.
const ALIKE: Range<u32> = 20..23;
/// The predicates with a different value in each lane.
const PREDICATES: Range<u32> = 0..6;

struct Writer {
    rng: ChaCha8Rng,
    out: String,
    labels: u32,
    counters: u32,
    /// The number of statements that may still be written.
    budget: i32,
    /// The labels that may be targets of jumps, outer ones first, each with the number of regions
    /// that are open there.
    targets: Vec<(String, usize)>,
    /// Whether regions are marked, as machine code marks them.
    marks: bool,
    /// Whether the barrier of a region is its depth, rather than different for regions side by side.
    by_depth: bool,
    /// The numbers of the regions that are open, outer ones first.
    open: Vec<u32>,
    /// The number of regions so far.
    regions: u32,
    /// The index of the first label to which lanes may diverge.
    apart_from: usize,
    barriers: bool,
    long_loops: bool,
    ends: bool,
    jumps: bool,
    collectives: bool,
    depth: u32,
    /// The number of enclosing loops.
    inside: u32,
}

impl Writer {
    fn chance(&mut self, percent: u32) -> bool {
        self.rng.random_range(0..100) < percent
    }

    fn pick(&mut self, range: Range<u32>) -> u32 {
        self.rng.random_range(range)
    }

    fn value(&mut self) -> u32 {
        self.pick(VALUES)
    }

    fn label(&mut self, name: &str) -> String {
        self.labels += 1;
        format!("{name}_{}", self.labels)
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// Opens a region, if regions are marked and chance wants it; returns whether it did.
    fn open_region(&mut self) -> bool {
        let opens = self.marks && self.chance(75);
        if opens {
            self.open.push(self.regions);
            let text = super::regions::open(self.barrier(self.open.len() - 1), self.regions);
            self.regions += 1;
            self.line(&text);
        }
        opens
    }

    /// Returns the number of the barrier of the open region at a depth.
    fn barrier(&self, depth: usize) -> u32 {
        if self.by_depth { depth as u32 } else { self.open[depth] % 16 }
    }

    fn close_region(&mut self, opened: bool) {
        if opened {
            let number = *self.open.last().expect("a region is open");
            let text = super::regions::close(self.barrier(self.open.len() - 1), number);
            self.open.pop();
            self.line(&text);
        }
    }

    /// Leaves the inner regions, all but the first `depth`, under a guard.
    fn leave_regions(&mut self, depth: usize, guard: &str) {
        for at in (depth..self.open.len()).rev() {
            let text = format!("{guard}{}", super::regions::leave(self.barrier(at), self.open[at]));
            self.line(&text);
        }
    }

    /// Writes a predicate for a branch to `%p10`, and returns the guard; the predicate is the same
    /// in all lanes if `alike` is set.
    fn condition(&mut self, alike: bool) -> String {
        let text = if alike {
            let (reg, bit) = (self.pick(ALIKE), 1 << self.pick(0..5));
            if self.chance(15) {
                format!("and.b32 %r40, %r9, {bit};\nsetp.ne.u32 %p10, %r40, 0;")
            } else {
                format!("and.b32 %r40, %r{reg}, {bit};\nsetp.ne.u32 %p10, %r40, 0;")
            }
        } else {
            match self.pick(0..6) {
                0 => {
                    let limit = self.pick(0..33);
                    format!("setp.lt.u32 %p10, %r1, {limit};")
                }
                1 => {
                    let bit = 1 << self.pick(0..5);
                    format!("and.b32 %r40, %r1, {bit};\nsetp.ne.u32 %p10, %r40, 0;")
                }
                2 => {
                    let p = self.pick(PREDICATES);
                    let q = self.pick(PREDICATES);
                    let op = ["and", "or", "xor"][self.pick(0..3) as usize];
                    format!("{op}.pred %p10, %p{p}, %p{q};")
                }
                3 => {
                    let (a, b) = (self.value(), self.value());
                    format!("setp.lt.u32 %p10, %r{a}, %r{b};")
                }
                _ => {
                    let (reg, mask) = (self.value(), [1, 3, 7, 8][self.pick(0..4) as usize]);
                    format!("and.b32 %r40, %r{reg}, {mask};\nsetp.eq.u32 %p10, %r40, 0;")
                }
            }
        };
        self.line(&text);
        if self.chance(30) { "!%p10".to_owned() } else { "%p10".to_owned() }
    }

    fn guard(&mut self) -> String {
        if self.chance(70) {
            return String::new();
        }
        let p = self.pick(PREDICATES);
        if self.chance(50) { format!("@%p{p} ") } else { format!("@!%p{p} ") }
    }

    /// Makes `%rd3` the address of a word that `reg` selects.
    fn place(&mut self, reg: u32, shared: bool, stored: bool) {
        let mask = if shared || !stored { 255 } else { 127 };
        let base = if stored && !shared { 128 } else { 0 };
        let text = format!("and.b32 %r41, %r{reg}, {mask};\nadd.u32 %r41, %r41, {base};");
        self.line(&text);
        if shared {
            self.line("shl.b32 %r41, %r41, 4;\nmov.u32 %r42, sm;\nadd.u32 %r42, %r42, %r41;");
        } else {
            self.line("mul.wide.u32 %rd4, %r41, 4;\nadd.s64 %rd3, %rd0, %rd4;");
        }
    }

    fn simple(&mut self, alike: bool) {
        let (d, a, b) = (self.value(), self.value(), self.value());
        let guard = self.guard();
        match self.pick(0..if self.collectives { 20 } else { 15 }) {
            0..3 => {
                let op = ["add.u32", "xor.b32", "and.b32", "mul.lo.u32", "sub.u32"][self.pick(0..5) as usize];
                self.line(&format!("{guard}{op} %r{d}, %r{a}, %r{b};"));
            }
            3 => {
                let constant = self.pick(0..40);
                self.line(&format!("{guard}mov.u32 %r{d}, {constant};"));
            }
            4 => self.line(&format!("{guard}add.u32 %r{d}, %r1, %r{a};")),
            5 => {
                self.line("cvt.rn.f32.u32 %f1, %r1;");
                self.line("sqrt.rn.f32 %f2, %f1;");
            }
            6 | 7 => {
                self.place(a, false, false);
                self.line(&format!("{guard}ld.global.u32 %r{d}, [%rd3];"));
            }
            8 => {
                self.place(a, false, true);
                self.line(&format!("{guard}st.global.u32 [%rd3], %r{b};"));
            }
            9 => {
                let from = if self.chance(40) { 1 } else { a };
                self.place(from, true, false);
                match self.pick(0..4) {
                    0 => self.line(&format!("{guard}ld.shared.u32 %r{d}, [%r42];")),
                    1 => self.line(&format!("{guard}st.shared.u32 [%r42], %r{b};")),
                    2 => self.line(&format!("{guard}atom.shared.add.u32 %r{d}, [%r42], %r{b};")),
                    _ => self.line(&format!("{guard}ld.shared.v2.u32 {{%r{d}, %r43}}, [%r42];")),
                }
            }
            10 => {
                // a generic address in shared memory, or in either space
                let from = if self.chance(50) { 1 } else { a };
                self.place(from, true, false);
                self.line("cvt.u64.u32 %rd5, %r42;\ncvta.shared.u64 %rd6, %rd5;");
                if self.chance(40) {
                    let p = self.pick(PREDICATES);
                    self.line(&format!("selp.b64 %rd6, %rd6, %rd0, %p{p};"));
                }
                self.line(&format!("{guard}ld.u32 %r{d}, [%rd6];"));
            }
            11 | 12 => {
                let (p, cmp) = (self.pick(PREDICATES), ["lt", "eq", "ne", "ge"][self.pick(0..4) as usize]);
                self.line(&format!("{guard}setp.{cmp}.u32 %p{p}, %r{a}, %r{b};"));
            }
            13 => {
                let (p, q, r) = (self.pick(PREDICATES), self.pick(PREDICATES), self.pick(PREDICATES));
                let op = ["and", "or", "xor"][self.pick(0..3) as usize];
                if self.chance(25) {
                    self.line(&format!("{guard}not.pred %p{p}, %p{q};"));
                } else {
                    self.line(&format!("{guard}{op}.pred %p{p}, %p{q}, %p{r};"));
                }
            }
            14 => {
                let p = self.pick(PREDICATES);
                self.line(&format!("{guard}selp.b32 %r{d}, %r{a}, %r{b}, %p{p};"));
            }
            15 if !alike || self.ends || self.jumps => {
                // not a shuffle, in which a lane could read the value of a lane that does not take
                // part
                self.line(&format!("{guard}xor.b32 %r{d}, %r{a}, %r{b};"));
            }
            15 => {
                let lane = self.pick(0..32);
                self.line(&format!("shfl.sync.bfly.b32 %r{d}, %r{a}, {lane}, 31, -1;"));
            }
            16 => self.line(&format!("{guard}activemask.b32 %r{d};")),
            17 => {
                let p = self.pick(PREDICATES);
                self.line(&format!("{guard}vote.sync.ballot.b32 %r{d}, %p{p}, -1;"));
            }
            18 => {
                let (p, q) = (self.pick(PREDICATES), self.pick(PREDICATES));
                let mode = ["any", "all"][self.pick(0..2) as usize];
                self.line(&format!("{guard}vote.sync.{mode}.pred %p{p}, %p{q}, -1;"));
            }
            _ => self.line(&format!("{guard}redux.sync.add.u32 %r{d}, %r{a}, -1;")),
        }
        if alike && self.chance(25) {
            let (u, at) = (self.pick(ALIKE), 4 * self.pick(0..16));
            if self.chance(60) {
                self.line(&format!("ld.global.u32 %r{u}, [%rd0+{at}];"));
            } else {
                let other = self.pick(ALIKE);
                self.line(&format!("add.u32 %r{u}, %r{u}, %r{other};"));
            }
        }
    }

    /// Jumps to some label, or ends, after some code.
    fn jump(&mut self, alike: bool) {
        let condition = self.condition(alike);
        let end = self.ends && (self.chance(30) || self.targets.len() <= self.apart_from);
        // ADVERSARY_CALM: no lanes end in a loop that is analysed as a whole, to test the rest
        let calm = std::env::var_os("ADVERSARY_CALM").is_some();
        let end = end && !alike && !(calm && self.inside > 0);
        let target = if end {
            None
        } else {
            let from = if alike { 0 } else { self.apart_from };
            if self.targets.len() <= from {
                return;
            }
            let index = self.rng.random_range(from..self.targets.len());
            Some(self.targets[index].clone())
        };
        let (how, depth) = match &target {
            Some((label, depth)) => (format!("bra {label}"), *depth),
            None => (["ret", "exit"][self.pick(0..2) as usize].to_owned(), self.open.len()),
        };
        if self.chance(50) {
            self.leave_regions(depth, &format!("@{condition} "));
            self.line(&format!("@{condition} {how};"));
            return;
        }
        // with code on the way, after a branch that the remaining lanes take
        let on = self.label("ON");
        let condition = condition.strip_prefix('!').map_or(format!("!{condition}"), ToOwned::to_owned);
        self.line(&format!("@{condition} bra {on};"));
        self.simple(false);
        self.leave_regions(depth, "");
        self.line(&format!("{how};"));
        self.line(&format!("{on}:"));
    }

    /// Writes a branch; `around` says whether all lanes of the warp come to it together.
    fn branch(&mut self, alike: bool, around: bool) {
        let opened = self.open_region();
        let condition = self.condition(alike);
        let (other, end) = (self.label("ELSE"), self.label("END"));
        let before = self.apart_from;
        if !alike && self.barriers {
            self.apart_from = self.targets.len();
        }
        let both = self.chance(60);
        self.line(&format!("@{condition} bra {};", if both { &other } else { &end }));
        self.statements(alike);
        if both {
            self.line(&format!("bra {end};"));
            self.line(&format!("{other}:"));
            self.statements(alike);
        }
        self.line(&format!("{end}:"));
        self.close_region(opened);
        if self.marks && !opened && self.chance(60) {
            // where machine code lets lanes meet without a region
            let meeting = if around && self.barriers { "bar.sync 0;" } else { "bar.warp.sync -1;" };
            self.line(meeting);
        }
        self.apart_from = before;
    }

    fn repeat(&mut self, alike: bool) {
        self.counters += 1;
        let (counter, limit) = (59 + self.counters, 99 + self.counters);
        let long = self.long_loops && self.chance(50);
        let mask = if long { 127 } else { [1, 3, 7][self.pick(0..3) as usize] };
        let mut inside_alike = alike;
        let text = match self.pick(0..6) {
            0 => format!("mov.u32 %r{limit}, {};", if long { 70 } else { self.pick(0..5) }),
            1 | 2 if alike => {
                let u = self.pick(ALIKE);
                format!("and.b32 %r{limit}, %r{u}, {mask};")
            }
            1 => {
                inside_alike = false;
                format!("and.b32 %r{limit}, %r1, 3;")
            }
            _ => {
                inside_alike = false;
                let a = self.value();
                format!("and.b32 %r{limit}, %r{a}, {mask};")
            }
        };
        self.line(&text);
        let opened = self.open_region();
        let before = self.apart_from;
        if !inside_alike && self.barriers {
            self.apart_from = self.targets.len();
        }
        let (head, latch, out) = (self.label("HEAD"), self.label("LATCH"), self.label("OUT"));
        self.line(&format!("mov.u32 %r{counter}, 0;"));
        let form = self.pick(0..4);
        self.line(&format!("{head}:"));
        if form < 3 {
            self.line(&format!(
                "setp.ge.u32 %p12, %r{counter}, %r{limit};\nadd.u32 %r{counter}, %r{counter}, 1;"
            ));
            if form == 0 {
                self.line(&format!("@%p12 bra {out};"));
            } else {
                let on = self.label("BODY");
                self.line(&format!("@!%p12 bra {on};"));
                if form == 1 {
                    self.simple(false);
                }
                self.line(&format!("bra {out};\n{on}:"));
            }
        }
        let depth = self.targets.len();
        if self.jumps {
            let regions = self.open.len();
            self.targets.push((out.clone(), regions));
            // a jump to `head` is a second back edge; `latch` is the block before the only back
            // edge
            let again = form < 3 && self.chance(40);
            self.targets.push((if again { head.clone() } else { latch.clone() }, regions));
        }
        if !inside_alike {
            self.in_loop(false);
        } else {
            self.in_loop(true);
        }
        self.targets.truncate(depth);
        self.line(&format!("{latch}:"));
        if form < 3 {
            self.line(&format!("bra {head};"));
        } else {
            self.line(&format!(
                "add.u32 %r{counter}, %r{counter}, 1;\nsetp.lt.u32 %p12, %r{counter}, %r{limit};\n@%p12 bra {head};"
            ));
        }
        self.line(&format!("{out}:"));
        self.close_region(opened);
        self.apart_from = before;
    }

    fn in_loop(&mut self, alike: bool) {
        // without barriers lanes may leave separately, and uniform values are no longer uniform
        self.inside += 1;
        self.statements(alike && (self.barriers || !self.jumps));
        self.inside -= 1;
    }

    fn statements(&mut self, alike: bool) {
        self.depth += 1;
        let many = self.pick(1..5);
        let forward =
            (self.jumps && !alike && self.chance(35)).then(|| (self.label("FWD"), self.pick(1..many + 1)));
        let depth = self.targets.len();
        if let Some((label, _)) = &forward {
            self.targets.push((label.clone(), self.open.len()));
        }
        for index in 0..many {
            if let Some((label, at)) = &forward
                && *at == index
            {
                let text = format!("{label}:");
                self.line(&text);
                self.targets.truncate(depth);
            }
            self.budget -= 1;
            let kind = self.pick(0..100);
            let deep = self.depth > 4 || self.budget < 0;
            match kind {
                0..18 if !deep => {
                    let inside = alike && self.chance(50);
                    self.branch(inside, alike);
                }
                18..32 if !deep && self.counters < 9 => self.repeat(alike),
                32..50 if self.jumps || self.ends => {
                    let alike = alike && (self.barriers || self.chance(30));
                    self.jump(alike);
                }
                50..56 if alike && self.barriers => self.line("bar.sync 0;"),
                _ => self.simple(alike),
            }
        }
        if let Some((label, at)) = &forward
            && *at >= many
        {
            let text = format!("{label}:");
            self.line(&text);
        }
        self.targets.truncate(depth);
        self.depth -= 1;
    }
}

/// Returns the contents of a buffer.
fn input(rng: &mut ChaCha8Rng, long: bool) -> Vec<u32> {
    let kind = rng.random_range(0..6);
    let fixed: u32 = rng.random();
    (0..256)
        .map(|_| match kind {
            0 => 0,
            1 => fixed,
            2 => rng.random_range(0..4),
            3 if long => rng.random_range(60..80),
            4 if rng.random_range(0..8) > 0 => fixed,
            _ => rng.random(),
        })
        .collect()
}

/// Returns a kernel and the data it runs on. With `marks` it marks regions, see
/// [`super::regions`].
pub fn case(seed: u64, marks: bool) -> Case {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (block, grid) = match rng.random_range(0..6) {
        0 => ([32, 1, 1], [1, 1, 1]),
        1 => ([5, 1, 1], [1, 1, 1]),
        2 => ([48, 1, 1], [2, 1, 1]),
        3 => ([8, 5, 1], [1, 1, 1]),
        4 => ([64, 1, 1], [1, 1, 1]),
        _ => ([32, 2, 1], [1, 2, 1]),
    };
    let (barriers, long_loops) = (rng.random_range(0..4) == 0, rng.random_range(0..4) == 0);
    let (ends, jumps, collectives) =
        (rng.random_range(0..2) == 0, rng.random_range(0..3) > 0, rng.random_range(0..2) == 0);
    let budget = rng.random_range(6..24);
    let mut writer = Writer {
        rng: ChaCha8Rng::seed_from_u64(seed ^ 0x5eed_0000_0000),
        out: String::new(),
        labels: 0,
        counters: 0,
        budget,
        targets: Vec::new(),
        marks,
        by_depth: seed.is_multiple_of(3),
        open: Vec::new(),
        regions: 0,
        apart_from: 0,
        barriers,
        long_loops,
        ends,
        jumps,
        collectives,
        depth: 0,
        inside: 0,
    };
    writer.line("mov.u32 %r0, %tid.x;\nmov.u32 %r3, %tid.y;\nmov.u32 %r4, %ntid.x;");
    writer.line("mad.lo.u32 %r1, %r3, %r4, %r0;\nmov.u32 %r2, %ctaid.x;");
    for value in VALUES {
        match writer.pick(0..4) {
            0 => {
                let constant = writer.pick(0..9);
                writer.line(&format!("mov.u32 %r{value}, {constant};"));
            }
            1 => writer.line(&format!("add.u32 %r{value}, %r1, %r2;")),
            _ => {
                let shift = writer.pick(16..128);
                writer.line(&format!(
                    "add.u32 %r41, %r1, {shift};\nmul.wide.u32 %rd4, %r41, 4;\nadd.s64 %rd3, %rd0, %rd4;\n\
                     ld.global.u32 %r{value}, [%rd3];"
                ));
            }
        }
    }
    for value in ALIKE {
        writer.line(&format!("ld.global.u32 %r{value}, [%rd0+{}];", 4 * value));
    }
    for predicate in PREDICATES {
        let (a, b) = (writer.value(), writer.value());
        writer.line(&format!("setp.lt.u32 %p{predicate}, %r{a}, %r{b};"));
    }
    // a region around everything, which lanes of the others may leave for
    let opened = marks && !seed.is_multiple_of(4) && writer.open_region();
    while writer.budget > 0 {
        writer.statements(true);
    }
    writer.close_region(opened);
    let mut body = writer.out;
    let _ = write!(body, "ret;");
    let inputs = (0..4).map(|_| input(&mut rng, long_loops)).collect();
    Case {
        body,
        grid,
        block,
        inputs,
        number: rng.random_range(0..32),
        bounds_first: rng.random_range(0..2) == 0,
        by_warp: false,
        slack: if rng.random_range(0..3) == 0 { rng.random_range(1..4) } else { 0 },
    }
}
