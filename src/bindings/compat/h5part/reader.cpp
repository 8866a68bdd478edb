#include "bindings/compat/h5part/reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/try.hpp"

namespace forebay::h5part {

namespace {

using h5::Id;
using h5::own;
using h5::QuietErrors;
using h5::require;

struct VariableNames {
    std::string prefix;
    H5O_type_t kind;
    std::vector<std::string> matches;
};

herr_t visit_link(hid_t group, const char* name, const H5L_info_t*, void* data) {
    auto& names = *static_cast<VariableNames*>(data);
    H5O_info_t info;
    // A dangling link is not a step.
    if (H5Oget_info_by_name(group, name, &info, H5P_DEFAULT) < 0) return 0;
    if (info.type == names.kind && std::string_view(name).starts_with(names.prefix)) names.matches.emplace_back(name);
    return 0;
}

Result<std::vector<std::string>> names_in(const Id& group, const std::string& prefix, H5O_type_t kind) {
    VariableNames names{prefix, kind, {}};
    hsize_t from = 0;
    FB_TRY(require(H5Literate(group.get(), H5_INDEX_NAME, H5_ITER_INC, &from, visit_link, &names), "listing a group"));
    return std::move(names.matches);
}

Result<Id> memory_space(std::uint64_t count, std::uint64_t stride) {
    const hsize_t elements = count * stride;
    FB_TRY_ASSIGN(space, own(H5Screate_simple(1, &elements, nullptr), "describing memory"));
    const hsize_t first = 0, step = stride, number = count;
    if (stride > 1)
        FB_TRY(require(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &first, &step, &number, nullptr),
                       "describing memory"));
    return space;
}

/// Selects the elements of the view, and returns their number.
Result<std::uint64_t> select(const Id& space, std::uint64_t there, const RowsView& view, std::string& note) {
    const auto wanted = view.kind == RowsView::Kind::range    ? static_cast<std::uint64_t>(view.count)
                        : view.kind == RowsView::Kind::points ? view.points.size()
                                                              : there;
    if (view.kind == RowsView::Kind::none || wanted > there) {
        if (wanted > there)
            note = fmt::format("the view has {} elements, but the dataset has {}. The view is ignored", wanted, there);
        return there;
    }
    // HDF5 would read a 1-D selection as one with all dimensions of the dataset.
    if (const auto dimensions = H5Sget_simple_extent_ndims(space.get()); dimensions != 1)
        return Error{ErrorKind::unsupported,
                     fmt::format("the dataset has {} dimensions, but a view needs one dimension", dimensions), "",
                     "call H5PartResetView, and read all of it"};
    if (wanted == 0) return wanted;
    if (view.kind == RowsView::Kind::range) {
        const hsize_t first = static_cast<hsize_t>(view.start), number = wanted;
        if (first > there - wanted)
            return Error{ErrorKind::broken, fmt::format("the view {}-{} exceeds the dataset's {} elements.", view.start,
                                                        view.start + view.count - 1, there)};
        FB_TRY(require(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &first, nullptr, &number, nullptr),
                       "selecting the view"));
        return wanted;
    }
    const auto beyond = std::ranges::find_if(view.points, [&](hsize_t point) { return point >= there; });
    if (beyond != view.points.end())
        return Error{ErrorKind::broken, fmt::format("the view has index {}, but the dataset has {} elements.",
                                                    static_cast<std::int64_t>(*beyond), there)};
    FB_TRY(require(H5Sselect_elements(space.get(), H5S_SELECT_SET, wanted, view.points.data()), "selecting the view"));
    return wanted;
}

Result<Id> open_attribute(const Id& object, const std::string& name) {
    const auto there = H5Aexists(object.get(), name.c_str());
    FB_TRY(require(there, "looking for an attribute"));
    if (there == 0) return no_attribute(name);
    return own(H5Aopen(object.get(), name.c_str(), H5P_DEFAULT), fmt::format("opening attribute '{}'", name));
}

}  // namespace

Result<H5PartReader> H5PartReader::open(const std::string& path) {
    const QuietErrors quiet;
    FB_TRY_ASSIGN(access, h5::access_to(path));
    FB_TRY_ASSIGN(file, own(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), fmt::format("opening {}", path)));
    return H5PartReader(path, std::move(file));
}

Result<Id> H5PartReader::group(const std::string& name) const {
    return own(H5Gopen2(file_.get(), name.empty() ? "/" : name.c_str(), H5P_DEFAULT),
               fmt::format("opening '{}' of {}", name, path_));
}

Result<bool> H5PartReader::has_group(const std::string& name) const {
    const QuietErrors quiet;
    const auto there = H5Lexists(file_.get(), name.c_str(), H5P_DEFAULT);
    FB_TRY(require(there, fmt::format("looking for '{}' in {}", name, path_)));
    return there > 0;
}

Result<std::vector<std::string>> H5PartReader::groups(const std::string& prefix) const {
    const QuietErrors quiet;
    FB_TRY_ASSIGN(root, group(""));
    return names_in(root, prefix, H5O_TYPE_GROUP);
}

