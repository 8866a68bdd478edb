// HDF5 files in a build without HDF5: says so.

#include <fmt/format.h>

#include "cli/files.hpp"

namespace forebay::cli {

namespace {

Error no_hdf5(const std::string& path) {
    return {ErrorKind::unsupported, fmt::format("{} is an HDF5 file, and this forebay was built without HDF5", path),
            "", fmt::format("h5dump -H {}", path)};
}

}  // namespace

std::optional<bool> has_own_datasets(const std::string&) { return std::nullopt; }
Result<Exit> show_hdf5_file(const std::string& path, bool) { return no_hdf5(path); }
Result<Exit> verify_hdf5_file(const std::string& path, bool) { return no_hdf5(path); }
Result<Exit> list_hdf5_file(const std::string& path, bool) { return no_hdf5(path); }

}  // namespace forebay::cli
