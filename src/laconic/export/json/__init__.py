"""Models as JSON: what a file holds, and how it is written and read."""
