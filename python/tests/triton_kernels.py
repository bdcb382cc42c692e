"""Kernels for the tests of `warpbound.triton`: the well-known algorithms that Triton's tutorials
teach, written anew for these tests."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def vector_add(left, right, total, count, WIDTH: tl.constexpr):
    """Adds two vectors. Each program adds `WIDTH` elements."""
    at = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)
    inside = at < count
    tl.store(total + at, tl.load(left + at, inside) + tl.load(right + at, inside), inside)


@triton.jit
def softmax_rows(source, result, source_stride, result_stride, rows, columns, WIDTH: tl.constexpr):
    """Softmax of each row. A program computes every n-th row of a grid of n programs."""
    lane = tl.arange(0, WIDTH)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        value = tl.load(source + row * source_stride + lane, lane < columns, -float("inf"))
        power = tl.exp(value - tl.max(value, 0))
        tl.store(result + row * result_stride + lane, power / tl.sum(power, 0), lane < columns)


@triton.jit
def _leaky(value):
    return tl.where(value < 0, 0.01 * value, value)


@triton.jit
def matmul(
    a, b, c, m, n, k,
    a_row, a_column, b_row, b_column, c_row, c_column,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BAND: tl.constexpr,
    LEAKY: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """C = A B in tiles of M by N. Programs go through bands of `BAND` rows of tiles, so that those
    which run together share tiles of B in the cache."""
    tiles_down, tiles_across = tl.cdiv(m, M), tl.cdiv(n, N)
    program = tl.program_id(0)
    band = program // (BAND * tiles_across)
    top = band * BAND
    height = min(tiles_down - top, BAND)
    place = program % (BAND * tiles_across)
    down, across = top + place % height, place // height

    row = down * M + tl.arange(0, M)
    column = across * N + tl.arange(0, N)
    depth = tl.arange(0, K)
    left = a + (row % m)[:, None] * a_row + depth[None, :] * a_column
    right = b + depth[:, None] * b_row + (column % n)[None, :] * b_column
    sums = tl.zeros((M, N), tl.float32)
    for done in range(0, k, K):
        x = tl.load(left, depth[None, :] < k - done, 0.0)
        y = tl.load(right, depth[:, None] < k - done, 0.0)
        sums = tl.dot(x, y, sums, input_precision=PRECISION)
        left += K * a_column
        right += K * b_row
    if LEAKY:
        sums = _leaky(sums)
    target = c + row[:, None] * c_row + column[None, :] * c_column
    tl.store(target, sums.to(c.dtype.element_ty), (row < m)[:, None] & (column < n)[None, :])


@triton.jit
def matmul_descriptors(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """C = A B by programs that each compute every n-th tile, with tensor descriptors, which check the
    bounds of the matrices."""
    left = tl.make_tensor_descriptor(a, [m, k], [k, 1], [M, K])
    right = tl.make_tensor_descriptor(b, [k, n], [n, 1], [K, N])
    target = tl.make_tensor_descriptor(c, [m, n], [n, 1], [M, N])
    across = tl.cdiv(n, N)
    for tile in range(tl.program_id(0), tl.cdiv(m, M) * across, tl.num_programs(0)):
        row, column = tile // across * M, tile % across * N
        sums = tl.zeros((M, N), tl.float32)
        for done in range(0, k, K):
            sums = tl.dot(left.load([row, done]), right.load([done, column]), sums)
        target.store([row, column], sums.to(c.dtype.element_ty))


@triton.jit
def dropout(source, result, count, probability, seed, WIDTH: tl.constexpr):
    """Sets elements to zero with a probability, and scales the others. The seed decides which."""
    at = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)
    value = tl.load(source + at, at < count)
    kept = tl.rand(seed, at) > probability
    tl.store(result + at, tl.where(kept, value / (1 - probability), 0.0), at < count)


@triton.jit
def layer_norm(source, result, weight, bias, means, scales, stride, columns, epsilon, WIDTH: tl.constexpr):
    """Layer norm of one row per program, which goes through the row in pieces of `WIDTH`."""
    row = tl.program_id(0)
    source += row * stride
    result += row * stride
    lane = tl.arange(0, WIDTH)
    sums = tl.zeros((WIDTH,), tl.float32)
    for start in range(0, columns, WIDTH):
        at = start + lane
        sums += tl.load(source + at, at < columns, 0.0).to(tl.float32)
    mean = tl.sum(sums, 0) / columns
    sums = tl.zeros((WIDTH,), tl.float32)
    for start in range(0, columns, WIDTH):
        at = start + lane
        apart = tl.where(at < columns, tl.load(source + at, at < columns, 0.0).to(tl.float32) - mean, 0.0)
        sums += apart * apart
    scale = 1 / tl.sqrt(tl.sum(sums, 0) / columns + epsilon)
    tl.store(means + row, mean)
    tl.store(scales + row, scale)
    for start in range(0, columns, WIDTH):
        at = start + lane
        inside = at < columns
        value = (tl.load(source + at, inside, 0.0).to(tl.float32) - mean) * scale
        value = value * tl.load(weight + at, inside) + tl.load(bias + at, inside)
        tl.store(result + at, value.to(result.dtype.element_ty), inside)


@triton.jit
def layer_norm_input_gradient(
    gradient, source, weight, means, scales, result, weight_sums, bias_sums, locks, stride, columns,
    GROUPS: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    """The gradient of a row of the input. The row's part of the gradients of weight and bias is
    added to one of `GROUPS` rows of partial sums, which a lock protects. Behind the locks are flags
    that say whether a row of sums has contents."""
    row = tl.program_id(0)
    at = tl.arange(0, WIDTH)
    inside = at < columns
    upstream = tl.load(gradient + row * stride + at, inside, 0.0).to(tl.float32)
    value = tl.load(source + row * stride + at, inside, 0.0).to(tl.float32)
    scale = tl.load(scales + row)
    normal = tl.where(inside, (value - tl.load(means + row)) * scale, 0.0)
    scaled = tl.load(weight + at, inside, 0.0).to(tl.float32) * upstream
    along = tl.sum(normal * scaled, 0) / columns
    mean = tl.sum(scaled, 0) / columns
    tl.store(result + row * stride + at, ((scaled - normal * along - mean) * scale).to(result.dtype.element_ty), inside)

    weight_part, bias_part = upstream * normal, upstream
    group = row % GROUPS
    while tl.atomic_cas(locks + group, 0, 1) == 1:
        pass
    if tl.load(locks + GROUPS + group) == 0:
        tl.atomic_xchg(locks + GROUPS + group, 1)
    else:
        weight_part += tl.load(weight_sums + group * columns + at, inside, 0.0)
        bias_part += tl.load(bias_sums + group * columns + at, inside, 0.0)
    tl.store(weight_sums + group * columns + at, weight_part, inside)
    tl.store(bias_sums + group * columns + at, bias_part, inside)
    # all warps have written before the lock is released
    tl.debug_barrier()
    tl.atomic_xchg(locks + group, 0)


@triton.jit
def column_sums(parts, result, rows, columns, HEIGHT: tl.constexpr, WIDTH: tl.constexpr):
    """Adds up the rows of partial sums."""
    column = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)
    sums = tl.zeros((HEIGHT, WIDTH), tl.float32)
    for top in range(0, rows, HEIGHT):
        row = top + tl.arange(0, HEIGHT)
        inside = (row < rows)[:, None] & (column < columns)[None, :]
        sums += tl.load(parts + row[:, None] * columns + column[None, :], inside, 0.0)
    tl.store(result + column, tl.sum(sums, 0).to(result.dtype.element_ty), column < columns)


@triton.jit
def attention(
    queries, keys, values, result, logsums, scale, length,
    head_stride, row_stride,
    DEPTH: tl.constexpr, ROWS: tl.constexpr, STEP: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """Attention of `ROWS` queries of a head, with a running maximum and sum over steps of `STEP` keys
    (Dao, FlashAttention-2, 2023). `scale` has the factor log2(e), since powers of 2 are computed."""
    head = tl.program_id(1).to(tl.int64) * head_stride
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    depth = tl.arange(0, DEPTH)
    step = tl.arange(0, STEP)
    query = tl.load(queries + head + row[:, None] * row_stride + depth[None, :])
    largest = tl.full((ROWS,), -float("inf"), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    sums = tl.zeros((ROWS, DEPTH), tl.float32)
    end = length
    if CAUSAL:
        end = min(length, (tl.program_id(0) + 1) * ROWS)
    for start in range(0, end, STEP):
        start = tl.multiple_of(start, STEP)
        key = tl.load(keys + head + depth[:, None] + (start + step)[None, :] * row_stride)
        score = tl.dot(query, key) * scale
        if CAUSAL:
            score = tl.where(row[:, None] >= (start + step)[None, :], score, -1.0e6)
        larger = tl.maximum(largest, tl.max(score, 1))
        power = tl.math.exp2(score - larger[:, None])
        shrink = tl.math.exp2(largest - larger)
        total = total * shrink + tl.sum(power, 1)
        value = tl.load(values + head + (start + step)[:, None] * row_stride + depth[None, :])
        sums = tl.dot(power.to(value.dtype), value, sums * shrink[:, None])
        largest = larger
    tl.store(logsums + tl.program_id(1) * length + row, largest + tl.math.log2(total))
    target = result + head + row[:, None] * row_stride + depth[None, :]
    tl.store(target, (sums / total[:, None]).to(result.dtype.element_ty))


@triton.jit
def grouped_matmul(
    lefts, rights, results, sizes, strides, groups,
    PROGRAMS: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    """Several products of float16 matrices of different sizes in one launch. The addresses of the
    matrices are in tables. A program computes every n-th tile of all products."""
    tile = tl.program_id(0)
    first = 0
    for group in range(groups):
        m = tl.load(sizes + 3 * group)
        n = tl.load(sizes + 3 * group + 1)
        k = tl.load(sizes + 3 * group + 2)
        across = tl.cdiv(n, N)
        tiles = tl.cdiv(m, M) * across
        a_row = tl.load(strides + 3 * group)
        b_row = tl.load(strides + 3 * group + 1)
        c_row = tl.load(strides + 3 * group + 2)
        a = tl.load(lefts + group).to(tl.pointer_type(tl.float16))
        b = tl.load(rights + group).to(tl.pointer_type(tl.float16))
        c = tl.load(results + group).to(tl.pointer_type(tl.float16))
        while tile < first + tiles:
            row = (tile - first) // across * M + tl.arange(0, M)
            column = (tile - first) % across * N + tl.arange(0, N)
            depth = tl.arange(0, K)
            sums = tl.zeros((M, N), tl.float32)
            for done in range(0, k, K):
                at = done + depth
                x = tl.load(a + row[:, None] * a_row + at[None, :], (row < m)[:, None] & (at < k)[None, :], 0.0)
                y = tl.load(b + at[:, None] * b_row + column[None, :], (at < k)[:, None] & (column < n)[None, :], 0.0)
                sums = tl.dot(x, y, sums)
            target = c + row[:, None] * c_row + column[None, :]
            tl.store(target, sums.to(tl.float16), (row < m)[:, None] & (column < n)[None, :])
            tile += PROGRAMS
        first += tiles
