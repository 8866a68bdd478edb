# Requests to the simulation that uses a run, one of each at a time.
mkdir run7
forebay stop run7
ls -A run7
forebay stop run7
forebay stop run7 --save --json
ls -A run7
forebay stop run7 --cancel
forebay stop run7 --cancel
forebay stop run7 --save --cancel --json
ls -A run7
forebay stop nothing || echo "exit $?"
