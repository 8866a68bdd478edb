// Goal: the catalogue of halos has the same bits for any order of particles, pieces and parts. Its centres, masses and
// velocities match the members.
// Method: clumps of splitmix, seed 5, with known members, one clump across a corner of the domain; rows computed from
// the members; the same particles mixed, cut and distributed over nodes; parts cut short at every byte and changed.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "core/base/splitmix.hpp"
#include "insight/insitu/analyser.hpp"

using namespace forebay;
using namespace forebay::insitu;

namespace {

constexpr double side = 8;
using Particle = std::array<double, 7>;  // x, y, z, vx, vy, vz, mass

double share_of(std::uint64_t i) { return static_cast<double>(splitmix(5, i) >> 11) * 0x1p-53; }

struct Clump {
    std::array<double, 3> center;
    std::size_t members;
};
const std::vector<Clump> clumps{{{0, 0, 0}, 60}, {{4, 4, 4}, 25}, {{2, 7.9, 5}, 40}, {{6, 1, 3}, 25}, {{2, 2, 6}, 9}};

// Values exact in f32, so both types give the same catalogue.
std::vector<Particle> particles_of() {
    std::vector<Particle> particles;
    std::uint64_t number = 0;
    for (const auto& clump : clumps)
        for (std::size_t i = 0; i < clump.members; ++i) {
            Particle particle{};
            for (std::size_t dim = 0; dim < 3; ++dim) {
                const auto at = clump.center[dim] + (share_of(++number) - 0.5) * 0.25;
                particle[dim] = static_cast<float>(at < 0 ? at + side : at >= side ? at - side : at);
                particle[3 + dim] = static_cast<float>(share_of(++number) * 100 - 50);
            }
            particle[6] = static_cast<float>(0.5 + share_of(++number));
            particles.push_back(particle);
        }
    return particles;
}

// 0.2 mean distances are half of the length of a clump's diagonal.
Analysis analysis_of(int members) {
    return {.name = "groups",
            .kind = Analysis::Kind::halos,
            .length = {side},
            .linking_length = 0.45 / (side / std::cbrt(159.0)),
            .members = members};
}

std::vector<Variable> columns_of(std::size_t count, Type type) {
    std::vector<std::string> names{"dark/x", "dark/y", "dark/z", "dark/vx", "dark/vy", "dark/vz", "dark/m"};
    if (count == 4) names[3] = "dark/m";
    const std::array units{"Mpc", "Mpc", "Mpc", "km/s", "km/s", "km/s", "kg"};
    std::vector<Variable> variables;
    for (std::size_t i = 0; i < count; ++i)
        variables.push_back({.name = names[i],
                             .type = type,
                             .kind = Kind::particles,
                             .attributes = {.unit = names[i] == "dark/m" ? "kg" : units[i]}});
    return variables;
}

std::unique_ptr<Analyser> analyser_of(int members, std::size_t count, Type type = f64) {
    return make_analyser(analysis_of(members), columns_of(count, type)).value();
}

template <class T>
void give(Analyser& analyser, std::span<const Particle> particles, std::size_t count) {
    std::array<std::vector<T>, 7> values;
    std::vector<std::span<const std::byte>> bytes;
    for (std::size_t i = 0; i < count; ++i) {
        const auto column = count == 4 && i == 3 ? 6 : i;
        for (const auto& particle : particles) values[i].push_back(static_cast<T>(particle[column]));
        bytes.push_back(std::as_bytes(std::span<const T>(values[i])));
    }
    const Box box{{0}, {particles.size()}};
    analyser.take({.columns = bytes, .first = 0, .count = particles.size(), .box = box});
}

const FoundVariable* found_in(const Made& result, const std::string& name) {
    const auto at = std::ranges::find(result.variables, name, &FoundVariable::name);
    return at == result.variables.end() ? nullptr : &*at;
}

template <class T>
std::vector<T> numbers_in(const Made& result, const std::string& name) {
    const auto* const variable = found_in(result, name);
    if (variable == nullptr) return {};
    std::vector<T> numbers(variable->bytes.size() / sizeof(T));
    std::memcpy(numbers.data(), variable->bytes.data(), variable->bytes.size());
    return numbers;
}

bool same(const Made& a, const Made& b) {
    bool equal = a.variables.size() == b.variables.size();
    for (std::size_t i = 0; equal && i < a.variables.size(); ++i)
        equal = a.variables[i].name == b.variables[i].name && a.variables[i].bytes == b.variables[i].bytes;
    return equal;
}

template <class T>
Made made_of(std::span<const Particle> particles, int members, std::size_t count) {
    const auto analyser = analyser_of(members, count, type_of<T>());
    give<T>(*analyser, particles, count);
    return analyser->make({}).value();
}

}  // namespace

