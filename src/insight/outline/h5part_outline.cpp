// The H5Part convention: each snapshot is a group Step#N. One particle table gives its datasets, 3-D arrays are H5Block
// fields below Step#N/Block, and replicated values are attributes. H5Part knows f64, f32, i64 and i32: other numbers
// become the next larger of these types, and u64 becomes i64. Data without a place in H5Part are left out and listed in
// `omitted`, once for all steps.

#include "insight/outline/h5part_outline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/base/bytes.hpp"
#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "insight/outline/dimensions.hpp"
#include "insight/outline/physics_attributes.hpp"

namespace forebay::outline {

namespace {

// H5Part attributes are for parameters, and HDF5 stores no attribute above 64 KB.
constexpr std::uint64_t attribute_elements_max = 1024;

/// The types that H5Part's programs read: f64, f32, i64 and i32. Other whole numbers become the next larger type; u64
/// becomes i64.
std::optional<Type> h5part_type(Type type) {
    switch (type.scalar) {
        case Scalar::f16:
        case Scalar::f32: return f32;
        case Scalar::f64: return f64;
        case Scalar::i8:
        case Scalar::i16:
        case Scalar::u8:
        case Scalar::u16:
        case Scalar::i32: return i32;
        case Scalar::u32:
        case Scalar::u64:
        case Scalar::i64: return i64;
        default: return std::nullopt;
    }
}

template <class To, class From>
std::vector<To> all_of(const std::vector<std::byte>& bytes) {
    std::vector<To> all;
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(From))
        all.push_back(static_cast<To>(load_le<From>(bytes.data() + at)));
    return all;
}

/// A replicated value as an attribute; nothing if H5Part's attributes cannot hold it.
std::optional<Outline::Value> parameter(const std::vector<std::byte>& bytes, Type type) {
    if (bytes.empty() || bytes.size() / type.size_bytes > attribute_elements_max) return std::nullopt;
    switch (type.scalar) {
        case Scalar::f32: return all_of<float, float>(bytes);
        case Scalar::f64: return all_of<double, double>(bytes);
        case Scalar::i8: return all_of<std::int32_t, std::int8_t>(bytes);
        case Scalar::i16: return all_of<std::int32_t, std::int16_t>(bytes);
        case Scalar::i32: return all_of<std::int32_t, std::int32_t>(bytes);
        case Scalar::i64: return all_of<std::int64_t, std::int64_t>(bytes);
        case Scalar::u8: return all_of<std::int32_t, std::uint8_t>(bytes);
        case Scalar::u16: return all_of<std::int32_t, std::uint16_t>(bytes);
        case Scalar::u32: return all_of<std::int64_t, std::uint32_t>(bytes);
        case Scalar::u64: return all_of<std::int64_t, std::uint64_t>(bytes);
        case Scalar::string: {
            if (bytes.size() != type.size_bytes) return std::nullopt;
            const auto text = text_of(bytes);
            return std::string(text.substr(0, text.find('\0')));
        }
        default: return std::nullopt;
    }
}

class H5PartOutline {
public:
    H5PartOutline(std::span<const Contents> contents, const Wish& wish) : contents_(contents), wish_(wish) {}

    Result<Outline> make() {
        outline_.terminated_texts = true;
        add_root();
        for (std::size_t s = 0; s < contents_.size(); ++s) FB_TRY(add_step(s));
        if (outline_.datasets.empty())
            return Error{ErrorKind::refused,
                         fmt::format("stream '{}' has no data for H5Part, which holds particle tables and 3-D arrays "
                                     "of integers and real numbers",
                                     schema(0).stream),
                         "the snapshot", "forebay view --as plain"};
        return std::move(outline_);
    }

private:
    const Schema& schema(std::size_t s) const { return contents_[s].manifest.schema; }

