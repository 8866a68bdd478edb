#include "path/telemetry/node_timings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

#include "core/base/bytes.hpp"
#include "core/base/try.hpp"
#include "path/catalog/run.hpp"

namespace forebay::telemetry {

namespace {

// An agent renames a node's file to .old at 4 MiB, so a larger file is not ours.
constexpr std::uint64_t node_file_bytes_max = 8u << 20;

// Returns "nid00412-0" for "timings-nid00412-0.bin" and for "timings-nid00412-0.old.bin"; "" for any other file.
std::string node_of(std::string_view name) {
    constexpr std::string_view prefix = "timings-", suffix = ".bin", aside = ".old";
    if (!name.starts_with(prefix) || !name.ends_with(suffix)) return {};
    name.remove_prefix(prefix.size());
    name.remove_suffix(suffix.size());
    if (name.ends_with(aside)) name.remove_suffix(aside.size());
    return std::string(name);
}

}  // namespace

Result<std::vector<NodeFiles>> timing_files(sys::Store& store, const std::string& run) {
    FB_TRY_ASSIGN(there, store.exists(run));
    if (!there) return Error{ErrorKind::missing, fmt::format("there is no run {}", run)};
    const auto own = fmt::format("{}/{}", run, catalog::own_directory);
    const auto entries = store.list(own);
    if (!entries && entries.error().kind == ErrorKind::missing) return std::vector<NodeFiles>();
    FB_TRY(entries);
    std::map<std::string, NodeFiles> nodes;
    for (const auto& entry : *entries) {
        const auto node = node_of(entry.name);
        if (entry.is_directory || node.empty()) continue;
        auto& files = nodes[node];
        const bool is_old = entry.name.ends_with(".old.bin");
        // Oldest first.
        files.paths.insert(is_old ? files.paths.begin() : files.paths.end(), own + "/" + entry.name);
        files.bytes += entry.size;
    }
    std::vector<NodeFiles> all;
    all.reserve(nodes.size());
    for (auto& [node, files] : nodes) all.push_back(std::move(files));
    return all;
}

std::vector<format::TimingBatch> read_timings(sys::Store& store, const NodeFiles& files, bool with_timings,
                                              std::vector<std::string>& problems) {
    std::vector<format::TimingBatch> batches;
    for (const auto& path : files.paths) {
        const auto text = sys::read_text(store, path, node_file_bytes_max);
        // An agent may rename a full file to .old between the list and this read.
        if (!text && text.error().kind == ErrorKind::missing) continue;
        if (!text) {
            problems.push_back(text.error().line());
            continue;
        }
        auto timings = format::decode_timings(bytes_of(*text), with_timings);
        if (timings.damaged_bytes > 0)
            problems.push_back(fmt::format("{} bytes of {} are damaged", timings.damaged_bytes, path));
        std::ranges::move(timings.batches, std::back_inserter(batches));
    }
    return batches;
}

}  // namespace forebay::telemetry
