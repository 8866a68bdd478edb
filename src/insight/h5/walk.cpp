#include "insight/h5/walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>

#include "core/base/try.hpp"
#include "insight/h5/limits.hpp"

namespace forebay::h5 {

namespace {

struct NamedLink {
    std::string name;
    H5L_type_t type;
};

Error unreadable_group(const std::string& path) {
    return {ErrorKind::corrupt, fmt::format("{} cannot read the links of group '/{}'", library_name(), path)};
}

Error too_many(const std::string& path, const std::string& why) {
    return {ErrorKind::unsupported, fmt::format("'{}' was not read: {}", path, why), "", "use h5ls -r, or h5dump"};
}

// One pass: a query for the name at each index would start from the first link each time.
std::optional<std::vector<NamedLink>> links_in(const Id& group) {
    std::vector<NamedLink> links;
    const auto keep = [](hid_t, const char* name, const H5L_info_t* info, void* data) -> herr_t {
        static_cast<std::vector<NamedLink>*>(data)->push_back({name, info->type});
        return 0;
    };
    if (H5Literate(group.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, keep, &links) < 0) return std::nullopt;
    return links;
}

class Walk {
public:
    Walk(const Id& file, const Visit& visit, const std::function<void(const UnvisitedLink&)>& link)
        : file_(file), visit_(visit), link_(link) {}

    Result<> root(const Id& group) {
        FB_TRY_ASSIGN(access, closed_access(H5P_LINK_ACCESS, &is_elsewhere_));
        access_ = std::move(access);
        if (!links_in(group)) return unreadable_group("");
        // Notes the root, so that links to it count as other names.
        static_cast<void>(first_name("", group));
        FB_TRY(this->group("", group, 0));
        // The list grows if a soft link leads to a group without hard links.
        for (std::size_t i = 0; i < soft_.size(); ++i) FB_TRY(soft(soft_[i].first, soft_[i].second));
        return {};
    }

private:
    Result<> group(const std::string& path, const Id& group, int depth) {
        if (depth > walk_depth_max)
            return too_many(path, fmt::format("nested groups, more than {} deep", walk_depth_max));
        FB_TRY(visit_(path, group, H5I_GROUP));
        const auto links = links_in(group);
        if (!links) {
            link_({path, UnvisitedLink::Kind::unreadable, "its links"});
            return {};
        }
        for (const auto& [name, type] : *links) {
            const auto at = path.empty() ? name : path + "/" + name;
            if (++objects_ > walk_objects_max)
                return too_many(at, fmt::format("there are more than {} objects", walk_objects_max));
            if (type == H5L_TYPE_HARD) FB_TRY(object(at, Id(H5Oopen(group.get(), name.c_str(), access_.get())), depth));
            else soft_.emplace_back(at, type);
        }
        return {};
    }

    /// An object may have several names, and links may lead from a group to its parents.
    Result<> object(const std::string& path, const Id& object, int depth) {
        const auto first = object.get() < 0 ? std::nullopt : first_name(path, object);
        if (!first) {
            link_({path, UnvisitedLink::Kind::unreadable, ""});
            return {};
        }
        if (*first != path) {
            link_({path, UnvisitedLink::Kind::another_name, first->empty() ? "/" : *first});
            return {};
        }
        const auto kind = H5Iget_type(object.get());
        return kind == H5I_GROUP ? group(path, object, depth + 1) : visit_(path, object, kind);
    }

    Result<> soft(const std::string& path, H5L_type_t type) {
        UnvisitedLink link{path, UnvisitedLink::Kind::dangling, ""};
        H5L_info_t info{};
        if (H5Lget_info(file_.get(), path.c_str(), &info, access_.get()) >= 0 && info.u.val_size > 0) {
            // One more byte, in case a damaged value lacks its NUL.
            std::vector<char> value(info.u.val_size + 1, '\0');
            const char *file = nullptr, *target = nullptr;
            if (H5Lget_val(file_.get(), path.c_str(), value.data(), info.u.val_size, access_.get()) < 0) value[0] = 0;
            if (type == H5L_TYPE_SOFT) link.target = value.data();
            else if (type == H5L_TYPE_EXTERNAL &&
                     H5Lunpack_elink_val(value.data(), info.u.val_size, nullptr, &file, &target) >= 0)
                link.target = target, link.file = file;
        }
        if (type != H5L_TYPE_SOFT) {
            link.kind = type == H5L_TYPE_EXTERNAL ? UnvisitedLink::Kind::elsewhere : UnvisitedLink::Kind::unreadable;
            link_(link);
            return {};
        }
        is_elsewhere_ = false;
        Id leads_to(H5Oopen(file_.get(), path.c_str(), access_.get()));
        if (leads_to.get() >= 0) return object(path, leads_to, 0);
        if (is_elsewhere_) link.kind = UnvisitedLink::Kind::elsewhere;
        else if (H5Oexists_by_name(file_.get(), path.c_str(), access_.get()) > 0)
            link.kind = UnvisitedLink::Kind::unreadable;
        link_(link);
        return {};
    }

