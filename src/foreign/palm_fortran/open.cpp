// Finds the files of a directory of PALM's fortran_binary, one for each process.

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/try.hpp"
#include "foreign/palm_fortran/palm_fortran.hpp"

namespace forebay::foreign {

namespace {

// "_000012" or "000012"; nothing for other names.
std::optional<std::uint32_t> process_in(std::string_view name) {
    constexpr std::size_t digits = 6;
    if (name.starts_with('_')) name.remove_prefix(1);
    if (name.size() != digits || !std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; }))
        return std::nullopt;
    std::uint32_t number = 0;
    for (const char c : name) number = number * 10 + static_cast<std::uint32_t>(c - '0');
    return number;
}

}  // namespace

Result<ForeignContents> open_palm_fortran(sys::Store& store, const std::string& directory, const Choices& choices) {
    FB_TRY_ASSIGN(entries, store.list(directory));
    std::vector<std::pair<std::uint32_t, std::string>> found;
    std::vector<std::string> strangers;
    for (const auto& entry : entries) {
        const auto process = entry.is_directory ? std::nullopt : process_in(entry.name);
        if (process) found.emplace_back(*process, directory + "/" + entry.name);
        else strangers.push_back(entry.name);
    }
    std::ranges::sort(found);
    if (found.empty())
        return Error{ErrorKind::missing, fmt::format("{} has no file of a process, _000000 and so on", directory), "",
                     "name the directory that PALM wrote, BINOUT or a copy of it"};
    std::vector<PalmProcess> processes;
    std::vector<std::string> files;
    for (const auto& [number, path] : found) {
        if (number < files.size())
            return Error{ErrorKind::refused,
                         fmt::format("{} and {} are both of process {}", files.back(), path, number), "",
                         "take one of them away"};
        if (number > files.size())
            return Error{ErrorKind::missing,
                         fmt::format("{} has no file of process {}, _{:06}; the next one is {}. Nothing was imported",
                                     directory, files.size(), files.size(), path),
                         "", "copy the missing file"};
        FB_TRY_ASSIGN(file, store.open(path, sys::Access::read));
        FB_TRY_ASSIGN(process, decode_palm_process(*file, path));
        processes.push_back(std::move(process));
        files.push_back(path);
    }
    if (const auto all = static_cast<std::size_t>(processes.front().processes); files.size() < all)
        return Error{ErrorKind::missing,
                     fmt::format("{} has the files of {} processes of {}; _{:06} is missing. Nothing was imported",
                                 directory, files.size(), all, files.size()),
                     "", "copy the missing files"};
    const ReadSample read_sample = [&](std::uint32_t index, const FortranRecord& record,
                                       std::uint64_t bytes_max) -> Result<std::vector<std::byte>> {
        FB_TRY_ASSIGN(file, store.open(files[index], sys::Access::read));
        std::vector<std::byte> bytes(std::min(record.bytes, bytes_max));
        FB_TRY(read_ranges(*file, record.ranges, 0, bytes));
        return bytes;
    };
    FB_TRY_ASSIGN(contents, combine_palm_processes(std::move(processes), files, choices, read_sample));
    for (const auto& name : strangers)
        contents.notes.push_back(fmt::format("{}/{} is no process' file and was not read.", directory, name));
    return contents;
}

}  // namespace forebay::foreign
