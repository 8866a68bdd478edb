// Replaces png.cpp in a build without libpng.

#include "insight/insitu/png.hpp"

namespace forebay::insitu {

namespace {

Error no_png(const std::string& what) {
    return {ErrorKind::unsupported, what + ": this forebay was built without libpng", "",
            "use a forebay that was built with libpng"};
}

}  // namespace

bool has_png() { return false; }

Result<std::vector<std::byte>> encode_png(const Canvas&, std::span<const Colour>) {
    return no_png("no picture was drawn");
}

Result<std::vector<std::byte>> encode_png(const Photo&) { return no_png("no picture was drawn"); }

Result<Photo> decode_png(std::span<const std::byte>, const std::string& name) {
    return no_png(name + " cannot be read");
}

}  // namespace forebay::insitu
