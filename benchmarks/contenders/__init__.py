"""One run each, in a process of its own: options in as JSON, figures out as the last line."""