    void add_root() {
        const auto& first = contents_.front();
        std::vector<Outline::Attribute> attributes{{"forebay_convention", std::string("Forebay-h5part-1")},
                                                   {"forebay_version", std::string(FOREBAY_VERSION)},
                                                   {"run", first.run},
                                                   {"stream", schema(0).stream}};
        for (const auto& [name, value] : first.attributes)
            // The key only selects the table.
            if (name != h5part_table_key) set(attributes, {name, as_list(value)});
        outline_.groups.push_back({"", attributes});
    }

    /// In H5Part numbers are always lists, even single numbers.
    static Outline::Value as_list(const AttributeValue& value) {
        if (const auto* text = std::get_if<std::string>(&value)) return *text;
        if (const auto* real = std::get_if<double>(&value)) return std::vector{*real};
        return std::vector{std::get<std::int64_t>(value)};
    }

    /// The table to show. Tables have different counts of particles, but a step of H5Part has a single count.
    Result<std::optional<std::uint32_t>> table_of(std::size_t s) const {
        const auto& tables = schema(s).tables;
        auto wanted = wish_.table;
        for (const auto& [name, value] : contents_[s].attributes)
            if (const auto* text = std::get_if<std::string>(&value); text && name == h5part_table_key && wanted.empty())
                wanted = *text;
        if (wanted.empty() && tables.size() <= 1)
            return tables.empty() ? std::nullopt : std::optional<std::uint32_t>(0);
        const auto table = std::ranges::find(tables, wanted);
        if (table != tables.end()) return std::optional(static_cast<std::uint32_t>(table - tables.begin()));
        std::string names;
        for (const auto& name : tables) names += (names.empty() ? "" : ", ") + name;
        if (wanted.empty())
            return Error{ErrorKind::refused,
                         fmt::format("stream '{}' has {} particle tables ({}), but a step of H5Part holds one table: "
                                     "all its datasets have the same length",
                                     schema(s).stream, tables.size(), names),
                         "the snapshot",
                         "choose one with --table, in a separate file for each, or as table in [file] of "
                         "describe.toml. Or use --as openpmd, which shows all"};
        return Error{ErrorKind::refused,
                     fmt::format("step {} of stream '{}' has no particle table '{}'; it has: {}",
                                 contents_[s].manifest.step, schema(s).stream, wanted, names.empty() ? "none" : names),
                     "", "choose one with --table"};
    }

    Result<> add_step(std::size_t s) {
        const auto& manifest = contents_[s].manifest;
        FB_TRY_ASSIGN(table, table_of(s));
        step_ = fmt::format("Step#{}", wish_.renumber ? static_cast<std::int64_t>(s) : manifest.step);
        taken_.clear();
        std::vector<Outline::Attribute> attributes{{"TimeValue", std::vector{manifest.time}},
                                                   {"step", std::vector{manifest.step}},
                                                   {"snapshot_id", fmt::format("{:016x}", manifest.snapshot_id)}};
        for (std::size_t v = 0; v < schema(s).variables.size(); ++v) {
            const auto& variable = schema(s).variables[v];
            if (variable.kind == Kind::replicated) add_parameter(s, v, attributes);
            if (variable.kind == Kind::array) FB_TRY(add_field(s, v));
            if (variable.kind != Kind::particles) continue;
            if (table && variable.table == *table) add_column(s, v);
            else omit(s, variable.name, "its table is not " + schema(s).tables[table.value_or(0)]);
        }
        outline_.groups.push_back({step_, std::move(attributes)});
        return {};
    }

    void add_parameter(std::size_t s, std::size_t v, std::vector<Outline::Attribute>& attributes) {
        const auto& variable = schema(s).variables[v];
        auto value = parameter(contents_[s].values[v], variable.type);
        if (!value)
            return omit(s, variable.name, "H5Part's attributes are up to 1024 integers or real numbers, or one text");
        auto name = word_of(variable.name);
        // word_of() may make names equal.
        while (std::ranges::find(attributes, name, &Outline::Attribute::name) != attributes.end()) name += '_';
        attributes.push_back({name, std::move(*value)});
    }

