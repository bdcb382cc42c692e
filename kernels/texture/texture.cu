// Reads through textures: a texture object with bilinear filtering, and a texture reference over linear memory.

// The type from which clang makes a texture reference (.texref): type, dimensions, read mode.
template <class T, int dimensions, int mode>
struct __attribute__((device_builtin_texture_type)) texture {
  unsigned long long handle;
};
texture<float, 1, 0> vector;

// An image turned about its centre: out(x, y) is the source, bilinearly, where (x, y) comes from.
// One thread per element of an output of width x height; `image` has one channel and coordinates in texels.
extern "C" __global__ void image_turn(unsigned long long image, float *out, int width, int height, float cosine,
                                      float sine) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float dx = x + 0.5f - 0.5f * width, dy = y + 0.5f - 0.5f * height;
  float u = cosine * dx + sine * dy + 0.5f * width;
  float v = cosine * dy - sine * dx + 0.5f * height;
  float r, g, b, a;
  asm("tex.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
      : "=f"(r), "=f"(g), "=f"(b), "=f"(a)
      : "l"(image), "f"(u), "f"(v));
  out[y * width + x] = r;
}

// y = A x for a sparse matrix with up to `entries` entries a row, one thread per row, x read through the texture
// reference `vector`. Entry k of a row stands at k * rows + row; columns outside of x are padding, a fetch of which is 0.
extern "C" __global__ void spmv_fetch(int rows, int entries, const int *column, const float *value, float *y) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int at = row; at < entries * rows; at += rows) {
    float x, g, b, a;
    asm("tex.1d.v4.f32.s32 {%0, %1, %2, %3}, [vector, {%4}];"
        : "=f"(x), "=f"(g), "=f"(b), "=f"(a)
        : "r"(column[at]));
    sum += value[at] * x;
  }
  y[row] = sum;
}
