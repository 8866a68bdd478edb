forebay prune run7
