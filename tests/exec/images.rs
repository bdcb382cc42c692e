//! Textures and surfaces, compared with plain references.

use crate::exec_support::{Kernel, kernel};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpbound::exec::races::{AccessKind, BlockOrder};
use warpbound::isa::Space;
use warpbound::path::LineUse;
use warpbound::program::image::{
    AddressMode, Bound, Channel, Filter, Format, Geometry, Image, ReadMode, Sampler, object_handle,
};
use warpbound::program::layout::{BUFFERS_BASE, GLOBALS_BASE};

const MODES: [AddressMode; 4] =
    [AddressMode::Clamp, AddressMode::Border, AddressMode::Wrap, AddressMode::Mirror];

/// Returns an image at the start of buffer 0, by rows without padding.
fn image(elem: Channel, channels: u8, dims: u8, extent: [u32; 3]) -> Image {
    let format = Format { elem, channels };
    let geometry = Geometry { dims, layered: false };
    let pitch = u64::from(extent[0]) * format.size();
    Image { address: BUFFERS_BASE, geometry, extent, layers: 1, pitch, format }
}

fn point() -> Sampler {
    let address = [AddressMode::Clamp; 3];
    Sampler { address, filter: Filter::Point, normalized: false, read: ReadMode::Element }
}

fn bound(image: Image, sampler: Option<Sampler>) -> Bound {
    Bound { handle: object_handle(0), name: "t".into(), image, sampler }
}

/// Fetches at one coordinate per thread, through an object or a reference; returns four words for
/// each.
fn fetch(texels: &[u8], texture: Bound, opcode: &str, coords: &[[u32; 4]]) -> Vec<[u32; 4]> {
    let operand = match texture.handle {
        GLOBALS_BASE => "ref".to_owned(),
        handle => {
            assert_eq!(handle, object_handle(0));
            "%rd10".to_owned()
        }
    };
    let needed = match &texture.image.geometry {
        Geometry { dims: 1, layered: false } => "{%f0}",
        Geometry { dims: 2, layered: false } => "{%f0, %f1}",
        Geometry { dims: 1, layered: true } => "{%f0, %f1}",
        _ => "{%f0, %f1, %f2, %f2}",
    };
    let body = format!(
        "mov.u64 %rd10, {};
         mul.wide.u32 %rd4, %r0, 16; add.s64 %rd5, %rd1, %rd4; add.s64 %rd6, %rd2, %rd4;
         ld.global.v4.b32 {{%f0, %f1, %f2, %f3}}, [%rd5];
         {opcode} {{%r1, %r2, %r3, %r4}}, [{operand}, {needed}];
         st.global.v4.b32 [%rd6], {{%r1, %r2, %r3, %r4}}; ret;",
        texture.handle
    );
    let mut launch = kernel(coords.len() as u32, &body).module(".global .texref ref;");
    launch.buffers.push(texels.to_vec());
    launch = launch.words(coords.as_flattened()).zeros(16 * coords.len());
    launch.images.push(texture);
    launch.ok().words(2).chunks(4).map(|four| four.try_into().unwrap()).collect()
}

/// Returns one coordinate per lane, with the others zero.
fn along_x(coords: &[u32]) -> Vec<[u32; 4]> {
    coords.iter().map(|&x| [x, 0, 0, 0]).collect()
}

#[test]
fn linear_memory_is_read_by_reference_and_by_object() {
    let texels: Vec<u8> = (0..10u32).flat_map(|i| (100 + i).to_le_bytes()).collect();
    let at = [0, 9, 10, 5, u32::MAX, i32::MIN as u32, i32::MAX as u32, 4];
    let expected = [100, 109, 0, 105, 0, 0, 0, 104].map(|x| [x, 0, 0, 0]);
    for handle in [object_handle(0), GLOBALS_BASE] {
        let linear = Bound { handle, ..bound(image(Channel::U32, 1, 1, [10, 1, 1]), Some(point())) };
        for opcode in ["tex.1d.v4.u32.s32", "tex.1d.v4.s32.s32", "tex.base.1d.v4.f32.s32"] {
            assert_eq!(fetch(&texels, linear.clone(), opcode, &along_x(&at)), expected, "{opcode}");
        }
    }
    // address modes apply to floating-point coordinates
    let wrap = Sampler { address: [AddressMode::Wrap; 3], normalized: true, ..point() };
    let texture = bound(image(Channel::U32, 1, 1, [10, 1, 1]), Some(wrap));
    assert_eq!(fetch(&texels, texture, "tex.1d.v4.u32.s32", &along_x(&at)), expected);
}

