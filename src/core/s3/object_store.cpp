#include "core/s3/object_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/base/attempt.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/s3/key.hpp"
#include "core/s3/key_pages.hpp"

namespace forebay::s3 {

namespace {

const std::string own_record = std::string("/") + directory_record_name;
constexpr std::string_view temporary_ending = ".tmp";
// The largest object that can be changed: it is read into memory and put again as a whole.
constexpr std::uint64_t changed_bytes_max = 1u << 30;

// Returns the final name of a temporary name: ".a.h5.4711-0123456789abcdef.tmp" and "a.h5.tmp" both become "a.h5".
std::string final_key_of(const std::string& key) {
    const auto slash = key.rfind('/') + 1;
    auto name = key.substr(slash);
    const bool is_beside = sys::is_temporary(name);
    name.resize(name.size() - temporary_ending.size());
    if (is_beside) name = name.substr(1, name.rfind('.') - 1);
    return key.substr(0, slash) + name;
}

class StoredObject final : public sys::File {
public:
    StoredObject(std::shared_ptr<Bucket> bucket, ObjectInfo object)
        : bucket_(std::move(bucket)), object_(std::move(object)) {}

    Result<> write(std::uint64_t, std::span<const std::byte>) override { return read_only(); }
    Result<> truncate(std::uint64_t) override { return read_only(); }
    Result<> sync() override { return {}; }
    Result<> close() override { return {}; }
    void reserve(std::uint64_t, std::uint64_t) override {}
    bool direct() const override { return false; }
    Result<std::uint64_t> size() override { return object_.bytes; }
    Result<> read(std::uint64_t offset, std::span<std::byte> bytes) override {
        if (offset > object_.bytes || bytes.size() > object_.bytes - offset)
            return Error{ErrorKind::corrupt, fmt::format("truncated: {} has {} bytes, but {} from {} on are needed",
                                                         name(), object_.bytes, bytes.size(), offset)};
        if (bytes.empty()) return {};
        FB_TRY_ASSIGN(is_same, bucket_->read(object_, {offset, offset + bytes.size()},
                                             [&](std::uint64_t at, std::span<const std::byte> part) -> Result<> {
                                                 std::memcpy(bytes.data() + at, part.data(), part.size());
                                                 return {};
                                             }));
        if (!is_same) return Error{ErrorKind::retry, name() + " was replaced during the read"};
        return {};
    }

private:
    std::string name() const { return fmt::format("s3://{}/{}", bucket_->name(), show_text(object_.key)); }
    Error read_only() const { return {ErrorKind::broken, name() + " was opened for reading"}; }

    const std::shared_ptr<Bucket> bucket_;
    const ObjectInfo object_;
};

class ObjectFile final : public sys::File {
public:
    /// A temporary file is published by a rename, and any other file by sync().
    ObjectFile(std::shared_ptr<Bucket> bucket, std::shared_ptr<ObjectParts> object, bool is_temporary)
        : bucket_(std::move(bucket)), object_(std::move(object)), is_temporary_(is_temporary) {}
    ~ObjectFile() override {
        // Publishes a file that was not closed. A destructor cannot report the error.
        static_cast<void>(attempt([this] { return ObjectFile::sync(); }));
    }

    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
        return object_->write(offset, bytes);
    }
    Result<> read(std::uint64_t offset, std::span<std::byte> bytes) override { return object_->read(offset, bytes); }
    Result<std::uint64_t> size() override { return object_->size(); }
    Result<> truncate(std::uint64_t size) override { return object_->resize(size); }
    void reserve(std::uint64_t, std::uint64_t) override {}
    void leave_zeros(std::uint64_t offset, std::uint64_t bytes) override { object_->leave_zeros(offset, bytes); }
    bool direct() const override { return false; }
    Result<> sync() override { return is_temporary_ ? Result<>() : object_->publish(); }
    Result<> close() override { return sync(); }

private:
    const std::shared_ptr<Bucket> bucket_;  // must outlive `object_`
    const std::shared_ptr<ObjectParts> object_;
    const bool is_temporary_;
};

}  // namespace

