// Blocks of one node file into GenericIO files, by several threads.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "catalog/node_reader.hpp"
#include "catalog/plain_bytes.hpp"
#include "foreign/genericio/export.hpp"

namespace forebay::foreign::genericio {

/// A file that is being made, of some ranks.
struct Output {
    std::string path;  // its own name; it is written beside it
    Header header;
    std::uint64_t end = 0;  // of what is given away so far; of files with blocks
    std::unique_ptr<sys::File> file;
};

/// Where a rank's data go.
struct Destined {
    std::uint32_t output = 0;
    std::uint32_t rank = 0;  // in it
};

/// A drained node file, open; every segment that it gives was compared with its checksum.
class NodeSource {
public:
    static Result<std::unique_ptr<NodeSource>> open(sys::Store& store, const std::string& directory,
                                                    const format::NodeLine& line);
    const format::NodeFile& head() const { return head_; }
    /// Of a column or a replicated value; `place` counts the ranks of the node.
    const format::Block& block(std::uint32_t variable, std::size_t place) const {
        return head_.blocks[head_.first_block[variable] + place];
    }
    /// Bytes of a block from `at` on, a multiple of a segment.
    Result<> read(const format::Block& block, std::uint64_t at, std::span<std::byte> out,
                  catalog::PlainBytes::Scratch& scratch) const;

private:
    NodeSource(std::string name, std::unique_ptr<sys::File> file, format::NodeFile head)
        : name_(std::move(name)), file_(std::move(file)), head_(std::move(head)), plain_(*file_, head_, name_) {}

    std::string name_;
    std::unique_ptr<sys::File> file_;
    format::NodeFile head_;
    catalog::PlainBytes plain_;
};

/// All ranks of the node, each variable of each. `done` is called with the bytes that were read since; not by two
/// threads at once. The first error ends all threads.
Result<> copy_node(const NodeSource& node, std::span<const Record> records, std::span<Output> outputs,
                   std::span<const Destined> ranks, const ExportOptions& options,
                   const std::function<void(std::uint64_t)>& done);

}  // namespace forebay::foreign::genericio
