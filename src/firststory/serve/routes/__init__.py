"""What programs ask for, one file for each kind of thing."""
