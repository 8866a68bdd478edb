// A bucket as a Store, so that runs lie in it as they do on a file system: docs/formats/s3.md, "Runs". Paths are
// addresses, "s3://bucket/prefix/name".
//
// A file that is written shows when it is synced or closed, and one with a temporary name, which ends with ".tmp", when
// it is renamed: until then it is known to this Store alone. It shows whole, and is durable then. Where a Store asks
// that a file is written by several machines, or changed in the middle of what was sent, this one refuses.

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
    Result<> sync_directory(const std::string&) override { return {}; }  // what has a name is durable
    Result<std::vector<sys::Entry>> list(const std::string& path) override;
    Result<bool> exists(const std::string& path) override;

private:
    /// The parts of a path below the bucket, as keys have them.
    Result<std::vector<std::string>> parts_of(const std::string& path) const;
    /// The key of an entry whose directory is there, without a "/" at its end; `missing` where it is not.
    Result<std::string> key_of(const std::string& path);
    /// The key of a directory that may be missing.
    Result<std::string> directory_key(const std::string& path);
    Result<std::unique_ptr<sys::File>> open_written(const std::string& path, sys::Access access);
    std::shared_ptr<ObjectParts> making(const std::string& key, bool takes_it);
    Error missing(const std::string& path) const;

    const std::shared_ptr<Bucket> bucket_;
    Directories directories_;
    std::mutex mutex_;                                                      // guards what follows
    std::unordered_map<std::string, std::shared_ptr<ObjectParts>> making_;  // by the keys of temporary names
};

}  // namespace forebay::s3
