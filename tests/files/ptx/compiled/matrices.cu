// Matrix products through the warp matrix functions of CUDA C++, one 16x16 (8x32, 32x8) tile for each warp, in the types
// that compute_80 has: C = 2 A B - C, so that elements of fragments are computed with.
#include <mma.h>
using namespace nvcuda;

template <int M, int N, int K, class In, class Sum, class LayoutA, class LayoutB>
__device__ void tile(const In *A, const In *B, Sum *C, int lda, int ldb, int ldc, int depth, int step_a, int step_b,
                     bool by_column) {
  wmma::fragment<wmma::matrix_a, M, N, K, In, LayoutA> a;
  wmma::fragment<wmma::matrix_b, M, N, K, In, LayoutB> b;
  wmma::fragment<wmma::accumulator, M, N, K, Sum> sum, old;
  wmma::layout_t layout = by_column ? wmma::mem_col_major : wmma::mem_row_major;
  wmma::fill_fragment(sum, Sum(0));
  for (int k = 0; k < depth; k += K) {
    wmma::load_matrix_sync(a, A + k * step_a, lda);
    wmma::load_matrix_sync(b, B + k * step_b, ldb);
    wmma::mma_sync(sum, a, b, sum);
  }
  wmma::load_matrix_sync(old, C, ldc, layout);
  for (int i = 0; i < sum.num_elements; i++) sum.x[i] = Sum(2) * sum.x[i] - old.x[i];
  wmma::store_matrix_sync(C, sum, ldc, layout);
}

typedef wmma::row_major row;
typedef wmma::col_major col;

// 16 rows of A and 16 columns of B, by rows and by columns, for each block.
extern "C" __global__ void halves(const half *A, const half *B, float *C, int depth) {
  int m = blockIdx.y * 16, n = blockIdx.x * 16, width = gridDim.x * 16;
  tile<16, 16, 16, half, float, row, col>(A + m * depth, B + n * depth, C + m * width + n, depth, depth, width, depth, 1, 1, false);
}

// 8 rows of A and 32 columns of B, by columns and by rows; C by columns.
extern "C" __global__ void brains(const __nv_bfloat16 *A, const __nv_bfloat16 *B, float *C, int depth) {
  int m = blockIdx.y * 8, n = blockIdx.x * 32, height = gridDim.y * 8;
  int width = gridDim.x * 32;
  tile<8, 32, 16, __nv_bfloat16, float, col, row>(A + m, B + n, C + n * height + m, height, width, height, depth, height, width, true);
}

extern "C" __global__ void bytes(const signed char *A, const signed char *B, int *C, int depth) {
  int m = blockIdx.y * 32, n = blockIdx.x * 8, width = gridDim.x * 8;
  tile<32, 8, 16, signed char, int, row, col>(A + m * depth, B + n * depth, C + m * width + n, depth, depth, width, depth, 1, 1, false);
}
