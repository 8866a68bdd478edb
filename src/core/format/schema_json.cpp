// Converts a schema to JSON and back: docs/formats/node-file.md, "The schema".

#include <fmt/format.h>

#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/format/json_text.hpp"
#include "core/format/node_file.hpp"
#include "core/format/schema_json.hpp"

namespace forebay::format {
namespace {

void put_texts(std::string& out, const char* key, const std::vector<std::string>& texts) {
    out += key;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (i > 0) out += ',';
        json::put_text(out, texts[i]);
    }
    out += ']';
}

void put_attributes(std::string& out, const Attributes& attributes) {
    if (!attributes.unit.empty()) {
        out += R"(,"unit":)";
        json::put_text(out, attributes.unit);
    }
    if (!attributes.description.empty()) {
        out += R"(,"description":)";
        json::put_text(out, attributes.description);
    }
    if (!attributes.dimensions.empty()) put_texts(out, R"(,"dimensions":[)", attributes.dimensions);
    if (attributes.others.empty()) return;
    out += R"(,"attributes":[)";
    const char* comma = "[";
    for (const auto& [name, value] : attributes.others) {
        out += comma;
        comma = ",[";
        json::put_text(out, name);
        if (const auto* text = std::get_if<std::string>(&value)) {
            out += R"(,"string",)";
            json::put_text(out, *text);
        } else if (const auto* real = std::get_if<double>(&value)) {
            out += R"(,"f64",)";
            json::put_f64(out, *real);
        } else {
            out += R"(,"i64",)";
            json::put_i64(out, std::get<std::int64_t>(value));
        }
        out += ']';
    }
    out += ']';
}

void put_variable(std::string& out, const Variable& variable) {
    out += R"({"name":)";
    json::put_text(out, variable.name);
    out += R"(,"type":)";
    json::put_text(out, name_of(variable.type));
    out += R"(,"kind":)";
    json::put_text(out, name_of(variable.kind));
    if (variable.kind == Kind::particles) {
        out += R"(,"table":)";
        json::put_u64(out, variable.table);
    } else {
        out += R"(,"shape":)";
        json::put_extents(out, variable.shape);
    }
    if (variable.coverage == Coverage::partial) out += R"(,"coverage":"partial")";
    put_attributes(out, variable.attributes);
    out += '}';
}

Error damaged(const std::string& what) {
    return {ErrorKind::corrupt, fmt::format("the schema's JSON is damaged: {}", what)};
}

std::optional<AttributeValue> value_from(const std::string& type, json::Value value) {
    std::optional<AttributeValue> result;
    if (type == "string") {
        if (auto text = value.text()) result = std::move(*text);
    } else if (type == "f64") {
        if (const auto real = value.f64()) result = *real;
    } else if (type == "i64") {
        if (const auto integer = value.i64()) result = *integer;
    }
    return result;
}

std::optional<std::vector<std::string>> texts_from(json::Value value) {
    const auto count = value.list();
    if (!count) return {};
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < *count; ++i) {
        auto text = value.entry(i).text();
        if (!text) return {};
        texts.push_back(std::move(*text));
    }
    return texts;
}

Result<> read_others(json::Value list, const std::string& name, Attributes& attributes) {
    const auto count = list.list();
    if (!count) return damaged(fmt::format("the attributes of '{}' are not a list.", name));
    for (std::size_t i = 0; i < *count; ++i) {
        const auto triple = list.entry(i);
        auto key = triple.entry(0).text();
        const auto type = triple.entry(1).text();
        if (triple.list() != 3u || !key || !type)
            return damaged(fmt::format("an attribute of '{}' is not [name, type, value].", name));
        auto value = value_from(*type, triple.entry(2));
        if (!value) return damaged(fmt::format("attribute '{}' of '{}' is not a value of type {}.", *key, name, *type));
        attributes.others.emplace_back(std::move(*key), std::move(*value));
    }
    return {};
}

