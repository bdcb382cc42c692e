//! The expected memory contents after the kernels on grids: `hotspot`, `stencil3d`, `gridpath`,
//! `align`, `diffusion` and `voronoi`. All of them are compared byte by byte.

use super::{RefIo, tree_sum};

/// Computes the expected buffers in place. Returns `None` if the entry is unknown.
pub fn reference(entry: &str, io: &mut RefIo) -> Option<()> {
    match entry {
        "hotspot" => hotspot(io),
        "stencil3d" => stencil3d(io),
        "gridpath" => gridpath(io),
        "align" => align(io),
        "diffusion_noise" => diffusion_noise(io),
        "diffusion_edges" => diffusion_edges(io),
        "diffusion_step" => diffusion_step(io),
        "voronoi" => voronoi(io),
        _ => return None,
    }
    Some(())
}

/// A grid of cells, row by row; beyond the border, the cells of the border repeat.
struct Grid {
    cells: Vec<f32>,
    width: usize,
    height: usize,
}

impl Grid {
    fn at(&self, x: usize, y: usize) -> f32 {
        self.cells[y * self.width + x]
    }

    fn north(&self, x: usize, y: usize) -> f32 {
        self.at(x, y.saturating_sub(1))
    }

    fn south(&self, x: usize, y: usize) -> f32 {
        self.at(x, (y + 1).min(self.height - 1))
    }

    fn west(&self, x: usize, y: usize) -> f32 {
        self.at(x.saturating_sub(1), y)
    }

    fn east(&self, x: usize, y: usize) -> f32 {
        self.at((x + 1).min(self.width - 1), y)
    }

    /// Returns the cells of a grid of the same size, computed cell by cell.
    fn map(&self, cell: impl Fn(usize, usize) -> f32) -> Vec<f32> {
        (0..self.cells.len()).map(|i| cell(i % self.width, i / self.width)).collect()
    }
}

/// Computes whole plates, one step after another; the tiles and halos of the kernel do not occur
/// here.
fn hotspot(io: &mut RefIo) {
    let (width, height, steps) = (io.size(0), io.size(1), io.size(6));
    let [across, down, air, ambient] = [2, 3, 4, 5].map(|scalar| io.float(scalar));
    let power = io.f32s(2);
    let mut plate = Grid { cells: io.f32s(0), width, height };
    for _ in 0..steps {
        plate.cells = plate.map(|x, y| {
            let own = plate.at(x, y);
            let change = air.mul_add(ambient - own, power[y * width + x]);
            let sideways = (-2.0f32).mul_add(own, plate.west(x, y) + plate.east(x, y));
            let along = (-2.0f32).mul_add(own, plate.north(x, y) + plate.south(x, y));
            own + down.mul_add(along, across.mul_add(sideways, change))
        });
    }
    io.put_f32s(1, &plate.cells);
}

fn stencil3d(io: &mut RefIo) {
    let (nx, ny, nz) = (io.size(0), io.size(1), io.size(2));
    let (own, around) = (io.float(3), io.float(4));
    let (from, mut to) = (io.f32s(0), io.f32s(1));
    for z in 1..nz - 1 {
        for y in 1..ny - 1 {
            for x in 1..nx - 1 {
                let at = (z * ny + y) * nx + x;
                let neighbours = [at - 1, at + 1, at - nx, at + nx, at - nx * ny, at + nx * ny];
                let sum = neighbours.iter().skip(1).fold(from[neighbours[0]], |sum, &i| sum + from[i]);
                to[at] = own.mul_add(from[at], around * sum);
            }
        }
    }
    io.put_f32s(1, &to);
}

fn gridpath(io: &mut RefIo) {
    let (columns, rows) = (io.size(0), io.size(1));
    let (mut best, costs) = (io.i32s(0), io.i32s(2));
    for row in costs.chunks(columns).take(rows) {
        best = (0..columns)
            .map(|c| {
                let above = &best[c.saturating_sub(1)..(c + 2).min(columns)];
                above.iter().min().expect("a column") + row[c]
            })
            .collect();
    }
    io.put_i32s(1, &best);
}

