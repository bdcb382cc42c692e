//! Fat binaries with compressed members, and damaged ones. NVIDIA's tool `fatbinary` (13.5) wrote
//! them, with `--compress-all` and the compression modes `speed`, `balance` and `size`.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpbound::sass::Module;

use crate::shipped::{encoding_for, root};

/// The files, each with the machine code of `vecadd` for sm_75 and sm_86: compressed by LZ4 and by
/// Zstandard, and the latter with more effort.
const FILES: [&str; 3] = ["lz4", "zstd", "zstd_size"];
/// The offset of the first member, and those of some fields in it.
const MEMBER: usize = 16;
const PACKED_SIZE: usize = MEMBER + 16;
const FLAGS: usize = MEMBER + 40;
const SIZE: usize = MEMBER + 56;

fn file(name: &str) -> Vec<u8> {
    std::fs::read(root().join(format!("tests/data/sass/vecadd_{name}.fatbin"))).unwrap()
}

fn problem(bytes: &[u8], target: u32) -> String {
    Module::read("x.fatbin", bytes, encoding_for(target)).map(|_| ()).expect_err("a problem").to_string()
}

#[test]
fn compressed_members_are_those_that_were_packed() {
    for name in FILES {
        let bytes = file(name);
        for target in [75, 86] {
            let encoding = encoding_for(target);
            let packed = Module::read(name, &bytes, encoding).unwrap();
            let path = root().join(format!("kernels/vecadd/vecadd.sm_{target}.cubin"));
            let plain = Module::read(name, &std::fs::read(path).unwrap(), encoding).unwrap();
            assert_eq!(packed.listing(encoding), plain.listing(encoding), "{name}, sm_{target}");
            assert_eq!(packed.target(), target);
            assert!(packed.program("vecadd", encoding).is_ok());
        }
        assert!(problem(&bytes, 90).contains("it has sm_86; sm_75"), "{}", problem(&bytes, 90));
    }
}

#[test]
fn damaged_compressed_members_are_named() {
    for name in FILES {
        let good = file(name);
        let with = |at: usize, bytes: &[u8]| {
            let mut file = good.clone();
            file[at..at + bytes.len()].copy_from_slice(bytes);
            problem(&file, 86)
        };
        let shown = with(SIZE, &(1_u64 << 40).to_le_bytes());
        assert!(shown.contains("x.fatbin") && shown.contains("at most 268435456"), "{shown}");
        assert!(shown.contains("member 1 of the fat binary, machine code for sm_86"), "{shown}");
        assert!(shown.contains("-compress=false"), "{shown}");
        for wrong in [with(SIZE, &20_000_000_u64.to_le_bytes()), with(SIZE, &3_u64.to_le_bytes())] {
            let expected = ["cannot expand to", "fewer bytes", "more bytes", "damaged LZ4"];
            assert!(expected.iter().any(|part| wrong.contains(part)), "{wrong}");
        }
        let shown = with(FLAGS, &0x11_u64.to_le_bytes());
        assert!(shown.contains("in a way that is not known (flags 0x11)"), "{shown}");
        let shown = with(PACKED_SIZE, &100_000_u32.to_le_bytes());
        assert!(shown.contains("a damaged fat binary"), "{shown}");
        let shown = with(PACKED_SIZE, &100_u32.to_le_bytes());
        assert!(shown.contains("damaged") || shown.contains("fewer bytes"), "{shown}");
    }
}

/// Whatever the bytes are, nothing panics.
#[test]
fn mutated_compressed_members_are_survived() {
    let mut random = ChaCha8Rng::seed_from_u64(17);
    let (mut read, mut refused) = (0, 0);
    for round in 0..3000 {
        let mut bytes = file(FILES[round % FILES.len()]);
        for _ in 0..random.random_range(1..6) {
            let at = random.random_range(MEMBER..bytes.len());
            bytes[at] = match random.random_range(0..3) {
                0 => random.random(),
                1 => bytes[at] ^ 1 << random.random_range(0..8),
                _ => [0, 0xff][random.random_range(0..2)],
            };
        }
        if random.random_range(0..8) == 0 {
            bytes.truncate(random.random_range(0..bytes.len()));
        }
        let target = [75, 86][round / FILES.len() % 2];
        match Module::read("x.fatbin", &bytes, encoding_for(target)) {
            Ok(module) => {
                module.listing(encoding_for(target));
                read += 1;
            }
            Err(problems) => {
                assert!(!problems.to_string().is_empty());
                refused += 1;
            }
        }
    }
    assert!(read > 300 && refused > 300, "{read} read, {refused} refused");
}
