#include "insight/advice/preflight/probes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/base/crc32c.hpp"
#include "core/base/page_buffer.hpp"
#include "core/base/splitmix.hpp"
#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/mapping.hpp"
#include "core/sys/store.hpp"
#include "path/telemetry/median.hpp"

namespace forebay::advice {

namespace {

using Seconds = std::chrono::duration<double>;

// Written between two checks of the clock: 40 ms at 100 MB/s.
constexpr std::uint64_t probe_piece_bytes = 4u << 20;
constexpr std::uint64_t probe_bytes_min = 4096;
// After this share of its time a probe stops writing; the rest is for its sync.
constexpr double writing_part = 0.45;

double since(sys::Clock::time_point start) { return Seconds(sys::Clock::now() - start).count(); }

// A unique name that a user who finds the file understands.
std::string probe_name(const std::string& directory) {
    return fmt::format("{}/.forebay-preflight-{:016x}", directory, sys::random_u64());
}

// Storage cannot compress or deduplicate these bytes.
void fill(std::span<std::byte> bytes) {
    const auto seed = sys::random_u64();
    for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
        const auto word = splitmix(seed, i);
        std::copy_n(reinterpret_cast<const std::byte*>(&word), 8, bytes.data() + i);
    }
}

std::uint64_t whole_pages(std::uint64_t bytes) {
    return std::max(bytes / probe_bytes_min, std::uint64_t{1}) * probe_bytes_min;
}

Result<double> write_probe(const std::string& directory, std::span<const std::byte> piece, std::uint64_t bytes,
                           std::chrono::milliseconds at_most) {
    const double seconds_max = std::chrono::duration<double>(at_most).count() * writing_part;
    FB_TRY_ASSIGN(took, sys::timed_write(directory, piece, bytes, seconds_max, at_most));
    return static_cast<double>(took.bytes) / std::max(took.seconds, 1e-9);
}

}  // namespace

Result<double> probe_target(const std::string& directory, std::uint64_t bytes, std::chrono::milliseconds at_most) {
    PageBuffer buffer;
    bytes = whole_pages(bytes);
    const auto piece = buffer.take(std::min(bytes, probe_piece_bytes));
    fill(piece);
    return write_probe(directory, piece, bytes, at_most);
}

Result<NodeSpeed> probe_node(const std::string& staging, const std::string& target, std::uint64_t bytes,
                             std::chrono::milliseconds at_most) {
    PageBuffer buffer;
    bytes = whole_pages(bytes);
    const auto source = buffer.take(bytes);
    fill(source);
    const auto path = probe_name(staging);
    FB_TRY_ASSIGN(mapping, sys::Mapping::create(path, bytes));
    // The name goes first, so that a killed probe leaves nothing in staging.
    FB_TRY(sys::posix_store().remove(path));
    // Page faults must not count in the copy's time.
    FB_TRY(mapping.prefault(0, bytes));
    const auto staged = mapping.bytes();
    NodeSpeed speed;
    auto start = sys::Clock::now();
    const auto crc = crc32c_copy(staged.data(), source.data(), bytes);
    speed.staging = static_cast<double>(bytes) / std::max(since(start), 1e-9);
    start = sys::Clock::now();
    const auto again = crc32c(staged);
    speed.checksum = static_cast<double>(bytes) / std::max(since(start), 1e-9);
    if (crc != again)
        return Error{
            ErrorKind::corrupt,
            fmt::format("bytes staged in {} differ from the written bytes: this node's memory is faulty", staging)};
    if (target.empty()) return speed;
    FB_TRY_ASSIGN(drain, write_probe(target, staged, bytes, at_most));
    speed.drain = drain;
    return speed;
}

Result<MetadataTimes> probe_metadata(const std::string& directory, std::chrono::milliseconds at_most) {
    FB_TRY_ASSIGN(seconds, sys::timed_files(directory, sys::timed_files_max, at_most));
    return MetadataTimes{telemetry::median_of(seconds), telemetry::quantile_of(seconds, 0.99)};
}

}  // namespace forebay::advice
