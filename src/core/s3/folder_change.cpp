// The calls that make, rename and remove entries in a directory of S3.

#include <algorithm>
#include <map>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/s3/key.hpp"
#include "core/s3/s3_folder.hpp"

namespace forebay::s3 {

std::shared_ptr<MadeObject> S3Folder::making(const std::string& key, bool takes_it) {
    const std::lock_guard lock(bucket_->making_mutex);
    const auto match = bucket_->making.find(key);
    if (match == bucket_->making.end()) return nullptr;
    auto object = match->second;
    if (takes_it) bucket_->making.erase(match);
    return object;
}

Result<> S3Folder::add_made(const std::string& name, ObjectState state) {
    FB_TRY_ASSIGN(key, key_of(name));
    FB_TRY(state.check_size());
    auto object = std::make_shared<MadeObject>(*bucket_, key, std::move(state));
    const std::lock_guard lock(bucket_->making_mutex);
    if (bucket_->making.try_emplace(key, std::move(object)).second) return {};
    return Error{ErrorKind::refused, show_text(name) + " is being made already"};
}

Result<std::unique_ptr<sys::OpenFile>> S3Folder::make_file(const std::string& name, std::uint32_t permissions) {
    FB_TRY(add_made(name, new_state(sys::EntryKind::file, permissions, bucket_->owner)));
    return reopen_file(name);
}

Result<> S3Folder::make_link(const std::string& name, const std::string& text) {
    auto state = new_state(sys::EntryKind::link, 0777, bucket_->owner);
    state.link_text = text;
    return add_made(name, std::move(state));
}

Result<> S3Folder::make_special(const std::string& name, const sys::EntryStatus& like) {
    auto state = new_state(like.kind, 0600, bucket_->owner);
    state.device_number = like.device_number;
    return add_made(name, std::move(state));
}

// Sends nothing. keep_set() puts the object later, when the contents are complete.
Result<> S3Folder::make_folder(const std::string& name, std::uint32_t) {
    FB_TRY_ASSIGN(key, key_of(name));
    FB_TRY_ASSIGN(existing, find(name));
    if (existing) return Error{ErrorKind::refused, show_text(name) + " exists already"};
    {
        const std::lock_guard lock(bucket_->making_mutex);
        bucket_->new_folders.insert(key + "/");
    }
    const std::lock_guard lock(mutex_);
    names_.put(name, sys::EntryKind::folder);
    return {};
}

Result<> S3Folder::keep_set() {
    const std::lock_guard lock(mutex_);
    if (info_.bytes > 0) return Error{ErrorKind::refused, bytes_of_folder(info_) + "; it stays"};
    if (!is_new_ && info_.state == kept_) return {};
    FB_TRY(bucket_->put(info_.key, info_.state, {}));
    kept_ = info_.state;
    if (!std::exchange(is_new_, false)) return {};
    const std::lock_guard making_lock(bucket_->making_mutex);
    bucket_->new_folders.erase(info_.key);
    return {};
}

Result<bool> S3Folder::names_folder(const std::string& name, const std::string& key) {
    {
        const std::lock_guard lock(mutex_);
        if (names_.knows(name)) return names_.is_folder(name);
        if ((is_new_ && names_.has_all()) || names_.is_complete()) return false;
    }
    return bucket_->has_prefix(key + "/");
}

Result<> S3Folder::rename(const std::string& name, const std::string& new_name) {
    FB_TRY_ASSIGN(key, key_of(name));
    FB_TRY_ASSIGN(new_key, key_of(new_name));
    const auto object = making(key);
    if (!object && is_mark(name) && is_mark(new_name)) return rename_upload(name, new_name);
    if (!object) return Error{ErrorKind::unsupported, "an object of S3 keeps its key"};
    // A key must not be both an object and the beginning of other keys.
    FB_TRY_ASSIGN(is_folder, names_folder(new_name, new_key));
    if (is_folder) return Error{ErrorKind::refused, show_text(new_name) + " is a directory"};
    FB_TRY(object->publish(new_key));
    making(key, true);
    const std::lock_guard lock(mutex_);
    names_.put(new_name, object->info.state.kind);
    looked_at_.erase(new_name);
    return {};
}

// Moves the mark: a later run that begins a file under the new name resumes the upload.
Result<> S3Folder::rename_upload(const std::string& name, const std::string& new_name) {
    FB_TRY_ASSIGN(key, key_of(name));
    FB_TRY_ASSIGN(new_key, key_of(new_name));
    FB_TRY_ASSIGN(text, bucket_->text_of(key));
    // The new mark comes first: after a kill the upload has at least one mark.
    FB_TRY(bucket_->put_text(new_key, text));
    FB_TRY(bucket_->remove(key));
    const std::lock_guard lock(mutex_);
    names_.drop(name);
    names_.put(new_name, sys::EntryKind::file);
    return {};
}

Result<> S3Folder::remove(const std::string& name) {
    FB_TRY_ASSIGN(key, key_of(name));
    if (const auto object = making(key, true)) {
        object->give_up();
        return {};
    }
    if (is_mark(name)) FB_TRY(MadeObject::remove_mark(*bucket_, key));
    else FB_TRY(bucket_->remove(key));
    const std::lock_guard lock(mutex_);
    names_.drop(name);
    looked_at_.erase(name);
    return {};
}

void S3Folder::remove_each(std::span<const std::string> names, const RemovedTaker& taker) {
    std::map<std::string, std::string> name_of_key;
    for (const auto& name : names) {
        const auto key = key_of(name);
        // A mark is removed together with its upload.
        if (!key || is_mark(name)) taker(name, remove(name));
        else name_of_key.emplace(*key, name);
    }
    while (!name_of_key.empty()) {
        std::vector<std::string> keys;
        for (const auto& [key, name] : name_of_key)
            if (keys.size() < Bucket::keys_max) keys.push_back(key);
        auto removed = bucket_->remove_all(keys);
        if (!removed && removed.error().kind == ErrorKind::unsupported) {  // the server does not support this request
            for (const auto& [key, name] : name_of_key) taker(name, remove(name));
            return;
        }
        std::map<std::string, Error> stayed;
        if (removed)
            for (const auto& failure : *removed)
                stayed.emplace(failure.key,
                               Error{ErrorKind::refused, show_text(failure.code) + ": " + show_text(failure.message)});
        for (const auto& key : keys) {
            const auto name = name_of_key.extract(key).mapped();
            if (!removed) taker(name, removed.error());
            else if (const auto problem = stayed.find(key); problem != stayed.end()) taker(name, problem->second);
            else taker(name, Result<>());
            const std::lock_guard lock(mutex_);
            names_.drop(name);
            looked_at_.erase(name);
        }
    }
}

Result<> S3Folder::remove_folder(const std::string& name) {
    FB_TRY_ASSIGN(key, key_of(name));
    Directories directories(*bucket_);
    FB_TRY_ASSIGN(contents, directories.contents_of(key + "/", true));
    if (!contents) return missing_name(name);
    // Three keys are enough: its own object, its record, and any other key.
    FB_TRY_ASSIGN(listing, bucket_->list({.prefix = *contents, .from = {}, .names_max = 3}));
    bool has_record = false, has_more = !listing.prefixes.empty();
    for (const auto& object : listing.objects) {
        const auto part = object.key.substr(contents->size());
        has_record = has_record || part == directory_record_name;
        has_more = has_more || (!part.empty() && part != directory_record_name);
    }
    if (has_more) return Error{ErrorKind::refused, show_text(name) + " is not empty"};
    if (has_record) FB_TRY(directories.remove(key + "/"));
    else FB_TRY(bucket_->remove(key + "/"));
    const std::lock_guard lock(mutex_);
    names_.drop(name);
    looked_at_.erase(name);
    return {};
}

}  // namespace forebay::s3
