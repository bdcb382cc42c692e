//! Malformed traces: each gives an error with its position, or a kernel, but never a panic.

use proptest::prelude::*;
use warpbound::base::ProgressMonitor;
use warpbound::exec::Options;
use warpbound::machine::Machine;
use warpbound::path::{BlockPaths, BlockSource};

use super::{VECADD, read_bytes, shipped, workload};

/// Does everything that can be done with a trace. Returns whether it is valid.
pub fn exercise(text: &str, machines: &[Machine]) -> bool {
    exercise_bytes(text.as_bytes(), machines)
}

/// Does the same with a trace in any form.
pub fn exercise_bytes(bytes: &[u8], machines: &[Machine]) -> bool {
    let kernel = match read_bytes(bytes) {
        Ok(kernel) => kernel,
        Err(problems) => {
            assert!(!problems.is_empty() && !problems.to_string().is_empty());
            return false;
        }
    };
    let workload = workload(kernel);
    for machine in machines {
        let monitor = ProgressMonitor::new();
        let mut source = workload.source(Options::of(machine, 1 << 12), &monitor).unwrap();
        let mut paths = BlockPaths::default();
        while source.next_block(&mut paths).is_ok_and(|there| there) {
            assert!(paths.warps.iter().all(|warp| warp.steps().last().is_some_and(|step| step.ends_warp())));
        }
    }
    true
}

pub fn machines() -> Vec<Machine> {
    ["accelsim-sm1", "ecrts25-orin-banks"].map(shipped::machine).into()
}

#[test]
fn truncated_anywhere() {
    let machines = machines();
    let whole = (0..VECADD.len()).filter(|&end| exercise(&VECADD[..end], &machines)).count();
    assert!(whole <= 2, "{whole} pieces are traces");
    assert!(exercise(VECADD, &machines));
}

/// Fragments that occur in traces.
const PIECES: [&str; 26] = [
    "#BEGIN_TB\n",
    "#END_TB\n",
    "thread block = 0,0,0\n",
    "warp = 0\n",
    "warp = 1\n",
    "insts = 1\n",
    "insts = 0\n",
    "insts = 18446744073709551615\n",
    "0000 ffffffff 0 EXIT 0 0\n",
    "0030 ffffffff 1 R2 LDG.E 1 R4 4 1 0xffffffffffffffff 4\n",
    "0040 1 1 R2 LDL.128 1 R4 4 0 0xffffff\n",
    "0050 80000000 1 R2 ATOM.E.ADD 2 R4 R5 4 2 0x7f0000000004\n",
    "0060 ffffffff 0 BAR.ARV 0 0\n",
    "0070 ffffffff 0 DEPBAR.LE 0 0 3\n",
    "0080 3 0 LDGSTS.E.128 2 R1 R2 4 1 0x1 1\n",
    "0090 ffffffff 1 R1 LDSM.16.M88.4 1 R2 4 1 0x3 3\n",
    "00a0 5 0 STS.U8 2 R1 R2 1 2 0x3 -9223372036854775807\n",
    "-grid dim = (4294967295,1,1)\n",
    "-block dim = (1024,1,1)\n",
    "-operands 0010 = R1,R2 R3 R4\n",
    "-register R1 = %x\n",
    "-op class LDG.E = fp32.add\n",
    "-operands = whole\n",
    "-local bytes = 18446744073709551615\n",
    "\n",
    "-kernel name = \n",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn lines_go_missing_double_and_change(edits in prop::collection::vec((0usize..10_000, 0usize..4, 0usize..PIECES.len()), 1..6)) {
        let mut lines: Vec<String> = VECADD.split_inclusive('\n').map(str::to_owned).collect();
        for (at, kind, piece) in edits {
            let at = at % lines.len();
            match kind {
                0 if lines.len() > 1 => { lines.remove(at); }
                1 => { let line = lines[at].clone(); lines.insert(at, line); }
                _ => lines.insert(at, PIECES[piece].to_owned()),
            }
        }
        exercise(&lines.concat(), &machines());
    }

    #[test]
    fn bytes_change(edits in prop::collection::vec((0usize..10_000, any::<u8>()), 1..8)) {
        let mut bytes = VECADD.as_bytes().to_vec();
        for (at, byte) in edits {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        exercise(&String::from_utf8_lossy(&bytes), &machines());
    }
}