#[test]
fn channels_and_formats_fill_the_registers() {
    let bytes: Vec<u8> = (0..64).map(|i| 200u8.wrapping_add(7u8.wrapping_mul(i))).collect();
    let of = |elem, channels, read| {
        let sampler = Sampler { read, ..point() };
        let texture = bound(image(elem, channels, 1, [2, 1, 1]), Some(sampler));
        fetch(&bytes, texture, "tex.1d.v4.u32.s32", &along_x(&[1]))[0]
    };
    let element = ReadMode::Element;
    assert_eq!(of(Channel::U8, 4, element), [228, 235, 242, 249]);
    assert_eq!(of(Channel::I8, 2, element), [-42i32 as u32, -35i32 as u32, 0, 0]);
    assert_eq!(of(Channel::U16, 2, element), [0xebe4, 0xf9f2, 0, 0]);
    assert_eq!(of(Channel::I16, 1, element), [0xffff_ddd6, 0, 0, 0]);
    assert_eq!(of(Channel::F32, 4, element)[3], u32::from_le_bytes([140, 147, 154, 161]));
    let float = |value: f32| value.to_bits();
    let normalized = of(Channel::U8, 4, ReadMode::NormalizedFloat);
    assert_eq!(normalized, [228.0, 235.0, 242.0, 249.0].map(|x: f32| float(x / 255.0)));
    assert_eq!(of(Channel::I8, 1, ReadMode::NormalizedFloat)[0], float(-49.0 / 127.0));
}

/// Returns the result of the formulas of the CUDA C++ Programming Guide along one axis: up to two
/// texels with weights. For mirrored images, coordinates at which two texels meet exactly are not
/// supported.
fn guide(x: f32, n: u32, mode: AddressMode, sampler: &Sampler) -> Vec<(Option<u32>, f64)> {
    let count = f64::from(n);
    let mut x = f64::from(x);
    let normalized = sampler.normalized;
    if x.is_nan() {
        x = 0.0;
    }
    let periodic = normalized && matches!(mode, AddressMode::Wrap | AddressMode::Mirror);
    if periodic && x.is_infinite() {
        x = 0.0;
    }
    let fraction = x - x.floor();
    let x = match mode {
        AddressMode::Wrap if normalized => fraction * count,
        AddressMode::Mirror if normalized && x.floor() % 2.0 == 0.0 => fraction * count,
        AddressMode::Mirror if normalized => (1.0 - fraction) * count,
        _ if normalized => x * count,
        _ => x,
    };
    let texel = |i: f64| -> Option<u32> {
        match mode {
            AddressMode::Border if i < 0.0 || i >= count => None,
            AddressMode::Wrap if normalized => Some(((i + count) % count) as u32),
            // `as` saturates values outside of the integer's range
            _ => Some((i.max(0.0) as u32).min(n - 1)),
        }
    };
    if sampler.filter == Filter::Point {
        return vec![(texel(x.floor()), 1.0)];
    }
    let at = x - 0.5;
    let weight = if at.is_finite() { ((at - at.floor()) * 256.0).round() / 256.0 } else { 0.0 };
    vec![(texel(at.floor()), 1.0 - weight), (texel(at.floor() + 1.0), weight)]
}

/// Returns coordinates: the ends and far beyond, none of them where texels of mirrored images meet.
fn coordinates(n: u32, normalized: bool, seed: u64) -> Vec<f32> {
    let scale = if normalized { 1.0 / n as f32 } else { 1.0 };
    let mut list = vec![
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        3e38,
        -3e38,
        1e10,
        -1e10,
        0.3 * scale,
        -0.3 * scale,
        (n as f32 - 0.3) * scale,
        (n as f32 + 0.3) * scale,
    ];
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    while list.len() < 256 {
        let x = (rng.random::<f32>() * 5.0 - 2.0) * n as f32;
        // a weight between two representable ones is rounded up here, and down in a mirror
        let parts = f64::from(x) * 256.0;
        if (parts.fract().abs() - 0.5).abs() > 0.01 {
            list.push(x * scale);
        }
    }
    list
}

