//! The files that commands write for themselves and each other: times, results, checkpoints.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use warpbound::base::{Fnv1a, ProgressMonitor};
use warpbound::sweep::Manifest;

use super::{Format, Taken, binary, files};

pub const TIMES: Format = Format { name: "times", seeds: times, take: take_times, mutants: 80 };
pub const RESULTS: Format = Format { name: "results", seeds: results, take: take_results, mutants: 60 };
pub const CHECKPOINT: Format =
    Format { name: "checkpoint", seeds: checkpoints, take: take_checkpoint, mutants: 60 };

/// The separator of the parts of an input that represents several files.
const BETWEEN: &[u8] = b"\n=====\n";

fn times() -> Vec<Vec<u8>> {
    let of = |time: &dyn Fn(u64) -> u64| (0..200).map(|run| format!("{}\n", time(run))).collect::<String>();
    let scattered = |run: u64| 1000 + run * run * 7919 % 313;
    let objects: String =
        (0..120).map(|run| format!("{{\"run\":\"{run}\",\"makespan\":{}}}\n", scattered(run))).collect();
    let table: String = (0..120).map(|run| format!("{run},{}.5,x\n", scattered(run))).collect();
    let short = [
        of(&scattered),
        objects,
        format!("run,time,note\n{table}"),
        of(&|run| 90 + run % 7),
        of(&|_| 7),
        of(&|run| run),
    ];
    short.map(String::into_bytes).into_iter().chain(files("tests/data/pwcet", &[".txt"], 8 << 10)).collect()
}

fn take_times(input: &[u8], _: &ProgressMonitor) -> Taken {
    let dir = binary::scratch("fuzz-times");
    let name = if input.starts_with(b"{") { "times.jsonl" } else { "times.csv" };
    fs::write(dir.join(name), input).unwrap();
    let column = if input.starts_with(b"run,time") { "time" } else { "1" };
    let taken = match name {
        "times.csv" => binary::answers(&dir, &["pwcet", name, "--column", column]),
        _ => binary::answers(&dir, &["pwcet", name, "--format", "json"]),
    };
    fs::remove_dir_all(dir).unwrap();
    taken
}

const PLAN: &str = "Sweep(kernels: [Vary(\"four_warps\", {\"block\": [32, 64]})], machines: [\"ecrts25-orin\"], policies: [\"gto\", \"lrr\"])";

/// Returns the manifest and the lines of a small sweep, and the same without checksums.
fn results() -> Vec<Vec<u8>> {
    let dir = binary::scratch("fuzz-sweep");
    fs::write(dir.join("plan.ron"), PLAN).unwrap();
    binary::succeeds(&dir, &["sweep", "plan.ron", "--out", "out"]);
    let [manifest, lines] =
        ["manifest.json", "results.jsonl"].map(|file| fs::read(dir.join("out").join(file)).unwrap());
    vec![[&manifest, BETWEEN, &lines].concat()]
}

/// Returns a line of results with the correct checksum.
fn sealed(line: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(line);
    let record = text
        .rsplit_once(",\"checksum\":\"")
        .map_or(text.clone().into_owned(), |(open, _)| format!("{open}}}"));
    let Some(open) = record.strip_suffix('}') else { return line.to_vec() };
    format!("{open},\"checksum\":\"{:016x}\"}}", Fnv1a::of(record.as_bytes())).into_bytes()
}

/// Returns a manifest with the correct checksum, if it is a manifest at all.
fn sealed_manifest(text: &[u8]) -> Vec<u8> {
    let Ok(mut value) = serde_json::from_slice::<serde_json::Value>(text) else { return text.to_vec() };
    let Ok(manifest) = serde_json::from_value::<Manifest>(value.clone()) else { return text.to_vec() };
    let digest = Fnv1a::of(serde_json::to_string(&manifest).unwrap().as_bytes());
    value["checksum"] = format!("{digest:016x}").into();
    serde_json::to_vec(&value).unwrap()
}

