#include "core/s3/listed_names.hpp"

#include "core/base/show_text.hpp"
#include "core/s3/bucket.hpp"
#include "core/s3/key.hpp"
#include "core/s3/made_object.hpp"

namespace forebay::s3 {

namespace {

constexpr std::string_view temporary_beginning = ".fb-";
constexpr std::size_t temporary_bytes = 4 + 8 + 1 + 16;

}  // namespace

bool is_temporary_of_mark(std::string_view name) {
    if (!name.starts_with(temporary_beginning) || name.size() < temporary_bytes) return false;
    const auto end = name.substr(temporary_bytes);  // "", or "-3-89abcdef" for a worker
    return end.empty() || (end.starts_with('-') && end.find('.') == end.npos);
}

bool is_mark(std::string_view name) {
    return name.ends_with(mark_ending) &&
           is_temporary_of_mark(name.substr(0, name.size() - std::string_view(mark_ending).size()));
}

bool ListedNames::is_folder(const std::string& name) const {
    const auto kind = kinds_.find(name);
    return kind != kinds_.end() && kind->second.kind == sys::EntryKind::folder;
}

bool ListedNames::is_small(const std::string& name) const {
    const auto kind = kinds_.find(name);
    return kind != kinds_.end() && kind->second.is_small;
}

bool ListedNames::is_upload(const std::string& name) const {
    const auto kind = kinds_.find(name);
    return kind != kinds_.end() && kind->second.is_upload;
}

std::optional<ListedEntry> ListedNames::add_upload(const std::string& mark) {
    auto upload = mark.substr(0, mark.size() - std::string_view(mark_ending).size());
    const bool is_first = kinds_.try_emplace(upload, Known{sys::EntryKind::file, false, true}).second;
    if (!is_first) return std::nullopt;
    return ListedEntry{std::move(upload), sys::EntryKind::file};
}

std::string ListedNames::Refused::why() const {
    return "the key \"" + show_text(key) +
           (is_twice ? "\" begins with another key and a \"/\": an entry of a tree cannot be a file and a directory"
                     : "\" has a part that is not a valid name in a tree");
}

// Only an empty object can be a link, a fifo or a device, according to its metadata. Every other object is a file.
std::vector<ListedEntry> ListedNames::add(const KeyPage& page, const std::string& prefix, const RefusedTaker& refuse) {
    std::vector<ListedEntry> entries;
    const auto take = [&](std::string_view key, sys::EntryKind kind, std::optional<std::uint64_t> bytes) {
        if (!key.starts_with(prefix)) return;
        auto part = key.substr(prefix.size());
        if (kind == sys::EntryKind::folder && part.ends_with('/')) part.remove_suffix(1);
        if (prefix.empty() && part == "%2E") return;  // the directory object of the whole bucket
        const auto name = name_of_key_part(part);
        if (name && kind == sys::EntryKind::folder && is_folder(*name)) return;  // the same directory on two pages
        const bool is_small = bytes && *bytes <= Bucket::first_bytes_max;
        const bool is_first = name && kinds_.try_emplace(*name, Known{kind, is_small}).second;
        if (is_first) {
            entries.push_back({*name, kind, bytes});
        } else {
            refuse({.key = key, .is_beginning = kind == sys::EntryKind::folder, .is_twice = name.has_value()});
        }
    };
    for (const auto& object : page.objects)
        if (object.key != prefix)
            take(object.key, object.bytes > 0 ? sys::EntryKind::file : sys::EntryKind::unknown, object.bytes);
    for (const auto& key_prefix : page.prefixes) take(key_prefix, sys::EntryKind::folder, {});
    is_complete_ = !page.is_truncated;
    if (kinds_.size() > names_max_) {
        std::string_view last;
        if (!page.objects.empty()) last = page.objects.back().key;
        if (!page.prefixes.empty() && page.prefixes.back() > last) last = page.prefixes.back();
        forget_before(last.starts_with(prefix) ? last.substr(prefix.size()) : "");
    }
    return entries;
}

// Keys come in order. Their next key may be "a/" for a known object "a" only while keys begin with "a". So only such
// names are kept.
void ListedNames::forget_before(std::string_view last) {
    std::unordered_map<std::string, Known> kept;
    for (std::size_t bytes = 1; bytes <= last.size(); ++bytes)
        if (const auto name = name_of_key_part(last.substr(0, bytes)); name && kinds_.contains(*name))
            kept.emplace(*name, kinds_[*name]);
    kinds_ = std::move(kept);
    has_all_ = false;
}

void ListedNames::put(const std::string& name, sys::EntryKind kind) {
    if (kinds_.size() >= names_max_) {
        kinds_.clear();
        has_all_ = false;
    }
    kinds_[name] = {kind};
}

}  // namespace forebay::s3
