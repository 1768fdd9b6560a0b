"""The page that people keep open: views of a store as HTML."""
