#include "bench/read.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "core/base/bytes.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/sys/store.hpp"
#include "core/sys/thread.hpp"
#include "path/catalog/catalog.hpp"

namespace forebay::bench {

namespace {

constexpr std::uint64_t mib = 1u << 20;
constexpr std::array<RawWay, 4> ways{{{"raw_buffered", "raw read, buffered, 32 MiB x 1", 32 * mib, 1, false},
                                      {"raw_direct", "raw read, O_DIRECT, 32 MiB x 1", 32 * mib, 1, true},
                                      {"raw_direct_4x2", "raw read, O_DIRECT, 4 MiB x 2", 4 * mib, 2, true},
                                      {"raw_direct_16x2", "raw read, O_DIRECT, 16 MiB x 2", 16 * mib, 2, true}}};

// The share of one of all ranks' threads: every `shares`-th block.
Result<> read_share(sys::File& file, const RawWay& way, std::uint64_t share, std::uint64_t shares,
                    std::span<std::byte> buffer) {
    FB_TRY_ASSIGN(size, file.size());
    for (auto at = share * way.block_bytes; at < size; at += shares * way.block_bytes)
        FB_TRY(file.read(at, buffer.first(std::min(way.block_bytes, size - at))));
    return {};
}

Result<> read_file(Ranks& ranks, const std::string& path, const RawWay& way, std::span<std::byte> buffer) {
    const auto threads = static_cast<std::size_t>(way.threads);
    FB_TRY_ASSIGN(file, sys::posix_store().open(path, way.direct ? sys::Access::read_direct : sys::Access::read));
    std::vector<Result<>> ends(threads);
    const auto work = [&](std::size_t thread) {
        ends[thread] = read_share(*file, way, static_cast<std::uint64_t>(ranks.rank()) * threads + thread,
                                  static_cast<std::uint64_t>(ranks.size()) * threads,
                                  buffer.subspan(thread * way.block_bytes, way.block_bytes));
    };
    std::vector<sys::Thread> helpers;
    for (std::size_t thread = 1; thread < threads; ++thread) {
        FB_TRY_ASSIGN(helper, sys::Thread::start([&work, thread] { work(thread); }));
        helpers.push_back(std::move(helper));
    }
    work(0);
    helpers.clear();  // joins
    for (const auto& end : ends) FB_TRY(end);
    return {};
}

}  // namespace

std::span<const RawWay> read_ways() { return ways; }

Result<std::vector<std::string>> node_files(Ranks& ranks, const std::string& run, const std::string& stream) {
    std::string names;
    Result<> own_result;
    const auto look = [&]() -> Result<> {
        auto& store = sys::posix_store();
        FB_TRY_ASSIGN(snapshots, catalog::snapshots(store, run, stream));
        if (snapshots.empty())
            return Error{ErrorKind::missing, "no snapshot of stream '" + stream + "' in " + run + "."};
        const auto& newest = *std::ranges::max_element(snapshots, {}, &catalog::Snapshot::step);
        FB_TRY_ASSIGN(manifest, catalog::load_manifest(store, newest.directory));
        for (const auto& node : manifest.nodes) names += newest.directory + "/" + node.path + "\n";
        return {};
    };
    if (ranks.rank() == 0) own_result = look();
    FB_TRY(ranks.agree(own_result));
    names = ranks.broadcast(names);
    std::vector<std::string> files;
    for (std::size_t at = 0; at < names.size();) {
        const auto end = names.find('\n', at);
        files.push_back(names.substr(at, end - at));
        at = end + 1;
    }
    return files;
}

Result<> forget(Ranks& ranks, const std::vector<std::string>& files) {
    Result<> own_result;
    if (ranks.node().rank() == 0)
        for (std::size_t i = 0; i < files.size() && own_result; ++i) own_result = sys::forget_cached(files[i]);
    return ranks.agree(own_result);
}

Result<double> timed_raw_read(Ranks& ranks, const std::vector<std::string>& files, const RawWay& way) {
    const auto bytes = static_cast<std::uint64_t>(way.threads) * way.block_bytes;
    std::vector<std::byte> memory(bytes + limits::page_bytes);
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    const auto buffer = std::span(memory).subspan(round_up(address, limits::page_bytes) - address, bytes);
    return ranks.timed([&]() -> Result<> {
        for (const auto& file : files) FB_TRY(read_file(ranks, file, way, buffer));
        return {};
    });
}

}  // namespace forebay::bench
