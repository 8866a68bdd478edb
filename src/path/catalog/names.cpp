#include "path/catalog/names.hpp"

#include <fmt/format.h>

#include <charconv>

#include "core/describe/conventions.hpp"
#include "path/catalog/run.hpp"

namespace forebay::catalog {

namespace {

const char* suffix_of(Leftover::Kind kind) {
    switch (kind) {
        case Leftover::Kind::part: return "part";
        case Leftover::Kind::old: return "old";
        case Leftover::Kind::gone: return "gone";
    }
    return "part";
}

template <class T>
std::optional<T> number_in(std::string_view text, int base) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

constexpr std::string_view step_begin = "step-", line_begin = "line-";

/// The inverse of format::name_of(Line).
std::optional<format::Line> line_in(std::string_view text) {
    const auto dot = text.find('.');
    const auto session = number_in<std::uint32_t>(text.substr(0, dot), 10);
    const auto turn =
        dot == text.npos ? std::optional<std::uint32_t>(0) : number_in<std::uint32_t>(text.substr(dot + 1), 10);
    if (!session || !turn) return std::nullopt;
    return format::Line{*session, *turn};
}

}  // namespace

std::string step_name(std::int64_t step) { return fmt::format("step-{:06}", step); }

std::string view_name(std::int64_t step, Convention convention) {
    return step_name(step) + describe::known(convention).suffix;
}

std::string series_name(Convention convention) { return std::string("series") + describe::known(convention).suffix; }

std::string id_text(std::uint64_t snapshot_id) { return fmt::format("{:016x}", snapshot_id); }

std::string leftover_name(const LeftoverName& name) {
    return fmt::format(".{}.{}.{}", step_name(name.step), id_text(name.snapshot_id), suffix_of(name.kind));
}

std::string part_name(std::int64_t step, std::uint64_t snapshot_id) {
    return leftover_name({step, snapshot_id, Leftover::Kind::part});
}

std::optional<std::int64_t> step_of(std::string_view name) {
    if (!name.starts_with("step-")) return std::nullopt;
    const auto step = number_in<std::int64_t>(name.substr(5), 10);
    // Accept only our spelling: "step-7" or "step-+00007" would be second names of one step.
    if (!step || *step < 0 || step_name(*step) != name) return std::nullopt;
    return step;
}

std::string aside_name(const format::Line& line, std::int64_t step) {
    return fmt::format("line-{}.{}", format::name_of(line), step_name(step));
}

std::optional<AsideName> aside_of(std::string_view name) {
    const auto at = name.find(step_begin);
    if (!name.starts_with(line_begin) || at == name.npos || at <= line_begin.size()) return std::nullopt;
    const auto line = line_in(name.substr(line_begin.size(), at - 1 - line_begin.size()));
    const auto step = step_of(name.substr(at));
    if (!line || !step || aside_name(*line, *step) != name) return std::nullopt;
    return AsideName{*line, *step};
}

std::string analysed_name(const AnalysedSave& save) {
    return fmt::format("{}{}.save-{}.{}.{}", line_begin, format::name_of(save.line), save.number, step_name(save.step),
                       id_text(save.snapshot_id));
}

std::optional<AnalysedSave> analysed_of(std::string_view name) {
    constexpr std::string_view middle = ".save-";
    const auto number_at = name.find(middle), step_at = name.find(".step-");
    if (!name.starts_with(line_begin) || number_at == name.npos || step_at == name.npos || number_at > step_at)
        return std::nullopt;
    const auto id_at = name.find('.', step_at + 1);
    if (id_at == name.npos) return std::nullopt;
    const auto line = line_in(name.substr(line_begin.size(), number_at - line_begin.size()));
    const auto number =
        number_in<std::uint64_t>(name.substr(number_at + middle.size(), step_at - number_at - middle.size()), 10);
    const auto step = step_of(name.substr(step_at + 1, id_at - step_at - 1));
    const auto id = number_in<std::uint64_t>(name.substr(id_at + 1, id_text(0).size()), 16);
    if (!line || !number || !step || !id) return std::nullopt;
    const AnalysedSave save{*line, *number, *step, *id};
    return name.starts_with(analysed_name(save)) ? std::optional(save) : std::nullopt;
}

std::string analysed_path(const std::string& run, const std::string& stream) {
    return fmt::format("{}/{}/insitu{}{}", run, own_directory, stream.empty() ? "" : "/", stream);
}

std::string start_name(const format::LineStart& start) {
    return fmt::format(".line-{}.from-{}", format::name_of(start.line), start.from);
}

std::optional<format::LineStart> start_of(std::string_view name) {
    constexpr std::string_view begin = ".line-", middle = ".from-";
    const auto at = name.find(middle);
    if (!name.starts_with(begin) || at == name.npos || at < begin.size()) return std::nullopt;
    const auto line = line_in(name.substr(begin.size(), at - begin.size()));
    const auto from = number_in<std::int64_t>(name.substr(at + middle.size()), 10);
    if (!line || !from || *from < -1 || start_name({*line, *from}) != name) return std::nullopt;
    return format::LineStart{*line, *from};
}

std::string dropped_name(const format::Line& line) { return fmt::format(".line-{}.dropped", format::name_of(line)); }

std::optional<format::Line> dropped_of(std::string_view name) {
    constexpr std::string_view begin = ".line-", end = ".dropped";
    if (!name.starts_with(begin) || !name.ends_with(end) || name.size() <= begin.size() + end.size())
        return std::nullopt;
    const auto line = line_in(name.substr(begin.size(), name.size() - begin.size() - end.size()));
    if (!line || dropped_name(*line) != name) return std::nullopt;
    return line;
}

std::optional<LeftoverName> leftover_of(std::string_view name) {
    if (!name.starts_with('.')) return std::nullopt;
    const auto first_dot = name.find('.', 1);
    if (first_dot == std::string_view::npos) return std::nullopt;
    const auto second_dot = name.find('.', first_dot + 1);
    if (second_dot == std::string_view::npos) return std::nullopt;
    const auto step = step_of(name.substr(1, first_dot - 1));
    const auto id = number_in<std::uint64_t>(name.substr(first_dot + 1, second_dot - first_dot - 1), 16);
    if (!step || !id) return std::nullopt;
    for (const auto kind : {Leftover::Kind::part, Leftover::Kind::old, Leftover::Kind::gone}) {
        const LeftoverName parsed{*step, *id, kind};
        if (leftover_name(parsed) == name) return parsed;
    }
    return std::nullopt;
}

}  // namespace forebay::catalog
