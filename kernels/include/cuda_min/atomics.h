// Atomics; clang turns them into .shared or .global where it can see the space. Each gives the old value.
#pragma once

WB_INLINE int atomicAdd(int *p, int v) { return __nvvm_atom_add_gen_i(p, v); }
WB_INLINE unsigned atomicAdd(unsigned *p, unsigned v) { return (unsigned)__nvvm_atom_add_gen_i((int *)p, (int)v); }
WB_INLINE int atomicMax(int *p, int v) { return __nvvm_atom_max_gen_i(p, v); }

WB_INLINE unsigned long long atomicAdd(unsigned long long *p, unsigned long long v) {
  return (unsigned long long)__nvvm_atom_add_gen_ll((long long *)p, (long long)v);
}
WB_INLINE float atomicAdd(float *p, float v) { return __nvvm_atom_add_gen_f(p, v); }
WB_INLINE double atomicAdd(double *p, double v) { return __nvvm_atom_add_gen_d(p, v); }

WB_INLINE int atomicSub(int *p, int v) { return atomicAdd(p, -v); }
WB_INLINE unsigned atomicSub(unsigned *p, unsigned v) { return atomicAdd(p, 0u - v); }

WB_INLINE unsigned atomicMax(unsigned *p, unsigned v) { return __nvvm_atom_max_gen_ui(p, v); }
WB_INLINE long long atomicMax(long long *p, long long v) { return __nvvm_atom_max_gen_ll(p, v); }
WB_INLINE unsigned long long atomicMax(unsigned long long *p, unsigned long long v) {
  return __nvvm_atom_max_gen_ull(p, v);
}
WB_INLINE int atomicMin(int *p, int v) { return __nvvm_atom_min_gen_i(p, v); }
WB_INLINE unsigned atomicMin(unsigned *p, unsigned v) { return __nvvm_atom_min_gen_ui(p, v); }
WB_INLINE long long atomicMin(long long *p, long long v) { return __nvvm_atom_min_gen_ll(p, v); }
WB_INLINE unsigned long long atomicMin(unsigned long long *p, unsigned long long v) {
  return __nvvm_atom_min_gen_ull(p, v);
}

// (old >= v) ? 0 : old + 1, and (old == 0 || old > v) ? v : old - 1
WB_INLINE unsigned atomicInc(unsigned *p, unsigned v) { return __nvvm_atom_inc_gen_ui(p, v); }
WB_INLINE unsigned atomicDec(unsigned *p, unsigned v) { return __nvvm_atom_dec_gen_ui(p, v); }

#define WB_ATOMIC_BITS(name, op)                                                                              \
  WB_INLINE int name(int *p, int v) { return __nvvm_atom_##op##_gen_i(p, v); }                                \
  WB_INLINE unsigned name(unsigned *p, unsigned v) { return (unsigned)__nvvm_atom_##op##_gen_i((int *)p, (int)v); } \
  WB_INLINE unsigned long long name(unsigned long long *p, unsigned long long v) {                            \
    return (unsigned long long)__nvvm_atom_##op##_gen_ll((long long *)p, (long long)v);                       \
  }
WB_ATOMIC_BITS(atomicAnd, and)
WB_ATOMIC_BITS(atomicOr, or)
WB_ATOMIC_BITS(atomicXor, xor)
WB_ATOMIC_BITS(atomicExch, xchg)
#undef WB_ATOMIC_BITS
WB_INLINE float atomicExch(float *p, float v) {
  return __builtin_bit_cast(float, atomicExch((int *)p, __builtin_bit_cast(int, v)));
}

WB_INLINE int atomicCAS(int *p, int expected, int v) { return __nvvm_atom_cas_gen_i(p, expected, v); }
WB_INLINE unsigned atomicCAS(unsigned *p, unsigned expected, unsigned v) {
  return (unsigned)__nvvm_atom_cas_gen_i((int *)p, (int)expected, (int)v);
}
WB_INLINE unsigned long long atomicCAS(unsigned long long *p, unsigned long long expected, unsigned long long v) {
  return (unsigned long long)__nvvm_atom_cas_gen_ll((long long *)p, (long long)expected, (long long)v);
}
