// The integer types of C for NVIDIA's run-time compiler, which has no headers of the host. Own code; `warpbound compile`
// gives it to a source that includes <stdint.h> or <cstdint>.
#pragma once

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
// as in the headers of the host, so that the mangled names of kernels are the same
#ifdef _WIN64
typedef long long int64_t;
typedef unsigned long long uint64_t;
#else
typedef long int64_t;
typedef unsigned long uint64_t;
#endif
typedef int64_t intptr_t;
typedef uint64_t uintptr_t;
