// The part of CUDA C++ that kernels use, on top of clang's builtins alone: no toolkit header and no device library is
// needed to compile them (scripts/compile-kernels.sh shows how). Own code; what a kernel does not use leaves nothing in
// its PTX.
//
// Not here: textures and surfaces, cooperative groups, half precision, device-side malloc and launches. printf does
// nothing. A file with host code compiles, too, if it includes <cuda_runtime.h>: there is one beside this file.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ inline __attribute__((always_inline))
// Without line information of their own (nodebug), so that .loc names the line of the kernel that calls them.
#define WB_INLINE static __device__ __forceinline__ __attribute__((nodebug))

typedef __SIZE_TYPE__ size_t;

#include "cuda_min/types.h"

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
static constexpr int warpSize = 32;

#include "cuda_min/sync.h"

#include "cuda_min/atomics.h"

#include "cuda_min/intrinsics.h"

#include "cuda_min/math.h"

#include "cuda_min/math64.h"

// An assertion that fails ends the kernel (`trap`). As in CUDA, NDEBUG takes assertions out.
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : __builtin_trap())
#endif
WB_INLINE void __trap() { __builtin_trap(); }
// What <assert.h> makes of an assertion.
WB_INLINE void __assert_fail(const char *, const char *, unsigned, const char *) { __builtin_trap(); }

// Nothing is printed: the arguments are evaluated and dropped.
template <typename... Args> WB_INLINE int printf(const char *, Args...) { return 0; }

// Clocks. A functional run has no time: the value is the number of instructions that the warp has executed.
typedef long wb_clock_t;
WB_INLINE wb_clock_t clock() { return __nvvm_read_ptx_sreg_clock(); }
WB_INLINE long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }

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
