// Finds halos, groups of friends among the particles of a snapshot, and catalogues the halos with enough members.
//
// The linking length is a share of the mean distance of particles, the cube root of the volume a particle. The centre
// is the centre of mass: the mean offset of the nearest images from the member with the least position, wrapped into
// the domain. It has no meaning for a halo longer than half of the domain. Without masses, or if they sum to 0 or less,
// all members count the same. Sums are exact. The catalogue is sorted by members, the most first, then by the bits of
// the row. So it does not depend on the order of particles, pieces and parts.
//
// Particles with a column that is not finite are left out and counted; they do not change the mean distance.
//
// Part: the number of particles left out; then each column's numbers, as f32 if the variable is f32, else as f64.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <variant>

#include "core/base/try.hpp"
#include "insight/insitu/exact_sum.hpp"
#include "insight/insitu/found.hpp"
#include "insight/insitu/friends.hpp"
#include "insight/insitu/numbers.hpp"
#include "insight/insitu/operators/makers.hpp"
#include "insight/insitu/part_bytes.hpp"
#include "insight/insitu/particle_columns.hpp"
#include "insight/insitu/periodic.hpp"

namespace forebay::insitu {

namespace {

constexpr std::size_t rows_at_once = 1024;  // seven columns: 56 KiB of doubles, which stay in L2

// A column of all particles analysed.
class HeldColumn {
public:
    HeldColumn(const Variable& variable, const RealNumbers& numbers) : numbers_(numbers) {
        if (variable.type == f32) values_ = std::vector<float>();
    }

    const RealNumbers& numbers() const { return numbers_; }
    std::size_t size() const {
        return std::visit([](const auto& values) { return values.size(); }, values_);
    }
    double operator[](std::size_t i) const {
        return std::visit([i](const auto& values) { return static_cast<double>(values[i]); }, values_);
    }
    /// The values must be exact in the variable's type.
    void append(std::span<const double> some) {
        std::visit(
            [&]<class T>(std::vector<T>& values) {
                for (const auto value : some) values.push_back(static_cast<T>(value));
            },
            values_);
    }
    /// Calls visit(i, value) for `count` values from `first` on.
    template <class Visit>
    void each(std::size_t first, std::size_t count, const Visit& visit) const {
        std::visit(
            [&](const auto& values) {
                for (std::size_t i = 0; i < count; ++i) visit(i, static_cast<double>(values[first + i]));
            },
            values_);
    }
    void write(PartWriter& part) const {
        std::visit([&]<class T>(const std::vector<T>& values) { part.numbers<T>(values); }, values_);
    }
    /// Reads a column written by another node.
    HeldColumn read(PartReader& part, std::uint64_t most) const {
        auto other = *this;
        std::visit([&]<class T>(std::vector<T>& values) { values = part.numbers<T>(most); }, other.values_);
        return other;
    }
    bool is_finite() const {
        return std::visit(
            [](const auto& values) { return std::ranges::all_of(values, [](auto v) { return std::isfinite(v); }); },
            values_);
    }
    void append(const HeldColumn& other) {
        std::visit(
            [&]<class T>(std::vector<T>& values) {
                const auto& more = std::get<std::vector<T>>(other.values_);
                values.insert(values.end(), more.begin(), more.end());
            },
            values_);
    }

private:
    RealNumbers numbers_;
    std::variant<std::vector<double>, std::vector<float>> values_;
};

struct Halo {
    std::uint64_t members = 0;
    double mass = 0;
    std::array<double, 3> center{}, velocity{};

    std::array<std::uint64_t, 8> order() const {
        const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
        // The complement sorts the largest groups first.
        return {~members,   bits(center[0]),   bits(center[1]),   bits(center[2]),
                bits(mass), bits(velocity[0]), bits(velocity[1]), bits(velocity[2])};
    }
};

// Sums over the members of a halo. A term beyond the range of f64 clears `fits` and is not added.
struct HaloSums {
    ExactSum mass;
    std::array<ExactSum, 3> offset, velocity;
    bool fits = true;

