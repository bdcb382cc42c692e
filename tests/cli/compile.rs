//! `compile` and `headers`: the compilers that are found, what is written, and the source lines that
//! other commands show.
//!
//! Compilers that stand for the real ones are scripts. Tests with a real clang or NVRTC do nothing
//! where there is none.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use super::support::{command, in_dir, json_in, names, scratch, shell, stderr, stdout};

const HALVE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/examples/halve.cu");

/// PTX with source lines. `HERE` stands for the working directory.
const PTX: &str = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry twice(.param .u64 p)\n{\n\
                   .reg .b32 %r<4>;\n.reg .b64 %rd<5>;\n.reg .pred %q<2>;\n.loc 1 3 5\nld.param.u64 %rd1, [p];\n\
                   mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nL:\n.loc 1 4 5\n\
                   ld.global.u32 %r2, [%rd3];\n.loc 2 7 5\nadd.u32 %r3, %r2, %r2;\n.loc 1 5 5\n\
                   st.global.u32 [%rd3], %r3;\nsetp.lt.u32 %q1, %r3, 50;\n@%q1 bra L;\n.loc 1 0 5\nret;\n}\n\
                   \t.file\t1 \"HERE/src/twice.cu\", 1700000000, 99\n.file 2 \"/elsewhere/lib.cuh\"\n";
const CU: &str = "// doubles\n__global__ void twice(unsigned *p) {\n  p += threadIdx.x;\n  do {\n    *p *= 2;\n  } while (*p < 50);\n}\n";