#[test]
fn one_dimension_follows_the_guide() {
    // texels are integers and weights are multiples of 1/256, so that every sum is exact
    let texels: Vec<f32> = (0..7).map(|i| ((i * i * 31) % 101) as f32 - 40.0).collect();
    let bytes: Vec<u8> = texels.iter().flat_map(|texel| texel.to_le_bytes()).collect();
    for (case, mode) in MODES.into_iter().enumerate() {
        for filter in [Filter::Point, Filter::Linear] {
            for normalized in [false, true] {
                let sampler = Sampler { address: [mode; 3], filter, normalized, ..point() };
                let texture = bound(image(Channel::F32, 1, 1, [7, 1, 1]), Some(sampler));
                let coords = coordinates(7, normalized, case as u64);
                let bits: Vec<u32> = coords.iter().map(|x| x.to_bits()).collect();
                let got = fetch(&bytes, texture, "tex.1d.v4.f32.f32", &along_x(&bits));
                for (x, got) in coords.into_iter().zip(got) {
                    let taps = guide(x, 7, mode, &sampler);
                    let value = |i: Option<u32>| i.map_or(0.0, |i| f64::from(texels[i as usize]));
                    let expected: f64 = taps.into_iter().map(|(i, weight)| weight * value(i)).sum();
                    assert_eq!(
                        f64::from(f32::from_bits(got[0])),
                        expected,
                        "{mode:?} {filter:?} normalized: {normalized}, x = {x}"
                    );
                }
            }
        }
    }
}

#[test]
fn more_dimensions_filter_axis_by_axis() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for (dims, extent) in [(2u8, [5u32, 4, 1]), (3, [3, 4, 5])] {
        let count = extent.iter().product::<u32>() as usize;
        let texels: Vec<i8> = (0..2 * count).map(|_| rng.random::<i8>().max(-127)).collect();
        let bytes: Vec<u8> = texels.iter().map(|&texel| texel as u8).collect();
        for round in 0..8usize {
            let address = std::array::from_fn(|axis| MODES[(round + axis) % 4]);
            let (filter, normalized) = ([Filter::Linear, Filter::Point][round / 4], round % 2 == 0);
            let sampler = Sampler { address, filter, normalized, read: ReadMode::NormalizedFloat };
            let texture = bound(image(Channel::I8, 2, dims, extent), Some(sampler));
            let lists: Vec<Vec<f32>> = (0..3)
                .map(|axis| coordinates(extent[axis], normalized, (10 * round + axis) as u64))
                .collect();
            // without the special coordinates of all axes at once
            let at: Vec<[f32; 3]> =
                (0..256).map(|i| [lists[0][i], lists[1][(i + 20) % 256], lists[2][(i + 40) % 256]]).collect();
            let bits: Vec<[u32; 4]> = at.iter().map(|&[x, y, z]| [x, y, z, 0.0].map(f32::to_bits)).collect();
            let got = fetch(&bytes, texture, &format!("tex.{dims}d.v4.f32.f32"), &bits);
            for (at, got) in at.iter().zip(got) {
                for channel in 0..2 {
                    let mut expected = 0.0;
                    let taps: Vec<_> = (0..3)
                        .map(|axis| match axis < usize::from(dims) {
                            true => guide(at[axis], extent[axis], address[axis], &sampler),
                            false => vec![(Some(0), 1.0)],
                        })
                        .collect();
                    for (z, wz) in &taps[2] {
                        for (y, wy) in &taps[1] {
                            for (x, wx) in &taps[0] {
                                if let (Some(x), Some(y), Some(z)) = (x, y, z) {
                                    let index = 2 * ((z * extent[1] + y) * extent[0] + x) as usize + channel;
                                    let value = texels[index] as f32 / 127.0;
                                    expected += wx * wy * wz * f64::from(value);
                                }
                            }
                        }
                    }
                    let got = f64::from(f32::from_bits(got[channel]));
                    // the two computations round at different points
                    assert!((got - expected).abs() <= 1e-7, "{got} {expected} at {at:?}, {sampler:?}");
                }
            }
        }
    }
}

