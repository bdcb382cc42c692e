#!/usr/bin/env python3
"""Makes the data sets and reference values of tests/pwcet/reference.rs.

    python3 -m venv venv
    venv/bin/pip install numpy==2.4.6 scipy==1.17.1 statsmodels==0.15.0 lmoments3==1.0.8 pyextremes==2.6.1 arch==8.0.0
    venv/bin/python scripts/pwcet-reference.py tests/data/pwcet

Each set is NAME.txt, with one number per line, and NAME.json, with the results of other programs.
Maximum-likelihood fits begin with scipy's `fit`, whose error is about 1e-4, and are refined by the
simplex method with a small tolerance. None of these packages computes the extremal index; it is
computed here from the formulas of Ferro and Segers.
"""

import json
import sys
import warnings
from pathlib import Path

import arch
import lmoments3
import numpy as np
import pandas as pd
import pyextremes
import scipy
import statsmodels
from arch.unitroot import KPSS
from lmoments3 import distr
from scipy import optimize, stats
from scipy.stats._hypotests import _cdf_cvm_inf
from statsmodels.stats.diagnostic import acorr_ljungbox
from statsmodels.tsa.stattools import acf, bds, kpss

warnings.simplefilter("ignore")
EXCEEDANCES = 100
BLOCK = 10


def sets():
    rng = np.random.default_rng(20160404)
    n = 500
    yield "heavy", 1000 + stats.genpareto.rvs(0.2, scale=30, size=n, random_state=rng), 3
    yield "bounded", np.round(50_000 + stats.genpareto.rvs(-0.25, scale=4000, size=n, random_state=rng)), 0
    noise, ar = rng.standard_normal(n), np.zeros(n)
    for t in range(1, n):
        ar[t] = 0.7 * ar[t - 1] + noise[t]
    yield "dependent", 200 + 10 * ar, 3
    yield "drifting", 300 + 0.02 * np.arange(n) + 5 * rng.standard_normal(n), 3
    yield "tied", np.round(40 + 6 * rng.standard_exponential(n)), 0


def polished(distribution, data, start):
    """Returns the maximum-likelihood parameters near `start`, and the log-likelihood."""

    def cost(parameters):
        value = -np.sum(distribution(parameters).logpdf(data))
        return value if np.isfinite(value) else 1e300

    best = np.array(start, dtype=float)
    for _ in range(4):
        found = optimize.minimize(
            cost, best, method="Nelder-Mead", options=dict(xatol=1e-11, fatol=1e-12, maxiter=20000, maxfev=20000)
        )
        best = found.x
    return best, -found.fun


def gpd(parameters):
    return stats.genpareto(parameters[0], scale=parameters[1])


def gev(parameters):
    return stats.genextreme(parameters[0], loc=parameters[1], scale=parameters[2])


def profile(data, best, maximum, estimate, of):
    """Returns the 95 % interval of `estimate`; `of(value, xi)` is alpha."""
    drop = stats.chi2.ppf(0.95, 1) / 2

    def beyond(value):
        def cost(xi):
            alpha = of(value, xi)
            if alpha <= 0:
                return 1e300
            result = -np.sum(stats.genpareto.logpdf(data, xi, scale=alpha))
            return result if np.isfinite(result) else 1e300

        grid = np.linspace(best[0] - 0.8, best[0] + 1.2, 401)
        near = grid[np.argmin([cost(xi) for xi in grid])]
        found = optimize.minimize_scalar(cost, bounds=(near - 0.01, near + 0.01), method="bounded", options=dict(xatol=1e-11))
        return maximum + found.fun - drop

    low, high = estimate, estimate
    while beyond(low) < 0:
        low -= 0.05 * estimate
    while beyond(high) < 0:
        high += 0.2 * estimate
    return [optimize.brentq(beyond, low, estimate), optimize.brentq(beyond, estimate, high)]


