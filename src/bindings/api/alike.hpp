// Checks that all ranks of a session set the same options, when they open it and when they open a stream.
//
// The lists in describe say which options this concerns. Options that belong to a node may differ.

#pragma once

#include <string>
#include <vector>

#include "core/comm/group.hpp"
#include "core/describe/session_list.hpp"
#include "forebay/options.hpp"
#include "forebay/result.hpp"

namespace forebay {

using describe::Setting, describe::Settings, describe::settings_of;

/// Compares the options of all ranks. Fails with the error of a rank whose options are missing or invalid. If the ranks
/// differ, the error is `refused`, with the first different option, both values and the ranks. Costs one maximum if all
/// is well. Collective.
enum class RunIs { needed, optional };
Result<> agree_on_options(comm::Group& world, const Result<Options>& options, RunIs run = RunIs::needed);

/// The same for a stream; a rank's `options` may be an error. `open` are the options of the stream of that name that is
/// already open, else nullptr. Options that differ from them are `refused`. Collective.
Result<> agree_on_stream(comm::Group& world, const std::string& name, const Result<StreamOptions>& options,
                         const StreamOptions* open);

}  // namespace forebay
