// Puts the files of all processes together: global arrays of boxes, and tables of what is no box.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/bytes.hpp"
#include "base/error_text.hpp"
#include "base/limits.hpp"
#include "base/try.hpp"
#include "describe/coverage.hpp"
#include "foreign/bytes.hpp"
#include "foreign/evidence.hpp"
#include "foreign/limits.hpp"
#include "foreign/palm_fortran/palm_fortran.hpp"
#include "foreign/palm_fortran/shape.hpp"

namespace forebay::foreign {

namespace {

class Combiner {
public:
    Combiner(std::vector<PalmProcess> processes, std::vector<std::string> files, const Choices& choices,
             const ReadSample& read_sample)
        : processes_(std::move(processes)), choices_(choices), read_sample_(read_sample) {
        out_.files = std::move(files);
    }

    Result<ForeignContents> combine() {
        FB_TRY(check_processes());
        FB_TRY(check_grid());
        FB_TRY(check_bounds());
        out_.big_endian = processes_.front().big_endian;
        for (std::uint32_t p = 0; p < processes_.size(); ++p)
            out_.parts.push_back({.rank = p, .boxes = {}, .rows = {}});
        std::vector<std::string> names;
        for (const auto& [name, record] : processes_.front().global) {
            names.push_back(name);
            FB_TRY(add_global(name, record));
        }
        const auto items = local_items();
        ghost_layers_ = find_ghost_layers(processes_, items);
        for (const auto& item : items) {
            names.push_back(item.name);
            FB_TRY(add_local(item));
        }
        FB_TRY(check_wishes(choices_, names, out_.files.front()));
        note_tables();
        return std::move(out_);
    }

private:
    Error damage(std::size_t process, const std::string& why) const {
        return {ErrorKind::corrupt, fmt::format("{}: {} Nothing was imported", out_.files[process], why), "",
                "make sure that the files are of one run and one time"};
    }

    Result<> check_processes() {
        const auto& first = processes_.front();
        for (std::size_t p = 0; p < processes_.size(); ++p) {
            const auto& one = processes_[p];
            if (static_cast<std::size_t>(one.process) != p)
                return damage(p, fmt::format("it is of process {}, not of {}.", one.process, p));
            if (static_cast<std::size_t>(one.processes) != processes_.size())
                return damage(p, fmt::format("it is of a run of {} processes; {} files are there.", one.processes,
                                             processes_.size()));
            if (one.bottom != first.bottom || one.top != first.top)
                return damage(p, fmt::format("its z indices are {} to {}, those of process 0 {} to {}.", one.bottom,
                                             one.top, first.bottom, first.top));
            if (one.big_endian != first.big_endian) return damage(p, "its byte order is not that of process 0.");
            if (p > 0 && one.global.size() > 1)
                return damage(p, fmt::format("it has a global part, with '{}', which only process 0 writes.",
                                             one.global.front().name));
        }
        return {};
    }

    // The parts fill a rectangle from 0, 0 without gaps or overlaps.
    Result<> check_grid() {
        std::vector<Box> boxes;
        std::uint64_t cells = 0;
        for (const auto& one : processes_) {
            boxes.push_back({{static_cast<std::uint64_t>(one.left), static_cast<std::uint64_t>(one.south)},
                             {one.points_x(), one.points_y()}});
            points_x_ = std::max(points_x_, static_cast<std::uint64_t>(one.right) + 1);
            points_y_ = std::max(points_y_, static_cast<std::uint64_t>(one.north) + 1);
            cells += one.points_x() * one.points_y();
        }
        if (const auto [a, b] = find_overlap(boxes); a != b)
            return damage(b,
                          fmt::format("its part, x {} to {} and y {} to {}, overlaps that of {}.", processes_[b].left,
                                      processes_[b].right, processes_[b].south, processes_[b].north, out_.files[a]));
        if (cells != points_x_ * points_y_)
            return damage(0, fmt::format("the parts of all {} processes have {} points of a grid of {} x {}.",
                                         processes_.size(), cells, points_x_, points_y_));
        return {};
    }

