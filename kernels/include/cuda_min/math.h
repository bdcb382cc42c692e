// Single precision. Coefficients are interpolations at Chebyshev nodes, computed with 60 digits and rounded; arguments
// are reduced with fused multiply-adds, so that the parts of constants do not have to be short.
//
// Largest errors in units in the last place against double precision, as tests/launches/cuda_min.rs measures them:
//   sqrtf, fabsf, floorf, ceilf, truncf, roundf, rintf, fmodf, fmaxf, fminf, fmaf   exact (sqrtf, fmaf correctly rounded)
//   expf 1, exp2f 1, exp10f 2, logf 1, log2f 2, log10f 2, powf 2, rsqrtf 1 (the instruction's error on hardware: 2)
//   sinf 2, cosf 2, tanf 3, tanhf 2, atanf 2, atan2f 3, hypotf 1, erff 2
// Functions with underscores are the approximate instructions (ex2, lg2, sin, cos, rcp, div): on hardware a few units in
// the last place near 1, absolute errors elsewhere.
#pragma once

WB_INLINE float fabsf(float x) { return __builtin_fabsf(x); }
WB_INLINE float sqrtf(float x) { return __nvvm_sqrt_rn_f(x); }
WB_INLINE float rsqrtf(float x) { return __nvvm_rsqrt_approx_f(x); }
WB_INLINE float fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }
WB_INLINE float fminf(float a, float b) { return __nvvm_fmin_f(a, b); }
WB_INLINE float fmaf(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
WB_INLINE float fdimf(float a, float b) { return a <= b ? 0.0f : a - b; }
WB_INLINE float floorf(float x) { return __nvvm_floor_f(x); }
WB_INLINE float ceilf(float x) { return __nvvm_ceil_f(x); }
WB_INLINE float truncf(float x) { return __nvvm_trunc_f(x); }
WB_INLINE float rintf(float x) { return __builtin_rintf(x); }
WB_INLINE float nearbyintf(float x) { return __builtin_rintf(x); }
WB_INLINE float copysignf(float magnitude, float sign) {
  return __uint_as_float((__float_as_uint(magnitude) & 0x7fffffffu) | (__float_as_uint(sign) & 0x80000000u));
}
// Halves go away from zero.
WB_INLINE float roundf(float x) {
  float whole = truncf(x);
  return fabsf(x - whole) >= 0.5f ? whole + copysignf(1.0f, x) : copysignf(whole, x);
}
WB_INLINE int isnan(float x) { return x != x; }
WB_INLINE int isinf(float x) { return fabsf(x) == __builtin_inff(); }
WB_INLINE int isfinite(float x) { return fabsf(x) < __builtin_inff(); }
WB_INLINE int signbit(float x) { return (int)(__float_as_uint(x) >> 31); }
WB_INLINE float __saturatef(float x) { return __nvvm_saturate_f(x); }

// Arithmetic that is not fused: clang's builtins would be.
#define WB_UNFUSED(T, name, instruction, letter)                                                              \
  WB_INLINE T name(T a, T b) {                                                                                \
    T r;                                                                                                      \
    asm(instruction " %0, %1, %2;" : "=" letter(r) : letter(a), letter(b));                                   \
    return r;                                                                                                 \
  }
WB_UNFUSED(float, __fadd_rn, "add.rn.f32", "f")
WB_UNFUSED(float, __fsub_rn, "sub.rn.f32", "f")
WB_UNFUSED(float, __fmul_rn, "mul.rn.f32", "f")
WB_INLINE float __fmaf_rn(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
WB_INLINE float __fdiv_rn(float a, float b) { return __nvvm_div_rn_f(a, b); }
WB_INLINE float __frcp_rn(float x) { return __nvvm_rcp_rn_f(x); }
WB_INLINE float __fsqrt_rn(float x) { return __nvvm_sqrt_rn_f(x); }

// The approximate instructions, exponential and logarithm in base e by a multiplication.
WB_INLINE float __frsqrt_approx(float x) { return __nvvm_rsqrt_approx_f(x); }
WB_INLINE float __fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }
WB_INLINE float __expf(float x) { return __nvvm_ex2_approx_f(x * 1.4426950408889634f); }
WB_INLINE float __exp10f(float x) { return __nvvm_ex2_approx_f(x * 3.321928094887362f); }
WB_INLINE float __logf(float x) { return __nvvm_lg2_approx_f(x) * 0.6931471805599453f; }
WB_INLINE float __log2f(float x) { return __nvvm_lg2_approx_f(x); }
WB_INLINE float __log10f(float x) { return __nvvm_lg2_approx_f(x) * 0.3010299956639812f; }
WB_INLINE float __sinf(float x) { return __nvvm_sin_approx_f(x); }
WB_INLINE float __cosf(float x) { return __nvvm_cos_approx_f(x); }
WB_INLINE float __tanf(float x) { return __nvvm_div_approx_f(__nvvm_sin_approx_f(x), __nvvm_cos_approx_f(x)); }
WB_INLINE float __powf(float x, float y) { return __nvvm_ex2_approx_f(y * __nvvm_lg2_approx_f(x)); }
WB_INLINE void __sincosf(float x, float *s, float *c) {
  *s = __sinf(x);
  *c = __cosf(x);
}

// x * 2^n for n from -252 to 254, rounded once if the result is subnormal.
WB_INLINE float wb_scale(float x, int n) {
  int half = n >> 1;
  return x * __int_as_float((half + 127) << 23) * __int_as_float((n - half + 127) << 23);
}
// 2^r and e^r for |r| up to 0.51 and 0.35.
WB_INLINE float wb_exp2_near(float r) {
  float p = 0.0001546261046314612f;
  p = fmaf(p, r, 0.0013401774922385812f);
  p = fmaf(p, r, 0.009618054144084454f);
  p = fmaf(p, r, 0.0555032379925251f);
  p = fmaf(p, r, 0.24022650718688965f);
  p = fmaf(p, r, 0.6931471824645996f);
  return fmaf(p, r, 1.0f);
}
WB_INLINE float wb_exp_near(float r) {
  float p = 0.0013942148070782423f;
  p = fmaf(p, r, 0.008375958539545536f);
  p = fmaf(p, r, 0.041666340082883835f);
  p = fmaf(p, r, 0.16666404902935028f);
  p = fmaf(p, r, 0.5f);
  p = fmaf(p, r, 1.0f);
  return fmaf(p, r, 1.0f);
}

WB_INLINE float expf(float x) {
  float n = rintf(x * 1.4426950408889634f);
  n = fminf(fmaxf(n, -160.0f), 160.0f);
  float r = fmaf(n, -0.6931471824645996f, x);
  r = fmaf(n, 1.9046542121259336e-09f, r);
  float y = wb_scale(wb_exp_near(r), (int)n);
  return x > 89.0f ? __builtin_inff() : x < -104.0f ? 0.0f : y;
}
WB_INLINE float exp2f(float x) {
  float n = fminf(fmaxf(rintf(x), -160.0f), 160.0f);
  float y = wb_scale(wb_exp2_near(x - n), (int)n);
  return x >= 128.0f ? __builtin_inff() : x < -150.0f ? 0.0f : y;
}
WB_INLINE float exp10f(float x) {
  float n = rintf(x * 3.321928094887362f);
  n = fminf(fmaxf(n, -160.0f), 160.0f);
  float r = fmaf(n, -0.3010300099849701f, x);
  r = fmaf(n, 1.432098883924482e-08f, r);
  float low = r * -3.1975435632602967e-08f;
  float y = wb_scale(wb_exp_near(fmaf(r, 2.3025851249694824f, low)), (int)n);
  return x > 39.0f ? __builtin_inff() : x < -46.0f ? 0.0f : y;
}

// x = m * 2^e with m from 2/3 to 4/3; of positive numbers, subnormal ones included.
WB_INLINE float wb_split(float x, float *e) {
  float bias = x < 1.17549435e-38f ? -23.0f : 0.0f;
  int bits = __float_as_int(x < 1.17549435e-38f ? x * 8388608.0f : x);
  int exponent = (bits - 0x3f2aaaab) & 0xff800000;
  *e = (float)(exponent >> 23) + bias;
  return __int_as_float(bits - exponent);
}
// log(1 + f) for f from -1/3 to 1/3.
WB_INLINE float wb_log_near(float f) {
  float p = -0.12086480110883713f;
  p = fmaf(p, f, 0.13431178033351898f);
  p = fmaf(p, f, -0.12352868914604187f);
  p = fmaf(p, f, 0.14117556810379028f);
  p = fmaf(p, f, -0.16669821739196777f);
  p = fmaf(p, f, 0.20003804564476013f);
  p = fmaf(p, f, -0.24999991059303284f);
  p = fmaf(p, f, 0.33333319425582886f);
  p = fmaf(p, f, -0.5f);
  return fmaf(p, __fmul_rn(f, f), f);
}
// What a logarithm is where it is no number: of 0, of negative numbers, of infinity, of NaN.
WB_INLINE float wb_log_edge(float x, float y) {
  if (!(x > 0.0f && x < __builtin_inff())) y = x == 0.0f ? -__builtin_inff() : x < 0.0f ? __builtin_nanf("") : x + x;
  return y;
}
WB_INLINE float logf(float x) {
  float e, y = wb_log_near(wb_split(x, &e) - 1.0f);
  y = fmaf(e, 0.6931471824645996f, fmaf(e, -1.9046542121259336e-09f, y));
  return wb_log_edge(x, y);
}
WB_INLINE float log2f(float x) {
  float e, y = wb_log_near(wb_split(x, &e) - 1.0f);
  return wb_log_edge(x, fmaf(y, 1.4426950216293335f, fmaf(y, 1.925963033500011e-08f, e)));
}
WB_INLINE float log10f(float x) {
  float e, y = wb_log_near(wb_split(x, &e) - 1.0f);
  float low = fmaf(e, -1.432098883924482e-08f, y * -1.0103049952192578e-08f);
  return wb_log_edge(x, fmaf(e, 0.3010300099849701f, fmaf(y, 0.4342944920063019f, low)));
}

// The logarithm to base 2 as a sum of two numbers is good to about 2^-40.
WB_INLINE float powf(float x, float y) {
  float ax = fabsf(x);
  float e, m = wb_split(ax, &e);
  // s = f / (2 + f); log(m) = 2 (s + s^3/3 + ...)
  float f = m - 1.0f, d = m + 1.0f;
  float d_low = m - (d - 1.0f);
  float s = __fdiv_rn(f, d);
  float s_low = __fdiv_rn(fmaf(-s, d_low, fmaf(-s, d, f)), d);
  float z = __fmul_rn(s, s), z_low = fmaf(s, s, -z);
  float p = 0.09560899436473846f;
  p = fmaf(p, z, 0.11102356016635895f);
  p = fmaf(p, z, 0.1428576558828354f);
  p = fmaf(p, z, 0.20000000298023224f);
  // t = s^3 / 3 in two parts
  float c = __fmul_rn(z, s), c_low = fmaf(z, s, -c);
  c_low = fmaf(z_low, s, fmaf(z * 3.0f, s_low, c_low));
  float t = __fmul_rn(c, 0.3333333432674408f);
  float t_low = fmaf(c, 0.3333333432674408f, -t);
  t_low = fmaf(c, -9.934107758624577e-09f, fmaf(c_low, 0.3333333432674408f, t_low));
  t_low = fmaf(c * z, p, t_low);
  float high = __fadd_rn(s, t);
  float low = __fadd_rn(__fadd_rn(s, -high), t) + (s_low + t_low);
  // times 2 / log(2), plus e
  float g = __fmul_rn(high, 2.885390043258667f);
  float g_low = fmaf(high, 2.885390043258667f, -g);
  g_low = fmaf(high, 3.851926067000022e-08f, fmaf(low, 2.885390043258667f, g_low));
  float a = __fadd_rn(e, g);
  float a_low = __fadd_rn(__fadd_rn(e, -a), g) + g_low;
  // times y
  float h = __fmul_rn(y, a), h_low = fmaf(y, a_low, fmaf(y, a, -h));
  float n = fminf(fmaxf(rintf(h), -160.0f), 160.0f);
  float r = wb_scale(wb_exp2_near(h - n + h_low), (int)n);
  r = h >= 129.0f ? __builtin_inff() : h < -151.0f ? 0.0f : r;
  // whole and odd exponents keep the sign
  bool whole = truncf(y) == y, odd = whole && truncf(y * 0.5f) != y * 0.5f;
  if (ax == 0.0f || ax == __builtin_inff()) r = (ax == 0.0f) == (y < 0.0f) ? __builtin_inff() : 0.0f;
  if (fabsf(y) == __builtin_inff()) r = ax == 1.0f ? 1.0f : (ax > 1.0f) == (y > 0.0f) ? __builtin_inff() : 0.0f;
  if (x < 0.0f && !whole && ax != __builtin_inff()) r = __builtin_nanf("");
  if (odd && signbit(x)) r = -r;
  if (x != x || y != y) r = x + y;
  return x == 1.0f || y == 0.0f ? 1.0f : r;
}

// Circle. x less the nearest multiple of pi/2; *q is which one, modulo 4.
static __device__ const unsigned wb_two_over_pi[8] = {0,           0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
                                                      0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu};
// For |x| from 1 on. With |x| = m * 2^(e - 23), 96 bits of 2/pi count, from the one worth 2^(25 - e) on: those before make
// multiples of 4, those behind nothing that matters.
WB_INLINE float wb_reduce_far(float x, int *q) {
  unsigned bits = __float_as_uint(x) & 0x7fffffffu;
  unsigned m = (bits & 0x7fffffu) | 0x800000u;
  int first = (int)(bits >> 23) - 127 - 25 + 32, shift = first & 31;
  const unsigned *w = wb_two_over_pi + (first >> 5);
  unsigned a = __funnelshift_l(w[1], w[0], shift), b = __funnelshift_l(w[2], w[1], shift);
  unsigned c = __funnelshift_l(w[3], w[2], shift);
  unsigned long long low = (unsigned long long)m * b + ((unsigned long long)m * c >> 32);
  unsigned high = m * a + (unsigned)(low >> 32);
  // two bits before the point, and 62 of those behind it
  unsigned long long quarters = (unsigned long long)high << 32 | (unsigned)low;
  unsigned quarter = (unsigned)(quarters >> 62) + (unsigned)(quarters >> 61 & 1);
  long long part = (long long)(quarters << 2);
  float f = (float)part, f_low = (float)(part - (long long)f);
  float r = fmaf(f, 1.5707963705062866f, fmaf(f, -4.371138828673793e-08f, f_low * 1.5707963705062866f));
  r = r * 5.421010862427522e-20f;
  *q = (int)(x < 0.0f ? 0u - quarter : quarter);
  return x < 0.0f ? -r : r;
}
WB_INLINE float wb_reduce(float x, int *q) {
  if (fabsf(x) > 30000.0f) {
    if (!isfinite(x)) {
      *q = 0;
      return __builtin_nanf("");
    }
    return wb_reduce_far(x, q);
  }
  float n = rintf(x * 0.6366197466850281f);
  *q = (int)n;
  float r = fmaf(n, -1.5707963705062866f, x);
  r = fmaf(n, 4.371138828673793e-08f, r);
  return fmaf(n, 1.7151245100058819e-15f, r);
}
WB_INLINE float wb_sin_near(float r) {
  float z = r * r, p = 2.724378191487631e-06f;
  p = fmaf(p, z, -0.00019840039021801203f);
  p = fmaf(p, z, 0.008333331905305386f);
  p = fmaf(p, z, -0.1666666716337204f);
  return fmaf(p * z, r, r);
}
WB_INLINE float wb_cos_near(float r) {
  float z = r * r, p = -2.7295831728224584e-07f;
  p = fmaf(p, z, 2.48005599132739e-05f);
  p = fmaf(p, z, -0.00138888880610466f);
  p = fmaf(p, z, 0.0416666679084301f);
  p = fmaf(p, z, -0.5f);
  return fmaf(p, z, 1.0f);
}
WB_INLINE void sincosf(float x, float *sine, float *cosine) {
  int q;
  float r = wb_reduce(x, &q), s = wb_sin_near(r), c = wb_cos_near(r);
  float odd_s = q & 1 ? c : s, odd_c = q & 1 ? s : c;
  *sine = q & 2 ? -odd_s : odd_s;
  *cosine = (q + 1) & 2 ? -odd_c : odd_c;
}
WB_INLINE float sinf(float x) {
  float s, c;
  sincosf(x, &s, &c);
  return x == 0.0f ? x : s;
}
WB_INLINE float cosf(float x) {
  float s, c;
  sincosf(x, &s, &c);
  return c;
}
WB_INLINE float tanf(float x) {
  int q;
  float r = wb_reduce(x, &q), s = wb_sin_near(r), c = wb_cos_near(r);
  float t = q & 1 ? -__fdiv_rn(c, s) : __fdiv_rn(s, c);
  return x == 0.0f ? x : t;
}

WB_INLINE float tanhf(float x) {
  float ax = fabsf(x), z = x * x, p = 0.00250942911952734f;
  p = fmaf(p, z, -0.008514635264873505f);
  p = fmaf(p, z, 0.02181565761566162f);
  p = fmaf(p, z, -0.05396443232893944f);
  p = fmaf(p, z, 0.1333332359790802f);
  p = fmaf(p, z, -0.3333333432674408f);
  float far = 1.0f - __fdiv_rn(2.0f, expf(fminf(ax, 10.0f) * 2.0f) + 1.0f);
  return x != x ? x : ax < 0.55f ? fmaf(p * z, x, x) : copysignf(far, x);
}
WB_INLINE float atanf(float x) {
  float ax = fabsf(x), t = ax > 1.0f ? __frcp_rn(ax) : ax, z = t * t, p = -0.0023869972210377455f;
  p = fmaf(p, z, 0.01350777130573988f);
  p = fmaf(p, z, -0.035871539264917374f);
  p = fmaf(p, z, 0.0625016912817955f);
  p = fmaf(p, z, -0.08656880259513855f);
  p = fmaf(p, z, 0.11033764481544495f);
  p = fmaf(p, z, -0.1427856832742691f);
  p = fmaf(p, z, 0.19999739527702332f);
  p = fmaf(p, z, -0.3333333134651184f);
  p = fmaf(p * z, t, t);
  p = ax > 1.0f ? 1.5707963705062866f - p : p;
  return x != x ? x : copysignf(p, x);
}
WB_INLINE float atan2f(float y, float x) {
  float ax = fabsf(x), ay = fabsf(y), big = fmaxf(ax, ay), small = fminf(ax, ay);
  float t = big == 0.0f ? 0.0f : big == __builtin_inff() ? (small == big ? 1.0f : 0.0f) : __fdiv_rn(small, big);
  float a = atanf(t);
  a = ay > ax ? 1.5707963705062866f - a : a;
  a = signbit(x) ? 3.1415927410125732f - a : a;
  return x != x || y != y ? x + y : copysignf(a, y);
}
// Scaled, so that squares neither overflow nor vanish.
WB_INLINE float hypotf(float x, float y) {
  float big = fmaxf(fabsf(x), fabsf(y)), small = fminf(fabsf(x), fabsf(y));
  int e = (int)(__float_as_uint(big) >> 23);
  float scale = __int_as_float((254 - (e < 1 ? 1 : e > 253 ? 253 : e)) << 23);
  float a = big * scale, b = small * scale;
  float sum = __fmul_rn(a, a), low = fmaf(a, a, -sum) + b * b;
  float root = sqrtf(sum + low);
  float y0 = root * __int_as_float((e < 1 ? 1 : e > 253 ? 253 : e) << 23);
  if (isinf(x) || isinf(y)) return __builtin_inff();
  return x != x || y != y ? x + y : big == 0.0f ? 0.0f : y0;
}
WB_INLINE float erff(float x) {
  float ax = fabsf(x), z = x * x, p = -9.667044650996104e-06f;
  p = fmaf(p, z, 0.00011265958892181516f);
  p = fmaf(p, z, -0.0008484080317430198f);
  p = fmaf(p, z, 0.005221031606197357f);
  p = fmaf(p, z, -0.026865430176258087f);
  p = fmaf(p, z, 0.11283782124519348f);
  p = fmaf(p, z, -0.37612637877464294f);
  p = fmaf(p, z, 0.12837916612625122f);
  float near = fmaf(p, x, x);
  float t = fminf(ax, 4.0f), g = -2.1661804794348427e-07f;
  g = fmaf(g, t, 3.2367545372835593e-06f);
  g = fmaf(g, t, -1.5843884284549858e-06f);
  g = fmaf(g, t, -0.00033168544177897274f);
  g = fmaf(g, t, 0.0038355113938450813f);
  g = fmaf(g, t, -0.024332305416464806f);
  g = fmaf(g, t, 0.10702251642942429f);
  g = fmaf(g, t, 0.634617269039154f);
  g = fmaf(g, t, 1.1287927627563477f);
  float far = 1.0f - expf(-t * g);
  return x != x ? x : ax < 1.0f ? near : copysignf(far, x);
}

// Exact: |x| = m * 2^e modulo |y| = d * 2^e', eight bits of the quotient at a time.
WB_INLINE float fmodf(float x, float y) {
  unsigned r = __float_as_uint(x) & 0x7fffffffu, q = __float_as_uint(y) & 0x7fffffffu;
  if (r >= 0x7f800000u || q > 0x7f800000u || q == 0) return __builtin_nanf("");
  if (r < q) return x;
  int e = (int)(r >> 23) > 1 ? (int)(r >> 23) : 1, to = (int)(q >> 23) > 1 ? (int)(q >> 23) : 1;
  unsigned m = (r & 0x7fffffu) | (r >> 23 ? 0x800000u : 0), d = (q & 0x7fffffu) | (q >> 23 ? 0x800000u : 0);
  for (m %= d; e > to && m; e -= 8) m = (m << (e - to < 8 ? e - to : 8)) % d;
  return copysignf(wb_scale((float)m, to - 150), x);
}

// The names that C++ overloads.
WB_INLINE float min(float a, float b) { return fminf(a, b); }
WB_INLINE float max(float a, float b) { return fmaxf(a, b); }
WB_INLINE float abs(float x) { return fabsf(x); }
WB_INLINE float fabs(float x) { return fabsf(x); }
WB_INLINE float sqrt(float x) { return sqrtf(x); }
WB_INLINE float rsqrt(float x) { return rsqrtf(x); }
WB_INLINE float fma(float a, float b, float c) { return fmaf(a, b, c); }
WB_INLINE float floor(float x) { return floorf(x); }
WB_INLINE float ceil(float x) { return ceilf(x); }
WB_INLINE float trunc(float x) { return truncf(x); }
WB_INLINE float round(float x) { return roundf(x); }
WB_INLINE float rint(float x) { return rintf(x); }
WB_INLINE float fmod(float x, float y) { return fmodf(x, y); }
WB_INLINE float exp(float x) { return expf(x); }
WB_INLINE float exp2(float x) { return exp2f(x); }
WB_INLINE float log(float x) { return logf(x); }
WB_INLINE float log2(float x) { return log2f(x); }
WB_INLINE float log10(float x) { return log10f(x); }
WB_INLINE float pow(float x, float y) { return powf(x, y); }
WB_INLINE float sin(float x) { return sinf(x); }
WB_INLINE float cos(float x) { return cosf(x); }
WB_INLINE float tan(float x) { return tanf(x); }
WB_INLINE float tanh(float x) { return tanhf(x); }