Result<std::vector<DatasetInfo>> H5PartReader::datasets(const std::string& name) const {
    const QuietErrors quiet;
    FB_TRY_ASSIGN(group, this->group(name));
    FB_TRY_ASSIGN(names, names_in(group, "", H5O_TYPE_DATASET));
    std::vector<DatasetInfo> infos;
    for (auto& link_name : names) {
        FB_TRY_ASSIGN(dataset, own(H5Dopen2(group.get(), link_name.c_str(), H5P_DEFAULT), "opening a dataset"));
        FB_TRY_ASSIGN(space, own(H5Dget_space(dataset.get()), "opening a dataset"));
        FB_TRY_ASSIGN(type, own(H5Dget_type(dataset.get()), "opening a dataset"));
        const auto code = code_of_h5_type(type.get());
        infos.push_back({std::move(link_name), code ? *code : 0, H5Sget_simple_extent_npoints(space.get())});
    }
    return infos;
}

Result<> H5PartReader::read(const std::string& group_name, const std::string& name, hid_t type, const RowsView& view,
                            void* to, std::string& note) const {
    const QuietErrors quiet;
    const auto doing = fmt::format("reading '{}' of {}/{}", name, path_, group_name);
    FB_TRY_ASSIGN(group, this->group(group_name));
    FB_TRY_ASSIGN(dataset, own(H5Dopen2(group.get(), name.c_str(), H5P_DEFAULT), doing));
    FB_TRY_ASSIGN(space, own(H5Dget_space(dataset.get()), doing));
    const auto there = H5Sget_simple_extent_npoints(space.get());
    FB_TRY(require(there < 0 ? -1 : 0, doing));
    FB_TRY_ASSIGN(count, select(space, static_cast<std::uint64_t>(there), view, note));
    if (count == 0) return {};
    FB_TRY_ASSIGN(memory, memory_space(count, view.stride));
    return require(H5Dread(dataset.get(), type, memory.get(), space.get(), H5P_DEFAULT, to), doing);
}

Result<std::vector<DatasetInfo>> H5PartReader::attributes(const std::string& group_name) const {
    const QuietErrors quiet;
    FB_TRY_ASSIGN(group, this->group(group_name));
    H5O_info_t info;
    FB_TRY(require(H5Oget_info(group.get(), &info), "counting attributes"));
    std::vector<DatasetInfo> infos;
    for (hsize_t i = 0; i < info.num_attrs; ++i) {
        FB_TRY_ASSIGN(attribute, own(H5Aopen_by_idx(group.get(), ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, i, H5P_DEFAULT,
                                                    H5P_DEFAULT),
                                     "opening an attribute"));
        std::string name(static_cast<std::size_t>(std::max<ssize_t>(H5Aget_name(attribute.get(), 0, nullptr), 0)) + 1,
                         0);
        FB_TRY(require(H5Aget_name(attribute.get(), name.size(), name.data()) < 0 ? -1 : 0, "naming an attribute"));
        name.pop_back();
        FB_TRY_ASSIGN(space, own(H5Aget_space(attribute.get()), "opening an attribute"));
        FB_TRY_ASSIGN(type, own(H5Aget_type(attribute.get()), "opening an attribute"));
        const auto code = code_of_h5_type(type.get());
        infos.push_back({std::move(name), code ? *code : 0, H5Sget_simple_extent_npoints(space.get())});
    }
    return infos;
}

Result<> H5PartReader::read_attribute(const std::string& group_name, const std::string& name, void* to) const {
    const QuietErrors quiet;
    FB_TRY_ASSIGN(group, this->group(group_name));
    FB_TRY_ASSIGN(attribute, open_attribute(group, name));
    FB_TRY_ASSIGN(stored, own(H5Aget_type(attribute.get()), "reading an attribute"));
    if (H5Tis_variable_str(stored.get()) > 0)
        return Error{ErrorKind::unsupported,
                     fmt::format("attribute '{}' is a text of variable length, which H5Part does not have.", name)};
    // Numbers in the byte order of this machine, for any byte order in the file.
    FB_TRY_ASSIGN(type, H5Tget_class(stored.get()) == H5T_STRING
                            ? own(H5Tcopy(stored.get()), "reading an attribute")
                            : own(H5Tget_native_type(stored.get(), H5T_DIR_ASCEND), "reading an attribute"));
    return require(H5Aread(attribute.get(), type.get(), to), fmt::format("reading attribute '{}'", name));
}

Result<std::string> H5PartReader::read_text(const std::string& group_name, const std::string& name) const {
    std::string text;
    {
        const QuietErrors quiet;
        FB_TRY_ASSIGN(group, this->group(group_name));
        FB_TRY_ASSIGN(attribute, open_attribute(group, name));
        FB_TRY_ASSIGN(type, own(H5Aget_type(attribute.get()), "reading an attribute"));
        if (H5Tget_class(type.get()) != H5T_STRING)
            return Error{ErrorKind::unsupported, fmt::format("attribute '{}' is not a text.", name)};
        // One byte more: the stored text may lack its NUL.
        text.resize(H5Aget_storage_size(attribute.get()) + 1);
    }
    FB_TRY(read_attribute(group_name, name, text.data()));
    text.resize(text.find('\0'));
    return text;
}

}  // namespace forebay::h5part
