"""Many independent streams, each with sources, a store and settings of its own, on one machine or a cluster."""
