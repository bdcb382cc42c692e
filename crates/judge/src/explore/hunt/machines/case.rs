//! A drawn case: a kernel in PTX, its launch, and a machine with changed settings.

use std::collections::BTreeMap;
use std::fmt::Write;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::settings;

/// The limits on the size of cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaseSize {
    /// The most blocks of a launch.
    pub blocks: u32,
    /// The most warps of a block.
    pub warps: u32,
    /// The most instructions of the body of a kernel.
    pub instructions: usize,
}

/// A kernel, its launch and its machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The index of the machine that the settings change.
    pub base: usize,
    /// The changed settings by path.
    pub settings: BTreeMap<String, &'static str>,
    /// The number of blocks.
    pub blocks: u32,
    /// The number of threads of a block.
    pub threads: u32,
    /// How often the body is executed.
    rounds: u32,
    body: Vec<Op>,
}

/// An instruction of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Op {
    form: usize,
    /// The registers for `D`, `A` and `B`, each below [`REGISTERS`].
    registers: [u8; 3],
    /// The number of the pointer for `P`, below [`STRIDES`].
    pointer: usize,
    /// The offset for `AT`, a multiple of 16.
    offset: u32,
    guard: usize,
}

const REGISTERS: u8 = 12;
const OFFSETS: u32 = 64;
const GUARDS: [&str; 6] = ["", "", "", "", "@%p1 ", "@%p2 "];

/// The distances in bytes between the addresses of neighbouring threads, by pointer.
const STRIDES: [u32; 4] = [0, 4, 16, 144];

/// The forms of instructions. `D`, `A` and `B` are numbers of registers, `E`, `F` and `G` those after
/// `D`, `P` is a pointer, `S` the address of shared memory, and `AT` an offset.
const FORMS: [&str; 24] = [
    "add.u32 %rD, %rA, %rB;",
    "add.u32 %rD, %rA, %rB;",
    "mul.lo.u32 %rD, %rA, %rB;",
    "mad.lo.u32 %rD, %rA, %rB, %rD;",
    "add.f32 %fD, %fA, %fB;",
    "fma.rn.f32 %fD, %fA, %fB, %fD;",
    "fma.rn.f32 %fD, %fA, %fB, %fD;",
    "sqrt.approx.f32 %fD, %fA;",
    "cvt.rn.f32.u32 %fD, %rA;",
    "ld.global.u32 %rD, [P+AT];",
    "ld.global.u32 %rD, [P+AT];",
    "ld.global.f32 %fD, [P+AT];",
    "ld.global.u8 %rD, [P+AT];",
    "ld.global.v4.u32 {%rD, %rE, %rF, %rG}, [P+AT];",
    "st.global.u32 [P+AT], %rA;",
    "st.global.v4.u32 [P+AT], {%rD, %rE, %rF, %rG};",
    "ld.shared.u32 %rD, [S+AT];",
    "ld.shared.v4.u32 {%rD, %rE, %rF, %rG}, [S+AT];",
    "st.shared.u32 [S+AT], %rA;",
    "atom.global.add.u32 %rD, [P+AT], %rA;",
    "red.global.add.u32 [P+AT], %rA;",
    "ld.const.u32 %rD, [table+AT];",
    "membar.gl;",
    "bar.sync 0;",
];

impl Case {
    /// Draws a case on one of this many machines.
    pub fn random(size: &CaseSize, bases: usize, rng: &mut ChaCha8Rng) -> Self {
        let mut case = Self {
            base: rng.random_range(0..bases),
            settings: BTreeMap::new(),
            blocks: small(size.blocks, rng),
            threads: threads(size, rng),
            rounds: small(4, rng),
            body: Vec::new(),
        };
        for _ in 0..[0, 1, 2, 4, 8, 16, 32][rng.random_range(0..7)] {
            let (path, value) = settings::draw(rng);
            case.settings.insert(path, value);
        }
        let groups = rng.random_range(1..=size.instructions);
        while case.body.len() < groups {
            case.insert(size, rng);
        }
        case.interfere(size);
        case
    }

    /// Returns a case on the first machine whose kernel has every instruction that can be drawn.
    pub fn of_all_forms() -> Self {
        let op = |form| Op { form, registers: [0; 3], pointer: form % STRIDES.len(), offset: 0, guard: 0 };
        let body = (0..FORMS.len()).map(op).collect();
        Self { base: 0, settings: BTreeMap::new(), blocks: 1, threads: 32, rounds: 2, body }
    }

