//! Textures and surfaces in launch and program files.

use warpbound::diag::SourceText;
use warpbound::program::image::{AddressMode, Filter};
use warpbound::program::launch::{Arg, Launch, LaunchSpec};
use warpbound::program::layout::{BUFFERS_BASE, GLOBALS_BASE};
use warpbound::program::{KernelCode, template};
use warpbound::ptx::Module;

use crate::support::{isa, json, put, scratch};

const PTX: &str = ".version 7.0\n.target sm_80\n.address_size 64
.global .texref _ZN3lib6sourceE;
.global .surfref sink;
.global .texref unused;
.const .align 4 .b8 table[64];
.visible .entry k(.param .u64 object, .param .u64 out)
{
    .reg .b32 %r<10>; .reg .f32 %f<10>; .reg .b64 %rd<5>;
    mov.u32 %r0, %tid.x;
    cvt.rn.f32.u32 %f8, %r0;
    ld.param.u64 %rd0, [object];
    ld.param.u64 %rd1, [out];
    tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [_ZN3lib6sourceE, {%r0}];
    tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd0, {%f8, %f8}];
    add.u32 %r1, %r1, %r2;
    add.f32 %f1, %f1, %f4;
    shl.b32 %r5, %r0, 2;
    sust.b.1d.b32.trap [sink, {%r5}], %r1;
    st.global.f32 [%rd1], %f1;
    ret;
}
";

fn program() -> KernelCode {
    Module::parse(&SourceText::new("k.ptx", PTX)).unwrap().program("k", &isa()).unwrap()
}

