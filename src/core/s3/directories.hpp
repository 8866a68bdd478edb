// Directories of a run in a bucket. A rename takes effect at once, as in a file system, although keys cannot be
// renamed.
//
// The contents of a directory have keys that begin with the key at its creation. These keys never change. A rename puts
// an object below the new name, with the place of the contents. The name changes at the moment of this request. The
// request creates the object, or replaces the version that was read. So if several clients rename one directory or want
// one name, one of them succeeds. After a kill the directory has exactly one name.
//
// A directory keeps its parent. Records give other directories by the last part of their keys, so a run stays valid if
// all its keys get another prefix. Keys of directories end with "/".
//
// Threads: any, concurrently.

#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/s3/bucket.hpp"
#include "core/s3/directory_record.hpp"

namespace forebay::s3 {

class Directories {
public:
    explicit Directories(Bucket& bucket) : bucket_(bucket) {}

    /// Returns the key prefix of the directory's contents, or nothing if there is no such directory. `has_keys`: the
    /// caller knows that some keys begin with `key`, which saves a request.
    Result<std::optional<std::string>> contents_of(const std::string& key, bool has_keys = false);
    /// The same for a directory that is looked up often. The answer may be two seconds old.
    Result<std::optional<std::string>> recent_contents_of(const std::string& key);
    /// Succeeds if the directory exists already.
    Result<> make(const std::string& key);
    /// Renames within one directory, else `unsupported`. `missing` if `from` does not exist, `refused` if `to` exists.
    Result<> rename(const std::string& from, const std::string& to);
    /// Removes the directory with its contents and unfinished uploads. Returns false if it does not exist.
    Result<bool> remove(const std::string& key);

private:
    struct Found {
        DirectoryRecord record;
        std::string etag;  // empty: there is no record
    };
    Result<Found> load(const std::string& key);
    Result<bool> is_named(const std::string& key, const std::string& contents, const DirectoryRecord& owner);
    Result<std::optional<std::string>> put(const std::string& key, const DirectoryRecord& record,
                                           const std::string& etag);
    Result<bool> move(const std::string& from, const std::string& contents, const std::string& to);
    Result<bool> give_name(const std::string& to, const std::string& contents);
    Result<> drop_name(const std::string& key, const std::string& contents);
    Result<> drop_contents(const std::string& key);
    Result<> remove_contents(const std::string& prefix);
    Result<> see_conditions(const std::string& key, const std::string& text);
    void forget(const std::string& key);

    struct Recent {
        std::string contents;
        std::chrono::steady_clock::time_point until;
    };
    Bucket& bucket_;
    std::mutex mutex_;  // guards the members below
    std::map<std::string, Recent> recent_;
    bool has_conditions_ = false;
};

}  // namespace forebay::s3
