// An analysis of one snapshot as its operator sees it. On each node it gets pieces of verified memory and makes one
// part. All parts together give the results.
//
// Life, on each node:     take() of every piece -> part()
//       to join the parts: merge() of each node's part, in any order -> make()
// A snapshot of one node needs neither part() nor merge().
//
// Results do not depend on the order of pieces, on the cut of blocks, or on the order of parts. The same snapshot gives
// the same bits on 1, 2 and 3 nodes, in situ and afterwards. So sums are exact, or values fall into bins with fixed
// edges (exact_sum.hpp). docs/reference/analyses.md lists the exceptions.
//
// Threads: one at a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/describe/schema.hpp"
#include "forebay/options.hpp"

namespace forebay::insitu {

/// The snapshot's place in its run.
struct Moment {
    std::int64_t step = 0;
    double time = 0;  // the application's time
};

/// Consecutive elements of one block, for each variable of an analysis. They are verified and stay in place until
/// take() returns.
struct Elements {
    std::span<const std::span<const std::byte>> columns;  // one a variable, in order, of `count` elements
    std::uint64_t first = 0;                              // the first element's number in the block, row-major
    std::uint64_t count = 0;
    /// Arrays: the block in the global shape; several variables have equal blocks. Particles: one dimension, rows of
    /// this node's part of the table.
    const Box& box;
    std::uint32_t rank = 0;  // the owner of the block
};

/// A result. It becomes a replicated variable of a snapshot of the stream STREAM.NAME.
struct FoundVariable {
    std::string name;  // "temperature/mean"
    Type type;
    Extents shape;
    Attributes attributes;         // at least "units", if the source variable has units
    std::vector<std::byte> bytes;  // row-major
};

struct Picture {
    std::string name;  // "temperature", which becomes STREAM.NAME.temperature.STEP.png
    std::vector<std::byte> png;
};

struct Made {
    std::vector<FoundVariable> variables;
    std::vector<Picture> pictures;
};

class Analyser {
public:
    Analyser() = default;
    Analyser(const Analyser&) = delete;
    Analyser& operator=(const Analyser&) = delete;
    virtual ~Analyser() = default;

    virtual void take(const Elements& piece) = 0;
    /// The state of this node, written by PartWriter (part_bytes.hpp).
    virtual std::vector<std::byte> part() const = 0;
    /// Adds the part of another node, read from a file. `corrupt` if part() did not make these bytes.
    virtual Result<> merge(std::span<const std::byte> part) = 0;
    /// Call it once, last. `refused`, with the reason, if the data allows no result.
    virtual Result<Made> make(const Moment& moment) = 0;
};

/// True if one Analyser of this kind takes all variables of the analysis. For other kinds each variable has its own
/// Analyser.
bool looks_at_several(Analysis::Kind kind);

/// `refused`, with the reason, if a kind, type, shape or option of these variables does not allow the analysis.
Result<std::unique_ptr<Analyser>> make_analyser(const Analysis& analysis, std::span<const Variable> variables);

}  // namespace forebay::insitu
