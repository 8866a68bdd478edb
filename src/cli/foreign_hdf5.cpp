// HDF5 files: which convention they follow, what they hold, whether all of it can be read.

#include <fmt/ranges.h>

#include <algorithm>

#include "base/try.hpp"
#include "base/units.hpp"
#include "cli/files.hpp"
#include "cli/json.hpp"
#include "cli/progress.hpp"
#include "cli/say.hpp"
#include "cli/table.hpp"
#include "foreign/hdf5/file.hpp"

namespace forebay::cli {

namespace {

constexpr std::size_t steps_shown_max = 8;
// More lines than this say nothing new to a person; --json has them all.
constexpr std::size_t problem_lines_max = 20;

const char* format_word(foreign::ForeignFormat format) {
    switch (format) {
        case foreign::ForeignFormat::h5part: return "h5part";
        case foreign::ForeignFormat::openpmd: return "openpmd";
        case foreign::ForeignFormat::netcdf4: return "netcdf";
        default: return "hdf5";
    }
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
    return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, " x "));
}

Json dataset_json(const foreign::ForeignDataset& dataset) {
    auto shape = Json::array();
    for (const auto size : dataset.shape) shape.push(size);
    auto object = Json::object();
    object.set("path", dataset.path).set("type", dataset.type).set("shape", shape).set("bytes", dataset.bytes);
    return object.set("unit", dataset.unit).set("storage", dataset.storage);
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

}  // namespace

std::optional<bool> has_own_datasets(const std::string& path) {
    const auto file = foreign::look_at_hdf5(path);
    if (!file) return std::nullopt;
    return std::ranges::any_of(file->datasets, [](const auto& one) { return one.path.starts_with("_forebay/"); });
}

Result<Exit> list_hdf5_file(const std::string& path, bool json) {
    FB_TRY_ASSIGN(file, foreign::look_at_hdf5(path));
    if (json) file_json(path, file).set("datasets", file.datasets.size()).print();
    else say(line_of(path, file));
    return Exit::good;
}

Result<Exit> show_hdf5_file(const std::string& path, bool json) {
    FB_TRY_ASSIGN(file, foreign::look_at_hdf5(path));
    if (json) {
        auto datasets = Json::array();
        for (const auto& dataset : file.datasets) datasets.push(dataset_json(dataset));
        file_json(path, file).set("datasets", datasets).print();
        return Exit::good;
    }
    Table table({{"dataset"}, {"type"}, {"shape"}, {"unit"}, {"storage"}});
    for (const auto& dataset : file.datasets)
        table.row({dataset.path, dataset.type, shape_text(dataset.shape), dataset.unit, dataset.storage});
    say("{}\n{}", line_of(path, file), table.text());
    return Exit::good;
}

Result<Exit> verify_hdf5_file(const std::string& path, bool json) {
    FB_TRY_ASSIGN(file, foreign::look_at_hdf5(path));
    FB_TRY_ASSIGN(verdict, [&] {
        Progress progress(path, json);
        return foreign::verify_hdf5(path, [&](std::uint64_t done, std::uint64_t all) { progress.show(done, all); });
    }());
    const auto& problems = verdict.problems;
    if (json) {
        auto texts = Json::array();
        for (const auto& problem : problems) texts.push(problem);
        auto object = file_json(path, file).set("whole", problems.empty()).set("bytes_read", verdict.bytes);
        object.set("problems", texts).print();
        return problems.empty() ? Exit::good : Exit::found;
    }
    if (problems.empty()) {
        say("{}  {}: {} can be read. It has no checksums of its own: that they are what was written, only its writer "
            "can say\n",
            path, file.label, show_bytes(verdict.bytes));
        return Exit::good;
    }
    say("{}  {}: {} problem{}\n", path, file.label, problems.size(), problems.size() == 1 ? "" : "s");
    for (std::size_t i = 0; i < std::min(problems.size(), problem_lines_max); ++i) say("  {}\n", problems[i]);
    if (problems.size() > problem_lines_max)
        say("  ... and {} more: --json lists all.\n", problems.size() - problem_lines_max);
    return Exit::found;
}

}  // namespace forebay::cli
