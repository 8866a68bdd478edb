// Texts of verbs about a file given in place of a run. The kind follows from its first bytes, not from its name.

#pragma once

#include <optional>
#include <string>

#include "core/sys/store.hpp"
#include "core/terminal/command_line.hpp"

namespace forebay::cli {

enum class FileKind { hdf5, genericio, palm_mpi, netcdf_classic, other };

/// Nothing if `path` is no regular file.
Result<std::optional<FileKind>> kind_of_file(sys::Store& store, const std::string& path);

struct FileRequest {
    std::string path;
    bool all = false;  // all lines
    bool json = false;
};

/// Returns `refused` with the right command if the verb cannot handle such a file.
Result<Exit> show_other_file(sys::Store& store, FileKind kind, const FileRequest& request);
Result<Exit> verify_file(sys::Store& store, FileKind kind, const FileRequest& request);
Result<Exit> list_file(sys::Store& store, FileKind kind, const FileRequest& request);

// // foreign_hdf5.cpp, or hdf5_none.cpp without HDF5.
/// True if it has the datasets of a node file, sealed or not; nothing if this cannot be found out.
std::optional<bool> has_own_datasets(const std::string& path);
Result<Exit> show_hdf5_file(const std::string& path, bool json);
Result<Exit> verify_hdf5_file(const std::string& path, bool json);
/// One line: its kind, its steps, its size.
Result<Exit> list_hdf5_file(const std::string& path, bool json);

// genericio_file.cpp
Result<Exit> show_genericio(sys::Store& store, const FileRequest& request);
Result<Exit> verify_genericio(sys::Store& store, const FileRequest& request);
Result<Exit> list_genericio(sys::Store& store, const FileRequest& request);

}  // namespace forebay::cli
