// Small analyses of every kind, for tests of their parts.

#pragma once

#include <string>
#include <vector>

#include "insight/insitu/analyser.hpp"

namespace forebay::test {

struct PartCase {
    std::string name;
    Analysis analysis;
    std::vector<Variable> variables;
};

inline std::vector<PartCase> part_cases() {
    using enum Analysis::Kind;
    const auto array = [](Type type) {
        return std::vector{Variable{.name = "u", .type = type, .kind = Kind::array, .shape = {4, 6, 8}}};
    };
    const auto columns = [](std::size_t count, Type type) {
        std::vector<Variable> all;
        for (std::size_t i = 0; i < count; ++i)
            all.push_back({.name = std::string("gas/") + "xyzuvwm"[i], .type = type, .kind = Kind::particles});
        return all;
    };
    const auto pair = [&](Type type) {
        auto two = array(type);
        two.push_back(two.front());
        return two;
    };
    const auto of = [](Analysis::Kind kind) {
        return Analysis{.name = "a", .kind = kind, .bins = 8, .factor = 3, .pixels = 16};
    };
    std::vector<PartCase> all{{"statistics-f32", of(statistics), array(f32)},
                              {"statistics-i8", of(statistics), array(i8)},
                              {"statistics-u64", of(statistics), array(u64)},
                              {"statistics-by", of(statistics), array(f64)},
                              {"histogram", of(histogram), array(f64)},
                              {"histogram-log", of(histogram), array(f32)},
                              {"histogram-range", of(histogram), array(f64)},
                              {"histogram-2d", of(histogram_2d), pair(f32)},
                              {"slice", of(slice), array(f32)},
                              {"projection-f32", of(projection), array(f32)},
                              {"projection-f64", of(projection), array(f64)},
                              {"downsample", of(downsample), array(f32)},
                              {"probe", of(probe), array(f64)},
                              {"density", of(density), columns(3, f32)},
                              {"density-weights", of(density), columns(4, f64)},
                              {"spectrum-f32", of(spectrum), array(f32)},
                              {"spectrum-f64", of(spectrum), array(f64)},
                              {"halos", of(halos), columns(3, f32)},
                              {"halos-all", of(halos), columns(7, f64)}};
    for (auto& example : all) {
        auto& analysis = example.analysis;
        if (example.name == "statistics-by") analysis.by = 2;
        if (example.name == "histogram-log") analysis.log = true;
        if (example.name == "histogram-range") analysis.low = -1, analysis.high = 2;
        if (analysis.kind == probe) analysis.points = {{0, 0, 0}, {3, 5, 7}, {1, 2, 3}};
        if (analysis.kind == density || analysis.kind == halos) analysis.length = {4};
        if (analysis.kind == halos) analysis.members = 2;
    }
    return all;
}

}  // namespace forebay::test
