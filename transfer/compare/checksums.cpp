#include "transfer/compare/checksums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/base/crc32c.hpp"
#include "core/base/path.hpp"
#include "core/base/show_text.hpp"
#include "core/base/siphash.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/sys/store.hpp"
#include "core/sys/tree_place.hpp"
#include "transfer/copy/file_data.hpp"
#include "transfer/copy/make_file.hpp"
#include "transfer/copy/stored_layouts.hpp"
#include "transfer/tables/inode_map.hpp"
#include "transfer/walk/name_batch.hpp"
#include "transfer/walk/pulse.hpp"
#include "transfer/walk/walk.hpp"

namespace forebay::tree {

namespace {

constexpr std::size_t line_bytes_max = 64u << 10;  // a path of 4,000 directories
constexpr std::size_t digits = 8;

Error bad_line(std::string_view line) {
    return {ErrorKind::corrupt,
            fmt::format("this line is not part of a list of checksums: \"{}\"", show_text(line.substr(0, 100)))};
}

// A carriage return in a path is written as \r, so all real ones may be removed.
Error lines_of_windows(const std::string& list) {
    return {ErrorKind::refused, "its lines end with a carriage return, as on Windows", "nothing was changed",
            fmt::format("tr -d '\\r' < {} > LIST, then compare with LIST", show_text(list))};
}

std::string escaped(std::string_view path) {
    std::string text;
    for (const char c : path) {
        if (c == '\\') text += "\\\\";
        else if (c == '\n') text += "\\n";
        else if (c == '\r') text += "\\r";
        else text += c;
    }
    return text;
}

Result<std::string> path_from(std::string_view text) {
    std::string path;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '\\') {
            path += text[at];
            continue;
        }
        const char next = ++at < text.size() ? text[at] : ' ';
        if (next != '\\' && next != 'n' && next != 'r') return bad_line(text);
        path += next == 'n' ? '\n' : next == 'r' ? '\r' : '\\';
    }
    return path;
}

Error not_regular() { return {ErrorKind::missing, "it is not a regular file"}; }

// Key in a table of paths: the hash takes the place of an inode.
sys::EntryId key_of(const std::string& path) { return {0, siphash({}, std::as_bytes(std::span(path)))}; }

class LineReader {
public:
    static Result<LineReader> open(const std::string& path) {
        FB_TRY_ASSIGN(file, sys::posix_store().open(path, sys::Access::read));
        FB_TRY_ASSIGN(bytes, file->size());
        return LineReader(path, std::move(file), bytes);
    }
    const std::string& path() const { return path_; }

    /// Returns false at the end. A last line without a line end is an error: the list was cut.
    Result<bool> next(std::string& line) {
        auto end = text_.find('\n', at_);
        while (end == std::string::npos && offset_ < bytes_) {
            text_.erase(0, at_);
            at_ = 0;
            const auto had = text_.size();
            // No list has such lines. Stop before another file fills the memory.
            if (had > line_bytes_max) return bad_line(text_);
            text_.resize(had + std::min(buffer_bytes, bytes_ - offset_));
            FB_TRY(file_->read(offset_, std::as_writable_bytes(std::span(text_).subspan(had))));
            offset_ += text_.size() - had;
            end = text_.find('\n', had);
        }
        if (end == std::string::npos) return at_ == text_.size() ? Result<bool>(false) : bad_line(text_.substr(at_));
        line.assign(text_, at_, end - at_);
        at_ = end + 1;
        return true;
    }

private:
    LineReader(std::string path, std::unique_ptr<sys::File> file, std::uint64_t bytes)
        : path_(std::move(path)), file_(std::move(file)), bytes_(bytes) {}

    std::string path_;
    std::unique_ptr<sys::File> file_;
    std::uint64_t bytes_, offset_ = 0;
    std::string text_;
    std::size_t at_ = 0;
};

/// Opens files of a tree by path. The last directory stays open, because neighbours often come next.
class FileFinder {
public:
    FileFinder(FolderRef root, StoredLayouts& stored) : root_(std::move(root)), folder_(root_), stored_(stored) {}

