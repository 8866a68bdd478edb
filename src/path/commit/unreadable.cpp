#include "path/commit/unreadable.hpp"

#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/names.hpp"
#include "path/commit/gather.hpp"

namespace forebay::commit {

namespace {

std::optional<std::int64_t> step_in(const sys::Entry& entry) {
    if (!entry.is_directory || entry.is_link) return {};
    if (const auto step = catalog::step_of(entry.name)) return step;
    const auto aside = catalog::aside_of(entry.name);
    return aside ? std::optional(aside->step) : std::nullopt;
}

Result<bool> says_nothing(sys::Store& store, const std::string& directory) {
    const auto manifest = catalog::load_manifest(store, directory);
    if (manifest) return false;
    const auto kind = manifest.error().kind;
    if (kind != ErrorKind::missing && kind != ErrorKind::corrupt) return manifest.error();
    return true;
}

Result<bool> is_complete(sys::Store& store, const std::string& directory, std::int64_t step,
                         const format::Record& record) {
    if (record.step != step) return false;
    FB_TRY_ASSIGN(
        absent,
        catalog::form_of(record.form)
            .absent(store, directory,
                    {.snapshot_id = record.snapshot_id, .step = step, .nodes = record.nodes, .form = record.form}));
    return !absent;
}

}  // namespace

Result<Unreadable> look_at_unreadable(sys::Store& store, const std::string& directory) {
    const auto arrived = look_at_part(store, directory);
    if (arrived) return Unreadable{arrived->files, arrived->record};
    const auto kind = arrived.error().kind;
    if (kind == ErrorKind::retry || kind == ErrorKind::missing) return arrived.error();
    // Damaged for good: it counts as one node file, so nobody treats the directory as empty.
    return Unreadable{1, {}};
}

std::string part_of(const std::string& directory, std::int64_t step, const Unreadable& unreadable) {
    return directory_of(directory) + "/" +
           catalog::part_name(step, unreadable.record ? unreadable.record->snapshot_id : 0);
}

Result<> make_parts_of_unreadable(sys::Store& store, const std::string& run) {
    FB_TRY_ASSIGN(streams, catalog::streams(store, run));
    for (const auto& stream : streams) {
        FB_TRY_ASSIGN(entries, catalog::list_stream(store, run, stream));
        for (const auto& entry : entries) {
            const auto step = step_in(entry);
            if (!step) continue;
            const auto directory = run + "/" + stream + "/" + entry.name;
            FB_TRY_ASSIGN(is_unreadable, says_nothing(store, directory));
            if (!is_unreadable) continue;
            const auto seen = look_at_unreadable(store, directory);
            if (!seen || !seen->record) continue;  // verify reports the reason
            FB_TRY_ASSIGN(complete, is_complete(store, directory, *step, *seen->record));
            const auto part = part_of(directory, *step, *seen);
            FB_TRY_ASSIGN(taken, store.exists(part));
            // The directory stays if node files are missing, or if its name as a part is taken.
            if (!complete || taken) continue;
            FB_TRY(store.rename(directory, part));
            FB_TRY(store.sync_directory(run + "/" + stream));
        }
    }
    return {};
}

}  // namespace forebay::commit
