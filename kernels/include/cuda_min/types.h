// Vector types with the sizes and alignments of CUDA's, make_* functions, dim3.
#pragma once

#define WB_BOTH static __host__ __device__ __forceinline__

// clang-format off
#define WB_VECTORS(T, name, align2, align4)                                                                   \
  struct name##1 { T x; };                                                                                    \
  struct __attribute__((aligned(align2))) name##2 { T x, y; };                                                \
  struct name##3 { T x, y, z; };                                                                              \
  struct __attribute__((aligned(align4))) name##4 { T x, y, z, w; };                                          \
  WB_BOTH name##1 make_##name##1(T x) { return {x}; }                                                         \
  WB_BOTH name##2 make_##name##2(T x, T y) { return {x, y}; }                                                 \
  WB_BOTH name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                                         \
  WB_BOTH name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
// clang-format on
WB_VECTORS(signed char, char, 2, 4)
WB_VECTORS(unsigned char, uchar, 2, 4)
WB_VECTORS(short, short, 4, 8)
WB_VECTORS(unsigned short, ushort, 4, 8)
WB_VECTORS(int, int, 8, 16)
WB_VECTORS(unsigned, uint, 8, 16)
WB_VECTORS(long long, longlong, 16, 16)
WB_VECTORS(unsigned long long, ulonglong, 16, 16)
WB_VECTORS(float, float, 8, 16)
WB_VECTORS(double, double, 16, 16)
#undef WB_VECTORS

struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
};
