#include "insight/views/attributes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/try.hpp"

namespace forebay::views {

namespace {

hid_t stored(std::int32_t) { return H5T_STD_I32LE; }
hid_t stored(std::int64_t) { return H5T_STD_I64LE; }
hid_t stored(std::uint32_t) { return H5T_STD_U32LE; }
hid_t stored(std::uint64_t) { return H5T_STD_U64LE; }
hid_t stored(float) { return H5T_IEEE_F32LE; }
hid_t stored(double) { return H5T_IEEE_F64LE; }

/// Writes a value of any kind under one name.
class AttributeWriter {
public:
    AttributeWriter(const h5::Id& object, const std::string& name, bool terminated_texts)
        : object_(object),
          name_(name),
          terminated_(terminated_texts),
          doing_(fmt::format("writing attribute '{}'", name)) {}

    // HDF5 has no strings of 0 bytes. netCDF writes an attribute without elements instead.
    Result<> operator()(const std::string& text) const {
        FB_TRY_ASSIGN(type, text_of(text.size()));
        FB_TRY_ASSIGN(space, h5::own(H5Screate(text.empty() ? H5S_NULL : H5S_SCALAR), doing_));
        return write(type, space, text.empty() ? nullptr : text.c_str());
    }

    Result<> operator()(const std::vector<std::string>& texts) const {
        std::size_t longest = 0;
        for (const auto& text : texts) longest = std::max(longest, text.size());
        FB_TRY_ASSIGN(type, text_of(longest));
        const auto size_bytes = H5Tget_size(type.get());
        std::string all;
        for (const auto& text : texts) (all += text).append(size_bytes - text.size(), '\0');
        FB_TRY_ASSIGN(space, list_of(texts.size()));
        return write(type, space, texts.empty() ? nullptr : all.data());
    }

    template <class T>
    Result<> operator()(const std::vector<T>& list) const {
        FB_TRY_ASSIGN(type, h5::own(H5Tcopy(stored(T{})), doing_));
        FB_TRY_ASSIGN(space, list_of(list.size()));
        return write(type, space, list.empty() ? nullptr : list.data());
    }

    template <class T>
    Result<> operator()(const T& number) const {
        FB_TRY_ASSIGN(type, h5::own(H5Tcopy(stored(number)), doing_));
        FB_TRY_ASSIGN(space, h5::own(H5Screate(H5S_SCALAR), doing_));
        return write(type, space, &number);
    }

private:
    Result<h5::Id> text_of(std::size_t size_bytes) const {
        FB_TRY_ASSIGN(type, h5::own(H5Tcopy(H5T_C_S1), doing_));
        const auto room = terminated_ ? size_bytes + 1 : std::max<std::size_t>(1, size_bytes);
        FB_TRY(h5::require(H5Tset_size(type.get(), room), doing_));
        FB_TRY(h5::require(H5Tset_strpad(type.get(), terminated_ ? H5T_STR_NULLTERM : H5T_STR_NULLPAD), doing_));
        FB_TRY(h5::require(H5Tset_cset(type.get(), H5T_CSET_UTF8), doing_));
        return type;
    }

    Result<h5::Id> list_of(hsize_t count) const {
        return h5::own(count == 0 ? H5Screate(H5S_NULL) : H5Screate_simple(1, &count, nullptr), doing_);
    }

    Result<> write(const h5::Id& type, const h5::Id& space, const void* value) const {
        FB_TRY_ASSIGN(creation, h5::own(H5Pcreate(H5P_ATTRIBUTE_CREATE), doing_));
        FB_TRY(h5::require(H5Pset_char_encoding(creation.get(), H5T_CSET_UTF8), doing_));
        FB_TRY_ASSIGN(attribute, h5::own(H5Acreate2(object_.get(), name_.c_str(), type.get(), space.get(),
                                                    creation.get(), H5P_DEFAULT),
                                         doing_));
        if (value == nullptr) return {};
        return h5::require(H5Awrite(attribute.get(), type.get(), value), doing_);
    }

    const h5::Id& object_;
    const std::string& name_;
    bool terminated_;
    std::string doing_;
};

}  // namespace

Result<> put_attribute(const h5::Id& object, const std::string& name, const outline::Outline::Value& value,
                       bool terminated_texts) {
    return std::visit(AttributeWriter(object, name, terminated_texts), value);
}

Result<> put_attributes(const h5::Id& object, std::span<const outline::Outline::Attribute> attributes,
                        bool terminated_texts) {
    for (const auto& [name, value] : attributes) FB_TRY(put_attribute(object, name, value, terminated_texts));
    return {};
}

}  // namespace forebay::views
