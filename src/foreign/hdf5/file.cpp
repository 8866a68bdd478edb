#include "foreign/hdf5/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "base/try.hpp"
#include "foreign/hdf5/read.hpp"
#include "h5/walk.hpp"

namespace forebay::foreign {

namespace {

std::string number_name(hid_t type, std::size_t bytes) {
    const bool is_float = H5Tget_class(type) == H5T_FLOAT;
    const bool is_signed = is_float || H5Tget_sign(type) == H5T_SGN_2;
    const auto name = fmt::format("{}{}", is_float ? "f" : is_signed ? "i" : "u", 8 * bytes);
    return bytes > 1 && H5Tget_order(type) == H5T_ORDER_BE ? name + ", big-endian" : name;
}

std::string type_of(const h5::Id& dataset) {
    const h5::Id type(H5Dget_type(dataset.get()));
    const auto bytes = type.get() < 0 ? 0 : H5Tget_size(type.get());
    switch (type.get() < 0 ? H5T_NO_CLASS : H5Tget_class(type.get())) {
        case H5T_INTEGER:
        case H5T_FLOAT: return number_name(type.get(), bytes);
        case H5T_STRING: return H5Tis_variable_str(type.get()) > 0 ? "string" : fmt::format("string[{}]", bytes);
        case H5T_COMPOUND: return fmt::format("compound of {} bytes", bytes);
        case H5T_ENUM: return fmt::format("enum of {} bytes", bytes);
        default: return fmt::format("another type of {} bytes", bytes);
    }
}

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

ForeignDataset describe(const std::string& path, const h5::Id& dataset) {
    ForeignDataset found{path, type_of(dataset), h5::shape_of(dataset), unit_of(dataset), storage_of(dataset), 0};
    found.bytes = bytes_of(dataset).value_or(0);
    return found;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t number = 0;
    const auto end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    return !text.empty() && parsed.ec == std::errc() && parsed.ptr == end ? std::optional(number) : std::nullopt;
}

/// "Step#120" is a step of H5Part; its name may be another.
std::optional<std::int64_t> h5part_step(const std::string& path) {
    const auto mark = path.find('#');
    if (mark == std::string::npos || mark == 0 || path.find('/') != std::string::npos) return std::nullopt;
    return whole_number(std::string_view(path).substr(mark + 1));
}

std::optional<std::int64_t> openpmd_step(const std::string& path) {
    constexpr std::string_view base = "data/";
    return path.starts_with(base) ? whole_number(std::string_view(path).substr(base.size())) : std::nullopt;
}

class Look {
public:
    Result<> visit(const std::string& path, const h5::Id& object, H5I_type_t kind) {
        if (kind == H5I_DATASET) {
            // netCDF marks its files on the root or, in a file without provenance, on the scales alone.
            if (h5::has_attribute(object, "_Netcdf4Dimid")) is_netcdf_ = true;
            file_.datasets.push_back(describe(path, object));
            file_.bytes = add_up(file_.bytes, file_.datasets.back().bytes);
            return {};
        }
        if (path.empty()) root(object);
        if (const auto step = h5part_step(path)) h5part_steps_.push_back(*step);
        if (const auto step = openpmd_step(path)) openpmd_steps_.push_back(*step);
        return {};
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
        return std::move(file_);
    }

private:
    void root(const h5::Id& group) {
        openpmd_ = h5::text_attribute(group, "openPMD");
        encoding_ = h5::text_attribute(group, "iterationEncoding").value_or("no iterationEncoding");
        conventions_ = h5::text_attribute(group, "Conventions");
        is_netcdf_ = h5::has_attribute(group, "_NCProperties");
    }

    ForeignFile file_;
    std::optional<std::string> openpmd_, conventions_;
    std::string encoding_;
    bool is_netcdf_ = false;
    std::vector<std::int64_t> h5part_steps_, openpmd_steps_;
};

}  // namespace

Result<ForeignFile> look_at_hdf5(const std::string& path) {
    const h5::QuietErrors quiet;
    FB_TRY_ASSIGN(file, h5::open_file(path));
    Look look;
    FB_TRY(h5::walk(
        file,
        [&](const std::string& at, const h5::Id& object, H5I_type_t kind) { return look.visit(at, object, kind); },
        [](const std::string&) {}));
    return look.found();
}

}  // namespace forebay::foreign