    /// The first name of an object; nothing if the object does not identify itself.
    std::optional<std::string> first_name(const std::string& path, const Id& object) {
        H5O_info_t info;
        if (H5Oget_info2(object.get(), &info, H5O_INFO_BASIC) < 0) return std::nullopt;
        return seen_.try_emplace({info.fileno, info.addr}, path).first->second;
    }

    const Id& file_;
    const Visit& visit_;
    const std::function<void(const UnvisitedLink&)>& link_;
    Id access_;
    bool is_elsewhere_ = false;  // HDF5 wanted to follow a link into another file
    std::uint64_t objects_ = 0;
    std::map<std::pair<unsigned long, haddr_t>, std::string> seen_;
    std::deque<std::pair<std::string, H5L_type_t>> soft_;  // soft and external links, visited last
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

std::string library_name() {
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    return fmt::format("HDF5 {}.{}.{}", major, minor, release);
}

FileState state_of(const std::string& path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (status.type() == std::filesystem::file_type::not_found) return FileState::missing;
    const bool has_bytes = std::filesystem::is_regular_file(status) && std::filesystem::file_size(path, error) > 0;
    return has_bytes && !error ? FileState::regular : FileState::other;
}

Result<Id> closed_access(hid_t property_class, bool* is_asked) {
    constexpr auto doing = "preparing to follow links";
    FB_TRY_ASSIGN(access, own(H5Pcreate(property_class), doing));
    const auto refuse = [](const char*, const char*, const char*, const char*, unsigned*, hid_t,
                           void* asked) -> herr_t {
        if (asked != nullptr) *static_cast<bool*>(asked) = true;
        return -1;
    };
    FB_TRY(require(H5Pset_elink_cb(access.get(), refuse, is_asked), doing));
    return access;
}

namespace {

/// HDF5's drivers for multi-part files store their names in the first block. A part is not a file by itself.
std::optional<Error> why_only_a_part(const std::string& path) {
    std::array<char, 4096> room{};
    std::ifstream(path, std::ios::binary).read(room.data(), room.size());
    const std::string_view head(room.data(), room.size());
    const auto part = [&](const char* of, const std::string& next) {
        return Error{ErrorKind::unsupported, fmt::format("{} is one part of a split HDF5 file ({})", path, of), "",
                     next};
    };
    if (head.find("NCSAfami") != head.npos)
        return part("driver family", "join them with h5repart, as in: h5repart name%d.h5 whole.h5");
    if (head.find("NCSAmult") != head.npos)
        return part("driver split or multi", "copy it with a program that opens it with that driver, such as h5py");
    return std::nullopt;
}

}  // namespace

Result<Id> open_file(const std::string& path) {
    if (state_of(path) == FileState::other)
        return Error{ErrorKind::refused, fmt::format("{} is not a regular file with data", path)};
    const auto is_hdf5 = H5Fis_hdf5(path.c_str());
    if (is_hdf5 == 0) return Error{ErrorKind::refused, fmt::format("{} is not an HDF5 file", path)};
    FB_TRY_ASSIGN(access, access_to(path));
    const auto file = is_hdf5 < 0 ? H5I_INVALID_HID : H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get());
    if (file >= 0) return Id(file);
    if (const auto part = why_only_a_part(path)) return *part;
    return Error{
        ErrorKind::corrupt,
        fmt::format(
            "{} cannot be opened by {}: it is cut short, damaged, newer, or open for writing by another program", path,
            library_name())};
}

Result<> walk(const Id& file, const Visit& visit, const std::function<void(const UnvisitedLink&)>& link) {
    const Id root(H5Gopen2(file.get(), "/", H5P_DEFAULT));
    if (root.get() < 0) return unreadable_group("");
    return Walk(file, visit, link).root(root);
}

bool has_attribute(const Id& object, const char* name) { return H5Aexists(object.get(), name) > 0; }

std::optional<std::string> text_attribute(const Id& object, const char* name) {
    const auto attribute = attribute_of(object, name);
    if (attribute.get() < 0) return std::nullopt;
    const Id type(H5Aget_type(attribute.get()));
    if (type.get() < 0 || H5Tget_class(type.get()) != H5T_STRING) return std::nullopt;
    if (H5Tis_variable_str(type.get()) > 0) return long_text(attribute, type);
    const auto bytes = H5Aget_storage_size(attribute.get());
    // A list of texts is not a text.
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

std::vector<std::int64_t> whole_numbers_attribute(const Id& object, const char* name) {
    const auto attribute = attribute_of(object, name);
    const auto elements = attribute.get() < 0 ? 0 : attribute_elements(object, name);
    if (elements == 0 || elements > walk_objects_max) return {};
    std::vector<std::int64_t> numbers(elements);
    if (H5Aread(attribute.get(), H5T_NATIVE_INT64, numbers.data()) < 0) return {};
    return numbers;
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
