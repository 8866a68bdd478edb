// Walks over the objects of an HDF5 file, for what looks at files that others wrote.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "insight/h5/hdf5.hpp"

namespace forebay::h5 {

/// Opens a file for reading. `refused` if it is no regular file or no HDF5 file, else `missing`, `corrupt` or
/// `unsupported` with the path.
Result<Id> open_file(const std::string& path);

/// Only regular files with bytes may be opened because another file names them. A fifo or a device would wait for
/// somebody. The kernel's own files (/proc) have no bytes.
enum class FileState { missing, regular, other };
FileState state_of(const std::string& path);

/// Properties of the class H5P_LINK_ACCESS or H5P_DATASET_ACCESS. With them HDF5 follows no link into another file, and
/// sets `is_asked` (may be null) if it meets one.
Result<Id> closed_access(hid_t property_class, bool* is_asked = nullptr);

/// `path` has no leading '/'; "" is the root group.
using Visit = std::function<Result<>(const std::string& path, const Id& object, H5I_type_t kind)>;

/// A link whose object walk() does not visit.
struct UnvisitedLink {
    enum class Kind {
        another_name,  // `target` is the visited path of the same object
        dangling,      // `target` is not in the file
        elsewhere,     // `target` lies in another file, which is not opened
        unreadable,    // the object is there, and this HDF5 cannot open it
    };
    std::string path;
    Kind kind = Kind::dangling;
    std::string target;
    std::string file = "";  // of an external link
};

/// Calls `visit` once for each group, dataset and named type of the file: parents first, by rising names, objects of
/// hard links before objects of soft links. It follows no link into another file. `unsupported` if the file has more
/// objects or deeper groups than limits.hpp allows.
Result<> walk(const Id& file, const Visit& visit, const std::function<void(const UnvisitedLink& link)>& link);

/// This library, "HDF5 1.10.8".
std::string library_name();

bool has_attribute(const Id& object, const char* name);
/// A text of either kind; nothing when there is none of that name, or it is no text.
std::optional<std::string> text_attribute(const Id& object, const char* name);
/// The first number of it.
std::optional<double> number_attribute(const Id& object, const char* name);
/// All of its whole numbers; none when there is none of that name, or too many.
std::vector<std::int64_t> whole_numbers_attribute(const Id& object, const char* name);
/// How many elements it has; 0 when there is none.
std::uint64_t attribute_elements(const Id& object, const char* name);

std::vector<std::uint64_t> shape_of(const Id& dataset);

}  // namespace forebay::h5
