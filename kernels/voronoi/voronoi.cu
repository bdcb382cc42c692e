// A Voronoi diagram on a raster, as Berezovskyi et al., "Measurement-Based Probabilistic Timing Analysis for Graphics
// Processor Units", ARCS 2016, measure one: a thread for each pixel, which compares all points. The code is ours; the paper
// has none.

// Each pixel gets the colour of its nearest point, the first of equals; `points` has x and y of each in turn. Squared
// distances are 32-bit integers: coordinates are from 0 to 32767. Pixels are numbered along rows of `width`.
extern "C" __global__ void voronoi(const int *__restrict__ points, const unsigned *__restrict__ colours,
                                   unsigned *__restrict__ image, int width, int pixels, int count) {
  int pixel = blockIdx.x * blockDim.x + threadIdx.x;
  if (pixel >= pixels) return;
  int x = pixel % width, y = pixel / width;
  unsigned least = ~0u, nearest = 0;
#pragma unroll 1
  for (int i = 0; i < count; i++) {
    int dx = points[2 * i] - x, dy = points[2 * i + 1] - y;
    unsigned distance = dx * dx + dy * dy;
    if (distance < least) {
      least = distance;
      nearest = i;
    }
  }
  image[pixel] = colours[nearest];
}
