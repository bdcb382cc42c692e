// One step of learning of a network with one hidden layer: forward through both layers, what each neuron should change,
// new weights. weights[i * outs + j] leads from neuron i of a layer to neuron j of the next.

// The output of the next layer: the sigmoid of a weighted sum and a bias. A block has 32 neurons, 32 threads in x;
// its 2^k threads along y take every 2^k-th input each, and their sums are added as a tree.
extern "C" __global__ void layer_forward(const float *__restrict__ in, const float *__restrict__ weights,
                                         const float *__restrict__ bias, float *out, int ins, int outs) {
  __shared__ float sums[32][32];
  int x = threadIdx.x, y = threadIdx.y, neuron = blockIdx.x * 32 + x;
  float sum = 0.0f;
  if (neuron < outs)
    for (int i = y; i < ins; i += blockDim.y) sum = fmaf(weights[i * outs + neuron], in[i], sum);
  sums[y][x] = sum;
  for (int half = blockDim.y / 2; half > 0; half /= 2) {
    __syncthreads();
    if (y < half) sums[y][x] += sums[y + half][x];
  }
  if (y == 0 && neuron < outs) out[neuron] = 1.0f / (1.0f + __expf(-(sums[0][x] + bias[neuron])));
}

// How far each output is from its target, times the slope of the sigmoid. One thread an output.
extern "C" __global__ void output_delta(const float *__restrict__ out, const float *__restrict__ target, float *delta,
                                        int outs) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= outs) return;
  float o = out[j];
  delta[j] = o * (1.0f - o) * (target[j] - o);
}

// The deltas of a layer before, from those of the next layer. A warp a neuron, lanes along its weights.
extern "C" __global__ void hidden_delta(const float *__restrict__ hidden, const float *__restrict__ weights,
                                        const float *__restrict__ next_delta, float *delta, int hiddens, int outs) {
  int lane = threadIdx.x % 32, i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (i >= hiddens) return;
  float sum = 0.0f;
  for (int j = lane; j < outs; j += 32) sum = fmaf(weights[i * outs + j], next_delta[j], sum);
  for (int step = 16; step > 0; step /= 2) sum = sum + __shfl_xor_sync(0xffffffffu, sum, step);
  float h = hidden[i];
  if (lane == 0) delta[i] = h * (1.0f - h) * sum;
}

// New weights, with some of the change of the step before. One thread a weight: x along the next layer, y along this
// one.
extern "C" __global__ void adjust_weights(float *weights, float *moved, const float *__restrict__ in,
                                          const float *__restrict__ delta, int ins, int outs, float rate,
                                          float momentum) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= ins || j >= outs) return;
  float change = fmaf(momentum, moved[i * outs + j], rate * (delta[j] * in[i]));
  moved[i * outs + j] = change;
  weights[i * outs + j] += change;
}