    const FortranRecord* global(std::string_view name, std::uint64_t bytes) const {
        for (const auto& one : processes_.front().global)
            if (one.name == name && one.record.bytes == bytes) return &one.record;
        return nullptr;
    }

    // What process 0 says of all must be what each says of itself. Also finds step and time.
    Result<> check_bounds() {
        const bool big = processes_.front().big_endian;
        constexpr std::size_t row_bytes = 4 * sizeof(std::int32_t);
        if (const auto* record = global("hor_index_bounds", row_bytes * processes_.size())) {
            FB_TRY_ASSIGN(data, read_sample_(0, *record, record->bytes));
            for (std::size_t p = 0; p < processes_.size(); ++p) {
                const auto bound = [&](std::size_t i) {
                    return load<std::int32_t>(data.data() + p * row_bytes + i * sizeof(std::int32_t), big);
                };
                const auto& one = processes_[p];
                if (bound(0) != one.left || bound(1) != one.right || bound(2) != one.south || bound(3) != one.north)
                    return damage(p, fmt::format("its part is x {} to {} and y {} to {}; hor_index_bounds of process 0 "
                                                 "says x {} to {} and y {} to {}.",
                                                 one.left, one.right, one.south, one.north, bound(0), bound(1),
                                                 bound(2), bound(3)));
            }
        }
        if (const auto* record = global("current_timestep_number", sizeof(std::int32_t))) {
            FB_TRY_ASSIGN(data, read_sample_(0, *record, record->bytes));
            if (const auto step = load<std::int32_t>(data.data(), big); step >= 0) out_.step = step;
        }
        if (const auto* record = global("simulated_time", sizeof(double))) {
            FB_TRY_ASSIGN(data, read_sample_(0, *record, record->bytes));
            out_.time = load<double>(data.data(), big);
        }
        return {};
    }

    const TypeHint* wish(const std::string& name) const {
        const auto at = choices_.wishes.find(name);
        return at == choices_.wishes.end() ? nullptr : &at->second;
    }

    void add(Variable variable, std::string reason) {
        out_.schema.variables.push_back(std::move(variable));
        out_.reasons.push_back(std::move(reason));
        for (auto& part : out_.parts) part.boxes.emplace_back();
    }

    Result<> add_global(const std::string& name, const FortranRecord& record) {
        if (record.bytes == 0) {
            out_.notes.push_back(fmt::format("'{}' of the global part is empty; there is nothing to import.", name));
            return {};
        }
        FB_TRY_ASSIGN(first, read_sample_(0, record, limits::sample_bytes));
        auto origin = whole(0, record.ranges);
        Variable variable{.name = name, .type = u8, .kind = Kind::replicated, .shape = {}};
        const auto* wanted = wish(name);
        if (wanted == nullptr && record.bytes <= forebay::limits::string_bytes_max && is_text(first)) {
            const auto last = text_of(first).find_last_not_of(' ');
            origin.run_bytes = last == std::string_view::npos ? 1 : last + 1;
            variable.type = string_of(static_cast<std::uint32_t>(origin.run_bytes));
            add(std::move(variable), "printable characters");
        } else {
            variable.type =
                wanted != nullptr ? wanted->type : guess_type(first, record.bytes, processes_.front().big_endian);
            const auto elements = record.bytes / variable.type.size_bytes;
            if (wanted != nullptr && wanted->form == TypeHint::Form::shape) variable.shape = wanted->shape;
            else if (elements != 1) variable.shape = {elements};
            if (variable.elements() * variable.type.size_bytes != record.bytes ||
                (wanted != nullptr && wanted->form == TypeHint::Form::box))
                return Error{ErrorKind::refused,
                             fmt::format("'{}' of the global part has {} bytes; --type asks for something else", name,
                                         record.bytes),
                             "", "forebay import palm-fortran --dry-run shows what its size tells"};
            add(std::move(variable), wanted != nullptr ? "--type" : "size and first bytes");
        }
        out_.origins.push_back(std::move(origin));
        return {};
    }

