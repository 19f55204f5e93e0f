/*
 * The benchmark's device kernels: random data, comparison, and to wait.
 *
 * gpu_kernels.ptx is this file compiled (see HACKING.md); the planner embeds
 * the PTX, which the driver compiles for the device at hand, so building
 * the planner needs no nvcc. Types are enum uc_dtype's numbers.
 */
typedef unsigned long long u64;
typedef unsigned short u16;

enum { FP32, FP16, BF16, FP64 };

static __device__ float half_to_float(u16 bits)
{
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}

static __device__ u16 float_to_half(float value)
{
    u16 bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}

static __device__ float bf16_to_float(u16 bits)
{
    return __int_as_float((int)bits << 16);
}

/* Round to nearest even; the values here are finite. */
static __device__ u16 float_to_bf16(float value)
{
    unsigned bits = (unsigned)__float_as_int(value);
    return (u16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static __device__ double load(const void *p, int type, u64 i)
{
    switch (type) {
    case FP16:
        return half_to_float(((const u16 *)p)[i]);
    case BF16:
        return bf16_to_float(((const u16 *)p)[i]);
    case FP64:
        return ((const double *)p)[i];
    default:
        return ((const float *)p)[i];
    }
}

static __device__ void store(void *p, int type, u64 i, float value)
{
    switch (type) {
    case FP16:
        ((u16 *)p)[i] = float_to_half(value);
        break;
    case BF16:
        ((u16 *)p)[i] = float_to_bf16(value);
        break;
    case FP64:
        ((double *)p)[i] = value;
        break;
    default:
        ((float *)p)[i] = value;
    }
}

/* Uniform in [-1, 1), rounded to a type; splitmix64's finaliser. */
static __device__ float value_at(u64 seed, u64 i, int rounding)
{
    u64 z = seed + (i + 1) * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    z ^= z >> 31;
    float value = (float)(unsigned)(z >> 40) * 0x1p-23f - 1.0f;
    if (rounding == FP16)
        return half_to_float(float_to_half(value));
    if (rounding == BF16)
        return bf16_to_float(float_to_bf16(value));
    return value;
}

/* dst[i] = random value of `seed`, rounded to one type, stored as another. */
extern "C" __global__ void uc_fill(void *dst, u64 n, int type, int rounding,
                                   u64 seed)
{
    u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        store(dst, type, i, value_at(seed, i, rounding));
}

/*
 * sums[0] += |out - expected|^2, sums[1] += |expected|^2, where expected is
 * ref plus, when prior_seed is not 0, what uc_fill wrote with that seed.
 */
extern "C" __global__ void uc_compare(const void *out, int out_type,
                                      const void *ref, int ref_type, u64 n,
                                      u64 prior_seed, int prior_rounding,
                                      double *sums)
{
    u64 step = (u64)gridDim.x * blockDim.x;
    double difference = 0, norm = 0;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += step) {
        double expected = load(ref, ref_type, i);
        if (prior_seed != 0)
            expected += value_at(prior_seed, i, prior_rounding);
        double d = load(out, out_type, i) - expected;
        difference += d * d;
        norm += expected * expected;
    }
    for (int lane = 16; lane > 0; lane >>= 1) {
        difference += __shfl_down_sync(0xffffffff, difference, lane);
        norm += __shfl_down_sync(0xffffffff, norm, lane);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&sums[0], difference);
        atomicAdd(&sums[1], norm);
    }
}

/* Keep the stream busy for so long, in one thread. */
extern "C" __global__ void uc_hold(u64 ns)
{
    u64 start, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
    do
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    while (now - start < ns);
}
