// Joins the files of all processes: boxes become global arrays, other data become tables.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/bytes.hpp"
#include "core/base/error_text.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/describe/coverage.hpp"
#include "insight/foreign/bytes.hpp"
#include "insight/foreign/evidence.hpp"
#include "insight/foreign/limits.hpp"
#include "insight/foreign/names.hpp"
#include "insight/foreign/palm_fortran/palm_fortran.hpp"
#include "insight/foreign/palm_fortran/shape.hpp"
#include "insight/foreign/palm_names.hpp"

namespace forebay::foreign {

namespace {

constexpr const char* known_by_name = "known to PALM by its name";

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
        for (const auto& process : processes_)
            for (const auto* part : {&process.global, &process.local})
                for (const auto& entry : *part) names_.add(entry.name);
        std::vector<std::string> names;
        for (const auto& entry : processes_.front().global) {
            const auto name = names_.keep(entry.name, entry.later == PalmRecord::Later::none,
                                          entry.later == PalmRecord::Later::other);
            if (name.empty()) continue;
            names.push_back(name);
            FB_TRY(add_global(name, entry));
        }
        const auto items = local_items();
        ghost_layers_ = find_ghost_layers(processes_, items);
        for (const auto& item : items) {
            names.push_back(item.name);
            FB_TRY(add_local(item));
        }
        FB_TRY(check_wishes(choices_, names, out_.files.front()));
        note_all();
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
            const auto& process = processes_[p];
            if (static_cast<std::size_t>(process.process) != p)
                return damage(p, fmt::format("it is of process {}, not of {}.", process.process, p));
            if (static_cast<std::size_t>(process.processes) != processes_.size())
                return damage(p, fmt::format("it is of a run of {} processes, but {} files exist.", process.processes,
                                             processes_.size()));
            if (process.bottom != first.bottom || process.top != first.top)
                return damage(p, fmt::format("its z indices are {} to {}, but process 0 has {} to {}.", process.bottom,
                                             process.top, first.bottom, first.top));
            if (process.big_endian != first.big_endian) return damage(p, "its byte order differs from process 0.");
            if (p > 0 && process.global.size() > 1)
                return damage(p, fmt::format("it has a global part, with '{}', but only process 0 writes this part.",
                                             process.global.front().name));
        }
        return {};
    }

    // The parts must fill a rectangle from 0, 0 without gaps or overlaps.
    Result<> check_grid() {
        std::vector<Box> boxes;
        std::uint64_t cells = 0;
        for (const auto& process : processes_) {
            boxes.push_back({{static_cast<std::uint64_t>(process.left), static_cast<std::uint64_t>(process.south)},
                             {process.points_x(), process.points_y()}});
            points_x_ = std::max(points_x_, static_cast<std::uint64_t>(process.right) + 1);
            points_y_ = std::max(points_y_, static_cast<std::uint64_t>(process.north) + 1);
            cells += process.points_x() * process.points_y();
        }
        if (const auto [a, b] = find_overlap(boxes); a != b)
            return damage(b,
                          fmt::format("its part, x {} to {} and y {} to {}, overlaps that of {}.", processes_[b].left,
                                      processes_[b].right, processes_[b].south, processes_[b].north, out_.files[a]));
        // Without overlaps, the right number of points means no gaps.
        if (cells != points_x_ * points_y_)
            return damage(0, fmt::format("the parts of all {} processes have {} points of a grid of {} x {}.",
                                         processes_.size(), cells, points_x_, points_y_));
        return {};
    }

    bool global_has(std::string_view name) const {
        return std::ranges::count(processes_.front().global, name, &PalmRecord::name) > 0;
    }

    const FortranRecord* global(std::string_view name, std::uint64_t bytes) const {
        for (const auto& entry : processes_.front().global)
            if (entry.name == name && entry.later == PalmRecord::Later::none && entry.record.bytes == bytes)
                return &entry.record;
        return nullptr;
    }

    // Process 0's bounds of all processes must match each process's own bounds. Also finds step and time.
    Result<> check_bounds() {
        const bool big = processes_.front().big_endian;
        constexpr std::size_t row_bytes = 4 * sizeof(std::int32_t);
        if (const auto* record = global("hor_index_bounds", row_bytes * processes_.size())) {
            FB_TRY_ASSIGN(data, read_sample_(0, *record, record->bytes));
            for (std::size_t p = 0; p < processes_.size(); ++p) {
                const auto bound = [&](std::size_t i) {
                    return load<std::int32_t>(data.data() + p * row_bytes + i * sizeof(std::int32_t), big);
                };
                const auto& process = processes_[p];
                if (bound(0) != process.left || bound(1) != process.right || bound(2) != process.south ||
                    bound(3) != process.north)
                    return damage(p, fmt::format("its part is x {} to {} and y {} to {}, but hor_index_bounds of "
                                                 "process 0 has x {} to {} and y {} to {}.",
                                                 process.left, process.right, process.south, process.north, bound(0),
                                                 bound(1), bound(2), bound(3)));
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

    Result<> add_global(const std::string& name, const PalmRecord& entry) {
        const auto& record = entry.record;
        if (record.bytes == 0) {
            empty_.push_back(name);
            return {};
        }
        FB_TRY_ASSIGN(first, read_sample_(0, record, limits::sample_bytes));
        auto origin = whole(0, record.ranges);
        Variable variable{.name = name, .type = u8, .kind = Kind::replicated, .shape = {}};
        const auto* wanted = wish(name);
        const auto known = palm_array(entry.name);
        const auto shape = known && known->is_whole()
                               ? palm_shape(*known, entry.name, record.bytes, processes_.front().levels())
                               : std::nullopt;
        if (wanted == nullptr && shape) {
            variable.type = known->type;
            variable.shape = *shape;
            add(std::move(variable), known_by_name);
        } else if (wanted == nullptr && record.bytes <= forebay::limits::string_bytes_max && is_text(first)) {
            const auto last = text_of(first).find_last_not_of(' ');
            origin.run_bytes = last == std::string_view::npos ? 1 : last + 1;
            variable.type = string_of(static_cast<std::uint32_t>(origin.run_bytes));
            add(std::move(variable), "printable characters");
        } else {
            // PALM has no single integers of 8 bytes.
            variable.type = wanted != nullptr                ? wanted->type
                            : record.bytes == f64.size_bytes ? f64
                                                             : guess_type(first, record.bytes, out_.big_endian);
            const auto elements = record.bytes / variable.type.size_bytes;
            if (wanted != nullptr && wanted->form == TypeHint::Form::shape) variable.shape = wanted->shape;
            else if (elements != 1) variable.shape = {elements};
            if (variable.elements() * variable.type.size_bytes != record.bytes ||
                (wanted != nullptr && wanted->form == TypeHint::Form::box))
                return Error{ErrorKind::refused,
                             fmt::format("'{}' of the global part has {} bytes, which does not match --type", name,
                                         record.bytes),
                             "", "forebay import palm-fortran --dry-run shows the types for this size"};
            add(std::move(variable), wanted != nullptr ? "--type" : "size and first bytes");
        }
        out_.origins.push_back(std::move(origin));
        return {};
    }

    // Items in file order. If a name repeats within a file, its last record owns the name.
    std::vector<PalmItem> local_items() {
        struct Numbered {
            PalmItem item;
            bool is_last, differs = false;
        };
        std::vector<Numbered> all;
        std::map<std::pair<std::string_view, int>, std::size_t> known;  // by name, and how often it came before
        for (std::size_t p = 0; p < processes_.size(); ++p) {
            std::map<std::string_view, int> before;
            for (const auto& entry : processes_[p].local) {
                const bool is_last = entry.later == PalmRecord::Later::none;
                const auto [at, is_new] = known.emplace(
                    std::pair(std::string_view(entry.name), is_last ? 0 : ++before[entry.name]), all.size());
                if (is_new)
                    all.push_back({{"", std::vector<const FortranRecord*>(processes_.size()), entry.name}, is_last});
                all[at->second].item.records[p] = &entry.record;
                all[at->second].differs |= entry.later == PalmRecord::Later::other;
            }
        }
        std::vector<PalmItem> items;
        for (auto& [item, is_last, differs] : all) {
            // An equal name in the global part is a different variable, even with equal bytes.
            item.name = names_.keep(item.palm_name, is_last, differs || is_last);
            if (!item.name.empty()) items.push_back(std::move(item));
        }
        return items;
    }

    Result<> add_local(const PalmItem& item) {
        const auto* wanted = wish(item.name);
        if (wanted != nullptr && wanted->form == TypeHint::Form::shape)
            return Error{
                ErrorKind::refused,
                fmt::format("'{}' is in the file of each process, so its shape follows from the files", item.name), "",
                fmt::format("--type {}=TYPE:box, or {}=TYPE:rows", item.name, item.name)};
        if (wanted != nullptr && wanted->form == TypeHint::Form::rows) return add_table(item, wanted->type, "--type");
        const auto known = palm_array(item.palm_name);
        if (wanted == nullptr && known && known->kind != PalmArray::Kind::grid)
            return add_table(item, known->type, known_by_name);
        const auto type = wanted != nullptr ? std::optional(wanted->type)
                          : known           ? std::optional(known->type)
                                            : std::nullopt;
        auto box = find_box(processes_, item, ghost_layers_, type);
        if (box && !type && box->type == i32) {
            FB_TRY_ASSIGN(first, first_numbers(item));
            // Then it has its own number of levels, or it is no box.
            if (is_real(first, out_.big_endian)) box = find_box(processes_, item, ghost_layers_, f64);
            if (box && box->type == f64 && !box->ghosts && ghost_layers_ > 0) box.reset();
        }
        if (!box && wanted != nullptr && wanted->form == TypeHint::Form::box)
            return Error{ErrorKind::refused,
                         fmt::format("'{}' does not have the size of a box of {} in the files of all processes",
                                     item.name, name_of(wanted->type)),
                         "", fmt::format("--type {}={}:rows", item.name, name_of(wanted->type))};
        if (!box && type) return add_table(item, *type, wanted != nullptr ? "--type" : known_by_name);
        if (!box) {
            tables_.push_back(item.name);
            FB_TRY_ASSIGN(first, first_numbers(item));
            std::uint64_t sizes = 0;  // or-ed: a multiple of 8 if each size is
            for (const auto* record : item.records) sizes |= record == nullptr ? 0 : record->bytes;
            return add_table(item, guess_type(first, sizes, out_.big_endian), "size fits no box of the grid");
        }
        if (const auto absent = std::ranges::find(item.records, nullptr); absent != item.records.end())
            return damage(static_cast<std::size_t>(absent - item.records.begin()),
                          fmt::format("'{}' is missing there. In other processes it is a box of the grid. (--type "
                                      "{}={}:rows takes it unchanged.)",
                                      item.name, item.name, name_of(box->type)));
        if (type) box->reason = wanted != nullptr ? "--type" : known_by_name;
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
            const auto& process = processes_[p];
            // At the grid's edges the part also covers the kept ghost layers.
            const auto west = process.left == 0 ? kept : 0, south = process.south == 0 ? kept : 0;
            const auto east = static_cast<std::uint64_t>(process.right) + 1 == points_x_ ? kept : 0;
            const auto north = static_cast<std::uint64_t>(process.north) + 1 == points_y_ ? kept : 0;
            Box own{{static_cast<std::uint64_t>(process.left) + kept - west,
                     static_cast<std::uint64_t>(process.south) + kept - south},
                    {process.points_x() + west + east, process.points_y() + south + north}};
            auto origin = whole(p, item.records[p]->ranges);
            // A run holds the kept columns of one x; the stride skips the ghost columns.
            origin.stride_bytes = (process.points_y() + 2 * layers) * element;
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

    // The beginning of the first record with a byte other than zero: zeros tell no type.
    Result<std::vector<std::byte>> first_numbers(const PalmItem& item) {
        for (std::uint32_t p = 0; p < item.records.size(); ++p) {
            if (item.records[p] == nullptr || item.records[p]->bytes == 0) continue;
            FB_TRY_ASSIGN(first, read_sample_(p, *item.records[p], limits::sample_bytes));
            if (std::ranges::any_of(first, [](std::byte byte) { return byte != std::byte{0}; })) return first;
        }
        return std::vector<std::byte>();
    }

    Result<> add_table(const PalmItem& item, Type type, std::string reason) {
        const auto table = static_cast<std::uint32_t>(out_.schema.tables.size());
        out_.schema.tables.push_back(item.name);
        add({.name = item.name + "/value", .type = type, .kind = Kind::particles, .shape = {}, .table = table},
            std::move(reason));
        for (std::uint32_t p = 0; p < processes_.size(); ++p) {
            const auto* record = item.records[p];
            if (record != nullptr && record->bytes % type.size_bytes != 0)
                return Error{ErrorKind::refused,
                             fmt::format("'{}' has {} bytes in {}, which is not a multiple of {}", item.name,
                                         record->bytes, out_.files[p], name_of(type)),
                             "", fmt::format("--type {}=u8:rows", item.name)};
            out_.parts[p].rows.push_back(record == nullptr ? 0 : record->bytes / type.size_bytes);
            out_.origins.push_back(record == nullptr ? whole(p, {}) : whole(p, record->ranges));
        }
        return {};
    }

    // The most important note comes first.
    void note_all() {
        // Every run with particles has this name in its global part.
        if (global_has("curvature_solution_effects"))
            out_.notes.push_back(
                "the run has particles, which are not imported: with fortran_binary PALM writes them to "
                "PARTICLE_RESTART_DATA_OUT. With restart_data_format mpi they are in the same file");
        names_.note_others(out_.notes, "PALM reads the last one");
        if (!tables_.empty())
            out_.notes.push_back(note_line(fmt::format("not boxes of the grid by their sizes, so kept as tables with "
                                                       "the rows of each process, TABLE/value: {}",
                                                       list_names(tables_)),
                                           "--type NAME=TYPE:box for a box"));
        names_.note_repeated(out_.notes);
        if (!empty_.empty()) out_.notes.push_back(fmt::format("empty, so left out: {}", list_names(empty_)));
    }

    std::vector<PalmProcess> processes_;
    const Choices& choices_;
    const ReadSample& read_sample_;
    std::uint64_t points_x_ = 0, points_y_ = 0, ghost_layers_ = 0;
    KeptNames names_;
    std::vector<std::string> tables_, empty_;  // tables without a rule, and records without bytes
    ForeignContents out_;
};

}  // namespace

Result<ForeignContents> combine_palm_processes(std::vector<PalmProcess> processes, std::vector<std::string> files,
                                               const Choices& choices, const ReadSample& read_sample) {
    return Combiner(std::move(processes), std::move(files), choices, read_sample).combine();
}

}  // namespace forebay::foreign
