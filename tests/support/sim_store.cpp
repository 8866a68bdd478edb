#include "support/sim_store.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#include "core/base/bytes.hpp"
#include "core/base/try.hpp"
#include "support/sim_file.hpp"

namespace forebay::test {

namespace {

std::vector<std::string> parts_of(const std::string& path) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at < path.size();) {
        const std::size_t end = std::min(path.find('/', at), path.size());
        const std::string part = path.substr(at, end - at);
        if (!part.empty() && part != ".") parts.push_back(part);
        at = end + 1;
    }
    return parts;
}

std::string name_in(const std::string& path) {
    const auto parts = parts_of(path);
    return parts.empty() ? std::string() : parts.back();
}

void collect(const SimNode& directory, const std::string& prefix, std::vector<std::string>& paths) {
    for (const auto& [name, node] : directory.names) {
        paths.push_back(prefix + name + (node->is_directory ? "/" : ""));
        if (node->is_directory) collect(*node, prefix + name + "/", paths);
    }
}

}  // namespace

std::unique_ptr<SimStore> SimStore::clone() const {
    const std::lock_guard lock(mutex_);
    auto copy = std::make_unique<SimStore>(disk_);
    copy->cuts_renames_ = cuts_renames_;
    return copy;
}

Result<> SimStore::begin(Op kind, std::unique_lock<std::mutex>& lock) {
    const int number = operations_++;
    const int call = calls_[static_cast<std::size_t>(kind)]++;
    const auto due = [&](const auto& entry) { return call >= entry.from && call < entry.from + entry.times; };
    const auto [late, last_late] = delays_.equal_range(kind);
    for (auto delay = late; delay != last_late; ++delay) {
        if (!due(delay->second)) continue;
        const int boot = boots_;
        const auto pause = delay->second.pause;  // a copy: the delays may be cleared while the lock is free
        lock.unlock();
        std::this_thread::sleep_for(pause);
        lock.lock();
        if (boots_ != boot) return Error{ErrorKind::broken, "the machine has restarted meanwhile (simulated disk)"};
        break;
    }
    if (crash_at_ >= 0 && number >= crash_at_) return Error{ErrorKind::broken, "the power is cut (simulated disk)"};
    const auto [first, last] = faults_.equal_range(kind);
    for (auto fault = first; fault != last; ++fault)
        if (due(fault->second)) return fault->second.error;
    if (one_in_ > 0 && dice_() % static_cast<std::uint64_t>(one_in_) == 0) {
        if (kind == Op::write && dice_() % 2 == 0) return Error{ErrorKind::full, "No space left (simulated disk)"};
        return Error{ErrorKind::retry, "Input/output error (simulated disk)"};
    }
    return {};
}

std::size_t SimStore::short_write(std::size_t bytes) {
    return one_in_ > 0 ? static_cast<std::size_t>(dice_() % (bytes + 1)) : bytes / 2;
}

NodePtr SimStore::find(const std::string& path) const {
    NodePtr node = disk_.root();
    for (const auto& part : parts_of(path)) {
        const auto child = node->names.find(part);  // the names of a file are empty
        if (child == node->names.end()) return nullptr;
        node = child->second;
    }
    return node;
}

Result<NodePtr> SimStore::directory_of(const std::string& path, const char* call) const {
    auto parts = parts_of(path);
    if (parts.empty()) return problem(ErrorKind::refused, call, path, "the root has no name");
    NodePtr node = disk_.root();
    parts.pop_back();
    for (const auto& part : parts) {
        const auto child = node->names.find(part);
        if (child == node->names.end()) return problem(ErrorKind::missing, call, path, "no such directory");
        node = child->second;
        if (!node->is_directory) return problem(ErrorKind::refused, call, path, "not a directory on the way");
    }
    return node;
}

Result<std::unique_ptr<sys::File>> SimStore::open(const std::string& path, sys::Access access) {
    static std::atomic<int> opened{0};
    const int writer = ++opened;
    std::unique_lock lock(mutex_);
    FB_TRY(begin(Op::open, lock));
    const bool writable = sys::is_writing(access);
    NodePtr node = find(path);
    if (node && node->is_directory) return problem(ErrorKind::refused, "open", path, "is a directory");
    if (!node && !writable) return problem(ErrorKind::missing, "open", path, "no such file");
    if (!node) {
        FB_TRY_ASSIGN(directory, directory_of(path, "open"));
        node = std::make_shared<SimNode>();
        disk_.add_name(directory, name_in(path), node);
    } else if (sys::is_emptying(access) && !node->bytes.empty()) {
        disk_.cut(*node, 0, writer);
    }
    const bool direct = direct_ && writable && sys::is_direct(access);
    return std::unique_ptr<sys::File>(std::make_unique<SimFile>(*this, node, path, writer, writable, direct));
}

