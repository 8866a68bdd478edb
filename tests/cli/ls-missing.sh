forebay ls nowhere
