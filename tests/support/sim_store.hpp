// A disk for tests behind sys::Store: it loses what was not synced, and fails when told to.
//
// Every call of the Store and of its Files is one operation, numbered from 0; remove_tree is one more for each name
// below, and destructors are none. crash_before(n) cuts the power before operation n: that operation and all later ones
// fail until reboot(). Paths are relative to one root, with or without a leading slash. Any number of threads may use a
// SimStore and its Files.

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
    remove_below,  // each name that remove_tree takes from a directory: a crash leaves a part of the tree
    sync_directory,
    list,
    exists,
};
inline constexpr std::size_t op_kinds = 17;

class SimStore final : public sys::Store {
public:
    SimStore() = default;
    /// With a directory that was there before anything is counted: a run's, which drains never make.
    explicit SimStore(const std::string& directory);
    /// A disk with the same content, synced and unsynced; counters, faults and open files stay with the old one.
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

    /// The next numbered operation, so after a clean run: how many there were.
    int operations() const;
    /// How often a kind was called, for tests of costs.
    int calls(Op kind) const;
    std::uint64_t bytes_written() const;

    void crash_before(int operation);
    bool crashed() const;
    /// Ends the power cut. Open files are dead, and faults are forgotten.
    void reboot(Survivors kept);
    /// As reboot(), keeping a random part of what was not synced: any subset of name operations and of the
    /// 512-byte sectors of writes, and a file's new length with or without the bytes that made it. The same seed
    /// after the same operations keeps the same.
    void reboot_torn(std::uint64_t seed);
    /// `way` 0 to 3: reboot() with all or nothing of unsynced names (1) and bytes (2); larger ones are seeds of
    /// reboot_torn().
    void reboot_by(std::uint64_t way);
    static constexpr std::uint64_t whole_reboots = 4;
    /// The programs are killed, the machine lives: nothing is lost and nothing more is durable; open files are dead.
    void kill_programs();
    /// Everything so far is durable; open files are dead.
    void settle();

    /// The `nth` call of `kind` from now on (0 is the next) fails, and `times` - 1 after it. A failing write has
    /// written half; a failing sync has lost the bytes for good, as after a lost write-back.
    void fail(Op kind, int nth, Error error, int times = 1);
    /// From now on one call in `one_in` fails: EIO, for writes as often ENOSPC, with any part of them written. 0: no
    /// more. The same seed and the same calls give the same faults.
    void fail_by_seed(std::uint64_t seed, int one_in);
    /// The `nth` call of `kind` from now on, and `times` - 1 after it, take effect `pause` later; others overtake them.
    void delay(Op kind, int nth, std::chrono::milliseconds pause, int times = 1);

    /// Whether Access::create_direct gives direct files, which then refuse what is not aligned.
    void support_direct(bool yes);

    /// Outside of the numbering: a file's bytes, and every path ("a/b"; directories end in "/"), as seen now.
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

    /// Counts the call, waits while a delay is due, for which it lets go of the lock; an Error if the power is cut or a
    /// fault is due.
    Result<> begin(Op kind, std::unique_lock<std::mutex>& lock);
    /// How much of a failing write of so many bytes is written.
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
    bool direct_ = false;
    std::uint64_t bytes_written_ = 0;
    std::array<int, op_kinds> calls_{};
    std::multimap<Op, Fault> faults_;
    std::multimap<Op, Delay> delays_;
    std::mt19937_64 dice_;
    int one_in_ = 0;
};

}  // namespace forebay::test
