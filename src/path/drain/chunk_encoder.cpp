#include "path/drain/chunk_encoder.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "core/base/bytes.hpp"
#include "core/base/try.hpp"
#include "core/sys/clock.hpp"

namespace forebay::drain {

namespace {

bool within(std::span<const std::byte> given, std::span<const std::byte> decoded, Type type, double error) {
    if (std::memcmp(given.data(), decoded.data(), given.size()) == 0) return true;
    const auto all = [&]<class T>(T) {
        for (std::size_t at = 0; at < given.size(); at += sizeof(T)) {
            const auto a = load_le<T>(given.data() + at), b = load_le<T>(decoded.data() + at);
            // Also false if one of them is not a number.
            if (!(std::abs(static_cast<double>(a) - static_cast<double>(b)) <= error)) return false;
        }
        return true;
    };
    return type.scalar == Scalar::f32 ? all(0.0f) : all(0.0);
}

}  // namespace

Result<EncodedChunk> ChunkEncoder::encode(std::uint32_t variable, const Effort& effort,
                                          std::span<const std::byte> given) {
    const auto chunk_bytes = variables_[variable].chunk_bytes;
    if (given.size() < chunk_bytes) {
        const auto filled = plain_.take(chunk_bytes);
        std::ranges::copy(given, filled.begin());
        std::ranges::fill(filled.subspan(given.size()), std::byte{0});
        given = filled;
    }
    EncodedChunk chunk{.bytes = given, .decoded = given};
    const auto start = sys::Clock::now();
    if (!effort.plain) FB_TRY(filter(variable, effort, chunk));
    chunk.seconds = std::chrono::duration<double>(sys::Clock::now() - start).count();
    return chunk;
}

Result<> ChunkEncoder::filter(std::uint32_t variable, const Effort& effort, EncodedChunk& chunk) {
    const auto& described = file_.schema.variables[variable];
    const codec::Filter filter{variables_[variable].filter, variables_[variable].values};
    const auto given = chunk.bytes;
    // One byte less than given: an encoding that saves nothing does not fit, and the chunk stays plain.
    const auto out = stored_.take(given.size()).first(given.size() - 1);
    FB_TRY_ASSIGN(bytes, codec::encode(filter, effort.level, given, out));
    if (bytes == 0) return {};
    const bool lossy = filter.id == codec::zfp_id;
    const auto error = lossy ? rules_.of(described.name).error : 0;
    // A fault of a library or of memory may damage the encoding. Store it only if it decodes to the given bytes.
    const auto decoded = decoded_.take(given.size());
    if (!codec::decode(filter, out.first(bytes), decoded) || !within(given, decoded, described.type, error)) {
        chunk.refused = true;
        return {};
    }
    chunk.bytes = out.first(bytes);
    chunk.decoded = decoded;
    chunk.filtered = true;
    chunk.name = lossy ? "zfp" : effort.name();
    if (!lossy)
        chunk.effort =
            static_cast<std::uint32_t>((effort.level.codec == Codec::zstd ? 2 : 1) * 256 + effort.level.number);
    return {};
}

}  // namespace forebay::drain