    void add(ExactSum& sum, double term) {
        if (std::isfinite(term)) sum.add(term);
        else fits = false;
    }
};

class HaloAnalyser final : public Analyser {
public:
    HaloAnalyser(const Analysis& analysis, std::span<const Variable> variables, std::vector<HeldColumn> columns,
                 const std::array<double, 3>& lengths)
        : analysis_(analysis),
          variables_(variables.begin(), variables.end()),
          columns_(std::move(columns)),
          lengths_(lengths) {}

    void take(const Elements& piece) override {
        std::vector<std::array<double, rows_at_once>> rows(columns_.size());
        for (std::uint64_t first = 0; first < piece.count; first += rows_at_once) {
            const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(rows_at_once, piece.count - first));
            for (std::size_t i = 0; i < columns_.size(); ++i)
                columns_[i].numbers().take_doubles(piece.columns[i], first, std::span(rows[i]).first(count));
            std::size_t kept = 0;
            for (std::size_t row = 0; row < count; ++row) {
                // A particle with one bad column is left out as a whole.
                if (!std::ranges::all_of(rows, [&](const auto& column) { return std::isfinite(column[row]); }))
                    continue;
                for (auto& column : rows) column[kept] = column[row];
                ++kept;
            }
            left_out_ += count - kept;
            for (std::size_t i = 0; i < columns_.size(); ++i) columns_[i].append(std::span(rows[i]).first(kept));
        }
    }

    std::vector<std::byte> part() const override {
        PartWriter part;
        part.number(left_out_);
        for (const auto& column : columns_) column.write(part);
        return std::move(part).take();
    }

    Result<> merge(std::span<const std::byte> bytes) override {
        PartReader part(bytes, "a part of the halos of '" + table_of(variables_[0]) + "'");
        const auto left_out = part.number<std::uint64_t>();
        std::vector<HeldColumn> others;
        for (const auto& column : columns_) others.push_back(column.read(part, bytes.size()));
        FB_TRY(part.done());
        if (!std::ranges::all_of(
                others, [&](const HeldColumn& other) { return other.size() == others[0].size() && other.is_finite(); }))
            return Error{ErrorKind::corrupt, "a part of halos has columns of unequal length, or invalid numbers"};
        for (std::size_t i = 0; i < columns_.size(); ++i) columns_[i].append(others[i]);
        left_out_ += left_out;
        return {};
    }

    Result<Made> make(const Moment&) override {
        std::vector<Halo> halos;
        double linking_length = 0;
        if (const auto particles = columns_[0].size(); particles > 0) {
            const auto volume = lengths_[0] * lengths_[1] * lengths_[2];
            linking_length = analysis_.linking_length * std::cbrt(volume / static_cast<double>(particles));
            const FriendRule rule{lengths_, linking_length, static_cast<std::uint64_t>(analysis_.members)};
            FB_TRY_ASSIGN(friends, Friends::find(rule, particles, [&](std::uint64_t first, const auto& places) {
                              for (std::size_t dim = 0; dim < 3; ++dim)
                                  columns_[dim].each(first, places[dim].size(), [&](std::size_t i, double position) {
                                      places[dim][i] = wrapped(position, lengths_[dim]);
                                  });
                          }));
            for (std::size_t group = 0; group < friends.groups(); ++group) {
                FB_TRY_ASSIGN(halo, halo_of(friends, group));
                halos.push_back(halo);
            }
        }
        std::ranges::sort(halos, {}, &Halo::order);
        return results_of(halos, linking_length);
    }

private:
    bool has_velocity() const { return columns_.size() >= 6; }
    bool has_mass() const { return columns_.size() % 3 == 1; }

    Result<Halo> halo_of(const Friends& friends, std::size_t group) const {
        if (has_mass()) {
            FB_TRY_ASSIGN(halo, means_of(friends, group, true));
            // Masses that sum to 0 or less have no centre.
            if (halo.mass > 0) return halo;
        }
        return means_of(friends, group, false);
    }

