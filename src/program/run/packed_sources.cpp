#include "program/run/packed_sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "core/base/glob.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "program/place.hpp"

namespace forebay::cli {

namespace {

constexpr std::uint64_t window_bytes = 8 * limits::segment_bytes;

Error packed_problem(ErrorKind kind, const std::string& text, const std::string& next) {
    return {kind, text, "", next};
}

bool is_wanted(const PackedRequest& request, const std::string& path) {
    return request.patterns.empty() || std::ranges::any_of(request.patterns, [&](const std::string& pattern) {
               return matches(pattern, path, Wild::star_and_question);
           });
}

Result<std::vector<catalog::Snapshot>> batches(sys::Store& store, const PackedRequest& request) {
    FB_TRY_ASSIGN(place, find_place(store, request.place));
    std::vector<catalog::Snapshot> snapshots;
    for (const auto& stream : place.streams) {
        if (!place.stream_named && !format::is_packed_stream(stream)) continue;
        FB_TRY_ASSIGN(all, catalog::snapshots(store, place.run, stream));
        for (const auto& snapshot : all)
            if (!place.step || *place.step == snapshot.step) snapshots.push_back(snapshot);
        if (place.last && !all.empty()) snapshots.assign(1, all.front());
    }
    if (snapshots.empty())
        return packed_problem(ErrorKind::missing, fmt::format("{} has no packed files.", request.place),
                              "forebay ls " + place.run);
    // Older batches first: if two batches hold a file, the later counts.
    std::ranges::stable_sort(snapshots, {}, &catalog::Snapshot::step);
    return snapshots;
}

}  // namespace

Result<std::vector<PackedSource>> packed_sources(sys::Store& store, const PackedRequest& request) {
    FB_TRY_ASSIGN(all, batches(store, request));
    std::map<std::pair<std::string, std::string>, PackedSource> by_path;  // of one stream
    for (const auto& snapshot : all) {
        FB_TRY_ASSIGN(manifest, catalog::load_manifest(store, snapshot.directory));
        const auto& variables = manifest.schema.variables;
        for (std::size_t v = 0; v < variables.size(); ++v) {
            const auto file = format::packed_file(variables[v]);
            if (!file)
                return packed_problem(ErrorKind::refused,
                                      fmt::format("{} holds the variable '{}', which is not a packed file.",
                                                  snapshot.directory, variables[v].name),
                                      "forebay show " + snapshot.directory);
            if (!is_wanted(request, file->path)) continue;
            auto& source = by_path[{snapshot.stream, file->path}];
            auto earlier = std::move(source.earlier);
            if (!source.snapshot.directory.empty() && source.file != *file) earlier.push_back(source.snapshot.step);
            source = {*file, snapshot, v, std::move(earlier)};
        }
    }
    std::vector<PackedSource> sources;
    sources.reserve(by_path.size());
    for (auto& [key, source] : by_path) sources.push_back(std::move(source));
    // Ordered by batch, so that each head is read once.
    std::ranges::stable_sort(sources, [](const PackedSource& a, const PackedSource& b) {
        return std::tie(a.snapshot.directory, a.variable) < std::tie(b.snapshot.directory, b.variable);
    });
    return sources;
}

PackedReader::PackedReader(sys::Store& store) : store_(store), window_(window_bytes) {}

Result<> PackedReader::open(const catalog::Snapshot& snapshot) {
    FB_TRY_ASSIGN(manifest, catalog::load_manifest(store_, snapshot.directory));
    auto reader = catalog::BlockReader::open(store_, snapshot.directory, manifest.nodes.front());
    if (!reader && reader.error().kind == ErrorKind::corrupt)
        return packed_problem(ErrorKind::corrupt, reader.error().what, "forebay verify " + snapshot.directory);
    if (!reader) return reader.error();
    if (reader->head().schema != manifest.schema)
        return packed_problem(ErrorKind::corrupt, reader->name() + " is not the committed file.",
                              "forebay verify " + snapshot.directory);
    reader_.emplace(std::move(*reader));
    opened_ = snapshot.directory;
    return {};
}

Result<> PackedReader::read(const PackedSource& source,
                            const std::function<Result<>(std::uint64_t at, std::span<const std::byte> bytes)>& use) {
    if (opened_ != source.snapshot.directory) FB_TRY(open(source.snapshot));
    const auto block = reader_->head().first_block[source.variable];
    for (std::uint64_t at = 0; at < source.file.bytes; at += window_.size()) {
        const auto now = std::span(window_).first(std::min<std::uint64_t>(window_.size(), source.file.bytes - at));
        FB_TRY(reader_->read(block, at, now, scratch_));
        FB_TRY(use(at, now));
    }
    return {};
}

}  // namespace forebay::cli
