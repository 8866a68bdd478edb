#include "bindings/api/description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "core/base/attempt.hpp"
#include "core/base/try.hpp"
#include "core/describe/geometry.hpp"
#include "path/stage/together.hpp"

namespace forebay {

namespace {

Error unknown(const std::string& name, const char* what) {
    return {ErrorKind::missing, fmt::format("no {} '{}' is described.", what, name)};
}

// Checks a box that is bound again without a type.
Result<> check_again(const Variable& variable, const Piece& piece) {
    const auto refuse = [&](const std::string& why) {
        return Error{ErrorKind::refused,
                     fmt::format("variable '{}' is refused: {} Its binding is unchanged.", variable.name, why)};
    };
    const int dims = variable.shape.dims();
    if (piece.box.lo.dims() != dims || piece.box.size.dims() != dims)
        return refuse(fmt::format("a box of {} dimensions, of a global shape of {} ({}).", piece.box.size.dims(), dims,
                                  show_shape(variable.shape)));
    for (int dim = 0; dim < dims; ++dim) {
        const auto stride = piece.stride_bytes[static_cast<std::size_t>(dim)];
        // The caller gave no type. A stride below the size of an element shows that the type differs.
        if (piece.box.size[dim] > 1 && stride != 0 && std::abs(stride) < variable.type.size_bytes)
            return refuse(fmt::format("neighbours along dimension {} are {} bytes apart, but an element, {}, has {}.",
                                      dim, stride, name_of(variable.type), variable.type.size_bytes));
    }
    if (const auto fits = stage::check_box(variable, piece.box); !fits)
        return with_context(fits.error(), fits.error().what + ". Its binding is unchanged.");
    return {};
}

// Grows by doubling: many calls that describe then take linear time.
template <class T>
void make_room(std::vector<T>& vector, std::size_t more = 1) {
    if (vector.capacity() - vector.size() < more) vector.reserve(2 * vector.size() + more);
}

}  // namespace

Result<> StreamDescription::add(Variable variable, void* data, std::vector<Piece> pieces, Replicated which) {
    // An empty box owns nothing: it counts like no box.
    std::erase_if(pieces, [](const Piece& piece) { return piece.box.size.dims() > 0 && volume(piece.box.size) == 0; });
    // Room first, so that the insertions at the end cannot throw.
    make_room(schema.variables);
    make_room(binding.data);
    make_room(binding.first_rank);
    make_room(binding.pieces);
    FB_TRY(names_.describe(variable, schema.tables.size()));
    for (const auto& piece : pieces) {
        const auto fits = attempt([&] { return stage::check_box(variable, piece.box); });
        if (fits) continue;
        names_.remove(variable.name);
        return fits.error();
    }
    // From here on nothing can fail: a save would read past the end of a binding without an entry.
    schema.variables.push_back(std::move(variable));
    binding.data.push_back(data);
    binding.first_rank.push_back(which == Replicated::first_rank ? 1 : 0);
    binding.pieces.push_back(std::move(pieces));
    changed = true;
    return {};
}

Result<std::uint32_t> StreamDescription::add_table(const std::string& name, const std::vector<Column>& columns) {
    if (std::ranges::find(schema.tables, name) != schema.tables.end())
        return Error{ErrorKind::refused, fmt::format("table '{}' is refused: it is described twice.", name)};
    if (columns.empty())
        return Error{ErrorKind::refused, fmt::format("table '{}' is refused: it has no columns.", name)};
    FB_TRY(check_table_name(name));
    const auto table = static_cast<std::uint32_t>(schema.tables.size());
    describe::TableBinding bound;
    std::vector<Variable> variables;
    for (const auto& column : columns) {
        bound.variables.push_back(static_cast<std::uint32_t>(schema.variables.size() + variables.size()));
        variables.push_back({.name = name + "/" + column.name,
                             .type = column.type,
                             .kind = Kind::particles,
                             .table = table,
                             .attributes = column.attributes});
    }
    bound.columns.resize(columns.size());
    make_room(schema.tables);
    make_room(schema.variables, columns.size());
    make_room(binding.data, columns.size());
    make_room(binding.first_rank, columns.size());
    make_room(binding.pieces, columns.size());
    make_room(binding.tables);
    auto table_name = name;
    for (std::size_t c = 0; c < variables.size(); ++c) {
        const auto joined = attempt([&] { return names_.describe(variables[c], table + 1); });
        if (joined) continue;
        while (c > 0) names_.remove(variables[--c].name);
        return joined.error();
    }
    // From here on nothing can fail, as in add().
    schema.tables.push_back(std::move(table_name));
    for (auto& variable : variables) schema.variables.push_back(std::move(variable));
    binding.data.resize(schema.variables.size(), nullptr);
    binding.first_rank.resize(schema.variables.size(), 0);
    binding.pieces.resize(schema.variables.size());
    binding.tables.push_back(std::move(bound));
    changed = true;
    return table;
}

Result<std::size_t> StreamDescription::index_of(const std::string& variable, Kind kind, const As& as) const {
    const auto index = names_.index_of(variable);
    if (!index) return unknown(variable, name_of(kind));
    const auto* described = &schema.variables[*index];
    const auto type = as.type.value_or(described->type);
    const auto shape = as.shape.value_or(described->shape);
    if (described->kind == kind && described->type == type && described->shape == shape) return *index;
    return Error{
        ErrorKind::refused,
        fmt::format("variable '{}' is described as {} {} of {}, but bound as {} {} of {}. Its binding is unchanged",
                    variable, name_of(described->type), name_of(described->kind), show_shape(described->shape),
                    name_of(type), name_of(kind), show_shape(shape)),
        "", "bind it as described, or forget it and describe it again"};
}

Result<> StreamDescription::rebind(const std::string& name, std::vector<Piece> pieces, const As& as) {
    FB_TRY_ASSIGN(index, index_of(name, Kind::array, as));
    for (const auto& piece : pieces) FB_TRY(check_again(schema.variables[index], piece));
    std::erase_if(pieces, [](const Piece& piece) { return volume(piece.box.size) == 0; });
    auto& bound = binding.pieces[index];
    // Addresses are not part of the layout: only other boxes cost a new layout.
    if (!std::ranges::equal(bound, pieces, {}, &Piece::box, &Piece::box)) changed = true;
    bound = std::move(pieces);
    return {};
}

Result<> StreamDescription::rebind(const std::string& name, void* data, const As& as) {
    FB_TRY_ASSIGN(index, index_of(name, Kind::replicated, as));
    if (data == nullptr && schema.variables[index].elements() > 0)
        return Error{ErrorKind::refused, fmt::format("variable '{}' is refused: it has no address.", name)};
    binding.data[index] = data;
    return {};
}

Result<> StreamDescription::forget(const std::string& name) {
    auto& [stream, tables, variables] = schema;
    const auto described = names_.index_of(name);
    if (!described) return unknown(name, "variable");
    if (variables[*described].kind == Kind::particles)
        return Error{ErrorKind::refused, fmt::format("'{}' is a column. Tables stay described.", name)};
    const auto index = static_cast<std::ptrdiff_t>(*described);
    names_.remove(name);
    variables.erase(variables.begin() + index);
    binding.data.erase(binding.data.begin() + index);
    binding.first_rank.erase(binding.first_rank.begin() + index);
    binding.pieces.erase(binding.pieces.begin() + index);
    // Columns after the removed variable move up by one.
    for (auto& table : binding.tables)
        for (auto& column : table.variables) column -= column > static_cast<std::uint32_t>(index) ? 1 : 0;
    changed = true;
    return {};
}

Result<> StreamDescription::bind(std::uint32_t index, std::uint64_t rows, std::vector<ColumnData> columns,
                                 const std::vector<Type>& types) {
    auto& table = binding.tables[index];
    if (!columns.empty() && columns.size() != table.variables.size())
        return Error{ErrorKind::refused, fmt::format("table '{}' has {} columns, but bind() was given {}.",
                                                     schema.tables[index], table.variables.size(), columns.size())};
    for (std::size_t c = 0; c < std::min(types.size(), table.variables.size()); ++c) {
        const auto& described = schema.variables[table.variables[c]];
        if (types[c] != described.type)
            return Error{
                ErrorKind::refused,
                fmt::format("column '{}' is described as {}, but bound as {}. The binding of the table is unchanged",
                            described.name, name_of(described.type), name_of(types[c])),
                "", "give the columns in the order and with the types of the description"};
    }
    // Without columns only the number of rows is set. check_bound() asks for the addresses.
    columns.resize(table.variables.size());
    table.rows = rows;
    table.columns = std::move(columns);
    return {};
}

Result<> StreamDescription::check_bound(std::span<const char> direct) const {
    for (std::size_t t = 0; t < binding.tables.size(); ++t) {
        const auto& table = binding.tables[t];
        for (std::size_t c = 0; c < table.variables.size(); ++c) {
            const auto v = table.variables[c];
            if (table.rows == 0 || (v < direct.size() && direct[v] != 0)) continue;
            if (table.columns[c].data == nullptr)
                return Error{
                    ErrorKind::refused,
                    fmt::format("column '{}' has {} rows but no address", schema.variables[v].name, table.rows), "",
                    "bind an address to each column"};
        }
    }
    return {};
}

Result<Part> StreamDescription::part(const std::vector<std::string>& names) const {
    Part part{.schema = {.stream = schema.stream, .tables = {}, .variables = {}}, .binding = {}};
    for (const auto& name : names) {
        const auto* variable = find(schema, name);
        if (variable == nullptr) return Error{ErrorKind::missing, fmt::format("no variable '{}' is described.", name)};
        if (variable->kind == Kind::particles)
            return Error{ErrorKind::refused, fmt::format("'{}' is a column. Tables are read as a whole.", name)};
        const auto index = static_cast<std::size_t>(variable - schema.variables.data());
        part.schema.variables.push_back(*variable);
        part.binding.data.push_back(binding.data[index]);
        part.binding.first_rank.push_back(binding.first_rank[index]);
        part.binding.pieces.push_back(binding.pieces[index]);
    }
    return part;
}

}  // namespace forebay