TEST_CASE("halos: members, centres, masses and velocities are those of the clumps") {
    const auto particles = particles_of();
    REQUIRE(particles.size() == 159);
    const auto result = made_of<double>(particles, 10, 7);
    CHECK(numbers_in<std::uint64_t>(result, "dark/count") == std::vector<std::uint64_t>{4});
    CHECK(numbers_in<std::uint64_t>(result, "dark/left_out") == std::vector<std::uint64_t>{0});
    CHECK(numbers_in<std::uint64_t>(result, "dark/members") == std::vector<std::uint64_t>{60, 40, 25, 25});
    CHECK(found_in(result, "dark/members")->shape == Extents{4});
    CHECK(found_in(result, "dark/center")->shape == Extents{4, 3});
    CHECK(found_in(result, "dark/center")->attributes.unit == "Mpc");
    CHECK(found_in(result, "dark/velocity")->attributes.unit == "km/s");
    CHECK(found_in(result, "dark/mass")->attributes.unit == "kg");
    const auto centers = numbers_in<double>(result, "dark/center");
    const auto velocities = numbers_in<double>(result, "dark/velocity");
    const auto masses = numbers_in<double>(result, "dark/mass");
    REQUIRE(masses.size() == 4);
    std::size_t first = 0;
    std::vector<std::size_t> rows;
    for (const auto& clump : clumps) {
        const auto members = std::span(particles).subspan(first, clump.members);
        first += clump.members;
        if (clump.members < 10) continue;
        double mass = 0;
        std::array<double, 3> offset{}, velocity{};
        for (const auto& member : members) {
            mass += member[6];
            for (std::size_t dim = 0; dim < 3; ++dim) {
                auto from_center = member[dim] - clump.center[dim];
                if (from_center > side / 2) from_center -= side;
                if (from_center < -side / 2) from_center += side;
                offset[dim] += member[6] * from_center;
                velocity[dim] += member[6] * member[3 + dim];
            }
        }
        const auto row = static_cast<std::size_t>(
            std::ranges::find_if(masses, [&](double other) { return std::abs(other - mass) < 1e-9; }) - masses.begin());
        REQUIRE(row < 4);
        rows.push_back(row);
        for (std::size_t dim = 0; dim < 3; ++dim) {
            const auto center = clump.center[dim] + offset[dim] / mass;
            CHECK(centers[3 * row + dim] >= 0);
            CHECK(centers[3 * row + dim] < side);
            CHECK(std::remainder(centers[3 * row + dim] - center, side) == doctest::Approx(0).epsilon(1e-12).scale(1));
            CHECK(velocities[3 * row + dim] == doctest::Approx(velocity[dim] / mass).epsilon(1e-11).scale(1));
        }
    }
    std::ranges::sort(rows);
    CHECK(rows == std::vector<std::size_t>{0, 1, 2, 3});
}

TEST_CASE("halos: what is given decides what comes out") {
    const auto particles = particles_of();
    const auto plain = made_of<double>(particles, 10, 3);
    CHECK(plain.variables.size() == 4);
    CHECK(found_in(plain, "dark/mass") == nullptr);
    CHECK(found_in(plain, "dark/velocity") == nullptr);
    const auto with_mass = made_of<double>(particles, 10, 4);
    CHECK(with_mass.variables.size() == 5);
    CHECK(numbers_in<double>(with_mass, "dark/mass").size() == 4);
    const auto with_velocity = made_of<double>(particles, 10, 6);
    CHECK(with_velocity.variables.size() == 5);
    CHECK(numbers_in<double>(with_velocity, "dark/velocity").size() == 12);
    CHECK(numbers_in<double>(with_velocity, "dark/center") == numbers_in<double>(plain, "dark/center"));
    CHECK(numbers_in<double>(with_mass, "dark/center") != numbers_in<double>(plain, "dark/center"));
    auto weightless = particles;
    for (auto& particle : weightless) particle[6] = 0;
    const auto of_nothing = made_of<double>(weightless, 10, 7);
    CHECK(numbers_in<double>(of_nothing, "dark/center") == numbers_in<double>(plain, "dark/center"));
    CHECK(numbers_in<double>(of_nothing, "dark/velocity") == numbers_in<double>(with_velocity, "dark/velocity"));
}

TEST_CASE("halos: none of them is a result") {
    const auto check_none = [](const Made& result) {
        CHECK(result.variables.size() == 2);
        CHECK(numbers_in<std::uint64_t>(result, "dark/count") == std::vector<std::uint64_t>{0});
    };
    check_none(made_of<double>(particles_of(), 61, 7));
    check_none(made_of<float>({}, 1, 3));
    check_none(analyser_of(1, 7)->make({}).value());
}

TEST_CASE("halos: particles without a finite number in each column are left out") {
    auto particles = particles_of();
    const auto expected = made_of<double>(particles, 10, 7);
    const auto bad = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()};
    for (std::size_t column = 0; column < 7; ++column)
        for (const auto value : bad) {
            auto particle = particles[column];
            particle[column] = value;
            particles.insert(particles.begin() + static_cast<std::ptrdiff_t>(column * 20), particle);
        }
    const auto result = made_of<double>(particles, 10, 7);
    CHECK(numbers_in<std::uint64_t>(result, "dark/left_out") == std::vector<std::uint64_t>{14});
    for (const auto* const name : {"dark/members", "dark/center", "dark/mass", "dark/velocity"})
        CHECK(found_in(result, name)->bytes == found_in(expected, name)->bytes);
}

