//! Shipped programs compared with complete algorithms, written as in a textbook and not as
//! launches.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::path::PathBuf;

use serde_json::Value;

use crate::programs::{dumped, floats, ints};
use crate::support::scratch;

/// A program that was run, with the memory that it left.
struct Run {
    dir: PathBuf,
    result: Value,
}

/// Runs a program with its own seed; `args` can add more options. Each program has its own folder,
/// because tests run concurrently.
fn run(program: &str, args: &[&str], buffers: &[&str]) -> Run {
    let dir = scratch(program);
    let result = dumped(&dir, &[&["run", program, "--seed", "3"], args].concat(), buffers);
    Run { dir, result }
}

impl Run {
    fn f32s(&self, buffer: &str) -> Vec<f32> {
        floats(&self.dir.join(buffer))
    }

    fn i32s(&self, buffer: &str) -> Vec<i32> {
        ints(&self.dir.join(buffer))
    }

    fn bytes(&self, buffer: &str) -> Vec<u8> {
        std::fs::read(self.dir.join(buffer)).unwrap()
    }

    fn launches(&self) -> usize {
        self.result["launches"].as_array().unwrap().len()
    }
}

/// Checks that every element is within an absolute tolerance.
fn close(got: &[f32], expected: &[f64], tolerance: f64) {
    assert_eq!(got.len(), expected.len());
    for (i, (&got, &expected)) in got.iter().zip(expected).enumerate() {
        assert!((f64::from(got) - expected).abs() <= tolerance, "{i}: {got}, {expected} expected");
    }
}

/// Computes a grid of this width cell by cell; `cell` gets its index and the cells above, below,
/// left and right of it, or the cell itself if there is none.
fn over_grid(grid: &[f32], width: usize, cell: impl Fn(usize, [f32; 4]) -> f32) -> Vec<f32> {
    let height = grid.len() / width;
    let around = |i: usize| {
        let (x, y) = (i % width, i / width);
        let at = |x: usize, y: usize| grid[y * width + x];
        [
            at(x, y.saturating_sub(1)),
            at(x, (y + 1).min(height - 1)),
            at(x.saturating_sub(1), y),
            at((x + 1).min(width - 1), y),
        ]
    };
    (0..grid.len()).map(|i| cell(i, around(i))).collect()
}

#[test]
fn heat_spreads_as_in_one_plate() {
    let run = run("hotspot_program", &[], &["start", "heat", "power"]);
    let (mut plate, power) = (run.f32s("start"), run.f32s("power"));
    for _ in 0..12 {
        plate = over_grid(&plate, 40, |i, [north, south, west, east]| {
            let own = plate[i];
            let change = 0.01f32.mul_add(25.0 - own, power[i]);
            let change = 0.125f32.mul_add((-2.0f32).mul_add(own, west + east), change);
            own + 0.1f32.mul_add((-2.0f32).mul_add(own, north + south), change)
        });
    }
    assert_eq!(run.f32s("heat"), plate);
    assert_eq!(run.launches(), 4);
}

#[test]
fn a_box_is_swept_as_in_one_loop() {
    let run = run("stencil3d_program", &["--let", "sweeps=3"], &["start", "box"]);
    let (nx, ny, nz) = (40, 18, 10);
    let mut cells = run.f32s("start");
    for _ in 0..3 {
        let old = cells.clone();
        for (i, cell) in cells.iter_mut().enumerate() {
            let (x, y, z) = (i % nx, i / nx % ny, i / (nx * ny));
            if (1..nx - 1).contains(&x) && (1..ny - 1).contains(&y) && (1..nz - 1).contains(&z) {
                let sum = old[i - 1] + old[i + 1] + old[i - nx] + old[i + nx];
                let sum = sum + old[i - nx * ny] + old[i + nx * ny];
                *cell = 0.4f32.mul_add(old[i], 0.1 * sum);
            }
        }
    }
    assert_eq!(run.f32s("box"), cells);
}

/// Compared with the definition, from the end to the beginning: the cheapest way down from each
/// cell of the first row.
#[test]
fn the_cheapest_path_is_found_from_below_too() {
    let run = run("gridpath_program", &["--let", "rows=20"], &["grid", "cost"]);
    let grid = run.i32s("grid");
    let mut below = vec![0; 500];
    for row in grid.chunks(500).rev() {
        let reached = |c: usize| row[c] + below[c.saturating_sub(1)..(c + 2).min(500)].iter().min().unwrap();
        below = (0..500).map(reached).collect();
    }
    assert_eq!(run.i32s("cost").iter().min(), below.iter().min());
    // eight, eight and four rows
    assert_eq!(run.launches(), 3);
}

#[test]
fn sequences_align_as_in_one_table() {
    let run = run("align_program", &[], &["a", "b", "scores"]);
    let (a, b) = (run.bytes("a"), run.bytes("b"));
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i][j] = if i == 0 || j == 0 {
                -2 * (i + j) as i32
            } else {
                let paired = table[i - 1][j - 1] + if a[i - 1] == b[j - 1] { 3 } else { -1 };
                paired.max(table[i - 1][j] - 2).max(table[i][j - 1] - 2)
            };
        }
    }
    let inner: Vec<i32> = table[1..].iter().flat_map(|row| row[1..].iter().copied()).collect();
    assert_eq!(run.i32s("scores"), inner);
    // five rows and seven columns of tiles
    assert_eq!(run.launches(), 11);
}

