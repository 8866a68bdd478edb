// The part of a description that is equal on all ranks: the variables with their types, kinds and shapes. A schema has
// nothing about memory, ranks or files.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forebay/describe.hpp"

namespace forebay {

enum class Kind : std::uint8_t { replicated, array, particles };

/// "replicated", "array", "particles".
const char* name_of(Kind kind);

/// Returns "4 x 6", or "scalar" for no dimensions.
std::string show_shape(const Extents& shape);

struct Variable {
    std::string name;  // "fields/u"; a column of a table is "TABLE/COLUMN"
    Type type;
    Kind kind = Kind::replicated;
    Extents shape;            // replicated: its own shape; array: the global shape; particles: empty, because rows vary
    std::uint32_t table = 0;  // particles: index into Schema::tables
    Coverage coverage = Coverage::full;
    Attributes attributes;
    friend bool operator==(const Variable&, const Variable&) = default;

    std::uint64_t elements() const;  // of `shape`; meaningless for particles; 0 if an extent is 0
};

struct Schema {
    std::string stream;
    std::vector<std::string> tables;
    std::vector<Variable> variables;
    friend bool operator==(const Schema&, const Schema&) = default;
};

/// `refused`, with the variable, if a name, type or shape breaks a rule: no duplicate names, no name that is a group of
/// another variable, no empty or absolute path, no "." or ".." part, no `_forebay` group, at most dims_max dimensions,
/// sizes below 2^63. Extents may be 0.
Result<> check(const Schema& schema);

/// The same for a new description. It also refuses names that could control a terminal (show_text.hpp). check() accepts
/// C1 controls and direction overrides, because files of earlier versions may hold them.
Result<> check_described(const Schema& schema);

/// The names of a growing schema. Only the new variable is checked, so describing takes linear time.
class SchemaNames {
public:
    /// Checks like check_described(), for one more variable. The schema has `tables` tables. An error changes nothing.
    Result<> describe(const Variable& variable, std::size_t tables);
    /// The same with the rules of check().
    Result<> add(const Variable& variable, std::size_t tables);
    /// Removes a name. The indices of later variables decrease by one.
    void remove(const std::string& name);
    /// Returns the index of the variable in the order of describing, or nothing.
    std::optional<std::size_t> index_of(const std::string& name) const;
    std::size_t size() const { return variables_.size(); }

private:
    std::map<std::string, std::size_t, std::less<>> variables_;  // name to index
    std::map<std::string, std::size_t, std::less<>> groups_;     // group to its number of variables
};

/// `refused` if the name of a table could control a terminal. The other rules apply to its columns.
Result<> check_table_name(const std::string& name);

/// `refused` unless the name can be a directory.
Result<> check_stream_name(const std::string& name);

/// Returns the variable of this name, or nullptr.
const Variable* find(const Schema& schema, std::string_view name);

}  // namespace forebay
