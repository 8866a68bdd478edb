#include "views/plain.hpp"

#include "sys/store.hpp"
#include "views/contents.hpp"
#include "views/plain_outline.hpp"
#include "views/virtual_file.hpp"

namespace forebay::views {

Result<PlainView> make_plain_view(sys::Store& store, const catalog::Snapshot& snapshot) {
    FB_TRY_ASSIGN(contents, gather(store, snapshot));
    FB_TRY_ASSIGN(bytes, write_virtual(plain_outline(contents), {&contents, 1}));
    PlainView view;
    view.path = snapshot.directory.substr(0, snapshot.directory.rfind('/') + 1) + catalog::view_name(snapshot.step);
    view.mappings = contents.mapping_count;
    view.sources = contents.files;
    FB_TRY(sys::write_text_durable(store, view.path, bytes));
    return view;
}

}  // namespace forebay::views