#[test]
fn layers_levels_and_gathers() {
    let texels: Vec<u8> = (0..24).collect();
    let layered = Image {
        geometry: Geometry { dims: 2, layered: true },
        layers: 2,
        pitch: 4,
        ..image(Channel::U8, 1, 2, [4, 3, 1])
    };
    let one = 1.5f32.to_bits();
    let at = [[0, one, one, 0], [1, one, one, 0], [7, one, one, 0], [u32::MAX, one, 0, 0]];
    let got = fetch(&texels, bound(layered, Some(point())), "tex.a2d.v4.u32.f32", &at);
    assert_eq!(got.map_first(), [5, 17, 17, 13]);
    let row = Image { geometry: Geometry { dims: 1, layered: true }, layers: 6, ..layered };
    let row = Image { extent: [4, 1, 1], ..row };
    let got = fetch(&texels, bound(row, Some(point())), "tex.a1d.v4.u32.s32", &[[5, 3, 0, 0], [2, 4, 0, 0]]);
    assert_eq!(got.map_first(), [23, 0]);

    let body = |instruction: &str| {
        let body = format!(
            "mov.f32 %f0, 0f3fc00000; mov.f32 %f1, 0f3fc00000; mov.u64 %rd10, {};
             {instruction}
             st.global.v4.b32 [%rd1], {{%r1, %r2, %r3, %r4}}; ret;",
            object_handle(0)
        );
        let mut launch = kernel(1, &body);
        launch.buffers.push(texels.clone());
        launch = launch.zeros(16);
        launch.images.push(bound(image(Channel::U8, 1, 2, [4, 3, 1]), Some(point())));
        launch.ok().words(1)
    };
    let at = "[%rd10, {%f0, %f1}]";
    assert_eq!(body(&format!("tex.level.2d.v4.u32.f32 {{%r1, %r2, %r3, %r4}}, {at}, %f1;"))[0], 5);
    assert_eq!(
        body(&format!("tex.grad.2d.v4.u32.f32 {{%r1, _, _, _}}, {at}, {{%f1, %f1}}, {{%f0, %f0}};"))[0],
        5
    );
    // at 1.5 the weights are those of texel 1 alone: (1, 2), (2, 2), (2, 1), (1, 1)
    assert_eq!(body(&format!("tld4.r.2d.v4.u32.f32 {{%r1, %r2, %r3, %r4}}, {at};")), [9, 10, 6, 5]);
    assert_eq!(body(&format!("tld4.g.2d.v4.u32.f32 {{%r1, %r2, %r3, %r4}}, {at};")), [0; 4]);
}

trait First {
    fn map_first(&self) -> Vec<u32>;
}

impl First for Vec<[u32; 4]> {
    fn map_first(&self) -> Vec<u32> {
        self.iter().map(|four| four[0]).collect()
    }
}

/// Returns a kernel with a surface in buffer 0 and its handle in `%rd10`.
fn on_surface(threads: u32, surface: Image, bytes: usize, body: &str) -> Kernel {
    let body = format!("mov.u64 %rd10, {};\n{body}\nret;", object_handle(0));
    let mut launch = kernel(threads, &body).module(".global .surfref ref;");
    launch.buffers.push((0..bytes).map(|i| i as u8).collect());
    launch.images.push(bound(surface, None));
    launch
}

