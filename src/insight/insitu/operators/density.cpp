// The density of particles on a plane. Each particle adds its weight, or 1, to its cell as seen along an axis.
// Positions are periodic: a particle outside the domain counts at its image inside. Particles with a position or weight
// that is not finite are left out and counted.
//
// Part: the number of particles left out. Without weights, the cells that are not empty and their counts follow; with
// weights, their sums by CellSums.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/try.hpp"
#include "insight/insitu/found.hpp"
#include "insight/insitu/numbers.hpp"
#include "insight/insitu/operators/cell_sums.hpp"
#include "insight/insitu/operators/makers.hpp"
#include "insight/insitu/operators/plane.hpp"
#include "insight/insitu/part_bytes.hpp"
#include "insight/insitu/particle_columns.hpp"
#include "insight/insitu/periodic.hpp"
#include "insight/insitu/scene.hpp"

namespace forebay::insitu {

namespace {

constexpr std::size_t particles_at_once = 1024;  // buffers that stay in L1
constexpr int density_pixels_max = 16384;        // 2^28 cells of a square plane, 2 GiB of counts

// A dimension of the plane.
struct DensitySide {
    std::size_t dim = 0;
    double length = 0;
    std::uint64_t cells = 1;

    std::uint64_t cell_of(double position) const {
        const auto cell = wrapped(position, length) * (static_cast<double>(cells) / length);
        // Rounding may give `cells` itself.
        return std::min(static_cast<std::uint64_t>(cell), cells - 1);
    }
    double cell_length() const { return length / static_cast<double>(cells); }
};

struct DensityPlane {
    DensitySide across, up;  // columns and rows of the picture
};

// Cells are square if a whole number of them fits the shorter side.
DensityPlane density_plane_of(const std::array<double, 3>& lengths, std::size_t axis, int pixels) {
    const std::size_t first = axis == 0 ? 1 : 0;
    const std::size_t second = axis == 2 ? 1 : 2;
    const auto longer = std::max(lengths[first], lengths[second]);
    const auto side = [&](std::size_t dim) {
        const auto cells = std::max(1.0, std::round(lengths[dim] / longer * pixels));
        return DensitySide{dim, lengths[dim], static_cast<std::uint64_t>(cells)};
    };
    return {side(first), side(second)};
}

class DensityAnalyser final : public Analyser {
public:
    DensityAnalyser(const Analysis& analysis, std::span<const Variable> variables, std::vector<RealNumbers> numbers,
                    const DensityPlane& plane)
        : analysis_(analysis),
          variables_(variables.begin(), variables.end()),
          numbers_(std::move(numbers)),
          plane_(plane) {
        if (variables.size() == 4) weights_.emplace(cells());
        else counts_.resize(cells());
    }

    void take(const Elements& piece) override {
        std::array<std::array<double, particles_at_once>, 4> chunk;
        for (std::uint64_t first = 0; first < piece.count; first += particles_at_once) {
            const auto count =
                static_cast<std::size_t>(std::min<std::uint64_t>(particles_at_once, piece.count - first));
            for (std::size_t i = 0; i < numbers_.size(); ++i)
                numbers_[i].take_doubles(piece.columns[i], first, std::span(chunk[i]).first(count));
            for (std::size_t i = 0; i < count; ++i) {
                const std::array position{chunk[0][i], chunk[1][i], chunk[2][i]};
                add(position, weights_ ? chunk[3][i] : 1);
            }
        }
    }

    std::vector<std::byte> part() const override {
        PartWriter part;
        part.number(left_out_);
        if (weights_) {
            weights_->write(part);
            return std::move(part).take();
        }
        std::vector<std::uint64_t> cells, counts;
        for (std::size_t cell = 0; cell < counts_.size(); ++cell) {
            if (counts_[cell] == 0) continue;
            cells.push_back(cell);
            counts.push_back(counts_[cell]);
        }
        part.numbers<std::uint64_t>(cells);
        part.numbers<std::uint64_t>(counts);
        return std::move(part).take();
    }

    Result<> merge(std::span<const std::byte> bytes) override {
        PartReader part(bytes, "a part of the density of '" + table_of(variables_[0]) + "'");
        const auto left_out = part.number<std::uint64_t>();
        if (weights_) {
            FB_TRY(weights_->merge(part));
            FB_TRY(part.done());
        } else {
            const auto cells = part.numbers<std::uint64_t>(counts_.size());
            const auto counts = part.numbers<std::uint64_t>(counts_.size());
            FB_TRY(part.done());
            // A part comes from a file: its cells index an array below.
            if (cells.size() != counts.size() ||
                std::ranges::any_of(cells, [&](std::uint64_t cell) { return cell >= counts_.size(); }))
                return Error{ErrorKind::corrupt, "a part of a density has cells outside its plane"};
            for (std::size_t i = 0; i < cells.size(); ++i) counts_[cells[i]] += counts[i];
        }
        left_out_ += left_out;
        return {};
    }

