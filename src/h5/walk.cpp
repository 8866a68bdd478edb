#include "h5/walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/try.hpp"
#include "h5/limits.hpp"

namespace forebay::h5 {

namespace {

Error damaged(const std::string& path, const std::string& why) {
    return {ErrorKind::corrupt, fmt::format("HDF5 cannot follow '{}': {}", path, why)};
}

class Walk {
public:
    Walk(const Visit& visit, const std::function<void(const std::string&)>& dangling)
        : visit_(visit), dangling_(dangling) {}

    Result<> root(const Id& group) {
        FB_TRY(is_seen_first("/", group));
        return this->group("", group, 0);
    }

private:
    Result<> group(const std::string& path, const Id& group, int depth) {
        if (depth > walk_depth_max)
            return damaged(path, fmt::format("groups in groups, more than {} deep", walk_depth_max));
        FB_TRY(visit_(path, group, H5I_GROUP));
        FB_TRY_ASSIGN(names, names_in(group));
        for (const auto& name : names) FB_TRY(object(path.empty() ? name : path + "/" + name, group, name, depth));
        return {};
    }

    Result<> object(const std::string& path, const Id& parent, const std::string& name, int depth) {
        if (++objects_ > walk_objects_max)
            return damaged(path, fmt::format("it is the object number {}", walk_objects_max));
        const Id child(H5Oopen(parent.get(), name.c_str(), H5P_DEFAULT));
        if (child.get() < 0) {
            dangling_(path);
            return {};
        }
        const auto kind = H5Iget_type(child.get());
        FB_TRY_ASSIGN(is_new, is_seen_first(path, child));
        if (!is_new) return {};
        if (kind == H5I_GROUP) return group(path, child, depth + 1);
        return kind == H5I_DATASET ? visit_(path, child, kind) : Result<>();
    }

    /// Links lead to one object by several names, and from a group to those above it.
    Result<bool> is_seen_first(const std::string& path, const Id& object) {
        H5O_info_t info;
        if (H5Oget_info2(object.get(), &info, H5O_INFO_BASIC) < 0) return damaged(path, "it does not say what it is");
        return seen_.emplace(info.fileno, info.addr).second;
    }

    const Visit& visit_;
    const std::function<void(const std::string&)>& dangling_;
    std::uint64_t objects_ = 0;
    std::set<std::pair<unsigned long, haddr_t>> seen_;
};

Id attribute_of(const Id& object, const char* name) {
    if (!has_attribute(object, name)) return Id();
    return Id(H5Aopen(object.get(), name, H5P_DEFAULT));
}

std::optional<std::string> long_text(const Id& attribute, const Id& type) {
    const Id space(H5Aget_space(attribute.get()));
    if (space.get() < 0 || H5Sget_simple_extent_npoints(space.get()) != 1) return std::nullopt;
    char* text = nullptr;
    if (H5Aread(attribute.get(), type.get(), &text) < 0 || text == nullptr) return std::nullopt;
    std::string copy = text;
    H5free_memory(text);
    return copy;
}

}  // namespace

Result<Id> open_file(const std::string& path) {
    const auto is_hdf5 = H5Fis_hdf5(path.c_str());
    if (is_hdf5 == 0) return Error{ErrorKind::refused, fmt::format("{} is not an HDF5 file", path)};
    FB_TRY_ASSIGN(access, access_to(path));
    const auto file = is_hdf5 < 0 ? H5I_INVALID_HID : H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get());
    if (file >= 0) return Id(file);
    return Error{ErrorKind::corrupt, fmt::format("{} cannot be opened by HDF5: it is cut short, damaged, or open for "
                                                 "writing elsewhere",
                                                 path)};
}

Result<std::vector<std::string>> names_in(const Id& group) {
    // One pass: asking for the name at each place would look for the place from the first one on each time.
    std::vector<std::string> names;
    const auto keep = [](hid_t, const char* name, const H5L_info_t*, void* data) -> herr_t {
        static_cast<std::vector<std::string>*>(data)->emplace_back(name);
        return 0;
    };
    if (H5Literate(group.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, keep, &names) < 0)
        return damaged("a group", "its links cannot be read");
    return names;
}

Result<> walk(const Id& file, const Visit& visit, const std::function<void(const std::string&)>& dangling) {
    const Id root(H5Gopen2(file.get(), "/", H5P_DEFAULT));
    if (root.get() < 0) return damaged("/", "the root group cannot be opened");
    return Walk(visit, dangling).root(root);
}

bool has_attribute(const Id& object, const char* name) { return H5Aexists(object.get(), name) > 0; }

std::optional<std::string> text_attribute(const Id& object, const char* name) {
    const auto attribute = attribute_of(object, name);
    if (attribute.get() < 0) return std::nullopt;
    const Id type(H5Aget_type(attribute.get()));
    if (type.get() < 0 || H5Tget_class(type.get()) != H5T_STRING) return std::nullopt;
    if (H5Tis_variable_str(type.get()) > 0) return long_text(attribute, type);
    const auto bytes = H5Aget_storage_size(attribute.get());
    // A list of texts is not one text.
    if (bytes == 0 || bytes != H5Tget_size(type.get())) return std::nullopt;
    std::string text(bytes, '\0');
    if (H5Aread(attribute.get(), type.get(), text.data()) < 0) return std::nullopt;
    return text.substr(0, text.find('\0'));
}

std::optional<double> number_attribute(const Id& object, const char* name) {
    const auto attribute = attribute_of(object, name);
    const auto elements = attribute.get() < 0 ? 0 : attribute_elements(object, name);
    if (elements == 0 || elements > attribute_numbers_max) return std::nullopt;
    std::vector<double> numbers(elements);
    if (H5Aread(attribute.get(), H5T_NATIVE_DOUBLE, numbers.data()) < 0) return std::nullopt;
    return numbers.front();
}

std::uint64_t attribute_elements(const Id& object, const char* name) {
    const auto attribute = attribute_of(object, name);
    if (attribute.get() < 0) return 0;
    const Id space(H5Aget_space(attribute.get()));
    const auto elements = space.get() < 0 ? 0 : H5Sget_simple_extent_npoints(space.get());
    return elements < 0 ? 0 : static_cast<std::uint64_t>(elements);
}

std::vector<std::uint64_t> shape_of(const Id& dataset) {
    const Id space(H5Dget_space(dataset.get()));
    const auto dims = space.get() < 0 ? 0 : H5Sget_simple_extent_ndims(space.get());
    std::vector<hsize_t> shape(static_cast<std::size_t>(std::max(dims, 0)));
    if (dims > 0) H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr);
    return {shape.begin(), shape.end()};
}

}  // namespace forebay::h5
