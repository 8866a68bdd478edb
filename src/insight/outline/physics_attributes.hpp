// What physicists say about a variable beyond its numbers: factor to SI, grid spacing, place in the cell. It comes as
// attributes of the variable under openPMD's own names, from the application or from a description file
// (description.hpp); lists are texts of numbers ("0.1 0.1 0.2"). Pure.

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
inline constexpr const char* record_key = "openPMD";  // "velocity/x": the record and component a variable is

/// In [file] of a description: the table that H5Part shows where there are several.
inline constexpr const char* h5part_table_key = "table";

/// Whether an attribute is one of the above, which conventions show in their own way.
bool is_physics_key(std::string_view name);

const AttributeValue* attribute_of(const Variable& variable, std::string_view name);

/// The numbers of an attribute, as many as `count`; a single one stands for all. Without the attribute, `otherwise` for
/// all. `refused`, with the variable named, for another count or for what is no number.
Result<std::vector<double>> numbers_of(const Variable& variable, const char* name, std::size_t count, double otherwise);

/// The text of an attribute; "" without it. `refused` when it is a number.
Result<std::string> text_attribute(const Variable& variable, const char* name);

/// `refused` when the description says an attribute of the file that `convention` fixes itself.
Result<> refuse_fixed(std::span<const std::pair<std::string, AttributeValue>> given, const char* convention,
                      std::initializer_list<std::string_view> fixed);

/// The attributes that no convention has a meaning of its own for, with `units` and `long_name` before them.
std::vector<Outline::Attribute> shown_attributes(const Variable& variable);

/// As much of a name as conventions with strict names take: letters, digits and '_'; each other byte becomes '_'.
std::string word_of(std::string_view name);

/// 1970 to "2026-11-22 14:46:00 +0000".
std::string date_text(std::int64_t unix_ns);

}  // namespace forebay::outline