#[test]
fn surfaces_move_bytes() {
    // 3 rows of 16 bytes, 24 bytes apart
    let surface = Image { pitch: 24, ..image(Channel::U32, 1, 2, [4, 3, 1]) };
    let store = |instruction: &str| {
        let body = "mov.u32 %r1, 0x11f23344; mov.u32 %r2, 4; mov.u32 %r3, 1; mov.u32 %r4, 0x55; cvt.u16.u32 %h0, %r1;\n";
        let outcome = on_surface(1, surface, 64, &format!("{body}{instruction}")).ok();
        let before: Vec<u8> = (0..64).map(|i| i as u8).collect();
        let changed = outcome.buffers[0].iter().zip(&before).enumerate().filter(|(_, (a, b))| a != b);
        changed.map(|(at, (&byte, _))| (at, byte)).collect::<Vec<_>>()
    };
    let word = |at: usize| vec![(at, 0x44), (at + 1, 0x33), (at + 2, 0xf2), (at + 3, 0x11)];
    assert_eq!(store("sust.b.2d.b32.trap [%rd10, {%r2, %r3}], %r1;"), word(28));
    assert_eq!(store("sust.b.2d.b32.trap [%rd10, {%r2, %r3}], {%r1};"), word(28));
    assert_eq!(store("sust.b.2d.b16.trap [%rd10, {%r2, %r3}], %h0;"), word(28)[..2]);
    assert_eq!(store("sust.b.2d.b8.zero [%rd10, {%r2, %r3}], %h0;"), word(28)[..1]);
    // the byte already has the stored value
    assert_eq!(store("cvt.u16.u32 %h1, 28; sust.b.2d.b8.trap [%rd10, {%r2, %r3}], %h1;"), []);
    let two = [word(32), vec![(36, 0x55), (37, 0), (38, 0), (39, 0)]].concat();
    assert_eq!(store("mov.u32 %r2, 8; sust.b.2d.cg.v2.b32.trap [%rd10, {%r2, %r3}], {%r1, %r4};"), two);

    let load = |instruction: &str| {
        let body = format!(
            "mov.u32 %r2, 8; mov.u32 %r3, 2; {instruction} st.global.v4.b32 [%rd1], {{%r4, %r5, %r6, %r7}};"
        );
        on_surface(1, surface, 64, &body).zeros(16).ok().words(1)
    };
    let word = |at: u32| u32::from_le_bytes([0, 1, 2, 3].map(|byte| (at + byte) as u8));
    assert_eq!(load("suld.b.2d.b32.trap %r4, [%rd10, {%r2, %r3}];"), [word(56), 0, 0, 0]);
    assert_eq!(load("suld.b.2d.v2.b32.trap {%r4, %r5}, [%rd10, {%r2, %r3}];"), [word(56), word(60), 0, 0]);
    let all = [word(48), word(52), word(56), word(60)];
    assert_eq!(load("mov.u32 %r2, 0; suld.b.2d.v4.b32.trap {%r4, %r5, %r6, %r7}, [%rd10, {%r2, %r3}];"), all);
    assert_eq!(load("suld.b.2d.b8.trap %h3, [%rd10, {%r2, %r3}]; cvt.u32.u16 %r4, %h3;"), [56, 0, 0, 0]);
    let long = "suld.b.2d.b64.trap %rd9, [%rd10, {%r2, %r3}]; mov.b64 {%r4, %r5}, %rd9;";
    assert_eq!(load(long), [word(56), word(60), 0, 0]);
}

#[test]
fn accesses_outside_of_a_surface_follow_the_instruction() {
    // 5 bytes per row: reads start at x of row y
    let surface = image(Channel::U8, 1, 2, [5, 3, 1]);
    let places: [(i32, i32); 8] =
        [(0, 0), (4, 2), (5, 1), (-1, 1), (2, 3), (2, -7), (i32::MAX, 0), (i32::MIN, 9)];
    let at = |outside: &str| {
        let body = format!(
            "mul.wide.u32 %rd4, %r0, 8; add.s64 %rd5, %rd1, %rd4; ld.global.v2.b32 {{%r2, %r3}}, [%rd5];
             mov.u16 %h3, 77; suld.b.2d.b8.{outside} %h3, [%rd10, {{%r2, %r3}}]; cvt.u32.u16 %r4, %h3;
             mul.wide.u32 %rd4, %r0, 4; add.s64 %rd5, %rd2, %rd4; st.global.b32 [%rd5], %r4;"
        );
        let words: Vec<u32> = places.iter().flat_map(|&(x, y)| [x as u32, y as u32]).collect();
        on_surface(8, surface, 15, &body).words(&words).zeros(32)
    };
    assert_eq!(at("clamp").ok().words(2), [0, 14, 9, 5, 12, 2, 4, 10]);
    assert_eq!(at("zero").ok().words(2), [0, 14, 0, 0, 0, 0, 0, 0]);
    let message = at("trap").error();
    assert!(message.contains("surface load of 1 bytes outside of surface `t`: byte 5 of row 1"), "{message}");
    assert!(message.contains("lane 2") && message.contains("5 bytes by 3 rows"), "{message}");

    // a store outside with .zero does nothing, with .clamp it goes to the edge
    for (outside, byte, value) in [("zero", 14, 14), ("clamp", 14, 99)] {
        let body =
            format!("mov.u16 %h1, 99; mov.u32 %r2, 70; sust.b.2d.b8.{outside} [%rd10, {{%r2, %r2}}], %h1;");
        assert_eq!(on_surface(1, surface, 15, &body).ok().buffers[0][byte], value, "{outside}");
    }
}

