// Calls through pointers and recursion. `pointers_clang_O*.ptx`: clang++ -x cuda --cuda-device-only
// --cuda-gpu-arch=sm_70 -nocudainc -nocudalib -fno-exceptions -fno-rtti -S, with -O0 and -O2.
// `pointers_nvrtc.ptx`: NVRTC 12.9 with --gpu-architecture=compute_70.
#ifdef __CUDACC_RTC__
#define tid (int)threadIdx.x
#else
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __noinline__ __attribute__((noinline))
#define tid __nvvm_read_ptx_sreg_tid_x()
#endif

typedef int (*Op)(int, int);
static __device__ __noinline__ int plus(int a, int b) { return a + b; }
static __device__ __noinline__ int times(int a, int b) { return a * b; }
static __device__ __noinline__ int minus(int a, int b) { return a - b; }
__device__ Op table[3] = {plus, times, minus};

extern "C" __global__ void through_table(int *out) { out[tid] = table[tid % 3](tid, 7); }

struct Shape {
  __device__ virtual int area(int scale) const = 0;
  __device__ virtual int edges() const { return 0; }
};
struct Square : Shape {
  int side;
  __device__ Square(int s) : side(s) {}
  __device__ int area(int scale) const override { return side * side * scale; }
  __device__ int edges() const override { return 4; }
};
struct Box : Shape {
  int w, h;
  __device__ Box(int w, int h) : w(w), h(h) {}
  __device__ int area(int scale) const override { return w * h + scale; }
};

extern "C" __global__ void virtual_functions(int *out) {
  Square square(tid);
  Box box(tid, 3);
  const Shape *shape = tid % 2 ? (const Shape *)&square : (const Shape *)&box;
  asm volatile("" : "+l"(shape) : : "memory");
  out[tid] = shape->area(5) * 10 + shape->edges();
}

static __device__ __noinline__ int fibonacci(int n) {
  if (n < 2) return n;
  return fibonacci(n - 1) + fibonacci(n - 2);
}
static __device__ __noinline__ int is_odd(int n);
static __device__ __noinline__ int is_even(int n) { return n == 0 ? 1 : is_odd(n - 1); }
static __device__ __noinline__ int is_odd(int n) {
  volatile int here = n;
  int inner = n == 0 ? 0 : is_even(n - 1);
  return inner + 2 * (here - n);
}
// each frame has an array of its own, to which the inner frames write through a pointer
static __device__ __noinline__ int sum_of_digits(int n, int *outer) {
  int own[4] = {n % 10, 0, 0, n};
  asm volatile("" : : "l"(own) : "memory");
  if (n >= 10) sum_of_digits(n / 10, own);
  asm volatile("" : : "l"(own) : "memory");
  *outer += own[0];
  return own[3];
}
extern "C" __global__ void recursion(int *out) {
  int digits = 0;
  int back = sum_of_digits(1234 * tid + 7, &digits);
  out[3 * tid] = fibonacci(tid % 12);
  out[3 * tid + 1] = is_even(tid) * 2 + is_odd(tid);
  out[3 * tid + 2] = digits * 100000 + back;
}
