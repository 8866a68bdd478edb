#include "transfer/archive/restore.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <numeric>
#include <set>

#include "core/base/bytes.hpp"
#include "core/base/path.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "transfer/archive/restorer.hpp"
#include "transfer/archive/ustar.hpp"
#include "transfer/walk/name_batch.hpp"
#include "transfer/walk/named_root.hpp"

namespace forebay::archive {

namespace {

using tree::DirNodeRef;
using tree::TreeSide;
using tree::TreeWorker;

struct OpenArchive {
    std::unique_ptr<sys::OpenFile> file;
    std::uint64_t bytes = 0;
};

struct KnownBeginning {
    std::string_view bytes;
    const char* what;
    const char* command = nullptr;  // command that makes a possible archive of it
};
constexpr std::array known_beginnings{KnownBeginning{"\x1f\x8b", "compressed by gzip", "gzip -dk"},
                                      KnownBeginning{"\xfd"
                                                     "7zXZ",
                                                     "compressed by xz", "xz -dk"},
                                      KnownBeginning{"\x28\xb5\x2f\xfd", "compressed by zstd", "zstd -dk"},
                                      KnownBeginning{"BZh", "compressed by bzip2", "bzip2 -dk"},
                                      KnownBeginning{"\x04\x22\x4d\x18", "compressed by lz4", "lz4 -dk"},
                                      KnownBeginning{"PK\x03\x04", "a ZIP file"},
                                      KnownBeginning{"\x89HDF\r\n", "an HDF5 file"},
                                      KnownBeginning{"CDF", "a netCDF file"},
                                      KnownBeginning{"\x7f"
                                                     "ELF",
                                                     "a program"}};

// True for a head of tar, even with some wrong bits: the file is then a damaged archive, not another kind of file.
bool is_like_head(const UstarBlock& block) {
    constexpr std::string_view magic = "ustar";
    constexpr std::size_t magic_wrong_max = 1;
    const auto wrong = std::inner_product(magic.begin(), magic.end(), block.magic, std::size_t{0}, std::plus<>(),
                                          std::not_equal_to<>());
    if (wrong <= magic_wrong_max) return true;
    const auto check = std::strtoll(std::string(block.check, sizeof block.check).c_str(), nullptr, 8);
    const bool is_of_zeros = ustar_check(block) == ustar_check(UstarBlock{});
    return is_of_zeros || check == ustar_check(block) || check == ustar_check<signed char>(block);
}

Result<> check_is_archive(sys::OpenFile& file, const std::string& path) {
    UstarBlock block{};  // an archive cut within it leaves zeros here
    FB_TRY_ASSIGN(got, file.read(0, std::as_writable_bytes(std::span(&block, 1))));
    const std::string_view text(reinterpret_cast<const char*>(&block), got);
    const auto known = std::ranges::find_if(known_beginnings,
                                            [&](const auto& beginning) { return text.starts_with(beginning.bytes); });
    if (known != known_beginnings.end() && known->command != nullptr)
        return Error{ErrorKind::refused, fmt::format("{} is {}: decompress it first", show_text(path), known->what), "",
                     fmt::format("{} {}", known->command, show_text(path))};
    if (is_like_head(block)) return {};
    const auto beginning = fmt::format("a file of another kind that begins with \"{}\"", show_text(text.substr(0, 16)));
    return Error{ErrorKind::refused,
                 fmt::format("{} is not a tar archive: it is {}", show_text(path),
                             known != known_beginnings.end() ? known->what : beginning),
                 "nothing was changed", "give an archive made by forebay archive or tar -c"};
}

Result<OpenArchive> open_archive(const std::string& path) {
    std::error_code missing;
    if (std::filesystem::is_fifo(path, missing))
        return Error{ErrorKind::refused,
                     show_text(path) + " is a pipe, and a restore reads the archive at many places at once",
                     "nothing was changed", "write it to a file first: cat > FILE.tar"};
    const auto real = std::filesystem::canonical(path, missing).string();
    if (missing)
        return Error{ErrorKind::missing, show_text(path) + ": " + missing.message(), "nothing was changed",
                     "correct the path of the archive"};
    FB_TRY_ASSIGN(named, tree::open_above(real));
    FB_TRY_ASSIGN(file, named.above->open_file(named.name));
    FB_TRY_ASSIGN(status, file->status());
    if (status.kind != sys::EntryKind::file)
        return Error{ErrorKind::refused,
                     fmt::format("{} is {}, not an archive", show_text(path),
                                 status.kind == sys::EntryKind::folder ? "a directory" : "not a file"),
                     "nothing was changed", "give the archive first: forebay restore-archive FILE TARGET"};
    FB_TRY(check_is_archive(*file, path));
    return OpenArchive{.file = std::move(file), .bytes = status.bytes};
}

struct OpenTarget {
    tree::FolderRef folder;
    bool was_made = false;
};

Result<OpenTarget> open_target(const std::string& target, const tree::RequestedLayout& layout) {
    auto existing = sys::open_posix_folder(target);
    OpenTarget opened;
    if (existing) {
        opened.folder = std::move(*existing);
        FB_TRY(tree::check_layout(layout, *opened.folder, target));
    } else if (existing.error().kind == ErrorKind::missing) {
        FB_TRY_ASSIGN(named, tree::open_above_new(target));
        FB_TRY(tree::check_layout(layout, *named.above, target));
        constexpr std::uint32_t closed_while_filled = 0700;
        FB_TRY(named.above->make_folder(named.name, closed_while_filled));
        FB_TRY_ASSIGN(folder, named.above->open_folder(named.name));
        opened.folder = std::move(folder);
        opened.was_made = true;
    } else {
        return existing.error();
    }
    FB_TRY_ASSIGN(is_ours, opened.folder->lock_alone());
    if (is_ours) return opened;
    return Error{ErrorKind::refused, "another process copies or restores to " + show_text(target),
                 "nothing was changed", "wait for it"};
}

// Name end of the mark of a running restore, after its temporary prefix. An old mark is left by a killed restore.
constexpr std::string_view mark_of_restore = "restore";

// Removes temporary names of killed restores.
class Sweep {
public:
    Sweep(tree::TargetParts& parts, std::span<const std::string> marks) : parts_(parts), marks_(marks) {}

