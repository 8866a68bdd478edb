#include "insight/outline/description.hpp"
#include "core/base/glob.hpp"
#include "core/base/try.hpp"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>

namespace forebay::outline {

namespace {

// toml++ splits dotted keys by recursion; a file of this size cannot overflow the stack.
constexpr std::uint64_t description_bytes_max = 64u << 10;

Error refused(const std::string& path, const toml::node& where, const std::string& what) {
    return {ErrorKind::refused, fmt::format("{}, line {}: {}", path, where.source().begin.line, what)};
}

/// Lists of numbers become texts of numbers, which attributes can hold.
Result<AttributeValue> value_of(const toml::node& node, const std::string& key, const std::string& path) {
    if (const auto* text = node.as_string()) return AttributeValue(text->get());
    if (const auto* real = node.as_floating_point()) return AttributeValue(real->get());
    if (const auto* whole = node.as_integer()) return AttributeValue(whole->get());
    const auto* list = node.as_array();
    if (list == nullptr) return refused(path, node, fmt::format("'{}' is not a text, number or list of numbers.", key));
    std::string text;
    for (const auto& entry : *list) {
        const auto number = entry.value<double>();
        if (!number || !entry.is_number()) return refused(path, entry, fmt::format("'{}' has an invalid number.", key));
        text += fmt::format("{}{}", text.empty() ? "" : " ", *number);
    }
    return AttributeValue(text);
}

/// toml++ sorts tables by key, but later rules in the file must win.
std::vector<std::pair<std::string, const toml::node*>> in_order(const toml::table& table) {
    std::vector<std::pair<std::string, const toml::node*>> members;
    for (const auto& [key, value] : table) members.emplace_back(std::string(key.str()), &value);
    std::ranges::stable_sort(members, {}, [](const auto& member) {
        return std::pair(member.second->source().begin.line, member.second->source().begin.column);
    });
    return members;
}

Result<Description::Rule> rule_of(const std::string& pattern, const toml::node& node, const std::string& path) {
    const auto* table = node.as_table();
    if (table == nullptr) return refused(path, node, fmt::format("'variables.{}' must be a table.", pattern));
    Description::Rule rule{pattern, {}, {}};
    for (const auto& [key, value] : in_order(*table)) {
        if (key != "dimensions") {
            FB_TRY_ASSIGN(attribute, value_of(*value, key, path));
            rule.attributes.emplace_back(key, std::move(attribute));
            continue;
        }
        const auto* list = value->as_array();
        if (list == nullptr) return refused(path, *value, "'dimensions' must be a list of names.");
        for (const auto& entry : *list) {
            const auto* name = entry.as_string();
            if (name == nullptr || name->get().empty()) return refused(path, entry, "'dimensions' must be names.");
            rule.dimensions.push_back(name->get());
        }
    }
    return rule;
}

Result<Description> description_of(const toml::table& all, const std::string& path) {
    Description description;
    for (const auto& [key, node] : in_order(all)) {
        const auto* table = node->as_table();
        if (table == nullptr || (key != "file" && key != "variables"))
            return refused(path, *node,
                           fmt::format("'{}' is not known. The tables are [file] and [variables.\"PATTERN\"].", key));
        for (const auto& [name, value] : in_order(*table)) {
            if (key == "file") {
                FB_TRY_ASSIGN(attribute, value_of(*value, name, path));
                description.file.emplace_back(name, std::move(attribute));
            } else {
                FB_TRY_ASSIGN(rule, rule_of(name, *value, path));
                description.rules.push_back(std::move(rule));
            }
        }
    }
    return description;
}

void set(std::vector<std::pair<std::string, AttributeValue>>& attributes, const std::string& name,
         const AttributeValue& value) {
    const auto attribute = std::ranges::find(attributes, name, &std::pair<std::string, AttributeValue>::first);
    if (attribute == attributes.end()) attributes.emplace_back(name, value);
    else attribute->second = value;
}

Result<> apply(const Description::Rule& rule, Variable& variable) {
    for (const auto& [name, value] : rule.attributes) {
        const auto* text = std::get_if<std::string>(&value);
        if ((name == "unit" || name == "description") && text == nullptr)
            return Error{ErrorKind::refused,
                         fmt::format("'{}' of \"{}\" in the description must be a text.", name, rule.pattern)};
        if (name == "unit") variable.attributes.unit = *text;
        else if (name == "description") variable.attributes.description = *text;
        else set(variable.attributes.others, name, value);
    }
    // The dimension of a column is always its table's rows.
    if (rule.dimensions.empty() || variable.kind == Kind::particles) return {};
    if (rule.dimensions.size() != static_cast<std::size_t>(variable.shape.dims()))
        return Error{ErrorKind::refused,
                     fmt::format("the description has {} dimensions for \"{}\", but '{}' has {}.",
                                 rule.dimensions.size(), rule.pattern, variable.name, variable.shape.dims())};
    variable.attributes.dimensions = rule.dimensions;
    return {};
}

}  // namespace

Result<Description> parse_description(const std::string& text, const std::string& path) {
    try {
        return description_of(toml::parse(text, path), path);
        // No exception may leave the module.
    } catch (const toml::parse_error& problem) {
        return Error{ErrorKind::refused,
                     fmt::format("{}, line {}: {}", path, problem.source().begin.line, problem.description())};
    }
}

std::string description_path(const std::string& stream_directory, const std::string& path) {
    return path.empty() ? stream_directory + "/" + description_name : path;
}

Result<Description> load_description(sys::Store& store, const std::string& stream_directory, const std::string& path) {
    const auto from = description_path(stream_directory, path);
    auto text = sys::read_text(store, from, description_bytes_max);
    // Only a file named by the user must exist.
    if (!text && text.error().kind == ErrorKind::missing && path.empty()) return Description{};
    if (!text) return text.error();
    return parse_description(*text, from);
}

Result<> describe(Contents& contents, const Description& description) {
    contents.attributes = description.file;
    for (const auto& rule : description.rules) {
        bool has_fit = false;
        for (auto& variable : contents.manifest.schema.variables) {
            if (!matches(rule.pattern, variable.name)) continue;
            has_fit = true;
            FB_TRY(apply(rule, variable));
        }
        if (!has_fit)
            return Error{ErrorKind::refused,
                         fmt::format("the description has \"{}\", but no variable of stream '{}' matches", rule.pattern,
                                     contents.manifest.schema.stream),
                         "", "forebay show lists the names"};
    }
    return {};
}

}  // namespace forebay::outline
