// A bucket as a Store, so that runs lie in it as on a file system. Format: docs/formats/s3.md, "Runs". Paths are
// addresses, "s3://bucket/prefix/name".
//
// A written file appears when it is synced or closed. A file with a temporary name, which ends with ".tmp", appears
// when it is renamed; until then only this Store knows it. A file appears whole, and is durable then. This Store
// refuses files written by several machines, and changes to bytes that were sent.

#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/s3/bucket.hpp"
#include "core/s3/directories.hpp"
#include "core/s3/object_parts.hpp"
#include "core/sys/store.hpp"

namespace forebay::s3 {

class ObjectStore final : public sys::Store {
public:
    explicit ObjectStore(std::shared_ptr<Bucket> bucket) : bucket_(std::move(bucket)), directories_(*bucket_) {}

    Result<std::unique_ptr<sys::File>> open(const std::string& path, sys::Access access) override;
    Result<> make_directories(const std::string& path) override;
    Result<> make_directory(const std::string& path) override;
    Result<> rename(const std::string& from, const std::string& to) override;
    Result<> remove(const std::string& path) override;
    Result<> remove_tree(const std::string& path) override;
    Result<> sync_directory(const std::string&) override { return {}; }  // a name in a bucket is durable
    Result<std::vector<sys::Entry>> list(const std::string& path) override;
    Result<bool> exists(const std::string& path) override;

private:
    /// Returns the path below the bucket as key parts.
    Result<std::vector<std::string>> parts_of(const std::string& path) const;
    /// Returns the key of an entry in an existing directory, without "/" at its end. `missing` if the directory is
    /// missing.
    Result<std::string> key_of(const std::string& path);
    /// Returns the key of a directory. The directory may be missing.
    Result<std::string> directory_key(const std::string& path);
    Result<std::unique_ptr<sys::File>> open_written(const std::string& path, sys::Access access);
    std::shared_ptr<ObjectParts> making(const std::string& key, bool takes_it);
    Error missing(const std::string& path) const;

    const std::shared_ptr<Bucket> bucket_;
    Directories directories_;
    std::mutex mutex_;                                                      // guards `making_`
    std::unordered_map<std::string, std::shared_ptr<ObjectParts>> making_;  // by temporary key
};

}  // namespace forebay::s3
