// A combined file: the node file goes unchanged into its region. If the last file would have only one node, that node
// has a file of its own.

#include "core/base/try.hpp"
#include "path/drain/forms/bring.hpp"
#include "path/drain/forms/region.hpp"

namespace forebay::drain {

Result<> bring(const format::CombinedFile& form, const Bringing& what) {
    if (form.is_alone()) return bring(format::OwnFile{}, what);
    const auto& drain = what.drain;
    FB_TRY_ASSIGN(arrival, look_at_region(*drain.store, what.path, what.file));
    if (arrival == Arrival::whole) return {};
    return write_region(*drain.store, what.path, drain.direct, what.file, arrival,
                        [&](sys::File&, sys::File& out) { return write_plain(what, out); });
}

}  // namespace forebay::drain
