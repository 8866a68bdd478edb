#include "core/s3/folder.hpp"

#include <fmt/format.h>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/s3/key.hpp"
#include "core/s3/key_pages.hpp"
#include "core/s3/s3_folder.hpp"

namespace forebay::s3 {

namespace {

// How many entries keep their status from the last look, for the questions that follow.
constexpr std::size_t looked_at_max = 256;
// How many keys without a name are kept from a listing. If there are more, tell_unnamed() lists the bucket again.
constexpr std::size_t unnamed_max = 1'000;
constexpr std::size_t name_bytes_max = 255;
constexpr std::size_t key_bytes_max = 1'024;

}  // namespace

std::string bytes_of_folder(const ObjectInfo& folder) {
    return fmt::format("the key \"{}\" is an object of {} bytes, but the object of a directory must be empty",
                       show_text(folder.key), folder.bytes);
}

Error missing_name(const std::string& name) { return {ErrorKind::missing, "there is no " + show_text(name)}; }

Result<std::string> S3Folder::key_of(const std::string& name) const {
    if (!sys::is_entry_name(name) || name.size() > name_bytes_max)
        return Error{ErrorKind::refused, "\"" + show_text(name) + "\" is not a valid name"};
    if (name == directory_record_name)
        return Error{ErrorKind::unsupported,
                     "S3 cannot hold an entry of this name, as it marks the contents of a directory"};
    auto key = prefix_ + key_part_of(name);
    if (key.size() < key_bytes_max) return key;
    return Error{ErrorKind::unsupported, "a key of S3 has at most 1,024 bytes, so it cannot hold " + show_text(name) +
                                             " would have " + std::to_string(key.size())};
}

Result<> S3Folder::list(const NameTaker& take) {
    ListedNames names;
    std::vector<Unnamed> unnamed;
    std::string problem = info_.bytes > 0 ? bytes_of_folder(info_) : "";
    const auto refuse = [&](const ListedNames::Refused& refused) {
        if (problem.empty()) problem = refused.why();
        if (unnamed.size() < unnamed_max)
            unnamed.push_back({std::string(refused.key), refused.is_beginning, refused.is_twice});
    };
    for (KeyPages pages(*bucket_, prefix_); pages.has_more();) {
        FB_TRY_ASSIGN(listing, pages.next());
        auto portion = names.add(listing, prefix_, refuse);
        FB_TRY(add_uploads(names, portion));
        std::vector<sys::NamedEntry> entries;
        for (const auto& entry : portion) {
            FB_TRY_ASSIGN(has_name, is_named(entry));
            if (has_name)
                entries.push_back(
                    {entry.name, entry.kind, number_of_key(prefix_ + key_part_of(entry.name)), false, entry.bytes});
            else names.drop(entry.name);
        }
        const auto taken = take(entries);
        if (!taken || taken.is_enough()) return taken;
    }
    {
        const std::lock_guard lock(mutex_);
        // Only a complete listing replaces the known names.
        names_ = std::move(names);
        unnamed_ = std::move(unnamed);
    }
    if (problem.empty()) return {};
    return Error{ErrorKind::unsupported, problem};
}

Result<> S3Folder::tell_unnamed(const UnnamedTaker& take) {
    if (info_.bytes > 0) take("", {ErrorKind::unsupported, bytes_of_folder(info_)});
    const auto tell = [&](const Unnamed& unnamed) -> Result<> {
        const auto tell_key = [&](const std::string& key) {
            const ListedNames::Refused refused{.key = key, .is_twice = unnamed.is_twice};
            take(key.substr(prefix_.size()), {ErrorKind::unsupported, refused.why()});
        };
        if (!unnamed.is_beginning) tell_key(unnamed.key);
        for (KeyPages below(*bucket_, unnamed.key, true); unnamed.is_beginning && below.has_more();) {
            FB_TRY_ASSIGN(page, below.next());
            for (const auto& object : page.objects) tell_key(object.key);
        }
        return {};
    };
    std::vector<Unnamed> kept;
    {
        const std::lock_guard lock(mutex_);
        kept = unnamed_;
    }
    // Fewer than the maximum were kept, so none was dropped and no second listing is needed.
    if (kept.size() < unnamed_max) {
        for (const auto& entry : kept) FB_TRY(tell(entry));
        return {};
    }
    ListedNames names;
    for (KeyPages pages(*bucket_, prefix_); pages.has_more();) {
        FB_TRY_ASSIGN(listing, pages.next());
        kept.clear();
        names.add(listing, prefix_, [&](const ListedNames::Refused& refused) {
            kept.push_back({std::string(refused.key), refused.is_beginning, refused.is_twice});
        });
        for (const auto& entry : kept) FB_TRY(tell(entry));
    }
    return {};
}

Result<> S3Folder::add_uploads(ListedNames& names, std::vector<ListedEntry>& portion) {
    const auto count = portion.size();
    for (std::size_t at = 0; at < count; ++at) {
        const auto name = portion[at].name;
        if (!is_mark(name) || portion[at].kind == sys::EntryKind::folder) continue;
        FB_TRY_ASSIGN(is_upload, MadeObject::is_mark(*bucket_, prefix_ + key_part_of(name)));
        if (!is_upload) continue;
        if (auto upload = names.add_upload(name)) portion.push_back(std::move(*upload));
    }
    return {};
}

// In a run, keys may begin with a name that the directory had when it was made. Runs make directories under names with
// a dot, so other names need no request.
Result<bool> S3Folder::is_named(const ListedEntry& entry) {
    if (entry.name == directory_record_name) return false;
    if (entry.kind != sys::EntryKind::folder || !entry.name.starts_with('.')) return true;
    FB_TRY_ASSIGN(contents, Directories(*bucket_).contents_of(prefix_ + key_part_of(entry.name) + "/", true));
    return contents.has_value();
}

Result<std::optional<ObjectInfo>> S3Folder::find(const std::string& name) {
    FB_TRY_ASSIGN(key, key_of(name));
    // The server does not have an entry that this process is writing.
    if (const auto object = making(key)) {
        const std::lock_guard lock(object->mutex);
        return std::optional(object->info);
    }
    std::optional<bool> is_folder;  // nothing: not known
    {
        const std::lock_guard lock(mutex_);
        if (is_new_ && names_.has_all() && !names_.knows(name)) return std::optional<ObjectInfo>();
        if (names_.is_complete() && !names_.knows(name)) return std::optional<ObjectInfo>();
        if (names_.knows(name)) is_folder = names_.is_folder(name);
        // An unfinished upload has no object, so its entry is made here.
        if (names_.is_upload(name)) {
            looked_at_[name] = object_from(key, {}, bucket_->owner);
            return std::optional(looked_at_[name]);
        }
    }
    // Looks for a file, then for a directory. A known kind saves one request.
    std::optional<ObjectInfo> info;
    if (!is_folder || !*is_folder) {
        FB_TRY_ASSIGN(looked, bucket_->look(key));
        info = std::move(looked);
    }
    if (!info && (!is_folder || *is_folder)) {
        FB_TRY_ASSIGN(looked, bucket_->look(key + "/"));
        info = std::move(looked);
        bool is_there = info.has_value();
        if (!info) {
            FB_TRY_ASSIGN(has, bucket_->has_prefix(key + "/"));
            is_there = has;
        }
        // A directory may exist without an object of its own.
        if (!info && is_there) info = object_from(key + "/", {}, bucket_->owner);
        if (info) {
            FB_TRY_ASSIGN(has_name, is_named({name, sys::EntryKind::folder}));
            if (!has_name) info.reset();
        }
    }
    remember(name, info);
    return info;
}

void S3Folder::remember(const std::string& name, const std::optional<ObjectInfo>& object) {
    const std::lock_guard lock(mutex_);
    if (looked_at_.size() >= looked_at_max) looked_at_.clear();
    if (object) looked_at_[name] = *object;
    else looked_at_.erase(name);
}

Result<ObjectInfo> S3Folder::recent(const std::string& name) {
    {
        const std::lock_guard lock(mutex_);
        if (const auto known = looked_at_.find(name); known != looked_at_.end()) return known->second;
    }
    FB_TRY_ASSIGN(info, find(name));
    if (!info) return missing_name(name);
    return *info;
}

Result<sys::EntryStatus> S3Folder::status_of(const std::string& name) {
    FB_TRY_ASSIGN(info, find(name));
    if (!info) return missing_name(name);
    return s3::status_of(*info, bucket_->number());
}

Result<std::string> S3Folder::link_text(const std::string& name) {
    FB_TRY_ASSIGN(object, recent(name));
    if (object.state.kind == sys::EntryKind::link) return object.state.link_text;
    return Error{ErrorKind::refused, show_text(name) + " is not a symbolic link"};
}

Result<std::vector<std::string>> S3Folder::attribute_names_of(const std::string& name) {
    FB_TRY_ASSIGN(object, recent(name));
    std::vector<std::string> names;
    for (const auto& [attribute_name, value] : object.state.attributes) names.push_back(attribute_name);
    return names;
}

Result<std::string> S3Folder::attribute_of(const std::string& name, const std::string& attribute_name) {
    FB_TRY_ASSIGN(object, recent(name));
    const auto attribute = object.state.attributes.find(attribute_name);
    if (attribute == object.state.attributes.end())
        return Error{ErrorKind::missing, show_text(name) + " has no attribute " + show_text(attribute_name)};
    return attribute->second;
}

Result<std::unique_ptr<sys::Folder>> S3Folder::open_folder(const std::string& name) {
    FB_TRY_ASSIGN(key, key_of(name));
    const auto below = key + "/";
    bool is_new = false;
    {
        const std::lock_guard lock(bucket_->making_mutex);
        is_new = bucket_->new_folders.contains(below);
    }
    auto object = object_from(below, {}, bucket_->owner);
    // The server has nothing of it yet.
    if (is_new) return std::unique_ptr<Folder>(std::make_unique<S3Folder>(bucket_, below, object, true));
    bool has_names = false;
    {
        const std::lock_guard lock(mutex_);
        has_names = names_.knows(name) && names_.is_folder(name);
        if (names_.is_complete() && !names_.knows(name)) return missing_name(name);
    }
    FB_TRY_ASSIGN(looked, bucket_->look(below));
    if (looked) {
        object = std::move(*looked);
    } else if (!has_names) {
        FB_TRY_ASSIGN(has, bucket_->has_prefix(below));
        if (!has) {
            FB_TRY_ASSIGN(other, bucket_->look(key));
            if (!other) return missing_name(name);
            return Error{ErrorKind::refused, show_text(name) + " is an object, not a directory"};
        }
    }
    FB_TRY_ASSIGN(contents, Directories(*bucket_).contents_of(below, true));
    if (!contents)
        return Error{ErrorKind::missing,
                     fmt::format("{} is only a name here: see its object {}", show_text(name), directory_record_name)};
    return std::unique_ptr<Folder>(std::make_unique<S3Folder>(bucket_, *contents, std::move(object), false));
}

Result<std::unique_ptr<sys::Folder>> S3Folder::open_made_folder(const std::string& name) {
    auto opened = open_folder(name);
    if (opened || opened.error().kind != ErrorKind::missing) return opened;
    FB_TRY_ASSIGN(key, key_of(name));
    {
        const std::lock_guard lock(bucket_->making_mutex);
        bucket_->new_folders.insert(key + "/");  // so that the next open_folder() finds it
    }
    return open_folder(name);
}

void S3Folder::expect_new() {
    {
        const std::lock_guard lock(bucket_->making_mutex);
        bucket_->new_folders.insert(prefix_);
    }
    const std::lock_guard lock(mutex_);
    is_new_ = true;
}

Result<std::unique_ptr<sys::OpenFile>> S3Folder::open_file(const std::string& name) {
    FB_TRY_ASSIGN(key, key_of(name));
    // An unfinished upload opens as an empty file: find() remembers it as such.
    if (is_temporary_of_mark(name)) static_cast<void>(find(name));
    {
        // An empty object needs no request to read.
        const std::lock_guard lock(mutex_);
        if (const auto known = looked_at_.find(name);
            known != looked_at_.end() && known->second.bytes == 0 && known->second.state.kind == sys::EntryKind::file)
            return open_object(*bucket_, known->second, "");
    }
    bool is_small = false;
    {
        const std::lock_guard lock(mutex_);
        is_small = names_.is_small(name);
    }
    std::string first;
    auto object = bucket_->read_first(key, is_small, first);
    if (!object && object.error().kind != ErrorKind::missing) return object.error();
    if (!object || !*object) return missing_name(name);
    if ((*object)->state.kind != sys::EntryKind::file)
        return Error{ErrorKind::refused, show_text(name) + " is not a file"};
    remember(name, *object);
    return open_object(*bucket_, std::move(**object), std::move(first));
}

// Finds an upload that another process has begun, so that this process can send parts of it. A killed run's upload is
// not joined here: begin() resumes it.
Result<std::unique_ptr<sys::OpenFile>> S3Folder::reopen_file(const std::string& name) {
    FB_TRY_ASSIGN(key, key_of(name));
    if (auto object = making(key)) return open_made(*bucket_, std::move(object));
    if (!is_temporary_of_mark(name)) return missing_name(name);
    FB_TRY_ASSIGN(joined, MadeObject::join(*bucket_, key));
    return open_made(*bucket_, std::move(joined));
}

Result<std::unique_ptr<sys::OpenEntry>> S3Folder::open_entry(const std::string& name) {
    FB_TRY_ASSIGN(key, key_of(name));
    if (auto object = making(key)) return std::unique_ptr<sys::OpenEntry>(open_made(*bucket_, std::move(object)));
    FB_TRY_ASSIGN(info, find(name));
    if (!info) return missing_name(name);
    return open_other(*bucket_, std::move(*info));
}

Result<bool> S3Folder::lies_in(const sys::EntryId& id) {
    if (id.device != bucket_->number()) return false;
    auto prefix = prefix_;
    for (;;) {
        // The number of each parent prefix is compared, up to the bucket.
        if (number_of_key(folder_key(prefix)) == id.number) return true;
        if (prefix.empty()) return false;
        prefix.pop_back();
        prefix.resize(prefix.rfind('/') == prefix.npos ? 0 : prefix.rfind('/') + 1);
    }
}

Result<std::unique_ptr<sys::Folder>> open_prefix(const std::shared_ptr<Bucket>& bucket, const std::string& prefix,
                                                 OpenPrefix how) {
    const auto key = folder_key(prefix);
    // The listing comes first: its error explains why a bucket cannot be read. A HEAD answer has no text.
    FB_TRY_ASSIGN(has, bucket->has_prefix(prefix));
    if (!has && !prefix.empty() && how == OpenPrefix::must_exist)
        return Error{ErrorKind::missing,
                     "there is no key in s3://" + bucket->name() + " begins with " + show_text(prefix)};
    FB_TRY_ASSIGN(contents, Directories(*bucket).contents_of(prefix, true));
    FB_TRY_ASSIGN(looked, bucket->look(key));
    auto object = looked ? std::move(*looked) : object_from(key, {}, bucket->owner);
    return std::unique_ptr<sys::Folder>(
        std::make_unique<S3Folder>(bucket, contents.value_or(prefix), std::move(object), false));
}

}  // namespace forebay::s3
