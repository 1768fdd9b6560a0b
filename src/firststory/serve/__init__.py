"""A store over HTTP: REST, live events and the page, on one application."""
