//! Machines with bank conflicts, and accesses to shared memory with addresses that the test
//! chooses.
#![allow(dead_code, reason = "each test file uses a part")]

use warpbound::base::WARP_SIZE;
use warpbound::machine::Machine;
use warpbound::path::Step;
use warpbound::program::TimingTable;

use crate::exec_support::kernel;
use crate::shipped::machine_with;

/// Returns the default machine with a given rule for shared memory.
pub fn with_rule(rule: &str) -> Machine {
    machine_with("ecrts25-orin", &[&format!("shared_memory.rule={rule}")])
}

/// Simulates one load from shared memory by the lanes of `mask`, `bits` per lane at
/// `address(lane)`. Returns the number of transactions and the cycles from its start to its result.
pub fn access(machine: &Machine, bits: u32, mask: u32, address: impl Fn(u32) -> u32) -> (u32, u64) {
    let load = match bits {
        128 => "ld.shared.v4.u32 {%r10, %r11, %r12, %r13}",
        64 => "ld.shared.u64 %rd12",
        32 => "ld.shared.u32 %r10",
        16 => "ld.shared.u16 %h1",
        _ => "ld.shared.u8 %h1",
    };
    let body = format!(
        ".shared .align 16 .b8 tile[16384];
        mul.wide.u32 %rd10, %r0, 4; add.u64 %rd10, %rd0, %rd10; ld.global.u32 %r1, [%rd10];
        ld.global.u32 %r2, [%rd1]; shr.u32 %r3, %r2, %r0; and.b32 %r3, %r3, 1; setp.ne.u32 %p1, %r3, 0;
        mov.u32 %r4, tile; add.u32 %r4, %r4, %r1;
        @%p1 {load}, [%r4];
        ret;"
    );
    let addresses: Vec<u32> = (0..WARP_SIZE as u32).map(address).collect();
    let mut launch = kernel(32, &body).words(&addresses).words(&[mask]);
    launch.banks = machine.shared_memory().map(|memory| memory.banks());
    let outcome = launch.ok();
    let table = TimingTable::new(&outcome.program, machine).unwrap();
    let steps = outcome.blocks[0].warps[0].steps();
    let shared: Vec<Step> =
        steps.iter().copied().filter(|step| table.bank_transactions(*step).is_some()).collect();
    let [step] = shared[..] else { panic!("one access to shared memory, found {shared:?}") };
    let timing = table.op(step);
    (table.bank_transactions(step).unwrap().0, (timing.init + timing.lat).get())
}
