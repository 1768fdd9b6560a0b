"""Alerts to the outside: files, webhooks, commands, notifications."""
