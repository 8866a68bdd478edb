// Output of show, verify and ls for a GenericIO file.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/terminal/json.hpp"
#include "core/terminal/progress.hpp"
#include "core/terminal/say.hpp"
#include "core/terminal/table.hpp"
#include "core/terminal/words.hpp"
#include "insight/foreign/genericio/genericio.hpp"
#include "program/look/files.hpp"
#include "program/snapshot_words.hpp"

namespace forebay::cli {

namespace {

namespace gio = foreign::genericio;

constexpr std::size_t rank_lines_max = 16;   // of ranks, without --all
constexpr std::size_t block_lines_max = 20;  // --json has all

// "BLOSC", "none", or both if some blocks could not be made smaller.
std::string compression_of(const gio::Set& set) {
    std::set<std::string> names;
    for (const auto& part : set.parts) {
        if (!part.header.has_blocks()) names.insert("none");
        for (const auto& filter : part.header.filters) names.insert(filter.empty() ? "none" : filter);
    }
    std::string text;
    for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

std::uint64_t file_bytes_of(const gio::Set& set) {
    std::uint64_t bytes = set.list ? set.list->header.file_bytes : 0;
    for (const auto& part : set.parts) bytes += part.header.file_bytes;
    return bytes;
}

const char* order_of(const gio::Set& set) { return set.header().big_endian ? "big" : "little"; }

std::string type_name(const gio::GioVariable& variable) {
    const auto type = gio::type_of(variable, "");
    const auto name =
        type ? name_of(*type)
             : fmt::format("{}{}", (variable.flags & gio::is_float) != 0 ? "f" : "i", 8 * variable.element_bytes);
    return variable.elements() == 1 ? name : fmt::format("{} x {}", variable.elements(), name);
}

std::uint64_t stored_bytes(const gio::Set& set, std::size_t v) {
    std::uint64_t bytes = 0;
    for (const auto& place : set.ranks) bytes += set.parts[place.part].header.block(place.rank, v).stored.bytes;
    return bytes;
}

Json array_of(const std::array<double, 3>& values) {
    auto array = Json::array();
    for (const auto value : values) array.push(value);
    return array;
}
Json array_of(const std::array<std::uint64_t, 3>& values) {
    auto array = Json::array();
    for (const auto value : values) array.push(value);
    return array;
}

Json head_json(const gio::Set& set, const std::string& path) {
    auto object = Json::object();
    object.set("file", path).set("format", "genericio").set("big_endian", set.header().big_endian);
    object.set("ranks", set.ranks.size()).set("dims", array_of(set.header().dims)).set("elements", set.elements());
    object.set("partitions", set.list ? set.parts.size() : 0).set("bytes", file_bytes_of(set));
    return object.set("compression", compression_of(set));
}

Json set_variables_json(const gio::Set& set) {
    auto variables = Json::array();
    for (std::size_t v = 0; v < set.header().variables.size(); ++v) {
        const auto& variable = set.header().variables[v];
        auto object = Json::object();
        object.set("name", variable.name).set("type", type_name(variable)).set("record_bytes", variable.record_bytes);
        object.set("element_bytes", variable.element_bytes).set("flags", gio::flags_text(variable.flags));
        variables.push(
            object.set("bytes", set.elements() * variable.record_bytes).set("stored_bytes", stored_bytes(set, v)));
    }
    return variables;
}

Json ranks_json(const gio::Set& set) {
    auto ranks = Json::array();
    for (std::size_t i = 0; i < set.ranks.size(); ++i) {
        const auto& rank = set.rank(i);
        auto object = Json::object();
        object.set("rank", rank.global_rank).set("elements", rank.elements).set("coords", array_of(rank.coords));
        ranks.push(object.set("file", set.parts[set.ranks[i].part].path).set("first_byte", rank.start));
    }
    return ranks;
}

Shown set_variables_table(const gio::Set& set) {
    Table table({{"variable"}, {"type"}, {"bytes", true}, {"stored", true}, {"flags"}});
    for (std::size_t v = 0; v < set.header().variables.size(); ++v) {
        const auto& variable = set.header().variables[v];
        table.row({variable.name, type_name(variable), show_bytes(set.elements() * variable.record_bytes),
                   show_bytes(stored_bytes(set, v)), gio::flags_text(variable.flags)});
    }
    return table.text();
}

Shown ranks_table(const gio::Set& set, bool all) {
    Table table({{"rank", true}, {"elements", true}, {"in the grid"}, {"file"}, {"first byte", true}});
    const auto lines_shown = all ? set.ranks.size() : std::min(set.ranks.size(), rank_lines_max);
    for (std::size_t i = 0; i < lines_shown; ++i) {
        const auto& rank = set.rank(i);
        table.row({fmt::to_string(rank.global_rank), fmt::to_string(rank.elements),
                   fmt::format("{} {} {}", rank.coords[0], rank.coords[1], rank.coords[2]),
                   set.parts[set.ranks[i].part].path, fmt::to_string(rank.start)});
    }
    auto text = table.text();
    if (lines_shown < set.ranks.size())
        text += lines("... and {} more: --all lists them.\n", set.ranks.size() - lines_shown);
    return text;
}

}  // namespace

Result<Exit> show_genericio(sys::Store& store, const FileRequest& request) {
    FB_TRY_ASSIGN(set, gio::open_set(store, request.path));
    const auto& whole = set.header();  // each partition has the grid of all ranks
    if (request.json) {
        auto object = head_json(set, request.path);
        object.set("header_bytes", whole.header_bytes).set("phys_origin", array_of(set.header().phys_origin));
        object.set("phys_scale", array_of(set.header().phys_scale)).set("variables", set_variables_json(set));
        object.set("rank_table", ranks_json(set)).print();
        return Exit::good;
    }
    const auto& origin = set.header().phys_origin;
    const auto& scale = set.header().phys_scale;
    say("{}  GenericIO, {}-endian: {} of {} in a grid of {} x {} x {}, {} on storage\n", request.path, order_of(set),
        show_count(set.elements(), "element"), show_count(set.ranks.size(), "rank"), whole.dims[0], whole.dims[1],
        whole.dims[2], show_bytes(file_bytes_of(set)));
    say("compression: {}; {}; origin {:g} {:g} {:g}, scale {:g} {:g} {:g}\n\n", compression_of(set),
        set.list ? fmt::format("{} partitions", set.parts.size()) : "one file", origin[0], origin[1], origin[2],
        scale[0], scale[1], scale[2]);
    say("{}\n{}", set_variables_table(set), ranks_table(set, request.all));
    return Exit::good;
}

Result<Exit> list_genericio(sys::Store& store, const FileRequest& request) {
    FB_TRY_ASSIGN(set, gio::open_set(store, request.path));
    if (request.json) {
        auto array = Json::array();
        array.push(head_json(set, request.path).set("variables", set.header().variables.size())).print();
        return Exit::good;
    }
    Table table({{"file"},
                 {"format"},
                 {"order"},
                 {"ranks", true},
                 {"elements", true},
                 {"variables", true},
                 {"partitions", true},
                 {"bytes", true},
                 {"compression"}});
    table.row({request.path, "GenericIO", order_of(set), fmt::to_string(set.ranks.size()),
               fmt::to_string(set.elements()), fmt::to_string(set.header().variables.size()),
               set.list ? fmt::to_string(set.parts.size()) : "", show_bytes(file_bytes_of(set)), compression_of(set)});
    say(table.text());
    return Exit::good;
}

Result<Exit> verify_genericio(sys::Store& store, const FileRequest& request) {
    FB_TRY_ASSIGN(set, gio::open_set(store, request.path));
    FB_TRY_ASSIGN(result, [&] {
        Progress progress(request.path, request.json);
        return gio::verify(store, set, [&](std::uint64_t done, std::uint64_t all) { progress.show(done, all); });
    }());
    const auto exit = result.damage.empty() ? Exit::good : Exit::found;
    if (request.json) {
        auto damage = Json::array();
        for (const auto& part : result.damage) {
            auto object = Json::object();
            object.set("file", part.file)
                .set("variable", part.variable)
                .set("rank", part.rank)
                .set("block", part.block);
            damage.push(
                object.set("first_byte", part.first_byte).set("last_byte", part.last_byte).set("text", part.text));
        }
        auto object = Json::object();
        object.set("file", request.path).set("format", "genericio").set("whole", result.damage.empty());
        object.set("bytes", result.bytes).set("blocks", result.blocks).set("damage", damage);
        auto array = Json::array();
        array.push(object).print();
        return exit;
    }
    if (result.damage.empty()) {
        say("{}  whole: {} in {} blocks\n", request.path, show_bytes(result.bytes), result.blocks);
        return exit;
    }
    say("{}  DAMAGED in {} place{}:\n", request.path, result.damage.size(), result.damage.size() == 1 ? "" : "s");
    for (std::size_t i = 0; i < std::min(result.damage.size(), block_lines_max); ++i)
        say("  {}\n", Message{result.damage[i].text});
    if (result.damage.size() > block_lines_max)
        say("  ... and {} more: --json lists all.\n", result.damage.size() - block_lines_max);
    return exit;
}

}  // namespace forebay::cli
