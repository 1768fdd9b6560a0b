"""Corpora with checksums, and streams with planted answers."""
