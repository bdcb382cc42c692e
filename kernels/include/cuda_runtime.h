// Declarations of the host functions that files with kernels usually call, so that such a file compiles as it is with
// --cuda-device-only. Nothing of the host is compiled or run: a launch or program file says what the host would do.
#pragma once
#include "cuda_min.h"

// In host code gridDim and blockDim are usual names of variables, so they cannot be macros here.
#undef threadIdx
#undef blockIdx
#undef blockDim
#undef gridDim
#define WB_AXIS(axis, read)                                                                                   \
  WB_INLINE unsigned wb_get_##axis() { return read().axis; }                                                  \
  __declspec(property(get = wb_get_##axis)) unsigned axis;
#define WB_SREG_OBJECT(name, read)                                                                            \
  struct wb_##name {                                                                                          \
    WB_AXIS(x, read) WB_AXIS(y, read) WB_AXIS(z, read)                                                        \
    __device__ __forceinline__ __attribute__((nodebug)) operator dim3() const { return read(); }              \
    __device__ __forceinline__ __attribute__((nodebug)) operator uint3() const { return read(); }             \
  };                                                                                                          \
  extern const __device__ wb_##name name;
WB_SREG_OBJECT(threadIdx, wb_thread_idx)
WB_SREG_OBJECT(blockIdx, wb_block_idx)
WB_SREG_OBJECT(blockDim, wb_block_dim)
WB_SREG_OBJECT(gridDim, wb_grid_dim)
#undef WB_SREG_OBJECT
#undef WB_AXIS

// For headers of the host library that mention them; a kernel that calls them cannot be simulated.
extern "C" __device__ void *malloc(size_t);
extern "C" __device__ void free(void *);

enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2 };
typedef cudaError_t cudaError;
enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, major, minor;
  int multiProcessorCount, maxThreadsPerMultiProcessor;
};

cudaError_t cudaMalloc(void **, size_t);
template <typename T> cudaError_t cudaMalloc(T **p, size_t bytes) { return cudaMalloc((void **)(void *)p, bytes); }
cudaError_t cudaMallocHost(void **, size_t);
template <typename T> cudaError_t cudaMallocHost(T **p, size_t bytes) { return cudaMallocHost((void **)(void *)p, bytes); }
cudaError_t cudaMallocManaged(void **, size_t, unsigned = 1);
template <typename T> cudaError_t cudaMallocManaged(T **p, size_t bytes, unsigned flags = 1) {
  return cudaMallocManaged((void **)(void *)p, bytes, flags);
}
cudaError_t cudaFree(void *);
cudaError_t cudaFreeHost(void *);
cudaError_t cudaMemcpy(void *, const void *, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyAsync(void *, const void *, size_t, cudaMemcpyKind, cudaStream_t = 0);
cudaError_t cudaMemset(void *, int, size_t);
cudaError_t cudaMemsetAsync(void *, int, size_t, cudaStream_t = 0);
template <typename T>
cudaError_t cudaMemcpyToSymbol(const T &, const void *, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyHostToDevice);
template <typename T>
cudaError_t cudaMemcpyFromSymbol(void *, const T &, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyDeviceToHost);
template <typename T> cudaError_t cudaGetSymbolAddress(void **, const T &);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaThreadSynchronize();
cudaError_t cudaDeviceReset();
cudaError_t cudaSetDevice(int);
cudaError_t cudaGetDevice(int *);
cudaError_t cudaGetDeviceCount(int *);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *, int);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char *cudaGetErrorString(cudaError_t);
const char *cudaGetErrorName(cudaError_t);
cudaError_t cudaStreamCreate(cudaStream_t *);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaEventCreate(cudaEvent_t *);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float *, cudaEvent_t, cudaEvent_t);

// What clang makes of kernel<<<grid, block, shared, stream>>>(...).
extern "C" int cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
extern "C" cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);