    Result<Made> make(const Moment& moment) override {
        std::vector<double> density;
        if (weights_) density = weights_->rounded();
        else density.assign(counts_.begin(), counts_.end());
        auto attributes = weights_ ? units_of(variables_[3]) : Attributes{};
        attributes.description = weights_ ? "sum of weights in a cell" : "particles in a cell";
        attributes.others.emplace_back("cell", plane_.across.cell_length() * plane_.up.cell_length());
        attributes.others.emplace_back("cell_width", plane_.across.cell_length());
        attributes.others.emplace_back("cell_height", plane_.up.cell_length());
        attributes.others.emplace_back("across", label_of(plane_.across));
        attributes.others.emplace_back("up", label_of(plane_.up));
        note_palette(attributes, analysis_);
        const auto table = table_of(variables_[0]);
        Made results;
        results.variables.push_back(
            found_list<double>(table + "/density", {plane_.up.cells, plane_.across.cells}, density, attributes));
        results.variables.push_back(found_scalar<std::uint64_t>(table + "/left_out", left_out_, {}));
        if (analysis_.picture) FB_TRY(draw(moment, density, results));
        return results;
    }

private:
    std::size_t cells() const { return plane_.across.cells * plane_.up.cells; }

    void add(const std::array<double, 3>& position, double weight) {
        if (!std::ranges::all_of(position, [](double at) { return std::isfinite(at); }) || !std::isfinite(weight)) {
            ++left_out_;
            return;
        }
        const auto cell = plane_.up.cell_of(position[plane_.up.dim]) * plane_.across.cells +
                          plane_.across.cell_of(position[plane_.across.dim]);
        if (weights_) weights_->add(cell, weight);
        else ++counts_[cell];
    }

    std::string label_of(const DensitySide& side) const {
        const auto& column = variables_[side.dim];
        const auto unit = units_of(column).unit;
        const auto name = column.name.substr(column.name.rfind('/') + 1);
        return unit.empty() ? name : fmt::format("{} [{}]", name, unit);
    }

    Result<> draw(const Moment& moment, const std::vector<double>& density, Made& results) const {
        const auto table = table_of(variables_[0]);
        const auto unit = weights_ ? units_of(variables_[3]).unit : std::string();
        const auto what = weights_ ? variables_[3].name.substr(variables_[3].name.rfind('/') + 1) : "particles";
        Scene scene;
        scene.values.assign(density.begin(), density.end());
        scene.width = plane_.across.cells;
        scene.height = plane_.up.cells;
        scene.title = fmt::format("{} density   step {}   t = {:g}", table, moment.step, moment.time);
        scene.label = unit.empty() ? what + " a cell" : fmt::format("{} a cell [{}]", what, unit);
        scene.x_label = label_of(plane_.across);
        scene.y_label = label_of(plane_.up);
        scene.x_high = plane_.across.length;
        scene.y_high = plane_.up.length;
        scene.palette = analysis_.palette;
        scene.log = analysis_.log;
        scene.low = analysis_.low;
        scene.high = analysis_.high;
        scene.pixels = analysis_.pixels;
        FB_TRY_ASSIGN(png, draw_png(scene));
        auto name = table;
        std::ranges::replace(name, '/', '.');
        results.pictures.push_back({name + ".density", std::move(png)});
        return {};
    }

    Analysis analysis_;
    std::vector<Variable> variables_;
    std::vector<RealNumbers> numbers_;  // one a variable
    DensityPlane plane_;
    std::vector<std::uint64_t> counts_;  // by cell, without weights
    std::optional<CellSums> weights_;
    std::uint64_t left_out_ = 0;
};

}  // namespace

Result<std::unique_ptr<Analyser>> make_density(const Analysis& analysis, std::span<const Variable> variables) {
    const auto refuse = [&](const std::string& why) {
        return Error{ErrorKind::refused, fmt::format("analysis '{}' is refused: {}", analysis.name, why)};
    };
    if (variables.size() != 3 && variables.size() != 4)
        return refuse(
            fmt::format("a density needs x, y, z and perhaps a weight, but there are {} variables", variables.size()));
    FB_TRY(check_columns(analysis, variables));
    FB_TRY_ASSIGN(lengths, domain_of(analysis));
    if (analysis.axis < 0 || analysis.axis > 2) return refuse("the axis of a density must be 0, 1 or 2");
    if (analysis.pixels < 1 || analysis.pixels > density_pixels_max)
        return refuse(fmt::format("its pixels must be 1 to {}", density_pixels_max));
    std::vector<RealNumbers> numbers;
    for (const auto& variable : variables) {
        FB_TRY_ASSIGN(of_one, RealNumbers::of(variable));
        numbers.push_back(of_one);
    }
    const auto plane = density_plane_of(lengths, static_cast<std::size_t>(analysis.axis), analysis.pixels);
    return std::unique_ptr<Analyser>(std::make_unique<DensityAnalyser>(analysis, variables, std::move(numbers), plane));
}

}  // namespace forebay::insitu
