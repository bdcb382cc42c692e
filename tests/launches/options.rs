//! Options that replace parts of a launch file, names by part, `--dump`.

use crate::support::{json, printed, put, refused, scratch};

#[test]
fn options_replace_what_a_launch_file_says() {
    let plain = json(&["run", "vecadd"], 0);
    let run = |options: &[&str]| json(&[&["run", "vecadd"], options].concat(), 0);
    assert_eq!(plain["blocks"].as_array().map(Vec::len), Some(4));
    assert_eq!(run(&["--grid", "2"])["blocks"].as_array().map(Vec::len), Some(2));
    assert_eq!(run(&["--grid", "1", "--block", "64"])["warps"].as_array().map(Vec::len), Some(2));
    // 32 of 64 threads have an element: by position, by the parameter's name, by the end of it
    let short: Vec<_> = ["3=32", "3=I32(32)", "vecadd_param_3=32", "param_3=32"]
        .iter()
        .map(|arg| run(&["--grid", "1", "--block", "64", "--arg", arg])["thread_instructions"].clone())
        .collect();
    assert!(short.iter().all(|count| *count == short[0]), "{short:?}");
    assert_ne!(short[0], run(&["--grid", "1", "--block", "64"])["thread_instructions"]);
    assert_eq!(run(&["--registers", "200"])["makespan"], plain["makespan"]);

    let dir = scratch("options");
    let dump = format!("c={}", dir.join("c").display());
    let fill = "b=Buffer(name: \"b\", elem: F32, len: 1024, init: Fill(0.25))";
    let iota = "0=Buffer(name: \"a\", elem: F32, len: 1024, init: Iota)";
    run(&["--arg", fill, "--arg", iota, "--dump", &dump]);
    let c = std::fs::read(dir.join("c")).unwrap();
    assert_eq!(c[40..44], 10.25f32.to_le_bytes());
    // one buffer for several parameters, and a pointer into the middle of it
    run(&["--arg", iota, "--arg", "1=Ptr(\"a\", 64)", "--arg", "3=16", "--dump", &dump]);
    let c = std::fs::read(dir.join("c")).unwrap();
    assert_eq!(c[4..8], 18f32.to_le_bytes());
    // without names they form the complete list
    let list = ["Ptr(\"x\")", "Ptr(\"x\")", "Buffer(name: \"x\", elem: F32, len: 99, init: Iota)", "99"];
    let list: Vec<&str> = list.iter().flat_map(|arg| ["--arg", arg]).collect();
    run(&[&list[..], &["--dump", &format!("x={}", dir.join("x").display())]].concat());
    let x = std::fs::read(dir.join("x")).unwrap();
    assert_eq!((x.len(), &x[8..12]), (4 * 99, &4f32.to_le_bytes()[..]));
    // a bare module accepts the same options
    let module = ["run", "kernels/vecadd/vecadd.ptx", "--entry", "vec", "--grid", "1", "--block", "128"];
    assert_eq!(json(&[&module[..], &list].concat(), 0)["kernel"], "vecadd");
}

#[test]
fn wrong_options_are_reported_with_valid_values() {
    let error_message = |options: &[&str]| refused(&[&["run", "vecadd"], options].concat());
    for (options, parts) in [
        (&["--arg", "9=1"][..], vec!["--arg 9=1", "`vecadd` has 4 parameters", "number 0"]),
        (&["--arg", "q=1"], vec!["`q` is no parameter or buffer", "a, b, c, vecadd_param_0"]),
        (
            &["--arg", "3=F64(1.0)"],
            vec!["--arg 3=F64(1.0):1:1", "argument 3", "f64 given", "32-bit", "an argument that fits: I32("],
        ),
        (&["--arg", "3=4294967296"], vec!["4294967296 does not fit", "--arg 3=4294967296"]),
        (&["--arg", "U32(1)"], vec!["takes 4 arguments, 1 given", "args: [", "elem: F32", "I32(256)"]),
        (&["--arg", "0=Ptr(\"d\")"], vec!["no buffer or variable `d`", "there are b, c"]),
        (
            &["--arg", "1=Buffer(name: \"a\", elem: F32, len: 4, init: Zero)"],
            vec!["two buffers `a`", "Ptr(\"a\")"],
        ),
        (&["--block", "2048"], vec!["--block 2048,1,1", "out of range"]),
        (&["--entry", "vecsub"], vec!["no kernel `vecsub`", "vecadd"]),
        (&["--let", "n=3"], vec!["no `let`"]),
    ] {
        let error_message = error_message(options);
        assert!(
            parts.iter().all(|part| error_message.contains(part)),
            "{options:?} {parts:?}:\n{error_message}"
        );
    }
    let module = ["run", "kernels/reduction/reduction.ptx", "--grid", "1", "--block", "32"];
    let several = refused(&[&module[..], &["--entry", "reduce"]].concat());
    assert!(several.contains("part of 7 names") && several.contains("reduce_shfl"), "{several}");
    assert!(refused(&module).contains("name one with --entry"));
    let missing = refused(&[&module[..], &["--entry", "shfl", "--arg", "1=U32(1)"]].concat());
    assert!(missing.contains("argument 0 is missing"), "{missing}");
    assert!(refused(&["run", "fig3", "--block", "1"]).contains("launches of PTX kernels"));
}

