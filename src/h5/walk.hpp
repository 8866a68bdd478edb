// Walks over the objects of an HDF5 file, for what looks at files that others wrote.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "h5/hdf5.hpp"

namespace forebay::h5 {

/// Opens for reading; `refused` for what is not HDF5, `missing` or `corrupt` with the path else.
Result<Id> open_file(const std::string& path);

/// `path` has no leading '/'; "" is the root group.
using Visit = std::function<Result<>(const std::string& path, const Id& object, H5I_type_t kind)>;

/// Calls `visit` once for each group and dataset, parents first, by rising names; one that several links lead to has
/// the name of the first. Links that lead nowhere are told to `dangling`. `corrupt` for more depth or objects than a
/// file that people made has.
Result<> walk(const Id& file, const Visit& visit, const std::function<void(const std::string& path)>& dangling);

/// Names of the links of a group, rising.
Result<std::vector<std::string>> names_in(const Id& group);

bool has_attribute(const Id& object, const char* name);
/// A text of either kind; nothing when there is none of that name, or it is no text.
std::optional<std::string> text_attribute(const Id& object, const char* name);
/// The first number of it.
std::optional<double> number_attribute(const Id& object, const char* name);
/// How many elements it has; 0 when there is none.
std::uint64_t attribute_elements(const Id& object, const char* name);

std::vector<std::uint64_t> shape_of(const Id& dataset);

}  // namespace forebay::h5