fn launch(fields: &str) -> Result<Launch, String> {
    let text = format!(
        "Launch(module: \"k.ptx\", entry: \"k\", grid: (1, 1, 1), block: (32, 1, 1),
        buffers: [Buffer(name: \"b\", elem: U8, len: 4096, init: Iota)], {fields})"
    );
    let source = SourceText::new("k.ron", text);
    let spec = LaunchSpec::parse(&source).map_err(|problems| problems.to_string())?;
    Launch::new(&spec, &program(), 0, &source, &|_, _| Err(String::new())).map_err(|p| p.to_string())
}

const SINK: &str = "surfaces: [Surface(name: \"sink\", buffer: \"b\", elem: U32, width: 64)],";
const SOURCE: &str = "Texture(name: \"lib::source\", buffer: \"b\", elem: U8, channels: 2, width: 100)";
const ARGS: &str = "args: [Texture(\"t\"), Ptr(\"b\")]";

#[test]
fn references_and_objects_get_their_handles() {
    let launch = launch(&format!(
        "{SINK} {ARGS}, textures: [{SOURCE},
            Texture(name: \"t\", buffer: \"b\", offset: \"16 * 4\", elem: F32, channels: 4, width: 4, height: \"2 + 3\",
                pitch: 128, address: [Wrap, Border], filter: Linear, normalized: true)]"
    ))
    .unwrap();
    let [source, object, sink] = launch.images.as_slice() else { panic!("{:?}", launch.images) };
    assert_eq!((source.handle, source.name.as_str()), (GLOBALS_BASE, "lib::source"));
    assert_eq!((source.image.extent, source.image.pitch, source.image.layers), ([100, 1, 1], 200, 1));
    assert_eq!((sink.handle, sink.sampler), (GLOBALS_BASE + 8, None));
    assert_eq!(launch.args[0], Arg::Value(object.handle.to_le_bytes().to_vec()));
    assert_eq!(
        (object.image.address, object.image.extent, object.image.pitch),
        (BUFFERS_BASE + 64, [4, 5, 1], 128)
    );
    let sampler = object.sampler.unwrap();
    assert_eq!(sampler.address[..2], [AddressMode::Wrap, AddressMode::Border]);
    assert_eq!((sampler.filter, sampler.normalized), (Filter::Linear, true));
    // everything except the names of references has a default
    assert_eq!(source.sampler.unwrap().address, [AddressMode::Clamp; 3]);
}

#[test]
fn wrong_images_are_reported_with_place_and_hint() {
    let t = |fields: &str| {
        launch(&format!("{SINK} {ARGS}, textures: [{SOURCE}, Texture(name: \"t\", buffer: \"b\", {fields})]"))
            .unwrap_err()
    };
    for (message, parts) in [
        (launch(&format!("{SINK} {ARGS}, textures: [{SOURCE}]")).unwrap_err(), vec!["no texture `t`", "lib::source"]),
        (
            launch(&format!("{SINK} args: [Texture(\"sink\"), Null], textures: [{SOURCE}]")).unwrap_err(),
            vec!["`sink` is a surface, not a texture", "k.ron:2"],
        ),
        (
            launch(&format!("{SINK} args: [Null, Null]")).unwrap_err(),
            vec!["nothing is bound to the texture reference `_ZN3lib6sourceE", "Texture(name: \"lib::source\"", "elem: U32"],
        ),
        (
            launch(&format!("args: [Null, Null], textures: [{SOURCE}]")).unwrap_err(),
            vec!["surface reference `sink`", "Surface(name: \"sink\""],
        ),
        (t("elem: F32, width: 1025"), vec!["bytes 0 to 4100 are outside of `b`, which has 4096 bytes"]),
        (t("elem: F32, width: 4, height: 5, pitch: 1024, offset: 4"), vec!["bytes 4 to 4116 are outside"]),
        (t("elem: F32, width: 0"), vec!["a width of 0 is out of range"]),
        (t("elem: F32, width: 4, pitch: 8"), vec!["a pitch of 8 bytes is out of range: a row has 16"]),
        (t("elem: F32, channels: 4, width: 4, offset: 8"), vec!["offset 8 is no multiple of the 16 bytes"]),
        (t("elem: F32, channels: 3, width: 4"), vec!["3 channels: a texel has 1, 2 or 4"]),
        (t("elem: F64, width: 4"), vec!["F64", "U8"]),
        (t("elem: F32, width: 4, depth: 4"), vec!["three dimensions need a height"]),
        (t("elem: F32, width: 4, height: 2, depth: 4, layers: 2"), vec!["have no layers"]),
        (t("elem: U8, width: 4, filter: Linear"), vec!["a linear filter mixes", "NormalizedFloat"]),
        (t("elem: F32, width: 4, address: [Wrap, Wrap]"), vec!["2 address modes, the texture has 1"]),
        (t("elem: U8, channels: 4, width: 4, srgb: true"), vec!["sRGB textures are not simulated"]),
        (t("elem: F32, width: 4, filtre: Linear"), vec!["no field `filtre`", "did you mean `filter`"]),
        (t("elem: F32, width: 4), Texture(name: \"t\", buffer: \"b\", elem: U8, width: 1"), vec!["two textures or surfaces `t`"]),
        (
            launch(&format!("{SINK} {ARGS}, textures: [{SOURCE}, Texture(name: \"t\", buffer: \"a\", elem: U8, width: 1)]"))
                .unwrap_err(),
            vec!["no buffer or variable `a`"],
        ),
        (
            launch(&format!("{SINK} {ARGS}, textures: [{SOURCE}, Texture(name: \"t\", buffer: \"table\", elem: U8, width: 1)]"))
                .unwrap_err(),
            vec!["`table` is in constant memory"],
        ),
    ] {
        assert!(parts.iter().all(|part| message.contains(part)), "{parts:?}:\n{message}");
    }
}

#[test]
fn templates_list_the_images_to_bind() {
    let text = template::launch_file(&program(), "k.ptx");
    for part in [
        "Texture(name: \"lib::source\", buffer: \"lib::source_texels\", elem: U32, channels: 2, width: 65536)",
        "Surface(name: \"sink\", buffer: \"sink_texels\", elem: U32, width: 65536)",
        "Texture(name: \"object\", buffer: \"object_texels\", elem: F32, channels: 4, width: 256, height: 256)",
        "Texture(\"object\"),    // the handle of a texture, .2d",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let source = SourceText::new("template.ron", text);
    let spec = LaunchSpec::parse(&source).unwrap_or_else(|problems| panic!("{problems}"));
    Launch::new(&spec, &program(), 0, &source, &|_, _| Err(String::new())).unwrap_or_else(|p| panic!("{p}"));
}

#[test]
fn programs_bind_textures_anew() {
    let dir = scratch("textures");
    let ptx = ".version 7.0\n.target sm_80\n.address_size 64
.global .texref source;
.visible .entry next(.param .u64 to)
{
    .reg .b32 %r<10>; .reg .b64 %rd<5>;
    mov.u32 %r0, %tid.x;
    ld.param.u64 %rd1, [to];
    tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [source, {%r0}];
    mad.lo.u32 %r1, %r1, 10, 1;
    mul.wide.u32 %rd2, %r0, 4;
    add.s64 %rd1, %rd1, %rd2;
    st.global.u32 [%rd1], %r1;
    ret;
}
";
    put(&dir, "next.ptx", ptx);
    let file = |bind: &str| {
        format!(
            "Program(module: \"next.ptx\",
            buffers: [Buffer(name: \"a\", elem: U32, len: 32, init: Iota), Buffer(name: \"b\", elem: U32, len: 32, init: Zero)],
            textures: [Texture(name: \"source\", buffer: \"a\", elem: U32, width: 32)],
            steps: [Repeat(3, [
                Launch(entry: \"next\", grid: (1, 1, 1), block: (32, 1, 1), args: [Ptr(\"b\")]),
                Swap(\"a\", \"b\"),
                {bind}
            ])])"
        )
    };
    let run = |bind: &str| {
        let path = put(&dir, "next.ron", &file(bind));
        let dump = dir.join("a");
        json(&["run", &path, &format!("--dump=a={}", dump.display())], 0);
        let bytes = std::fs::read(dump).unwrap();
        bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect::<Vec<_>>()
    };
    let bound = run("Bind(Texture(name: \"source\", buffer: \"a\", elem: U32, width: 32)),");
    assert_eq!(bound[..3], [111, 1111, 2111]);
    // names are exchanged, bindings are not; the third launch reads what the second wrote to its
    // own texture
    let mut last = run("");
    last.truncate(3);
    assert_eq!(last, [11, 111, 211]);
}