fn align(io: &mut RefIo) {
    let side = io.block[0] as i64;
    let [rows, columns, diagonal, first, equal, other, gap] = [0, 1, 2, 3, 4, 5, 6].map(|s| io.int(s));
    let mut scores = io.i32s(2);
    for block in 0..io.blocks() as i64 {
        let (tile_row, tile_column) = (first + block, diagonal - first - block);
        for i in tile_row * side..((tile_row + 1) * side).min(rows) {
            for j in tile_column * side..((tile_column + 1) * side).min(columns) {
                // before the first letter of one sequence, all letters of the other are gaps
                let score = |i: i64, j: i64| match (i, j) {
                    (-1, _) => -gap * (j + 1),
                    (_, -1) => -gap * (i + 1),
                    _ => i64::from(scores[(i * columns + j) as usize]),
                };
                let same = io.buffers[0][i as usize] == io.buffers[1][j as usize];
                let paired = score(i - 1, j - 1) + if same { equal } else { -other };
                let best = paired.max(score(i - 1, j) - gap).max(score(i, j - 1) - gap);
                scores[(i * columns + j) as usize] = best as i32;
            }
        }
    }
    io.put_i32s(2, &scores);
}

fn diffusion_noise(io: &mut RefIo) {
    let (image, cells, threads) = (io.f32s(0), io.size(0), io.block_threads());
    let over = |add: &dyn Fn(f32, f32) -> f32| {
        let of_thread = |t| image[..cells].iter().skip(t).step_by(threads).fold(0.0, |sum, &v| add(sum, v));
        tree_sum((0..threads).map(of_thread).collect()) / cells as f32
    };
    let mean = over(&|sum, v| sum + v);
    let squares = over(&|sum, v| v.mul_add(v, sum));
    io.put_f32s(1, &[(-mean).mul_add(mean, squares) / (mean * mean)]);
}

fn diffusion_edges(io: &mut RefIo) {
    let image = Grid { cells: io.f32s(0), width: io.size(0), height: io.size(1) };
    let noise = io.f32s(1)[0];
    let through = image.map(|x, y| {
        let own = image.at(x, y);
        let [n, s] = [image.north(x, y), image.south(x, y)].map(|v| v - own);
        let [w, e] = [image.west(x, y), image.east(x, y)].map(|v| v - own);
        let gradient = (w.mul_add(w, e * e) + n.mul_add(n, s * s)) / (own * own);
        let laplacian = ((n + s) + (w + e)) / own;
        let spread = laplacian.mul_add(0.25, 1.0);
        let q = gradient.mul_add(0.5, -0.0625 * (laplacian * laplacian)) / (spread * spread);
        (1.0 / (1.0 + (q - noise) / noise.mul_add(noise, noise))).clamp(0.0, 1.0)
    });
    io.put_f32s(2, &through);
}

fn diffusion_step(io: &mut RefIo) {
    let (width, height, rate) = (io.size(0), io.size(1), io.float(2));
    let image = Grid { cells: io.f32s(0), width, height };
    let through = Grid { cells: io.f32s(1), width, height };
    let after = image.map(|x, y| {
        let own = image.at(x, y);
        let flow = through.at(x, y) * ((image.north(x, y) - own) + (image.west(x, y) - own));
        let flow = through.south(x, y).mul_add(image.south(x, y) - own, flow);
        let flow = through.east(x, y).mul_add(image.east(x, y) - own, flow);
        rate.mul_add(flow, own)
    });
    io.put_f32s(2, &after);
}

/// Sets each pixel to the colour of the nearest point, the first of equally near ones.
fn voronoi(io: &mut RefIo) {
    let (width, pixels, count) = (io.size(0), io.size(1), io.size(2));
    let (points, colours, mut image) = (io.i32s(0), io.u32s(1), io.u32s(2));
    assert!(pixels <= io.threads(), "a thread for each pixel");
    for (pixel, colour) in image.iter_mut().enumerate().take(pixels) {
        let away = |point: usize| {
            let [x, y] = [pixel % width, pixel / width].map(|place| place as i64);
            let [dx, dy] = [i64::from(points[2 * point]) - x, i64::from(points[2 * point + 1]) - y];
            (dx * dx + dy * dy, point)
        };
        let (_, nearest) = (0..count).map(away).min().expect("a point");
        *colour = colours[nearest];
    }
    io.put_u32s(2, &image);
}
