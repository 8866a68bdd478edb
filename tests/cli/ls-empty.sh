mkdir run7
forebay ls run7
