// Goal: the outline of a snapshot in each convention, before HDF5 is called: names, shapes, units, and refusals.
// Method: outlines of contents made here. tests/views checks them with the readers of other projects.

#include "insight/outline/conventions.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "core/describe/conventions.hpp"
#include "insight/outline/description.hpp"
#include "insight/outline/openpmd_outline.hpp"
#include "insight/outline/openpmd_records.hpp"
#include "insight/outline/physics_attributes.hpp"

using namespace forebay;
using namespace forebay::outline;

namespace {

Variable array_of(const std::string& name, const Extents& shape, std::vector<std::string> dimensions = {}) {
    Variable variable{.name = name, .type = f64, .kind = Kind::array, .shape = shape};
    variable.attributes.dimensions = std::move(dimensions);
    return variable;
}

Variable column_of(const std::string& name, Type type = f32, std::uint32_t table = 0) {
    return {.name = name, .type = type, .kind = Kind::particles, .shape = {}, .table = table};
}

Schema small_schema() {
    Schema schema{.stream = "restart", .tables = {"ions"}, .variables = {}};
    schema.variables = {column_of("ions/x"),
                        column_of("ions/y"),
                        column_of("ions/vx"),
                        column_of("ions/vy"),
                        column_of("ions/id", i64),
                        array_of("fields/rho", {2, 3, 4}),
                        {.name = "gamma", .type = f64, .kind = Kind::replicated, .shape = {}}};
    return schema;
}

Contents contents_of(Schema schema, std::int64_t step = 120, std::uint64_t rows = 5) {
    Contents contents;
    contents.manifest.step = step;
    contents.manifest.time = 0.5 * static_cast<double>(step);
    contents.manifest.schema = std::move(schema);
    contents.run = "run7";
    contents.table_rows.assign(contents.manifest.schema.tables.size(), rows);
    contents.mappings.resize(contents.manifest.schema.variables.size());
    contents.values.resize(contents.manifest.schema.variables.size());
    for (std::size_t v = 0; v < contents.values.size(); ++v)
        if (const auto& variable = contents.manifest.schema.variables[v]; variable.kind == Kind::replicated)
            contents.values[v].resize(variable.elements() * variable.type.size_bytes);
    return contents;
}

const Outline::Dataset* dataset(const Outline& outline, const std::string& path) {
    const auto dataset = std::ranges::find(outline.datasets, path, &Outline::Dataset::path);
    return dataset == outline.datasets.end() ? nullptr : &*dataset;
}

const Outline::Value* attribute(const Outline& outline, const std::string& path, const std::string& name) {
    const std::vector<Outline::Attribute>* attributes = nullptr;
    for (const auto& group : outline.groups)
        if (group.path == path) attributes = &group.attributes;
    if (const auto* match = dataset(outline, path)) attributes = &match->attributes;
    if (attributes == nullptr) return nullptr;
    const auto attribute = std::ranges::find(*attributes, name, &Outline::Attribute::name);
    return attribute == attributes->end() ? nullptr : &attribute->value;
}

template <class T>
T value(const Outline& outline, const std::string& path, const std::string& name) {
    const auto* match = attribute(outline, path, name);
    REQUIRE_MESSAGE(match != nullptr, path << " has no " << name);
    REQUIRE(std::holds_alternative<T>(*match));
    return std::get<T>(*match);
}

Outline made(const std::vector<Contents>& contents, Wish wish) { return outline_of(contents, wish).value(); }

std::string refusal(const std::vector<Contents>& contents, const Wish& wish) {
    const auto outline = outline_of(contents, wish);
    REQUIRE_FALSE(outline);
    CHECK(outline.error().kind == ErrorKind::refused);
    return outline.error().text();
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("h5part: columns are datasets of the step, numbers of attributes are lists, 3-D arrays are blocks") {
    auto schema = small_schema();
    schema.variables[5].attributes.others = {{"gridSpacing", std::string("3 2 1")}, {"gridGlobalOffset", 0.5}};
    schema.variables.push_back(array_of("plane", {2, 3}));
    const auto outline =
        made({contents_of(schema), contents_of(schema, 130, 7)}, {.convention = Convention::h5part, .is_series = true});
    CHECK(outline.terminated_texts);
    REQUIRE(dataset(outline, "Step#130/vx") != nullptr);
    CHECK(dataset(outline, "Step#130/vx")->shape == Extents{7});
    CHECK(dataset(outline, "Step#120/id")->type == i64);
    CHECK(value<std::vector<double>>(outline, "Step#130", "TimeValue") == std::vector{65.0});
    CHECK(value<std::vector<double>>(outline, "Step#120", "gamma") == std::vector{0.0});
    CHECK(dataset(outline, "Step#120/Block/rho/0")->shape == Extents{2, 3, 4});
    // Fastest axis first.
    CHECK(value<std::vector<double>>(outline, "Step#120/Block/rho", "__Spacing__") == std::vector{1.0, 2.0, 3.0});
    CHECK(value<std::vector<double>>(outline, "Step#120/Block/rho", "__Origin__") == std::vector{0.5, 0.5, 0.5});
    REQUIRE(outline.omitted.size() == 1);  // once for two steps
    CHECK(outline.omitted[0].what == "plane");
    CHECK(says(outline.omitted[0].reason, "3 dimensions"));
}

TEST_CASE("h5part: steps may be counted from 0") {
    const auto outline = made({contents_of(small_schema()), contents_of(small_schema(), 130)},
                              {.convention = Convention::h5part, .is_series = true, .renumber = true});
    CHECK(dataset(outline, "Step#1/vx") != nullptr);
    CHECK(dataset(outline, "Step#130/vx") == nullptr);
    CHECK(value<std::vector<std::int64_t>>(outline, "Step#1", "step") == std::vector<std::int64_t>{130});
}

TEST_CASE("h5part: one of several tables must be named") {
    auto schema = small_schema();
    schema.tables.push_back("electrons");
    schema.variables.push_back(column_of("electrons/x", f64, 1));
    const std::vector contents{contents_of(schema)};
    const auto text = refusal(contents, {.convention = Convention::h5part});
    CHECK(says(text, "2 particle tables (ions, electrons)"));
    CHECK(says(text, "--table"));
    CHECK(
        says(refusal(contents, {.convention = Convention::h5part, .table = "photons"}), "no particle table 'photons'"));
    const auto outline = made(contents, {.convention = Convention::h5part, .table = "electrons"});
    CHECK(dataset(outline, "Step#120/x")->type == f64);
    CHECK(dataset(outline, "Step#120/vx") == nullptr);
    CHECK(outline.omitted.size() == 5);
    auto described = contents;
    described[0].attributes = {{"table", std::string("electrons")}};
    CHECK(dataset(made(described, {.convention = Convention::h5part}), "Step#120/x")->type == f64);
}

TEST_CASE("h5part: types that its programs do not know become larger ones; texts are left out") {
    Schema schema{.stream = "s", .tables = {"p"}, .variables = {}};
    for (const auto type : {f16, i8, u16, u32, u64, c64, string_of(4)})
        schema.variables.push_back(column_of("p/" + name_of(type), type));
    const auto outline = made({contents_of(schema)}, {.convention = Convention::h5part});
    CHECK(dataset(outline, "Step#120/f16")->type == f32);
    CHECK(dataset(outline, "Step#120/i8")->type == i32);
    CHECK(dataset(outline, "Step#120/u16")->type == i32);
    CHECK(dataset(outline, "Step#120/u32")->type == i64);
    CHECK(dataset(outline, "Step#120/u64")->type == i64);
    CHECK(outline.datasets.size() == 5);
    CHECK(outline.omitted.size() == 2);
}

TEST_CASE("openpmd: records of columns by their names, with what the standard wants of each") {
    const std::vector contents{contents_of(small_schema())};
    const auto outline = made(contents, {.convention = Convention::openpmd, .file_name = "step-000120.openpmd.h5"});
    CHECK(value<std::string>(outline, "", "iterationEncoding") == "fileBased");
    CHECK(value<std::string>(outline, "", "iterationFormat") == "step-%06T.openpmd.h5");
    CHECK(value<std::uint32_t>(outline, "", "openPMDextension") == 0);
    CHECK(value<double>(outline, "data/120", "dt") == 0.5);
    const std::string ions = "data/120/particles/ions/";
    for (const auto* name : {"position/x", "position/y", "velocity/x", "velocity/y", "id"})
        CHECK_MESSAGE(dataset(outline, ions + name) != nullptr, name);
    CHECK(dataset(outline, ions + "id")->type == u64);
    CHECK(value<std::vector<double>>(outline, ions + "velocity", "unitDimension") ==
          std::vector<double>{1, 0, -1, 0, 0, 0, 0});
    CHECK(value<std::vector<std::uint64_t>>(outline, ions + "positionOffset/y", "shape") ==
          std::vector<std::uint64_t>{5});
    CHECK(value<double>(outline, ions + "positionOffset/x", "value") == 0);
    const std::string rho = "data/120/meshes/rho";
    CHECK(value<std::vector<std::string>>(outline, rho, "axisLabels") == std::vector<std::string>{"z", "y", "x"});
    CHECK(value<std::vector<double>>(outline, rho, "gridSpacing") == std::vector{1.0, 1.0, 1.0});
    CHECK(value<std::vector<double>>(outline, rho, "position") == std::vector{0.0, 0.0, 0.0});
    CHECK(dataset(outline, "forebay/120/gamma") != nullptr);
}

TEST_CASE("openpmd: all steps in one file") {
    const auto outline = made({contents_of(small_schema()), contents_of(small_schema(), 140)},
                              {.convention = Convention::openpmd, .is_series = true, .file_name = "series-140.h5"});
    CHECK(value<std::string>(outline, "", "iterationEncoding") == "groupBased");
    CHECK(value<std::string>(outline, "", "iterationFormat") == "/data/%T/");
    CHECK(dataset(outline, "data/140/meshes/rho") != nullptr);
    CHECK(std::get<std::vector<Outline::Shows>>(dataset(outline, "data/140/meshes/rho")->content)[0].snapshot == 1);
}

TEST_CASE("openpmd: the iteration's place in a name") {
    CHECK(iteration_format("step-000120.openpmd.h5", 120) == "step-%06T.openpmd.h5");
    CHECK(iteration_format("data120.h5", 120) == "data%T.h5");
    CHECK(iteration_format("data1200.h5", 120) == "");
    CHECK(iteration_format("wake.h5", 120) == "");
    CHECK(iteration_format("out.h5", 5) == "");
    CHECK(iteration_format("out5.h5", 5) == "out%T.h5");
    CHECK(iteration_format("out5", 5) == "out%T");
    CHECK(iteration_format("step-1234567.h5", 1234567) == "step-%06T.h5");
}

TEST_CASE("openpmd: components of meshes, and names that are given") {
    Schema schema{.stream = "s", .tables = {}, .variables = {}};
    for (const auto* name : {"fields/E/x", "fields/E/y", "fields/x", "other/rho", "rho", "odd name", "ey"})
        schema.variables.push_back(array_of(name, {4, 4}));
    schema.variables[2].shape = {4};
    schema.variables[2].attributes.dimensions = {"x"};
    schema.variables[6].attributes.others = {{"openPMD", std::string("E/z")}};
    const auto records = mesh_records(schema).value();
    std::vector<std::string> names;
    for (const auto& record : records) names.push_back(record.name);
    CHECK(names == std::vector<std::string>{"E", "x", "other_rho", "rho", "odd_name"});
    CHECK(records[0].components.size() == 3);
    CHECK(records[0].components[2].name == "z");
    schema.variables[5].attributes.others = {{"openPMD", std::string("rho")}};
    const auto refused = mesh_records(schema);
    REQUIRE_FALSE(refused);
    CHECK(says(refused.error().text(), "'rho' and 'odd name'"));
    schema.variables[5].attributes.others = {{"openPMD", std::string("a b")}};
    CHECK_FALSE(mesh_records(schema));
}

TEST_CASE("openpmd: a table without places is left out, and refused when nothing is left") {
    Schema schema{.stream = "s", .tables = {"events"}, .variables = {column_of("events/energy")}};
    CHECK(says(refusal({contents_of(schema)}, {.convention = Convention::openpmd}), "no data for openPMD"));
    schema.variables[0].attributes.others = {{"openPMD", std::string("position/x")}};
    CHECK(dataset(made({contents_of(schema)}, {.convention = Convention::openpmd}),
                  "data/120/particles/events/position/x") != nullptr);
}

TEST_CASE("netcdf: arrays have time, columns of all steps follow one another, no name has a group") {
    const auto outline = made({contents_of(small_schema()), contents_of(small_schema(), 130, 7)},
                              {.convention = Convention::netcdf, .is_series = true});
    const auto* rho = dataset(outline, "fields_rho");
    REQUIRE(rho != nullptr);
    CHECK(rho->shape == Extents{2, 2, 3, 4});
    CHECK(outline.datasets[rho->dimensions[0]].path == "simulation_time");
    CHECK(outline.datasets[rho->dimensions[1]].path == "dim0_2");
    CHECK(std::get<std::vector<Outline::Shows>>(rho->content)[1].first == Extents{1, 0, 0, 0});
    CHECK(value<std::string>(outline, "fields_rho", "forebay_name") == "fields/rho");
    const auto* x = dataset(outline, "ions_x");
    CHECK(x->shape == Extents{12});
    CHECK(std::get<std::vector<Outline::Shows>>(x->content)[1].first == Extents{5});
    CHECK(dataset(outline, "gamma")->shape == Extents{2});
    CHECK(attribute(outline, "gamma", "forebay_name") == nullptr);
    CHECK(value<std::string>(outline, "ions_row_size", "sample_dimension") == "ions");
    CHECK(std::get<Outline::Holds>(dataset(outline, "simulation_time")->content).bytes.size() == 16);
    CHECK(dataset(outline, "simulation_time")->may_grow);
    CHECK(value<std::string>(outline, "", "title") == "run7, restart");
    CHECK(value<std::string>(outline, "", "history") == "1970-01-01 00:00:00 +0000: step 130 was saved by Forebay");
    CHECK(value<std::string>(outline, "ions_x", "long_name") == "ions/x");
    for (const auto& dataset : outline.datasets) CHECK_MESSAGE(!says(dataset.path, "/"), dataset.path);
}

TEST_CASE("netcdf: whole numbers are those of CF 1.8 where they fit, and else CF 1.9 is claimed") {
    const auto conventions = [](const std::vector<Contents>& contents) {
        return value<std::string>(made(contents, {.convention = Convention::netcdf, .is_series = true}), "",
                                  "Conventions");
    };
    auto schema = small_schema();
    CHECK(conventions({contents_of(schema)}) == "CF-1.9");  // ions/id is i64
    schema.variables[4].type = i32;
    auto contents = contents_of(schema);
    CHECK(conventions({contents}) == "CF-1.8");
    contents.attributes = {{"seed", std::int64_t{7}}, {"large", std::int64_t{1} << 31}};
    const auto outline = made({contents}, {.convention = Convention::netcdf});
    CHECK(dataset(outline, "step")->type == i32);
    CHECK(std::get<Outline::Holds>(dataset(outline, "step")->content).bytes.size() == 4);
    CHECK(dataset(outline, "ions_row_size")->type == i32);
    CHECK(value<std::int32_t>(outline, "", "seed") == 7);
    CHECK(value<std::int64_t>(outline, "", "large") == std::int64_t{1} << 31);
    const std::vector later{contents_of(schema), contents_of(schema, std::int64_t{1} << 31)};
    CHECK(conventions(later) == "CF-1.9");
    CHECK(dataset(made(later, {.convention = Convention::netcdf, .is_series = true}), "step")->type == i64);
    schema.variables[4].type = u16;
    CHECK(conventions({contents_of(schema)}) == "CF-1.9");
}

TEST_CASE("netcdf: time is CF's where it counts since a date") {
    auto contents = contents_of(small_schema());
    const auto of = [&](const std::string& units) {
        contents.attributes = {{"timeUnits", units}};
        return made({contents}, {.convention = Convention::netcdf});
    };
    const auto dated = of("days since 2000-01-01");
    CHECK(value<std::string>(dated, "time", "units") == "days since 2000-01-01");
    CHECK(value<std::string>(dated, "time", "standard_name") == "time");
    CHECK(value<std::string>(dated, "time", "axis") == "T");
    CHECK(value<std::string>(of("s"), "simulation_time", "units") == "s");
    CHECK(attribute(of("s"), "simulation_time", "standard_name") == nullptr);
    CHECK(dataset(of("s"), "time") == nullptr);
    CHECK(attribute(of(""), "simulation_time", "units") == nullptr);
}

TEST_CASE("netcdf: spacing makes coordinates, and steps of other shapes do not fit") {
    auto schema = small_schema();
    schema.variables[5].attributes.dimensions = {"z", "y", "x"};
    schema.variables[5].attributes.others = {{"gridSpacing", 0.5}, {"gridGlobalOffset", std::string("1 2 3")}};
    const auto outline = made({contents_of(schema)}, {.convention = Convention::netcdf});
    const auto* y = dataset(outline, "y");
    REQUIRE(std::holds_alternative<Outline::Holds>(y->content));
    CHECK(y->scale == "y");
    CHECK(value<std::string>(outline, "y", "long_name") == "places along y");
    double second = 0;
    std::memcpy(&second, std::get<Outline::Holds>(y->content).bytes.data() + 8, 8);
    CHECK(second == 2.5);
    auto other = schema;
    other.variables[5].shape = {2, 3, 5};
    const auto text =
        refusal({contents_of(schema), contents_of(other, 130)}, {.convention = Convention::netcdf, .is_series = true});
    CHECK(says(text, "steps 120 and 130"));
    CHECK(says(text, "'fields/rho'"));
}

TEST_CASE("plain: one snapshot; missing files are said in the file") {
    auto contents = contents_of(small_schema());
    contents.missing = {"step-000120/node-00001.h5"};
    CHECK(value<std::vector<std::string>>(made({contents}, {}), "", "forebay_missing_files") == contents.missing);
    CHECK(says(refusal({contents, contents}, {.is_series = true}), "shows one snapshot"));
}

TEST_CASE("descriptions: later rules overrule, lists become texts, mistakes have a line") {
    const auto description = parse_description(R"(
[file]
author = "A. Person"
timeUnitSI = 1e-15
[variables."fields/*"]
unit = "V/m"
gridSpacing = [0.1, 2, 3]
dimensions = ["z", "y", "x"]
[variables."fields/rho"]
unit = "C/m3"
)",
                                               "d.toml")
                                 .value();
    auto contents = contents_of(small_schema());
    REQUIRE(outline::describe(contents, description));
    const auto& rho = contents.manifest.schema.variables[5];
    CHECK(rho.attributes.unit == "C/m3");
    CHECK(rho.attributes.dimensions == std::vector<std::string>{"z", "y", "x"});
    CHECK(numbers_of(rho, grid_spacing_key, 3, 1).value() == std::vector{0.1, 2.0, 3.0});
    CHECK(value<double>(made({contents}, {.convention = Convention::openpmd}), "data/120", "timeUnitSI") == 1e-15);
    const auto few = numbers_of(rho, grid_spacing_key, 2, 1);
    REQUIRE_FALSE(few);
    CHECK(says(few.error().text(), "gridSpacing of 'fields/rho' has 3 numbers, but 2 are expected"));

    const auto wrong = parse_description("[file]\nauthor = {a = 1}\n", "d.toml");
    REQUIRE_FALSE(wrong);
    CHECK(says(wrong.error().text(), "d.toml, line 2"));
    CHECK_FALSE(parse_description("[files]\n", "d.toml"));
    CHECK_FALSE(parse_description("[file\n", "d.toml"));
    CHECK_FALSE(parse_description("[variables.\"a\"]\ngridSpacing = [1, \"b\"]\n", "d.toml"));
    const auto nobody = outline::describe(contents, parse_description("[variables.rhoo]\nunit = \"m\"\n", "d").value());
    REQUIRE_FALSE(nobody);
    CHECK(says(nobody.error().text(), "\"rhoo\""));
    CHECK_FALSE(outline::describe(contents,
                                  parse_description("[variables.\"fields/*\"]\ndimensions = [\"x\"]\n", "d").value()));
}

TEST_CASE("an attribute that is given twice is one attribute, whichever convention shows it") {
    auto schema = small_schema();
    auto& given = schema.variables[5].attributes;
    given.unit = "m";
    given.description = "density";
    given.others = {{"units", std::string("kg/m3")},
                    {"long_name", std::string("mass density")},
                    {"CLASS", std::string("a")},
                    {"forebay_CLASS", std::string("b")},
                    {"forebay_name", std::string("c")}};
    auto contents = contents_of(schema);
    contents.attributes = {{"Conventions", std::string("CF-1.10")},
                           {"software", std::string("mine")},
                           {"run", std::string("the long one")},
                           {"forebay_version", std::string("7")}};
    for (const auto& known : describe::known_conventions) {
        const auto convention = known.convention;
        CAPTURE(known.name);
        const auto outline = made({contents}, {.convention = convention});
        const auto check = [](const std::string& path, const std::vector<Outline::Attribute>& attributes) {
            std::set<std::string> names;
            for (const auto& attribute : attributes)
                CHECK_MESSAGE(names.insert(attribute.name).second, path << " " << attribute.name);
        };
        for (const auto& group : outline.groups) check(group.path, group.attributes);
        for (const auto& dataset : outline.datasets) check(dataset.path, dataset.attributes);
        CHECK(value<std::string>(outline, "", "run") == "the long one");
        if (convention != Convention::h5part) CHECK(value<std::string>(outline, "", "software") == "mine");
    }
}

TEST_CASE("an attribute of the file that a convention fixes is refused") {
    auto contents = contents_of(small_schema());
    contents.attributes = {{"basePath", std::string("/elsewhere/")}};
    const auto text = refusal({contents}, {.convention = Convention::openpmd});
    CHECK(says(text, "'basePath', but openPMD sets it itself"));
    CHECK(says(text, "Next: leave it out"));
    made({contents}, {.convention = Convention::plain});
    contents.attributes = {{"_NCProperties", std::string("version=3")}};
    CHECK(says(refusal({contents}, {.convention = Convention::netcdf}), "'_NCProperties'"));
}
