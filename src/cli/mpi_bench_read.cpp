#include "cli/mpi_bench_read.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "base/bytes.hpp"
#include "base/limits.hpp"
#include "catalog/catalog.hpp"
#include "sys/store.hpp"

namespace forebay::cli {

namespace {

constexpr std::uint64_t block_bytes = 32u << 20;
constexpr std::array<RawWay, 2> ways{{{"raw_buffered", "raw read, buffered, 32 MiB", block_bytes, 1, false},
                                      {"raw_direct", "raw read, O_DIRECT, 32 MiB", block_bytes, 1, true}}};

Result<> read_share(Ranks& ranks, const std::string& path, bool direct, std::span<std::byte> buffer) {
    FB_TRY_ASSIGN(file, sys::posix_store().open(path, direct ? sys::Access::read_direct : sys::Access::read));
    FB_TRY_ASSIGN(size, file->size());
    for (auto at = static_cast<std::uint64_t>(ranks.rank()) * block_bytes; at < size;
         at += static_cast<std::uint64_t>(ranks.size()) * block_bytes)
        FB_TRY(file->read(at, buffer.first(std::min(block_bytes, size - at))));
    return {};
}

}  // namespace

std::span<const RawWay> read_ways() { return ways; }

Result<std::vector<std::string>> node_files(Ranks& ranks, const std::string& run, const std::string& stream) {
    std::string names;
    Result<> mine;
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
    if (ranks.rank() == 0) mine = look();
    FB_TRY(ranks.agree(mine));
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
    Result<> mine;
    if (ranks.node().rank() == 0)
        for (std::size_t i = 0; i < files.size() && mine; ++i) mine = sys::forget_cached(files[i]);
    return ranks.agree(mine);
}

Result<double> timed_raw_read(Ranks& ranks, const std::vector<std::string>& files, const RawWay& way) {
    std::vector<std::byte> memory(block_bytes + limits::page_bytes);
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    const auto buffer = std::span(memory).subspan(round_up(address, limits::page_bytes) - address, block_bytes);
    return ranks.timed([&]() -> Result<> {
        for (const auto& file : files) FB_TRY(read_share(ranks, file, way.direct, buffer));
        return {};
    });
}

}  // namespace forebay::cli
