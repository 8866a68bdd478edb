#include "core/base/try.hpp"
#include "path/catalog/forms/file_form.hpp"
#include "path/commit/gather.hpp"

namespace forebay::commit {

Result<catalog::Arrived> look_at_part(sys::Store& store, const std::string& directory) {
    FB_TRY_ASSIGN(entries, store.list(directory));
    catalog::Arrived arrived;
    for (const auto& entry : entries) {
        const auto path = directory + "/" + entry.name;
        // Large snapshots have subdirectories of node files. Hidden directories, such as .marks, have none.
        if (entry.is_directory && !entry.name.starts_with('.')) {
            FB_TRY_ASSIGN(inside, look_at_part(store, path));
            arrived.files += inside.files;
            if (inside.nodes) arrived.nodes = inside.nodes;
            if (!arrived.record) arrived.record = inside.record;
            continue;
        }
        for (const auto* form : catalog::all_forms())
            if (form->is_named(entry.name)) FB_TRY(form->look(store, path, arrived));
    }
    return arrived;
}

}  // namespace forebay::commit
