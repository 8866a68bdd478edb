#include "bench/matrix/way.hpp"

namespace forebay::bench {

std::unique_ptr<Way> hdf5_way(const RowContext&) { return nullptr; }
std::string hdf5_version() { return {}; }

}  // namespace forebay::bench
