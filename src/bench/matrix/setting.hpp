// One row of a benchmark: data, way, place and repeats. Words of the command line or a case file (bench/cases) become a
// RowSetting. A sweep makes a row for each combination.
//
// Pure arithmetic; no ranks, no files.

#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "forebay/describe.hpp"
#include "forebay/options.hpp"

namespace forebay::bench {

/// Keys and values of options, in the order of the table of options.
using Words = std::vector<std::pair<std::string, std::string>>;

/// An option of `forebay bench run` that may be an axis: its key without "--", its default and its help.
struct OptionWords {
    const char* key;
    const char* value;
    const char* help;
};
std::span<const OptionWords> matrix_options();

enum class Via { posix, mmap, mpiio, hdf5, forebay, dfs, genericio };
enum class FileLayout { shared, node, rank, groups };
enum class Sync {
    independent,
    collective,      // one rendezvous for each variable
    collective_all,  // one for all variables
};
enum class MemoryForm {
    soa,    // each variable contiguous
    aos,    // records of all variables
    block,  // one block of `xfer` bytes, written repeatedly, as in IOR
};
enum class Durable { none, close, fsync, verified };
enum class Fill { random, zero, compressible };

struct DataShape {
    enum class Kind { columns, particles, grid, palm };
    Kind kind = Kind::columns;
    std::uint64_t count = 1;             // of columns: their number; of particles: rows of a rank, 0: from `size`
    Type type = u8;                      // of columns
    std::vector<std::uint64_t> extents;  // of grid
};

struct Vary {
    enum class Kind { none, uniform, lognormal, growth };
    Kind kind = Kind::none;
    double amount = 0;  // 0.15: up to 15 % more or fewer; sigma; growth for each save
};

struct Operations {
    bool write = false, read = false, cold = false, kill = false, restart = false, metadata = false;
    int readers = 0;  // ranks that read everything in a restart; 0: all
};

/// Options of the metadata phases, as mdtest's -n, -z, -b, -I and -u.
struct Tree {
    std::uint64_t items = 1000;  // of each rank
    int depth = 0, branches = 1;
    std::uint64_t items_per_directory = 0;  // 0: `items` over all directories
    bool own = false;                       // each rank has its own directory
};

struct RowSetting {
    Words words;
    Via via = Via::posix;
    FileLayout layout = FileLayout::shared;
    int groups = 1;
    Sync sync = Sync::independent;
    DataShape data;
    MemoryForm memory = MemoryForm::soa;
    std::uint64_t size_bytes = 0;  // of a rank, or of all
    bool size_is_total = false;
    Vary vary;
    std::uint64_t xfer_bytes = 0;
    int dumps = 1;
    double compute_seconds = 0;
    bool burns = false;
    Durable durable = Durable::close;
    Operations operations;
    std::string staging;  // "": /dev/shm
    int slots = 1;
    AgentMode agent = AgentMode::process;
    bool staging_given = false;
    std::vector<std::string> targets;
    double stonewall_seconds = 0;
    Fill contents = Fill::random;
    double compressible = 1;
    Tree tree;
    std::vector<std::pair<std::string, std::string>> hints;  // of MPI-IO
    int ranks = 0;                                           // the first ranks; 0: all
    int nodes = 0;  // number of groups that ranks are split into; 0: by machine
};

/// Returns `refused`, with option and value, for an invalid word. Missing keys get their defaults.
Result<RowSetting> setting_from(const Words& words);

/// The reason why the options cannot be combined, as in "posix has no collective calls"; "" if they can.
std::string why_not(const RowSetting& setting);

/// The words of each row: `words` with each combination of the sweeps "KEY=a,b,c"; the last sweep changes fastest. Use
/// ";" between values with commas. Returns `refused` for an unknown key.
Result<std::vector<Words>> rows_of(const Words& words, const std::vector<std::string>& sweeps);

/// Multiplies data and computing by `scale`: size, particles, the first extent of a grid (at least one), and seconds.
Result<Words> scaled(const Words& words, double scale);

/// Sets `key`, and replaces an earlier value.
void put_word(Words& words, const std::string& key, const std::string& value);
/// The value of `key`; "" if there is none.
const std::string& word_of(const Words& words, const std::string& key);

}  // namespace forebay::bench
