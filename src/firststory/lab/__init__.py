"""The laboratory: experiments that reproduce the papers, and benchmarks beside peers."""