SimStore::SimStore(const std::string& directory) {
    static_cast<void>(make_directories(directory));
    disk_.settle();
    operations_ = 0;
    calls_ = {};
}

Result<> SimStore::make_directories(const std::string& path) {
    std::unique_lock lock(mutex_);
    FB_TRY(begin(Op::make_directories, lock));
    NodePtr node = disk_.root();
    for (const auto& part : parts_of(path)) {
        if (!node->names.contains(part)) {
            auto new_node = std::make_shared<SimNode>();
            new_node->is_directory = true;
            disk_.add_name(node, part, new_node);
        }
        node = node->names.at(part);
        if (!node->is_directory) return problem(ErrorKind::refused, "make directories", path, "a file is in the way");
    }
    return {};
}

Result<> SimStore::make_directory(const std::string& path) {
    std::unique_lock lock(mutex_);
    FB_TRY(begin(Op::make_directory, lock));
    if (const NodePtr there = find(path))
        return there->is_directory ? Result<>()
                                   : problem(ErrorKind::refused, "make directory", path, "a file is there");
    FB_TRY_ASSIGN(parent, directory_of(path, "make directory"));
    auto new_node = std::make_shared<SimNode>();
    new_node->is_directory = true;
    disk_.add_name(parent, parts_of(path).back(), new_node);
    return {};
}

Result<> SimStore::rename(const std::string& from, const std::string& to) {
    std::unique_lock lock(mutex_);
    const bool is_cut = cuts_renames_ && operations_ == crash_at_;
    const auto begun = begin(Op::rename, lock);
    if (!is_cut) FB_TRY(begun);
    const NodePtr node = find(from);
    if (!node) return problem(ErrorKind::missing, "rename", from, "no such name");
    FB_TRY_ASSIGN(from_directory, directory_of(from, "rename"));
    FB_TRY_ASSIGN(to_directory, directory_of(to, "rename"));
    const NodePtr there = find(to);
    if (there == node) return {};
    if (there && there->is_directory != node->is_directory)
        return problem(ErrorKind::refused, "rename", to, "a file and a directory cannot replace each other");
    if (there && !there->names.empty()) return problem(ErrorKind::refused, "rename", to, "directory not empty");
    if ((to + "/").starts_with(from + "/"))
        return problem(ErrorKind::broken, "rename", to, "lies inside what is moved");
    if (is_cut) disk_.add_name(to_directory, name_in(to), node);
    else disk_.move_name(from_directory, name_in(from), to_directory, name_in(to));
    return begun;
}

Result<> SimStore::remove(const std::string& path) {
    std::unique_lock lock(mutex_);
    FB_TRY(begin(Op::remove, lock));
    const NodePtr node = find(path);
    if (!node) return {};
    if (node->is_directory) return problem(ErrorKind::refused, "remove", path, "is a directory");
    FB_TRY_ASSIGN(directory, directory_of(path, "remove"));
    if (cuts_renames_) disk_.cut(*node, 0, 0);  // a second name of the file loses the bytes too
    disk_.remove_name(directory, name_in(path));
    return {};
}

Result<> SimStore::remove_below(const NodePtr& directory, std::unique_lock<std::mutex>& lock) {
    while (!directory->names.empty()) {
        const auto [name, node] = *directory->names.begin();
        FB_TRY(remove_below(node, lock));
        FB_TRY(begin(Op::remove_below, lock));
        disk_.remove_name(directory, name);
    }
    return {};
}

Result<> SimStore::remove_tree(const std::string& path) {
    std::unique_lock lock(mutex_);
    FB_TRY(begin(Op::remove_tree, lock));
    const NodePtr node = find(path);
    if (!node) return {};
    if (!node->is_directory) return problem(ErrorKind::refused, "remove tree", path, "is not a directory");
    FB_TRY_ASSIGN(directory, directory_of(path, "remove tree"));
    FB_TRY(remove_below(node, lock));
    disk_.remove_name(directory, name_in(path));
    return {};
}

