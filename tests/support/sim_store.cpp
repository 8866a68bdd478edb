#include "support/sim_store.hpp"

#include <algorithm>

#include "base/bytes.hpp"
#include "base/limits.hpp"

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

Error problem(ErrorKind kind, const char* call, const std::string& path, const char* what) {
    return {kind, std::string(call) + ": " + path + ": " + what + " (simulated disk)"};
}

void collect(const SimNode& directory, const std::string& prefix, std::vector<std::string>& paths) {
    for (const auto& [name, node] : directory.names) {
        paths.push_back(prefix + name + (node->is_directory ? "/" : ""));
        if (node->is_directory) collect(*node, prefix + name + "/", paths);
    }
}

}  // namespace

class SimFile final : public sys::File {
public:
    SimFile(SimStore& store, NodePtr node, std::string path, bool writable, bool direct)
        : store_(store),
          node_(std::move(node)),
          path_(std::move(path)),
          boot_(store.boots_),
          writable_(writable),
          direct_(direct) {}

    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
        const std::lock_guard lock(store_.mutex_);
        FB_TRY(alive());
        const auto begun = store_.begin(Op::write);
        if (begun || !store_.crashed_now()) {
            FB_TRY(may_write(offset, bytes));
            const auto kept = begun ? bytes : bytes.first(bytes.size() / 2);
            store_.disk_.write(*node_, offset, kept);
            store_.bytes_written_ += kept.size();
        }
        return begun;
    }

    Result<> read(std::uint64_t offset, std::span<std::byte> bytes) override {
        const std::lock_guard lock(store_.mutex_);
        FB_TRY(begin(Op::read));
        if (offset > node_->bytes.size() || bytes.size() > node_->bytes.size() - offset)
            return problem(ErrorKind::corrupt, "read", path_, "truncated");
        std::copy_n(node_->bytes.begin() + static_cast<std::ptrdiff_t>(offset), bytes.size(), bytes.begin());
        return {};
    }

    Result<std::uint64_t> size() override {
        const std::lock_guard lock(store_.mutex_);
        FB_TRY(begin(Op::size));
        return std::uint64_t{node_->bytes.size()};
    }

    Result<> truncate(std::uint64_t size) override {
        const std::lock_guard lock(store_.mutex_);
        FB_TRY(begin(Op::truncate));
        if (!writable_) return problem(ErrorKind::broken, "truncate", path_, "opened for reading");
        store_.disk_.cut(*node_, size);
        return {};
    }

    Result<> sync() override {
        const std::lock_guard lock(store_.mutex_);
        FB_TRY(alive());
        const auto begun = store_.begin(Op::sync);
        if (begun && sync_failed_) return problem(ErrorKind::retry, "sync", path_, "a sync failed before");
        if (begun) {
            store_.disk_.sync_file(*node_);
        } else if (!store_.crashed_now()) {
            sync_failed_ = true;
            store_.disk_.write_off(*node_);
        }
        return begun;
    }

    bool direct() const override { return direct_; }

    Result<> close() override {
        const std::lock_guard lock(store_.mutex_);
        if (closed_) return {};
        FB_TRY(begin(Op::close));
        closed_ = true;
        return {};
    }

private:
    Result<> alive() const {
        if (closed_) return problem(ErrorKind::broken, "file call", path_, "closed before");
        if (boot_ != store_.boots_) return problem(ErrorKind::broken, "file call", path_, "opened before the reboot");
        return {};
    }

    Result<> begin(Op kind) {
        FB_TRY(alive());
        return store_.begin(kind);
    }

    Result<> may_write(std::uint64_t offset, std::span<const std::byte> bytes) const {
        if (!writable_) return problem(ErrorKind::broken, "write", path_, "opened for reading");
        const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
        if (direct_ && ((offset | address | bytes.size()) & (limits::page_bytes - 1)) != 0)
            return problem(ErrorKind::broken, "write", path_, "not aligned for direct writing");
        return {};
    }

    SimStore& store_;
    const NodePtr node_;
    const std::string path_;
    const int boot_;
    const bool writable_;
    const bool direct_;
    bool closed_ = false;
    bool sync_failed_ = false;
};

std::unique_ptr<SimStore> SimStore::clone() const {
    const std::lock_guard lock(mutex_);
    return std::make_unique<SimStore>(disk_);
}

Result<> SimStore::begin(Op kind) {
    const int number = operations_++;
    const int call = calls_[static_cast<std::size_t>(kind)]++;
    if (crash_at_ >= 0 && number >= crash_at_) return Error{ErrorKind::broken, "the power is cut (simulated disk)"};
    const auto [first, last] = faults_.equal_range(kind);
    for (auto fault = first; fault != last; ++fault)
        if (call >= fault->second.from && call < fault->second.from + fault->second.times) return fault->second.error;
    return {};
}

