// K-means clustering of points in the plane: each point goes to its nearest centre, each centre to the mean of its
// points. Sums are integers, of coordinates in steps of 1/1024, so that they do not depend on the order of the points.
// Centres beyond the first 32 are left out.
constexpr int MOST = 32;

// Points by a grid-stride loop. `sums` has the x of all centres, then the y; `sums` and `counts` are added to.
extern "C" __global__ void kmeans_assign(const float *__restrict__ x, const float *__restrict__ y,
                                         const float *__restrict__ centre_x, const float *__restrict__ centre_y,
                                         int *__restrict__ member, int *sums, unsigned *counts, int points,
                                         int centres) {
  __shared__ float cx[MOST], cy[MOST];
  __shared__ int sum_x[MOST], sum_y[MOST];
  __shared__ unsigned count[MOST];
  int t = threadIdx.x;
  centres = min(centres, MOST);
  if (t < centres) {
    cx[t] = centre_x[t];
    cy[t] = centre_y[t];
    sum_x[t] = sum_y[t] = 0;
    count[t] = 0;
  }
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + t; i < points; i += gridDim.x * blockDim.x) {
    float px = x[i], py = y[i], least = __builtin_inff();
    int nearest = 0;
#pragma unroll 1
    for (int c = 0; c < centres; c++) {
      float dx = px - cx[c], dy = py - cy[c], distance = fmaf(dx, dx, __fmul_rn(dy, dy));
      if (distance < least) {
        least = distance;
        nearest = c;
      }
    }
    member[i] = nearest;
    atomicAdd(&sum_x[nearest], __float2int_rn(px * 1024.f));
    atomicAdd(&sum_y[nearest], __float2int_rn(py * 1024.f));
    atomicAdd(&count[nearest], 1u);
  }
  __syncthreads();
  if (t < centres && count[t] > 0) {
    atomicAdd(&sums[t], sum_x[t]);
    atomicAdd(&sums[centres + t], sum_y[t]);
    atomicAdd(&counts[t], count[t]);
  }
}

// A thread for each coordinate of each centre; centres without points stay where they are. Clears the sums.
extern "C" __global__ void kmeans_move(float *centre_x, float *centre_y, int *sums, const unsigned *counts, int centres) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  centres = min(centres, MOST);
  if (i >= 2 * centres) return;
  int c = i < centres ? i : i - centres;
  float *coordinate = i < centres ? &centre_x[c] : &centre_y[c];
  unsigned count = counts[c];
  if (count > 0) *coordinate = __fdiv_rn((float)sums[i], 1024.f * (float)count);
  sums[i] = 0;
}