    /// Makes sure that there are two warps: for a warp alone every bound is close.
    fn interfere(&mut self, size: &CaseSize) {
        if self.blocks == 1 && self.threads <= 32 {
            if size.warps > 1 {
                self.threads += 32;
            } else {
                self.blocks = 2.min(size.blocks.max(1));
            }
        }
    }

    /// Makes one to three small changes.
    pub fn mutate(&mut self, size: &CaseSize, rng: &mut ChaCha8Rng) {
        for _ in 0..[1, 1, 1, 2, 2, 3][rng.random_range(0..6)] {
            self.change(size, rng);
        }
        self.interfere(size);
    }

    fn change(&mut self, size: &CaseSize, rng: &mut ChaCha8Rng) {
        let at = rng.random_range(0..self.body.len());
        match rng.random_range(0..14) {
            0..=3 => {
                let (path, value) = settings::draw(rng);
                self.settings.insert(path, value);
            }
            4 if !self.settings.is_empty() => {
                let gone = rng.random_range(0..self.settings.len());
                let mut index = 0;
                self.settings.retain(|_, _| {
                    index += 1;
                    index - 1 != gone
                });
            }
            5 => self.blocks = small(size.blocks, rng),
            6 => self.threads = threads(size, rng),
            7 => self.rounds = small(4, rng),
            8 if self.body.len() > 1 => {
                self.body.remove(at);
            }
            9 => self.body[at] = random_op(rng),
            10 => {
                // a change of an operand keeps the form
                let other = random_op(rng);
                self.body[at] = Op { form: self.body[at].form, ..other };
            }
            11 => {
                let other = rng.random_range(0..self.body.len());
                self.body.swap(at, other);
            }
            _ => self.insert(size, rng),
        }
    }

    /// Inserts one instruction, or several equal ones, as long as the body has room.
    fn insert(&mut self, size: &CaseSize, rng: &mut ChaCha8Rng) {
        let room = size.instructions - self.body.len().min(size.instructions);
        let at = rng.random_range(0..=self.body.len());
        let op = random_op(rng);
        let copies = if rng.random_range(0..4) == 0 { 4 } else { 1 };
        for _ in 0..copies.min(room) {
            self.body.insert(at, op);
        }
    }

    /// Returns the number of instructions of the body.
    pub fn instructions(&self) -> usize {
        self.body.len()
    }

