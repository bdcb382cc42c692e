"""The output of `pwcet`. Generated from its JSON Schema."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from .._record import Record, Rows
from ._shared import AnyReport, Problem

__all__ = ["Accuracy", "Any", "Autocorrelation", "Banded", "Bds", "BdsTest", "BlockMaxima", "BlockTime", "Bounds", "Candidate", "Choice", "ClassVar", "Confidence", "CriticalValue", "Decision", "Declustered", "Diagnostics", "Exceeded", "Exceeded2", "Exponential", "ExtremalIndex", "FitTest", "FitTests", "Gev", "Gpd", "Interval", "Intervals", "Judged", "Kpss", "Literal", "LjungBox", "Longer", "NoCurveResult", "Options", "Other", "Point", "Problem", "Pwcet", "PwcetReport", "PwcetResult", "QuantilePair", "Record", "Report", "Rows", "Runs", "StandardErrors", "Stationarity", "Step", "Summary", "Tail", "TailTies", "Ties", "TracePart"]


class Accuracy(Record):
    """The paper's accuracy (equation 3): the fraction of the largest measurement by which the time at 10^-9
    exceeds it."""
    best: float
    """`a` of the best fit."""
    exponential: float
    """`a` of the exponential tail."""
    maximum: float
    """The largest measurement."""
    observable: float
    """The smallest probability that the sample can show: 1 / measurements."""
    time: float
    """The time at 10^-9 by the best fit."""
    _nested: ClassVar[dict[str, str]] = {}


class Autocorrelation(Record):
    """The correlations of a sample with itself, shifted by a lag."""
    band: float
    """The largest distance from 0 of 95 percent of the correlations of independent values, which is 1.96 /
    sqrt(n)."""
    correlations: list[float]
    """The correlations from lag 1 on. The sums of all lags are divided by the variance of the whole sample,
    as is usual."""
    ljung_box: Rows[LjungBox]
    """The tests, for several numbers of lags."""
    _nested: ClassVar[dict[str, str]] = {"ljung_box": "LjungBox"}


class Banded(Record):
    """A value with a confidence band, at a threshold."""
    band: Interval
    """The confidence band, from a normal distribution with the value's standard error. It has no limits if
    there is no standard error (xi <= -1/2)."""
    threshold: float
    """The threshold."""
    value: float
    """The value."""
    _nested: ClassVar[dict[str, str]] = {"band": "Interval"}


class Bds(Record):
    """The tests of independence."""
    critical_values: Rows[CriticalValue]
    """The critical values of the absolute value of each statistic."""
    p_value: float
    """The p-value that decides. It combines the p-values of all tests that count, by the mean of tan(pi (1/2
    - p)): this is a Cauchy variable even if the tests depend on each other (Y. Liu and J. Xie, "Cauchy
    Combination Test", JASA 115, 2020). The paper does not state the distance and dimension of its p_BDS."""
    passed: bool
    """Whether the hypothesis of independence is kept at the significance of the analysis."""
    tests: Rows[BdsTest]
    """The tests, one for each distance and embedding dimension."""
    _nested: ClassVar[dict[str, str]] = {"critical_values": "CriticalValue", "tests": "BdsTest"}


class BdsTest(Record):
    """The test for one distance and embedding dimension."""
    dimension: int
    """The embedding dimension, which is the number of points of a history."""
    enough_neighbours: bool
    """Whether histories have enough others close to them for the test to count."""
    epsilon: float
    """The distance below which points are close, in standard deviations of the sample."""
    p_value: float
    """The two-sided p-value. It is 1 without a statistic, because nothing contradicts independence."""
    statistic: float | None
    """The statistic; none if it has no variance because all points are close, or none are."""
    _nested: ClassVar[dict[str, str]] = {}


class BlockMaxima(Record):
    """The distribution of the largest time of a block of runs."""
    block: int
    """The number of runs in a block. Unless it is given, it is about the square root of the number of all
    runs, so that there are as many blocks as runs in a block."""
    blocks: int
    """The number of complete blocks."""
    l_moments: Gev
    """The fit by L-moments."""
    maximum_likelihood: Gev
    """The fit by maximum likelihood."""
    times: Rows[BlockTime]
    """The times that runs exceed, in the order of the requested probabilities."""
    xi: Interval
    """The shape's percentile interval, from a parametric bootstrap of the fit by L-moments."""
    _nested: ClassVar[dict[str, str]] = {"l_moments": "Gev", "maximum_likelihood": "Gev", "times": "BlockTime", "xi": "Interval"}


class BlockTime(Record):
    """The time that one run exceeds with a given probability, according to the block maxima, in the unit of
    time. If runs are independent, the share (1 - probability)^block of all block maxima is at most this
    time."""
    l_moments: float
    """The time by the fit by L-moments."""
    maximum_likelihood: float
    """The time by the fit by maximum likelihood."""
    probability: float
    """The exceedance probability of one run."""
    _nested: ClassVar[dict[str, str]] = {}


class Bounds(Record):
    """An interval that contains a p-value; both limits are equal if the p-value is known."""
    lower: float
    """The lower limit."""
    upper: float
    """The upper limit."""
    _nested: ClassVar[dict[str, str]] = {}


class Candidate(Record):
    """A threshold and the fit above it."""
    anderson_darling: float
    """A² of the fit to the tested points; tied points are spread over their steps."""
    exceedances: int
    """The number of values above it."""
    forward_stop: float
    """The mean of -ln(1 - p) of this and all lower thresholds."""
    gpd: Gpd
    """The fit to all of them by maximum likelihood."""
    p_value: float
    """Its p-value, from [`ad_table`](super::ad_table)."""
    tested: int
    """The number of points that were tested: all exceedances or, if they occur in clusters, the largest of
    each cluster."""
    threshold: float
    """The threshold, in the unit of time."""
    _nested: ClassVar[dict[str, str]] = {"gpd": "Gpd"}


class Choice(Record):
    """The chosen threshold, and how it was chosen."""
    candidates: Rows[Candidate]
    """All thresholds that were tried, in ascending order."""
    exceedances: int
    """The number of values above it."""
    rejected: int
    """The number of thresholds, from the lowest on, that the criterion rejects."""
    rule: str | dict[str, Any]
    """The rule by which it was chosen."""
    threshold: float
    """The threshold, in the unit of time."""
    _nested: ClassVar[dict[str, str]] = {"candidates": "Candidate"}


class Confidence(Record):
    """Equation 2 of the paper, section 3.1: p = min(p_KPSS, max(p_BDS, p_EI))."""
    as_in_paper: float
    """Equation 2 as the paper's section 3.1 and table 1 read it: p_KPSS is 0.99 if the statistic is below the
    critical value at 1 percent (0.739), and 0 otherwise. It is given for comparison only: a test that does
    not reject is not evidence of that strength."""
    bds: float
    """The p-value of BDS."""
    extremal_index: float
    """theta of the intervals estimator at the threshold."""
    kpss: float
    """The p-value of KPSS (level, automatic bandwidth)."""
    overall: float
    """Equation 2 with these."""
    _nested: ClassVar[dict[str, str]] = {}


class CriticalValue(Record):
    """The value of a statistic from which on a test rejects at a significance."""
    significance: float
    """The probability that a sample for which the hypothesis is true has a statistic beyond it."""
    statistic: float
    """The statistic."""
    _nested: ClassVar[dict[str, str]] = {}


class Decision(Record):
    """The decision of the paper's figure 1, and the confidence in the pWCET estimates."""
    advice: list[dict[str, Any] | str]
    """Advice on how to improve the measurements. It is empty if the answer to all questions is yes."""
    confidence: Confidence
    """The confidence in the pWCET estimates, computed from the tests."""
    reliable: bool
    """Whether the pWCET estimates are reliable."""
    steps: Rows[Step]
    """The questions in order, up to the one that decided."""
    _nested: ClassVar[dict[str, str]] = {"confidence": "Confidence", "steps": "Step"}


class Declustered(Record):
    """The fit to cluster maxima."""
    clusters: int
    """The number of clusters."""
    gpd: Gpd
    """The fit by maximum likelihood."""
    run_length: int
    """The largest distance of two exceedances in one cluster."""
    xi: Interval
    """The profile likelihood interval of its shape, which holds for clusters that are independent of each
    other."""
    _nested: ClassVar[dict[str, str]] = {"gpd": "Gpd", "xi": "Interval"}


class Diagnostics(Record):
    """The series of the diagnostic plots, of at most 200 points each. Times are in the unit of the sample.
    The series of times is the sample itself. The correlations are in
    [`Autocorrelation`](super::autocorrelation::Autocorrelation), and the fitted curve beside `exceedance` is
    in [`Pwcet`](super::curve::Pwcet)."""
    alpha_stability: Rows[Banded]
    """alpha - xi * threshold against the threshold. It is constant where the distribution holds."""
    exceedance: Rows[Exceeded]
    """The sample, from its shortest time to its longest."""
    mean_residual_life: Rows[Banded]
    """The mean excess against the threshold. It is a straight line where a generalized Pareto distribution
    holds: A. C. Davison and R. L. Smith, "Models for Exceedances over High Thresholds", J. R. Stat. Soc. B
    52, 1990."""
    quantiles: Rows[QuantilePair]
    """Observed times above the threshold against those that the fit has at the same probabilities."""
    xi_stability: Rows[Banded]
    """xi against the threshold. It is constant where the distribution holds."""
    _nested: ClassVar[dict[str, str]] = {"alpha_stability": "Banded", "exceedance": "Exceeded", "mean_residual_life": "Banded", "quantiles": "QuantilePair", "xi_stability": "Banded"}


class Exceeded(Record):
    """The share of runs that took longer than a time."""
    share: float
    """The share of runs that took longer."""
    time: float
    """The time."""
    _nested: ClassVar[dict[str, str]] = {}


class Exceeded2(Record):
    """The number of further runs that took longer than the time with an exceedance probability."""
    by_upper_limit: Longer | None
    """The runs that took longer than the upper limit of the curve's interval; none where there is no such
    limit. The curve itself is an estimate: even if it is right on average, half of such curves are a little
    too low, which enough runs show."""
    contradicted: bool
    """Whether the p-value is less than [`CONTRADICTED`], which means that the time is too short for its
    probability."""
    expected: float
    """The number of runs that are expected to take longer."""
    p_value: float
    """The probability of at least so many such runs, if runs are independent and the exceedance probability
    is not larger."""
    probability: float
    """The exceedance probability of one run."""
    runs: int
    """The number of runs that took longer."""
    time: float
    """The time."""
    _nested: ClassVar[dict[str, str]] = {"by_upper_limit": "Longer"}


class Exponential(Record):
    """The exponential tail, which has no shape parameter."""
    gpd: Gpd
    """The fit by maximum likelihood: xi is 0, and alpha the mean excess."""
    likelihood_ratio: float
    """Twice the log-likelihood that the best fit gains: chi-square with 1 degree of freedom if xi is 0."""
    p_value: float
    """The p-value of the likelihood ratio; a small one contradicts xi = 0."""
    tests: FitTests
    """The tests of the fit."""
    _nested: ClassVar[dict[str, str]] = {"gpd": "Gpd", "tests": "FitTests"}


class ExtremalIndex(Record):
    """The extremal index of the values above a threshold."""
    clusters: int
    """The number of clusters by the intervals estimator."""
    critical: float
    """The value that theta has to reach: [`ALONE`]."""
    exceedances: int
    """The number of values above it."""
    interval: Interval
    """Its percentile interval, by their bootstrap of clusters (section 4). It has no limits without a
    bootstrap."""
    passed: bool
    """Whether theta reaches it."""
    run_length: int
    """The largest distance between two exceedances of one cluster, according to the intervals estimator."""
    runs: Rows[Runs]
    """The runs estimator, for several lengths: R. L. Smith and I. Weissman, "Estimating the Extremal Index",
    J. R. Stat. Soc. B 56, 1994."""
    theta: float
    """The intervals estimator: C. A. T. Ferro and J. Segers, "Inference for clusters of extreme values", J.
    R. Stat. Soc. B 65, 2003, equation 5."""
    threshold: float
    """The threshold, in the unit of time."""
    _nested: ClassVar[dict[str, str]] = {"interval": "Interval", "runs": "Runs"}


class FitTest(Record):
    """A test whether points can come from the distribution that was fitted to them."""
    critical_values: Rows[CriticalValue] | None
    """Critical values of the statistic, from the same bootstrap."""
    p_table: float | None
    """The p-value for fitted parameters by [`by_table`]; only for the Anderson-Darling test of a fit with a
    shape."""
    p_value: float | None
    """The p-value for fitted parameters from the parametric bootstrap: (1 + replicates with a statistic at
    least as large) / (1 + replicates), each of them fitted again. It is none without a bootstrap."""
    passed: bool | None
    """Whether the fit is kept at the significance of the analysis. The bootstrap decides this. If it has too
    few replicates to reject any fit, the table decides; without a table, the result is none."""
    statistic: float
    """The statistic."""
    _nested: ClassVar[dict[str, str]] = {"critical_values": "CriticalValue"}


class FitTests(Record):
    """Both tests of a fit."""
    anderson_darling: FitTest
    """The test of Anderson and Darling."""
    kolmogorov_smirnov: FitTest
    """The test of Kolmogorov and Smirnov."""
    _nested: ClassVar[dict[str, str]] = {"anderson_darling": "FitTest", "kolmogorov_smirnov": "FitTest"}


class Gev(Record):
    """The generalized extreme value distribution, P(B <= b) = `exp(-(1+xi*(b-mu)/sigma)^(-1/xi))`, and
    `exp(-exp(-(b-mu)/sigma))` for xi = 0 (Gumbel). The Fisher-Tippett-Gnedenko theorem, section 2.1 of the
    paper. scipy's `genextreme` has c = -xi, like Hosking's k."""
    mu: float
    """The location, in the unit of time."""
    sigma: float
    """The scale, in the unit of time; positive."""
    xi: float
    """The shape, the same as that of the excesses over a high threshold."""
    _nested: ClassVar[dict[str, str]] = {}


class Gpd(Record):
    """The generalized Pareto distribution of excesses y over a threshold, P(Y <= y) =
    `1-(1+xi*y/alpha)^(-1/xi)`, and `1-exp(-y/alpha)` for xi = 0. Pickands' theorem, definition 1 in section
    2.1 of Berezovskyi et al., "Measurement-Based Probabilistic Timing Analysis for Graphics Processor Units"
    (DIAGXTRM). Hosking and Wallis write k = -xi; scipy's `genpareto` has c = xi."""
    alpha: float
    """The scale, in the unit of time; positive."""
    xi: float
    """The shape: negative where the tail ends at a finite time."""
    _nested: ClassVar[dict[str, str]] = {}


class Interval(Record):
    """A confidence interval; a side without a limit is none."""
    lower: float | None
    """The lower limit."""
    upper: float | None
    """The upper limit."""
    _nested: ClassVar[dict[str, str]] = {}


class Intervals(Record):
    """Two confidence intervals of the same value."""
    bootstrap: Interval
    """The percentile interval of the parametric bootstrap; without limits if there was no bootstrap."""
    profile: Interval
    """The interval by profile likelihood."""
    _nested: ClassVar[dict[str, str]] = {"bootstrap": "Interval", "profile": "Interval"}


class Judged(Record):
    """The comparison of the curve with further runs, which may exceed it, and with other methods."""
    at_1e_9: float
    """The pWCET at the exceedance probability 1e-9."""
    below_run: bool
    """Whether this pWCET is less than the time of a run."""
    below_schedule: bool
    """Whether this pWCET is less than the worst schedule of the paths of a run."""
    exceeded: Rows[Exceeded2]
    """How many runs exceeded each time of the curve."""
    longest: int
    """The longest of the further runs."""
    longest_run: int
    """The number of the longest run."""
    others: Rows[Other]
    """The other methods."""
    runs: int
    """The number of further runs."""
    _nested: ClassVar[dict[str, str]] = {"exceeded": "Exceeded2", "others": "Other"}


class Kpss(Record):
    """A test of stationarity."""
    bandwidth: Literal["short", "long", "automatic"]
    """The rule by which the number of lags was chosen."""
    critical_values: Rows[CriticalValue]
    """Its critical values at 10, 5, 2.5 and 1 percent: table 1 of Kwiatkowski et al."""
    lags: int
    """The number of lags."""
    p_table: Bounds
    """The interval of the p-value by that table, which ends at 0.01 and 0.1."""
    p_value: float
    """The p-value from the limit distribution of the statistic, rounded to 5 decimal places."""
    passed: bool
    """Whether the hypothesis of stationarity is kept at the significance of the analysis."""
    regression: Literal["level", "trend"]
    """The function of time around which the series is stationary under the hypothesis."""
    statistic: float
    """The statistic."""
    _nested: ClassVar[dict[str, str]] = {"critical_values": "CriticalValue", "p_table": "Bounds"}


class LjungBox(Record):
    """A test whether the first correlations together are 0. G. M. Ljung and G. E. P. Box, "On a measure of
    lack of fit in time series models", Biometrika 65, 1978."""
    critical_values: Rows[CriticalValue]
    """The critical values of the statistic."""
    lags: int
    """The number of correlations."""
    p_value: float
    """The p-value."""
    passed: bool
    """Whether the hypothesis of no correlation is kept at the significance of the analysis."""
    statistic: float
    """The statistic, which has a chi-square distribution with that many degrees of freedom."""
    _nested: ClassVar[dict[str, str]] = {"critical_values": "CriticalValue"}


class Longer(Record):
    """The runs that took longer than a time."""
    contradicted: bool
    """Whether the p-value is less than [`CONTRADICTED`], which means that the time is too short for its
    probability."""
    expected: float
    """The number of runs that are expected to take longer."""
    p_value: float
    """The probability of at least so many such runs, if runs are independent and the exceedance probability
    is not larger."""
    runs: int
    """The number of runs that took longer."""
    time: float
    """The time."""
    _nested: ClassVar[dict[str, str]] = {}


class NoCurveResult(Record):
    """Times without a curve: a summary of the sample, why there is no curve, and what would help."""
    exceedance: Rows[Exceeded]
    """The times in ascending order, with the share of runs that took longer."""
    measured: dict[str, Any]
    """The origin of the times."""
    no_curve: str
    """Why there is no curve."""
    sample: Summary
    """A summary of the times."""
    trace: Rows[TracePart]
    """The times in the order of the runs, divided into equal parts: the shortest and the longest time of each
    part."""
    unit: str
    """The unit of the times."""
    what_would_help: list[str]
    """What would help."""
    _nested: ClassVar[dict[str, str]] = {"exceedance": "Exceeded", "sample": "Summary", "trace": "TracePart"}


class Options(Record):
    """The options of an analysis."""
    block: int | None
    """The number of runs in a block, for block maxima; without it, about the square root of the number of all
    runs."""
    bootstraps: int
    """The number of replicates of each bootstrap, at most [`MAX_BOOTSTRAPS`]; 0 for no bootstrap."""
    exact_clock: bool
    """Whether times are exact, as simulated cycles are. A finer clock would then show the same times."""
    level: float
    """The probability with which a confidence interval contains the true value."""
    probabilities: list[float]
    """The exceedance probabilities for which the pWCET is computed."""
    seed: int
    """The seed of the random numbers (ChaCha8)."""
    significance: float
    """The p-value below which a test rejects. The paper uses 0.01."""
    threshold: str | dict[str, Any]
    """The rule by which the threshold is chosen."""
    _nested: ClassVar[dict[str, str]] = {}


class Other(Record):
    """Another method."""
    about: Literal["runs", "paths", "paths-unproved", "paths-under-policy", "estimate", "all"]
    """What the value holds for."""
    name: str
    """The name: `explored`, the name of a bound on the paths of the further runs, or `static`."""
    note: str | None
    """Why there is no value."""
    policy: str | None
    """The only policy that the value holds for, if there is one."""
    pwcet_overestimation: float | None
    """(pWCET at 1e-9 - value) / value."""
    value: int | None
    """The value."""
    _nested: ClassVar[dict[str, str]] = {}


class Point(Record):
    """The time that a run exceeds with a probability."""
    decades_beyond: float
    """The number of powers of ten by which the probability is below 1 / measurements; 0 if it is not
    below."""
    exponential: float
    """The time by the exponential tail."""
    intervals: Intervals | None
    """The intervals of the time by the best fit; none up to the threshold. They include the uncertainty of
    the share of runs above the threshold (binomial, by the delta method: S. Coles 2001, section 4.3.3), which
    is added as an independent error."""
    measurements_needed: int | None
    """The approximate number of measurements that would support the time; an interval narrows with the square
    root of their number. None if the present ones support it, if the interval has no upper limit, or if the
    number exceeds [`MAX_NEEDED`]."""
    probability: float
    """The exceedance probability of one run."""
    support: Literal["observed", "extrapolated", "unsupported"]
    """The degree to which the sample supports the time."""
    time: float
    """The time by the best fit; up to the threshold, the time in the sample."""
    _nested: ClassVar[dict[str, str]] = {"intervals": "Intervals"}


class Pwcet(Record):
    """The pWCET curve. The points in `points` and `curve` have the properties of every distribution of times.
    No time and no limit is negative or infinite. The time of a smaller probability is not shorter. A time
    lies within its intervals. If less than one run of the sample is expected beyond a point, its upper limits
    are at least the longest run."""
    accuracy: Accuracy
    """The paper's accuracy."""
    curve: Rows[Point]
    """The points for a plot, from the threshold's probability to the smallest requested one, in equal
    ratios."""
    end_point: float | None
    """The time that no run exceeds according to the best fit, if xi < 0. It is no more certain than the
    shape."""
    points: Rows[Point]
    """The points in the order of the requested probabilities."""
    _nested: ClassVar[dict[str, str]] = {"accuracy": "Accuracy", "curve": "Point", "points": "Point"}


class PwcetReport(Record):
    """The output of `pwcet`."""
    exceedance: Rows[Exceeded] | None
    """The times in ascending order, with the share of runs that took longer."""
    measured: dict[str, Any]
    """The origin of the times."""
    no_curve: str | None
    """Why there is no curve."""
    sample: Summary
    """The sample in numbers."""
    trace: Rows[TracePart]
    """The times in the order of the runs, divided into equal parts: the shortest and the longest time of each
    part."""
    unit: str
    """The unit of the times."""
    what_would_help: list[str] | None
    """What would help."""
    autocorrelation: Autocorrelation | None
    """The autocorrelation, with the Ljung-Box tests."""
    bds: Bds | None
    """The tests of independence (BDS)."""
    block_maxima: BlockMaxima | None
    """The analysis of block maxima, for comparison; none if there are too few blocks."""
    decision: Decision | None
    """The decision whether the estimates are reliable."""
    diagnostics: Diagnostics | None
    """The series of the diagnostic plots."""
    extremal_index: ExtremalIndex | None
    """The extremal index at the threshold, which measures extremal independence."""
    extremal_indices: Rows[ExtremalIndex] | None
    """The extremal index at thresholds that about 10, 5, 2 and 1 percent of the times exceed, without
    intervals; thresholds that no run exceeds because of ties are left out."""
    judged: Judged | None
    """The judgement of the curve, with `--judge`."""
    kpss: Stationarity | None
    """The tests of stationarity (KPSS)."""
    options: Options | None
    """The options of the analysis."""
    pwcet: Pwcet | None
    """The pWCET curve: times and their exceedance probabilities."""
    tail: Tail | None
    """The fits to the times above the threshold."""
    threshold: Choice | None
    """The threshold and how it was chosen."""
    _nested: ClassVar[dict[str, str]] = {"autocorrelation": "Autocorrelation", "bds": "Bds", "block_maxima": "BlockMaxima", "decision": "Decision", "diagnostics": "Diagnostics", "exceedance": "Exceeded", "extremal_index": "ExtremalIndex", "extremal_indices": "ExtremalIndex", "judged": "Judged", "kpss": "Stationarity", "options": "Options", "pwcet": "Pwcet", "sample": "Summary", "tail": "Tail", "threshold": "Choice", "trace": "TracePart"}


class PwcetResult(Record):
    """The analysis of one sample."""
    autocorrelation: Autocorrelation
    """The autocorrelation, with the Ljung-Box tests."""
    bds: Bds
    """The tests of independence (BDS)."""
    block_maxima: BlockMaxima | None
    """The analysis of block maxima, for comparison; none if there are too few blocks."""
    decision: Decision
    """The decision whether the estimates are reliable."""
    diagnostics: Diagnostics
    """The series of the diagnostic plots."""
    extremal_index: ExtremalIndex
    """The extremal index at the threshold, which measures extremal independence."""
    extremal_indices: Rows[ExtremalIndex]
    """The extremal index at thresholds that about 10, 5, 2 and 1 percent of the times exceed, without
    intervals; thresholds that no run exceeds because of ties are left out."""
    judged: Judged | None
    """The judgement of the curve, with `--judge`."""
    kpss: Stationarity
    """The tests of stationarity (KPSS)."""
    measured: dict[str, Any]
    """The origin of the times."""
    options: Options
    """The options of the analysis."""
    pwcet: Pwcet
    """The pWCET curve: times and their exceedance probabilities."""
    sample: Summary
    """The sample in numbers."""
    tail: Tail
    """The fits to the times above the threshold."""
    threshold: Choice
    """The threshold and how it was chosen."""
    trace: Rows[TracePart]
    """The times in the order of the runs, divided into equal parts: the shortest and the longest time of each
    part."""
    unit: str
    """The unit of the times."""
    _nested: ClassVar[dict[str, str]] = {"autocorrelation": "Autocorrelation", "bds": "Bds", "block_maxima": "BlockMaxima", "decision": "Decision", "diagnostics": "Diagnostics", "extremal_index": "ExtremalIndex", "extremal_indices": "ExtremalIndex", "judged": "Judged", "kpss": "Stationarity", "options": "Options", "pwcet": "Pwcet", "sample": "Summary", "tail": "Tail", "threshold": "Choice", "trace": "TracePart"}


class QuantilePair(Record):
    """Two times with the same probability."""
    fitted: float
    """The time by the best fit."""
    observed: float
    """The time in the sample."""
    _nested: ClassVar[dict[str, str]] = {}


class Runs(Record):
    """The runs estimator with one length."""
    run_length: int
    """The number of consecutive values below the threshold that ends a cluster."""
    theta: float
    """The number of clusters divided by the number of exceedances."""
    _nested: ClassVar[dict[str, str]] = {}


class StandardErrors(Record):
    """Standard errors of maximum likelihood, and the covariance of both, from the expected information. R. L.
    Smith, "Estimating tails of probability distributions", Ann. Statist. 15, 1987; only for xi > -1/2, below
    which the estimates are not normal."""
    alpha: float
    """The standard error of the scale, in the unit of time."""
    covariance: float
    """The covariance of both."""
    xi: float
    """The standard error of the shape."""
    _nested: ClassVar[dict[str, str]] = {}


class Stationarity(Record):
    """The tests of stationarity."""
    decisive: Kpss
    """The test that decides: level, automatic bandwidth."""
    tests: Rows[Kpss]
    """The tests of every regression with every bandwidth."""
    _nested: ClassVar[dict[str, str]] = {"decisive": "Kpss", "tests": "Kpss"}


class Step(Record):
    """A question of the decision, and its answer."""
    question: Literal["stationary", "independent", "extremally_independent", "fits"]
    """The question."""
    yes: bool
    """Whether the answer is yes."""
    _nested: ClassVar[dict[str, str]] = {}


class Summary(Record):
    """The summary of a sample, in its unit of time."""
    maximum: float
    """The longest time, which is the high-water mark."""
    mean: float
    """The mean time."""
    measurements: int
    """The number of measurements."""
    minimum: float
    """The shortest time."""
    standard_deviation: float
    """The standard deviation, with the divisor n - 1."""
    ties: Ties
    """Values that occur more than once."""
    _nested: ClassVar[dict[str, str]] = {"ties": "Ties"}


class Tail(Record):
    """The tail of a sample: the fit that is used, and other fits for comparison."""
    alpha: Intervals
    """The intervals of its scale, in the unit of time."""
    best: Gpd
    """The best fit, by maximum likelihood, from which intervals and the pWCET are computed."""
    declustered: Declustered | None
    """The fit to the largest value of each cluster; none if every cluster has one value, or if there are too
    few clusters."""
    exceedances: int
    """The number of values above the threshold."""
    exponential: Exponential
    """The exponential tail, xi = 0, which the paper calls the Gumbel case."""
    l_moments: Gpd
    """The fit by L-moments."""
    probability_weighted_moments: Gpd
    """The fit by probability-weighted moments."""
    rate: float
    """The share of these values: P(C > threshold)."""
    standard_errors: StandardErrors | None
    """The standard errors of the best fit; none if xi <= -1/2."""
    tests: FitTests
    """The tests of the fit."""
    threshold: float
    """The threshold at which the tail begins, in the unit of time."""
    ties: TailTies
    """The effect of ties on the tail."""
    xi: Intervals
    """The intervals of its shape."""
    _nested: ClassVar[dict[str, str]] = {"alpha": "Intervals", "best": "Gpd", "declustered": "Declustered", "exponential": "Exponential", "l_moments": "Gpd", "probability_weighted_moments": "Gpd", "standard_errors": "StandardErrors", "tests": "FitTests", "ties": "TailTies", "xi": "Intervals"}


class TailTies(Record):
    """The effect of ties on a tail."""
    distinct: int
    """The number of distinct values above the threshold."""
    doubtful: bool
    """Whether a continuous distribution is a doubtful model because there are so few values, or because the
    steps are so wide."""
    step_over_alpha: float
    """The step in which times are measured, divided by the scale alpha."""
    _nested: ClassVar[dict[str, str]] = {}


class Ties(Record):
    """Values that occur more than once. A continuous distribution has no ties, but times in whole cycles
    have. No jitter is added to the values. A time `t` that is measured in steps of `resolution` represents
    the interval of that width around it. A threshold therefore lies half a step above a value, and bootstrap
    samples are rounded to the same grid before they are fitted. [`TailTies`](super::threshold::TailTies)
    reports the cases for which this is not sufficient: a tail that has few distinct values, or is about as
    wide as a step."""
    distinct: int
    """The number of distinct values."""
    largest: int
    """The number of occurrences of the most frequent value."""
    resolution: float
    """The step of the measurements, 1 or more for whole cycles. It is the smallest distance between
    neighbouring distinct values. If each value occurs at least twice on average, it is the first decile of
    these distances instead, so that a few odd values between steps do not count."""
    tied: int
    """The number of points that share their value with another point."""
    _nested: ClassVar[dict[str, str]] = {}


class TracePart(Record):
    """Consecutive runs."""
    longest: float
    """The longest time."""
    run: int
    """The index of the first of them, from 0."""
    shortest: float
    """The shortest time."""
    _nested: ClassVar[dict[str, str]] = {}


class Report(AnyReport):
    """The output of a command: its results, which are always a list, and facts about the whole command."""
    results: Rows[PwcetReport]
    """One result per kernel, policy or setting, depending on the command."""
    _nested: ClassVar[dict[str, str]] = {"errors": "Problem", "results": "PwcetReport"}


_CLASSES: dict[str, type[Record]] = {"Accuracy": Accuracy, "Autocorrelation": Autocorrelation, "Banded": Banded, "Bds": Bds, "BdsTest": BdsTest, "BlockMaxima": BlockMaxima, "BlockTime": BlockTime, "Bounds": Bounds, "Candidate": Candidate, "Choice": Choice, "Confidence": Confidence, "CriticalValue": CriticalValue, "Decision": Decision, "Declustered": Declustered, "Diagnostics": Diagnostics, "Exceeded": Exceeded, "Exceeded2": Exceeded2, "Exponential": Exponential, "ExtremalIndex": ExtremalIndex, "FitTest": FitTest, "FitTests": FitTests, "Gev": Gev, "Gpd": Gpd, "Interval": Interval, "Intervals": Intervals, "Judged": Judged, "Kpss": Kpss, "LjungBox": LjungBox, "Longer": Longer, "NoCurveResult": NoCurveResult, "Options": Options, "Other": Other, "Point": Point, "Problem": Problem, "Pwcet": Pwcet, "PwcetReport": PwcetReport, "PwcetResult": PwcetResult, "QuantilePair": QuantilePair, "Runs": Runs, "StandardErrors": StandardErrors, "Stationarity": Stationarity, "Step": Step, "Summary": Summary, "Tail": Tail, "TailTies": TailTies, "Ties": Ties, "TracePart": TracePart}
Accuracy._classes = _CLASSES
Autocorrelation._classes = _CLASSES
Banded._classes = _CLASSES
Bds._classes = _CLASSES
BdsTest._classes = _CLASSES
BlockMaxima._classes = _CLASSES
BlockTime._classes = _CLASSES
Bounds._classes = _CLASSES
Candidate._classes = _CLASSES
Choice._classes = _CLASSES
Confidence._classes = _CLASSES
CriticalValue._classes = _CLASSES
Decision._classes = _CLASSES
Declustered._classes = _CLASSES
Diagnostics._classes = _CLASSES
Exceeded._classes = _CLASSES
Exceeded2._classes = _CLASSES
Exponential._classes = _CLASSES
ExtremalIndex._classes = _CLASSES
FitTest._classes = _CLASSES
FitTests._classes = _CLASSES
Gev._classes = _CLASSES
Gpd._classes = _CLASSES
Interval._classes = _CLASSES
Intervals._classes = _CLASSES
Judged._classes = _CLASSES
Kpss._classes = _CLASSES
LjungBox._classes = _CLASSES
Longer._classes = _CLASSES
NoCurveResult._classes = _CLASSES
Options._classes = _CLASSES
Other._classes = _CLASSES
Point._classes = _CLASSES
Pwcet._classes = _CLASSES
PwcetReport._classes = _CLASSES
PwcetResult._classes = _CLASSES
QuantilePair._classes = _CLASSES
Runs._classes = _CLASSES
StandardErrors._classes = _CLASSES
Stationarity._classes = _CLASSES
Step._classes = _CLASSES
Summary._classes = _CLASSES
Tail._classes = _CLASSES
TailTies._classes = _CLASSES
Ties._classes = _CLASSES
TracePart._classes = _CLASSES
Report._classes = _CLASSES
