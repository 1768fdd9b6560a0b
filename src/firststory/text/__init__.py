"""Document -> sparse row."""