/// Writes a program that a shell interprets.
fn script(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, format!("#!/bin/sh\n{text}")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Writes a script that takes the place of nvcc: it writes its options to `options` and PTX to the
/// output.
pub fn fake_nvcc(bin: &Path) {
    let text = format!(
        "if [ \"$1\" = --version ]; then echo 'Cuda compilation tools, release 12.4, V12.4.131'; exit; fi\n\
         echo \"$@\" > options\nfor last; do :; done\nhere=$(pwd -P)\nsed \"s|HERE|$here|\" > \"$last\" <<'END'\n{PTX}END\n"
    );
    script(&bin.join("nvcc"), &text);
}

/// Returns a folder with the source, and with scripts in `bin`.
fn folder(name: &str) -> PathBuf {
    let dir = scratch(name);
    std::fs::create_dir_all(dir.join("src")).unwrap();
    std::fs::create_dir_all(dir.join("bin")).unwrap();
    std::fs::write(dir.join("src/twice.cu"), CU).unwrap();
    dir
}

/// Runs the binary with programs from `bin` and the basic folders alone, without those in which a
/// compiler is usually installed.
fn with_bin(dir: &Path, args: &[&str]) -> Output {
    let mut command = command(dir, args);
    command.env("PATH", dir.join("bin"));
    for variable in ["VIRTUAL_ENV", "CUDA_HOME", "CUDA_PATH"] {
        command.env_remove(variable);
    }
    command.output().unwrap()
}

/// Makes the programs that scripts need available to scripts alone.
fn basics(text: &str) -> String {
    format!("PATH=/usr/bin:/bin; export PATH\n{text}")
}

fn nvcc(dir: &Path, text: &str) {
    let version = "if [ \"$1\" = --version ]; then echo 'release 12.4, V12.4.131'; exit; fi\n";
    script(&dir.join("bin/nvcc"), &basics(&format!("{version}{text}")));
}

fn result(output: &Output) -> Value {
    crate::json_output::read(&output.stdout)
}

#[test]
fn nvcc_is_found_and_its_ptx_is_written() {
    let dir = folder("compile-nvcc");
    fake_nvcc(&dir.join("bin"));
    let script = std::fs::read_to_string(dir.join("bin/nvcc")).unwrap();
    std::fs::write(dir.join("bin/nvcc"), script.replacen('\n', &format!("\n{}", basics("")), 1)).unwrap();
    let args = ["compile", "src/twice.cu", "--arch", "sm_86", "-D", "N=4", "-I", "inc"];
    let output = with_bin(&dir, &[&args[..], &["--", "-O1"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    for part in [
        "compiled src/twice.cu for sm_86 with nvcc 12.4 (",
        "wrote twice.ptx: 1 kernel\n  twice\n",
        "  warpbound inspect twice.ptx --template > twice.ron\n  warpbound run twice.ron\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let options = std::fs::read_to_string(dir.join("options")).unwrap();
    assert!(options.starts_with("-ptx -arch=sm_86 -lineinfo -DN=4 -Iinc -O1 src/twice.cu -o "), "{options}");
    // no folder and no time is in the PTX, and nothing else is left
    let ptx = std::fs::read_to_string(dir.join("twice.ptx")).unwrap();
    assert!(ptx.starts_with("// src/twice.cu, compiled by nvcc 12.4: -ptx -arch=sm_86 -lineinfo "), "{ptx}");
    assert!(ptx.contains("\t.file\t1 \"src/twice.cu\"\n"), "{ptx}");
    assert_eq!(names(&dir), ["bin", "options", "src", "twice.ptx"]);
    // an existing file is kept
    let again = with_bin(&dir, &args);
    assert!(again.status.code() == Some(1) && stderr(&again).contains("--force replaces it"));
    let forced = with_bin(&dir, &[&args[..], &["--force", "--no-lineinfo", "--format", "json"]].concat());
    let found = result(&forced);
    assert_eq!(found["results"][0]["kernels"], serde_json::json!([{"kernel": "twice", "supported": true}]));
    let options = serde_json::json!(["-ptx", "-arch=sm_86", "-DN=4", "-Iinc"]);
    assert_eq!(found["results"][0]["compiler"]["options"], options);
    let printed = with_bin(&dir, &["compile", "src/twice.cu", "--out", "-", "--compiler", "nvcc"]);
    assert!(stdout(&printed).starts_with("// src/twice.cu, compiled by nvcc 12.4: -ptx -arch=sm_80"));
}

#[test]
fn messages_of_a_compiler_have_places() {
    let dir = folder("compile-messages");
    nvcc(
        &dir,
        "echo 'src/twice.cu(5): error: no operator \"*=\"\n      *p *= 2;\n         ^\n' >&2; exit 2\n",
    );
    let output = with_bin(&dir, &["compile", "src/twice.cu"]);
    let expected =
        "error: no operator \"*=\"\n  --> src/twice.cu:5:8\n   |\n 5 |     *p *= 2;\n   |        ^\n";
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(1), expected));
    nvcc(&dir, "echo \"src/twice.cu:1:10: fatal error: x.h: No such file or directory\" >&2; exit 1\n");
    let missing = result(&with_bin(&dir, &["compile", "src/twice.cu", "--format", "json"]));
    let error = &missing["errors"][0];
    assert_eq!(
        (&error["file"], &error["line"], &error["column"]),
        (&"src/twice.cu".into(), &1.into(), &10.into())
    );
    assert!(error["hint"].as_str().unwrap().contains("-I DIR"), "{missing}");
    nvcc(&dir, "echo \"nvcc fatal   : Unsupported gpu architecture 'compute_85'\"; exit 1\n");
    let unknown = stderr(&with_bin(&dir, &["compile", "src/twice.cu", "--arch", "sm_85"]));
    assert!(unknown.contains("nvcc 12.4 does not know this architecture\n  --> --arch sm_85\n"), "{unknown}");
    nvcc(&dir, "echo 'something else'; exit 1\n");
    let other = stderr(&with_bin(&dir, &["compile", "src/twice.cu"]));
    assert!(other.contains("nvcc 12.4 failed: something else\n  --> src/twice.cu"), "{other}");
    // a file that cannot be read as PTX is written all the same
    nvcc(
        &dir,
        "for last; do :; done; echo 'src/twice.cu(2): warning #1-D: odd' >&2; echo 'no PTX' > $last\n",
    );
    let broken = with_bin(&dir, &["compile", "src/twice.cu"]);
    assert_eq!(broken.status.code(), Some(1));
    assert!(stderr(&broken).contains("src/twice.cu:2: odd") && stderr(&broken).contains("--> twice.ptx:"));
    assert!(dir.join("twice.ptx").exists());
}

#[test]
fn what_cannot_be_compiled_is_refused() {
    let dir = folder("compile-refused");
    std::fs::write(dir.join("k.ptx"), PTX).unwrap();
    for (args, code, message) in [
        (&["no.cu"][..], 1, "No such file or directory"),
        (&["src"], 1, "this is a directory"),
        (&["k.ptx"], 1, "warpbound inspect k.ptx"),
        (&["-"], 1, "name a file"),
        (&["src/twice.cu", "--arch", "ampere"], 2, "such as sm_80, sm_86 or sm_90a"),
        (&["src/twice.cu", "--out", "src/twice.cu", "--force"], 1, "which is read"),
        (&["src/twice.cu", "--out", "no/k.ptx"], 1, "create its folder first"),
        (&["src/twice.cu", "--compiler", "gcc"], 1, "there is no such program"),
        (&["src/twice.cu", "--compiler", "/bin/sh"], 1, "none of the compilers that are known"),
        (&["src/twice.cu", "--out", "-", "--format", "json"], 1, "only the PTX is printed"),
    ] {
        let output = with_bin(&dir, &[&["compile"], args].concat());
        let text = stderr(&output) + &stdout(&output);
        assert!(output.status.code() == Some(code) && text.contains(message), "{args:?}: {text}");
    }
    if !Path::new("/usr/local/cuda/bin/nvcc").exists() {
        let none = stderr(&with_bin(&dir, &["compile", "src/twice.cu"]));
        for part in [
            "no compiler of CUDA was found",
            "`pip install nvidia-cuda-nvrtc-cu12`",
            "nvptx64",
            "nvcc (",
            "NVRTC",
        ] {
            assert!(none.contains(part), "{part}: {none}");
        }
    }
    assert_eq!(names(&dir), ["bin", "k.ptx", "src"]);
}

#[test]
fn the_next_compiler_is_taken_if_one_lacks_the_target_or_the_architecture() {
    let dir = folder("compile-next");
    // like clang on a system without NVPTX
    script(&dir.join("bin/clang"), "echo '  x86-64 - 64-bit X86'\n");
    nvcc(&dir, "echo \"nvcc fatal   : Unsupported gpu architecture 'compute_80'\"; exit 1\n");
    let python = "if [ \"$3\" = find ]; then echo '{\"version\": [13, 0], \"architectures\": [80, 120]}'; exit; fi\n\
                  cat > job\ncat <<'END'\n{\"log\": \"\", \"ptx\": \".version 8.0\\n.target sm_80\\n\"}\nEND\n";
    script(&dir.join("bin/python3"), &basics(python));
    let found = result(&with_bin(&dir, &["compile", "src/twice.cu", "--format", "json"]));
    let compiler = &found["results"][0]["compiler"];
    assert_eq!((&compiler["kind"], &compiler["version"]), (&"NVRTC".into(), &"13.0".into()), "{found}");
    let job: Value = serde_json::from_slice(&std::fs::read(dir.join("job")).unwrap()).unwrap();
    assert_eq!((&job["name"], &job["source"]), (&"src/twice.cu".into(), &CU.into()));
    assert!(job["headers"]["nvrtc_min.h"].as_str().unwrap().contains("WB_INLINE"));
    assert!(job["headers"]["stdint.h"].as_str().unwrap().contains("uint32_t"));
    assert!(job["options"].as_array().unwrap().contains(&"--gpu-architecture=compute_80".into()), "{job}");
    let unknown = stderr(&with_bin(&dir, &["compile", "src/twice.cu", "--arch", "sm_90", "-o", "k.ptx"]));
    assert!(
        unknown.contains("it knows sm_80, sm_120") && unknown.contains("nvcc 12.4 does not know"),
        "{unknown}"
    );
    let clang = stderr(&with_bin(&dir, &["compile", "src/twice.cu", "--compiler", "clang", "-o", "k.ptx"]));
    assert!(clang.contains("bin/clang has no target nvptx64"), "{clang}");
}

#[test]
fn a_compiler_is_ended_with_the_command() {
    let dir = folder("compile-stopped");
    nvcc(&dir, "sleep 20\n");
    let began = std::time::Instant::now();
    let output = with_bin(&dir, &["--time-limit", "0.2", "compile", "src/twice.cu", "--compiler", "nvcc"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(began.elapsed().as_secs() < 15 && names(&dir) == ["bin", "src"]);
}

#[test]
fn the_headers_are_those_of_the_repository() {
    let dir = scratch("headers");
    let output = in_dir(&dir, &["headers", "new/headers"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let same = "diff -r new/headers \"$0\" && echo same";
    let compare = || {
        let include = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/include");
        let output = Command::new("sh").args(["-c", same, include]).current_dir(&dir).output().unwrap();
        stdout(&output).ends_with("same\n")
    };
    assert!(compare());
    std::fs::write(dir.join("new/headers/cuda.h"), "mine").unwrap();
    let again = in_dir(&dir, &["headers", "new/headers"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(stderr(&again).contains("the file is there already") && !compare());
    assert_eq!(in_dir(&dir, &["headers", "new/headers", "--force"]).status.code(), Some(0));
    assert!(compare());
}

/// Compiles the example and runs it, and compiles it again elsewhere with the same result.
fn compiles_and_runs(name: &str, compiler: &str) {
    let dir = scratch(name);
    std::fs::create_dir(dir.join("other")).unwrap();
    for folder in ["", "other"] {
        std::fs::copy(HALVE, dir.join(folder).join("halve.cu")).unwrap();
        let output = in_dir(&dir.join(folder), &["compile", "halve.cu", "--compiler", compiler]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    let ptx = std::fs::read_to_string(dir.join("halve.ptx")).unwrap();
    assert!(ptx.contains(".loc\t1 ") && ptx.contains(".file\t1 \"halve.cu\"\n"), "{ptx}");
    assert_eq!(std::fs::read_to_string(dir.join("other/halve.ptx")).unwrap(), ptx);
    let run = shell(&dir, "$W inspect halve.ptx --template > halve.ron && $W run halve.ron --format json");
    let run = crate::json_output::read(&run.stdout);
    let lost = run["results"][0]["lost_cycles"].as_array().unwrap();
    assert!(lost.iter().any(|lost| lost["waiting"]["source"]["file"] == "halve.cu"), "{run}");
}

#[test]
fn clang_compiles_with_our_headers() {
    for compiler in ["clang", "clang-14", "clang-16", "clang-19"] {
        let targets = Command::new(compiler).arg("--print-targets").output();
        if targets.is_ok_and(|output| stdout(&output).contains("nvptx64")) {
            compiles_and_runs(&format!("compile-{compiler}"), compiler);
        }
    }
}

#[test]
fn nvrtc_compiles_with_our_headers() {
    let python = std::env::var("WARPBOUND_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let there = Command::new(&python).args(["-c", "import nvidia.cuda_nvrtc"]).output();
    if there.is_ok_and(|output| output.status.success()) {
        compiles_and_runs("compile-nvrtc", &python);
    }
}

/// Returns a folder with `twice.ptx` and a launch of it, and with the source.
fn lines(name: &str) -> PathBuf {
    let dir = folder(name);
    std::fs::write(dir.join("twice.ptx"), PTX.replace("HERE/", "")).unwrap();
    let launch = "Launch(module: \"twice.ptx\", entry: \"twice\", grid: (1, 1, 1), block: (64, 1, 1),\n    \
                  args: [Buffer(name: \"p\", elem: U32, len: 64, init: Uniform(1, 9))])";
    std::fs::write(dir.join("twice.ron"), launch).unwrap();
    dir
}

#[test]
fn lost_cycles_and_branches_have_source_lines() {
    let dir = lines("lines-run");
    let run = json_in(&dir, &["run", "twice.ron", "--explain"], 0)["results"][0].clone();
    let waits = run["lost_cycles"].as_array().unwrap();
    let add = waits.iter().find(|lost| lost["waiting"]["text"] == "add.u32 %r3, %r2, %r2").unwrap();
    // a file that is not found has no text
    assert_eq!(add["waiting"]["source"], serde_json::json!({"file": "/elsewhere/lib.cuh", "line": 7}));
    let load = serde_json::json!({"file": "src/twice.cu", "line": 4, "text": "do {"});
    assert_eq!(add["producer"]["source"], load);
    let store = serde_json::json!({"file": "src/twice.cu", "line": 5, "text": "*p *= 2;"});
    assert_eq!(run["divergence"]["branches"][0]["source"], store);
    let path = run["explanation"]["lines"].as_array().unwrap();
    assert!(path.iter().any(|row| row["instruction"]["source"] == load), "{run}");
    // an instruction without a line has none
    let ret = |row: &&Value| row["instruction"]["text"] == "ret";
    assert!(path.iter().filter(ret).all(|row| row["instruction"].get("source").is_none()));
    let text = stdout(&in_dir(&dir, &["run", "twice.ron", "--explain", "-v"]));
    for part in
        ["; from lib.cuh:7\n", "; from lib.cuh:7 ", "; from twice.cu:4: do {", "; from twice.cu:5: *p *= 2"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    // without the marks the output has no word of it
    let plain: String =
        PTX.lines().filter(|line| !line.starts_with(".loc")).map(|line| format!("{line}\n")).collect();
    std::fs::write(dir.join("twice.ptx"), plain).unwrap();
    let plain = stdout(&in_dir(&dir, &["run", "twice.ron", "--explain", "-v"]));
    assert!(!plain.contains("from twice.cu") && !plain.contains("lib.cuh"), "{plain}");
}

#[test]
fn comparisons_have_source_lines() {
    let dir = lines("lines-why");
    let runs = ["twice.ron", "twice.ron --mem-latency 500"];
    let why = json_in(&dir, &["why", runs[0], runs[1]], 0)["results"][0].clone();
    assert_eq!(why["causes"][0]["instruction"]["source"]["line"], 4, "{why}");
    let text = stdout(&in_dir(&dir, &["why", runs[0], runs[1]]));
    assert!(text.contains("ld.global.u32 %r2, [%rd3]; from twice.cu:4: do {"), "{text}");
    let diff = stdout(&in_dir(&dir, &["diff", runs[0], runs[1]]));
    assert!(diff.contains("; from twice.cu:4: do {"), "{diff}");
    // the lines pass through files, and are on pages
    let both = "for l in 100 500; do $W run twice.ron --explain --mem-latency $l --format json > $l.json; done; \
                $W diff 100.json 500.json && $W report 100.json 500.json --html page.html";
    let output = shell(&dir, both);
    assert!(stdout(&output).contains("; from twice.cu:4: do {"), "{}", stderr(&output));
    let page = std::fs::read_to_string(dir.join("page.html")).unwrap();
    assert!(page.contains("twice.cu:4: do {"));
}

#[test]
fn loops_and_errors_have_source_lines() {
    let dir = lines("lines-static");
    let unbounded = stderr(&in_dir(&dir, &["static", "twice.ron"]));
    assert!(
        unbounded.contains("--loop-bound 16=N; line 16 was made from src/twice.cu:4: do {\n"),
        "{unbounded}"
    );
    let args = ["static", "twice.ron", "--loop-bound", "16=9"];
    let bounded = json_in(&dir, &args, 0)["results"][0].clone();
    let source = serde_json::json!({"file": "src/twice.cu", "line": 4, "text": "do {"});
    assert_eq!(bounded["loop_bounds"][0]["source"], source);
    let text = stdout(&in_dir(&dir, &args));
    assert!(text.contains("the loop of line 16 (from twice.cu:4) goes back at most 9 times"), "{text}");
    // an access outside of the buffer
    let launch = std::fs::read_to_string(dir.join("twice.ron")).unwrap();
    std::fs::write(dir.join("small.ron"), launch.replace("len: 64", "len: 8")).unwrap();
    let outside = stderr(&in_dir(&dir, &["run", "small.ron"]));
    assert!(outside.contains("line 16 was made from src/twice.cu:4: do {"), "{outside}");
}
