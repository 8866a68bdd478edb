// A container of DAOS as a Store, so that runs lie in it as on a file system. Paths are addresses,
// "daos://POOL/CONTAINER/PATH". A finished write, and a new name, are durable at once.
//
// Renames are atomic, because the container is mounted in the mode "balanced". Other clients, such as dfuse, may have
// left a cut rename: see sys::Store::id_for_cut_renames().

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/daos/object.hpp"
#include "core/daos/queues.hpp"
#include "core/sys/store.hpp"

namespace forebay::daos {

class DfsStore final : public sys::Store {
public:
    explicit DfsStore(std::shared_ptr<DfsContainer> container)
        : container_(std::move(container)), queues_(std::make_shared<DfsQueues>()) {}

    Result<std::unique_ptr<sys::File>> open(const std::string& path, sys::Access access) override;
    Result<> make_directories(const std::string& path) override;
    Result<> make_directory(const std::string& path) override;
    Result<> rename(const std::string& from, const std::string& to) override;
    Result<> remove(const std::string& path) override;
    Result<> remove_tree(const std::string& path) override;
    Result<> sync_directory(const std::string&) override { return {}; }
    Result<std::vector<sys::Entry>> list(const std::string& path) override;
    Result<bool> exists(const std::string& path) override;
    Result<std::optional<std::int64_t>> changed_unix_ns(const std::string& path) override;
    Result<std::optional<sys::EntryId>> id_for_cut_renames(const std::string& path) override;

private:
    /// A name in an open directory.
    struct Place {
        DfsObject directory;
        std::string name;
    };

    Result<std::string> below_root(const std::string& path) const;
    Result<DfsObject> look(const std::string& path, int flags) const;
    Result<Place> place_of(const std::string& path, int access) const;
    Result<struct stat> status_of(const Place& place, const std::string& path) const;
    Result<> remove_any(const std::string& path, bool is_tree);

    const std::shared_ptr<DfsContainer> container_;
    const std::shared_ptr<DfsQueues> queues_;
};

}  // namespace forebay::daos
