// Finds type and shape of each array in PALM's MPI-IO file: by its name, the index planes before it, or its size.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/error_text.hpp"
#include "core/base/try.hpp"
#include "insight/foreign/evidence.hpp"
#include "insight/foreign/limits.hpp"
#include "insight/foreign/names.hpp"
#include "insight/foreign/palm_mpi/palm_mpi.hpp"
#include "insight/foreign/palm_mpi/surface.hpp"
#include "insight/foreign/palm_names.hpp"

namespace forebay::foreign {

namespace {

// The type and shape found for an array.
struct Found {
    Type type;
    Extents shape;
    std::string reason;
    bool ghosts = false;   // covers the grid with its outer ghost layers
    bool on_grid = false;  // its first dimensions are y and x
    Kind kind = Kind::array;
    Attributes attributes = {};
};

class PalmReader {
public:
    PalmReader(sys::File& file, const std::string& path, const Choices& choices, const PalmMpiHeader& header)
        : file_(file), path_(path), choices_(choices), header_(header) {
        outer_y_ = header.points_y + 2 * header.ghost_layers;
        outer_x_ = header.points_x + 2 * header.ghost_layers;
    }

    Result<ForeignContents> read() {
        out_.files = {path_};
        out_.big_endian = header_.big_endian;
        out_.time = header_.time;
        if (header_.step >= 0) out_.step = header_.step;
        out_.parts.push_back({.rank = 0, .boxes = {}, .rows = {}});
        for (const auto* list : {&header_.integers, &header_.reals, &header_.texts, &header_.arrays})
            for (const auto& named : *list) names_.add(named.name);
        FB_TRY(add_values(header_.integers, i32, "the header's integers"));
        FB_TRY(add_values(header_.reals, f64, "the header's reals"));
        FB_TRY(add_values(header_.texts, string_of(1), "the header's texts"));
        FB_TRY(add_arrays());
        note_all();
        return std::move(out_);
    }

private:
    // The stored names of a list. PALM reads the first array of a name. A later equal array gets no name.
    Result<std::vector<std::string>> settle(const std::vector<PalmMpiHeader::Named>& list) {
        std::vector<std::string> settled;
        std::map<std::string_view, Range> first;
        for (const auto& named : list) {
            const auto [known, is_first] = first.emplace(named.name, named.place);
            FB_TRY_ASSIGN(same,
                          is_first ? Result<bool>(false) : equal_ranges(file_, {&known->second, 1}, {&named.place, 1}));
            settled.push_back(names_.keep(named.name, is_first, is_first || !same));
        }
        return settled;
    }

    Result<> add_values(const std::vector<PalmMpiHeader::Named>& list, Type type, const char* reason) {
        FB_TRY_ASSIGN(names, settle(list));
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (names[i].empty()) continue;
            const auto size = static_cast<std::uint32_t>(list[i].place.bytes);
            add({.name = names[i],
                 .type = type.scalar == Scalar::string ? string_of(size) : type,
                 .kind = Kind::replicated,
                 .shape = {},
                 .attributes = {}},
                {}, whole(0, {list[i].place}), reason);
        }
        return {};
    }

    Result<> add_arrays() {
        const auto& arrays = header_.arrays;
        FB_TRY_ASSIGN(names, settle(arrays));
        std::size_t planes_end = 0;  // after the last pair of index planes
        for (std::size_t i = 0; i < arrays.size(); ++i) {
            // Any two neighbours may be a pair of index planes, but a plane belongs to one pair.
            if (i >= planes_end && i + 1 < arrays.size()) {
                FB_TRY_ASSIGN(index, read_surface_index(file_, header_, arrays[i].place, arrays[i + 1].place));
                if (index) {
                    index_ = index;
                    index_->start = arrays[i].name;
                    index_->end = arrays[i + 1].name;
                    planes_end = i + 2;
                }
            }
            if (names[i].empty()) continue;
            if (arrays[i].place.bytes == 0) {
                empty_.push_back(names[i]);
                continue;
            }
            FB_TRY_ASSIGN(classified, classify(names[i], arrays[i], i < planes_end));
            add_array(names[i], arrays[i], std::move(classified));
        }
        return check_wishes(choices_, names, path_);
    }

    void add(Variable variable, std::vector<Box> boxes, Origin origin, std::string reason) {
        out_.schema.variables.push_back(std::move(variable));
        out_.parts.front().boxes.push_back(std::move(boxes));
        out_.origins.push_back(std::move(origin));
        out_.reasons.push_back(std::move(reason));
    }

    Result<std::vector<std::byte>> sample(const Range& place) {
        std::vector<std::byte> bytes(std::min(place.bytes, limits::sample_bytes));
        FB_TRY(file_.read(place.offset, bytes));
        return bytes;
    }

    Extents shape_of(bool ghosts, std::uint64_t levels) const {
        Extents shape = ghosts ? Extents{outer_y_, outer_x_} : Extents{header_.points_y, header_.points_x};
        if (levels > 0) shape.push_back(levels);
        return shape;
    }

