// insitu_bench EDGE PARTICLES ROUNDS: CPU seconds of one thread, as JSON, of the default diagnostics of a field of
// EDGE^3 f32 from a sealed node file in memory to results and pictures, of its power spectrum and FFTW's transform
// alone, and of groups of friends among PARTICLES. All in turns.

#include <fftw3.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/crc32c.hpp"
#include "core/base/limits.hpp"
#include "core/format/node_file.hpp"
#include "insight/insitu/friends.hpp"
#include "insight/insitu/power_spectrum.hpp"
#include "insight/insitu/work.hpp"
#include "path/catalog/block_reader.hpp"

using namespace forebay;

namespace {

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::vector<float> field_of(std::uint64_t edge) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal(280, 15);
    std::vector<float> values(edge * edge * edge);
    for (auto& value : values) value = normal(random);
    return values;
}

std::vector<std::byte> node_file_of(const std::vector<float>& values, std::uint64_t edge) {
    const Extents shape{edge, edge, edge};
    Schema schema;
    schema.stream = "fields";
    schema.variables = {{"t", f32, Kind::array, shape, 0, Coverage::full, {.unit = "K"}}};
    format::RankPart part;
    part.boxes = {{Box{{0, 0, 0}, shape}}};
    const auto layout = format::plan_layout(schema, std::span(&part, 1), {}).value();
    std::vector<std::byte> image(layout.file_bytes);
    format::encode(layout, image);
    const auto& block = layout.blocks.front();
    const auto words = format::crc_words(layout, image);
    const auto bytes = std::as_bytes(std::span(values));
    for (std::uint64_t at = 0; at < bytes.size(); at += limits::segment_bytes) {
        const auto segment = bytes.subspan(at, std::min<std::uint64_t>(limits::segment_bytes, bytes.size() - at));
        words[at / limits::segment_bytes] =
            crc32c_copy(image.data() + block.offset_bytes + at, segment.data(), segment.size());
    }
    format::seal(layout, {.snapshot_id = 1, .nodes = 1, .world_ranks = 1}, image);
    return image;
}

std::vector<Analysis> default_diagnostics() {
    using enum Analysis::Kind;
    std::vector<Analysis> all;
    for (const auto& [name, kind] : std::map<std::string, Analysis::Kind>{{"numbers", statistics},
                                                                          {"bins", histogram},
                                                                          {"cut", slice},
                                                                          {"sum", projection},
                                                                          {"small", downsample}}) {
        auto& analysis = all.emplace_back();
        analysis.name = name;
        analysis.kind = kind;
        analysis.variables = {"t"};
    }
    return all;
}

double diagnostics_seconds(const catalog::BlockReader& node, const std::vector<Analysis>& analyses) {
    const auto begun = cpu_seconds();
    auto work = insitu::Work::plan(analyses, node.head().schema, {});
    work.see(node).value();
    const auto results = work.make();
    const auto seconds = cpu_seconds() - begun;
    if (results.size() != analyses.size() || !work.problems().empty())
        throw std::runtime_error("an analysis was not made");
    return seconds;
}

insitu::SpectralGrid<float> grid_of(const std::vector<float>& values, std::uint64_t edge) {
    auto grid = insitu::SpectralGrid<float>::make({edge, edge, edge}).value();
    for (std::uint64_t i = 0; i < edge; ++i)
        for (std::uint64_t j = 0; j < edge; ++j)
            std::copy_n(values.data() + (i * edge + j) * edge, edge, grid.row(i, j));
    return grid;
}

double spectrum_seconds(const std::vector<float>& values, std::uint64_t edge) {
    auto grid = grid_of(values, edge);
    const auto begun = cpu_seconds();
    insitu::power_spectrum(grid, {}).value();
    return cpu_seconds() - begun;
}

double fftw_seconds(const std::vector<float>& values, std::uint64_t edge) {
    auto grid = grid_of(values, edge);
    const auto begun = cpu_seconds();
    const auto size = static_cast<int>(edge);
    auto* const numbers = grid.row(0, 0);
    auto* const plan =
        fftwf_plan_dft_r2c_3d(size, size, size, numbers, reinterpret_cast<fftwf_complex*>(numbers), FFTW_ESTIMATE);
    fftwf_execute(plan);
    fftwf_destroy_plan(plan);
    return cpu_seconds() - begun;
}

// Half of them in clumps, in a domain of length 1, as insitu.py makes them.
std::vector<std::array<double, 3>> places_of(std::uint64_t particles) {
    std::mt19937_64 random(2);
    std::uniform_real_distribution<double> uniform(0, 1);
    std::normal_distribution<double> normal(0, 0.0008);
    std::vector<std::array<double, 3>> places(particles);
    std::array<double, 3> centre{};
    for (std::uint64_t i = 0; i < particles; ++i) {
        if (i % 1000 == 0)
            for (auto& axis : centre) axis = uniform(random);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const auto place = i % 2 == 0 ? uniform(random) : centre[axis] + normal(random);
            places[i][axis] = place - std::floor(place);
        }
    }
    return places;
}

double friends_seconds(const std::vector<std::array<double, 3>>& places) {
    const insitu::ReadPlaces read = [&](std::uint64_t first, const std::array<std::span<double>, 3>& to) {
        for (std::size_t axis = 0; axis < 3; ++axis)
            for (std::size_t i = 0; i < to[axis].size(); ++i) to[axis][i] = places[first + i][axis];
    };
    const auto begun = cpu_seconds();
    const insitu::FriendRule rule{{1, 1, 1}, 0.2 / std::cbrt(static_cast<double>(places.size())), 20};
    const auto groups = insitu::Friends::find(rule, places.size(), read).value();
    const auto seconds = cpu_seconds() - begun;
    if (groups.groups() == 0) throw std::runtime_error("no group was found");
    return seconds;
}

}  // namespace

int main(int count, char** arguments) try {
    if (count != 4) throw std::runtime_error("insitu_bench EDGE PARTICLES ROUNDS");
    const auto edge = std::strtoull(arguments[1], nullptr, 10);
    const auto rounds = std::atoi(arguments[3]);
    const auto values = field_of(edge);
    const auto image = node_file_of(values, edge);
    const auto node = catalog::BlockReader::over(format::open_head(image, "slot").value(), image, "slot");
    const auto places = places_of(std::strtoull(arguments[2], nullptr, 10));
    std::map<std::string, std::vector<double>> samples;
    for (int round = 0; round < rounds; ++round) {
        samples["diagnostics"].push_back(diagnostics_seconds(node, default_diagnostics()));
        samples["spectrum"].push_back(spectrum_seconds(values, edge));
        samples["fftw"].push_back(fftw_seconds(values, edge));
        samples["friends"].push_back(friends_seconds(places));
    }
    std::string text;
    for (const auto& [name, seconds] : samples)
        text += fmt::format("{}\"{}\": [{}]", text.empty() ? "" : ", ", name, fmt::join(seconds, ", "));
    fmt::print("{{{}}}\n", text);
    return 0;
} catch (const std::exception& error) {
    fmt::print(stderr, "insitu_bench: {}\n", error.what());
    return 1;
}
