// A GenericIO output as a snapshot: its ranks stay ranks, and their elements become rows of a table.

#include <fmt/format.h>

#include "core/base/try.hpp"
#include "insight/foreign/genericio/genericio.hpp"
#include "insight/foreign/genericio/layout.hpp"
#include "insight/foreign/limits.hpp"

namespace forebay::foreign::genericio {

namespace {

constexpr std::uint32_t particles_table = 0, ranks_table = 1;

class ContentsMaker {
public:
    explicit ContentsMaker(const Set& set) : set_(set) {}

    Result<ForeignContents> make() {
        for (const auto& part : set_.parts) out_.files.push_back(part.path);
        out_.big_endian = set_.header().big_endian;
        out_.schema.tables = {table_name, ranks_table_name};
        for (std::size_t i = 0; i < set_.ranks.size(); ++i)
            out_.parts.push_back(
                {.rank = static_cast<std::uint32_t>(i), .boxes = {}, .rows = {set_.rank(i).elements, 1}});
        add_place("genericio/phys_origin", f64, set_.header().origin_place);
        add_place("genericio/phys_scale", f64, set_.header().scale_place);
        add_place("genericio/dims", u64, {at_dims, 24});
        for (std::size_t v = 0; v < set_.header().variables.size(); ++v) FB_TRY(add_variable(v));
        add_rank_column("coord_x", 0);
        add_rank_column("coord_y", 8);
        add_rank_column("coord_z", 16);
        if (set_.header().has_global_ranks) add_rank_column("global_rank", at_global_rank);
        for (auto& part : out_.parts) part.boxes.resize(out_.schema.variables.size());
        return std::move(out_);
    }

private:
    void add(const std::string& name, Type type, Kind kind, const std::string& reason) {
        out_.schema.variables.push_back({.name = name, .type = type, .kind = kind, .shape = {}, .attributes = {}});
        out_.reasons.push_back(reason);
    }

    // Adds three numbers from the first part's header.
    void add_place(const std::string& name, Type type, const Range& place) {
        // Older headers lack this field.
        if (place.bytes == 0) return;
        add(name, type, Kind::replicated, "the header");
        out_.schema.variables.back().shape = {3};
        out_.origins.push_back(whole(0, {place}));
    }

    Result<> add_variable(std::size_t v) {
        const auto& variable = set_.header().variables[v];
        FB_TRY_ASSIGN(type, type_of(variable, set_.parts.front().path));
        if (variable.elements() > limits::genericio_record_elements_max)
            return Error{
                ErrorKind::unsupported,
                fmt::format("'{}' in {} has records of {} elements, and at most {} can become columns.", variable.name,
                            set_.parts.front().path, variable.elements(), limits::genericio_record_elements_max)};
        for (std::uint64_t k = 0; k < variable.elements(); ++k) FB_TRY(add_column(v, k, type));
        return {};
    }

    Result<> add_column(std::size_t v, std::uint64_t k, Type type) {
        const auto& variable = set_.header().variables[v];
        const bool alone = variable.elements() == 1;
        add(fmt::format("{}/{}", table_name, alone ? variable.name : fmt::format("{}.{}", variable.name, k)), type,
            Kind::particles, alone ? "the header" : "the header: records of several elements");
        auto& others = out_.schema.variables.back().attributes.others;
        out_.schema.variables.back().table = particles_table;
        others.emplace_back("genericio_flags", flags_text(variable.flags));
        if (!alone) {
            others.emplace_back("genericio_record", variable.name);
            others.emplace_back("genericio_element", static_cast<std::int64_t>(k));
        }
        for (const auto& place : set_.ranks) {
            const auto& part = set_.parts[place.part];
            FB_TRY_ASSIGN(sealed, part.header.sealed(place.rank, v, part.path));
            out_.origins.push_back({.file = place.part,
                                    .ranges = {},
                                    .sealed = sealed,
                                    .first = k * variable.element_bytes,
                                    .run_bytes = variable.element_bytes,
                                    .stride_bytes = variable.record_bytes,
                                    .runs = part.header.ranks[place.rank].elements});
        }
        return {};
    }

    void add_rank_column(const char* name, std::uint64_t at) {
        add(fmt::format("{}/{}", ranks_table_name, name), u64, Kind::particles, "the header");
        out_.schema.variables.back().table = ranks_table;
        for (const auto& place : set_.ranks) {
            const auto& header = set_.parts[place.part].header;
            out_.origins.push_back(whole(place.part, {{header.ranks_start + place.rank * header.rank_bytes + at, 8}}));
        }
    }

    const Set& set_;
    ForeignContents out_;
};

}  // namespace

Result<ForeignContents> open(sys::Store& store, const std::string& path) {
    FB_TRY_ASSIGN(set, open_set(store, path));
    return ContentsMaker(set).make();
}

}  // namespace forebay::foreign::genericio
