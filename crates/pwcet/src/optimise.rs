//! Minima and roots of functions of one variable, and minima of functions of three variables.
//!
//! A function may be infinite at arguments that are not allowed. R. P. Brent, *Algorithms for
//! Minimization without Derivatives*, 1973, chapter 5; J. A. Nelder and R. Mead, "A Simplex Method
//! for Function Minimization", 1965; M. Dowell and P. Jarratt, "A modified regula falsi
//! method", 1971.

/// The largest number of steps before a search returns its best result so far.
const MOST: usize = 200;

/// 2 - the golden ratio: the fraction of the larger side at which a golden section cuts.
const GOLDEN: f64 = 0.381_966_011_250_105_1;

/// Finds a local minimum of `f` near `start`, where steps of `step` are appropriate. Returns x and
/// f(x).
pub(super) fn minimum_near(
    mut f: impl FnMut(f64) -> f64,
    start: f64,
    step: f64,
    tolerance: f64,
) -> (f64, f64) {
    let (mut middle, mut lowest) = (start, f(start));
    let (mut low, mut high) = (start - step, start + step);
    let (mut at_low, mut at_high) = (f(low), f(high));
    let mut stride = step;
    // leave a region in which no argument is allowed
    for _ in 0..60 {
        if lowest < f64::INFINITY || at_low < f64::INFINITY || at_high < f64::INFINITY {
            break;
        }
        stride *= 2.0;
        (low, high) = (start - stride, start + stride);
        (at_low, at_high) = (f(low), f(high));
    }
    for _ in 0..MOST {
        if lowest <= at_low && lowest <= at_high {
            break;
        }
        stride *= 1.7;
        if at_low < at_high {
            (high, at_high, middle, lowest) = (middle, lowest, low, at_low);
            low = middle - stride;
            at_low = f(low);
        } else {
            (low, at_low, middle, lowest) = (middle, lowest, high, at_high);
            high = middle + stride;
            at_high = f(high);
        }
    }
    brent(f, (low, middle, high), lowest, tolerance)
}

/// Performs Brent's minimisation within a bracket `(low, x, high)`.
fn brent(
    mut f: impl FnMut(f64) -> f64,
    (mut low, mut x, mut high): (f64, f64, f64),
    mut fx: f64,
    tolerance: f64,
) -> (f64, f64) {
    let (mut w, mut fw, mut v, mut fv) = (x, fx, x, fx);
    let (mut step, mut before) = (0.0_f64, 0.0_f64);
    for _ in 0..MOST {
        let middle = f64::midpoint(low, high);
        let near = tolerance * (x.abs() + 1.0);
        if (x - middle).abs() <= 2.0 * near - (high - low) / 2.0 {
            break;
        }
        // a parabola through the three best points, if its step is small enough to be reliable
        let r = (x - w) * (fx - fv);
        let q = (x - v) * (fx - fw);
        let (mut p, mut q) = ((x - v) * q - (x - w) * r, 2.0 * (q - r));
        if q > 0.0 {
            p = -p;
        }
        q = q.abs();
        let trusted = before.abs() > near
            && p.is_finite()
            && p.abs() < (q * before / 2.0).abs()
            && p > q * (low - x)
            && p < q * (high - x);
        before = step;
        if trusted {
            step = p / q;
            if x + step - low < 2.0 * near || high - (x + step) < 2.0 * near {
                step = near.copysign(middle - x);
            }
        } else {
            before = if x < middle { high - x } else { low - x };
            step = GOLDEN * before;
        }
        let u = x + if step.abs() >= near { step } else { near.copysign(step) };
        let fu = f(u);
        if fu <= fx {
            if u < x {
                high = x
            } else {
                low = x
            }
            (v, fv, w, fw, x, fx) = (w, fw, x, fx, u, fu);
        } else {
            if u < x {
                low = u
            } else {
                high = u
            }
            if fu <= fw || w == x {
                (v, fv, w, fw) = (w, fw, u, fu);
            } else if fu <= fv || v == x || v == w {
                (v, fv) = (u, fu);
            }
        }
    }
    (x, fx)
}

