// The handle of H5Part: one open file, read, written, or both where steps are appended.

#pragma once

#include <optional>
#include <string>

#include "bindings/compat/h5part/pending.hpp"
#include "bindings/compat/h5part/reader.hpp"
#include "bindings/compat/h5part/report.hpp"

struct H5PartFile {
    std::string path;
    char flags = 0;
    forebay::h5part::SessionRanks ranks;
    std::optional<forebay::h5part::H5PartReader> reader;
    std::optional<forebay::h5part::WrittenSteps> writing;
    std::string step_name = "Step";
    std::int64_t step_width = 0;
    std::int64_t step = -1;
    std::string group;  // of the step; "" before the first
    bool group_is_read = false;
    forebay::h5part::RowsView view;

    forebay::h5part::StepWriter* writer() { return writing ? writing->writer.get() : nullptr; }
    std::string group_of(std::int64_t number) const;
};

namespace forebay::h5part {

/// What an open file is to its callers: NULL is told to the handler, with the code.
H5PartFile* open_file(const char* function, const char* name, char flags, const SessionRanks& ranks,
                      std::int64_t align);

/// Where no call can follow: ends the writing of files that were never closed, waits for all, and tells the handler.
/// Collective.
void end_files(const char* function, made::Which which);
/// From the first call on, the end of this process does that for the files that it opened alone.
void finish_at_exit();

/// Whether the handle is one that is open.
bool is_open(const H5PartFile* file);

/// guarded() for calls with a handle; a bad one is -77.
template <class Body>
h5part_int64_t with(const char* function, H5PartFile* file, Body&& body) {
    if (!is_open(file))
        return fail(function, H5PART_ERR_BADFD, {ErrorKind::refused, "the handle is not an open file."});
    return guarded(function, std::forward<Body>(body));
}

h5part_int64_t set_step(H5PartFile& file, std::int64_t step, const char* function);
/// Datasets of the current step, by name.
Result<std::vector<DatasetInfo>> datasets(H5PartFile& file);
Result<> need_step(const H5PartFile& file);
Result<> need_writer(const H5PartFile& file);
/// A longer name than H5Part's is cut, with a warning: for those that write it and those that read it.
std::string dataset_name(const char* function, const char* name);
/// Copies as much as fits, and ends it.
void copy_name(const std::string& name, char* to, std::int64_t bytes);

}  // namespace forebay::h5part