def profile_xi(data, best, maximum):
    drop = stats.chi2.ppf(0.95, 1) / 2

    def beyond(xi):
        def cost(log_alpha):
            result = -np.sum(stats.genpareto.logpdf(data, xi, scale=np.exp(log_alpha)))
            return result if np.isfinite(result) else 1e300

        grid = np.log(best[1]) + np.linspace(-1.5, 1.5, 601)
        near = grid[np.argmin([cost(log) for log in grid])]
        found = optimize.minimize_scalar(cost, bounds=(near - 0.01, near + 0.01), method="bounded", options=dict(xatol=1e-11))
        return maximum + found.fun - drop

    low, high = best[0], best[0]
    while beyond(low) < 0:
        low -= 0.05
    while beyond(high) < 0:
        high += 0.05
    return [optimize.brentq(beyond, low, best[0]), optimize.brentq(beyond, best[0], high)]


def distance(name, data, parameters):
    """Returns a statistic of `goodness_of_fit` for points and a distribution with known parameters."""
    known = dict(c=parameters[0], loc=0, scale=parameters[1])
    return stats.goodness_of_fit(stats.genpareto, data, known_params=known, statistic=name, n_mc_samples=1).statistic


def intervals_estimator(gaps):
    if gaps.max() <= 2:
        theta = 2 * gaps.sum() ** 2 / (len(gaps) * (gaps**2).sum())
    else:
        theta = 2 * (gaps - 1).sum() ** 2 / (len(gaps) * ((gaps - 1) * (gaps - 2)).sum())
    return min(1.0, theta)


def tests(x):
    out = {"kpss": [], "bds": [], "ljung_box": []}
    short = int(4 * (len(x) / 100) ** 0.25)
    for regression, of in (("c", "level"), ("ct", "trend")):
        for nlags, bandwidth in (("auto", "automatic"), (short, "short"), ("legacy", "long")):
            statistic, p, lags, _ = kpss(x, regression, nlags)
            entry = dict(regression=of, bandwidth=bandwidth, lags=int(lags), statistic=statistic, p_table=p)
            if of == "level":
                # the limit is that of Cramer and von Mises
                entry["p_value"] = float(1 - _cdf_cvm_inf(statistic))
            theirs = KPSS(x, trend=regression, lags=int(lags))
            entry["arch"] = dict(statistic=float(theirs.stat), p_value=float(theirs.pvalue))
            out["kpss"].append(entry)
    for epsilon in (0.5, 1.0, 1.5, 2.0):
        statistics, ps = bds(x, max_dim=5, distance=epsilon)
        for dimension in range(2, 6):
            at = dimension - 2
            out["bds"].append(
                dict(epsilon=epsilon, dimension=dimension, statistic=float(statistics[at]), p_value=float(ps[at]))
            )
    for lags, row in acorr_ljungbox(x, [5, 10, 20]).iterrows():
        out["ljung_box"].append(dict(lags=int(lags), statistic=row["lb_stat"], p_value=row["lb_pvalue"]))
    out["correlations"] = list(acf(x, nlags=40, fft=False)[1:])
    return out


