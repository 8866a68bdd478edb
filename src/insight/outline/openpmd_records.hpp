// Which openPMD record and component each variable is: by what was said of it (attribute "openPMD" = "E/x"), else by
// rules over the names. Pure. docs/formats/view.md.

#pragma once

#include <string>
#include <vector>

#include "core/describe/schema.hpp"
#include "forebay/result.hpp"

namespace forebay::outline {

struct OpenPmdRecord {
    struct Component {
        std::string name;  // "x"; "" of a scalar record
        std::size_t variable = 0;
    };
    std::string name;  // "E"
    std::vector<Component> components;
    bool is_scalar() const { return components.size() == 1 && components.front().name.empty(); }
};

/// The meshes that the arrays are. `refused` when two variables are the same one, or a name is none of openPMD.
Result<std::vector<OpenPmdRecord>> mesh_records(const Schema& schema);

/// The records that the columns of a table are.
Result<std::vector<OpenPmdRecord>> particle_records(const Schema& schema, std::uint32_t table);

}  // namespace forebay::outline
