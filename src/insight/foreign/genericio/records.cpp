// Turns columns of a table into variables of a GenericIO file.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/try.hpp"
#include "insight/foreign/genericio/export.hpp"
#include "insight/foreign/genericio/layout.hpp"

namespace forebay::foreign::genericio {

namespace {

Error refusal(const std::string& why, const std::string& next) { return {ErrorKind::refused, why, "", next}; }

template <class T>
const T* attribute(const forebay::Variable& column, const char* name) {
    for (const auto& [key, value] : column.attributes.others)
        if (key == name) return std::get_if<T>(&value);
    return nullptr;
}

// The numbers of a type; complex numbers are records of two.
struct Numbers {
    std::uint64_t flags = 0;
    std::uint64_t bytes = 0;
    std::uint64_t count = 1;
};

Numbers numbers_of(Type type) {
    switch (type.scalar) {
        case Scalar::f16:
        case Scalar::f32:
        case Scalar::f64: return {is_float | is_signed, type.size_bytes, 1};
        case Scalar::c64:
        case Scalar::c128: return {is_float | is_signed, type.size_bytes / 2, 2};
        case Scalar::i8:
        case Scalar::i16:
        case Scalar::i32:
        case Scalar::i64: return {is_signed, type.size_bytes, 1};
        case Scalar::string: return {0, 1, type.size_bytes};
        default: return {0, type.size_bytes, 1};
    }
}

class RecordsMaker {
public:
    RecordsMaker(const Schema& schema, std::uint32_t table, const GioExportOptions& options)
        : schema_(schema), table_(table), options_(options) {}

    Result<std::vector<GioRecord>> make() {
        const auto prefix = schema_.tables[table_].size() + 1;
        for (std::uint32_t i = 0; i < schema_.variables.size(); ++i) {
            const auto& column = schema_.variables[i];
            if (column.kind != Kind::particles || column.table != table_) continue;
            const auto name = column.name.substr(prefix);
            if (continues(column)) {
                auto& record = records_.back();
                record.columns.push_back(i);
                record.variable.record_bytes += record.variable.element_bytes;
            } else {
                FB_TRY(add(i, column, name));
            }
        }
        FB_TRY(mark_coordinates());
        return check();
    }

private:
    // True if the column is the next element of the current record.
    bool continues(const forebay::Variable& column) const {
        const auto* record = attribute<std::string>(column, "genericio_record");
        const auto* element = attribute<std::int64_t>(column, "genericio_element");
        return record != nullptr && element != nullptr && *element > 0 && !records_.empty() &&
               records_.back().variable.name == *record && records_.back().type == column.type &&
               std::cmp_equal(records_.back().columns.size(), *element);
    }

    Result<> add(std::uint32_t index, const forebay::Variable& column, const std::string& column_name) {
        const auto numbers = numbers_of(column.type);
        const auto* record = attribute<std::string>(column, "genericio_record");
        const auto* element = attribute<std::int64_t>(column, "genericio_element");
        // The first column of an imported record takes the record's name.
        const bool begins = record != nullptr && element != nullptr && *element == 0 && numbers.count == 1;
        GioRecord new_record{.variable = {.name = begins ? *record : column_name,
                                          .flags = numbers.flags,
                                          .record_bytes = numbers.bytes * numbers.count,
                                          .element_bytes = numbers.bytes},
                             .type = column.type,
                             .columns = {index}};
        if (const auto* flags = attribute<std::string>(column, "genericio_flags"))
            // The column's own type decides about float and sign, not the imported flags.
            new_record.variable.flags |= flags_of(*flags) & ~(is_float | is_signed);
        // '$' begins GenericIO's own columns, such as $rank.
        if (new_record.variable.name.size() >= name_field_bytes || new_record.variable.name.starts_with('$'))
            return refusal(
                fmt::format("'{}' is not a valid name for a variable of GenericIO.", new_record.variable.name),
                "export another table, or save the column under another name");
        records_.push_back(std::move(new_record));
        return {};
    }

    Result<> mark_coordinates() {
        for (std::size_t i = 0; i < options_.coordinates.size(); ++i) {
            const auto match = std::ranges::find(records_, options_.coordinates[i],
                                                 [](const GioRecord& record) { return record.variable.name; });
            if (i >= coordinate.size() || match == records_.end())
                return refusal(fmt::format("'{}' cannot be a coordinate.", options_.coordinates[i]),
                               "give --coordinate x --coordinate y --coordinate z, with columns of the table");
            match->variable.flags |= coordinate[i];
        }
        return {};
    }

    Result<std::vector<GioRecord>> check() {
        std::set<std::string> names;
        for (const auto& record : records_)
            if (!names.insert(record.variable.name).second)
                return refusal(fmt::format("two variables would have the name '{}'.", record.variable.name),
                               "save the columns under other names");
        return std::move(records_);
    }

    const Schema& schema_;
    std::uint32_t table_;
    const GioExportOptions& options_;
    std::vector<GioRecord> records_;
};

}  // namespace

Result<std::vector<GioRecord>> records_of(const Schema& schema, std::uint32_t table, const GioExportOptions& options) {
    return RecordsMaker(schema, table, options).make();
}

Result<std::uint32_t> table_of(const Schema& schema, const std::string& wanted) {
    std::vector<std::string> tables = schema.tables;
    std::erase(tables, ranks_table_name);
    const auto name = !wanted.empty() ? wanted : tables.size() == 1 ? tables.front() : table_name;
    const auto table = std::ranges::find(schema.tables, name);
    if (table != schema.tables.end()) return static_cast<std::uint32_t>(table - schema.tables.begin());
    std::string known;
    for (const auto& other_table : tables) known += (known.empty() ? "" : ", ") + other_table;
    if (known.empty())
        return refusal("the snapshot has no particle table, and GenericIO files hold only these.",
                       "forebay show lists its contents. forebay export netcdf writes arrays");
    return refusal(fmt::format("the snapshot has no table '{}'; it has {}.", name, known), "--table NAME");
}

}  // namespace forebay::foreign::genericio
