//! Machine code on the command line.

use crate::support::{in_dir, json, scratch, stderr, stdout, warpbound};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

const CUBIN: &str = "kernels/imatmul_tiled/imatmul_tiled.sm_61.cubin";

#[test]
fn a_cubin_runs_under_the_launches_beside_it() {
    let checked = json(&["check", CUBIN], 0);
    let names: Vec<&str> =
        checked["results"].as_array().unwrap().iter().map(|r| r["kernel"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 5, "{names:?}");
    assert!(names.iter().any(|name| name.ends_with("imatmul_tiled_4x4@sm_61")), "{names:?}");
    assert_eq!(checked["verdict"], "holds");

    let output = warpbound(&["run", CUBIN]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("5 launches in its folder")
            && stderr(&output).contains("imatmul_tiled_8x8.ron@sm_61")
    );

    // a launch from options
    let args = ["run", "kernels/vecadd/vecadd.sm_61.cubin", "--grid", "1", "--block", "32"];
    let missing = warpbound(&args);
    assert_eq!(missing.status.code(), Some(1));
    let buffer = |name: &str| format!("Buffer(name: \"{name}\", elem: F32, len: 32, init: Iota)");
    let (a, b, c) = (buffer("a"), buffer("b"), buffer("c"));
    let whole = [&args[..], &["--arg", &a, "--arg", &b, "--arg", &c, "--arg", "32"]].concat();
    assert_eq!(json(&whole, 0)["results"][0]["verdict"], "holds");
}

#[test]
fn machine_code_leaves_the_same_memory_as_ptx() {
    let dir = scratch("machine-code");
    let dump = |kernel: &str| {
        let output = in_dir(&dir, &["run", kernel, "--dump", "c=c.bin", "--force"]);
        assert!(output.status.success(), "{}", stderr(&output));
        std::fs::read(dir.join("c.bin")).unwrap()
    };
    assert_eq!(dump("vecadd"), dump("vecadd@sm_61"));
    let instructions =
        |kernel: &str| json(&["run", kernel], 0)["results"][0]["warp_instructions"].as_u64().unwrap();
    assert_eq!(
        instructions("vecadd@sm_61"),
        json(&["run", "vecadd", "--compiler", "sm_61"], 0)["results"][0]["warp_instructions"]
    );
    assert!(instructions("vecadd@sm_61") > 0);
}

/// On a machine with the latencies that the compiler assumes, results are available when they are
/// read; if units take longer, or queue, they are not. One kernel relies on reads of shared memory
/// to complete in order.
#[test]
fn runs_report_whether_control_codes_wait_long_enough() {
    let notes = |kernel: &str, machine: &str| {
        let args =
            ["check", kernel, "--machine", machine, "--set", "dependences=ControlCodes", "--self-check"];
        json(&args, 0)["results"][0]["notes"].to_string()
    };
    for kernel in
        ["imatmul_tiled", "sgemm_naive", "bitonic_shared", "montecarlo_pi", "histogram", "nbody_forces"]
    {
        let kernel = format!("{kernel}@sm_61");
        let message = notes(&kernel, "jetson-tx2");
        assert!(
            message.contains("in this run, every result was available when it was read"),
            "{kernel}: {message}"
        );
        let message = notes(&kernel, "ecrts25-orin");
        assert!(
            message.contains("reads issued before it was there") && message.contains("too early"),
            "{kernel}: {message}"
        );
    }
    let message = notes("fft_radix2@sm_61", "jetson-tx2");
    assert!(message.contains("control codes: 1 pairs"), "{message}");
    assert!(message.contains("fft_radix2+0x3d8 may read R13 of"), "{message}");
}

#[test]
fn control_codes_are_compared_with_dependences() {
    let checked = json(&["check", "layernorm_welford@sm_61", "--self-check"], 0);
    let notes = checked["results"][0]["notes"].to_string();
    assert!(
        notes.contains("control codes: waits at barriers release") && notes.contains("; 0 dependences"),
        "{notes}"
    );
    let without = json(&["check", "layernorm_welford@sm_61"], 0)["results"][0]["notes"].to_string();
    assert!(!without.contains("control codes"), "{without}");
}

/// From Turing on, every way through the code is checked.
#[test]
fn later_control_codes_are_compared_on_every_way() {
    for kernel in ["vecadd@sm_75", "reduce5@sm_86", "vecadd@sm_90", "reduce5@sm_120"] {
        let notes = json(&["check", kernel, "--self-check"], 0)["results"][0]["notes"].to_string();
        let all = "dependences between two instructions on any way through the code, 0 are not covered";
        assert!(notes.contains(all) && !notes.contains("too early:"), "{kernel}: {notes}");
    }
}

#[test]
fn inspection_shows_what_is_in_a_cubin() {
    let found = json(&["inspect", CUBIN, "--disasm"], 0);
    let is = &found["results"][0];
    assert_eq!((&is["kind"], &is["target"]), (&"cubin".into(), &"sm_61".into()));
    let kernel = &is["kernels"][0];
    assert_eq!(kernel["params"][3]["size_bytes"], 4);
    let first = &kernel["disassembly"][0];
    assert_eq!(
        (&first["byte"], &first["text"], &first["stall"]),
        (&8.into(), &"MOV R1, c[0x0][0x20]".into(), &6.into())
    );
    assert_eq!(
        kernel["disassembly"].as_array().unwrap().len() as u64,
        kernel["instructions"].as_u64().unwrap()
    );

    let text = stdout(&warpbound(&["inspect", CUBIN]));
    assert!(
        text.contains("kernel imatmul_tiled") && text.contains("XMAD") && !text.contains("c[0x0][0x20]"),
        "{text}"
    );
    let texture = stdout(&warpbound(&["inspect", "kernels/texture/texture.sm_61.cubin"]));
    assert!(texture.contains("cannot be simulated") && texture.contains("image_turn+0x138"), "{texture}");
}

#[test]
fn invalid_machine_code_is_reported() {
    let dir = scratch("machine-code-bad");
    std::fs::write(dir.join("x.cubin"), b"\x7fELF nothing").unwrap();
    let ptx = format!("{ROOT}/kernels/vecadd/vecadd.ptx");
    for (args, expected) in [
        (vec!["inspect", "x.cubin"], "not a 64-bit ELF file"),
        (vec!["check", "x.cubin"], "not a 64-bit ELF file"),
        (vec!["inspect", "none.cubin"], "No such file"),
        (vec!["run", "vecadd@sm_35"], "vecadd.sm_35.cubin"),
        (vec!["inspect", &ptx, "--disasm"], "--disasm shows machine code"),
        (vec!["run", "texture@sm_61"], "no embedded kernel of this name"),
        (vec!["run", "image_turn@sm_61"], "0xd820050ff0770404 is not a known instruction"),
    ] {
        let output = in_dir(&dir, &args);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {}", stdout(&output));
        assert!(stderr(&output).contains(expected), "{args:?}: {}", stderr(&output));
    }
}
