"""From the outside world to documents, each with the position after it."""
