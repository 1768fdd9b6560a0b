"""What a store tells people: the digest of a period, the report of the whole, one story with its timeline."""