    /// Returns null if the bytes are only in an archive and recall is not requested.
    Result<std::unique_ptr<sys::OpenFile>> open(const std::string& path) {
        const auto slash = path.rfind('/');
        const auto above = slash == std::string::npos ? std::string() : path.substr(0, slash);
        if (above != above_ || !device_) FB_TRY(enter(above));
        const auto name = slash == std::string::npos ? path : path.substr(slash + 1);
        if (!stored_.recalls()) {
            FB_TRY_ASSIGN(is_released, stored_.is_released(*folder_, *device_, name));
            if (is_released) return std::unique_ptr<sys::OpenFile>();
        }
        // Links and devices are refused like files without permission. The status tells which it was.
        auto file = folder_->open_file(name);
        if (file || file.error().kind != ErrorKind::refused) return file;
        const auto status = folder_->status_of(name);
        if (status && status->kind != sys::EntryKind::file) return not_regular();
        return file;
    }

private:
    Result<> enter(const std::string& above) {
        auto folder = root_;
        for (std::size_t begin = 0; begin < above.size();) {
            const auto end = std::min(above.find('/', begin), above.size());
            FB_TRY_ASSIGN(opened, folder->open_folder(above.substr(begin, end - begin)));
            folder = std::move(opened);
            begin = end + 1;
        }
        FB_TRY_ASSIGN(status, folder->status());
        device_ = status.id.device;
        folder_ = std::move(folder);
        above_ = above;
        return {};
    }

    FolderRef root_, folder_;
    StoredLayouts& stored_;
    std::optional<std::uint64_t> device_;  // of folder_
    std::string above_;
};

class SumCheck {
public:
    SumCheck(const CheckOptions& options, EntryLog& entry_log, CompareCounts& counts)
        : options_(options),
          entry_log_(entry_log),
          counts_(counts),
          share_(options.threads),
          stored_(options.recalls) {}

    Result<> run(LineReader list, const FolderRef& root);
    /// Call it after run().
    Result<bool> is_listed(const std::string& path) {
        FB_TRY_ASSIGN(known, listed_.find(key_of(path)));
        return known.has_value();
    }

private:
    Result<> read(TreeWorker& worker, LineReader& list, const FolderRef& root);
    void check(TreeWorker& worker, const FolderRef& root, const std::vector<FileSum>& sums);
    void check_one(FileFinder& finder, const FileSum& wanted, std::vector<std::byte>& buffer);

    const CheckOptions& options_;
    EntryLog& entry_log_;
    CompareCounts& counts_;
    WorkShare share_;
    StoredLayouts stored_;
    Pulse pulse_;
    InodeMap<bool> listed_;
};

Result<> SumCheck::run(LineReader list, const FolderRef& root) {
    Result<> done;
    FB_TRY(share_.run([&](TreeWorker& worker) { done = read(worker, list, root); }));
    return done;
}

Result<> SumCheck::read(TreeWorker& worker, LineReader& list, const FolderRef& root) {
    std::vector<FileSum> sums;
    const auto hand_over = [&] {
        // If enough batches wait, this worker checks the batch itself: waiting names would fill the memory.
        if (share_.waiting(worker) < names_waiting_max / batch_names(share_))
            share_.add(worker, [this, &root, given = sums](TreeWorker& other) { check(other, root, given); });
        else check(worker, root, sums);
        sums.clear();
    };
    std::string line;
    while (true) {
        FB_TRY_ASSIGN(is_there, list.next(line));
        if (!is_there) break;
        if (line.ends_with('\r')) return lines_of_windows(list.path());
        FB_TRY_ASSIGN(sum, file_sum_from(line));
        if (!options_.filter.takes(sum.path, sys::EntryKind::file)) continue;
        FB_TRY(listed_.put(key_of(sum.path), true));
        sums.push_back(std::move(sum));
        if (sums.size() == batch_names(share_)) hand_over();
    }
    check(worker, root, sums);
    return {};
}

void SumCheck::check(TreeWorker& worker, const FolderRef& root, const std::vector<FileSum>& sums) {
    FileFinder finder(root, stored_);
    for (const auto& wanted : sums) {
        if (share_.is_stopped()) return;
        check_one(finder, wanted, worker.buffer);
        ++counts_.entries;
        if (options_.watch) pulse_.beat([&] { options_.watch(counts_); });
    }
}

void SumCheck::check_one(FileFinder& finder, const FileSum& wanted, std::vector<std::byte>& buffer) {
    auto opened = finder.open(wanted.path);
    if (opened && !*opened) return entry_log_.add(EntryEvent::released, wanted.path, released_text(TreeSide::source));
    const auto sum = [&]() -> Result<FileSum> {
        FB_TRY_ASSIGN(file, std::move(opened));
        FB_TRY_ASSIGN(status, file->status());
        if (status.kind != sys::EntryKind::file) return not_regular();
        // Without reads: other sizes alone show a difference.
        if (status.bytes != wanted.bytes) return FileSum{.path = wanted.path, .bytes = status.bytes};
        if (!options_.reads_bytes) return wanted;
        return sum_of(*file, wanted.path, buffer);
    }();
    if (!sum && sum.error().kind == ErrorKind::missing)
        return entry_log_.add(EntryEvent::missing_in_target, wanted.path, sum.error().what);
    if (!sum) return entry_log_.add_error(wanted.path, sum.error());
    if (options_.reads_bytes) counts_.bytes += sum->bytes;
    if (sum->bytes != wanted.bytes)
        entry_log_.add(EntryEvent::differs, wanted.path,
                       fmt::format("{} and {}", show_count(wanted.bytes, "byte"), sum->bytes));
    else if (sum->crc32c != wanted.crc32c)
        entry_log_.add(EntryEvent::differs, wanted.path,
                       fmt::format("checksum {:08x} and {:08x}", wanted.crc32c, sum->crc32c));
}

}  // namespace

