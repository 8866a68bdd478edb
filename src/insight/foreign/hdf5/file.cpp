#include "insight/foreign/hdf5/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "core/base/try.hpp"
#include "insight/foreign/hdf5/read.hpp"
#include "insight/foreign/hdf5/sources.hpp"
#include "insight/foreign/hdf5/types.hpp"
#include "insight/h5/walk.hpp"

namespace forebay::foreign {

namespace {

std::string virtual_storage(const h5::Id& creation) {
    std::size_t count = 0;
    if (H5Pget_virtual_count(creation.get(), &count) < 0) return "virtual";
    std::set<std::string> files;
    for (std::size_t i = 0; i < count; ++i) {
        const auto length = H5Pget_virtual_filename(creation.get(), i, nullptr, 0);
        if (length < 0) continue;
        std::string name(static_cast<std::size_t>(length) + 1, '\0');
        H5Pget_virtual_filename(creation.get(), i, name.data(), name.size());
        files.insert(std::move(name));
    }
    return fmt::format("virtual, {} file{}", files.size(), files.size() == 1 ? "" : "s");
}

std::string storage_of(const h5::Id& dataset) {
    const h5::Id creation(H5Dget_create_plist(dataset.get()));
    switch (creation.get() < 0 ? H5D_LAYOUT_ERROR : H5Pget_layout(creation.get())) {
        case H5D_COMPACT: return "compact";
        case H5D_CONTIGUOUS: return "contiguous";
        case H5D_CHUNKED: return H5Pget_nfilters(creation.get()) > 0 ? "chunked, filtered" : "chunked";
        case H5D_VIRTUAL: return virtual_storage(creation);
        default: return "unknown";
    }
}

std::string unit_of(const h5::Id& dataset) {
    if (const auto units = h5::text_attribute(dataset, "units")) return *units;
    if (const auto factor = h5::number_attribute(dataset, "unitSI")) return fmt::format("{:g} SI", *factor);
    return "";
}

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t number = 0;
    const auto end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    return !text.empty() && parsed.ec == std::errc() && parsed.ptr == end ? std::optional(number) : std::nullopt;
}

/// A step of H5Part. Only the exact name counts: other programs number groups too, and "dense#1" is a layer of Keras.
std::optional<std::int64_t> h5part_step(const std::string& path) {
    constexpr std::string_view base = "Step#";
    return path.starts_with(base) ? whole_number(std::string_view(path).substr(base.size())) : std::nullopt;
}

std::optional<std::int64_t> openpmd_step(const std::string& path) {
    constexpr std::string_view base = "data/";
    return path.starts_with(base) ? whole_number(std::string_view(path).substr(base.size())) : std::nullopt;
}

/// netCDF marks a scale without a variable like this.
bool is_bare_dimension(const h5::Id& dataset) {
    return h5::text_attribute(dataset, "NAME")
        .value_or("")
        .starts_with("This is a netCDF dimension but not a netCDF variable");
}

std::string text_of(const h5::UnvisitedLink& link) {
    switch (link.kind) {
        case h5::UnvisitedLink::Kind::another_name: return fmt::format("another name of '{}'", link.target);
        case h5::UnvisitedLink::Kind::elsewhere:
            return link.file.empty() ? fmt::format("a link to '{}', through another file", link.target)
                                     : fmt::format("a link to '{}' of {}", link.target, link.file);
        case h5::UnvisitedLink::Kind::unreadable: return link.target.empty() ? "" : link.target + " ";
        default: return fmt::format("a link to '{}', which does not exist", link.target);
    }
}

class Look {
public:
    Look(std::string path, const Alive& alive) : path_(std::move(path)), alive_(alive) {}

    Result<> visit(const std::string& path, const h5::Id& object, H5I_type_t kind) {
        alive_(0);
        if (kind == H5I_DATASET) dataset(path, object);
        else if (kind == H5I_DATATYPE)
            file_.others.push_back({path, "type", {}, "", "named type: " + type_text(object)});
        else group(path, object);
        return {};
    }

    void link(const h5::UnvisitedLink& link) {
        ForeignDataset other{link.path, "", {}, "", text_of(link)};
        if (link.kind == h5::UnvisitedLink::Kind::unreadable) return unreadable(link.path, other.storage);
        aliases_ = aliases_ || link.kind == h5::UnvisitedLink::Kind::another_name;
        targets_.emplace(link.path, link.kind == h5::UnvisitedLink::Kind::another_name ? link.target : "");
        file_.others.push_back(std::move(other));
    }

    ForeignFile found() {
        if (openpmd_) {
            file_.format = ForeignFormat::openpmd;
            file_.label = fmt::format("openPMD {}, {}", *openpmd_, encoding_);
            file_.steps = openpmd_steps_;
        } else if (!h5part_steps_.empty()) {
            file_.format = ForeignFormat::h5part;
            file_.label = "H5Part";
            file_.steps = h5part_steps_;
        } else if (is_netcdf_) {
            file_.format = ForeignFormat::netcdf4;
            file_.label = "netCDF-4";
        } else {
            file_.label = "HDF5";
        }
        if (conventions_) file_.label += fmt::format(", {}", *conventions_);
        std::ranges::sort(file_.steps);
        std::ranges::sort(file_.datasets, is_before);
        describe_names();
        std::ranges::sort(file_.others, is_before);
        return std::move(file_);
    }

private:
    void unreadable(const std::string& path, const std::string& what) {
        file_.unreadable.push_back(path);
        file_.others.push_back({path, "", {}, "", what + unreadable_text()});
    }

