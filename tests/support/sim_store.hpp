// A simulated disk behind sys::Store. It loses unsynced data, and fails on demand.
//
// Every call of the Store and its Files is one operation, numbered from 0. remove_tree counts one more for each name
// below, destructors count nothing. crash_before(n) cuts the power before operation n: it and all later operations fail
// until reboot(). Paths are relative to one root, with or without a leading slash. Thread-safe, also its Files.

#pragma once

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "core/sys/store.hpp"
#include "support/sim_disk.hpp"

namespace forebay::test {

enum class Op {
    open,
    write,
    read,
    size,
    truncate,
    reserve,
    sync,
    close,
    make_directories,
    make_directory,
    rename,
    remove,
    remove_tree,
    remove_below,  // one for each name under remove_tree; a crash leaves a part of the tree
    sync_directory,
    list,
    exists,
};
inline constexpr std::size_t op_kinds = 17;

class SimStore final : public sys::Store {
public:
    SimStore() = default;
    /// With a directory that exists before counting starts, such as the run's: drains never make it.
    explicit SimStore(const std::string& directory);
    /// A disk with the same content, synced and unsynced. It starts without counters, faults and open files.
    explicit SimStore(const SimDisk& disk) : disk_(disk) {}
    std::unique_ptr<SimStore> clone() const;

    Result<std::unique_ptr<sys::File>> open(const std::string& path, sys::Access access) override;
    Result<> make_directories(const std::string& path) override;
    Result<> make_directory(const std::string& path) override;
    Result<> rename(const std::string& from, const std::string& to) override;
    Result<> remove(const std::string& path) override;
    Result<> remove_tree(const std::string& path) override;
    Result<> sync_directory(const std::string& path) override;
    Result<std::vector<sys::Entry>> list(const std::string& path) override;
    Result<bool> exists(const std::string& path) override;
    Result<std::optional<sys::EntryId>> id_for_cut_renames(const std::string& path) override;

    /// The number of the next operation; after a clean run the number of all operations.
    int operations() const;
    /// The number of calls of a kind, for tests of costs.
    int calls(Op kind) const;
    std::uint64_t bytes_written() const;

    void crash_before(int operation);
    bool crashed() const;
    /// Ends the power cut. Open files stay dead, and faults are forgotten.
    void reboot(Survivors kept);
    /// Like reboot(), but keeps a random part of the unsynced changes: any subset of the name operations and of the
    /// 512-byte sectors of writes, and a new file length with or without its bytes. The same seed and operations give
    /// the same result.
    void reboot_torn(std::uint64_t seed);
    /// `way` 0 to 3: reboot(), with all or no unsynced names (bit 1) and bytes (bit 2). Larger numbers seed
    /// reboot_torn().
    void reboot_by(std::uint64_t way);
    static constexpr std::uint64_t whole_reboots = 4;
    /// Kills the programs but not the machine: no data is lost or becomes durable. Open files are dead.
    void kill_programs();
    /// Makes everything durable. Open files are dead.
    void settle();

    /// The `nth` call of `kind` from now on (0 is the next) and the `times` - 1 calls after it fail. A failed write has
    /// written half. After a failed sync the bytes are lost for good, as after a failed write-back.
    void fail(Op kind, int nth, Error error, int times = 1);
    /// From now on one call in `one_in` fails with EIO; half of the failing writes fail with ENOSPC. A failed write has
    /// written any part. 0 stops the faults. The same seed and calls give the same faults.
    void fail_by_seed(std::uint64_t seed, int one_in);
    /// The `nth` call of `kind` from now on and the `times` - 1 after it take effect `pause` later. Other calls
    /// overtake them.
    void delay(Op kind, int nth, std::chrono::milliseconds pause, int times = 1);

    /// If true, Access::create_direct gives direct files, which refuse unaligned writes.
    void support_direct(bool yes);

    /// As on DAOS: a rename at which the power is cut has made the new name, and the old name stays. Such entries lose
    /// their bytes if either name is removed.
    void cut_renames();

    /// Current bytes of a file, and every path ("a/b"; directories end in "/"). These calls are not numbered.
    std::optional<std::string> peek(const std::string& path) const;
    std::vector<std::string> paths() const;

private:
    friend class SimFile;

    struct Fault {
        int from = 0;
        int times = 0;
        Error error;
    };

    struct Delay {
        int from = 0;
        int times = 0;
        std::chrono::milliseconds pause{};
    };

    /// Counts the call and waits if a delay is due, without the lock. Fails if the power is cut or a fault is due.
    Result<> begin(Op kind, std::unique_lock<std::mutex>& lock);
    /// The number of bytes that a failing write of `bytes` bytes still writes.
    std::size_t short_write(std::size_t bytes);
    bool crashed_now() const { return crash_at_ >= 0 && operations_ > crash_at_; }
    NodePtr find(const std::string& path) const;
    Result<NodePtr> directory_of(const std::string& path, const char* call) const;
    Result<> remove_below(const NodePtr& directory, std::unique_lock<std::mutex>& lock);
    void restart();

    mutable std::mutex mutex_;
    SimDisk disk_;
    int operations_ = 0;
    int crash_at_ = -1;
    int boots_ = 0;
    bool direct_ = false, cuts_renames_ = false;
    std::uint64_t bytes_written_ = 0;
    std::array<int, op_kinds> calls_{};
    std::multimap<Op, Fault> faults_;
    std::multimap<Op, Delay> delays_;
    std::mt19937_64 dice_;
    int one_in_ = 0;
};

}  // namespace forebay::test
