#include "insight/views/render.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/base/try.hpp"
#include "core/describe/geometry.hpp"
#include "insight/outline/dimensions.hpp"
#include "insight/views/attributes.hpp"
#include "insight/views/scales.hpp"

namespace forebay::views {

namespace {

class Renderer {
public:
    Renderer(h5::Hdf5File& file, const outline::Outline& outline, std::span<const outline::Contents> contents,
             const Lay& lay)
        : file_(file), outline_(outline), contents_(contents), lay_(lay) {}

    Result<> render() {
        for (const auto& group : outline_.groups) {
            FB_TRY_ASSIGN(new_group, file_.group(group.path));
            FB_TRY(put_attributes(new_group, group.attributes, outline_.terminated_texts));
        }
        for (const auto& named : outline_.types) {
            FB_TRY_ASSIGN(type, h5::stored_type(named.type));
            FB_TRY(file_.name_type(named.name, type));
            named_.push_back(std::move(type));
        }
        for (const auto& dataset : outline_.datasets) FB_TRY(make(dataset));
        // Last, because references need existing datasets.
        return attach_scales(file_, outline_);
    }

private:
    Result<> make(const outline::Outline::Dataset& dataset) {
        const auto* shown = std::get_if<std::vector<outline::Outline::Shows>>(&dataset.content);
        const auto* held = std::get_if<outline::Outline::Holds>(&dataset.content);
        const bool copied = shown != nullptr && is_copied(*shown, contents_);
        FB_TRY_ASSIGN(own_type, type_of(dataset, copied || held != nullptr));
        const auto& type = named_or(own_type, dataset.type);
        FB_TRY_ASSIGN(space, h5::space_of(dataset.shape));
        FB_TRY_ASSIGN(creation, h5::dataset_creation());
        if (shown != nullptr && !copied) {
            FB_TRY(set_fill(creation, type, dataset.type));
            if (lay_) FB_TRY(lay_({dataset, type, space, creation}));
        }
        if (dataset.may_grow) FB_TRY(let_grow(space, creation, dataset.shape[0]));
        FB_TRY_ASSIGN(new_dataset, file_.dataset(dataset.path, type, space, creation));
        if (held != nullptr) FB_TRY(write(new_dataset, dataset, dataset.type, held->bytes, {}));
        if (copied)
            for (const auto& source : *shown) {
                const auto& of = contents_[source.snapshot];
                FB_TRY(write(new_dataset, dataset, of.manifest.schema.variables[source.variable].type,
                             of.values[source.variable], source));
            }
        if (!dataset.scale.empty()) FB_TRY(mark_scale(new_dataset, dataset));
        return put_attributes(new_dataset, dataset.attributes, outline_.terminated_texts);
    }

    /// netCDF-C up to 4.10.1 takes the fill value of a fixed-length text for an address, and crashes. HDF5's default
    /// fill value of texts is zeros anyway.
    static Result<> set_fill(const h5::Id& creation, const h5::Id& stored, Type type) {
        if (type.scalar == Scalar::string) return {};
        const auto fill = outline::fill_of(type);
        return h5::require(H5Pset_fill_value(creation.get(), stored.get(), fill.data()), "setting a fill value");
    }

    /// In HDF5 and netCDF, data that may grow must be chunked.
    static Result<> let_grow(const h5::Id& space, const h5::Id& creation, hsize_t size) {
        constexpr auto doing = "making a dimension that may grow";
        constexpr hsize_t limit = H5S_UNLIMITED;
        FB_TRY(h5::require(H5Sset_extent_simple(space.get(), 1, &size, &limit), doing));
        return h5::require(H5Pset_chunk(creation.get(), 1, &size), doing);
    }

    /// Texts stored in the file have variable length: ncdump 4.9 crashes on arrays of fixed-length strings.
    static Result<h5::Id> type_of(const outline::Outline::Dataset& dataset, bool is_held) {
        if (dataset.type.scalar == Scalar::string && is_held) return h5::text_type();
        // netCDF's own type for a dimension without a coordinate.
        if (std::holds_alternative<outline::Outline::Nothing>(dataset.content) && !dataset.scale.empty())
            return h5::own(H5Tcopy(H5T_IEEE_F32BE), "making a scale");
        return h5::stored_type(dataset.type);
    }

    const h5::Id& named_or(const h5::Id& own_type, Type type) const {
        const auto match = std::ranges::find(outline_.types, type, &outline::Outline::NamedType::type);
        return match == outline_.types.end() ? own_type
                                             : named_[static_cast<std::size_t>(match - outline_.types.begin())];
    }

    /// Writes the elements of one variable, or of the whole dataset.
    Result<> write(const h5::Id& new_dataset, const outline::Outline::Dataset& dataset, Type type,
                   const std::vector<std::byte>& bytes, const outline::Outline::Shows& shows) const {
        const auto doing = fmt::format("writing '{}'", dataset.path);
        const auto count = bytes.size() / type.size_bytes;
        if (count == 0) return {};
        std::vector<std::string> texts;
        std::vector<const char*> pointers;
        if (type.scalar == Scalar::string) {
            // HDF5's texts of variable length are pointers to texts that end with NUL.
            for (std::size_t at = 0; at < bytes.size(); at += type.size_bytes) {
                const auto* text = reinterpret_cast<const char*>(bytes.data() + at);
                texts.emplace_back(text, strnlen(text, type.size_bytes));
            }
            for (const auto& text : texts) pointers.push_back(text.c_str());
        }
        FB_TRY_ASSIGN(memory_type, pointers.empty() ? h5::stored_type(type) : h5::text_type());
        FB_TRY_ASSIGN(memory, h5::space_of({count}));
        FB_TRY_ASSIGN(space, h5::space_of(dataset.shape));
        if (shows.first.dims() != 0) {
            const auto& variable = contents_[shows.snapshot].manifest.schema.variables[shows.variable];
            Box whole{{}, variable.shape};
            for (int dim = 0; dim < variable.shape.dims(); ++dim) whole.lo.push_back(0);
            FB_TRY(h5::select(space, outline::placed_in(dataset, shows, whole)));
        }
        const void* from = pointers.empty() ? static_cast<const void*>(bytes.data()) : pointers.data();
        return h5::require(H5Dwrite(new_dataset.get(), memory_type.get(), memory.get(), space.get(), H5P_DEFAULT, from),
                           doing);
    }

    h5::Hdf5File& file_;
    const outline::Outline& outline_;
    std::span<const outline::Contents> contents_;
    const Lay& lay_;
    std::vector<h5::Id> named_;  // in the order of Outline::types
};

}  // namespace

bool is_copied(const std::vector<outline::Outline::Shows>& shown, std::span<const outline::Contents> contents) {
    return !shown.empty() && std::ranges::all_of(shown, [&](const auto& source) {
        return !contents[source.snapshot].values[source.variable].empty();
    });
}

Result<> render(h5::Hdf5File& file, const outline::Outline& outline, std::span<const outline::Contents> contents,
                const Lay& lay) {
    return Renderer(file, outline, contents, lay).render();
}

}  // namespace forebay::views
