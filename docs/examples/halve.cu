// How many steps it takes to bring each number down to 1: odd numbers lose one, even numbers are halved.
extern "C" __global__ void halve(const unsigned *x, unsigned *steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned v = x[i], count = 0;
  while (v > 1) {
    v = v & 1 ? v - 1 : v >> 1;
    count++;
  }
  steps[i] = count;
}
