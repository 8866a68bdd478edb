for verb in ls show verify prune recover; do forebay $verb --help; done
