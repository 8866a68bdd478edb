// For a build with Cairo: loads the module that draws the words, which lies beside this library.

#include "core/base/try.hpp"
#include "core/sys/program.hpp"
#include "insight/insitu/picture_words.hpp"

namespace forebay::insitu {

Result<PictureInk> ink_around(const PictureWords& words) {
    using Draw = void(const PictureWords&, PictureInk&);
    const auto function = sys::function_beside("libforebay_drawing.so", "forebay_draw_words");
    if (!function)
        return Error{ErrorKind::unsupported, "no picture can be drawn here: " + function.error().what,
                     "picture = false makes results without pictures",
                     "install Cairo (Debian: libcairo2) on this node"};
    PictureInk ink;
    reinterpret_cast<Draw*> (*function)(words, ink);
    if (ink.failure.empty()) return ink;
    return Error{ErrorKind::broken, "Cairo cannot draw a picture: " + ink.failure};
}

}  // namespace forebay::insitu