    Result<> run(const DirNodeRef& root) {
        FB_TRY(parts_.share.run([&](TreeWorker& worker) { enter(worker, root); }));
        return parts_.failures.fatal();
    }

private:
    void enter(TreeWorker& worker, const DirNodeRef& dir_node) {
        if (const auto swept = sweep(worker, dir_node); !swept)
            parts_.failures.report(path_of(*dir_node), swept.error());
        tree::count_done(dir_node, parts_.folders, [](const DirNodeRef&) {});
    }

    Result<> sweep(TreeWorker& worker, const DirNodeRef& dir_node) {
        if (dir_node->parent) {
            FB_TRY_ASSIGN(above, parts_.folders.get(dir_node->parent, TreeSide::target));
            FB_TRY_ASSIGN(opened, above->open_folder(dir_node->name));
            FB_TRY_ASSIGN(status, opened->status());
            dir_node->status(TreeSide::target) = status;
            parts_.folders.keep(dir_node, TreeSide::target, std::move(opened));
        }
        FB_TRY_ASSIGN(folder, parts_.folders.get(dir_node, TreeSide::target));
        std::set<std::string> left;
        FB_TRY(folder->list([&](std::span<const sys::NamedEntry> names) -> Result<> {
            for (const auto& entry : names) {
                if (is_left(*dir_node, entry.name)) left.emplace(entry.name);
                if (entry.kind != sys::EntryKind::folder) continue;
                ++dir_node->pending;
                parts_.share.add(worker,
                                 [this, below = std::make_shared<tree::DirNode>(dir_node, std::string(entry.name))](
                                     TreeWorker& other) { enter(other, below); });
            }
            worker.share->relieve(worker);
            return {};
        }));
        for (const auto& name : left) FB_TRY(folder->remove(name));
        return {};
    }

    // Marks are removed after everything else.
    bool is_left(const tree::DirNode& dir_node, std::string_view name) const {
        if (!dir_node.parent && std::ranges::find(marks_, name) != marks_.end()) return false;
        return std::ranges::any_of(marks_, [&](std::string_view mark) {
            return name.starts_with(mark.substr(0, mark.size() - mark_of_restore.size()));
        });
    }

