// What a stream is told of variables: described, bound again, forgotten. A description changes only once nothing can
// fail: schema and binding need an entry for each variable, or a save would read nobody's memory.
//
// Ranks: each has its own, and no call sends a message. That all are alike is checked by the next save.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/describe/binding.hpp"
#include "core/describe/schema.hpp"
#include "forebay/forebay.hpp"

namespace forebay {

/// What is read of a description, all or some variables, and where they lie.
struct Part {
    Schema schema;
    describe::Binding binding;
};

class StreamDescription {
public:
    explicit StreamDescription(const std::string& stream) : schema{.stream = stream, .tables = {}, .variables = {}} {}

    Result<> add(Variable variable, void* data, std::vector<Piece> pieces, Replicated which = Replicated::equal);
    /// The table's index.
    Result<std::uint32_t> add_table(const std::string& name, const std::vector<Column>& columns);
    /// `missing`, or `refused` where it is described otherwise; it stays where it was bound then.
    Result<> rebind(const std::string& name, std::vector<Piece> pieces, const As& as);
    Result<> rebind(const std::string& name, void* data, const As& as);
    Result<> bind(std::uint32_t table, std::uint64_t rows, std::vector<ColumnData> columns,
                  const std::vector<Type>& types);
    Result<> forget(const std::string& name);

    /// Whether every column that has rows has an address or is marked in `direct`.
    Result<> check_bound(std::span<const char> direct) const;
    /// Of arrays and replicated variables alone.
    Result<Part> part(const std::vector<std::string>& names) const;

    Schema schema;
    describe::Binding binding;
    bool changed = true;  // since the last layout

private:
    Result<std::size_t> index_of(const std::string& variable, Kind kind, const As& as) const;

    SchemaNames names_;  // of the schema's variables
};

}  // namespace forebay
