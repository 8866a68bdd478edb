#include "views/plain_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <set>

#include "describe/geometry.hpp"
#include "views/dimensions.hpp"
#include "views/hdf5.hpp"
#include "views/scales.hpp"

namespace forebay::views {

namespace {

constexpr const char* convention = "Forebay-plain-1";

// What dimension scales and netCDF mean something by; an application's attribute of that name must not be taken for it.
constexpr std::array<std::string_view, 9> reserved_attributes = {"CLASS",
                                                                 "NAME",
                                                                 "DIMENSION_LIST",
                                                                 "REFERENCE_LIST",
                                                                 "DIMENSION_LABELS",
                                                                 "_Netcdf4Dimid",
                                                                 "_Netcdf4Coordinates",
                                                                 "_NCProperties",
                                                                 "_FillValue"};

/// netCDF-C 4.10 takes 16-bit floats for strings and crashes, so they are shown as f32, which holds each of them
/// exactly.
Type shown_type(Type type) { return type.scalar == Scalar::f16 ? f32 : type; }

bool is_real(Type type) { return type.scalar == Scalar::f32 || type.scalar == Scalar::f64; }
bool is_complex(Type type) { return type.scalar == Scalar::c64 || type.scalar == Scalar::c128; }

/// One element of what a reader sees where nothing was written: NaN, or zero bytes for types without one.
std::vector<std::byte> fill_of(Type shown) {
    std::vector<std::byte> fill(shown.size_bytes);
    const auto put = [&](auto value) {
        for (std::size_t at = 0; at < fill.size(); at += sizeof value)
            std::memcpy(fill.data() + at, &value, sizeof value);
    };
    if (shown.scalar == Scalar::f32 || shown.scalar == Scalar::c64) put(std::numeric_limits<float>::quiet_NaN());
    if (shown.scalar == Scalar::f64 || shown.scalar == Scalar::c128) put(std::numeric_limits<double>::quiet_NaN());
    return fill;
}

std::string fill_text(Type shown) {
    if (is_real(shown)) return "NaN";
    if (is_complex(shown)) return "NaN+NaNi";
    return shown.scalar == Scalar::string ? "" : "0";
}

class PlainWriter {
public:
    PlainWriter(h5::MemoryFile& file, const Contents& contents)
        : file_(file),
          contents_(contents),
          schema_(contents.manifest.schema),
          dimensions_(plan_dimensions(schema_, contents.table_rows)) {}

    Result<> write() {
        FB_TRY(write_root_attributes());
        FB_TRY(name_complex_types());
        FB_TRY(write_scales(file_, dimensions_));
        for (std::size_t v = 0; v < schema_.variables.size(); ++v) FB_TRY(write_variable(v));
        return attach_scales(file_, schema_, dimensions_);
    }

private:
    Result<> write_root_attributes() {
        const auto& manifest = contents_.manifest;
        FB_TRY_ASSIGN(root, file_.group(""));
        FB_TRY(h5::put_attribute(root, "Conventions", convention));
        FB_TRY(h5::put_attribute(root, "forebay_version", FOREBAY_VERSION));
        FB_TRY(h5::put_attribute(root, "run", contents_.run));
        FB_TRY(h5::put_attribute(root, "stream", schema_.stream));
        FB_TRY(h5::put_attribute(root, "step", manifest.step));
        FB_TRY(h5::put_attribute(root, "time", manifest.time));
        FB_TRY(h5::put_attribute(root, "snapshot_id", fmt::format("{:016x}", manifest.snapshot_id)));
        return h5::put_attribute(root, "node_files", static_cast<std::int64_t>(manifest.nodes.size()));
    }

    /// netCDF up to 4.9 shows variables of a compound type only if it met the type's name before them.
    Result<> name_complex_types() {
        std::set<std::string, std::less<>> taken;
        for (const auto& variable : schema_.variables) taken.insert(variable.name.substr(0, variable.name.find('/')));
        for (const auto& dimension : dimensions_.all) taken.insert(dimension.path);
        for (const auto type : {c64, c128}) {
            if (std::ranges::none_of(schema_.variables, [&](const auto& variable) { return variable.type == type; }))
                continue;
            auto name = fmt::format("complex{}", 8 * type.size_bytes);
            while (taken.contains(name)) name += "_type";
            FB_TRY_ASSIGN(named, h5::stored_type(type));
            FB_TRY(file_.name_type(name, named));
            (type == c64 ? complex64_ : complex128_) = std::move(named);
        }
        return {};
    }

