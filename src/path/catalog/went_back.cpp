#include "path/catalog/went_back.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "path/catalog/history.hpp"
#include "path/catalog/run.hpp"

namespace forebay::catalog {

namespace {

struct GoneBack {
    std::int64_t from = 0;
    std::uint32_t session = 0;
};

std::string name_of(const GoneBack& record) { return fmt::format("{}.session-{}", record.from, record.session); }

std::optional<GoneBack> record_in(std::string_view name) {
    constexpr std::string_view middle = ".session-";
    const auto at = name.find(middle);
    if (at == name.npos) return {};
    GoneBack record;
    std::from_chars(name.data(), name.data() + at, record.from);
    std::from_chars(name.data() + at + middle.size(), name.data() + name.size(), record.session);
    return name_of(record) == name ? std::optional(record) : std::nullopt;
}

std::string records_path(const std::string& run, const std::string& stream) {
    return fmt::format("{}/{}/restarts/{}", run, own_directory, stream);
}

Result<std::vector<GoneBack>> records(sys::Store& store, const std::string& directory) {
    const auto entries = store.list(directory);
    std::vector<GoneBack> list;
    if (!entries && entries.error().kind == ErrorKind::missing) return list;
    if (!entries)
        return with_context(
            entries.error(),
            fmt::format("the record of going back for restart_from cannot be read: {}", entries.error().what),
            "all snapshots. Nothing is removed",
            fmt::format("repair {}, then start again. Or leave restart_from out", directory));
    for (const auto& entry : *entries)
        if (const auto record = record_in(entry.name)) list.push_back(*record);
    return list;
}

// True if a snapshot goes on from saves of the record's session, or of a later session that went back at least as far.
// Starts rise in a lineage, so the first start since the record decides. If a long chain of sessions pushed that start
// out, the run counts as one that goes on.
bool goes_on_from(const GoneBack& record, const format::Lineage& lineage) {
    const auto& lines = lineage.lines;
    const auto since = [&](const format::LineStart& start) { return start.line.session >= record.session; };
    const auto first = std::ranges::find_if(lines, since);
    if (first == lines.end()) return false;
    const bool is_cut = first == lines.begin() && lines.size() == format::line_starts_max;
    return first->from <= record.from || is_cut;
}

}  // namespace

Result<bool> has_gone_back(sys::Store& store, const std::string& run, const std::string& stream, std::int64_t from) {
    FB_TRY_ASSIGN(all, records(store, records_path(run, stream)));
    const auto record = std::ranges::find(all, from, &GoneBack::from);
    if (record == all.end()) return false;
    const auto there = history(store, run, stream);
    if (!there && there.error().kind == ErrorKind::missing) return false;
    FB_TRY(there);
    return std::ranges::any_of(there->living, [&](const Version& version) {
        if (version.readable) return goes_on_from(*record, version.head.lineage);
        // It may be of that line. The restart takes it as the newest snapshot and returns the error.
        return version.readable.error().kind != ErrorKind::corrupt;
    });
}

Result<> note_going_back(sys::Store& store, const std::string& run, const std::string& stream, std::int64_t from,
                         std::uint32_t session) {
    const auto directory = records_path(run, stream);
    FB_TRY(sys::make_directories_below(store, run, directory));
    FB_TRY_ASSIGN(before, records(store, directory));
    const auto own = name_of(GoneBack{from, session});
    FB_TRY_ASSIGN(file, store.open(directory + "/" + own, sys::Access::create));
    FB_TRY(file->close());
    // The new record is durable before older records go. Else a file system that loses power may keep the removal and
    // not the new name, and the next session would go back again.
    FB_TRY(store.sync_directory(directory));
    for (const auto& record : before)
        if (name_of(record) != own) FB_TRY(store.remove(directory + "/" + name_of(record)));
    if (!before.empty()) FB_TRY(store.sync_directory(directory));
    // The directories above may be new: their names must be durable too.
    FB_TRY(store.sync_directory(directory_of(directory)));
    return store.sync_directory(run + "/" + own_directory);
}

}  // namespace forebay::catalog