    // Without `by_mass` all members count the same.
    Result<Halo> means_of(const Friends& friends, std::size_t group, bool by_mass) const {
        auto origin = lengths_;
        // Offsets from one member keep a halo whole across the domain's face. The least position is the same in any
        // order.
        friends.for_each_member(group, [&](const CellParticle& member) { origin = std::min(origin, member.at); });
        HaloSums sums;
        friends.for_each_member(group, [&](const CellParticle& member) {
            const auto mass = by_mass ? columns_.back()[member.particle] : 1;
            if (by_mass) sums.add(sums.mass, mass);
            for (std::size_t dim = 0; dim < 3; ++dim) {
                sums.add(sums.offset[dim], mass * nearest_offset(origin[dim], member.at[dim], lengths_[dim]));
                if (has_velocity()) sums.add(sums.velocity[dim], mass * columns_[3 + dim][member.particle]);
            }
        });
        Halo halo{.members = friends.members(group), .mass = sums.mass.rounded()};
        const auto total = by_mass ? halo.mass : static_cast<double>(halo.members);
        bool fits = sums.fits && std::isfinite(total);
        for (std::size_t dim = 0; dim < 3; ++dim) {
            const auto offset = sums.offset[dim].rounded(), velocity = sums.velocity[dim].rounded();
            fits = fits && std::isfinite(offset) && std::isfinite(velocity);
            if (!fits || total == 0) continue;
            halo.center[dim] = wrapped(origin[dim] + offset / total, lengths_[dim]);
            halo.velocity[dim] = velocity / total;
        }
        if (!fits)
            return Error{ErrorKind::refused,
                         fmt::format("halos of '{}' are refused: sums of masses or velocities exceed the range of f64",
                                     table_of(variables_[0]))};
        return halo;
    }

    Made results_of(const std::vector<Halo>& halos, double linking_length) const {
        const auto table = table_of(variables_[0]);
        Attributes of_count{.description = "halos"};
        of_count.others.emplace_back("linking_length", linking_length);
        of_count.others.emplace_back("members_min", static_cast<std::int64_t>(analysis_.members));
        Made results;
        results.variables.push_back(found_scalar<std::uint64_t>(table + "/count", halos.size(), of_count));
        results.variables.push_back(found_scalar<std::uint64_t>(table + "/left_out", left_out_, {}));
        if (halos.empty()) return results;  // variables cannot have an extent of 0
        std::vector<std::uint64_t> members;
        std::vector<double> center, mass, velocity;
        for (const auto& halo : halos) {
            members.push_back(halo.members);
            mass.push_back(halo.mass);
            center.insert(center.end(), halo.center.begin(), halo.center.end());
            velocity.insert(velocity.end(), halo.velocity.begin(), halo.velocity.end());
        }
        const Extents list{halos.size()}, vectors{halos.size(), 3};
        results.variables.push_back(found_list<std::uint64_t>(table + "/members", list, members, {}));
        results.variables.push_back(found_list<double>(table + "/center", vectors, center, units_of(variables_[0])));
        if (has_mass())
            results.variables.push_back(found_list<double>(table + "/mass", list, mass, units_of(variables_.back())));
        if (has_velocity())
            results.variables.push_back(
                found_list<double>(table + "/velocity", vectors, velocity, units_of(variables_[3])));
        return results;
    }

    Analysis analysis_;
    std::vector<Variable> variables_;
    std::vector<HeldColumn> columns_;
    std::array<double, 3> lengths_;
    std::uint64_t left_out_ = 0;
};

}  // namespace

Result<std::unique_ptr<Analyser>> make_halos(const Analysis& analysis, std::span<const Variable> variables) {
    const auto refuse = [&](const std::string& why) {
        return Error{ErrorKind::refused, fmt::format("analysis '{}' is refused: {}", analysis.name, why)};
    };
    const auto count = variables.size();
    if (count != 3 && count != 4 && count != 6 && count != 7)
        return refuse(fmt::format(
            "halos need x, y, z, perhaps vx, vy, vz, and perhaps a mass, but there are {} variables", count));
    FB_TRY(check_columns(analysis, variables));
    FB_TRY_ASSIGN(lengths, domain_of(analysis));
    if (!(std::isfinite(analysis.linking_length) && analysis.linking_length > 0))
        return refuse("its linking_length must be above 0");
    if (analysis.members < 1) return refuse("its members must be 1 or more");
    std::vector<HeldColumn> columns;
    for (const auto& variable : variables) {
        FB_TRY_ASSIGN(numbers, RealNumbers::of(variable));
        columns.emplace_back(variable, numbers);
    }
    return std::unique_ptr<Analyser>(std::make_unique<HaloAnalyser>(analysis, variables, std::move(columns), lengths));
}

}  // namespace forebay::insitu
