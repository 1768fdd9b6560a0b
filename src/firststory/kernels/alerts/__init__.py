"""Links between documents and what they prove: the inner loops of `firststory.alerts.events`."""
