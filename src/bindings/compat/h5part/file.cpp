// Opening and closing, and the common parts of all calls with a handle.

#include "bindings/compat/h5part/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "core/base/try.hpp"

namespace forebay::h5part {

namespace {

constexpr int mode_bits = H5PART_READ | H5PART_WRITE | H5PART_APPEND;

// In the order of their opening, which is the same on all ranks.
std::vector<H5PartFile*>& open_files() {
    static std::vector<H5PartFile*> files;
    return files;
}

Result<> check_flags(char flags) {
    const int mode = flags & mode_bits;
    if (mode != H5PART_READ && mode != H5PART_WRITE && mode != H5PART_APPEND)
        return Error{ErrorKind::refused,
                     fmt::format("the flags {:#x} must be one of H5PART_READ, WRITE and APPEND.", flags)};
    return {};
}

Result<std::string> checked_path(const char* name, char flags, std::int64_t align) {
    if (name == nullptr || *name == '\0') return Error{ErrorKind::refused, "the file has no name."};
    FB_TRY(check_flags(flags));
    if (align < 0) return Error{ErrorKind::refused, fmt::format("the alignment {} is refused.", align)};
    std::error_code failed;
    const auto absolute = std::filesystem::absolute(name, failed);
    if (failed)
        return Error{ErrorKind::broken, fmt::format("the absolute path of {} is unknown: {}", name, failed.message()),
                     "", "open it by its absolute path"};
    return absolute.lexically_normal().string();
}

Result<std::unique_ptr<H5PartFile>> open_checked(const char* name, char flags, const SessionRanks& ranks,
                                                 std::int64_t align) {
    const auto path = checked_path(name, flags, align);
    FB_TRY(comm::agree(*ranks.world, path ? Result<>() : Result<>(path.error())));
    auto file = std::make_unique<H5PartFile>();
    file->path = *path;
    file->flags = flags;
    file->ranks = ranks;
    if ((flags & H5PART_READ) != 0) {
        FB_TRY(made::on_first_rank(ranks, [&] { return await_file(file->path); }));
    } else {
        FB_TRY_ASSIGN(
            writing, begin_writing(ranks, file->path, (flags & H5PART_APPEND) != 0, static_cast<std::uint64_t>(align)));
        file->writing.emplace(std::move(writing));
    }
    // The first rank's answer counts: another node may see a removed name for a while.
    if (!file->writing || ((flags & H5PART_APPEND) != 0 && file->writing->stays)) {
        auto reader = H5PartReader::open(file->path);
        FB_TRY(comm::agree(*ranks.world, reader ? Result<>() : Result<>(reader.error())));
        file->reader.emplace(std::move(*reader));
    }
    return file;
}

}  // namespace

bool is_open(const H5PartFile* file) { return std::ranges::find(open_files(), file) != open_files().end(); }

void end_files(const char* function, made::Which which) {
    const auto tell = [&](const Result<>& ended) {
        if (!ended) fail(function, code_of(ended.error().kind), ended.error());
    };
    for (auto* file : open_files()) {
        if (!file->writing || !made::is_of(which, file->ranks)) continue;
        auto writing = std::move(*file->writing);
        file->writing.reset();
        tell(end_writing(std::move(writing)));
    }
    tell(finish_all(which));
}

// The lists are constructed before the function is registered, so that they still exist when it runs.
void finish_at_exit() {
    static const int registered = [] {
        open_files();
        static_cast<void>(finish_all(made::Which::alone));  // there are none yet
        return std::atexit([] { end_files("exit", made::Which::alone); });
    }();
    static_cast<void>(registered);
}

H5PartFile* open_file(const char* function, const char* name, char flags, const SessionRanks& ranks,
                      std::int64_t align) {
    H5PartFile* opened = nullptr;
    say_as_first_rank(ranks.is_first());
    guarded(function, [&]() -> Result<h5part_int64_t> {
        FB_TRY_ASSIGN(file, open_checked(name, flags, ranks, align));
        opened = file.release();
        open_files().push_back(opened);
        return H5PART_SUCCESS;
    });
    return opened;
}

Result<> need_step(const H5PartFile& file) {
    if (!file.group.empty()) return {};
    return Error{ErrorKind::refused, "no step is set", "", "H5PartSetStep"};
}

Result<> need_writer(const H5PartFile& file) {
    if (file.writing) return {};
    return Error{ErrorKind::refused, fmt::format("{} is open for reading.", file.path)};
}

static Result<> check_step(H5PartFile& file, std::int64_t step, const std::string& group,
                           const Result<bool>& has_group) {
    if (!has_group) return has_group.error();
    if (file.writer() == nullptr && !*has_group)
        return Error{ErrorKind::broken, fmt::format("{} has no step '{}'.", file.path, group)};
    if (file.writer() != nullptr && step < 0)
        return Error{ErrorKind::refused, fmt::format("step {} is refused: written steps must be 0 or more.", step)};
    return {};
}

h5part_int64_t set_step(H5PartFile& file, std::int64_t step, const char* function) {
    return guarded(function, [&]() -> Result<h5part_int64_t> {
        const auto group = file.group_of(step);
        auto* writer = file.writer();
        const auto has_group = file.reader ? file.reader->has_group(group) : Result<bool>(false);
        Result<std::vector<DatasetInfo>> stored = std::vector<DatasetInfo>{};
        if (writer != nullptr && has_group && *has_group) stored = file.reader->datasets(group);
        auto checked = check_step(file, step, group, has_group);
        if (checked && !stored) checked = stored.error();
        // While a file is read, each rank chooses its own step. While it is written, all choose the same.
        FB_TRY(writer != nullptr ? comm::agree(*file.ranks.world, checked) : checked);
        const auto ended = writer != nullptr ? writer->set_step(step, group, *stored) : Result<>();
        // The new step is set even if the old step failed.
        file.step = step;
        file.group = group;
        file.group_is_read = *has_group;
        FB_TRY(ended);
        return H5PART_SUCCESS;
    });
}

Result<std::vector<DatasetInfo>> datasets(H5PartFile& file) {
    FB_TRY(need_step(file));
    if (file.writer() != nullptr) return file.writer()->datasets(file.group);
    return file.reader->datasets(file.group);
}

std::string dataset_name(const char* function, const char* name) {
    std::string text = name;
    if (text.size() <= H5PART_DATANAME_LEN) return text;
    text.resize(H5PART_DATANAME_LEN - 1);
    warn(function, fmt::format("the dataset's name '{}' is longer than {} characters and is cut to '{}'.", name,
                               H5PART_DATANAME_LEN, text));
    return text;
}

void copy_name(const std::string& name, char* to, std::int64_t bytes) {
    if (to == nullptr || bytes <= 0) return;
    const auto room = static_cast<std::size_t>(bytes);
    const auto length = std::min(name.size(), room - 1);
    std::memset(to, 0, room);
    std::memcpy(to, name.data(), length);
}

}  // namespace forebay::h5part

