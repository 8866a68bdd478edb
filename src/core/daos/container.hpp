// A mounted container of DAOS.
//
// Life: make_shared -> connect() -> open entries hold it -> the destructor unmounts
// Threads: all calls may run at once.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/daos/dfs.hpp"
#include "core/sys/daos_address.hpp"
#include "core/sys/tree.hpp"

namespace forebay::daos {

class DfsContainer {
public:
    DfsContainer(sys::DaosPlace place, sys::NewEntryOwner owner) : place_(std::move(place)), owner_(owner) {}
    DfsContainer(const DfsContainer&) = delete;
    DfsContainer& operator=(const DfsContainer&) = delete;
    ~DfsContainer();

    /// Connects for writing if this user may, else for reading. `makes`: makes a missing container.
    Result<> connect(bool makes);

    dfs_t* dfs() const { return dfs_; }
    /// O_RDWR or O_RDONLY: the most that an open entry in it can have.
    int access() const { return access_; }
    /// Identifies the container by its UUID, independent of its label.
    std::uint64_t number() const { return number_; }
    /// The permissions of a new entry after the umask.
    mode_t allowed(std::uint32_t permissions) const { return permissions & ~owner_.umask & 07777u; }
    std::string address() const { return std::string(sys::daos_scheme) + place_.pool + "/" + place_.container; }

private:
    int connect_as(int access);
    Result<> make();
    std::uint32_t ranks() const;
    void disconnect();
    Result<> find_number();
    Error refusal(int number) const;

    sys::DaosPlace place_;
    sys::NewEntryOwner owner_;
    bool is_started_ = false, has_pool_ = false, has_container_ = false;
    daos_handle_t pool_{}, container_{};
    dfs_t* dfs_ = nullptr;
    int access_ = O_RDWR;
    std::uint64_t number_ = 0;
};

}  // namespace forebay::daos
