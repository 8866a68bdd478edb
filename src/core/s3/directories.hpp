// Directories of a run in a bucket, which are renamed at once as those of a file system are, though keys are not.
//
// What is in a directory has keys that begin with the key under which it was made; these never change. A rename says
// where a directory has its contents now, in an object below its new name. The request that puts this one is the moment
// in which the name changes: an object is put where there was none, or over the version that was read. So of several
// that rename one directory, or reach for one name, one succeeds, and after a kill it has exactly one name.
//
// A directory stays in the one that it was made in: records name others by the last parts of their keys, so that a run
// whose keys get another prefix stays what it is. Keys of directories end with "/". Threads: any, at once.

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

    /// The prefix of what is in the directory of this key; nothing where there is no such directory. `has_keys`: that
    /// some begin with this one is known, and need not be asked.
    Result<std::optional<std::string>> contents_of(const std::string& key, bool has_keys = false);
    /// The same for a directory that is asked for again and again, as it was up to two seconds ago.
    Result<std::optional<std::string>> recent_contents_of(const std::string& key);
    /// One that is there is fine.
    Result<> make(const std::string& key);
    /// Within one directory, else `unsupported`. `missing` where there is no such directory, `refused` where there is
    /// one of the new name.
    Result<> rename(const std::string& from, const std::string& to);
    /// With all in it, uploads under way too. False where there is no such directory.
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
    std::mutex mutex_;  // guards what follows
    std::map<std::string, Recent> recent_;
    bool has_conditions_ = false;
};

}  // namespace forebay::s3