def tail(x, step):
    ordered = np.sort(x)
    threshold = ordered[-EXCEEDANCES - 1] + step / 2
    y = np.sort(x[x > threshold]) - threshold
    best, maximum = polished(gpd, y, [*stats.genpareto.fit(y, floc=0)[::2]])
    l1, l2 = lmoments3.lmom_ratios(y, 2)
    n = len(y)
    weights = 1 - (np.arange(1, n + 1) - 0.35) / n
    a0, a1 = y.mean(), (y * weights).mean()
    quantile = gpd(best).isf(1e-3)
    return {
        "threshold": threshold,
        "exceedances": n,
        "xi": best[0],
        "alpha": best[1],
        "log_likelihood": maximum,
        "l_moments": dict(xi=2 - l1 / l2, alpha=(l1 / l2 - 1) * l1),
        "probability_weighted_moments": dict(xi=2 - a0 / (a0 - 2 * a1), alpha=2 * a0 * a1 / (a0 - 2 * a1)),
        "kolmogorov_smirnov": stats.kstest(y, gpd(best).cdf).statistic,
        "anderson_darling": distance("ad", y, best),
        "exponential": dict(
            alpha=y.mean(),
            kolmogorov_smirnov=stats.kstest(y, stats.expon(scale=y.mean()).cdf).statistic,
            anderson_darling=stats.anderson(y, "expon", method="interpolate").statistic,
        ),
        "profile_xi": profile_xi(y, best, maximum),
        "profile_alpha": profile(y, best, maximum, best[1], lambda alpha, xi: alpha),
        "quantile": quantile,
        "profile_quantile": profile(
            y, best, maximum, quantile, lambda z, xi: z / stats.genpareto.isf(1e-3, xi) if abs(xi) > 1e-12 else z
        ),
    }


def extremes(x, threshold):
    at = np.flatnonzero(x > threshold)
    gaps = np.diff(at).astype(float)
    series = pd.Series(x, index=pd.date_range("2000", periods=len(x), freq="h"))
    found = {}
    for run_length in (1, 2, 5, 10):
        kept = pyextremes.get_extremes(series, "POT", threshold=threshold, r=f"{run_length}h")
        found[str(run_length)] = dict(clusters=len(kept), maxima=[float(value) for value in kept])
    return {"theta": intervals_estimator(gaps), "runs": found}


def blocks(x):
    maxima = np.sort(x[: len(x) // BLOCK * BLOCK].reshape(-1, BLOCK).max(axis=1))
    moments = distr.gev.lmom_fit(maxima)
    start = [moments["c"], moments["loc"], moments["scale"]]
    if not np.isfinite(np.sum(gev(start).logpdf(maxima))):
        start = list(stats.genextreme.fit(maxima))
    best, maximum = polished(gev, maxima, start)
    return {
        "l_moments": dict(xi=-moments["c"], mu=moments["loc"], sigma=moments["scale"]),
        "maximum_likelihood": dict(xi=-best[0], mu=best[1], sigma=best[2]),
        "log_likelihood": maximum,
    }


def distributions():
    """Returns points of both distributions: xi, then (probability, quantile, probability of the quantile)."""
    out = {"gpd": [], "gev": []}
    for xi in (-0.6, -0.2, -1e-3, 0.0, 1e-3, 0.2, 0.9):
        for p in (0.5, 1e-3, 1e-9):
            y = float(stats.genpareto.isf(p, xi, scale=3.0))
            out["gpd"].append(dict(xi=xi, probability=p, time=y, sf=float(stats.genpareto.sf(y, xi, scale=3.0))))
            b = float(stats.genextreme.isf(p, -xi, loc=10.0, scale=3.0))
            sf = float(stats.genextreme.sf(b, -xi, loc=10.0, scale=3.0))
            out["gev"].append(dict(xi=xi, probability=p, time=b, sf=sf))
    return out


def plain(value):
    return value.item() if isinstance(value, np.generic) else str(value)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    made_with = {module.__name__: module.__version__ for module in (np, scipy, statsmodels, pyextremes, arch)}
    write = lambda name, value: (folder / name).write_text(json.dumps(value, indent=1, default=plain) + "\n")
    write("distributions.json", {"made_with": made_with, **distributions()})
    for name, x, digits in sets():
        x = np.round(x, digits)
        (folder / f"{name}.txt").write_text("".join(f"{value:.{digits}f}\n" for value in x))
        x = np.loadtxt(folder / f"{name}.txt")
        step = np.diff(np.unique(x)).min()
        above = tail(x, step)
        write(
            f"{name}.json",
            {
                "made_with": made_with,
                "resolution": step,
                **tests(x),
                "tail": above,
                "extremal_index": extremes(x, above["threshold"]),
                "blocks": blocks(x),
            },
        )


main()
