// Opening and closing, and what all other calls need of the handle.

#include "h5part/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>

namespace forebay::h5part {

namespace {

constexpr int mode_bits = H5PART_READ | H5PART_WRITE | H5PART_APPEND;

std::set<const H5PartFile*>& open_files() {
    static std::set<const H5PartFile*> files;
    return files;
}

Result<> check_flags(char flags) {
    const int mode = flags & mode_bits;
    if (mode != H5PART_READ && mode != H5PART_WRITE && mode != H5PART_APPEND)
        return Error{ErrorKind::refused, fmt::format("forebay: the flags {:#x} are none of H5PART_READ, WRITE and "
                                                     "APPEND alone.",
                                                     flags)};
    if ((flags & H5PART_VFD_MPIPOSIX) != 0)
        return Error{ErrorKind::refused,
                     "forebay: H5PART_VFD_MPIPOSIX is not there: HDF5 has no such driver since 1.8.13. "
                     "Next: leave the flag out."};
    return {};
}

Result<std::unique_ptr<H5PartFile>> open_checked(const char* name, char flags, const Ranks& ranks, std::int64_t align) {
    if (name == nullptr || *name == '\0') return Error{ErrorKind::refused, "forebay: the file has no name."};
    FB_TRY(check_flags(flags));
    if (align < 0) return Error{ErrorKind::refused, fmt::format("forebay: the alignment {} is refused.", align)};
    auto file = std::make_unique<H5PartFile>();
    file->path = std::filesystem::absolute(name).lexically_normal().string();
    file->flags = flags;
    file->ranks = ranks;
    if ((flags & H5PART_READ) != 0) {
        FB_TRY(by_first(ranks, [&] { return await_file(file->path); }));
    } else {
        FB_TRY_ASSIGN(
            writing, begin_writing(ranks, file->path, (flags & H5PART_APPEND) != 0, static_cast<std::uint64_t>(align)));
        file->writing.emplace(std::move(writing));
    }
    const bool is_there = (flags & H5PART_READ) != 0 || std::filesystem::exists(file->path);
    if (is_there) {
        auto reader = Reader::open(file->path);
        FB_TRY(comm::agree(*ranks.world, reader ? Result<>() : Result<>(reader.error())));
        file->reader.emplace(std::move(*reader));
    } else {
        FB_TRY(comm::agree(*ranks.world, {}));
    }
    return file;
}

}  // namespace

bool is_open(const H5PartFile* file) { return open_files().contains(file); }

H5PartFile* open_file(const char* function, const char* name, char flags, const Ranks& ranks, std::int64_t align) {
    H5PartFile* opened = nullptr;
    say_as_first_rank(ranks.is_first());
    guarded(function, [&]() -> Result<h5part_int64_t> {
        FB_TRY_ASSIGN(file, open_checked(name, flags, ranks, align));
        opened = file.release();
        open_files().insert(opened);
        return H5PART_SUCCESS;
    });
    return opened;
}

Result<> need_step(const H5PartFile& file) {
    if (!file.group.empty()) return {};
    return Error{ErrorKind::refused, "forebay: no step is set. Next: H5PartSetStep."};
}

Result<> need_writer(const H5PartFile& file) {
    if (file.writing) return {};
    return Error{ErrorKind::refused, fmt::format("forebay: {} is open for reading.", file.path)};
}

h5part_int64_t set_step(H5PartFile& file, std::int64_t step, const char* function) {
    return guarded(function, [&]() -> Result<h5part_int64_t> {
        const auto group = file.group_of(step);
        bool is_there = false;
        if (file.reader) {
            FB_TRY_ASSIGN(found, file.reader->has_group(group));
            is_there = found;
        }
        if (file.writer() == nullptr && !is_there)
            return Error{ErrorKind::broken, fmt::format("forebay: {} has no step '{}'.", file.path, group)};
        if (auto* writer = file.writer()) {
            if (step < 0)
                return Error{ErrorKind::refused,
                             fmt::format("forebay: step {} is refused: steps that are written are 0 "
                                         "or more.",
                                         step)};
            FB_TRY(writer->set_step(step, group));
        }
        file.step = step;
        file.group = group;
        file.group_is_read = is_there;
        return H5PART_SUCCESS;
    });
}

Result<std::vector<DatasetInfo>> datasets(H5PartFile& file) {
    FB_TRY(need_step(file));
    std::vector<DatasetInfo> all;
    if (auto* writer = file.writer()) all = writer->datasets(file.group);
    if (!file.group_is_read) return all;
    FB_TRY_ASSIGN(stored, file.reader->datasets(file.group));
    for (auto& one : stored)
        if (std::ranges::find(all, one.name, &DatasetInfo::name) == all.end()) all.push_back(std::move(one));
    std::ranges::sort(all, {}, &DatasetInfo::name);
    return all;
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
    // printf's "%0*lld", which pads behind the sign.
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
        open_files().erase(f);
        const std::unique_ptr<H5PartFile> file(f);
        file->reader.reset();
        if (file->writing) FB_TRY(end_writing(std::move(*file->writing)));
        return H5PART_SUCCESS;
    });
}

}  // extern "C"
