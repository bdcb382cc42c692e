// Double precision, made as single precision is (math.h). Errors in units in the last place, as tests/launches/cuda_min.rs
// measures them: exp 1, exp2 1, log 1, log2 2, log10 2, sin 1, cos 1, tan 3, pow 2; sqrt and fma correctly rounded,
// rsqrt 2, the others exact.
#pragma once

WB_INLINE double fabs(double x) { return __builtin_fabs(x); }
WB_INLINE double sqrt(double x) { return __nvvm_sqrt_rn_d(x); }
WB_INLINE double rsqrt(double x) { return __nvvm_div_rn_d(1.0, __nvvm_sqrt_rn_d(x)); }
WB_INLINE double fmax(double a, double b) { return __nvvm_fmax_d(a, b); }
WB_INLINE double fmin(double a, double b) { return __nvvm_fmin_d(a, b); }
WB_INLINE double fma(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
WB_INLINE double floor(double x) { return __nvvm_floor_d(x); }
WB_INLINE double ceil(double x) { return __nvvm_ceil_d(x); }
WB_INLINE double trunc(double x) { return __nvvm_trunc_d(x); }
WB_INLINE double rint(double x) { return __builtin_rint(x); }
WB_INLINE double nearbyint(double x) { return __builtin_rint(x); }
WB_INLINE double copysign(double magnitude, double sign) {
  unsigned long long top = 1ull << 63;
  unsigned long long m = (unsigned long long)__double_as_longlong(magnitude);
  unsigned long long s = (unsigned long long)__double_as_longlong(sign);
  return __longlong_as_double((long long)((m & ~top) | (s & top)));
}
WB_INLINE double round(double x) {
  double whole = trunc(x);
  return fabs(x - whole) >= 0.5 ? whole + copysign(1.0, x) : copysign(whole, x);
}
WB_INLINE int isnan(double x) { return x != x; }
WB_INLINE int isinf(double x) { return fabs(x) == __builtin_inf(); }
WB_INLINE int isfinite(double x) { return fabs(x) < __builtin_inf(); }
WB_INLINE int signbit(double x) { return (int)((unsigned long long)__double_as_longlong(x) >> 63); }
WB_UNFUSED(double, __dadd_rn, "add.rn.f64", "d")
WB_UNFUSED(double, __dsub_rn, "sub.rn.f64", "d")
WB_UNFUSED(double, __dmul_rn, "mul.rn.f64", "d")
#undef WB_UNFUSED
WB_INLINE double __ddiv_rn(double a, double b) { return __nvvm_div_rn_d(a, b); }
WB_INLINE double __drcp_rn(double x) { return __nvvm_rcp_rn_d(x); }
WB_INLINE double __dsqrt_rn(double x) { return __nvvm_sqrt_rn_d(x); }
WB_INLINE double __fma_rn(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
WB_INLINE double min(double a, double b) { return fmin(a, b); }
WB_INLINE double max(double a, double b) { return fmax(a, b); }
WB_INLINE double abs(double x) { return fabs(x); }

// x * 2^n, rounded once.
WB_INLINE double wb_scale(double x, int n) {
  int half = n >> 1;
  return x * __longlong_as_double((long long)(half + 1023) << 52) *
         __longlong_as_double((long long)(n - half + 1023) << 52);
}
// (2^r - 1) / r for |r| up to 0.505.
WB_INLINE double wb_exp2_slope(double r) {
  double p = 1.3717474872278764e-12;
  p = fma(p, r, 2.5734677600091536e-11);
  p = fma(p, r, 4.445529985589969e-10);
  p = fma(p, r, 7.054893686082329e-09);
  p = fma(p, r, 1.0178086021920714e-07);
  p = fma(p, r, 1.3215486817591438e-06);
  p = fma(p, r, 1.5252733804050407e-05);
  p = fma(p, r, 0.00015403530393361193);
  p = fma(p, r, 0.0013333558146428445);
  p = fma(p, r, 0.009618129107628484);
  p = fma(p, r, 0.05550410866482158);
  p = fma(p, r, 0.24022650695910072);
  return fma(p, r, 0.6931471805599453);
}
WB_INLINE double exp(double x) {
  double n = fmin(fmax(rint(x * 1.4426950408889634), -1100.0), 1100.0);
  double r = fma(n, -0.6931471805599453, x);
  r = fma(n, -2.3190468138462996e-17, r);
  double p = 2.0915433598076003e-09;
  p = fma(p, r, 2.5106262550890878e-08);
  p = fma(p, r, 2.755727183153613e-07);
  p = fma(p, r, 2.755725286336732e-06);
  p = fma(p, r, 2.480158732699005e-05);
  p = fma(p, r, 0.00019841269876840357);
  p = fma(p, r, 0.0013888888888883332);
  p = fma(p, r, 0.008333333333325551);
  p = fma(p, r, 0.04166666666666667);
  p = fma(p, r, 0.1666666666666667);
  p = fma(p, r, 0.5);
  p = fma(p, r * r, r) + 1.0;
  double y = wb_scale(p, (int)n);
  return x > 710.0 ? __builtin_inf() : x < -746.0 ? 0.0 : y;
}
WB_INLINE double exp2(double x) {
  double n = fmin(fmax(rint(x), -1100.0), 1100.0), r = x - n;
  double y = wb_scale(fma(wb_exp2_slope(r), r, 1.0), (int)n);
  return x >= 1024.0 ? __builtin_inf() : x < -1075.0 ? 0.0 : y;
}

WB_INLINE double wb_split(double x, double *e) {
  bool tiny = x < 2.2250738585072014e-308;
  long long bits = __double_as_longlong(tiny ? x * 18014398509481984.0 : x);
  long long exponent = (bits - 0x3fe6a09e667f3bcdll) & (long long)0xfff0000000000000ull;
  *e = (double)(int)(exponent >> 52) + (tiny ? -54.0 : 0.0);
  return __longlong_as_double(bits - exponent);
}
// log(m) for m from sqrt(1/2) to sqrt(2), by s = (m - 1) / (m + 1): 2 (s + s^3 P(s^2)), written so that m - 1 counts
// exactly.
WB_INLINE double wb_log_near(double m) {
  double f = m - 1.0, s = __ddiv_rn(f, m + 1.0), z = s * s;
  double p = 0.059420772438923165;
  p = fma(p, z, 0.05843942716380623);
  p = fma(p, z, 0.06667824653720396);
  p = fma(p, z, 0.07692287443127624);
  p = fma(p, z, 0.0909090929839561);
  p = fma(p, z, 0.11111111109918603);
  p = fma(p, z, 0.14285714285717716);
  p = fma(p, z, 0.19999999999999996);
  p = fma(p, z, 0.3333333333333333);
  // 2 s = f - s f
  return f - s * (f - 2.0 * z * p);
}
WB_INLINE double wb_log_edge(double x, double y) {
  if (!(x > 0.0 && x < __builtin_inf())) y = x == 0.0 ? -__builtin_inf() : x < 0.0 ? __builtin_nan("") : x + x;
  return y;
}
WB_INLINE double log(double x) {
  double e, y = wb_log_near(wb_split(x, &e));
  return wb_log_edge(x, fma(e, 0.6931471805599453, fma(e, 2.3190468138462996e-17, y)));
}
WB_INLINE double log2(double x) {
  double e, y = wb_log_near(wb_split(x, &e));
  return wb_log_edge(x, fma(y, 1.4426950408889634, fma(y, 2.0355273740931033e-17, e)));
}
WB_INLINE double log10(double x) {
  double e, y = wb_log_near(wb_split(x, &e));
  double low = fma(e, -2.8037281277851704e-18, y * 1.098319650216765e-17);
  return wb_log_edge(x, fma(e, 0.3010299956639812, fma(y, 0.4342944819032518, low)));
}

// As powf.
WB_INLINE double pow(double x, double y) {
  double ax = fabs(x);
  double e, m = wb_split(ax, &e);
  double f = m - 1.0, d = m + 1.0;
  double d_low = m - (d - 1.0);
  double s = __ddiv_rn(f, d);
  double s_low = __ddiv_rn(fma(-s, d_low, fma(-s, d, f)), d);
  double z = __dmul_rn(s, s), z_low = fma(s, s, -z);
  double p = 0.05382131627042441;
  p = fma(p, z, 0.052280621068117);
  p = fma(p, z, 0.058834110945955136);
  p = fma(p, z, 0.06666648162326913);
  p = fma(p, z, 0.07692307881921209);
  p = fma(p, z, 0.09090909089819285);
  p = fma(p, z, 0.11111111111114245);
  p = fma(p, z, 0.14285714285714282);
  p = fma(p, z, 0.2);
  double c = __dmul_rn(z, s), c_low = fma(z, s, -c);
  c_low = fma(z_low, s, fma(z * 3.0, s_low, c_low));
  double t = __dmul_rn(c, 0.3333333333333333);
  double t_low = fma(c, 0.3333333333333333, -t);
  t_low = fma(c, 1.850371707708594e-17, fma(c_low, 0.3333333333333333, t_low));
  // the fifth power counts in its last bits, too
  double v = __dmul_rn(c, z), w = __dmul_rn(v, p), w_low = fma(v, p, -w);
  double u = __dadd_rn(t, w);
  t_low = t_low + (__dadd_rn(__dadd_rn(t, -u), w) + w_low);
  double high = __dadd_rn(s, u);
  double low = __dadd_rn(__dadd_rn(s, -high), u) + (s_low + t_low);
  double g = __dmul_rn(high, 2.8853900817779268);
  double g_low = fma(high, 2.8853900817779268, -g);
  g_low = fma(high, 4.0710547481862066e-17, fma(low, 2.8853900817779268, g_low));
  double a = __dadd_rn(e, g);
  double a_low = __dadd_rn(__dadd_rn(e, -a), g) + g_low;
  double h = __dmul_rn(y, a), h_low = fma(y, a_low, fma(y, a, -h));
  double n = fmin(fmax(rint(h), -1100.0), 1100.0), r = h - n;
  r = r + h_low;
  r = wb_scale(fma(wb_exp2_slope(r), r, 1.0), (int)n);
  r = h >= 1025.0 ? __builtin_inf() : h < -1076.0 ? 0.0 : r;
  bool whole = trunc(y) == y, odd = whole && trunc(y * 0.5) != y * 0.5;
  if (ax == 0.0 || ax == __builtin_inf()) r = (ax == 0.0) == (y < 0.0) ? __builtin_inf() : 0.0;
  if (fabs(y) == __builtin_inf()) r = ax == 1.0 ? 1.0 : (ax > 1.0) == (y > 0.0) ? __builtin_inf() : 0.0;
  if (x < 0.0 && !whole && ax != __builtin_inf()) r = __builtin_nan("");
  if (odd && signbit(x)) r = -r;
  if (x != x || y != y) r = x + y;
  return x == 1.0 || y == 0.0 ? 1.0 : r;
}

// 2/pi, 64 bits each, behind a word of zeros.
static __device__ const unsigned long long wb_two_over_pi64[20] = {
    0, 0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull,
    0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull, 0x3991d639835339f4ull,
    0x9c845f8bbdf9283bull, 0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull,
    0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull};
WB_INLINE unsigned long long wb_word_at(int word, int shift) {
  unsigned long long high = wb_two_over_pi64[word], low = wb_two_over_pi64[word + 1];
  return shift ? high << shift | low >> (64 - shift) : high;
}
// For |x| from 1 on, as in single precision with 192 bits: x less the nearest multiple of pi/2 as a sum of two numbers.
WB_INLINE double wb_reduce_far(double x, double *low, int *q) {
  unsigned long long bits = (unsigned long long)__double_as_longlong(x) & ~(1ull << 63);
  unsigned long long m = (bits & 0xfffffffffffffull) | 0x10000000000000ull;
  int first = (int)(bits >> 52) - 1023 - 54 + 64, word = first >> 6, shift = first & 63;
  unsigned long long a = wb_word_at(word, shift), b = wb_word_at(word + 1, shift), c = wb_word_at(word + 2, shift);
  unsigned long long behind = m * b, carry = __umul64hi(m, c), high = m * a + __umul64hi(m, b);
  behind += carry;
  high += behind < carry;
  unsigned quarter = (unsigned)(high >> 62) + (unsigned)(high >> 61 & 1);
  bool minus = high >> 61 & 1;
  // what stands behind the point, to the nearest quarter, without leading zeros
  high = high << 2 | behind >> 62;
  behind = behind << 2;
  if (minus) {
    high = ~high;
    behind = ~behind;
  }
  int zeros = __clzll((long long)high) & 63;
  high = zeros ? high << zeros | behind >> (64 - zeros) : high;
  double f = (double)(long long)(high >> 11) * __longlong_as_double((long long)(1023 - 53 - zeros) << 52);
  double f_low = (double)(int)(high & 0x7ff) * __longlong_as_double((long long)(1023 - 64 - zeros) << 52);
  double r = __dmul_rn(f, 1.5707963267948966);
  double r_low = fma(f, 1.5707963267948966, -r) + f * 6.123233995736766e-17 + f_low * 1.5707963267948966;
  minus = minus != (x < 0.0);
  *q = (int)(x < 0.0 ? 0u - quarter : quarter);
  *low = minus ? -r_low : r_low;
  return minus ? -r : r;
}
WB_INLINE double wb_reduce(double x, double *low, int *q) {
  *low = 0.0;
  if (fabs(x) > 1e6) {
    if (!isfinite(x)) {
      *q = 0;
      return __builtin_nan("");
    }
    return wb_reduce_far(x, low, q);
  }
  double n = rint(x * 0.6366197723675814);
  *q = (int)n;
  double t = fma(n, -1.5707963267948966, x);
  double w = __dmul_rn(n, 6.123233995736766e-17), w_low = fma(n, 6.123233995736766e-17, -w);
  double r = __dadd_rn(t, -w);
  *low = __dadd_rn(__dadd_rn(t, -r), -w) - fma(n, -1.4973849048591698e-33, w_low);
  return r;
}
WB_INLINE double wb_sin_near(double r, double low) {
  double z = r * r, p = -7.585486485235938e-13;
  p = fma(p, z, 1.6058510875319195e-10);
  p = fma(p, z, -2.505210610025599e-08);
  p = fma(p, z, 2.7557319218954762e-06);
  p = fma(p, z, -0.00019841269841264567);
  p = fma(p, z, 0.008333333333333331);
  p = fma(p, z, -0.16666666666666666);
  return r + fma(p * z, r, fma(low * z, -0.5, low));
}
WB_INLINE double wb_cos_near(double r, double low) {
  double z = r * r, p = 4.745198807202876e-14;
  p = fma(p, z, -1.1470449354466773e-11);
  p = fma(p, z, 2.0876755717584403e-09);
  p = fma(p, z, -2.75573192211891e-07);
  p = fma(p, z, 2.4801587301584367e-05);
  p = fma(p, z, -0.0013888888888888887);
  p = fma(p, z, 0.041666666666666664);
  double half = 0.5 * z, one = 1.0 - half;
  return one + (((1.0 - one) - half) + fma(p * z, z, -r * low));
}
WB_INLINE void sincos(double x, double *sine, double *cosine) {
  int q;
  double low, r = wb_reduce(x, &low, &q), s = wb_sin_near(r, low), c = wb_cos_near(r, low);
  double odd_s = q & 1 ? c : s, odd_c = q & 1 ? s : c;
  *sine = q & 2 ? -odd_s : odd_s;
  *cosine = (q + 1) & 2 ? -odd_c : odd_c;
}
WB_INLINE double sin(double x) {
  double s, c;
  sincos(x, &s, &c);
  return x == 0.0 ? x : s;
}
WB_INLINE double cos(double x) {
  double s, c;
  sincos(x, &s, &c);
  return c;
}
WB_INLINE double tan(double x) {
  int q;
  double low, r = wb_reduce(x, &low, &q), s = wb_sin_near(r, low), c = wb_cos_near(r, low);
  double t = q & 1 ? -__ddiv_rn(c, s) : __ddiv_rn(s, c);
  return x == 0.0 ? x : t;
}

// As fmodf.
WB_INLINE double fmod(double x, double y) {
  unsigned long long top = 1ull << 52, infinity = 0x7ffull << 52;
  unsigned long long r = (unsigned long long)__double_as_longlong(x) & ~(1ull << 63);
  unsigned long long q = (unsigned long long)__double_as_longlong(y) & ~(1ull << 63);
  if (r >= infinity || q > infinity || q == 0) return __builtin_nan("");
  if (r < q) return x;
  int e = (int)(r >> 52) > 1 ? (int)(r >> 52) : 1, to = (int)(q >> 52) > 1 ? (int)(q >> 52) : 1;
  unsigned long long m = (r & (top - 1)) | (r >> 52 ? top : 0), d = (q & (top - 1)) | (q >> 52 ? top : 0);
  for (m %= d; e > to && m; e -= 8) m = (m << (e - to < 8 ? e - to : 8)) % d;
  return copysign(wb_scale((double)(long long)m, to - 1075), x);
}
