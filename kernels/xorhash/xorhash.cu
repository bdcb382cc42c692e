// Integers only, one long dependence chain a thread: xorshift rounds mixed with multiplications, a rotation and additions.
extern "C" __global__ void xorhash(unsigned *out, unsigned seed, int rounds) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = i * 2654435761u + seed, h = 0x811c9dc5u;
#pragma unroll 1
  for (int k = 0; k < rounds; k++) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    h = (h ^ (x & 0xff)) * 16777619u;
    h = (h << 7) | (h >> 25);
    h += x * 3u + (unsigned)k;
  }
  out[i] = h ^ x;
}
