#include "core/format/toml_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include <toml++/toml.h>

namespace forebay {

namespace {

const toml::node* node_at(const void* node) { return static_cast<const toml::node*>(node); }

// Returns the value only if it has exactly this type.
template <class T>
std::optional<T> exactly(const void* node) {
    const auto* value = node == nullptr ? nullptr : node_at(node)->as<T>();
    return value == nullptr ? std::nullopt : std::optional<T>(value->get());
}

const toml::table* table_at(const void* node) { return node == nullptr ? nullptr : node_at(node)->as_table(); }

}  // namespace

bool TomlValue::is_table() const { return table_at(node_) != nullptr; }
bool TomlValue::is_list() const { return exists() && node_at(node_)->is_array(); }
std::optional<bool> TomlValue::flag() const { return exactly<bool>(node_); }
std::optional<std::int64_t> TomlValue::whole() const { return exactly<std::int64_t>(node_); }
std::optional<double> TomlValue::real() const { return exists() ? node_at(node_)->value<double>() : std::nullopt; }
std::optional<std::string> TomlValue::text() const { return exactly<std::string>(node_); }

TomlValue TomlValue::member(const std::string& key) const {
    const auto* table = table_at(node_);
    return TomlValue(table == nullptr ? nullptr : table->get(key));
}

// Sorts by position, because toml++ sorts a table by its keys.
std::vector<std::pair<std::string, TomlValue>> TomlValue::members() const {
    std::vector<std::pair<std::string, TomlValue>> members;
    const auto* table = table_at(node_);
    if (table == nullptr) return members;
    std::vector<std::pair<toml::source_position, std::string>> order;
    for (const auto& [key, value] : *table) order.emplace_back(key.source().begin, key.str());
    std::ranges::sort(order, {}, [](const auto& member) { return std::pair(member.first.line, member.first.column); });
    for (auto& [at, key] : order) {
        const auto* node = table->get(key);
        members.emplace_back(std::move(key), node);
    }
    return members;
}

std::vector<TomlValue> TomlValue::entries() const {
    std::vector<TomlValue> values;
    if (is_list())
        for (const auto& entry : *node_at(node_)->as_array()) values.emplace_back(&entry);
    return values;
}

std::uint32_t TomlValue::line() const { return exists() ? node_at(node_)->source().begin.line : 0; }

std::string TomlValue::written() const {
    if (!exists()) return {};
    if (const auto content = text()) return '"' + *content + '"';  // toml++ may use other quotes
    std::ostringstream out;
    node_at(node_)->visit([&](const auto& value) { out << value; });
    return out.str();
}

void TomlText::Delete::operator()(void* held) const { delete static_cast<toml::node*>(held); }

Result<TomlText> TomlText::parse(const std::string& text, const std::string& path) {
    try {
        auto table = std::make_unique<toml::table>(toml::parse(text, path));
        TomlText parsed;
        parsed.held_.reset(static_cast<toml::node*>(table.release()));
        return parsed;
    } catch (const toml::parse_error& problem) {
        return Error{ErrorKind::refused,
                     fmt::format("{}, line {}: {}", path, problem.source().begin.line, problem.description())};
    }
}

}  // namespace forebay
