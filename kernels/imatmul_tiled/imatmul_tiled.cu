extern __shared__ int tile[];

// Product of two small integer matrices by one square block whose side is the matrix side (Adalbert et al., ERTS 2022): each thread copies
// one element of A and one of B to shared memory, waits, loops over k, stores one element. Dynamic shared memory:
// 2*side*side ints. Further blocks multiply further matrices, one behind the other in memory.
extern "C" __global__ void imatmul_tiled(const int *A, const int *B, int *C) {
  int side = blockDim.x, tx = threadIdx.x, ty = threadIdx.y;
  int own = ty * side + tx, at = blockIdx.x * side * side + own;
  int *As = tile, *Bs = tile + side * side;
  As[own] = A[at];
  Bs[own] = B[at];
  __syncthreads();
  int acc = 0;
#pragma unroll 1
  for (int k = 0; k < side; k++) acc += As[ty * side + k] * Bs[k * side + tx];
  C[at] = acc;
}

// The product of n x n matrices larger than the block, tile after tile along k, with a barrier before and after each.
// n is a multiple of the block's side; the grid is (n/side, n/side).
extern "C" __global__ void imatmul_ktiled(const int *A, const int *B, int *C, int n) {
  int side = blockDim.x, tx = threadIdx.x, ty = threadIdx.y, own = ty * side + tx;
  int row = blockIdx.y * side + ty, col = blockIdx.x * side + tx;
  int *As = tile, *Bs = tile + side * side;
  int acc = 0;
#pragma unroll 1
  for (int k0 = 0; k0 < n; k0 += side) {
    As[own] = A[row * n + k0 + tx];
    Bs[own] = B[(k0 + ty) * n + col];
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < side; k++) acc += As[ty * side + k] * Bs[k * side + tx];
    __syncthreads();
  }
  C[row * n + col] = acc;
}
