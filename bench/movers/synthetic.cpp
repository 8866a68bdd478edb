// Trees of any size that lie nowhere, for what movers hold in memory: names and attributes are made up when they are
// asked for, so that 100 million entries need no inodes of a disk.
//
//     movers_synthetic walk | compare | copy  [ENTRIES [THREADS]]
//
// A fifth of the entries are files in ten huge folders, a thousandth lie along a chain of up to 1,000 folders; all
// others are in folders of 100: half of them files of one name, half names of inodes with four names each, which are a
// quarter of the tree apart, so that nearly all such inodes are known at once. Files are empty. Comparisons are with
// a second tree of the kind; copies go to a target that takes everything and keeps nothing. Prints an object of JSON.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "core/base/siphash.hpp"
#include "core/base/try.hpp"
#include "transfer/compare/compare.hpp"
#include "transfer/copy/copy.hpp"
#include "transfer/walk/walk.hpp"

using namespace forebay;
using sys::EntryKind;
using sys::EntryStatus;

namespace {

constexpr std::uint64_t huge_folders = 10, in_leaf = 100, leaves_in_middle = 1'000, names_of_inode = 4;
constexpr std::uint64_t number_bits = 56;  // of an inode's number; above them is what it is

enum class Place : std::uint64_t { root = 1, huge, chain, middle, leaf, file, inode };

std::uint64_t number_of(Place place, std::uint64_t index) {
    return static_cast<std::uint64_t>(place) << number_bits | index;
}

struct Shape {
    explicit Shape(std::uint64_t entries)
        : in_huge(entries / 5 / huge_folders),
          chain(std::min<std::uint64_t>(entries / 1'000, 1'000)),
          leaves(std::max<std::uint64_t>((entries - entries / 5) / (in_leaf + 1), 1)),
          middles((leaves + leaves_in_middle - 1) / leaves_in_middle),
          inodes(std::max<std::uint64_t>(leaves * in_leaf / 2 / names_of_inode, 1)) {}
    std::uint64_t in_huge, chain, leaves, middles, inodes;
};

struct Made {
    std::string name;
    Place place;
    std::uint64_t index;
};

Error no(const char* what) { return {ErrorKind::unsupported, std::string("a made tree has no ") + what}; }

template <class Interface>
class MadeEntry : public Interface {
public:
    explicit MadeEntry(const EntryStatus& status) : status_(status) {}
    Result<EntryStatus> status() override { return status_; }
    Result<std::vector<std::string>> attribute_names() override { return std::vector<std::string>(); }
    Result<std::string> attribute(const std::string&) override { return no("attributes"); }
    Result<> set_attribute(const std::string&, const std::string&) override { return {}; }
    Result<> remove_attribute(const std::string&) override { return {}; }
    Result<> set_owner(std::uint32_t, std::uint32_t) override { return {}; }
    Result<> set_permissions(std::uint32_t) override { return {}; }
    Result<> set_times(sys::FileTime, sys::FileTime) override { return {}; }

protected:
    EntryStatus status_;
};

class MadeFile final : public MadeEntry<sys::OpenFile> {
public:
    using MadeEntry::MadeEntry;
    Result<std::uint64_t> read(std::uint64_t, std::span<std::byte>) override { return std::uint64_t{0}; }
    Result<> write(std::uint64_t, std::span<const std::byte>) override { return {}; }
    Result<> resize(std::uint64_t) override { return {}; }
    Result<std::optional<sys::ByteStretch>> next_data(std::uint64_t) override {
        return std::optional<sys::ByteStretch>();
    }
    Result<std::uint64_t> copy_from(sys::OpenFile&, std::uint64_t, std::uint64_t) override { return std::uint64_t{0}; }
    Result<> sync() override { return {}; }
    void forget_cached() override {}
};

EntryStatus status_like(std::uint64_t device, EntryKind kind, std::uint64_t number, std::uint64_t names) {
    static const auto owner = sys::new_entry_owner();  // it asks the kernel
    return {.kind = kind,
            .permissions = kind == EntryKind::folder ? 0755u : 0644u,
            .user = owner.user,
            .group = owner.group,
            .names = names,
            .id = {device, number}};
}

/// What source and target have in common: names are of no use but to look them up, and nothing is kept.
class MadeFolder : public MadeEntry<sys::Folder> {
public:
    using MadeEntry::MadeEntry;
    Result<> list(const NameTaker&) override { return {}; }
    Result<EntryStatus> status_of(const std::string& name) override { return Error{ErrorKind::missing, name}; }
    Result<std::string> link_text(const std::string&) override { return no("links"); }
    Result<std::vector<std::string>> attribute_names_of(const std::string&) override { return attribute_names(); }
    Result<std::string> attribute_of(const std::string& name, const std::string&) override { return attribute(name); }
    Result<std::unique_ptr<sys::OpenFile>> open_file(const std::string& name) override {
        FB_TRY_ASSIGN(status, status_of(name));
        return std::unique_ptr<sys::OpenFile>(std::make_unique<MadeFile>(status));
    }
    Result<std::unique_ptr<sys::OpenFile>> reopen_file(const std::string& name) override { return open_file(name); }
    Result<std::unique_ptr<sys::OpenEntry>> open_entry(const std::string& name) override {
        FB_TRY_ASSIGN(file, open_file(name));
        return std::unique_ptr<sys::OpenEntry>(std::move(file));
    }
    Result<std::unique_ptr<sys::OpenFile>> make_file(const std::string&, std::uint32_t) override {
        const auto status = status_like(status_.id.device, EntryKind::file, status_.id.number + 1, 1);
        return std::unique_ptr<sys::OpenFile>(std::make_unique<MadeFile>(status));
    }
    Result<> make_folder(const std::string&, std::uint32_t) override { return {}; }
    Result<> make_link(const std::string&, const std::string&) override { return {}; }
    Result<> make_special(const std::string&, const EntryStatus&) override { return {}; }
    Result<> make_hard_link(const std::string&, sys::Folder&, const std::string&) override { return {}; }
    Result<> rename(const std::string&, const std::string&) override { return {}; }
    Result<> remove(const std::string&) override { return {}; }
    Result<> remove_folder(const std::string&) override { return {}; }
    Result<> sync_file_system() override { return {}; }
    Result<bool> lies_in(const sys::EntryId&) override { return false; }
};

/// A folder of the target is known by its path, so that it is the same one when it is opened again.
class TargetFolder final : public MadeFolder {
public:
    using MadeFolder::MadeFolder;
    Result<std::unique_ptr<sys::Folder>> open_folder(const std::string& name) override {
        auto key = std::to_string(status_.id.number) + "/" + name;
        const auto number = siphash({}, std::as_bytes(std::span(key)));
        return std::unique_ptr<sys::Folder>(
            std::make_unique<TargetFolder>(status_like(status_.id.device, EntryKind::folder, number, 2)));
    }
};

class SourceFolder final : public MadeFolder {
public:
    SourceFolder(const Shape& shape, std::uint64_t device, Place place, std::uint64_t index)
        : MadeFolder(status_like(device, EntryKind::folder, number_of(place, index), 2)),
          shape_(shape),
          place_(place),
          index_(index) {}

