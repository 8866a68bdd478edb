for verb in pack extract; do forebay $verb --help; done
forebay extract run7