fn take_results(input: &[u8], _: &ProgressMonitor) -> Taken {
    let dir = binary::scratch("fuzz-results");
    let out = dir.join("out");
    fs::create_dir(&out).unwrap();
    fs::write(dir.join("plan.ron"), PLAN).unwrap();
    let at = input.windows(BETWEEN.len()).position(|part| part == BETWEEN).unwrap_or(input.len());
    let (manifest, lines) = (&input[..at], input.get(at + BETWEEN.len()..).unwrap_or_default());
    // mostly with the correct checksums, so that the rest is read
    let (manifest, lines) = match Fnv1a::of(input) % 4 {
        0 => (manifest.to_vec(), lines.to_vec()),
        _ => {
            let lines: Vec<Vec<u8>> = lines.split(|byte| *byte == b'\n').map(sealed).collect();
            (sealed_manifest(manifest), lines.join(&b'\n'))
        }
    };
    fs::write(out.join("manifest.json"), manifest).unwrap();
    fs::write(out.join("results.jsonl"), lines).unwrap();
    let taken = binary::answers(&dir, &["report", "out", "--out", "page.html"]);
    binary::answers(&dir, &["pwcet", "out"]);
    binary::answers(&dir, &["merge", "out", "--out", "merged"]);
    binary::answers(&dir, &["sweep", "plan.ron", "--out", "out", "--resume"]);
    fs::remove_dir_all(dir).unwrap();
    taken
}

const CODE: &str = ".version 6.3\n.target sm_61\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n\
    ld.param.u64 %rd1, [p];\nld.global.u32 %r1, [%rd1];\nadd.s32 %r1, %r1, 1;\nst.global.u32 [%rd1], %r1;\nret;\n}\n";
const APPLICATION: &str = "Program(module: \"k.ptx\", buffers: [Buffer(name: \"x\", elem: U32, len: 64, init: Iota)],\n \
    steps: [Repeat(3, [Launch(entry: \"k\", grid: (1, 1, 1), block: (32, 1, 1), args: [Ptr(\"x\")])])])\n";

fn application(dir: &Path) {
    fs::write(dir.join("k.ptx"), CODE).unwrap();
    fs::write(dir.join("app.ron"), APPLICATION).unwrap();
}

/// Returns checkpoints: the identity of the application, and the uncompressed contents.
fn checkpoints() -> Vec<Vec<u8>> {
    let dir = binary::scratch("fuzz-application");
    application(&dir);
    let of = |machine: &str| {
        binary::succeeds(&dir, &["check", "app.ron", "--machine", machine, "--checkpoint", "c", "--force"]);
        let whole = fs::read(dir.join("c")).unwrap();
        let mut parts = whole.splitn(3, |byte| *byte == b'\n').skip(1);
        let (identity, packed) = (parts.next().unwrap(), parts.next().unwrap());
        let mut inside = Vec::new();
        flate2::read::ZlibDecoder::new(packed).read_to_end(&mut inside).unwrap();
        [identity, BETWEEN, &inside].concat()
    };
    ["ecrts25-orin", "rtx3070-1sm"].map(of).into()
}

fn take_checkpoint(input: &[u8], _: &ProgressMonitor) -> Taken {
    let dir = binary::scratch("fuzz-checkpoint");
    application(&dir);
    let at = input.windows(BETWEEN.len()).position(|part| part == BETWEEN).unwrap_or(input.len());
    let (identity, inside) = (&input[..at], input.get(at + BETWEEN.len()..).unwrap_or_default());
    let mut rest = flate2::write::ZlibEncoder::new([identity, b"\n"].concat(), flate2::Compression::fast());
    rest.write_all(inside).unwrap();
    let rest = rest.finish().unwrap();
    let heading = format!("warpbound checkpoint 1 {} {:016x}\n", rest.len(), Fnv1a::of(&rest));
    fs::write(dir.join("c"), [heading.as_bytes(), &rest].concat()).unwrap();
    let machine =
        if identity.windows(7).any(|part| part == b"rtx3070") { "rtx3070-1sm" } else { "ecrts25-orin" };
    let taken =
        binary::answers(&dir, &["check", "app.ron", "--machine", machine, "--checkpoint", "c", "--resume"]);
    fs::remove_dir_all(dir).unwrap();
    taken
}
