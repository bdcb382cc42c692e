// The part of CUDA C++ that the kernels in this folder use, on top of clang's builtins alone: no toolkit header and no
// device library is needed to compile them (scripts/compile-kernels.sh). Add here only what a kernel needs.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ inline __attribute__((always_inline))
#define WB_INLINE static __device__ __forceinline__

typedef __SIZE_TYPE__ size_t;

struct __attribute__((aligned(8))) float2 { float x, y; };
struct __attribute__((aligned(16))) float4 { float x, y, z, w; };
struct uint3 { unsigned x, y, z; };

// Special registers. Reading one has no side effect, so components that are not used leave no instruction behind.
#define WB_SREG(r) {(unsigned)__nvvm_read_ptx_sreg_##r##_x(), (unsigned)__nvvm_read_ptx_sreg_##r##_y(), \
                    (unsigned)__nvvm_read_ptx_sreg_##r##_z()}
WB_INLINE uint3 wb_thread_idx() { return WB_SREG(tid); }
WB_INLINE uint3 wb_block_idx() { return WB_SREG(ctaid); }
WB_INLINE uint3 wb_block_dim() { return WB_SREG(ntid); }
WB_INLINE uint3 wb_grid_dim() { return WB_SREG(nctaid); }
#define threadIdx (wb_thread_idx())
#define blockIdx (wb_block_idx())
#define blockDim (wb_block_dim())
#define gridDim (wb_grid_dim())

// Synchronisation. __syncthreads is a clang builtin.
WB_INLINE void __syncwarp(unsigned mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }

// Shuffles over a whole warp.
WB_INLINE int __shfl_down_sync(unsigned mask, int v, int d) { return __nvvm_shfl_sync_down_i32(mask, v, d, 31); }
WB_INLINE float __shfl_down_sync(unsigned mask, float v, int d) { return __nvvm_shfl_sync_down_f32(mask, v, d, 31); }
WB_INLINE int __shfl_xor_sync(unsigned mask, int v, int m) { return __nvvm_shfl_sync_bfly_i32(mask, v, m, 31); }
WB_INLINE float __shfl_xor_sync(unsigned mask, float v, int m) { return __nvvm_shfl_sync_bfly_f32(mask, v, m, 31); }

// Integer atomics; clang turns them into .shared or .global where it can see the space.
WB_INLINE int atomicAdd(int *p, int v) { return __nvvm_atom_add_gen_i(p, v); }
WB_INLINE unsigned atomicAdd(unsigned *p, unsigned v) { return (unsigned)__nvvm_atom_add_gen_i((int *)p, (int)v); }
WB_INLINE int atomicMax(int *p, int v) { return __nvvm_atom_max_gen_i(p, v); }

// Single-precision arithmetic. sqrtf is correctly rounded; the names with underscores are the approximate
// special-function instructions, exponential and logarithm in base e by a multiplication.
WB_INLINE float fabsf(float x) { return __builtin_fabsf(x); }
WB_INLINE float sqrtf(float x) { return __nvvm_sqrt_rn_f(x); }
WB_INLINE float __frsqrt_approx(float x) { return __nvvm_rsqrt_approx_f(x); }
WB_INLINE float __fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }
WB_INLINE float __expf(float x) { return __nvvm_ex2_approx_f(x * 1.4426950408889634f); }
WB_INLINE float __logf(float x) { return __nvvm_lg2_approx_f(x) * 0.6931471805599453f; }

// Asynchronous copies from global to shared memory (sm_80 and later).
#if __CUDA_ARCH__ >= 800
WB_INLINE void wb_cp_async4(void *shared, const void *global) {
  __nvvm_cp_async_ca_shared_global_4((__attribute__((address_space(3))) void *)shared,
                                     (const __attribute__((address_space(1))) void *)global);
}
WB_INLINE void wb_cp_async_commit() { __nvvm_cp_async_commit_group(); }
#define wb_cp_async_wait(pending) __nvvm_cp_async_wait_group(pending)
#endif

// The address of a place within shared memory, for instructions that take no other.
WB_INLINE unsigned wb_shared_address(const void *p) {
  return (unsigned)(size_t)(const __attribute__((address_space(3))) void *)p;
}