    Result<> list(const NameTaker& take) override {
        constexpr std::uint64_t at_once = 1'500;
        std::vector<std::string> names;
        std::vector<sys::NamedEntry> entries;
        for (std::uint64_t begin = 0; begin < count(); begin += at_once) {
            names.clear();
            entries.clear();
            const auto end = std::min(begin + at_once, count());
            names.reserve(end - begin);
            for (auto i = begin; i < end; ++i) {
                auto entry = child(i);
                const auto status = status_of_child(entry);
                names.push_back(std::move(entry.name));
                entries.push_back({names.back(), status.kind, status.id.number});
            }
            const auto taken = take(entries);
            if (!taken || taken.is_enough()) return taken;
        }
        return {};
    }

    // A name ends with the number that it has in its folder.
    Result<EntryStatus> status_of(const std::string& name) override {
        FB_TRY_ASSIGN(entry, child_of(name));
        return status_of_child(entry);
    }

    Result<std::unique_ptr<sys::Folder>> open_folder(const std::string& name) override {
        FB_TRY_ASSIGN(entry, child_of(name));
        return std::unique_ptr<sys::Folder>(
            std::make_unique<SourceFolder>(shape_, status_.id.device, entry.place, entry.index));
    }

private:
    std::uint64_t count() const {
        switch (place_) {
            case Place::root: return huge_folders + 1 + shape_.middles;
            case Place::huge: return shape_.in_huge;
            case Place::chain: return index_ + 1 < shape_.chain ? 2 : 1;
            case Place::middle: return std::min(leaves_in_middle, shape_.leaves - index_ * leaves_in_middle);
            default: return in_leaf;
        }
    }

    Made child(std::uint64_t i) const {
        const auto named = [i](const char* prefix, Place place, std::uint64_t index) {
            auto digits = std::to_string(i);
            digits.insert(0, digits.size() < 8 ? 8 - digits.size() : 0, '0');
            return Made{prefix + digits, place, index};
        };
        switch (place_) {
            case Place::root:
                if (i < huge_folders) return named("huge-", Place::huge, i);
                if (i == huge_folders) return named("chain-", Place::chain, 0);
                return named("case-", Place::middle, i - huge_folders - 1);
            case Place::huge: return named("snapshot-", Place::file, index_ * shape_.in_huge + i);
            case Place::chain:
                if (i == 0) return named("file-", Place::file, huge_folders * shape_.in_huge + index_);
                return named("below-", Place::chain, index_ + 1);
            case Place::middle: return named("run-", Place::leaf, index_ * leaves_in_middle + i);
            default: break;
        }
        const auto before = huge_folders * shape_.in_huge + shape_.chain + index_ * in_leaf;
        if (i < in_leaf / 2) return named("file-", Place::file, before + i);
        return named("link-", Place::inode, (index_ * in_leaf / 2 + i - in_leaf / 2) % shape_.inodes);
    }