std::string H5PartFile::group_of(std::int64_t number) const {
    // Like printf's "%0*lld", which puts the zeros after the sign.
    return step_width > 0 ? fmt::format("{}#{:0{}}", step_name, number, step_width)
                          : fmt::format("{}#{}", step_name, number);
}

using namespace forebay;
using namespace forebay::h5part;

extern "C" {

H5PartFile* H5PartOpenFile(const char* filename, const char flags) { return H5PartOpenFileAlign(filename, flags, 0); }

H5PartFile* H5PartOpenFileAlign(const char* filename, const char flags, h5part_int64_t align) {
    finish_at_exit();
    return open_file("H5PartOpenFile", filename, flags, behind::alone(), align);
}

h5part_int64_t H5PartFileIsValid(H5PartFile* f) { return is_open(f) ? H5PART_SUCCESS : H5PART_ERR_BADFD; }

h5part_int64_t H5PartCloseFile(H5PartFile* f) {
    return with("H5PartCloseFile", f, [&]() -> Result<h5part_int64_t> {
        // The handle is invalid from here on, even if ending the writing fails.
        std::erase(open_files(), f);
        const std::unique_ptr<H5PartFile> file(f);
        file->reader.reset();
        if (file->writing) FB_TRY(end_writing(std::move(*file->writing)));
        return H5PART_SUCCESS;
    });
}

}  // extern "C"
