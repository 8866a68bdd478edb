// The parts shared by all code that makes an archive of a source.

#pragma once

#include "transfer/copy/copy.hpp"
#include "transfer/copy/data_flow.hpp"
#include "transfer/copy/failures.hpp"
#include "transfer/copy/stored_layouts.hpp"
#include "transfer/tables/hard_links.hpp"

namespace forebay::archive {

struct SourceParts {
    SourceParts(const tree::TreeCopyOptions& given_options, tree::EntryLog& given_log, tree::CopyCounts& given_counts)
        : options(given_options), entry_log(given_log), counts(given_counts) {}

    const tree::TreeCopyOptions& options;
    tree::EntryLog& entry_log;
    tree::CopyCounts& counts;
    tree::WorkShare share{options.threads};
    tree::OpenFolders folders;
    tree::HardLinks links{options.tables};
    tree::StoredLayouts stored{options.recalls};
    tree::Failures failures{share, folders, entry_log};
    tree::DataFlow flow{options, counts, share};
};

}  // namespace forebay::archive
