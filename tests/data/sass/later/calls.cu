// The source of calls.ptx, which nvcc 13.5 makes of it (-ptx -arch=sm_75).
typedef unsigned (*Step)(unsigned, unsigned);
__device__ __noinline__ unsigned add(unsigned a, unsigned b) { return a + 3 * b; }
__device__ __noinline__ unsigned mix(unsigned a, unsigned b) { return (a ^ b) * 2654435761u; }
__device__ __noinline__ unsigned roll(unsigned a, unsigned b) { for (unsigned k = 0; k < (b & 7); ++k) a = a * 5 + (a >> 27); return a; }
__device__ Step steps[] = {add, mix, roll};

__device__ __noinline__ unsigned twice(Step step, unsigned a, unsigned b) { return step(step(a, b), a ^ 1); }

struct Shape { unsigned side; __device__ Shape(unsigned s) : side(s) {} __device__ virtual unsigned area() const = 0; __device__ virtual unsigned grow(unsigned by) { side += by; return side; } };
struct Square : Shape { __device__ Square(unsigned s) : Shape(s) {} __device__ unsigned area() const override { return side * side; } };
struct Disc : Shape { unsigned more; __device__ Disc(unsigned s) : Shape(s), more(s >> 3) {} __device__ unsigned area() const override { return side * more * 355 / 113; } __device__ unsigned grow(unsigned by) override { more ^= by; return Shape::grow(by + 1); } };

extern "C" __global__ void pointers_in_a_table(unsigned *o, const unsigned *i) {
    unsigned t = threadIdx.x, x = i[4 * t], y = i[4 * t + 1];
    o[4 * t] = steps[x % 3](x, y);
    o[4 * t + 1] = steps[(t / 32) % 3](y, x);
}
extern "C" __global__ void pointers_as_arguments(unsigned *o, const unsigned *i) {
    unsigned t = threadIdx.x, x = i[4 * t], y = i[4 * t + 1];
    Step which = x & 8 ? add : y & 16 ? mix : roll;
    o[4 * t] = twice(which, x, y);
    if (y & 1) o[4 * t + 1] = twice(mix, y, i[4 * t + 2]);
}
extern "C" __global__ void virtual_functions(unsigned *o, const unsigned *i) {
    unsigned t = threadIdx.x, x = i[4 * t];
    Square square(x); Disc disc(x ^ t);
    Shape *shape = i[4 * t + 1] & 1 ? (Shape *)&square : (Shape *)&disc;
    unsigned sum = 0;
    for (unsigned k = 0; k < (i[4 * t + 2] & 3) + 1; ++k) { sum += shape->area(); sum ^= shape->grow(k); }
    o[4 * t] = sum; o[4 * t + 1] = shape->side;
}
// pointers to variables among the initial values of variables
__device__ unsigned values[4] = {11, 22, 33, 44};
__device__ unsigned *second = values + 1;
__device__ unsigned **indirect = &second;
extern "C" __global__ void pointers_to_variables(unsigned *o, const unsigned *i) {
    o[4 * threadIdx.x] = second[i[4 * threadIdx.x] & 1] + (*indirect)[2];
}
