#include "core/describe/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/limits.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"

namespace forebay {

namespace {

Error refusal(const Variable& variable, const std::string& why) {
    return {ErrorKind::refused, fmt::format("variable '{}' is refused: {}", show_text(variable.name), why)};
}

bool printable(std::string_view text) {
    return std::ranges::all_of(text, [](unsigned char c) { return c >= 0x20 && c != 0x7f; });
}

Error refused_name(const char* what, const std::string& name, const std::string& why) {
    return {ErrorKind::refused, fmt::format("{} '{}' is refused: {}", what, show_text(name), why)};
}

Result<> check_path(const std::string& name, const char* what) {
    const auto refuse = [&](const std::string& why) { return refused_name(what, name, why); };
    if (name.empty()) return refuse("the name is empty.");
    if (name.size() > limits::name_bytes_max)
        return refuse(
            fmt::format("the name has {} bytes, at most {} are allowed.", name.size(), limits::name_bytes_max));
    if (!printable(name)) return refuse("the name has control characters.");
    std::size_t begin = 0;
    while (begin <= name.size()) {
        const auto end = std::min(name.find('/', begin), name.size());
        const auto part = std::string_view(name).substr(begin, end - begin);
        if (part.empty())
            return refuse("a part of the path is empty; write \"group/name\" without leading or double '/'.");
        if (part == "." || part == "..") return refuse("'.' and '..' are not names.");
        if (begin == 0 && part == "_forebay") return refuse("the group '_forebay' is reserved.");
        begin = end + 1;
    }
    return {};
}

Result<> check_type_and_shape(const Variable& variable) {
    // A known type reads back from its name.
    FB_TRY_ASSIGN(known, type_named(name_of(variable.type)));
    if (known != variable.type) return refusal(variable, "its element type is not known");
    if (!variable.shape.valid())
        return refusal(variable,
                       fmt::format("it has {} dimensions, at most {} are allowed", variable.shape.dims(), dims_max));
    if (variable.kind == Kind::array && variable.shape.dims() == 0)
        return refusal(variable, "an array needs at least one dimension; a scalar is a replicated variable");
    std::uint64_t bytes = variable.type.size_bytes;
    for (int dim = 0; dim < variable.shape.dims(); ++dim) {
        // 0 counts as 1, so that the limit also holds for sums over the other extents.
        const auto extent = std::max<std::uint64_t>(variable.shape[dim], 1);
        if (extent > (std::uint64_t{1} << 62) / bytes) return refusal(variable, "its size is over 2^62 bytes");
        bytes *= extent;
    }
    const auto names = variable.attributes.dimensions.size();
    if (names != 0 && names != static_cast<std::size_t>(variable.shape.dims()))
        return refusal(variable, fmt::format("{} dimension names for {} dimensions", names, variable.shape.dims()));
    return {};
}

Result<> check_attributes(const Variable& variable) {
    const auto& attributes = variable.attributes;
    std::set<std::string_view> names;
    const auto check_text = [&](const std::string& text, std::string_view name) -> Result<> {
        if (text.size() <= limits::attribute_bytes_max) return {};
        return refusal(variable, fmt::format("attribute '{}' has {} bytes, at most {} are allowed", name, text.size(),
                                             limits::attribute_bytes_max));
    };
    FB_TRY(check_text(attributes.unit, "unit"));
    FB_TRY(check_text(attributes.description, "description"));
    for (const auto& dimension : attributes.dimensions) {
        FB_TRY(check_path(dimension, "dimension name"));
        if (dimension.find('/') != std::string::npos)
            return refusal(variable, fmt::format("dimension name '{}' has a '/'", dimension));
    }
    for (const auto& [name, value] : attributes.others) {
        if (name.empty() || name.size() > limits::name_bytes_max || !printable(name))
            return refusal(variable, "an attribute's name is empty, too long or not printable");
        if (!names.insert(name).second) return refusal(variable, fmt::format("attribute '{}' is given twice", name));
        if (const auto* text = std::get_if<std::string>(&value)) FB_TRY(check_text(*text, name));
    }
    return {};
}

// Refuses names that could control a terminal.
Result<> check_shown(const char* what, const std::string& name) {
    if (is_showable(name)) return {};
    return refused_name(what, name, "the name has control characters.");
}

}  // namespace

std::uint64_t Variable::elements() const {
    std::uint64_t product = 1;
    for (int dim = 0; dim < shape.dims(); ++dim) product *= shape[dim];
    return product;
}

Result<> check_stream_name(const std::string& name) {
    FB_TRY(check_path(name, "stream"));
    if (name.find('/') == std::string::npos && name.front() != '.') return {};
    return Error{
        ErrorKind::refused,
        fmt::format("stream '{}' is refused: the name must be valid for a directory, without '/' or a leading '.'.",
                    name)};
}

Result<> check_table_name(const std::string& name) { return check_shown("table", name); }

Result<> SchemaNames::add(const Variable& variable, std::size_t tables) {
    const auto& name = variable.name;
    FB_TRY(check_path(name, "variable"));
    if (variables_.size() >= limits::variables_max)
        return refusal(variable, fmt::format("{} variables are described already, and no more are allowed",
                                             limits::variables_max));
    if (variables_.contains(name)) return refusal(variable, "it is described twice");
    FB_TRY(check_type_and_shape(variable));
    FB_TRY(check_attributes(variable));
    if (variable.kind == Kind::particles && variable.table >= tables)
        return refusal(variable, "its table does not exist");
    if (groups_.contains(name))
        return refusal(variable, "a group of this name has variables, and a variable cannot be a group too");
    // New nodes are allocated here. The merges below cannot fail, so an error changes nothing.
    decltype(variables_) own{{name, variables_.size()}};
    decltype(groups_) new_groups;
    for (auto cut = name.find('/'); cut != std::string::npos; cut = name.find('/', cut + 1)) {
        const auto group = name.substr(0, cut);
        if (variables_.contains(group))
            return refusal(variable, fmt::format("'{}' is a variable, so it cannot be a group too", group));
        new_groups[group];
    }
    groups_.merge(new_groups);
    for (auto cut = name.find('/'); cut != std::string::npos; cut = name.find('/', cut + 1))
        ++groups_.find(std::string_view(name).substr(0, cut))->second;
    variables_.merge(own);
    return {};
}

Result<> SchemaNames::describe(const Variable& variable, std::size_t tables) {
    FB_TRY(check_shown("variable", variable.name));
    for (const auto& dimension : variable.attributes.dimensions) FB_TRY(check_shown("dimension name", dimension));
    for (const auto& [name, value] : variable.attributes.others) FB_TRY(check_shown("attribute", name));
    return add(variable, tables);
}

void SchemaNames::remove(const std::string& name) {
    const auto variable = variables_.find(name);
    if (variable == variables_.end()) return;
    const auto index = variable->second;
    variables_.erase(variable);
    for (auto& [other, place] : variables_) place -= place > index ? 1 : 0;
    for (auto cut = name.find('/'); cut != std::string::npos; cut = name.find('/', cut + 1)) {
        const auto group = groups_.find(std::string_view(name).substr(0, cut));
        // A group exists as long as a variable is in it.
        if (--group->second == 0) groups_.erase(group);
    }
}

std::optional<std::size_t> SchemaNames::index_of(const std::string& name) const {
    const auto variable = variables_.find(name);
    if (variable == variables_.end()) return std::nullopt;
    return variable->second;
}

Result<> check(const Schema& schema) {
    FB_TRY(check_stream_name(schema.stream));
    SchemaNames names;
    for (const auto& variable : schema.variables) FB_TRY(names.add(variable, schema.tables.size()));
    return {};
}

Result<> check_described(const Schema& schema) {
    FB_TRY(check_stream_name(schema.stream));
    FB_TRY(check_shown("stream", schema.stream));
    for (const auto& table : schema.tables) FB_TRY(check_table_name(table));
    SchemaNames names;
    for (const auto& variable : schema.variables) FB_TRY(names.describe(variable, schema.tables.size()));
    return {};
}

const Variable* find(const Schema& schema, std::string_view name) {
    const auto at = std::ranges::find(schema.variables, name, &Variable::name);
    return at == schema.variables.end() ? nullptr : &*at;
}

}  // namespace forebay
