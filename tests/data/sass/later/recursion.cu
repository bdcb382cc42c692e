// The source of recursion.ptx, which nvcc 13.5 makes of it (-ptx -arch=sm_75).
__device__ __noinline__ unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__device__ __noinline__ unsigned ack(unsigned m, unsigned n) { return m == 0 ? n + 1 : n == 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1)); }
__device__ __noinline__ unsigned odd(unsigned n, unsigned s);
__device__ __noinline__ unsigned even(unsigned n, unsigned s) { return n == 0 ? s : odd(n - 1, s * 3 + 1) ^ n; }
__device__ __noinline__ unsigned odd(unsigned n, unsigned s) { if (n == 0) return s ^ 0xffff; unsigned r = even(n - 1, s * 5 + 2); return r + (r & 1 ? n : s); }
extern "C" __global__ void fibonacci(unsigned *o, const unsigned *i) { unsigned t = threadIdx.x; o[4 * t] = fib(i[4 * t] % 10); }
extern "C" __global__ void ackermann(unsigned *o, const unsigned *i) { unsigned t = threadIdx.x; o[4 * t] = ack(i[4 * t] % 3, i[4 * t + 1] % 4); }
extern "C" __global__ void mutual(unsigned *o, const unsigned *i) { unsigned t = threadIdx.x; o[4 * t] = even(i[4 * t] % 23, i[4 * t + 1]); if (i[4 * t + 2] & 1) o[4 * t + 1] = odd(i[4 * t + 2] % 9, t); }
typedef unsigned (*Step)(unsigned, unsigned, unsigned *);
__device__ __noinline__ unsigned down(unsigned n, unsigned s, unsigned *path);
__device__ __noinline__ unsigned leap(unsigned n, unsigned s, unsigned *path);
__device__ Step ways[2] = {down, leap};
// calls of themselves through a table of pointers, with a pointer to the caller's local memory
__device__ __noinline__ unsigned down(unsigned n, unsigned s, unsigned *path) {
    unsigned own[3] = {n, s, n ^ s};
    if (n == 0) return s + path[s % 3];
    unsigned r = 0;
    for (unsigned k = 0; k < 1 + (s & 1); ++k) { own[k] += path[(n + k) % 3]; r = r * 7 + ways[(s + k) & 1](n - 1, s / 3 + k, own); }
    return r ^ own[n % 3];
}
__device__ __noinline__ unsigned leap(unsigned n, unsigned s, unsigned *path) {
    if (n < 3) { path[n] ^= s; return path[(n + s) % 3]; }
    return ways[s & 1](n - 2, s * 5 + 1, path) + ways[(s >> 1) & 1](n - 3, s + 2, path) * 3;
}
extern "C" __global__ void tree(unsigned *o, const unsigned *i) {
    unsigned t = threadIdx.x, path[3] = {i[4 * t], i[4 * t + 1], t};
    o[4 * t] = ways[t & 1](i[4 * t + 2] % 7, i[4 * t + 3], path);
    o[4 * t + 1] = path[0] + path[1] * 3 + path[2];
}
// loops that lanes leave at different times, around and inside calls of themselves
__device__ __noinline__ unsigned spread(unsigned n, unsigned s) {
    unsigned sum = s;
    for (unsigned k = s & 3; k < n; k += 1 + (s & 1)) {
        if (((s >> k) & 3) == 1) continue;
        if (((s >> k) & 7) == 6) break;
        sum += spread(n - 1 - (k & 1), s * 13 + k);
        if ((sum & 63) == 5) return sum;
    }
    return sum * 3 + n;
}
extern "C" __global__ void loops(unsigned *o, const unsigned *i) {
    unsigned t = threadIdx.x; o[4 * t] = spread(i[4 * t] % 5, i[4 * t + 1]);
    unsigned v = __shfl_xor_sync(0xffffffff, o[4 * t], 3); o[4 * t + 1] = v;
    __syncthreads();
    if (i[4 * t + 2] & 1) o[4 * t + 2] = spread(3, v);
}
