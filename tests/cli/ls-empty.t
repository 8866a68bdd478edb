# A run whose first session has not saved yet.
$ mkdir -p run7/forebay/sessions
$ forebay ls run7
run7 holds no snapshot.