TEST_CASE("halos: positions outside the domain are those of their images inside") {
    auto particles = particles_of();
    const auto expected = made_of<double>(particles, 10, 7);
    for (std::size_t i = 0; i < particles.size(); i += 3) {
        // Exact, because the shift has few bits.
        for (std::size_t dim = 0; dim < 3; ++dim) particles[i][dim] += side * (i % 2 == 0 ? 2.0 : -1.0);
    }
    CHECK(numbers_in<std::uint64_t>(made_of<double>(particles, 10, 7), "dark/members") ==
          numbers_in<std::uint64_t>(expected, "dark/members"));
}

TEST_CASE("halos: the same bits for any order of particles, pieces and parts, and for both types") {
    auto particles = particles_of();
    for (const std::size_t count : {3, 4, 6, 7}) {
        const auto expected = made_of<double>(particles, 5, count);
        CHECK(numbers_in<std::uint64_t>(expected, "dark/count") == std::vector<std::uint64_t>{5});
        CHECK(numbers_in<std::uint64_t>(expected, "dark/members") == std::vector<std::uint64_t>{60, 40, 25, 25, 9});
        CHECK(same(made_of<float>(particles, 5, count), expected));
        for (std::uint64_t round = 0; round < 10; ++round) {
            CAPTURE(round);
            for (std::size_t i = particles.size() - 1; i > 0; --i)
                std::swap(particles[i], particles[splitmix(round, i) % (i + 1)]);
            CHECK(same(made_of<double>(particles, 5, count), expected));
            std::vector<std::unique_ptr<Analyser>> nodes;
            for (int node = 0; node < 3; ++node) nodes.push_back(analyser_of(5, count, f32));
            for (std::size_t first = 0, piece = 0; first < particles.size(); ++piece) {
                const auto length =
                    std::min<std::size_t>(1 + splitmix(round, 500 + piece) % 40, particles.size() - first);
                give<float>(*nodes[piece % 3], std::span(particles).subspan(first, length), count);
                first += length;
            }
            const auto all = analyser_of(5, count, f32);
            for (const auto node : {round % 3, (round + 1) % 3, (round + 2) % 3})
                REQUIRE(all->merge(nodes[node]->part()));
            CHECK(same(all->make({}).value(), expected));
        }
    }
}

TEST_CASE("halos: what they cannot be made of is refused") {
    const auto refused = [](const Analysis& analysis, const std::vector<Variable>& variables) {
        const auto analyser = make_analyser(analysis, variables);
        return !analyser && analyser.error().kind == ErrorKind::refused;
    };
    for (const std::size_t count : {1, 2, 5}) CHECK(refused(analysis_of(1), columns_of(count, f32)));
    CHECK(refused(analysis_of(1), columns_of(3, c128)));
    CHECK(refused(analysis_of(0), columns_of(3, f32)));
    auto no_length = analysis_of(1), no_link = analysis_of(1), nan_link = analysis_of(1);
    no_length.length.clear();
    no_link.linking_length = 0;
    nan_link.linking_length = std::numeric_limits<double>::quiet_NaN();
    for (const auto& analysis : {no_length, no_link, nan_link}) CHECK(refused(analysis, columns_of(3, f32)));
    auto too_short = analysis_of(1);
    too_short.linking_length = 1e-9;
    const auto analyser = make_analyser(too_short, columns_of(3, f64)).value();
    give<double>(*analyser, particles_of(), 3);
    CHECK(analyser->make({}).error().kind == ErrorKind::refused);
}

TEST_CASE("halos: damaged parts are refused, and crash nothing") {
    const auto particles = particles_of();
    for (const auto type : {f32, f64}) {
        const auto node = analyser_of(5, 4, type);
        if (type == f32) give<float>(*node, std::span(particles).first(30), 4);
        else give<double>(*node, std::span(particles).first(30), 4);
        const auto part = node->part();
        auto not_finite = part;
        std::fill(not_finite.end() - type.size_bytes, not_finite.end(), std::byte{0xFF});
        CHECK(analyser_of(5, 4, type)->merge(not_finite).error().kind == ErrorKind::corrupt);
        for (std::size_t size = 0; size < part.size(); ++size)
            CHECK(analyser_of(5, 4, type)->merge(std::span(part).first(size)).error().kind == ErrorKind::corrupt);
        for (std::size_t at = 0; at < part.size(); ++at)
            for (const auto flip : {0x01, 0x40, 0x80, 0xFF}) {
                auto damaged = part;
                damaged[at] ^= static_cast<std::byte>(flip);
                const auto all = analyser_of(5, 4, type);
                const auto merged = all->merge(damaged);
                if (!merged) CHECK(merged.error().kind == ErrorKind::corrupt);
                else if (const auto result = all->make({}); !result) CHECK(result.error().kind == ErrorKind::refused);
            }
    }
}
