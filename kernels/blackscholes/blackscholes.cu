// European option prices by the formula of Black and Scholes: special functions (exponential, logarithm, reciprocal
// square root, approximate division) between multiply-adds.

// Cumulative normal distribution, polynomial approximation 26.2.17 of Abramowitz and Stegun.
WB_INLINE float cumulative_normal(float d) {
  float a = fabsf(d), k = __fdividef(1.f, 1.f + 0.2316419f * a);
  float p = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  float c = 0.39894228f * __expf(-0.5f * a * a) * p;
  return d > 0.f ? 1.f - c : c;
}

// price s, strike x, years t; rate r, volatility v
extern "C" __global__ void blackscholes(const float *price, const float *strike, const float *years, float *call, float *put,
                                        float r, float v, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float s = price[i], x = strike[i], t = years[i], root = t * __frsqrt_approx(t);
    float d1 = __fdividef(__logf(__fdividef(s, x)) + (r + 0.5f * v * v) * t, v * root), d2 = d1 - v * root;
    float n1 = cumulative_normal(d1), n2 = cumulative_normal(d2), discount = __expf(-r * t);
    call[i] = s * n1 - x * discount * n2;
    put[i] = x * discount * (1.f - n2) - s * (1.f - n1);
  }
}
