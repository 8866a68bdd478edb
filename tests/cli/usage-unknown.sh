forebay list run7
