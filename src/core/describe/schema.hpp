// The part of a description that is the same on every rank: which variables there are, of what type,
// kind and shape. A schema says nothing about memory, ranks or files.

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

/// "4 x 6"; "scalar" for no dimensions.
std::string show_shape(const Extents& shape);

struct Variable {
    std::string name;  // "fields/u"; a column of a table is "TABLE/COLUMN"
    Type type;
    Kind kind = Kind::replicated;
    Extents shape;            // replicated: its own; array: the global shape; particles: empty, rows vary
    std::uint32_t table = 0;  // particles: index into Schema::tables
    Coverage coverage = Coverage::full;
    Attributes attributes;
    friend bool operator==(const Variable&, const Variable&) = default;

    std::uint64_t elements() const;  // of `shape`; meaningless for particles; 0 where an extent is 0
};

struct Schema {
    std::string stream;
    std::vector<std::string> tables;
    std::vector<Variable> variables;
    friend bool operator==(const Schema&, const Schema&) = default;
};

/// `refused`, with the variable named, unless every limit of names, types and shapes holds: no duplicate
/// names, no name that is also a group of another, no empty or absolute path, no "." or ".." part, no
/// `_forebay` group, at most dims_max dimensions, sizes below 2^63. Extents may be 0.
Result<> check(const Schema& schema);

/// The same of what is about to be described, whose names may not command a terminal either (show_text.hpp): files of
/// earlier versions may hold C1 controls and overrides of the direction, and are read.
Result<> check_described(const Schema& schema);

/// The names of a schema that grows, so that a variable that joins is checked alone: describing takes linear time.
class SchemaNames {
public:
    /// As check_described(), for one more variable of a schema with so many tables. After an error nothing has changed.
    Result<> describe(const Variable& variable, std::size_t tables);
    /// As check(), likewise.
    Result<> add(const Variable& variable, std::size_t tables);
    /// Takes a name out; those of later variables move down by one.
    void remove(const std::string& name);
    /// The index of the variable in the order of describing; nothing if it is not described.
    std::optional<std::size_t> index_of(const std::string& name) const;
    std::size_t size() const { return variables_.size(); }

private:
    std::map<std::string, std::size_t, std::less<>> variables_;  // and their indices
    std::map<std::string, std::size_t, std::less<>> groups_;     // and how many variables each has
};

/// `refused` unless the name of a table may be shown; its columns have the other rules.
Result<> check_table_name(const std::string& name);

/// `refused` unless the name can be that of a directory.
Result<> check_stream_name(const std::string& name);

/// Finds a variable by name; nullptr if there is none.
const Variable* find(const Schema& schema, std::string_view name);

}  // namespace forebay
