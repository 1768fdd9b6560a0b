"""Alerts on events: new events that several sources tell, turns of running stories, first reports."""
