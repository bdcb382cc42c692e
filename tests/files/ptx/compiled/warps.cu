// Warp intrinsics, atomics, votes, barriers, asynchronous copies, parameters by address, printf: NVRTC only.
struct Args { float *p; int n; float w[10]; };
__device__ __noinline__ float weight(const Args *q, int i) { return q->w[i]; }
extern "C" __global__ void by_address(const __grid_constant__ Args a) {
    a.p[0] = weight(&a, threadIdx.x) + ((const float *)&a)[threadIdx.x];
}
extern "C" __global__ void warps(int *a, unsigned *u, float *f, double *d, unsigned long long *ul) {
    int i = threadIdx.x, x = a[i];
    a[0] = __shfl_sync(~0u, x, 3) + __shfl_up_sync(~0u, x, 1) + __shfl_down_sync(~0u, x, 2, 16);
    d[1] = __shfl_xor_sync(~0u, d[0], 4);
    u[0] = __ballot_sync(~0u, x & 1) + __activemask() + __match_any_sync(~0u, x);
    int p;
    u[1] = __match_all_sync(~0u, x, &p) + p + __all_sync(~0u, x > 3) + __any_sync(~0u, x > 4);
    a[6] = __syncthreads_count(x > 1) + __syncthreads_and(x > 2) + __syncthreads_or(x > 3);
    __threadfence();
    u[2] = (unsigned)clock64() + __reduce_add_sync(~0u, x);
    if (x > 5) asm volatile("bar.sync 1, 64;");
    __shared__ int shared[32];
    __shared__ __align__(16) float stage[64];
    atomicAdd(&shared[i & 3], 1);
    int *generic = i > 4 ? shared : a;
    atomicAdd(generic + 1, 4);
    a[9] = atomicExch(generic, 3) + atomicCAS(a + 5, 1, 2);
    f[0] = atomicAdd(f, 1.f);
    atomicAdd(d, 1.0);
    ul[0] = atomicMax(ul + 4, 3ull);
    atomicInc(u + 9, 7);
    unsigned to = (unsigned)__cvta_generic_to_shared(stage + i);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(f + i));
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 0;");
    f[1] = stage[i];
    if (x < 0) printf("%d %f\n", x, f[0]);
    if (x < -1) __trap();
}
