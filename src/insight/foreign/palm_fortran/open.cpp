// Finds the files of PALM's fortran_binary: a directory with a file a process, or the file of a serial PALM.

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/base/try.hpp"
#include "insight/foreign/names.hpp"
#include "insight/foreign/palm_fortran/palm_fortran.hpp"

namespace forebay::foreign {

namespace {

// Parses "_000012" or "000012"; nothing for other names.
std::optional<std::uint32_t> process_in(std::string_view name) {
    constexpr std::size_t digits = 6;
    if (name.starts_with('_')) name.remove_prefix(1);
    if (name.size() != digits || !std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; }))
        return std::nullopt;
    std::uint32_t number = 0;
    for (const char c : name) number = number * 10 + static_cast<std::uint32_t>(c - '0');
    return number;
}

// The files of the processes in order, and other files in the directory.
struct ProcessFiles {
    std::vector<std::string> paths, strangers;
};

Result<ProcessFiles> files_in(sys::Store& store, const std::string& directory) {
    FB_TRY_ASSIGN(entries, store.list(directory));
    std::vector<std::pair<std::uint32_t, std::string>> numbered;
    ProcessFiles files;
    for (const auto& entry : entries) {
        const auto process = entry.is_directory ? std::nullopt : process_in(entry.name);
        if (process) numbered.emplace_back(*process, directory + "/" + entry.name);
        else files.strangers.push_back(directory + "/" + entry.name);
    }
    std::ranges::sort(numbered);
    if (numbered.empty())
        return Error{ErrorKind::missing, fmt::format("{} has no file of a process, _000000 and so on", directory), "",
                     "give the directory that PALM wrote, BINOUT or a copy of it, or the single file of a serial PALM"};
    for (const auto& [number, path] : numbered) {
        // The numbers are sorted, so a number below the next one is a repetition.
        if (number < files.paths.size())
            return Error{ErrorKind::refused,
                         fmt::format("{} and {} are both of process {}", files.paths.back(), path, number), "",
                         "remove one of them"};
        if (number > files.paths.size())
            return Error{ErrorKind::missing,
                         fmt::format("{} has no file of process {}, _{:06}. The next file is {}. Nothing was imported",
                                     directory, files.paths.size(), files.paths.size(), path),
                         "", "copy the missing file"};
        files.paths.push_back(path);
    }
    return files;
}

}  // namespace

Result<ForeignContents> open_palm_fortran(sys::Store& store, const std::string& path, const Choices& choices) {
    ProcessFiles files;
    // A directory cannot be opened as a file.
    const bool is_one = store.open(path, sys::Access::read).has_value();
    if (is_one) {
        files.paths = {path};
    } else {
        FB_TRY_ASSIGN(listed, files_in(store, path));
        files = std::move(listed);
    }
    std::vector<PalmProcess> processes;
    for (const auto& file_path : files.paths) {
        FB_TRY_ASSIGN(file, store.open(file_path, sys::Access::read));
        FB_TRY_ASSIGN(process, decode_palm_process(*file, file_path));
        processes.push_back(std::move(process));
    }
    const auto all = static_cast<std::size_t>(processes.front().processes);
    if (is_one && all > 1)
        return Error{ErrorKind::refused,
                     fmt::format("{} is the file of process {} of {}. Nothing was imported", path,
                                 processes.front().process, all),
                     "", "give the directory with the files of all processes"};
    if (processes.size() < all)
        return Error{ErrorKind::missing,
                     fmt::format("{} has the files of {} processes of {}, but _{:06} is missing. Nothing was imported",
                                 path, processes.size(), all, processes.size()),
                     "", "copy the missing files"};
    const ReadSample read_sample = [&](std::uint32_t index, const FortranRecord& record,
                                       std::uint64_t bytes_max) -> Result<std::vector<std::byte>> {
        FB_TRY_ASSIGN(file, store.open(files.paths[index], sys::Access::read));
        std::vector<std::byte> bytes(std::min(record.bytes, bytes_max));
        FB_TRY(read_ranges(*file, record.ranges, 0, bytes));
        return bytes;
    };
    FB_TRY_ASSIGN(contents, combine_palm_processes(std::move(processes), files.paths, choices, read_sample));
    if (!files.strangers.empty())
        contents.notes.push_back(fmt::format("not files of a process, so not read: {}", list_names(files.strangers)));
    return contents;
}

}  // namespace forebay::foreign