    /// Returns the settings as `--set` takes them.
    pub fn settings_text(&self) -> impl Iterator<Item = String> + use<'_> {
        self.settings.iter().map(|(path, value)| format!("{path}={value}"))
    }

    /// Returns the kernel in PTX. Its entry `k` has the address of a buffer of [`BUFFER`] bytes as its
    /// only argument.
    pub fn kernel_text(&self) -> String {
        let mut text = ".version 6.3\n.target sm_61\n.address_size 64\n.const .align 16 .b8 table[1024];\n\
            .visible .entry k(.param .u64 k_param_0)\n{\n.reg .pred %p<4>;\n.reg .b32 %r<32>;\n\
            .reg .f32 %f<32>;\n.reg .b64 %rd<8>;\n.shared .align 16 .b8 shared[8192];\n\
            ld.param.u64 %rd7, [k_param_0];\ncvta.to.global.u64 %rd7, %rd7;\nmov.u32 %r1, %tid.x;\n\
            mov.u32 %r2, %ctaid.x;\n"
            .to_owned();
        let uses = |what: &str| self.body.iter().any(|op| FORMS[op.form].contains(what));
        for (pointer, stride) in STRIDES.iter().enumerate() {
            if self.body.iter().any(|op| op.pointer == pointer && FORMS[op.form].contains('P')) {
                let _ = write!(
                    text,
                    "mul.lo.u32 %r3, %r1, {stride};\nmad.lo.u32 %r3, %r2, 4096, %r3;\nand.b32 %r3, %r3, 32752;\n\
                     cvt.u64.u32 %rd6, %r3;\nadd.u64 %rd{pointer}, %rd7, %rd6;\n"
                );
            }
        }
        if uses("S+") {
            text.push_str(
                "mov.u32 %r4, shared;\nmul.lo.u32 %r3, %r1, 16;\nand.b32 %r3, %r3, 4080;\nadd.u32 %r4, %r4, %r3;\n",
            );
        }
        text.push_str("setp.lt.u32 %p1, %r1, 20;\nsetp.lt.u32 %p2, %r1, 64;\n");
        if self.rounds > 1 {
            let _ = write!(text, "mov.u32 %r5, {};\nround:\n", self.rounds);
        }
        self.body.iter().for_each(|op| text.push_str(&op.text()));
        if self.rounds > 1 {
            text.push_str("sub.u32 %r5, %r5, 1;\nsetp.ne.u32 %p3, %r5, 0;\n@%p3 bra round;\n");
        }
        text.push_str("ret;\n}\n");
        text
    }

    /// Returns the cases that are smaller by one step, those with the largest reduction first.
    pub fn smaller(&self) -> Vec<Self> {
        let mut smaller = Vec::new();
        let mut offer = |change: &dyn Fn(&mut Self)| {
            let mut next = self.clone();
            change(&mut next);
            if next != *self && !next.body.is_empty() {
                smaller.push(next);
            }
        };
        offer(&|next| next.rounds = 1);
        offer(&|next| next.blocks = 1);
        offer(&|next| next.blocks = (next.blocks / 2).max(1));
        offer(&|next| next.blocks = (next.blocks - 1).max(1));
        offer(&|next| next.threads = (next.threads / 2).max(1));
        offer(&|next| {
            next.threads = next.threads.min(next.threads.div_ceil(32).saturating_sub(1).max(1) * 32)
        });
        offer(&|next| next.threads = 1);
        offer(&|next| next.settings.clear());
        let mut length = self.body.len().next_power_of_two() / 2;
        while length > 0 {
            for start in (0..self.body.len()).step_by(length) {
                offer(&|next| drop(next.body.drain(start..(start + length).min(next.body.len()))));
            }
            length /= 2;
        }
        for path in self.settings.keys() {
            offer(&|next| next.settings.retain(|other, _| other != path));
        }
        offer(&|next| next.rounds = (next.rounds - 1).max(1));
        for at in 0..self.body.len() {
            offer(&|next| next.body[at].guard = 0);
            offer(&|next| next.body[at].offset = 0);
        }
        smaller
    }
}

/// The number of bytes of the buffer of a kernel.
pub const BUFFER: usize = 1 << 16;

impl Op {
    fn text(&self) -> String {
        let form = FORMS[self.form];
        let [d, a, b] = self.registers.map(|register| u32::from(register) + 8);
        let guard = if form.starts_with("bar") { "" } else { GUARDS[self.guard] };
        let pointer = format!("%rd{}", self.pointer);
        let mut text = guard.to_owned();
        let mut rest = form;
        while let Some(first) = rest.chars().next() {
            let (word, length) = match first {
                'D' => (d.to_string(), 1),
                'E' => ((d + 1).to_string(), 1),
                'F' => ((d + 2).to_string(), 1),
                'G' => ((d + 3).to_string(), 1),
                'A' if rest.starts_with("AT") => (self.offset.to_string(), 2),
                'A' => (a.to_string(), 1),
                'B' => (b.to_string(), 1),
                'P' => (pointer.clone(), 1),
                'S' => ("%r4".to_owned(), 1),
                other => (other.to_string(), other.len_utf8()),
            };
            text.push_str(&word);
            rest = &rest[length..];
        }
        text + "\n"
    }
}

fn random_op(rng: &mut ChaCha8Rng) -> Op {
    Op {
        form: rng.random_range(0..FORMS.len()),
        registers: std::array::from_fn(|_| rng.random_range(0..REGISTERS)),
        pointer: rng.random_range(0..STRIDES.len()),
        offset: 16 * rng.random_range(0..OFFSETS),
        guard: rng.random_range(0..GUARDS.len()),
    }
}

/// Draws a number from 1 to `most`; small numbers are more likely.
fn small(most: u32, rng: &mut ChaCha8Rng) -> u32 {
    let most = rng.random_range(1..=most.max(1));
    rng.random_range(1..=most)
}

fn threads(size: &CaseSize, rng: &mut ChaCha8Rng) -> u32 {
    match rng.random_range(0..8) {
        0 => 1,
        1 => rng.random_range(1..=32),
        _ => 32 * small(size.warps, rng),
    }
}