const MODULE: &str = ".version 6.3
.target sm_61
.address_size 64
.global .align 4 .u32 _ZN4mine7counterE = 3;
.global .align 8 .u64 _ZL5table[2];
.const .align 4 .u32 factor = 2;
.visible .entry _Z4tickIfEvPT_i(.param .u64 p, .param .u32 n)
{
 .reg .b64 %rd<4>; .reg .b32 %r<4>;
 ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; ld.const.u32 %r3, [factor];
 ld.global.u32 %r2, [_ZN4mine7counterE]; mad.lo.u32 %r2, %r1, %r3, %r2; st.global.u32 [_ZN4mine7counterE], %r2;
 ld.global.u64 %rd2, [_ZL5table+8]; st.global.u32 [%rd2], %r2; ret;
}
.visible .entry _Z4tickIdEvPT_i(.param .u64 p, .param .u32 n) { ret; }
";

#[test]
fn names_are_found_by_their_readable_parts() {
    let dir = scratch("names");
    let module = put(&dir, "k.ptx", MODULE);
    let launch = put(
        &dir,
        "k.ron",
        "Launch(module: \"k.ptx\", entry: \"tick<float>\", grid: (1, 1, 1), block: (1, 1, 1),
            buffers: [ Buffer(name: \"p\", elem: U32, len: 4, init: Zero) ], args: [Ptr(\"p\"), I32(5)],
            symbols: [ Buffer(name: \"table\", elem: Ptr, len: 2, init: Ptrs([Null, Ptr(\"p\", 8)])) ])",
    );
    let dumps: Vec<String> = ["counter", "p", "factor"]
        .iter()
        .map(|name| format!("--dump={name}={}", dir.join(name).display()))
        .collect();
    let dumps: Vec<&str> = dumps.iter().map(String::as_str).collect();
    let result = json(&[&["run", &launch], &dumps[..]].concat(), 0);
    assert_eq!(result["kernel"], "k");
    let word = |name: &str, at: usize| std::fs::read(dir.join(name)).unwrap()[at..at + 4].to_vec();
    assert_eq!(word("counter", 0), 13u32.to_le_bytes());
    assert_eq!(word("factor", 0), 2u32.to_le_bytes());
    assert_eq!(word("p", 8), 13u32.to_le_bytes());
    // another kernel of the module, by a part of its name
    assert_eq!(json(&["run", &launch, "--entry", "double"], 0)["warp_instructions"], 1);
    let both = refused(&["run", &launch, "--entry", "tick"]);
    assert!(both.contains("part of 2 names") && both.contains("void tick<double>(double*, int)"), "{both}");
    let unknown = refused(&["run", &launch, "--dump", "cuonter=x"]);
    assert!(
        unknown.contains("buffers: p") && unknown.contains("_ZN4mine7counterE (mine::counter)"),
        "{unknown}"
    );
    assert!(printed(&["inspect", &module]).contains("C++ name    void tick<float>(float*, int)"));
    assert_eq!(json(&["inspect", &module], 0)["entries"][1]["demangled"], "void tick<double>(double*, int)");
}

#[test]
fn a_template_of_the_command_line_runs_as_it_is() {
    let dir = scratch("template");
    let module = put(&dir, "saxpy.ptx", &std::fs::read_to_string("kernels/saxpy/saxpy.ptx").unwrap());
    let text = printed(&["inspect", &module, "--template"]);
    assert!(text.contains("elem: F32") && text.contains("F32(1.0)"), "{text}");
    let launch = put(&dir, "saxpy.ron", &text);
    assert!(json(&["run", &launch], 0)["makespan"].as_u64() > Some(100));
    let of_reduction = ["inspect", "kernels/reduction/reduction.ptx", "--template"];
    assert!(refused(&of_reduction).contains("name one with --entry"));
    assert!(printed(&[&of_reduction[..], &["--entry", "shfl"]].concat()).contains("entry: \"reduce_shfl\""));
    assert!(refused(&["inspect", "vecadd", "--template"]).contains("name a .ptx file"));
}
