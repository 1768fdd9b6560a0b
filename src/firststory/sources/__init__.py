"""Outside -> (Document, Position)."""
