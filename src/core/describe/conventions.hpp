// The conventions of views and exports, each once: name, file suffix, and summary. To add a convention, add a value of
// Convention, a line here, and its outline in outline/conventions.cpp.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "forebay/options.hpp"

namespace forebay::describe {

struct KnownConvention {
    Convention convention;
    const char* name;     // in the configuration, and the program's verb
    const char* suffix;   // of views and series: step-000120.nc
    const char* summary;  // one line for people
};

/// In the order of the values of Convention, so the value is the index.
inline constexpr std::array known_conventions{
    KnownConvention{Convention::plain, "plain", ".h5",
                    "One HDF5 file of global arrays and tables, as forebay view shows them"},
    KnownConvention{Convention::h5part, "h5part", ".h5part", "H5Part: particles in groups Step#N"},
    KnownConvention{Convention::openpmd, "openpmd", ".openpmd.h5", "openPMD 1.1.0: meshes and particles with units"},
    KnownConvention{Convention::netcdf, "netcdf", ".nc", "netCDF-4: named dimensions, with time over several steps"},
};

/// The control page has one bit for each convention, and messages have a number below this limit.
inline constexpr std::uint64_t conventions_max = 32;

const KnownConvention& known(Convention convention);
/// Returns nothing if the number is unknown, for example from a later version.
std::optional<Convention> convention_numbered(std::uint64_t number);
std::optional<Convention> convention_named(std::string_view name);
/// Returns "plain, h5part, openpmd or netcdf".
std::string convention_names(std::span<const KnownConvention> of = known_conventions);

}  // namespace forebay::describe
