// Physical facts about a variable beyond its numbers: factor to SI, grid spacing, place in the cell. They are
// attributes of the variable with openPMD's names, from the application or from a description file (description.hpp).
// Lists are texts of numbers ("0.1 0.1 0.2"). Pure.

#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/describe/schema.hpp"
#include "insight/outline/outline.hpp"

namespace forebay::outline {

inline constexpr const char* unit_si_key = "unitSI";
inline constexpr const char* unit_dimension_key = "unitDimension";
inline constexpr const char* grid_spacing_key = "gridSpacing";
inline constexpr const char* grid_offset_key = "gridGlobalOffset";
inline constexpr const char* grid_unit_key = "gridUnitSI";
inline constexpr const char* position_key = "position";
inline constexpr const char* record_key = "openPMD";  // "velocity/x": the variable's record and component

/// In [file] of a description: the table for H5Part, if there are several.
inline constexpr const char* h5part_table_key = "table";

/// True for the keys above: conventions show them in their own way.
bool is_physics_key(std::string_view name);

const AttributeValue* attribute_of(const Variable& variable, std::string_view name);

/// The numbers of an attribute, `count` of them; a single number counts for all. Without the attribute, `otherwise` for
/// all. `refused`, with the variable's name, for another count or a text that is not numbers.
Result<std::vector<double>> numbers_of(const Variable& variable, const char* name, std::size_t count, double otherwise);

/// The text of an attribute; "" without it. `refused` if it is a number.
Result<std::string> text_attribute(const Variable& variable, const char* name);

/// `refused` if the description gives a file attribute that `convention` sets itself.
Result<> refuse_fixed(std::span<const std::pair<std::string, AttributeValue>> given, const char* convention,
                      std::initializer_list<std::string_view> fixed);

/// The variable's attributes for readers, with `units` and `long_name` first. Names reserved by netCDF get a prefix.
std::vector<Outline::Attribute> shown_attributes(const Variable& variable);

/// A name for strict conventions: letters, digits and '_'; every other byte becomes '_'.
std::string word_of(std::string_view name);

/// Nanoseconds since 1970 as "2026-11-22 14:46:00 +0000".
std::string date_text(std::int64_t unix_ns);

}  // namespace forebay::outline