    tree::TargetParts& parts_;
    const std::span<const std::string> marks_;
};

// Marks of killed restores of any archive. This restore holds the target's lock, so no other is running.
Result<std::vector<std::string>> marks_in(sys::Folder& folder, std::size_t prefix_bytes) {
    std::vector<std::string> marks;
    FB_TRY(folder.list([&](std::span<const sys::NamedEntry> names) -> Result<> {
        for (const auto& entry : names)
            if (entry.name.size() == prefix_bytes + mark_of_restore.size() && entry.name.starts_with(".fb-") &&
                entry.name.ends_with(mark_of_restore))
                marks.emplace_back(entry.name);
        return {};
    }));
    return marks;
}

// Contents of the mark if that restore made the target: the target is closed until it is filled.
constexpr std::string_view made_the_target = "made\n";

constexpr const char* other_copy = "use another copy of the archive";

Error with_advice(Error error) {
    if (error.kind == ErrorKind::corrupt) {
        error.safe = "restored entries are whole. Nothing behind that place was read";
        if (error.next.empty()) error.next = other_copy;
    }
    return error;
}

}  // namespace

Result<> restore_open_archive(const RestoreEnds& ends, const tree::TreeCopyOptions& options, const MemberTaker& take,
                              tree::EntryLog& entry_log, tree::CopyCounts& counts) {
    tree::TargetParts parts(options, entry_log, counts, {.temporary_prefix = ends.temporary_prefix});
    FB_TRY(parts.naming.begin(ends.target));
    auto& folder = *ends.target;
    const auto make_root = [&]() -> Result<DirNodeRef> {
        const auto root = std::make_shared<tree::DirNode>(nullptr, "");
        FB_TRY_ASSIGN(status, folder.status());
        root->status(TreeSide::target) = status;
        FB_TRY_ASSIGN(gives_acl, tree::has_default_acl(folder));
        root->seen.gives_acl = gives_acl;
        parts.folders.keep(root, TreeSide::target, ends.target);
        return root;
    };
    // The mark must outlive all temporary names, also after a power cut.
    const auto sync = [&] { return parts.naming.waits_for_syncs() ? folder.sync_file_system() : Result<>(); };
    const auto mark = ends.temporary_prefix + std::string(mark_of_restore);
    bool was_made = ends.was_made;
    FB_TRY_ASSIGN(marks, was_made ? std::vector<std::string>() : marks_in(folder, ends.temporary_prefix.size()));
    if (!marks.empty()) {
        FB_TRY_ASSIGN(root, make_root());
        FB_TRY(Sweep(parts, marks).run(root));
        FB_TRY(sync());
    }
    for (const auto& left : marks) {
        FB_TRY_ASSIGN(status, folder.status_of(left));
        was_made = was_made || status.bytes > 0;
        FB_TRY(folder.remove(left));
    }
    FB_TRY_ASSIGN(root, make_root());
    root->was_made = was_made;
    FB_TRY_ASSIGN(marked, folder.make_file(mark, 0600));
    if (was_made) FB_TRY(marked->write(0, bytes_of(made_the_target)));
    FB_TRY(sync());
    const auto restored = [&]() -> Result<> {
        Restorer restorer(parts, ends.archive, ends.archive_bytes, root, true, take);
        auto done = restorer.run();
        // First the names are durable, then the mark goes: a power cut in between leaves the mark for the next sweep.
        FB_TRY(sync());
        FB_TRY(folder.remove(mark));
        FB_TRY(restorer.finish_folders());
        return done;
    }();
    if (options.syncs) FB_TRY(folder.sync_file_system());
    return restored;
}

Result<> restore_archive(const std::string& path, const std::string& target, const tree::TreeCopyOptions& options,
                         const MemberTaker& take, tree::EntryLog& entry_log, tree::CopyCounts& counts) {
    if (!options.preserve.hard_links)
        return Error{ErrorKind::refused,
                     "an archive stores the bytes of hard links once, so a restore cannot leave out hard-links"};
    if (options.layout.kind == tree::LayoutKind::source)
        return Error{ErrorKind::refused, "--layout source: an archive does not record the layout of its files"};
    FB_TRY_ASSIGN(archive, open_archive(path));
    if (options.is_dry) {
        tree::TargetParts parts(options, entry_log, counts, {});
        const auto listed = Restorer(parts, *archive.file, archive.bytes, nullptr, false, take).run();
        return listed ? entry_log.taken() : Result<>(with_advice(listed.error()));
    }
    FB_TRY_ASSIGN(opened, open_target(target, options.layout));
    const auto restored = restore_open_archive({.archive = *archive.file,
                                                .archive_bytes = archive.bytes,
                                                .target = opened.folder,
                                                .was_made = opened.was_made,
                                                .temporary_prefix = tree::temporary_prefix(path, target)},
                                               options, take, entry_log, counts);
    return restored ? entry_log.taken() : Result<>(with_advice(restored.error()));
}

Result<CheckedSums> check_archive(const std::string& path, const tree::TreeCopyOptions& options,
                                  const MemberTaker& take, tree::EntryLog& entry_log, tree::CopyCounts& counts) {
    FB_TRY_ASSIGN(archive, open_archive(path));
    tree::TargetParts parts(options, entry_log, counts, {});
    Restorer restorer(parts, *archive.file, archive.bytes, nullptr, true, take);
    if (auto read = restorer.run(); !read) {
        auto error = read.error();
        if (error.kind == ErrorKind::corrupt && error.next.empty()) error.next = other_copy;
        return error;
    }
    FB_TRY(entry_log.taken());
    return restorer.checked();
}

Result<> check_made_archive(sys::OpenFile& file, const tree::TreeCopyOptions& options) {
    auto plain = tree::TreeCopyOptions{.threads = options.threads};
    tree::EntryLog entry_log;
    tree::CopyCounts counts;
    tree::TargetParts parts(plain, entry_log, counts, {});
    FB_TRY_ASSIGN(status, file.status());
    FB_TRY(Restorer(parts, file, status.bytes, nullptr, true, {}).run());
    if (const auto first = entry_log.first(); !first.empty())
        return Error{ErrorKind::corrupt,
                     "the archive on storage differs from the bytes written: " + show_text(first.front().path) + ": " +
                         first.front().why,
                     "the source is unchanged, and the archive was removed", "check that storage"};
    return {};
}

}  // namespace forebay::archive