    Result<> write_variable(std::size_t v) {
        const auto& variable = schema_.variables[v];
        const bool is_copied = !contents_.values[v].empty();
        if (is_copied && variable.type.scalar == Scalar::string) return write_texts(v);
        FB_TRY_ASSIGN(own_type, h5::stored_type(shown_type(variable.type)));
        const auto& type = variable.type == c64 ? complex64_ : variable.type == c128 ? complex128_ : own_type;
        FB_TRY_ASSIGN(space, h5::space_of(shown_shape(variable, contents_.table_rows)));
        FB_TRY_ASSIGN(creation, h5::dataset_creation());
        if (!is_copied) {
            const auto fill = fill_of(shown_type(variable.type));
            FB_TRY(h5::require(H5Pset_fill_value(creation.get(), type.get(), fill.data()), "setting a fill value"));
            FB_TRY(map(v, space, creation));
        }
        FB_TRY_ASSIGN(dataset, file_.dataset(variable.name, type, space, creation));
        if (is_copied) {
            FB_TRY_ASSIGN(stored, h5::stored_type(variable.type));
            FB_TRY(h5::require(
                H5Dwrite(dataset.get(), stored.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, contents_.values[v].data()),
                fmt::format("copying '{}'", variable.name)));
        }
        return write_attributes(dataset, variable, is_copied);
    }

    /// Copied strings have variable length: ncdump 4.9 crashes on arrays of strings of fixed length.
    Result<> write_texts(std::size_t v) {
        const auto& variable = schema_.variables[v];
        const auto& value = contents_.values[v];
        std::vector<std::string> texts;
        for (std::size_t at = 0; at < value.size(); at += variable.type.size_bytes) {
            const auto* text = reinterpret_cast<const char*>(value.data() + at);
            texts.emplace_back(text, strnlen(text, variable.type.size_bytes));
        }
        std::vector<const char*> pointers;
        for (const auto& text : texts) pointers.push_back(text.c_str());
        FB_TRY_ASSIGN(type, h5::text_type());
        FB_TRY_ASSIGN(space, h5::space_of(variable.shape));
        FB_TRY_ASSIGN(creation, h5::dataset_creation());
        FB_TRY_ASSIGN(dataset, file_.dataset(variable.name, type, space, creation));
        FB_TRY(h5::require(H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()),
                           fmt::format("copying '{}'", variable.name)));
        return write_attributes(dataset, variable, true);
    }

    /// Lists the sources of a virtual dataset. One without any stays an ordinary dataset of which nothing is stored.
    Result<> map(std::size_t v, const h5::Id& space, const h5::Id& creation) {
        const auto& variable = schema_.variables[v];
        const auto doing = fmt::format("mapping '{}'", variable.name);
        // HDF5 replaces %b in these names by a block's number; %% is the sign itself.
        for (const auto& placed : contents_.mappings[v]) {
            const auto& [first_element, box] = placed.mapping;
            FB_TRY(h5::select(space, box));
            const bool is_whole = variable.kind == Kind::replicated;
            const bool has_shape = is_whole || (contents_.is_shared && variable.kind == Kind::array);
            FB_TRY_ASSIGN(source, h5::space_of(has_shape ? variable.shape : Extents{placed.source_elements}));
            if (!is_whole) FB_TRY(h5::select(source, has_shape ? box : Box{{first_element}, {volume(box.size)}}));
            const auto name =
                contents_.is_shared ? contents_.datasets[v] : contents_.groups[placed.source] + variable.name;
            FB_TRY(h5::require(
                H5Pset_virtual(creation.get(), space.get(), escaped(contents_.sources[placed.source]).c_str(),
                               escaped(name).c_str(), source.get()),
                doing));
        }
        return h5::require(H5Sselect_all(space.get()), doing);
    }

    static std::string escaped(const std::string& name) {
        std::string result;
        for (const char c : name) result += c == '%' ? "%%" : std::string(1, c);
        return result;
    }

    static Result<> write_attributes(const h5::Id& dataset, const Variable& variable, bool is_copied) {
        const auto& attributes = variable.attributes;
        if (!attributes.unit.empty()) FB_TRY(h5::put_attribute(dataset, "units", attributes.unit));
        if (!attributes.description.empty()) FB_TRY(h5::put_attribute(dataset, "long_name", attributes.description));
        for (const auto& [name, value] : attributes.others) {
            const bool is_reserved = std::ranges::find(reserved_attributes, name) != reserved_attributes.end();
            FB_TRY(h5::put_attribute(dataset, is_reserved ? "forebay_" + name : name, value));
        }
        if (variable.type.scalar == Scalar::f16) FB_TRY(h5::put_attribute(dataset, "forebay_type", "f16"));
        if (!is_copied) FB_TRY(h5::put_attribute(dataset, "forebay_fill", fill_text(shown_type(variable.type))));
        return {};
    }

    h5::MemoryFile& file_;
    const Contents& contents_;
    const Schema& schema_;
    Dimensions dimensions_;
    h5::Id complex64_, complex128_;
};

}  // namespace

Result<std::string> write_plain(const Contents& contents) {
    const h5::QuietErrors quiet;
    FB_TRY_ASSIGN(file, h5::MemoryFile::create());
    FB_TRY(PlainWriter(file, contents).write());
    return file.bytes();
}

}  // namespace forebay::views
