// Sorts the paths of a list: each run of paths that fits in memory goes to a spill file, and a merge of all runs fills
// the PathList.

#include <fmt/format.h>

#include <algorithm>

#include "core/base/bytes.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/sys/store.hpp"
#include "transfer/walk/path_list.hpp"

namespace forebay::tree {

namespace {

// Directory nodes are at most as deep; a name has at most 255 bytes.
constexpr std::size_t wished_folders_max = 10'000, wished_bytes_max = wished_folders_max * 256;
constexpr std::size_t shown_bytes_max = 100;
constexpr std::size_t list_buffer_bytes = 1u << 20;
// Memory of a path beside its bytes: its view, in a vector that may be growing.
constexpr std::size_t beside_names = 3 * sizeof(std::string_view);
// Buffer of a run while runs are merged; the minimum is for very many runs.
constexpr std::size_t run_bytes_min = 4u << 10, run_bytes_max = 256u << 10;

Error refused_path(const std::string& why, std::string_view path, const char* next) {
    return {ErrorKind::refused,
            fmt::format("the list has a path of more than {}: {}...", why, show_text(path.substr(0, shown_bytes_max))),
            "nothing was changed", next};
}

/// A sorted run in the file, read in order.
class PathRun {
public:
    PathRun(SpillFile& file, std::uint64_t begin, std::uint64_t end) : file_(&file), next_(begin), end_(end) {}

    void use(std::size_t buffer_bytes) { buffer_bytes_ = buffer_bytes; }
    std::string_view names() const { return names_; }
    /// Returns false at the end.
    Result<bool> go_on() {
        FB_TRY_ASSIGN(is_there, fill(path_length_bytes));
        if (!is_there) return false;
        const auto bytes = load_le<std::uint32_t>(bytes_of(text_).data() + at_);
        FB_TRY(fill(path_length_bytes + bytes));
        names_ = std::string_view(text_).substr(at_ + path_length_bytes, bytes);
        at_ += path_length_bytes + bytes;
        return true;
    }

private:
    Result<bool> fill(std::size_t bytes) {
        if (text_.size() - at_ >= bytes) return true;
        text_.erase(0, at_);
        at_ = 0;
        const auto had = text_.size();
        text_.resize(had + std::min<std::uint64_t>(std::max(buffer_bytes_, bytes), end_ - next_));
        FB_TRY(file_->read(next_, std::as_writable_bytes(std::span(text_).subspan(had))));
        next_ += text_.size() - had;
        return text_.size() >= bytes;
    }

    SpillFile* file_;
    std::uint64_t next_, end_;
    std::size_t buffer_bytes_ = run_bytes_max, at_ = 0;
    std::string text_;
    std::string_view names_;
};

class PathSorter {
public:
    PathSorter(bool by_nul, std::size_t memory_bytes) : by_nul_(by_nul), memory_bytes_(memory_bytes) {}

    /// The next bytes of the list. A path may continue in the next call.
    Result<> add(std::string_view text);
    Result<WishedRef> finish();

private:
    Result<> add_path(std::string_view path);
    Result<> keep(std::string_view names);
    Result<> spill();
    Result<> merge(PathList& paths);

