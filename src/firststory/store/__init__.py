"""Results and model state on disk."""
