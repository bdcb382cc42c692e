// Integer and conversion intrinsics, read-only loads, min and max.
#pragma once

// Bits.
WB_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
WB_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
WB_INLINE int __clz(int x) { return x ? __builtin_clz(x) : 32; }
WB_INLINE int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
WB_INLINE int __ffs(int x) { return __builtin_ffs(x); }
WB_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }
WB_INLINE unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
WB_INLINE unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
WB_INLINE unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) { return __nvvm_prmt(a, b, selector); }
WB_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
  return (unsigned)(((unsigned long long)high << 32 | low) << (by & 31) >> 32);
}
WB_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
  return (unsigned)(((unsigned long long)high << 32 | low) >> (by & 31));
}

// Products and sums.
WB_INLINE int __mulhi(int a, int b) { return __nvvm_mulhi_i(a, b); }
WB_INLINE unsigned __umulhi(unsigned a, unsigned b) { return __nvvm_mulhi_ui(a, b); }
WB_INLINE long long __mul64hi(long long a, long long b) { return __nvvm_mulhi_ll(a, b); }
WB_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return __nvvm_mulhi_ull(a, b); }
WB_INLINE int __mul24(int a, int b) { return __nvvm_mul24_i(a, b); }
WB_INLINE unsigned __umul24(unsigned a, unsigned b) { return __nvvm_mul24_ui(a, b); }
WB_INLINE unsigned __sad(int a, int b, unsigned c) { return __nvvm_sad_i(a, b, c); }
WB_INLINE unsigned __usad(unsigned a, unsigned b, unsigned c) { return __nvvm_sad_ui(a, b, c); }

// Bits of one type as another.
WB_INLINE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
WB_INLINE unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
WB_INLINE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
WB_INLINE float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
WB_INLINE long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
WB_INLINE double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
WB_INLINE int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
WB_INLINE int __double2loint(double x) { return (int)__double_as_longlong(x); }
WB_INLINE double __hiloint2double(int high, int low) {
  return __longlong_as_double((long long)((unsigned long long)(unsigned)high << 32 | (unsigned)low));
}

// Conversions that say how they round.
#define WB_CONVERT(round)                                                                                     \
  WB_INLINE int __float2int_##round(float x) { return __nvvm_f2i_##round(x); }                                \
  WB_INLINE unsigned __float2uint_##round(float x) { return __nvvm_f2ui_##round(x); }                         \
  WB_INLINE long long __float2ll_##round(float x) { return __nvvm_f2ll_##round(x); }                          \
  WB_INLINE int __double2int_##round(double x) { return __nvvm_d2i_##round(x); }                              \
  WB_INLINE unsigned __double2uint_##round(double x) { return __nvvm_d2ui_##round(x); }                       \
  WB_INLINE long long __double2ll_##round(double x) { return __nvvm_d2ll_##round(x); }                        \
  WB_INLINE float __double2float_##round(double x) { return __nvvm_d2f_##round(x); }
WB_CONVERT(rn)
WB_CONVERT(rz)
#undef WB_CONVERT
WB_INLINE int __float2int_rd(float x) { return __nvvm_f2i_rm(x); }
WB_INLINE int __float2int_ru(float x) { return __nvvm_f2i_rp(x); }
WB_INLINE float __int2float_rn(int x) { return (float)x; }
WB_INLINE float __uint2float_rn(unsigned x) { return (float)x; }
WB_INLINE double __int2double_rn(int x) { return (double)x; }
WB_INLINE double __uint2double_rn(unsigned x) { return (double)x; }

// Loads through the read-only cache.
#define WB_LDG(T, suffix) WB_INLINE T __ldg(const T *p) { return __nvvm_ldg_##suffix(p); }
WB_LDG(int, i)
WB_LDG(unsigned, ui)
WB_LDG(short, s)
WB_LDG(unsigned short, us)
WB_LDG(unsigned char, uc)
WB_LDG(long, l)
WB_LDG(unsigned long, ul)
WB_LDG(long long, ll)
WB_LDG(unsigned long long, ull)
WB_LDG(float, f)
WB_LDG(double, d)
#undef WB_LDG
WB_INLINE char __ldg(const char *p) { return (char)__nvvm_ldg_uc((const unsigned char *)p); }
WB_INLINE signed char __ldg(const signed char *p) { return (signed char)__nvvm_ldg_uc((const unsigned char *)p); }
#define WB_LDG2(T, element, suffix)                                                                           \
  WB_INLINE T __ldg(const T *p) {                                                                             \
    typedef element words __attribute__((ext_vector_type(2)));                                                \
    words v = __nvvm_ldg_##suffix((const words *)p);                                                          \
    return {v.x, v.y};                                                                                        \
  }
#define WB_LDG4(T, element, suffix)                                                                           \
  WB_INLINE T __ldg(const T *p) {                                                                             \
    typedef element words __attribute__((ext_vector_type(4)));                                                \
    words v = __nvvm_ldg_##suffix((const words *)p);                                                          \
    return {v.x, v.y, v.z, v.w};                                                                              \
  }
WB_LDG2(int2, int, i2)
WB_LDG2(uint2, unsigned, ui2)
WB_LDG2(float2, float, f2)
WB_LDG2(double2, double, d2)
WB_LDG4(int4, int, i4)
WB_LDG4(uint4, unsigned, ui4)
WB_LDG4(float4, float, f4)
#undef WB_LDG2
#undef WB_LDG4

// Smaller, larger, absolute value of integers; those of floats are in math.h and math64.h.
#define WB_MIN_MAX(T)                                                                                         \
  WB_INLINE T min(T a, T b) { return a < b ? a : b; }                                                         \
  WB_INLINE T max(T a, T b) { return a > b ? a : b; }
WB_MIN_MAX(int)
WB_MIN_MAX(unsigned)
WB_MIN_MAX(long)
WB_MIN_MAX(unsigned long)
WB_MIN_MAX(long long)
WB_MIN_MAX(unsigned long long)
#undef WB_MIN_MAX
WB_INLINE unsigned min(int a, unsigned b) { return min((unsigned)a, b); }
WB_INLINE unsigned min(unsigned a, int b) { return min(a, (unsigned)b); }
WB_INLINE unsigned max(int a, unsigned b) { return max((unsigned)a, b); }
WB_INLINE unsigned max(unsigned a, int b) { return max(a, (unsigned)b); }
WB_INLINE int abs(int x) { return x < 0 ? -x : x; }
WB_INLINE long labs(long x) { return x < 0 ? -x : x; }
WB_INLINE long long llabs(long long x) { return x < 0 ? -x : x; }
WB_INLINE long abs(long x) { return labs(x); }
WB_INLINE long long abs(long long x) { return llabs(x); }
