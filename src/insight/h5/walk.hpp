// Walks over the objects of foreign HDF5 files.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "insight/h5/hdf5.hpp"

namespace forebay::h5 {

/// Opens a file for reading. `refused` if it is not a regular file or not HDF5; otherwise `missing`, `corrupt` or
/// `unsupported`, with the path.
Result<Id> open_file(const std::string& path);

/// Only regular files with bytes may be opened when another file names them. A fifo or a device would wait for a
/// partner. The kernel's own files (/proc) have no bytes.
enum class FileState { missing, regular, other };
FileState state_of(const std::string& path);

/// Properties of class H5P_LINK_ACCESS or H5P_DATASET_ACCESS. With them HDF5 follows no link into another file, and
/// sets `is_asked` (may be null) when it meets one.
Result<Id> closed_access(hid_t property_class, bool* is_asked = nullptr);

/// `path` has no leading '/'; "" is the root group.
using Visit = std::function<Result<>(const std::string& path, const Id& object, H5I_type_t kind)>;

/// A link whose object walk() does not visit.
struct UnvisitedLink {
    enum class Kind {
        another_name,  // `target` is the visited path of the same object
        dangling,      // `target` is not in the file
        elsewhere,     // `target` is in another file, which is not opened
        unreadable,    // the object exists, but this HDF5 cannot open it
    };
    std::string path;
    Kind kind = Kind::dangling;
    std::string target;
    std::string file = "";  // of an external link
};

/// Calls `visit` once for each group, dataset and named type of the file: parents first, sorted by name, objects of
/// hard links before objects of soft links. It follows no link into another file. `unsupported` if the file exceeds the
/// objects or the depth in limits.hpp.
Result<> walk(const Id& file, const Visit& visit, const std::function<void(const UnvisitedLink& link)>& link);

/// This library: "HDF5 1.10.8".
std::string library_name();

bool has_attribute(const Id& object, const char* name);
/// A text of fixed or variable length; nothing if there is no such attribute, or it is not a text.
std::optional<std::string> text_attribute(const Id& object, const char* name);
/// The attribute's first number.
std::optional<double> number_attribute(const Id& object, const char* name);
/// All whole numbers of the attribute; empty if there is none, or too many.
std::vector<std::int64_t> whole_numbers_attribute(const Id& object, const char* name);
/// The number of elements; 0 without the attribute.
std::uint64_t attribute_elements(const Id& object, const char* name);

std::vector<std::uint64_t> shape_of(const Id& dataset);

}  // namespace forebay::h5
