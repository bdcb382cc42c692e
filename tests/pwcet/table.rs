//! The generation of the table of `ad_table`.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use warpbound::pwcet::bootstrap::{Model, draw};
use warpbound::pwcet::distances::Distances;
use warpbound::pwcet::gpd::Gpd;
use warpbound::pwcet::gpd_fit::Method;

const XIS: [f64; 13] = [-0.5, -0.4, -0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0];
const PS: [f64; 13] = [0.99, 0.95, 0.9, 0.75, 0.5, 0.25, 0.1, 0.05, 0.025, 0.01, 0.005, 0.002, 0.001];

/// Prints the rows of `ad_table`; run it with
/// `cargo test --release --test pwcet -- --ignored --nocapture anderson_darling_table`.
#[test]
#[ignore = "a minute: makes the table again"]
fn anderson_darling_table() {
    let row = |xi: f64| {
        let mut rng = ChaCha8Rng::seed_from_u64(2018);
        let model = Model { gpd: Gpd { xi, alpha: 1.0 }, count: 500, resolution: 0.0 };
        let mut statistics: Vec<f64> = (0..100_000)
            .filter_map(|_| draw(model.gpd, model.count, model.resolution, &mut rng))
            .map(|excesses| {
                Distances::of(&excesses, excesses.fit(Method::MaximumLikelihood)).anderson_darling
            })
            .collect();
        statistics.sort_unstable_by(f64::total_cmp);
        let at = |p: f64| statistics[((1.0 - p) * statistics.len() as f64) as usize];
        let cells: Vec<String> = PS.iter().map(|&p| format!("{:.4}", at(p))).collect();
        format!("    ({xi:?}, [{}]),", cells.join(", "))
    };
    std::thread::scope(|scope| {
        let rows: Vec<_> = XIS.into_iter().map(|xi| scope.spawn(move || row(xi))).collect();
        rows.into_iter().for_each(|row| println!("{}", row.join().expect("a row")));
    });
}
