"""The command line, one file per command, each loaded when called."""
