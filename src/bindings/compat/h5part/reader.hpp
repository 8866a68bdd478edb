// An H5Part file being read, by serial HDF5. Each rank reads for itself, so no call waits for another rank.

#pragma once

#include <forebay/h5part/H5Part.h>

#include <string>
#include <vector>

#include "bindings/compat/h5part/attribute.hpp"
#include "insight/h5/hdf5.hpp"

namespace forebay::h5part {

/// A rank's part of each dataset, and its layout in memory.
struct RowsView {
    enum class Kind { none, range, points } kind = Kind::none;
    std::int64_t start = 0, count = 0;  // a range; it may be empty, and may pass the end of the dataset
    std::vector<hsize_t> points;
    std::uint64_t stride = 1;  // in memory, in elements

    /// Calls for data are then refused: the caller's arrays have the size of a view that could not be set.
    static RowsView nowhere() { return {.kind = Kind::range, .start = -1, .count = 1}; }
};

struct DatasetInfo {
    std::string name;
    std::int64_t type = 0;  // H5Part's code
    std::int64_t count = 0;
};

class H5PartReader {
public:
    static Result<H5PartReader> open(const std::string& path);

    Result<bool> has_group(const std::string& name) const;
    /// Groups directly under the root whose names begin with `prefix`.
    Result<std::vector<std::string>> groups(const std::string& prefix) const;

    /// The datasets of a group, by name.
    Result<std::vector<DatasetInfo>> datasets(const std::string& group) const;
    /// `missing` without the dataset. `note` gets a remark for the user about the data.
    Result<> read(const std::string& group, const std::string& name, hid_t type, const RowsView& view, void* to,
                  std::string& note) const;

    /// The attributes of a group, or of the file for "", in the order of their creation.
    Result<std::vector<DatasetInfo>> attributes(const std::string& group) const;
    Result<> read_attribute(const std::string& group, const std::string& name, void* to) const;
    /// The bytes of a text without its NUL.
    Result<std::string> read_text(const std::string& group, const std::string& name) const;

private:
    H5PartReader(std::string path, h5::Id file) : path_(std::move(path)), file_(std::move(file)) {}
    Result<h5::Id> group(const std::string& name) const;

    std::string path_;
    h5::Id file_;
};

}  // namespace forebay::h5part
