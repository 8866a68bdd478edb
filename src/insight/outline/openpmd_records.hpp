// Finds the openPMD record and component of each variable: from its attribute ("openPMD" = "E/x"), or by rules over
// names. Pure. docs/formats/view.md.

#pragma once

#include <string>
#include <vector>

#include "core/describe/schema.hpp"
#include "forebay/result.hpp"

namespace forebay::outline {

struct OpenPmdRecord {
    struct Component {
        std::string name;  // "x"; "" for a scalar record
        std::size_t variable = 0;
    };
    std::string name;  // "E"
    std::vector<Component> components;
    bool is_scalar() const { return components.size() == 1 && components.front().name.empty(); }
};

/// The meshes of the arrays. `refused` if two variables would be the same component, or for an invalid name.
Result<std::vector<OpenPmdRecord>> mesh_records(const Schema& schema);

/// The records of a table's columns.
Result<std::vector<OpenPmdRecord>> particle_records(const Schema& schema, std::uint32_t table);

}  // namespace forebay::outline
