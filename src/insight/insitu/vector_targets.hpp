// Loops that the compiler vectorises once for each kind of processor; the processor at hand selects one. A kernel is a
// class with a static function run(), marked FB_KERNEL, with plain loops over plain memory:
//
//     struct Largest { FB_KERNEL static float run(const float* values, std::size_t count) { ... } };
//     const float largest = vectorised<Largest>(values, count);
//
// All functions called by run() must be inlined, so mark them FB_KERNEL too. Every kind of processor must give the same
// bits: module insitu is compiled without fused multiply-add, and compilers do not reorder sums of floats.

#pragma once

#define FB_KERNEL [[gnu::always_inline]] inline
#if defined(__x86_64__)
#define FB_AVX2 [[gnu::target("avx2")]]
#define FB_AVX512 [[gnu::target("avx512f,avx512dq,avx512bw,avx512vl,prefer-vector-width=512")]]
#endif

namespace forebay::insitu {

enum class VectorTarget { portable, avx2, avx512 };

/// True if this processor and this build have it.
inline bool works(VectorTarget target) {
#if defined(__x86_64__)
    switch (target) {
        case VectorTarget::portable: return true;
        case VectorTarget::avx2: return __builtin_cpu_supports("avx2");
        case VectorTarget::avx512:
            return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    }
#endif
    return target == VectorTarget::portable;
}

template <class Kernel, class... Arguments>
auto on_portable(Arguments... arguments) {
    return Kernel::run(arguments...);
}
#if defined(__x86_64__)
template <class Kernel, class... Arguments>
FB_AVX2 auto on_avx2(Arguments... arguments) {
    return Kernel::run(arguments...);
}
template <class Kernel, class... Arguments>
FB_AVX512 auto on_avx512(Arguments... arguments) {
    return Kernel::run(arguments...);
}
#endif

/// Runs the kernel on one target, which must work. For tests that compare all targets.
template <class Kernel, class... Arguments>
auto vectorised_for(VectorTarget target, Arguments... arguments) {
#if defined(__x86_64__)
    if (target == VectorTarget::avx512) return on_avx512<Kernel>(arguments...);
    if (target == VectorTarget::avx2) return on_avx2<Kernel>(arguments...);
#endif
    static_cast<void>(target);
    return on_portable<Kernel>(arguments...);
}

/// The best target of this processor.
inline VectorTarget vector_target() {
    static const VectorTarget best = works(VectorTarget::avx512) ? VectorTarget::avx512
                                     : works(VectorTarget::avx2) ? VectorTarget::avx2
                                                                 : VectorTarget::portable;
    return best;
}

template <class Kernel, class... Arguments>
auto vectorised(Arguments... arguments) {
    return vectorised_for<Kernel>(vector_target(), arguments...);
}

}  // namespace forebay::insitu
