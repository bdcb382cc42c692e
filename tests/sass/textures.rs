//! Textures and surfaces in machine code: what NVIDIA's assembler makes of `tests/data/sass/textures`
//! leaves the bytes that its PTX leaves.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpbound::diag::SourceText;
use warpbound::exec::Options;
use warpbound::load::encoding_of;
use warpbound::program::KernelCode;
use warpbound::program::launch::{Launch, LaunchSpec};
use warpbound::sass::Module;

use crate::launched::after;
use crate::shipped::{isa, root, source};

/// Images of nine columns, seven rows, three slices or four layers, of texels of 16 bytes.
const EXTENTS: [(&str, &str); 5] = [
    ("a1d", ", layers: 4"),
    ("a2d", ", height: 7, layers: 4"),
    ("2d", ", height: 7"),
    ("3d", ", height: 7, depth: 3"),
    ("1d", ""),
];
const TEXELS: usize = 9 * 7 * 4;
/// The number of images, among which threads choose by their handle.
const IMAGES: usize = 4;
const THREADS: usize = 32;

/// Returns the launch of a kernel: its images, its results `o` and its coordinates `i`.
fn launch(entry: &str) -> String {
    let surfaces = entry.starts_with("su");
    // kernels that do not say it have two dimensions
    let found = EXTENTS.iter().find(|(shape, _)| entry.contains(&format!("_{shape}")));
    let extents = found.map_or(", height: 7", |(_, extents)| extents);
    let (kind, list) = if surfaces { ("Surface", "surfaces") } else { ("Texture", "textures") };
    let mut images: Vec<String> = Vec::new();
    for number in 0..IMAGES {
        let address = ["Clamp", "Border", "Wrap", "Mirror"][number];
        let filter = if number % 2 == 0 || entry.starts_with("tld4") { "Point" } else { "Linear" };
        let sampler =
            if surfaces { String::new() } else { format!(", address: [{address}], filter: {filter}") };
        images.push(format!(
            "{kind}(name: \"t{number}\", buffer: \"b\", elem: F32, channels: 4, width: 9{extents}{sampler})"
        ));
    }
    let images = format!("{list}: [{}],", images.join(", "));
    let (images, handle) = match entry {
        "references" => (
            "textures: [Texture(name: \"across\", buffer: \"b\", elem: F32, channels: 4, width: 9)],
             surfaces: [Surface(name: \"below\", buffer: \"b\", elem: F32, channels: 4, width: 9)],"
                .to_owned(),
            String::new(),
        ),
        // the other images come after the first one
        _ if entry.ends_with("_hh") => (images, format!(", {kind}(\"t0\")")),
        _ => (images, format!(", {kind}(\"t1\")")),
    };
    format!(
        "Launch(module: \"textures\", entry: \"{entry}\", grid: (1, 1, 1), block: ({THREADS}, 1, 1),
             buffers: [Buffer(name: \"b\", elem: F32, len: {}, init: Uniform(-1.0, 1.0))],
             {images}
             args: [
                 Buffer(name: \"o\", elem: U32, len: {}, init: Zero),
                 Buffer(name: \"i\", elem: U32, len: {}, init: File(\"i\")){handle}
             ])",
        4 * TEXELS,
        4 * THREADS,
        4 * THREADS,
    )
}

/// Returns the coordinates of a kernel: four words for each thread, often outside of the image.
fn coordinates(entry: &str) -> Vec<u8> {
    let mut random = ChaCha8Rng::seed_from_u64(23);
    let mut words: Vec<u32> = Vec::new();
    let floats = ["_f_", "texl_", "part_", "tld4_"].iter().any(|part| entry.contains(part));
    for thread in 0..THREADS as u32 {
        words.extend(match entry {
            _ if floats => [12.0, 9.0, 4.0, 5.0].map(|end| random.random_range(-2.0_f32..end).to_bits()),
            // a store of each thread to a place of its own, some of them outside
            _ if entry.starts_with("sust") => [16 * (thread % 10), thread / 10 * 3, 2, thread % 5],
            _ if entry.contains("trap") => [16 * (thread % 9), thread % 7, thread % 3, thread % 4],
            _ if entry.starts_with("suld") => [
                16 * random.random_range(0..12),
                random.random_range(0..9),
                random.random_range(0..3),
                thread % 6,
            ],
            "references" => [16 * (thread % 12), 0, 0, 0],
            _ => [12, 9, 4, 6].map(|end| random.random_range(-2..end) as u32),
        });
    }
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// Runs a kernel, and returns the content of `o` and of the images.
fn results(program: &KernelCode, entry: &str) -> [Vec<u8>; 2] {
    let options = Options::default();
    after(program, launch(entry), &coordinates(entry), options, |launch, executor| {
        let named = |name: &str| launch.buffers.iter().position(|buffer| buffer.name == name).unwrap();
        ["o", "b"].map(|name| executor.buffer(named(name)).to_vec())
    })
}

#[test]
fn machine_code_reads_and_writes_images_as_its_ptx_does() {
    let isa = isa();
    let (mut kernels, mut changed) = (0, 0);
    for stem in ["textures", "bindless"] {
        let file = |ending: &str| root().join(format!("tests/data/sass/textures/{stem}.{ending}"));
        let module = warpbound::ptx::Module::parse(&source(&file("ptx"))).unwrap();
        for target in [75, 86, 90, 120] {
            let path = file(&format!("sm_{target}.cubin"));
            let name = path.display().to_string();
            let bytes = std::fs::read(&path).unwrap();
            let encoding = encoding_of(&name, &bytes).unwrap();
            let code = Module::read(&name, &bytes, encoding).unwrap();
            for entry in code.entries() {
                let expected = results(&module.program(entry, &isa).unwrap(), entry);
                let program = code.program(entry, encoding).unwrap_or_else(|problems| panic!("{problems}"));
                assert!(results(&program, entry) == expected, "{name}, {entry}");
                kernels += 1;
                changed +=
                    usize::from(expected[0].iter().any(|&byte| byte != 0) || entry.starts_with("sust"));
            }
        }
    }
    // 25 and 11 kernels for four architectures
    assert_eq!((kernels, changed), (144, 144));
}

/// A reference that a launch does not bind is reported by its name.
#[test]
fn references_of_machine_code_have_to_be_bound() {
    let path = root().join("tests/data/sass/textures/textures.sm_86.cubin");
    let bytes = std::fs::read(&path).unwrap();
    let encoding = encoding_of("textures", &bytes).unwrap();
    let program =
        Module::read("textures", &bytes, encoding).unwrap().program("references", encoding).unwrap();
    let text = launch("references").replace("\"across\"", "\"along\"");
    let source = SourceText::new("textures.ron", text);
    let spec = LaunchSpec::parse(&source).unwrap();
    let error = Launch::new(&spec, &program, 0, &source, &|_, _| Ok(vec![0; 512])).unwrap_err().to_string();
    assert!(error.contains("nothing is bound to the texture reference `across`"), "{error}");
}
