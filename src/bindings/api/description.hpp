// The variables of a stream: described, bound again, forgotten. A description changes only after everything that can
// fail: schema and binding need an entry for each variable, or a save would read past the end of the binding.
//
// Ranks: each has its own, and no call sends a message. The next save checks that all ranks agree.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/describe/binding.hpp"
#include "core/describe/schema.hpp"
#include "forebay/forebay.hpp"

namespace forebay {

/// A part of a description to read, with its places in memory.
struct Part {
    Schema schema;
    describe::Binding binding;
};

class StreamDescription {
public:
    explicit StreamDescription(const std::string& stream) : schema{.stream = stream, .tables = {}, .variables = {}} {}

    Result<> add(Variable variable, void* data, std::vector<Piece> pieces, Replicated which = Replicated::equal);
    /// Returns the table's index.
    Result<std::uint32_t> add_table(const std::string& name, const std::vector<Column>& columns);
    /// `missing`, or `refused` if the description differs. After an error the old binding stays.
    Result<> rebind(const std::string& name, std::vector<Piece> pieces, const As& as);
    Result<> rebind(const std::string& name, void* data, const As& as);
    Result<> bind(std::uint32_t table, std::uint64_t rows, std::vector<ColumnData> columns,
                  const std::vector<Type>& types);
    Result<> forget(const std::string& name);

    /// Checks that every column with rows has an address or is marked in `direct`.
    Result<> check_bound(std::span<const char> direct) const;
    /// Only for arrays and replicated variables.
    Result<Part> part(const std::vector<std::string>& names) const;

    Schema schema;
    describe::Binding binding;
    bool changed = true;  // since the last layout

private:
    Result<std::size_t> index_of(const std::string& variable, Kind kind, const As& as) const;

    SchemaNames names_;  // of the schema's variables
};

}  // namespace forebay