Error ObjectStore::missing(const std::string& path) const {
    return {ErrorKind::missing, fmt::format("there is no {}", show_text(path))};
}

Result<std::vector<std::string>> ObjectStore::parts_of(const std::string& path) const {
    FB_TRY_ASSIGN(place, place_from(path));
    if (place.bucket != bucket_->name())
        return Error{ErrorKind::broken, fmt::format("{} is not in the bucket {}", show_text(path), bucket_->name())};
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin < place.prefix.size();) {
        const auto end = place.prefix.find('/', begin);
        parts.push_back(place.prefix.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

// Upper directories are never renamed while a run uses them, so they may be cached. The last directory may be renamed.
Result<std::string> ObjectStore::key_of(const std::string& path) {
    FB_TRY_ASSIGN(parts, parts_of(path));
    if (parts.empty()) return Error{ErrorKind::refused, path + " is a bucket"};
    std::string prefix;
    for (std::size_t index = 0; index + 1 < parts.size(); ++index) {
        const auto key = prefix + parts[index] + "/";
        const bool is_last = index + 2 == parts.size();
        FB_TRY_ASSIGN(contents, is_last ? directories_.contents_of(key) : directories_.recent_contents_of(key));
        if (!contents) return missing(path);
        prefix = *contents;
    }
    return prefix + parts.back();
}

Result<std::string> ObjectStore::directory_key(const std::string& path) {
    FB_TRY_ASSIGN(parts, parts_of(path));
    if (parts.empty()) return std::string();
    FB_TRY_ASSIGN(key, key_of(path));
    return key + "/";
}

std::shared_ptr<ObjectParts> ObjectStore::making(const std::string& key, bool takes_it) {
    const std::lock_guard lock(mutex_);
    const auto match = making_.find(key);
    if (match == making_.end()) return nullptr;
    auto object = match->second;
    if (takes_it) making_.erase(match);
    return object;
}

Result<std::unique_ptr<sys::File>> ObjectStore::open(const std::string& path, sys::Access access) {
    if (sys::is_writing(access)) return open_written(path, access);
    FB_TRY_ASSIGN(key, key_of(path));
    FB_TRY_ASSIGN(object, bucket_->look(key));
    if (!object) return missing(path);
    return std::unique_ptr<sys::File>(std::make_unique<StoredObject>(bucket_, std::move(*object)));
}

Result<std::unique_ptr<sys::File>> ObjectStore::open_written(const std::string& path, sys::Access access) {
    FB_TRY_ASSIGN(key, key_of(path));
    const bool is_temporary = key.ends_with(temporary_ending);
    auto object = std::make_shared<ObjectParts>(*bucket_, is_temporary ? final_key_of(key) : key);
    if (!sys::is_emptying(access)) {
        // A temporary file that this Store is writing is not an object yet.
        if (auto pending = making(key, false))
            return std::unique_ptr<sys::File>(std::make_unique<ObjectFile>(bucket_, std::move(pending), is_temporary));
        FB_TRY_ASSIGN(there, bucket_->look(key));
        if (there && there->bytes > changed_bytes_max)
            return Error{ErrorKind::unsupported,
                         fmt::format("{} cannot be changed: S3 writes an object as a whole, and it has {} bytes",
                                     show_text(path), there->bytes)};
        if (there) FB_TRY(object->load(*there));
    }
    if (is_temporary) {
        const std::lock_guard lock(mutex_);
        making_[key] = object;
    }
    return std::unique_ptr<sys::File>(std::make_unique<ObjectFile>(bucket_, std::move(object), is_temporary));
}

Result<> ObjectStore::make_directories(const std::string& path) {
    FB_TRY_ASSIGN(parts, parts_of(path));
    std::string prefix;
    for (const auto& part : parts) {
        const auto key = prefix + part + "/";
        FB_TRY_ASSIGN(there, directories_.recent_contents_of(key));
        if (!there) FB_TRY(directories_.make(key));
        FB_TRY_ASSIGN(contents, directories_.recent_contents_of(key));
        if (!contents) return missing(path);
        prefix = *contents;
    }
    return {};
}

Result<> ObjectStore::make_directory(const std::string& path) {
    FB_TRY_ASSIGN(key, directory_key(path));
    return directories_.make(key);
}

Result<> ObjectStore::rename(const std::string& from, const std::string& to) {
    FB_TRY_ASSIGN(key, key_of(from));
    FB_TRY_ASSIGN(new_key, key_of(to));
    if (const auto object = making(key, false)) {
        FB_TRY(object->publish_as(new_key));
        making(key, true);
        return {};
    }
    FB_TRY_ASSIGN(object, bucket_->look(key));
    if (!object) return directories_.rename(key + "/", new_key + "/");
    // S3 has no rename: copy first, so that a kill leaves at least one of the two keys.
    FB_TRY(bucket_->copy(*object, new_key));
    return bucket_->remove(key);
}

Result<> ObjectStore::remove(const std::string& path) {
    const auto key = key_of(path);
    if (!key && key.error().kind == ErrorKind::missing) return {};
    FB_TRY(key);
    if (const auto object = making(*key, true)) {
        object->give_up();
        return {};
    }
    if (key->ends_with(temporary_ending)) {  // rarely an object; a look does not need the permission to remove
        FB_TRY_ASSIGN(there, bucket_->look(*key));
        if (!there) return {};
    }
    return bucket_->remove(*key);
}

Result<> ObjectStore::remove_tree(const std::string& path) {
    const auto key = key_of(path);
    if (!key && key.error().kind == ErrorKind::missing) return {};
    FB_TRY(key);
    FB_TRY_ASSIGN(was_directory, directories_.remove(*key + "/"));
    return was_directory ? Result<>() : bucket_->remove(*key);
}

Result<std::vector<sys::Entry>> ObjectStore::list(const std::string& path) {
    FB_TRY_ASSIGN(key, directory_key(path));
    FB_TRY_ASSIGN(prefix, directories_.contents_of(key));
    if (!prefix) return missing(path);
    std::vector<sys::Entry> entries;
    const auto add = [&](std::string_view part, bool is_directory, std::uint64_t bytes) {
        if (auto name = name_of_key_part(part))
            entries.push_back({.name = std::move(*name), .is_directory = is_directory, .size = bytes});
    };
    for (KeyPages pages(*bucket_, *prefix); pages.has_more();) {
        FB_TRY_ASSIGN(listing, pages.next());
        for (const auto& object : listing.objects)
            if (object.key != *prefix && !object.key.ends_with(own_record))
                add(std::string_view(object.key).substr(prefix->size()), false, object.bytes);
        for (const auto& below : listing.prefixes) {
            // A common prefix may be the former name of a renamed directory.
            FB_TRY_ASSIGN(contents, directories_.contents_of(below, true));
            if (contents)
                add(std::string_view(below).substr(prefix->size(), below.size() - prefix->size() - 1), true, 0);
        }
    }
    std::ranges::sort(entries, {}, &sys::Entry::name);
    return entries;
}

Result<bool> ObjectStore::exists(const std::string& path) {
    FB_TRY_ASSIGN(parts, parts_of(path));
    if (parts.empty()) {
        FB_TRY(bucket_->has_prefix(""));  // its error says why the bucket cannot be read
        return true;
    }
    const auto key = key_of(path);
    if (!key && key.error().kind == ErrorKind::missing) return false;
    FB_TRY(key);
    if (making(*key, false)) return true;
    const auto object = bucket_->look(*key);
    if (!object) FB_TRY(bucket_->has_prefix(""));  // a listing's error says why; a HEAD answer has no text
    FB_TRY(object);
    if (*object) return true;
    FB_TRY_ASSIGN(contents, directories_.contents_of(*key + "/"));
    return contents.has_value();
}

}  // namespace forebay::s3