    std::vector<PalmItem> local_items() const {
        std::vector<PalmItem> items;
        std::map<std::string_view, std::size_t> known;
        for (std::size_t p = 0; p < processes_.size(); ++p)
            for (const auto& [name, record] : processes_[p].local) {
                const auto [at, is_new] = known.emplace(name, items.size());
                if (is_new) items.push_back({name, std::vector<const FortranRecord*>(processes_.size())});
                items[at->second].records[p] = &record;
            }
        return items;
    }

    Result<> add_local(const PalmItem& item) {
        const auto* wanted = wish(item.name);
        if (wanted != nullptr && wanted->form == TypeHint::Form::shape)
            return Error{ErrorKind::refused,
                         fmt::format("'{}' is in the file of each process: its shape follows from theirs", item.name),
                         "", fmt::format("--type {}=TYPE:box, or {}=TYPE:rows", item.name, item.name)};
        if (wanted != nullptr && wanted->form == TypeHint::Form::rows) return add_table(item, wanted);
        const auto box =
            find_box(processes_, item, ghost_layers_, wanted != nullptr ? std::optional(wanted->type) : std::nullopt);
        if (!box && wanted != nullptr && wanted->form == TypeHint::Form::box)
            return Error{ErrorKind::refused,
                         fmt::format("'{}' does not have the size of a box of {} in the files of all processes",
                                     item.name, name_of(wanted->type)),
                         "", fmt::format("--type {}={}:rows", item.name, name_of(wanted->type))};
        if (!box) return add_table(item, wanted);
        if (const auto absent = std::ranges::find(item.records, nullptr); absent != item.records.end())
            return damage(static_cast<std::size_t>(absent - item.records.begin()),
                          fmt::format("'{}' is missing there; the other processes have it, as a box of the grid. "
                                      "(--type {}={}:rows takes it as it is.)",
                                      item.name, item.name, name_of(box->type)));
        add_boxes(item, *box);
        return {};
    }

    void add_boxes(const PalmItem& item, const PalmBox& box) {
        const auto layers = box.ghosts ? ghost_layers_ : 0;     // in the file
        const auto kept = choices_.cut_ghosts ? 0 : layers;     // around the whole grid
        const auto element = box.type.size_bytes * box.levels;  // one column of z
        Variable variable{.name = item.name, .type = box.type, .kind = Kind::array};
        variable.shape = {points_x_ + 2 * kept, points_y_ + 2 * kept};
        variable.attributes.dimensions = {kept > 0 ? "xg" : "x", kept > 0 ? "yg" : "y"};
        if (box.levels > 1) {
            variable.shape.push_back(box.levels);
            variable.attributes.dimensions.push_back(box.levels == processes_.front().levels() ? "z" : "level");
        }
        if (kept > 0) variable.attributes.others = {{"ghost_layers", static_cast<std::int64_t>(kept)}};
        add(std::move(variable), box.reason);
        for (std::uint32_t p = 0; p < processes_.size(); ++p) {
            const auto& one = processes_[p];
            // At the edges of the grid the part reaches over the ghost layers that are kept.
            const auto west = one.left == 0 ? kept : 0, south = one.south == 0 ? kept : 0;
            const auto east = static_cast<std::uint64_t>(one.right) + 1 == points_x_ ? kept : 0;
            const auto north = static_cast<std::uint64_t>(one.north) + 1 == points_y_ ? kept : 0;
            Box own{{static_cast<std::uint64_t>(one.left) + kept - west,
                     static_cast<std::uint64_t>(one.south) + kept - south},
                    {one.points_x() + west + east, one.points_y() + south + north}};
            auto origin = whole(p, item.records[p]->ranges);
            origin.stride_bytes = (one.points_y() + 2 * layers) * element;
            origin.run_bytes = own.size[1] * element;
            origin.runs = own.size[0];
            origin.first = (layers - west) * origin.stride_bytes + (layers - south) * element;
            if (box.levels > 1) {
                own.lo.push_back(0);
                own.size.push_back(box.levels);
            }
            out_.parts[p].boxes.back().push_back(own);
            out_.origins.push_back(std::move(origin));
        }
    }

