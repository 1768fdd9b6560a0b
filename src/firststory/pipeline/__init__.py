"""The assembly: steps cut, computed, and written."""
