// An analysis of one snapshot, as its operator sees it: pieces of verified memory on every node, a part a node, and
// results of all parts together.
//
// Life, on each node:     take() of every piece -> part()
//       where parts meet: merge() of each node's part, in any order -> make()
// Where a snapshot has one node, part() and merge() are left out.
//
// Results must not depend on the order of pieces, on how blocks are cut, or on the order of parts: the same snapshot
// gives the same bits on 1, 2 and 3 nodes, in situ and afterwards. So sums are exact, or fall into bins that stand
// before the first value is seen (exact_sum.hpp). What cannot keep this says so in docs/reference/analyses.md.
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
    double time = 0;  // the application's own
};

/// Consecutive elements of one block of each variable that an analysis looks at. They are verified, and stay where they
/// are only until take() returns.
struct Elements {
    std::span<const std::span<const std::byte>> columns;  // one a variable, in the analysis's order, `count` elements
    std::uint64_t first = 0;  // the element of the block at which it begins, in row-major order
    std::uint64_t count = 0;
    /// Of an array: the block in the global shape; several variables are of equal blocks. Of particles: one dimension,
    /// rows of this node's part of the table.
    const Box& box;
    std::uint32_t rank = 0;  // that owns the block
};

/// A result, which becomes a replicated variable of a snapshot of the stream STREAM.NAME.
struct FoundVariable {
    std::string name;  // "temperature/mean"
    Type type;
    Extents shape;
    Attributes attributes;         // at least "units", where the variable that it is made of has them
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
    /// What the node has seen, by PartWriter (part_bytes.hpp).
    virtual std::vector<std::byte> part() const = 0;
    /// Adds the part of another node, which comes from a file: `corrupt` where it is not what part() makes.
    virtual Result<> merge(std::span<const std::byte> part) = 0;
    /// Once, after all else. `refused` where the data leaves nothing to make a result of, and why.
    virtual Result<Made> make(const Moment& moment) = 0;
};

/// Whether an analysis of this kind looks at all its variables together, and so is one Analyser; of the others each
/// variable has one.
bool looks_at_several(Analysis::Kind kind);

/// `refused` where the analysis cannot be made of these variables, and why: a kind, a type, a shape, an option.
Result<std::unique_ptr<Analyser>> make_analyser(const Analysis& analysis, std::span<const Variable> variables);

}  // namespace forebay::insitu
