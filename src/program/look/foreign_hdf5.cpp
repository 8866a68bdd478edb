// HDF5 files: their convention, their contents, and whether they can be read completely. HDF5 reads them in a copy of
// this process, because some damage crashes it.

#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/error_text.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/sys/apart.hpp"
#include "core/terminal/json.hpp"
#include "core/terminal/progress.hpp"
#include "core/terminal/say.hpp"
#include "core/terminal/table.hpp"
#include "insight/foreign/hdf5/file.hpp"
#include "program/look/files.hpp"

namespace forebay::cli {

namespace {

constexpr std::size_t steps_shown_max = 8;
// More lines do not help a person. --json has all.
constexpr std::size_t problem_lines_max = 20;

// HDF5 may need so much memory for a file: a chunk has up to 4 GiB, and filters hold it two or three times. Such a
// chunk is also the longest step: slow filters need two minutes for it.
constexpr sys::ApartBounds apart_bounds{.memory_bytes = std::uint64_t{16} << 30,
                                        .processor_time = std::chrono::minutes(5)};

/// Runs `work` in a copy of this process, which HDF5 may crash.
Result<Exit> look_apart(const std::string& path, const std::function<Result<Exit>(const sys::Alive&)>& work) {
    const auto outcome = sys::run_apart(apart_bounds, [&](const sys::Alive& alive) -> Result<int> {
        FB_TRY_ASSIGN(exit, work(alive));
        return static_cast<int>(exit);
    });
    if (outcome) return static_cast<Exit>(*outcome);
    const auto& error = outcome.error();
    if (error.what.find(path) != std::string::npos || !error.next.empty()) return error;
    return with_context(error, fmt::format("{}: {}", path, error.what), error.safe, error.next);
}

const char* format_word(foreign::ForeignFormat format) {
    switch (format) {
        case foreign::ForeignFormat::h5part: return "h5part";
        case foreign::ForeignFormat::openpmd: return "openpmd";
        case foreign::ForeignFormat::netcdf4: return "netcdf";
        default: return "hdf5";
    }
}

std::string shape_text(const foreign::ForeignDataset& dataset) {
    if (!dataset.no_shape.empty()) return dataset.no_shape;
    return dataset.shape.empty() ? "scalar" : fmt::format("{}", fmt::join(dataset.shape, " x "));
}

Json dataset_json(const foreign::ForeignDataset& dataset) {
    auto shape = Json::array();
    for (const auto size : dataset.shape) shape.push(size);
    auto object = Json::object();
    object.set("path", dataset.path).set("type", dataset.type);
    if (dataset.no_shape.empty()) object.set("shape", shape);
    else object.set("no_shape", dataset.no_shape);
    return object.set("bytes", dataset.bytes).set("unit", dataset.unit).set("storage", dataset.storage);
}

/// Links and groups have no shape.
bool has_shape(const foreign::ForeignDataset& dataset) {
    return !dataset.type.empty() && dataset.type != "group" && dataset.type != "type";
}

Json others_json(const foreign::ForeignFile& file) {
    auto others = Json::array();
    for (const auto& other : file.others) {
        auto object = Json::object();
        object.set("path", other.path).set("said", other.storage);
        others.push(other.type.empty() ? object : object.set("type", other.type));
    }
    return others;
}

Json file_json(const std::string& path, const foreign::ForeignFile& file) {
    auto steps = Json::array();
    for (const auto step : file.steps) steps.push(step);
    auto object = Json::object();
    object.set("file", path).set("format", format_word(file.format)).set("said", file.label).set("steps", steps);
    return object.set("bytes", file.bytes);
}

std::string steps_text(const std::vector<std::int64_t>& steps) {
    if (steps.empty()) return "";
    const auto count = fmt::format("  {} step{}: ", steps.size(), steps.size() == 1 ? "" : "s");
    if (steps.size() <= steps_shown_max) return count + fmt::format("{}", fmt::join(steps, ", "));
    return count + fmt::format("{} to {}", steps.front(), steps.back());
}

Shown line_of(const std::string& path, const foreign::ForeignFile& file) {
    const auto count = file.datasets.size();
    return lines("{}  {}{}  {} dataset{}, {}\n", path, file.label, steps_text(file.steps), count, count == 1 ? "" : "s",
                 show_bytes(file.bytes));
}

/// Prints at most problem_lines_max lines.
void say_some(const std::vector<std::string>& texts) {
    for (std::size_t i = 0; i < std::min(texts.size(), problem_lines_max); ++i) say("  {}\n", texts[i]);
    if (texts.size() > problem_lines_max)
        say("  ... and {} more: --json lists all.\n", texts.size() - problem_lines_max);
}

Exit exit_of_file(const foreign::ForeignFile& file) { return file.unreadable.empty() ? Exit::good : Exit::found; }

Result<Exit> list_now(const std::string& path, bool json, const foreign::Alive& alive) {
    FB_TRY_ASSIGN(file, foreign::look_at_hdf5(path, alive));
    if (json) {
        file_json(path, file).set("datasets", file.datasets.size()).set("unreadable", file.unreadable.size()).print();
        return exit_of_file(file);
    }
    say(line_of(path, file));
    std::vector<std::string> texts;
    for (const auto& name : file.unreadable) texts.push_back(fmt::format("'{}' {}", name, foreign::unreadable_text()));
    say_some(texts);
    return exit_of_file(file);
}

Result<Exit> show_now(const std::string& path, bool json, const foreign::Alive& alive) {
    FB_TRY_ASSIGN(file, foreign::look_at_hdf5(path, alive));
    if (json) {
        auto datasets = Json::array();
        for (const auto& dataset : file.datasets) datasets.push(dataset_json(dataset));
        auto object = file_json(path, file).set("unreadable", file.unreadable.size()).set("datasets", datasets);
        object.set("others", others_json(file)).print();
        return exit_of_file(file);
    }
    std::vector<foreign::ForeignDataset> all = file.datasets;
    const auto middle = static_cast<std::ptrdiff_t>(all.size());
    all.insert(all.end(), file.others.begin(), file.others.end());
    std::ranges::inplace_merge(all, all.begin() + middle, foreign::is_before);
    Table table({{"dataset"}, {"type"}, {"shape"}, {"unit"}, {"storage"}});
    for (const auto& dataset : all)
        table.row(
            {dataset.path, dataset.type, has_shape(dataset) ? shape_text(dataset) : "", dataset.unit, dataset.storage});
    say("{}\n{}", line_of(path, file), table.text());
    return exit_of_file(file);
}

/// A dataset whose filter is missing is neither good nor damaged.
Exit exit_of_verdict(const foreign::ForeignVerdict& verdict) {
    if (verdict.has_damage) return Exit::found;
    return verdict.missing_filters.empty() ? Exit::good : Exit::unsupported;
}

Result<Exit> verify_now(const std::string& path, bool json, const sys::Alive& alive) {
    FB_TRY_ASSIGN(file, foreign::look_at_hdf5(path, [&](std::uint64_t) { alive(); }));
    FB_TRY_ASSIGN(verdict, [&] {
        Progress progress(path, json);
        std::uint64_t done = 0;
        return foreign::verify_hdf5(path, file, [&](std::uint64_t bytes) {
            alive();
            done = foreign::add_up(done, bytes);
            progress.show(std::min(done, file.bytes), file.bytes);
        });
    }());
    const auto& problems = verdict.problems;
    if (json) {
        auto texts = Json::array(), filters = Json::array();
        for (const auto& problem : problems) texts.push(problem);
        for (const auto& filter : verdict.missing_filters) filters.push(filter);
        auto object = file_json(path, file).set("whole", problems.empty()).set("bytes_read", verdict.bytes);
        object.set("problems", texts).set("missing_filters", filters).print();
        return exit_of_verdict(verdict);
    }
    if (problems.empty()) {
        say("{}  {}: {} can be read. The file has no checksums, so Forebay cannot tell if its data are unchanged\n",
            path, file.label, show_bytes(verdict.bytes));
        return Exit::good;
    }
    say("{}  {}: {} problem{}\n", path, file.label, problems.size(), problems.size() == 1 ? "" : "s");
    say_some(problems);
    if (!verdict.missing_filters.empty())
        say("  {}set HDF5_PLUGIN_PATH to the directory of the plugins for these filters. The Python package hdf5plugin "
            "has most of them: python3 -c 'import hdf5plugin; print(hdf5plugin.PLUGIN_PATH)'\n",
            next_label);
    return exit_of_verdict(verdict);
}

}  // namespace

std::optional<bool> has_own_datasets(const std::string& path) {
    const auto outcome = sys::run_apart(apart_bounds, [&](const sys::Alive&) -> Result<int> {
        FB_TRY_ASSIGN(has, foreign::has_node_datasets(path));
        return has ? 1 : 0;
    });
    return outcome ? std::optional(*outcome == 1) : std::nullopt;
}

Result<Exit> list_hdf5_file(const std::string& path, bool json) {
    return look_apart(path, [&](const sys::Alive& alive) { return list_now(path, json, [&](auto) { alive(); }); });
}

Result<Exit> show_hdf5_file(const std::string& path, bool json) {
    return look_apart(path, [&](const sys::Alive& alive) { return show_now(path, json, [&](auto) { alive(); }); });
}

Result<Exit> verify_hdf5_file(const std::string& path, bool json) {
    return look_apart(path, [&](const sys::Alive& alive) { return verify_now(path, json, alive); });
}

}  // namespace forebay::cli
