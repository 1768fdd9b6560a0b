"""Novelty -> what a person should see."""
