// The content of one HDF5 file, before any call of HDF5: groups, attributes, datasets, and the variables and snapshots
// in each dataset. A convention (plain, H5Part, openPMD, netCDF) is a pure function from Contents to an Outline. A
// renderer makes the file: with virtual datasets for a view (virtual_file.hpp), with stored datasets for an export.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "forebay/describe.hpp"

namespace forebay::outline {

struct Outline {
    /// A vector is a 1-D attribute, even with a single value; everything else is a scalar. Texts have a fixed length,
    /// in a list the length of the longest. An empty text and an empty list have no elements.
    using Value = std::variant<std::string, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t, float, double,
                               std::vector<std::string>, std::vector<std::int32_t>, std::vector<std::int64_t>,
                               std::vector<std::uint64_t>, std::vector<float>, std::vector<double>>;

    struct Attribute {
        std::string name;
        Value value;
        friend bool operator==(const Attribute&, const Attribute&) = default;
    };

    struct Group {
        std::string path;  // "" is the root; groups without attributes need no entry
        std::vector<Attribute> attributes;
    };

    /// One whole variable of one snapshot, row-major; for a column the rows of all nodes, node after node.
    struct Shows {
        std::size_t snapshot = 0;  // index into the outline's Contents
        std::size_t variable = 0;
        /// Its place in the dataset. If the dataset has more dimensions than the variable, the first are the dataset's
        /// own ("time"), and the variable takes one index in each. Empty: the dataset is the variable.
        Extents first;
    };

    /// Values that the convention itself provides, in the dataset's type, row-major, little-endian.
    struct Holds {
        std::vector<std::byte> bytes;
    };

    struct Nothing {};

    struct Dataset {
        std::string path;
        Type type;  // for readers; variables of other types are converted
        Extents shape;
        std::vector<Attribute> attributes;
        /// An empty list of shown variables makes a dataset of only fill values.
        std::variant<Nothing, Holds, std::vector<Shows>> content;
        std::vector<std::size_t> dimensions;  // its scales, slowest first: indices into Outline::datasets; or none
        /// If not empty, this is a dimension scale and its attribute NAME. A scale without content is a dimension
        /// without a coordinate.
        std::string scale;
        bool may_grow = false;  // only for a stored 1-D scale: readers see an unlimited dimension
    };

    struct NamedType {
        std::string name;
        Type type;
    };

    /// Parts that the convention cannot express, reported to the user.
    struct Omitted {
        std::string what;  // a variable, a table
        std::string reason;
    };

    std::vector<Group> groups;
    std::vector<NamedType> types;  // used by datasets; netCDF up to 4.9 knows only named types
    std::vector<Dataset> datasets;
    std::vector<Omitted> omitted;
    bool terminated_texts = false;  // end texts with a NUL, for C readers that copy them unchanged
};

/// Adds or replaces an attribute: HDF5 allows each name once.
void set(std::vector<Outline::Attribute>& attributes, Outline::Attribute attribute);

/// The type that readers see. netCDF-C 4.10 takes 16-bit floats for strings and crashes, so they become f32, without
/// loss.
constexpr Type shown_type(Type type) { return type.scalar == Scalar::f16 ? f32 : type; }

/// One unwritten element as readers see it: NaN, or zero bytes for types without NaN.
std::vector<std::byte> fill_of(Type shown);
/// The same as a text: "NaN", "NaN+NaNi", "0", "" for strings.
std::string fill_text(Type shown);

/// The box of the dataset that shows `box` of the variable.
Box placed_in(const Outline::Dataset& dataset, const Outline::Shows& shows, const Box& box);

}  // namespace forebay::outline