std::string line_of(const FileSum& sum) {
    return fmt::format("{:08x} {} {}", sum.crc32c, sum.bytes, escaped(sum.path));
}

Result<FileSum> file_sum_from(std::string_view line) {
    FileSum sum;
    const auto* const end = line.data() + line.size();
    if (line.size() <= digits) return bad_line(line);
    const auto crc = std::from_chars(line.data(), line.data() + digits, sum.crc32c, 16);
    if (crc.ec != std::errc{} || crc.ptr != line.data() + digits || *crc.ptr != ' ') return bad_line(line);
    const auto bytes = std::from_chars(crc.ptr + 1, end, sum.bytes);
    if (bytes.ec != std::errc{} || bytes.ptr == end || *bytes.ptr != ' ') return bad_line(line);
    FB_TRY_ASSIGN(path, path_from(line.substr(static_cast<std::size_t>(bytes.ptr - line.data()) + 1)));
    if (path.empty() || path.find('\0') != std::string::npos || path.find("//") != std::string::npos)
        return bad_line(line);
    sum.path = std::move(path);
    return sum;
}

Result<FileSum> sum_of(sys::OpenFile& file, std::string path, std::vector<std::byte>& buffer) {
    FB_TRY_ASSIGN(before, file.status());
    FileSum sum{.path = std::move(path), .bytes = before.bytes};
    buffer.resize(std::max<std::size_t>(buffer.size(), buffer_bytes));
    std::uint64_t offset = 0;
    while (offset < before.bytes) {
        FB_TRY_ASSIGN(got, file.read(offset, std::span(buffer).first(std::min(buffer_bytes, before.bytes - offset))));
        if (got == 0) break;
        sum.crc32c = crc32c(std::span(buffer).first(got), sum.crc32c);
        offset += got;
    }
    if (before.bytes == 0) FB_TRY(check_empty(file));
    FB_TRY_ASSIGN(after, file.status());
    // A sum over two states of a file would be wrong for both.
    if (!is_unchanged(before, after)) return Error{ErrorKind::retry, "it changed during the read"};
    if (offset < before.bytes) FB_TRY(check_ended(file, offset));
    return sum;
}

Result<> check_sums(const std::string& list, const std::string& root, const CheckOptions& options, EntryLog& entry_log,
                    CompareCounts& counts) {
    FB_TRY_ASSIGN(opened, sys::open_tree(root));
    FB_TRY_ASSIGN(lines, LineReader::open(list));
    std::string title;
    const auto has_title = lines.next(title);
    if (!has_title && has_title.error().kind != ErrorKind::corrupt) return has_title.error();
    if (title.ends_with('\r')) title.pop_back();  // the error on the next line explains it
    // A damaged list, or a newer version, has a similar title. Other files have none.
    if (!has_title || !*has_title || title != checksums_title)
        return Error{
            title.find("CRC32C") == title.npos ? ErrorKind::refused : ErrorKind::corrupt,
            fmt::format("{} is a file but not a list of checksums, and {} is a directory", show_text(list),
                        show_text(root)),
            "nothing was changed",
            fmt::format("to compare one file, give its copy {}/{}. Or give a list made by forebay walk --checksums",
                        show_text(root), show_text(leaf_of(list)))};
    SumCheck check(options, entry_log, counts);
    if (auto done = check.run(std::move(lines), FolderRef(std::move(opened))); !done)
        return with_context(done.error(), fmt::format("{}: {}", show_text(list), done.error().what));
    WalkCounts walked;
    const auto take = [&](std::span<const WalkedEntry> entries) -> Result<> {
        for (const auto& entry : entries) {
            if (entry.status.kind != sys::EntryKind::file) continue;
            FB_TRY_ASSIGN(is_listed, check.is_listed(entry.path));
            if (!is_listed) entry_log.add(EntryEvent::extra_in_target, entry.path, "it is not in the list");
        }
        return {};
    };
    return walk_tree(root,
                     {.threads = options.threads,
                      .filter = options.filter,
                      .one_file_system = options.one_file_system,
                      .take = take},
                     entry_log, walked);
}

}  // namespace forebay::tree
