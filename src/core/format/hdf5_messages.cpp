// The messages of version-1 object headers, byte by byte: dataspace, datatype, fill value, layout, filter, attribute
// and symbol table. ObjectHeader::begin() and end() enclose a message, and end() stores its size. finish() stores the
// number of messages and the size of the header, because they are known only then.

#include "core/format/hdf5_messages.hpp"

#include <algorithm>

namespace forebay::format::hdf5 {
namespace {

enum HeaderMessage : std::uint16_t {
    message_dataspace = 0x0001,
    message_datatype = 0x0003,
    message_fill_value = 0x0005,
    message_layout = 0x0008,
    message_filter = 0x000B,
    message_attribute = 0x000C,
    message_symbol_table = 0x0011,
};

enum Class : std::uint8_t { class_integer = 0, class_float = 1, class_string = 3, class_compound = 6 };

constexpr std::uint8_t version_1 = 0x10;  // of a datatype, in the bits above its class

// The time of allocation of a dataset's space. Late: an empty dataset has no address.
enum Allocation : std::uint8_t { allocated_late = 2, allocated_by_chunk = 3 };

struct FloatLayout {
    std::uint8_t exponent_bits;
    std::uint8_t mantissa_bits;
    std::uint32_t bias;
};

FloatLayout float_layout(std::uint32_t size_bytes) {
    if (size_bytes == 2) return {5, 10, 15};
    if (size_bytes == 4) return {8, 23, 127};
    return {11, 52, 1023};
}

void put_float(HeaderBytes& output, std::uint32_t size_bytes) {
    const auto layout = float_layout(size_bytes);
    const auto bits = static_cast<std::uint16_t>(size_bytes * 8);
    output.put<std::uint8_t>(version_1 | class_float);
    output.put<std::uint8_t>(0x20);                   // little-endian; the top bit of the mantissa is implied
    output.put(static_cast<std::uint8_t>(bits - 1));  // position of the sign
    output.put<std::uint8_t>(0);
    output.put(size_bytes);
    output.put<std::uint16_t>(0);
    output.put(bits);
    output.put(layout.mantissa_bits);  // position of the exponent
    output.put(layout.exponent_bits);
    output.put<std::uint8_t>(0);
    output.put(layout.mantissa_bits);
    output.put(layout.bias);
}

void put_integer(HeaderBytes& output, std::uint32_t size_bytes, bool is_signed) {
    output.put<std::uint8_t>(version_1 | class_integer);
    output.put<std::uint8_t>(is_signed ? 0x08 : 0x00);
    output.put<std::uint16_t>(0);
    output.put(size_bytes);
    output.put<std::uint16_t>(0);
    output.put(static_cast<std::uint16_t>(size_bytes * 8));
}

void put_string(HeaderBytes& output, std::uint32_t size_bytes, bool utf8) {
    output.put<std::uint8_t>(version_1 | class_string);
    output.put<std::uint8_t>(utf8 ? 0x11 : 0x01);  // padded with NUL; the upper half is the character set
    output.put<std::uint16_t>(0);
    output.put(size_bytes);
}

/// A compound {r, i}, as h5py, netCDF4 and openPMD-api write complex numbers.
void put_complex(HeaderBytes& output, std::uint32_t size_bytes) {
    output.put<std::uint8_t>(version_1 | class_compound);
    output.put<std::uint16_t>(2);  // members
    output.put<std::uint8_t>(0);
    output.put(size_bytes);
    const auto part_bytes = size_bytes / 2;
    for (std::uint32_t member = 0; member < 2; ++member) {
        output.text(member == 0 ? "r" : "i");
        output.zeros(7);
        output.put(member * part_bytes);
        output.zeros(28);  // dimensionality and sizes, which version 1 still has
        put_float(output, part_bytes);
    }
}

void put_type(HeaderBytes& output, Type type) {
    switch (type.scalar) {
        case Scalar::f16:
        case Scalar::f32:
        case Scalar::f64: return put_float(output, type.size_bytes);
        case Scalar::c64:
        case Scalar::c128: return put_complex(output, type.size_bytes);
        case Scalar::i8:
        case Scalar::i16:
        case Scalar::i32:
        case Scalar::i64: return put_integer(output, type.size_bytes, true);
        case Scalar::u8:
        case Scalar::u16:
        case Scalar::u32:
        case Scalar::u64: return put_integer(output, type.size_bytes, false);
        // Marked ASCII even if it is UTF-8: HDF5 does not convert between them, so programs with the usual memory type
        // H5T_C_S1 could not read UTF-8.
        case Scalar::string: return put_string(output, type.size_bytes, false);
    }
}

void put_dataspace(HeaderBytes& output, const Extents& dims) {
    output.put<std::uint8_t>(1);
    output.put(static_cast<std::uint8_t>(dims.dims()));
    output.zeros(6);  // no maximum sizes: the sizes are fixed
    for (int dim = 0; dim < dims.dims(); ++dim) output.put(dims[dim]);
}

bool is_ascii(const std::string& text) {
    return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

ObjectHeader::ObjectHeader(HeaderBytes& output) : output_(output), at_(output.at()) {
    output_.put<std::uint8_t>(1);
    output_.zeros(3);               // reserved, and the number of messages from finish()
    output_.put<std::uint32_t>(1);  // references
    output_.zeros(8);
}

void ObjectHeader::finish() {
    output_.store(at_ + 2, messages_);
    output_.store(at_ + 8, static_cast<std::uint32_t>(output_.at() - at_ - 16));
}

std::uint64_t ObjectHeader::begin(std::uint16_t message) {
    const auto at = output_.at();
    output_.put(message);
    output_.zeros(6);
    ++messages_;
    return at;
}

void ObjectHeader::end(std::uint64_t message_at) {
    output_.pad();
    output_.store(message_at + 2, static_cast<std::uint16_t>(output_.at() - message_at - 8));
}

void ObjectHeader::symbol_table(std::uint64_t tree_at, std::uint64_t heap_at) {
    const auto at = begin(message_symbol_table);
    output_.put(tree_at);
    output_.put(heap_at);
    end(at);
}

Fields ObjectHeader::space_and_type(Type type, const Extents& dims, std::uint8_t allocation) {
    Fields fields;
    auto at = begin(message_dataspace);
    if (dims.dims() > 0) fields.dims_at = output_.at() + 8;
    put_dataspace(output_, dims);
    end(at);

    at = begin(message_datatype);
    put_type(output_, type);
    end(at);

    at = begin(message_fill_value);
    output_.put<std::uint8_t>(2);
    output_.put(allocation);
    output_.put<std::uint8_t>(2);   // a fill value is written only if the user set one
    output_.put<std::uint8_t>(1);   // defined,
    output_.put<std::uint32_t>(0);  // with no bytes: the default, zero
    end(at);
    return fields;
}

Fields ObjectHeader::dataset(Type type, const Extents& dims) {
    auto fields = space_and_type(type, dims, allocated_late);
    const auto at = begin(message_layout);
    output_.put<std::uint8_t>(3);
    output_.put<std::uint8_t>(1);  // contiguous
    fields.storage_at = output_.at();
    output_.put(undefined_address);
    output_.put<std::uint64_t>(0);
    end(at);
    return fields;
}

void ObjectHeader::filter(const Chunking& chunking) {
    const auto at = begin(message_filter);
    output_.put<std::uint8_t>(1);
    output_.put<std::uint8_t>(1);  // filters
    output_.zeros(6);
    output_.put(chunking.filter);
    output_.put<std::uint16_t>(0);  // no name
    output_.put<std::uint16_t>(1);  // optional: a chunk may be stored unfiltered
    output_.put(static_cast<std::uint16_t>(chunking.values.size()));
    for (const auto value : chunking.values) output_.put(value);
    if (chunking.values.size() % 2 != 0) output_.zeros(4);
    end(at);
}

void ObjectHeader::chunked_dataset(Type type, const Extents& dims, const Chunking& chunking, std::uint64_t tree_at) {
    space_and_type(type, dims, allocated_by_chunk);
    filter(chunking);
    const auto at = begin(message_layout);
    output_.put<std::uint8_t>(3);
    output_.put<std::uint8_t>(2);  // chunked
    output_.put<std::uint8_t>(2);  // number of dimensions, plus one for the bytes of an element
    output_.put(tree_at);
    output_.put(chunking.elements);
    output_.put(type.size_bytes);
    end(at);
}

void ObjectHeader::attribute(const Attribute& attribute) {
    const auto at = begin(message_attribute);
    const auto* text = std::get_if<std::string>(&attribute.value);
    const auto* list = std::get_if<std::vector<std::uint64_t>>(&attribute.value);
    Extents dims;
    if (list != nullptr) dims.push_back(list->size());

    output_.put<std::uint8_t>(1);
    output_.zeros(1);
    output_.put(static_cast<std::uint16_t>(attribute.name.size() + 1));
    const auto sizes_at = output_.at();
    output_.zeros(4);
    output_.text(attribute.name);
    output_.zeros(1);
    output_.pad();

    auto from = output_.at();
    if (text != nullptr) {
        // HDF5 has no string of length 0; one NUL reads as the empty string.
        put_string(output_, static_cast<std::uint32_t>(std::max<std::size_t>(text->size(), 1)), !is_ascii(*text));
    } else if (std::holds_alternative<double>(attribute.value)) {
        put_float(output_, 8);
    } else {
        put_integer(output_, 8, list == nullptr);
    }
    output_.store(sizes_at, static_cast<std::uint16_t>(output_.at() - from));
    output_.pad();
    from = output_.at();
    put_dataspace(output_, dims);
    output_.store(sizes_at + 2, static_cast<std::uint16_t>(output_.at() - from));
    output_.pad();

    if (text != nullptr) {
        output_.text(*text);
        if (text->empty()) output_.zeros(1);
    } else if (list != nullptr) {
        for (const auto number : *list) output_.put(number);
    } else if (const auto* real = std::get_if<double>(&attribute.value)) {
        output_.put(*real);
    } else {
        output_.put(std::get<std::int64_t>(attribute.value));
    }
    end(at);
}

}  // namespace forebay::format::hdf5