    // The shape over the grid with this many bytes; a shape without levels is a horizontal field.
    std::optional<Found> on_grid(std::uint64_t bytes, Type type, const char* reason) const {
        if (bytes % type.size_bytes != 0) return std::nullopt;
        const auto elements = bytes / type.size_bytes;
        for (const bool ghosts : {true, false}) {
            const auto plane = ghosts ? outer_y_ * outer_x_ : header_.columns();
            const bool around = ghosts && header_.ghost_layers > 0;
            if (elements == plane) return Found{type, shape_of(ghosts, 0), reason, around, true};
            if (elements % plane == 0 && elements / plane == header_.levels)
                return Found{type, shape_of(ghosts, header_.levels), reason, around, true};
        }
        return std::nullopt;
    }

    // Its own number of levels, as for soil, over the grid as reals are stored.
    std::optional<Found> layered(std::uint64_t bytes, Type type, const char* reason) const {
        const auto plane = outer_y_ * outer_x_ * type.size_bytes;
        if (bytes == 0 || bytes % plane != 0) return std::nullopt;
        return Found{type, shape_of(true, bytes / plane), reason, header_.ghost_layers > 0, true};
    }

    std::optional<Found> named(const PalmArray& array, const PalmMpiHeader::Named& named) {
        constexpr const char* reason = "known to PALM by its name";
        const auto bytes = named.place.bytes;
        if (array.kind == PalmArray::Kind::grid) return on_grid(bytes, array.type, reason);
        if (array.kind == PalmArray::Kind::surface) return std::nullopt;
        const auto shape = palm_shape(array, named.name, bytes, header_.levels);
        if (!shape) return std::nullopt;
        Found reading{array.type, *shape, reason};
        if (array.is_whole()) reading.kind = Kind::replicated;
        else records_.push_back(named.name);
        return reading;
    }

    Result<std::optional<Found>> surface_data(const PalmMpiHeader::Named& array) {
        std::optional<Found> none;
        if (!index_) return none;
        FB_TRY_ASSIGN(runs, count_surface_runs(file_, header_, *index_, array.place));
        if (runs == 0) return none;
        Found reading{f64, {index_->elements}, "surface data: the counts match the index planes"};
        reading.attributes.dimensions = {"surface"};
        if (runs > 1) {
            reading.shape = {runs, index_->elements};
            reading.attributes.dimensions = {"level", "surface"};
        }
        reading.attributes.others = {{"start_index", index_->start}, {"end_index", index_->end}};
        return std::optional(std::move(reading));
    }

    Result<Found> classify(const std::string& name, const PalmMpiHeader::Named& array, bool is_index) {
        const auto known = palm_array(array.name);
        // The user's hint wins over every rule.
        if (const auto wish = choices_.wishes.find(name); wish != choices_.wishes.end()) {
            FB_TRY_ASSIGN(reading, wished(array, wish->second));
            if (known && known->is_whole() && !reading.on_grid) reading.kind = Kind::replicated;
            return reading;
        }
        if (is_index)
            return Found{i64, shape_of(false, 0), "index plane: with its neighbour it covers the surfaces", false,
                         true};
        const auto bytes = array.place.bytes;
        if (known)
            if (auto reading = named(*known, array)) return std::move(*reading);
        FB_TRY_ASSIGN(surface, surface_data(array));
        if (surface) return std::move(*surface);
        // A name of surface data rules out a field.
        const bool may_be_field = !known || known->kind != PalmArray::Kind::surface;
        if (may_be_field)
            if (auto reading = on_grid(bytes, f64, "size")) return std::move(*reading);
        FB_TRY_ASSIGN(first, sample(array.place));
        if (may_be_field) {
            const bool real = (known && known->type == f64) || is_real(first, header_.big_endian);
            if (auto reading = on_grid(bytes, i32, "size"); reading && !real) return std::move(*reading);
            if (auto reading = layered(bytes, f64, "size: levels of its own")) return std::move(*reading);
            if (bytes == 8 * header_.levels) return Found{f64, {header_.levels}, "size: a profile"};
        }
        unfit_.push_back(name);
        const auto type = guess_type(first, bytes, header_.big_endian);
        return Found{type, {bytes / type.size_bytes}, "size fits no shape"};
    }