    Result<Made> child_of(const std::string& name) const {
        std::uint64_t i = 0;
        const auto digits = std::string_view(name).substr(name.rfind('-') + 1);
        const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), i);
        if (read.ec == std::errc() && i < count())
            if (auto entry = child(i); entry.name == name) return entry;
        return Error{ErrorKind::missing, name};
    }

    EntryStatus status_of_child(const Made& entry) const {
        const bool is_folder = entry.place != Place::file && entry.place != Place::inode;
        const auto names = entry.place == Place::inode ? names_of_inode : is_folder ? 2 : 1;
        return status_like(status_.id.device, is_folder ? EntryKind::folder : EntryKind::file,
                           number_of(entry.place, entry.index), names);
    }

    const Shape& shape_;
    Place place_;
    std::uint64_t index_;
};

std::uint64_t peak_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmHWM:")) return std::strtoull(line.c_str() + 6, nullptr, 10) << 10;
    return 0;
}

// Of files that have no name, which spill files are.
std::uint64_t spilled_bytes() {
    std::uint64_t bytes = 0;
    std::error_code none;
    for (const auto& fd : std::filesystem::directory_iterator("/proc/self/fd", none)) {
        struct stat about {};
        if (::stat(fd.path().c_str(), &about) == 0 && S_ISREG(about.st_mode) && about.st_nlink == 0)
            bytes += static_cast<std::uint64_t>(about.st_blocks) * 512;
    }
    return bytes;
}

struct Outcome {
    std::uint64_t entries = 0;
    Result<> done;
};

Outcome run(const std::string& verb, const Shape& shape, std::uint32_t threads, tree::Remarks& remarks) {
    const auto root = [&](std::uint64_t device) {
        return std::make_shared<SourceFolder>(shape, device, Place::root, 0);
    };
    if (verb == "walk") {
        tree::WalkCounts counts;
        auto done = tree::walk_open_tree(root(1), {.threads = threads}, remarks, counts);
        std::uint64_t entries = 0;
        for (const auto& of_kind : counts.of_kind) entries += of_kind;
        return {entries - 1, std::move(done)};
    }
    if (verb == "compare") {
        tree::CompareCounts counts;
        auto done = tree::compare_open_trees(root(1), root(2), {.threads = threads}, remarks, counts);
        return {counts.entries, std::move(done)};
    }
    tree::CopyCounts counts;
    const tree::CopyRoots roots{.source = root(1),
                                .target = std::make_shared<TargetFolder>(status_like(2, EntryKind::folder, 1, 2)),
                                .was_made = true,
                                .temporary_prefix = ".fb-synthetic-"};
    auto done = tree::copy_open_trees(roots, {.threads = threads}, remarks, counts);
    return {counts.entries, std::move(done)};
}

}  // namespace

int main(int count, char** words) {
    const std::string verb = count > 1 ? words[1] : "";
    if (count > 4 || (verb != "walk" && verb != "compare" && verb != "copy")) {
        std::fputs("usage: movers_synthetic walk | compare | copy  [ENTRIES [THREADS]]\n", stderr);
        return 2;
    }
    const auto entries = std::max(count > 2 ? std::strtoull(words[2], nullptr, 10) : 1'000'000ull, 1'000ull);
    const auto threads = static_cast<std::uint32_t>(count > 3 ? std::strtoul(words[3], nullptr, 10) : 2);
    const Shape shape(entries);
    std::atomic<std::uint64_t> spilled{0};
    std::jthread looks([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            spilled = std::max<std::uint64_t>(spilled, spilled_bytes());
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
    });
    tree::Remarks remarks;
    const auto begin = std::chrono::steady_clock::now();
    const auto outcome = run(verb, shape, threads, remarks);
    const std::chrono::duration<double> lasted = std::chrono::steady_clock::now() - begin;
    if (!outcome.done || !remarks.first().empty()) {
        const auto& first = remarks.first();
        std::fprintf(
            stderr, "movers_synthetic %s: %s\n", verb.c_str(),
            outcome.done ? (first[0].path + ": " + first[0].why).c_str() : outcome.done.error().text().c_str());
        return 1;
    }
    std::printf(
        "{\"verb\": \"%s\", \"entries\": %llu, \"linked_inodes\": %llu, \"seconds\": %.3f, "
        "\"peak_bytes\": %llu, \"spilled_bytes\": %llu}\n",
        verb.c_str(), static_cast<unsigned long long>(outcome.entries), static_cast<unsigned long long>(shape.inodes),
        lasted.count(), static_cast<unsigned long long>(peak_bytes()), static_cast<unsigned long long>(spilled.load()));
    return 0;
}
