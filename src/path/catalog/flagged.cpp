#include "path/catalog/flagged.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/try.hpp"
#include "path/catalog/run.hpp"

namespace forebay::catalog {

namespace {

constexpr std::size_t flagged_bytes_max = 16384;  // a text, a stream's name, and numbers

std::string flagged_directory(const std::string& run) { return fmt::format("{}/{}/conditions", run, own_directory); }

Result<std::vector<std::string>> names_in(sys::Store& store, const std::string& directory) {
    std::vector<std::string> names;
    const auto entries = store.list(directory);
    if (!entries) return entries.error().kind == ErrorKind::missing ? Result(std::move(names)) : entries.error();
    for (const auto& entry : *entries)
        if (!entry.is_directory && entry.name.ends_with(".json") && !sys::is_temporary(entry.name))
            names.push_back(entry.name);
    return names;
}

}  // namespace

Result<> keep_flagged(sys::Store& store, const std::string& run, const format::Flagged& flagged) {
    const auto directory = flagged_directory(run);
    FB_TRY_ASSIGN(names, names_in(store, directory));
    const auto name = format::file_name_of(flagged);
    if (std::ranges::find(names, name) != names.end()) return {};
    if (names.size() >= flagged_kept_max)
        return Error{ErrorKind::full,
                     fmt::format("{} holds {} conditions that no session has fetched", directory, names.size())};
    FB_TRY(sys::make_directories_below(store, run, directory));
    // The name comes from the content, so two agents with the same condition make one file.
    return sys::write_text_durable(store, directory + "/" + name, format::encode_flagged(flagged));
}

Result<std::vector<format::Flagged>> kept_flagged(sys::Store& store, const std::string& run, std::string& problem) {
    const auto directory = flagged_directory(run);
    FB_TRY_ASSIGN(names, names_in(store, directory));
    std::vector<format::Flagged> all;
    for (const auto& name : names) {
        const auto path = directory + "/" + name;
        const auto text = sys::read_text(store, path, flagged_bytes_max);
        // A session removed it after the list.
        if (!text && text.error().kind == ErrorKind::missing) continue;
        const auto flagged = text ? format::decode_flagged(*text, path) : Result<format::Flagged>(text.error());
        if (flagged) all.push_back(*flagged);
        else problem = flagged.error().line();
    }
    std::ranges::stable_sort(all, {}, &format::Flagged::step);
    return all;
}

Result<> drop_flagged(sys::Store& store, const std::string& run, const format::Flagged& flagged) {
    const auto removed = store.remove(flagged_directory(run) + "/" + format::file_name_of(flagged));
    if (removed || removed.error().kind == ErrorKind::missing) return {};
    return removed;
}

}  // namespace forebay::catalog
