$ forebay agent --session nowhere --foreground
2> forebay: open: nowhere/session.json: No such file or directory
[3]
