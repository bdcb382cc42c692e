// Barriers, fences, and exchange between the lanes of a warp.
#pragma once

// Synchronisation. __syncthreads is a clang builtin.
WB_INLINE void __syncwarp(unsigned mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
WB_INLINE int __syncthreads_count(int predicate) { return __nvvm_bar0_popc(predicate); }
WB_INLINE int __syncthreads_and(int predicate) { return __nvvm_bar0_and(predicate); }
WB_INLINE int __syncthreads_or(int predicate) { return __nvvm_bar0_or(predicate); }
WB_INLINE void __threadfence_block() { __nvvm_membar_cta(); }
WB_INLINE void __threadfence() { __nvvm_membar_gl(); }
WB_INLINE void __threadfence_system() { __nvvm_membar_sys(); }

// Shuffles over a whole warp.
WB_INLINE int __shfl_down_sync(unsigned mask, int v, int d) { return __nvvm_shfl_sync_down_i32(mask, v, d, 31); }
WB_INLINE float __shfl_down_sync(unsigned mask, float v, int d) { return __nvvm_shfl_sync_down_f32(mask, v, d, 31); }
WB_INLINE int __shfl_xor_sync(unsigned mask, int v, int m) { return __nvvm_shfl_sync_bfly_i32(mask, v, m, 31); }
WB_INLINE float __shfl_xor_sync(unsigned mask, float v, int m) { return __nvvm_shfl_sync_bfly_f32(mask, v, m, 31); }
WB_INLINE int __shfl_up_sync(unsigned mask, int v, int d) { return __nvvm_shfl_sync_up_i32(mask, v, d, 0); }
WB_INLINE float __shfl_up_sync(unsigned mask, float v, int d) { return __nvvm_shfl_sync_up_f32(mask, v, d, 0); }
WB_INLINE int __shfl_sync(unsigned mask, int v, int lane) { return __nvvm_shfl_sync_idx_i32(mask, v, lane, 31); }
WB_INLINE float __shfl_sync(unsigned mask, float v, int lane) { return __nvvm_shfl_sync_idx_f32(mask, v, lane, 31); }

// Over segments of `width` lanes, a power of two: the upper bits of the last operand say which part of the lane number
// stays as it is, the lower ones where to stop.
#define WB_SEGMENT(width, stop) (((32 - (width)) << 8) | (stop))
#define WB_SHUFFLE(T, suffix)                                                                                 \
  WB_INLINE T __shfl_down_sync(unsigned mask, T v, int d, int width) {                                        \
    return __nvvm_shfl_sync_down_##suffix(mask, v, d, WB_SEGMENT(width, 31));                                 \
  }                                                                                                           \
  WB_INLINE T __shfl_up_sync(unsigned mask, T v, int d, int width) {                                          \
    return __nvvm_shfl_sync_up_##suffix(mask, v, d, WB_SEGMENT(width, 0));                                    \
  }                                                                                                           \
  WB_INLINE T __shfl_xor_sync(unsigned mask, T v, int m, int width) {                                         \
    return __nvvm_shfl_sync_bfly_##suffix(mask, v, m, WB_SEGMENT(width, 31));                                 \
  }                                                                                                           \
  WB_INLINE T __shfl_sync(unsigned mask, T v, int lane, int width) {                                          \
    return __nvvm_shfl_sync_idx_##suffix(mask, v, lane, WB_SEGMENT(width, 31));                               \
  }
WB_SHUFFLE(int, i32)
WB_SHUFFLE(float, f32)
#undef WB_SHUFFLE

// Other types go as one or two words.
#define WB_SHUFFLE_AS(name, T, by)                                                                            \
  WB_INLINE unsigned name(unsigned mask, unsigned v, T by, int width = 32) {                                  \
    return (unsigned)name(mask, (int)v, by, width);                                                           \
  }                                                                                                           \
  WB_INLINE unsigned long long name(unsigned mask, unsigned long long v, T by, int width = 32) {              \
    unsigned low = name(mask, (unsigned)v, by, width), high = name(mask, (unsigned)(v >> 32), by, width);     \
    return (unsigned long long)high << 32 | low;                                                              \
  }                                                                                                           \
  WB_INLINE long long name(unsigned mask, long long v, T by, int width = 32) {                                \
    return (long long)name(mask, (unsigned long long)v, by, width);                                           \
  }                                                                                                           \
  WB_INLINE unsigned long name(unsigned mask, unsigned long v, T by, int width = 32) {                        \
    return name(mask, (unsigned long long)v, by, width);                                                      \
  }                                                                                                           \
  WB_INLINE long name(unsigned mask, long v, T by, int width = 32) {                                          \
    return (long)name(mask, (unsigned long long)v, by, width);                                                \
  }                                                                                                           \
  WB_INLINE double name(unsigned mask, double v, T by, int width = 32) {                                      \
    return __builtin_bit_cast(double, name(mask, __builtin_bit_cast(unsigned long long, v), by, width));      \
  }
WB_SHUFFLE_AS(__shfl_down_sync, int, d)
WB_SHUFFLE_AS(__shfl_up_sync, int, d)
WB_SHUFFLE_AS(__shfl_xor_sync, int, m)
WB_SHUFFLE_AS(__shfl_sync, int, lane)
#undef WB_SHUFFLE_AS

// Votes.
WB_INLINE int __all_sync(unsigned mask, int predicate) { return __nvvm_vote_all_sync(mask, predicate); }
WB_INLINE int __any_sync(unsigned mask, int predicate) { return __nvvm_vote_any_sync(mask, predicate); }
WB_INLINE int __uni_sync(unsigned mask, int predicate) { return __nvvm_vote_uni_sync(mask, predicate); }
WB_INLINE unsigned __ballot_sync(unsigned mask, int predicate) { return __nvvm_vote_ballot_sync(mask, predicate); }
WB_INLINE unsigned __activemask() {
  unsigned mask;
  asm volatile("activemask.b32 %0;" : "=r"(mask));
  return mask;
}
// Lanes with equal values (sm_70 and later).
#if __CUDA_ARCH__ >= 700
WB_INLINE unsigned __match_any_sync(unsigned mask, unsigned v) { return __nvvm_match_any_sync_i32(mask, v); }
WB_INLINE unsigned __match_any_sync(unsigned mask, int v) { return __nvvm_match_any_sync_i32(mask, v); }
WB_INLINE unsigned __match_any_sync(unsigned mask, unsigned long long v) { return __nvvm_match_any_sync_i64(mask, v); }
WB_INLINE unsigned __match_any_sync(unsigned mask, long long v) { return __nvvm_match_any_sync_i64(mask, v); }
WB_INLINE unsigned __match_all_sync(unsigned mask, unsigned v, int *all) { return __nvvm_match_all_sync_i32p(mask, v, all); }
WB_INLINE unsigned __match_all_sync(unsigned mask, int v, int *all) { return __nvvm_match_all_sync_i32p(mask, v, all); }
WB_INLINE unsigned __match_all_sync(unsigned mask, unsigned long long v, int *all) {
  return __nvvm_match_all_sync_i64p(mask, v, all);
}
WB_INLINE unsigned __match_all_sync(unsigned mask, long long v, int *all) {
  return __nvvm_match_all_sync_i64p(mask, v, all);
}
#endif
// Reductions over the lanes of a mask (sm_80 and later).
#if __CUDA_ARCH__ >= 800
WB_INLINE int __reduce_add_sync(unsigned mask, int v) { return __nvvm_redux_sync_add(v, mask); }
WB_INLINE int __reduce_min_sync(unsigned mask, int v) { return __nvvm_redux_sync_min(v, mask); }
WB_INLINE int __reduce_max_sync(unsigned mask, int v) { return __nvvm_redux_sync_max(v, mask); }
WB_INLINE unsigned __reduce_add_sync(unsigned mask, unsigned v) { return __nvvm_redux_sync_add(v, mask); }
WB_INLINE unsigned __reduce_min_sync(unsigned mask, unsigned v) { return __nvvm_redux_sync_umin(v, mask); }
WB_INLINE unsigned __reduce_max_sync(unsigned mask, unsigned v) { return __nvvm_redux_sync_umax(v, mask); }
WB_INLINE unsigned __reduce_and_sync(unsigned mask, unsigned v) { return __nvvm_redux_sync_and(v, mask); }
WB_INLINE unsigned __reduce_or_sync(unsigned mask, unsigned v) { return __nvvm_redux_sync_or(v, mask); }
WB_INLINE unsigned __reduce_xor_sync(unsigned mask, unsigned v) { return __nvvm_redux_sync_xor(v, mask); }
#endif