/// Finds a root of `f` between `inside`, where it is negative, and `outside`, where it is positive
/// or infinite.
pub(super) fn root(
    mut f: impl FnMut(f64) -> f64,
    inside: (f64, f64),
    outside: (f64, f64),
    tolerance: f64,
) -> f64 {
    let ((mut a, mut fa), (mut b, mut fb)) = (inside, outside);
    let mut last_inside = None;
    for _ in 0..MOST {
        if (b - a).abs() <= tolerance * (a.abs() + b.abs() + tolerance) {
            break;
        }
        let secant = (a * fb - b * fa) / (fb - fa);
        let x = if secant.is_finite() && (secant - a) * (secant - b) < 0.0 {
            secant
        } else {
            f64::midpoint(a, b)
        };
        let fx = f(x);
        // if the same end is moved twice, the value at the other one is halved (the "Illinois"
        // rule)
        if fx < 0.0 {
            (a, fa) = (x, fx);
            if last_inside == Some(true) {
                fb /= 2.0;
            }
        } else {
            (b, fb) = (x, fx);
            if last_inside == Some(false) {
                fa /= 2.0;
            }
        }
        last_inside = Some(fx < 0.0);
        if fx == 0.0 {
            return x;
        }
    }
    f64::midpoint(a, b)
}

/// A point of three numbers.
pub(super) type Point = [f64; 3];

/// Finds a local minimum of `f` near `start` by the simplex method, restarted from its result until
/// that no longer helps.
pub(super) fn simplex(mut f: impl FnMut(Point) -> f64, start: Point, steps: Point) -> (Point, f64) {
    let mut best = (start, f(start));
    for _ in 0..5 {
        let found = simplex_once(&mut f, best, steps);
        let gained = best.1 - found.1;
        best = found;
        if gained.is_nan() || gained <= 1e-9 * (1.0 + best.1.abs()) {
            break;
        }
    }
    best
}

fn simplex_once(f: &mut impl FnMut(Point) -> f64, start: (Point, f64), steps: Point) -> (Point, f64) {
    // the point at the fraction `share` of the way from one to the other; beyond it for more than 1
    let between = |from: Point, to: Point, share: f64| -> Point {
        std::array::from_fn(|axis| from[axis] + share * (to[axis] - from[axis]))
    };
    let moved = |axis: usize| -> Point {
        std::array::from_fn(|other| start.0[other] + if other == axis { steps[axis] } else { 0.0 })
    };
    let mut corners = [start, (moved(0), f(moved(0))), (moved(1), f(moved(1))), (moved(2), f(moved(2)))];
    for _ in 0..10 * MOST {
        corners.sort_by(|left, right| left.1.total_cmp(&right.1));
        let [best, second, third, worst] = corners;
        let size =
            (0..3).map(|axis| ((worst.0[axis] - best.0[axis]) / steps[axis]).abs()).fold(0.0, f64::max);
        if size < 1e-10 || (worst.1 - best.1).abs() <= 1e-14 * (1.0 + best.1.abs()) {
            break;
        }
        let centre: Point = std::array::from_fn(|axis| (best.0[axis] + second.0[axis] + third.0[axis]) / 3.0);
        let mut tried = |share: f64| {
            let point = between(worst.0, centre, share);
            (point, f(point))
        };
        let reflected = tried(2.0);
        let taken = if reflected.1 < best.1 {
            let expanded = tried(3.0);
            if expanded.1 < reflected.1 { expanded } else { reflected }
        } else if reflected.1 < third.1 {
            reflected
        } else {
            tried(if reflected.1 < worst.1 { 1.5 } else { 0.5 })
        };
        if taken.1 < worst.1.min(reflected.1) || taken.1 < third.1 {
            corners[3] = taken;
        } else {
            for corner in corners.iter_mut().skip(1) {
                corner.0 = between(best.0, corner.0, 0.5);
                corner.1 = f(corner.0);
            }
        }
    }
    corners.sort_by(|left, right| left.1.total_cmp(&right.1));
    corners[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minima_and_roots_are_found_beside_forbidden_arguments() {
        let one = |x: f64| if x <= 0.0 { f64::INFINITY } else { x - x.ln() };
        let (x, value) = minimum_near(one, 0.1, 0.5, 1e-9);
        assert!((x - 1.0).abs() < 1e-7 && (value - 1.0).abs() < 1e-14, "{x}");
        let cubic = |x: f64| if x > 3.0 { f64::INFINITY } else { x * x * x - 8.0 };
        assert!((root(cubic, (0.0, -8.0), (4.0, f64::INFINITY), 1e-12) - 2.0).abs() < 1e-10);
        let rosenbrock = |[x, y, z]: Point| (1.0 - x).powi(2) + 100.0 * (y - x * x).powi(2) + (z - x).powi(2);
        let (at, _) = simplex(rosenbrock, [-1.2, 1.0, 0.0], [0.5; 3]);
        assert!(at.iter().all(|value| (value - 1.0).abs() < 1e-5), "{at:?}");
    }
}