#[test]
fn more_shapes_of_surfaces() {
    let one = |surface: Image, coords: &str| {
        let body = format!(
            "mov.u32 %r1, 1; mov.u32 %r2, 2; suld.b.{}.b8.trap %h3, [%rd10, {coords}]; cvt.u32.u16 %r4, %h3;
             st.global.b32 [%rd1], %r4;",
            surface.geometry.name()
        );
        on_surface(1, surface, 60, &body).zeros(4).ok().words(1)[0]
    };
    let cube = image(Channel::U8, 1, 3, [4, 3, 5]);
    assert_eq!(one(cube, "{%r1, %r2, %r2, %r2}"), 2 * 12 + 2 * 4 + 1);
    let layers = Geometry { dims: 2, layered: true };
    let layered = Image { geometry: layers, layers: 5, ..image(Channel::U8, 1, 2, [4, 3, 1]) };
    assert_eq!(one(layered, "{%r2, %r1, %r2, %r2}"), 2 * 12 + 2 * 4 + 1);
    let rows = Geometry { dims: 1, layered: true };
    assert_eq!(one(Image { geometry: rows, extent: [4, 1, 1], ..layered }, "{%r2, %r1}"), 2 * 4 + 1);
    assert_eq!(one(image(Channel::U8, 1, 1, [60, 1, 1]), "{%r2}"), 2);
}

#[test]
fn properties_of_images_can_be_queried() {
    let query = |questions: &[&str], texture: Bound| {
        let mut body = format!("mov.u64 %rd10, {};\n", object_handle(0));
        for (index, question) in questions.iter().enumerate() {
            body.push_str(&format!("{question} %r5, [%rd10]; st.global.b32 [%rd0+{}], %r5;\n", 4 * index));
        }
        let mut launch = kernel(1, &(body + "ret;")).zeros(4 * questions.len());
        launch.images.push(texture);
        launch.ok().words(0)
    };
    let cube = image(Channel::U16, 2, 3, [4, 3, 5]);
    let sampler = Sampler { normalized: true, read: ReadMode::NormalizedFloat, ..point() };
    let about = [
        "txq.width.b32",
        "txq.height.b32",
        "txq.depth.b32",
        "txq.channel_data_type.b32",
        "txq.channel_order.b32",
        "txq.normalized_coords.b32",
        "txq.array_size.b32",
    ];
    assert_eq!(query(&about, bound(cube, Some(sampler))), [4, 3, 5, 0x10d3, 0x10b2, 1, 0]);
    let row = image(Channel::F32, 4, 1, [9, 1, 1]);
    let about = ["suq.width.b32", "suq.height.b32", "suq.channel_data_type.b32", "suq.channel_order.b32"];
    assert_eq!(query(&about, bound(row, None)), [9, 0, 0x10de, 0x10b5]);
}

#[test]
fn unbound_images_and_images_of_another_kind_are_named() {
    let row = image(Channel::U32, 1, 1, [4, 1, 1]);
    let run = |images: Vec<Bound>, instruction: &str| {
        let body = format!("mov.u64 %rd10, {}; {instruction} ret;", object_handle(0));
        let mut launch = kernel(1, &body).module(".global .texref ref; .global .surfref out;").zeros(16);
        launch.images = images;
        launch.error()
    };
    let by_handle = "tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd10, {%r0}];";
    let texture = || bound(row, Some(point()));
    for (images, instruction, part) in [
        (vec![], by_handle, "0x5000000 is the handle of no texture"),
        (
            vec![texture()],
            "tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [ref, {%r0}];",
            "nothing is bound to the reference `ref`",
        ),
        (vec![], "sust.b.1d.b32.trap [out, {%r0}], %r0;", "nothing is bound to the reference `out`"),
        (vec![bound(row, None)], by_handle, "`t` is a surface, a texture is needed here"),
        (
            vec![texture()],
            "suld.b.1d.b32.trap %r1, [%rd10, {%r0}];",
            "`t` is a texture, a surface is needed here",
        ),
        (
            vec![texture()],
            "tex.2d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd10, {%r0, %r0}];",
            "`t` is a .1d texture, the instruction accesses .2d",
        ),
        (
            vec![bound(Image { address: BUFFERS_BASE + 16, ..row }, Some(point()))],
            by_handle,
            "out-of-bounds texture fetch of 4 bytes",
        ),
    ] {
        let message = run(images, instruction);
        assert!(message.contains(part), "{part}:\n{message}");
    }
}

