"""Phrases of texts: tokens with their case, names, figures, runs of words, and the fading tables they are learnt in."""
