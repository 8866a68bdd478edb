// Which type and shape each array of PALM's MPI-IO file has: the file has only its size.

#include <fmt/format.h>

#include <algorithm>

#include "base/error_text.hpp"
#include "base/try.hpp"
#include "foreign/evidence.hpp"
#include "foreign/limits.hpp"
#include "foreign/palm_mpi/palm_mpi.hpp"

namespace forebay::foreign {

namespace {

// What an array turned out to be.
struct Found {
    Type type;
    Extents shape;
    bool ghosts = false;   // over the grid with its outer ghost layers
    bool on_grid = false;  // its first dimensions are y and x
    std::string reason;
};

class PalmReader {
public:
    PalmReader(sys::File& file, const std::string& path, const Choices& choices, const PalmMpiHeader& header)
        : file_(file), path_(path), choices_(choices), header_(header) {
        inner_ = header.points_y * header.points_x;
        outer_y_ = header.points_y + 2 * header.ghost_layers;
        outer_x_ = header.points_x + 2 * header.ghost_layers;
    }

    Result<ForeignContents> read() {
        out_.files = {path_};
        out_.big_endian = header_.big_endian;
        out_.time = header_.time;
        if (header_.step >= 0) out_.step = header_.step;
        out_.parts.push_back({.rank = 0, .boxes = {}, .rows = {}});
        for (const auto& one : header_.integers) add_value(one, i32, "the header's integers");
        for (const auto& one : header_.reals) add_value(one, f64, "the header's reals");
        for (const auto& one : header_.texts)
            add_value(one, string_of(static_cast<std::uint32_t>(one.place.bytes)), "the header's texts");
        std::vector<std::string> names;
        for (const auto& array : header_.arrays) {
            names.push_back(array.name);
            FB_TRY_ASSIGN(found, classify(array));
            add_array(array, found);
        }
        FB_TRY(check_wishes(choices_, names, path_));
        return std::move(out_);
    }

private:
    void add_value(const PalmMpiHeader::Named& one, Type type, const char* reason) {
        add({.name = one.name, .type = type, .kind = Kind::replicated, .shape = {}, .attributes = {}}, {},
            whole(0, {one.place}), reason);
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

    // The shape over the grid that has so many elements; levels 0 are a horizontal field.
    std::optional<Found> on_grid(std::uint64_t bytes, Type type, const char* reason) const {
        if (bytes % type.size_bytes != 0) return std::nullopt;
        const auto elements = bytes / type.size_bytes;
        for (const bool ghosts : {true, false}) {
            const auto plane = ghosts ? outer_y_ * outer_x_ : inner_;
            const bool around = ghosts && header_.ghost_layers > 0;
            if (elements == plane) return Found{type, shape_of(ghosts, 0), around, true, reason};
            if (elements % plane == 0 && elements / plane == header_.levels)
                return Found{type, shape_of(ghosts, header_.levels), around, true, reason};
        }
        return std::nullopt;
    }

    // Some levels of its own, as soil has, over the grid as reals are stored.
    std::optional<Found> layered(std::uint64_t bytes, Type type, const char* reason) const {
        const auto plane = outer_y_ * outer_x_ * type.size_bytes;
        if (bytes % plane != 0) return std::nullopt;
        return Found{type, shape_of(true, bytes / plane), header_.ghost_layers > 0, true, reason};
    }

    Result<bool> is_surface_data(const Range& place) {
        SurfaceWalk walk(inner_);
        std::vector<std::byte> bytes(std::min(place.bytes, limits::window_bytes));
        for (std::uint64_t at = 0; at < place.bytes; at += bytes.size()) {
            const auto now = std::span(bytes).first(std::min<std::uint64_t>(bytes.size(), place.bytes - at));
            FB_TRY(file_.read(place.offset + at, now));
            if (!walk.take(now, header_.big_endian)) return false;
        }
        return walk.ends_well();
    }

    Result<Found> classify(const PalmMpiHeader::Named& array) {
        if (const auto wish = choices_.wishes.find(array.name); wish != choices_.wishes.end())
            return wished(array, wish->second);
        const auto bytes = array.place.bytes;
        if (auto found = on_grid(bytes, f64, "size")) {
            FB_TRY_ASSIGN(first, sample(array.place));
            if (guess_type(first, bytes, header_.big_endian) == i64) {
                found->type = i64;
                found->reason = "size; its words are integers";
            }
            return *found;
        }
        if (const auto found = on_grid(bytes, i32, "size")) return *found;
        if (const auto found = on_grid(bytes, i8, "size")) return *found;
        if (bytes % 8 == 0) {
            FB_TRY_ASSIGN(surface, is_surface_data(array.place));
            if (surface) return Found{f64, {bytes / 8}, false, false, "counts and values of each column: surface data"};
        }
        if (auto found = layered(bytes, f64, "size: levels of its own")) return *found;
        if (bytes == 8 * header_.levels) return Found{f64, {header_.levels}, false, false, "size: a profile"};
        FB_TRY_ASSIGN(first, sample(array.place));
        const auto type = guess_type(first, bytes, header_.big_endian);
        const bool last = array.place.offset == header_.arrays.back().place.offset;
        out_.notes.push_back(note_line(
            fmt::format("'{}': {} bytes fit no shape of the grid; kept in one dimension as {}.{}", array.name, bytes,
                        name_of(type),
                        last ? " It is the last array, so a file that is cut short would look like this." : ""),
            fmt::format("--type {}=TYPE:SHAPE, if it is something else", array.name)));
        return Found{type, {bytes / type.size_bytes}, false, false, "size fits no shape"};
    }

    Result<Found> wished(const PalmMpiHeader::Named& array, const TypeHint& wish) const {
        const auto bytes = array.place.bytes;
        const auto refusal = [&](const std::string& why) {
            return Error{ErrorKind::refused,
                         fmt::format("'{}' has {} bytes in {}, which is not {}", array.name, bytes, path_, why), "",
                         "forebay import palm-mpi --dry-run shows what its size tells"};
        };
        const auto type = wish.type;
        if (wish.form == TypeHint::Form::shape) {
            Variable wanted{
                .name = array.name, .type = type, .kind = Kind::array, .shape = wish.shape, .attributes = {}};
            if (wanted.elements() * type.size_bytes != bytes)
                return refusal(fmt::format("{} of {}", name_of(type), show_shape(wish.shape)));
            return Found{type, wish.shape, false, false, "--type"};
        }
        if (wish.form != TypeHint::Form::rows) {
            if (const auto found = on_grid(bytes, type, "--type")) return *found;
            if (const auto found = layered(bytes, type, "--type")) return *found;
        }
        if (wish.form == TypeHint::Form::box || bytes % type.size_bytes != 0)
            return refusal(fmt::format("{} over a grid of {} x {} points", name_of(type), outer_y_, outer_x_));
        return Found{type, {bytes / type.size_bytes}, false, false, "--type"};
    }

    void add_array(const PalmMpiHeader::Named& array, const Found& found) {
        Variable variable{.name = array.name, .type = found.type, .kind = Kind::array, .shape = found.shape};
        auto origin = whole(0, {array.place});
        if (found.on_grid) {
            const bool cut = found.ghosts && choices_.cut_ghosts;
            const bool around = found.ghosts && !cut;
            variable.attributes.dimensions = {around ? "yg" : "y", around ? "xg" : "x"};
            if (found.shape.dims() == 3)
                variable.attributes.dimensions.push_back(found.shape[2] == header_.levels ? "z" : "level");
            if (around)
                variable.attributes.others = {{"ghost_layers", static_cast<std::int64_t>(header_.ghost_layers)}};
            if (cut) cut_ghosts(variable, origin);
        }
        if (found.shape == Extents{header_.levels}) variable.attributes.dimensions = {"z"};
        Box box{.lo = {}, .size = variable.shape};
        for (int dim = 0; dim < box.size.dims(); ++dim) box.lo.push_back(0);
        add(std::move(variable), {box}, std::move(origin), found.reason);
    }

    // Rows of x, which are end to end within the ghost layers left and right of them.
    void cut_ghosts(Variable& variable, Origin& origin) const {
        const auto column = variable.type.size_bytes * (variable.shape.dims() == 3 ? variable.shape[2] : 1);
        variable.shape[0] = header_.points_y;
        variable.shape[1] = header_.points_x;
        origin.first = (header_.ghost_layers * outer_x_ + header_.ghost_layers) * column;
        origin.run_bytes = header_.points_x * column;
        origin.stride_bytes = outer_x_ * column;
        origin.runs = header_.points_y;
    }

    sys::File& file_;
    const std::string& path_;
    const Choices& choices_;
    const PalmMpiHeader& header_;
    std::uint64_t inner_ = 0, outer_y_ = 0, outer_x_ = 0;
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

}  // namespace forebay::foreign