    Result<Type> type_of_rows(const PalmItem& item) {
        std::uint64_t sizes = 0;  // together: a multiple of 8 when each is
        for (const auto* record : item.records) sizes |= record == nullptr ? 0 : record->bytes;
        for (std::uint32_t p = 0; p < item.records.size(); ++p) {
            if (item.records[p] == nullptr || item.records[p]->bytes == 0) continue;
            FB_TRY_ASSIGN(first, read_sample_(p, *item.records[p], limits::sample_bytes));
            // Zeros say nothing; the next process may have something else.
            if (std::ranges::any_of(first, [](std::byte byte) { return byte != std::byte{0}; }))
                return guess_type(first, sizes, processes_.front().big_endian);
        }
        return guess_type({}, sizes, processes_.front().big_endian);
    }

    Result<> add_table(const PalmItem& item, const TypeHint* wanted) {
        auto type = wanted != nullptr ? wanted->type : u8;
        if (wanted == nullptr) {
            FB_TRY_ASSIGN(found, type_of_rows(item));
            type = found;
            table_names_.push_back(item.name);
        }
        const auto table = static_cast<std::uint32_t>(out_.schema.tables.size());
        out_.schema.tables.push_back(item.name);
        add({.name = item.name + "/value", .type = type, .kind = Kind::particles, .shape = {}, .table = table},
            wanted != nullptr ? "--type" : "size fits no box of the grid");
        for (std::uint32_t p = 0; p < processes_.size(); ++p) {
            const auto* record = item.records[p];
            if (record != nullptr && record->bytes % type.size_bytes != 0)
                return Error{ErrorKind::refused,
                             fmt::format("'{}' has {} bytes in {}, which are no whole number of {}", item.name,
                                         record->bytes, out_.files[p], name_of(type)),
                             "", fmt::format("--type {}=u8:rows", item.name)};
            out_.parts[p].rows.push_back(record == nullptr ? 0 : record->bytes / type.size_bytes);
            out_.origins.push_back(record == nullptr ? whole(p, {}) : whole(p, record->ranges));
        }
        return {};
    }

    void note_tables() {
        if (table_names_.empty()) return;
        constexpr std::size_t shown = 8;
        std::string names;
        for (std::size_t i = 0; i < std::min(table_names_.size(), shown); ++i)
            names += (i > 0 ? ", " : "") + table_names_[i];
        if (table_names_.size() > shown) names += fmt::format(" and {} more", table_names_.size() - shown);
        out_.notes.push_back(note_line(fmt::format("no boxes of the grid by their sizes, so kept as tables with the "
                                                   "rows of each process, TABLE/value: {}",
                                                   names),
                                       "--type NAME=TYPE:box, if one is"));
    }

    std::vector<PalmProcess> processes_;
    const Choices& choices_;
    const ReadSample& read_sample_;
    std::uint64_t points_x_ = 0, points_y_ = 0, ghost_layers_ = 0;
    std::vector<std::string> table_names_;
    ForeignContents out_;
};

}  // namespace

Result<ForeignContents> combine_palm_processes(std::vector<PalmProcess> processes, std::vector<std::string> files,
                                               const Choices& choices, const ReadSample& read_sample) {
    return Combiner(std::move(processes), std::move(files), choices, read_sample).combine();
}

}  // namespace forebay::foreign
