// Kernels whose last threads have nothing to do and leave before the first barrier.

// Sums of neighbours in a block, through shared memory.
extern "C" __global__ void neighbours(const int *in, int *out, int n)
{
    __shared__ int tile[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    tile[threadIdx.x] = in[i];
    __syncthreads();
    int left = threadIdx.x > 0 ? tile[threadIdx.x - 1] : 0;
    int last = min((int)blockDim.x, n - (int)(blockIdx.x * blockDim.x)) - 1;
    int right = (int)threadIdx.x < last ? tile[threadIdx.x + 1] : 0;
    __syncthreads();
    tile[threadIdx.x] = left + right;
    __syncthreads();
    out[i] = in[i] + tile[threadIdx.x];
}

// The same with a loop of barriers: a scan in which some threads have left.
extern "C" __global__ void scan(const int *in, int *out, int n)
{
    __shared__ int tile[2][256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int from = 0;
    tile[0][threadIdx.x] = in[i];
    for (int step = 1; step < (int)blockDim.x; step *= 2) {
        __syncthreads();
        int value = tile[from][threadIdx.x];
        if ((int)threadIdx.x >= step)
            value += tile[from][threadIdx.x - step];
        from = 1 - from;
        tile[from][threadIdx.x] = value;
    }
    __syncthreads();
    out[i] = tile[from][threadIdx.x];
}
