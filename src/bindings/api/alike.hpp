// What the ranks of a session must set alike: agreed on where they open it and where they open a stream.
//
// Which of the options these are, the lists in describe say; options that belong to a node may differ.

#pragma once

#include <string>
#include <vector>

#include "core/comm/group.hpp"
#include "core/describe/session_list.hpp"
#include "forebay/options.hpp"
#include "forebay/result.hpp"

namespace forebay {

using describe::Setting, describe::Settings, describe::settings_of;

/// The error of a rank that has no options, or such as cannot work; else `refused`, with the first option that differs,
/// both values and ranks, where the ranks have not the same. One maximum when all is well. Collective.
enum class RunIs { needed, optional };
Result<> agree_on_options(comm::Group& world, const Result<Options>& options, RunIs run = RunIs::needed);

/// The same for a stream, whose options may be an error of some rank. `open` are the options of the stream of that name
/// that is open already, nullptr without one: `refused` where they are others. Collective.
Result<> agree_on_stream(comm::Group& world, const std::string& name, const Result<StreamOptions>& options,
                         const StreamOptions* open);

}  // namespace forebay