Result<> SimStore::sync_directory(const std::string& path) {
    std::unique_lock lock(mutex_);
    FB_TRY(begin(Op::sync_directory, lock));
    const NodePtr node = find(path);
    if (!node) return problem(ErrorKind::missing, "sync directory", path, "no such directory");
    if (!node->is_directory) return problem(ErrorKind::refused, "sync directory", path, "is not a directory");
    disk_.sync_names(node);
    return {};
}

Result<std::vector<sys::Entry>> SimStore::list(const std::string& path) {
    std::unique_lock lock(mutex_);
    FB_TRY(begin(Op::list, lock));
    const NodePtr node = find(path);
    if (!node) return problem(ErrorKind::missing, "list", path, "no such directory");
    if (!node->is_directory) return problem(ErrorKind::refused, "list", path, "is not a directory");
    std::vector<sys::Entry> entries;
    for (const auto& [name, child] : node->names) entries.push_back({name, child->is_directory, child->bytes.size()});
    return entries;
}

Result<bool> SimStore::exists(const std::string& path) {
    std::unique_lock lock(mutex_);
    FB_TRY(begin(Op::exists, lock));
    return find(path) != nullptr;
}

// Costs no operation, so that both kinds of disk number them alike.
Result<std::optional<sys::EntryId>> SimStore::id_for_cut_renames(const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (!cuts_renames_) return std::optional<sys::EntryId>();
    const NodePtr node = find(path);
    if (!node) return problem(ErrorKind::missing, "look", path, "no such name");
    return std::optional(sys::EntryId{.device = 1, .number = reinterpret_cast<std::uintptr_t>(node.get())});
}

int SimStore::operations() const {
    const std::lock_guard lock(mutex_);
    return operations_;
}

int SimStore::calls(Op kind) const {
    const std::lock_guard lock(mutex_);
    return calls_[static_cast<std::size_t>(kind)];
}

std::uint64_t SimStore::bytes_written() const {
    const std::lock_guard lock(mutex_);
    return bytes_written_;
}

void SimStore::crash_before(int operation) {
    const std::lock_guard lock(mutex_);
    crash_at_ = operation;
}

bool SimStore::crashed() const {
    const std::lock_guard lock(mutex_);
    return crashed_now();
}

void SimStore::restart() {
    crash_at_ = -1;
    ++boots_;
    faults_.clear();
    delays_.clear();
    one_in_ = 0;
}

void SimStore::reboot(Survivors kept) {
    const std::lock_guard lock(mutex_);
    disk_.power_cut(kept);
    restart();
}

void SimStore::reboot_torn(std::uint64_t seed) {
    const std::lock_guard lock(mutex_);
    std::mt19937_64 random(seed);
    disk_.power_cut(random);
    restart();
}

void SimStore::reboot_by(std::uint64_t way) {
    if (way < whole_reboots) reboot({.names = (way & 1) != 0, .bytes = (way & 2) != 0});
    else reboot_torn(way);
}

void SimStore::kill_programs() {
    const std::lock_guard lock(mutex_);
    restart();
}

void SimStore::settle() {
    const std::lock_guard lock(mutex_);
    disk_.settle();
    restart();
}

void SimStore::fail(Op kind, int nth, Error error, int times) {
    const std::lock_guard lock(mutex_);
    faults_.insert({kind, {calls_[static_cast<std::size_t>(kind)] + nth, times, std::move(error)}});
}

void SimStore::fail_by_seed(std::uint64_t seed, int one_in) {
    const std::lock_guard lock(mutex_);
    dice_.seed(seed);
    one_in_ = one_in;
}

void SimStore::delay(Op kind, int nth, std::chrono::milliseconds pause, int times) {
    const std::lock_guard lock(mutex_);
    delays_.insert({kind, {calls_[static_cast<std::size_t>(kind)] + nth, times, pause}});
}

void SimStore::support_direct(bool yes) {
    const std::lock_guard lock(mutex_);
    direct_ = yes;
}

void SimStore::cut_renames() {
    const std::lock_guard lock(mutex_);
    cuts_renames_ = true;
}

std::optional<std::string> SimStore::peek(const std::string& path) const {
    const std::lock_guard lock(mutex_);
    const NodePtr node = find(path);
    if (!node || node->is_directory) return std::nullopt;
    return std::string(text_of(node->bytes));
}

std::vector<std::string> SimStore::paths() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> paths;
    collect(*disk_.root(), "", paths);
    return paths;
}

}  // namespace forebay::test
