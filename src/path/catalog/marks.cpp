#include "path/catalog/marks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <tuple>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/history.hpp"
#include "path/catalog/names.hpp"

namespace forebay::catalog {

namespace {

constexpr const char* marks_directory = ".marks";
// Three texts; JSON may need six bytes for a letter.
constexpr std::uint64_t mark_bytes_max = 3 * 6 * format::mark_text_bytes_max + 1024;
// The attempts for a directory that another process renames, or a manifest that another process replaces. There are
// never so many at once.
constexpr int mark_attempts_max = 8;

// Adds new marks. False if there is no new mark or no room.
bool add_new(const std::vector<format::Mark>& from, std::vector<format::Mark>& to) {
    const auto before = to.size();
    for (const auto& mark : from)
        if (to.size() < format::marks_max && std::ranges::find(to, mark) == to.end()) to.push_back(mark);
    return to.size() > before;
}

// A name with an id holds that save. For another directory the manifest gives the current save.
Result<> check_holds(sys::Store& store, const std::string& directory, std::uint64_t snapshot_id) {
    if (leftover_of(leaf_of(directory))) return {};
    FB_TRY_ASSIGN(now, load_manifest(store, directory));
    if (now.snapshot_id == snapshot_id) return {};
    return Error{ErrorKind::missing, fmt::format("{} holds another save now", directory)};
}

// Another save may have taken the directory's name meanwhile. The new file is made in the directory with this name. If
// that is the right directory, the rename reaches the same directory, or it fails.
Result<> write_into_save(sys::Store& store, const std::string& directory, std::uint64_t snapshot_id,
                         const std::string& path, const std::string& text) {
    return sys::write_text_durable(store, path, text, [&] { return check_holds(store, directory, snapshot_id); });
}

// Finds the save in its part, under its name, or aside.
Result<std::string> directory_of_save(sys::Store& store, const MarkedSave& save) {
    const auto stream_directory = save.run + "/" + save.stream;
    FB_TRY_ASSIGN(entries, list_stream(store, save.run, save.stream));
    for (const auto& entry : entries) {
        if (!entry.is_directory) continue;
        const auto directory = stream_directory + "/" + entry.name;
        if (const auto left = leftover_of(entry.name)) {
            if (left->kind != Leftover::Kind::gone && left->step == save.step && left->snapshot_id == save.snapshot_id)
                return directory;
            continue;
        }
        const auto aside = aside_of(entry.name);
        if (step_of(entry.name) != save.step && !(aside && aside->step == save.step)) continue;
        const auto manifest = load_manifest(store, directory);
        if (manifest && manifest->snapshot_id == save.snapshot_id) return directory;
        if (!manifest && manifest.error().kind == ErrorKind::retry) return manifest.error();
    }
    return Error{ErrorKind::missing,
                 fmt::format("step {} of stream '{}', save {}, is not in {}, and is not marked", save.step, save.stream,
                             id_text(save.snapshot_id), save.run),
                 "", fmt::format("forebay ls {}", save.run)};
}

// `missing` if the directory loses its name meanwhile.
Result<> mark_in(sys::Store& store, const std::string& directory, std::uint64_t snapshot_id,
                 std::span<const std::string> texts) {
    const auto beside = marks_path(directory), stream_directory = directory_of(directory);
    FB_TRY(store.make_directory(beside));
    FB_TRY(store.sync_directory(directory));
    // The names of a part are not durable before the commit. Without these syncs a power cut could remove the mark.
    FB_TRY(store.sync_directory(stream_directory));
    FB_TRY(store.sync_directory(directory_of(stream_directory)));
    FB_TRY_ASSIGN(before, store.list(beside));
    const auto room = format::marks_max - std::min(before.size(), format::marks_max);
    for (const auto& text : texts.first(std::min(room, texts.size())))
        FB_TRY(write_into_save(store, directory, snapshot_id,
                               fmt::format("{}/{:08x}.json", beside, crc32c(bytes_of(text))), text));
    if (room < texts.size()) FB_TRY(store.sync_directory(beside));  // other processes have marked it; make that durable
    FB_TRY(complete_marks(store, directory));
    // The save may have been renamed meanwhile. Then mark() looks for its new place.
    FB_TRY_ASSIGN(there, store.exists(beside));
    if (there) return {};
    return Error{ErrorKind::missing, fmt::format("{} has another name now", directory)};
}

// Calls `use` with the path and content of each mark in a directory. Skips a mark that is removed meanwhile.
Result<> each_mark_in(sys::Store& store, const std::string& beside,
                      const std::function<Result<>(const std::string&, format::Mark)>& use) {
    const auto entries = store.list(beside);
    if (!entries) return entries.error().kind == ErrorKind::missing ? Result<>{} : entries.error();
    for (const auto& entry : *entries) {
        if (entry.is_directory || sys::is_temporary(entry.name)) continue;
        const auto path = beside + "/" + entry.name;
        const auto text = sys::read_text(store, path, mark_bytes_max);
        if (!text && text.error().kind == ErrorKind::missing) continue;
        FB_TRY(text);
        FB_TRY_ASSIGN(mark, format::decode_mark(*text, path));
        FB_TRY(use(path, std::move(mark)));
    }
    return {};
}

}  // namespace

std::string marks_path(const std::string& directory) { return directory + "/" + marks_directory; }

Result<> mark(sys::Store& store, const MarkedSave& save, std::span<const format::Mark> marks) {
    std::vector<std::string> texts;
    for (const auto& mark : marks) {
        FB_TRY_ASSIGN(text, format::encode_mark(mark));
        texts.push_back(std::move(text));
    }
    for (int attempt = 1;; ++attempt) {
        const auto marked = [&]() -> Result<> {
            FB_TRY_ASSIGN(directory, directory_of_save(store, save));
            return mark_in(store, directory, save.snapshot_id, texts);
        }();
        if (marked || marked.error().kind != ErrorKind::missing || attempt == mark_attempts_max) return marked;
    }
}

Result<std::vector<format::Mark>> marks_beside(sys::Store& store, const std::string& directory) {
    std::vector<format::Mark> marks;
    FB_TRY(each_mark_in(store, marks_path(directory), [&](const std::string&, format::Mark mark) -> Result<> {
        marks.push_back(std::move(mark));
        return {};
    }));
    return marks;
}

Result<std::vector<format::Mark>> marks_of(sys::Store& store, const std::string& directory,
                                           const format::Manifest& manifest) {
    FB_TRY_ASSIGN(beside, marks_beside(store, directory));
    auto marks = manifest.marks;
    add_new(beside, marks);
    return marks;
}

Result<std::set<std::uint64_t>> saves_in_analysis(sys::Store& store, const std::string& run,
                                                  const std::string& stream) {
    const auto all = store.list(analysed_path(run, ""));
    if (!all) return all.error().kind == ErrorKind::missing ? Result(std::set<std::uint64_t>()) : all.error();
    std::vector<AnalysedSave> analysed;
    for (const auto& directory : *all) {
        if (directory.name != stream && !directory.name.starts_with(stream + ".")) continue;
        const auto saves = store.list(analysed_path(run, directory.name));
        if (!saves && saves.error().kind == ErrorKind::missing) continue;
        FB_TRY(saves);
        for (const auto& entry : *saves)
            if (const auto save = analysed_of(entry.name)) analysed.push_back(*save);
    }
    std::ranges::sort(analysed, std::greater(),
                      [](const AnalysedSave& save) { return std::tuple(save.line, save.number); });
    std::set<std::uint64_t> ids;
    for (const auto& save : analysed)
        if (ids.size() < saves_in_analysis_max) ids.insert(save.snapshot_id);
    return ids;
}

// Reads the manifest before the marks, and checks it before the replacement. So marks and manifest are of one save,
// even if another save takes the directory's name meanwhile.
Result<bool> complete_marks(sys::Store& store, const std::string& directory) {
    for (int attempt = 1;; ++attempt) {
        FB_TRY_ASSIGN(any, marks_beside(store, directory));
        if (any.empty()) return attempt > 1;
        auto manifest = load_manifest(store, directory);
        if (!manifest && manifest.error().kind == ErrorKind::missing) return false;
        FB_TRY(manifest);
        FB_TRY_ASSIGN(beside, marks_beside(store, directory));
        if (!add_new(beside, manifest->marks)) return attempt > 1;
        if (attempt == mark_attempts_max)
            return Error{ErrorKind::retry, fmt::format("{}/{} changes repeatedly", directory, manifest_name)};
        FB_TRY(write_into_save(store, directory, manifest->snapshot_id, directory + "/" + manifest_name,
                               format::encode_manifest(*manifest)));
    }
}

Result<> unmark(sys::Store& store, const std::string& directory, std::span<const format::Mark> which) {
    const auto is_one = [&](const format::Mark& mark) { return std::ranges::find(which, mark) != which.end(); };
    const auto beside = marks_path(directory);
    bool is_removed = false;
    FB_TRY(each_mark_in(store, beside, [&](const std::string& path, const format::Mark& mark) -> Result<> {
        if (!is_one(mark)) return {};
        is_removed = true;
        return store.remove(path);
    }));
    // The files go before the manifest changes: complete_marks() would add a mark that still has a file.
    if (is_removed) FB_TRY(store.sync_directory(beside));
    FB_TRY_ASSIGN(manifest, load_manifest(store, directory));
    if (std::erase_if(manifest.marks, is_one) == 0) return {};
    return write_into_save(store, directory, manifest.snapshot_id, directory + "/" + manifest_name,
                           format::encode_manifest(manifest));
}

}  // namespace forebay::catalog