Result<Attributes> attributes_from(json::Value object, const std::string& name) {
    Attributes attributes;
    if (const auto unit = object.member("unit"); unit.exists()) {
        const auto text = unit.text();
        if (!text) return damaged(fmt::format("the unit of '{}' is not a string.", name));
        attributes.unit = *text;
    }
    if (const auto description = object.member("description"); description.exists()) {
        const auto text = description.text();
        if (!text) return damaged(fmt::format("the description of '{}' is not a string.", name));
        attributes.description = *text;
    }
    if (const auto dimensions = object.member("dimensions"); dimensions.exists()) {
        auto texts = texts_from(dimensions);
        if (!texts) return damaged(fmt::format("the dimensions of '{}' are not strings.", name));
        attributes.dimensions = std::move(*texts);
    }
    if (const auto others = object.member("attributes"); others.exists()) FB_TRY(read_others(others, name, attributes));
    return attributes;
}

std::optional<Kind> kind_named(const std::string& name) {
    for (const auto kind : {Kind::replicated, Kind::array, Kind::particles})
        if (name == name_of(kind)) return kind;
    return {};
}

Result<Variable> variable_from(json::Value object) {
    const auto name = object.member("name").text();
    if (!name) return damaged("a variable has no name.");
    const auto type_name = object.member("type").text();
    const auto kind_name = object.member("kind").text();
    if (!type_name || !kind_name) return damaged(fmt::format("'{}' has no type or no kind.", *name));
    const auto type = type_named(*type_name);
    if (!type) return damaged(fmt::format("'{}' has the unknown type '{}'.", *name, *type_name));
    const auto kind = kind_named(*kind_name);
    if (!kind) return damaged(fmt::format("'{}' has the unknown kind '{}'.", *name, *kind_name));

    Variable variable{.name = *name, .type = *type, .kind = *kind, .shape = {}, .attributes = {}};
    if (*kind == Kind::particles) {
        const auto table = object.member("table").u64(UINT32_MAX);
        if (!table) return damaged(fmt::format("'{}' has no table.", *name));
        variable.table = static_cast<std::uint32_t>(*table);
    } else {
        const auto shape = object.member("shape").extents();
        if (!shape) return damaged(fmt::format("'{}' has no shape of at most {} numbers.", *name, dims_max));
        variable.shape = *shape;
    }
    if (const auto coverage = object.member("coverage"); coverage.exists()) {
        const auto text = coverage.text();
        if (text != "partial" && text != "full") return damaged(fmt::format("the coverage of '{}' is unknown.", *name));
        if (text == "partial") variable.coverage = Coverage::partial;
    }
    FB_TRY_ASSIGN(attributes, attributes_from(object, *name));
    variable.attributes = std::move(attributes);
    return variable;
}

}  // namespace

std::string schema_json(const Schema& schema) {
    std::string out;
    out.reserve(128 + schema.variables.size() * 128);
    out += R"({"stream":)";
    json::put_text(out, schema.stream);
    put_texts(out, R"(,"tables":[)", schema.tables);
    out += R"(,"variables":[)";
    for (std::size_t i = 0; i < schema.variables.size(); ++i) {
        if (i > 0) out += ',';
        put_variable(out, schema.variables[i]);
    }
    out += "]}";
    return out;
}

Result<Schema> schema_from_json(std::string_view text) {
    const auto document = json::Document::parse(text);
    if (!document) return damaged("it is not JSON.");
    return schema_from_value(document->root());
}

Result<Schema> schema_from_value(json::Value value) {
    Schema schema;
    const auto stream = value.member("stream").text();
    if (!stream) return damaged("it has no stream.");
    schema.stream = *stream;
    auto tables = texts_from(value.member("tables"));
    if (!tables) return damaged("it has no list of tables.");
    schema.tables = std::move(*tables);
    const auto variables = value.member("variables");
    const auto count = variables.list();
    if (!count) return damaged("it has no list of variables.");
    if (*count > limits::variables_max)
        return damaged(fmt::format("{} variables, at most {} are allowed.", *count, limits::variables_max));
    for (std::size_t i = 0; i < *count; ++i) {
        FB_TRY_ASSIGN(variable, variable_from(variables.entry(i)));
        schema.variables.push_back(std::move(variable));
    }
    if (const auto checked = check(schema); !checked) return damaged(checked.error().what);
    return schema;
}

}  // namespace forebay::format
