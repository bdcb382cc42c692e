// Fast Fourier transforms of complex numbers, real parts and imaginary parts in buffers of their own; one transform a
// block, in shared memory. The number of elements is a power of two, at most 1024. `sign` is -1 for the transform, 1 for
// its inverse (without the factor 1/n).
constexpr int MOST = 1024;

// Radix 2, a thread for each butterfly: in bit-reversed order first, then stages whose butterflies double in width.
// blockDim.x is n/2. Roots of unity come from a table that the threads compute once.
extern "C" __global__ void fft_radix2(const float *__restrict__ in_re, const float *__restrict__ in_im,
                                      float *__restrict__ out_re, float *__restrict__ out_im, float sign) {
  __shared__ float re[MOST], im[MOST], root_re[MOST / 2], root_im[MOST / 2];
  unsigned half = blockDim.x, n = 2 * half, t = threadIdx.x, base = blockIdx.x * n;
  int unused_bits = __clz((int)(n - 1));
  float angle = sign * 6.28318530718f * __fdiv_rn((float)t, (float)n);
  __sincosf(angle, &root_im[t], &root_re[t]);
#pragma unroll
  for (unsigned i = t, k = 0; k < 2; k++, i += half) {
    unsigned to = __brev(i) >> unused_bits;
    re[to] = in_re[base + i];
    im[to] = in_im[base + i];
  }
#pragma unroll 1
  for (unsigned width = 1, step = half; width < n; width *= 2, step /= 2) {
    __syncthreads();
    unsigned within = t & (width - 1), a = 2 * t - within, b = a + width, r = within * step;
    float wr = root_re[r], wi = root_im[r];
    float br = re[b] * wr - im[b] * wi, bi = re[b] * wi + im[b] * wr;
    float ar = re[a], ai = im[a];
    re[a] = ar + br;
    im[a] = ai + bi;
    re[b] = ar - br;
    im[b] = ai - bi;
  }
  __syncthreads();
#pragma unroll
  for (unsigned i = t, k = 0; k < 2; k++, i += half) {
    out_re[base + i] = re[i];
    out_im[base + i] = im[i];
  }
}

// Radix 4 in the order of Stockham: each stage reads four elements a quarter apart and writes them where the next stage
// and in the end the result wants them, so that nothing has to be reversed; special functions instead of a table.
// blockDim.x is n/4, and n a power of four.
extern "C" __global__ void fft_radix4(const float *__restrict__ in_re, const float *__restrict__ in_im,
                                      float *__restrict__ out_re, float *__restrict__ out_im, float sign) {
  __shared__ float re[MOST], im[MOST];
  unsigned quarter = blockDim.x, n = 4 * quarter, t = threadIdx.x, base = blockIdx.x * n;
  float xr[4], xi[4];
#pragma unroll
  for (int k = 0; k < 4; k++) {
    xr[k] = in_re[base + t + k * quarter];
    xi[k] = in_im[base + t + k * quarter];
  }
#pragma unroll 1
  for (unsigned width = 1;; width *= 4) {
    unsigned within = t & (width - 1);
    float angle = sign * 6.28318530718f * __fdiv_rn((float)within, (float)(4 * width));
#pragma unroll
    for (int k = 1; k < 4; k++) {
      float s, c;
      __sincosf((float)k * angle, &s, &c);
      float r = xr[k] * c - xi[k] * s;
      xi[k] = xr[k] * s + xi[k] * c;
      xr[k] = r;
    }
    float sum_r = xr[0] + xr[2], sum_i = xi[0] + xi[2], other_sum_r = xr[1] + xr[3], other_sum_i = xi[1] + xi[3];
    float difference_r = xr[0] - xr[2], difference_i = xi[0] - xi[2];
    // times i or -i
    float turned_r = -sign * (xi[1] - xi[3]), turned_i = sign * (xr[1] - xr[3]);
    unsigned to = 4 * (t - within) + within;
    re[to] = sum_r + other_sum_r;
    im[to] = sum_i + other_sum_i;
    re[to + width] = difference_r + turned_r;
    im[to + width] = difference_i + turned_i;
    re[to + 2 * width] = sum_r - other_sum_r;
    im[to + 2 * width] = sum_i - other_sum_i;
    re[to + 3 * width] = difference_r - turned_r;
    im[to + 3 * width] = difference_i - turned_i;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 4; k++) {
      xr[k] = re[t + k * quarter];
      xi[k] = im[t + k * quarter];
    }
    if (4 * width > quarter) break;
    __syncthreads();
  }
#pragma unroll
  for (int k = 0; k < 4; k++) {
    out_re[base + t + k * quarter] = xr[k];
    out_im[base + t + k * quarter] = xi[k];
  }
}

// Keeps the frequencies up to `cut` of each spectrum of n elements, times `scale`, and clears the others. A thread each.
extern "C" __global__ void fft_lowpass(float *re, float *im, float scale, int cut, int n, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  int frequency = i % n;
  bool keep = min(frequency, n - frequency) <= cut;
  re[i] = keep ? re[i] * scale : 0.f;
  im[i] = keep ? im[i] * scale : 0.f;
}
