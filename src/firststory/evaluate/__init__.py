"""Judging detectors, clusterings and topics."""
