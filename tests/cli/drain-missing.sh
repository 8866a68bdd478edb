forebay drain nowhere
