$ forebay list run7
2> forebay: there is no verb "list".
2>   Next: forebay --help
[2]
