// The handle of H5Part: one open file, for reading, for writing, or for both if steps are appended.

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
    std::string group;  // of the step; "" before the first step
    bool group_is_read = false;
    forebay::h5part::RowsView view;

    forebay::h5part::StepWriter* writer() { return writing ? writing->writer.get() : nullptr; }
    std::string group_of(std::int64_t number) const;
};

namespace forebay::h5part {

/// Opens a file for its callers. After an error it returns NULL, and the handler gets the code.
H5PartFile* open_file(const char* function, const char* name, char flags, const SessionRanks& ranks,
                      std::int64_t align);

/// Call it when no further call can follow: ends the writing of files that were never closed, waits for all files, and
/// reports errors to the handler. Collective.
void end_files(const char* function, made::Which which);
/// Makes the end of this process do that for the files that it opened alone.
void finish_at_exit();

/// True if the handle is open.
bool is_open(const H5PartFile* file);

/// guarded() for calls with a handle. A bad handle gives -77.
template <class Body>
h5part_int64_t with(const char* function, H5PartFile* file, Body&& body) {
    if (!is_open(file))
        return fail(function, H5PART_ERR_BADFD, {ErrorKind::refused, "the handle is not an open file."});
    return guarded(function, std::forward<Body>(body));
}

h5part_int64_t set_step(H5PartFile& file, std::int64_t step, const char* function);
/// The datasets of the current step, by name.
Result<std::vector<DatasetInfo>> datasets(H5PartFile& file);
Result<> need_step(const H5PartFile& file);
Result<> need_writer(const H5PartFile& file);
/// Cuts a name longer than H5Part's limit, with a warning. For writing and for reading.
std::string dataset_name(const char* function, const char* name);
/// Copies as much as fits, and ends it with NUL.
void copy_name(const std::string& name, char* to, std::int64_t bytes);

}  // namespace forebay::h5part
