// Threads of a warp that wait for each other. `o` has a lock or flag in word 0, a counter in word 1,
// and one result for each thread from word 32 on.
extern "C" __global__ void lock_by_loop(unsigned* o, const unsigned* i) {
  while (atomicCAS(o, 0u, 1u) != 0u) {}
  unsigned seen = *(volatile unsigned*)(o + 1);
  *(volatile unsigned*)(o + 1) = seen + 1;
  __threadfence();
  atomicExch(o, 0u);
  o[32 + threadIdx.x] = i[threadIdx.x] + 1;
}
extern "C" __global__ void lock_by_flag(unsigned* o, const unsigned* i) {
  bool done = false;
  while (!done) {
    if (atomicCAS(o, 0u, 1u) == 0u) {
      *(volatile unsigned*)(o + 1) += 1;
      __threadfence();
      atomicExch(o, 0u);
      done = true;
    }
  }
  o[32 + threadIdx.x] = i[threadIdx.x] + 2;
}
// one thread of each warp gives the others a value, whichever side of the branch runs first
extern "C" __global__ void value_by_flag(unsigned* o, const unsigned* i) {
  volatile unsigned* flag = o;
  if (threadIdx.x % 32 == 5) {
    o[1] = i[0] | 1;
    __threadfence();
    *flag = 1;
    o[32 + threadIdx.x] = 7;
  } else {
    while (*flag == 0) {}
    __threadfence();
    o[32 + threadIdx.x] = *(volatile unsigned*)(o + 1);
  }
}
extern "C" __global__ void value_by_flag_other(unsigned* o, const unsigned* i) {
  volatile unsigned* flag = o;
  if (threadIdx.x % 32 != 5) {
    while (*flag == 0) {}
    __threadfence();
    o[32 + threadIdx.x] = *(volatile unsigned*)(o + 1);
  } else {
    o[1] = i[0] | 1;
    __threadfence();
    *flag = 1;
    o[32 + threadIdx.x] = 7;
  }
}
// both sides of a branch meet twice and exchange values through shared memory
extern "C" __global__ void halves_exchange(unsigned* o, const unsigned* i) {
  __shared__ volatile unsigned s[1024];
  unsigned t = threadIdx.x, other = t ^ 16, value;
  if (t & 16) {
    s[t] = i[t] * 3;
    __syncwarp();
    value = s[other] + 1;
    __syncwarp();
    s[t] = value;
  } else {
    s[t] = i[t] * 5;
    __syncwarp();
    value = s[other] + 2;
    __syncwarp();
    s[t] = value * 7;
  }
  __syncwarp();
  o[32 + t] = value + s[other];
}
// threads leave the lock one by one, and go on together
extern "C" __global__ void shuffle_behind_lock(unsigned* o, const unsigned* i) {
  while (atomicCAS(o, 0u, 1u) != 0u) {}
  unsigned rank = *(volatile unsigned*)(o + 1);
  *(volatile unsigned*)(o + 1) = rank + 1;
  __threadfence();
  atomicExch(o, 0u);
  unsigned sum = i[threadIdx.x];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  o[32 + threadIdx.x] = sum;
}
extern "C" __global__ void barrier_behind_lock(unsigned* o, const unsigned* i) {
  __shared__ unsigned s[256];
  while (atomicCAS(o, 0u, 1u) != 0u) {}
  unsigned rank = *(volatile unsigned*)(o + 1);
  *(volatile unsigned*)(o + 1) = rank + 1;
  s[threadIdx.x] = i[threadIdx.x];
  __threadfence();
  atomicExch(o, 0u);
  __syncthreads();
  o[32 + threadIdx.x] = s[(threadIdx.x + 33) % blockDim.x];
}
// a ticket for each thread, served in order
extern "C" __global__ void tickets(unsigned* o, const unsigned* i) {
  unsigned mine = atomicAdd(o, 1u);
  volatile unsigned* now = o + 1;
  while (*now != mine) {}
  __threadfence();
  o[2] = o[2] * 3 + mine;
  __threadfence();
  *now = mine + 1;
  o[32 + threadIdx.x] = i[threadIdx.x];
}
