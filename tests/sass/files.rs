//! Cubins and the files that contain them: valid files, damaged files, files for other
//! architectures.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpbound::sass::Module;

use crate::shipped::{encoding, root};

fn cubin(name: &str) -> Vec<u8> {
    std::fs::read(root().join(format!("kernels/{name}/{name}.sm_61.cubin"))).unwrap()
}

#[test]
fn kernels_parameters_and_limits_are_read() {
    let module = Module::read("betts.cubin", &cubin("betts"), encoding()).unwrap();
    assert_eq!(module.target(), 61);
    let all = module.entries();
    assert!(all.contains(&"eigen_cluster") && all.len() == 6, "{all:?}");
    let kernel = module.kernels().iter().find(|kernel| kernel.name == "eigen_cluster").unwrap();
    assert_eq!(kernel.shared_bytes, 0x1410);
    assert_eq!(kernel.param_base, 0x140);
    assert_eq!(kernel.params.first(), Some(&(0, 8)));
    assert_eq!(kernel.constants.len(), 0x18);
    assert!(kernel.registers.is_some_and(|registers| (10..=64).contains(&registers)));
    assert!(kernel.functions.iter().any(|(at, name)| *at == 0x8a0 && name.contains("div_rn")));
}

/// The kernels of a module share constant memory: each has the same bytes, which include the
/// compiler's constants of all kernels.
#[test]
fn constants_of_all_kernels_of_a_module_have_their_own_place() {
    let encoding = encoding();
    let module = Module::read("betts.cubin", &cubin("betts"), encoding).unwrap();
    let memory = |entry: &str| module.program(entry, encoding).unwrap().memory.constants;
    let (first, second) = (memory("eigen_cluster"), memory("eigen_single"));
    assert_eq!((&first.init, first.size), (&second.init, second.size));
    let of = |name: &str| &module.kernels().iter().find(|kernel| kernel.name == name).unwrap().constants;
    for name in ["eigen_cluster", "eigen_single", "eigen_intervals"] {
        let bytes = of(name);
        assert!(!bytes.is_empty() && first.init.chunks(256).any(|chunk| chunk.starts_with(bytes)), "{name}");
    }
}

#[test]
fn damaged_files_give_a_message() {
    let encoding = encoding();
    let good = cubin("vecadd");
    let fails = |bytes: &[u8]| {
        Module::read("x.cubin", bytes, encoding).map(|_| ()).expect_err("no cubin").to_string()
    };
    assert!(fails(b"hello").contains("neither as an ELF file nor as a fat binary"));
    assert!(fails(&[]).contains("not a cubin"));
    for length in [4, 16, 63, 64, 200, 700, good.len() / 2] {
        assert!(!fails(&good[..length]).is_empty());
    }
    let mut other = good.clone();
    // another machine type, then another architecture
    other[0x12] = 62;
    assert!(fails(&other).contains("machine 62"), "{}", fails(&other));
    let mut other = good;
    other[0x30] = 86;
    assert!(fails(&other).contains("sm_86") && fails(&other).contains("sm_61"), "{}", fails(&other));
    // CUDA 13 writes ABI version 8, whose flags contain the architecture in their second byte
    for (flags, name) in [(0x0600_4b04_u32, "sm_75"), (0x0600_5a04, "sm_90"), (0x0600_7802, "sm_120")] {
        other[8] = 8;
        other[0x30..0x34].copy_from_slice(&flags.to_le_bytes());
        assert!(fails(&other).contains(&format!("machine code of {name}")), "{}", fails(&other));
    }
    other[0x30..0x34].copy_from_slice(&0x0600_3d02_u32.to_le_bytes());
    assert_eq!(Module::read("x.cubin", &other, encoding).unwrap().target(), 61);
}

