forebay agent --session nowhere --foreground