    const bool by_nul_;
    const std::size_t memory_bytes_;
    std::string begun_;  // a path without its end yet
    std::string joined_;
    std::string text_;
    std::vector<std::string_view> names_;  // views of `text_`, which must not be reallocated while there are any
    SpillFile file_;
    std::uint64_t file_bytes_ = 0;
    std::vector<PathRun> runs_;
};

Result<> PathSorter::add(std::string_view text) {
    if (!by_nul_ && text.find('\0') != text.npos)
        return Error{ErrorKind::refused, "the list has a zero byte", "nothing was changed",
                     "give --null if a zero byte ends each of its paths"};
    while (!text.empty()) {
        const auto end = text.find(by_nul_ ? '\0' : '\n');
        const auto path = text.substr(0, end);
        if (end == text.npos || !begun_.empty()) begun_ += path;
        if (begun_.size() > wished_bytes_max)
            return refused_path(fmt::format("{} bytes", wished_bytes_max), begun_,
                                by_nul_ ? "end each path with a zero byte" : "write one path on each line");
        if (end == text.npos) return {};
        FB_TRY(add_path(begun_.empty() ? path : begun_));
        begun_.clear();
        text.remove_prefix(end + 1);
    }
    return {};
}

Result<> PathSorter::add_path(std::string_view path) {
    if (path.empty()) return {};
    if (path.starts_with('/'))
        return Error{ErrorKind::refused, "the list has " + show_text(path) + ": write paths relative to the source"};
    const auto whole = path;
    std::size_t folders = 0;
    joined_.clear();
    while (!path.empty()) {
        const auto name = path.substr(0, path.find('/'));
        path.remove_prefix(std::min(path.size(), name.size() + 1));
        if (name.empty() || name == ".") continue;
        if (name == "..") return Error{ErrorKind::refused, "the list has a path that leads upwards with \"..\""};
        if (++folders > wished_folders_max)
            return refused_path(fmt::format("{} directories", wished_folders_max), whole,
                                "give a directory above it, which includes all its entries");
        if (folders > 1) joined_.push_back('\0');
        joined_ += name;
    }
    return keep(joined_);
}

Result<> PathSorter::keep(std::string_view names) {
    const auto bytes = text_.size() + names.size();
    // Growing `text_` would move it below the views in `names_`, so a full text is spilled first.
    if (!names_.empty() && (bytes > text_.capacity() || bytes + names_.size() * beside_names > memory_bytes_))
        FB_TRY(spill());
    if (names_.empty()) text_.reserve(std::max(memory_bytes_, names.size()));  // untouched pages take no memory
    const auto at = text_.size();
    text_ += names;
    names_.push_back(std::string_view(text_).substr(at));
    return {};
}

Result<> PathSorter::spill() {
    std::ranges::sort(names_);
    const auto begin = file_bytes_;
    std::string buffer;
    const auto write = [&]() -> Result<> {
        FB_TRY(file_.write(file_bytes_, bytes_of(buffer)));
        file_bytes_ += buffer.size();
        buffer.clear();
        return {};
    };
    for (const auto names : names_) {
        append_names(buffer, names);
        if (buffer.size() >= list_buffer_bytes) FB_TRY(write());
    }
    FB_TRY(write());
    runs_.emplace_back(file_, begin, file_bytes_);
    names_.clear();
    text_.clear();
    return {};
}

Result<> PathSorter::merge(PathList& paths) {
    std::vector<PathRun*> heap;
    for (auto& run : runs_) {
        run.use(std::clamp(memory_bytes_ / runs_.size(), run_bytes_min, run_bytes_max));
        FB_TRY_ASSIGN(is_there, run.go_on());
        if (is_there) heap.push_back(&run);
    }
    const auto comes_later = [](const PathRun* run, const PathRun* other) { return run->names() > other->names(); };
    std::ranges::make_heap(heap, comes_later);
    while (!heap.empty()) {
        std::ranges::pop_heap(heap, comes_later);
        FB_TRY(paths.append(heap.back()->names()));
        FB_TRY_ASSIGN(is_there, heap.back()->go_on());
        if (is_there) std::ranges::push_heap(heap, comes_later);
        else heap.pop_back();
    }
    return {};
}

Result<WishedRef> PathSorter::finish() {
    FB_TRY(add_path(begun_));
    auto paths = std::make_shared<PathList>(memory_bytes_);
    if (runs_.empty()) {
        std::ranges::sort(names_);
        for (const auto names : names_) FB_TRY(paths->append(names));
    } else {
        FB_TRY(spill());
        names_ = {};
        text_ = {};
        FB_TRY(merge(*paths));
    }
    FB_TRY(paths->close());
    return paths;
}

}  // namespace

Result<WishedRef> path_list(std::string_view list, bool by_nul, std::size_t memory_bytes) {
    PathSorter sorter(by_nul, memory_bytes);
    FB_TRY(sorter.add(list));
    return sorter.finish();
}

Result<WishedRef> read_path_list(const std::string& file, bool by_nul) {
    FB_TRY_ASSIGN(opened, sys::posix_store().open(file, sys::Access::read));
    FB_TRY_ASSIGN(bytes, opened->size());
    PathSorter sorter(by_nul, TableLimits{}.list_bytes);
    std::string text;
    for (std::uint64_t offset = 0; offset < bytes; offset += text.size()) {
        text.resize(std::min<std::uint64_t>(list_buffer_bytes, bytes - offset));
        FB_TRY(opened->read(offset, std::as_writable_bytes(std::span(text))));
        FB_TRY(sorter.add(text));
    }
    return sorter.finish();
}

}  // namespace forebay::tree