    void dataset(const std::string& path, const h5::Id& object) {
        const h5::Id type(H5Dget_type(object.get()));
        ForeignDataset dataset{path, type_text(type), {}, unit_of(object), storage_of(object)};
        if (dataset.type.empty()) return unreadable(path, "its type ");
        // netCDF marks the root of its files. In a file without provenance only the scales have marks.
        if (h5::has_attribute(object, "_Netcdf4Dimid")) is_netcdf_ = true;
        // HDF5 would open that file to find the shape.
        if (const auto behind = shape_is_behind(object, path_)) {
            dataset.no_shape = "unknown";
            dataset.storage += fmt::format("; '{}' is not a regular file and was not opened", *behind);
        } else {
            const h5::Id space(H5Dget_space(object.get()));
            if (space.get() < 0) return unreadable(path, "its shape ");
            if (H5Sget_simple_extent_type(space.get()) == H5S_NULL) dataset.no_shape = "null";
            dataset.shape = h5::shape_of(object);
            dataset.bytes = bytes_of(object).value_or(0);
        }
        if (is_bare_dimension(object)) {
            file_.others.push_back({path, "dimension", dataset.shape, "", "of netCDF, without a variable"});
            return;
        }
        file_.bytes = add_up(file_.bytes, dataset.bytes);
        file_.datasets.push_back(std::move(dataset));
    }

    void group(const std::string& path, const h5::Id& object) {
        if (path.empty()) root(object);
        if (const auto step = h5part_step(path)) h5part_steps_.push_back(*step);
        if (const auto step = openpmd_step(path); step && !is_variable_based()) openpmd_steps_.push_back(*step);
        // Then an attribute lists the iterations instead of groups.
        if (path == "data" && is_variable_based()) openpmd_steps_ = h5::whole_numbers_attribute(object, "snapshot");
        const bool is_constant = openpmd_ && h5::has_attribute(object, "value") && h5::has_attribute(object, "shape");
        if (is_constant) return constant(path, object);
        H5G_info_t info{};
        if (!path.empty() && H5Gget_info(object.get(), &info) >= 0 && info.nlinks == 0)
            file_.others.push_back({path, "group", {}, "", "empty"});
    }

    /// openPMD stores a component with equal elements as a group.
    void constant(const std::string& path, const h5::Id& object) {
        const h5::Id value(H5Aopen(object.get(), "value", H5P_DEFAULT));
        const h5::Id type(value.get() < 0 ? H5I_INVALID_HID : H5Aget_type(value.get()));
        ForeignDataset dataset{path, type_text(type), {}, unit_of(object), "constant"};
        for (const auto size : h5::whole_numbers_attribute(object, "shape"))
            dataset.shape.push_back(static_cast<std::uint64_t>(size));
        file_.datasets.push_back(std::move(dataset));
    }

    /// Another name of a dataset has the same type and shape.
    void describe_names() {
        if (!aliases_) return;
        std::map<std::string, const ForeignDataset*> known;
        for (const auto& dataset : file_.datasets) known.emplace(dataset.path, &dataset);
        for (auto& other : file_.others) {
            const auto target = targets_.find(other.path);
            const auto entry = target == targets_.end() ? known.end() : known.find(target->second);
            if (entry == known.end()) continue;
            other.type = entry->second->type;
            other.shape = entry->second->shape;
            other.no_shape = entry->second->no_shape;
            other.unit = entry->second->unit;
        }
    }

    bool is_variable_based() const { return openpmd_ && encoding_ == "variableBased"; }

    void root(const h5::Id& group) {
        openpmd_ = h5::text_attribute(group, "openPMD");
        encoding_ = h5::text_attribute(group, "iterationEncoding").value_or("no iterationEncoding");
        conventions_ = h5::text_attribute(group, "Conventions");
        is_netcdf_ = h5::has_attribute(group, "_NCProperties");
    }

    std::string path_;
    const Alive& alive_;
    ForeignFile file_;
    std::optional<std::string> openpmd_, conventions_;
    std::string encoding_;
    bool is_netcdf_ = false, aliases_ = false;
    std::map<std::string, std::string> targets_;  // link -> target, for further names
    std::vector<std::int64_t> h5part_steps_, openpmd_steps_;
};

}  // namespace

bool is_before(const ForeignDataset& dataset, const ForeignDataset& other) {
    const auto place = [](char letter) {
        return letter == '/' ? -1 : static_cast<int>(static_cast<unsigned char>(letter));
    };
    return std::ranges::lexicographical_compare(dataset.path, other.path, {}, place, place);
}

std::string unreadable_text() { return fmt::format("cannot be read by {}: newer or damaged", h5::library_name()); }

Result<ForeignFile> look_at_hdf5(const std::string& path, const Alive& alive) {
    const h5::QuietErrors quiet;
    FB_TRY_ASSIGN(file, h5::open_file(path));
    Look look(path, alive);
    FB_TRY(h5::walk(
        file,
        [&](const std::string& at, const h5::Id& object, H5I_type_t kind) { return look.visit(at, object, kind); },
        [&](const h5::UnvisitedLink& link) { look.link(link); }));
    return look.found();
}

Result<bool> has_node_datasets(const std::string& path) {
    constexpr const char* group_name = "_forebay";
    const h5::QuietErrors quiet;
    FB_TRY_ASSIGN(file, h5::open_file(path));
    FB_TRY_ASSIGN(access, h5::closed_access(H5P_LINK_ACCESS));
    const auto there = H5Lexists(file.get(), group_name, access.get());
    FB_TRY(h5::require(there, "looking for a group"));
    if (there == 0) return false;
    const h5::Id group(H5Oopen(file.get(), group_name, access.get()));
    H5G_info_t info{};
    return group.get() >= 0 && H5Iget_type(group.get()) == H5I_GROUP && H5Gget_info(group.get(), &info) >= 0 &&
           info.nlinks > 0;
}

}  // namespace forebay::foreign