    void add_column(std::size_t s, std::size_t v) {
        const auto& variable = schema(s).variables[v];
        const auto type = h5part_type(variable.type);
        if (!type) return omit(s, variable.name, "H5Part has no elements of type " + name_of(variable.type));
        const auto& table = schema(s).tables[variable.table];
        outline_.datasets.push_back({.path = step_ + "/" + free_name(variable.name.substr(table.size() + 1)),
                                     .type = *type,
                                     .shape = {contents_[s].table_rows[variable.table]},
                                     .attributes = attributes_of(variable),
                                     .content = std::vector<Outline::Shows>{{s, v, {}}},
                                     .dimensions = {},
                                     .scale = {}});
    }

    /// A free name for a dataset of the step. H5Part's names have no groups, and "Block" belongs to the fields.
    std::string free_name(const std::string& name) {
        auto free = name;
        std::ranges::replace(free, '/', '_');
        while (free == "Block" || !taken_.insert(free).second) free += '_';
        return free;
    }

    Result<> add_field(std::size_t s, std::size_t v) {
        const auto& variable = schema(s).variables[v];
        const auto type = h5part_type(variable.type);
        if (!type || variable.shape.dims() != 3) {
            omit(s, variable.name,
                 !type ? "H5Block has no elements of type " + name_of(variable.type)
                       : fmt::format("H5Block's fields have 3 dimensions, but it has {}", variable.shape.dims()));
            return {};
        }
        FB_TRY_ASSIGN(origin, numbers_of(variable, grid_offset_key, 3, 0));
        FB_TRY_ASSIGN(spacing, numbers_of(variable, grid_spacing_key, 3, 1));
        // H5Block counts axes from the fastest.
        std::ranges::reverse(origin);
        std::ranges::reverse(spacing);
        auto name = leaf_of(variable.name);
        const auto same_leaf = std::ranges::count_if(schema(s).variables, [&](const Variable& other) {
            return other.kind == Kind::array && other.shape.dims() == 3 && leaf_of(other.name) == name;
        });
        // The short name is used only if it is unique.
        if (same_leaf > 1) std::ranges::replace(name = variable.name, '/', '_');
        while (!taken_.insert("Block/" + name).second) name += '_';
        const auto group = step_ + "/Block/" + name;
        outline_.groups.push_back({group, {{"__Origin__", origin}, {"__Spacing__", spacing}}});
        outline_.datasets.push_back({.path = group + "/0",
                                     .type = *type,
                                     .shape = variable.shape,
                                     .attributes = attributes_of(variable),
                                     .content = std::vector<Outline::Shows>{{s, v, {}}},
                                     .dimensions = {},
                                     .scale = {}});
        return {};
    }

    static std::vector<Outline::Attribute> attributes_of(const Variable& variable) {
        std::vector<Outline::Attribute> attributes;
        for (auto& [name, value] : shown_attributes(variable)) {
            if (is_physics_key(name)) continue;
            if (const auto* real = std::get_if<double>(&value)) value = std::vector{*real};
            if (const auto* whole = std::get_if<std::int64_t>(&value)) value = std::vector{*whole};
            attributes.push_back({name, value});
        }
        return attributes;
    }

    /// Only in the first step, for all steps.
    void omit(std::size_t s, const std::string& what, const std::string& reason) {
        if (s == 0) outline_.omitted.push_back({what, reason});
    }

    std::span<const Contents> contents_;
    const Wish& wish_;
    Outline outline_;
    std::string step_;             // "Step#120"
    std::set<std::string> taken_;  // names in the step
};

}  // namespace

Result<Outline> h5part_outline(std::span<const Contents> contents, const Wish& wish) {
    return H5PartOutline(contents, wish).make();
}

}  // namespace forebay::outline