/// Returns the edges of each vertex.
fn edges(run: &Run) -> Vec<Vec<(usize, i32)>> {
    let (starts, targets) = (run.i32s("row_start"), run.i32s("targets"));
    let lengths = if run.dir.join("lengths").exists() { run.i32s("lengths") } else { vec![1; targets.len()] };
    let of = |ends: &[i32]| {
        (ends[0] as usize..ends[1] as usize).map(|e| (targets[e] as usize, lengths[e])).collect()
    };
    starts.windows(2).map(of).collect()
}

#[test]
fn levels_are_those_of_a_queue() {
    let run = run("bfs_program", &[], &["row_start", "targets", "level", "reached"]);
    let edges = edges(&run);
    let mut level = vec![-1; edges.len()];
    let mut queue = VecDeque::from([0]);
    level[0] = 0;
    while let Some(v) = queue.pop_front() {
        for &(target, _) in &edges[v] {
            if level[target] < 0 {
                level[target] = level[v] + 1;
                queue.push_back(target);
            }
        }
    }
    // the search terminates, after a sufficient number of levels
    let last = *level.iter().max().unwrap();
    assert!((3..=10).contains(&last), "{last}");
    assert_eq!(run.i32s("level"), level);
    let count = |l: i32| level.iter().filter(|&&of| of == l).count() as i32;
    assert_eq!(run.i32s("reached"), (0..=10).map(count).collect::<Vec<_>>());
}

#[test]
fn distances_are_those_of_dijkstra() {
    let run = run("sssp_program", &[], &["row_start", "targets", "lengths", "distance"]);
    let edges = edges(&run);
    let far = 1 << 29;
    let mut distance = vec![far; edges.len()];
    let mut heap = BinaryHeap::from([Reverse((0, 0))]);
    distance[0] = 0;
    // a vertex may occur again with a distance that is no longer the best; then none of its edges
    // improves
    while let Some(Reverse((so_far, v))) = heap.pop() {
        for &(target, length) in &edges[v] {
            if so_far + length < distance[target] {
                distance[target] = so_far + length;
                heap.push(Reverse((distance[target], target)));
            }
        }
    }
    let reached = distance.iter().filter(|&&d| d < far).count();
    assert!(reached > 100, "{reached}");
    assert_eq!(run.i32s("distance"), distance);
}

#[test]
fn tiles_decompose_as_one_matrix() {
    let run = run("lud_program", &["--let", "tiles=3"], &["matrix", "a"]);
    let n = 48;
    let matrix = run.f32s("matrix");
    let mut a = matrix.clone();
    for p in 0..n {
        for i in p + 1..n {
            a[i * n + p] /= a[p * n + p];
            for j in p + 1..n {
                a[i * n + j] = (-a[i * n + p]).mul_add(a[p * n + j], a[i * n + j]);
            }
        }
    }
    let got = run.f32s("a");
    assert_eq!(got, a);
    // and the product of the factors is the matrix
    let lower = |i: usize, p: usize| if p < i { f64::from(got[i * n + p]) } else { 1.0 };
    let product =
        |i: usize, j: usize| -> f64 { (0..=i.min(j)).map(|p| lower(i, p) * f64::from(got[p * n + j])).sum() };
    let products: Vec<f64> = (0..n * n).map(|at| product(at / n, at % n)).collect();
    close(&matrix, &products, 1e-4);
    assert_eq!(run.launches(), 7);
}

#[test]
fn unknowns_solve_the_equations() {
    let run = run("gaussian_program", &[], &["system", "unknowns", "factors"]);
    let (system, unknowns, n) = (run.f32s("system"), run.f32s("unknowns"), 24);
    let left = |row: &[f32]| -> f64 {
        row[..n].iter().zip(&unknowns).map(|(&a, &x)| f64::from(a) * f64::from(x)).sum()
    };
    let rows: Vec<&[f32]> = system.chunks(n + 1).collect();
    let right: Vec<f32> = rows.iter().map(|row| row[n]).collect();
    close(&right, &rows.iter().map(|row| left(row)).collect::<Vec<_>>(), 1e-4);
    // with the largest element as pivot, no factor is larger than 1
    assert!(run.f32s("factors").iter().all(|factor| factor.abs() <= 1.0));
    assert_eq!(run.launches(), 47);
}

