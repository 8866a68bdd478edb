// Writes a committed snapshot and its view for views_test.py: make_view CASE RUN. Prints the schema's variables, one
// JSON object a line: index, name, type, kind, shape. Cases: one, two, three (nodes), combined (three in two
// files), together (in one), shared (in one file of global datasets), many:NODES[:NODES_PER_FILE] (a small schema),
// large (96 MB of columns and of 2 x 2 x 2 boxes) or large:TIMES.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include <nlohmann/json.hpp>

#include "core/base/try.hpp"
#include "insight/views/view.hpp"
#include "support/view_sample.hpp"

using namespace forebay;

namespace {

/// Three columns and a field of slabs: the usual content of a large run, a few bytes a node.
test::ViewSample many_nodes(std::uint32_t nodes) {
    Schema schema;
    schema.stream = "fields";
    schema.tables = {"particles"};
    for (const auto* name :
         {"particles/x", "particles/y", "particles/z", "particles/vx", "particles/vy", "particles/vz", "particles/phi"})
        schema.variables.push_back(test::column_of(name, f32, 0));
    schema.variables.push_back(test::column_of("particles/id", i64, 0));
    schema.variables.push_back(test::column_of("particles/mask", u16, 0));
    schema.variables.push_back(test::array_of("rho", f32, {2 * nodes, 4, 4}, {"z", "y", "x"}));
    test::ViewSample sample{schema, std::vector<std::uint32_t>(nodes, 2), {}, {}};
    for (std::uint64_t rank = 0; rank < 2 * nodes; ++rank) {
        sample.boxes.emplace_back(schema.variables.size());
        sample.boxes.back().back() = {{{rank, 0, 0}, {1, 4, 4}}};
        sample.rows.push_back({rank % 5});
    }
    return sample;
}

/// Two nodes of four ranks: `times` a column of 64 MB, and an array of 32 MB with a box for each rank.
test::ViewSample large(std::uint64_t times) {
    Schema schema{.stream = "fields", .tables = {"particles"}, .variables = {}};
    schema.variables = {test::column_of("particles/x", f64, 0), test::array_of("rho", f32, {200 * times, 200, 200})};
    test::ViewSample sample{schema, {4, 4}, {}, {}};
    for (std::uint64_t rank = 0; rank < 8; ++rank) {
        const Box box{{rank / 4 * 100 * times, rank / 2 % 2 * 100, rank % 2 * 100}, {100 * times, 100, 100}};
        sample.boxes.push_back({{}, {box}});
        sample.rows.push_back({1'000'000 * times + rank});
    }
    return sample;
}

Result<test::ViewSample> case_named(const std::string& name) {
    if (name == "one") return test::spread(test::view_schema(), {1});
    if (name == "two") return test::spread(test::view_schema(), {1, 2});
    if (name == "three") return test::spread(test::view_schema(), {3, 1, 4});
    if (name == "shared") {
        auto sample = test::spread(test::view_schema(), {3, 1, 4});
        sample.nodes_per_file = test::all_in_one;
        return sample;
    }
    if (name == "combined" || name == "together") {
        auto sample = test::spread(test::view_schema(), {3, 1, 4});
        sample.nodes_per_file = name == "combined" ? 2 : 3;
        return sample;
    }
    if (name == "large") return large(1);
    if (name.starts_with("large:")) return large(static_cast<std::uint64_t>(std::atoi(name.c_str() + 6)));
    if (name.starts_with("many:")) {
        auto sample = many_nodes(static_cast<std::uint32_t>(std::atoi(name.c_str() + 5)));
        if (const auto colon = name.find(':', 5); colon != std::string::npos)
            sample.nodes_per_file = static_cast<std::uint32_t>(std::atoi(name.c_str() + colon + 1));
        return sample;
    }
    return Error{ErrorKind::missing, "no case " + name};
}

Result<> make(const std::string& name, const std::string& run) {
    auto& store = sys::posix_store();
    FB_TRY_ASSIGN(sample, case_named(name));
    FB_TRY_ASSIGN(snapshot, test::write_sample(store, run, sample));
    const auto start = std::chrono::steady_clock::now();
    const auto cpu = std::clock();
    FB_TRY_ASSIGN(view, views::make_view(store, {&snapshot, 1}, {}));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::fprintf(stderr, "%s: %u sources, %llu mappings, %.1f ms, of a core %.1f ms\n", view.path.c_str(), view.sources,
                 static_cast<unsigned long long>(view.mappings), seconds.count() * 1e3,
                 1e3 * static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC);
    for (std::size_t v = 0; v < sample.schema.variables.size(); ++v) {
        const auto& variable = sample.schema.variables[v];
        std::vector<std::uint64_t> shape;
        for (int dim = 0; dim < variable.shape.dims(); ++dim) shape.push_back(variable.shape[dim]);
        std::uint64_t rows = 0;
        for (const auto& of_rank : sample.rows)
            if (variable.kind == Kind::particles) rows += of_rank[variable.table];
        if (variable.kind == Kind::particles) shape = {rows};
        const nlohmann::json line{{"index", v},
                                  {"name", variable.name},
                                  {"type", test::short_name(variable.type)},
                                  {"kind", name_of(variable.kind)},
                                  {"shape", shape}};
        std::puts(line.dump().c_str());
    }
    return {};
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) return std::fprintf(stderr, "usage: make_view CASE RUN\n"), 2;
    const auto result = make(arguments[1], arguments[2]);
    if (!result) std::fprintf(stderr, "%s\n", result.error().text().c_str());
    return result ? 0 : 1;
}
