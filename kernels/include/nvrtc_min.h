// What our kernels use beyond the names that NVIDIA's compiler has built in, so that it compiles the same sources as clang
// does with cuda_min.h (scripts/compile-kernels-nvrtc.py). Own code.
#pragma once

#define WB_INLINE static __device__ __forceinline__
#define __builtin_inff() __int_as_float(0x7f800000)

WB_INLINE float __frsqrt_approx(float x) {
    float root;
    asm("rsqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(x));
    return root;
}

WB_INLINE unsigned wb_shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

#if __CUDA_ARCH__ >= 800
WB_INLINE void wb_cp_async4(void *shared, const void *global) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(wb_shared_address(shared)),
                 "l"(__cvta_generic_to_global(global))
                 : "memory");
}
WB_INLINE void wb_cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
#define wb_cp_async_wait(pending) asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory")
#endif