#[test]
fn a_product_with_the_matrix_and_its_transpose() {
    let run = run("atax_program", &[], &["a", "x", "between", "y"]);
    let (a, x) = (run.f32s("a"), run.f32s("x"));
    let row = |r: usize| a[100 * r..100 * (r + 1)].iter().map(|&v| f64::from(v));
    let between: Vec<f64> = (0..150).map(|r| row(r).zip(&x).map(|(v, &x)| v * f64::from(x)).sum()).collect();
    let mut y = vec![0.0; 100];
    for (r, factor) in between.iter().enumerate() {
        y.iter_mut().zip(row(r)).for_each(|(y, v)| *y += v * factor);
    }
    close(&run.f32s("between"), &between, 1e-5);
    close(&run.f32s("y"), &y, 1e-4);
}

#[test]
fn speckles_diffuse_as_in_one_image() {
    let run = run("diffusion_program", &["--let", "rounds=2"], &["start", "image", "noise"]);
    let mut image: Vec<f64> = run.f32s("start").into_iter().map(f64::from).collect();
    let (width, height) = (50, 40);
    let mut noise = 0.0;
    for _ in 0..2 {
        let at = |x: usize, y: usize| image[y.min(height - 1) * width + x.min(width - 1)];
        let slopes = |i: usize| {
            let (x, y) = (i % width, i / width);
            let around = [at(x, y.saturating_sub(1)), at(x.saturating_sub(1), y), at(x, y + 1), at(x + 1, y)];
            around.map(|v| v - at(x, y))
        };
        let cells = image.len() as f64;
        let mean = image.iter().sum::<f64>() / cells;
        noise = image.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / cells / mean.powi(2);
        let through = |i: usize| {
            let slopes = slopes(i).map(|slope| slope / image[i]);
            let gradient: f64 = slopes.iter().map(|slope| slope * slope).sum();
            let laplacian: f64 = slopes.iter().sum();
            let q = (gradient / 2.0 - laplacian * laplacian / 16.0) / (1.0 + laplacian / 4.0).powi(2);
            (1.0 / (1.0 + (q - noise) / (noise * (1.0 + noise)))).clamp(0.0, 1.0)
        };
        let flow = |i: usize| {
            let [north, west, south, east] = slopes(i);
            let below = if i + width < image.len() { i + width } else { i };
            let right = if i % width + 1 < width { i + 1 } else { i };
            through(i) * (north + west) + through(below) * south + through(right) * east
        };
        image = (0..image.len()).map(|i| image[i] + flow(i) / 8.0).collect();
    }
    close(&run.f32s("noise"), &[noise], 1e-6);
    close(&run.f32s("image"), &image, 1e-4);
}

#[test]
fn a_network_learns_its_sample() {
    let names = [
        "in", "weights1", "bias1", "hidden", "weights2", "bias2", "out", "target", "delta1", "delta2",
        "moved1", "moved2",
    ];
    let after = run("backprop_program", &["--let", "rounds=1"], &names);
    let of = |name: &str| -> Vec<f64> { after.f32s(name).into_iter().map(f64::from).collect() };
    // before the step, the weights differ by `moved`
    let before = |weights: &str, moved: &str| -> Vec<f64> {
        of(weights).iter().zip(of(moved)).map(|(after, moved)| after - moved).collect()
    };
    let (weights1, weights2) = (before("weights1", "moved1"), before("weights2", "moved2"));
    let forward = |input: &[f64], weights: &[f64], bias: &[f64]| -> Vec<f64> {
        let outs = bias.len();
        let sum =
            |j: usize| -> f64 { input.iter().enumerate().map(|(i, v)| v * weights[i * outs + j]).sum() };
        (0..outs).map(|j| 1.0 / (1.0 + (-sum(j) - bias[j]).exp())).collect()
    };
    let input = of("in");
    let hidden = forward(&input, &weights1, &of("bias1"));
    let out = forward(&hidden, &weights2, &of("bias2"));
    close(&after.f32s("hidden"), &hidden, 1e-5);
    close(&after.f32s("out"), &out, 1e-5);
    let delta2: Vec<f64> = out.iter().zip(of("target")).map(|(o, t)| o * (1.0 - o) * (t - o)).collect();
    let asked = |i: usize| -> f64 { delta2.iter().zip(&weights2[10 * i..]).map(|(d, w)| d * w).sum() };
    let delta1: Vec<f64> = hidden.iter().enumerate().map(|(i, h)| h * (1.0 - h) * asked(i)).collect();
    close(&after.f32s("delta2"), &delta2, 1e-5);
    close(&after.f32s("delta1"), &delta1, 1e-5);
    let moved = |input: &[f64], delta: &[f64]| -> Vec<f64> {
        input.iter().flat_map(|v| delta.iter().map(move |d| 0.3 * v * d)).collect()
    };
    close(&after.f32s("moved1"), &moved(&input, &delta1), 1e-6);
    close(&after.f32s("moved2"), &moved(&hidden, &delta2), 1e-6);

    // the output approaches the target; a run of the same program replaces the previous one
    let error = |run: &Run| -> f32 {
        run.f32s("out").iter().zip(run.f32s("target")).map(|(o, t)| (o - t).powi(2)).sum()
    };
    let first = error(&after);
    let last = error(&run("backprop_program", &["--let", "rounds=4"], &names));
    assert!(last < 0.9 * first, "{first}, then {last}");
}