    Result<Found> wished(const PalmMpiHeader::Named& array, const TypeHint& wish) const {
        const auto bytes = array.place.bytes;
        const auto refusal = [&](const std::string& why) {
            return Error{ErrorKind::refused,
                         fmt::format("'{}' has {} bytes in {}, which is not {}", array.name, bytes, path_, why), "",
                         "forebay import palm-mpi --dry-run shows the types for this size"};
        };
        const auto type = wish.type;
        if (wish.form == TypeHint::Form::shape) {
            Variable wanted{
                .name = array.name, .type = type, .kind = Kind::array, .shape = wish.shape, .attributes = {}};
            if (wanted.elements() * type.size_bytes != bytes)
                return refusal(fmt::format("{} of {}", name_of(type), show_shape(wish.shape)));
            return Found{type, wish.shape, "--type"};
        }
        if (wish.form != TypeHint::Form::rows) {
            if (const auto reading = on_grid(bytes, type, "--type")) return *reading;
            if (const auto reading = layered(bytes, type, "--type")) return *reading;
        }
        if (wish.form == TypeHint::Form::box || bytes % type.size_bytes != 0)
            return refusal(fmt::format("{} over a grid of {} x {} points", name_of(type), outer_y_, outer_x_));
        return Found{type, {bytes / type.size_bytes}, "--type"};
    }

    void add_array(const std::string& name, const PalmMpiHeader::Named& array, Found reading) {
        Variable variable{.name = name,
                          .type = reading.type,
                          .kind = reading.kind,
                          .shape = reading.shape,
                          .attributes = std::move(reading.attributes)};
        auto origin = whole(0, {array.place});
        if (reading.on_grid) {
            const bool cut = reading.ghosts && choices_.cut_ghosts;
            const bool around = reading.ghosts && !cut;
            variable.attributes.dimensions = {around ? "yg" : "y", around ? "xg" : "x"};
            if (reading.shape.dims() == 3)
                variable.attributes.dimensions.push_back(reading.shape[2] == header_.levels ? "z" : "level");
            if (around)
                variable.attributes.others = {{"ghost_layers", static_cast<std::int64_t>(header_.ghost_layers)}};
            if (cut) cut_ghosts(variable, origin);
        }
        if (reading.shape == Extents{header_.levels}) variable.attributes.dimensions = {"z"};
        if (reading.kind == Kind::replicated) return add(std::move(variable), {}, std::move(origin), reading.reason);
        Box box{.lo = {}, .size = variable.shape};
        for (int dim = 0; dim < box.size.dims(); ++dim) box.lo.push_back(0);
        add(std::move(variable), {box}, std::move(origin), reading.reason);
    }

    // Rows of x are contiguous between the ghost layers on the left and right.
    void cut_ghosts(Variable& variable, Origin& origin) const {
        const auto column = variable.type.size_bytes * (variable.shape.dims() == 3 ? variable.shape[2] : 1);
        variable.shape[0] = header_.points_y;
        variable.shape[1] = header_.points_x;
        origin.first = (header_.ghost_layers * outer_x_ + header_.ghost_layers) * column;
        origin.run_bytes = header_.points_x * column;
        origin.stride_bytes = outer_x_ * column;
        origin.runs = header_.points_y;
    }

    // The most important note comes first.
    void note_all() {
        names_.note_others(out_.notes, "PALM reads the first one");
        if (!unfit_.empty()) {
            const bool last = out_.schema.variables.back().name == unfit_.back();
            out_.notes.push_back(note_line(
                fmt::format(
                    "not fields of the grid by their sizes, and not surface data by the index planes, so kept in one "
                    "dimension: {}{}",
                    list_names(unfit_),
                    last ? ". The last one is the file's last array. A file that was cut would look the same" : ""),
                "--type NAME=TYPE:SHAPE to set a shape"));
        }
        if (!records_.empty())
            out_.notes.push_back(
                fmt::format("kept as bytes, since PALM's compiler chose their layout: {}", list_names(records_)));
        names_.note_repeated(out_.notes);
        if (!empty_.empty()) out_.notes.push_back(fmt::format("empty, so left out: {}", list_names(empty_)));
    }

    sys::File& file_;
    const std::string& path_;
    const Choices& choices_;
    const PalmMpiHeader& header_;
    std::uint64_t outer_y_ = 0, outer_x_ = 0;
    KeptNames names_;
    std::optional<SurfaceIndex> index_;                 // of the latest index planes
    std::vector<std::string> unfit_, records_, empty_;  // fits no shape; has a derived type; has no bytes
    ForeignContents out_;
};

}  // namespace

Result<ForeignContents> open_palm_mpi(sys::File& file, const std::string& path, const Choices& choices) {
    FB_TRY_ASSIGN(file_bytes, file.size());
    std::vector<std::byte> bytes(std::min(file_bytes, palm_mpi_header_bytes));
    FB_TRY(file.read(0, bytes));
    FB_TRY_ASSIGN(header, decode_palm_mpi(bytes, file_bytes, path));
    return PalmReader(file, path, choices, header).read();
}

Result<ForeignContents> open_palm_mpi(sys::Store& store, const std::string& path, const Choices& choices) {
    auto file = store.open(path, sys::Access::read);
    if (file) return open_palm_mpi(**file, path, choices);
    if (!store.list(path)) return file.error();
    return Error{ErrorKind::refused, fmt::format("{} is a directory, and restart_data_format mpi is one file", path),
                 "", "for a directory with a file for each process: forebay import palm-fortran"};
}

}  // namespace forebay::foreign
