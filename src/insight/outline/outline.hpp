// What one HDF5 file is to say, before HDF5 is called: groups, attributes, datasets, and for each dataset which
// variables of which snapshots it shows. A convention (plain, H5Part, openPMD, netCDF) is a pure function from Contents
// to an Outline; a renderer makes the file of it: virtual datasets for a view (virtual_file.hpp), stored ones for an
// export.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "forebay/describe.hpp"

namespace forebay::outline {

struct Outline {
    /// A vector is a 1-D attribute, also when it has one value, and anything else a scalar. Texts have a fixed length,
    /// those of a list that of the longest; an empty text and an empty list have no elements.
    using Value = std::variant<std::string, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t, float, double,
                               std::vector<std::string>, std::vector<std::int32_t>, std::vector<std::int64_t>,
                               std::vector<std::uint64_t>, std::vector<float>, std::vector<double>>;

    struct Attribute {
        std::string name;
        Value value;
        friend bool operator==(const Attribute&, const Attribute&) = default;
    };

    struct Group {
        std::string path;  // "" is the root; groups that only hold something need not be named
        std::vector<Attribute> attributes;
    };

    /// All of one variable of one snapshot, row-major; of a table's column the rows of all nodes, node after node.
    struct Shows {
        std::size_t snapshot = 0;  // index into the Contents that the outline was made of
        std::size_t variable = 0;
        /// Its place in the dataset. Where the dataset has more dimensions than the variable, the first ones are the
        /// dataset's own ("time"), in each of which the variable takes one place. Empty: the dataset is the variable.
        Extents first;
    };

    /// Values that the convention itself says, in the dataset's type, row-major, little-endian.
    struct Holds {
        std::vector<std::byte> bytes;
    };

    struct Nothing {};

    struct Dataset {
        std::string path;
        Type type;  // what a reader sees; shown variables are converted when theirs is another
        Extents shape;
        std::vector<Attribute> attributes;
        /// An empty list of shown variables is a dataset of fill values alone.
        std::variant<Nothing, Holds, std::vector<Shows>> content;
        std::vector<std::size_t> dimensions;  // its scales, slowest first, as indices into Outline::datasets; or none
        /// Not empty: it is a dimension scale, and this is what its attribute NAME says. One without content stands for
        /// a dimension that has no coordinate.
        std::string scale;
        bool may_grow = false;  // a 1-D scale that the convention holds: readers see a dimension without a limit
    };

    struct NamedType {
        std::string name;
        Type type;
    };

    /// What the convention has no words for; said to whoever asked for the file.
    struct Omitted {
        std::string what;  // a variable, a table
        std::string reason;
    };

    std::vector<Group> groups;
    std::vector<NamedType> types;  // what datasets of that type use; netCDF up to 4.9 knows no others
    std::vector<Dataset> datasets;
    std::vector<Omitted> omitted;
    bool terminated_texts = false;  // texts end with a NUL, for readers in C that copy them as they are
};

/// Adds an attribute, or gives the one of that name another value: HDF5 has each name once.
void set(std::vector<Outline::Attribute>& attributes, Outline::Attribute attribute);

/// How a variable's elements look to readers: netCDF-C 4.10 takes 16-bit floats for strings and crashes, so they are
/// shown as f32, which holds each of them exactly.
constexpr Type shown_type(Type type) { return type.scalar == Scalar::f16 ? f32 : type; }

/// One element of what a reader sees where nothing was written: NaN, or zero bytes for types without one.
std::vector<std::byte> fill_of(Type shown);
/// The same in words: "NaN", "NaN+NaNi", "0", "" for strings.
std::string fill_text(Type shown);

/// Places of the shown variable in its dataset: the box of the dataset that `box` of the variable is.
Box placed_in(const Outline::Dataset& dataset, const Outline::Shows& shows, const Box& box);

}  // namespace forebay::outline
