// Memory that runs out: this header replaces operator new of the executable. A thread can make it fail. Include it in
// exactly one file of a test program.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace forebay::test {

/// The allocation of the calling thread that fails: 0 is the next, a negative number none.
inline thread_local std::int64_t failing_allocation = -1;
/// If true, all later allocations fail too.
inline thread_local bool memory_is_over = false;
inline thread_local std::int64_t failed_allocations = 0;
/// Larger allocations always fail.
inline thread_local std::size_t largest_allocation_bytes = SIZE_MAX;

/// In this scope no allocation of the thread fails.
class WithMemory {
public:
    WithMemory() : before_(failing_allocation) { failing_allocation = -1; }
    ~WithMemory() { failing_allocation = before_; }
    WithMemory(const WithMemory&) = delete;
    WithMemory& operator=(const WithMemory&) = delete;

private:
    std::int64_t before_;
};

[[gnu::noinline]] inline void* allocated(std::size_t bytes, std::size_t alignment) {
    if (bytes > largest_allocation_bytes) throw std::bad_alloc();
    if (failing_allocation >= 0 && failing_allocation-- == 0) {
        if (memory_is_over) failing_allocation = 0;
        ++failed_allocations;
        throw std::bad_alloc();
    }
    void* got = alignment <= alignof(std::max_align_t)
                    ? std::malloc(bytes == 0 ? 1 : bytes)
                    : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (got == nullptr) throw std::bad_alloc();
    return got;
}
[[gnu::noinline]] inline void released(void* memory) { std::free(memory); }

}  // namespace forebay::test

void* operator new(std::size_t bytes) { return forebay::test::allocated(bytes, 1); }
void* operator new[](std::size_t bytes) { return forebay::test::allocated(bytes, 1); }
// The nothrow operator of sanitizers does not call the operator above, so it needs a replacement too.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    try {
        return forebay::test::allocated(bytes, 1);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return forebay::test::allocated(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
    return forebay::test::allocated(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { forebay::test::released(memory); }
void operator delete[](void* memory) noexcept { forebay::test::released(memory); }
void operator delete(void* memory, std::size_t) noexcept { forebay::test::released(memory); }
void operator delete[](void* memory, std::size_t) noexcept { forebay::test::released(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { forebay::test::released(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { forebay::test::released(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { forebay::test::released(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { forebay::test::released(memory); }