#[test]
fn fetches_touch_the_lines_of_loads() {
    let lines = |instruction: &str, images: Vec<Bound>| {
        let body = format!(
            "mul.lo.u32 %r5, %r0, 12; mul.wide.u32 %rd4, %r5, 4; add.s64 %rd5, %rd0, %rd4; shl.b32 %r6, %r5, 2;
             mov.u64 %rd10, {}; {instruction} ret;",
            object_handle(0)
        );
        let mut launch = kernel(32, &body).zeros(4 * 400);
        launch.traffic = true;
        launch.images = images;
        let outcome = launch.ok();
        let warp = &outcome.blocks[0].warps[0];
        let global = warp.steps().iter().filter(|step| step.memory().space == Space::Global).count();
        (warp.traffic().to_vec(), global)
    };
    let row = image(Channel::U32, 1, 1, [400, 1, 1]);
    let load = lines("ld.global.b32 %r1, [%rd5];", vec![]);
    assert!(load.0.len() > 4 && load.1 == 1);
    let fetch = "tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd10, {%r5}];";
    assert_eq!(lines(fetch, vec![bound(row, Some(point()))]), load);
    let surface = || vec![bound(row, None)];
    assert_eq!(lines("suld.b.1d.b32.trap %r1, [%rd10, {%r6}];", surface()), load);
    // a store additionally records which words of the lines it writes
    let store = lines("sust.b.1d.b32.trap [%rd10, {%r6}], %r1;", surface());
    let says_words = |line: &&LineUse| line.written() != u32::MAX || line.written_before().is_some();
    let written = store.0.iter().filter(says_words).count();
    let touched = store.0.iter().filter(|line| line.written_before().is_none());
    assert!(
        touched
            .map(|line| (line.address(), line.sectors()))
            .eq(load.0.iter().map(|line| (line.address(), line.sectors())))
    );
    assert_eq!((written, store.1), (load.0.len(), load.1));
}

#[test]
fn fetches_and_surface_accesses_race_as_loads_and_stores_do() {
    let found = |first: &str, second: &str, sampled: bool| {
        let body = format!(
            "mov.u32 %r9, %warpid; setp.eq.u32 %p1, %r9, 0; mov.u32 %r5, 2; mov.u32 %r6, 8;
             mov.u64 %rd10, {};\n@%p1 {first}\n@!%p1 {second}\nret;",
            object_handle(0)
        );
        let mut launch = kernel(64, &body).zeros(64);
        launch.races = Some(BlockOrder::OneByOne);
        let row = image(Channel::U32, 1, 1, [16, 1, 1]);
        launch.images.push(bound(row, sampled.then(point)));
        let races = launch.ok().time.races;
        races
            .iter()
            .map(|race| (race.address - BUFFERS_BASE, race.first.access, race.second.access))
            .collect::<Vec<_>>()
    };
    let (load, store) = (AccessKind::Load, AccessKind::Store);
    let fetch = "tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd10, {%r5}];";
    assert_eq!(found(fetch, "st.global.b32 [%rd0+8], %r6;", true), [(8, load, store)]);
    assert_eq!(found(fetch, "st.global.b32 [%rd0+12], %r6;", true), []);
    let (suld, sust) = ("suld.b.1d.b32.trap %r1, [%rd10, {%r6}];", "sust.b.1d.b32.trap [%rd10, {%r6}], %r6;");
    assert_eq!(found(suld, sust, false), [(8, load, store)]);
    let other = "sust.b.1d.b32.trap [%rd10, {%r6}], %r5;";
    assert_eq!(found(sust, other, false), [(8, store, store)]);
    assert_eq!(found(suld, suld, false), []);
    assert_eq!(found(sust, "ld.global.b32 %r1, [%rd0+8];", false), [(8, store, load)]);
}
