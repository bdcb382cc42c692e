// Exchange between lanes, for tests/launches/cuda_min.rs (sm_80: matches and reductions need it). Row f of y is the f-th function.
extern "C" __global__ void lanes(const int *x, const double *z, unsigned *y, double *w) {
  const unsigned all = 0xffffffffu;
  int i = threadIdx.x, v = x[i], agree;
  unsigned results[] = {
      (unsigned)__shfl_sync(all, v, 3),
      (unsigned)__shfl_up_sync(all, v, 2),
      (unsigned)__shfl_down_sync(all, v, 2),
      (unsigned)__shfl_xor_sync(all, v, 5),
      (unsigned)__shfl_sync(all, v, 3, 8),
      (unsigned)__shfl_up_sync(all, v, 2, 8),
      (unsigned)__shfl_down_sync(all, v, 2, 8),
      (unsigned)__shfl_xor_sync(all, v, 5, 8),
      __ballot_sync(all, v & 1),
      (unsigned)__any_sync(all, v == 7),
      (unsigned)__all_sync(all, v < 1000),
      __activemask(),
      __match_any_sync(all, v & 3),
      __match_all_sync(all, v & 0, &agree),
      (unsigned)agree,
      (unsigned)__reduce_add_sync(all, v),
      (unsigned)__reduce_min_sync(all, v),
      __reduce_xor_sync(all, (unsigned)v),
      (unsigned)__shfl_sync(all, (long long)v << 34, 9) + (unsigned)(__shfl_sync(all, (long long)v << 34, 9) >> 32),
  };
  __syncwarp();
#pragma unroll
  for (int f = 0; f < (int)(sizeof(results) / 4); ++f) y[f * 32 + i] = results[f];
  w[i] = __shfl_xor_sync(all, z[i], 1) + __shfl_down_sync(all, z[i], 1);
}
