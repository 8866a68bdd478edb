// Reads a schema inside another JSON document.

#pragma once

#include "core/describe/schema.hpp"
#include "core/format/json_read.hpp"
#include "forebay/result.hpp"

namespace forebay::format {

/// `corrupt` unless check() accepts the schema.
Result<Schema> schema_from_value(json::Value value);

}  // namespace forebay::format
