"""Tables in files, read whole."""
