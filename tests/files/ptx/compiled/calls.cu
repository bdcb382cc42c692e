// Calls, structs by value, generic addresses, initialised variables, local arrays, switches.
struct Big { int a[5]; float b; double c; };
struct Mixed { char c; int *p; short s; };
__constant__ float table[16] = {1.f, 2.f, 3.f};
__constant__ Big constant_struct = {{1, 2, 3, 4, 5}, 2.5f, 1.25};
__device__ int counter = 7;
__device__ float grid[4][5] = {{1, 2}, {3}};
__device__ int *pointer = &counter;
__device__ Mixed mixed = {1, &counter, 3};
extern __shared__ float dynamic[];

__device__ __attribute__((noinline)) float scaled(float x, int n, Big b) {
    for (int i = 0; i < n; i++) x = x * b.b + b.a[i % 5];
    return x;
}
__device__ __attribute__((noinline)) Big make(int i) {
    Big b;
    for (int k = 0; k < 5; k++) b.a[k] = i * k;
    b.b = i;
    b.c = i * 2.0;
    return b;
}
__device__ __attribute__((noinline)) void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }
__device__ __attribute__((noinline)) double many(double a, char c, short s, unsigned long long u, bool b) {
    return b ? a * c : s + u;
}

extern "C" __global__ void calls(float *out, int n, Big b, char c, short s, double d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Big m = make(i);
    float *o = out + 4 * i;
    o[0] = scaled(o[0], n, b) + scaled(1.f, n, m);
    int x = i, y = n;
    swap(&x, &y);
    __shared__ int tile[64];
    tile[threadIdx.x] = i;
    __syncthreads();
    if (threadIdx.x == 0) swap(&tile[0], &tile[1]);
    __syncthreads();
    dynamic[threadIdx.x] = tile[threadIdx.x] + x - y;
    o[3] = dynamic[threadIdx.x];
    o[1] = (float)many(x, (char)y, (short)x, 5ull * x, y > 3) + c + s + d;
    o[2] = table[i & 15] + constant_struct.b + counter + grid[i & 3][i % 5] + *pointer + *mixed.p + mixed.s + b.a[i % 5];
}

extern "C" __global__ void __launch_bounds__(256, 2) switches(int *out, const int *in, int s) {
    int i = threadIdx.x, r = 0;
    switch ((in[i] + s) & 15) {
    case 0: r = i * 3; break;
    case 1: r = i / 7; break;
    case 2: r = i % 11; break;
    case 3: r = i ^ s; break;
    case 4: r = s - i * i; break;
    case 5: r = in[i + 5]; break;
    case 6: out[i + 64] = 1; r = 9; break;
    case 7: r = in[i & 31] * in[2]; break;
    case 11: r = 77; break;
    default: r = -1;
    }
    out[i] = r;
    if (r == 77) return;
    int buffer[32];
    for (int k = 0; k < 32; k++) buffer[k] = in[k];
    for (int k = 0; k < s; k++) buffer[(k * 7) & 31] += buffer[in[k] & 31] + i;
    out[i + 128] = buffer[s & 31];
}

extern "C" __global__ void types(int *a, unsigned *u, long long *l, unsigned long long *ul, short *s, unsigned char *c,
                                 float *f, double *d) {
    int i = threadIdx.x, x = a[i], y = a[i + 1];
    unsigned p = u[i], q = u[i + 1];
    long long m = l[i], n = l[i + 1];
    unsigned long long v = ul[i], w = ul[i + 1];
    short sa = s[i], sb = s[i + 1];
    unsigned char ca = c[i], cb = c[i + 1];
    a[0] = x / y; a[1] = x % y; u[0] = p / q; u[1] = p % q; l[0] = m / n; ul[1] = v % w; s[0] = sa / sb; c[0] = ca / cb;
    a[2] = x < y ? x : y; a[3] = x << y; u[2] = p >> q; l[2] = m >> x; l[3] = (long long)x * y + m; s[1] = sa >> 2;
    c[1] = ca > cb ? ca : cb;
    f[0] = x; f[1] = p; f[2] = m; f[3] = v; f[4] = sa; f[5] = ca; d[0] = x; d[1] = v;
    a[4] = f[6]; u[4] = f[7]; l[4] = f[8]; ul[4] = f[9]; s[4] = f[10]; c[4] = f[11]; a[5] = d[6]; f[12] = d[8]; d[9] = f[13];
    a[6] = (f[0] < f[1]) ^ (d[0] >= d[1]) ^ !(f[2] < f[3]) ^ (f[5] != f[6]) ^ !(d[3] > d[4]);
    unsigned __int128 big = (unsigned __int128)v * w + v;
    ul[5] = big >> 64; ul[6] = big;
}