NodePtr SimStore::find(const std::string& path) const {
    NodePtr node = disk_.root();
    for (const auto& part : parts_of(path)) {
        const auto child = node->names.find(part);  // a file has no names
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
    const std::lock_guard lock(mutex_);
    FB_TRY(begin(Op::open));
    const bool writable = access != sys::Access::read && access != sys::Access::read_direct;
    NodePtr node = find(path);
    if (node && node->is_directory) return problem(ErrorKind::refused, "open", path, "is a directory");
    if (!node && !writable) return problem(ErrorKind::missing, "open", path, "no such file");
    if (!node) {
        FB_TRY_ASSIGN(directory, directory_of(path, "open"));
        node = std::make_shared<SimNode>();
        disk_.add_name(directory, name_in(path), node);
    } else if (writable && !node->bytes.empty()) {
        disk_.cut(*node, 0);
    }
    const bool direct = direct_ && access == sys::Access::create_direct;
    return std::unique_ptr<sys::File>(std::make_unique<SimFile>(*this, node, path, writable, direct));
}

Result<> SimStore::make_directories(const std::string& path) {
    const std::lock_guard lock(mutex_);
    FB_TRY(begin(Op::make_directories));
    NodePtr node = disk_.root();
    for (const auto& part : parts_of(path)) {
        if (!node->names.contains(part)) {
            auto made = std::make_shared<SimNode>();
            made->is_directory = true;
            disk_.add_name(node, part, made);
        }
        node = node->names.at(part);
        if (!node->is_directory) return problem(ErrorKind::refused, "make directories", path, "a file is in the way");
    }
    return {};
}

Result<> SimStore::rename(const std::string& from, const std::string& to) {
    const std::lock_guard lock(mutex_);
    FB_TRY(begin(Op::rename));
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
    disk_.move_name(from_directory, name_in(from), to_directory, name_in(to));
    return {};
}

Result<> SimStore::remove(const std::string& path) {
    const std::lock_guard lock(mutex_);
    FB_TRY(begin(Op::remove));
    const NodePtr node = find(path);
    if (!node) return {};
    if (node->is_directory) return problem(ErrorKind::refused, "remove", path, "is a directory");
    FB_TRY_ASSIGN(directory, directory_of(path, "remove"));
    disk_.remove_name(directory, name_in(path));
    return {};
}

void SimStore::remove_below(const NodePtr& directory) {
    while (!directory->names.empty()) {
        const auto [name, node] = *directory->names.begin();
        remove_below(node);
        disk_.remove_name(directory, name);
    }
}

Result<> SimStore::remove_tree(const std::string& path) {
    const std::lock_guard lock(mutex_);
    FB_TRY(begin(Op::remove_tree));
    const NodePtr node = find(path);
    if (!node) return {};
    if (!node->is_directory) return problem(ErrorKind::refused, "remove tree", path, "is not a directory");
    FB_TRY_ASSIGN(directory, directory_of(path, "remove tree"));
    remove_below(node);
    disk_.remove_name(directory, name_in(path));
    return {};
}

Result<> SimStore::sync_directory(const std::string& path) {
    const std::lock_guard lock(mutex_);
    FB_TRY(begin(Op::sync_directory));
    const NodePtr node = find(path);
    if (!node) return problem(ErrorKind::missing, "sync directory", path, "no such directory");
    if (!node->is_directory) return problem(ErrorKind::refused, "sync directory", path, "is not a directory");
    disk_.sync_names(node);
    return {};
}

Result<std::vector<sys::Entry>> SimStore::list(const std::string& path) {
    const std::lock_guard lock(mutex_);
    FB_TRY(begin(Op::list));
    const NodePtr node = find(path);
    if (!node) return problem(ErrorKind::missing, "list", path, "no such directory");
    if (!node->is_directory) return problem(ErrorKind::refused, "list", path, "is not a directory");
    std::vector<sys::Entry> entries;
    for (const auto& [name, child] : node->names) entries.push_back({name, child->is_directory, child->bytes.size()});
    return entries;
}

Result<bool> SimStore::exists(const std::string& path) {
    const std::lock_guard lock(mutex_);
    FB_TRY(begin(Op::exists));
    return find(path) != nullptr;
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

void SimStore::settle() {
    const std::lock_guard lock(mutex_);
    disk_.settle();
    restart();
}

void SimStore::fail(Op kind, int nth, Error error, int times) {
    const std::lock_guard lock(mutex_);
    faults_.insert({kind, {calls_[static_cast<std::size_t>(kind)] + nth, times, std::move(error)}});
}

void SimStore::support_direct(bool yes) {
    const std::lock_guard lock(mutex_);
    direct_ = yes;
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