/// Whatever the bytes are, nothing panics and nothing allocates memory without a limit.
#[test]
fn mutated_files_are_survived() {
    let encoding = encoding();
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let sources: Vec<Vec<u8>> = ["vecadd", "betts", "conv2d", "histogram"].map(cubin).to_vec();
    let (mut read, mut refused, mut problems) = (0, 0, 0);
    for round in 0..3000 {
        let mut bytes = sources[round % sources.len()].clone();
        for _ in 0..random.random_range(1..12) {
            let at = random.random_range(0..bytes.len());
            bytes[at] = match random.random_range(0..3) {
                0 => 0xff,
                1 => bytes[at] ^ 1 << random.random_range(0..8),
                _ => random.random(),
            };
        }
        if random.random_range(0..8) == 0 {
            bytes.truncate(random.random_range(0..bytes.len()));
        }
        match Module::read("x.cubin", &bytes, encoding) {
            Ok(module) => {
                read += 1;
                module.listing(encoding);
                for kernel in module.kernels() {
                    problems += module.build(kernel, encoding).problems.len();
                }
            }
            Err(_) => refused += 1,
        }
    }
    assert!(
        read > 500 && refused > 300 && problems > 500,
        "{read} read, {refused} refused, {problems} problems"
    );
}

/// Returns a fat binary: a header, then entries, each with a header.
fn fat(entries: &[(u16, u32, bool, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for &(kind, target, compressed, payload) in entries {
        let mut header = vec![0; 64];
        header[0..2].copy_from_slice(&kind.to_le_bytes());
        header[4..8].copy_from_slice(&64u32.to_le_bytes());
        header[8..16].copy_from_slice(&(payload.len() as u64).to_le_bytes());
        header[16..20].copy_from_slice(&u32::from(compressed).to_le_bytes());
        header[28..32].copy_from_slice(&target.to_le_bytes());
        body.extend(header);
        body.extend_from_slice(payload);
    }
    let mut file = 0xba55_ed50_u32.to_le_bytes().to_vec();
    file.extend([1, 0, 16, 0]);
    file.extend((body.len() as u64).to_le_bytes());
    file.extend(body);
    file
}

#[test]
fn fat_binaries_give_the_machine_code_that_fits() {
    let encoding = encoding();
    let cubin = cubin("vecadd");
    let file = fat(&[(1, 61, false, b"ptx"), (2, 86, false, b"other"), (2, 61, false, &cubin)]);
    assert_eq!(Module::read("x.fatbin", &file, encoding).unwrap().entries(), ["vecadd"]);
    let fails = |file: &[u8]| {
        Module::read("x.fatbin", file, encoding).map(|_| ()).expect_err("nothing fits").to_string()
    };
    let message = fails(&fat(&[(1, 61, false, b"ptx"), (2, 86, false, b"other")]));
    for expected in ["it has PTX for sm_61; sm_86", "wanted: machine code for one of sm_50"] {
        assert!(message.contains(expected), "{message}");
    }
    let message = fails(&fat(&[(1, 61, false, b"ptx"), (2, 86, false, b"other"), (2, 61, true, &cubin)]));
    for expected in ["member 3", "sm_61", "not known", "-compress=false"] {
        assert!(message.contains(expected), "{message}");
    }
    for length in [8, 17, 40, 90, file.len() - 1] {
        assert!(!fails(&file[..length]).is_empty());
    }
}

#[test]
fn unknown_words_are_named_with_their_place() {
    let encoding = encoding();
    let mut bytes = cubin("vecadd");
    let module = Module::read("x.cubin", &bytes, encoding).unwrap();
    let kernel = &module.kernels()[0];
    let at = kernel.at as usize + 0x10;
    bytes[at..at + 8].copy_from_slice(&0x5fff_ffff_ffff_ffff_u64.to_le_bytes());
    let module = Module::read("x.cubin", &bytes, encoding).unwrap();
    let message = module.program("vecadd", encoding).expect_err("an unknown word").to_string();
    for expected in [
        "x.cubin",
        ".text.vecadd+0x10",
        &format!("byte {at:#x}"),
        "0x5fffffffffffffff",
        "nearest known opcode",
    ] {
        assert!(message.contains(expected), "{message}");
    }
    let message = module.program("vecad", encoding).map(|_| ()).unwrap_err().to_string();
    assert!(message.contains("0x5fff"), "a part of a name is enough: {message}");
    let message = module.program("other", encoding).map(|_| ()).unwrap_err().to_string();
    assert!(message.contains("there is no kernel `other`") && message.contains("vecadd"), "{message}");
}
