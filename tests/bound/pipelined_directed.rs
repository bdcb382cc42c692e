//! PLB in situations that random launches rarely reach: each test saturates one stage.

use warpbound::check::Workload;
use warpbound::program::launch::Launch;
use warpbound::sim::PolicySetup;

use crate::pipelined::{of_micro, of_workload};
use crate::random_kernels::{KernelBuilder, RandomLaunch};
use crate::{random_accesses, reference, runs, shipped};

#[track_caller]
fn holds(launch: &RandomLaunch, places: u32) {
    for policy in [PolicySetup::Gto, PolicySetup::Lrr, PolicySetup::Oldest] {
        let (makespan, bound) = of_micro(launch, places, &policy);
        println!("{policy}: {makespan} of {bound}");
        assert!(makespan <= bound, "{policy}: {makespan} > {bound}");
    }
}

/// A warp whose last instruction is a barrier is fetched for once more while it waits there.
#[test]
fn fetches_at_the_last_barrier() {
    for warps in [2, 5, 12, 32, 60] {
        let mut builder = KernelBuilder::new();
        for _ in 0..warps - 1 {
            builder.warp().bar().ret("f");
        }
        builder.warp().op("f", None, &[]).op("f", None, &[]).bar().ret("f");
        let launch = builder.build_launch(
            "Machine(name: \"m\", units: { \"u\": Unit(init: 1, lat: 0) }, ops: { \"f\": \"u\", \
             \"barrier\": \"u\" }, sub_cores: 4, pipeline: Pipeline(front_end: FrontEnd(buffer: 1, \
             fetches: 1, ends_warps: false)))",
        );
        holds(&launch, 1);
    }
}

/// A block that ends before others are placed leaves its place to them, so that block i need not be
/// at place i.
#[test]
fn places_of_blocks_that_are_placed_late() {
    let launch = KernelBuilder::blocks_of("f", &[40, 0, 1, 1, 1, 40]).build_launch(
        "Machine(name: \"m\", units: { \"u\": Unit(init: 5, lat: 0) }, ops: { \"f\": \"u\" }, \
         sub_cores: 4, pipeline: Pipeline(front_end: FrontEnd(buffer: 2, fetches: 4, ends_warps: \
         false), launch: Launch(blocks_per_cycle: 1)), limits: Limits(blocks: 8))",
    );
    holds(&launch, 6);
}

/// Returns a kernel with these registers and this body: %rd1 is the address of the buffer, %r1 the
/// thread, and %r2 the address of 4096 bytes of shared memory; `table` has 4096 bytes of constants.
pub fn workload(registers: &str, body: &str, launch: Launch) -> Workload {
    let text = format!(
        ".version 6.3\n.target sm_61\n.address_size 64\n.const .align 16 .b8 table[4096];\n\
         .visible .entry k(.param .u64 k_param_0)\n{{\n\
         {registers}.shared .align 16 .b8 shared[4096];\nld.param.u64 %rd1, [k_param_0];\n\
         cvta.to.global.u64 %rd1, %rd1;\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, shared;\n{body}ret;\n}}\n"
    );
    runs::workload("k", reference::program("k.ptx", "k", text), launch)
}

/// The machine of kernels in PTX, and the number of blocks and threads of a block.
pub struct InPtx<'a> {
    pub settings: &'a [&'a str],
    pub blocks: u32,
    pub threads: u32,
}

impl InPtx<'_> {
    /// Returns a kernel with this body.
    pub fn workload(&self, body: &str) -> Workload {
        let registers = ".reg .pred %p<4>;\n.reg .b32 %r<99>;\n.reg .f32 %f<99>;\n.reg .b64 %rd<9>;\n";
        workload(registers, body, random_accesses::launch_on_buffer(self.blocks, self.threads, 1 << 16))
    }

    #[track_caller]
    fn holds(&self, body: &str) {
        let workload = self.workload(body);
        let machine = shipped::machine_with("accelsim-ecrts", self.settings);
        for policy in [PolicySetup::Gto, PolicySetup::Lrr, PolicySetup::Oldest] {
            let (makespan, bound) = of_workload(&workload, &machine, &policy).unwrap();
            println!("{policy}: {makespan} of {bound}");
            assert!(makespan <= bound, "{policy}: {makespan} > {bound}");
        }
    }
}

/// The results of a load are written in their order, so that two banks with two results each may
/// take three cycles.
#[test]
fn results_in_the_order_of_banks() {
    let of = InPtx { settings: &["hazards=[Raw]"], blocks: 1, threads: 512 };
    of.holds(&"ld.global.v4.u32 {%r8, %r16, %r9, %r17}, [%rd1];\n".repeat(40));
    of.holds(&"ld.shared.v4.u32 {%r8, %r16, %r9, %r17}, [%r2];\n".repeat(40));
}

/// Results of units keep a load from being written back long after the units have begun.
#[test]
fn late_writes_of_units() {
    for lat in (40..200).step_by(10) {
        let lat = format!("units.fp32.lat={lat}");
        let settings = ["hazards=[Raw]", "pipeline.front_end=none", "units.int.lat=40", &lat];
        let fma = "fma.rn.f32 %f8, %f1, %f1, %f1;\n".repeat(100);
        let add = "add.u32 %r7, %r7, %r7;\n".repeat(10);
        InPtx { settings: &settings, blocks: 1, threads: 64 }.holds(&format!(
            "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra UNITS;\nld.global.u32 %r7, [%rd1];\n{add}ret;\nUNITS:\n{fma}"
        ));
    }
}

/// A warp that is held after a fence or an atomic keeps the wrong instructions in its buffer until
/// it is released.
#[test]
fn wrong_instructions_of_a_held_warp() {
    let settings = [
        "units.int.init=1",
        "units.int.lat=0",
        "pipeline.collector=none",
        "pipeline.result_buses=none",
        "pipeline.front_end.fetches=64",
        "memory.lower=Fixed",
        "memory.fixed.latency=80",
        "exit_issues=false",
    ];
    for held in ["ld.global.u32 %r7, [%rd1];\nmembar.gl;", "atom.global.add.u32 %r7, [%rd1], %r1;"] {
        let part = |n: usize| format!("@!%p1 bra E{n};\nbra.uni F{n};\nE{n}:\n{held}\nF{n}:\n");
        let parts: String = (0..100).map(part).collect();
        let of = InPtx { settings: &settings, blocks: 1, threads: 32 };
        of.holds(&format!("setp.lt.u32 %p1, %r1, 20;\n{parts}"));
    }
}

/// A loop of which each iteration jumps.
#[test]
fn jumps() {
    for jump in [2, 9, 60] {
        let jump = format!("pipeline.instruction_caches.jump={jump}");
        let settings = [
            "units.int.init=1",
            "units.int.lat=0",
            "pipeline.write_back=0",
            "pipeline.collector=none",
            "pipeline.result_buses=none",
            "pipeline.front_end=none",
            "pipeline.instruction_caches.warm=true",
            &jump,
        ];
        let of = InPtx { settings: &settings, blocks: 1, threads: 32 };
        of.holds("mov.u32 %r5, 0;\nL:\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 90;\n@%p1 bra L;\n");
    }
}
