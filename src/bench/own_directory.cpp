#include "bench/own_directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/base/bytes.hpp"
#include "core/base/try.hpp"
#include "core/sys/local_file.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/private_file.hpp"
#include "core/sys/process.hpp"
#include "core/sys/store.hpp"

namespace forebay::bench {

namespace {

constexpr std::string_view own_prefix = "forebay-bench-";
constexpr const char* mark_name = ".forebay-bench";
constexpr std::uint64_t mark_bytes_max = 4096;
// More leftovers than this do not come from killed jobs, and a longer list is not read.
constexpr std::size_t leftovers_told_max = 8;

// Lines of a mark: host, boot id, process.
std::string mark_head() { return fmt::format("{}\n{}\n", sys::host_name(), sys::boot_id()); }
std::string own_mark() { return fmt::format("{}{}\n", mark_head(), sys::process_id()); }

std::string mark_path(const std::string& own) { return own + "/" + mark_name; }

Result<sys::FileLock> write_mark(const std::string& own) {
    auto& store = sys::posix_store();
    // Lock before text: a readable mark without a lock belongs to a dead process.
    auto lock = sys::FileLock::take(mark_path(own));
    if (!lock && lock.error().kind != ErrorKind::unsupported) return lock;
    FB_TRY_ASSIGN(file, store.open(mark_path(own), sys::Access::update));
    FB_TRY(file->write(0, bytes_of(own_mark())));
    FB_TRY(file->close());
    // Without locks nobody can see that this process is dead: its leftovers are reported and stay.
    return lock ? std::move(*lock) : sys::FileLock();
}

// The owner, if the text can be read.
std::string owner_in(const std::string& text) {
    const auto host = text.substr(0, text.find('\n'));
    const auto process = text.substr(std::min(text.size(), text.find('\n', std::min(text.size(), host.size() + 1))));
    std::string number;
    for (const char letter : process)
        if (letter >= '0' && letter <= '9') number += letter;
    return fmt::format("process {} on {}", number, host);
}

std::string told_of(const std::string& path) {
    const auto about = sys::look_at(path);
    if (!about) return {};
    if (about->owner != sys::user_id())
        return fmt::format("{} belongs to a benchmark of {}", path, sys::user_name(about->owner));
    const auto text = sys::read_text(sys::posix_store(), mark_path(path), mark_bytes_max);
    if (!text || text->empty())
        return fmt::format("{} belongs to a benchmark that is starting, or was killed: if no benchmark runs, remove it",
                           path);
    if (!text->starts_with(mark_head()))
        return fmt::format("{} belongs to a benchmark, {}: if it has ended, remove the directory", path,
                           owner_in(*text));
    if (*text == own_mark()) return {};  // of this process, for another of its directories
    const auto lock = sys::FileLock::take(mark_path(path));
    if (!lock && lock.error().kind == ErrorKind::retry)
        return fmt::format("{} belongs to a benchmark that runs now, {}: both are slower", path, owner_in(*text));
    if (!lock)
        return fmt::format("{} belongs to a benchmark, {}: if it has ended, remove the directory", path,
                           owner_in(*text));
    const auto removed = sys::posix_store().remove_tree(path);
    if (!removed) return fmt::format("{} was left by a killed benchmark: {}", path, removed.error().what);
    return fmt::format("{} was left by a killed benchmark, {}, and is removed", path, owner_in(*text));
}

}  // namespace

std::string new_bench_id() { return fmt::format("{}{:016x}", own_prefix, sys::random_u64()); }

Result<> remove_own(const OwnPath& own) {
    FB_TRY(sys::posix_store().remove_tree(own.path));
    if (!own.created.empty()) FB_TRY(sys::remove_empty(own.created));
    return {};
}

Result<OwnDirectory> OwnDirectory::make(const std::string& directory, const std::string& id, Access access) {
    auto& store = sys::posix_store();
    OwnDirectory own;
    FB_TRY_ASSIGN(there, store.exists(directory));
    if (!there) {
        const auto outcome = store.make_directory(directory);
        if (!outcome)
            return with_context(outcome.error(), fmt::format("{} cannot be made: {}", directory, outcome.error().what),
                                "", "give an existing directory, or mkdir -p " + directory);
        own.own_.created = directory;
    }
    own.own_.path = directory + "/" + id;
    FB_TRY(access == Access::is_private ? sys::make_private_directory(own.own_.path)
                                        : store.make_directory(own.own_.path));
    FB_TRY_ASSIGN(lock, write_mark(own.own_.path));
    own.lock_ = std::move(lock);
    return own;
}

OwnDirectory::OwnDirectory(OwnDirectory&& other) noexcept
    : own_(std::exchange(other.own_, {})), lock_(std::move(other.lock_)) {}

OwnDirectory::~OwnDirectory() {
    // After the benchmark's results. A directory that stays is found by its name.
    if (!own_.path.empty()) (void)remove_own(own_);
}

std::vector<std::string> remove_leftovers(const std::string& directory) {
    std::vector<std::string> lines;
    const auto entries = sys::posix_store().list(directory);
    if (!entries) return lines;
    std::size_t more = 0;
    for (const auto& entry : *entries) {
        if (!entry.is_directory || entry.is_link || !entry.name.starts_with(own_prefix)) continue;
        auto line = told_of(directory + "/" + entry.name);
        if (line.empty()) continue;
        if (lines.size() < leftovers_told_max) lines.push_back(std::move(line));
        else ++more;
    }
    if (more > 0) lines.push_back(fmt::format("{} more such directories are in {}", more, directory));
    return lines;
}

}  // namespace forebay::bench
