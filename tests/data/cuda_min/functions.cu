// Every function of cuda_min.h over arrays, for tests/launches/cuda_min.rs: one entry per function, y[i] = f(x[i]) or f(x[i], z[i]).
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
#define ONE(T, name, call)                                                                                    \
  extern "C" __global__ void name(const T *__restrict__ x, const T *__restrict__ z, T *y) {                   \
    T a = x[INDEX];                                                                                           \
    y[INDEX] = call(a);                                                                                       \
  }
#define TWO(T, name, call)                                                                                    \
  extern "C" __global__ void name(const T *__restrict__ x, const T *__restrict__ z, T *y) {                   \
    T a = x[INDEX], b = z[INDEX];                                                                             \
    y[INDEX] = call(a, b);                                                                                    \
  }
ONE(float, f_fabs, fabsf)
ONE(float, f_sqrt, sqrtf)
ONE(float, f_rsqrt, rsqrtf)
ONE(float, f_floor, floorf)
ONE(float, f_ceil, ceilf)
ONE(float, f_trunc, truncf)
ONE(float, f_round, roundf)
ONE(float, f_rint, rintf)
ONE(float, f_exp, expf)
ONE(float, f_exp2, exp2f)
ONE(float, f_exp10, exp10f)
ONE(float, f_log, logf)
ONE(float, f_log2, log2f)
ONE(float, f_log10, log10f)
ONE(float, f_sin, sinf)
ONE(float, f_cos, cosf)
ONE(float, f_tan, tanf)
ONE(float, f_tanh, tanhf)
ONE(float, f_atan, atanf)
ONE(float, f_erf, erff)
ONE(float, f_saturate, __saturatef)
ONE(float, f_fast_exp, __expf)
ONE(float, f_fast_log, __logf)
ONE(float, f_fast_sin, __sinf)
ONE(float, f_fast_cos, __cosf)
TWO(float, f_fmax, fmaxf)
TWO(float, f_fmin, fminf)
TWO(float, f_fmod, fmodf)
TWO(float, f_pow, powf)
TWO(float, f_atan2, atan2f)
TWO(float, f_hypot, hypotf)
TWO(float, f_copysign, copysignf)
TWO(float, f_fdividef, __fdividef)
ONE(double, d_sqrt, sqrt)
ONE(double, d_rsqrt, rsqrt)
ONE(double, d_floor, floor)
ONE(double, d_ceil, ceil)
ONE(double, d_trunc, trunc)
ONE(double, d_round, round)
ONE(double, d_exp, exp)
ONE(double, d_exp2, exp2)
ONE(double, d_log, log)
ONE(double, d_log2, log2)
ONE(double, d_log10, log10)
ONE(double, d_sin, sin)
ONE(double, d_cos, cos)
ONE(double, d_tan, tan)
TWO(double, d_fmax, fmax)
TWO(double, d_fmin, fmin)
TWO(double, d_fmod, fmod)
TWO(double, d_pow, pow)

// The classes of floats as bits, and the overloads: all of these are of single precision.
extern "C" __global__ void f_classes(const float *x, unsigned *y) {
  float a = x[INDEX];
  y[INDEX] = isnan(a) | isinf(a) << 1 | isfinite(a) << 2 | signbit(a) << 3 | (sizeof(sqrt(a)) == 4) << 4;
}

// Integers: row f of y is the f-th function of a = x[2 i] and b = x[2 i + 1].
extern "C" __global__ void integers(const unsigned *x, unsigned *y, int n) {
  int i = INDEX;
  unsigned a = x[2 * i], b = x[2 * i + 1];
  unsigned long long w = (unsigned long long)a << 32 | b;
  unsigned results[] = {
      (unsigned)__popc(a),
      (unsigned)__popcll(w),
      (unsigned)__clz((int)a),
      (unsigned)__clzll((long long)w),
      (unsigned)__ffs((int)a),
      __brev(a),
      __byte_perm(a, b, 0x5041),
      __funnelshift_l(a, b, b),
      __funnelshift_r(a, b, b),
      __umulhi(a, b),
      (unsigned)__mulhi((int)a, (int)b),
      (unsigned)min((int)a, (int)b),
      max(a, b),
      (unsigned)abs((int)a),
      (unsigned)__float2int_rn(__uint_as_float(a)),
      (unsigned)__float2int_rz(__uint_as_float(a)),
      (unsigned)(__umul64hi(w, w) >> 32),
      __usad(a, b, 7),
  };
#pragma unroll
  for (int f = 0; f < (int)(sizeof(results) / 4); ++f) y[f * n + i] = results[f];
}

// Atomics of one block on the words of `cells`: integers, wide ones, a float and a double.
extern "C" __global__ void atomics(int *cells, unsigned *unsigneds, unsigned long long *wide, float *single, double *pair,
                                   unsigned *old) {
  unsigned i = threadIdx.x;
  atomicAdd(&cells[0], (int)i);
  atomicSub(&cells[1], 2);
  atomicMin(&cells[2], -(int)i);
  atomicMax(&cells[3], (int)i - 5);
  atomicAnd(&unsigneds[0], ~(1u << (i & 31)));
  atomicOr(&unsigneds[1], 1u << (i & 31));
  atomicXor(&unsigneds[2], i);
  atomicInc(&unsigneds[3], 9);
  atomicDec(&unsigneds[4], 9);
  old[i] = atomicExch(&unsigneds[5], i);
  atomicAdd(&wide[0], 1ull << 33);
  atomicMax(&wide[1], (unsigned long long)i << 40);
  atomicAdd(single, 0.5f);
  atomicAdd(pair, 0.25);
  // an addition made of compare-and-swap
  unsigned seen = unsigneds[6], before;
  do {
    before = seen;
    seen = atomicCAS(&unsigneds[6], before, before + i);
  } while (seen != before);
}

struct __attribute__((aligned(16))) Pair {
  float4 a;
  uchar4 b;
};
// Vector types, dim3, read-only loads, shared memory, block-wide votes, fences, printf and assertions.
extern "C" __global__ void rest(const float4 *__restrict__ x, Pair *pairs, int *counts, float limit) {
  extern __shared__ float tile[];
  dim3 shape(blockDim.x);
  int i = threadIdx.x;
  float4 v = __ldg(&x[i]);
  tile[i] = v.x + v.y + v.z + v.w;
  __threadfence_block();
  int many = __syncthreads_count(tile[i] > limit), all = __syncthreads_and(tile[i] > limit);
  int any = __syncthreads_or(tile[i] > limit);
  float other = tile[shape.x * shape.y * shape.z - 1 - i];
  assert(other == other);
  printf("thread %d\n", i);
  pairs[i].a = make_float4(other, v.x, (float)(clock64() >= 0), (float)warpSize);
  pairs[i].b = make_uchar4(i, 1, 2, 3);
  if (i == 0) {
    counts[0] = many;
    counts[1] = all;
    counts[2] = any;
  }
}

// Ends with a trap if some x is negative.
extern "C" __global__ void asserts(const int *x) { assert(x[INDEX] >= 0); }
