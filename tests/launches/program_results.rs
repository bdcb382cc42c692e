//! The memory contents that shipped programs leave, compared with plain loops over the same data.

use crate::kernel_refs::refs_signals::{convolved, transformed};
use crate::kernel_refs::{Match, RefIo, Scalar, reference};
use crate::support::{json, scratch};

/// Returns the final contents of these buffers of a program; the run is checked, and its bounds
/// hold.
fn left(program: &str, options: &[&str], names: &[&str]) -> Vec<Vec<u8>> {
    // tests run concurrently, each in a separate folder
    let dir = scratch(&format!("left-{program}{}", options.concat()));
    let dumps: Vec<String> = names.iter().map(|n| format!("--dump={n}={}", dir.join(n).display())).collect();
    let dumps: Vec<&str> = dumps.iter().map(String::as_str).collect();
    let result = json(&[&["run", program, "--seed", "3"], options, &dumps[..]].concat(), 0);
    assert_eq!(result["verdict"], "holds", "{result}");
    names.iter().map(|name| std::fs::read(dir.join(name)).unwrap()).collect()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|word| f32::from_le_bytes(*word)).collect()
}

fn ints(bytes: &[u8]) -> Vec<i32> {
    bytes.as_chunks().0.iter().map(|word| i32::from_le_bytes(*word)).collect()
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn assert_near(got: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(got.len(), expected.len());
    for (index, (got, expected)) in got.iter().zip(expected).enumerate() {
        assert!((got - expected).abs() <= tolerance, "{index}: {got}, {expected} expected");
    }
}

/// Applies the reference of a kernel to buffers.
fn apply(entry: &str, blocks: u32, threads: u32, scalars: &[Scalar], buffers: &mut [Vec<u8>]) -> Vec<Match> {
    apply_to(entry, ([blocks, 1, 1], [threads, 1, 1]), scalars, buffers)
}

/// Does the same as [`apply`], with all axes.
fn apply_to(
    entry: &str,
    (grid, block): ([u32; 3], [u32; 3]),
    scalars: &[Scalar],
    buffers: &mut [Vec<u8>],
) -> Vec<Match> {
    let mut io = RefIo { grid, block, dynamic_shared: 0, scalars, buffers };
    reference(entry, &mut io).expect("a kernel with a reference")
}

/// When the iteration has converged, no point is nearer to another centre than to its own, and
/// centres are the means of their points.
#[test]
fn clusters_settle() {
    let of = ["--let", "points=300", "--let", "centres=4", "--let", "rounds=40"];
    let names = ["x", "y", "centre_x", "centre_y", "member", "counts", "sums"];
    let [x, y, centre_x, centre_y, member, counts, sums] = left("kmeans", &of, &names).try_into().unwrap();
    let [x, y, centre_x, centre_y] = [x, y, centre_x, centre_y].map(|bytes| floats(&bytes));
    let member = ints(&member);
    assert!(counts.iter().chain(&sums).all(|byte| *byte == 0), "cleared for the next round");
    let distance = |i: usize, c: usize| (x[i] - centre_x[c]).hypot(y[i] - centre_y[c]);
    for (i, &own) in member.iter().enumerate() {
        let least = (0..4).map(|c| distance(i, c)).fold(f32::INFINITY, f32::min);
        assert!(distance(i, own as usize) <= least + 1e-4, "point {i}");
    }
    for c in 0..4 {
        let own: Vec<usize> = (0..300).filter(|&i| member[i] == c as i32).collect();
        assert!(!own.is_empty());
        let mean = |of: &[f32]| own.iter().map(|&i| of[i]).sum::<f32>() / own.len() as f32;
        // coordinates are rounded to 1/1024
        assert_near(&[centre_x[c], centre_y[c]], &[mean(&x), mean(&y)], 1e-3);
    }
}

/// The first iterations are compared one by one.
#[test]
fn clusters_move_as_in_the_reference() {
    let names = ["x", "y", "centre_x", "centre_y", "member", "sums", "counts"];
    let start = left("kmeans", &["--let", "rounds=1", "--launch", "0"], &names);
    let end = left("kmeans", &["--let", "rounds=3"], &names);
    let mut buffers = start;
    let sizes = [Scalar::I(900), Scalar::I(6)];
    for round in 0..3 {
        if round > 0 {
            apply("kmeans_assign", 4, 128, &sizes, &mut buffers);
        }
        let mut centres: Vec<Vec<u8>> = [2, 3, 5, 6].iter().map(|&b: &usize| buffers[b].clone()).collect();
        apply("kmeans_move", 1, 64, &sizes[1..], &mut centres);
        for (buffer, left) in [2, 3, 5].into_iter().zip(centres) {
            buffers[buffer] = left;
        }
        buffers[6].fill(0);
    }
    assert!(buffers == end);
}

#[test]
fn a_search_finds_the_nearest() {
    let left = left("nearest_search", &["--let", "points=3000"], &["x", "y", "index", "distance"]);
    let [x, y, index, distance] = left.try_into().unwrap();
    let (x, y) = (floats(&x), floats(&y));
    let distances: Vec<f32> = x.iter().zip(&y).map(|(x, y)| (x - 1.5).hypot(y + 2.25)).collect();
    let nearest = (0..distances.len()).min_by(|a, b| distances[*a].total_cmp(&distances[*b])).unwrap();
    assert_eq!(ints(&index), [nearest as i32]);
    assert_near(&floats(&distance), &[distances[nearest]], 1e-5);
}

#[test]
fn sorts_sort() {
    let of = |n: usize, program: &str, names: &[&str]| -> Vec<Vec<i32>> {
        let left = left(program, &["--let", &format!("n={n}")], names);
        left.iter().map(|bytes| ints(bytes)).collect()
    };
    let data = of(256, "oddeven_sort", &["data"]).remove(0);
    assert!(data.is_sorted() && data.len() == 256 && data[0] < -9000 && data[255] > 9000);

    let [keys, values] = of(700, "radix_sort", &["keys", "values"]).try_into().unwrap();
    assert!(keys.is_sorted() && keys[0] < keys[699]);
    let pairs: Vec<(i32, i32)> = keys.iter().copied().zip(values.iter().copied()).collect();
    assert!(pairs.is_sorted(), "equal keys stay in their order");
    // the values give the original position of each key
    let start = left("radix_sort", &["--let", "n=700", "--launch", "0"], &["keys"]);
    let unsorted = ints(&start[0]);
    assert!(pairs.iter().all(|(key, value)| unsorted[*value as usize] == *key));
    let mut all = values;
    all.sort();
    assert!(all.into_iter().eq(0..700));
}

#[test]
fn filters_follow_as_in_the_reference() {
    let names = ["now", "next", "mean", "noise", "measured"];
    let [now, next, mean, noise, measured] = left("particle_filter", &[], &names).try_into().unwrap();
    // an iteration ends with a swap of the sets, so after a single one `next` holds the particles
    // with which it began
    let [first] = left("particle_filter", &["--let", "rounds=1"], &["next"]).try_into().unwrap();
    let (filters, count) = (3, 200);
    let mut buffers = vec![first, vec![0; 4 * filters * count], Vec::new(), Vec::new(), Vec::new()];
    let mut means = Vec::new();
    for round in 0..6 {
        let part = |of: &[u8], each: usize| of[4 * round * each..4 * (round + 1) * each].to_vec();
        buffers[2] = part(&noise, filters * count);
        buffers[3] = part(&measured, filters);
        buffers[4] = vec![0; 4 * filters];
        let start = (round as i64 * 40503 + 12345) % 65536;
        let scalars = [Scalar::F(0.25), Scalar::F(0.5), Scalar::I(start), Scalar::I(count as i64)];
        apply("particle_step", filters as u32, 224, &scalars, &mut buffers);
        means.extend(ints(&buffers[4]));
        buffers.swap(0, 1);
    }
    assert!(buffers[0] == now && buffers[1] == next);
    assert_eq!(ints(&mean), means);
}

/// The reference computes transform, filter and inverse transform by their definitions.
#[test]
fn filtered_signals_have_no_upper_frequencies() {
    let names = ["re", "im", "smooth_re", "smooth_im"];
    let left = left("fft_filter", &["--let", "signals=2"], &names);
    let [re, im, smooth_re, smooth_im] = [0, 1, 2, 3].map(|index: usize| floats(&left[index]));
    let values: Vec<[f64; 2]> = re.iter().zip(&im).map(|(re, im)| [(*re).into(), (*im).into()]).collect();
    let n = 256;
    let mut expected = Vec::new();
    for signal in values.chunks(n) {
        let mut spectrum = transformed(signal, -1.0);
        spectrum[11..=n - 11].fill([0.0, 0.0]);
        expected
            .extend(transformed(&spectrum, 1.0).into_iter().map(|value| value.map(|v| v as f32 / n as f32)));
    }
    for (part, got) in [smooth_re, smooth_im].iter().enumerate() {
        assert_near(got, &expected.iter().map(|value| value[part]).collect::<Vec<f32>>(), 2e-6);
    }
}

#[test]
fn bodies_move_as_in_double_precision() {
    let start = left("nbody", &["--let", "n=50", "--launch", "0"], &["bodies"]);
    let [bodies, velocities] =
        left("nbody", &["--let", "n=50"], &["bodies", "velocities"]).try_into().unwrap();
    let mut at: Vec<[f64; 4]> = floats(&start[0]).as_chunks().0.iter().map(|b| b.map(f64::from)).collect();
    let mut speed = vec![[0.0f64; 4]; 50];
    for _ in 0..4 {
        for (i, speed) in speed.iter_mut().enumerate() {
            for other in &at {
                let apart = [0, 1, 2].map(|axis| other[axis] - at[i][axis]);
                let squared = 0.01 + apart.iter().map(|d| d * d).sum::<f64>();
                for axis in 0..3 {
                    speed[axis] += 0.001 * other[3] * apart[axis] / squared.powf(1.5);
                }
            }
        }
        for (at, speed) in at.iter_mut().zip(&speed) {
            (0..3).for_each(|axis| at[axis] += 0.001 * speed[axis]);
        }
    }
    let narrow = |values: &[[f64; 4]]| values.iter().flatten().map(|v| *v as f32).collect::<Vec<f32>>();
    assert_near(&floats(&bodies), &narrow(&at), 2e-6);
    assert_near(&floats(&velocities), &narrow(&speed), 2e-6);
}

#[test]
fn an_image_is_smoothed_and_sharpened() {
    let names = ["image", "rows", "smooth", "sharp"];
    let of = left("conv_sharpen", &["--let", "width=40", "--let", "height=21"], &names);
    let [image, rows, smooth, sharp] = [0, 1, 2, 3].map(|index: usize| floats(&of[index]));
    let size = [40, 21];
    let binomial = [1.0f32, 4.0, 6.0, 4.0, 1.0].map(|c| c / 16.0);
    assert_eq!(bytes(&rows), bytes(&convolved(&image, size, &binomial, 5)));
    assert_eq!(bytes(&smooth), bytes(&convolved(&rows, size, &binomial, 1)));
    let inner = [-0.25, -0.5, -0.25, -0.5, 4.0, -0.5, -0.25, -0.5, -0.25];
    // the zeros around it add nothing
    assert_eq!(sharp, convolved(&smooth, size, &inner, 3));
}

/// Returns a file of `digits`.
fn stored(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/digits");
    std::fs::read(format!("{folder}/digits.{name}.bin")).unwrap()
}

fn doubles(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks().0.iter().map(|word| f64::from_le_bytes(*word)).collect()
}

/// Returns the results of the network of `digits` for its 64 images: a row for each output, a
/// column for each image.
fn read_digits() -> Vec<f64> {
    let mut buffers = [stored("images"), vec![0; 8 * 784 * 64]];
    apply_to("digits_enlarge", ([28, 28, 1], [64, 1, 1]), &[], &mut buffers);
    let mut columns = doubles(&buffers[1]);
    for (layer, neurons, scale) in [(1, 128, 256.0), (2, 64, 128.0), (3, 10, 128.0)] {
        let (weights, bias) = (stored(&format!("weights{layer}")), doubles(&stored(&format!("bias{layer}"))));
        let inputs = columns.len() / 64;
        assert_eq!((weights.len(), bias.len()), (inputs * neurons, neurons));
        let output = |at: usize| {
            let (neuron, image) = (at / 64, at % 64);
            let term =
                |k: usize| f64::from(weights[neuron * inputs + k].cast_signed()) * columns[k * 64 + image];
            ((0..inputs).map(term).sum::<f64>() / scale + bias[neuron]).max(0.0)
        };
        columns = (0..neurons * 64).map(output).collect();
    }
    columns
}

/// From PTX of two compilers and from machine code, the results equal those of plain loops and of
/// numpy, except for rounding.
#[test]
fn digits_are_recognised() {
    let class = |outputs: &[f64], image: usize| {
        (1..10).fold(
            0,
            |best, row| {
                if outputs[64 * row + image] > outputs[64 * best + image] { row } else { best }
            },
        )
    };
    let (by_hand, by_numpy, labels) = (read_digits(), doubles(&stored("outputs")), stored("labels"));
    let by_compiler = [&[][..], &["--compiler", "nvrtc"], &["--compiler", "sm_61"]];
    let outputs = by_compiler.map(|options| doubles(&left("digits_program", options, &["out"])[0]));
    assert!(outputs[0] == outputs[1] && outputs[0] == outputs[2], "no compiler moves a sum");
    for expected in [&by_hand, &by_numpy] {
        assert_eq!(expected.len(), 640);
        for (got, expected) in outputs[0].iter().zip(expected) {
            // sums of up to 784 terms, none above 20: 784 * 20 * 2^-53 at most
            assert!((got - expected).abs() < 2e-12, "{got}, {expected} expected");
        }
        for image in 0..64 {
            assert_eq!(class(&outputs[0], image), class(expected, image), "image {image}");
        }
    }
    let right = (0..64).filter(|&image| class(&outputs[0], image) == usize::from(labels[image])).count();
    assert_eq!(right, 63);
}
