#include "core/base/crc32c.hpp"

#include <cstdlib>
#include <string>

#include "core/base/crc32c/choice.hpp"
#include "core/base/crc32c/polynomial.hpp"

namespace forebay {

namespace crc32c_kernels {

std::span<const Kernel* const> all() {
    static constexpr const Kernel* kernels[] = {
#if defined(__x86_64__)
        &avx512,
        &avx2,
        &pclmul,
        &sse42,
#elif defined(__aarch64__)
        &arm_pmull,
        &arm_crc32,
#endif
        &portable,
    };
    return kernels;
}

Result<const Kernel*> choose(std::string_view wish) {
    std::string here;
    for (const auto* kernel : all()) {
        if (!kernel->works()) continue;
        if (wish.empty() || wish == kernel->name) return kernel;
        here += (here.empty() ? "" : ", ") + std::string(kernel->name);
    }
    return Error{ErrorKind::refused,
                 "FOREBAY_CRC=" + std::string(wish) +
                     " is not a checksum kernel of this processor and build, which have " + here,
                 "", "unset FOREBAY_CRC, and the fastest kernel is used"};
}

}  // namespace crc32c_kernels

namespace {

using crc32c_kernels::Kernel;

std::string_view wish() {
    const char* value = std::getenv("FOREBAY_CRC");
    return value != nullptr ? value : "";
}

const Kernel& kernel() {
    // Each kernel gives the right sums. check_crc32c_kernel() reports a FOREBAY_CRC that this CPU cannot run.
    static const Kernel* const chosen = [] {
        const auto wished = crc32c_kernels::choose(wish());
        return wished ? *wished : *crc32c_kernels::choose({});
    }();
    return *chosen;
}

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc) {
    return ~kernel().sum(bytes.data(), bytes.size(), ~crc);
}

std::uint32_t crc32c_copy(std::byte* to, const std::byte* from, std::size_t bytes, std::uint32_t crc) {
    return ~kernel().copy(to, from, bytes, ~crc);
}

std::uint32_t crc32c_join(std::uint32_t first, std::uint32_t second, std::uint64_t second_bytes) {
    return crc32c_kernels::product(crc32c_kernels::power_of_x(8 * second_bytes), first) ^ second;
}

const char* crc32c_kernel() { return kernel().name; }

Result<> check_crc32c_kernel() { return check_crc32c_kernel(wish()); }

Result<> check_crc32c_kernel(std::string_view name) {
    const auto chosen = crc32c_kernels::choose(name);
    return chosen ? Result<>() : chosen.error();
}

}  // namespace forebay
