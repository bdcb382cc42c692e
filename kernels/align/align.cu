// Global alignment of two sequences of letters: scores[i][j] is the best score of the first i + 1 letters of `a`
// against the first j + 1 of `b`, with `match` for a pair of equal letters, -`mismatch` for another pair and -`gap` for
// a letter that is left over. One launch computes tiles of one anti-diagonal of tiles: block k has the one in row
// first + k and column diagonal - first - k of the tiles. They are squares of blockDim.x cells a side, whole warps; the
// last ones may reach beyond the matrix.
//
// A thread has a row of its tile; in step s it computes the cell s - t, so that a step is an anti-diagonal. What it
// needs from its left and from above on the left it has in registers, what is above comes through shared memory, where
// cells of one anti-diagonal lie in different banks. Dynamic shared memory: blockDim.x^2 + blockDim.x ints and
// blockDim.x bytes.
extern __shared__ int cells[];
extern "C" __global__ void align(const unsigned char *__restrict__ a, const unsigned char *__restrict__ b, int *scores,
                                 int rows, int columns, int diagonal, int first, int match, int mismatch, int gap) {
  int side = blockDim.x, t = threadIdx.x;
  int top = (first + (int)blockIdx.x) * side, left = (diagonal - first - (int)blockIdx.x) * side;
  int high = rows - top < side ? rows - top : side, wide = columns - left < side ? columns - left : side;
  int *above = cells + side * side;
  unsigned char *letters = (unsigned char *)(above + side);
  if (t < wide) {
    letters[t] = b[left + t];
    above[t] = top > 0 ? scores[(top - 1) * columns + left + t] : -gap * (left + t + 1);
  }
  int before = 0, corner = 0, letter = 0, row = top + t;
  if (t < high) {
    letter = a[row];
    before = left > 0 ? scores[row * columns + left - 1] : -gap * (row + 1);
    if (row == 0)
      corner = -gap * left;
    else
      corner = left > 0 ? scores[(row - 1) * columns + left - 1] : -gap * row;
  }
  __syncthreads();
  for (int step = 0; step < high + wide - 1; ++step) {
    int j = step - t;
    if (t < high && j >= 0 && j < wide) {
      int up = t > 0 ? cells[(t - 1) * side + j] : above[j];
      int paired = corner + (letter == letters[j] ? match : -mismatch);
      int skipped = (up > before ? up : before) - gap;
      corner = up;
      before = paired > skipped ? paired : skipped;
      cells[t * side + j] = before;
    }
    __syncthreads();
  }
  if (t < wide)
    for (int i = 0; i < high; ++i) scores[(top + i) * columns + left + t] = cells[i * side + t];
}
